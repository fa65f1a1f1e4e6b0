"""Arithmetic of each element, and its rules.

Integers wrap. Division by an integer zero gives 0. A float floor division is NumPy's algorithm on
top of the exact remainder. Complex products are fused where NumPy's own vector loops fuse them;
complex quotients are Smith's algorithm, as NumPy's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..ir.builder import Builder, primitive_named
from ..ir.graph import Value
from ..ir.primitive import Attrs, Primitive
from ..rewrite.pattern import holes, node
from ..rewrite.rule import fold_rule, rule
from .families import MathCall, elementwise, in_single, intrinsic, method, with_constant
from .integer import and_, shift_right
from .movement import filled


def _each_part(opcode: str) -> Any:
    def lower(e: Any, attrs: Attrs, left: Any, right: Any) -> Any:
        return e.complex(
            e.instruction(opcode, e.real(left), e.real(right)),
            e.instruction(opcode, e.imag(left), e.imag(right)),
        )

    return lower


@lru_cache(maxsize=1)
def fuses() -> bool:
    """Whether NumPy's loops of complex products use fused multiply-add on this machine."""
    from numpy._core._multiarray_umath import __cpu_features__ as features

    return bool(features.get("FMA3") and features.get("AVX2")) or bool(features.get("ASIMD"))


def _multiply_complex(e: Any, attrs: Attrs, left: Any, right: Any) -> Any:
    a, b, c, d = e.real(left), e.imag(left), e.real(right), e.imag(right)
    across, along = e.instruction("fmul", b, d), e.instruction("fmul", b, c)
    if fuses():
        real = e.intrinsic("fma", a, c, e.intrinsic("fneg", across))
        return e.complex(real, e.intrinsic("fma", a, d, along))
    return e.complex(
        e.instruction("fsub", e.instruction("fmul", a, c), across),
        e.instruction("fadd", e.instruction("fmul", a, d), along),
    )


def _divide_complex(e: Any, attrs: Attrs, left: Any, right: Any) -> Any:
    """Smith's algorithm: divide by the larger part of the divisor first.

    A divisor of zero gives the dividend's parts divided by +0; neither way sets a flag for the
    other.
    """
    a, b, c, d = e.real(left), e.imag(left), e.real(right), e.imag(right)
    zero, one = e.constant(0, a.dtype), e.constant(1, a.dtype)
    size, other = e.intrinsic("fabs", c), e.intrinsic("fabs", d)
    none = e.instruction("and", e.compare("oeq", size, zero), e.compare("oeq", other, zero))
    first = e.compare("oge", size, other, quiet=False)  # as NumPy: nan is invalid
    large, small = e.select(none, one, e.select(first, c, d)), e.select(first, d, c)
    ratio = e.instruction("fdiv", small, large)
    scale = e.instruction("fdiv", one, e.instruction("fadd", large, times(e, small, ratio)))
    head, tail = e.select(first, a, b), e.select(first, b, a)
    real = times(e, e.instruction("fadd", head, times(e, tail, ratio)), scale)
    forward = e.instruction("fsub", b, times(e, a, ratio))
    backward = e.instruction("fsub", times(e, b, ratio), a)
    imag = times(e, e.select(first, forward, backward), scale)
    divisor = e.unknown(e.select(none, zero, one))
    return e.complex(
        e.select(none, e.instruction("fdiv", a, divisor), real),
        e.select(none, e.instruction("fdiv", b, divisor), imag),
    )


def times(e: Any, left: Any, right: Any) -> Any:
    """A float product."""
    return e.instruction("fmul", left, right)


def _negate_integer(e: Any, attrs: Attrs, operand: Any) -> Any:
    return e.instruction("sub", e.constant(0, operand.dtype), operand)


def negate_complex(e: Any, attrs: Attrs, operand: Any) -> Any:
    """Both parts with the other sign."""
    return e.complex(e.intrinsic("fneg", e.real(operand)), e.intrinsic("fneg", e.imag(operand)))


