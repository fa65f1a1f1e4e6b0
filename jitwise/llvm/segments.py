"""The loops of a phase that is cut at its calls (see `kernel.segments`).

    loop:      one chunk, %count elements of which are wanted
    segment0:  %i0 = phi i64 [0, %loop], [%j0, %segment0]      a part of the chunk
    calls0:    call void @jitwise_sine_f32(ptr %p0, ptr %kept0, i64 %count)
    segment1:  ...                                             stores to the outputs
    advance:   the next chunk

Values that cross a call are in buffers on the stack, used again when their value is no longer
wanted. A call reads an input where it is; the result of a last call that is only stored goes
straight to the output. The last chunk of a short array asks for `valid` elements, not for all.
A part of it that a call has left half done is filled up, so that no flag is raised by chance.

Note: [Segments]
    six times y -> y*2 + sin(y), then y/3 + cos(y); ns per element, one thread, AVX-512
                                              f32      f64
    chunks of 8 vectors in one block          1.40     3.00
    segments, chunks of 8 vectors             1.17     2.76
    segments, chunks of 16, parts of 8        1.00     2.50
    segments, chunks of 24, parts of 8        1.03     2.55
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from ..kernel.nest import Compute, Load, Statement, Store
from ..kernel.segments import Segment, math_name
from . import mathlib
from .operations import Operand
from .text import SCALARS, widen

if TYPE_CHECKING:
    from .emit import PhaseEmission


class SegmentLoops:
    """Writes the loop over chunks of one phase."""

    def __init__(self, emission: PhaseEmission, segments: list[Segment]) -> None:
        self.emission = emission
        self.segments = segments
        self.e = emission.e
        self.function = emission.function
        self.lanes = emission.kernel.lanes
        self.part = self.lanes // 2
        body = emission.phase.body
        self.sources = {each.result: each.source for each in body if isinstance(each, Load)}
        self.filled: dict[int, str] = {}
        self.direct = self.find_direct()
        self.buffers = self.assign_buffers()

    def dtype(self, number: int) -> np.dtype:
        """Of a value, an operand or scratch."""
        return self.emission.outer.dtypes[number]

    # ---- buffers

    def find_direct(self) -> dict[int, int]:
        """The result of a call that writes to an output itself, and that output."""
        if len(self.segments) < 2 or len(self.segments[-1].statements) != 1:
            return {}
        calls, (statement,) = self.segments[-2].calls, self.segments[-1].statements
        if not isinstance(statement, Store) or [each.result for each in calls] != [statement.value]:
            return {}
        return {statement.value: statement.target}

    def lifetimes(self) -> Iterator[tuple[int, list[int], list[int]]]:
        """At every segment and every group of calls: (even or odd time, defined, wanted)."""
        for index, segment in enumerate(self.segments):
            yield 2 * index, list(segment.kept), list(segment.found)
            defined = [each.result for each in segment.calls if each.result not in self.direct]
            wanted = [number for each in segment.calls for number in each.operands]
            yield 2 * index + 1, defined, wanted

    def assign_buffers(self) -> dict[int, str]:
        """The buffer of every value that crosses a call. A segment may write where it has read."""
        last: dict[int, int] = {}
        for time, _, wanted in self.lifetimes():
            last.update(dict.fromkeys(wanted, time))
        buffers: dict[int, str] = {}
        free: dict[int, list[str]] = {}
        count = 0
        for time, defined, wanted in self.lifetimes():
            ending = [n for n in dict.fromkeys(wanted) if last[n] == time and n in buffers]
            if time % 2 == 0:
                self.give_back(ending, buffers, free)
            for number in defined:
                size = self.dtype(number).itemsize
                if free.get(size):
                    buffers[number] = free[size].pop()
                    continue
                buffers[number] = self.function.buffer(f"_kept{count}", size * self.lanes)
                count += 1
            if time % 2:
                self.give_back(ending, buffers, free)
        return buffers

    def give_back(
        self, numbers: list[int], buffers: dict[int, str], free: dict[int, list[str]]
    ) -> None:
        """Let later values have the buffers of `numbers`."""
        for number in numbers:
            free.setdefault(self.dtype(number).itemsize, []).append(buffers[number])

    def entry(self) -> None:
        """The end of the entry block: buffers with the single values that calls take."""
        calls = [call for segment in self.segments for call in segment.calls]
        for number in dict.fromkeys(number for call in calls for number in call.operands):
            if number in self.buffers or number in self.sources:
                continue
            dtype = self.dtype(number)
            buffer = self.function.buffer(f"_filled{number}", dtype.itemsize * self.lanes)
            value = self.single(number).text
            type = widen(SCALARS[dtype], self.lanes)
            self.function.line(f"store {type} {value}, ptr {buffer}, align 64")
            self.filled[number] = buffer
        padding = mathlib.PADDING
        self.function.line(f"%above = add i64 %valid, {padding - 1}")
        self.function.line(f"%rounded = and i64 %above, {-padding}")

    def single(self, number: int) -> Operand:
        """A constant or a value of the prologue, in every lane."""
        if number in self.emission.constants:
            return self.e.constant(self.emission.constants[number], self.dtype(number))
        return self.emission.splat(self.emission.body_scalars[number])

    # ---- the loops

    def chunks(self, before: str) -> None:
        """The loop over chunks, entered from the block `before`."""
        function, moving = self.function, self.emission.moving
        function.label("loop")
        function.line(f"%left = phi i64 [%chunks, %{before}], [%less, %advance]")
        for number in moving:
            function.line(
                f"%p{number} = phi ptr [%base{number}, %{before}], [%next{number}, %advance]"
            )
        function.line("%final = icmp eq i64 %left, 1")
        function.line(f"%count = select i1 %final, i64 %rounded, i64 {self.lanes}")
        function.line(f"%short = urem i64 %count, {self.part}")
        block = "loop"
        for index, segment in enumerate(self.segments):
            if segment.statements and not (self.direct and segment is self.segments[-1]):
                self.loop(index, segment, block)
                block = f"calls{index}"
            for call in segment.calls:
                self.call(call)
            block = self.pad(index, segment, block)
        function.line("br label %advance")
        function.label("advance")
        for number in moving:
            function.line(f"%next{number} = getelementptr i8, ptr %p{number}, i64 %step{number}")
        function.line("%less = sub i64 %left, 1")
        function.line("%more = icmp ne i64 %less, 0")
        function.line("br i1 %more, label %loop, label %exit")

    def loop(self, index: int, segment: Segment, block: str) -> None:
        """One segment, part after part."""
        function, emission = self.function, self.emission
        function.line(f"br label %segment{index}")
        function.label(f"segment{index}")
        function.line(f"%i{index} = phi i64 [0, %{block}], [%j{index}, %segment{index}]")
        self.e.lanes = self.part
        emission.places = {}
        emission.vector = {number: self.found(number, index) for number in segment.found}
        for statement in segment.statements:
            self.supply(statement, index)
            emission.vector_statement(statement, iter(()))
        for number in segment.kept:
            dtype = self.dtype(number)
            place = self.at(self.buffers[number], dtype, index)
            emission.store(emission.vector[number], place, self.alignment(dtype))
        self.e.lanes = self.lanes
        function.line(f"%j{index} = add i64 %i{index}, {self.part}")
        function.line(f"%again{index} = icmp ult i64 %j{index}, %count")
        function.line(f"br i1 %again{index}, label %segment{index}, label %calls{index}")
        function.label(f"calls{index}")

    def found(self, number: int, index: int) -> Operand:
        """A part of a value that an earlier segment or call has left in memory."""
        dtype = self.dtype(number)
        place = self.at(self.buffers[number], dtype, index)
        return self.emission.load(place, dtype, self.alignment(dtype))

    def supply(self, statement: Statement, index: int) -> None:
        """Where a statement's memory is, and the single values it takes."""
        emission = self.emission
        if isinstance(statement, (Load, Store)):
            number = statement.source if isinstance(statement, Load) else statement.target
            emission.places[number] = self.at(f"%p{number}", self.dtype(number), index)
        numbers = statement.operands if isinstance(statement, Compute) else ()
        if isinstance(statement, Store):
            numbers = (statement.value,)
        for number in numbers:
            if number in emission.body_scalars and number not in emission.vector:
                emission.vector[number] = self.single(number)

    def at(self, base: str, dtype: np.dtype, index: int) -> str:
        """The address of the part of the chunk that begins at `base`."""
        return self.function.define(
            f"getelementptr [{dtype.itemsize} x i8], ptr {base}, i64 %i{index}"
        )

    def alignment(self, dtype: np.dtype) -> int:
        """Of a part of a buffer."""
        return gcd(64, self.part * dtype.itemsize)

    def call(self, call: Compute) -> None:
        """A function of the math library over the whole chunk."""
        arguments = [f"ptr {self.address(number)}" for number in (*call.operands, call.result)]
        name = math_name(call)
        symbol = self.e.math_symbol(name, self.dtype(call.result), len(call.operands))
        self.function.line(f"call void @{symbol}({', '.join(arguments)}, i64 %count)")

    def pad(self, index: int, segment: Segment, block: str) -> str:
        """Fill the part that calls have left half done with numbers that they gave: what it holds
        by chance would raise floating-point flags. The block in which to go on.
        """
        read = {number for later in self.segments[index + 1 :] for number in later.found}
        results = [each.result for each in segment.calls if each.result in read - set(self.direct)]
        if not results:
            return block
        function, padding = self.function, mathlib.PADDING
        function.line(f"%half{index} = icmp ne i64 %short, 0")
        function.line(f"br i1 %half{index}, label %pad{index}, label %padded{index}")
        function.label(f"pad{index}")
        function.line(f"%k{index} = phi i64 [%count, %{block}], [%l{index}, %pad{index}]")
        for number in results:
            scalar, buffer = SCALARS[self.dtype(number)], self.buffers[number]
            type = widen(scalar, padding)
            place = function.define(f"getelementptr {scalar}, ptr {buffer}, i64 %k{index}")
            before = function.define(f"getelementptr {scalar}, ptr {place}, i64 {-padding}")
            numbers = function.define(f"load {type}, ptr {before}, align 64")
            function.line(f"store {type} {numbers}, ptr {place}, align 64")
        function.line(f"%l{index} = add i64 %k{index}, {padding}")
        function.line(f"%m{index} = urem i64 %l{index}, {self.part}")
        function.line(f"%more{index} = icmp ne i64 %m{index}, 0")
        function.line(f"br i1 %more{index}, label %pad{index}, label %padded{index}")
        function.label(f"padded{index}")
        return f"padded{index}"

    def address(self, number: int) -> str:
        """Where a whole value of a call begins."""
        if number in self.direct:
            return f"%p{self.direct[number]}"
        if number in self.sources:
            return f"%p{self.sources[number]}"
        return self.buffers.get(number) or self.filled[number]
