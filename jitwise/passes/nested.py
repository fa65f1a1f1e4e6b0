"""Run a pipeline on the graphs inside of a graph first, then on the graph.

    %3 = while{cond=@go, body=@step}(...)    ->    the same op, with what becomes of @step

A graph inside is optimised like one of its own: its inputs and outputs stay. Graphs are as deep in
each other as loops are in the source. A pass that is `whole` looks into them itself, when those
before it are done with every graph.
"""

from __future__ import annotations

from typing import Any

from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Value
from ..ir.measured import symbols_measured
from ..ir.walk import map_graph
from .pipeline import Pass, PassContext, Pipeline

NESTED = frozenset(("case", "while"))


def run_nested(pipeline: Pipeline, graph: Graph, context: PassContext) -> Graph:
    """What the pipeline makes of `graph` and of every graph in its `case`s and `while`s."""
    for part in _parts(pipeline):
        if not part.passes[0].whole:
            graph = _with_inner(part, graph, context)
        graph = part.run(graph, context)
    return graph


def _parts(pipeline: Pipeline) -> list[Pipeline]:
    """The pipeline cut before and after each pass that is `whole`."""
    parts: list[list[Pass]] = []
    for step in pipeline.passes:
        if not parts or step.whole or parts[-1][-1].whole:
            parts.append([])
        parts[-1].append(step)
    return [Pipeline(tuple(part)) for part in parts]


def _with_inner(pipeline: Pipeline, graph: Graph, context: PassContext) -> Graph:
    if not any(op.primitive.name in NESTED for op in graph.ops):
        return graph

    around = context.around
    context.around = around.union(graph.symbols, symbols_measured(graph))

    def visit(builder: Builder, op: Op, operands: tuple[Value, ...]) -> Any:
        attrs = op.attrs
        if op.primitive.name in NESTED:
            attrs = {name: _optimised(pipeline, value, context) for name, value in attrs.items()}
        return builder.emit(op.primitive, operands, attrs, op.source)

    try:
        return map_graph(graph, visit, fold=False)
    finally:
        context.around = around


def _optimised(pipeline: Pipeline, value: Any, context: PassContext) -> Any:
    if type(value) is tuple:
        return tuple([_optimised(pipeline, item, context) for item in value])
    if type(value) is not Graph:
        return value
    return run_nested(pipeline, value, context)
