"""Arrays in a region: an address, sizes and strides; or elements that are computed when asked for.

    slice{starts=(i,), strides=(2,), sizes=(k,)}    address + i * stride, sizes (k,), stride * 2

A slice that leaves its array, and a position beyond it, end the region.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..ir.dims import Size
from ..ir.graph import Op
from . import region_lanes, region_loops
from .operations import Operand

if TYPE_CHECKING:
    from .region import Emission


class Array(NamedTuple):
    """Elements in memory; strides in bytes. Sizes and strides are names or numbers of i64. `note`
    says to LLVM which memory it is, since that of operands and of each result is apart.
    """

    dtype: np.dtype
    pointer: str
    sizes: list[str]
    strides: list[str]
    note: str = ""

    def address(self, region: Emission, indices: Sequence[str]) -> str:
        """Of one element."""
        return region_loops.address(region, self.pointer, zip(indices, self.strides, strict=True))

    def at(self, region: Emission, indices: Sequence[str]) -> Operand:
        """One element, or so many from this one on."""
        address = self.address(region, indices)
        if region.lanes is not None:
            array = self.dtype, address, self.note
            return region_lanes.load(region, array, list(indices), self.strides)
        return region.load(address, self.dtype, self.note)


class Computed(NamedTuple):
    """Elements that are computed where they are used."""

    dtype: np.dtype
    sizes: list[str]
    element: Callable[[list[str]], Operand]

    def at(self, region: Emission, indices: Sequence[str]) -> Operand:
        """One element."""
        return self.element(list(indices))


Elements = Array | Computed


def dense(region: Emission, dtype: np.dtype, sizes: Sequence[str]) -> list[str]:
    """The strides of a whole array in C order."""
    strides, stride = [], str(dtype.itemsize)
    for size in reversed(sizes):
        strides.insert(0, stride)
        if len(strides) < len(sizes):
            stride = (
                str(int(stride) * int(size))
                if stride.isdigit() and size.isdigit()
                else region.arithmetic("mul", stride, size)
            )
    return strides


def part(
    region: Emission,
    whole: Any,
    starts: Sequence[Size],
    steps: Sequence[int],
    sizes: Sequence[str],
    shape: Sequence[Size],
    lengths: Sequence[Size],
) -> Any:
    """Every `steps`-th element from `starts` on, `lengths` of them, of an array of that shape."""
    begins = [region.size(start) for start in starts]
    known = zip(starts, steps, lengths, shape, strict=True)
    rows = zip(starts, begins, steps, sizes, whole.sizes, known, strict=True)
    for start, begin, step, size, all, extent in rows:
        if (begin == "0" and step == 1 and size == all) or region.facts.is_inside(*extent):
            continue
        if not region_loops.is_proven(region, start, (step, size, all)):
            stays_inside(region, begin, step, size, all)
    if isinstance(whole, Computed):
        return Computed(
            whole.dtype,
            list(sizes),
            lambda indices: whole.at(
                region,
                [
                    region.arithmetic("add", begin, region.arithmetic("mul", index, str(step)))
                    for index, begin, step in zip(indices, begins, steps, strict=True)
                ],
            ),
        )
    pointer = whole.address(region, begins)
    strides = [
        region.arithmetic("mul", stride, str(step))
        for stride, step in zip(whole.strides, steps, strict=True)
    ]
    return Array(whole.dtype, pointer, list(sizes), strides, whole.note)


def stays_inside(region: Emission, begin: str, step: int, size: str, all: str) -> None:
    """Unsigned comparisons: what is negative is large. Sizes are below 2**48, so nothing wraps."""
    first_inside = region.define(f"icmp ult i64 {begin}, {all}")
    if size == "1":
        region.require(first_inside)
        return
    small = region.define(f"icmp ult i64 {size}, {1 << 48}")
    fits = region.define(f"icmp ule i64 {size}, {all}")
    region.require(region.define(f"and i1 {small}, {fits}"))
    reach = region.arithmetic("mul", region.arithmetic("sub", size, "1"), str(step))
    last = region.arithmetic("add", begin, reach)
    last_inside = region.define(f"icmp ult i64 {last}, {all}")
    inside = region.define(f"and i1 {first_inside}, {last_inside}")
    empty = region.define(f"icmp eq i64 {size}, 0")
    region.require(region.define(f"or i1 {inside}, {empty}"))


def _slice(region: Emission, op: Op, source: Any, given: list[Any]) -> Any:
    lengths = op.attrs["sizes"]
    sizes = [region.size(size) for size in lengths]
    shape = op.operands[0].type.shape
    return part(region, source, op.attrs["starts"], op.attrs["strides"], sizes, shape, lengths)


def _moved(source: Any, sizes: list[str], axes: list[int | None]) -> Any:
    """Axis i of the result is axis `axes[i]` of the source, or a new one that repeats."""
    if isinstance(source, Computed):

        def element(indices: list[str]) -> Operand:
            places = ["0"] * len(source.sizes)
            for index, axis in zip(indices, axes, strict=True):
                if axis is not None:
                    places[axis] = index
            return source.element(places)

        return Computed(source.dtype, sizes, element)
    strides = ["0" if axis is None else source.strides[axis] for axis in axes]
    return Array(source.dtype, source.pointer, sizes, strides, source.note)


def _transpose(region: Emission, op: Op, source: Any, given: list[Any]) -> Any:
    axes = list(op.attrs["permutation"])
    return _moved(source, [source.sizes[axis] for axis in axes], axes)


def _broadcast(region: Emission, op: Op, source: Any, given: list[Any]) -> Any:
    sizes = [region.size(size) for size in op.attrs["sizes"]]
    shape = op.operands[0].type.shape
    axes: list[int | None] = [None] * len(sizes)
    for place, axis in enumerate(op.attrs["dimensions"]):
        repeats = shape[place] == 1 and op.attrs["sizes"][axis] != 1
        axes[axis] = None if repeats else place
    return _moved(source, sizes, axes)


def _reshape(region: Emission, op: Op, source: Any, given: list[Any]) -> Any:
    """Axes of one element come and go."""
    kept = [axis for axis, size in enumerate(op.operands[0].type.shape) if size != 1]
    axes = [None if size == 1 else kept.pop(0) for size in op.attrs["sizes"]]
    return _moved(source, [region.size(size) for size in op.attrs["sizes"]], axes)


def _reverse(region: Emission, op: Op, source: Any, given: list[Any]) -> Any:
    turned = set(op.attrs["dimensions"])
    lasts = [
        region.arithmetic("sub", size, "1") if axis in turned else "0"
        for axis, size in enumerate(source.sizes)
    ]
    if isinstance(source, Computed):
        return Computed(
            source.dtype,
            source.sizes,
            lambda indices: source.element(
                [
                    region.arithmetic("sub", last, index) if axis in turned else index
                    for axis, (index, last) in enumerate(zip(indices, lasts, strict=True))
                ]
            ),
        )
    strides = [
        region.define(f"sub i64 0, {stride}") if axis in turned else stride
        for axis, stride in enumerate(source.strides)
    ]
    pointer = source.address(region, lasts)
    return Array(source.dtype, pointer, source.sizes, strides, source.note)


def gather(region: Emission, op: Op, source: Any, positions: list[Operand]) -> Any:
    """What lies at a position along some axes."""
    pointer = source.pointer
    axes = op.attrs["axes"]
    for axis, position in zip(axes, positions, strict=True):
        size, index = source.sizes[axis], position.text
        negative = region.define(f"icmp slt i64 {index}, 0")
        wrapped = region.define(f"add i64 {index}, {size}")
        index = region.define(f"select i1 {negative}, i64 {wrapped}, i64 {index}")
        region.require(region.define(f"icmp ult i64 {index}, {size}"))
        pointer = region.offset(pointer, region.arithmetic("mul", index, source.strides[axis]))
    rest = [axis for axis in range(len(source.sizes)) if axis not in axes]
    sizes, strides = [source.sizes[axis] for axis in rest], [source.strides[axis] for axis in rest]
    return Array(source.dtype, pointer, sizes, strides, source.note)


def _gather(region: Emission, op: Op, source: Any, given: list[Any]) -> Any:
    return gather(region, op, source, given)


VIEWS: dict[str, Callable[[Emission, Op, Any, list[Any]], Any]] = {
    "slice": _slice,
    "transpose": _transpose,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "reverse": _reverse,
    "gather": _gather,
}
