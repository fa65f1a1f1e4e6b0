"""Arguments of the calls in `surface_table`, by name, in several shapes, layouts and dtypes.

    x y (n, m)   t (2, n, m)   u (m,)   v w b (n,)   z ()   g a NumPy scalar
    s (n, n) symmetric and positive definite   sq (n, n)   o (n,) ascending
    mask (n, m) bool   i (n, m) and j (n,) int64, 0 or 1   q (3,) in [0, 1]
    k 2   f 1.5, a Python float

The first two lines are of the case's dtype. `cases(text)` is what a call is tried with: float64 in
every shape and layout, other dtypes in some; which of the rarer ones depends on the text.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from edge_values import edge_values

Layout = Callable[[np.ndarray], np.ndarray]


class Case(NamedTuple):
    """Sizes n and m, a dtype, a layout of memory, and whether there are edge values."""

    dtype: str
    rows: int
    columns: int
    layout: str
    edges: bool = False


COMMON = ("i4", "c16", "?")
RARER = ("f4", "f2", "u1", "i8", "u4", "c8", "i2", "u8", "i1", "u2")
# Of nothing NumPy gives what the memory happened to hold.
_NOTHING = ("irfft", ".hfft", "unpackbits")
NAMES = (
    "x",
    "y",
    "t",
    "u",
    "v",
    "w",
    "b",
    "z",
    "g",
    "s",
    "sq",
    "o",
    "mask",
    "i",
    "j",
    "q",
    "k",
    "f",
)


def _dense(array: np.ndarray) -> np.ndarray:
    return array


def _fortran(array: np.ndarray) -> np.ndarray:
    return np.asfortranarray(array)


def _strided(array: np.ndarray) -> np.ndarray:
    """Every second element of a larger array, backwards along the last axis."""
    wide = np.zeros([2 * size for size in array.shape], array.dtype)
    part = wide[(*[slice(None, None, 2)] * array.ndim, ...)]
    part = part[..., ::-1] if array.ndim else part
    part[...] = array
    return part


LAYOUTS: dict[str, Layout] = {"dense": _dense, "fortran": _fortran, "strided": _strided}


def cases(text: str) -> list[Case]:
    """What a call is tried with."""
    first = zlib.crc32(text.encode())
    found = [
        Case("f8", 3, 4, "dense"),
        Case("f8", 5, 3, "strided"),
        Case("f8", 3, 4, "fortran", edges=True),
        Case("f8", 40, 30, "dense"),
        Case("f8", 0, 3, "dense"),
        Case("f8", 2, 0, "dense"),
        Case("f8", 1, 1, "dense"),
    ]
    if any(word in text for word in _NOTHING):
        found = [case for case in found if case.rows and case.columns]
    for dtype in (*COMMON, RARER[first % len(RARER)]):
        found += [Case(dtype, 3, 4, "dense"), Case(dtype, 4, 3, "strided", edges=True)]
    return found


def arguments(case: Case, names: tuple[str, ...]) -> list[Any]:
    """Fresh arguments of these names."""
    generator = np.random.default_rng(zlib.crc32(repr(case).encode()))
    table = _table(case, generator)
    return [table[name] for name in names]


def _table(case: Case, generator: np.random.Generator) -> dict[str, Any]:
    dtype, n, m = np.dtype(case.dtype), case.rows, case.columns
    layout = LAYOUTS[case.layout]

    def some(*shape: int) -> np.ndarray:
        values = _values(generator, dtype, shape)
        if case.edges and dtype.kind != "b" and values.size:
            edges = edge_values(dtype)
            for place in range(values.size // 4):
                values.flat[generator.integers(values.size)] = edges[
                    (place * 7 + generator.integers(len(edges))) % len(edges)
                ]
        return layout(values)

    square = _values(generator, dtype, (n, n))
    positive = (square @ square.T.conj() if dtype.kind != "b" else square) + 3 * np.eye(n)
    with np.errstate(all="ignore"):
        positive = positive.astype(dtype)
    mask = generator.random((n, m)) < 0.5
    return {
        "x": some(n, m), "y": some(n, m), "t": some(2, n, m), "u": some(m), "v": some(n),
        "w": some(n), "b": some(n), "z": some(), "g": some()[()], "s": layout(positive),
        "sq": some(n, n), "o": np.sort(_values(generator, dtype, (n,))), "mask": layout(mask),
        "i": generator.integers(0, 2, (n, m)), "j": generator.integers(0, max(min(n, 2), 1), n),
        "q": np.array([0.1, 0.5, 1.0]), "k": 2, "f": 1.5,
    }  # fmt: skip


def _values(generator: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Moderate numbers, some of them equal."""
    if dtype.kind == "b":
        return generator.random(shape) < 0.5
    if dtype.kind in "iu":
        return generator.integers(0 if dtype.kind == "u" else -4, 6, shape).astype(dtype)
    whole = np.round(generator.normal(size=shape) * 4) / 2
    if dtype.kind == "c":
        whole = whole + 1j * np.round(generator.normal(size=shape) * 4) / 4
    return np.asarray(whole).astype(dtype)
