"""Fourier transforms, which are left to NumPy. Imported when the first one is met, because NumPy
loads `numpy.fft` late too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from .arguments import axis_of
from .library import Shape, first, row, same

if TYPE_CHECKING:
    from ..tracing import Trace


def transformed(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of the one-dimensional Fourier transforms of complex numbers."""
    shape = first(shapes)
    return [_with_length(trace, shape, plain, plain["n"])]


def _with_length(trace: Trace, shape: Shape, plain: dict[str, Any], length: Any) -> Shape:
    axis = axis_of(trace, plain["axis"], len(shape))
    size = shape[axis] if length is None else length
    if (size < 1) if isinstance(size, int) else trace.is_zero(size):
        trace.refuse("error", "ValueError: Invalid number of FFT data points")
    return (*shape[:axis], size, *shape[axis + 1 :])


def half_transformed(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `rfft`: n // 2 + 1 numbers."""
    shape = _with_length(trace, first(shapes), plain, plain["n"])
    axis = axis_of(trace, plain["axis"], len(shape))
    half = dims.add(dims.floor_divide(shape[axis], 2), 1)
    return [(*shape[:axis], half, *shape[axis + 1 :])]


def unhalved(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `irfft`: 2 (m - 1) numbers."""
    shape = first(shapes)
    axis = axis_of(trace, plain["axis"], len(shape))
    whole = dims.multiply(dims.subtract(shape[axis], 1), 2)
    return [_with_length(trace, shape, plain, whole if plain["n"] is None else plain["n"])]


def all_transformed(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of transforms along several axes, of the whole array."""
    if plain["s"] is not None or any(trace.is_zero(size) for size in first(shapes)):
        trace.refuse("argument", "a transform with another shape")
    return [first(shapes)]


for _function in (np.fft.fft, np.fft.ifft):
    row(_function, "a", transformed)
row(np.fft.rfft, "a", half_transformed)
row(np.fft.irfft, "a", unhalved)
for _function in (np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn):
    row(_function, "a", all_transformed)
row(np.fft.fftshift, "x", same)
row(np.fft.ifftshift, "x", same)
