"""A Metropolis sampler: a walk that is turned back where the density falls.

A drawn number decides about each step, and the walk is drawn from a generator that lies outside of
the function: each call goes on where the last one ended.
"""

import numpy as np

import jitwise

GENERATOR = np.random.default_rng(20)


@jitwise.jit
def walk(start, steps, width):
    """The places of a walk in a double well, and how many of the steps were taken."""
    places = np.empty(steps)
    place, taken = start, 0
    energy = (place * place - 1.0) ** 2
    for i in range(steps):
        next_place = place + width * GENERATOR.normal()
        next_energy = (next_place * next_place - 1.0) ** 2
        if GENERATOR.random() < np.exp(4.0 * (energy - next_energy)):
            place, energy = next_place, next_energy
            taken += 1
        places[i] = place
    return places, taken


def data(steps=5_000):
    return 0.5, steps, 0.8


def run(start, steps, width):
    GENERATOR.bit_generator.state = np.random.default_rng(20).bit_generator.state
    return walk(start, steps, width), walk(start, 100, width)


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
