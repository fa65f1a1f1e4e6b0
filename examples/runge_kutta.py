"""An adaptive Runge-Kutta integrator that rejects steps: the oscillator of van der Pol.

Each step is made by two formulas, of third and second order (Bogacki and Shampine). When they
differ too much the step is rejected, and tried again with a shorter one.
"""

import numpy as np

import jitwise


def slope(state, stiffness):
    """The derivative of (place, speed)."""
    place, speed = state[0], state[1]
    return np.array([speed, stiffness * (1.0 - place * place) * speed - place])


@jitwise.jit
def integrate(state, stiffness, end, tolerance):
    """The state at the end, and how many steps were accepted and rejected."""
    time, step = 0.0, 1e-3
    accepted, rejected = 0, 0
    first = slope(state, stiffness)
    while time < end:
        if time + step > end:
            step = end - time
        second = slope(state + step * 0.5 * first, stiffness)
        third = slope(state + step * 0.75 * second, stiffness)
        moved = state + step / 9.0 * (2.0 * first + 3.0 * second + 4.0 * third)
        fourth = slope(moved, stiffness)
        apart = -5.0 / 72.0 * first + second / 12.0 + third / 9.0 - fourth / 8.0
        error = step * np.abs(apart).max()
        if error <= tolerance:
            time = time + step
            state, first = moved, fourth
            accepted += 1
        else:
            rejected += 1
        if error > 0:
            step = step * min(5.0, max(0.2, 0.9 * (tolerance / error) ** (1.0 / 3.0)))
        else:
            step = step * 5.0
    return state, accepted, rejected


def data():
    return np.array([2.0, 0.0]), 5.0, 20.0, 1e-6


def run(state, stiffness, end, tolerance):
    return integrate(state, stiffness, end, tolerance)


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
