"""Who owns memory, how long, and which results may lie where an operand lay.

A view shares the memory of its operand; the *owner* of a value is the first value on that way back.
A value lives until its own last use or that of a view of it. A kernel may write its result over an
operand when the operand dies there, the program made it, and the kernel reads each element before
it writes the same element.

    %1 = fusion(%0)          %1 is made
    %2 = fusion(%1)          %1 dies here: %2 lies where %1 lay
    return %2                %2 is a result, so %1 was made in a result's memory already

    %2 = update_slice{starts=(1,), strides=(1,)}(%0, %1)     %2 lies where %0 lay, if %0 ends here

Results of maps lie in the order of their operands in memory, as NumPy's do, where nobody counts on
C order.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..ir.graph import Graph, Op, Value
from ..ops.movement import gathers_repeats


class Lifetimes(NamedTuple):
    """owners: the value whose memory a view lies in. dying: for each op, the values that end
    there.
    """

    owners: dict[Value, Value]
    dying: list[list[Value]]

    def owner(self, value: Value) -> Value:
        """The value that has the memory of `value`."""
        return self.owners.get(value, value)


def lifetimes(
    graph: Graph, deferred: Collection[Op] = (), own: Collection[Value] = ()
) -> Lifetimes:
    """Owners and ends of life, in two sweeps. Inputs but `own`, and what an output or what is
    written to an input lies in, never die. Of updates that are `deferred` to the end only the parts
    live.
    """
    owners: dict[Value, Value] = {}
    last: dict[Value, int] = {}
    views: list[tuple[Value, Value]] = []
    for index, op in enumerate(graph.ops):
        if op in deferred:
            continue
        for operand in op.operands:
            last[operand] = index
        for result in op.results:
            last[result] = index
        if op.primitive.category == "view" and not gathers_repeats(op):
            source, result = op.operands[0], op.results[0]
            owners[result] = owners.get(source, source)
            views.append((result, source))
    end = len(graph.ops)
    for value in graph.outputs:
        last[value] = end
    for op in graph.ops:
        if op.primitive.name == "write" or op in deferred:  # happens at the end
            last[op.operands[1]] = end
    for op in deferred:
        last.pop(op.results[0], None)
    for result, source in reversed(views):
        if last[result] > last[source]:
            last[source] = last[result]
    for value in graph.inputs:
        if value not in own:
            last[value] = end
    dying: list[list[Value]] = [[] for _ in range(end + 1)]
    for value, index in last.items():
        dying[index].append(value)
    dying.pop()
    return Lifetimes(owners, dying)


def deferred_updates(graph: Graph) -> dict[Value, list[Op]]:
    """For each input that becomes itself with parts replaced: these updates, in order. They are
    made at the end, in the input's own memory.

        %2 = update_slice{starts=(0,), strides=(1,)}(%0, %1)      %1 is copied to the start of %0,
        write(%0, %2)                                             and %2 is never made
    """
    uses: dict[Value, int] = {}
    for op in graph.ops:
        for operand in op.operands:
            uses[operand] = uses.get(operand, 0) + 1
    for value in graph.outputs:
        uses[value] = 2
    found: dict[Value, list[Op]] = {}
    for op in graph.ops:
        if op.primitive.name != "write":
            continue
        target, value = op.operands
        chain: list[Op] = []
        while value.op is not None and value.op.primitive.name == "update_slice":
            if uses[value] != 1:
                break
            chain.append(value.op)
            value = value.op.operands[0]
        if value is target and chain:
            found[target] = chain[::-1]
    return found


def destined(graph: Graph) -> set[Value]:
    """The outputs, and what turns into one by updates of its parts: memory of a result."""
    found = set(graph.outputs)
    for op in reversed(graph.ops):
        if op.primitive.name == "update_slice" and op.results[0] in found:
            found.add(op.operands[0])
    return found


TURNED = ("transpose", "slice", "reverse", "broadcast_in_dim")  # have their operand's order


def needed_in_c_order(graph: Graph, outputs: Collection[Value]) -> set[Value]:
    """The values that must lie in C order in memory, or better do: these outputs, what is not read
    by kernels and matrix products only, and what such a value may lie over.
    """
    found = set(outputs)
    for op in reversed(graph.ops):
        if op.primitive.name == "fusion":
            types = {result.type for result in op.results if result in found}
            found.update(operand for operand in op.operands if operand.type in types)
        elif op.primitive.name in TURNED or _only_drops_ones(op):
            if op.results[0] in found:
                found.add(op.operands[0])
        elif op.primitive.category != "contract":
            found.update(op.operands)
    return found


def _only_drops_ones(op: Op) -> bool:
    """Whether a reshape is a view for every order of axes: it drops or adds axes of length 1."""
    if op.primitive.name != "reshape":
        return False
    before, after = op.operands[0].type.shape, op.results[0].type.shape
    return [size for size in before if size != 1] == [size for size in after if size != 1]


class Slots:
    """The slots of a program."""

    def __init__(self) -> None:
        self.count = 0
        self.idle: list[int] = []  # those that hold nothing any more
        self.reused: set[int] = set()  # those that held something before

    def take(self, is_new: bool) -> int:
        """A slot that is free; with `is_new` one that was never used."""
        if self.idle and not is_new:
            slot = self.idle.pop()
            self.reused.add(slot)
            return slot
        self.count += 1
        return self.count - 1
