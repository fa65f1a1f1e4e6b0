"""Python numbers of traced values: `int(x)`, `float(x)`, `x.item()`.

    k = int(x.sum())     %2: i64[] = convert(%1);  measure{symbols=('m0',)}(%2);  k is the size m0
    float(x.mean())      the value itself, which is a float of Python's from here on

An int is a size like others: it may bound a slice, be an index or a length, and is an int at the
end. What does not fit 32 bits is left to Python, so that products of ints stay in 64 bits: the
program looks at it in each call.

The class `int` gives nothing but an int, so followed code calls another function: where it calls
the global `int`, it looks up the name `int()` instead (`with_conversions`). Where `int` is only
named (`dtype=int`, `isinstance(n, int)`) it stays what it is.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.compare import greater, less
from ..ops.convert import convert
from .size import SizeTracer
from .tracer import Tracer

if TYPE_CHECKING:
    from .tracing import Trace

BEHIND = {"int()": "int", "float()": "float"}  # what followed code calls, and what it names
_CALLED = {name: called for called, name in BEHIND.items()}
_LOAD_GLOBAL = dis.opmap["LOAD_GLOBAL"]
_MOST_NAMES = 128  # that one byte tells apart
_LIMIT = 2**31
_INTEGER, _UNSIGNED = np.dtype(np.int64), np.dtype(np.uint32)
_HALF, _DOUBLE = np.dtype(np.float16), np.dtype(np.float64)


# Code


@functools.lru_cache(maxsize=1024)
def with_conversions(code: types.CodeType) -> types.CodeType:
    """Code that looks up `int()` for each global `int` that it calls."""
    constants = [
        with_conversions(each) if isinstance(each, types.CodeType) else each
        for each in code.co_consts
    ]
    names, raw = list(code.co_names), bytearray(code.co_code)
    for position in range(0, len(raw), 2):
        # The lowest bit: NULL goes with the global, which is called then.
        if raw[position] != _LOAD_GLOBAL or not raw[position + 1] & 1:
            continue
        called = _CALLED.get(code.co_names[raw[position + 1] >> 1])
        if called is None or (position and raw[position - 2] == dis.EXTENDED_ARG):
            continue
        if called not in names:
            names.append(called)
        if names.index(called) < _MOST_NAMES:
            raw[position + 1] = names.index(called) << 1 | 1
    return _replaced(code, bytes(raw), tuple(names), tuple(constants))


@functools.lru_cache(maxsize=1024)
def without_conversions(code: types.CodeType) -> types.CodeType:
    """The code that the user wrote."""
    constants = [
        without_conversions(each) if isinstance(each, types.CodeType) else each
        for each in code.co_consts
    ]
    names = tuple([BEHIND.get(name, name) for name in code.co_names])
    return _replaced(code, code.co_code, names, tuple(constants))


def _replaced(code: types.CodeType, raw: bytes, names: tuple, constants: tuple) -> types.CodeType:
    same = all(one is other for one, other in zip(constants, code.co_consts, strict=True))
    if same and names == code.co_names:
        return code
    return code.replace(co_code=raw, co_names=names, co_consts=constants)


# Numbers


def followed_conversions(trace: Trace) -> dict[str, Callable[..., Any]]:
    """What followed code calls in place of `int` and `float`."""

    def followed_int(*args: Any, **options: Any) -> Any:
        if len(args) == 1 and not options:
            (item,) = args
            if type(item) is SizeTracer:
                return item
            if _is_number(item):
                return python_int(trace, item)
        return int(*args, **options)

    def followed_float(*args: Any, **options: Any) -> Any:
        if len(args) == 1 and not options:
            (item,) = args
            if _is_number(item):
                return _python_float(trace, item)
        return float(*args, **options)

    return {"int()": followed_int, "float()": followed_float}


def _is_number(item: Any) -> bool:
    return isinstance(item, Tracer) and not item._value.type.shape and item.dtype.kind in "biuf"


def python_int(trace: Trace, operand: Tracer) -> Any:
    """The int that a traced number is."""
    dtype = operand._value.type.dtype
    value = _actual(trace, operand)
    if not -_LIMIT < value < _LIMIT:  # nan too
        trace.refuse("value", "int")
    builder, number = trace.builder, operand._value
    if dtype == _HALF:
        number = builder.emit(convert, (number,), {"dtype": _DOUBLE})
    if dtype.kind == "f" or dtype.itemsize > 4 or dtype == _UNSIGNED:
        own = number.type.dtype
        for relation, bound in ((less, _LIMIT), (greater, -_LIMIT)):
            if bound > 0 or dtype.kind != "u":
                inside = builder.emit(relation, (number, builder.constant(bound, own)))
                trace.check(trace.wrap(inside), "an int beyond 32 bits")
    if number.type.dtype != _INTEGER:
        number = builder.emit(convert, (number,), {"dtype": _INTEGER})
    if number.constant is not None:
        return int(value)
    return trace.expose(trace.measurements.size(number))


def _python_float(trace: Trace, operand: Tracer) -> Any:
    """The float that a traced number is."""
    if operand._kind == "python" and type(operand._hint) is float:
        return operand
    scalar = trace.wrap(operand._value, "scalar")
    return python_number(trace, trace.convert(scalar, _DOUBLE))


def python_number(trace: Trace, operand: Tracer) -> Tracer:
    """A bool, float or complex of Python's, of the value that a scalar has in this call."""
    return Tracer(trace, operand._value, "python", _actual(trace, operand))


def _actual(trace: Trace, operand: Tracer) -> Any:
    return trace.measurements.values_of([operand._value])[0].item()
