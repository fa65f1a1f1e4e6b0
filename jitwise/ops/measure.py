"""Masks, and sizes that follow from them: how many elements are true, where, and those elements.

    x[mask]         ->   %1: i64[] = count(mask)
                         measure{symbols=('m0',)}(%1)
                         %2: f64[m0] = compress{axis=0, size=m0}(x, mask)
    x[mask] = v     ->   place{axis=0}(x, mask, v)            v has m0 elements
    nonzero(mask)   ->   places{size=m0}(mask)                one i64[m0] for each axis

`compress` and `place` take a mask of one axis, and the whole of what lies at a place of `axis`. The
count is measured once for a mask; what is made for it has that many elements, which the native code
looks at again while it fills them in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.dims import Dim
from ..ir.graph import Op
from ..ir.primitive import Attrs, Primitive, ProgramEmitter, register
from ..ir.types import ArrayType

BOOL, INDEX = np.dtype(np.bool_), np.dtype(np.int64)
COUNT = ArrayType(INDEX, ())


def _infer_measure(types: tuple[ArrayType, ...], attrs: Attrs) -> tuple[ArrayType, ...]:
    if types != (COUNT,) or len(attrs["symbols"]) != 1:
        raise TypeError(f"measure needs one i64[] and one symbol, got {types}")
    return ()


def _execute_measure(program: ProgramEmitter, op: Op) -> None:
    symbol = program.dim(Dim.symbol(op.attrs["symbols"][0]))
    program.instruction("measure", symbol, program.slot(op.operands[0]), -1)


measure = register(
    Primitive(
        name="measure",
        category="effect",
        infer=_infer_measure,
        evaluate=lambda value, symbols: (),
        execute=_execute_measure,
        multiple=True,
        effect=True,
        measures=True,
        flops=0,
    )
)


def _require_mask(type: ArrayType) -> None:
    if type.dtype != BOOL or not type.ndim:
        raise TypeError(f"a mask is an array of bool, not {type}")


def _infer_count(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    _require_mask(types[0])
    return COUNT


def _library(name: str, *attributes: str) -> Any:
    """Run as the native machine's function of that name, into memory of the results' own."""

    def execute(program: ProgramEmitter, op: Op) -> None:
        inputs = [program.slot(operand) for operand in op.operands]
        outputs = [program.allocate(result) for result in op.results]
        given = [op.attrs[attribute] for attribute in attributes]
        program.instruction("library", name, inputs, outputs, given, [])

    return execute


count = register(
    Primitive(
        name="count",
        category="data",
        infer=_infer_count,
        evaluate=lambda mask: np.int64(np.count_nonzero(mask)),
        execute=_library("count"),
        flops=1,
    )
)


def _require_axis(whole: ArrayType, mask: ArrayType, axis: int) -> None:
    _require_mask(mask)
    if not 0 <= axis < whole.ndim or mask.shape != (whole.shape[axis],):
        raise TypeError(f"{mask} is no mask along axis {axis} of {whole}")


def _infer_compress(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    (whole, mask), axis = types, attrs["axis"]
    _require_axis(whole, mask, axis)
    return ArrayType(whole.dtype, (*whole.shape[:axis], attrs["size"], *whole.shape[axis + 1 :]))


compress = register(
    Primitive(
        name="compress",
        category="data",
        infer=_infer_compress,
        evaluate=lambda whole, mask, axis, size: np.compress(mask, whole, axis),
        execute=_library("compress", "axis"),
        flops=0,
    )
)


def _infer_place(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    whole, mask, part = types
    axis = attrs["axis"]
    _require_axis(whole, mask, axis)
    rest = (*whole.shape[:axis], *whole.shape[axis + 1 :])
    same_rank = part.dtype == whole.dtype and part.ndim == whole.ndim
    if not same_rank or (*part.shape[:axis], *part.shape[axis + 1 :]) != rest:
        raise TypeError(f"places along axis {axis} of {whole} do not take {part}")
    return whole


def _evaluate_place(whole: Any, mask: Any, part: Any, axis: int) -> Any:
    result = np.array(whole)
    result[(*[slice(None)] * axis, mask)] = part
    return result


def _execute_place(program: ProgramEmitter, op: Op) -> None:
    whole, mask, part = op.operands
    inputs = [program.slot(mask), program.slot(part)]
    out = program.overwrite(op.results[0], whole, (mask, part))
    program.instruction("library", "place", inputs, [out], [op.attrs["axis"]], [])


place = register(
    Primitive(
        name="place",
        category="data",
        infer=_infer_place,
        evaluate=_evaluate_place,
        execute=_execute_place,
        flops=0,
    )
)


def _infer_places(types: tuple[ArrayType, ...], attrs: Attrs) -> tuple[ArrayType, ...]:
    _require_mask(types[0])
    return (ArrayType(INDEX, (attrs["size"],)),) * types[0].ndim


places = register(
    Primitive(
        name="places",
        category="data",
        infer=_infer_places,
        evaluate=lambda mask, size: tuple(np.nonzero(mask)),
        execute=_library("places"),
        multiple=True,
        flops=0,
    )
)
