"""Reductions through the public `jit`, against NumPy: every dtype, axis and layout, sizes around
those at which the machine changes its way, nans, zeros of both signs, and any number of threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from edge_values import same_bits
from layouts import LAYOUTS

from jitwise import jit
from jitwise.runtime import _native

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
DTYPES = ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
FUNCTIONS = ["sum", "prod", "max", "min", "any", "all", "argmax", "argmin"]
# Chunks have 16 to 128 elements, eight rows are taken at a call, 16 chunks are a block, rows are
# packed up to 96 or 160 elements, and narrow columns are folded.
SHAPES = [
    (1, 1), (2, 17), (7, 31), (8, 32), (9, 33), (17, 64), (16, 65), (33, 127), (65, 129),
    (3, 161), (97, 3), (300, 40), (1031, 2), (40, 300), (5, 2051), (2051, 5), (4, 4200),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = _native.thread_count()
    yield
    _native.set_threads(before)


def reduction(name: str, axis: Any, **options: Any) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        return getattr(np, name)(x, axis=axis, **options)

    return jit(function, wait=True)


def small_values(shape: tuple[int, ...], dtype: str, name: str) -> np.ndarray:
    """Sums of them are exact, products are of ones and few twos."""
    generator = np.random.default_rng(len(shape) + sum(shape))
    values = generator.integers(0, 2, shape) if dtype == "?" else generator.integers(-9, 9, shape)
    if name == "prod":
        values = np.where(generator.random(shape) < 20 / (shape[0] * shape[1]), 2, 1)
        return values.astype(dtype)
    if dtype == "f2":
        values = np.where(generator.random(shape) < 0.1, values, 0)
    array = values.astype(dtype)
    return array + np.array(1j, dtype) * values[::-1] if dtype[0] == "c" else array


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_reduction_is_numpys_for_sizes_around_chunks(name, dtype):
    functions = {axis: reduction(name, axis) for axis in (0, 1, None)}
    for shape, (axis, function) in itertools.product(SHAPES, functions.items()):
        array = small_values(shape, dtype, name)
        for layout in ("contiguous", "fortran", "strided", "reversed"):
            x = LAYOUTS[layout](array)
            found, expected = function(x), getattr(np, name)(x, axis=axis)
            assert found.dtype == expected.dtype
            assert np.array_equal(found, expected), (shape, axis, layout)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "argmin"])
def test_bits_of_a_row_reduction_depend_on_neither_threads_nor_alignment(name, dtype):
    generator = np.random.default_rng(3)
    function = reduction(name, -1)
    for shape in [(2, 700_001), (3, 50), (700, 300), (1, 40_000)]:
        array = generator.normal(1, 0.01, shape).astype(dtype)
        results = {True: [], False: []}  # by whether it is rows that lie side by side
        for threads, layout in itertools.product((1, 2, 3), LAYOUTS):
            if "for all" in layout or "big" in layout:
                continue
            _native.set_threads(threads)
            across = layout == "fortran"
            results[across].append(function(LAYOUTS[layout](array)))
        for alike in results.values():
            assert all(same_bits(alike[0], other).all() for other in alike[1:]), shape


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("name", ["sum", "prod", "max"])
def test_bits_of_a_column_reduction_do_not_depend_on_threads_or_alignment(name, dtype):
    generator = np.random.default_rng(4)
    function = reduction(name, 0)
    for shape in [(700_001, 2), (50, 3), (300, 700), (3, 100_001), (2000, 130)]:
        array = generator.normal(1, 0.01, shape).astype(dtype)
        results = []
        layouts = ("contiguous", "unaligned", "field", "strided", "reversed columns")
        for threads, layout in itertools.product((1, 2, 3), layouts):
            _native.set_threads(threads)
            results.append(function(LAYOUTS[layout](array)))
        assert all(same_bits(results[0], other).all() for other in results[1:]), shape


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_wide_columns_are_summed_in_numpys_order(dtype):
    for shape in [(9, 5000), (100, 3001), (8, 2048)]:
        x = np.random.default_rng(5).normal(size=shape).astype(dtype)
        assert np.array_equal(reduction("sum", 0)(x), np.add.accumulate(x)[-1])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_a_nan_anywhere_is_found_first(name, dtype):
    for axis, shape in itertools.product((0, 1), [(5, 33), (300, 7), (3, 2100), (2100, 3), (1, 1)]):
        function = reduction(name, axis)
        for position in range(0, shape[0] * shape[1], max(1, shape[0] * shape[1] // 23)):
            x = np.arange(shape[0] * shape[1], dtype=dtype).reshape(shape) % 11
            x.flat[position] = np.nan
            x.flat[-1 - position // 2] = np.nan
            expected = getattr(np, name)(x, axis=axis)
            assert np.array_equal(function(x), expected, equal_nan=dtype[0] == "f"), (
                shape,
                position,
            )


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("value", [-np.inf, np.inf, np.nan])
def test_among_equal_elements_the_first_is_found(name, value):
    for shape in [(4, 9), (3, 300), (300, 3), (2, 100_000), (100_000, 2)]:
        for axis in (0, 1):
            x = np.full(shape, value)
            assert np.array_equal(reduction(name, axis)(x), np.zeros(shape[1 - axis]))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ["any", "all", "max", "argmax", "argmin"])
def test_one_boolean_decides_wherever_it_stands(name, threads):
    _native.set_threads(threads)
    common = name in ("all", "argmin")
    function, length = reduction(name, None), 3_000_000
    x = np.full(length, common)
    assert function(x) == getattr(np, name)(x)
    for position in [0, 1, 127, 128, 255, 256, 8447, 8448, 16383, 16384, 777_777, length - 1]:
        x[position] = not common
        for last in (False, True):
            x[-1] = common != (last or position == length - 1)
            assert function(x) == getattr(np, name)(x), position
        x[position] = common


def test_a_decided_reduction_beside_one_that_is_not():
    def both(x: Any) -> Any:
        return np.any(x), np.all(x), np.sum(x)

    function = jit(both, wait=True)
    for zeros in ([], [0], [299_999], [5, 70_000]):
        x = np.ones(300_000, bool)
        x[zeros] = False
        assert [int(each) for each in function(x)] == [1, not zeros, 300_000 - len(zeros)]


# ---- zeros


ZERO_SHAPES = [(), (0,), (1,), (9,), (3, 4), (3, 1), (2, 3, 4), (0, 3), (3, 0), (200, 3), (3, 300)]


def same(found: Any, expected: Any) -> bool:
    found, expected = np.asarray(found), np.asarray(expected)
    return found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", ZERO_SHAPES, ids=str)
def test_a_sum_of_negative_zeros_is_numpys(shape, dtype):
    nothing = np.dtype(dtype).type(complex(-0.0, -0.0) if dtype[0] == "c" else -0.0)
    arrays = [np.full(shape, nothing)]
    if arrays[0].size:
        arrays.append(arrays[0].copy())
        arrays[1].flat[arrays[1].size // 2] = 0
    ranks = range(len(shape) + 1)
    axes = [None, *itertools.chain(*[itertools.combinations(ranks[:-1], n) for n in ranks])]
    options: list[dict] = [{}, {"keepdims": True}, {"initial": 0.0}, {"initial": -0.0}]
    options += [{"initial": nothing, "keepdims": True}]
    options += [{"initial": None}] if 0 not in shape else []
    for axis, option in itertools.product(axes, options):
        function = reduction("sum", axis, **option)
        for x in arrays:
            assert same(function(x), np.sum(x, axis=axis, **option)), (axis, option)
        if 0 not in shape and "initial" not in option:
            function = reduction("mean", axis, **option)
            assert all(same(function(x), np.mean(x, axis=axis, **option)) for x in arrays)


def test_an_initial_value_that_is_an_argument_keeps_its_sign():
    function = jit(lambda x, start: np.sum(x, initial=start), wait=True)
    for x, start in itertools.product([np.full(3, -0.0), np.zeros(3)], [-0.0, 0.0, 2.5]):
        start = np.float64(start)
        assert same(function(x, start), np.sum(x, initial=start))


def test_a_sum_of_nothing_without_initial_value_is_an_error():
    for function in (np.sum, np.prod):
        with pytest.raises(ValueError, match="no identity"):
            jit(lambda x, function=function: function(x, initial=None), wait=True)(np.zeros(0))


@pytest.mark.parametrize("name", ["max", "min"])
def test_of_zeros_of_both_signs_a_wide_column_keeps_numpys(name):
    signs = np.random.default_rng(1).choice([-0.0, 0.0], (20, 3000))
    assert same(reduction(name, 0)(signs), getattr(np, name)(signs, axis=0))


def test_the_sign_of_a_zero_does_not_depend_on_threads():
    signs = np.random.default_rng(2).choice([-0.0, 0.0], (1, 3_000_000))
    for name in ("max", "min"):
        results = []
        for threads in (1, 2, 3):
            _native.set_threads(threads)
            results.append(reduction(name, 1)(signs))
        assert all(same(results[0], other) for other in results)


# ---- shapes


@pytest.mark.parametrize("axis", [(0, 2), (1, 2), (2,), (0, 1, 2), (1, 3), (3,)])
def test_what_is_done_with_kept_axes_of_any_place(axis):
    x = np.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)[:, :, :, : 5 if 3 in axis else 1]
    x = x if 3 in axis else x[..., 0]
    for function in (
        lambda x: np.mean(x, axis=axis, keepdims=True),
        lambda x: np.max(x, axis=axis, keepdims=True) * 2 + 1,
        lambda x: x - np.sum(x, axis=axis, keepdims=True),
        lambda x: np.concatenate([np.sum(x, axis, keepdims=True) * 2, x + 1], axis[0]),
    ):
        try:
            expected = function(x)
        except ValueError:
            continue  # parts that do not fit together
        assert np.array_equal(jit(function, wait=True)(x), expected)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_a_position_is_found_along_every_axis(name):
    for shape in [(3, 5), (2, 3, 4), (40, 5, 60), (20_000, 3), (3, 2000), (129, 129)]:
        x = np.random.default_rng(6).integers(-50, 50, shape).astype("f4")
        for axis in range(-len(shape), len(shape)):
            function = reduction(name, axis)
            for y in (x, np.asfortranarray(x), x[::-1], x[..., ::2]):
                assert np.array_equal(function(y), getattr(np, name)(y, axis=axis))
