"""The kernels of a program: one for each distinct body, compiled together, kept for the next
program.

Bodies with equal layout keys share a kernel, whatever their sizes. Before any kernel text is made
the table is asked by key; what is missing is built and compiled as one module.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..ir.graph import Graph
from ..ir.types import DTYPE_NAMES
from ..kernel.build import build_kernel
from ..kernel.layout import Layout, layout_of
from ..kernel.nest import Compute, Kernel, Load, Reduce, Store
from ..kernel.schedule import schedule
from ..ops.convert import convert
from ..record import Recorder

TABLE_SIZE = 8192


class CompiledBody(NamedTuple):
    """A body's layout, its kernel, and which outputs may lie on an operand that they replace."""

    layout: Layout
    kernel: Kernel
    native: Any
    in_place: tuple[bool, ...]


class _Counters:
    """What the cost tests count."""

    def __init__(self) -> None:
        self.built = 0


counters = _Counters()
_table: OrderedDict[Any, tuple[Kernel, Any, tuple[bool, ...]]] = OrderedDict()
_lock = threading.Lock()
_registered: list[bool] = []


def compile_bodies(
    bodies: Iterable[Graph], recorder: Recorder, fastmath: bool = False
) -> dict[Graph, CompiledBody]:
    """The kernel of each body."""
    layouts = {body: layout_of(body) for body in bodies}
    keys = {body: (layout.key, fastmath) for body, layout in layouts.items()}
    found: dict[Any, tuple[Kernel, Any, tuple[bool, ...]]] = {}
    missing: dict[Any, Graph] = {}
    with _lock:
        for body, key in keys.items():
            known = _table.get(key)
            if known is None:
                missing.setdefault(key, body)
            else:
                _table.move_to_end(key)
                found[key] = known
    if missing:
        made = _make([(body, layouts[body]) for body in missing.values()], recorder, fastmath)
        found.update(zip(missing, made, strict=True))
        with _lock:
            _table.update(zip(missing, made, strict=True))
            while len(_table) > TABLE_SIZE:
                _table.popitem(last=False)
    return {body: CompiledBody(layouts[body], *found[key]) for body, key in keys.items()}


def register_math() -> None:
    """Tell the code generator where the functions of the math library are."""
    if not _registered:
        from ..llvm import mathlib
        from . import _native

        mathlib.register(_native.math_symbols())
        _registered.append(True)


def _make(
    bodies: list[tuple[Graph, Layout]], recorder: Recorder, fastmath: bool
) -> list[tuple[Kernel, Any, tuple[bool, ...]]]:
    from ..llvm import compile as llvm

    register_math()
    width = llvm.vector_bytes()
    built = [build_kernel(body, layout)._replace(fastmath=fastmath) for body, layout in bodies]
    kernels = [schedule(kernel, width) for kernel in built]
    counters.built += len(kernels)
    with recorder.span("compile", bodies[0][0].name, {"kernels": len(kernels)}):
        compiled = llvm.compile_kernels(kernels)
    return [(each.kernel, native_kernel(each), _in_place(each.kernel)) for each in compiled]


def native_kernel(compiled: Any) -> Any:
    """The native driver of a compiled kernel, which keeps its code loaded."""
    from . import _native

    kernel: Kernel = compiled.kernel
    return _native.Kernel(
        compiled.identity,
        kernel.lanes,
        kernel.mode,
        [(operand.dtype.itemsize, operand.role) for operand in kernel.inputs],
        [(operand.dtype.itemsize, operand.role) for operand in kernel.outputs],
        [dtype.itemsize for dtype in kernel.scratch],
        [(each.word, DTYPE_NAMES[each.dtype], each.phase) for each in kernel.reductions],
        list(compiled.phases),
        flops_of(kernel),
        *plain_operand(kernel),
        owner=compiled.owner,
    )


def plain_operand(kernel: Kernel) -> tuple[int, str]:
    """The operand whose elements the first phase of a row kernel reduces as they are, or asks
    whether they are true, and the name of their dtype; -1: the phase does something else.
    """
    match kernel.phases[0]:
        case ([], [Load(loaded, source), Reduce(value=value)]) if value == loaded:
            pass
        case (
            [],
            [Load(loaded, source), Compute() as test, Reduce(word="and" | "or", value=value)],
        ) if value == test.result and test.primitive is convert and test.operands == (loaded,):
            pass
        case _:
            return -1, ""
    return source, DTYPE_NAMES[kernel.operands[source].dtype]


def flops_of(kernel: Kernel) -> float:
    """Arithmetic for each point of the iteration space."""
    return sum(
        statement.primitive.flops
        for phase in kernel.phases
        for statement in phase.body
        if isinstance(statement, Compute)
    )


def _in_place(kernel: Kernel) -> tuple[bool, ...]:
    """For each output, whether no operand is read after its first element is written, other than
    at the same place.
    """
    if kernel.mode == "column":
        return (False,) * len(kernel.outputs)
    first = len(kernel.inputs)
    last_phase = len(kernel.phases) - 1
    written = {
        statement.target: number
        for number, phase in enumerate(kernel.phases)
        for statement in phase.body
        if isinstance(statement, Store)
    }
    reads = [
        number
        for number, phase in enumerate(kernel.phases)
        for statement in phase.body
        if isinstance(statement, Load) and statement.source < first
    ]
    latest = max(reads, default=0)
    return tuple(
        operand.role == "vector" and written.get(first + index, -1) >= min(latest, last_phase)
        for index, operand in enumerate(kernel.outputs)
    )


def clear() -> None:
    """Forget every kernel; programs keep theirs."""
    with _lock:
        _table.clear()
