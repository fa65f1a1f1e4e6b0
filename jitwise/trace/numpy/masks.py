"""Masks: `x[mask]`, `x[mask] = v`, and where an array is true.

    x[mask]            ->  compress along the mask's axes, made one; a copy
    x[:, mask]         ->  the same along a later axis
    x[mask] = 0        ->  select(mask, 0, x)
    x[mask] = v        ->  place(x, mask, v)      v has as many elements as the mask has places
    x[mask, 0]         ->  x[i, 0] with i = places(mask): see `positions`

How many elements are true is a size of the program (see `measurements`). A mask without axes has
one place or none, along a new axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...ir import dims
from ...ir.graph import Value
from ...ops.compare import not_equal
from ...ops.compare import select as select_
from ...ops.measure import compress, place, places
from ...ops.movement import reshape
from ..size import SizeTracer
from ..tracer import Tracer

if TYPE_CHECKING:
    from ...ir.dims import Size
    from ..tracing import Trace

BOOL = np.dtype(np.bool_)
_WHOLE = slice(None)


def is_mask(item: Any) -> bool:
    """Whether an index is a mask, or a bool."""
    if isinstance(item, (Tracer, np.ndarray, np.generic)):
        return item.dtype == BOOL
    if isinstance(item, list):
        return bool(item) and _first(item) is not None and is_mask(_first(item))
    return type(item) is bool


def _first(item: Any) -> Any:
    """The first element of nested lists."""
    while isinstance(item, (list, tuple)) and item:
        item = item[0]
    return item


class Masked(NamedTuple):
    """The elements of `part`, a view of the operand, where `mask` is true, whose axes are those
    from `axis` on.
    """

    part: Tracer
    mask: Tracer
    axis: int


def masked(operand: Tracer, items: tuple) -> Masked | None:
    """What `operand[items]` takes, when one of `items` is a mask and the others make views."""
    trace = operand._trace
    found = [number for number, item in enumerate(items) if is_mask(item)]
    others = [item for number, item in enumerate(items) if number not in found]
    if len(found) != 1 or not all(
        item is None or item is Ellipsis or type(item) is slice for item in others
    ):
        return None
    (number,) = found
    mask = trace.lift(items[number])
    width = mask.ndim
    keys = [*items[:number], *([_WHOLE] * width or [None]), *items[number + 1 :]]
    taken = sum(key is not None and key is not Ellipsis for key in keys)
    if taken > operand.ndim or sum(key is Ellipsis for key in keys) > 1:
        trace.refuse("error", "IndexError: too many indices")
    before = keys[:number]
    axis = len(before)
    if Ellipsis in [key for key in before if key is None or key is Ellipsis]:
        axis += operand.ndim - taken - 1
    part = operand[tuple(keys)] if any(key is not _WHOLE for key in keys) else operand
    if not width:
        mask = _emit(trace, reshape, (mask,), {"sizes": (1,)})
    shape = part._value.type.shape[axis : axis + mask.ndim]
    return Masked(part, fitting(trace, mask, shape), axis)


def fitting(trace: Trace, mask: Tracer, shape: tuple[Size, ...]) -> Tracer:
    """`mask` with the very sizes `shape`. Ends the trace where they are others."""
    own = mask._value.type.shape
    if len(own) != len(shape) or not all(map(trace.same_size, own, shape)):
        trace.refuse("error", "IndexError: boolean index did not match")
    return mask if own == shape else _emit(trace, reshape, (mask,), {"sizes": shape})


def _emit(trace: Trace, primitive: Any, operands: tuple[Tracer, ...], attrs: Any) -> Tracer:
    return trace.emit(primitive, operands, attrs, "array")


def _lined(trace: Trace, chosen: Masked) -> tuple[Tracer, Tracer]:
    """The part and the mask with the mask's axes made one."""
    part, mask, axis = chosen
    if mask.ndim == 1:
        return part, mask
    shape, width = part._value.type.shape, mask.ndim
    line = dims.product(mask._value.type.shape)
    sizes = (*shape[:axis], line, *shape[axis + width :])
    part = _emit(trace, reshape, (part,), {"sizes": sizes})
    return part, _emit(trace, reshape, (mask,), {"sizes": (line,)})


