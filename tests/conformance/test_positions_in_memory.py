"""Positions in arrays of every layout: reading, writing and combining elements, cells and rows; few
of them and so many that threads share them. Out of bounds raises NumPy's error.
"""

from __future__ import annotations

import numpy as np
import pytest

from jitwise import jit

DTYPES = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]
LAYOUTS = {
    "c": lambda x: np.ascontiguousarray(x),
    "fortran": lambda x: np.asfortranarray(x),
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
}
READERS = {
    "rows": lambda x, i, j: x[i],
    "cells": lambda x, i, j: x[:, j],
    "elements": lambda x, i, j: x[i, j],
    "planes": lambda x, i, j: x[:, :, i % 3],
    "apart": lambda x, i, j: x[i, :, j % 3],
    "one": lambda x, i, j: x[:, j, i % 3],
    "all": lambda x, i, j: x[i, j, j % 3],
    "grid": lambda x, i, j: x[i[:, None], j],
    "same": lambda x, i, j: x[np.broadcast_to(i[0], (4,))],
    "turned": lambda x, i, j: x[i[::-1], j[::-1]],
}


def changed(x, i, j, v):
    y = x.copy()
    y[i] = v
    return y


def changed_cells(x, i, j, v):
    y = x.copy()
    y[:, j] = v
    return y


def changed_elements(x, i, j, v):
    y = x.copy()
    y[i, j] = v
    y[i, :, j % 3] = v[0, 0]
    return y


def combined(ufunc):
    def function(x, i, j, v):
        y = x.copy()
        ufunc.at(y, i, v)
        ufunc.at(y, (slice(None), j, i % 3), v[0, 0])
        return y

    return function


WRITERS = {
    "rows": changed,
    "cells": changed_cells,
    "elements": changed_elements,
    **{name: combined(getattr(np, name)) for name in ("add", "subtract", "multiply", "maximum")},
    "minimum": combined(np.minimum),
    "hypot": combined(np.hypot),
}
FIRST, SECOND = np.array([3, -1, 0, 3, 3]), np.array([1, 1, -2, 0, 3])


def grid(dtype, layout):
    numbers = np.random.default_rng(4).integers(-9, 9, (5, 4, 3))
    values = numbers > 0 if dtype == "?" else np.abs(numbers) if dtype[0] == "u" else numbers
    array = values.astype(dtype)
    return LAYOUTS[layout](array * (1 + 0.5j) if dtype[0] == "c" else array).astype(
        dtype, order="K"
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", READERS)
def test_what_is_read_is_what_numpy_reads(name, layout):
    function = READERS[name]
    jitted = jit(function)
    for dtype in DTYPES:
        x = grid(dtype, layout)
        for i, j in ((FIRST, SECOND), (FIRST[:0], SECOND[:0]), (FIRST[1:2], SECOND[1:2])):
            if not len(i) and name == "same":
                continue
            np.testing.assert_array_equal(jitted(x, i, j), function(x, i, j), strict=True)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_written_is_what_numpy_writes(name, layout):
    function = WRITERS[name]
    jitted = jit(function)
    for dtype in DTYPES:
        x = grid(dtype, layout)
        v = x[:1, :1, :1] * 1
        try:
            expected = function(x, FIRST, SECOND, v)
        except TypeError as error:  # no loop for these numbers
            with pytest.raises(type(error)):
                jitted(x, FIRST, SECOND, v)
            continue
        np.testing.assert_array_equal(jitted(x, FIRST, SECOND, v), expected, strict=True)
        np.testing.assert_array_equal(jitted(x, FIRST[:0], SECOND[:0], v), x, strict=True)


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.maximum, np.minimum])
def test_special_numbers_are_combined_as_numpy_combines_them(ufunc):
    special = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan])
    left, right = (each.ravel() for each in np.meshgrid(special, special))

    def function(x, i, v):
        y = x.copy()
        ufunc.at(y, i, v)
        return y

    places = np.arange(len(left))
    with np.errstate(all="ignore"):
        for dtype in ("f4", "f8"):
            x, v = left.astype(dtype), right.astype(dtype)
            found, expected = jit(function)(x, places, v), function(x, places, v)
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "c16"])
def test_many_positions_are_shared_among_threads(dtype):
    rng = np.random.default_rng(1)
    x = rng.integers(0, 99, 300_000).astype(dtype)
    wide = x.reshape(30_000, 10)
    places = rng.integers(-300_000, 300_000, 500_001)
    few = np.array([3, -1, 4, 1, 5, 9])
    for function, *args in (
        (lambda x, i: x[i], x, places),
        (lambda x, i: x[i], x, places[::-3]),
        (lambda x, i: x[i], wide, places % 30_000),
        (lambda x, i: x[:, i], wide, few),
        (lambda x, i: x[:, i], wide.T, places % 10),
        (lambda x, i: x[i, i % 10], wide, places % 30_000),
    ):
        np.testing.assert_array_equal(jit(function)(*args), function(*args), strict=True)


def test_the_last_of_many_values_for_one_place_stays():
    rng = np.random.default_rng(2)
    places, values = rng.integers(0, 50, 100_000), rng.random(100_000)

    def write(x, i, v):
        x[i] = v
        np.add.at(x, i, v)
        return x * 1

    found, expected = np.zeros(50), np.zeros(50)
    np.testing.assert_array_equal(
        jit(write)(found, places, values), write(expected, places, values)
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("bad", [7, -6, 2**40, -(2**62)])
@pytest.mark.parametrize("where", [0, 511, 512, 1999])
def test_a_position_out_of_bounds_raises_numpys_error_and_changes_nothing(bad, where):
    def read(x, i):
        return x[i] * 2

    def write(x, i):
        x += 1
        x[i] = 5

    def add(x, i):
        np.add.at(x, (slice(None), i), 1.0)

    places = np.arange(2000) % 5
    wrong = places.copy()
    wrong[where] = bad
    for function, shape in ((read, (5,)), (read, (5, 4)), (write, (5,)), (add, (4, 5))):
        jitted = jit(function)
        x, same = np.zeros(shape), np.zeros(shape)
        jitted(x, places)
        function(same, places)
        with pytest.raises(IndexError) as expected:
            function(same, wrong)
        with pytest.raises(IndexError) as found:
            jitted(x, wrong)
        assert str(found.value) == str(expected.value)
        np.testing.assert_array_equal(x, same)
        assert (jitted.state.traces, jitted.state.compiles) == (1, 1)


def test_a_position_out_of_bounds_is_refused_where_nothing_is_taken():
    def rows(x, i):
        return x[i]

    jitted = jit(rows)
    assert jitted(np.zeros((3, 0)), np.array([0, 2])).shape == (2, 0)
    with pytest.raises(IndexError):
        rows(np.zeros((3, 0)), np.array([0, 3]))
    with pytest.raises(IndexError):
        jitted(np.zeros((3, 0)), np.array([0, 3]))
