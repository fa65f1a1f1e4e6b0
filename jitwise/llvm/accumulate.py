"""Reductions inside a phase: a running value per lane, in registers in the loop, in memory between
calls.

Accumulator r begins at byte `accumulator_offsets(kernel)[0][r]`: `lanes` elements as in memory.
argmin and argmax go on with `lanes` indices (i64, -1 before the first element) and one i64, the
index of the first element of the next chunk.

The lanes of the last chunk from `valid` on repeat a valid element. Only add, multiply and xor would
count it twice: they take those lanes, after the loop, from the accumulator as it was before the
last chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..ir.primitive import Primitive
from ..kernel.nest import INDEX, INDEX_WORDS, Kernel, Reduce
from ..ops.compare import greater, less
from ..ops.elementwise import add, maximum, minimum, multiply
from ..ops.floating import is_nan
from ..ops.integer import and_, or_, xor
from .operations import Operand, Operations
from .text import PARTS

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
    for reduction in kernel.reductions if kernel.mode == "row" else ():
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
            self.starts.append(phase.load(self.pointers[1], INDEX, ALIGNMENT))
            self.counter = phase.element(
                "%accumulators", "i8", offset + _aligned(INDEX.itemsize * lanes)
            )
            self.e.function.line(
                f"%first{self.slot} = load i64, ptr {self.counter}, align {ALIGNMENT}"
            )

    def begin(self) -> None:
        """The values at the start of a chunk."""
        self.before = [self.incoming(index, start) for index, start in enumerate(self.starts)]
        if len(self.starts) == 2:
            slot = self.slot
            self.e.function.line(
                f"%index{slot} = phi i64 [%first{slot}, %entry], [%following{slot}, %loop]"
            )

    def incoming(self, index: int, start: Operand) -> Operand:
        """A phi of `start` and the value that `combine` will name."""
        part = PARTS.get(start.dtype)
        name = f"a{self.slot}_{index}"
        texts = []
        for letter, text in zip("ri", (start.text, start.imag), strict=True):
            if text is not None:
                type = self.e.type_of(part or start.dtype)
                self.e.function.line(
                    f"%{name}{letter} = phi {type} [{text}, %entry], [%n{name}{letter}, %loop]"
                )
                texts.append(f"%{name}{letter}")
        return Operand(texts[0], start.dtype, texts[1] if part else None)

    def combine(self, word: str, value: Operand) -> None:
        """Take one chunk in."""
        if word in INDEX_WORDS:
            after = self.combine_index(word, value)
        else:
            after = [combine(self.e, word, self.before[0], value)]
        self.after = [self.outgoing(index, operand) for index, operand in enumerate(after)]

    def outgoing(self, index: int, operand: Operand) -> Operand:
        """Give a value the name that the phi waits for."""
        part = PARTS.get(operand.dtype)
        type = self.e.type_of(part or operand.dtype)
        texts = []
        for letter, text in zip("ri", (operand.text, operand.imag), strict=True):
            if text is not None:
                name = f"%na{self.slot}_{index}{letter}"
                self.e.function.line(f"{name} = freeze {type} {text}")
                texts.append(name)
        return Operand(texts[0], operand.dtype, texts[1] if part else None)

    def combine_index(self, word: str, value: Operand) -> list[Operand]:
        """The first nan wins, then the extreme value with the lowest index; index -1 means none
        yet.
        """
        e, (best, where) = self.e, self.before
        order = less if word == "argmin" else greater
        better = apply(e, order, value, best)
        if value.dtype.kind in "fc":
            was_number = e.logical_not(apply(e, is_nan, best))
            new_nan = e.instruction("and", apply(e, is_nan, value), was_number)
            better = e.instruction("or", better, new_nan)
        better = e.instruction("or", better, e.compare("slt", where, e.constant(0, INDEX)))
        slot, lanes = self.slot, e.lanes
        base = e.spread(Operand(f"%index{slot}", INDEX), lanes)
        here = e.instruction("add", Operand(base, INDEX), Operand(_counting("i64", lanes), INDEX))
        e.function.line(f"%following{slot} = add i64 %index{slot}, {lanes}")
        return [e.select(better, value, best), e.select(better, here, where)]

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
        for pointer, value in zip(self.pointers, values, strict=True):
            self.phase.store(value, pointer, ALIGNMENT)
        if len(values) == 2:
            e.function.line(
                f"store i64 %following{self.slot}, ptr {self.counter}, align {ALIGNMENT}"
            )


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
