"""Group elementwise ops and reductions into `fusion` ops: one kernel each, whose intermediate
results never reach memory.

    %1 = sine(%0)                          %1 = fusion{body=@kernel_0}(%0)
    %2 = multiply(%1, %c)          ->
    %3 = reduce_add{axes=(1,)}(%2)         (the three ops stand in kernel_0)

Three linear sweeps: labels say when an op may run (`labels`), groups grow inside a label
(`groups`), bodies are cut out (`bodies`). Softmax, layer normalisation and the like become one
kernel with phases, because a row's value may be used in its own row again. Data movement, library
calls and views of what a kernel computed stand between kernels.

Along rows shorter than `short_row` a reduction ends its kernel; how long rows are is known from
static sizes, or from the sizes of the call that is compiled for, if the context has them. They only
decide what is fast: the graph is right for every size.

Not done: fusing across reshapes and slices of computed values, into or out of library calls, and
along more than one set of reduced axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..ir.graph import Graph
from .bodies import Bodies
from .groups import Grouping
from .labels import FUSIBLE, label
from .pipeline import Pass, PassContext


@dataclass(frozen=True)
class Fuse(Pass):
    """Group ops whose intermediate results need never reach memory."""

    name: ClassVar[str] = "fuse"
    needed: ClassVar[bool] = True
    max_weight: int = 200
    short_row: int = 128

    def run(self, graph: Graph, context: PassContext) -> Graph:
        """See the module docstring."""
        labels = label(graph)
        if not any(kind in FUSIBLE for kind in labels.kinds):
            return graph
        grouping = Grouping(graph, labels, self.max_weight, self.short_row, context.sizes)
        grouping.run()
        return Bodies(grouping, self.max_weight).run()
