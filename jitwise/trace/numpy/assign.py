"""Assignment to items: `x[index] = item`, `fill`, `copyto`.

    x[1:-1] = u         ->   update_slice{starts=(1,), strides=(1,)}(x, u)
    x[::-1] = u         ->   the same with reverse(u)
    x[:, 0] = 5         ->   update_slice of a broadcast, a column

An item is converted to the array's dtype, whatever it loses, as NumPy does; and broadcast.
Positions: see `positions`. Masks: see `masks`.

What is assigned to an array whose contents depend on no argument (`np.zeros(3)`) is assigned at
once, and the array becomes a constant.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.graph import Value
from ...ops.compare import select as select_
from ...ops.movement import reshape, reverse
from ...ops.promotion import UnsupportedLoop, resolve_loop
from ...ops.ufuncs import UFUNCS
from ...ops.update import update_slice
from ..filters import unheard
from ..memory import write
from ..tracer import FUNCTIONS, METHODS, Tracer
from .arguments import is_traced, strong
from .elements import as_element, cast, number_as_element
from .index import Selection, selection_of
from .join import stack_nested
from .masks import assigned, is_mask, masked
from .positions import assign, combine, is_position, places_of

if TYPE_CHECKING:
    from ..tracing import Trace

_WEAK = {"b": "biufc", "i": "iufc", "f": "fc", "c": "c"}  # what takes a Python number
_MODULAR = (np.add, np.subtract, np.multiply)
_MOST_CONSTANTS = 64  # arrays that one trace makes by assignments to constant ones


def setitem(operand: Tracer, index: Any, item: Any) -> None:
    """`operand[index] = item`."""
    trace = operand._trace
    if not trace.active:
        trace.escaped(operand._value)
    if operand._kind != "array":
        trace.refuse("error", "TypeError: a scalar does not support item assignment")
    if not operand._fresh or operand._shared:
        write(operand, operand._value)  # which says why not
    if type(operand._hint) is np.ndarray and not is_traced(index, item):
        if trace.captures.objects() <= _MOST_CONSTANTS:
            _assign_constant(operand, index, item)
            return
    items = index if type(index) is tuple else (index,)
    chosen = masked(operand, items) if any(map(is_mask, items)) else None
    if chosen is not None:
        part = chosen.part
        given = trace.lift(item)
        if len(items) == 1 and chosen.mask.ndim == operand.ndim and given.ndim > 1:
            trace.refuse("error", "TypeError: more than one axis is assigned through a mask")
        write(part, assigned(chosen, given, partial(fitted, part, item)))
        return
    selection = selection_of(operand, index)
    if selection is None:
        places = places_of(operand, items)
        if not places.shape:
            refuse_sequence(trace, item)
        assign(places, fitted(operand, item, places.shape))
        return
    if not selection.final and not selection.whole:
        refuse_sequence(trace, item)
    part = fitted(operand, item, tuple(selection.final))
    write(operand, _replaced(trace, operand._value, selection, part))


def _assign_constant(operand: Tracer, index: Any, item: Any) -> None:
    trace = operand._trace
    contents = operand._hint.copy()
    with unheard("error"), np.errstate(all="raise"):
        try:
            contents[index] = item
        except (Warning, FloatingPointError) as warning:
            trace.refuse("argument", f"what NumPy warns of: {warning}")
    write(operand, trace.captures.array_object(contents)._value)
    operand._hint = contents


def _replaced(trace: Trace, whole: Value, selection: Selection, part: Value) -> Value:
    """`whole` with `part` where the selection is."""
    emit = trace.builder.emit
    part = emit(reshape, (part,), {"sizes": tuple(selection.sizes)})
    if selection.backwards:
        part = emit(reverse, (part,), {"dimensions": tuple(selection.backwards)})
    if not selection.starts:
        return part
    place = {"starts": tuple(selection.starts), "strides": tuple(selection.strides)}
    return emit(update_slice, (whole, part), place)


def refuse_sequence(trace: Trace, item: Any) -> None:
    """An array with axes is no element, whatever its size: NumPy raises ValueError, or warns."""
    if trace.lift(item)._value.type.shape:
        trace.refuse("error", "ValueError: setting an array element with a sequence")


def fitted(operand: Tracer, item: Any, shape: tuple) -> Value:
    """`item` in the dtype of `operand`, broadcast to `shape`."""
    trace = operand._trace
    return _spread(trace, _converted(trace, item, operand._value.type.dtype), shape)


def _spread(trace: Trace, given: Tracer, shape: tuple) -> Value:
    """`given` broadcast to `shape`. Further axes of one are dropped."""
    own = given._value.type.shape
    while len(own) > len(shape):
        if not trace.same_size(own[0], 1):
            trace.refuse("error", "ValueError: could not broadcast input array")
        own = own[1:]
    if own != given._value.type.shape:
        given = trace.emit(reshape, (given,), {"sizes": own}, "array")
    if not trace.fits(own, shape):
        trace.refuse("error", "ValueError: could not broadcast input array")
    return trace.broadcast(given, shape)._value


def _converted(trace: Trace, item: Any, dtype: np.dtype) -> Tracer:
    """`item` as an array of `dtype`."""
    kind = type(item)
    if kind is int or kind is bool or (kind is float and dtype.kind in "fc"):
        return trace.constant(item, dtype)
    if kind is list or kind is tuple:
        if trace.holds_tracer(item):
            return stack_nested(trace, item, dtype)
        return trace.captures.array_object(_array_of(trace, item, dtype))
    given = trace.lift(item)
    return cast(trace, given, dtype) if given.ndim else as_element(trace, given, dtype)


def _array_of(trace: Trace, items: Any, dtype: np.dtype) -> np.ndarray:
    """`np.array(items, dtype)`, of which nothing is reported."""
    with unheard("error"), np.errstate(all="raise"):
        try:
            return np.array(items, dtype)
        except Exception as error:
            trace.refuse("error", type(error).__name__)


def fill(operand: Tracer, value: Any) -> None:
    """`operand.fill(value)`."""
    if operand._kind != "array":
        operand._trace.refuse("argument", "fill of a scalar")
    if operand._trace.lift(value).ndim:
        operand._trace.refuse("error", "fill by an array")
    setitem(operand, Ellipsis, value)


def copyto(trace: Trace, dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """`np.copyto`."""
    if isinstance(dst, Tracer) and dst._kind != "array":
        trace.refuse("error", "TypeError: copyto needs an array")
    if not isinstance(dst, Tracer):
        trace.refuse("mutate", "an array that no function of NumPy made while tracing")
    source = trace.lift(src)
    if source._kind == "python":
        fits = dst.dtype.kind in _WEAK[source.dtype.kind] and casting in ("same_kind", "unsafe")
    else:
        fits = np.can_cast(source.dtype, dst.dtype, casting)
    if not fits:
        trace.refuse("argument", "copyto with this casting")
    convert = number_as_element if source._kind == "python" else cast
    part = fitted(dst, convert(trace, source, dst.dtype), dst._value.type.shape)
    if where is not True:
        chosen = trace.lift(where)
        if chosen.dtype.kind != "b":
            trace.refuse("error", "TypeError: where is no mask")
        if not trace.fits(chosen._value.type.shape, dst._value.type.shape):
            trace.refuse("error", "ValueError: where does not broadcast")
        mask = trace.broadcast(chosen, dst._value.type.shape)
        part = trace.builder.emit(select_, (mask._value, part, dst._value))
    write(dst, part)


def combine_at(trace: Trace, ufunc: np.ufunc, target: Any, index: Any, item: Any) -> None:
    """`ufunc.at(target, index, item)`."""
    if isinstance(target, Tracer) and target._kind != "array":
        trace.refuse("error", "TypeError: first operand must be an array")
    if not isinstance(target, Tracer):
        trace.refuse("mutate", "an array that no function of NumPy made while tracing")
    items = index if type(index) is tuple else (index,)
    given = strong(trace, item)
    own, dtype = given._value.type.dtype, target.dtype
    if ufunc.nout != 1 or ufunc not in UFUNCS:
        trace.refuse("argument", f"numpy.{ufunc.__name__}.at")
    try:
        loop = resolve_loop(ufunc, (dtype, own))
    except (TypeError, UnsupportedLoop):
        trace.refuse("error", "UFuncTypeError")
    same = loop == ((dtype, dtype), (dtype,))
    if same or _is_same_in(ufunc, given._value, loop[0][0], dtype):
        given = trace.convert(given, dtype)
    if not any(is_position(each) or is_mask(each) for each in items):
        if given.dtype != dtype:
            trace.refuse("argument", f"numpy.{ufunc.__name__}.at")
        part = target[index]
        spread = Tracer(trace, _spread(trace, given, part._value.type.shape), "array")
        setitem(target, index, ufunc(part, spread))
        return
    places = places_of(target, items)
    combine(places, ufunc.__name__, _spread(trace, given, places.shape))


def _is_same_in(ufunc: np.ufunc, item: Value, loop: np.dtype, dtype: np.dtype) -> bool:
    """Whether a ufunc that NumPy computes in the wider dtype `loop` and casts to `dtype` each time
    gives the same when it is computed in `dtype`.
    """
    if dtype.kind in "iu" and loop.kind in "iu":
        return ufunc in _MODULAR
    if dtype != np.float32 or loop != np.float64 or item.constant is None:
        return False
    exact = float(item.constant) == float(np.float32(item.constant))
    return exact and ufunc in (*_MODULAR, np.maximum, np.minimum)  # rounded twice, as if once


METHODS["__setitem__"] = setitem
METHODS["fill"] = fill
FUNCTIONS[np.copyto] = copyto
