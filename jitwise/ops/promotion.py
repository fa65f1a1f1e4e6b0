"""NumPy 2 promotion, asked of the ufunc itself: which loop runs for these operand dtypes.

    resolve_loop(np.add, (f32, float))      ->  ((f32, f32), (f32,))       a Python float is weak
    resolve_loop(np.divide, (i32, i32))     ->  ((f64, f64), (f64,))
    resolve_loop(np.less, (i64, u64))       ->  ((i64, u64), (bool,))      compared exactly
    resolve_loop(np.subtract, (bool, bool)) ->  TypeError, in NumPy's words

A Python int, float or complex operand is given as the class `int`, `float` or `complex`. There is
no table of promotions here and there must not be one: NumPy is asked once per ufunc and dtypes.

Not here: whether a Python int fits its dtype (`Builder.constant` raises OverflowError as NumPy
does; for comparisons see `ufuncs.compare_out_of_range`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..ir.types import DTYPE_NAMES

Dtypes = tuple[np.dtype, ...]
Operand = np.dtype | type[int] | type[float] | type[complex]
_CANONICAL = {dtype: dtype for dtype in DTYPE_NAMES}  # longlong is int64 here


class UnsupportedLoop(Exception):
    """NumPy has a loop for these dtypes, on a dtype that jitwise has not (object, longdouble)."""


@lru_cache(maxsize=4096)
def resolve_loop(
    ufunc: np.ufunc, dtypes: tuple[Operand, ...], dtype: np.dtype | None = None
) -> tuple[Dtypes, Dtypes]:
    """The dtypes that `ufunc`'s loop takes and gives for operands of `dtypes`; `dtype` asks for a
    loop that gives it.

    Raises NumPy's own TypeError when it has no loop, and UnsupportedLoop when the loop's dtypes are
    none of the tensor IR's.
    """
    asked = {} if dtype is None else {"signature": (*[None] * ufunc.nin, *[dtype] * ufunc.nout)}
    loop = ufunc.resolve_dtypes((*dtypes, *[None] * ufunc.nout), **asked)  # pyright: ignore
    try:
        known = tuple([_CANONICAL[dtype] for dtype in loop])
    except KeyError as error:
        raise UnsupportedLoop(f"{ufunc.__name__} on {error}") from None
    return known[: ufunc.nin], known[ufunc.nin :]


@lru_cache(maxsize=1024)
def resolve_reduction(ufunc: np.ufunc, dtype: np.dtype) -> np.dtype:
    """The dtype in which `ufunc.reduce` and `ufunc.accumulate` work on an array of `dtype`.

    `add` and `multiply` widen bool and small ints to int64, `logical_and` works on bool.
    """
    result = ufunc.resolve_dtypes((None, dtype, None), reduction=True)[2]
    if result not in _CANONICAL:
        raise UnsupportedLoop(f"{ufunc.__name__}.reduce on {dtype}")
    return _CANONICAL[result]
