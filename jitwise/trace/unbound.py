"""Variables that have no value before a loop.

    for v in x:
        if v > 2: last = v              last has a value once some turn has given it one
    return last

A loop carries such a variable from the beginning, as a zero. A body that may read it before it is
there is no loop (`read_by`). Where a turn may leave it as it is, the loop carries beside it whether
there is a value (`Turn`), and the program checks that afterwards.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.builder import DIMENSION
from ..ir.graph import Op, Value
from ..ops.compare import select

if TYPE_CHECKING:
    from .regions import Region

# What stands in code before and between the deletions at its beginning.
_OPENING = ("RESUME", "COPY_FREE_VARS", "MAKE_CELL", "LOAD_DEREF", "IS_OP", "NOP", "NOT_TAKEN")
_BOOL = np.dtype(np.bool_)


def read_by(*parts: Callable[..., Any] | None) -> frozenset[str]:
    """The variables that parts may read before they have a value: where they have none, parts begin
    by deleting them, so that Python raises.
    """
    return frozenset().union(*[_deleted_first(part.__code__) for part in parts if part is not None])


@functools.lru_cache(maxsize=1024)
def _deleted_first(code: CodeType) -> frozenset[str]:
    found = set()
    for each in dis.get_instructions(code):
        if each.opname == "DELETE_FAST":
            found.add(each.argval)
        elif each.opname not in _OPENING and not each.opname.startswith(("LOAD_FAST", "POP_JUMP")):
            break
    return frozenset(found)


class Turn:
    """One turn of a loop, traced in a region: what it does to `first`, the input that stands for
    a variable without a value. `before` says whether there is one before the turn.
    """

    def __init__(self, region: Region, first: Value, before: Value) -> None:
        self.region = region
        self.first = first
        self.before = before

    def gives(self, value: Value, ops: Sequence[Op] | None = None) -> Value | None:
        """Whether a value at the end of the turn, or of a graph in it with these ops, is there, as
        a bool of the region; None where that is not known.
        """
        ops = self.region.ops if ops is None else ops
        if value.op is not None and value.op.primitive is DIMENSION:  # an int
            value = self._measured(str(value.op.attrs["size"]), ops, value)
        op = value.op
        if value is self.first:
            return self.before
        if op is None or op.primitive.name not in ("case", "while"):
            return self.region.constant(True, _BOOL)
        place = op.results.index(value)
        if op.primitive.name == "while":
            given = self.gives(op.operands[place], ops)
            return None if given is None or given.constant is None else given
        index = op.operands[0]
        if index.type.dtype != _BOOL or not self.region.owns(index):
            return None
        sides = []
        for graph in op.attrs["branches"]:
            inner = graph.outputs[place]
            if inner in graph.inputs:
                side = self.gives(op.operands[1 + graph.inputs.index(inner)], ops)
            else:
                side = self.gives(inner, graph.ops)
            if side is None:
                return None
            sides.append(side)
        return self.region.emit(select, (index, sides[1], sides[0]))

    def _measured(self, symbol: str, ops: Sequence[Op], value: Value) -> Value:
        """What a symbol is the value of."""
        for op in (*ops, *self.region.ops):
            if op.primitive.measures and not op.results and op.attrs["symbols"][0] == symbol:
                return op.operands[0]
        origin = self.region.symbols.get(symbol)
        if origin is not None and origin[0] == "value":
            return self.region.inputs[origin[1]]
        return value


__all__ = ["Turn", "read_by"]
