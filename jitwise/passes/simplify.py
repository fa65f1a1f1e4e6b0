"""Replay a graph through a folding builder: rules, constants and common subexpressions in one
sweep.

    %2 = negate(%1)
    %3 = negate(%2)          ->     (nothing: %3 is %1)
    %4 = sine(%0), %5 = sine(%0)    one op

All of it is done by `Builder.emit`; this pass only walks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..ir.builder import Builder, copy_declarations
from ..ir.graph import Graph, Op
from ..ir.walk import replay
from .pipeline import Pass, PassContext


class Simplify(Pass):
    """Apply rules, fold constants, and make equal ops one."""

    name: ClassVar[str] = "simplify"

    def run(self, graph: Graph, context: PassContext) -> Graph:
        """See the module docstring."""
        if context.folded and not context.fastmath:
            return graph  # every op went through a folding builder, also those of expansions
        builder = Builder(graph.name, fastmath=context.fastmath)
        mapping = dict(copy_declarations(builder, graph))
        replay(builder, graph.ops, mapping)
        if not builder.rules and _same_primitives(builder.ops, graph.ops):
            return graph
        if builder.rules:
            context.recorder.event("rule", graph.name, dict(builder.rules))
        return builder.finish(tuple([mapping[value] for value in graph.outputs]))


def _same_primitives(left: Sequence[Op], right: Sequence[Op]) -> bool:
    """Whether nothing was folded or merged: a replay keeps the order of what it keeps."""
    return len(left) == len(right) and all(
        first.primitive is second.primitive for first, second in zip(left, right, strict=True)
    )
