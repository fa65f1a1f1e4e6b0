"""Shorter ways to what a function of NumPy gives for ndarrays: same bits, layout and exceptions.

    np.sort(x)       ->   sorted(x)                      by NumPy's C interface
    np.nanmax(x)     ->   np.fmax.reduce(x)              and `np.nanmax` where it would warn
    np.fft.fft(x)    ->   what is behind the dispatcher  of `__array_function__`: for ndarrays it is
                                                         nothing else

On a thousand elements the Python around such a function takes longer than its work. A function that
the user has replaced is not found here, and is called as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..ir.types import ArrayType
from ..ops.call import DirectCall
from . import _native


class Short(NamedTuple):
    """`function`, for calls of `arrays` operands, of `rank` and `dtype` if these are told, and then
    as many as `places` numbers, by place. A quiet one reports no floating-point errors.
    """

    function: Callable[..., Any]
    arrays: int
    places: tuple[str, ...] = ()
    needed: int = 0
    is_quiet: bool = False
    rank: int | None = None
    dtype: Any = None
    is_partial: bool = False  # None: NumPy's own function is asked, which warns

    def takes(self, types: Sequence[ArrayType], direct: DirectCall) -> bool:
        """Whether it is for these operands, and what else there is."""
        _, more, names = direct
        by_place = self.places[: len(more)]
        return (
            len(types) == self.arrays
            and all(self.rank in (None, len(shape)) for _, shape in types)
            and all(self.dtype is None or self.dtype == dtype for dtype, _ in types)
            and self.needed <= len(more) <= len(self.places)
            and all(type(each) is int for each in more)
            and names in ((), by_place[-1:])
        )


def _extreme(name: str) -> Callable[..., Any]:
    reduce = getattr(np, name).reduce

    def extreme(array: np.ndarray, axis: int | None = None) -> Any:
        """The extreme elements that are numbers; None where NumPy warns that there is none."""
        found = reduce(array, axis)
        missing = _native.has_nan(found)
        if missing is None:
            missing = np.isnan(found).any()
        return None if missing else found

    return extreme


def _mean_of_numbers(array: np.ndarray, axis: int | None = None) -> Any:
    """`np.nanmean`, which copies where nothing has to be replaced too; the order of the sum is that
    of the copy.
    """
    missing = np.isnan(array)
    absent = np.count_nonzero(missing)
    if absent or not array.flags.carray:
        array = array.copy("K")
    if not absent:
        count = array.size if axis is None else array.shape[axis]
        return np.add.reduce(array, axis) / count if count else None  # NumPy warns
    np.copyto(array, 0.0, where=missing)
    if axis is None:
        count = array.size - absent
        return np.add.reduce(array, axis) / count if count else None
    counts = np.add.reduce(~missing, axis, np.intp)
    return np.add.reduce(array, axis) / counts if np.all(counts) else None


_DOUBLE = np.dtype(np.float64)
SHORT: dict[Any, Short] = {
    np.sort: Short(_native.sorted, 1, ("axis",), is_quiet=True),
    np.argsort: Short(_native.argsorted, 1, ("axis",), is_quiet=True),
    np.partition: Short(_native.partitioned, 1, ("kth", "axis"), needed=1, is_quiet=True),
    np.searchsorted: Short(_native.searched, 2, is_quiet=True),
    np.convolve: Short(_native.convolved, 2, is_quiet=True),
    np.bincount: Short(_native.counted, 1, is_quiet=True),
    np.interp: Short(inspect.unwrap(np.interp), 3, is_quiet=True),
    # All four kinds of errors are something else than the user's there; nothing is rounded after.
    np.linalg.solve: Short(inspect.unwrap(np.linalg.solve), 2, is_quiet=True, dtype=_DOUBLE),
    np.linalg.inv: Short(inspect.unwrap(np.linalg.inv), 1, is_quiet=True, dtype=_DOUBLE),
    # The product of the diagonal may overflow.
    np.linalg.det: Short(np.linalg._umath_linalg.det, 1, dtype=_DOUBLE),
    np.nanmax: Short(_extreme("fmax"), 1, ("axis",), is_partial=True),
    np.nanmin: Short(_extreme("fmin"), 1, ("axis",), is_partial=True),
    np.nanmean: Short(_mean_of_numbers, 1, ("axis",), dtype=_DOUBLE, is_partial=True),
}
_DISPATCHER = type(np.sort)


def shortened(
    direct: DirectCall,
    types: Sequence[ArrayType],
    speaking: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[str, ...], bool]:
    """The function to call for `direct` with operands of these types, what more it is called with,
    the names of it, and whether it is quiet. `speaking` makes of a function one that warns where
    the user calls it.
    """
    function, more, names = direct
    short = SHORT.get(function) if isinstance(function, _DISPATCHER) else None
    if short is not None and short.takes(types, direct):
        if short.is_partial:
            return _native.either, (short.function, speaking(function), *more), (), short.is_quiet
        return short.function, more, (), short.is_quiet
    if type(function) is _DISPATCHER and _DISPATCHER is not FunctionType:
        function = inspect.unwrap(function)
    return speaking(function), more, names, False
