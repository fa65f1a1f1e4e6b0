"""What a number becomes as an element of an array: `x[0] = k`, `np.array([k, 1], dtype="i1")`,
`np.int8(k)`.

    k an int       it has to fit: a guard, or OverflowError
    k a float      of an array of ints: its whole part, which has to fit; a check of the program
    k a complex    of a real array: TypeError
    x[0]           a NumPy scalar goes the same way into signed integers, and is cast elsewhere
    np.array(7)    an array is cast, whatever it loses

What does not fit is NumPy's to raise: a call for which a guard or a check fails runs as Python.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.compare import greater, greater_equal, less, less_equal
from ...ops.complex_number import real
from ...ops.control import warn
from ...ops.convert import convert
from ..source import ScopeGlobals
from ..tracer import Tracer
from ..ufuncs import in_dtype
from .views import copied

if TYPE_CHECKING:
    from ..tracing import Trace

_LOST = "Casting complex values to real discards the imaginary part"
_DOUBLE = np.dtype(np.float64)


def as_element(trace: Trace, item: Any, dtype: np.dtype) -> Tracer:
    """`item` in `dtype`, as NumPy sets one element to it."""
    operand = trace.lift(item)
    if operand._kind == "python":
        return number_as_element(trace, operand, dtype)
    own = operand._value.type.dtype
    if operand._kind == "scalar" and dtype.kind == "i" and own != dtype:
        return _whole(trace, operand, dtype)
    return cast(trace, operand, dtype)


def scalar_of(trace: Trace, item: Any, dtype: np.dtype) -> Tracer:
    """`dtype.type(item)`: a NumPy scalar, or an array of what has axes."""
    if type(item) in (list, tuple):
        from .join import stack_nested

        return stack_nested(trace, item, dtype)
    operand = trace.lift(item)
    result = (as_element if operand._kind == "python" else cast)(trace, operand, dtype)
    return copied(trace, result) if result.ndim else trace.wrap(result._value, "scalar")


def number_as_element(trace: Trace, operand: Tracer, dtype: np.dtype) -> Tracer:
    """A Python number in `dtype`, as NumPy sets one element to it."""
    own, kind = operand._value.type.dtype, dtype.kind
    if own.kind == "c" and kind not in "cb":
        trace.refuse("error", "TypeError: a complex number as an element of real ones")
    if kind == "b" or own.kind == "b":
        return trace.convert(operand, dtype, "scalar")
    if own.kind == "f" and kind in "iu":
        return _whole(trace, operand, dtype)
    if own.kind == "i" and kind in "fc" and operand._value.constant is None:
        operand = trace.convert(operand, _DOUBLE, "scalar")  # as Python does on the way
        return trace.convert(operand, dtype, "scalar")
    return in_dtype(trace, operand, dtype)


def cast(trace: Trace, operand: Tracer, dtype: np.dtype, kind: str | None = None) -> Tracer:
    """`operand.astype(dtype)`, of which NumPy warns where imaginary parts are lost."""
    if operand._value.type.dtype.kind == "c" and dtype.kind not in "cb":
        _warn_of_lost_parts(trace)
        operand = trace.emit(real, (operand,), kind=operand._kind)
    return trace.convert(operand, dtype, kind)


def _warn_of_lost_parts(trace: Trace) -> None:
    """Have the program warn as NumPy does where the user's code is now."""
    frame: Any = sys._getframe()
    while frame is not None and not isinstance(frame.f_globals, ScopeGlobals):
        frame = frame.f_back
    if frame is None:
        trace.refuse("argument", f"what NumPy warns of: {_LOST}")
    place = {"filename": frame.f_code.co_filename, "line": frame.f_lineno}
    module = frame.f_globals.get("__name__", "<string>")
    trace.builder.emit(
        warn, (), {"text": _LOST, "category": "ComplexWarning", "module": module, **place}
    )


def _whole(trace: Trace, operand: Tracer, dtype: np.dtype) -> Tracer:
    """The whole part of a number as an integer, which has to fit."""
    own, value = operand._value.type.dtype, operand._value
    limits = np.iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    if own.kind == "c":
        trace.refuse("argument", f"what NumPy warns of: {_LOST}")
    if value.constant is not None:
        try:
            whole = int(value.constant)
        except (ValueError, OverflowError) as error:  # nan, infinity
            trace.refuse("error", type(error).__name__)
        return trace.constant(whole, dtype, "scalar")
    if own.kind == "f":
        if own.itemsize < 8:
            value = trace.builder.emit(convert, (value,), {"dtype": _DOUBLE})
        # What a float64 of 53 bits is next to the limits of 64 bits is a limit itself.
        tests = [(greater, low - 1) if low > -(2**53) else (greater_equal, low), (less, high + 1)]
    elif own.kind in "iu":
        bounds = np.iinfo(own)
        tests = [(greater_equal, low)] if int(bounds.min) < low else []
        tests += [(less_equal, high)] if int(bounds.max) > high else []
    else:
        tests = []
    for relation, bound in tests:
        limit = trace.builder.constant(bound, value.type.dtype)
        inside = trace.builder.emit(relation, (value, limit))
        trace.check(trace.wrap(inside), f"a number that does not fit {dtype}")
    return trace.wrap(trace.builder.emit(convert, (value,), {"dtype": dtype}), "scalar")


__all__ = ["as_element", "cast", "number_as_element", "scalar_of"]
