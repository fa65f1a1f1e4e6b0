"""`x[...]` by ints, slices, None and Ellipsis: one slice, one reverse when a step is negative, one
reshape.

    x[1:-1] of f64[n]     ->  slice{starts=(1,), strides=(1,), sizes=(n - 2,)}, guard n - 2 >= 0
    x[::-2] of f64[n]     ->  slice, then reverse
    x[:, 0] of f64[n, 3]  ->  slice{sizes=(n, 1)}, reshape{sizes=(n,)}
    x[:, [2, 0, 1]]       ->  slices x[:, 2:3] and x[:, 0:2], concatenate

Bounds are clamped as Python does; a clamp that depends on a size is decided by this call and
becomes a guard. Arrays of positions: see `positions`. Masks: see `masks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ops.movement import concatenate, reshape, reverse, slice_
from ..memory import Step, view
from ..size import SizeTracer, size_of
from ..tracer import FUNCTIONS, METHODS, Tracer, concrete
from .arguments import axis_of, is_nonnegative, is_traced, size_of_number
from .library import left_to_numpy
from .masks import is_mask, masked
from .masks import read as read_masked
from .positions import is_position, read
from .views import copied, cut, reshaped

if TYPE_CHECKING:
    from ..tracing import Trace

_WHOLE = slice(None)
_PLAIN = {int, Dim, type(None)}
_MOST_PLACES = 64  # in a list of places, beyond which it is an array


class Selection:
    """What an index takes: a slice of the operand, some of its axes backwards, then without the
    axes that an int took and with those that None made. `whole`: an Ellipsis was given, which
    makes an array of what would be a scalar.
    """

    __slots__ = ("backwards", "final", "sizes", "starts", "strides", "whole")

    def __init__(self, whole: bool) -> None:
        self.starts: list[Size] = []
        self.strides: list[int] = []
        self.sizes: list[Size] = []
        self.backwards: list[int] = []
        self.final: list[Size] = []
        self.whole = whole

    def steps(self) -> list[Step]:
        """As movements, one after the other."""
        cut = {
            "starts": tuple(self.starts),
            "strides": tuple(self.strides),
            "sizes": tuple(self.sizes),
        }
        steps = [Step(slice_, cut)] if self.starts else []
        if self.backwards:
            steps.append(Step(reverse, {"dimensions": tuple(self.backwards)}))
        if self.final != self.sizes:
            steps.append(Step(reshape, {"sizes": tuple(self.final)}))
        return steps


def getitem(operand: Tracer, index: Any) -> Tracer:
    """`operand[index]`."""
    trace = operand._trace
    if not trace.active:
        trace.escaped(operand._value)
    if operand._kind == "python":
        trace.refuse("error", "TypeError: a number is not subscriptable")
    items = index if type(index) is tuple else (index,)
    shape = operand._value.type.shape
    keys, whole = _expanded(trace, items, len(shape))
    if keys is None:
        chosen = masked(operand, items)
        if chosen is not None:
            return read_masked(chosen)
        few = _few_places(items[whole])
        return read(operand, items) if few is None else _several(operand, items, whole, few)
    selection = select(trace, shape, keys, whole)
    if selection.whole and operand._kind != "array":
        scalar = not selection.final
        return copied(trace, operand, "array") if scalar else view(operand, *selection.steps())
    if selection.final or selection.whole:
        return view(operand, *selection.steps())
    value = operand._value
    for step in selection.steps():
        value = step.taken(trace.builder, value)
    return Tracer(trace, value, "scalar")


def selection_of(operand: Tracer, index: Any) -> Selection | None:
    """What `index`, of ints, slices, None and Ellipsis, takes of `operand`. None for positions."""
    items = index if type(index) is tuple else (index,)
    shape = operand._value.type.shape
    keys, whole = _expanded(operand._trace, items, len(shape))
    return None if keys is None else select(operand._trace, shape, keys, whole)


def select(trace: Trace, shape: tuple[Size, ...], keys: list[Any], whole: bool) -> Selection:
    """What `keys`, one for each axis and each None, take of an array of `shape`."""
    found = Selection(whole)
    for key in keys:
        if key is None:
            found.final.append(1)
            continue
        axis = len(found.starts)
        length = shape[axis]
        is_slice = type(key) is slice
        if key is _WHOLE:
            start, stride, size, backwards = 0, 1, length, False
        else:
            # What was asked before has its guards; only numbers of the text are looked up, since
            # to hash a traced one asks its value.
            asked = (key.start, key.stop, key.step, length) if is_slice else (key, length)
            plain = _PLAIN.issuperset(map(type, asked))
            known = trace.bounds.get(asked) if plain else None
            if known is None:
                known = bounds(trace, key, length) if is_slice else _single(trace, key, length)
                if plain:
                    trace.bounds[asked] = known
            start, stride, size, backwards = known
        found.starts.append(start)
        found.strides.append(stride)
        found.sizes.append(size)
        if backwards:
            found.backwards.append(axis)
        if is_slice:
            found.final.append(size)
    return found


def _expanded(trace: Trace, items: tuple, ndim: int) -> tuple[list[Any] | None, Any]:
    """One key for each axis and each None; and whether an Ellipsis was among them.

    When an array of positions is among them: None, and where among `items` it is.
    """
    used = 0
    ellipsis: int | None = None
    for position, item in enumerate(items):
        kind = type(item)
        if item is Ellipsis:
            if ellipsis is not None:
                trace.refuse("error", "IndexError: an index can only have a single ellipsis")
            ellipsis = position
        elif item is not None:
            if kind is not int and kind is not slice and kind is not SizeTracer:
                if is_position(item) or is_mask(item):
                    return None, position
                _refuse_key(trace, item)
            used += 1
    missing = ndim - used
    if missing < 0:
        trace.refuse("error", "IndexError: too many indices")
    if ellipsis is None:
        return [*items, *[_WHOLE] * missing], False
    return [*items[:ellipsis], *[_WHOLE] * missing, *items[ellipsis + 1 :]], True


def _few_places(item: Any) -> list[int] | None:
    """A short list of places in the program's text."""
    if is_traced(item):
        return None
    places = np.asarray(item)
    few = places.dtype.kind in "iu" and places.ndim == 1 and 0 < len(places) <= _MOST_PLACES
    return places.tolist() if few else None


