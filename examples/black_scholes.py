"""Prices of a million European options by the Black-Scholes formula."""

import numpy as np

import jitwise


def normal_below(x):
    """The probability that a standard normal number is below x (Abramowitz and Stegun, 26.2.17)."""
    t = 1 / (1 + 0.2316419 * np.abs(x))
    tail = t * (
        0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    )
    upper = 1 - np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) * tail
    return np.where(x < 0, 1 - upper, upper)


@jitwise.jit
def prices(spot, strike, years, rate, volatility):
    """What a call and a put are worth today."""
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = spot * normal_below(d1) - discounted * normal_below(d2)
    return call, call - spot + discounted


def data(count=1_000_000):
    random = np.random.default_rng(1)
    return (
        random.uniform(10, 100, count),
        random.uniform(10, 100, count),
        random.uniform(0.1, 3, count),
        0.03,
        random.uniform(0.1, 0.6, count),
    )


def run(spot, strike, years, rate, volatility):
    return prices(spot, strike, years, rate, volatility)


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
