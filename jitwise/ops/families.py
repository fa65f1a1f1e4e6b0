"""Constructors of primitive rows: what the members of a family have in common.

    add  = elementwise("add", np.add, {"i": "add", "f": "fadd"}, hlo="stablehlo.add")
    sine = elementwise("sine", np.sin, {"f": MathCall("sine")}, ulp=2, flops=20)

The type rule comes from the ufunc: a row accepts the dtypes for which the ufunc has a loop. A
lowering entry is an LLVM opcode, or a function `(emitter, attrs, *operands)`. Dtype kinds: b bool,
i signed, u unsigned, f float, c complex. An entry for "i" serves "u" too unless "u" has its own. A
kind without an entry has no native code: the program calls NumPy for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..ir.dims import Size
from ..ir.primitive import Attrs, Primitive, register
from ..ir.types import DTYPE_NAMES, ArrayType

BOOL = np.dtype(np.bool_)
INT = np.dtype(np.int64)
HALF = np.dtype(np.float16)
SINGLE = np.dtype(np.float32)
DOUBLE = np.dtype(np.float64)
Lowering = str | Callable[..., Any]


def broadcast_shape(name: str, types: tuple[ArrayType, ...]) -> tuple[Size, ...]:
    """The common shape of elementwise operands, each of which has it or has rank 0."""
    shape: tuple[Size, ...] = ()
    for type in types:
        if type.shape and type.shape != shape:
            if shape:
                shown = " and ".join(str(each) for each in types)
                raise TypeError(
                    f"{name} needs operands of one shape, got {shown}; insert broadcast_in_dim"
                )
            shape = type.shape
    return shape


def infer_loop(name: str, ufunc: np.ufunc) -> Callable[[tuple[ArrayType, ...], Attrs], ArrayType]:
    """Type rule: operands of one dtype for which `ufunc` has a loop; the result is the loop's."""
    results: dict[np.dtype, np.dtype] = {}

    def infer(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
        first = types[0]
        dtype = first.dtype
        result = results.get(dtype)
        if result is None:
            result = results[dtype] = _loop_result(name, ufunc, first)
        shape = first.shape
        for other in types:
            if other.dtype != dtype:
                raise TypeError(
                    f"{name} needs operands of one dtype, got {first} and {other}; insert convert"
                )
            if other.shape != shape:
                shape = broadcast_shape(name, types)
        return first if result is dtype and shape is first.shape else ArrayType(result, shape)

    return infer


def _loop_result(name: str, ufunc: np.ufunc, type: ArrayType) -> np.dtype:
    try:
        loop = ufunc.resolve_dtypes((type.dtype,) * ufunc.nin + (None,) * ufunc.nout)
    except TypeError:
        loop = ()
    if not loop or any(dtype != type.dtype for dtype in loop[: ufunc.nin]):
        raise TypeError(f"{name} is not defined for {type}")
    return next(dtype for dtype in DTYPE_NAMES if dtype == loop[-1])


def lowering(entries: Mapping[str, Lowering]) -> dict[str, Callable[..., Any]]:
    """Lowering functions by dtype kind from opcodes and functions."""
    complete = dict(entries)
    if "i" in complete:
        complete.setdefault("u", complete["i"])
    return {
        kind: _opcode(entry) if isinstance(entry, str) else entry
        for kind, entry in complete.items()
    }


def _opcode(name: str) -> Callable[..., Any]:
    return lambda e, attrs, left, right: e.instruction(name, left, right)


def intrinsic(name: str) -> Callable[..., Any]:
    """Lower to the LLVM intrinsic `name`."""
    return lambda e, attrs, *operands: e.intrinsic(name, *operands)


class MathCall(NamedTuple):
    """Lowers to a call of the vector math library. A type of its own: a kernel is cut into loops at
    its calls.
    """

    name: str

    def __call__(self, e: Any, attrs: Attrs, *operands: Any) -> Any:
        return e.math(self.name, *operands)


def in_single(lower: Callable[..., Any]) -> Callable[..., Any]:
    """Work on float16 in float32, as NumPy's loops do; other floats as they are."""

    def lower_wide(e: Any, attrs: Attrs, *operands: Any) -> Any:
        if operands[0].dtype != HALF:
            return lower(e, attrs, *operands)
        wide = [e.convert(each, SINGLE) if each.dtype == HALF else each for each in operands]
        result = lower(e, attrs, *wide)
        return e.convert(result, HALF) if result.dtype == SINGLE else result

    return lower_wide


def method(name: str) -> Callable[..., Any]:
    """Lower to the emitter's own method `name`, which guards what LLVM leaves undefined."""
    return lambda e, attrs, *operands: getattr(e, name)(*operands)


def comparison(predicate: str) -> Callable[..., Any]:
    """Lower to an LLVM comparison."""
    return lambda e, attrs, left, right: e.compare(predicate, left, right)


def elementwise(
    name: str,
    ufunc: np.ufunc | None,
    entries: Mapping[str, Lowering],
    infer: Any = None,
    **facts: Any,
) -> Primitive:
    """A row of an elementwise primitive; give `infer` and `evaluate` where there is no ufunc."""
    facts.setdefault("evaluate", ufunc)
    if infer is None:
        assert ufunc is not None
        infer = infer_loop(name, ufunc)
    return register(
        Primitive(
            name=name,
            category="elementwise",
            infer=infer,
            ufunc=ufunc,
            lower=lowering(entries),
            **facts,
        )
    )


def with_constant(primitive: str, dtype: str, number: Any, result: str | None = None) -> str:
    """The text of a graph that applies `primitive` to an array and a scalar, for `fold_rule`."""
    return f"""graph example(%0: {dtype}[n]) where n = size(0, 0) {{
      %1: {dtype}[] = constant{{value={dtype}({number})}}()
      %2: {result or dtype}[n] = {primitive}(%0, %1)
      return %2
    }}"""
