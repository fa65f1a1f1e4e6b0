"""Handles that share memory: views, and writes through them.

A graph has values and no memory, so a write makes a new value. A `Tracer` is a handle on one value
at a time and is bound to another by a write. A `View` keeps the way from the handle that has the
memory (its *base*) to itself, and walks it again when the base was bound to something else since;
a write through a view walks the way back and binds the base:

    y = x * 2        y: %1
    v = y[1:]        v: base y, path slice{starts=(1,), ...}       %2 = slice(%1)
    v[0] = 5         %3 = update_slice{starts=(0,)}(%2, 5.0)       what v is to become
                     %4 = update_slice{starts=(1,)}(%1, %3)        y: %4
    v + 1            %5 = slice{starts=(1,), ...}(%4)              which the rules know to be %3

Where it depends on the order of elements in memory whether NumPy makes a view or a copy (`reshape`
that merges axes of what was not made in C order), both handles are marked `shared`: a later write
to either ends the trace. An argument that was written to gets its new elements at the end of the
program, and so does an array that was fetched from outside.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..ir import dims
from ..ir.dims import Size
from ..ir.primitive import Attrs, Primitive
from ..ops.gather import gather, scatter
from ..ops.movement import reshape, reverse, slice_, transpose
from ..ops.update import update_slice
from .captures import Path
from .source import variable_of
from .tracer import ABOVE, Tracer

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Value
    from .tracing import Trace


class Step(NamedTuple):
    """One movement on the way from a base to a view; `others` are operands after the first."""

    primitive: Primitive
    attrs: Attrs
    others: tuple[Value, ...] = ()

    def taken(self, builder: Builder, whole: Value) -> Value:
        """What the step makes of `whole`."""
        return builder.emit(self.primitive, (whole, *self.others), self.attrs)


Undo = Callable[["Builder", "Value", "Value", Step], "Value"]


def _undo_slice(builder: Builder, whole: Value, part: Value, step: Step) -> Value:
    place = {"starts": step.attrs["starts"], "strides": step.attrs["strides"]}
    return builder.emit(update_slice, (whole, part), place)


def _undo_transpose(builder: Builder, whole: Value, part: Value, step: Step) -> Value:
    order = step.attrs["permutation"]
    back = tuple([order.index(axis) for axis in range(len(order))])
    return builder.emit(transpose, (part,), {"permutation": back})


# What the whole becomes when the result of a step is replaced.
UNDO: dict[Primitive, Undo] = {
    slice_: _undo_slice,
    transpose: _undo_transpose,
    reverse: lambda builder, whole, part, step: builder.emit(reverse, (part,), step.attrs),
    reshape: lambda builder, whole, part, step: builder.emit(
        reshape, (part,), {"sizes": whole.type.shape}
    ),
    gather: lambda builder, whole, part, step: builder.emit(
        scatter, (whole, part, *step.others), step.attrs
    ),
}


class View(Tracer):
    """A handle on a part of the memory of `base`, which is no view."""

    __slots__ = ("_base", "_path")

    def __init__(self, base: Tracer, path: tuple[Step, ...], value: Value) -> None:
        self._trace = base._trace
        self._kind = "array"
        self._hint = None
        self._base = base
        self._path = path
        self._value = value
        if base._views is None:
            base._views = [weakref.ref(self)]
        else:
            base._views.append(weakref.ref(self))

    def _taken(self) -> Value:
        """The value, taken from the base again."""
        value = self._base._value
        for step in self._path:
            value = step.taken(self._trace.builder, value)
        self._value = value
        if self._base._views is None:
            self._base._views = []
        self._base._views.append(weakref.ref(self))
        if self._trace.region is not None:
            self._trace.region.retaken.append(self)
        return value

    def forget(self) -> None:
        """Be taken from the base anew at the next use."""
        with contextlib.suppress(AttributeError):
            del self._value

    def _bind(self, value: Value) -> None:
        """Write `value` where this view lies in the memory of its base."""
        builder = self._trace.builder
        whole = self._base._value
        wholes = []
        for step in self._path:
            wholes.append(whole)
            whole = step.taken(builder, whole)
        for step, whole in zip(reversed(self._path), reversed(wholes), strict=True):
            value = UNDO[step.primitive](builder, whole, value, step)
        self._base._bind(value)

    @property
    def _fresh(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._base._fresh

    @property
    def _shared(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._base._shared

    @_shared.setter
    def _shared(self, shared: bool) -> None:
        self._base._shared = shared


def view(operand: Tracer, *steps: Step) -> Tracer:
    """What NumPy's view of `operand` by these movements is. Of a number or a NumPy scalar it is an
    array of its own; at rank 0 a scalar's is a scalar.
    """
    trace = operand._trace
    if not trace.active:
        trace.escaped(operand._value)
    value = operand._value
    for step in steps:
        value = step.taken(trace.builder, value)
    if operand._kind != "array":
        kind = operand._kind if operand._kind == "scalar" and not value.type.shape else "array"
        return Tracer(trace, value, kind)
    for step in steps:
        if step.primitive not in UNDO:
            return perhaps_shared(operand, Tracer(trace, value, "array"))
    if type(operand) is View:
        return View(operand._base, (*operand._path, *steps), value)
    return View(operand, steps, value)


def is_c_ordered(operand: Tracer) -> bool:
    """Whether the elements are known to lie in C order, so that every reshape is a view."""
    if type(operand) is not View:
        return operand._c_ordered is True
    lie_so = operand._base._c_ordered is True
    return lie_so and all(step.primitive is reshape for step in operand._path)


def may_lie_apart(operand: Tracer) -> bool:
    """Whether the elements may not lie side by side, as those of an argument or a view."""
    return type(operand) is View or not operand._fresh or operand._c_ordered is False


def in_c_order(operand: Tracer) -> bool:
    """Whether the elements lie in C order and without gaps. Of the caller's array it is looked at
    again at each call; of what only the program knows it is taken not to.
    """
    is_own = operand._fresh and type(operand) is not View
    if is_c_ordered(operand) or operand.ndim < (2 if is_own else 1):
        return True
    trace: Trace = operand._trace
    known = trace.caller_arrays.get(id(operand))
    if known is None or not known.array.flags.c_contiguous:
        return False
    how, number = trace.origins[known.input]
    array = trace.captures.paths[number] if how == "capture" else Path("leaf", None, number)
    flags = Path("attr", array, "flags")
    trace.captures.guard(Path("attr", flags, "c_contiguous"), True, "equal", "the layout of out")
    return True


def perhaps_shared(operand: Tracer, result: Tracer) -> Tracer:
    """Note that NumPy's `result` lies in the memory of `operand`, or may: neither is written to."""
    if operand._kind == "array":
        operand._shared = True
        result._shared = True
        result._fresh = operand._fresh
    return result


