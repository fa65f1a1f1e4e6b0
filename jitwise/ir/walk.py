"""Walking graphs: users, live ops, replaying a graph through a builder, inlining one graph into
another.

Every function is one sweep over the ops. A pass is `map_graph(graph, visit)`: for each op,
`visit(builder, op, operands)` emits what should stand in its place and returns the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .builder import Builder, copy_declarations
from .graph import Graph, Op, Value
from .measured import Definitions

Visit = Callable[[Builder, Op, tuple[Value, ...]], Any]


def users(graph: Graph) -> dict[Value, list[Op]]:
    """For each value, the ops that take it, in order (an op that takes it twice stands twice)."""
    found: dict[Value, list[Op]] = {value: [] for value in graph.inputs}
    for op in graph.ops:
        for operand in op.operands:
            found[operand].append(op)
        for result in op.results:
            found[result] = []
    return found


def live_ops(graph: Graph) -> list[Op]:
    """The ops that an output or an effect needs, in order; with those that define the symbols which
    these, or a guard, mention.
    """
    needed: set[Value] = set(graph.outputs)
    kept: list[Op] = []
    definitions = Definitions(graph.ops)
    awaited = definitions.of_guards(graph.guards) if definitions else set()
    for op in reversed(graph.ops):
        is_effect = op.has_effect() and not (op.primitive.measures and not op.results)
        if is_effect or op in awaited or any(result in needed for result in op.results):
            kept.append(op)
            needed.update(op.operands)
            if definitions:
                awaited.update(definitions.awaited(op))
    kept.reverse()
    return kept


def last_uses(graph: Graph) -> dict[Value, int]:
    """For each value that an op takes, the index of the last such op; outputs count as used after
    the end.
    """
    last: dict[Value, int] = {}
    for index, op in enumerate(graph.ops):
        for operand in op.operands:
            last[operand] = index
    for value in graph.outputs:
        last[value] = len(graph.ops)
    return last


def emit_again(builder: Builder, op: Op, operands: tuple[Value, ...]) -> Any:
    """The default visit: the same primitive on the new operands."""
    return builder.emit(op.primitive, operands, op.attrs, op.source)


def replay(
    builder: Builder,
    ops: Iterable[Op],
    mapping: dict[Value, Value],
    visit: Visit = emit_again,
) -> dict[Value, Value]:
    """Emit `ops` into `builder`; `mapping` says what their free operands are and is extended with
    the results.
    """
    for op in ops:
        operands = tuple(map(mapping.__getitem__, op.operands))
        result = visit(builder, op, operands)
        if op.primitive.multiple:
            mapping.update(zip(op.results, result, strict=True))
        elif op.results:
            mapping[op.results[0]] = result
    return mapping


def map_graph(graph: Graph, visit: Visit = emit_again, *, fold: bool = True) -> Graph:
    """A new graph made by visiting each op of `graph` in order. Symbols, guards and inputs are
    kept.
    """
    builder = Builder(graph.name, fold=fold)
    mapping = dict(copy_declarations(builder, graph))
    replay(builder, graph.ops, mapping, visit)
    return builder.finish(tuple([mapping[value] for value in graph.outputs]))


def inline(builder: Builder, graph: Graph, arguments: Sequence[Value]) -> tuple[Value, ...]:
    """Emit the body of `graph` into `builder` with its inputs replaced; gives its outputs there."""
    mapping: dict[Value, Value] = dict(zip(graph.inputs, arguments, strict=True))
    replay(builder, graph.ops, mapping)
    return tuple([mapping[value] for value in graph.outputs])


def extract(
    name: str, ops: Sequence[Op], outputs: Sequence[Value], symbols: Mapping[str, Any] | None = None
) -> tuple[Graph, tuple[Value, ...]]:
    """`ops` as a graph of its own, and the values it takes as inputs, in order of first use."""
    builder = Builder(name, fold=False)
    builder.symbols.update(symbols or {})
    mapping: dict[Value, Value] = {}
    free: list[Value] = []
    inside = {result for op in ops for result in op.results}
    for op in ops:
        for operand in op.operands:
            if operand not in inside and operand not in mapping:
                mapping[operand] = builder.input(operand.type)
                free.append(operand)
    replay(builder, ops, mapping)
    return builder.finish(tuple([mapping[value] for value in outputs])), tuple(free)
