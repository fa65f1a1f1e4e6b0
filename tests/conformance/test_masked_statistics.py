"""Means and variances of the items that `where=` names are counted in the program, and are NumPy's:
kind, dtype, shape, value, and warnings, also where a slice has no items.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from jitwise import jit

DTYPES = ["f8", "f4", "f2", "i8", "i4", "u1", "?", "c8", "c16"]
SHAPES = [(7,), (4, 5), (3, 4, 5)]
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "mean": [{}, {"keepdims": True}],
    "var": [{}, {"keepdims": True}, {"ddof": 1}],
    "std": [{}, {"ddof": 2, "keepdims": True}],
}


def told(function: Callable, args: Sequence[Any]) -> tuple[Any, list[str]]:
    with np.errstate(all="warn", under="ignore"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args)
    return result, [str(each.message) for each in caught]


def masks(shape: tuple[int, ...], rng: np.random.Generator) -> list[np.ndarray]:
    """Of the whole shape, of a row, and of one row for all; with many and with few items."""
    shapes = [shape, shape[-1:], (1,) * (len(shape) - 1) + shape[-1:]]
    return [rng.random(each) < part for each in shapes for part in (0.8, 0.2)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPTIONS)
def test_statistics_of_some_items_are_numpys(name, dtype):
    rng = np.random.default_rng(5)
    statistic = getattr(np, name)
    for shape, axis, options in itertools.product(SHAPES, (None, 0, -1), OPTIONS[name]):
        x = (rng.normal(size=shape) * 5).astype(dtype)
        for mask in masks(shape, rng):

            def statistic_of_some(x, mask, axis=axis, options=options):
                return statistic(x, axis=axis, where=mask, **options)

            expected, warned = told(statistic_of_some, (x, mask))
            jitted = jit(statistic_of_some, wait=True)
            found, warned_too = told(jitted, (x, mask))
            assert type(found) is type(expected)
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            close = 2e-3 if dtype == "f2" else 1e-5
            np.testing.assert_allclose(found, expected, close, close)
            assert warned_too == warned
            assert not any(each.subject == "fallback" for each in jitted.records())


def test_what_is_left_out_does_not_count():
    x = np.array([[1.0, np.nan, 3.0], [np.inf, 2.0, 4.0]])
    mask = np.isfinite(x)
    with np.errstate(all="raise"):
        found = jit(lambda x, m: np.mean(x, axis=1, where=m), wait=True)(x, mask)
    np.testing.assert_array_equal(found, [2.0, 3.0])
