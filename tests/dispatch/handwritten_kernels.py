"""Kernels as LLVM text written by hand, so that the driver is tested without the code generator.

`PhaseText` writes a phase, `compile_text` makes machine code, and the functions below make whole
kernels of it. The phase signature is the one that the native runtime calls; column kernels are
given the number of rows for `valid`, where to begin for `accumulators`, and the distances between
rows for `scalars`.
"""

from __future__ import annotations

import functools
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from jitwise.runtime import _native

SIGNATURE = "ptr %pointers, ptr %steps, i64 %chunks, i64 %valid, ptr %accumulators, ptr %scalars"
LLVM = {
    "f64": "double",
    "f32": "float",
    "i64": "i64",
    "i32": "i32",
    "i8": "i8",
    "u8": "i8",
    "i16": "i16",
}
NUMPY = {"f64": "f8", "f32": "f4", "i64": "i8", "i32": "i4", "i8": "i1", "u8": "u1", "i16": "i2"}
_engines: list[Any] = []


@functools.cache
def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        opt=1, cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten()
    )


@functools.cache
def compile_text(text: str) -> Any:
    """The engine that holds the code of one module of text; kept for the life of the process."""
    module = llvm.parse_assembly(text)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, _machine())
    engine.finalize_object()
    _engines.append(engine)
    return engine


def _float(dtype: str) -> bool:
    return dtype.startswith("f")


