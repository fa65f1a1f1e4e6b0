"""Means and variances of integers are at least as exact as NumPy's, which converts each integer to
float64 and rounds at every step.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from oracle import agrees

from jitwise import jit

DTYPES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
MEAN = jit(lambda a: a.mean())


def exact_mean(values):
    return Fraction(sum(map(int, values.ravel())), values.size)


def off(found, exact):
    return abs(Fraction(float(found)) - exact)


def allowed(array, exact):
    """NumPy's own error, or two roundings: of the sum and of the quotient."""
    return max(off(array.mean(), exact), Fraction(2 * np.spacing(abs(float(exact))) or 0))


def extremes(dtype):
    if dtype == "?":
        return [np.array([True, False, True])]
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    lists = [[low, high, 0, 1, 5], [high] * 7, [low] * 9 + [1], [low, high] * 40 + [3], [high, low]]
    return [np.array(each, dtype) for each in lists]


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_that_cancel_are_summed_exactly(dtype):
    for array in extremes(dtype):
        exact = exact_mean(array)
        assert off(MEAN(array), exact) <= allowed(array, exact)
        rows = np.stack([array, array[::-1]])
        for axis in (0, 1, (0, 1)):
            agrees(lambda a, axis=axis: np.shape(np.mean(a, axis=axis, keepdims=True)), rows)
        found = jit(lambda a: np.mean(a, axis=1))(rows)
        assert all(off(each, exact) <= allowed(array, exact) for each in found)


def test_the_example_of_numpys_rounding():
    info = np.iinfo(np.int64)
    array = np.array([info.min, info.max, 0, 1, 5])
    assert MEAN(array) == 1.0
    assert array.mean() != 1.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_integers_are_averaged_within_two_roundings(dtype):
    generator = np.random.default_rng(len(dtype))
    for size in (1, 2, 7, 63, 64, 1000, 70001):
        if dtype == "?":
            array = generator.integers(0, 2, size).astype(bool)
        else:
            info = np.iinfo(dtype)
            array = generator.integers(info.min, info.max, size, dtype=dtype, endpoint=True)
        exact = exact_mean(array)
        found = MEAN(array)
        assert type(found) is np.float64
        assert off(found, exact) <= allowed(array, exact)


@pytest.mark.parametrize("dtype", DTYPES)
def test_variances_follow(dtype):
    generator = np.random.default_rng(0)
    array = generator.integers(0, 2 if dtype == "?" else 100, (20, 30)).astype(dtype)
    agrees(lambda a: (np.var(a), np.std(a, axis=0), a.mean(axis=1)), array, ulp=8)
    agrees(lambda a: np.mean(a, dtype=np.float64), array, ulp=2)
    agrees(lambda a: np.average(a, axis=1), array, ulp=2)
