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
from .library import LIBRARY, Shape, left_by_row, left_to_numpy, row
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
row(np.trim_zeros, "filt", trimmed)
row(np.delete, "arr obj", along_axis, raising=True)

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


FUNCTIONS[np.histogram] = histogram
FUNCTIONS[np.repeat] = repeat
METHODS["repeat"] = lambda operand, repeats, axis=None: repeat(
    operand._trace, operand, repeats, axis
)
