"""Newton's method for Kepler's equation: where planets are on their ellipses at given times.

The steps for each planet end when they no longer change anything: how many that takes depends on
the numbers.
"""

import math

import numpy as np

import jitwise


@jitwise.jit
def eccentric_anomaly(mean, eccentricity):
    """The solution of E - e sin(E) = M, and the number of steps that it took."""
    angle = mean if eccentricity < 0.8 else math.pi
    steps = 0
    while steps < 50:
        error = angle - eccentricity * math.sin(angle) - mean
        change = error / (1.0 - eccentricity * math.cos(angle))
        angle = angle - change
        steps += 1
        if abs(change) < 1e-10:
            break
    return angle, steps


@jitwise.jit
def positions(times, eccentricity):
    """The place on an ellipse at each time, in units of its half axis."""
    places = np.empty((len(times), 2))
    for i in range(len(times)):
        angle, _ = eccentric_anomaly(times[i], eccentricity)
        places[i, 0] = math.cos(angle) - eccentricity
        places[i, 1] = math.sqrt(1.0 - eccentricity * eccentricity) * math.sin(angle)
    return places


def data(count=20_000):
    return np.linspace(0.0, 2 * np.pi, count), 0.6


def run(times, eccentricity):
    return positions(times, eccentricity), eccentric_anomaly(2.5, 0.3)


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
