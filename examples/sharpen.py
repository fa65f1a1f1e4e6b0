"""An unsharp mask on a photograph: the picture plus what a blur takes away from it."""

import numpy as np

import jitwise


def blurred(picture, weights, axis):
    """The weighted mean of neighbours along an axis; beyond the border stands the border itself."""
    radius = len(weights) // 2
    around = [(0, 0)] * picture.ndim
    around[axis] = (radius, radius)
    padded = np.pad(picture, around, mode="edge")
    length = picture.shape[axis]
    total = 0.0
    for offset, weight in enumerate(weights):
        part = [slice(None)] * picture.ndim
        part[axis] = slice(offset, offset + length)
        total = total + weight * padded[tuple(part)]
    return total


@jitwise.jit
def sharpened(picture, amount, weights):
    soft = blurred(blurred(picture, weights, 0), weights, 1)
    return np.clip(picture + amount * (picture - soft), 0, 255)


def gaussian(radius=4, width=2.0):
    weights = np.exp(-(np.arange(-radius, radius + 1) ** 2) / (2 * width**2))
    return tuple(float(weight) for weight in weights / weights.sum())


def data():
    from sklearn.datasets import load_sample_image

    return load_sample_image("china.jpg").astype(np.float32), 1.5, gaussian()


def run(picture, amount, weights):
    return sharpened(picture, amount, weights)


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
