"""Bisection with an early return: the interest rates at which plans of payments are worth nothing.

A search ends as soon as it is near enough, or says that there is nothing to be found.
"""

import numpy as np

import jitwise


@jitwise.jit
def worth(payments, rate):
    """What payments of consecutive years are worth today."""
    total = 0.0
    for payment in payments[::-1]:
        total = total / (1.0 + rate) + payment
    return total


@jitwise.jit
def internal_rate(payments, low, high):
    """The rate between two at which payments are worth nothing; nan when there is none."""
    at_low = worth(payments, low)
    if at_low * worth(payments, high) > 0:
        return np.nan
    for _ in range(200):
        middle = (low + high) / 2
        value = worth(payments, middle)
        if abs(value) < 1e-9 or high - low < 1e-13:
            return middle
        if value * at_low > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@jitwise.jit
def internal_rates(plans):
    """The rate of each row of payments."""
    rates = np.empty(len(plans))
    for i in range(len(plans)):
        rates[i] = internal_rate(plans[i], -0.5, 2.0)
    return rates


def data(count=300, years=25):
    random = np.random.default_rng(5)
    plans = random.uniform(10.0, 100.0, (count, years))
    plans[:, 0] = -random.uniform(0.0, 1500.0, count)
    plans[::50, 0] = 20.0  # nothing is paid in: there is no rate
    return (plans,)


def run(plans):
    return internal_rates(plans)


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
