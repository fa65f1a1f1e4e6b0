"""A graph, compiled: the optimised graph, its kernels, and the native program that runs them.

    graph -> passes -> fused graph -> kernels, all compiled together -> program

Nothing here decides whether compiling pays; that is the caller's business.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from .. import config
from ..errors import JitwiseError
from ..ir.graph import Graph
from ..kernel.nest import Kernel
from ..passes.nested import NESTED, run_nested
from ..passes.pipeline import PassContext
from ..passes.pipelines import default_pipeline
from ..record import Recorder, recorder
from .kernels import CompiledBody, compile_bodies
from .lower import Lowering, ProgramText

Sizes = Mapping[str, int]
STAGES = ("trace", "fuse", "kernel", "program", "llvm", "asm")


class Executable(NamedTuple):
    """A compiled graph. `source` is the graph as given, `graph` the optimised one."""

    source: Graph
    graph: Graph
    bodies: dict[Graph, CompiledBody]
    text: ProgramText
    program: Any
    c_ordered: frozenset[int] = frozenset()  # see `compile_graph`

    @property
    def kernels(self) -> list[Kernel]:
        """The distinct kernels, in order of first use."""
        return list({id(body.native): body.kernel for body in self.bodies.values()}.values())

    def run(self, arrays: Sequence[Any]) -> list[np.ndarray]:
        """The outputs for these arrays, whose dtypes and ranks must be the graph's."""
        return self.program.run([np.asarray(array) for array in arrays])

    def cost(self, sizes: Sizes) -> dict[str, float]:
        """Arithmetic, bytes and kernels of one call, for these values of the symbols."""
        from . import analysis

        return analysis.cost(self.graph, sizes)

    def memory(self, sizes: Sizes) -> dict[str, int]:
        """Bytes of arguments, outputs and temporaries of one call, for these symbols."""
        from . import analysis

        return analysis.memory(self.source, self.graph, self.text, sizes)

    def as_text(self, stage: str = "fuse") -> str:
        """One of `STAGES`, as text."""
        if stage == "trace":
            return str(self.source)
        if stage == "fuse":
            return str(self.graph)
        if stage == "program":
            return str(self.text)
        if stage not in STAGES:
            raise JitwiseError(f"there is no stage {stage!r}; the stages are {', '.join(STAGES)}")
        return "\n".join(_kernel_text(kernel, stage) for kernel in self.kernels)


def _kernel_text(kernel: Kernel, stage: str) -> str:
    if stage == "kernel":
        return str(kernel)
    if stage == "llvm":
        from ..llvm.emit import emit_kernels

        return emit_kernels([kernel]).text
    from ..llvm.compile import assembly

    return assembly(kernel)


@contextmanager
def no_cyclic_collection() -> Iterator[None]:
    """Python's cycle collector stands still: it would walk all ops again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def compile_graph(
    graph: Graph,
    *,
    fastmath: bool = False,
    folded: bool = False,
    sizes: Sizes | None = None,
    record: Recorder | None = None,
    over_inputs: bool = True,
    c_ordered: frozenset[int] = frozenset(),
) -> Executable:
    """`graph` as a program. Waits for the compiler.

    `folded`: the graph was made by a builder that folds, so that simplifying it changes nothing.
    `sizes`: values of symbols to optimise for; the program is right for all. `over_inputs`: kernels
    may write over inputs that are changed, before all is computed. `c_ordered`: outputs that lie in
    C order in memory; others may lie in the order of the inputs.
    """
    start = time.perf_counter()
    events = record or recorder
    with no_cyclic_collection():
        context = PassContext(events, fastmath, folded, graph.name, sizes)
        fused = run_nested(default_pipeline(), graph, context)
        bodies = compile_bodies(fusion_bodies(fused), events, fastmath)
        text = Lowering(fused, bodies, over_inputs, c_ordered).run()
        program = native_program(text)
    executable = Executable(graph, fused, bodies, text, program, c_ordered)
    _say_stages(executable)
    detail = {
        "seconds": time.perf_counter() - start,
        "ops": len(graph.ops),
        "kernels": len(executable.kernels),
        "instructions": len(text.instructions),
    }
    events.event("program", graph.name, detail)
    return executable


def writing_last(executable: Executable) -> Executable:
    """The same, with a program that writes to arguments when all is computed: no kernel writes
    over one.
    """
    text = Lowering(executable.graph, executable.bodies, False, executable.c_ordered).run()
    return executable._replace(text=text, program=native_program(text))


def native_program(text: ProgramText) -> Any:
    """What the native machine runs."""
    from . import _native

    return _native.Program(
        text.name,
        text.symbols,
        text.dims,
        text.guards,
        text.inputs,
        text.slots,
        text.instructions,
        text.outputs,
    )


def fusion_bodies(graph: Graph) -> list[Graph]:
    """The distinct bodies in a fused graph and in the graphs inside of it, in order."""
    found: dict[Graph, None] = {}
    pending = [graph]
    while pending:
        for op in pending.pop(0).ops:
            if op.primitive.name == "fusion":
                found[op.attrs["body"]] = None
            elif op.primitive.name in NESTED:
                pending += op.graphs()
    return list(found)


def _say_stages(executable: Executable) -> None:
    dump = config.active.dump
    if not dump.stages:
        return
    from ..passes.pipeline import write_stage

    for stage in ("trace", "kernel", "llvm", "asm", "program"):
        if dump.wants(stage, executable.source.name):
            write_stage(stage, executable.source.name, executable.as_text(stage))
