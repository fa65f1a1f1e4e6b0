"""Operators on Python numbers, some of them bools that differ from turn to turn of a loop, or from
branch to branch: in arithmetic they are the ints 0 and 1, which are measured.

    total + flag      %2: i64[] = convert(flag);  measure{symbols=('m3',)}(%2);  total + m3
    flag & other      %2: bool[] = and(flag, other), where both are bools
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.convert import convert
from ..ops.ufuncs import emit_ufunc
from .tracer import Tracer
from .ufuncs import PYTHON

if TYPE_CHECKING:
    from .tracing import Trace

_OF_BOOLS = {np.bitwise_and, np.bitwise_or, np.bitwise_xor}
_INTEGER = np.dtype(np.int64)


def among_bools(trace: Trace, ufunc: np.ufunc, operands: list[Tracer]) -> Any:
    """What Python's operator gives."""
    if ufunc is np.invert:  # warns
        trace.refuse("value", "~ of a bool")
    if ufunc in _OF_BOOLS and all(type(each._hint) is bool for each in operands):
        (value,) = emit_ufunc(trace.builder, ufunc, tuple([each._value for each in operands]))
        if value.constant is not None:
            return bool(value.constant)
        return Tracer(trace, value, "python", False)
    return PYTHON[ufunc](*[_int_of(trace, each) for each in operands])


def _int_of(trace: Trace, operand: Tracer) -> Any:
    """What a Python number is among ints: a bool is one, an int a size."""
    value, kind = operand._value, type(operand._hint)
    if kind not in (bool, int):
        return operand
    if value.constant is not None:
        return int(value.constant)
    if kind is int:
        return trace.expose(value.op.attrs["size"])  # type: ignore[union-attr]
    number = trace.builder.emit(convert, (value,), {"dtype": _INTEGER})
    return trace.expose(trace.measurements.size(number))


__all__ = ["among_bools"]
