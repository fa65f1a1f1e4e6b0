"""A photograph whose shades of grey are spread evenly: histogram equalisation."""

import numpy as np

import jitwise


@jitwise.jit
def equalised(grey):
    """Each shade becomes the share of pixels that are not brighter than it."""
    counts = np.bincount(grey.ravel(), minlength=256)
    share = np.cumsum(counts)
    darkest = share[np.argmax(counts > 0)]
    shades = np.round(255 * (share - darkest) / np.maximum(grey.size - darkest, 1))
    return np.clip(shades, 0, 255).astype(np.uint8)[grey]


@jitwise.jit
def grey_of(picture):
    """Brightness by the weights of ITU-R BT.601."""
    weighted = picture[..., 0] * 0.299 + picture[..., 1] * 0.587 + picture[..., 2] * 0.114
    return np.round(weighted).astype(np.uint8)


def data():
    from sklearn.datasets import load_sample_image

    return (load_sample_image("flower.jpg"),)


def run(picture):
    return equalised(grey_of(picture))


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
