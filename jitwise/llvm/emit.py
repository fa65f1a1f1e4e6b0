"""Kernels to LLVM text: one function per phase, one loop body per phase, no tail.

    void phase(ptr pointers, ptr steps, i64 chunks, i64 valid, ptr accumulators, ptr scalars)

The entry block holds the prologue, on single values; the loop block one chunk, on vectors of
`lanes` values; LLVM splits those into native vectors. The driver guarantees `lanes` elements behind
every pointer, so the body is written once; lanes of the last chunk from `valid` on repeat a valid
element. Only a reduction that counts an element twice (add, multiply, xor) must leave those lanes
out, and does so after the loop, by taking them from the accumulator as it was before the last
chunk.

    entry:                             loop:                                      done:
      %v1 = load ptr, ptr ...            %p0 = phi ptr [...], [...]              store accumulators
      prologue                           %v4 = load <64 x float>, ptr %p0, align 1   br exit
      br %any, loop, exit                ... br %more, loop, done

A column kernel takes several rows at a call and has another signature: see `columns`.

A phase that memory alone keeps busy takes a chunk in parts, one after another (see `schedule`). A
short one of a map has its loop twice: `stream` stores past the caches, for outputs that begin at
cache lines and are far larger than the caches, or when the driver passes any `scalars` at all.
Elsewhere memory is never assumed to be aligned. Complex values are interleaved in memory and a pair
of vectors in a body.

Note: [Streams]
    GB/s, float64 arrays of 256 MB, one thread; np.copyto 29.8
    (a * 2 + 1) * 3     26.9     streaming 34.6
    a * 2 + b           29.8     streaming 38.1
    A second loop of up to twelve operations takes 0.2 ms to compile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ir.builder import CONSTANT
from ..kernel.nest import (
    Compute,
    Kernel,
    Load,
    Phase,
    Reduce,
    Reduction,
    Statement,
    Store,
    value_dtypes,
)
from ..kernel.schedule import choose_parts
from ..kernel.segments import cut
from .accumulate import Accumulator, accumulator_offsets
from .columns import COLUMN_SIGNATURE, ColumnAccumulator, column_entry, column_loops
from .operations import BOOL, Operand, Operations
from .segments import SegmentLoops
from .text import PARTS, SCALARS, FunctionText, overload, widen

CACHE_LINE = 64
RELAXED = ("add", "subtract", "multiply", "divide")  # what fastmath is about; no guard, no rounding
STREAMED_BYTES = 16 << 20  # of outputs, in one call: each thread is given a share of an array
STREAMED_STATEMENTS = 12
STREAMED = "!0 = !{i32 1}"  # what `!nontemporal` wants to be pointed at
SIGNATURE = "ptr %pointers, ptr %steps, i64 %chunks, i64 %valid, ptr %accumulators, ptr %scalars"


class ModuleText(NamedTuple):
    """LLVM text of some kernels: function names of each kernel's phases, and the outside symbols it
    calls. `is_plain`: it is one function, in which LLVM will not find loops for its vectors.
    """

    text: str
    functions: tuple[tuple[str, ...], ...]
    symbols: frozenset[str]
    is_plain: bool = False


def emit_kernels(kernels: Sequence[Kernel]) -> ModuleText:
    """One module with every phase of every kernel."""
    operations = Operations()
    lines: list[str] = []
    names: list[tuple[str, ...]] = []
    for number, kernel in enumerate(kernels):
        emission = _KernelEmission(kernel, operations)
        phases = tuple(f"kernel{number}_phase{index}" for index in range(len(kernel.phases)))
        for index, name in enumerate(phases):
            lines += emission.phase(index, name)
        names.append(phases)
    parts = [*operations.declarations.values(), *operations.support.values(), *lines]
    if operations.metadata:
        parts.append(operations.metadata)
    return ModuleText("\n".join(parts) + "\n", tuple(names), frozenset(operations.symbols))


class _KernelEmission:
    """Facts of one kernel that its phases share."""

    def __init__(self, kernel: Kernel, operations: Operations) -> None:
        self.kernel = kernel
        self.operations = operations
        self.dtypes = value_dtypes(kernel)
        self.reductions: tuple[Reduction, ...] = kernel.reductions
        self.offsets = accumulator_offsets(kernel)[0]
        reduces = [statement for statement in kernel.statements() if isinstance(statement, Reduce)]
        self.slots = {statement: index for index, statement in enumerate(reduces)}
        self.finished = {s.result: index for index, s in enumerate(reduces) if s.result is not None}

    def phase(self, index: int, name: str) -> list[str]:
        """The lines of one phase's function."""
        function = self.operations.function = FunctionText()
        emission = PhaseEmission(self, self.kernel.phases[index])
        emission.entry()
        if self.kernel.phases[index].body:
            emission.loops()
        function.label("exit")
        function.line("ret void")
        allocations = function.allocations()
        signature = COLUMN_SIGNATURE if self.kernel.mode == "column" else SIGNATURE
        return [
            f"define void @{name}({signature}) nounwind {{",
            "entry:",
            *allocations,
            *function.lines,
            "}",
        ]


