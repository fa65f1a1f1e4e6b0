"""Constructors of primitive rows: what the members of a family have in common.

    add  = binary("add", np.add, {"i": "add", "f": "fadd", ...}, hlo="stablehlo.add", commutative=True)
    sine = unary("sine", np.sin, {"f": math("sine")}, ulp=2, flops=20)

A lowering entry is an LLVM opcode, or a function `(emitter, attrs, *operands)`. Dtype kinds: b bool, i signed,
u unsigned, f float, c complex. An entry for "i" serves "u" too unless "u" has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..ir.dims import Size
from ..ir.primitive import Attrs, Primitive, register
from ..ir.types import ArrayType

BOOL = np.dtype(np.bool_)
INT = np.dtype(np.int64)
Lowering = str | Callable[..., Any]


def broadcast_shape(name: str, types: tuple[ArrayType, ...]) -> tuple[Size, ...]:
    """The common shape of elementwise operands, each of which has it or has rank 0."""
    shape: tuple[Size, ...] = ()
    for type in types:
        if type.shape and type.shape != shape:
            if shape:
                shown = " and ".join(str(each) for each in types)
                raise TypeError(f"{name} needs operands of one shape, got {shown}; insert broadcast_in_dim")
            shape = type.shape
    return shape


def infer_same(name: str, kinds: str) -> Callable[[tuple[ArrayType, ...], Attrs], ArrayType]:
    """Type rule: operands of one dtype whose kind is in `kinds`; the result has it too."""

    def infer(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
        first = types[0]
        dtype = first.dtype
        if dtype.kind not in kinds:
            raise TypeError(f"{name} is not defined for {first}")
        for other in types:
            if other.dtype != dtype:
                raise TypeError(f"{name} needs operands of one dtype, got {first} and {other}; insert convert")
            if other.shape != first.shape:
                return ArrayType(dtype, broadcast_shape(name, types))
        return first

    return infer


def infer_to(name: str, kinds: str, dtype: np.dtype) -> Callable[[tuple[ArrayType, ...], Attrs], ArrayType]:
    """Type rule: operands of one dtype; the result has `dtype`."""
    same = infer_same(name, kinds)
    return lambda types, attrs: ArrayType(dtype, same(types, attrs).shape)


def lowering(entries: Mapping[str, Lowering]) -> dict[str, Callable[..., Any]]:
    """Lowering functions by dtype kind from opcodes and functions."""
    complete = dict(entries)
    if "i" in complete:
        complete.setdefault("u", complete["i"])
    return {kind: _opcode(entry) if isinstance(entry, str) else entry for kind, entry in complete.items()}


def _opcode(name: str) -> Callable[..., Any]:
    return lambda e, attrs, left, right: e.instruction(name, left, right)


def intrinsic(name: str) -> Callable[..., Any]:
    """Lower to the LLVM intrinsic `name`."""
    return lambda e, attrs, *operands: e.intrinsic(name, *operands)


def math(name: str) -> Callable[..., Any]:
    """Lower to a call of the vector math library."""
    return lambda e, attrs, *operands: e.math(name, *operands)


def comparison(predicate: str) -> Callable[..., Any]:
    """Lower to an LLVM comparison."""
    return lambda e, attrs, left, right: e.compare(predicate, left, right)


def elementwise(
    name: str, ufunc: np.ufunc | None, entries: Mapping[str, Lowering], infer: Any = None, **facts: Any
) -> Primitive:
    """A row of an elementwise primitive."""
    lower = lowering(entries)
    kinds = "".join(lower)
    facts.setdefault("evaluate", ufunc)
    return register(
        Primitive(
            name=name,
            category="elementwise",
            infer=infer or infer_same(name, kinds),
            ufunc=ufunc,
            lower=lower,
            **facts,
        )
    )


def unary(name: str, ufunc: np.ufunc, entries: Mapping[str, Lowering], **facts: Any) -> Primitive:
    """A function of one operand, result of the same dtype."""
    return elementwise(name, ufunc, entries, **facts)


binary = unary


def predicate(name: str, ufunc: np.ufunc, entries: Mapping[str, Lowering], **facts: Any) -> Primitive:
    """A function of operands of one dtype whose result is bool."""
    kinds = "".join(lowering(entries))
    return elementwise(name, ufunc, entries, infer=infer_to(name, kinds, BOOL), **facts)
