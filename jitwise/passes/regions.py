"""Make loops whose steps are small native: `while` ops become `region`s.

    %3: i64[] = while{cond=@go, body=@step}(%1)      ->      %3: i64[] = region{body=@region_0}(%1)

A region is one function with run-time sizes: single values are in registers, and arrays that a loop
carries are updated where they are. So it takes single values, views, reads and writes of elements,
elementwise work on parts of arrays, reductions and products of rows, small new arrays, and `case`
and `while` of those. What has to be an array of its own is copied, and then it says so:

    %3: f64[3] = subtract(%1, %2)             %3: f64[3] = subtract(%1, %2)
    %4: f64[3] = multiply(%3, %3)      ->     %4: f64[3] = copy(%3)
                                              %5: f64[3] = multiply(%4, %4)

`region_arrays` finds out what that is, and what is refused: library calls, host calls, products of
matrices, arrays that change places, large new arrays that a loop carries, and mathematical
functions of many elements beside reductions and copies, for which kernels are faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..ir.dims import Guard, symbols_of
from ..ir.graph import Graph, Op, Value
from ..ops.control import copy
from ..ops.update import update_slice
from .dead_code import DeadCode
from .nested import NESTED
from .pipeline import Pass, PassContext

if TYPE_CHECKING:
    from .region_arrays import Copies
    from .region_bodies import Sinking


class Regions(Pass):
    """Make native loops of `while` ops."""

    name: ClassVar[str] = "regions"
    whole: ClassVar[bool] = True

    def run(self, graph: Graph, context: PassContext) -> Graph:
        """See the module docstring."""
        return _Search(graph).run(graph)


class _Search:
    def __init__(self, graph: Graph) -> None:
        self.count = 0
        known = graph.symbols.keys()  # those of measured sizes may fail later on
        self.guards = [guard for guard in graph.guards if symbols_of(guard.dim) <= known]

    def run(self, graph: Graph) -> Graph:
        """`graph` with its loops as regions, or itself."""
        if not any(op.primitive.name in NESTED for op in graph.ops):
            return graph
        loops: dict[Op, Mapping[str, Any]] = {}
        for op in graph.ops:
            copies = copies_of(op) if op.primitive.name == "while" else None
            if copies is not None:
                loops[op] = _Copying(copies).attrs(op) if copies.count() else op.attrs
        sinking = _sinking(graph, loops, self.guards) if loops else None
        mapping: dict[Value, Value] = {}
        ops = [self._op(op, mapping, sinking if op in loops else None) for op in graph.ops]
        if ops == list(graph.ops):
            return graph
        outputs = tuple([mapping.get(value, value) for value in graph.outputs])
        made = Graph(graph.name, graph.inputs, tuple(ops), outputs, graph.symbols, graph.guards)
        return DeadCode().run(made, PassContext()) if loops else made

    def _op(self, op: Op, mapping: dict[Value, Value], sinking: Sinking | None) -> Op:
        if sinking is not None:
            new, replaced = sinking.region(f"region_{self.count}", op)
            self.count += 1
        else:
            attrs = op.attrs
            if op.primitive.name in NESTED:
                attrs = {name: self._inside(value) for name, value in attrs.items()}
            if attrs is op.attrs and not any(value in mapping for value in op.operands):
                return op
            new, replaced = Op(op.primitive, op.operands, attrs, op.source), op.results
            new.results = tuple([Value(result.type, new, result.constant) for result in op.results])
        new.operands = tuple([mapping.get(value, value) for value in new.operands])
        mapping.update(zip(replaced, new.results, strict=True))
        return new

    def _inside(self, value: Any) -> Any:
        if type(value) is tuple:
            return tuple([self._inside(item) for item in value])
        return self.run(value) if type(value) is Graph else value


def _sinking(graph: Graph, loops: dict[Op, Mapping[str, Any]], guards: list[Guard]) -> Sinking:
    from .region_bodies import Sinking

    return Sinking(graph, loops, guards)


class _Copying:
    """Graphs with the copies that were asked for."""

    def __init__(self, copies: Copies) -> None:
        self.copies = copies

    def attrs(self, op: Op) -> dict[str, Any]:
        """Those of an op, with the graphs among them."""
        return {name: self._inside(value) for name, value in op.attrs.items()}

    def _inside(self, value: Any) -> Any:
        if type(value) is tuple:
            return tuple([self._inside(item) for item in value])
        return self._graph(value) if type(value) is Graph else value

    def _graph(self, graph: Graph) -> Graph:
        mapping: dict[Value, Value] = {}
        ops: list[Op] = []
        for op in graph.ops:
            operands = [mapping.get(value, value) for value in op.operands]
            for place, operand in enumerate(operands):
                if (op, place) in self.copies.operands:
                    operands[place] = _append(ops, copy, (operand,), {}, op)
            attrs = self.attrs(op) if op.primitive.name in NESTED else op.attrs
            new = Op(op.primitive, tuple(operands), attrs, op.source)
            new.results = tuple([Value(each.type, new, each.constant) for each in op.results])
            ops.append(new)
            mapping.update(zip(op.results, new.results, strict=True))
            for old in op.results:
                if old in self.copies.values:
                    mapping[old] = _append(ops, copy, (mapping[old],), {}, op)
        outputs = [mapping.get(value, value) for value in graph.outputs]
        for place, value in enumerate(outputs):
            if (graph, place) in self.copies.results:
                rank = value.type.ndim
                attrs = {"starts": (0,) * rank, "strides": (1,) * rank}
                given = graph.inputs[place], value
                outputs[place] = _append(ops, update_slice, given, attrs, graph.ops[-1])
        return Graph(
            graph.name, graph.inputs, tuple(ops), tuple(outputs), graph.symbols, graph.guards
        )


def _append(
    ops: list[Op], primitive: Any, operands: tuple[Value, ...], attrs: dict[str, Any], beside: Op
) -> Value:
    op = Op(primitive, operands, attrs, beside.source)
    op.results = (Value(operands[0].type, op),)
    ops.append(op)
    return op.results[0]


def copies_of(op: Op) -> Copies | None:
    """What a `while` copies as a region; None: it is none."""
    from .region_arrays import Refused, find  # when the first loop is met

    try:
        return find(op)
    except Refused:
        return None
