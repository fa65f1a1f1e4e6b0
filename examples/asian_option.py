"""Asian options priced by simulation: paths drawn from a generator, each with its mirror image.

What is paid is the mean price over the year beyond the strike. P. Boyle, "Options: a Monte Carlo
approach", Journal of Financial Economics 4 (1977).
"""

import numpy as np

import jitwise


@jitwise.jit
def price(rng, start, strike, rate, volatility, steps, count):
    """The price today, and its standard error."""
    length = 1.0 / steps
    noise = rng.standard_normal((count, steps))
    noise = np.concatenate([noise, -noise])
    moves = (rate - volatility**2 / 2) * length + volatility * np.sqrt(length) * noise
    means = (start * np.exp(np.cumsum(moves, axis=1))).mean(axis=1)
    paid = np.exp(-rate) * np.maximum(means - strike, 0.0)
    pairs = (paid[:count] + paid[count:]) / 2
    return pairs.mean(), pairs.std() / np.sqrt(count)


def data(count=20_000, steps=50):
    return 7, np.array([90.0, 100.0, 110.0]), steps, count


def run(seed, strikes, steps, count):
    rng = np.random.default_rng(seed)
    return [price(rng, 100.0, float(strike), 0.05, 0.2, steps, count) for strike in strikes]


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