def read(chosen: Masked) -> Tracer:
    """The elements, as an array of their own."""
    trace = chosen.part._trace
    part, mask = _lined(trace, chosen)
    size = trace.measurements.count(chosen.mask._value)
    return _emit(trace, compress, (part, mask), {"axis": chosen.axis, "size": size})


def assigned(chosen: Masked, item: Tracer, fitted: Any) -> Value:
    """The part with other elements where the mask is true; `fitted(shape)` is the item in the
    part's dtype, broadcast to that shape.
    """
    trace = chosen.part._trace
    part, mask, axis = chosen
    shape, width = part._value.type.shape, mask.ndim
    rest = shape[axis + width :]
    emit = trace.builder.emit
    if item.ndim <= len(rest):
        return _selected(trace, chosen, rest, fitted(rest))
    size = trace.measurements.count(mask._value)
    given = fitted((*shape[:axis], size, *rest))
    line, mask = _lined(trace, chosen)
    made = emit(place, (line._value, mask._value, given), {"axis": axis})
    return made if line is part else emit(reshape, (made,), {"sizes": shape})


def _selected(trace: Trace, chosen: Masked, rest: tuple[Size, ...], item: Value) -> Value:
    part, mask, axis = chosen
    shape = part._value.type.shape
    if axis or rest:
        sizes = (*[1] * axis, *mask._value.type.shape, *[1] * len(rest))
        mask = trace.broadcast(_emit(trace, reshape, (mask,), {"sizes": sizes}), shape)
    if rest:
        item = trace.broadcast(Tracer(trace, item, "array"), shape)._value
    return trace.builder.emit(select_, (mask._value, item, part._value))


# Places


def truth(trace: Trace, operand: Tracer) -> Tracer:
    """Where an array is not zero."""
    if operand.dtype == BOOL:
        return operand
    zero = trace.builder.constant(0, operand.dtype)
    return trace.wrap(trace.builder.emit(not_equal, (operand._value, zero)), "array")


def places_of_mask(trace: Trace, mask: Tracer) -> list[Tracer]:
    """Where a mask is true, along each of its axes."""
    size = trace.measurements.count(mask._value)
    found = trace.builder.emit(places, (mask._value,), {"size": size})
    return [Tracer(trace, value, "array") for value in found]


class AlongNewAxis(NamedTuple):
    """Where a mask without axes is true, along an axis of one that is made for it."""

    positions: Tracer


def as_positions(operand: Tracer, items: tuple) -> tuple:
    """`items` with the places of a mask in its stead."""
    trace = operand._trace
    if not any(map(is_mask, items)):
        return items
    given = [trace.lift(item) if is_mask(item) else item for item in items]
    widths = [_width(item) for item in given]
    rest = operand.ndim - sum(widths)
    if rest < 0:
        trace.refuse("error", "IndexError: too many indices")
    found: list[Any] = []
    axis = 0
    for item, width in zip(given, widths, strict=True):
        if isinstance(item, Tracer) and is_mask(item):
            if width:
                shape = operand._value.type.shape[axis : axis + width]
                found += places_of_mask(trace, fitting(trace, item, shape))
            else:
                line = _emit(trace, reshape, (item,), {"sizes": (1,)})
                found += map(AlongNewAxis, places_of_mask(trace, line))
        else:
            found.append(item)
        axis += rest if item is Ellipsis else width
    return tuple(found)


def _width(item: Any) -> int:
    """How many axes an index takes."""
    if item is None or item is Ellipsis:
        return 0
    if type(item) in (int, slice, SizeTracer):
        return 1
    return item.ndim if is_mask(item) else 1