class PhaseText:
    """Writes one phase: loads at the top of a chunk, a body, stores at its end."""

    def __init__(self, name: str, lanes: int, dtype: str) -> None:
        self.name, self.lanes, self.dtype = name, lanes, LLVM[dtype]
        self.vector = f"<{lanes} x {self.dtype}>"
        self.entry: list[str] = []
        self.body: list[str] = []
        self.done: list[str] = []
        self.moving: set[int] = set()
        self.phis: list[str] = []

    def pointer(self, k: int) -> None:
        """Operand k's address per chunk as %p<k>."""
        if k in self.moving:
            return
        self.moving.add(k)
        self.entry += [
            f"%pp{k} = getelementptr ptr, ptr %pointers, i64 {k}",
            f"%start{k} = load ptr, ptr %pp{k}",
            f"%sp{k} = getelementptr i64, ptr %steps, i64 {k}",
            f"%step{k} = load i64, ptr %sp{k}",
        ]
        self.phis.append(f"%p{k} = phi ptr [%start{k}, %entry], [%next{k}, %loop]")

    def load(self, k: int) -> str:
        self.pointer(k)
        self.body.append(f"%x{k} = load {self.vector}, ptr %p{k}, align 1")
        return f"%x{k}"

    def load_single(self, k: int) -> str:
        """Operand k's one value, splat."""
        self.entry += [
            f"%pp{k} = getelementptr ptr, ptr %pointers, i64 {k}",
            f"%start{k} = load ptr, ptr %pp{k}",
            f"%single{k} = load {self.dtype}, ptr %start{k}, align 1",
        ]
        return self.splat(f"%single{k}", f"x{k}")

    def splat(self, value: str, name: str) -> str:
        self.entry += [
            f"%{name}a = insertelement {self.vector} poison, {self.dtype} {value}, i64 0",
            f"%{name} = shufflevector {self.vector} %{name}a, {self.vector} poison, "
            f"<{self.lanes} x i32> zeroinitializer",
        ]
        return f"%{name}"

    def scalar(self, reduction: int) -> str:
        """An earlier phase's result."""
        self.entry += [
            f"%rp{reduction} = getelementptr i8, ptr %scalars, i64 {16 * reduction}",
            f"%r{reduction} = load {self.dtype}, ptr %rp{reduction}",
        ]
        return f"%r{reduction}"

    def store(self, k: int, value: str) -> None:
        self.pointer(k)
        self.body.append(f"store {self.vector} {value}, ptr %p{k}, align 1")

    def store_row(self, k: int, value: str) -> None:
        self.entry += [
            f"%pp{k} = getelementptr ptr, ptr %pointers, i64 {k}",
            f"%start{k} = load ptr, ptr %pp{k}",
            f"store {self.dtype} {value}, ptr %start{k}, align 1",
        ]

    def accumulate_add(self, value: str, add: str) -> None:
        lanes, index = self.lanes, f"<{self.lanes} x i64>"
        counting = "<" + ", ".join(f"i64 {lane}" for lane in range(lanes)) + ">"
        self.entry.append(f"%acc0 = load {self.vector}, ptr %accumulators, align 64")
        self.phis.append(f"%acc = phi {self.vector} [%acc0, %entry], [%acc1, %loop]")
        self.body.append(f"%acc1 = {add} {self.vector} %acc, {value}")
        self.done += [
            f"%va = insertelement {index} poison, i64 %valid, i64 0",
            f"%vs = shufflevector {index} %va, {index} poison, <{lanes} x i32> zeroinitializer",
            f"%real = icmp ult {index} {counting}, %vs",
            f"%kept = select <{lanes} x i1> %real, {self.vector} %acc1, {self.vector} %acc",
            f"store {self.vector} %kept, ptr %accumulators, align 64",
        ]

    def accumulate_argmax(self, value: str) -> None:
        """Floats: the first nan, else the largest with the lowest index."""
        lanes, vector, index = self.lanes, self.vector, f"<{self.lanes} x i64>"
        counting = "<" + ", ".join(f"i64 {lane}" for lane in range(lanes)) + ">"
        size = {"double": 8, "float": 4}[self.dtype]
        where = (lanes * size + 63) // 64 * 64
        counter = where + (lanes * 8 + 63) // 64 * 64
        self.entry += [
            f"%acc0 = load {vector}, ptr %accumulators, align 64",
            f"%wherep = getelementptr i8, ptr %accumulators, i64 {where}",
            f"%where0 = load {index}, ptr %wherep, align 64",
            f"%counterp = getelementptr i8, ptr %accumulators, i64 {counter}",
            "%first = load i64, ptr %counterp",
        ]
        self.phis += [
            f"%acc = phi {vector} [%acc0, %entry], [%acc1, %loop]",
            f"%where = phi {index} [%where0, %entry], [%where1, %loop]",
            "%position = phi i64 [%first, %entry], [%position1, %loop]",
        ]
        mask = f"<{lanes} x i1>"
        self.body += [
            f"%greater = fcmp ogt {vector} {value}, %acc",
            f"%isnan = fcmp uno {vector} {value}, {value}",
            f"%accord = fcmp ord {vector} %acc, %acc",
            f"%newnan = and {mask} %isnan, %accord",
            f"%none = icmp slt {index} %where, zeroinitializer",
            f"%b1 = or {mask} %greater, %newnan",
            f"%better = or {mask} %b1, %none",
            f"%ia = insertelement {index} poison, i64 %position, i64 0",
            f"%is = shufflevector {index} %ia, {index} poison, <{lanes} x i32> zeroinitializer",
            f"%here = add {index} %is, {counting}",
            f"%acc1 = select {mask} %better, {vector} {value}, {vector} %acc",
            f"%where1 = select {mask} %better, {index} %here, {index} %where",
            f"%position1 = add i64 %position, {lanes}",
        ]
        self.done += [
            f"store {vector} %acc1, ptr %accumulators, align 64",
            f"store {index} %where1, ptr %wherep, align 64",
            "store i64 %position1, ptr %counterp",
        ]

    def finish(self) -> str:
        lines = [f"define void @{self.name}({SIGNATURE}) {{", "entry:", *self.entry]
        if not self.body:
            return "\n".join([*lines, "ret void", "}"])
        lines += ["%any = icmp sgt i64 %chunks, 0", "br i1 %any, label %loop, label %exit", "loop:"]
        lines += ["%i = phi i64 [%chunks, %entry], [%left, %loop]", *self.phis, *self.body]
        lines += [f"%next{k} = getelementptr i8, ptr %p{k}, i64 %step{k}" for k in self.moving]
        lines += ["%left = sub i64 %i, 1", "%more = icmp sgt i64 %left, 0"]
        lines += ["br i1 %more, label %loop, label %done", "done:", *self.done, "br label %exit"]
        return "\n".join([*lines, "exit:", "ret void", "}"])


