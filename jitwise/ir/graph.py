"""Graphs: values, ops in topological order, inputs, outputs; immutable once built.

    graph f(%0: f64[n]) where n = size(0, 0) {
      %1: f64[] = constant{value=2.0}()
      %2: f64[n] = multiply(%0, %1)          # model.py:3
      return %2
    }

Only `Builder` makes graphs. A graph names its symbols and where each is read from: the size of an
axis of an input, or the value of an input (a Python int argument). A chain value -> op -> operand
-> op is as deep as the program is long; the interpreter's deallocator of tuples and slotted objects
bounds its own recursion, so freeing one needs no code here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .dims import Dim, Guard
from .types import ArrayType

if TYPE_CHECKING:
    import numpy as np

    from .primitive import Primitive

Source = tuple[str, int]
SymbolOrigin = tuple[str, int, int] | tuple[str, int]


class Value:
    """One array: an input of a graph (`op` is None) or a result of an op."""

    __slots__ = ("constant", "op", "type")

    def __init__(self, type: ArrayType, op: Op | None, constant: np.generic | None = None) -> None:
        self.type = type
        self.op = op
        self.constant = constant

    def __repr__(self) -> str:
        name = "input" if self.op is None else self.op.primitive.name
        return f"<{name}: {self.type}>"


class Op:
    """One application of a primitive: positional operands are values, everything else is in
    `attrs`.
    """

    __slots__ = ("attrs", "operands", "primitive", "results", "source")

    def __init__(
        self,
        primitive: Primitive,
        operands: tuple[Value, ...],
        attrs: Mapping[str, Any],
        source: Source | None,
    ) -> None:
        self.primitive = primitive
        self.operands = operands
        self.attrs = attrs
        self.source = source
        self.results: tuple[Value, ...] = ()

    def __repr__(self) -> str:
        return f"<op {self.primitive.name}>"

    def graphs(self) -> Iterator[Graph]:
        """The graphs among the attributes."""
        for value in self.attrs.values():
            for item in value if type(value) is tuple else (value,):
                if type(item) is Graph:
                    yield item

    def has_effect(self) -> bool:
        """Whether the op, or one in a graph of it, does something beside giving results."""
        return self.primitive.effect or any(graph.has_effects() for graph in self.graphs())


class Graph:
    """A function over arrays: see the module docstring. Never changed after `Builder.finish`."""

    __slots__ = (
        "__weakref__", "_effects", "guards", "inputs", "is_live", "mentions", "name", "ops",
        "outputs", "symbols",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        inputs: tuple[Value, ...],
        ops: tuple[Op, ...],
        outputs: tuple[Value, ...],
        symbols: Mapping[str, SymbolOrigin],
        guards: tuple[Guard, ...],
    ) -> None:
        self.name = name
        self.inputs = inputs
        self.ops = ops
        self.outputs = outputs
        self.symbols = symbols
        self.guards = guards
        self.is_live = False  # known to have no op that nothing needs
        self.mentions: tuple[Dim, ...] | None = None  # see `measured.sizes_of`
        self._effects: bool | None = None

    def has_effects(self) -> bool:
        """Whether an op of it has an effect."""
        if self._effects is None:
            self._effects = any(op.has_effect() for op in self.ops)
        return self._effects

    def __str__(self) -> str:
        from .printer import print_graph

        return print_graph(self)

    def __repr__(self) -> str:
        return f"<graph {self.name}: {len(self.inputs)} inputs, {len(self.ops)} ops>"
