"""Products are multiplied in NumPy's order: the same bits, and the same floating-point errors.

    np.prod([1e308, 1e308, 0])      inf * 0: nan, and two errors, where another order gives 0

Random arrays of huge and tiny numbers, zeros behind infinities, nan and -0.0, in random layouts,
are multiplied along every subset of their axes, by the functions that multiply. NumPy walks the
axes that it reduces as they lie in memory, and rounds half precision at the end of a run; so each
layout has an order of its own.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from edge_values import same_bits

from jitwise import jit

DTYPES = ["f2", "f4", "f8", "c8", "c16"]
SIZES = (1, 2, 3, 5, 8, 9, 17, 40)
RANKS = (1, 2, 3, 4)


def factors(dtype: np.dtype, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Numbers near 1, near the ends of the range, or mixed with what multiplies strangely."""
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        found = np.empty(shape, dtype)
        found.real, found.imag = factors(part, shape, rng), factors(part, shape, rng)
        return found
    kind, top = rng.integers(3), float(np.log10(np.finfo(dtype).max))
    exponents = rng.uniform(-0.3, 0.3, shape) if kind < 1 else rng.uniform(-top, top, shape) / 2
    with np.errstate(all="ignore"):
        found = (10.0**exponents * rng.choice([-1, 1], shape)).astype(dtype)
    if kind == 2:
        strange = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0], shape).astype(dtype)
        found = np.where(rng.random(shape) < 0.1, strange, found)
    return found


def laid_out(dtype: str, rank: int, rng: np.random.Generator) -> np.ndarray:
    """An array in some order of axes, with steps forwards, backwards or of nothing."""
    shape = [int(rng.choice(SIZES)) for _ in range(rank)]
    array = factors(np.dtype(dtype), tuple(shape), rng).transpose(rng.permutation(rank))
    array = array[tuple(slice(None, None, int(rng.choice([1, 1, 2, -1, -2]))) for _ in shape)]
    if rng.random() < 0.2:
        axis = int(rng.integers(rank))
        array = np.broadcast_to(array.take([0], axis), array.shape)
    return array


def outcome(function: Callable, array: np.ndarray, errors: Any) -> Any:
    with np.errstate(all=errors):
        try:
            return function(array)
        except FloatingPointError as error:
            return str(error)


def agree(jitted: Callable, function: Callable, array: np.ndarray) -> None:
    """The same bits, and the same floating-point error where they are raised."""
    where = f"{array.shape} with strides {array.strides}"
    found, expected = (outcome(each, array, "ignore") for each in (jitted, function))
    assert type(found) is type(expected), where
    assert np.shape(found) == np.shape(expected), where
    good = same_bits(np.asarray(found), np.asarray(expected))
    assert good.all(), where
    found, expected = (outcome(each, array, "raise") for each in (jitted, function))
    assert type(found) is type(expected), where
    assert type(found) is not str or found == expected, where


def subsets(rank: int) -> Iterator[tuple[int, ...]]:
    for count in range(rank + 1):
        yield from itertools.combinations(range(rank), count)


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_over_any_axes_in_any_layout_are_numpys(dtype, rank):
    rng = np.random.default_rng(rank)
    for axes in subsets(rank):
        jitted = jit(lambda x, axes=axes: np.prod(x, axis=axes), wait=True)
        for _ in range(25):
            agree(jitted, lambda x, axes=axes: np.prod(x, axis=axes), laid_out(dtype, rank, rng))


FUNCTIONS: dict[str, Callable] = {
    "method": lambda x: x.prod(),
    "reduce": lambda x: np.multiply.reduce(x, axis=0),
    "nanprod": lambda x: np.nanprod(x, axis=-1),
    "cumprod": np.cumprod,
    "nancumprod": lambda x: np.nancumprod(x, axis=0),
    "accumulate": lambda x: np.multiply.accumulate(x, axis=-1),
    "reduceat": lambda x: np.multiply.reduceat(x, [0, 2, 1], axis=0),
    "initial": lambda x: np.prod(x, axis=0, initial=3.7),
    "large initial": lambda x: np.prod(x, initial=1e4),
    "no initial": lambda x: np.prod(x, axis=-1, initial=None),
    "where": lambda x: np.prod(x, axis=0, where=abs(x) < 1e2),
    "where of all": lambda x: np.prod(x, where=x == x, initial=-0.5),
    "keepdims": lambda x: np.prod(x, axis=-1, keepdims=True),
    "geometric mean": lambda x: np.sqrt(abs(np.prod(x.real, axis=-1))),
    "of what was computed": lambda x: np.prod(x * 2 - x, axis=-1) * 2,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_multiply_have_numpys_bits(name, dtype):
    rng = np.random.default_rng(3)
    function = FUNCTIONS[name]
    for rank in (1, 2, 3):
        jitted = jit(function, wait=True)
        for _ in range(25):
            array = laid_out(dtype, rank, rng)
            if name == "reduceat" and len(array) < 3:
                continue
            agree(jitted, function, array if rank == 1 else np.ascontiguousarray(array))


SHAPES = [(20000,), (9000, 3), (3, 9000), (300, 200), (40, 50, 30), (2, 7000, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_long_products_are_numpys_on_any_number_of_threads(dtype, shape):
    rng = np.random.default_rng(4)
    array = (rng.uniform(0.95, 1.05, shape) * np.exp(rng.normal(size=shape) * 0.01)).astype(dtype)
    for axes in subsets(len(shape)):
        jitted = jit(lambda x, axes=axes: np.prod(x, axis=axes), wait=True)
        for layout in (array, array.T.copy().T, array[::-1, ...], np.flip(array, -1)):
            agree(jitted, lambda x, axes=axes: np.prod(x, axis=axes), layout)


def test_an_empty_product_is_its_initial_value():
    for shape, axis in itertools.product([(0, 3), (3, 0), (0, 0)], [0, 1, None]):
        for dtype in DTYPES:
            array = np.ones(shape, dtype)
            for options in ({}, {"initial": 2.5}):
                function = lambda x, a=axis, o=options: np.prod(x, axis=a, **o)  # noqa: E731
                agree(jit(function, wait=True), function, array)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([1e308, 1e308, 0.0], ["invalid value", "overflow"]),
        ([1e200] * 4 + [1e-200] * 4, ["overflow"]),
        ([1e-200, 1e200] * 4, []),
    ],
)
def test_a_product_warns_as_numpys_does(values, told):
    array = np.array(values)
    with np.errstate(all="warn", under="ignore"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = jit(lambda x: np.prod(x), wait=True)(array)
    texts = sorted(str(each.message) for each in caught)
    assert texts == [f"{each} encountered in reduce" for each in told]
    assert same_bits(found, outcome(np.prod, array, "ignore")).all()


def test_fastmath_multiplies_side_by_side():
    array = np.array([1e200] * 4 + [1e-200] * 4)
    assert jit(lambda x: np.prod(x), wait=True, fastmath=True)(array) == 1
