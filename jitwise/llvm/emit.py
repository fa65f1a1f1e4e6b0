"""Kernels to LLVM text: one function per phase, one loop body per phase, no tail.

    void phase(ptr pointers, ptr steps, i64 chunks, i64 valid, ptr accumulators, ptr scalars)

The entry block holds the prologue, on single values; the loop block one chunk, on vectors of `lanes` values; LLVM splits those
into native vectors. The driver guarantees `lanes` elements behind every pointer, so the body is written once; lanes of the last
chunk from `valid` on repeat a valid element. Only a reduction that counts an element twice (add, multiply, xor) must
leave those lanes out, and does so after the loop, by taking them from the accumulator as it was before the last chunk.

    entry:                             loop:                                      done:
      %v1 = load ptr, ptr ...            %p0 = phi ptr [...], [...]                 store accumulators
      prologue                           %v4 = load <64 x float>, ptr %p0, align 1   br exit
      br %any, loop, exit                ... br %more, loop, done

Memory is never assumed to be aligned. Complex values are interleaved in memory and a pair of vectors in a body.

Accumulator r begins at `accumulator_offsets(kernel)[r]`: `lanes` elements; argmin and argmax go on with `lanes` indices (i64,
-1 before the first element) and one i64, the index of the first element of the next chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ir.builder import CONSTANT
from ..kernel.nest import INDEX, INDEX_WORDS, Compute, Kernel, Load, Phase, Reduce, Reduction, Statement, Store, value_dtypes
from .operations import BOOL, Operand, Operations
from .text import PARTS, SCALARS, FunctionText, literal, overload, widen

SIGNATURE = "ptr %pointers, ptr %steps, i64 %chunks, i64 %valid, ptr %accumulators, ptr %scalars"
COUNTED = ("add", "multiply", "xor")  # what an element must not enter twice
ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class ModuleText:
    """LLVM text of some kernels: function names of each kernel's phases, and the outside symbols it calls."""

    text: str
    functions: tuple[tuple[str, ...], ...]
    symbols: frozenset[str]


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
    return ModuleText("\n".join(parts) + "\n", tuple(names), frozenset(operations.symbols))


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
        emission = _PhaseEmission(self, self.kernel.phases[index])
        emission.entry()
        if self.kernel.phases[index].body:
            emission.loop()
        function.label("exit")
        function.line("ret void")
        allocations = function.allocations()
        return [f"define void @{name}({SIGNATURE}) nounwind {{", "entry:", *allocations, *function.lines, "}"]


class _PhaseEmission:
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
        self.accumulators: list[_Accumulator] = []

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
            self.function.line(f"%base{number} = load ptr, ptr {self.element('%pointers', 'ptr', number)}")
            self.function.line(f"%step{number} = load i64, ptr {self.element('%steps', 'i64', number)}")
        self.body_scalars = self.used_scalars()
        self.e.lanes = self.kernel.lanes
        if self.kernel.mode == "row":
            for statement in self.phase.body:
                if isinstance(statement, Reduce):
                    self.accumulators.append(_Accumulator(self, statement))
        self.function.line("%any = icmp sgt i64 %chunks, 0")
        self.function.line("br i1 %any, label %loop, label %exit")

    def element(self, base: str, type: str, index: int) -> str:
        """A pointer to element `index` of an array in memory."""
        return base if index == 0 else self.function.define(f"getelementptr {type}, ptr {base}, i64 {index}")

    def scalar_statement(self, statement: Statement) -> None:
        """A prologue statement, on one lane."""
        match statement:
            case Load(result, source):
                pointer = self.function.define(f"load ptr, ptr {self.element('%pointers', 'ptr', source)}")
                self.single[result] = self.load(pointer, self.outer.dtypes[result])
            case Compute(result, primitive, attrs, operands):
                if primitive is CONSTANT:
                    self.constants[result] = attrs[0][1]
                    return
                arguments = [self.scalar(operand) for operand in operands]
                self.single[result] = self.apply(primitive, attrs, arguments)
            case Store(target, value):
                pointer = self.function.define(f"load ptr, ptr {self.element('%pointers', 'ptr', target)}")
                self.store(self.scalar(value), pointer)

    def apply(self, primitive: Any, attrs: tuple, arguments: list[Operand]) -> Operand:
        """The primitive's own lowering for the dtype kind of its first operand."""
        return primitive.lower[arguments[0].dtype.kind](self.e, dict(attrs), *arguments)

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

    def loop(self) -> None:
        """One chunk, then the accumulators' way back to memory."""
        function = self.function
        function.label("loop")
        function.line("%left = phi i64 [%chunks, %entry], [%less, %loop]")
        for number in self.moving:
            function.line(f"%p{number} = phi ptr [%base{number}, %entry], [%next{number}, %loop]")
        for accumulator in self.accumulators:
            accumulator.begin()
        for number, operand in self.body_scalars.items():
            self.vector[number] = self.splat(operand)
        waiting = iter(self.accumulators)
        for statement in self.phase.body:
            self.vector_statement(statement, waiting)
        for number in self.moving:
            function.line(f"%next{number} = getelementptr i8, ptr %p{number}, i64 %step{number}")
        function.line("%less = sub i64 %left, 1")
        function.line("%more = icmp ne i64 %less, 0")
        function.line(f"br i1 %more, label %loop, label %{'done' if self.accumulators else 'exit'}")
        if self.accumulators:
            function.label("done")
            for accumulator in self.accumulators:
                accumulator.finish()
            function.line("br label %exit")

    def used_scalars(self) -> dict[int, Operand]:
        """Single values that the body uses, in order of use; finished reductions are loaded here."""
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
            return self.e.complex(self.splat(self.e.real(operand)), self.splat(self.e.imag(operand)))
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
                self.vector[result] = self.load(f"%p{source}", self.outer.dtypes[result])
            case Compute(result, primitive, attrs, operands):
                self.vector[result] = self.apply(primitive, attrs, [self.value(each) for each in operands])
            case Store(target, value):
                self.store(self.value(value), f"%p{target}")
            case Reduce(_, word, value, None):
                next(waiting).combine(word, self.value(value))
            case Reduce(_, word, value, int(target)):
                before = self.load(f"%p{target}", self.outer.dtypes[target])
                self.store(combine(self.e, word, before, self.value(value)), f"%p{target}")

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
            return e.complex(real, e.define(f"load {scalar}, ptr {second}, align {min(alignment, 4)}", part))
        type, both = e.type_of(part), widen(scalar, 2 * e.lanes)
        name = f"llvm.vector.deinterleave2.{overload(scalar, 2 * e.lanes)}"
        e.declarations[name] = f"declare {{{type}, {type}}} @{name}({both})"
        memory = self.function.define(f"load {both}, ptr {pointer}, align {alignment}")
        parts = self.function.define(f"call {{{type}, {type}}} @{name}({both} {memory})")
        real, imag = (e.define(f"extractvalue {{{type}, {type}}} {parts}, {index}", part) for index in (0, 1))
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
        self.function.line(f"store {type} {text}, ptr {pointer}, align {alignment}")

    def store_pairs(self, operand: Operand, pointer: str, alignment: int) -> None:
        """Interleaved real and imaginary parts."""
        e, part = self.e, PARTS[operand.dtype]
        scalar = SCALARS[part]
        if e.lanes == 1:
            second = self.element(pointer, scalar, 1)
            self.function.line(f"store {scalar} {operand.text}, ptr {pointer}, align {alignment}")
            self.function.line(f"store {scalar} {operand.imag}, ptr {second}, align {min(alignment, 4)}")
            return
        type, both = e.type_of(part), widen(scalar, 2 * e.lanes)
        name = f"llvm.vector.interleave2.{overload(scalar, 2 * e.lanes)}"
        e.declarations[name] = f"declare {both} @{name}({type}, {type})"
        pairs = self.function.define(f"call {both} @{name}({type} {operand.text}, {type} {operand.imag})")
        self.function.line(f"store {both} {pairs}, ptr {pointer}, align {alignment}")


