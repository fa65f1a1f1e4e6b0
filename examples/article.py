"""Three ways to compile one pair of functions: the whole, the inner function only, and both."""

import numpy as np

import jitwise


def f(x):
    return x * 2 + np.sin(x)


f_compiled = jitwise.jit(f)


@jitwise.jit
def whole(x):
    """One program: f is part of it."""
    y = f(x)
    for _ in range(5):
        y = f(y)
    return y / 3 + np.cos(y)


def inner_only(x):
    """Python outside, compiled code inside, called six times."""
    y = f_compiled(x)
    for _ in range(5):
        y = f_compiled(y)
    return y / 3 + np.cos(y)


@jitwise.jit
def both(x):
    """A compiled function inside a compiled function: one program again."""
    y = f_compiled(x)
    for _ in range(5):
        y = f_compiled(y)
    return y / 3 + np.cos(y)


def data():
    return (np.linspace(0, 1, 300_000),)


def run(x):
    return whole(x), inner_only(x), both(x)


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
