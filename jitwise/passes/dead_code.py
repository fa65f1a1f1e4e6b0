"""Drop the ops that no output and no effect needs.

    %1 = sine(%0)
    %2 = cosine(%0)          ->     %2 = cosine(%0)
    return %2                       return %2

One backward sweep. Ops keep their identity: the new graph shares them with the old one. Inputs
stay, used or not.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.graph import Graph
from ..ir.walk import live_ops
from .pipeline import Pass, PassContext


class DeadCode(Pass):
    """Drop the ops that no output and no effect needs."""

    name: ClassVar[str] = "dead_code"

    def run(self, graph: Graph, context: PassContext) -> Graph:
        """See the module docstring."""
        if graph.is_live:
            return graph
        kept = live_ops(graph)
        if len(kept) != len(graph.ops):
            graph = Graph(
                graph.name, graph.inputs, tuple(kept), graph.outputs, graph.symbols, graph.guards
            )
        graph.is_live = True
        return graph
