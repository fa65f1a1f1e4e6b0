"""Stars attract each other: every pair's force, and a few steps of their motion."""

import numpy as np

import jitwise


@jitwise.jit
def accelerations(positions, masses, softening):
    """The pull of all bodies on each one."""
    apart = positions[None, :, :] - positions[:, None, :]
    squared = (apart**2).sum(axis=2) + softening**2
    weights = masses / (squared * np.sqrt(squared))
    return (weights[:, :, None] * apart).sum(axis=1)


def data(count=400, steps=5):
    random = np.random.default_rng(3)
    positions = random.normal(0, 1, (count, 3))
    velocities = random.normal(0, 0.1, (count, 3))
    return positions, velocities, random.uniform(0.1, 1, count) / count, 0.05, 0.01, steps


def run(positions, velocities, masses, softening, time, steps):
    pull = accelerations(positions, masses, softening)
    for _ in range(steps):
        velocities = velocities + pull * (time / 2)
        positions = positions + velocities * time
        pull = accelerations(positions, masses, softening)
        velocities = velocities + pull * (time / 2)
    return positions, velocities


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
