"""The end of a program: results that are memory of their own, and writes to arguments.

return %0, %3, %3        ("copy", 7, 0, True), ("copy", 8, 3)     a matrix, and a vector given twice
write(%0, %4)            ("copy", 0, 4)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.graph import Op, Value

if TYPE_CHECKING:
    from .lower import Lowering


def delivered(program: Lowering) -> list[int]:
    """The slot of each output: fresh memory, and none twice."""
    taken: set[int] = set()
    slots: list[int] = []
    inputs = {program.slots[value] for value in program.graph.inputs}
    for place, value in enumerate(program.graph.outputs):
        slot = program.slots[value]
        if (
            slot in taken
            or slot in inputs
            or slot not in program.owned
            or program.lives.owner(value) is not value
        ):
            copy = program.space.take(True)
            program.allocate_slot(copy, value)
            keeps_order = place not in program.fixed and len(value.type.shape) > 1
            ending = (True,) if keeps_order else ()
            program.instructions.append(("copy", copy, slot, *ending))
            slot = copy
        taken.add(slot)
        slots.append(slot)
    return slots


def write_inputs(program: Lowering) -> None:
    """Copy what inputs become into them, last: nothing can fail any more. A value that lies in
    an input which is written to is put aside before, unless it is the only one.
    """
    targets = {target for target, _ in program.writes}
    copies: list[tuple[Value, Value, Op | None]] = []
    for target, value in program.writes:
        updates = program.deferred.get(target)
        if updates is None:
            copies.append((target, value, None))
        else:
            copies += [(target, op.operands[1], op) for op in updates]
    slots = []
    for _, value, _ in copies:
        slot = program.slots[value]
        if program.lives.owner(value) in targets and len(copies) > 1:
            slot = program.space.take(True)
            program.allocate_slot(slot, value)
            program.instructions.append(("copy", slot, program.slots[value]))
        slots.append(slot)
    for (target, value, op), slot in zip(copies, slots, strict=True):
        place = program.slots[target]
        if place == slot:
            continue  # a kernel wrote it there
        if op is not None:
            place = program.part(program.space.take(True), place, op.attrs, value)
        program.instructions.append(("copy", place, slot))
