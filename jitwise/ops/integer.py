"""Bits of integers, logic of bools, shifts, and number theory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Value
from ..ir.primitive import Attrs
from ..rewrite.pattern import holes, node
from ..rewrite.rule import fold_rule, rule
from .families import Lowering, elementwise, method, with_constant
from .movement import filled

and_ = elementwise(
    "and", np.bitwise_and, {"b": "and", "i": "and"}, hlo="stablehlo.and", commutative=True
)
or_ = elementwise("or", np.bitwise_or, {"b": "or", "i": "or"}, hlo="stablehlo.or", commutative=True)
xor = elementwise(
    "xor", np.bitwise_xor, {"b": "xor", "i": "xor"}, hlo="stablehlo.xor", commutative=True
)


def _invert(e: Any, attrs: Attrs, operand: Any) -> Any:
    signed = np.dtype(f"i{operand.dtype.itemsize}")
    return e.instruction("xor", operand, e.bitcast(e.constant(-1, signed), operand.dtype))


not_ = elementwise(
    "not",
    np.invert,
    {"b": lambda e, attrs, mask: e.logical_not(mask), "i": _invert},
    hlo="stablehlo.not",
)
shift_left = elementwise(
    "shift_left", np.left_shift, {"i": method("shift_left")}, hlo="stablehlo.shift_left"
)
# Arithmetic for signed integers, logical for unsigned ones.
shift_right = elementwise(
    "shift_right",
    np.right_shift,
    {"i": method("shift_right")},
    hlo="stablehlo.shift_right_arithmetic",
)


def _count_bits(e: Any, attrs: Attrs, operand: Any) -> Any:
    """Of a signed integer the bits of its absolute value, as uint8."""
    dtype = operand.dtype
    if dtype.kind == "i":
        zero = e.constant(0, dtype)
        negated = e.instruction("sub", zero, operand)
        operand = e.select(e.compare("slt", operand, zero), negated, operand)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return e.convert(e.bitcast(e.intrinsic("ctpop", operand), unsigned), np.dtype(np.uint8))


popcnt = elementwise(
    "popcnt", np.bitwise_count, {"i": _count_bits}, hlo="stablehlo.popcnt", flops=2
)


def _common(name: str) -> Lowering:
    return lambda e, attrs, left, right: e.common(name, left, right)


gcd = elementwise("gcd", np.gcd, {"i": _common("gcd")}, commutative=True, flops=60)
lcm = elementwise("lcm", np.lcm, {"i": _common("lcm")}, commutative=True, flops=70)

x, y = holes("x y")
rule("not-not", ~(~x), x)
# Of floats too: a comparison with nan is unequal. The orders have no such opposite.
rule("not-of-equal", ~node("equal", x, y), node("not_equal", x, y))
rule("not-of-not-equal", ~node("not_equal", x, y), node("equal", x, y))
rule("and-self", x & x, x)
rule("or-self", x | x, x)
rule("and-true", x & True, x, kinds="b")
rule("or-false", x | False, x, kinds="b")
rule("xor-false", x ^ False, x, kinds="b")
rule("xor-true", x ^ True, ~x, kinds="b")
rule("and-ones", x & "all ones", x, kinds="iu")
rule("or-zero", x | 0, x, kinds="iu")
rule("xor-zero", x ^ 0, x, kinds="iu")
rule("xor-ones", x ^ "all ones", ~x, kinds="iu")
rule("shift-left-zero", node("shift_left", x, 0), x)
rule("shift-right-zero", node("shift_right", x, 0), x)


@fold_rule(
    "xor-self",
    "xor",
    "graph example(%0: u16[5]) {\n %1: u16[5] = xor(%0, %0)\n return %1\n}",
    "graph example(%0: bool[5]) {\n %1: bool[5] = xor(%0, %0)\n return %1\n}",
    needs="same",
)
def _xor_self(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    type = operands[0].type
    return filled(builder, 0, type.dtype, type.shape) if operands[0] is operands[1] else None


@fold_rule(
    "and-nothing",
    "and",
    with_constant("and", "bool", False),
    with_constant("and", "i8", 0),
    needs="constant",
)
def _and_nothing(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    mask, type = operands[1].constant, operands[0].type
    if mask is None or mask != 0:
        return None
    return filled(builder, 0, type.dtype, type.shape)


@fold_rule(
    "or-everything",
    "or",
    with_constant("or", "bool", True),
    with_constant("or", "i8", -1),
    needs="constant",
)
def _or_everything(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    mask, type = operands[1].constant, operands[0].type
    if mask is None or ~mask != 0:
        return None
    return filled(builder, mask, type.dtype, type.shape)