class _Accumulator:
    """One reduction of a row phase: in registers inside the loop, in memory between calls."""

    def __init__(self, phase: _PhaseEmission, statement: Reduce) -> None:
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
            self.counter = phase.element("%accumulators", "i8", offset + _aligned(INDEX.itemsize * lanes))
            self.e.function.line(f"%first{self.slot} = load i64, ptr {self.counter}, align {ALIGNMENT}")

    def begin(self) -> None:
        """The values at the start of a chunk."""
        self.before = [self.incoming(index, start) for index, start in enumerate(self.starts)]
        if len(self.starts) == 2:
            slot = self.slot
            self.e.function.line(f"%index{slot} = phi i64 [%first{slot}, %entry], [%following{slot}, %loop]")

    def incoming(self, index: int, start: Operand) -> Operand:
        """A phi of `start` and the value that `combine` will name."""
        part = PARTS.get(start.dtype)
        name = f"a{self.slot}_{index}"
        texts = []
        for letter, text in zip("ri", (start.text, start.imag), strict=True):
            if text is not None:
                type = self.e.type_of(part or start.dtype)
                self.e.function.line(f"%{name}{letter} = phi {type} [{text}, %entry], [%n{name}{letter}, %loop]")
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
        """The first nan wins, then the extreme value with the lowest index; index -1 means none yet."""
        e, (best, where) = self.e, self.before
        kind = value.dtype.kind
        order = "lt" if word == "argmin" else "gt"
        if kind == "f":
            better = e.compare("o" + order, value, best)
            new_nan = e.instruction("and", e.is_nan(value), e.compare("ord", best, best))
            better = e.instruction("or", better, new_nan)
        elif kind == "b":
            wanted = e.instruction("xor", value, best)
            better = e.instruction("and", wanted, value if word == "argmax" else best)
        else:
            better = e.compare(("u" if kind == "u" else "s") + order, value, best)
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
            e.function.line(f"store i64 %following{self.slot}, ptr {self.counter}, align {ALIGNMENT}")


def combine(e: Operations, word: str, before: Operand, value: Operand) -> Operand:
    """One step of a reduction, as NumPy's ufunc of that name."""
    kind = value.dtype.kind
    match word:
        case "add" if kind == "c":
            real = e.instruction("fadd", e.real(before), e.real(value))
            return e.complex(real, e.instruction("fadd", e.imag(before), e.imag(value)))
        case "add" | "multiply" if kind == "b":
            return e.instruction("or" if word == "add" else "and", before, value)
        case "add":
            return e.instruction("fadd" if kind == "f" else "add", before, value)
        case "multiply" if kind == "c":
            (a, b), (c, d) = ((e.real(z), e.imag(z)) for z in (before, value))
            real = e.instruction("fsub", e.instruction("fmul", a, c), e.instruction("fmul", b, d))
            return e.complex(real, e.instruction("fadd", e.instruction("fmul", a, d), e.instruction("fmul", b, c)))
        case "multiply":
            return e.instruction("fmul" if kind == "f" else "mul", before, value)
        case "min":
            return e.minimum(before, value)
        case "max":
            return e.maximum(before, value)
        case "and" | "or" | "xor":
            return e.instruction(word, before, value)
    raise ValueError(f"a reduction {word} of dtype kind {kind} has no combination")


def _counting(scalar: str, lanes: int) -> str:
    return "<" + ", ".join(f"{scalar} {literal(lane, INDEX)}" for lane in range(lanes)) + ">"


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
