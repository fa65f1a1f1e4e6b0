"""Arrays in every layout of NumPy, and the comparison of a jitted function with the plain one.

`LAYOUTS` maps a name to a function that gives an array of the same values (of some of them, where
the layout repeats or drops some) in that layout. `compare` runs both functions on the same
arguments: same exception, or same structure, kind, dtype and shape, with `judge` for the values.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from edge_values import same_bits

Judge = Callable[[Sequence[Any], np.ndarray, np.ndarray], np.ndarray]


def strided(array: np.ndarray) -> np.ndarray:
    """Every second row and third column of a larger array."""
    rows, columns = array.shape
    wide = np.zeros((2 * rows + 1, 3 * columns + 2), array.dtype)
    wide[1::2, 1::3][:rows, :columns] = array
    return wide[1::2, 1::3][:rows, :columns]


def unaligned(array: np.ndarray) -> np.ndarray:
    """One byte beyond an aligned address."""
    buffer = np.zeros(array.nbytes + 1, np.uint8)
    view = np.ndarray(array.shape, array.dtype, buffer.data, 1)
    view[...] = array
    return view


def field(array: np.ndarray) -> np.ndarray:
    """A field of packed records: strides that are no multiples of the item size."""
    records = np.zeros(array.shape, [("before", "u1"), ("value", array.dtype), ("after", "u2")])
    records["value"] = array
    return records["value"]


def read_only(array: np.ndarray) -> np.ndarray:
    """An array that must not be written."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "contiguous": np.ascontiguousarray,
    "fortran": np.asfortranarray,
    "strided": strided,
    "reversed rows": lambda array: array[::-1].copy()[::-1],
    "reversed columns": lambda array: array[:, ::-1].copy()[:, ::-1],
    "reversed": lambda array: np.asfortranarray(array[::-1, ::-1])[::-1, ::-1],
    "one row for all": lambda array: np.broadcast_to(array[:1], array.shape),
    "one column for all": lambda array: np.broadcast_to(array[:, :1], array.shape),
    "one element for all": lambda array: np.broadcast_to(array[-1, -1], array.shape),
    "unaligned": unaligned,
    "field": field,
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "big-endian strided": lambda array: strided(array.astype(array.dtype.newbyteorder(">"))),
    "read-only": read_only,
}


def in_each_layout(x: np.ndarray) -> dict[str, np.ndarray]:
    """A matrix in layouts of its own byte order, which one trace serves."""
    return {
        "C": x,
        "Fortran": np.asfortranarray(x),
        "negative": x[::-1, ::-2],
        "strided": strided(x),
        "one row": np.broadcast_to(x[:1], x.shape),
        "one column": np.broadcast_to(x[:, :1], x.shape),
        "one element": np.broadcast_to(x[:1, :1], x.shape),
        "unaligned": unaligned(x),
        "field": field(x),
        "read-only": read_only(x),
    }


def exact(inputs: Sequence[Any], found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """The judge that wants the same bits."""
    return same_bits(found, expected)


def outcome(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """The result, or the type of the exception."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except Exception as error:
            return type(error)


def compare(
    jitted: Callable[..., Any],
    function: Callable[..., Any],
    args: Sequence[Any],
    judge: Judge = exact,
    calls: int = 1,
) -> None:
    """Assert that the jitted function and the plain one agree, at each of some calls."""
    expected = outcome(function, args)
    for _ in range(calls):
        check(outcome(jitted, args), expected, args, judge)


def check(found: Any, expected: Any, args: Sequence[Any], judge: Judge, where: str = "") -> None:
    """Assert that two outcomes are the same."""
    assert type(found) is type(expected), f"{where}{kind_of(found)}, not {kind_of(expected)}"
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected), f"{where}{found!r}, not {expected!r}"
        for index, (left, right) in enumerate(zip(found, expected, strict=True)):
            check(left, right, args, judge, f"{where}[{index}] ")
    elif isinstance(expected, dict):
        assert list(found) == list(expected), f"{where}{list(found)}, not {list(expected)}"
        for key in expected:
            check(found[key], expected[key], args, judge, f"{where}[{key!r}] ")
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert found.dtype == expected.dtype, f"{where}{found.dtype}, not {expected.dtype}"
        assert found.shape == expected.shape, f"{where}{found.shape}, not {expected.shape}"
        good = judge(args, np.asarray(found), np.asarray(expected)).reshape(-1)
        assert good.all(), where + differing(args, found, expected, good)
    elif type(expected) in (float, complex):
        check(np.asarray(found)[()], np.asarray(expected)[()], args, judge, where)
    else:
        assert found == expected, f"{where}{found!r}, not {expected!r}"


def kind_of(outcome: Any) -> str:
    """What to say of an outcome of the wrong kind."""
    return repr(outcome) if isinstance(outcome, type) else f"{type(outcome).__name__}: {outcome!r}"


def differing(args: Sequence[Any], found: Any, expected: Any, good: np.ndarray) -> str:
    """The first elements that differ, with their operands where these have the same shape."""
    found, expected = np.asarray(found), np.asarray(expected)
    lines = [f"{int((~good).sum())} of {good.size} differ:"]
    for place in np.flatnonzero(~good)[:4]:
        index = np.unravel_index(place, expected.shape)
        operands = [
            repr(each[index]) if np.shape(each) == expected.shape else repr(each)[:60]
            for each in args
        ]
        shown = ", ".join(operands)
        lines.append(f"({shown}) -> {found[index]!r}, not {expected[index]!r}")
    return "\n".join(lines)
