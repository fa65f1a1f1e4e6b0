"""Arrays with a part replaced: what an assignment to items is in a graph, where nothing changes.

    x[1:-1] = u     ->     %2: f64[n] = update_slice{starts=(1,), strides=(1,)}(x, u)

The part is as large as `u`, starts at `starts` and takes every `strides`-th element. The program
writes into the memory of the operand when that ends there, and into a copy of it otherwise. The
rules below read back what was just written without going through memory, and forget writes that
are overwritten.

StableHLO's `dynamic_update_slice` is this one for strides of 1.
"""

from __future__ import annotations

from typing import Any

from ..ir import dims
from ..ir.builder import Builder
from ..ir.graph import Op, Value
from ..ir.primitive import Attrs, Primitive, ProgramEmitter, register
from ..ir.types import ArrayType
from ..rewrite.rule import fold_rule
from .movement import slice_

_MOST_STEPS = 64  # back through assignments, for one read


def _infer(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    whole, part = types
    if whole.dtype != part.dtype or whole.ndim != part.ndim:
        raise TypeError(f"update_slice needs one dtype and rank, got {whole} and {part}")
    if not len(attrs["starts"]) == len(attrs["strides"]) == whole.ndim:
        raise TypeError(f"update_slice of {whole} needs a start and a stride for each axis")
    return whole


def _evaluate(whole: Any, part: Any, starts: tuple, strides: tuple) -> Any:
    result = whole.copy()
    index = []
    for start, stride, size in zip(starts, strides, part.shape, strict=True):
        index.append(slice(start, start + stride * size, stride) if size else slice(0, 0))
    result[tuple(index)] = part
    return result


def _execute(program: ProgramEmitter, op: Op) -> None:
    whole, part = op.operands
    out = program.overwrite(op.results[0], whole, (part,))
    place = program.temporary()
    starts = [program.dim(size) for size in op.attrs["starts"]]
    sizes = [program.dim(size) for size in part.type.shape]
    program.instruction("slice", place, out, starts, list(op.attrs["strides"]), sizes)
    program.instruction("copy", place, program.slot(part))


update_slice = register(
    Primitive(
        name="update_slice",
        category="data",
        infer=_infer,
        evaluate=_evaluate,
        execute=_execute,
        flops=0,
    )
)


def _example(first: str, second: str, result: str = "f64[n, 3]") -> str:
    return (
        "graph example(%0: f64[n, 3], %1: f64[n, 1], %2: f64[n, 1], %3: f64[0, 3], %4: f64[n, 3])"
        " where n = size(0, 0) {\n"
        f" %5: f64[n, {3 if 'update' in first else 1}] = {first}\n"
        f" %6: {result} = {second}\n return %6\n}}"
    )


_COLUMN = "{starts=(0, 1), strides=(1, 1)}"
_CUT = "slice{starts=(0, 1), strides=(1, 1), sizes=(n, 1)}"


def _update_of(value: Value) -> Op | None:
    return value.op if value.op is not None and value.op.primitive is update_slice else None


def _same_place(attrs: Attrs, other: Attrs) -> bool:
    return attrs["starts"] == other["starts"] and attrs["strides"] == other["strides"]


@fold_rule(
    "update-nothing",
    "update_slice",
    _example(
        f"update_slice{_COLUMN}(%0, %1)", "update_slice{starts=(0, 0), strides=(1, 1)}(%5, %3)"
    ),
)
def _update_nothing(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    return operands[0] if 0 in operands[1].type.shape else None


@fold_rule(
    "update-all",
    "update_slice",
    _example(
        f"update_slice{_COLUMN}(%0, %1)", "update_slice{starts=(0, 0), strides=(1, 1)}(%5, %4)"
    ),
)
def _update_all(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """A part as large as the whole is the whole."""
    return operands[1] if operands[0].type.shape == operands[1].type.shape else None


@fold_rule(
    "update-update",
    "update_slice",
    _example(f"update_slice{_COLUMN}(%0, %1)", f"update_slice{_COLUMN}(%5, %2)"),
    needs="op:update_slice",
)
def _update_twice(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """The last write to a place counts."""
    inner = _update_of(operands[0])
    if inner is None or not _same_place(inner.attrs, attrs):
        return None
    if inner.operands[1].type.shape != operands[1].type.shape:
        return None
    return builder.emit(update_slice, (inner.operands[0], operands[1]), attrs)


@fold_rule(
    "update-by-itself",
    "update_slice",
    _example(f"{_CUT}(%0)", f"update_slice{_COLUMN}(%0, %5)"),
)
def _update_by_itself(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """Writing back what was read there changes nothing."""
    part = operands[1].op
    if part is None or part.primitive is not slice_ or part.operands[0] is not operands[0]:
        return None
    return operands[0] if _same_place(part.attrs, attrs) else None


@fold_rule(
    "slice-update",
    "slice",
    _example(f"update_slice{_COLUMN}(%0, %1)", f"{_CUT}(%5)", "f64[n, 1]"),
    _example(
        f"update_slice{_COLUMN}(%0, %1)",
        "slice{starts=(0, 2), strides=(1, 1), sizes=(n, 1)}(%5)",
        "f64[n, 1]",
    ),
    needs="op:update_slice",
)
def _slice_of_update(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    """What was written to this very place, or what was there before writes to other places."""
    value, sizes = operands[0], attrs["sizes"]
    cell = _cell(attrs, sizes, value.type.shape)
    for _ in range(_MOST_STEPS):
        op = _update_of(value)
        if op is None:
            break
        run, count = _run_to(builder, value) if cell is not None else (None, 0)
        if run is not None and cell is not None and run.axes == cell[0]:
            written = run.written(cell[1], count)
            if written is not None:
                return written
            value = run.before
            continue
        part = op.operands[1]
        if _same_place(op.attrs, attrs) and part.type.shape == sizes:
            return part
        if not _apart(op.attrs, part.type.shape, attrs, sizes):
            break
        value = op.operands[0]
    else:
        return None  # too far back: what is emitted in its place would look on from there
    return None if value is operands[0] else builder.emit(slice_, (value,), attrs)


def _cell(attrs: Attrs, sizes: tuple, whole: tuple) -> tuple[tuple, tuple] | None:
    """Along which axes a place takes a single element, and which; it takes all along the others.
    None when it is another kind of place: two cells of the same axes are one, or are apart.
    """
    axes, places = [], []
    for axis, (start, size) in enumerate(zip(attrs["starts"], sizes, strict=True)):
        if type(size) is int and size == 1 and type(start) is int:
            axes.append(axis)
            places.append(start)
        elif start != 0 or size != whole[axis] or attrs["strides"][axis] != 1:
            return None
    return tuple(axes), tuple(places)


class _Run:
    """Writes to cells of the same axes, one after the other, found by cell: a program that assigns
    to many elements reads each of them in constant time.
    """

    __slots__ = ("axes", "before", "count", "parts")

    def __init__(self, axes: tuple, before: Value) -> None:
        self.axes = axes
        self.before = before
        self.count = 0
        self.parts: dict[tuple, list[tuple[int, Value]]] = {}

    def written(self, places: tuple, count: int) -> Value | None:
        """What the first `count` writes left in a cell; None when they left it alone."""
        for number, part in reversed(self.parts.get(places, ())):
            if number <= count:
                return part
        return None


def _run_to(builder: Builder, value: Value) -> tuple[_Run | None, int]:
    """The run of writes that ends with `value`, and how many they are. None: no write to a cell."""
    pending = []
    op = _update_of(value)
    while op is not None and value not in builder.notes:
        pending.append(op)
        value = op.operands[0]
        op = _update_of(value)
    run, count = builder.notes.get(value, (None, 0))
    for op in reversed(pending):
        whole, part = op.operands
        cell = _cell(op.attrs, part.type.shape, whole.type.shape)
        if cell is None:
            run, count = None, 0
        else:
            if run is None or run.axes != cell[0] or run.count != count:
                run, count = _Run(cell[0], whole), 0
            count += 1
            run.count = count
            run.parts.setdefault(cell[1], []).append((count, part))
        builder.notes[op.results[0]] = (run, count)
    return run, count


def _apart(left: Attrs, left_sizes: tuple, right: Attrs, right_sizes: tuple) -> bool:
    """Whether two places are sure to have no element in common: along one axis, one ends before
    the other begins.
    """
    for axis, (a, b) in enumerate(zip(left["starts"], right["starts"], strict=True)):
        after_a = _end(a, left["strides"][axis], left_sizes[axis])
        after_b = _end(b, right["strides"][axis], right_sizes[axis])
        for start, end in ((b, after_a), (a, after_b)):
            gap = dims.subtract(start, end)
            if isinstance(gap, int) and gap >= 0:
                return True
    return False


def _end(start: dims.Size, stride: int, size: dims.Size) -> dims.Size:
    """One place beyond the last element; for no elements at all it is not after the start."""
    return dims.add(start, dims.add(dims.multiply(dims.subtract(size, 1), stride), 1))
