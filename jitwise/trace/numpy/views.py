"""Results that move no data: views of a handle's memory (see `memory`), and copies.

A copy is a new handle, often on the very same value: values do not change, handles are bound to
others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir.dims import Size
from ...ir.primitive import Attrs, Primitive
from ...ops.movement import reshape, slice_
from .. import memory
from ..tracer import Tracer

if TYPE_CHECKING:
    from ..tracing import Trace


def view(trace: Trace, primitive: Primitive, operand: Tracer, attrs: Attrs) -> Tracer:
    """The result of a primitive that moves no data."""
    return memory.view(operand, memory.Step(primitive, attrs))


def same_memory(trace: Trace, operand: Tracer) -> Tracer:
    """Another handle on the memory of `operand`."""
    return memory.view(operand)


def reshaped(trace: Trace, operand: Tracer, sizes: tuple[Size, ...]) -> Tracer:
    """As many elements in another shape. Merging axes makes a view or a copy by the order of
    elements in memory.
    """
    is_view = operand._kind != "array" or memory.is_c_ordered(operand)
    if is_view or memory.keeps_order(trace, operand._value.type.shape, sizes):
        return memory.view(operand, memory.Step(reshape, {"sizes": sizes}))
    result = moved(trace, reshape, operand, {"sizes": sizes})
    return memory.perhaps_shared(operand, result)


def moved(
    trace: Trace, primitive: Primitive, operand: Tracer, attrs: Attrs, kind: str = "array"
) -> Tracer:
    """The result of a primitive as memory of its own: an array that shares nothing."""
    return trace.wrap(trace.builder.emit(primitive, (operand._value,), attrs), kind)


def copied(trace: Trace, operand: Tracer, kind: str = "array") -> Tracer:
    """A copy: a new handle on the same value."""
    return trace.wrap(operand._value, kind)


def cut(trace: Trace, operand: Tracer, axis: int, start: Size, size: Size) -> Tracer:
    """`size` elements along `axis` from `start`, as a part of a composition: nothing is shared."""
    shape = operand._value.type.shape
    starts: list[Any] = [0] * len(shape)
    starts[axis] = start
    sizes = (*shape[:axis], size, *shape[axis + 1 :])
    attrs = {"starts": tuple(starts), "strides": (1,) * len(shape), "sizes": sizes}
    return moved(trace, slice_, operand, attrs)
