"""Functions left to NumPy that sort, search, take, count and pack: rows of `library`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ..conversions import python_int, python_number
from ..memory import write
from ..tracer import METHODS, Tracer
from .arguments import axes_of, axis_of, is_one, is_positive
from .library import Row, left_by_row, left_to_numpy, method_of, row
from .library_shapes import (
    along,
    broadcast,
    first,
    flat_for_none,
    like,
    of_array,
    reduced,
    replaced,
    same,
)

if TYPE_CHECKING:
    from ..tracing import Trace


def _keys(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `lexsort`: the shape of one key."""
    keys: Any = first(shapes)
    if type(keys) is not list:
        return [keys[1:]]
    return [of_array(trace, keys)[1:]]


def _repeated(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `resize`: the shape that is asked for."""
    size = plain["new_shape"]
    return [size if type(size) is tuple else (size,)]


def _packed(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `packbits`: eight elements become one."""
    shape = first(shapes)
    if plain["axis"] is None:
        return [(dims.floor_divide(dims.add(dims.product(shape), 7), 8),)]
    axis = axis_of(trace, plain["axis"], len(shape))
    return [replaced(shape, axis, dims.floor_divide(dims.add(shape[axis], 7), 8))]


def _unpacked(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `unpackbits`: one element becomes eight, of which some are cut off or added."""
    shape, count = first(shapes), plain["count"]
    flat = plain["axis"] is None
    axis = 0 if flat else axis_of(trace, plain["axis"], len(shape))
    shape = (dims.product(shape),) if flat else shape
    size = dims.multiply(shape[axis], 8)
    if count is not None:
        size = count if count >= 0 else dims.add(size, count)
    return [replaced(shape, axis, size)]


def _places(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `unravel_index`: the positions along each axis."""
    sizes = plain["shape"]
    return [first(shapes)] * (len(sizes) if type(sizes) in (tuple, list) else 1)


def _one_place(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `ravel_multi_index`."""
    places: Any = first(shapes)
    if type(places) is not list:
        return [places[1:]]
    return [trace.broadcast_shapes([of_array(trace, place) for place in places])]


def _taken(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `take`: the positions' axes in place of one axis."""
    shape, places = shapes["a"], shapes["indices"]
    if plain["axis"] is None:
        return [places]
    axis = axis_of(trace, plain["axis"], len(shape))
    return [(*shape[:axis], *places, *shape[axis + 1 :])]


def _chosen(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `choose`."""
    choices = shapes["choices"]
    rest = choices if type(choices) is list else [choices[1:]]
    every = [of_array(trace, each) for each in (shapes["a"], *rest)]
    return [trace.broadcast_shapes(every)]


def _padded(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `pad`: some elements more before and after each axis."""
    shape = first(shapes)
    try:
        widths = np.broadcast_to(plain["pad_width"], (len(shape), 2)).tolist()
    except ValueError:
        trace.refuse("error", "ValueError")
    pairs = zip(shape, widths, strict=True)
    return [tuple([dims.add(size, before + after) for size, (before, after) in pairs])]


def _spread(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `linspace` and `geomspace`: so many numbers between each pair, and the steps."""
    shape = trace.broadcast_shapes(list(shapes.values()))
    axis = axis_of(trace, plain["axis"], len(shape) + 1)
    numbers = (*shape[:axis], plain["num"], *shape[axis:])
    return [numbers, shape] if plain.get("retstep") else [numbers]


def _each(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `gradient`: the shape of the array, for each axis that was asked for."""
    shape = first(shapes)
    axis = tuple(plain["axis"]) if type(plain["axis"]) is list else plain["axis"]
    return [shape] * len(axes_of(trace, axis, len(shape)))


def _of_some(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """A reduction that warns of nothing, more than once."""
    if not is_positive(trace, dims.product(first(shapes))):
        trace.refuse("size", "numbers between those of nothing, of which NumPy warns")
    return reduced(trace, shapes, plain)


def _like_pad(
    array: Any,
    pad_width: Any,
    mode: Any = "constant",
    *,
    stat_length: Any = None,
    constant_values: Any = 0,
    end_values: Any = 0,
    reflect_type: Any = "even",
) -> None:
    """The parameters of `np.pad`."""


def _like_searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> None:
    """The parameters of `np.searchsorted`, all of which the method has too."""


def _like_packbits(a: Any, /, axis: Any = None, bitorder: Any = "big") -> None:
    """The parameters of `np.packbits`."""


def _like_unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> None:
    """The parameters of `np.unpackbits`."""


def _like_unravel(indices: Any, shape: Any, order: Any = "C") -> None:
    """The parameters of `np.unravel_index`."""


def _like_ravel(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> None:
    """The parameters of `np.ravel_multi_index`."""


row(np.linspace, "start stop", _spread, only=False)
row(np.geomspace, "start stop", _spread, raising=True, only=False)
row(np.sort, "a", flat_for_none)
row(np.argsort, "a", flat_for_none)
row(np.partition, "a", flat_for_none, raising=True)
row(np.argpartition, "a", flat_for_none, raising=True)
row(np.lexsort, "keys", _keys, raising=True, nested=True, like=lambda keys, axis=-1: None)
row(np.searchsorted, "a v sorter", like("v"), raising=True, like=_like_searchsorted)
row(np.digitize, "x bins", same, raising=True)
row(np.interp, "x xp fp", same, raising=True)
row(np.isin, "element test_elements", same)
row(np.take_along_axis, "arr indices", along, raising=True, arrays_only=("arr", "indices"))
row(np.take, "a indices", _taken, raising=True, only=False)
row(np.choose, "a choices", _chosen, raising=True, nested=True)
row(np.unwrap, "p", same)
row(np.sort_complex, "a", same)
row(np.resize, "a", _repeated)
row(np.packbits, "a", _packed, raising=True, like=_like_packbits)
row(np.unpackbits, "a", _unpacked, raising=True, like=_like_unpackbits)
row(np.unravel_index, "indices", _places, raising=True, like=_like_unravel)
_facts = {"raising": True, "nested": True, "like": _like_ravel}
row(np.ravel_multi_index, "multi_index", _one_place, **_facts)
row(np.pad, "array", _padded, raising=True, only=False, like=_like_pad)
row(np.gradient, "f varargs", _each, raising=True, only=False)
row(np.i0, "x", same)
row(np.sinc, "x", same, only=False)
row(np.round, "a", same, only=False)
row(np.clip, "a a_min a_max min max", broadcast, only=False)
row(np.nancumsum, "a", flat_for_none)
row(np.nancumprod, "a", flat_for_none)
row(np.median, "a", reduced, only=False)
row(np.nanmedian, "a", reduced)
for _function in (np.nanmean, np.nanstd, np.nanvar):
    row(_function, "a where mean", reduced)
for _function in (np.nanmax, np.nanmin):
    row(_function, "a initial where", reduced, raising=True)
for _function in (np.mean, np.std, np.var):
    row(_function, "a where mean", reduced, only=False)
for _function in (np.percentile, np.quantile):
    row(_function, "a q weights", reduced, raising=True)
for _function in (np.nanpercentile, np.nanquantile):
    row(_function, "a q weights", _of_some, raising=True)
for _function in (np.nanargmax, np.nanargmin):
    row(_function, "a", reduced, raising=True)


def _swapped(operand: Tracer, inplace: Any) -> Tracer:
    """`x.byteswap()`."""
    if operand._kind != "array":
        operand._trace.refuse("function", "byteswap of a number")
    swapped = left_by_row(operand._trace, _byteswap, (operand,), {})
    if not inplace:
        return swapped
    write(operand, swapped._value)
    return operand


def item(operand: Tracer, *places: Any) -> Any:
    """`x.item()`: a number of Python's, of the value that it has in this call."""
    trace = operand._trace
    if places:
        place = places[0] if len(places) == 1 else places
        if type(place) is not tuple:
            flat = trace.wrap(operand._value, "array").__getattr__("reshape")(-1)
            return item(flat[place])
        return item(operand[place])
    shape = operand._value.type.shape
    if not all(is_one(trace, size) for size in shape):
        trace.refuse("error", "ValueError: can only convert an array of size 1")
    dtype = operand._value.type.dtype
    if operand._kind == "python":
        trace.refuse("value", "item")
    alone = trace.wrap(operand._value, "array").__getattr__("reshape")(())
    if dtype.kind in "iu":
        return python_int(trace, alone)
    wide = {"f": np.float64, "c": np.complex128, "b": np.bool_}[dtype.kind]
    return python_number(trace, trace.convert(trace.wrap(alone._value), np.dtype(wide)))


def _in_place(function: Any) -> Any:
    """`x.sort()`: the array gets the elements that `np.sort(x)` has."""

    def method(tracer: Tracer, *args: Any, **options: Any) -> None:
        if tracer._kind != "array" or options.get("axis", -1) is None or None in args[:1]:
            tracer._trace.refuse("error", "TypeError")
        moved = left_to_numpy(tracer._trace, function, (tracer, *args), options)
        write(tracer, moved._value)

    return method


for _function in (np.argsort, np.argpartition, np.searchsorted, np.choose):
    METHODS[_function.__name__] = method_of(_function)
_byteswap = Row(
    np.ndarray.byteswap, ("a",), same, like=lambda a: None, name="numpy.ndarray.byteswap"
)
METHODS["byteswap"] = lambda tracer, inplace=False: _swapped(tracer, inplace)
METHODS["item"] = item
METHODS["sort"] = _in_place(np.sort)
METHODS["partition"] = _in_place(np.partition)
