"""Heat spreads through a plate: the two-dimensional heat equation by slicing."""

import numpy as np

import jitwise


@jitwise.jit
def inside(plate, speed):
    """The plate without its border, one time step later."""
    middle = plate[1:-1, 1:-1]
    around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
    return middle + speed * (around - 4 * middle)


def data(size=600, steps=60):
    plate = np.zeros((size, size))
    plate[0] = 100.0
    plate[size // 3 : size // 2, size // 4 : size // 2] = 50.0
    return plate, 0.2, steps


def run(plate, speed, steps):
    plate = plate.copy()
    for _ in range(steps):
        plate[1:-1, 1:-1] = inside(plate, speed)
    return plate


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
