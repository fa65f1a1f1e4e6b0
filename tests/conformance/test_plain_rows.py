"""Rows that are reduced as they lie in memory: NumPy's positions, and the bits of any other way."""

from __future__ import annotations

import numpy as np
import pytest

from jitwise import jit

WIDTHS = (1, 7, 8, 9, 15, 16, 17, 31, 33, 47, 64, 65, 100, 127, 128, 129, 160, 300, 513, 1024, 5000)
TYPES = ("f4", "f8", "i4", "i8")


def rows_of(dtype, width, values):
    """A few rows with many equal elements."""
    random = np.random.default_rng(width)
    return random.choice(np.array(values, dtype), (5, width))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["argmax", "argmin", "max", "min"])
def test_the_first_of_equals_is_found_at_every_width(name, dtype):
    reduce = jit(lambda x: getattr(np, name)(x, axis=1), wait=True)
    if dtype[0] == "f":
        worst = [-np.inf, np.inf]
    else:
        worst = [np.iinfo(dtype).min, np.iinfo(dtype).max]
    for width in WIDTHS:
        for values in ([3, 4, 5], worst, worst[:1], worst[1:], [-1, 0, 1]):
            x = rows_of(dtype, width, values)
            np.testing.assert_array_equal(reduce(x), getattr(np, name)(x, axis=1))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_nan_is_found_wherever_it_is(name, dtype):
    reduce = jit(lambda x: getattr(np, name)(x, axis=1), wait=True)
    for width in (*WIDTHS, 70000, 140001):
        for place in {0, width // 3, width // 2, width - 1}:
            x = rows_of(dtype, width, [1, 2, np.inf])
            x[1, place:] = np.nan
            x[3, place] = np.nan
            np.testing.assert_array_equal(reduce(x), getattr(np, name)(x, axis=1))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_rows_longer_than_a_piece_find_the_first_of_equals(name, dtype):
    reduce = jit(lambda x: getattr(np, name)(x), wait=True)
    for places in ((0, 139999), (65535, 65536), (70001, 131072), (139999,)):
        x = np.full(140000, 5, dtype)
        x[list(places)] = 9 if name == "argmax" else 1
        assert reduce(x) == places[0]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("function", [np.sum, np.mean, np.max, np.argmin], ids=lambda f: f.__name__)
def test_rows_have_the_same_bits_dense_and_strided_and_at_odd_addresses(function, dtype):
    reduce = jit(lambda x: function(x, axis=1), wait=True)
    random = np.random.default_rng(1)
    for width in WIDTHS:
        wide = (random.uniform(-1, 1, (3, 2 * width)) * 10.0 ** random.integers(0, 6)).astype(dtype)
        strided = wide[:, ::2]
        dense = strided.copy()
        bytes = np.empty(dense.nbytes + 1, np.uint8)
        odd = bytes[1:].view(dtype).reshape(dense.shape)
        odd[...] = dense
        expected = reduce(dense)
        assert reduce(strided).tobytes() == expected.tobytes()
        assert reduce(odd).tobytes() == expected.tobytes()
        np.testing.assert_allclose(
            expected, function(dense, axis=1), 1e-4 if dtype == "f4" else 1e-9
        )


def test_reducing_rows_leaves_no_flags_that_numpy_does_not_leave():
    x = np.full((4, 100), 1e308)
    x[0, 50] = np.nan
    with np.errstate(all="raise"):
        for name in ("argmax", "argmin"):
            jit(lambda x, name=name: getattr(np, name)(x, axis=1), wait=True)(x)
        with pytest.raises(FloatingPointError):
            jit(lambda x: np.sum(x, axis=1), wait=True)(x)
        y = np.zeros((4, 100))
        y[:, 0], y[:, 99], y[:, 98] = 1e308, -1e308, 7e307
        jit(lambda x: np.sum(x, axis=1), wait=True)(y)
