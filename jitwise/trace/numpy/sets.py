"""Functions left to NumPy whose results have as many elements as values say: sets, counts,
repetitions, histograms. Rows of `library`.

    np.unique(x, return_counts=True)   ->   two arrays of one measured length
    np.bincount(x)                     ->   one array of a measured length
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ..tracer import FUNCTIONS, METHODS, Tracer
from .arguments import axis_of, is_traced
from .arrange import repeat as repeat_evenly
from .library import LIBRARY, Row, Shape, left_by_row, left_to_numpy, row
from .library_shapes import first
from .measured import unknown

if TYPE_CHECKING:
    from ..tracing import Trace


def line(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """One array of one axis."""
    return [(unknown(0),)]


def trimmed(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `trim_zeros`, which may trim along each axis."""
    return [tuple([unknown(axis) for axis in range(len(first(shapes)))])]


def along_axis(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """The first array with another length along `axis`, or flat."""
    shape = first(shapes)
    if plain["axis"] is None:
        return [(unknown(0),)]
    axis = axis_of(trace, plain["axis"], len(shape))
    return [(*shape[:axis], unknown(0), *shape[axis + 1 :])]


def distinct(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `unique`."""
    shape, axis = first(shapes), plain["axis"]
    found = along_axis(trace, shapes, plain)
    if plain["return_index"]:
        found.append((unknown(0),))
    if plain["return_inverse"]:
        found.append(shape if axis is None else (shape[axis_of(trace, axis, len(shape))],))
    if plain["return_counts"]:
        found.append((unknown(0),))
    return found


def shared(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `intersect1d`."""
    return [(unknown(0),)] * (3 if plain["return_indices"] else 1)


def between(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `histogram`: counts, and the edges, which are given."""
    edges = shapes["bins"]
    return [(dims.subtract(edges[0], 1),), edges]


def counted(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `histogram`: counts and edges, as many as asked for."""
    bins = plain["bins"]
    return [(bins,), (bins + 1,)] if type(bins) is int else [(unknown(0),), (unknown(1),)]


def _of_pairs(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Shape]:
    """Of `histogram2d`."""
    return [(unknown(0), unknown(1)), (unknown(2),), (unknown(3),)]


def _of_samples(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Shape]:
    """Of `histogramdd`: counts along as many axes as a sample has columns, and edges for each."""
    sample = shapes["sample"]
    if type(sample) is list:
        count = len(sample)
    else:
        count = 1 if len(sample) < 2 else trace.number(sample[1])
    each = range(count)
    return [tuple(map(unknown, each)), *[(unknown(count + axis),) for axis in each]]


row(np.unique, "ar", distinct)
row(np.unique_values, "x", line)
row(np.unique_counts, "x", lambda trace, shapes, plain: [(unknown(0),)] * 2)
row(np.unique_inverse, "x", lambda trace, shapes, plain: [(unknown(0),), first(shapes)])
row(
    np.unique_all,
    "x",
    lambda trace, shapes, plain: [(unknown(0),), (unknown(0),), first(shapes), (unknown(0),)],
)
row(np.intersect1d, "ar1 ar2", shared)
for _function in (np.union1d, np.setdiff1d, np.setxor1d):
    row(_function, "ar1 ar2", line)
row(np.bincount, "x weights", line, raising=True)
row(np.histogram, "a bins weights", between, raising=True)
_by_number = LIBRARY[np.histogram]._replace(arrays=("a", "weights"), shapes=counted)
row(np.repeat, "a repeats", along_axis, raising=True)
row(np.trim_zeros, "filt", trimmed, arrays_only=("filt",))
row(np.delete, "arr obj", along_axis, raising=True, only=False)
row(np.compress, "condition a", along_axis, raising=True, only=False)
row(np.insert, "arr obj values", along_axis, raising=True, only=False)
row(np.histogram2d, "x y bins weights", _of_pairs, raising=True, nested=True)
row(np.histogramdd, "sample bins weights", _of_samples, raising=True, nested=True)
row(np.histogram_bin_edges, "a bins weights", line, raising=True)

_repeat_by_counts = FUNCTIONS[np.repeat]


def repeat(trace: Trace, a: Any, repeats: Any, axis: Any = None) -> Tracer:
    """`np.repeat`: as often for each element, or by an array of counts."""
    counts = trace.lift(repeats) if is_traced(repeats) or np.ndim(repeats) else None
    if counts is None or not counts.ndim:
        return repeat_evenly(trace, a, repeats, axis)
    if counts.ndim == 1 and counts._value.type.shape == (1,):
        return repeat_evenly(trace, a, counts[0], axis)
    return _repeat_by_counts(trace, a, counts, axis)


def histogram(trace: Trace, a: Any, bins: Any = 10, *args: Any, **options: Any) -> Any:
    """`np.histogram`: by edges, or by how many."""
    if np.ndim(bins):
        return left_to_numpy(trace, np.histogram, (a, bins, *args), options)
    return left_by_row(trace, _by_number, (a, bins, *args), options)


def _delete_slice(arr: Any, start: Any, stop: Any, step: Any, axis: Any = None) -> Any:
    return np.delete(arr, slice(start, stop, step), axis)


def _insert_slice(arr: Any, start: Any, stop: Any, step: Any, values: Any, axis: Any = None) -> Any:
    return np.insert(arr, slice(start, stop, step), values, axis)


_deleted = Row(_delete_slice, ("arr",), along_axis, raising=True, name="numpy.delete")
_inserted = Row(_insert_slice, ("arr", "values"), along_axis, raising=True, name="numpy.insert")


def _with_slices(function: Any, by_slice: Row) -> Any:
    """A handler of a function of positions, which a slice may be: its parts are parameters."""

    def handler(trace: Trace, arr: Any, obj: Any, *args: Any, **options: Any) -> Any:
        if type(obj) is slice:
            parts = (obj.start, obj.stop, obj.step)
            return left_by_row(trace, by_slice, (arr, *parts, *args), options)
        return left_to_numpy(trace, function, (arr, obj, *args), options)

    return handler


FUNCTIONS[np.delete] = _with_slices(np.delete, _deleted)
FUNCTIONS[np.insert] = _with_slices(np.insert, _inserted)
FUNCTIONS[np.histogram] = histogram
FUNCTIONS[np.repeat] = repeat
METHODS["repeat"] = lambda operand, repeats, axis=None: repeat(
    operand._trace, operand, repeats, axis
)
