"""`jit(f, fastmath=True)` lets LLVM reassociate and contract `+ - * /`, gives another kernel, and
relaxes nothing else.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from jitwise import jit
from jitwise.kernel.nest import identity
from jitwise.kernel.parser import parse_kernel

X = np.linspace(1, 2, 1003)
Y = np.cos(X)


def polynomial(x, y):
    return (x * y + 1.0) * x - y / x


def rounded(x, y):
    return np.floor(x * 3) + np.remainder(x, y) + np.rint(y) + x.astype(np.int64) + np.sqrt(x)


def dotted(x, y):
    return (x * y).sum()


def flags(text):
    """The flags of each arithmetic instruction."""
    return set(re.findall(r"= (f(?:add|sub|mul|div)(?: [a-z]+)*) (?:<|double|float)", text))


@pytest.mark.parametrize("function", [polynomial, dotted])
def test_arithmetic_carries_the_two_flags_and_no_other(function):
    text = jit(function, fastmath=True).lower(X, Y).compile().as_text("llvm")
    assert flags(text)
    assert all(each.endswith(" reassoc contract") for each in flags(text))
    for word in ("nnan", "ninf", "nsz", "arcp", "afn", "fast "):
        assert word not in text
    plain = jit(function).lower(X, Y).compile().as_text("llvm")
    assert "reassoc" not in plain
    assert "contract" not in plain


def test_the_kernel_is_another_one():
    plain, relaxed = (
        jit(polynomial, fastmath=each).lower(X, Y).executable.kernels[0] for each in (False, True)
    )
    assert str(relaxed).startswith("kernel map fastmath lanes=")
    assert "fastmath" not in str(plain)
    assert identity(plain) != identity(relaxed)
    assert parse_kernel(str(relaxed)) == relaxed
    assert parse_kernel(str(plain)) == plain


@pytest.mark.parametrize("order", [(False, True), (True, False)])
def test_both_can_be_had_in_one_process(order):
    expected = polynomial(X, Y)
    for fastmath in order:
        found = jit(polynomial, fastmath=fastmath)(X, Y)
        if fastmath:
            np.testing.assert_allclose(found, expected, rtol=0, atol=8 * np.spacing(4.0))
        else:
            assert found.tobytes() == expected.tobytes()


def test_sums_are_within_rounding():
    found = jit(dotted, fastmath=True)(X, Y)
    np.testing.assert_allclose(found, dotted(X, Y), rtol=1e-14)


def test_what_rounds_or_guards_is_not_relaxed():
    found = jit(rounded, fastmath=True)(X, Y)
    np.testing.assert_allclose(found, rounded(X, Y), rtol=1e-15)


def test_nan_inf_and_signed_zero_stay_what_they_are():
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e308, 5e-324])
    for function in (lambda x: x + 1.0, lambda x: x * 2.0, lambda x: x / 2.0, lambda x: -0.0 + x):
        with np.errstate(all="ignore"):
            expected = function(x)
        found = jit(function, fastmath=True)(x)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found[1:]), np.signbit(expected[1:]))
