"""Integer division and remainders with NumPy's answers, and C's fmod.

No vector unit divides integers. Up to 16 bits a float32 quotient is exact enough to be floored, up
to 32 bits a float64 one: a quotient that is no integer is further from the next integer than the
rounding error. 64-bit division, and fmod, are loops over a stack buffer, in one function per dtype
that is part of the module when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .text import SCALARS

if TYPE_CHECKING:
    from .operations import Operand, Operations

FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)

_LOOP = """define internal void @{name}(ptr %a, ptr %b, ptr %out, i64 %n) nounwind {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %pa = getelementptr {type}, ptr %a, i64 %i
  %pb = getelementptr {type}, ptr %b, i64 %i
  %po = getelementptr {type}, ptr %out, i64 %i
  %x = load {type}, ptr %pa
  %y = load {type}, ptr %pb
{body}
  store {type} %r, ptr %po
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}"""

# The divisor is replaced by 1 where it is 0 or -1: both are answered without dividing.
_SIGNED = """  %zero = icmp eq i64 %y, 0
  %minus = icmp eq i64 %y, -1
  %special = or i1 %zero, %minus
  %d = select i1 %special, i64 1, i64 %y
  %t = sdiv i64 %x, %d
  %p = mul i64 %t, %d
  %m = sub i64 %x, %p"""
_FLOORED = """
  %inexact = icmp ne i64 %m, 0
  %mixed = xor i64 %m, %d
  %negative = icmp slt i64 %mixed, 0
  %down = and i1 %inexact, %negative"""
_BODIES = {
    "floor_divide_i64": _SIGNED
    + _FLOORED
    + """
  %one = zext i1 %down to i64
  %f = sub i64 %t, %one
  %opposite = sub i64 0, %x
  %g = select i1 %minus, i64 %opposite, i64 %f
  %r = select i1 %zero, i64 0, i64 %g""",
    "remainder_i64": _SIGNED
    + _FLOORED
    + """
  %shift = select i1 %down, i64 %d, i64 0
  %f = add i64 %m, %shift
  %r = select i1 %special, i64 0, i64 %f""",
    "truncated_remainder_i64": _SIGNED + "\n  %r = select i1 %special, i64 0, i64 %m",
    "floor_divide_u64": """  %zero = icmp eq i64 %y, 0
  %d = select i1 %zero, i64 1, i64 %y
  %q = udiv i64 %x, %d
  %r = select i1 %zero, i64 0, i64 %q""",
    "remainder_u64": """  %zero = icmp eq i64 %y, 0
  %d = select i1 %zero, i64 1, i64 %y
  %m = urem i64 %x, %d
  %r = select i1 %zero, i64 0, i64 %m""",
    "fmod_f32": "  %r = call float @fmodf(float %x, float %y)",
    "fmod_f64": "  %r = call double @fmod(double %x, double %y)",
}
_LIBRARY = {"fmod_f32": ("fmodf", "float"), "fmod_f64": ("fmod", "double")}


def floor_divide(e: Operations, left: Operand, right: Operand) -> Operand:
    """`left // right`."""
    if left.dtype.itemsize == 8:
        return _loop(e, f"floor_divide_{left.dtype.kind}64", left, right)
    return _quotient(e, left, right, "floor")[0]


def remainder(e: Operations, left: Operand, right: Operand) -> Operand:
    """`left % right`, with the sign of `right`."""
    if left.dtype.itemsize == 8:
        return _loop(e, f"remainder_{left.dtype.kind}64", left, right)
    return _remainder(e, left, right, "floor")


def truncated_remainder(e: Operations, left: Operand, right: Operand) -> Operand:
    """`left - trunc(left / right) * right`, with the sign of `left`."""
    if left.dtype.itemsize == 8:
        name = "truncated_remainder_i64" if left.dtype.kind == "i" else "remainder_u64"
        return _loop(e, name, left, right)
    return _remainder(e, left, right, "trunc")


def float_remainder(e: Operations, left: Operand, right: Operand) -> Operand:
    """C's fmod, which is exact; float16 through float32."""
    dtype = left.dtype
    if dtype.itemsize == 2:
        wide = float_remainder(e, e.convert(left, FLOAT32), e.convert(right, FLOAT32))
        return e.convert(wide, dtype)
    return _loop(e, f"fmod_f{dtype.itemsize * 8}", left, right)


def _loop(e: Operations, name: str, left: Operand, right: Operand) -> Operand:
    type = SCALARS[left.dtype]
    e.support[name] = _LOOP.format(name=name, type=type, body=_BODIES[name])
    if name in _LIBRARY:
        symbol, scalar = _LIBRARY[name]
        e.symbols.add(symbol)
        e.declarations[symbol] = f"declare {scalar} @{symbol}({scalar}, {scalar})"
    return e.call_on_buffers(name, (left, right), left.dtype)


def _quotient(
    e: Operations, left: Operand, right: Operand, rounding: str
) -> tuple[Operand, Operand]:
    """The quotient (0 for a zero divisor, the opposite for -1), and the mask of those cases."""
    dtype = left.dtype
    wide = FLOAT32 if dtype.itemsize <= 2 else FLOAT64
    zero = e.compare("eq", right, e.constant(0, dtype))
    if dtype.kind == "u":
        divisor = e.select(zero, e.constant(1, dtype), right)
        ratio = e.instruction("fdiv", e.convert(left, wide), e.convert(divisor, wide))
        return e.select(zero, e.constant(0, dtype), _whole(e, "fptoui", ratio, dtype)), zero
    minus = e.compare("eq", right, e.constant(-1, dtype))
    special = e.instruction("or", zero, minus)
    divisor = e.select(special, e.constant(1, dtype), right)
    ratio = e.instruction("fdiv", e.convert(left, wide), e.convert(divisor, wide))
    quotient = _whole(e, "fptosi", e.intrinsic(rounding, ratio), dtype)
    quotient = e.select(minus, e.instruction("sub", e.constant(0, dtype), left), quotient)
    return e.select(zero, e.constant(0, dtype), quotient), special


def _whole(e: Operations, opcode: str, number: Operand, dtype: np.dtype) -> Operand:
    """A float that is in range as an integer, which needs no guard."""
    return e.define(
        f"{opcode} {e.type_of(number.dtype)} {number.text} to {e.type_of(dtype)}", dtype
    )


def _remainder(e: Operations, left: Operand, right: Operand, rounding: str) -> Operand:
    quotient, special = _quotient(e, left, right, rounding)
    rest = e.instruction("sub", left, e.instruction("mul", quotient, right))
    return e.select(special, e.constant(0, left.dtype), rest)
