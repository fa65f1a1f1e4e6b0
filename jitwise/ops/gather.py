"""Elements at positions that are values: reading, replacing, and combining with a ufunc.

    x[i]              ->   gather{axes=(0,)}(x, i)
    x[:, i, j]        ->   gather{axes=(1, 2)}(x, i, j)        i and j of one shape
    x[i] = v          ->   scatter{axes=(0,)}(x, v, i)
    np.add.at(x, i, v) ->  scatter_at{axes=(0,), ufunc='add'}(x, v, i)

Positions are i64 of one shape, and may be negative. The axes they make stand where the indexed axes
stood when those are neighbours, and first otherwise, as in NumPy. A position out of bounds raises
IndexError. Of several values for one place, `scatter` keeps the last.

They take place even when nothing needs their results, because they may raise. `scatter_at` with a
ufunc that has no native loop here, or of an array of another dtype, is a call of NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.dims import Size
from ..ir.graph import Op
from ..ir.primitive import Attrs, Primitive, ProgramEmitter, register
from ..ir.types import ArrayType

INDEX = np.dtype(np.int64)


def gathered_shape(
    shape: tuple[Size, ...], axes: tuple[int, ...], positions: tuple[Size, ...]
) -> tuple[Size, ...]:
    """The shape of what `positions`, along each of `axes`, take."""
    rest = tuple([size for axis, size in enumerate(shape) if axis not in axes])
    first = axes[0]
    if axes != tuple(range(first, first + len(axes))):
        return (*positions, *rest)
    return (*rest[:first], *positions, *rest[first:])


def _check(whole: ArrayType, positions: tuple[ArrayType, ...], attrs: Attrs) -> tuple[Size, ...]:
    axes = attrs["axes"]
    if len(axes) != len(positions) or not axes or list(axes) != sorted(set(axes)):
        raise TypeError(f"positions along {axes} of {whole} need an array each")
    if axes[-1] >= whole.ndim or axes[0] < 0:
        raise TypeError(f"{whole} has no axes {axes}")
    for each in positions:
        if each != ArrayType(INDEX, positions[0].shape):
            raise TypeError(f"positions are i64 of one shape, got {each} and {positions[0]}")
    return gathered_shape(whole.shape, axes, positions[0].shape)


def _infer_gather(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    return ArrayType(types[0].dtype, _check(types[0], types[1:], attrs))


def _infer_scatter(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    whole, part = types[:2]
    shape = _check(whole, types[2:], attrs)
    if part != ArrayType(whole.dtype, shape):
        raise TypeError(f"these places of {whole} take {ArrayType(whole.dtype, shape)}, got {part}")
    return whole


def _infer_scatter_at(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    whole, part, *positions = types
    return _infer_scatter((whole, ArrayType(whole.dtype, part.shape), *positions), attrs)


def _key(axes: tuple[int, ...], positions: tuple[Any, ...]) -> tuple[Any, ...]:
    key: list[Any] = [slice(None)] * (axes[-1] + 1)
    for axis, each in zip(axes, positions, strict=True):
        key[axis] = each
    return tuple(key)


def _scatter(whole: Any, part: Any, *positions: Any, axes: tuple[int, ...]) -> Any:
    result = np.array(whole)
    result[_key(axes, positions)] = part
    return result


def _scatter_at(whole: Any, part: Any, *positions: Any, axes: tuple[int, ...], ufunc: str) -> Any:
    result = np.array(whole)
    getattr(np, ufunc).at(result, _key(axes, positions), part)
    return result


def _execute_gather(program: ProgramEmitter, op: Op) -> None:
    operands = [program.slot(operand) for operand in op.operands]
    out = program.allocate(op.results[0])
    program.instruction("library", "gather", operands, [out], list(op.attrs["axes"]), [])


def _execute_scatter(program: ProgramEmitter, op: Op) -> None:
    whole, *others = op.operands
    out = program.overwrite(op.results[0], whole, others)
    given = [program.slot(operand) for operand in others]
    program.instruction("library", "scatter", given, [out], list(op.attrs["axes"]), [])


# In the order of `Operation` in library_gather.cpp, and the dtype kinds each is native for.
_COMBINATIONS = {
    "add": "biufc",
    "subtract": "iufc",
    "multiply": "biuf",
    "maximum": "biuf",
    "minimum": "biuf",
}


def _execute_scatter_at(program: ProgramEmitter, op: Op) -> None:
    whole, *others = op.operands
    ufunc, dtype = op.attrs["ufunc"], whole.type.dtype
    native = dtype.kind in _COMBINATIONS.get(ufunc, "") and dtype != np.float16
    if not native or others[0].type.dtype != dtype:
        program.evaluate(op)
        return
    out = program.overwrite(op.results[0], whole, others)
    given = [program.slot(operand) for operand in others]
    numbers = [list(_COMBINATIONS).index(ufunc), *op.attrs["axes"]]
    program.instruction("library", "scatter_at", given, [out], numbers, [])


gather = register(
    Primitive(
        name="gather",
        category="data",
        infer=_infer_gather,
        evaluate=lambda whole, *positions, axes: np.asarray(whole)[_key(axes, positions)],
        execute=_execute_gather,
        effect=True,
        hlo="stablehlo.gather",
        flops=0,
    )
)
scatter = register(
    Primitive(
        name="scatter",
        category="data",
        infer=_infer_scatter,
        evaluate=_scatter,
        execute=_execute_scatter,
        effect=True,
        hlo="stablehlo.scatter",
        flops=0,
    )
)
scatter_at = register(
    Primitive(
        name="scatter_at",
        category="data",
        infer=_infer_scatter_at,
        evaluate=_scatter_at,
        execute=_execute_scatter_at,
        effect=True,
        hlo="stablehlo.scatter",
    )
)
