"""Views (an op that moves no data) and ops that only move data, or make it from sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import dims
from ..ir.builder import Builder
from ..ir.graph import Op, Value
from ..ir.primitive import Attrs, Primitive, ProgramEmitter, attach_fold, register
from ..ir.types import ArrayType


def _infer_transpose(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    permutation = attrs["permutation"]
    if sorted(permutation) != list(range(types[0].ndim)):
        raise TypeError(f"{permutation} does not permute the axes of {types[0]}")
    return ArrayType(types[0].dtype, tuple(types[0].shape[axis] for axis in permutation))


def _execute_transpose(program: ProgramEmitter, op: Op) -> None:
    operand = program.slot(op.operands[0])
    permutation = list(op.attrs["permutation"])
    program.instruction("transpose", program.define(op.results[0]), operand, permutation)


transpose = register(
    Primitive(
        name="transpose",
        category="view",
        infer=_infer_transpose,
        evaluate=lambda x, permutation: np.transpose(x, permutation),
        execute=_execute_transpose,
        hlo="stablehlo.transpose",
        flops=0,
    )
)


def _infer_reshape(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    return ArrayType(types[0].dtype, attrs["sizes"])


def _execute_reshape(program: ProgramEmitter, op: Op) -> None:
    operand = program.slot(op.operands[0])
    sizes = [program.dim(size) for size in op.attrs["sizes"]]
    program.instruction("reshape", program.define(op.results[0]), operand, sizes)


reshape = register(
    Primitive(
        name="reshape",
        category="view",
        infer=_infer_reshape,
        evaluate=lambda x, sizes: np.reshape(x, sizes),
        execute=_execute_reshape,
        hlo="stablehlo.reshape",
        flops=0,
    )
)


def _infer_broadcast(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    """Axis i of the operand becomes axis dimensions[i]; its size is 1 or the result's."""
    sizes, axes = attrs["sizes"], attrs["dimensions"]
    if len(axes) != types[0].ndim or list(axes) != sorted(set(axes)):
        raise TypeError(f"broadcast_in_dim of {types[0]} cannot place its axes at {axes}")
    for size, axis in zip(types[0].shape, axes, strict=True):
        if size != 1 and size != sizes[axis]:
            raise TypeError(f"{types[0]} does not broadcast to {sizes} along {axes}")
    return ArrayType(types[0].dtype, sizes)


def _evaluate_broadcast(x: Any, sizes: tuple[int, ...], dimensions: tuple[int, ...]) -> Any:
    shape = [1] * len(sizes)
    for size, axis in zip(np.shape(x), dimensions, strict=True):
        shape[axis] = size
    return np.broadcast_to(np.reshape(x, shape), sizes)


def _execute_broadcast(program: ProgramEmitter, op: Op) -> None:
    places = {axis: place for place, axis in enumerate(op.attrs["dimensions"])}
    axes = [places.get(axis, -1) for axis in range(len(op.attrs["sizes"]))]
    sizes = [program.dim(size) for size in op.attrs["sizes"]]
    operand = program.slot(op.operands[0])
    program.instruction("broadcast", program.define(op.results[0]), operand, axes, sizes)


broadcast_in_dim = register(
    Primitive(
        name="broadcast_in_dim",
        category="view",
        infer=_infer_broadcast,
        evaluate=_evaluate_broadcast,
        execute=_execute_broadcast,
        hlo="stablehlo.broadcast_in_dim",
        flops=0,
    )
)


def filled(builder: Builder, value: Any, dtype: np.dtype, shape: tuple[dims.Size, ...]) -> Value:
    """An array with `value` in each element."""
    scalar = builder.constant(value, dtype)
    if not shape:
        return scalar
    return builder.emit(broadcast_in_dim, (scalar,), {"sizes": shape, "dimensions": ()})


