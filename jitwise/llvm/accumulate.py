"""Reductions inside a phase: a running value per lane, in registers in the loop, in memory between
calls.

Accumulator r begins at byte `accumulator_offsets(kernel)[0][r]`: `lanes` elements as in memory.
argmin and argmax go on with `lanes` indices (i64, -1 before the first element) and one i64, the
index of the first element of the next chunk. Inside the loop a lane remembers the number of its
chunk, counted from the call's first, in an integer of the value's width, at least 32 bits; `finish`
makes indices of those. A lane that never saw anything better than the identity takes its first
element.

The lanes of the last chunk from `valid` on repeat a valid element. Only add, multiply and xor would
count it twice: they take those lanes, after the loop, from the accumulator as it was before the
last chunk. Accumulators of column kernels are in `columns`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.primitive import Primitive
from ..kernel.nest import INDEX, INDEX_WORDS, Kernel, Reduce
from ..ops.compare import greater, less
from ..ops.elementwise import add, multiply
from ..ops.extremes import maximum, minimum
from ..ops.floating import is_nan
from ..ops.integer import and_, or_, xor
from .operations import Operand, Operations
from .text import PARTS, SCALARS

if TYPE_CHECKING:
    from .emit import PhaseEmission

COUNTED = ("add", "multiply", "xor")  # what an element must not enter twice
COMBINATIONS = {
    "add": add,
    "multiply": multiply,
    "min": minimum,
    "max": maximum,
    "and": and_,
    "or": or_,
    "xor": xor,
}
ALIGNMENT = 64


def accumulator_offsets(kernel: Kernel) -> tuple[tuple[int, ...], int]:
    """Where each reduction's accumulator begins, and the size of them all, in bytes."""
    offsets, position = [], 0
    for reduction in kernel.reductions:
        offsets.append(position)
        position += _aligned(reduction.dtype.itemsize * kernel.lanes)
        if reduction.word in INDEX_WORDS:
            position += _aligned(INDEX.itemsize * kernel.lanes) + ALIGNMENT
    return tuple(offsets), position


def _aligned(size: int) -> int:
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


class Accumulator:
    """One reduction of a row phase: in registers inside the loop, in memory between calls."""

    def __init__(self, phase: PhaseEmission, statement: Reduce) -> None:
        self.phase = phase
        self.e = phase.e
        self.word = statement.word
        self.slot = phase.outer.slots[statement]
        dtype = phase.outer.dtypes[statement.value]
        offset = phase.outer.offsets[self.slot]
        lanes = phase.kernel.lanes
        self.pointers = [phase.element("%accumulators", "i8", offset)]
        self.starts = [phase.load(self.pointers[0], dtype, ALIGNMENT)]
        if self.word in INDEX_WORDS:
            offset += _aligned(dtype.itemsize * lanes)
            self.pointers.append(phase.element("%accumulators", "i8", offset))
            self.indices = phase.load(self.pointers[1], INDEX, ALIGNMENT)
            self.starts[0] = self.start_of_extreme(self.starts[0])
            self.starts.append(self.e.constant(-1, chunk_dtype(dtype)))
            self.counter = phase.element(
                "%accumulators", "i8", offset + _aligned(INDEX.itemsize * lanes)
            )
            self.e.function.line(
                f"%first{self.slot} = load i64, ptr {self.counter}, align {ALIGNMENT}"
            )

    def start_of_extreme(self, before: Operand) -> Operand:
        """The identity in the lanes without an element."""
        e, dtype = self.e, before.dtype
        worst = worst_of(dtype, self.word)
        part = PARTS.get(dtype)
        identity = e.constant(complex(worst, worst) if part else worst, dtype)
        none = e.compare("slt", self.indices, e.constant(0, INDEX))
        return e.select(none, identity, before)

    def begin(self) -> None:
        """The values at the start of a chunk."""
        self.before = [
            incoming(self.e, f"a{self.slot}_{index}", start, "entry", "loop")
            for index, start in enumerate(self.starts)
        ]
        if len(self.starts) == 2:
            slot, scalar = self.slot, SCALARS[self.starts[1].dtype]
            self.e.function.line(
                f"%chunk{slot} = phi {scalar} [0, %entry], [%following{slot}, %loop]"
            )

    def combine(self, word: str, value: Operand) -> None:
        """Take one chunk in."""
        if word in INDEX_WORDS:
            after = self.combine_index(word, value)
        else:
            self.e.relaxed = self.phase.kernel.fastmath and word in ("add", "multiply")
            after = [combine(self.e, word, self.before[0], value)]
            self.e.relaxed = False
        self.after = [
            outgoing(self.e, f"a{self.slot}_{index}", operand)
            for index, operand in enumerate(after)
        ]

    def combine_index(self, word: str, value: Operand) -> list[Operand]:
        """The first nan wins, then the extreme value with the lowest index.

        A nan may raise a flag: quiet comparisons would take a third more time.
        """
        e, (best, where) = self.e, self.before
        order, less_or_greater = ("ult", less) if word == "argmin" else ("ugt", greater)
        kind = value.dtype.kind
        if kind == "f":
            better = e.compare(order, value, best, quiet=False)  # nan too, of either
            better = e.instruction("and", better, e.compare("ord", best, best))
        else:
            better = apply(e, less_or_greater, value, best)
        if kind == "c":
            was_number = e.logical_not(apply(e, is_nan, best))
            new_nan = e.instruction("and", apply(e, is_nan, value), was_number)
            better = e.instruction("or", better, new_nan)
        slot, scalar = self.slot, SCALARS[where.dtype]
        here = Operand(e.spread(Operand(f"%chunk{slot}", where.dtype), e.lanes), where.dtype)
        e.function.line(f"%following{slot} = add {scalar} %chunk{slot}, 1")
        return [e.select(better, value, best), e.select(better, here, where)]

    def indices_of(self, chunk: Operand) -> Operand:
        """The lanes' indices from the numbers of their chunks; -1 is a lane without a better
        element.
        """
        e = self.e
        better = e.compare("sge", chunk, e.constant(0, chunk.dtype))
        start = Operand(e.spread(Operand(f"%first{self.slot}", INDEX), e.lanes), INDEX)
        start = e.instruction("add", start, Operand(_counting("i64", e.lanes), INDEX))
        offset = e.instruction("mul", e.convert(chunk, INDEX), e.constant(e.lanes, INDEX))
        index = e.select(better, e.instruction("add", start, offset), self.indices)
        return e.select(e.compare("slt", index, e.constant(0, INDEX)), start, index)

    def finish(self) -> None:
        """Store the accumulator, without the lanes of the last chunk that are not valid."""
        e = self.e
        values = self.after
        if self.word in COUNTED:
            e.lanes, lanes = 1, e.lanes
            counter = "i8" if lanes <= 128 else "i16"
            limit = e.function.define(f"trunc i64 %valid to {counter}")
            limit_dtype = np.dtype(np.uint8 if lanes <= 128 else np.uint16)
            bound = Operand(e.spread(Operand(limit, limit_dtype), lanes), limit_dtype)
            e.lanes = lanes
            valid = e.compare("ult", Operand(_counting(counter, lanes), limit_dtype), bound)
            values = [e.select(valid, values[0], self.before[0])]
        if self.word in INDEX_WORDS:
            values = [values[0], self.indices_of(values[1])]
            seen = e.function.define(f"mul i64 %chunks, {e.lanes}")
            following = e.function.define(f"add i64 %first{self.slot}, {seen}")
            e.function.line(f"store i64 {following}, ptr {self.counter}, align {ALIGNMENT}")
        for pointer, value in zip(self.pointers, values, strict=True):
            self.phase.store(value, pointer, ALIGNMENT)


