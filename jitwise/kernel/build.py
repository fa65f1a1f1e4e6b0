"""From the body of a fusion to a kernel: phases, and what is carried from one to the next.

    graph body(%0: f64[n, m]) {                        kernel row (%0: ...) -> (%1: ...) {
      %1: f64[n] = reduce_max{axes=(1,)}(%0)             phase {
      %2: f64[n, m] = broadcast_in_dim{...}(%1)            %2 = load %0
      %3: f64[n, m] = subtract(%0, %2)          ->         %3 = reduce max %2
      return %3                                          }
    }                                                    phase {
                                                           %4 = load %0
                                                           %5 = subtract(%4, %3)
                                                           store %1, %5
                                                         ...

A value belongs to the first phase in which all the reductions it needs are finished. A vector that
a later phase needs again is computed again when that costs no more than reading it, else carried
through scratch, a row long; what is expensive is never computed twice. Single values are computed
in the prologue of each phase that needs them.

Left to others: lanes (`schedule`), strides and extents (the driver).
"""

from __future__ import annotations

from ..ir.builder import CONSTANT
from ..ir.graph import Graph, Op, Value
from .layout import ROW, VECTOR, Layout, layout_of
from .nest import Kernel, KernelBuilder, Operand

DEFAULT_LANES = 16
CHEAP = 5.0  # flops, with one half for each operand read: as much as a trip through scratch
READ = 0.5


def build_kernel(body: Graph, layout: Layout | None = None) -> Kernel:
    """The kernel of a fusion's body, over chunks of a provisional length."""
    layout = layout or layout_of(body)
    if layout.mode == "row":
        return _RowKernel(body, layout).build()
    return _build_simple(body, layout)


def _operands(body: Graph, layout: Layout) -> tuple[Operand, ...]:
    inputs = [
        Operand(v.type.dtype, role, False)
        for v, role in zip(body.inputs, layout.inputs, strict=True)
    ]
    outputs = [
        Operand(v.type.dtype, role, True)
        for v, role in zip(body.outputs, layout.outputs, strict=True)
    ]
    return (*inputs, *outputs)


def _build_simple(body: Graph, layout: Layout) -> Kernel:
    """A map or column kernel: one phase, ops as they stand."""
    builder = KernelBuilder(layout.mode, _operands(body, layout))
    numbers = {value: builder.load(index) for index, value in enumerate(body.inputs)}
    reductions: dict[Value, tuple[str, int]] = {}
    for op in body.ops:
        if op.primitive.category == "reduce":
            assert op.primitive.reduction is not None
            reductions[op.results[0]] = (op.primitive.reduction, numbers[op.operands[0]])
        else:
            numbers[op.results[0]] = _compute(builder, op, numbers)
    for target, value in enumerate(body.outputs, len(body.inputs)):
        if value in reductions:
            builder.reduce(*reductions[value], target)
        else:
            builder.store(target, numbers[value])
    return builder.finish(DEFAULT_LANES)


def _compute(builder: KernelBuilder, op: Op, numbers: dict[Value, int]) -> int:
    if op.primitive.category == "view":
        return numbers[op.operands[0]]
    if op.primitive is CONSTANT:
        value = op.attrs["value"]
        return builder.constant(value, value.dtype)
    return builder.compute(op.primitive, *[numbers[operand] for operand in op.operands], **op.attrs)


class _RowKernel:
    """Plans the phases of a row kernel, then writes them."""

    def __init__(self, body: Graph, layout: Layout) -> None:
        self.body = body
        self.forms = layout.forms
        self.builder = KernelBuilder("row", _operands(body, layout))
        self.inputs = {value: index for index, value in enumerate(body.inputs)}
        self.ready: dict[Value, int] = dict.fromkeys(
            body.inputs, 0
        )  # the first phase a value can be used in
        self.costs: dict[Value, float] = dict.fromkeys(body.inputs, READ)
        self.homes: dict[Value, int] = {}  # the phase that computes an expensive vector
        self.carried: dict[Value, int] = {}  # its scratch
        self.results: dict[Value, int] = {}  # finished reductions
        for op in body.ops:
            self._measure(op)

    def _measure(self, op: Op) -> None:
        result = op.results[0]
        after = max([self.ready[operand] for operand in op.operands], default=0)
        if op.primitive.category == "reduce":
            self.ready[result] = after + 1
            self.costs[result] = 0.0
            return
        self.ready[result] = after
        below = sum(
            [self.costs[operand] for operand in op.operands if self.forms[operand] == VECTOR]
        )
        self.costs[result] = min(below + op.primitive.flops, 1e9)

    def build(self) -> Kernel:
        """The kernel."""
        roots = self._roots()
        plans = [self._plan(phase, values) for phase, values in enumerate(roots)]
        for value in self.carried:
            self.carried[value] = self.builder.add_scratch(value.type.dtype)
        for phase, needed in enumerate(plans):
            if phase:
                self.builder.phase()
            self._write(phase, needed)
        return self.builder.finish(DEFAULT_LANES)

    def _roots(self) -> list[list[Value]]:
        """For each phase, what it must have computed: operands of its reductions, and outputs."""
        roots: list[list[Value]] = []

        def add(phase: int, value: Value) -> None:
            while len(roots) <= phase:
                roots.append([])
            roots[phase].append(value)

        for op in self.body.ops:
            if op.primitive.category == "reduce":
                add(self.ready[op.operands[0]], op.operands[0])
        for value in self.body.outputs:
            add(self.ready[value], value)
        return roots

    def _plan(self, phase: int, roots: list[Value]) -> set[Value]:
        """Everything that `phase` computes or loads; notes what must be carried to it."""
        needed: set[Value] = set()
        pending = list(roots)
        while pending:
            value = pending.pop()
            if value in needed:
                continue
            needed.add(value)
            op = value.op
            if value in self.inputs or op is None or op.primitive.category == "reduce":
                continue
            if (
                self.forms[value] == VECTOR
                and op.primitive.category != "view"
                and self.costs[value] > CHEAP
            ):
                if self.homes.setdefault(value, phase) < phase:
                    self.carried[value] = -1
                    continue
            pending += op.operands
        return needed

    def _write(self, phase: int, needed: set[Value]) -> None:
        builder = self.builder
        numbers = dict(self.results)
        for value, index in self.inputs.items():
            if value in needed:
                numbers[value] = builder.load(index)
        stores: list[tuple[int, int]] = []
        for op in self.body.ops:
            value = op.results[0]
            if value not in needed or op.primitive.category == "reduce":
                continue
            scratch = self.carried.get(value)
            if scratch is not None and self.homes[value] < phase:
                numbers[value] = builder.load(scratch)
                continue
            numbers[value] = _compute(builder, op, numbers)
            if scratch is not None and self.homes[value] == phase:
                stores.append((scratch, numbers[value]))
        for target, value in enumerate(self.body.outputs, len(self.inputs)):
            if self.ready[value] == phase:
                stores.append((target, numbers[value]))
        for target, number in stores:
            builder.store(target, number)
        for op in self.body.ops:
            if op.primitive.category == "reduce" and self.ready[op.operands[0]] == phase:
                assert op.primitive.reduction is not None
                result = builder.reduce(op.primitive.reduction, numbers[op.operands[0]])
                self.results[op.results[0]] = result


__all__ = ["ROW", "build_kernel"]
