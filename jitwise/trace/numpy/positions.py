"""Indices that are arrays of integers: `x[i]`, `x[:, i, j]`, `x[i] = v`, `np.add.at(x, i, v)`.

    x[1:, i]          ->   slice, then gather{axes=(1,)}: the basic part first, a view
    x[:, i, ..., j]   ->   reshape, gather{axes=(1, 3)}, reshape: an Ellipsis parts positions also
                           where it stands for no axis; it becomes an axis of one, removed after

Ints beside arrays are positions too, as in NumPy; so are the places of a mask (see `masks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...ir.graph import Value
from ...ops.gather import INDEX, gather, gathered_shape, scatter, scatter_at
from ...ops.movement import reshape
from ..memory import Step, view, write
from ..size import SizeTracer, size_of
from ..tracer import Tracer
from .masks import AlongNewAxis, as_positions

if TYPE_CHECKING:
    from ...ir.dims import Size
    from ...ir.primitive import Attrs, Primitive
    from ..tracing import Trace

_WHOLE = slice(None)


def is_position(item: Any) -> bool:
    """Whether an index is an array, or a traced number that is not a size: not basic indexing."""
    if isinstance(item, Tracer):
        return item._kind != "python" or item._value.type.ndim > 0
    return isinstance(item, (list, np.ndarray))


class Places(NamedTuple):
    """Where in `part`, a view of the operand, the positions point to, and the shape they give;
    `gathered` is the same with an axis of one that only parts the positions.
    """

    part: Tracer
    axes: tuple[int, ...]
    positions: tuple[Value, ...]
    shape: tuple[Size, ...]
    gathered: tuple[Size, ...]
    is_copy: bool


def places_of(operand: Tracer, items: tuple) -> Places:
    """What `operand[items]` points to, when some of `items` are positions."""
    from .index import place

    trace = operand._trace
    full, gap = _full(trace, as_positions(operand, items), operand.ndim)
    basic, axes, given, numbers = [], [], [], []
    for axis, item in enumerate(full):
        if item is None or type(item) is slice:
            basic.append(item)
            continue
        axes.append(axis)
        if type(item) is AlongNewAxis:
            basic.append(None)
            given.append(_integers(trace, item.positions))
        else:
            basic.append(_WHOLE)
            given.append(_integers(trace, item))
            if type(item) in (int, SizeTracer):
                numbers.append((axis, item))
    part = operand[tuple(basic)]
    for axis, item in numbers:  # out of bounds, also where no element is taken
        place(trace, item, part._value.type.shape[axis])
    shape = trace.broadcast_shapes([each._value.type.shape for each in given])
    positions = tuple([trace.broadcast(each, shape)._value for each in given])
    result = gathered = gathered_shape(part._value.type.shape, tuple(axes), shape)
    if gap is not None:
        removed = len(shape) + gap - sum(axis < gap for axis in axes)
        result = (*gathered[:removed], *gathered[removed + 1 :])
    is_copy = any(each._kind == "array" for each in given)
    return Places(part, tuple(axes), positions, result, gathered, is_copy)


def _full(trace: Trace, items: tuple, ndim: int) -> tuple[list[Any], int | None]:
    """One item for each axis and each None; and which of them stands for an Ellipsis without axes,
    where the positions beside it would else be neighbours and their axes not first.
    """
    news = (type(None), type(Ellipsis), AlongNewAxis)
    missing = ndim - sum(not isinstance(item, news) for item in items)
    ellipses = [place for place, item in enumerate(items) if item is Ellipsis]
    if missing < 0 or len(ellipses) > 1:
        trace.refuse("error", "IndexError: too many indices")
    place = ellipses[0] if ellipses else len(items)
    before, after = items[:place], items[place + 1 :]
    if ellipses and not missing and _is_basic(items[0]):
        if before and after and not _is_basic(before[-1]) and not _is_basic(after[0]):
            return [*before, None, *after], place
    return [*before, *[_WHOLE] * missing, *after], None


def _is_basic(item: Any) -> bool:
    return item is None or item is Ellipsis or type(item) is slice


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
    steps = [Step(gather, {"axes": places.axes}, places.positions)]
    if places.gathered != places.shape:
        steps.append(Step(reshape, {"sizes": places.shape}))
    whole = any(item is Ellipsis for item in items)
    if not places.is_copy and (places.shape or whole):
        return view(places.part, *steps)
    value = places.part._value
    for step in steps:
        value = step.taken(trace.builder, value)
    scalar = not value.type.shape and not whole
    return Tracer(trace, value, "scalar" if scalar else "array")


def assign(places: Places, item: Value) -> None:
    """`part[positions] = item`, which has the dtype and the shape that the places take."""
    _replace(places, item, scatter, {"axes": places.axes})


def combine(places: Places, ufunc: str, item: Value) -> None:
    """`ufunc.at(part, positions, item)`."""
    _replace(places, item, scatter_at, {"axes": places.axes, "ufunc": ufunc})


def _replace(places: Places, item: Value, primitive: Primitive, attrs: Attrs) -> None:
    emit = places.part._trace.builder.emit
    if places.gathered != places.shape:
        item = emit(reshape, (item,), {"sizes": places.gathered})
    operands = (places.part._value, item, *places.positions)
    write(places.part, emit(primitive, operands, attrs))