add = elementwise(
    "add",
    np.add,
    {"b": "or", "i": "add", "f": "fadd", "c": _each_part("fadd")},
    hlo="stablehlo.add",
    commutative=True,
)
subtract = elementwise(
    "subtract",
    np.subtract,
    {"i": "sub", "f": "fsub", "c": _each_part("fsub")},
    hlo="stablehlo.subtract",
)
multiply = elementwise(
    "multiply",
    np.multiply,
    {"b": "and", "i": "mul", "f": "fmul", "c": _multiply_complex},
    hlo="stablehlo.multiply",
    commutative=True,
)
divide = elementwise(
    "divide",
    np.divide,
    {"f": "fdiv", "c": _divide_complex},
    hlo="stablehlo.divide",
    flops=4,
)
negate = elementwise(
    "negate",
    np.negative,
    {"i": _negate_integer, "f": intrinsic("fneg"), "c": negate_complex},
    hlo="stablehlo.negate",
)


def _absolute_integer(e: Any, attrs: Attrs, operand: Any) -> Any:
    negative = e.compare("slt", operand, e.constant(0, operand.dtype))
    return e.select(negative, _negate_integer(e, attrs, operand), operand)


# The absolute value of a complex number is hypot of its parts; `ufuncs` emits that.
absolute = elementwise(
    "abs",
    np.absolute,
    {
        "b": lambda e, attrs, operand: operand,
        "i": _absolute_integer,
        "u": lambda e, attrs, operand: operand,
        "f": intrinsic("fabs"),
    },
    hlo="stablehlo.abs",
)


def _sign_integer(e: Any, attrs: Attrs, operand: Any) -> Any:
    zero, one = e.constant(0, operand.dtype), e.constant(1, operand.dtype)
    signed = operand.dtype.kind == "i"
    positive = e.compare("sgt" if signed else "ugt", operand, zero)
    magnitude = e.select(positive, one, zero)
    if not signed:
        return magnitude
    return e.select(e.compare("slt", operand, zero), e.constant(-1, operand.dtype), magnitude)


def _sign_float(e: Any, attrs: Attrs, operand: Any) -> Any:
    """1, -1, +0 for both zeros, nan for nan."""
    zero = e.constant(0.0, operand.dtype)
    flat = e.select(e.compare("oeq", operand, zero), zero, operand)
    low = e.select(e.compare("olt", operand, zero), e.constant(-1.0, operand.dtype), flat)
    return e.select(e.compare("ogt", operand, zero), e.constant(1.0, operand.dtype), low)


sign = elementwise(
    "sign", np.sign, {"i": _sign_integer, "f": _sign_float}, hlo="stablehlo.sign", flops=3
)


def _float_division(e: Any, left: Any, right: Any) -> tuple[Any, Any, Any]:
    """C's remainder, where it has not the divisor's sign, and the remainder with that sign."""
    zero = e.constant(0.0, left.dtype)
    rest = e.float_remainder(left, right)
    nonzero = e.compare("une", rest, zero)
    mixed = e.instruction("xor", e.compare("olt", right, zero), e.compare("olt", rest, zero))
    down = e.instruction("and", nonzero, mixed)
    moved = e.select(down, e.instruction("fadd", rest, right), rest)
    corrected = e.select(nonzero, moved, e.intrinsic("copysign", zero, right))
    return rest, down, corrected


def _remainder_float(e: Any, attrs: Attrs, left: Any, right: Any) -> Any:
    rest, _, corrected = _float_division(e, left, right)
    by_zero = e.compare("oeq", right, e.constant(0.0, left.dtype))
    return e.select(by_zero, rest, corrected)


