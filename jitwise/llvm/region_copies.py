"""Arrays that a region makes and that live for one turn of a loop: memory of its own.

    %5 = copy(%4)            the elements of %4 are computed now, once, and can be updated

Each op that makes an array has one place for it. Small ones of known size are on the stack, the
others in memory that is asked for when it does not suffice, and given back where the region ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.graph import Op
from . import region_sizes, region_views
from .region_views import Array

if TYPE_CHECKING:
    from .region import Emission

MOST_ON_STACK = 4096  # bytes


def new(region: Emission, dtype: np.dtype, sizes: list[str]) -> Array:
    """Memory for an array."""
    strides = region_views.dense(region, dtype, sizes)
    total = str(dtype.itemsize)
    for size in sizes:
        if total.isdigit() and size.isdigit():
            total = str(int(total) * int(size))
        elif size != "1":
            total = region_sizes.checked(region, "mul", total, size)
    note = region.note_of_new()
    if total.isdigit() and int(total) <= MOST_ON_STACK:
        return Array(dtype, region.memory(int(total)), sizes, strides, note)
    return Array(dtype, _asked_for(region, total), sizes, strides, note)


def _asked_for(region: Emission, total: str) -> str:
    """At least so many bytes, kept for the next turn."""
    region.e.declarations["malloc"] = "declare noalias ptr @malloc(i64)"
    region.e.declarations["free"] = "declare void @free(ptr)"
    region.e.symbols.update(("malloc", "free"))
    pointer, capacity = region.variable("ptr"), region.variable("i64")
    region.stack += [f"  store ptr null, ptr {pointer}", f"  store i64 0, ptr {capacity}"]
    region.owned.append(pointer)
    held = region.define(f"load i64, ptr {capacity}")
    suffices = region.define(f"icmp ule i64 {total}, {held}")
    more, after = region.label("more"), region.label("enough")
    function = region.function
    function.line(f"br i1 {suffices}, label %{after}, label %{more}, !prof !0")
    function.label(more)
    function.line(f"call void @free(ptr {region.define(f'load ptr, ptr {pointer}')})")
    found = region.define(f"call ptr @malloc(i64 {total})")
    function.line(f"store ptr {found}, ptr {pointer}")
    function.line(f"store i64 {total}, ptr {capacity}")
    function.line(
        f"br i1 {region.define(f'icmp eq ptr {found}, null')}, label %deoptimize, label %{after}"
    )
    function.label(after)
    return region.define(f"load ptr, ptr {pointer}")


def copy(region: Emission, op: Op, given: list[Any]) -> list[Any]:
    """The elements, in memory of their own."""
    source = given[0]
    target = new(region, source.dtype, list(source.sizes))
    region.copy(target, source)
    return [target]


def concatenate(region: Emission, op: Op, given: list[Any]) -> list[Any]:
    """One part after the other."""
    axis = op.attrs["dimension"]
    result = op.results[0].type
    target = new(region, result.dtype, [region.size(size) for size in result.shape])
    begin = "0"
    for part in given:
        begins = ["0"] * len(target.sizes)
        begins[axis] = begin
        pointer = target.address(region, begins)
        region.copy(target._replace(pointer=pointer, sizes=list(part.sizes)), part)
        is_known = begin.isdigit() and part.sizes[axis].isdigit()
        begin = (
            str(int(begin) + int(part.sizes[axis]))
            if is_known
            else region.arithmetic("add", begin, part.sizes[axis])
        )
    return [target]
