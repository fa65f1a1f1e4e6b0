"""Floats as numbers with a sign, an exponent and a fraction: rounding, signs, neighbours, scaling.

Every result is exact. Where an algorithm works on bits, `b` is the integer with the float's bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.primitive import Attrs
from ..ir.types import ArrayType
from ..rewrite.pattern import holes, node
from ..rewrite.rule import rule
from .families import HALF, broadcast_shape, elementwise, in_single, intrinsic

INT32 = np.dtype(np.int32)

floor = elementwise("floor", np.floor, {"f": intrinsic("floor")}, hlo="stablehlo.floor")
ceil = elementwise("ceil", np.ceil, {"f": intrinsic("ceil")}, hlo="stablehlo.ceil")
trunc = elementwise("trunc", np.trunc, {"f": intrinsic("trunc")})
round_nearest_even = elementwise(
    "round_nearest_even",
    np.rint,
    {
        "f": intrinsic("rint"),
        "c": lambda e, attrs, z: e.complex(
            e.intrinsic("rint", e.real(z)), e.intrinsic("rint", e.imag(z))
        ),
    },
    hlo="stablehlo.round_nearest_even",
)


def signed_bits(e: Any, operand: Any) -> Any:
    """The bits of a float as a signed integer."""
    return e.bitcast(operand, np.dtype(f"i{operand.dtype.itemsize}"))


def _signbit(e: Any, attrs: Attrs, operand: Any) -> Any:
    bits = signed_bits(e, operand)
    return e.compare("slt", bits, e.constant(0, bits.dtype))


signbit = elementwise("signbit", np.signbit, {"f": _signbit})
copysign = elementwise("copysign", np.copysign, {"f": intrinsic("copysign")})


def _part_tests(combine: str, test: Any) -> dict[str, Any]:
    """A test of floats, and of complex numbers by their two parts."""
    return {
        "f": lambda e, attrs, x: test(e, x),
        "c": lambda e, attrs, z: e.instruction(combine, test(e, e.real(z)), test(e, e.imag(z))),
    }


def _is_infinite(e: Any, operand: Any) -> Any:
    return e.compare("oeq", e.intrinsic("fabs", operand), e.constant(np.inf, operand.dtype))


def _is_finite(e: Any, operand: Any) -> Any:
    return e.compare("olt", e.intrinsic("fabs", operand), e.constant(np.inf, operand.dtype))


is_nan = elementwise("is_nan", np.isnan, _part_tests("or", lambda e, x: e.is_nan(x)))
is_inf = elementwise("is_inf", np.isinf, _part_tests("or", _is_infinite), hlo="chlo.is_inf")
is_finite = elementwise(
    "is_finite", np.isfinite, _part_tests("and", _is_finite), hlo="stablehlo.is_finite"
)


def _heaviside(e: Any, attrs: Attrs, operand: Any, at_zero: Any) -> Any:
    dtype = operand.dtype
    zero = e.constant(0.0, dtype)
    above = e.select(e.compare("ogt", operand, zero), e.constant(1.0, dtype), operand)
    below = e.select(e.compare("olt", operand, zero), zero, above)
    return e.select(e.compare("oeq", operand, zero), at_zero, below)


heaviside = elementwise("heaviside", np.heaviside, {"f": _heaviside}, flops=3)


def _nextafter(e: Any, attrs: Attrs, left: Any, right: Any) -> Any:
    """One up or one down in the order of bits; from zero the smallest number, signed as `right`.

    Of two equal operands float16 gives the first and the others the second, as in NumPy.
    """
    dtype = left.dtype
    bits = signed_bits(e, left)
    one = e.constant(1, bits.dtype)
    zero = e.constant(0.0, dtype)
    rising = e.compare("olt", left, right)
    outward = e.instruction("xor", rising, e.compare("olt", left, zero))
    moved = e.select(outward, e.instruction("add", bits, one), e.instruction("sub", bits, one))
    smallest = e.intrinsic("copysign", e.bitcast(one, dtype), right)
    result = e.select(e.compare("oeq", left, zero), smallest, e.bitcast(moved, dtype))
    same = left if dtype == HALF else right
    result = e.select(e.compare("oeq", left, right), same, result)
    unordered = e.compare("uno", left, right)
    result = e.select(unordered, e.select(e.is_nan(left), left, right), result)
    last = e.instruction("and", _is_finite(e, left), _is_infinite(e, result))
    e.raise_where(last, "overflow")
    return result


nextafter = elementwise(
    "nextafter", np.nextafter, {"f": _nextafter}, hlo="chlo.next_after", flops=8
)


def _spacing(e: Any, attrs: Attrs, operand: Any) -> Any:
    """The distance to the next number away from zero, with the operand's sign, and of 0 positive.

    Of float16 the distance to the next number above, as in NumPy.
    """
    dtype = operand.dtype
    finite, last = _is_finite(e, operand), e.constant(np.finfo(dtype).max, dtype)
    if dtype == HALF:
        e.raise_where(e.logical_not(finite), "invalid")
        e.raise_where(e.compare("oeq", operand, last), "overflow")
    else:
        e.raise_where(e.compare("oeq", e.intrinsic("fabs", operand), last), "overflow")
    given, operand = operand, e.select(finite, operand, e.constant(1.0, dtype))
    bits = signed_bits(e, operand)
    one = e.constant(1, bits.dtype)
    moved = e.instruction("add", bits, one)
    if dtype == HALF:
        down = e.instruction("sub", bits, one)
        moved = e.select(e.compare("slt", bits, e.constant(0, bits.dtype)), down, moved)
    distance = e.instruction("fsub", e.bitcast(moved, dtype), operand)
    zero = e.compare("oeq", operand, e.constant(0.0, dtype))
    distance = e.select(zero, e.bitcast(one, dtype), distance)
    return e.select(_is_finite(e, given), distance, e.constant(np.nan, dtype))


spacing = elementwise("spacing", np.spacing, {"f": _spacing}, flops=6)


def _infer_ldexp(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    number, exponent = types
    if number.dtype.kind != "f" or exponent.dtype not in (INT32, np.dtype(np.int64)):
        raise TypeError(f"ldexp needs a float and an i32 or i64, got {number} and {exponent}")
    return ArrayType(number.dtype, broadcast_shape("ldexp", types))


def _power_of_two(e: Any, exponent: Any, dtype: np.dtype, mantissa: int, bias: int) -> Any:
    bits = e.instruction("add", exponent, e.constant(bias, exponent.dtype))
    shift = e.constant(mantissa, exponent.dtype)
    return e.bitcast(e.instruction("shl", bits, shift), dtype)


def _ldexp(e: Any, attrs: Attrs, number: Any, exponent: Any) -> Any:
    """Three products with powers of two of which only the last can round.

    Downwards each of the first two steps leaves room for the fraction, so that a subnormal
    result is rounded once.
    """
    dtype = number.dtype
    mantissa, largest = (52, 1023) if dtype.itemsize == 8 else (23, 127)
    integer = np.dtype(f"i{dtype.itemsize}")
    bound = e.constant(4 * largest, exponent.dtype)
    lowest = e.constant(-4 * largest, exponent.dtype)
    clipped = e.maximum(e.minimum(exponent, bound), lowest)
    left = e.convert(clipped, integer)
    top = e.constant(largest, integer)
    bottom = e.constant(mantissa + 1 - (largest - 1), integer)
    for _ in range(2):
        step = e.maximum(e.minimum(left, top), bottom)
        number = e.instruction("fmul", number, _power_of_two(e, step, dtype, mantissa, largest))
        left = e.instruction("sub", left, step)
    step = e.maximum(e.minimum(left, top), e.constant(1 - largest, integer))
    return e.instruction("fmul", number, _power_of_two(e, step, dtype, mantissa, largest))


ldexp = elementwise("ldexp", np.ldexp, {"f": in_single(_ldexp)}, infer=_infer_ldexp, flops=12)


def _split(e: Any, operand: Any) -> tuple[Any, Any]:
    """The fraction in [0.5, 1) with the sign, and the exponent; of 0, inf and nan itself and 0."""
    dtype = operand.dtype
    mantissa, largest = (52, 1023) if dtype.itemsize == 8 else (23, 127)
    integer = np.dtype(f"i{dtype.itemsize}")
    magnitude = e.intrinsic("fabs", operand)
    tiny = e.compare("olt", magnitude, e.constant(np.finfo(dtype).tiny, dtype))
    factor = e.select(tiny, e.constant(2.0 ** (mantissa + 2), dtype), e.constant(1.0, dtype))
    bits = e.bitcast(e.instruction("fmul", operand, factor), integer)
    place = e.constant(mantissa, integer)
    shifted = e.instruction("lshr", bits, place)
    field = e.instruction("and", shifted, e.constant(2 * largest + 1, integer))
    offset = e.select(
        tiny, e.constant(largest - 1 + mantissa + 2, integer), e.constant(largest - 1, integer)
    )
    exponent = e.instruction("sub", field, offset)
    keep = e.constant(~((2 * largest + 1) << mantissa), integer)
    half = e.constant((largest - 1) << mantissa, integer)
    fraction = e.bitcast(e.instruction("or", e.instruction("and", bits, keep), half), dtype)
    finite = _is_finite(e, operand)
    plain = e.instruction("and", finite, e.compare("une", operand, e.constant(0.0, dtype)))
    exponent = e.select(plain, exponent, e.constant(0, integer))
    return e.select(plain, fraction, operand), e.convert(exponent, INT32)


def _infer_mantissa(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    if types[0].dtype.kind != "f":
        raise TypeError(f"frexp is not defined for {types[0]}")
    return types[0]


def _infer_exponent(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    return ArrayType(INT32, _infer_mantissa(types, attrs).shape)


frexp_mantissa = elementwise(
    "frexp_mantissa",
    None,
    {"f": in_single(lambda e, attrs, x: _split(e, x)[0])},
    infer=_infer_mantissa,
    evaluate=lambda x: np.frexp(x)[0],
    flops=10,
)
frexp_exponent = elementwise(
    "frexp_exponent",
    None,
    {"f": in_single(lambda e, attrs, x: _split(e, x)[1])},
    infer=_infer_exponent,
    evaluate=lambda x: np.frexp(x)[1],
    flops=8,
)

(x,) = holes("x")
_ROUNDINGS = ("floor", "ceil", "trunc", "round_nearest_even")
for _outer in _ROUNDINGS:
    for _inner in _ROUNDINGS:
        rule(f"{_outer}-{_inner}", node(_outer, node(_inner, x)), node(_inner, x), kinds="f")
