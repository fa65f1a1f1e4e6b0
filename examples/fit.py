"""A damped oscillation fitted to measurements: the method of Levenberg and Marquardt.

K. Levenberg, Quarterly of Applied Mathematics 2 (1944); D. Marquardt, SIAM Journal 11 (1963).
"""

import numpy as np

import jitwise


def model(parameters, time):
    height, decay, speed, level = parameters
    return height * np.exp(-decay * time) * np.cos(speed * time) + level


@jitwise.jit
def cost(parameters, time, measured):
    """The sum of squares of what the model leaves unexplained."""
    return ((measured - model(parameters, time)) ** 2).sum()


@jitwise.jit
def moved(parameters, time, measured, damping):
    """The parameters after one step; a large `damping` makes it short and steep."""
    height, decay, speed, level = parameters
    fading = np.exp(-decay * time)
    cosine, sine = np.cos(speed * time), np.sin(speed * time)
    slopes = np.stack(
        [
            fading * cosine,
            -height * time * fading * cosine,
            -height * time * fading * sine,
            np.ones_like(time),
        ]
    )
    rest = measured - (height * fading * cosine + level)
    curvature = slopes @ slopes.T
    curvature = curvature + damping * np.diag(np.diag(curvature))
    return parameters + np.linalg.solve(curvature, slopes @ rest)


def data(count=200_000):
    rng = np.random.default_rng(5)
    time = np.linspace(0, 4, count)
    measured = model(np.array([2.0, 0.7, 5.0, 0.3]), time) + rng.normal(0, 0.05, count)
    return np.array([1.0, 0.5, 4.6, 0.0]), time, measured, 12


def run(parameters, time, measured, steps):
    damping, least = 1e-3, cost(parameters, time, measured)
    for _ in range(steps):
        candidate = moved(parameters, time, measured, damping)
        found = cost(candidate, time, measured)
        if found < least:
            parameters, least, damping = candidate, found, damping / 10
        else:
            damping *= 10
    return parameters, least


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
