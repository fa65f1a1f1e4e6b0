"""Numerics that other compilers get wrong: each test is one small program, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import agrees

from jitwise import jit


def test_integer_floor_division_by_zero_is_zero():
    for dtype in (np.int64, np.int32, np.int8, np.uint16):
        a, b = np.array([0, 1, 7, 5], dtype), np.array([0, 0, 2, 0], dtype)
        agrees(lambda a, b: (a // b, a % b), a, b)


def test_the_smallest_integer_divided_by_minus_one_wraps():
    for dtype in (np.int64, np.int32, np.int16, np.int8):
        least = np.iinfo(dtype).min
        a, b = np.array([least, least, 5], dtype), np.array([-1, 1, -2], dtype)
        agrees(lambda a, b: (a // b, a % b), a, b)


def test_a_python_int_that_does_not_fit_raises_overflow_error():
    agrees(lambda a: a + 300, np.array([250, 5], np.uint8))
    agrees(lambda a: a + 5, np.array([250, 5], np.uint8))


def test_a_python_float_is_weak_and_a_numpy_float_is_not():
    agrees(lambda x: x * 0.1, np.ones(3, np.float32))
    agrees(lambda x: x * np.float64(0.1), np.ones(3, np.float32))


def test_quotients_and_means_of_ints_are_float64():
    a = np.array([1, 2, 7], np.int32)
    agrees(lambda a: a / a, a)
    agrees(lambda a: a.mean(), a)


def test_floats_out_of_range_convert_to_ints_as_numpy_does():
    # uint32 is left out: what NumPy gives out of range depends on the place in the array
    values = np.array([254.0, 256.0, 257.0, -1.0, 1e10, -1e10, np.nan, np.inf])
    for dtype in (np.uint8, np.int8, np.int16, np.uint16, np.int32, np.int64, np.uint64):
        agrees(lambda x, dtype=dtype: x.astype(dtype), values)
        agrees(lambda x, dtype=dtype: x.astype(dtype), values.astype(np.float32))


def test_shifts_by_the_width_or_more_are_defined():
    agrees(lambda a, b: a << b, np.array([1, 1, -1]), np.array([63, 64, 70]))
    agrees(lambda a: a >> 64, np.array([8, -8]))


def test_subnormals_are_kept():
    agrees(lambda x: np.sqrt(x), np.array([5e-324, 1e-310]))
    agrees(lambda x, y: x * y, np.array([1e-200]), np.array([1e-120]))
    agrees(lambda x: np.log(x), np.array([1e-310]), ulp=2)


def test_complex_division_by_zero_is_infinite():
    agrees(lambda a, b: a / b, np.array([1 + 1j]), np.array([0j]))


def test_minus_of_booleans_is_a_type_error():
    agrees(lambda a, b: a - b, np.array([True, False]), np.array([True, True]))
    agrees(lambda a: -a, np.array([True]))


def test_argmax_takes_the_first_nan_and_max_gives_nan():
    for length in (4, 100, 1000):
        x = np.arange(length, dtype=float)
        x[[1, 3]] = np.nan
        agrees(lambda x: (np.argmax(x), np.argmin(x), x.max(), x.min()), x)
    agrees(lambda x: np.argmin(x), np.array([0.0, -0.0, 0.0]))


def test_zero_times_nan_is_nan():
    def f(v, m):
        a = np.where(m, np.nan, v)
        return {"l": a.mean(), "t": v.mean() + a.mean() * 0.0}

    agrees(f, np.arange(4.0), np.array([True, False, False, True]))


def test_nothing_is_reassociated_or_contracted():
    agrees(lambda a, b: (a + b) - a, np.array([1e16]), np.array([1.0]))
    a, b, c = np.array([1 + 2**-30]), np.array([1 - 2**-30]), np.array([1.0])
    agrees(lambda a, b, c: a * b - c, a, b, c)


@pytest.mark.parametrize("count", [20_000_000, 1_000_003])
def test_a_float32_sum_of_many_terms_is_exact_enough(count):
    ones = np.ones(count, np.float32)
    assert jit(lambda x: x.sum())(ones) == np.float32(count)
    tenths = np.full(count, 0.1, np.float32)
    assert abs(float(jit(np.mean)(tenths)) - 0.1) < 1e-7


def test_empty_reductions_give_numpys_values_or_errors():
    empty = np.zeros(0)
    agrees(lambda x: x.sum(), empty)
    agrees(lambda x: x.max(), empty)
    agrees(lambda x: np.argmax(x), empty)
    agrees(lambda x: x.mean(), empty)
    agrees(lambda x: np.max(x, axis=0), np.zeros((0, 3)))
    agrees(lambda x: np.sum(x, axis=1), np.zeros((3, 0)))
    maximum = agrees(lambda x: x.max(), np.ones(3))
    agrees(lambda x: x.max(), empty, jitted=maximum)


def test_where_does_not_guard_what_it_chooses_from():
    agrees(lambda a: np.where(a > 0, np.log(a), 0.0), np.array([-1.0, 0.0, 1.0]), ulp=2)


def test_large_integers_and_floats_are_not_narrowed():
    agrees(lambda x: x + 1, np.array([2**40]))
    agrees(lambda x: x + 1, np.array([1e300]))
    agrees(lambda x: x.sum(), np.array([2**31 - 1, 1], np.int32))
