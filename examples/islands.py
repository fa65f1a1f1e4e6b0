"""Islands on a map: connected components, found by handing the largest label to the neighbours."""

import numpy as np

import jitwise


@jitwise.jit
def spread(labels, land):
    """Each place of an island takes the largest label around it; and whether any label changed."""
    found = labels.copy()
    found[1:] = np.maximum(found[1:], labels[:-1])
    found[:-1] = np.maximum(found[:-1], labels[1:])
    found[:, 1:] = np.maximum(found[:, 1:], labels[:, :-1])
    found[:, :-1] = np.maximum(found[:, :-1], labels[:, 1:])
    found = np.where(land, found, 0)
    return found, (found != labels).any()


def data(size=400, waves=12):
    rows, columns = np.indices((size, size)) / size
    height = np.zeros((size, size))
    for turn, speed, along in np.random.default_rng(3).random((waves, 3)):
        height += np.sin(40 * speed * (along * rows + (1 - along) * columns) + 7 * turn)
    return (height > 0.8,)


def run(land):
    labels = np.where(land, np.arange(1, land.size + 1).reshape(land.shape), 0)
    changed = True
    while changed:
        labels, changed = spread(labels, land)
    return labels


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
