"""A fused graph as a program of the native machine: slots, sizes, instructions.

    %1: f64[n, m] = fusion{body=@kernel_0}(%0)       ("alloc", 1, "f64", [0, 1])
    return %1                                  ->    ("kernel", kernel_0, [0], [1], [0, 1], 1)

One walk over the ops. Fusions become kernels; every other op says itself what it is
(`Primitive.execute`); an op that does not is called on the host. Memory is freed after the last use
of its owner, and a kernel writes over an operand that dies there (see `memory_plan`). Outputs are
memory of their own: one that is an input, or lies in another value, is copied.

`Lowering` implements the protocol `ProgramEmitter`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ..ir import dims
from ..ir.dims import Dim, Size
from ..ir.graph import Graph, Op, Value
from ..ir.measured import Definitions, axis_of_symbol, symbols_measured
from ..ir.primitive import Attrs
from ..ir.types import DTYPE_NAMES, ArrayType
from ..kernel.layout import Layout
from ..passes.nested import NESTED
from .blas import serves
from .delivery import delivered, write_inputs
from .dim_table import DimTable
from .host_call import Called, called_for
from .kernels import CompiledBody
from .memory_plan import Lifetimes, Slots, deferred_updates, destined, lifetimes
from .memory_plan import needed_in_c_order as in_c_order
from .placement import Replacement, overwritten, placements, replacements
from .program_text import ProgramText

MOST_BETWEEN = 32  # ops between a kernel and the update it is made for


class Lowering:
    """Walks one fused graph; with `over_inputs` kernels write over arguments before the end. The
    outputs `c_ordered` lie in C order, whatever the order of the arguments is.
    """

    def __init__(
        self,
        graph: Graph,
        compiled: dict[Graph, CompiledBody],
        over_inputs: bool = True,
        c_ordered: Collection[int] = (),
    ) -> None:
        self.compiled = compiled
        self.measured = symbols_measured(graph)
        if any(op.primitive.name in NESTED for op in graph.ops):
            from .branching import symbols_inside

            self.measured += symbols_inside(graph)
        self.table = DimTable([*graph.symbols, *self.measured])
        self.given: frozenset[int] = frozenset()  # slots of a graph around this one
        self.pinned: set[int] = set()  # slots that a loop carries: nobody else gets them
        self.instructions: list[tuple[Any, ...]] = []
        self.space = Slots()
        self.prepare(graph, over_inputs)
        self.fixed = frozenset(c_ordered)
        self.c_ordered = in_c_order(graph, [graph.outputs[place] for place in c_ordered])
        for value in graph.inputs:
            self.define(value)

    def prepare(self, graph: Graph, over_inputs: bool, own: frozenset[Value] = frozenset()) -> None:
        """What is known of a graph before it is walked; `own`: inputs that may end there."""
        self.graph = graph
        self.definitions = Definitions(graph.ops)
        self.awaited = set(self.definitions.op_of.values())  # those not lowered yet
        self.slots: dict[Value, int] = {}
        self.deferred = deferred_updates(graph)  # by the input they are written to
        self.late = {op for ops in self.deferred.values() for op in ops}
        self.lives: Lifetimes = lifetimes(graph, self.late, own)
        self.replaced = replacements(graph)
        self.direct = overwritten(graph) if over_inputs else {}  # what kernels' results become
        self.read_last = self._read_last() if self.direct else set()
        self.places = placements(graph)
        self.outputs = destined(graph)
        self.owned: set[int] = set()  # slots with memory that has to be freed
        self.placed: set[Value] = set()  # what a kernel wrote into a concatenation, and views of it
        self.dense: set[Value] = set()  # what has memory of the program's, as a whole
        self.passing: list[int] = []  # slots of the current op only
        self.writes: list[tuple[Value, Value]] = []  # to inputs
        self.now = 0  # the current op's index
        self.early: set[Op] = set()  # ops that were lowered before their turn
        self.dying: list[Value] = []  # values that end at the current op

    def inside(self, graph: Graph, slots: Sequence[int], own: frozenset[Value]) -> Lowering:
        """A lowering of a graph inside of this one, whose inputs are `slots`; it may end the life
        of those in `own`.
        """
        inner = object.__new__(Lowering)
        inner.compiled, inner.table, inner.space = self.compiled, self.table, self.space
        inner.instructions = self.instructions
        inner.prepare(graph, over_inputs=False, own=own)
        inner.outputs = set()
        inner.c_ordered = in_c_order(graph, graph.outputs)
        inner.slots.update(zip(graph.inputs, slots, strict=True))
        inner.given = frozenset(slots)
        inner.pinned = {inner.slots[value] for value in own}
        inner.owned = set(inner.pinned)
        inner.dense = set(own)
        return inner

    # The protocol

    def dim(self, size: Size) -> int:
        """Where a size is among the program's."""
        return self.table.index(size)

    def slot(self, value: Value) -> int:
        """Where a value is."""
        return self.slots[value]

    def define(self, value: Value) -> int:
        """A slot for a value that an instruction will set."""
        slot = self.slots[value] = self.space.take(value in self.outputs)
        return slot

    def allocate(self, value: Value) -> int:
        """A slot with memory."""
        slot = self.define(value)
        self.allocate_slot(slot, value)
        self.dense.add(value)
        return slot

    def temporary(self) -> int:
        """A slot for a view that is no value of the graph; it lasts as long as the current op."""
        slot = self.space.take(False)
        self.passing.append(slot)
        return slot

    def overwrite(self, result: Value, whole: Value, others: Sequence[Value]) -> int:
        """A slot that starts as a copy of `whole`: its own memory, when it ends here."""
        owner = self.lives.owner
        slot = self.slots[whole]
        ends = whole in self.dying and whole in self.dense and slot in self.owned
        temporary = (
            slot in self.space.reused and result in self.outputs
        )  # does not become a result's
        if not ends or temporary or any(owner(other) is whole for other in others):
            out = self.allocate(result)
            self.instructions.append(("copy", out, slot))
            return out
        self.slots[result] = slot
        self.dense.add(result)
        self.dying.remove(whole)
        return slot

    def instruction(self, *parts: Any) -> None:
        """Append an instruction."""
        if parts[0] in ("scalar", "alloc") and isinstance(parts[2], np.dtype):
            parts = (*parts[:2], DTYPE_NAMES[parts[2]], *parts[3:])
        if parts[0] == "reshape":
            self.owned.add(parts[1])  # it may have to copy
        self.instructions.append(parts)

    def host(self, function: Callable, operands: Sequence[Value], results: Sequence[Value]) -> None:
        """Call `function(*arrays)`, which gives an array, or a tuple for several results."""
        places = [self.slot(operand) for operand in operands]
        self._host(Called(function, []), places, results)

    def _host(
        self, called: Called, places: list[int], results: Sequence[Value], own: Sequence[str] = ()
    ) -> None:
        """The results are memory of their own. `own`: symbols that the call defines."""
        outs = []
        told = {Dim.symbol(name) for name in own}
        for result in results:
            slot = self.define(result)
            self.owned.add(slot)
            outs.append((slot, DTYPE_NAMES[result.type.dtype], result.type.ndim))
            if called.direct is not None:
                indices = []
                for size in result.type.shape:
                    index = self.table.index(size)
                    indices.append(-1 - index if size in told else index)
                    told.discard(size)
                outs[-1] += (indices,)
        self.instructions.append(("host", called.function, places, outs, *(called.direct or ())))

    def allocate_slot(self, slot: int, value: Value) -> None:
        sizes = [self.table.index(size) for size in value.type.shape]
        self.instructions.append(("alloc", slot, DTYPE_NAMES[value.type.dtype], sizes))
        self.owned.add(slot)

    # The walk

    def walk(self) -> None:
        """The instructions of every op."""
        for index, op in enumerate(self.graph.ops):
            dying = self.dying = self.lives.dying[index]
            self.now = index
            if op.primitive.name == "fusion":
                self._fusion(op, dying)
            elif op.primitive.category == "control":
                from .branching import lower_nested

                lower_nested(self, op)
            else:
                self._op(op)
            if op.primitive.measures:
                self._measured(op)
            for slot in self.passing:
                self.end(slot)
            self.passing.clear()
            for value in dying:
                self.end(self.slots[value])

    def run(self) -> ProgramText:
        """The program."""
        graph = self.graph
        self.walk()
        outputs = delivered(self)
        write_inputs(self)
        return ProgramText(
            graph.name,
            [
                *[tuple(origin) for origin in graph.symbols.values()],
                *[("measured", name) for name in self.measured],
            ],
            self.table.entries,
            [(guard.relation, self.table.index(guard.dim)) for guard in graph.guards],
            [(DTYPE_NAMES[value.type.dtype], value.type.ndim) for value in graph.inputs],
            self.space.count,
            self.instructions,
            outputs,
        )

    def end(self, slot: int) -> None:
        """A slot is not needed any more; what a loop carries is freed when it is replaced."""
        if slot in self.pinned:
            return
        if slot in self.owned:
            self.owned.discard(slot)
            self.instructions.append(("free", slot))
        self.space.idle.append(slot)

    def part(self, part: int, whole: int, attrs: Attrs, value: Value) -> int:
        """`part` becomes the place in `whole` that an update replaces by `value`."""
        starts = [self.table.index(size) for size in attrs["starts"]]
        sizes = [self.table.index(size) for size in value.type.shape]
        self.instructions.append(("slice", part, whole, starts, list(attrs["strides"]), sizes))
        return part

    def _replace(self, value: Value, operands: Sequence[Value]) -> int | None:
        """A slot for a kernel's result: the part of an array that it replaces. None when the array
        is not there yet, or in use.
        """
        update = self.replaced[value]
        whole, result = update.op.operands[0], update.op.results[0]
        if not self._is_measured(update.op):
            return None
        if update.op in self.late or not (whole in self.slots or self._hoist(whole)):
            return None
        slot = self.slots[whole]
        ends = self.lives.dying[update.index]
        if whole in ends and whole in self.dense and slot in self.owned:
            owner = self.lives.owner
            if slot in self.space.reused and result in self.outputs:
                return None
            if any(owner(other) is whole for other in operands) or self._is_read(whole, update):
                return None
            ends.remove(whole)
            self.slots[result] = slot
            self.dense.add(result)
        else:
            self.instructions.append(("copy", self.allocate(result), slot))
        self.placed.add(value)
        return self.part(self.define(value), self.slots[result], update.op.attrs, value)

    def _read_last(self) -> set[Value]:
        """Whose memory outputs and the writes at the end read."""
        read = [*self.graph.outputs]
        for op in self.graph.ops:
            if op.primitive.name == "write" or op in self.late:
                read.append(op.operands[1])
        return set(map(self.lives.owner, read))

    def _over_input(self, value: Value, operands: Sequence[Value]) -> int | None:
        """The slot of the input that a kernel's result becomes. None when the kernel reads other
        places of it, or an output or another write reads it later.
        """
        target, owner = self.direct[value], self.lives.owner
        reads = [operand for operand in operands if owner(operand) is target]
        if any(operand is not target for operand in reads):
            return None
        if target in self.read_last:
            return None
        self.slots[value] = self.slots[target]
        return self.slots[target]

    def _hoist(self, value: Value) -> bool:
        """Make equal elements, if that is what `value` is, before their turn."""
        op = value.op
        if op is None or op.primitive.name != "broadcast_in_dim" or not self._is_measured(op):
            return False
        source = op.operands[0]
        if source not in self.slots:
            if source.op is None or source.op.primitive.name != "constant":
                return False
            self._op(source.op)
            self.early.add(source.op)
        self._op(op)
        self.early.add(op)
        return True

    def _is_read(self, whole: Value, update: Replacement) -> bool:
        """Whether an op from the current one on, but before the update, reads `whole`."""
        between = self.graph.ops[self.now + 1 : update.index]
        if len(between) > MOST_BETWEEN:
            return True
        owner = self.lives.owner
        return any(owner(operand) is whole for op in between for operand in op.operands)

    def _op(self, op: Op) -> None:
        primitive = op.primitive
        if op in self.late or op in self.early:
            return
        if primitive.name == "update_slice" and op.operands[1] in self.placed:
            return  # a kernel wrote it there
        if primitive.name == "write":
            self.writes.append((op.operands[0], op.operands[1]))
        elif primitive.name == "concatenate":
            self._concatenate(op)
        elif primitive.name == "reshape" and op.operands[0] in self.placed:
            self.placed.add(op.results[0])
            self.slots[op.results[0]] = self.space.take(False)
        elif primitive.execute is not None and not self._needs_host(op):
            primitive.execute(self, op)
        else:
            self.evaluate(op)

    def _needs_host(self, op: Op) -> bool:
        return op.primitive.category == "contract" and not serves(op.results[0].type.dtype)

    def evaluate(self, op: Op) -> None:
        """Call the primitive's NumPy meaning; sizes in its attributes come as further operands."""
        called = called_for(op)
        places = [self.slots[operand] for operand in op.operands]
        for size in called.sizes:
            slot = self.temporary()
            self.instructions.append(("dimension", slot, self.table.index(size)))
            places.append(slot)
        self._host(called, places, op.results, op.attrs.get("symbols", ()))

    # Sizes found out by the program

    def _measured(self, op: Op) -> None:
        """The symbols that `op` defines are known from here on."""
        self.awaited.discard(op)
        types = [result.type for result in op.results]
        for name in op.attrs["symbols"] if types else ():
            place = axis_of_symbol(name, types)
            assert place is not None
            slot = self.slots[op.results[place[0]]]
            self.instructions.append(("measure", self.dim(Dim.symbol(name)), slot, place[1]))

    def _is_measured(self, op: Op | None) -> bool:
        """Whether every size that `op` mentions is known now, so that it may run early."""
        if not self.awaited or op is None:
            return True
        return self.awaited.isdisjoint(self.definitions.awaited(op))

    # Concatenations

    def _concatenate(self, op: Op) -> None:
        """Copy each operand to its part, unless a kernel wrote it there."""
        axis, whole = op.attrs["dimension"], op.results[0]
        out = self.slots[whole] if whole in self.slots else self.allocate(whole)
        part = self.temporary()
        start: Size = 0
        for operand in op.operands:
            shape = operand.type.shape
            if operand not in self.placed:
                self._cut(part, out, axis, start, shape)
                self.instructions.append(("copy", part, self.slots[operand]))
            start = dims.add(start, shape[axis])

    def _cut(self, part: int, whole: int, axis: int, start: Size, shape: tuple[Size, ...]) -> None:
        index = self.table.index
        starts = [index(start if each == axis else 0) for each in range(len(shape))]
        sizes = [index(size) for size in shape]
        self.instructions.append(("slice", part, whole, starts, [1] * len(shape), sizes))

    def _place(self, value: Value) -> int:
        """A slot for a kernel's result: its part of a concatenation."""
        place = self.places[value]
        out = self.slots[place.whole] if place.whole in self.slots else self.allocate(place.whole)
        slot = self.define(value)
        if value.type.shape == place.shape:
            self._cut(slot, out, place.axis, place.start, place.shape)
        else:
            part = self.temporary()
            self._cut(part, out, place.axis, place.start, place.shape)
            sizes = [self.table.index(size) for size in value.type.shape]
            self.instructions.append(("reshape", slot, part, sizes))
        self.placed.add(value)
        return slot

    # Kernels

    def _fusion(self, op: Op, dying: list[Value]) -> None:
        body: Graph = op.attrs["body"]
        compiled = self.compiled[body]
        layout = compiled.layout
        inputs = [
            self._laid_out(self.slots[operand], operand, role, layout)
            for operand, role in zip(op.operands, layout.inputs, strict=True)
        ]
        outputs = []
        of_own = 0  # results in memory that was taken for them
        reusable = self._reusable(op, compiled, dying)
        for result, role, in_place in zip(
            op.results, layout.outputs, compiled.in_place, strict=True
        ):
            slot = reusable.pop(result.type, None) if in_place else None
            part = self._replace(result, op.operands) if result in self.replaced else None
            if in_place and result in self.direct and slot is None:
                part = self._over_input(result, op.operands)
            if part is not None:
                slot = part
            elif result in self.places and self._is_measured(self.places[result].whole.op):
                slot = self._place(result)
            elif slot is None:
                slot = self.allocate(result)
                of_own += 1
            else:
                self.slots[result] = slot
                self.dense.add(result)
            if layout.mode == "row":
                slot = self._laid_out(slot, result, role, layout)
            outputs.append(slot)
        extents = [self.table.index(layout.space[axis]) for axis in layout.order]
        is_free = layout.mode != "column" and "row" not in layout.outputs and len(extents) > 1
        is_free = is_free and layout.inner == tuple(range(len(extents)))
        is_free = is_free and self.c_ordered.isdisjoint(op.results)
        made = ("kernel", compiled.native, inputs, outputs, extents, len(layout.outer))
        self.instructions.append((*made, True) if is_free and of_own == len(outputs) else made)

    def _reusable(self, op: Op, compiled: CompiledBody, dying: list[Value]) -> dict[ArrayType, int]:
        """Slots of operands that end here and that a result may lie in, by type; they no longer
        die.
        """
        found: dict[ArrayType, int] = {}
        if not any(compiled.in_place):
            return found
        wanted = {
            result.type
            for result, fits in zip(op.results, compiled.in_place, strict=True)
            if fits and result not in self.places and result not in self.replaced
        }
        owner = self.lives.owner
        for operand, role in zip(op.operands, compiled.layout.inputs, strict=True):
            if role != "vector" or operand.type not in wanted or operand.type in found:
                continue
            slot = self.slots[operand]
            if operand not in dying or slot not in self.owned or operand not in self.dense:
                continue
            if sum(owner(other) is operand for other in op.operands) != 1:
                continue
            if slot in self.space.reused and any(result in self.outputs for result in op.results):
                continue  # a slot of temporaries does not become a result's
            found[operand.type] = slot
            dying.remove(operand)
        return found

    def _laid_out(self, slot: int, value: Value, role: str, layout: Layout) -> int:
        """`slot`, which holds `value`, as the kernel walks over it: a vector with its axes in that
        order, a row's value without the reduced axes (the driver drops those that come last).
        """
        if role == "vector":
            return self._ordered(slot, layout)
        leading = layout.outer == tuple(range(len(layout.outer)))
        if role == "row" and not leading and len(value.type.shape) != len(layout.outer):
            dropped = self.temporary()
            sizes = [self.table.index(layout.space[axis]) for axis in layout.outer]
            self.instruction("reshape", dropped, slot, sizes)
            return dropped
        return slot

    def _ordered(self, slot: int, layout: Layout) -> int:
        """`slot` with its axes in the order the kernel walks them."""
        if layout.order == tuple(range(len(layout.order))):
            return slot
        turned = self.temporary()
        self.instructions.append(("transpose", turned, slot, list(layout.order)))
        return turned
