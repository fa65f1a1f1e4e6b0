"""Numbers of traced values: Python's `int(x)`, `float(x)` and `x.item()`, and NumPy's `np.int8(x)`.

    k = int(x.sum())     %2: i64[] = convert(%1);  measure{symbols=('m0',)}(%2);  k is the size m0
    float(x.mean())      the value itself, which is a float of Python's from here on
    np.int8(k)           the element of an array that `k` becomes, as a NumPy scalar

An int is a size like others: it may bound a slice, be an index or a length, and is an int at the
end. What does not fit 32 bits is left to Python, so that products of ints stay in 64 bits: the
program looks at it in each call.

The class `int` gives nothing but an int, so followed code calls another function: where it calls
the global `int`, it looks up the name `int()` instead (`with_conversions`), and `int8()` where it
calls `int8` of a global that is NumPy. Where `int` is only named (`dtype=int`, `isinstance(n,
int)`) it stays what it is; so do types that are called by another name, for which NumPy asks a
number for its value.
"""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.types import DTYPE_NAMES
from ..ops.compare import greater, less
from ..ops.convert import convert
from .code import cached_by_code
from .size import SizeTracer
from .tracer import Tracer
from .values import is_drawn

if TYPE_CHECKING:
    from .tracing import Trace

SCALAR_TYPES = {
    f"{name}()": kind
    for name, kind in vars(np).items()
    if isinstance(kind, type) and kind in {dtype.type for dtype in DTYPE_NAMES}
}
CONVERTING = {**SCALAR_TYPES, "int()": int, "float()": float, "range()": range}
BEHIND = {
    called: called[:-2] for called in CONVERTING
}  # what followed code calls, and what it names
_METHODS = {called[:-2]: called for called in SCALAR_TYPES}
_CALLED = {name: called for called, name in BEHIND.items() if name != "bool"}
_LOAD_GLOBAL = dis.opmap["LOAD_GLOBAL"]
_CACHE = dis.opmap["CACHE"]
_SHIFTED = sys.version_info >= (3, 12)  # the lowest bit: the attribute is called
_NULL_COMES_LAST = sys.version_info >= (3, 13)
_LOAD_ATTR = dis.opmap["LOAD_ATTR"]
_LOAD_METHOD = dis.opmap["LOAD_ATTR" if _SHIFTED else "LOAD_METHOD"]
_MOST_NAMES = 128  # that one byte tells apart
_LIMIT = 2**31
_MOST_TURNS = 64  # of a loop that is traced turn by turn without trying to make it one
_INTEGER, _UNSIGNED = np.dtype(np.int64), np.dtype(np.uint32)
_HALF, _DOUBLE = np.dtype(np.float16), np.dtype(np.float64)


# Code


@cached_by_code
def with_conversions(
    code: types.CodeType, namespaces: frozenset[str] = frozenset()
) -> types.CodeType:
    """Code that looks up `int()` for each global `int` that it calls, and `int8()` for each method
    `int8` of the globals `namespaces`.
    """
    constants = [
        with_conversions(each, namespaces) if isinstance(each, types.CodeType) else each
        for each in code.co_consts
    ]
    names, raw = list(code.co_names), bytearray(code.co_code)
    places = [place for place in range(0, len(raw), 2) if raw[place] != _CACHE]
    before = [(-1, 0), (-1, 0)]
    for place, after in zip(places, [*places[1:], None], strict=True):
        operation = (raw[place], raw[place + 1])
        called = None
        if before[1][0] != dis.EXTENDED_ARG:
            if operation[0] == _LOAD_GLOBAL:
                called = _CALLED.get(code.co_names[operation[1] >> 1]) if operation[1] & 1 else None
            elif before[0][0] != dis.EXTENDED_ARG and before[1][0] == _LOAD_GLOBAL:
                if code.co_names[before[1][1] >> 1] in namespaces:
                    following = -1 if after is None else raw[after]
                    called = _METHODS.get(_called_attribute(code, before[1], operation, following))
        before = [before[1], operation]
        if called is None:
            continue
        if called not in names:
            names.append(called)
        if names.index(called) < _MOST_NAMES:
            shift = _SHIFTED or operation[0] == _LOAD_GLOBAL
            raw[place + 1] = names.index(called) << shift | (operation[1] & shift)
    return _replaced(code, bytes(raw), tuple(names), tuple(constants))


def _called_attribute(
    code: types.CodeType, held: tuple[int, int], operation: tuple[int, int], following: int
) -> str:
    """The name of the attribute of a global that an operation loads to be called, or nothing.

    An attribute of what was imported is no method to the compiler: NULL goes with the global then,
    from Python 3.13 on after the attribute.
    """
    kind, place = operation
    if kind == _LOAD_METHOD and (not _SHIFTED or place & 1):
        return code.co_names[place >> _SHIFTED]
    if kind != _LOAD_ATTR:
        return ""
    if _NULL_COMES_LAST:
        is_called = following == dis.opmap["PUSH_NULL"]
    else:
        further = (_LOAD_ATTR, _LOAD_METHOD, dis.EXTENDED_ARG)
        is_called = bool(held[1] & 1) and following not in further
    return code.co_names[place >> _SHIFTED] if is_called else ""


@cached_by_code
def names_in(code: types.CodeType) -> frozenset[str]:
    """The globals and attributes that code names, and the functions in it."""
    inner = [names_in(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    return frozenset(code.co_names).union(*inner)


@cached_by_code
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

    def followed_range(*bounds: Any) -> Any:
        if trace.rewrites_next and any(type(bound) is SizeTracer for bound in bounds):
            trace.refuse("loop", "its length is known at run time only")
        found = range(*bounds)
        if trace.rewrites_next and len(found) > _MOST_TURNS:
            trace.refuse("loop", "it is long")
        return found

    return {"int()": followed_int, "float()": followed_float, "range()": followed_range}


def followed_scalar_type(trace: Trace, kind: type[np.generic]) -> Callable[..., Any]:
    """What followed code calls in place of a type of NumPy scalars."""

    def called(*args: Any, **options: Any) -> Any:
        if len(args) == 1 and not options and trace.holds_tracer(args):
            from .numpy.elements import scalar_of

            return scalar_of(trace, args[0], np.dtype(kind))
        return kind(*args, **options)

    return called


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
    """A bool, float or complex of Python's, of the value that a scalar has in this call. A bool
    that follows from a draw has none: whoever asks for it finds that out (`concrete`).
    """
    value = operand._value
    is_open = value.type.dtype == np.bool_ and is_drawn(trace, value)
    return Tracer(trace, value, "python", False if is_open else _actual(trace, operand))


def _actual(trace: Trace, operand: Tracer) -> Any:
    return trace.measurements.values_of([operand._value])[0].item()
