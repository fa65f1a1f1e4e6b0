"""Several reductions of one array in one kernel: along rows, along columns, of every dtype, beside
elementwise results.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jitwise import jit

DTYPES = ["?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
REDUCTIONS = ["sum", "prod", "max", "min", "any", "all", "argmax", "mean", "var"]


def two(first, second, axis):
    def function(x):
        y = x + x
        return getattr(np, first)(y, axis=axis), getattr(np, second)(y * y, axis=axis)

    return function


def close(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if expected.dtype.kind in "fc":
        kind = np.finfo(expected.dtype)
        np.testing.assert_allclose(found, expected, rtol=float(kind.eps) * 64)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("pair", list(itertools.combinations_with_replacement(REDUCTIONS, 2)))
def test_two_reductions_of_a_computed_array(pair, axis):
    function = two(*pair, axis)
    jitted = jit(function)
    for dtype in DTYPES:
        x = (np.arange(70).reshape(7, 10) % 3).astype(dtype)
        for found, expected in zip(jitted(x), function(x), strict=True):
            close(np.asarray(found), np.asarray(expected))


@pytest.mark.parametrize("dtype", DTYPES[3:])
@pytest.mark.parametrize("axis", [0, 1, (0, 1), (0, 2), 2])
def test_many_reductions_of_a_computed_array(axis, dtype):
    def function(x):
        y = x * 2 + 1
        return [getattr(y, name)(axis=axis) for name in REDUCTIONS if name != "argmax"] + [y]

    x = (np.arange(600).reshape(4, 10, 15) % 3).astype(dtype)
    for found, expected in zip(jit(function)(x), function(x), strict=True):
        close(found, expected)
