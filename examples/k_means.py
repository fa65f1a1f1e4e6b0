"""K-means on handwritten digits: which of ten centres is nearest, and where the centres move."""

import numpy as np

import jitwise


@jitwise.jit
def step(points, centres):
    """The nearest centre of each point, the mean of the points of each centre, and the error."""
    apart = points[:, None, :] - centres[None, :, :]
    distances = (apart**2).sum(axis=2)
    nearest = distances.argmin(axis=1)
    member = (nearest[:, None] == np.arange(len(centres))).astype(points.dtype)
    moved = (member.T @ points) / np.maximum(member.sum(axis=0), 1)[:, None]
    return moved, nearest, distances.min(axis=1).sum()


def data():
    from sklearn.datasets import load_digits

    points = load_digits().data
    return points, points[:10].copy(), 20


def run(points, centres, steps):
    for _ in range(steps):
        centres, nearest, error = step(points, centres)
    return centres, nearest, error


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
