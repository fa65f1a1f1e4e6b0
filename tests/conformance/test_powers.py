"""Powers by exponents that are arguments: cheaper functions where NumPy's operator takes them."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from jitwise import jit

EXPONENTS = [2, 3, 1, -1, 0.5, 0, 2.0, -1.0, 1.0, 2.5, 0.0, -0.5, True, False, np.float32(2), 4]
DTYPES = ["f2", "f4", "f8", "c8", "c16", "i1", "i8", "u2", "?"]


def outcome(function, *args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except Exception as error:
            return type(error)


def agree(found, expected):
    if isinstance(expected, type):
        return found is expected
    if type(found) is not type(expected) or found.dtype != expected.dtype:
        return False
    if expected.dtype.kind in "fc":
        spacing = np.finfo(expected.dtype).eps * 4
        with np.errstate(all="ignore"):
            return np.allclose(found, expected, rtol=spacing, atol=0, equal_nan=True)
    return np.array_equal(found, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("turned", [False, True])
def test_an_exponent_may_be_another_one_in_each_call(dtype, turned):
    def raised_to(x, p):
        return x**p

    x = np.array([0.0, 1.0, 2.0, 0.5, 7.0, 9.0, 100.0]).astype(dtype)
    function = jit(raised_to)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for exponent in EXPONENTS[::-1] if turned else EXPONENTS:
            for given in (x, x[2], x[:0]):
                expected = outcome(raised_to, given, exponent)
                found = outcome(function, given, exponent)
                assert agree(found, expected), (given, exponent, found, expected)


@pytest.mark.parametrize(("first", "then"), list(itertools.permutations([2, -1, 1, 3], 2)))
def test_signs_of_zero_and_infinities_are_numpys_in_any_order_of_exponents(first, then):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e300])
    function = jit(lambda x, p: x**p)
    with np.errstate(all="ignore"):
        for exponent in (first, then, first):
            np.testing.assert_array_equal(function(x, exponent), x**exponent)
            signs = np.signbit(function(x, exponent))
            np.testing.assert_array_equal(signs, np.signbit(x**exponent))


def test_exponents_that_are_not_cheaper_share_a_trace():
    @jit
    def function(x, raised_by):
        return x**raised_by

    for exponent in (3, 4, 5, 7, 11):
        function(np.ones(3), exponent)
    assert function.state.traces == 1


def test_a_number_that_a_loop_changes_is_no_guard():
    @jit
    def series_of_powers(x, n):
        total = x * 0
        for k in range(n):
            total = total + x**k
        return total

    x = np.linspace(0.0, 1.0, 4)
    for n in (3, 200, 300):
        expected = sum((x**k for k in range(n)), x * 0)
        np.testing.assert_allclose(series_of_powers(x, n), expected, rtol=1e-13)
