"""Integer division and remainders with NumPy's answers, and C's fmod.

No vector unit divides integers. Up to 16 bits a float32 quotient is exact enough to be floored, up
to 32 bits a float64 one: a quotient that is no integer is further from the next integer than the
rounding error. A constant divisor is multiplied by its reciprocal. 64-bit division, and fmod, work
on stack buffers, in one function per dtype that is part of the module when used (see
`division_loops`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..ops.elementwise import fuses
from .division_loops import INTEGER_LOOPS, Loop, float_loop
from .text import SCALARS

if TYPE_CHECKING:
    from .operations import Operand, Operations

FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)


def floor_divide(e: Operations, left: Operand, right: Operand) -> Operand:
    """`left // right`."""
    if left.dtype.itemsize == 8:
        return _loop(e, f"floor_divide_{left.dtype.kind}64", left, right)
    return _quotient(e, left, right, "floor", is_quotient=True)[0]


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
    symbol = "fmodf" if dtype == FLOAT32 else "fmod"
    name = f"fmod_f{dtype.itemsize * 8}"
    return _call(e, name, float_loop(name, SCALARS[dtype], symbol, fuses()), left, right)


def _loop(e: Operations, name: str, left: Operand, right: Operand) -> Operand:
    return _call(e, name, INTEGER_LOOPS[name], left, right)


def common(e: Operations, name: str, left: Operand, right: Operand) -> Operand:
    """The greatest common divisor, "gcd", or the least common multiple, "lcm"."""
    from .common_divisors import WIDTH, common_divisor  # few programs need it

    dtype = left.dtype
    width = WIDTH if fuses() else 1  # those processors have wide vectors
    text, declarations = common_divisor(name, dtype.itemsize * 8, dtype.kind == "i", width)
    label = f"{name}_{dtype.kind}{dtype.itemsize * 8}"
    return _call(e, label, Loop(text, declarations), left, right)


def _call(e: Operations, name: str, loop: Loop, left: Operand, right: Operand) -> Operand:
    e.support[name] = loop.text
    e.declarations.update(loop.declarations)
    if loop.symbol is not None:
        e.symbols.add(loop.symbol)
    return e.call_on_buffers(name, (left, right), left.dtype)


def _quotient(
    e: Operations, left: Operand, right: Operand, rounding: str, is_quotient: bool = False
) -> tuple[Operand, Operand | None]:
    """The quotient (0 for a zero divisor, the opposite for -1), and the mask of those cases."""
    dtype = left.dtype
    wide = FLOAT32 if dtype.itemsize <= 2 else FLOAT64
    number = e.constant_of(right)
    if number is not None and number not in (0, -1) and rounding == "floor":
        return _by_reciprocal(e, left, int(number), wide), None
    zero = e.compare("eq", right, e.constant(0, dtype))
    if number == 0:  # LLVM would divide beforehand
        e.raise_where(zero, "divide")
    none, one = e.constant(0, dtype), e.constant(1, dtype)
    # By zero, 1 / 0 raises the flag. The result is put aside behind the rounding: a division whose
    # result is chosen at once would be left out by a mask, and raise nothing.
    top = e.convert(e.select(zero, one, left), wide)
    if dtype.kind == "u":
        ratio = e.intrinsic("trunc", e.instruction("fdiv", top, e.unknown(e.convert(right, wide))))
        whole = e.select(zero, e.constant(0, wide), ratio)
        return _whole(e, "fptoui", whole, dtype), zero
    minus = e.compare("eq", right, e.constant(-1, dtype))
    special = e.instruction("or", zero, minus)
    if is_quotient:  # the least number has no opposite
        least = e.compare("eq", left, e.constant(np.iinfo(dtype).min, dtype))
        e.raise_where(e.instruction("and", least, minus), "overflow")
    ratio = e.intrinsic(rounding, e.instruction("fdiv", top, e.unknown(e.convert(right, wide))))
    quotient = _whole(e, "fptosi", e.select(special, e.constant(0, wide), ratio), dtype)
    return e.select(minus, e.instruction("sub", none, left), quotient), special


def _by_reciprocal(e: Operations, left: Operand, divisor: int, wide: np.dtype) -> Operand:
    """Floor division by a constant: half an element is added, so that no multiple of the divisor
    is near an integer, and the two roundings of the product cannot matter.
    """
    half = e.constant(0.5 if divisor > 0 else -0.5, wide)
    middle = e.instruction("fadd", e.convert(left, wide), half)
    ratio = e.instruction("fmul", middle, e.constant(wide.type(1) / wide.type(divisor), wide))
    if left.dtype.kind == "u":
        return _whole(e, "fptoui", ratio, left.dtype)
    return _whole(e, "fptosi", e.intrinsic("floor", ratio), left.dtype)


def _whole(e: Operations, opcode: str, number: Operand, dtype: np.dtype) -> Operand:
    """A float that is in range as an integer, which needs no guard."""
    return e.define(
        f"{opcode} {e.type_of(number.dtype)} {number.text} to {e.type_of(dtype)}", dtype
    )


def _remainder(e: Operations, left: Operand, right: Operand, rounding: str) -> Operand:
    quotient, special = _quotient(e, left, right, rounding)
    rest = e.instruction("sub", left, e.instruction("mul", quotient, right))
    if special is None:
        return rest
    return e.select(special, e.constant(0, left.dtype), rest)
