"""The oracle of the API tests: the undecorated function, run by NumPy on fresh copies of the
arguments.
"""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from jitwise import jit


def same(got: Any, expected: Any, *, ulp: float = 0, where: str = "result") -> None:
    """Assert that two results agree in kind, structure, dtype, shape and values (bit for bit, or
    within `ulp`).
    """
    if isinstance(expected, np.ndarray) or isinstance(expected, np.generic):
        assert type(got) is type(expected), f"{where}: {type(got)} instead of {type(expected)}"
        assert got.dtype == expected.dtype, f"{where}: {got.dtype} instead of {expected.dtype}"
        assert got.shape == expected.shape, f"{where}: {got.shape} instead of {expected.shape}"
        assert_close(np.asarray(got), np.asarray(expected), ulp, where)
    elif isinstance(expected, (list, tuple)):
        assert type(got) is type(expected), f"{where}: {type(got)} instead of {type(expected)}"
        assert len(got) == len(expected), where
        for index, (left, right) in enumerate(zip(got, expected, strict=True)):
            same(left, right, ulp=ulp, where=f"{where}[{index}]")
    elif isinstance(expected, dict):
        assert list(got) == list(expected), f"{where}: keys {list(got)} instead of {list(expected)}"
        for key in expected:
            same(got[key], expected[key], ulp=ulp, where=f"{where}[{key!r}]")
    elif dataclasses.is_dataclass(expected):
        assert type(got) is type(expected), where
        for field in dataclasses.fields(expected):
            same(
                getattr(got, field.name),
                getattr(expected, field.name),
                ulp=ulp,
                where=f"{where}.{field.name}",
            )
    elif isinstance(expected, float):
        assert type(got) is float, f"{where}: {type(got)} instead of float"
        assert_close(np.float64(got), np.float64(expected), ulp, where)
    else:
        assert type(got) is type(expected) and got == expected, (
            f"{where}: {got!r} instead of {expected!r}"
        )


def assert_close(got: np.ndarray, expected: np.ndarray, ulp: float, where: str) -> None:
    """Equal bits, NaNs alike; or within `ulp` units in the last place."""
    if expected.dtype.kind in "fc":
        unequal = ~((got == expected) | (np.isnan(got) & np.isnan(expected)))
        if expected.dtype.kind == "f":
            unequal |= (got == 0) & (expected == 0) & (np.signbit(got) != np.signbit(expected))
            if ulp:
                with np.errstate(all="ignore"):
                    unequal &= ~(np.abs(got - expected) <= ulp * np.spacing(np.abs(expected)))
        elif ulp:
            unequal &= ~(np.abs(got - expected) <= ulp * np.spacing(np.abs(expected)))
    else:
        unequal = got != expected
    if np.any(unequal):
        place = tuple(index[0] for index in np.nonzero(unequal)) if unequal.ndim else ()
        raise AssertionError(f"{where}{list(place)}: {got[place]!r} instead of {expected[place]!r}")


def agrees(
    function: Callable[..., Any], *args: Any, jitted: Any = None, ulp: float = 0, **kwargs: Any
) -> Any:
    """Call the jitted function twice and the plain one, each on fresh copies: same results or
    exceptions.

    Gives the jitted function, so that a test goes on with other arguments: `jitted = agrees(f, x)`.
    """
    compiled = jit(function) if jitted is None else jitted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, expected_error, after = _outcome(function, args, kwargs)
        for _ in range(2):
            got, error, left = _outcome(compiled, args, kwargs)
            assert type(error) is type(expected_error), (
                f"raised {error!r} instead of {expected_error!r}"
            )
            if error is None:
                same(got, expected, ulp=ulp)
            same(left, after, where="arguments")
    return compiled


def _outcome(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, Any, Any]:
    fresh_args, fresh_kwargs = copied(args), copied(kwargs)
    try:
        result, error = function(*fresh_args, **fresh_kwargs), None
    except Exception as raised:
        result, error = None, raised
    return result, error, [fresh_args, fresh_kwargs]


def copied(item: Any) -> Any:
    """A copy of arguments that keeps the memory layout of arrays."""
    if isinstance(item, np.ndarray) and type(item) is np.ndarray and item.dtype != object:
        if item.size == 0 or 0 in item.strides:
            return item
        return _same_layout(item)
    if type(item) in (tuple, list):
        return type(item)(copied(each) for each in item)
    if type(item) is dict:
        return {key: copied(each) for key, each in item.items()}
    return copy.deepcopy(item) if isinstance(item, np.ndarray) else item


def _same_layout(array: np.ndarray) -> np.ndarray:
    """A copy with the same strides (also negative and unaligned ones)."""
    low = sum(
        min(0, stride * (size - 1)) for stride, size in zip(array.strides, array.shape, strict=True)
    )
    high = sum(
        max(0, stride * (size - 1)) for stride, size in zip(array.strides, array.shape, strict=True)
    )
    misaligned = array.__array_interface__["data"][0] % max(array.dtype.alignment, 1)
    buffer = np.zeros(high - low + array.itemsize + 16, np.uint8)
    offset = -low + misaligned - buffer.__array_interface__["data"][0] % 16
    offset += 16 if offset < -low else 0
    view = np.ndarray(array.shape, array.dtype, buffer.data, offset, array.strides)
    view[...] = array
    view.flags.writeable = array.flags.writeable
    return view