def _several(operand: Tracer, items: tuple, position: int, places: list[int]) -> Tracer:
    """`x[:, [0, 3, 4]]`: a few places, of which neighbours are taken in one slice; a copy."""
    trace = operand._trace
    others = [item for each, item in enumerate(items) if each != position]
    if not all(item is None or item is Ellipsis or type(item) is slice for item in others):
        return read(operand, items)
    runs: list[list[int]] = []
    for each in places:
        if runs and each == runs[-1][-1] + 1 and each != 0:
            runs[-1].append(each)
        else:
            runs.append([each])
    handle = copied(trace, operand)
    whole = getitem(handle, (*items[:position], _WHOLE, *items[position + 1 :]))
    before = items[:position]
    after = items[position + 1 :]
    axis = len(before) if Ellipsis not in before else whole.ndim - 1 - len(after)
    length = whole._value.type.shape[axis]
    parts = []
    for run in runs:
        start = place(trace, run[0], length)
        if len(run) > 1:
            place(trace, run[-1], length)
        parts.append(cut(trace, whole, axis, start, len(run)))
    if len(parts) == 1:
        return copied(trace, parts[0])
    values = tuple([part._value for part in parts])
    return trace.wrap(trace.builder.emit(concatenate, values, {"dimension": axis}), "array")


def _positions(trace: Trace, indices: Any) -> Any:
    """The indices of `take`, which are converted to integers: a mask is zeros and ones there."""
    if type(indices) in (int, SizeTracer):
        return indices
    if type(indices) in (list, tuple) and not trace.holds_tracer(indices):
        indices = np.asarray(indices)
    if type(indices) is bool or getattr(indices, "dtype", np.dtype(int)).kind not in "iu":
        trace.refuse("argument", "take by what is no integer")
    if indices is None or type(indices) in (slice, type(Ellipsis), tuple):
        trace.refuse("argument", "take by what is no integer")
    return indices


def ix_(trace: Trace, *args: Any) -> tuple:
    """Each array along an axis of its own."""
    lines = []
    for place, given in enumerate(args):
        operand = trace.lift(given)
        if operand.ndim != 1:
            trace.refuse("error", "ValueError: Cross index must be 1 dimensional")
        if operand._value.type.dtype.kind == "b":
            from .selecting import nonzero

            (operand,) = nonzero(trace, operand)
        (size,) = operand._value.type.shape
        if not isinstance(given, (Tracer, np.ndarray)) and trace.is_zero(size):  # a list
            operand = trace.convert(operand, np.dtype(np.intp))
        sizes = (1,) * place + (size,) + (1,) * (len(args) - place - 1)
        lines.append(reshaped(trace, operand, sizes))
    return tuple(lines)


def take(
    trace: Trace, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise"
) -> Tracer:
    operand = trace.lift(a)
    if out is not None or mode != "raise":
        options = {"axis": axis, "out": out, "mode": mode}
        return left_to_numpy(trace, np.take, (operand, indices), options)
    indices = _positions(trace, indices)
    if axis is None:
        shape = (dims.product(operand._value.type.shape),)
        operand = Tracer(
            trace, trace.builder.emit(reshape, (operand._value,), {"sizes": shape}), "array"
        )
    ndim = operand.ndim
    axis = axis_of(trace, 0 if axis is None else axis, ndim)
    result = getitem(copied(trace, operand), (*[_WHOLE] * axis, indices))
    return copied(trace, result, "array" if result.ndim else "scalar")


