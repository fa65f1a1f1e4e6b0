"""The edge grid: for each dtype the values at which arithmetic goes wrong, and some random ones.

`grid(dtypes)` gives arrays of equal length, one for each dtype, in which every edge value of one
meets every edge value of the others; random values follow. `same_bits` compares with all nans
alike; `within` compares with a true value that was computed in extended precision.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from jitwise.ir.types import DTYPE_NAMES

DTYPES = list(DTYPE_NAMES)
RANDOM = 64


def edge_values(dtype: np.dtype) -> np.ndarray:
    """Zeros, ones, limits, subnormals, infinities, nan, powers of two."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        bits = dtype.itemsize * 8
        numbers = {0, 1, 2, 3, 5, 7, 16, bits - 1, bits, limits.max, limits.max - 1, limits.min}
        numbers |= {limits.max // 2 + 1, limits.min + 1}
        if dtype.kind == "i":
            numbers |= {-1, -2, -3, -16}
        return np.array(sorted(numbers), dtype)
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        tiny, small = float(limits.tiny), float(limits.smallest_subnormal)
        ones = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 1e3, np.pi, 1.0 + float(limits.eps)]
        ones += [float(limits.max), tiny, small, tiny - small, float(limits.max) / 2]
        numbers = [sign * one for one in ones for sign in (1, -1)]
        return np.array([*numbers, np.inf, -np.inf, np.nan], dtype)
    parts = np.array(
        [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e-30], dtype.type(0).real.dtype
    )
    values = np.empty(len(parts) ** 2, dtype)
    values.real = np.repeat(parts, len(parts))
    values.imag = np.tile(parts, len(parts))
    return values


def random_values(dtype: np.dtype, count: int, generator: np.random.Generator) -> np.ndarray:
    """Any bits for bool and integers (half of them small); moderate floats."""
    if dtype.kind == "b":
        return generator.random(count) < 0.5
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = generator.integers(limits.min, limits.max, count, dtype, endpoint=True)
        values[::2] = generator.integers(0, 9, len(values[::2])).astype(dtype)
        return values
    if dtype.kind == "f":
        magnitudes = np.exp(generator.normal(size=count) * 2)
        return (magnitudes * generator.choice([-1.0, 1.0], count)).astype(dtype)
    part = dtype.type(0).real.dtype
    values = np.empty(count, dtype)
    values.real = random_values(part, count, generator)
    values.imag = random_values(part, count, generator)
    return values


def grid(dtypes: Sequence[np.dtype], random: int = RANDOM) -> list[np.ndarray]:
    """One array for each dtype: all edge values together, then random ones."""
    generator = np.random.default_rng(len(dtypes))
    edges = [edge_values(dtype) for dtype in dtypes]
    while len(dtypes) > 2 and max(map(len, edges)) > 12:
        edges = [each[:: 2 if len(each) > 12 else 1] for each in edges]
    columns = list(zip(*itertools.product(*[range(len(each)) for each in edges]), strict=True))
    return [
        np.concatenate([each[list(column)], random_values(dtype, random, generator)])
        for dtype, each, column in zip(dtypes, edges, columns, strict=True)
    ]


def bits(array: np.ndarray) -> np.ndarray:
    """The bits as unsigned integers, complex numbers with an axis of two."""
    flat = np.ascontiguousarray(array).reshape(-1)
    parts = 2 if flat.dtype.kind == "c" else 1
    return flat.view(f"u{flat.dtype.itemsize // parts}").reshape(len(flat), parts)


def same_bits(found: np.ndarray, expected: np.ndarray, zeros_alike: bool = False) -> np.ndarray:
    """For each element whether it is the same, bit for bit; any nan is the same as any other."""
    found, expected = np.asarray(found).reshape(-1), np.asarray(expected).reshape(-1)
    assert found.dtype == expected.dtype, f"{found.dtype} is not {expected.dtype}"
    if found.dtype.kind == "c":
        real = same_bits(found.real, expected.real, zeros_alike)
        return real & same_bits(found.imag, expected.imag, zeros_alike)
    same = (bits(found) == bits(expected)).all(axis=1)
    if found.dtype.kind == "f":
        same |= np.isnan(found) & np.isnan(expected)
        if zeros_alike:
            same |= (found == 0) & (expected == 0)
    return same


def within(found: np.ndarray, true: np.ndarray, numpy: np.ndarray, ulp: float) -> np.ndarray:
    """For each element whether it is at most `ulp` from `true`, with nan, zero and inf where right.

    `true` has more precision than `found`; an infinity is right where rounding may have led to it.
    NumPy's own value does not matter elsewhere: it may be further off.
    """
    dtype = found.dtype
    with np.errstate(all="ignore"):
        rounded = true.astype(dtype)
        unit = np.spacing(np.minimum(np.abs(rounded), np.finfo(dtype).max)).astype(true.dtype)
        near = np.abs(found.astype(true.dtype) - true) <= ulp * unit
        largest = np.finfo(dtype).max.astype(true.dtype)
        edge = np.isinf(found) & (np.abs(true) >= largest - ulp * unit)
    special = np.isnan(numpy) | ~np.isfinite(true) | (true == 0)
    signs = np.signbit(found) == np.signbit(rounded)
    return same_bits(found, numpy) | (~special & near & signs) | (edge & signs)


def describe(
    inputs: Sequence[np.ndarray], found: np.ndarray, expected: np.ndarray, good: np.ndarray
) -> str:
    """The first elements that are not good."""
    shown = []
    for place in np.flatnonzero(~good)[:5]:
        arguments = ", ".join(repr(each.reshape(-1)[place]) for each in inputs)
        shown.append(
            f"({arguments}) -> {found.reshape(-1)[place]!r}, not {expected.reshape(-1)[place]!r}"
        )
    return f"{int((~good).sum())} of {good.size}:\n" + "\n".join(shown)
