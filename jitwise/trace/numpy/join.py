"""Putting arrays together and taking them apart: concatenate, stack and their relatives,
`np.array` of lists, split.

np.stack([a, b]) of f64[n] -> reshape each to f64[1, n], concatenate np.array([[a, 1], [b, c]]) ->
four reshapes to f64[1], one concatenate, reshape to f64[2, 2] np.split(x, 2) of f64[n] -> two
slices, guard n % 2 == 0
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Size
from ...ops.movement import concatenate as concatenate_
from ...ops.movement import reshape as reshape_
from ..tracer import FUNCTIONS, Tracer
from .arguments import axis_of, dtype_of, is_nonnegative, is_positive, size_argument
from .elements import as_element, cast
from .index import getitem
from .shape import atleast_1d, atleast_2d, atleast_3d, ravel, reshape
from .views import reshaped

if TYPE_CHECKING:
    from ...ir.graph import Value
    from ..tracing import Trace


def joined(trace: Trace, operands: Sequence[Tracer], axis: int) -> Tracer:
    """Operands of one dtype along an axis; other sizes are unified."""
    return _joined(trace, [operand._value for operand in operands], axis)


def _joined(trace: Trace, parts: list[Value], axis: int) -> Tracer:
    first = parts[0].type.shape
    values = []
    for value in parts:
        own = value.type.shape
        if len(own) != len(first):
            trace.refuse(
                "error", "ValueError: all the input arrays must have same number of dimensions"
            )
        sizes = (*first[:axis], own[axis], *first[axis + 1 :])
        if own != sizes:
            for place, size in enumerate(own):
                if place != axis and not trace.same_size(size, first[place]):
                    trace.refuse("error", "ValueError: all the input array dimensions must match")
            value = trace.builder.emit(reshape_, (value,), {"sizes": sizes})
        values.append(value)
    if len(values) == 1:
        return trace.wrap(values[0], "array")
    return trace.wrap(trace.builder.emit(concatenate_, tuple(values), {"dimension": axis}), "array")


def _sequence(trace: Trace, arrays: Any) -> list[Tracer]:
    """The arrays of a list, or the rows of an array, as NumPy takes them."""
    if isinstance(arrays, Tracer):
        arrays = list(arrays)
    elif not isinstance(arrays, (list, tuple)):
        trace.refuse("type", type(arrays).__name__)
    if not arrays:
        trace.refuse("error", "ValueError: need at least one array")
    return [trace.lift(item) for item in arrays]


def _common(trace: Trace, operands: list[Tracer], dtype: Any, casting: Any) -> list[Tracer]:
    """Operands in their common dtype, or in the one asked for."""
    dtypes = [operand._value.type.dtype for operand in operands]
    target = reduce(np.promote_types, dtypes) if dtype is None else dtype_of(trace, dtype)
    if dtype is not None or casting != "same_kind":
        if not all(np.can_cast(each, target, casting) for each in dtypes):
            trace.refuse("error", "TypeError: cannot cast")
    if dtype is not None:
        return [cast(trace, operand, target) for operand in operands]
    return [trace.convert(operand, target) for operand in operands]


def concatenate(
    trace: Trace,
    arrays: Any,
    /,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Tracer:
    if out is not None:
        trace.refuse("argument", "concatenate(out=...)")
    operands = _sequence(trace, arrays)
    if axis is None:
        if any(operand._kind == "python" for operand in operands):
            trace.refuse("argument", "concatenate(axis=None) of numbers")
        operands = [ravel(trace, operand) for operand in operands]
        axis = 0
    ndim = operands[0].ndim
    if not ndim:
        trace.refuse("error", "ValueError: zero-dimensional arrays cannot be concatenated")
    return joined(trace, _common(trace, operands, dtype, casting), axis_of(trace, axis, ndim))


def stack(
    trace: Trace,
    arrays: Any,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Tracer:
    if out is not None:
        trace.refuse("argument", "stack(out=...)")
    operands = _common(trace, _sequence(trace, arrays), dtype, casting)
    return stacked(trace, operands, axis_of(trace, axis, operands[0].ndim + 1))


def stacked(trace: Trace, operands: Sequence[Tracer], axis: int) -> Tracer:
    """Operands of one dtype and shape along a new axis."""
    parts = []
    for operand in operands:
        own = operand._value.type.shape
        sizes = (*own[:axis], 1, *own[axis:])
        parts.append(trace.builder.emit(reshape_, (operand._value,), {"sizes": sizes}))
    return _joined(trace, parts, axis)


def hstack(trace: Trace, tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Tracer:
    parts = [atleast_1d(trace, item) for item in _sequence(trace, tup)]
    return concatenate(trace, parts, 0 if parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def vstack(trace: Trace, tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Tracer:
    parts = [atleast_2d(trace, item) for item in _sequence(trace, tup)]
    return concatenate(trace, parts, 0, dtype=dtype, casting=casting)


def dstack(trace: Trace, tup: Any) -> Tracer:
    return concatenate(trace, [atleast_3d(trace, item) for item in _sequence(trace, tup)], 2)


def column_stack(trace: Trace, tup: Any) -> Tracer:
    parts = []
    for operand in _sequence(trace, tup):
        if operand.ndim < 2:
            operand = reshape(trace, atleast_1d(trace, operand), (-1, 1))
        parts.append(operand)
    return concatenate(trace, parts, 1)


def append(trace: Trace, arr: Any, values: Any, axis: Any = None) -> Tracer:
    first, second = trace.lift(arr), trace.lift(values)
    if axis is None:
        first, second = ravel(trace, first), ravel(trace, second)
        axis = 0
    return concatenate(trace, (first, second), axis)


def block(trace: Trace, arrays: Any) -> Tracer:
    """Nested lists of blocks: the innermost are joined along the last axis, and so on outwards."""
    depth, nest = 0, arrays
    while type(nest) is list:
        depth, nest = depth + 1, nest[0] if nest else None
    leaves: list[Tracer] = []

    def lifted(item: Any, level: int) -> Any:
        if type(item) is list:
            if level == depth or not item:
                trace.refuse("error", "ValueError: list depths are mismatched")
            return [lifted(each, level + 1) for each in item]
        if level != depth or type(item) is tuple:
            trace.refuse("error", "ValueError: list depths are mismatched")
        leaves.append(trace.lift(item))
        return leaves[-1]

    nest = lifted(arrays, 0)
    ndim = max(depth, *[leaf.ndim for leaf in leaves])

    def join(item: Any, level: int) -> Tracer:
        if level == depth:
            return reshaped(trace, item, (1,) * (ndim - item.ndim) + item._value.type.shape)
        parts = [join(each, level + 1) for each in item]
        return concatenate(trace, parts, ndim - depth + level)

    result = join(nest, 0)
    return trace.wrap(result._value, "array")


# np.array of nested lists


def _leaves(items: Any) -> tuple[list[Any], tuple[int, ...]] | None:
    """The leaves of regularly nested lists and their outer shape, or None."""
    shape: list[int] = []
    level: list[Any] = [items]
    while level and all(type(item) in (list, tuple) for item in level):
        lengths = {len(item) for item in level}
        if len(lengths) != 1:
            return None
        shape.append(lengths.pop())
        level = [each for item in level for each in item]
    if any(type(item) in (list, tuple) for item in level):
        return None
    return level, tuple(shape)


def stack_nested(trace: Trace, items: Any, dtype: np.dtype | None = None) -> Tracer:
    """`np.asarray(items, dtype)` of nested lists of numbers, arrays and tracers."""
    found = _leaves(items)
    if found is None:
        parts = [
            stack_nested(trace, item, dtype) if type(item) in (list, tuple) else trace.lift(item)
            for item in items
        ]
        leaves, outer = parts, (len(parts),)
    else:
        leaves, outer = [trace.lift(item) for item in found[0]], found[1]
    if not leaves:
        trace.refuse("argument", "array([])")
    if dtype is None:
        dtype = reduce(np.promote_types, [leaf._value.type.dtype for leaf in leaves])
    leaves = [
        leaf if leaf._value.type.dtype == dtype else as_element(trace, leaf, dtype)
        for leaf in leaves
    ]
    inner = leaves[0]._value.type.shape
    result = stacked(trace, leaves, 0)
    return (
        result
        if len(outer) == 1
        else trace.wrap(reshaped(trace, result, (*outer, *inner))._value, "array")
    )


# Splitting


def _cut(trace: Trace, operand: Tracer, axis: int, points: Sequence[Any]) -> list[Tracer]:
    """Views between consecutive points, clamped as slices are."""
    before: Any = 0
    parts = []
    for point in (*points, None):
        index = (*[slice(None)] * axis, slice(before, point))
        parts.append(getitem(operand, index))
        before = point
    return parts


def array_split(trace: Trace, ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Tracer]:
    operand = trace.lift(ary)
    axis = axis_of(trace, axis, operand.ndim)
    if isinstance(indices_or_sections, (list, tuple)) or (
        isinstance(indices_or_sections, np.ndarray) and not isinstance(indices_or_sections, Tracer)
    ):
        return _cut(trace, operand, axis, list(indices_or_sections))
    sections = trace.number(size_argument(trace, indices_or_sections))
    if sections <= 0:
        trace.refuse("error", "ValueError: number sections must be larger than 0")
    length = operand._value.type.shape[axis]
    each, extra = dims.floor_divide(length, sections), dims.modulo(length, sections)
    longer = extra if isinstance(extra, int) else trace.number(extra)
    points: list[Size] = []
    total: Size = 0
    for section in range(sections - 1):
        total = dims.add(total, dims.add(each, 1 if section < longer else 0))
        points.append(total)
    return _cut(trace, operand, axis, [trace.expose(point) for point in points])


def split(trace: Trace, ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Tracer]:
    operand = trace.lift(ary)
    axis = axis_of(trace, axis, operand.ndim)
    if not isinstance(indices_or_sections, (list, tuple, np.ndarray)):
        sections = size_argument(trace, indices_or_sections)
        if not is_positive(trace, sections):
            trace.refuse("error", "ValueError: number sections must be larger than 0")
        remainder = dims.modulo(operand._value.type.shape[axis], sections)
        if not is_nonnegative(trace, dims.multiply(remainder, -1)):
            trace.refuse("error", "ValueError: array split does not result in an equal division")
    return array_split(trace, operand, indices_or_sections, axis)


def hsplit(trace: Trace, ary: Any, indices_or_sections: Any) -> list[Tracer]:
    operand = trace.lift(ary)
    if not operand.ndim:
        trace.refuse("error", "ValueError: hsplit only works on arrays of 1 or more dimensions")
    return split(trace, operand, indices_or_sections, 1 if operand.ndim > 1 else 0)


def vsplit(trace: Trace, ary: Any, indices_or_sections: Any) -> list[Tracer]:
    operand = trace.lift(ary)
    if operand.ndim < 2:
        trace.refuse("error", "ValueError: vsplit only works on arrays of 2 or more dimensions")
    return split(trace, operand, indices_or_sections, 0)


def dsplit(trace: Trace, ary: Any, indices_or_sections: Any) -> list[Tracer]:
    operand = trace.lift(ary)
    if operand.ndim < 3:
        trace.refuse("error", "ValueError: dsplit only works on arrays of 3 or more dimensions")
    return split(trace, operand, indices_or_sections, 2)


def unstack(trace: Trace, x: Any, /, *, axis: Any = 0) -> tuple[Tracer, ...]:
    operand = trace.lift(x)
    if not operand.ndim:
        trace.refuse("error", "ValueError: Input array must be at least 1-d.")
    axis = axis_of(trace, axis, operand.ndim)
    count = trace.number(operand._value.type.shape[axis])
    before = (slice(None),) * axis
    rest = () if operand.ndim == 1 else (Ellipsis,)  # of one axis NumPy gives scalars
    return tuple([getitem(operand, (*before, place, *rest)) for place in range(count)])


FUNCTIONS.update(
    {
        np.concatenate: concatenate,
        np.stack: stack,
        np.hstack: hstack,
        np.vstack: vstack,
        np.dstack: dstack,
        np.column_stack: column_stack,
        np.append: append,
        np.block: block,
        np.split: split,
        np.array_split: array_split,
        np.hsplit: hsplit,
        np.vsplit: vsplit,
        np.dsplit: dsplit,
        np.unstack: unstack,
    }
)