def _infer_slice(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    if not len(attrs["starts"]) == len(attrs["strides"]) == len(attrs["sizes"]) == types[0].ndim:
        raise TypeError(f"slice of {types[0]} needs a start, a stride and a size for each axis")
    return ArrayType(types[0].dtype, attrs["sizes"])


def _evaluate_slice(x: Any, starts: tuple, strides: tuple, sizes: tuple) -> Any:
    index = tuple(
        slice(start, start + stride * size, stride) if size else slice(0, 0)
        for start, stride, size in zip(starts, strides, sizes, strict=True)
    )
    return x[index]


def _execute_slice(program: ProgramEmitter, op: Op) -> None:
    starts = [program.dim(size) for size in op.attrs["starts"]]
    sizes = [program.dim(size) for size in op.attrs["sizes"]]
    operand = program.slot(op.operands[0])
    out = program.define(op.results[0])
    program.instruction("slice", out, operand, starts, list(op.attrs["strides"]), sizes)


slice_ = register(
    Primitive(
        name="slice",
        category="view",
        infer=_infer_slice,
        evaluate=_evaluate_slice,
        execute=_execute_slice,
        hlo="stablehlo.slice",
        flops=0,
    )
)


def _infer_reverse(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    return types[0]


reverse = register(
    Primitive(
        name="reverse",
        category="view",
        infer=_infer_reverse,
        evaluate=lambda x, dimensions: np.flip(x, dimensions),
        execute=lambda program, op: program.instruction(
            "reverse",
            program.define(op.results[0]),
            program.slot(op.operands[0]),
            list(op.attrs["dimensions"]),
        ),
        hlo="stablehlo.reverse",
        flops=0,
    )
)


def _infer_concatenate(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    axis = attrs["dimension"]
    total: dims.Size = 0
    first = types[0]
    for type in types:
        if type.dtype != first.dtype or type.ndim != first.ndim:
            raise TypeError(
                f"concatenate needs operands of one dtype and rank, got {first} and {type}"
            )
        rest = first.shape[:axis] + first.shape[axis + 1 :]
        if type.shape[:axis] + type.shape[axis + 1 :] != rest:
            raise TypeError(f"{first} and {type} differ beside axis {axis}")
        total = dims.add(total, type.shape[axis])
    return ArrayType(first.dtype, (*first.shape[:axis], total, *first.shape[axis + 1 :]))


def _execute_concatenate(program: ProgramEmitter, op: Op) -> None:
    axis = op.attrs["dimension"]
    result = op.results[0]
    out = program.allocate(result)
    start: dims.Size = 0
    for operand in op.operands:
        shape = operand.type.shape
        place = program.temporary()  # the part of the result that this operand fills
        starts = [program.dim(start if each == axis else 0) for each in range(len(shape))]
        sizes = [program.dim(size) for size in shape]
        program.instruction("slice", place, out, starts, [1] * len(shape), sizes)
        program.instruction("copy", place, program.slot(operand))
        start = dims.add(start, shape[axis])


concatenate = register(
    Primitive(
        name="concatenate",
        category="data",
        infer=_infer_concatenate,
        evaluate=lambda *arrays, dimension: np.concatenate(arrays, dimension),
        execute=_execute_concatenate,
        hlo="stablehlo.concatenate",
        flops=0,
    )
)


def _infer_iota(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    return ArrayType(attrs["dtype"], attrs["sizes"])


def _evaluate_iota(sizes: tuple[int, ...], dimension: int, dtype: np.dtype) -> Any:
    shape = [1] * len(sizes)
    shape[dimension] = sizes[dimension]
    return np.broadcast_to(np.arange(sizes[dimension]).astype(dtype).reshape(shape), sizes)


def _execute_iota(program: ProgramEmitter, op: Op) -> None:
    out = program.allocate(op.results[0])
    program.instruction("library", "iota", [], [out], [op.attrs["dimension"]], [])


iota = register(
    Primitive(
        name="iota",
        category="source",
        infer=_infer_iota,
        evaluate=_evaluate_iota,
        execute=_execute_iota,
        hlo="stablehlo.iota",
        flops=0,
    )
)


def _fold_same_type(primitive: Primitive) -> None:
    """A movement that keeps every axis where it is moves nothing."""

    def fold(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Value | None:
        type = operands[0].type
        if primitive is transpose:
            return operands[0] if attrs["permutation"] == tuple(range(type.ndim)) else None
        if primitive is concatenate:
            return operands[0] if len(operands) == 1 else None
        if attrs.get("sizes") != type.shape:
            return None
        if primitive is slice_ and any(stride != 1 for stride in attrs["strides"]):
            return None  # a stride only matters beyond one element, and then the size differs
        return operands[0]

    attach_fold(primitive, fold)


for _primitive in (transpose, reshape, broadcast_in_dim, slice_, concatenate):
    _fold_same_type(_primitive)
