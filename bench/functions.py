"""NumPy's functions with arguments of a given number of elements, for `bench.floor`: one row each.

The rows of ufuncs come from NumPy itself, with arguments for which the function is defined and
raises no flag. A row of another function is a function of one maker's arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_OF_MATRIX = 1_000_000  # elements, for functions whose work grows faster than their arguments
INTEGERS = ("bitwise", "invert", "shift", "gcd", "lcm", "bitwise_count")
SKIPPED = {
    "isnat",
    "matmul",
    "vecdot",
    "matvec",
    "vecmat",
}  # dates; products have rows of their own


@dataclass(frozen=True, slots=True)
class Row:
    """`function(*make(n))`; `most`: elements beyond which it is not measured."""

    name: str
    function: Callable[..., Any]
    make: Callable[[int], tuple]
    most: int = 10**9


def floats(count: int, seed: int = 0) -> np.ndarray:
    """Numbers between 0.1 and 0.9, for which every function is defined."""
    return np.random.default_rng(seed).uniform(0.1, 0.9, count)


def integers(count: int, seed: int = 0, top: int = 40) -> np.ndarray:
    """Numbers from 1 to `top`."""
    return np.random.default_rng(seed).integers(1, top + 1, count)


def _one(count: int) -> tuple:
    return (floats(count),)


def _two(count: int) -> tuple:
    return floats(count), floats(count, 1)


def _masked(count: int) -> tuple:
    return floats(count), floats(count, 1) > 0.5


def _whole(count: int) -> tuple:
    return (integers(count),)


def _rows(count: int) -> tuple:
    return (floats(count).reshape(-1, 100),)


def _square(count: int) -> tuple:
    side = int(count**0.5)
    return (floats(side * side).reshape(side, side) + side * np.eye(side),)


def _fortran(count: int) -> tuple:
    side = int(count**0.5)
    return (np.asfortranarray(floats(side * side).reshape(side, side)),)


def _turned(count: int) -> tuple:
    side = max(1, round(count ** (1 / 3)))
    return (floats(side**3).reshape(side, side, side).transpose(1, 2, 0),)


def _two_orders(count: int) -> tuple:
    (x,) = _fortran(count)
    return x, floats(x.size, 1).reshape(x.shape)


def _places(count: int) -> tuple:
    return floats(count), np.random.default_rng(1).integers(0, count, count)


def _ufunc_rows() -> Iterator[Row]:
    for name in sorted(dir(np)):
        ufunc = getattr(np, name)
        if not isinstance(ufunc, np.ufunc) or name in SKIPPED or ufunc.__name__ != name:
            continue
        if ufunc.signature is not None or {"d", "l"}.isdisjoint("".join(ufunc.types)):
            continue
        whole = any(word in name for word in INTEGERS)
        if not whole and not any(types.startswith("d" * ufunc.nin) for types in ufunc.types):
            whole = True
        if name == "ldexp":
            yield Row(name, ufunc, lambda count: (floats(count), integers(count, top=9)))
            continue
        make = integers if whole else floats
        above = 1.0 if name == "arccosh" else 0  # where it is defined
        yield Row(name, ufunc, _arguments(make, ufunc.nin, above))


def _arguments(make: Callable[..., Any], count: int, above: float) -> Callable[[int], tuple]:
    return lambda elements: tuple([make(elements, seed) + above for seed in range(count)])


REDUCTIONS = (
    *("sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmin", "argmax"),
    *("nansum", "nanmean", "nanmax", "median", "ptp", "count_nonzero", "cumsum", "cumprod"),
    "average",
)


def _other_rows() -> Iterator[Row]:
    for name in REDUCTIONS:
        function = getattr(np, name)
        yield Row(name, function, _one)
        if name not in ("ptp", "average", "count_nonzero", "median"):
            yield Row(f"{name} axis 1", lambda x, f=function: f(x, axis=1), _rows)
            yield Row(f"{name} axis 0", lambda x, f=function: f(x, axis=0), _rows)
    for name in ("mean", "var"):
        function = getattr(np, name)
        yield Row(f"{name} where", lambda x, m, f=function: f(x, where=m), _masked)
    yield Row("logaddexp of equals", np.logaddexp, lambda n: (floats(n), floats(n)))
    yield Row("lexsort", lambda x, y: np.lexsort((x, y)), _two, MOST_OF_MATRIX)
    yield Row("piecewise", lambda x: np.piecewise(x, [x < 0.3, x > 0.6], [-1, 1, 0.5]), _one)
    yield Row("vdot of integers", np.vdot, lambda n: (integers(n), integers(n, 1)))
    yield Row("prod of complex", np.prod, lambda n: (np.exp(1j * floats(n)),))
    yield Row("where", lambda c, x, y: np.where(c, x, y), lambda n: (floats(n) > 0.5, *_two(n)))
    yield Row("clip", lambda x: np.clip(x, 0.2, 0.8), _one)
    yield Row("round", lambda x: np.round(x, 2), _one)
    yield Row("astype f4", lambda x: x.astype(np.float32), _one)
    yield Row("astype i8", lambda x: x.astype(np.int64), _one)
    yield Row("copy", lambda x: x.copy(), _one)
    yield Row("transpose copy", lambda x: x.T.copy(), _square)
    yield Row("transpose add", lambda x: x.T + 1, _square)
    yield Row("square, F order", lambda x: x * x, _fortran)
    yield Row("square, axes turned", lambda x: x * x, _turned)
    yield Row("astype f4, F order", lambda x: x.astype(np.float32), _fortran)
    yield Row("add, two orders", lambda x, y: x + y, _two_orders)
    for name in ("sum", "max", "mean"):
        function = getattr(np, name)
        for axis in (None, 0, 1):
            yield Row(f"{name} {axis}, F order", lambda x, f=function, a=axis: f(x, a), _fortran)
        yield Row(f"{name}, axes turned", lambda x, f=function: f(x), _turned)
    yield Row("concatenate", lambda x, y: np.concatenate([x, y]), _two)
    yield Row("stack", lambda x, y: np.stack([x, y]), _two)
    yield Row("roll", lambda x: np.roll(x, 7), _one)
    yield Row("flip", lambda x: np.flip(x).copy(), _one)
    yield Row("repeat", lambda x: np.repeat(x, 3), _one)
    yield Row("tile", lambda x: np.tile(x, 3), _one)
    yield Row("pad", lambda x: np.pad(x, 5), _one)
    yield Row("diff", lambda x: np.diff(x), _one)
    yield Row("gradient", lambda x: np.gradient(x), _one)
    yield Row("trapezoid", lambda x: np.trapezoid(x), _one)
    yield Row("outer", lambda x: np.outer(x, x), lambda n: (floats(int(n**0.5)),))
    yield Row("tril", np.tril, _square)
    yield Row("x[i]", lambda x, i: x[i], _places)
    yield Row("take", lambda x, i: np.take(x, i), _places)
    yield Row("x[mask]", lambda x, m: x[m], _masked)
    yield Row("nonzero", lambda m: np.nonzero(m)[0], lambda n: (floats(n, 1) > 0.5,))
    yield Row("sort", np.sort, _one)
    yield Row("argsort", np.argsort, _one)
    yield Row("partition", lambda x: np.partition(x, 3), _one)
    yield Row("searchsorted", np.searchsorted, lambda n: (np.sort(floats(n)), floats(n, 1)))
    yield Row("unique", np.unique, _whole)
    yield Row("bincount", np.bincount, _whole)
    yield Row("histogram", lambda x: np.histogram(x, 20, (0, 1))[0], _one)
    yield Row("interp", np.interp, lambda n: (floats(n), np.linspace(0, 1, 50), floats(50)))
    yield Row("percentile", lambda x: np.percentile(x, 30), _one)
    yield Row("convolve", lambda x, k: np.convolve(x, k), lambda n: (floats(n), floats(9)))
    yield Row("dot", np.dot, _two)
    yield Row("matmul", lambda x: x @ x, _square, MOST_OF_MATRIX)
    yield Row("matvec", lambda x: x @ x[0], _square)
    yield Row("einsum", lambda x: np.einsum("ij,kj->ik", x, x), _square, MOST_OF_MATRIX)
    yield Row("solve", lambda x: np.linalg.solve(x, x[0]), _square, MOST_OF_MATRIX)
    yield Row("inv", np.linalg.inv, _square, MOST_OF_MATRIX)
    yield Row("det", np.linalg.det, _square, MOST_OF_MATRIX)
    yield Row("norm", np.linalg.norm, _one)
    yield Row("qr", lambda x: np.linalg.qr(x)[1], _square, 100_000)
    yield Row("svd", lambda x: np.linalg.svd(x)[1], _square, 100_000)
    yield Row("eigvalsh", np.linalg.eigvalsh, _square, 100_000)
    yield Row("fft", np.fft.fft, _one)
    yield Row("rfft", np.fft.rfft, _one)
    yield Row("arange", lambda x: np.arange(x.size), _one)
    yield Row("linspace", lambda x: np.linspace(0, 1, x.size), _one)
    yield Row("zeros_like", np.zeros_like, _one)
    yield Row("meshgrid", lambda x: np.meshgrid(x, x), lambda n: (floats(int(n**0.5)),))
    yield Row("cov", np.cov, lambda n: (floats(n).reshape(10, -1),))


def rows() -> list[Row]:
    """Every row: the ufuncs, then the others."""
    return [*_ufunc_rows(), *_other_rows()]
