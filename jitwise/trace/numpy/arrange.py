"""Functions that move elements: roll, flip, rot90, repeat, tile, pad.

    np.roll(x, 1) of f64[n]          ->  concatenate(x[n - 1:], x[:n - 1]), guard n - 1 >= 0
    np.repeat(x, 3) of f64[n]        ->  reshape to [n, 1], broadcast to [n, 3], reshape to [3*n]
    np.pad(x, 1, mode="reflect")     ->  concatenate(reversed x[1:2], x, reversed x[n - 2:n - 1])

Amounts may be sizes known at run time; arrays of amounts, and pad modes that compute (linear_ramp,
mean...), end the trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Size
from ...ops.movement import broadcast_in_dim, reverse
from ..tracer import FUNCTIONS, METHODS, Tracer
from .arguments import (
    axes_of,
    axis_of,
    is_nonnegative,
    is_one,
    is_positive,
    lengths_of,
    shape_of,
    size_argument,
)
from .create import filled
from .elements import as_element
from .join import joined
from .library import left_to_numpy
from .shape import transposed
from .views import copied, cut, moved, reshaped, same_memory, view

if TYPE_CHECKING:
    from ..tracing import Trace


def _is_sequence(item: Any) -> bool:
    return isinstance(item, (list, tuple)) or (isinstance(item, np.ndarray) and item.ndim > 0)


def roll(trace: Trace, a: Any, shift: Any, axis: Any = None) -> Tracer:
    operand = trace.lift(a)
    shape = operand._value.type.shape
    if isinstance(shift, Tracer) and shift.ndim or isinstance(axis, Tracer):
        trace.refuse("argument", "roll by traced amounts")
    if axis is None:
        if _is_sequence(shift):
            trace.refuse("argument", "roll by several amounts without axes")
        flat = reshaped(trace, Tracer(trace, operand._value, "array"), (dims.product(shape),))
        rolled = _rolled(trace, flat, 0, size_argument(trace, shift))
        return trace.wrap(reshaped(trace, rolled, shape)._value, "array")
    axes = list(axis) if _is_sequence(axis) else [axis]
    shifts = list(shift) if _is_sequence(shift) else [shift]
    count = max(len(axes), len(shifts))
    axes, shifts = (each * count if len(each) == 1 else each for each in (axes, shifts))
    if len(axes) != len(shifts):
        trace.refuse("error", "ValueError: shape mismatch")
    totals: dict[int, Size] = {}
    for each, amount in zip(axes, shifts, strict=True):
        place = axis_of(trace, each, len(shape))
        totals[place] = dims.add(totals.get(place, 0), size_argument(trace, amount))
    result = copied(trace, operand)
    for place, amount in totals.items():
        result = _rolled(trace, result, place, amount)
    return result


def _rolled(trace: Trace, operand: Tracer, axis: int, shift: Size) -> Tracer:
    """Elements moved `shift` places on along an axis; what leaves at the end enters in front."""
    length = operand._value.type.shape[axis]
    if isinstance(shift, int) and shift == 0 or length == 1 or not is_positive(trace, length):
        return copied(trace, operand)
    if not is_nonnegative(trace, shift):
        point = dims.multiply(shift, -1)
        if not is_nonnegative(trace, dims.subtract(length, point)):
            point = dims.modulo(point, length)
    else:
        point = dims.subtract(length, shift)
        if not is_nonnegative(trace, point):
            point = dims.subtract(length, dims.modulo(shift, length))
    tail = cut(trace, operand, axis, point, dims.subtract(length, point))
    return joined(trace, [tail, cut(trace, operand, axis, 0, point)], axis)


def flip(trace: Trace, m: Any, axis: Any = None) -> Tracer:
    operand = trace.lift(m)
    axes = axes_of(trace, axis, operand.ndim)
    if not operand.ndim:
        return copied(trace, operand, "scalar")  # m[()]
    return (
        view(trace, reverse, operand, {"dimensions": axes}) if axes else same_memory(trace, operand)
    )


def fliplr(trace: Trace, m: Any) -> Tracer:
    operand = trace.lift(m)
    if operand.ndim < 2:
        trace.refuse("error", "ValueError: Input must be >= 2-d.")
    return flip(trace, operand, 1)


def flipud(trace: Trace, m: Any) -> Tracer:
    operand = trace.lift(m)
    if operand.ndim < 1:
        trace.refuse("error", "ValueError: Input must be >= 1-d.")
    return flip(trace, operand, 0)


def rot90(trace: Trace, m: Any, k: Any = 1, axes: Any = (0, 1)) -> Tracer:
    operand = trace.lift(m)
    ndim = operand.ndim
    if len(axes) != 2 or type(k) is not int:
        trace.refuse("argument", "rot90 with these options")
    first, second = (axis_of(trace, axis, ndim) for axis in axes)
    if first == second:
        trace.refuse("error", "ValueError: Axes must be different.")
    turns = k % 4
    if turns == 0:
        return same_memory(trace, operand)
    if turns == 2:
        return flip(trace, operand, (first, second))
    order = list(range(ndim))
    order[first], order[second] = second, first
    if turns == 1:
        return transposed(trace, flip(trace, operand, second), tuple(order))
    return flip(trace, transposed(trace, operand, tuple(order)), second)


def repeat(trace: Trace, a: Any, repeats: Any, axis: Any = None) -> Tracer:
    operand = trace.lift(a)
    if _is_sequence(repeats):
        items = list(repeats) if not isinstance(repeats, np.ndarray) else []
        if len(items) != 1:
            trace.refuse("argument", "repeat by an array")
        repeats = items[0]
    (times,) = lengths_of(trace, repeats)
    shape = operand._value.type.shape
    if axis is None:
        shape = (dims.product(shape),)
        operand = reshaped(trace, Tracer(trace, operand._value, "array"), shape)
    place = axis_of(trace, 0 if axis is None else axis, len(shape))
    split = (*shape[: place + 1], 1, *shape[place + 1 :])
    spread = (*shape[: place + 1], times, *shape[place + 1 :])
    final = (*shape[:place], dims.multiply(shape[place], times), *shape[place + 1 :])
    return _spread(trace, operand, split, spread, final)


def _spread(trace: Trace, operand: Tracer, split: tuple, spread: tuple, final: tuple) -> Tracer:
    """A copy of `operand` reshaped to `split`, broadcast to `spread`, reshaped to `final`."""
    value = reshaped(trace, Tracer(trace, operand._value, "array"), split)
    attrs = {"sizes": spread, "dimensions": tuple(range(len(spread)))}
    value = moved(trace, broadcast_in_dim, value, attrs)
    return trace.wrap(reshaped(trace, value, final)._value, "array")


def tile(trace: Trace, A: Any, reps: Any) -> Tracer:  # noqa: N803
    operand = trace.lift(A)
    times = lengths_of(trace, reps)
    shape = operand._value.type.shape
    ndim = max(len(shape), len(times))
    shape = (1,) * (ndim - len(shape)) + shape
    times = (1,) * (ndim - len(times)) + times
    split, spread, final = [], [], []
    for size, count in zip(shape, times, strict=True):
        split += [1, size]
        spread += [count, size]
        final.append(dims.multiply(count, size))
    return _spread(trace, operand, tuple(split), tuple(spread), tuple(final))


# Padding


def _pairs(trace: Trace, item: Any, ndim: int) -> list[tuple[Any, Any]]:
    """`item` broadcast to (ndim, 2), by NumPy's rules for `pad`."""
    if not _is_sequence(item):
        return [(item, item)] * ndim
    if isinstance(item, Tracer):
        trace.refuse("argument", "pad by a traced array")
    rows = [list(row) if _is_sequence(row) else row for row in item]
    if all(not isinstance(row, list) for row in rows):
        if len(rows) == 1:
            return [(rows[0], rows[0])] * ndim
        if len(rows) == 2:
            return [(rows[0], rows[1])] * ndim
    elif all(isinstance(row, list) for row in rows):
        if len(rows) == 1 and len(rows[0]) in (1, 2):
            return [(rows[0][0], rows[0][-1])] * ndim
        if (
            len(rows) == ndim
            and all(len(row) in (1, 2) for row in rows)
            and len({len(row) for row in rows}) == 1
        ):
            return [(row[0], row[-1]) for row in rows]
    return trace.refuse("argument", "pad with widths of this form")


