"""Who owns memory, how long, and which results may lie where an operand lay.

A view shares the memory of its operand; the *owner* of a value is the first value on that way back. Memory lives from the op
that makes its owner to the last use of any view of it. A kernel may write its result over an operand when the operand dies
there, the program made it, and the kernel reads each element before it writes the same element.

    %1 = fusion(%0)          %1 is made
    %2 = fusion(%1)          %1 dies here: %2 lies where %1 lay
    return %2                %2 is a result, so %1 was made in a result's memory already
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.graph import Graph, Value


@dataclass(slots=True)
class Lifetimes:
    """owners: the value whose memory each value lies in. dying: for each op, the owners whose last use it is."""

    owners: dict[Value, Value]
    dying: list[list[Value]]

    def owner(self, value: Value) -> Value:
        """The value that has the memory of `value`."""
        return self.owners.get(value, value)


def lifetimes(graph: Graph) -> Lifetimes:
    """Owners and ends of life, in one sweep. Inputs and what an output lies in never die."""
    owners: dict[Value, Value] = {}
    last: dict[Value, int] = {}
    for index, op in enumerate(graph.ops):
        if op.primitive.category == "view":
            source = op.operands[0]
            owners[op.results[0]] = owners.get(source, source)
        for operand in op.operands:
            last[owners.get(operand, operand)] = index
        for result in op.results:
            if result not in owners:
                last[result] = index
    for value in graph.outputs:
        last.pop(owners.get(value, value), None)
    for value in graph.inputs:
        last.pop(value, None)
    dying: list[list[Value]] = [[] for _ in graph.ops]
    for value, index in last.items():
        dying[index].append(value)
    return Lifetimes(owners, dying)