def _refuse_key(trace: Trace, item: Any) -> None:
    """End the trace for a key that is nothing at all; an integer passes."""
    if not isinstance(item, Tracer) and size_of(item) is None:
        trace.refuse("error", "IndexError")


def _integer(trace: Trace, item: Any) -> Size:
    """A bound or an index: an int, or a size known at run time."""
    if type(item) is int:
        return item
    if isinstance(item, Tracer):
        if item._kind != "python" and item.dtype.kind in "iu" and not item.ndim:
            return size_of_number(trace, item)
        if item._kind != "python" or item.dtype.kind != "i":
            trace.refuse("value", "an index")
        op = item._value.op
        if op is not None and op.primitive.name == "dimension":
            return op.attrs["size"]
        return concrete(item, "an index")
    size = size_of(item)
    if size is None:
        trace.refuse("error", "TypeError: slice indices must be integers")
    return size


def _single(trace: Trace, key: Any, length: Size) -> tuple[Size, int, Size, bool]:
    """`bounds` of an index."""
    return place(trace, key, length), 1, 1, False


def place(trace: Trace, key: Any, length: Size) -> Size:
    """The position that an index means; out of range, Python raises."""
    index = _integer(trace, key)
    if not is_nonnegative(trace, index):
        index = dims.add(index, length)
        if not is_nonnegative(trace, index):
            trace.refuse("error", "IndexError")
    if not is_nonnegative(trace, dims.subtract(dims.subtract(length, index), 1)):
        trace.refuse("error", "IndexError")
    return index


def bounds(trace: Trace, key: slice, length: Size) -> tuple[Size, int, Size, bool]:
    """Start, positive stride and size of what a slice takes, and whether it goes backwards."""
    step = 1
    if key.step is not None:
        given = _integer(trace, key.step)
        step = given if isinstance(given, int) else trace.number(given)
        if step == 0:
            trace.refuse("error", "ValueError: slice step cannot be zero")
    if step > 0:
        start, size = _forwards(trace, key, length, step)
        return start, step, size, False
    start, size = _backwards(trace, key, length, -step)
    return start, -step, size, True


def _from_front(trace: Trace, bound: Size, length: Size, lowest: int) -> tuple[Size, bool]:
    """A bound from the front, not below `lowest`; and whether it may still exceed the length."""
    if is_nonnegative(trace, bound):
        return bound, True
    bound = dims.add(bound, length)
    return (bound, False) if is_nonnegative(trace, bound) else (lowest, False)


def _forwards(trace: Trace, key: slice, length: Size, step: int) -> tuple[Size, Size]:
    start, stop = 0, length
    if type(key.stop) is int and key.stop < 0 and (key.start is None or type(key.start) is int):
        first = key.start or 0
        span = dims.subtract(dims.add(length, key.stop), first)
        if first >= 0 and trace.hint(span) >= 0:  # one guard says all
            is_nonnegative(trace, span)
            return first, _count(span, step)
    if key.stop is not None:
        stop, unchecked = _from_front(trace, _integer(trace, key.stop), length, 0)
        if (
            unchecked
            and stop is not length
            and not is_nonnegative(trace, dims.subtract(length, stop))
        ):
            stop = length
    if key.start is not None:
        start, _ = _from_front(trace, _integer(trace, key.start), length, 0)
    span = dims.subtract(
        stop, start
    )  # a start beyond the length gives a negative span: no clamp is needed
    if not is_nonnegative(trace, span):
        return 0, 0
    return start, _count(span, step)


def _backwards(trace: Trace, key: slice, length: Size, step: int) -> tuple[Size, Size]:
    last = dims.subtract(length, 1)
    start, stop = last, -1
    if key.start is not None:
        start, unchecked = _from_front(trace, _integer(trace, key.start), length, -1)
        if unchecked and not is_nonnegative(trace, dims.subtract(last, start)):
            start = last
    if key.stop is not None:
        stop, _ = _from_front(trace, _integer(trace, key.stop), length, -1)
    span = dims.subtract(start, stop)
    if not is_nonnegative(trace, span):
        return 0, 0
    size = _count(span, step)
    if step == 1:
        return dims.add(stop, 1), size
    return dims.subtract(start, dims.multiply(dims.subtract(size, 1), step)), size


def _count(span: Size, step: int) -> Size:
    return span if step == 1 else dims.floor_divide(dims.add(span, step - 1), step)


METHODS["__getitem__"] = getitem
METHODS["take"] = lambda operand, *args, **options: take(operand._trace, operand, *args, **options)
FUNCTIONS.update({np.take: take, np.ix_: ix_})
