"""`case` and `while` as instructions with jumps, for what is no native loop of its own.

    %3 = while{cond=@go, body=@step}(%1, %2)        slots 3: a copy of %1
                                                 L: @go on 3, 2 -> p
                                                    jump_unless END p
                                                    @step on 3, 2 -> 7;  move 3 7
                                                    jump L
                                               END:

A graph inside is lowered where it runs: its inputs are slots that exist. What a `while` carries has
slots of its own, so that an op of the body may write over a carried array that ends there; nobody
else gets these slots. At the end of a body what is carried on moves there: arrays change hands,
single values are copied. Results of a branch move alike. Symbols of a graph are read from their
slots before it runs.

A `region` is a loop whose iterations need no instruction: one call (see `regions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ir.dims import Dim
from ..ir.graph import Graph, Op, Value
from ..ir.measured import symbols_defined
from ..passes.nested import NESTED

if TYPE_CHECKING:
    from .lower import Lowering


def symbols_inside(graph: Graph) -> list[str]:
    """The symbols of all graphs in the `case`s and `while`s of `graph`."""
    found: list[str] = []
    pending = [inner for op in graph.ops if op.primitive.name in NESTED for inner in op.graphs()]
    while pending:
        inner = pending.pop()
        found += inner.symbols
        for op in inner.ops:
            found += symbols_defined(op)
            if op.primitive.name in NESTED:
                pending += op.graphs()
    return list(dict.fromkeys(found))


def lower_nested(outer: Lowering, op: Op) -> None:
    """Instructions of a `case`, a `while` or a `region`."""
    _LOWER[op.primitive.name](outer, op)


def lower_region(outer: Lowering, op: Op) -> None:
    """The instruction of a native loop: a carried array is updated in the memory of the result."""
    from .regions import compile_region

    compiled = compile_region(op.attrs["body"])
    inputs = [outer.slots[operand] for operand in op.operands]
    outputs = []
    for place, result in enumerate(op.results):
        if result.type.shape:
            others = [*op.operands[:place], *op.operands[place + 1 :]]
            outputs.append(outer.overwrite(result, op.operands[place], others))
        else:
            outputs.append(outer.allocate(result))
    sizes = [outer.table.index(Dim.symbol(name)) for name in compiled.symbols]
    outer.instruction("region", compiled.address, compiled.owner, inputs, outputs, sizes)


def lower_case(outer: Lowering, op: Op) -> None:
    """Instructions of a `case`."""
    index, *operands = op.operands
    branches: tuple[Graph, ...] = op.attrs["branches"]
    given = [outer.slots[value] for value in operands]
    kept = _kept(outer, op, operands, branches)
    slots = [given[kept[place]] if place in kept else -1 for place in range(len(op.results))]
    for place, result in enumerate(op.results):
        if place not in kept:
            slots[place] = outer.define(result)
    order = list(range(len(branches)))
    if index.type.dtype.kind == "b":
        order.reverse()
    ends = []
    for place in order:
        skip = None
        if place != order[-1]:
            wanted = () if index.type.dtype.kind == "b" else (place,)
            skip = _jump(outer, "jump_unless", outer.slots[index], *wanted)
        own = frozenset([branches[place].inputs[number] for number in kept.values()])
        _carry_on(_inside(outer, branches[place], given, own), slots)
        if skip is not None:
            ends.append(_jump(outer, "jump"))
            _land(outer, skip)
    for jump in ends:
        _land(outer, jump)
    outer.owned.update(slots)


def _kept(
    outer: Lowering, op: Op, operands: Sequence[Value], branches: Sequence[Graph]
) -> dict[int, int]:
    """The results that stay in the memory of an operand that ends here, with its place: where a
    branch gives it back as it is, and another one writes to it, say.
    """
    # What decides may lie in such an operand: it is read before a branch begins.
    owners = [outer.lives.owner(value) for value in operands]
    found: dict[int, int] = {}
    for place, result in enumerate(op.results):
        for branch in branches:
            output = branch.outputs[place]
            number = branch.inputs.index(output) if output in branch.inputs else -1
            if number < 0 or number in found.values() or not result.type.shape:
                continue
            if any(_is_elsewhere(each, number, place) for each in branches):
                continue
            value = operands[number]
            if value.type == result.type and _stays(outer, value, result, owners):
                outer.dying.remove(value)
                outer.slots[result] = outer.slots[value]
                outer.dense.add(result)
                found[place] = number
                break
    return found


def _is_elsewhere(branch: Graph, number: int, place: int) -> bool:
    """Whether a branch gives an input as another result than the one at `place`."""
    value = branch.inputs[number]
    return any(each is value for other, each in enumerate(branch.outputs) if other != place)


def _stays(outer: Lowering, value: Value, result: Value, owners: Sequence[Value]) -> bool:
    """Whether a result may lie in the memory of an operand, which ends there."""
    slot = outer.slots[value]
    ends = value in outer.dying and value in outer.dense and slot in outer.owned
    passes = slot not in outer.space.reused or result not in outer.outputs
    return ends and passes and owners.count(value) == 1


def lower_while(outer: Lowering, op: Op) -> None:
    """Instructions of a `while`."""
    cond: Graph = op.attrs["cond"]
    body: Graph = op.attrs["body"]
    count = len(body.outputs)
    slots = _first(outer, op, count)
    given = slots + [outer.slots[value] for value in op.operands[count:]]
    start = len(outer.instructions)
    test = _inside(outer, cond, given)
    leave = _jump(outer, "jump_unless", test.slots[cond.outputs[0]])
    _end_outputs(test)
    _carry_on(_inside(outer, body, given, frozenset(body.inputs[:count])), slots)
    outer.instructions.append(("jump", start))
    _land(outer, leave)


def _first(outer: Lowering, op: Op, count: int) -> list[int]:
    """Slots of their own for what is carried, with what it is at first."""
    slots = []
    owners = [outer.lives.owner(value) for value in op.operands]
    for value, result in zip(op.operands[:count], op.results, strict=True):
        slot = outer.slots[value]
        if _stays(outer, value, result, owners):
            outer.dying.remove(value)
            outer.slots[result] = slot
        else:
            slot = outer.allocate(result)
            outer.instructions.append(("copy", slot, outer.slots[value]))
        outer.dense.add(result)
        slots.append(slot)
    return slots


def _end_outputs(inner: Lowering) -> None:
    """The outputs of a graph are not needed any more."""
    for slot in {inner.slots[value] for value in inner.graph.outputs}.difference(inner.given):
        inner.end(slot)


def _inside(
    outer: Lowering, graph: Graph, slots: Sequence[int], own: frozenset[Value] = frozenset()
) -> Lowering:
    """The instructions of a graph on these slots, after those that read its symbols. It may end the
    life of the inputs that are its `own`.
    """
    inner = outer.inside(graph, slots, own)
    for name, origin in graph.symbols.items():
        axis = int(origin[2]) if origin[0] == "size" else -1  # type: ignore[misc]
        index = inner.dim(Dim.symbol(name))
        inner.instructions.append(("measure", index, slots[origin[1]], axis))
    inner.walk()
    return inner


def _carry_on(inner: Lowering, targets: Sequence[int]) -> None:
    """Move the outputs of a graph to slots, all at once, and end the rest."""
    outputs = [inner.slots[value] for value in inner.graph.outputs]
    taken = {slot for slot, target in zip(outputs, targets, strict=True) if slot == target}
    kept = set(taken)
    moves: list[tuple[int, int]] = []
    for value, slot, target in zip(inner.graph.outputs, outputs, targets, strict=True):
        if slot == target and slot in kept:
            kept.discard(slot)
            continue
        is_own = slot in inner.owned and inner.lives.owner(value) is value and slot not in taken
        taken.add(slot)
        if value.type.shape and not is_own:
            slot = _copied(inner, value, slot)
        elif not value.type.shape or slot in inner.pinned:
            inner.instructions.append(("move", inner.temporary(), slot))
            slot = inner.passing[-1]
        moves.append((target, slot))
    inner.instructions += [("move", target, slot) for target, slot in moves]
    inner.owned.difference_update([slot for _, slot in moves])
    over = {*outputs, *inner.passing, *inner.owned}
    inner.passing.clear()
    for slot in sorted(over.difference(targets, inner.given)):
        inner.end(slot)


def _copied(inner: Lowering, value: Value, slot: int) -> int:
    fresh = inner.temporary()
    inner.allocate_slot(fresh, value)
    inner.instructions.append(("copy", fresh, slot))
    return fresh


def _jump(outer: Lowering, word: str, *condition: int) -> int:
    """A jump to where `_land` says later."""
    outer.instructions.append((word, -1, *condition))
    return len(outer.instructions) - 1


def _land(outer: Lowering, jump: int) -> None:
    word, _, *condition = outer.instructions[jump]
    outer.instructions[jump] = (word, len(outer.instructions), *condition)


_LOWER = {"case": lower_case, "while": lower_while, "region": lower_region}
