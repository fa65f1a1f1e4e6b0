"""Indices that are arrays of integers: `x[i]`, `x[:, i, j]`, `x[i] = v`, `np.add.at(x, i, v)`.

    x[1:, i]   ->   slice, then gather{axes=(1,)}: the basic part first, a view; then the positions

Ints beside arrays are positions too, as in NumPy; so are the places of a mask (see `masks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...ir.graph import Value
from ...ops.gather import INDEX, gather, gathered_shape, scatter, scatter_at
from ..memory import Step, view, write
from ..size import SizeTracer, size_of
from ..tracer import Tracer
from .masks import as_positions

if TYPE_CHECKING:
    from ...ir.dims import Size
    from ..tracing import Trace

_WHOLE = slice(None)


def is_position(item: Any) -> bool:
    """Whether an index is an array, or a traced number that is not a size: not basic indexing."""
    if isinstance(item, Tracer):
        return item._kind != "python" or item._value.type.ndim > 0
    return isinstance(item, (list, np.ndarray))


class Places(NamedTuple):
    """Where in `part`, a view of the operand, the positions point to, and the shape they give."""

    part: Tracer
    axes: tuple[int, ...]
    positions: tuple[Value, ...]
    shape: tuple[Size, ...]
    is_copy: bool


def places_of(operand: Tracer, items: tuple) -> Places:
    """What `operand[items]` points to, when some of `items` are positions."""
    from .index import place

    trace = operand._trace
    items = as_positions(operand, items)
    basic, axes, given, numbers = [], [], [], []
    for axis, item in enumerate(_full(trace, items, operand.ndim)):
        if item is None or type(item) is slice:
            basic.append(item)
        else:
            basic.append(_WHOLE)
            axes.append(axis)
            given.append(_integers(trace, item))
            if type(item) in (int, SizeTracer):
                numbers.append((axis, item))
    part = operand[tuple(basic)]
    for axis, item in numbers:  # out of bounds, also where no element is taken
        place(trace, item, part._value.type.shape[axis])
    shape = trace.broadcast_shapes([each._value.type.shape for each in given])
    positions = tuple([trace.broadcast(each, shape)._value for each in given])
    result = gathered_shape(part._value.type.shape, tuple(axes), shape)
    is_copy = any(each._kind == "array" for each in given)
    return Places(part, tuple(axes), positions, result, is_copy)


def _full(trace: Trace, items: tuple, ndim: int) -> list[Any]:
    """One item for each axis and each None."""
    missing = ndim - sum(item is not None and item is not Ellipsis for item in items)
    ellipses = [place for place, item in enumerate(items) if item is Ellipsis]
    if missing < 0 or len(ellipses) > 1:
        trace.refuse("error", "IndexError: too many indices")
    place = ellipses[0] if ellipses else len(items)
    return [*items[:place], *[_WHOLE] * missing, *items[place + 1 :]]


def _integers(trace: Trace, item: Any) -> Tracer:
    """An index as an array of i64."""
    if isinstance(item, list) and not item:
        item = np.zeros(0, INDEX)
    if not isinstance(item, (Tracer, list, np.ndarray, SizeTracer)) and size_of(item) is None:
        trace.refuse("error", "IndexError")
    given = trace.lift(item)
    kind = given._value.type.dtype.kind
    if kind not in "iu":
        trace.refuse("error", "IndexError: arrays used as indices must be of integer type")
    return trace.convert(given, INDEX)


def read(operand: Tracer, items: tuple) -> Tracer:
    """`operand[items]`: a copy, and be it of an element for an array without axes; numbers alone
    take a view.
    """
    trace = operand._trace
    places = places_of(operand, items)
    step = Step(gather, {"axes": places.axes}, places.positions)
    whole = any(item is Ellipsis for item in items)
    if not places.is_copy and (places.shape or whole):
        return view(places.part, step)
    value = step.taken(trace.builder, places.part._value)
    scalar = not value.type.shape and not whole
    return Tracer(trace, value, "scalar" if scalar else "array")


def assign(places: Places, item: Value) -> None:
    """`part[positions] = item`, which has the dtype and the shape that the places take."""
    trace = places.part._trace
    operands = (places.part._value, item, *places.positions)
    write(places.part, trace.builder.emit(scatter, operands, {"axes": places.axes}))


def combine(places: Places, ufunc: str, item: Value) -> None:
    """`ufunc.at(part, positions, item)`."""
    trace = places.part._trace
    operands = (places.part._value, item, *places.positions)
    attrs = {"axes": places.axes, "ufunc": ufunc}
    write(places.part, trace.builder.emit(scatter_at, operands, attrs))
