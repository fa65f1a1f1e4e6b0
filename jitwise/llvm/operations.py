"""The emitter that primitives' `lower` functions write through: NumPy's arithmetic spelled in LLVM
text.

    e.instruction("fadd", a, b)   ->   %v3 = fadd <64 x float> %v1, %v2

An operand is text with a dtype: a name or a literal of type `<lanes x T>`, or T in a prologue,
where one lane is emitted. Bool operands are masks of i1. Complex operands are a pair of names.
Every operation that LLVM leaves undefined where NumPy does not (division by zero, wide shifts,
conversions out of range) is guarded here, once, and not in the rows of `ops`.

Not vectorised: 64-bit integer division, which no machine has; it is a loop over a stack buffer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import convert, division, flags, mathlib
from .text import PARTS, SCALARS, FunctionText, literal, overload, splat, widen

BOOL = np.dtype(np.bool_)
FLOAT16 = np.dtype(np.float16)
FLOAT32 = np.dtype(np.float32)
RELAXED_OPCODES = ("fadd", "fsub", "fmul", "fdiv")


class Operand(NamedTuple):
    """A value in a kernel being written; `imag` is the second name of a complex one."""

    text: str
    dtype: np.dtype
    imag: str | None = None


class Operations:
    """Writes into one function at a time; see the module docstring. `lanes` is 1 in a prologue."""

    def __init__(self) -> None:
        self.function = FunctionText()
        self.lanes = 1
        self.declarations: dict[str, str] = {}
        self.symbols: set[str] = set()
        self.support: dict[str, str] = {}
        self.metadata = ""
        self.relaxed = False  # of what is written now, + - * / may be reassociated and contracted

    # ---- types

    def type_of(self, dtype: np.dtype) -> str:
        """The LLVM type of a real value of `dtype` at the current width."""
        return widen(SCALARS[dtype], self.lanes)

    def define(self, text: str, dtype: np.dtype) -> Operand:
        """A new operand from one instruction."""
        return Operand(self.function.define(text), dtype)

    # ---- the emitter protocol

    def instruction(self, opcode: str, left: Operand, right: Operand) -> Operand:
        """A binary LLVM instruction, unguarded."""
        if self.relaxed and opcode in RELAXED_OPCODES:
            opcode += " reassoc contract"
        return self.define(
            f"{opcode} {self.type_of(left.dtype)} {left.text}, {right.text}", left.dtype
        )

    def compare(self, predicate: str, left: Operand, right: Operand, quiet: bool = True) -> Operand:
        """`icmp` or `fcmp`, by the operands' dtype; the result is a mask. Unless `quiet`, a nan may
        raise the flag for invalid values.
        """
        if quiet and left.dtype.kind == "f" and predicate[1:] in flags.ORDERS:
            return flags.compare_quietly(self, predicate, left, right)
        opcode = "fcmp" if left.dtype.kind == "f" else "icmp"
        return self.define(
            f"{opcode} {predicate} {self.type_of(left.dtype)} {left.text}, {right.text}", BOOL
        )

    def select(self, mask: Operand, on_true: Operand, on_false: Operand) -> Operand:
        """Lane by lane, one or the other."""
        if on_true.imag is not None:
            return self.complex(
                self.select(mask, self.real(on_true), self.real(on_false)),
                self.select(mask, self.imag(on_true), self.imag(on_false)),
            )
        type = self.type_of(on_true.dtype)
        condition = f"{self.type_of(BOOL)} {mask.text}"
        chosen = self.define(
            f"select {condition}, {type} {on_true.text}, {type} {on_false.text}", on_true.dtype
        )
        if not self.function.raising.isdisjoint((on_true.text, on_false.text)):
            self.function.raising.add(chosen.text)
        return chosen

    def choose(self, mask: Operand, on_true: Operand, on_false: Operand) -> Operand:
        """`select` between two values that raise their flags whichever is taken; and what is
        computed of the chosen one raises its own.
        """
        on_true, on_false = (flags.of_every_lane(self, each) for each in (on_true, on_false))
        chosen = self.select(mask, on_true, on_false)
        constants = sum(not each.text.startswith("%") for each in (on_true, on_false))
        # With one of 0 or 1, x / (y or 1) becomes (x / y) or x: by a mask, but not of halves.
        most = 0 if chosen.dtype == FLOAT16 else 1
        return flags.unknown(self, chosen) if constants > most else chosen

    def unknown(self, operand: Operand) -> Operand:
        """A float that LLVM computes with when the kernel runs, and not before."""
        return flags.unknown(self, operand)

    def intrinsic(self, name: str, *operands: Operand) -> Operand:
        """`llvm.<name>` on operands of one dtype; `fneg` too."""
        dtype = operands[0].dtype
        type = self.type_of(dtype)
        if name == "fneg":
            return self.define(f"fneg {type} {operands[0].text}", dtype)
        if dtype == FLOAT16 and name not in ("fabs", "copysign"):
            # LLVM would take a vector of halves apart, element by element.
            wide = self.intrinsic(name, *[self.convert(operand, FLOAT32) for operand in operands])
            return self.convert(wide, dtype)
        flag = ", i1 false" if name in ("abs", "ctlz", "cttz") else ""
        return self.call_intrinsic(
            f"llvm.{name}.{overload(SCALARS[dtype], self.lanes)}", type, type, operands, dtype, flag
        )

    def call_intrinsic(
        self,
        name: str,
        result: str,
        type: str,
        operands: tuple[Operand, ...],
        dtype: np.dtype,
        flag: str = "",
    ) -> Operand:
        """Call a declared function of LLVM on operands of one type."""
        parameters = ", ".join([type] * len(operands)) + (", i1" if flag else "")
        self.declarations[name] = f"declare {result} @{name}({parameters})"
        arguments = ", ".join([f"{type} {operand.text}" for operand in operands])
        return self.define(f"call {result} @{name}({arguments}{flag})", dtype)

    def math(self, name: str, *operands: Operand) -> Operand:
        """A function of the vector math library; float16 is computed in float32."""
        dtype = operands[0].dtype
        if dtype == FLOAT16:
            wide = self.math(name, *[self.convert(operand, FLOAT32) for operand in operands])
            return self.convert(wide, dtype)
        symbol = self.math_symbol(name, dtype, len(operands))
        return self.call_on_buffers(symbol, operands, dtype)

    def math_symbol(self, name: str, dtype: np.dtype, arity: int) -> str:
        """The linker's name of a function of the vector math library, declared."""
        symbol = mathlib.symbol(name, dtype)
        self.symbols.add(symbol)
        self.declarations[symbol] = f"declare void @{symbol}({'ptr, ' * (arity + 1)}i64)"
        return symbol

    def call_on_buffers(
        self, symbol: str, operands: tuple[Operand, ...], result: np.dtype
    ) -> Operand:
        """Store the operands to the stack, call `symbol(a, ..., out, n)`, load the result."""
        padded = max(self.lanes, mathlib.PADDING)
        pointers = []
        for place, operand in enumerate(operands):
            pointer = self.function.buffer(place, padded * operand.dtype.itemsize)
            text = operand.text if self.lanes > 1 else self.spread(operand, padded)
            type = widen(SCALARS[operand.dtype], padded)
            self.function.line(f"store {type} {text}, ptr {pointer}, align 64")
            pointers.append(f"ptr {pointer}")
        out = "ptr " + self.function.buffer(len(operands), padded * result.itemsize)
        arguments = ", ".join([*pointers, out, f"i64 {padded}"])
        self.function.line(f"call void @{symbol}({arguments})")
        return self.define(f"load {self.type_of(result)}, {out}, align 64", result)

    def spread(self, operand: Operand, lanes: int) -> str:
        """A vector with the single value `operand` in every lane."""
        scalar = SCALARS[operand.dtype]
        type = widen(scalar, lanes)
        first = self.function.define(f"insertelement {type} poison, {scalar} {operand.text}, i64 0")
        mask = f"<{lanes} x i32> zeroinitializer"
        return self.function.define(f"shufflevector {type} {first}, {type} poison, {mask}")

    def convert(self, operand: Operand, dtype: np.dtype) -> Operand:
        """`astype`, as NumPy does it on this machine; see `convert`."""
        return convert.convert(self, operand, dtype)

    def bitcast(self, operand: Operand, dtype: np.dtype) -> Operand:
        """The same bits as another dtype of the same size."""
        source, target = self.type_of(operand.dtype), self.type_of(dtype)
        if source == target:
            return Operand(operand.text, dtype)
        return self.define(f"bitcast {source} {operand.text} to {target}", dtype)

    def constant(self, value: Any, dtype: np.dtype) -> Operand:
        """The same value in every lane, exact."""
        part = PARTS.get(dtype)
        if part is not None:
            number = complex(value)
            return Operand(
                self.constant(number.real, part).text, dtype, self.constant(number.imag, part).text
            )
        return Operand(splat(SCALARS[dtype], self.lanes, literal(value, dtype)), dtype)

    def constant_of(self, operand: Operand) -> int | None:
        """The integer that an operand is in every lane, if that is known."""
        text = operand.text
        if text.startswith("splat ("):
            text = text[7:-1].split()[1]
        return int(text) if text.lstrip("-").isdigit() else None

    def real(self, operand: Operand) -> Operand:
        """The real part."""
        return Operand(operand.text, PARTS[operand.dtype])

    def imag(self, operand: Operand) -> Operand:
        """The imaginary part."""
        assert operand.imag is not None
        return Operand(operand.imag, PARTS[operand.dtype])

    def complex(self, real: Operand, imag: Operand) -> Operand:
        """A complex value from its parts."""
        dtype = np.dtype(np.complex64 if real.dtype == FLOAT32 else np.complex128)
        return Operand(real.text, dtype, imag.text)

    def logical_not(self, mask: Operand) -> Operand:
        """The other lanes."""
        return self.instruction("xor", mask, self.constant(True, BOOL))

    # ---- NumPy's arithmetic where LLVM has none, or an undefined one

    def maximum(self, left: Operand, right: Operand) -> Operand:
        """`np.maximum`: a nan wins; of equal values the second."""
        return self._extremum("gt", left, right)

    def minimum(self, left: Operand, right: Operand) -> Operand:
        """`np.minimum`: a nan wins; of equal values the second."""
        return self._extremum("lt", left, right)

    def _extremum(self, order: str, left: Operand, right: Operand) -> Operand:
        kind = left.dtype.kind
        if kind == "b":
            return self.instruction("or" if order == "gt" else "and", left, right)
        if kind == "f":
            picked = self.select(self.compare("o" + order, left, right), left, right)
            return self.select(self.compare("uno", left, left), left, picked)
        sign = "u" if kind == "u" else "s"
        return self.intrinsic(f"{sign}{'max' if order == 'gt' else 'min'}", left, right)

    def is_nan(self, operand: Operand) -> Operand:
        """Mask of the lanes that are nan."""
        return self.compare("uno", operand, operand)

    def raise_where(self, mask: Operand, flag: str) -> None:
        """Raise the flag "divide", "overflow" or "invalid" where a lane is set."""
        flags.raise_where(self, mask, flag)

    def with_overflow(self, word: str, left: Operand, right: Operand) -> Operand:
        """An integer "add", "sub" or "mul" that raises the flag for overflow where it wraps."""
        dtype, type, mask = left.dtype, self.type_of(left.dtype), self.type_of(BOOL)
        sign = "s" if dtype.kind == "i" else "u"
        name = f"llvm.{sign}{word}.with.overflow.{overload(SCALARS[dtype], self.lanes)}"
        pair = f"{{{type}, {mask}}}"
        self.declarations[name] = f"declare {pair} @{name}({type}, {type})"
        both = self.function.define(f"call {pair} @{name}({type} {left.text}, {type} {right.text})")
        self.raise_where(self.define(f"extractvalue {pair} {both}, 1", BOOL), "overflow")
        return self.define(f"extractvalue {pair} {both}, 0", dtype)

    def shift_left(self, operand: Operand, amount: Operand) -> Operand:
        """`np.left_shift`: 0 when the amount is negative or too large."""
        if self._is_width(amount):
            return self.instruction("shl", operand, amount)
        inside, bounded = self._bounded_amount(amount)
        return self.select(
            inside, self.instruction("shl", operand, bounded), self.constant(0, operand.dtype)
        )

    def shift_right(self, operand: Operand, amount: Operand) -> Operand:
        """`np.right_shift`: every bit the sign when the amount is negative or too large."""
        if self._is_width(amount):
            return self.instruction(
                "lshr" if operand.dtype.kind == "u" else "ashr", operand, amount
            )
        inside, bounded = self._bounded_amount(amount)
        if operand.dtype.kind == "u":
            shifted = self.instruction("lshr", operand, bounded)
            return self.select(inside, shifted, self.constant(0, operand.dtype))
        width = self.constant(operand.dtype.itemsize * 8 - 1, operand.dtype)
        return self.instruction("ashr", operand, self.select(inside, amount, width))

    def _is_width(self, amount: Operand) -> bool:
        """Whether a shift is known to be neither negative nor too wide."""
        known = self.constant_of(amount)
        return known is not None and 0 <= known < amount.dtype.itemsize * 8

    def _bounded_amount(self, amount: Operand) -> tuple[Operand, Operand]:
        inside = self.compare("ult", amount, self.constant(amount.dtype.itemsize * 8, amount.dtype))
        return inside, self.select(inside, amount, self.constant(0, amount.dtype))

    def floor_divide(self, left: Operand, right: Operand) -> Operand:
        """Integer `np.floor_divide`: 0 for a zero divisor, the minimum for minimum // -1."""
        return division.floor_divide(self, left, right)

    def remainder(self, left: Operand, right: Operand) -> Operand:
        """Integer `np.remainder`: the divisor's sign, 0 for a zero divisor."""
        return division.remainder(self, left, right)

    def truncated_remainder(self, left: Operand, right: Operand) -> Operand:
        """Integer `np.fmod`: the dividend's sign, 0 for a zero divisor."""
        return division.truncated_remainder(self, left, right)

    def common(self, name: str, left: Operand, right: Operand) -> Operand:
        """`np.gcd`, `np.lcm`."""
        return division.common(self, name, left, right)

    def float_remainder(self, left: Operand, right: Operand) -> Operand:
        """The exact remainder of a float division, with the dividend's sign: C's fmod."""
        return division.float_remainder(self, left, right)
