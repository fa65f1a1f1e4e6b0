"""Floating-point flags, where LLVM's code would raise too many or none.

NumPy warns of what the flags of the processor say, and so do programs: a kernel has to leave those
that NumPy's loops would.

    %3 = less(%1, %2)           a comparison that is quiet for nan, as IEEE's isless
    %3 = floor_divide(%1, %2)   divides no integer by zero, and says so by a division of floats

`fcmp` may be compiled to an instruction that calls nan invalid; the constrained intrinsic is not.
A flag is raised by an operation that has it, on numbers that LLVM does not know, from memory:
1 / 0, the square of 1e300, inf - inf. It costs a chunk a few scalar instructions. What a select
chooses from is computed for every lane, also for those that are not chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .text import SCALARS, overload, widen

if TYPE_CHECKING:
    from .operations import Operand, Operations

BOOL = np.dtype(np.bool_)
FLOAT16 = np.dtype(np.float16)
FLOAT32 = np.dtype(np.float32)
ZERO = "0x0000000000000000"
HUGE = "0x7E37E43C8800759C"  # 1e300
INFINITE = "0x7FF0000000000000"
ONE = "0x3FF0000000000000"
ORDERS = frozenset(("lt", "le", "gt", "ge"))


def compare_quietly(e: Operations, predicate: str, left: Operand, right: Operand) -> Operand:
    """The order of two floats."""
    if left.dtype == FLOAT16:
        left, right = e.convert(left, FLOAT32), e.convert(right, FLOAT32)
    type, mask = e.type_of(left.dtype), e.type_of(BOOL)
    suffix = overload(SCALARS[left.dtype], e.lanes)
    name = f"llvm.experimental.constrained.fcmp.{suffix}"
    e.declarations[name] = quiet_declaration(name, type, mask)
    operands = f"{type} {left.text}, {type} {right.text}"
    return e.define(f"call {mask} @{name}({operands}, {quiet_operands(predicate)})", BOOL)


def of_every_lane(e: Operations, operand: Operand) -> Operand:
    """A value to select from. LLVM would compute it in those lanes alone that the select takes (by
    an instruction with a mask, or behind a branch), and raise no flag of the others, as NumPy does.
    """
    if operand.imag is not None:
        return e.complex(of_every_lane(e, e.real(operand)), of_every_lane(e, e.imag(operand)))
    if operand.text not in e.function.raising:
        return operand
    dtype = operand.dtype
    if dtype.kind == "f":
        return unknown(e, operand)
    if dtype.itemsize < 4:
        return operand
    as_float = e.bitcast(operand, np.dtype(f"f{dtype.itemsize}"))  # the fence is for floats
    return e.bitcast(unknown(e, as_float), dtype)


def unknown(e: Operations, operand: Operand) -> Operand:
    """The same float, of which LLVM knows nothing: 1 / (0 or 1) is no choice of (inf or 1)."""
    if operand.imag is not None:
        return e.complex(unknown(e, e.real(operand)), unknown(e, e.imag(operand)))
    if operand.dtype.kind != "f":
        return operand
    type, name = e.type_of(operand.dtype), overload(SCALARS[operand.dtype], e.lanes)
    return e.call_intrinsic(f"llvm.arithmetic.fence.{name}", type, type, (operand,), operand.dtype)


def quiet_declaration(name: str, type: str, mask: str) -> str:
    """The declaration of a quiet comparison."""
    return f"declare {mask} @{name}({type}, {type}, metadata, metadata)"


def quiet_operands(predicate: str) -> str:
    """What a quiet comparison is given beside the operands."""
    return f'metadata !"{predicate}", metadata !"fpexcept.ignore"'


def raise_where(e: Operations, mask: Operand, flag: str) -> None:
    """Raise "divide", "overflow" or "invalid" where a lane of `mask` is set."""
    any_lane = mask.text
    if e.lanes > 1:
        name = f"llvm.vector.reduce.or.v{e.lanes}i1"
        type = widen("i1", e.lanes)
        e.declarations[name] = f"declare i1 @{name}({type})"
        any_lane = e.function.define(f"call i1 @{name}({type} {mask.text})")
    place = e.function.buffer("flags", 8)
    e.function.line(f"store volatile double {ONE}, ptr {place}")
    one = e.function.define(f"load volatile double, ptr {place}")
    e.function.lines += raising(any_lane, one, flag, place, f"{one}.{flag}")


def raising(condition: str, one: str, flag: str, place: str, name: str) -> list[str]:
    """Lines that raise `flag` where `condition` holds; `one` is 1.0, which LLVM must not know."""
    operand, work = {
        "divide": (ZERO, f"fdiv double {one}, {name}"),
        "overflow": (HUGE, f"fmul double {name}, {name}"),
        "invalid": (INFINITE, f"fsub double {name}, {name}"),
    }[flag]
    return [
        f"  {name} = select i1 {condition}, double {operand}, double {one}",
        f"  {name}.result = {work}",
        f"  store volatile double {name}.result, ptr {place}",
    ]
