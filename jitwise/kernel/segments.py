"""Cuts a phase at its calls of the math library: a chunk goes through one loop after another.

    %1 = load; %2 = multiply(%1, 2); %3 = sine(%1); %4 = add(%2, %3); store %4

    segment 0   (nothing: the call reads the operand where it is)
    calls       %3 = sine(%1)
    segment 1   %1 = load; %2 = multiply(%1, 2); %4 = add(%2, %3); store %4

A segment is a loop over parts of the chunk; what a later segment or a call wants is kept in memory.
So values need registers between two calls only, and calls take a chunk so long that a processor is
never idle between them. A value is computed in the segment of its first use where that keeps
nothing more in memory (`multiply` above), loads are repeated, stores are in the last segment.

Left alone: phases with reductions, and with complex values, which calls never take.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..ops.families import MathCall
from .nest import Compute, Load, Phase, Reduce, Statement, Store

CALLED = (np.dtype(np.float32), np.dtype(np.float64))


class Segment(NamedTuple):
    """Statements of one loop, in order, the values it finds in memory and leaves there, and the
    calls after it.
    """

    statements: tuple[Statement, ...]
    found: tuple[int, ...]
    kept: tuple[int, ...]
    calls: tuple[Compute, ...]


def is_call(statement: Statement, dtypes: Mapping[int, np.dtype]) -> bool:
    """Whether a statement is one call of a function on buffers and nothing else."""
    if not isinstance(statement, Compute) or not statement.operands:
        return False
    dtype = dtypes[statement.operands[0]]
    return dtype in CALLED and isinstance((statement.primitive.lower or {}).get("f"), MathCall)


def math_name(call: Compute) -> str:
    """What the math library calls the function of a call."""
    lower = (call.primitive.lower or {}).get("f")
    assert isinstance(lower, MathCall)
    return lower.name


def cut(phase: Phase, dtypes: Mapping[int, np.dtype]) -> list[Segment]:
    """The segments of a phase; none if it calls nothing, or is left alone."""
    body = phase.body
    if not any(is_call(statement, dtypes) for statement in body):
        return []
    if any(isinstance(each, Reduce) for each in body):
        return []
    defined = {each.result: each for each in body if isinstance(each, (Load, Compute))}
    if any(dtypes[number].kind == "c" for number in defined):
        return []
    return _Cut(phase, dtypes).segments()


class _Cut:
    """Places the values of one phase."""

    def __init__(self, phase: Phase, dtypes: Mapping[int, np.dtype]) -> None:
        self.body = phase.body
        self.loads = {each.result for each in self.body if isinstance(each, Load)}
        computed = [each for each in self.body if isinstance(each, Compute)]
        self.calls = {each.result: each for each in computed if is_call(each, dtypes)}
        self.computed = {each.result: each for each in computed}
        self.places: dict[int, int] = {}  # of a value: the segment, or the segment before the call
        self.levels: dict[int, int] = {}  # of a value: the first segment that could use it
        self.last = 0
        self.find_levels()
        self.find_places()

    def find_levels(self) -> None:
        """The earliest segment of every value."""
        for number, statement in self.computed.items():
            level = max((self.levels.get(each, 0) for each in statement.operands), default=0)
            self.levels[number] = level + (number in self.calls)
            self.last = max(self.last, self.levels[number])

    def find_places(self) -> None:
        """The segment of every computed value: late where that keeps nothing more in memory."""
        uses: dict[int, list[int]] = {}
        passed = {each for call in self.calls.values() for each in call.operands}
        for statement in reversed(self.body):
            if isinstance(statement, Store):
                uses.setdefault(statement.value, []).append(self.last)
            if not isinstance(statement, Compute):
                continue
            number = statement.result
            place = self.levels[number] - (number in self.calls)
            late = min(uses.get(number, [place]))
            if number not in self.calls and all(
                each not in self.computed
                or each in passed
                or each in self.calls
                or max(uses.get(each, [0])) >= late
                for each in statement.operands
            ):
                place = late
            self.places[number] = place
            for each in statement.operands:
                uses.setdefault(each, []).append(place)
        self.uses = uses

    def segments(self) -> list[Segment]:
        """All of them, in order."""
        return [self.segment(index) for index in range(self.last + 1)]

    def segment(self, index: int) -> Segment:
        """What segment `index` computes, finds, keeps and calls."""
        here: list[Statement] = []
        wanted: dict[int, None] = {}
        for statement in self.body:
            if isinstance(statement, Compute):
                if statement.result in self.calls or self.places[statement.result] != index:
                    continue
                wanted.update(dict.fromkeys(statement.operands))
            elif isinstance(statement, Store) and index == self.last:
                wanted[statement.value] = None
            else:
                continue
            here.append(statement)
        inside = [each.result for each in here if isinstance(each, Compute)]
        found = tuple(each for each in wanted if each in self.computed and each not in inside)
        needed = self.loads.intersection(wanted)
        chosen = {id(each) for each in here}
        statements = tuple(
            each
            for each in self.body
            if id(each) in chosen or (isinstance(each, Load) and each.result in needed)
        )
        passed = {each for call in self.calls.values() for each in call.operands}
        kept = tuple(
            each for each in inside if each in passed or max(self.uses.get(each, [0])) > index
        )
        calls = tuple(each for each in self.calls.values() if self.places[each.result] == index)
        return Segment(statements, found, kept, calls)