class ColumnText(PhaseText):
    """Writes the phase of a column kernel: `body` makes %sum of %x, a chunk of operand 0, and of
    %acc.
    """

    output = 1

    def finish(self) -> str:
        vector, out = self.vector, self.output
        lines = [f"define void @{self.name}({SIGNATURE}) {{", "entry:", *self.entry]
        for name, k in (("in", 0), ("out", out)):
            lines += [
                f"%{name}pp = getelementptr ptr, ptr %pointers, i64 {k}",
                f"%{name}0 = load ptr, ptr %{name}pp",
                f"%{name}sp = getelementptr i64, ptr %steps, i64 {k}",
                f"%{name}step = load i64, ptr %{name}sp",
            ]
        lines += [
            "%down = load i64, ptr %scalars",
            "%own = icmp eq ptr %accumulators, null",
            "%any = icmp sgt i64 %chunks, 0",
            "br i1 %any, label %loop, label %exit",
            "loop:",
            "%i = phi i64 [%chunks, %entry], [%left, %stored]",
            "%in = phi ptr [%in0, %entry], [%in1, %stored]",
            "%out = phi ptr [%out0, %entry], [%out1, %stored]",
            "%from = select i1 %own, ptr %out, ptr %accumulators",
            f"%start = load {vector}, ptr %from, align 1",
            "br label %row",
            "row:",
            "%j = phi i64 [%valid, %loop], [%fewer, %row]",
            "%p = phi ptr [%in, %loop], [%below, %row]",
            f"%acc = phi {vector} [%start, %loop], [%sum, %row]",
            f"%x = load {vector}, ptr %p, align 1",
            *self.body,
            "%below = getelementptr i8, ptr %p, i64 %down",
            "%fewer = sub i64 %j, 1",
            "%again = icmp sgt i64 %fewer, 0",
            "br i1 %again, label %row, label %stored",
            "stored:",
            f"store {vector} %sum, ptr %out, align 1",
            "%in1 = getelementptr i8, ptr %in, i64 %instep",
            "%out1 = getelementptr i8, ptr %out, i64 %outstep",
            "%left = sub i64 %i, 1",
            "%more = icmp sgt i64 %left, 0",
            "br i1 %more, label %loop, label %exit",
        ]
        return "\n".join([*lines, "exit:", "ret void", "}"])


def _kernel(mode: str, lanes: int, phases: list[PhaseText], **spec: Any) -> Any:
    engine = compile_text("\n".join(phase.finish() for phase in phases))
    addresses = [engine.get_function_address(phase.name) for phase in phases]
    return _native.Kernel("handwritten", lanes, mode, phases=addresses, owner=engine, **spec)


def _itemsize(dtype: str) -> int:
    return np.dtype(NUMPY[dtype]).itemsize


@functools.cache
def multiply_add(dtype: str = "f64", lanes: int = 16, flops: float = 2.0) -> Any:
    """out = a * b + c, c a scalar operand."""
    size, kind = _itemsize(dtype), "f" if _float(dtype) else ""
    phase = PhaseText("phase", lanes, dtype)
    c = phase.load_single(2)
    a, b = phase.load(0), phase.load(1)
    phase.body.append(f"%m = {kind}mul {phase.vector} {a}, {b}")
    phase.body.append(f"%s = {kind}add {phase.vector} %m, {c}")
    phase.store(3, "%s")
    inputs = [(size, "vector"), (size, "vector"), (size, "scalar")]
    return _kernel(
        "map",
        lanes,
        [phase],
        inputs=inputs,
        outputs=[(size, "vector")],
        scratch=[],
        reductions=[],
        flops=flops,
    )