def _floor_divide_float(e: Any, attrs: Attrs, left: Any, right: Any) -> Any:
    zero, one = e.constant(0.0, left.dtype), e.constant(1.0, left.dtype)
    ratio = e.instruction("fdiv", left, right)
    by_zero = e.compare("oeq", right, zero)
    right = e.select(by_zero, one, right)
    rest, down, _ = _float_division(e, left, right)
    quotient = e.instruction("fdiv", e.instruction("fsub", left, rest), right)
    quotient = e.select(down, e.instruction("fsub", quotient, one), quotient)
    whole = e.intrinsic("floor", quotient)
    far = e.compare("ogt", e.instruction("fsub", quotient, whole), e.constant(0.5, left.dtype))
    snapped = e.select(far, e.instruction("fadd", whole, one), whole)
    signed = e.intrinsic("copysign", zero, ratio)
    snapped = e.select(e.compare("une", quotient, zero), snapped, signed)
    return e.select(by_zero, ratio, snapped)


floor_divide = elementwise(
    "floor_divide",
    np.floor_divide,
    {"i": method("floor_divide"), "f": in_single(_floor_divide_float)},
    flops=20,
)
# NumPy's remainder has the divisor's sign; StableHLO's word `remainder` is C's fmod.
remainder = elementwise(
    "remainder",
    np.remainder,
    {"i": method("remainder"), "f": in_single(_remainder_float)},
    flops=20,
)
fmod = elementwise(
    "fmod",
    np.fmod,
    {"i": method("truncated_remainder"), "f": method("float_remainder")},
    hlo="stablehlo.remainder",
    flops=16,
)

# Integer powers of an array of exponents are left to NumPy, which raises for negative ones.
# A constant exponent is a chain of products (see arithmetic_rules).
power = elementwise(
    "power", np.power, {"f": MathCall("power")}, hlo="stablehlo.power", ulp=2, flops=40
)


x, y = holes("x y")
rule("neg-neg", -(-x), x)
rule("add-neg", x + -y, x - y)
rule("sub-neg", x - -y, x + y)
rule("add-negzero", x + -0.0, x, kinds="f")
rule("add-zero", x + 0.0, x, kinds="f", exact="value")
rule("add-zero-int", x + 0, x, kinds="iu")
rule("sub-zero", x - 0.0, x, kinds="f")
rule("sub-negzero", x - -0.0, x, kinds="f", exact="value")
rule("sub-zero-int", x - 0, x, kinds="iu")
rule("neg-sub", -(x - y), y - x, kinds="iu")
rule("neg-sub-float", -(x - y), y - x, kinds="f", exact="value")
rule("mul-one", x * 1, x, kinds="iuf")
rule("mul-minus-one", x * -1, -x, kinds="if")
rule("mul-neg-neg", -x * -y, x * y, kinds="iuf")
rule("div-one", x / 1, x, kinds="f")
rule("div-minus-one", x / -1, -x, kinds="f")
rule("div-neg-neg", -x / -y, x / y, kinds="f")
rule("abs-neg", node("abs", -x), node("abs", x), kinds="if")
rule("abs-abs", node("abs", node("abs", x)), node("abs", x), kinds="if")
rule("abs-square", node("abs", x * x), x * x, kinds="f")
rule("floor-divide-one", node("floor_divide", x, 1), x, kinds="iu")
rule("power-one", node("power", x, 1), x, kinds="f")
# NumPy's own loop multiplies when the exponent is the scalar 2.
rule("power-two", node("power", x, 2), x * x, kinds="f")
rule("square-sqrt", node("sqrt", x) * node("sqrt", x), x, kinds="f", exact="real")