def incoming(e: Operations, name: str, start: Operand, before: str, loop: str) -> Operand:
    """A phi of `start` and the value that `outgoing` will name, in block `loop` entered from
    `before`.
    """
    part = PARTS.get(start.dtype)
    texts = []
    for letter, text in zip("ri", (start.text, start.imag), strict=True):
        if text is not None:
            type = e.type_of(part or start.dtype)
            e.function.line(
                f"%{name}{letter} = phi {type} [{text}, %{before}], [%n{name}{letter}, %{loop}]"
            )
            texts.append(f"%{name}{letter}")
    return Operand(texts[0], start.dtype, texts[1] if part else None)


def outgoing(e: Operations, name: str, operand: Operand) -> Operand:
    """Give a value the name that the phi waits for."""
    part = PARTS.get(operand.dtype)
    type = e.type_of(part or operand.dtype)
    texts = []
    for letter, text in zip("ri", (operand.text, operand.imag), strict=True):
        if text is not None:
            e.function.line(f"%n{name}{letter} = freeze {type} {text}")
            texts.append(f"%n{name}{letter}")
    return Operand(texts[0], operand.dtype, texts[1] if part else None)


def chunk_dtype(dtype: np.dtype) -> np.dtype:
    """The integer in which a lane remembers its chunk."""
    part = PARTS.get(dtype, dtype)
    return INDEX if part.itemsize == 8 else np.dtype(np.int32)


def worst_of(dtype: np.dtype, word: str) -> Any:
    """What no element is worse than."""
    if dtype.kind in "fc":
        return np.inf if word == "argmin" else -np.inf
    if dtype.kind == "b":
        return word == "argmin"
    return getattr(np.iinfo(dtype), "max" if word == "argmin" else "min")


def apply(e: Operations, primitive: Primitive, *operands: Operand) -> Operand:
    """A primitive without attributes, as its row lowers it."""
    if primitive.lower is None:
        raise ValueError(f"{primitive.name} has no lowering")
    return primitive.lower[operands[0].dtype.kind](e, {}, *operands)


def combine(e: Operations, word: str, before: Operand, value: Operand) -> Operand:
    """One step of a reduction."""
    return apply(e, COMBINATIONS[word], before, value)


def _counting(scalar: str, lanes: int) -> str:
    return "<" + ", ".join(f"{scalar} {lane}" for lane in range(lanes)) + ">"