@functools.cache
def add(dtype: str = "f64", lanes: int = 16, flops: float = 1.0) -> Any:
    """out = a + b."""
    size, kind = _itemsize(dtype), "f" if _float(dtype) else ""
    phase = PhaseText("phase", lanes, dtype)
    a, b = phase.load(0), phase.load(1)
    phase.body.append(f"%s = {kind}add {phase.vector} {a}, {b}")
    phase.store(2, "%s")
    inputs = [(size, "vector")] * 2
    return _kernel(
        "map",
        lanes,
        [phase],
        inputs=inputs,
        outputs=[(size, "vector")],
        scratch=[],
        reductions=[],
        flops=flops,
    )


def _square(phase: PhaseText, value: str, dtype: str) -> str:
    phase.body.append(f"%sq = {'f' if _float(dtype) else ''}mul {phase.vector} {value}, {value}")
    return "%sq"


@functools.cache
def row_sum(dtype: str = "f64", lanes: int = 16, squares: bool = False, flops: float = 1.0) -> Any:
    """out[row] = sum of x, or of x * x."""
    size, add = _itemsize(dtype), "fadd" if _float(dtype) else "add"
    first, last = PhaseText("first", lanes, dtype), PhaseText("last", lanes, dtype)
    value = first.load(0)
    first.accumulate_add(_square(first, value, dtype) if squares else value, add)
    last.store_row(1, last.scalar(0))
    return _kernel(
        "row",
        lanes,
        [first, last],
        inputs=[(size, "vector")],
        outputs=[(size, "row")],
        scratch=[],
        reductions=[("add", dtype, 0)],
        flops=flops,
    )


@functools.cache
def row_normalise(dtype: str = "f64", lanes: int = 16, flops: float = 3.0) -> Any:
    """out = w[row] * (x * x) / sum(x * x), with x * x carried from phase to phase in scratch."""
    size = _itemsize(dtype)
    first, last = PhaseText("first", lanes, dtype), PhaseText("last", lanes, dtype)
    square = _square(first, first.load(0), dtype)
    first.store(3, square)
    first.accumulate_add(square, "fadd")
    weight, total = last.load_single(1), last.splat(last.scalar(0), "total")
    value = last.load(3)
    last.body.append(f"%q = fdiv {last.vector} {value}, {total}")
    last.body.append(f"%w = fmul {last.vector} %q, {weight}")
    last.store(2, "%w")
    return _kernel(
        "row",
        lanes,
        [first, last],
        inputs=[(size, "vector"), (size, "row")],
        outputs=[(size, "vector")],
        scratch=[size],
        reductions=[("add", dtype, 0)],
        flops=flops,
    )


@functools.cache
def row_argmax(dtype: str = "f64", lanes: int = 16, flops: float = 1.0) -> Any:
    """out[row] = index of the largest, as i64."""
    size = _itemsize(dtype)
    first, last = PhaseText("first", lanes, dtype), PhaseText("last", lanes, "i64")
    first.accumulate_argmax(first.load(0))
    last.store_row(1, last.scalar(0))
    return _kernel(
        "row",
        lanes,
        [first, last],
        inputs=[(size, "vector")],
        outputs=[(8, "row")],
        scratch=[],
        reductions=[("argmax", dtype, 0)],
        flops=flops,
    )


@functools.cache
def column_sum(
    dtype: str = "f64", lanes: int = 16, weighted: bool = False, flops: float = 1.0
) -> Any:
    """out[c] = sum over rows of x[r, c], or of x[r, c] * w[r]."""
    size, kind = _itemsize(dtype), "f" if _float(dtype) else ""
    phase = ColumnText("phase", lanes, dtype)
    inputs = [(size, "vector"), (size, "row")] if weighted else [(size, "vector")]
    phase.output = len(inputs)
    value = "%x"
    if weighted:
        weight = phase.load_single(1)
        phase.body.append(f"%w = {kind}mul {phase.vector} %x, {weight}")
        value = "%w"
    phase.body.append(f"%sum = {kind}add {phase.vector} %acc, {value}")
    return _kernel(
        "column",
        lanes,
        [phase],
        inputs=inputs,
        outputs=[(size, "vector")],
        scratch=[],
        reductions=[("add", dtype, 0)],
        flops=flops,
    )
