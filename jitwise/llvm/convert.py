"""Conversions between dtypes with the values NumPy gives, also out of range.

LLVM leaves a conversion of nan or of a number out of range undefined. NumPy does what a C cast
compiles to:

    float to i32, i64      out of range and nan: the minimum
    float to i8 .. u16     through i32, low bits kept: to u8, -1.0 is 255, 300.7 is 44, 1e10 is 0
    float to u32           through i64, low bits kept
    float to u64           below 2**63 as i64; from there on x - 2**63 as i64, top bit flipped
    to bool                nonzero; nan is true
    complex to real        the imaginary part is dropped
    float64 to float16     one rounding

NumPy's own vector code differs from its scalar code for float to u32 outside -2**31 .. 2**32 (the
answer depends on the position in the array); the scalar answer is taken. These are the answers of
x86; ARM saturates.

Not supported: float16 on processors without its conversions (x86 before 2012), where LLVM calls
functions of a compiler's library that is not there.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import numpy as np

from .text import PARTS

if TYPE_CHECKING:
    from .operations import Operand, Operations

X86 = ("x86_64", "AMD64")
INT32 = np.dtype(np.int32)
INT64 = np.dtype(np.int64)
UINT64 = np.dtype(np.uint64)
FLOAT16 = np.dtype(np.float16)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)


def convert(e: Operations, operand: Operand, dtype: np.dtype) -> Operand:
    """`operand` as `dtype`."""
    source = operand.dtype
    if source == dtype:
        return operand
    if source.kind == "c":
        return _from_complex(e, operand, dtype)
    if dtype.kind == "c":
        part = PARTS[dtype]
        return e.complex(convert(e, operand, part), e.constant(0, part))
    if dtype.kind == "b":
        return e.compare("une" if source.kind == "f" else "ne", operand, e.constant(0, source))
    if source.kind == "f":
        if dtype.kind == "f":
            return _float_to_float(e, operand, dtype)
        return _float_to_integer(e, operand, dtype)
    if dtype.kind == "f":
        return _integer_to_float(e, operand, dtype)
    return _integer_to_integer(e, operand, dtype)


def _cast(e: Operations, opcode: str, operand: Operand, dtype: np.dtype) -> Operand:
    return e.define(
        f"{opcode} {e.type_of(operand.dtype)} {operand.text} to {e.type_of(dtype)}", dtype
    )


def _from_complex(e: Operations, operand: Operand, dtype: np.dtype) -> Operand:
    real, imag = e.real(operand), e.imag(operand)
    if dtype.kind == "c":
        part = PARTS[dtype]
        return e.complex(convert(e, real, part), convert(e, imag, part))
    if dtype.kind == "b":
        return e.instruction("or", convert(e, real, dtype), convert(e, imag, dtype))
    return convert(e, real, dtype)


def _integer_to_integer(e: Operations, operand: Operand, dtype: np.dtype) -> Operand:
    source = operand.dtype
    if source.kind != "b" and source.itemsize == dtype.itemsize:
        return e.bitcast(operand, dtype)
    if source.kind != "b" and source.itemsize > dtype.itemsize:
        return _cast(e, "trunc", operand, dtype)
    return _cast(e, "sext" if source.kind == "i" else "zext", operand, dtype)


def _integer_to_float(e: Operations, operand: Operand, dtype: np.dtype) -> Operand:
    if dtype == FLOAT16:
        return convert(e, _integer_to_float(e, operand, FLOAT32), dtype)
    result = _cast(e, "sitofp" if operand.dtype.kind == "i" else "uitofp", operand, dtype)
    # LLVM would divide 0 and 1 beforehand, and raise no flag of it.
    return e.unknown(result) if operand.dtype.kind == "b" else result


def _float_to_float(e: Operations, operand: Operand, dtype: np.dtype) -> Operand:
    source = operand.dtype
    if {source.itemsize, dtype.itemsize} == {2, 8}:
        if source == FLOAT16:
            return _cast(e, "fpext", _cast(e, "fpext", operand, FLOAT32), dtype)
        return _cast(e, "fptrunc", _round_to_odd(e, operand), dtype)
    return _cast(e, "fpext" if source.itemsize < dtype.itemsize else "fptrunc", operand, dtype)


def _round_to_odd(e: Operations, operand: Operand) -> Operand:
    """float64 to float32 so that rounding again to float16 rounds as if once: an inexact result
    gets an odd last bit.
    """
    near = _cast(e, "fptrunc", operand, FLOAT32)
    back = _cast(e, "fpext", near, FLOAT64)
    bits = e.bitcast(near, INT32)
    too_far = e.compare("ogt", e.intrinsic("fabs", back), e.intrinsic("fabs", operand))
    toward_zero = e.select(too_far, e.instruction("sub", bits, e.constant(1, INT32)), bits)
    odd = e.instruction("or", toward_zero, e.constant(1, INT32))
    return e.bitcast(e.select(e.compare("une", back, operand), odd, bits), FLOAT32)


def _float_to_integer(e: Operations, operand: Operand, dtype: np.dtype) -> Operand:
    if operand.dtype == FLOAT16:
        operand = _cast(e, "fpext", operand, FLOAT32)
    if dtype == UINT64:
        return _float_to_uint64(e, operand)
    wide = INT64 if dtype.itemsize == 8 or (dtype.kind == "u" and dtype.itemsize == 4) else INT32
    return convert(e, _truncate(e, operand, wide), dtype)


def _truncate(e: Operations, operand: Operand, dtype: np.dtype) -> Operand:
    """Toward zero; the minimum for nan and out of range, as the x86 instruction has it."""
    if platform.machine() in X86:
        # The instruction does it, and raises the flag. LLVM calls the result undefined, but
        # generates the code without passes that would make use of that.
        return _cast(e, "fptosi", operand, dtype)
    limit: Any = 2.0 ** (dtype.itemsize * 8 - 1)
    inside = e.compare("olt", e.intrinsic("fabs", operand), e.constant(limit, operand.dtype))
    e.raise_where(e.logical_not(inside), "invalid")
    safe = e.select(inside, operand, e.constant(0, operand.dtype))
    return e.select(inside, _cast(e, "fptosi", safe, dtype), e.constant(-int(limit), dtype))


def _float_to_uint64(e: Operations, operand: Operand) -> Operand:
    half = e.constant(2.0**63, operand.dtype)
    large = e.compare("oge", operand, half)
    reduced = e.select(large, e.instruction("fsub", operand, half), operand)
    low = e.bitcast(_truncate(e, reduced, INT64), UINT64)
    return e.select(large, e.instruction("xor", low, e.constant(2**63, UINT64)), low)