@fold_rule(
    "cancel-int",
    "subtract",
    "graph example(%0: i32[5]) {\n %1: i32[5] = subtract(%0, %0)\n return %1\n}",
    needs="same",
)
def _cancel_integer(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    type = operands[0].type
    if operands[0] is not operands[1] or type.dtype.kind not in "iu":
        return None
    return filled(builder, 0, type.dtype, type.shape)


@fold_rule(
    "cancel",
    "subtract",
    "graph example(%0: f32[5]) {\n %1: f32[5] = subtract(%0, %0)\n return %1\n}",
    exact="real",
    needs="same",
)
def _cancel(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    type = operands[0].type
    return filled(builder, 0, type.dtype, type.shape) if operands[0] is operands[1] else None


@fold_rule(
    "div-self",
    "divide",
    "graph example(%0: f32[5]) {\n %1: f32[5] = divide(%0, %0)\n return %1\n}",
    exact="real",
    needs="same",
)
def _divide_by_itself(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    type = operands[0].type
    return filled(builder, 1, type.dtype, type.shape) if operands[0] is operands[1] else None


def _times_zero(builder: Builder, operands: tuple[Value, ...], kinds: str) -> Any:
    type = operands[0].type
    if type.dtype.kind not in kinds:
        return None
    return filled(builder, 0, type.dtype, type.shape)


@fold_rule("mul-zero-int", "multiply", with_constant("multiply", "u8", 0), needs="zero")
def _times_zero_integer(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    return _times_zero(builder, operands, "biu")


@fold_rule(
    "mul-zero", "multiply", with_constant("multiply", "f64", 0.0), exact="real", needs="zero"
)
def _times_zero_float(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    return _times_zero(builder, operands, "fc")


def _exact_power_of_two(number: Any) -> int | None:
    """The exponent of an integer power of two above 1."""
    value = int(number)
    return value.bit_length() - 1 if value > 1 and value & (value - 1) == 0 else None


@fold_rule(
    "div-power-of-two",
    "divide",
    with_constant("divide", "f64", 8.0),
    with_constant("divide", "f32", -0.5),
    with_constant("divide", "f16", 1024.0),
    needs="constant",
)
def _divide_by_power_of_two(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """A product with the reciprocal, where that is exact and a normal number."""
    divisor = operands[1].constant
    if divisor is None or divisor.dtype.kind != "f" or not np.isfinite(divisor) or not divisor:
        return None
    if abs(np.frexp(divisor)[0]) != 0.5:
        return None
    with np.errstate(all="ignore"):
        reciprocal = np.true_divide(1, divisor, dtype=divisor.dtype)
    if not np.isfinite(reciprocal) or abs(reciprocal) < np.finfo(divisor.dtype.str).tiny:
        return None
    factor = builder.constant(reciprocal, divisor.dtype)
    return builder.emit(multiply, (operands[0], factor))


@fold_rule(
    "div-constant", "divide", with_constant("divide", "f64", 3.0), exact="real", needs="constant"
)
def _divide_by_constant(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    divisor = operands[1].constant
    if divisor is None or divisor.dtype.kind != "f" or not np.isfinite(divisor) or not divisor:
        return None
    with np.errstate(all="ignore"):
        reciprocal = np.true_divide(1, divisor, dtype=divisor.dtype)
    if not np.isfinite(reciprocal):
        return None
    factor = builder.constant(reciprocal, divisor.dtype)
    return builder.emit(multiply, (operands[0], factor))


@fold_rule(
    "floor-divide-power-of-two",
    "floor_divide",
    with_constant("floor_divide", "i32", 16),
    with_constant("floor_divide", "u64", 2),
    needs="constant",
)
def _floor_divide_by_power(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """A shift to the right rounds down, as Python's division does."""
    divisor = operands[1].constant
    if divisor is None or divisor.dtype.kind not in "iu":
        return None
    places = _exact_power_of_two(divisor)
    if places is None:
        return None
    return builder.emit(shift_right, (operands[0], builder.constant(places, divisor.dtype)))


@fold_rule(
    "remainder-power-of-two",
    "remainder",
    with_constant("remainder", "i64", 8),
    with_constant("remainder", "u8", 128),
    needs="constant",
)
def _remainder_by_power(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """The low bits: Python's remainder of a negative number is not negative."""
    divisor = operands[1].constant
    if divisor is None or divisor.dtype.kind not in "iu" or _exact_power_of_two(divisor) is None:
        return None
    mask = builder.constant(int(divisor) - 1, divisor.dtype)
    return builder.emit(and_, (operands[0], mask))


@fold_rule("power-zero", "power", with_constant("power", "f64", 0.0), needs="constant")
def _power_zero(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """One, also of nan."""
    exponent, type = operands[1].constant, operands[0].type
    if exponent is None or exponent.dtype.kind != "f" or exponent != 0:
        return None
    return filled(builder, 1, type.dtype, type.shape)


@fold_rule(
    "power-int",
    "power",
    with_constant("power", "i32", 5),
    with_constant("power", "u8", 0),
    with_constant("power", "i64", 1),
    needs="constant",
)
def _power_of_integer(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """Products by repeated squaring; a negative exponent stays, and NumPy raises."""
    base, exponent = operands[0], operands[1].constant
    if exponent is None or exponent.dtype.kind not in "iu" or exponent < 0:
        return None
    remaining, result = int(exponent), None
    while remaining:
        if remaining & 1:
            result = base if result is None else builder.emit(multiply, (result, base))
        remaining >>= 1
        if remaining:
            base = builder.emit(multiply, (base, base))
    if result is None:
        return filled(builder, 1, base.type.dtype, base.type.shape)
    return result


@fold_rule(
    "power-small",
    "power",
    with_constant("power", "f64", 3.0),
    with_constant("power", "f32", -2.0),
    with_constant("power", "f64", 0.5),
    exact="real",
    needs="constant",
)
def _power_small(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """Up to the fourth power by products, and the square root."""
    base, exponent = operands[0], operands[1].constant
    if exponent is None or exponent.dtype.kind != "f":
        return None
    one = builder.constant(1, exponent.dtype)
    if exponent == 0.5:
        return builder.emit(primitive_named("sqrt"), (base,))
    if exponent not in (-4, -3, -2, -1, 3, 4):
        return None
    square = builder.emit(multiply, (base, base))
    size = abs(int(exponent))
    powers = {1: base, 2: square, 3: square, 4: square}
    result = powers[size]
    if size > 2:
        result = builder.emit(multiply, (square, base if size == 3 else square))
    return result if exponent > 0 else builder.emit(divide, (one, result))


def _merge(builder: Builder, primitive: Primitive, operands: tuple[Value, ...], kinds: str) -> Any:
    """`(a . c) . d -> a . (c . d)` for constants c and d."""
    inner, outer = operands[0].op, operands[1].constant
    assert inner is not None
    first, second = inner.operands
    if outer is None or second.constant is None or outer.dtype.kind not in kinds:
        return None
    with np.errstate(all="ignore"):
        merged = primitive.evaluate(second.constant, outer)
    return builder.emit(primitive, (first, builder.constant(merged, outer.dtype)))


_TWO_CONSTANTS = """graph example(%0: {dtype}[n]) where n = size(0, 0) {{
      %1: {dtype}[] = constant{{value={dtype}(3)}}()
      %2: {dtype}[n] = {name}(%0, %1)
      %3: {dtype}[] = constant{{value={dtype}(5)}}()
      %4: {dtype}[n] = {name}(%2, %3)
      return %4
    }}"""


def _merge_rules(primitive: Primitive) -> None:
    def merge_integers(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
        return _merge(builder, primitive, operands, "iu")

    def merge_floats(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
        return _merge(builder, primitive, operands, "f")

    name = primitive.name
    integers = _TWO_CONSTANTS.format(dtype="i16", name=name)
    floats = _TWO_CONSTANTS.format(dtype="f64", name=name)
    made = f"op:{name} constant"
    fold_rule(f"{name}-constants-int", name, integers, needs=made)(merge_integers)
    fold_rule(f"{name}-constants", name, floats, exact="real", needs=made)(merge_floats)


_merge_rules(add)
_merge_rules(multiply)
