"""Rows that are reduced as they lie in memory: NumPy's positions, and the bits of any other way."""

from __future__ import annotations

import numpy as np
import pytest

from jitwise import jit
from jitwise.runtime.kernels import plain_operand

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
@pytest.mark.parametrize(
    "function", [np.sum, np.prod, np.mean, np.max, np.argmin], ids=lambda f: f.__name__
)
def test_rows_have_the_same_bits_dense_and_strided_and_at_odd_addresses(function, dtype):
    reduce = jit(lambda x: function(x, axis=1), wait=True)
    random = np.random.default_rng(1)
    for width in WIDTHS:
        scale = 1 if function is np.prod else 10.0 ** random.integers(0, 6)
        wide = (random.uniform(-3, 3, (3, 2 * width)) * scale).astype(dtype)
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


@pytest.mark.parametrize("dtype", TYPES)
def test_products_of_rows_are_numpys(dtype):
    reduce = jit(lambda x: np.prod(x, axis=1), wait=True)
    for width in WIDTHS:
        x = rows_of(dtype, width, [-3, -1, 1, 2, 3] if dtype[0] == "i" else [-1, -0.75, 1, 1.3125])
        expected = np.prod(x, axis=1)
        if dtype[0] == "i":  # wraps
            np.testing.assert_array_equal(reduce(x), expected)
        else:
            np.testing.assert_allclose(reduce(x), expected, 1e-3 if dtype == "f4" else 1e-11)
    for value in (0, -0.0, np.inf, np.nan) if dtype[0] == "f" else (0,):
        x = np.ones((5, 100), dtype)
        x[:, 37] = value
        x[1, 3] = -1
        assert reduce(x).tobytes() == np.prod(x, axis=1).tobytes()


def test_products_of_rows_leave_the_flags_of_their_own_elements():
    reduce = jit(lambda x: np.prod(x, axis=1), wait=True)
    for dtype, large in (("f4", 1e30), ("f8", 1e300)):
        for width in WIDTHS[1:]:
            x = np.ones((3, width), dtype)
            x[1, width // 2] = large
            x[2, width // 3] = np.inf
            with np.errstate(all="raise"):
                reduce(x)
            x[1, 0] = large
            with np.errstate(all="raise"), pytest.raises(FloatingPointError):
                reduce(x)


EVERY_TYPE = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")


def truths(dtype):
    """Elements that are true, and elements that are not."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return [1j, -1, np.nan, 5e-45], [0.0, -0.0, -0.0j, complex(0, -0.0)]
    if dtype.kind == "f":
        tiny = np.finfo(dtype).smallest_subnormal
        return [1, -1, np.nan, np.inf, tiny, -tiny], [0.0, -0.0]
    if dtype.kind == "b":
        return [True], [False]
    return [1, 256 >> (8 * (dtype.itemsize == 1)), np.iinfo(dtype).min or 2, np.iinfo(dtype).max], [
        0
    ]


@pytest.mark.parametrize("dtype", EVERY_TYPE)
@pytest.mark.parametrize("name", ["any", "all"])
def test_one_element_decides_wherever_it_is(name, dtype):
    reduce = jit(lambda x: getattr(np, name)(x, axis=1), wait=True)
    whole = jit(lambda x: getattr(np, name)(x), wait=True)
    true, false = (np.array(each).astype(dtype) for each in truths(dtype))
    usual, other = (false, true) if name == "any" else (true, false)
    random = np.random.default_rng(0)
    for width in (*WIDTHS, 70000):
        bytes = np.empty(4 * width * true.itemsize + 64, np.uint8)
        for offset in (0, 1, true.itemsize, 8):
            x = bytes[offset : offset + 4 * width * true.itemsize].view(dtype).reshape(4, width)
            x[...] = random.choice(usual, x.shape)
            np.testing.assert_array_equal(reduce(x), getattr(np, name)(x, axis=1))
            assert whole(x) == getattr(np, name)(x)
            for place in {0, 1 % width, width // 3, width // 2, width - 1}:
                x[0, place] = random.choice(other)
                x[2, place] = random.choice(other)
                np.testing.assert_array_equal(reduce(x), getattr(np, name)(x, axis=1))
                np.testing.assert_array_equal(reduce(x[:, ::-1]), getattr(np, name)(x, axis=1))
                assert whole(x) == getattr(np, name)(x)
                x[0, place] = x[2, place] = usual[0]


def test_asking_whether_elements_are_true_leaves_no_flags():
    x = np.zeros((4, 300))
    x[:, 200:] = np.nan
    x[1, :] = 5e-324
    with np.errstate(all="raise"):
        for name in ("any", "all"):
            reduce = jit(lambda x, name=name: getattr(np, name)(x, axis=1), wait=True)
            np.testing.assert_array_equal(reduce(x), getattr(np, name)(x, axis=1))


def test_only_what_is_reduced_as_it_lies_is_plain():
    """Rows that the machine reduces without compiled code: which operand, of which dtype."""

    def plain(function, dtype):
        lowered = jit(function).lower(np.ones((3, 4), dtype))
        return [plain_operand(each) for each in lowered.executable.kernels]

    assert plain(lambda x: np.any(x, axis=1), "f4") == [(0, "f32")]
    assert plain(lambda x: np.all(x, axis=1), "?") == [(0, "bool")]
    assert plain(lambda x: np.prod(x, axis=1), "i8") == [(0, "i64")]
    assert plain(lambda x: np.any(x > 1, axis=1), "f4") == [(-1, "")]
    assert plain(lambda x: np.sum(x.astype("f8"), axis=1), "f4") == [(-1, "")]