def keeps_order(trace: Trace, sizes: tuple[Size, ...], others: tuple[Size, ...]) -> bool:
    """Whether a reshape is a view for every order of elements in memory: no axes are merged, but
    for those that are 1 in this call.
    """
    known = trace.ordered.get((sizes, others))
    if known is None:
        known = _merges_none(trace, sizes, others)
        if not known:
            ones = [size for size in (*sizes, *others) if trace.same_size(size, 1)]
            known = bool(ones) and _merges_none(trace, sizes, others)
        trace.ordered[sizes, others] = known
    return known


def _merges_none(trace: Trace, sizes: tuple[Size, ...], others: tuple[Size, ...]) -> bool:
    guards, agreed = trace.root.guards, trace.agreed

    def agree(size: Size, other: Size) -> bool:
        return size == other or ("eq", dims.subtract(size, other)) in guards

    rest = [size for size in others if size != 1 and (size, 1) not in agreed]
    for size in sizes:
        if size == 1 or (size, 1) in agreed:
            continue
        product: Size = 1
        while rest and not agree(product, size):
            product = dims.multiply(product, rest.pop(0))
        if not agree(product, size):
            return False
    return not rest


def write(target: Tracer, value: Value) -> None:
    """Bind `target`, and what shares its memory, to a value of its dtype and shape. Ends the trace
    where the memory is not the trace's own or of foreign byte order, or where it is not known who
    shares it.
    """
    trace: Trace = target._trace
    if trace.swapped:
        trace.refuse_swapped(target._value)  # whose byte order the new value would lose
    if not target._fresh:
        _write_callers(trace, target._base if isinstance(target, View) else target)
    if target._shared:
        trace.refuse("assign", "an array is changed that may share its memory with another")
    if trace.aliases:
        base = target._base if isinstance(target, View) else target
        for other in trace.aliases.get(id(base), {}).values():
            if other._forget():
                trace.forgotten.append(other._fresh)
    if trace.changes is not None:
        trace.changes.append(target._base if isinstance(target, View) else target)
    target._bind(value)


def _write_callers(trace: Trace, base: Tracer) -> None:
    """Note that memory of the caller's is written to."""
    known = trace.caller_arrays.get(id(base))
    if known is None:
        whose = "an array that was taken from outside, or may lie in the memory of an argument,"
        trace.refuse("mutate", variable_of(base) or whose)
    array = known.array
    if not array.flags.writeable:
        trace.refuse("error", "ValueError: assignment destination is read-only")
    overlaps = any(not stride and size > 1 for stride, size in zip(array.strides, array.shape))
    if overlaps and array.size:
        name = variable_of(base) or "an argument"
        trace.refuse("mutate", f"{name}, whose elements overlap in memory,")
    trace.written[id(base)] = base


ABOVE["write"] = write
