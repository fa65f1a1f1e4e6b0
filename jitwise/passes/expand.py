"""Replace ops that are compositions of other ops (`Primitive.expand`).

    %1 = logistic(%0)        ->     %1 = negate(%0); %2 = exponential(%1); %3 = add(%2, 1.0); ...

An expansion may emit ops that expand in turn; they are replaced as they are emitted. A primitive
that can also be lowered is left alone.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..ir.builder import Builder, copy_declarations
from ..ir.graph import Graph, Op, Value
from ..ir.primitive import Primitive
from ..ir.walk import replay
from .pipeline import Pass, PassContext

DEEPEST = 16  # expansions inside expansions


def expands(primitive: Primitive) -> bool:
    """Whether ops of `primitive` are replaced by others when compiled."""
    return primitive.expand is not None and primitive.lower is None and primitive.execute is None


class Expand(Pass):
    """Replace ops that are compositions of other ops."""

    name: ClassVar[str] = "expand"

    def run(self, graph: Graph, context: PassContext) -> Graph:
        """See the module docstring."""
        for _ in range(DEEPEST):
            if not any(expands(op.primitive) for op in graph.ops):
                return graph
            builder = Builder(graph.name, fastmath=context.fastmath)
            mapping = dict(copy_declarations(builder, graph))
            replay(builder, graph.ops, mapping, _visit)
            graph = builder.finish(tuple([mapping[value] for value in graph.outputs]))
        raise RecursionError(f"an expansion of {graph.name} never ends")


def _visit(builder: Builder, op: Op, operands: tuple[Value, ...]) -> Any:
    if expands(op.primitive):
        assert op.primitive.expand is not None
        return op.primitive.expand(builder, operands, op.attrs)
    return builder.emit(op.primitive, operands, op.attrs, op.source)
