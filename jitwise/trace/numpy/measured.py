"""Calls of NumPy's functions whose results have sizes that follow from values.

    np.unique(x)   ->   measured_call{function='numpy.unique', symbols=('m1',), types=(f64[m1],)}(x)

Such sizes are `unknown(0)`, `unknown(1)`, ... in what a row of the library gives as shapes. The
function is called once while tracing, with the values of this call: that tells the sizes, for what
is decided about them, and the dtypes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ops.call import results_of

if TYPE_CHECKING:
    from ..tracing import Trace

_NAME = "unknown"
Shape = tuple[Size, ...]


def unknown(number: int) -> Dim:
    """A length that follows from values, among those of the results of one call."""
    size = Dim.symbol(f"{_NAME}{number}")
    assert isinstance(size, Dim)
    return size


def _is_unknown(size: Size) -> bool:
    return isinstance(size, Dim) and str(size).startswith(_NAME)


def has_unknown(shapes: Sequence[Any] | None) -> bool:
    """Whether a size of the results follows from values."""
    return any(_is_unknown(size) for shape in shapes or () for size in shape)


def with_symbols(
    trace: Trace, shapes: Sequence[Shape], result: Any
) -> tuple[list[Shape], tuple[str, ...]]:
    """Shapes with symbols for what is unknown, of the sizes that the result has in this call; and
    these symbols. The trace ends where the row is wrong.
    """
    found = [np.shape(each) for each in results_of(result)]
    sizes: dict[str, Size] = {}
    if [len(shape) for shape in shapes] != list(map(len, found)):
        trace.refuse("function", "a function with these arguments")
    for shape, lengths in zip(shapes, found, strict=True):
        for size, length in zip(shape, lengths, strict=True):
            if _is_unknown(size) and str(size) not in sizes:
                sizes[str(size)] = trace.measurements.symbol(length)
    named = [tuple([dims.substitute(size, sizes) for size in shape]) for shape in shapes]
    if [tuple(map(trace.hint, shape)) for shape in named] != found:
        trace.refuse("function", "a function with these arguments")
    return named, tuple([str(size) for size in sizes.values()])