class PhaseEmission:
    """Writes one phase. `single` are its prologue's values, `vector` its body's."""

    def __init__(self, outer: _KernelEmission, phase: Phase) -> None:
        self.outer = outer
        self.phase = phase
        self.kernel = outer.kernel
        self.e = outer.operations
        self.function = outer.operations.function
        self.single: dict[int, Operand] = {}
        self.constants: dict[int, Any] = {}
        self.vector: dict[int, Operand] = {}
        self.body_scalars: dict[int, Operand] = {}
        self.moving: list[int] = []
        self.accumulators: list[Accumulator] = []
        self.column_accumulators: list[ColumnAccumulator] = []
        self.places: dict[int, str] = {}
        self.parts = choose_parts(phase)
        self.segments: SegmentLoops | None = None
        self.before = "entry"  # the block before the loop
        self.streaming = False

    # ---- the entry block

    def entry(self) -> None:
        """Prologue, loop pointers, accumulators."""
        self.e.lanes = 1
        touched = {_memory_of(statement) for statement in self.phase.body}
        self.moving = sorted(number for number in touched if number is not None)
        for statement in self.phase.prologue:
            self.scalar_statement(statement)
        if not self.phase.body:
            self.function.line("br label %exit")
            return
        for number in self.moving:
            self.function.line(
                f"%base{number} = load ptr, ptr {self.element('%pointers', 'ptr', number)}"
            )
            self.function.line(
                f"%step{number} = load i64, ptr {self.element('%steps', 'i64', number)}"
            )
        self.body_scalars = self.used_scalars()
        self.e.lanes = self.kernel.lanes
        reduces = [each for each in self.phase.body if isinstance(each, Reduce)]
        if self.kernel.mode == "column":
            self.column_accumulators = [ColumnAccumulator(self, each) for each in reduces]
            column_entry(self)
        else:
            self.accumulators = [Accumulator(self, each) for each in reduces]
        streams = self.streams()
        if streams:
            self.function.line(f"br i1 {self.large(streams)}, label %stream, label %cached")
            self.function.label("cached")
            self.before = "cached"
        segments = cut(self.phase, self.outer.dtypes) if self.kernel.mode == "map" else []
        if segments:
            self.segments = SegmentLoops(self, segments)
            self.segments.entry()
        self.function.line("%any = icmp sgt i64 %chunks, 0")
        self.function.line("br i1 %any, label %loop, label %exit")

    def element(self, base: str, type: str, index: int) -> str:
        """A pointer to element `index` of an array in memory."""
        return (
            base
            if index == 0
            else self.function.define(f"getelementptr {type}, ptr {base}, i64 {index}")
        )

    def scalar_statement(self, statement: Statement) -> None:
        """A prologue statement, on one lane."""
        match statement:
            case Load(result, source):
                pointer = self.function.define(
                    f"load ptr, ptr {self.element('%pointers', 'ptr', source)}"
                )
                self.single[result] = self.load(pointer, self.outer.dtypes[result])
            case Compute(result, primitive, attrs, operands):
                if primitive is CONSTANT:
                    self.constants[result] = attrs[0][1]
                    return
                arguments = [self.scalar(operand) for operand in operands]
                self.single[result] = self.apply(primitive, attrs, arguments)
            case Store(target, value):
                pointer = self.function.define(
                    f"load ptr, ptr {self.element('%pointers', 'ptr', target)}"
                )
                self.store(self.scalar(value), pointer)

    def apply(self, primitive: Any, attrs: tuple, arguments: list[Operand]) -> Operand:
        """The primitive's own lowering for the dtype kind of its first operand."""
        self.e.relaxed = self.kernel.fastmath and primitive.name in RELAXED
        result = primitive.lower[arguments[0].dtype.kind](self.e, dict(attrs), *arguments)
        self.e.relaxed = False
        return result

    def scalar(self, number: int) -> Operand:
        """A value of the prologue, or a finished reduction."""
        if number in self.constants:
            return self.e.constant(self.constants[number], self.outer.dtypes[number])
        found = self.single.get(number)
        if found is None:
            slot = self.outer.finished[number]
            pointer = self.element("%scalars", "[16 x i8]", slot)
            found = self.single[number] = self.load(pointer, self.outer.dtypes[number])
        return found

    # ---- the loop

    def loops(self) -> None:
        """The loop, the accumulators' way back to memory, and the loop that streams."""
        if self.kernel.mode == "column":
            column_loops(self)
            return
        function = self.function
        if self.segments is not None:
            self.segments.chunks(self.before)
            return
        self.loop("loop", self.before, "done" if self.accumulators else "exit")
        if self.accumulators:
            function.label("done")
            for accumulator in self.accumulators:
                accumulator.finish()
            function.line("br label %exit")
        if self.before == "cached":
            self.streaming = True
            self.e.metadata = STREAMED
            self.loop("stream", "entry", "fenced")
            self.streaming = False
            function.label("fenced")
            function.line("fence seq_cst")  # streamed stores are not ordered by later ones
            function.line("br label %exit")

    def loop(self, label: str, before: str, after: str) -> None:
        """One chunk."""
        function, suffix = self.function, "s" if self.streaming else ""
        function.label(label)
        function.line(f"%left{suffix} = phi i64 [%chunks, %{before}], [%less{suffix}, %{label}]")
        for number in self.moving:
            next = f"%next{number}{suffix}"
            function.line(
                f"%p{number}{suffix} = phi ptr [%base{number}, %{before}], [{next}, %{label}]"
            )
        for accumulator in self.accumulators:
            accumulator.begin()
        self.e.lanes //= self.parts
        splats = {number: self.splat(operand) for number, operand in self.body_scalars.items()}
        for part in range(self.parts):
            self.vector = dict(splats)
            self.places = {
                number: self.place(number, f"%p{number}{suffix}", part) for number in self.moving
            }
            waiting = iter(self.accumulators)
            for statement in self.phase.body:
                self.vector_statement(statement, waiting)
        self.e.lanes = self.kernel.lanes
        for number in self.moving:
            function.line(
                f"%next{number}{suffix} = "
                f"getelementptr i8, ptr %p{number}{suffix}, i64 %step{number}"
            )
        function.line(f"%less{suffix} = sub i64 %left{suffix}, 1")
        function.line(f"%more{suffix} = icmp ne i64 %less{suffix}, 0")
        function.line(f"br i1 %more{suffix}, label %{label}, label %{after}")

    def streams(self) -> list[int]:
        """The outputs, if the phase has a loop that streams them: light, and whole cache lines."""
        kernel = self.kernel
        if kernel.mode != "map" or self.parts == 1:
            return []
        if sum(isinstance(each, Compute) for each in self.phase.body) > STREAMED_STATEMENTS:
            return []
        outputs = [n for n in self.moving if kernel.operands[n].is_output]
        sizes = [kernel.operands[n].dtype.itemsize * kernel.lanes // self.parts for n in outputs]
        return outputs if all(size % CACHE_LINE == 0 for size in sizes) else []

    def large(self, outputs: list[int]) -> str:
        """Whether this call is to stream."""
        define, kernel = self.function.define, self.kernel
        size = sum(kernel.operands[n].dtype.itemsize for n in outputs) * kernel.lanes
        many = define(f"icmp sge i64 %chunks, {STREAMED_BYTES // size}")
        told = define("icmp ne ptr %scalars, null")
        wanted = define(f"or i1 {many}, {told}")
        places = [define(f"ptrtoint ptr %base{n} to i64") for n in outputs]
        together = places[0]
        for place in places[1:]:
            together = define(f"or i64 {together}, {place}")
        low = define(f"and i64 {together}, {CACHE_LINE - 1}")
        aligned = define(f"icmp eq i64 {low}, 0")
        some = define("icmp sgt i64 %chunks, 0")
        return define(f"and i1 {some}, {define(f'and i1 {wanted}, {aligned}')}")

    def place(self, number: int, start: str, part: int) -> str:
        """Where one part of a chunk of an operand begins."""
        if part == 0:
            return start
        dtypes = [*[operand.dtype for operand in self.kernel.operands], *self.kernel.scratch]
        size = dtypes[number].itemsize * self.e.lanes * part
        return self.function.define(f"getelementptr i8, ptr {start}, i64 {size}")

    def used_scalars(self) -> dict[int, Operand]:
        """Single values that the body uses, in order of use; finished reductions are loaded."""
        used: dict[int, Operand] = {}
        defined = {s.result for s in self.phase.body if isinstance(s, (Load, Compute))}
        for statement in self.phase.body:
            for number in _values_of(statement):
                if number not in defined and number not in self.constants and number not in used:
                    used[number] = self.scalar(number)
        return used

    def splat(self, operand: Operand) -> Operand:
        """A single value in every lane."""
        if operand.imag is not None:
            return self.e.complex(
                self.splat(self.e.real(operand)), self.splat(self.e.imag(operand))
            )
        return Operand(self.e.spread(operand, self.e.lanes), operand.dtype)

    def value(self, number: int) -> Operand:
        """A value as a vector."""
        if number in self.constants:
            return self.e.constant(self.constants[number], self.outer.dtypes[number])
        return self.vector[number]

    def vector_statement(self, statement: Statement, waiting: Any) -> None:
        """A body statement, on `lanes` lanes."""
        match statement:
            case Load(result, source):
                self.vector[result] = self.load(self.places[source], self.outer.dtypes[result])
            case Compute(result, primitive, attrs, operands):
                self.vector[result] = self.apply(
                    primitive, attrs, [self.value(each) for each in operands]
                )
            case Store(target, value):
                self.store(self.value(value), self.places[target])
            case Reduce(_, word, value, _):
                next(waiting).combine(word, self.value(value))

    # ---- memory

    def load(self, pointer: str, dtype: np.dtype, alignment: int = 1) -> Operand:
        """`lanes` consecutive elements."""
        e = self.e
        part = PARTS.get(dtype)
        if part is not None:
            return self.load_pairs(pointer, part, alignment)
        if dtype.kind == "b":
            type = widen("i8", e.lanes)
            bytes = self.function.define(f"load {type}, ptr {pointer}, align {alignment}")
            zero = "0" if e.lanes == 1 else "zeroinitializer"
            return e.define(f"icmp ne {type} {bytes}, {zero}", BOOL)
        return e.define(f"load {e.type_of(dtype)}, ptr {pointer}, align {alignment}", dtype)

    def load_pairs(self, pointer: str, part: np.dtype, alignment: int) -> Operand:
        """Interleaved real and imaginary parts."""
        e, scalar = self.e, SCALARS[part]
        if e.lanes == 1:
            second = self.element(pointer, scalar, 1)
            real = e.define(f"load {scalar}, ptr {pointer}, align {alignment}", part)
            return e.complex(
                real, e.define(f"load {scalar}, ptr {second}, align {min(alignment, 4)}", part)
            )
        type, both = e.type_of(part), widen(scalar, 2 * e.lanes)
        name = f"llvm.vector.deinterleave2.{overload(scalar, 2 * e.lanes)}"
        e.declarations[name] = f"declare {{{type}, {type}}} @{name}({both})"
        memory = self.function.define(f"load {both}, ptr {pointer}, align {alignment}")
        parts = self.function.define(f"call {{{type}, {type}}} @{name}({both} {memory})")
        real, imag = (
            e.define(f"extractvalue {{{type}, {type}}} {parts}, {index}", part) for index in (0, 1)
        )
        return e.complex(real, imag)

    def store(self, operand: Operand, pointer: str, alignment: int = 1) -> None:
        """The only place that writes an element to memory."""
        e, dtype = self.e, operand.dtype
        if operand.imag is not None:
            self.store_pairs(operand, pointer, alignment)
            return
        type, text = e.type_of(dtype), operand.text
        if dtype.kind == "b":
            mask, type = type, widen("i8", e.lanes)
            text = self.function.define(f"zext {mask} {text} to {type}")
        self.write(type, text, pointer, alignment)

    def write(self, type: str, text: str, pointer: str, alignment: int) -> None:
        """Store a value of LLVM type `type`; past the caches when streaming."""
        where = f"align {alignment}"
        if self.streaming:
            where = f"align {CACHE_LINE}, !nontemporal !0"
        self.function.line(f"store {type} {text}, ptr {pointer}, {where}")

    def store_pairs(self, operand: Operand, pointer: str, alignment: int) -> None:
        """Interleaved real and imaginary parts."""
        e, part = self.e, PARTS[operand.dtype]
        scalar = SCALARS[part]
        if e.lanes == 1:
            second = self.element(pointer, scalar, 1)
            self.function.line(f"store {scalar} {operand.text}, ptr {pointer}, align {alignment}")
            self.function.line(
                f"store {scalar} {operand.imag}, ptr {second}, align {min(alignment, 4)}"
            )
            return
        type, both = e.type_of(part), widen(scalar, 2 * e.lanes)
        name = f"llvm.vector.interleave2.{overload(scalar, 2 * e.lanes)}"
        e.declarations[name] = f"declare {both} @{name}({type}, {type})"
        pairs = self.function.define(
            f"call {both} @{name}({type} {operand.text}, {type} {operand.imag})"
        )
        self.write(both, pairs, pointer, alignment)


def _memory_of(statement: Statement) -> int | None:
    match statement:
        case Load(_, source):
            return source
        case Store(target, _):
            return target
        case Reduce(_, _, _, target):
            return target
    return None


def _values_of(statement: Statement) -> tuple[int, ...]:
    match statement:
        case Compute(_, _, _, operands):
            return operands
        case Store(_, value):
            return (value,)
        case Reduce(_, _, value, _):
            return (value,)
    return ()
