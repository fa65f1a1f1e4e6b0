"""Views (an op that moves no data) and ops that only move data, or make it from sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import dims
from ..ir.builder import Builder
from ..ir.graph import Op, Value
from ..ir.primitive import Attrs, Primitive, ProgramEmitter, register
from ..ir.types import ArrayType
from ..rewrite.rule import fold_rule


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


def gathers_repeats(op: Op) -> bool:
    """Whether this reshape puts repeated elements between others, so that it is a copy.

    %1: f64[n, 3] = broadcast_in_dim{sizes=(n, 3), dimensions=(0,)}(%0)
    %2: f64[3*n] = reshape{sizes=(3*n,)}(%1)                             copies
    """
    if op.primitive.name != "reshape":
        return False
    source = op.operands[0]
    if source.op is None or source.op.primitive.name != "broadcast_in_dim":
        return False
    axes, sizes = source.op.attrs["dimensions"], source.op.operands[0].type.shape
    moving = {axis for axis, size in zip(axes, sizes, strict=True) if size != 1}
    before = [(size, axis in moving) for axis, size in enumerate(source.type.shape) if size != 1]
    after = [size for size in op.results[0].type.shape if size != 1]
    while before and after and before[-1][0] == after[-1]:
        before.pop()
        after.pop()
    while before and after and before[0][0] == after[0]:
        before.pop(0)
        after.pop(0)
    return len({moves for _, moves in before}) == 2


def _execute_reshape(program: ProgramEmitter, op: Op) -> None:
    operand = program.slot(op.operands[0])
    if gathers_repeats(op):
        out, shaped = program.allocate(op.results[0]), program.temporary()
        sizes = [program.dim(size) for size in op.operands[0].type.shape]
        program.instruction("reshape", shaped, out, sizes)
        program.instruction("copy", shaped, operand)
        return
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
    index = []
    for start, stride, size in zip(starts, strides, sizes, strict=True):
        stop = start + stride * size
        whole = slice(start, stop if stop >= 0 else None, stride)  # a negative stop counts anew
        index.append(whole if size else slice(0, 0))
    return x[tuple(index)]


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


def _example(operation: str, result: str, first: str = "", between: str = "f64[n, 3]") -> str:
    """The text of a graph that applies one or two movements to an `f64[n, 3]`."""
    lines = [f"%1: {between} = {first}(%0)"] if first else []
    lines.append(f"%{len(lines) + 1}: {result} = {operation}(%{len(lines)})")
    body = "\n".join(lines)
    return f"graph example(%0: f64[n, 3]) where n = size(0, 0) {{\n{body}\nreturn %{len(lines)}\n}}"


@fold_rule(
    "transpose-identity",
    "transpose",
    _example("transpose{permutation=(0, 1)}", "f64[n, 3]"),
)
def _transpose_identity(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    straight = tuple(range(len(operands[0].type.shape)))
    return operands[0] if attrs["permutation"] == straight else None


@fold_rule(
    "same-sizes",
    "reshape broadcast_in_dim slice",
    _example("reshape{sizes=(n, 3)}", "f64[n, 3]"),
    needs="sizes",
)
def _same_sizes(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """Of a slice too: a part as large as the whole is the whole, unless it is taken backwards."""
    return operands[0] if _STRAIGHT.issuperset(attrs.get("strides", ())) else None


_STRAIGHT = {1}


@fold_rule(
    "concatenate-one",
    "concatenate",
    _example("concatenate{dimension=0}", "f64[n, 3]"),
    needs="one",
)
def _concatenate_one(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    return operands[0]


@fold_rule(
    "transpose-transpose",
    "transpose",
    _example(
        "transpose{permutation=(1, 0)}", "f64[n, 3]", "transpose{permutation=(1, 0)}", "f64[3, n]"
    ),
    needs="op:transpose",
)
def _transpose_twice(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    inner = operands[0].op
    assert inner is not None
    first = inner.attrs["permutation"]
    permutation = tuple([first[axis] for axis in attrs["permutation"]])
    return builder.emit(transpose, inner.operands, {"permutation": permutation})


@fold_rule(
    "reshape-reshape",
    "reshape",
    _example("reshape{sizes=(3, n)}", "f64[3, n]", "reshape{sizes=(3*n,)}", "f64[3*n]"),
    needs="op:reshape",
)
def _reshape_twice(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    inner = operands[0].op
    assert inner is not None
    return builder.emit(reshape, inner.operands, attrs)


@fold_rule("reverse-nothing", "reverse", _example("reverse{dimensions=()}", "f64[n, 3]"))
def _reverse_nothing(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    return None if attrs["dimensions"] else operands[0]


@fold_rule(
    "reverse-reverse",
    "reverse",
    _example("reverse{dimensions=(0, 1)}", "f64[n, 3]", "reverse{dimensions=(1,)}"),
    needs="op:reverse",
)
def _reverse_twice(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    inner = operands[0].op
    assert inner is not None
    once = set(attrs["dimensions"]) ^ set(inner.attrs["dimensions"])
    return builder.emit(reverse, inner.operands, {"dimensions": tuple(sorted(once))})


@fold_rule(
    "broadcast-broadcast",
    "broadcast_in_dim",
    _example(
        "broadcast_in_dim{sizes=(2, 4, n, 3), dimensions=(1, 2, 3)}",
        "f64[2, 4, n, 3]",
        "broadcast_in_dim{sizes=(4, n, 3), dimensions=(1, 2)}",
        "f64[4, n, 3]",
    ),
    needs="op:broadcast_in_dim",
)
def _broadcast_twice(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    inner = operands[0].op
    assert inner is not None
    places = attrs["dimensions"]
    dimensions = tuple([places[axis] for axis in inner.attrs["dimensions"]])
    new = {"sizes": attrs["sizes"], "dimensions": dimensions}
    return builder.emit(broadcast_in_dim, inner.operands, new)


@fold_rule(
    "move-filled",
    "transpose reshape slice reverse",
    "graph example(%0: f64[], %1: f64[n]) where n = size(1, 0) {\n"
    " %2: f64[n, 2] = broadcast_in_dim{sizes=(n, 2), dimensions=()}(%0)\n"
    " %3: f64[2, n] = transpose{permutation=(1, 0)}(%2)\n return %3\n}",
    needs="op:broadcast_in_dim",
)
def _move_filled(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """Moving equal elements about gives equal elements."""
    inner = operands[0].op
    assert inner is not None
    if inner.operands[0].type.shape:
        return None
    shape = operands[0].type.shape
    if "permutation" in attrs:
        shape = tuple([shape[axis] for axis in attrs["permutation"]])
    new = {"sizes": attrs.get("sizes", shape), "dimensions": ()}
    if not new["sizes"]:
        return inner.operands[0]
    return builder.emit(broadcast_in_dim, inner.operands, new)


@fold_rule(
    "slice-slice",
    "slice",
    _example(
        "slice{starts=(n - 1, 0), strides=(1, 1), sizes=(1, 1)}",
        "f64[1, 1]",
        "slice{starts=(0, 0), strides=(1, 2), sizes=(n, 2)}",
        "f64[n, 2]",
    ),
    needs="op:slice",
)
def _slice_twice(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    inner = operands[0].op
    assert inner is not None
    starts, strides = [], []
    for axis, stride in enumerate(inner.attrs["strides"]):
        moved = dims.multiply(attrs["starts"][axis], stride)
        starts.append(dims.add(inner.attrs["starts"][axis], moved))
        strides.append(stride * attrs["strides"][axis])
    new = {"starts": tuple(starts), "strides": tuple(strides), "sizes": attrs["sizes"]}
    return builder.emit(slice_, inner.operands, new)


@fold_rule(
    "concatenate-nested",
    "concatenate",
    "graph example(%0: f64[2], %1: f64[n], %2: i64[0]) where n = size(1, 0) {\n"
    " %3: f64[0] = convert{dtype=f64}(%2)\n"
    " %4: f64[n + 2] = concatenate{dimension=0}(%0, %1)\n"
    " %5: f64[n + 4] = concatenate{dimension=0}(%4, %3, %0)\n return %5\n}",
)
def _concatenate_nested(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """Parts of parts are parts, and empty parts are none."""
    axis = attrs["dimension"]
    parts: list[Value] = []
    for operand in operands:
        inner = operand.op
        if inner is None or inner.primitive is not concatenate:
            parts.append(operand)
        else:
            parts += inner.operands if inner.attrs["dimension"] == axis else (operand,)
    kept = []
    for part in parts:
        if part.type.shape[axis] != 0:
            kept.append(part)
    if kept == list(operands):
        return None
    parts = kept or parts[:1]
    if parts == list(operands):
        return None
    return builder.emit(concatenate, tuple(parts), attrs)
