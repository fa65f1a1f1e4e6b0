"""Kernels that write straight into their part of a larger array: of a concatenation

    %1 = fusion(...)                                 the memory of %3 is made, and the kernel
    %3 = concatenate{dimension=0}(%0, %1)     ->     writes %1 into its middle; only %0 is copied

that write straight over the part of an array that they replace:

    %4 = fusion(...)                                 %5 is %3, or a copy of it, already when the
    %5 = update_slice{starts=(1,), ...}(%3, %4)  ->  kernel runs, and %4 is a part of it

and that write over an argument which is changed (`overwritten`).

A result of a kernel is placed when the concatenation is its only use, directly or through reshapes
that add or drop axes of size one.
"""

from __future__ import annotations

from typing import NamedTuple

from ..ir import dims
from ..ir.dims import Size
from ..ir.graph import Graph, Op, Value


class Place(NamedTuple):
    """Where a value lies in the result of a concatenation: from `start` along `axis`."""

    whole: Value
    axis: int
    start: Size
    shape: tuple[Size, ...]


def placements(graph: Graph) -> dict[Value, Place]:
    """The place of each kernel's result that has one."""
    joins = [op for op in graph.ops if op.primitive.name == "concatenate"]
    if not joins:
        return {}
    uses: dict[Value, int] = {}
    for op in graph.ops:
        for operand in op.operands:
            uses[operand] = uses.get(operand, 0) + 1
    for value in graph.outputs:
        uses[value] = 2
    found: dict[Value, Place] = {}
    for op in joins:
        axis = op.attrs["dimension"]
        start: Size = 0
        for operand in op.operands:
            shape = operand.type.shape
            made = _maker(operand, uses)
            if made is not None:
                found[made] = Place(op.results[0], axis, start, shape)
            start = dims.add(start, shape[axis])
    return found


class Replacement(NamedTuple):
    """The update, and where it is among the ops, for which alone a kernel's result is made."""

    op: Op
    index: int


def replacements(graph: Graph) -> dict[Value, Replacement]:
    """The update that each kernel's result is made for, if there is one. What the kernel reads and
    what else is read meanwhile is the caller's to look at.
    """
    updates = [
        Replacement(op, index)
        for index, op in enumerate(graph.ops)
        if op.primitive.name == "update_slice"
    ]
    if not updates:
        return {}
    uses: dict[Value, int] = {}
    for op in graph.ops:
        for operand in op.operands:
            uses[operand] = uses.get(operand, 0) + 1
    for value in graph.outputs:
        uses[value] = 2
    found: dict[Value, Replacement] = {}
    for each in updates:
        part = each.op.operands[1]
        maker = part.op
        if maker is None or maker.primitive.name != "fusion" or uses[part] != 1:
            continue
        if _is_elementwise(maker):
            found[part] = each
    return found


def overwritten(graph: Graph) -> dict[Value, Value]:
    """The input whose memory each kernel's result may be written to at once: the input becomes that
    result, and only writes follow the kernel, so that nothing can fail and nothing reads the input.

        %1 = fusion(%0)
        write(%0, %1)        ->    the kernel writes over its operand, the caller's array
    """
    found: dict[Value, Value] = {}
    for op in reversed(graph.ops):
        if op.primitive.name == "write":
            target, value = op.operands
            found[value] = target
            continue
        if op.primitive.name != "fusion" or not _is_elementwise(op):
            return {}
        kept = [value for value in op.results if value in found]
        return {value: found[value] for value in kept if value not in graph.outputs}
    return {}


def _maker(value: Value, uses: dict[Value, int]) -> Value | None:
    """The kernel's result that `value` is, but for axes of size one; None if it is none."""
    while uses[value] == 1 and value.op is not None:
        op: Op = value.op
        if op.primitive.name == "fusion":
            return value if _is_elementwise(op) else None
        source = op.operands[0] if op.operands else None
        if op.primitive.name != "reshape" or source is None:
            return None
        if [s for s in source.type.shape if s != 1] != [s for s in value.type.shape if s != 1]:
            return None
        value = source
    return None


def _is_elementwise(op: Op) -> bool:
    return all(inner.primitive.category != "reduce" for inner in op.attrs["body"].ops)
