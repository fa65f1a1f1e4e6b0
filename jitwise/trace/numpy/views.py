"""Handles that share memory in NumPy, and handles that do not.

A tracer is rebound by in-place operators. A view (`x.T`, `x[1:]`, `x.reshape(...)`) would see the
change, so both the view and its base are marked `shared`, which ends a trace that changes either.
A copy is a new handle, often on the very same value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir.dims import Size
from ...ir.primitive import Attrs, Primitive
from ...ops.movement import reshape, slice_
from ..tracer import Tracer

if TYPE_CHECKING:
    from ..tracing import Trace


def view(trace: Trace, primitive: Primitive, operand: Tracer, attrs: Attrs) -> Tracer:
    """The result of a primitive that moves no data. A view of a scalar at rank 0 is a scalar."""
    value = trace.builder.emit(primitive, (operand._value,), attrs)
    kind = operand._kind if operand._kind == "scalar" and not value.type.shape else "array"
    return _sharing(trace, operand, Tracer(trace, value, kind))


def same_memory(trace: Trace, operand: Tracer) -> Tracer:
    """Another handle on the memory of `operand`."""
    kind = operand._kind if operand._kind == "scalar" and not operand._value.type.shape else "array"
    return _sharing(trace, operand, Tracer(trace, operand._value, kind))


def _sharing(trace: Trace, operand: Tracer, result: Tracer) -> Tracer:
    if not trace.active:
        trace.escaped()
    if operand._kind == "array":
        operand._shared = True
        result._shared = True
        result._fresh = operand._fresh
    return result


def reshaped(trace: Trace, operand: Tracer, sizes: tuple[Size, ...]) -> Tracer:
    """A view of another shape and as many elements."""
    return view(trace, reshape, operand, {"sizes": sizes})


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