def pad(trace: Trace, array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Tracer:
    operand = trace.lift(array)
    ndim = operand.ndim
    unusual = {"reflect_type", "stat_length", "end_values"} & kwargs.keys()
    if unusual or isinstance(pad_width, dict) or mode not in _SIDES:
        return left_to_numpy(trace, np.pad, (operand, pad_width, mode), kwargs)
    widths = []
    pairs = _pairs(trace, pad_width, max(ndim, 1))  # looked at without an axis, too
    for pair in pairs:
        sizes = shape_of(trace, pair)
        if any(isinstance(size, int) and size < 0 for size in sizes):
            trace.refuse("error", "ValueError: index can't contain negative values")
        widths.append(sizes)
    del widths[ndim:]
    values = (
        _pairs(trace, kwargs.pop("constant_values", 0), ndim)
        if mode == "constant"
        else [None] * ndim
    )
    if kwargs:
        trace.refuse("argument", f"pad(mode={mode!r}) with these options")
    result = copied(trace, operand)
    for axis, ((before, after), value) in enumerate(zip(widths, values, strict=True)):
        if before == 0 and after == 0:
            continue
        sides = _SIDES[mode](trace, result, axis, before, after, value)
        if sides is None:  # more than the array has
            return left_to_numpy(trace, np.pad, (operand, pad_width, mode), {})
        parts = [sides[0], result, sides[1]]
        sizes = (before, 1, after)
        result = joined(
            trace, [part for part, size in zip(parts, sizes, strict=True) if size != 0], axis
        )
    return result


def _constant_sides(
    trace: Trace, operand: Tracer, axis: int, before: Size, after: Size, value: Any
) -> Any:
    shape = operand._value.type.shape
    dtype = operand._value.type.dtype
    sides = []
    for size, number in zip((before, after), value, strict=True):
        filler = as_element(trace, number, dtype)
        if filler.ndim:
            trace.refuse("argument", "pad(constant_values=...) with arrays")
        sides.append(filled(trace, filler, (*shape[:axis], size, *shape[axis + 1 :])))
    return sides


def _edge_sides(
    trace: Trace, operand: Tracer, axis: int, before: Size, after: Size, value: Any
) -> Any:
    shape = operand._value.type.shape
    length = shape[axis]
    if not is_positive(trace, length):
        trace.refuse("error", "ValueError: can't extend empty axis")
    sides = []
    for start, size in ((0, before), (dims.subtract(length, 1), after)):
        edge = cut(trace, operand, axis, start, 1)
        sides.append(trace.broadcast(edge, (*shape[:axis], size, *shape[axis + 1 :])))
    return sides


def _mirrored_sides(
    trace: Trace, operand: Tracer, axis: int, before: Size, after: Size, distance: int
) -> Any:
    """Mirror images; `distance` is 1 when the edge itself is not repeated."""
    length = operand._value.type.shape[axis]
    if is_one(trace, length):
        return _edge_sides(trace, operand, axis, before, after, None)
    available = dims.subtract(length, distance)
    for size in (before, after):
        if not is_positive(trace, length) or not is_nonnegative(
            trace, dims.subtract(available, size)
        ):
            return None
    starts = (distance, dims.subtract(available, after))
    return [
        moved(trace, reverse, cut(trace, operand, axis, start, size), {"dimensions": (axis,)})
        for start, size in zip(starts, (before, after), strict=True)
    ]


def _reflect_sides(
    trace: Trace, operand: Tracer, axis: int, before: Size, after: Size, value: Any
) -> Any:
    return _mirrored_sides(trace, operand, axis, before, after, 1)


def _symmetric_sides(
    trace: Trace, operand: Tracer, axis: int, before: Size, after: Size, value: Any
) -> Any:
    return _mirrored_sides(trace, operand, axis, before, after, 0)


def _wrap_sides(
    trace: Trace, operand: Tracer, axis: int, before: Size, after: Size, value: Any
) -> Any:
    length = operand._value.type.shape[axis]
    if is_one(trace, length):
        return _edge_sides(trace, operand, axis, before, after, None)
    for size in (before, after):
        if not is_positive(trace, length) or not is_nonnegative(trace, dims.subtract(length, size)):
            return None
    front = cut(trace, operand, axis, dims.subtract(length, before), before)
    return [front, cut(trace, operand, axis, 0, after)]


_SIDES: dict[str, Any] = {
    "constant": _constant_sides,
    "edge": _edge_sides,
    "reflect": _reflect_sides,
    "symmetric": _symmetric_sides,
    "wrap": _wrap_sides,
}
FUNCTIONS.update(
    {
        np.roll: roll,
        np.flip: flip,
        np.fliplr: fliplr,
        np.flipud: flipud,
        np.rot90: rot90,
        np.repeat: repeat,
        np.tile: tile,
        np.pad: pad,
    }
)
METHODS["repeat"] = lambda operand, repeats, axis=None: repeat(
    operand._trace, operand, repeats, axis
)
