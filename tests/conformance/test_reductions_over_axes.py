"""Reductions over every subset of axes, and what programs do with them: the value of a row or a
column is used beside the elements it came from.

For ranks 1 to 4, each subset of axes, with and without kept axes, on shapes with sizes of 1, 0 and
more. NumPy is the oracle; the numbers are small integers, so that sums are exact and the tolerance
is about division, square roots and exponentials only.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from jitwise import jit

SHAPES = {
    1: [(5,), (1,), (0,), (300,)],
    2: [(3, 4), (1, 4), (3, 1), (0, 4), (3, 0), (40, 150)],
    3: [(2, 3, 4), (1, 3, 4), (2, 1, 4), (2, 3, 1), (1, 3, 1), (2, 0, 4), (9, 7, 140)],
    4: [(2, 3, 4, 5), (1, 3, 1, 5), (2, 1, 4, 1), (2, 3, 4, 0), (3, 2, 5, 130)],
}
CASES = [
    (rank, axes)
    for rank in SHAPES
    for count in range(1, rank + 1)
    for axes in itertools.combinations(range(rank), count)
]
Expression = Callable[[np.ndarray], Any]


def _numbers(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(len(shape)).integers(-4, 5, shape).astype(float)


def _reductions(axes: tuple[int, ...], kept: bool) -> Iterator[tuple[str, Expression]]:
    how = {"axis": axes, "keepdims": kept}
    yield "sum", lambda a: a.sum(**how)
    yield "mean", lambda a: np.mean(a, **how)
    yield "max", lambda a: np.max(a, **how)
    yield "var", lambda a: a.var(**how)
    yield "std", lambda a: np.std(a, **how, ddof=1)
    yield "any", lambda a: np.any(a > 3, **how)
    yield "prod of a row and a number", lambda a: np.sum(a, **how) * 2 + 1
    yield "two in one", lambda a: (a.sum(**how), a.max(**how) - a.min(**how))
    if len(axes) == 1:
        yield "argmax", lambda a: np.argmax(a, axis=axes[0], keepdims=kept)
        yield "min of a", lambda a: np.argmin(a * 2, axis=axes[0], keepdims=kept)


def _around(rank: int, axes: tuple[int, ...]) -> Iterator[tuple[str, Expression]]:
    """Compositions in which what was reduced is broadcast back."""
    how = {"axis": axes, "keepdims": True}
    others = tuple(axis for axis in range(rank) if axis not in axes)

    def standard(a):
        return (a - a.mean(**how)) / (a.std(**how) + 1)

    def softmax(a):
        e = np.exp(a - a.max(**how))
        return e / e.sum(**how)

    def normal(a):
        mean = a.mean(**how)
        var = ((a - mean) ** 2).mean(**how)
        return (a - mean) / np.sqrt(var + 1e-5) * 3 + 1, mean, var

    def log_sum(a):
        m = np.max(a, **how)
        return np.log(np.sum(np.exp(a - m), axis=axes)) + np.squeeze(m, axis=axes)

    yield "deviation", lambda a: a - a.mean(**how)
    yield "standard score", standard
    yield "softmax", softmax
    yield "normalisation", normal
    yield "log of a sum", log_sum
    yield "twice the mean and the deviation", lambda a: (a.mean(**how) * 2, a - a.mean(**how))
    yield "moment", lambda a: ((a - a.mean(**how)) ** 2).sum(axis=axes)
    yield "over the other axes", lambda a: a - a.sum(**how) + a.sum(axis=others, keepdims=True)
    yield "of a reduction", lambda a: a.sum(**how).max(axis=others) if others else a.sum(**how)
    yield "of deviations", lambda a: np.abs(a - a.max(**how)).sum(axis=others, keepdims=True)
    yield "of the transposed", lambda a: a.T.mean(**how) + 1
    yield "deviation of the transposed", lambda a: a.T - a.T.mean(**how)
    yield "back to front", lambda a: a - a.T.mean(axis=tuple(rank - 1 - k for k in axes)).sum()
    yield "expanded by hand", lambda a: a * np.expand_dims(np.sum(a, axis=axes), axes)
    yield "joined", lambda a: np.concatenate([a.sum(**how), a.max(**how) + 1], axis=axes[0])


def _check(function: Expression, jitted: Any, array: np.ndarray) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = function(array.copy())
        except ValueError:
            with pytest.raises(ValueError):
                jitted(array.copy())
            return
        found = jitted(array.copy())
    pairs = zip(
        found if isinstance(found, tuple) else (found,),
        expected if isinstance(expected, tuple) else (expected,),
        strict=True,
    )
    for got, want in pairs:
        assert type(got) is type(want)
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("kept", [False, True], ids=["dropped", "kept"])
@pytest.mark.parametrize(("rank", "axes"), CASES)
def test_every_reduction_over_every_axes(rank, axes, kept):
    for _name, function in _reductions(axes, kept):
        jitted = jit(function)
        for shape in SHAPES[rank]:
            _check(function, jitted, _numbers(shape))


@pytest.mark.parametrize(("rank", "axes"), CASES)
def test_what_was_reduced_is_used_beside_its_elements(rank, axes):
    for _name, function in _around(rank, axes):
        jitted = jit(function)
        for shape in SHAPES[rank]:
            _check(function, jitted, _numbers(shape))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("length", [1, 15, 16, 33, 64, 65, 128, 129, 1000, 1024, 5000])
def test_an_extreme_of_a_row_with_nan_is_nan(length, dtype):
    """Wherever in the row it is: in any lane, chunk, block or tail."""
    random = np.random.default_rng(length)
    rows = random.normal(size=(60, length)).astype(dtype)
    rows[np.arange(50), random.integers(0, length, 50)] = np.nan
    rows[55:] = np.copysign(np.inf, random.normal(size=(5, length)))
    for function in (lambda a: a.max(axis=1), lambda a: a.min(axis=1)):
        np.testing.assert_array_equal(jit(function)(rows), function(rows))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(600, 1024), (700, 1000), (40, 40_000), (300_001, 3)])
def test_arrays_beyond_the_caches_have_the_bits_of_their_rows(shape, dtype):
    """Softmax has phases between which rows that follow are fetched."""

    def softmax(a):
        e = np.exp(a - a.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    array = np.random.default_rng(0).normal(size=shape).astype(dtype)
    jitted = jit(softmax)
    whole = jitted(array)
    np.testing.assert_allclose(whole, softmax(array), rtol=1e-5 if dtype == "f4" else 1e-13)
    for first in range(0, shape[0], shape[0] // 7):
        few = array[first : first + 2].copy()
        np.testing.assert_array_equal(jitted(few), whole[first : first + 2])
    strided = np.zeros((shape[0], 2 * shape[1]), dtype)[:, ::2]
    strided[...] = array
    np.testing.assert_array_equal(jitted(strided), whole)


@pytest.mark.parametrize(("rank", "axes"), [case for case in CASES if case[0] in (2, 3)])
def test_a_factor_broadcasts_along_some_axes(rank, axes):
    """The factor lies along the reduced axes, along the kept ones, or along one axis only."""
    how = {"axis": axes, "keepdims": True}

    def scaled(a, b):
        return (a - a.mean(**how)) * b

    def weighted(a, b):
        return (a * b).sum(axis=axes), (a * b).sum(**how) + b

    for size in (3, 1, 0):
        shape = tuple(size + k for k in range(rank))
        for along in itertools.product((False, True), repeat=rank):
            other = tuple(n if wide else 1 for n, wide in zip(shape, along, strict=True))
            a, b = _numbers(shape), _numbers(other) + 0.5
            for function in (scaled, weighted):
                _check(lambda x: function(x, b), lambda x: jit(function)(x, b), a)  # noqa: B023
