"""Fourier transforms, which are left to NumPy. Imported when the first one is met, because NumPy
loads `numpy.fft` late too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Size
from .arguments import axis_of, is_positive
from .library import Shape, Shapes, row
from .library_shapes import first, replaced, same

if TYPE_CHECKING:
    from ..tracing import Trace


def _transformed(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of the one-dimensional transforms of complex numbers: `n` of them along the axis."""
    shape, axis = _axis(trace, shapes, plain)
    return [_with_length(trace, shape, axis, plain["n"])]


def _axis(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> tuple[Shape, int]:
    shape = first(shapes)
    return shape, axis_of(trace, plain["axis"], len(shape))


def _with_length(trace: Trace, shape: Shape, axis: int, length: Any) -> Shape:
    size = shape[axis] if length is None else length
    if (size < 1) if isinstance(size, int) else not is_positive(trace, size):
        trace.refuse("error", "ValueError: Invalid number of FFT data points")
    return replaced(shape, axis, size)


def _half(size: Size) -> Size:
    return dims.add(dims.floor_divide(size, 2), 1)


def _twice(size: Size) -> Size:
    return dims.multiply(dims.subtract(size, 1), 2)


def _halved(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `rfft` and `ihfft`: n // 2 + 1 numbers."""
    shape, axis = _axis(trace, shapes, plain)
    whole = _with_length(trace, shape, axis, plain["n"])
    return [replaced(whole, axis, _half(whole[axis]))]


def _unhalved(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `irfft` and `hfft`: 2 (m - 1) numbers."""
    shape, axis = _axis(trace, shapes, plain)
    length = _twice(shape[axis]) if plain["n"] is None else plain["n"]
    return [_with_length(trace, shape, axis, length)]


def _several(last: Callable[[Size], Size] | None, of_result: bool = False) -> Shapes:
    """Of transforms along several axes. `last`: how the last of them changes, of the size that
    is transformed or (`of_result`) only where no size is asked for.
    """

    def shapes_of(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
        shape, sizes, axes = first(shapes), plain["s"], plain["axes"]
        if axes is None:
            axes = range(len(shape)) if sizes is None else range(-len(sizes), 0)
        places = [axis_of(trace, axis, len(shape)) for axis in axes]
        if sizes is not None and len(sizes) != len(places):
            trace.refuse("error", "ValueError: Shape and axes have different lengths.")
        asked = [None] * len(places) if sizes is None else [s if s != -1 else None for s in sizes]
        for place, size in zip(places, asked, strict=True):
            if place == places[-1] and last is not None and of_result and size is None:
                size = last(shape[place])
            shape = _with_length(trace, shape, place, size)
        if last is not None and not of_result and places:
            shape = replaced(shape, places[-1], last(shape[places[-1]]))
        return [shape]

    return shapes_of


for _function in (np.fft.fft, np.fft.ifft):
    row(_function, "a", _transformed)
for _function in (np.fft.rfft, np.fft.ihfft):
    row(_function, "a", _halved)
for _function in (np.fft.irfft, np.fft.hfft):
    row(_function, "a", _unhalved)
for _function in (np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn):
    row(_function, "a", _several(None))
for _function in (np.fft.rfft2, np.fft.rfftn):
    row(_function, "a", _several(_half))
for _function in (np.fft.irfft2, np.fft.irfftn):
    row(_function, "a", _several(_twice, of_result=True))
row(np.fft.fftshift, "x", same)
row(np.fft.ifftshift, "x", same)
