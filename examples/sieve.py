"""The sieve of Eratosthenes with masks: primes, how often each gap between them occurs, and twins.

How many primes there are is known only when they are found: the arrays of them have lengths that
the compiled program finds out while it runs.
"""

import numpy as np

import jitwise


@jitwise.jit
def cross_out(numbers, is_prime, factor):
    """Cross out the multiples of a prime, from its square on. The next prime."""
    is_prime[(numbers >= factor * factor) & (numbers % factor == 0)] = False
    return numbers[is_prime & (numbers > factor)][0]


@jitwise.jit
def described(numbers, is_prime):
    """The primes, how often each gap between neighbours occurs, and the pairs two apart."""
    primes = numbers[is_prime]
    gaps = primes[1:] - primes[:-1]
    twins = primes[:-1][gaps == 2]
    return primes, np.bincount(gaps), np.stack([twins, twins + 2], axis=1)


def data(limit=200_000):
    return (np.arange(limit),)


def run(numbers):
    is_prime = np.ones(len(numbers), dtype=bool)
    is_prime[:2] = False
    factor = np.int64(2)
    while factor * factor < len(numbers):
        factor = cross_out(numbers, is_prime, factor)
    return described(numbers, is_prime)


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
