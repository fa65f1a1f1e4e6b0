"""Graphs inside of the graph that is traced: branches and bodies of loops.

While a region is open, everything is emitted into it. What it takes from around becomes an input of
it, at the first use; constants and sizes are made anew.

    y = x * 2                    %1 = multiply(%0, ...)            around
    if c: y = y + x              graph then(%0, %1) { %2 = add(%1, %0) ... }     %1 and %0 are taken

A region has symbols of its own, for ints that it is given and for what it measures. What is assumed
of them is no guard: it is checked where the region runs. What a region finds out (decisions, sizes
measured, broadcasts) is forgotten at its end, because it may not have run. Handles of arrays that
lie around and were written to are noted, and stand for what they stood for before; who opened the
region decides what becomes of them (see `control`).
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import CannotTrace
from ..ir import dims
from ..ir.builder import DIMENSION, Builder
from ..ir.dims import Dim, Size
from ..ir.graph import Graph, Source, Value
from ..ir.primitive import NO_ATTRS, Attrs, Primitive
from ..ir.types import ArrayType
from ..ops.compare import equal, greater_equal, not_equal
from ..ops.control import check

if TYPE_CHECKING:
    from .tracer import Tracer
    from .tracing import Trace

_RELATIONS = {"eq": equal, "ne": not_equal, "ge": greater_equal}
_FORGOTTEN = ("decided", "common", "ordered", "bounds", "stretched")


class Region(Builder):
    """Builds a graph inside of the one that `trace` is building. `number` tells which handles are
    older; `written` are those of them that were written to, with what they stand for at the end, by
    their id.
    """

    def __init__(self, trace: Trace, name: str) -> None:
        around = trace.builder
        super().__init__(name, fastmath=around.fastmath, locate=around.locate)
        self.trace = trace
        self.around = trace.region
        self.number = trace.next_region()
        self.taken: dict[Value, Value] = {}  # from around, and the inputs that they are
        self.written: dict[int, tuple[Tracer, Value]] = {}
        self.retaken: list[Any] = []  # views that were taken anew
        self._before: dict[int, tuple[Tracer, Value, Any]] = {}
        self._known: dict[Value, Value] = {}

    def input(self, type: ArrayType) -> Value:
        """See `Builder`."""
        value = super().input(type)
        self._known[value] = value
        return value

    def given(self, type: ArrayType, first: Value) -> Value:
        """A new input, which is `first` in the call that is traced, for all that is known."""
        value = self.input(type)
        self.trace.sources[value] = first
        return value

    def owns(self, value: Value) -> bool:
        """Whether a value is one of this graph."""
        return self._known.get(value) is value

    def local(self, value: Value) -> Value:
        """What stands for a value in this graph."""
        found = self._known.get(value)
        if found is None:
            op = value.op
            if value.constant is not None:
                found = self.constant(value.constant, value.type.dtype)
            elif op is not None and op.primitive is DIMENSION:
                found = self.emit(DIMENSION, (), op.attrs)
            else:
                found = self.taken[value] = self.given(value.type, value)
            self._known[value] = found
        return found

    def emit(
        self,
        primitive: Primitive,
        operands: tuple[Value, ...],
        attrs: Attrs = NO_ATTRS,
        source: Source | None = None,
    ) -> Any:
        """See `Builder`. Operands may lie around."""
        known = self._known
        for operand in operands:
            if known.get(operand) is not operand:
                operands = tuple([self.local(each) for each in operands])
                break
        return super().emit(primitive, operands, attrs, source)

    def _append(self, *given: Any) -> Any:
        result = super()._append(*given)
        known = self._known
        for value in result if type(result) is tuple else (result,):
            known[value] = value
        return result

    def require(self, relation: str, size: Dim) -> None:
        """Check, each time that this graph runs, what is assumed of a size."""
        value = self.emit(DIMENSION, (), {"size": size})
        zero = self.constant(0, value.type.dtype)
        condition = self.emit(_RELATIONS[relation], (value, zero))
        self.emit(check, (condition,), {"reason": f"{size} {relation} 0"})

    # Handles

    def note(self, handle: Tracer) -> None:
        """A handle is about to stand for another value."""
        if handle._fresh < self.number and id(handle) not in self._before:
            self._before[id(handle)] = (handle, handle._value, handle._hint)

    def settle(self) -> None:
        """Let the handles around stand for what they stood for before."""
        trace = self.trace
        region, trace.region = trace.region, None
        for handle, value, hint in self._before.values():
            if handle._is_known():
                self.written[id(handle)] = (handle, handle._value)
                handle._bind(value)
                handle._hint = hint
        trace.region = region
        for view in self.retaken:
            view.forget()

    def finished(self, outputs: tuple[Value, ...], inputs: tuple[Value, ...]) -> Graph:
        """The graph, with these inputs: values in it, or around it."""
        given = []
        for value in inputs:
            found = self.taken.get(value) or self._known.get(value)
            given.append(self.input(value.type) if found is None else found)
        # Not `finish`: the ops may still be taken over, when sizes were found equal.
        return Graph(self.name, tuple(given), tuple(self.ops), outputs, self.symbols, ())


@contextmanager
def region(trace: Trace, name: str) -> Iterator[Region]:
    """Emit into a new region meanwhile."""
    opened = Region(trace, name)
    around, former, stamp = trace.builder, trace.region, trace.stamp
    kept = {each: getattr(trace, each) for each in _FORGOTTEN}
    agreed, nonnegative = trace.agreed, trace.nonnegative
    sizes, calls = trace.measurements.sizes, trace.measurements.calls
    trace.builder, trace.region, trace.stamp = opened, opened, opened.number
    for each in _FORGOTTEN:
        setattr(trace, each, {})
    trace.agreed, trace.nonnegative = set(agreed), set(nonnegative)
    trace.measurements.sizes, trace.measurements.calls = ChainMap({}, sizes), {}
    try:
        yield opened
    finally:
        try:
            opened.settle()
        finally:
            trace.builder, trace.region, trace.stamp = around, former, stamp
            for each in _FORGOTTEN:
                setattr(trace, each, kept[each])
            trace.agreed, trace.nonnegative = agreed, nonnegative
            trace.measurements.sizes, trace.measurements.calls = sizes, calls


def is_inner(trace: Trace, size: Size) -> bool:
    """Whether a size is known in a region only."""
    return bool(trace.inner) and not trace.inner.isdisjoint(dims.symbols_of(size))


def is_open(trace: Trace, value: Value) -> bool:
    """Whether a value is not the same all through the call, or follows from one that is not."""
    if value.constant is not None or not trace.sources:
        return False
    return value.op is not None or value in trace.sources


def extremes(trace: Trace, size: Dim) -> tuple[Size, Size] | None:
    """The least and the greatest that `size` can be, as sizes that are known around the regions;
    None where that is not known.

        n - 1 - i with 0 <= i <= n - 1    ->    0, n - 1
    """
    least: Size = size
    greatest: Size = size
    for name in reversed(trace.counters):
        low, high = trace.counters[name]
        for which in (0, 1):
            bound = (least, greatest)[which]
            slope = dims.slope(bound, name)
            if slope is None:
                return None
            if slope:
                end = low if (slope > 0) == (which == 0) else high
                replaced = dims.substitute(bound, {name: end})
                least, greatest = (replaced, greatest) if which == 0 else (least, replaced)
    if is_inner(trace, least) or is_inner(trace, greatest):
        return None
    return least, greatest


def decided(trace: Trace, size: Dim) -> bool | None:
    """Whether an inner size is at least 0 each time, if that follows from the bounds of counters
    (what it follows from becomes a guard).
    """
    found = extremes(trace, size)
    if found is None:
        return None
    least, greatest = found
    try:
        if trace.hint(least) >= 0:
            trace.require("ge", least)
            return True
        if trace.hint(greatest) < 0:
            trace.require("ge", dims.subtract(-1, greatest))
            return False
    except CannotTrace:
        return None
    return None


__all__ = ["Region", "decided", "extremes", "is_inner", "is_open", "region"]
