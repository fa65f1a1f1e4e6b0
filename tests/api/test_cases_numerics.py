"""Numerics that other compilers get wrong: each test is one small program, compared with NumPy."""

from __future__ import annotations

import warnings

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


@pytest.mark.parametrize("length", [1, 3, 64, 1001])
def test_nothing_is_reassociated_or_contracted(length):
    agrees(lambda a, b: (a + b) - a, np.full(length, 1e16), np.ones(length))
    agrees(lambda a, b: (a + b) - a, np.full(length, 1e8, "f4"), np.ones(length, "f4"))
    a, b, c = np.full(length, 1 + 2**-30), np.full(length, 1 - 2**-30), np.ones(length)
    for f in (
        lambda a, b, c: a * b - c,
        lambda a, b, c: c - a * b,
        lambda a, b, c: a * b + (-c),
        lambda a, b, c: (a * b - c)[::2].max(),
        lambda a, b, c: (a + 1j * b) * (b + 1j * a) - c,
    ):
        agrees(f, a, b, c)
        agrees(f, *[np.full(length, 1 + k * 2**-12, "f4") for k in (1, -1, 0)])
    assert jit(lambda a, b, c: a * b - c)(a, b, c)[0] == 0


@pytest.mark.parametrize("count", [20_000_000, 1_000_003])
def test_a_float32_sum_of_many_terms_is_exact_enough(count):
    ones = np.ones(count, np.float32)
    assert jit(lambda x: x.sum())(ones) == np.float32(count)
    tenths = np.full(count, 0.1, np.float32)
    assert abs(float(jit(np.mean)(tenths)) - 0.1) < 1e-7


def test_a_float32_sum_along_an_axis_is_exact_enough():
    """One term after the other in float32 would stop at 2**24, or lose a percent of the tenths."""
    count = 2**24 + 2**10
    ones, tenths = np.ones((count, 1), np.float32), np.full((2**20, 3), 0.1, np.float32)
    assert jit(lambda x: x.sum(axis=0))(ones)[0] == count
    assert jit(lambda x: x.T.sum(axis=1))(ones)[0] == count
    for mean in (jit(lambda x: x.mean(axis=0))(tenths), jit(lambda x: x.T.mean(axis=1))(tenths)):
        assert np.abs(mean.astype(float) - 0.1).max() < 1e-6
    total = jit(np.sum)(np.ones(4000, np.float16))
    assert total == 4000 and total.dtype == np.float16


def test_subnormals_are_kept_in_the_callers_thread_and_in_the_helpers():
    """A kernel must not set the flags that flush them to zero, nor run where they are set."""
    small = np.full(3_000_000, 1e-310)
    function = jit(lambda x: x * 0.5 + np.sin(x))
    for _ in range(3):
        assert np.array_equal(function(small), small * 0.5 + small)
        assert (small * 0.5 == 5e-311).all()
    assert np.float64(1e-310) / 2 == 5e-311


FLAWED = {
    "floor_divide": (lambda a: a[0] // a[1], np.array([[0, 1, -1, 7], [0, 0, 0, 2]])),
    "divide": (lambda a: 1 / a, np.array([1.0, 0.0])),
    "log": (lambda a: np.where(a > 0, np.log(a), 0.0), np.array([-1.0, 0.0, 1.0])),
    "overflow": (lambda a: a * 1e300, np.array([1e300])),
    "invalid": (np.sqrt, np.array([-1.0])),
    "exp": (np.exp, np.array([1000.0])),
}


@pytest.mark.parametrize("name", FLAWED)
def test_an_error_state_that_raises_raises(name):
    function, argument = FLAWED[name]
    jitted = jit(function)
    with np.errstate(all="raise"):
        for _ in range(2):
            with pytest.raises(FloatingPointError):
                jitted(argument)


@pytest.mark.parametrize("name", FLAWED)
def test_a_floating_point_fault_warns_and_an_error_state_that_ignores_does_not(name):
    function, argument = FLAWED[name]
    jitted = jit(function)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        jitted(argument)
    with np.errstate(all="warn"), pytest.warns(RuntimeWarning):
        jitted(argument)


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
