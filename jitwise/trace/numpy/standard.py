"""What the array API standard has beside NumPy's older names: namespaces and devices of arrays,
`vecdot`, and the functions of `linalg` that are others with fixed axes.

    x.__array_namespace__()      ->  NumPy's stand-in
    x.device, x.to_device("cpu") ->  "cpu", x
    np.vecdot(x, y)              ->  multiply, reduce_add over the last axis
    np.linalg.diagonal(x)        ->  diagonal over the last two axes
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir import dims
from ...ops import reduce as rows
from ..tracer import FUNCTIONS, METHODS, Tracer
from ..tracing import Trace
from ..ufuncs import GENERALIZED, apply
from .arguments import axes_of, axis_of, is_here
from .contract import cross, permuted
from .elementwise import common_dtype
from .grids import diagonal, trace_of
from .reduce import folded, kept, summed
from .statistics import HALF, SINGLE, norm
from .views import copied, reshaped


def _namespace(operand: Tracer, *, api_version: Any = None) -> Any:
    trace = operand._trace
    if trace.follower is None:
        trace.refuse("function", "ndarray.__array_namespace__")
    try:
        np.empty(0).__array_namespace__(api_version=api_version)
    except Exception as error:
        trace.refuse("error", type(error).__name__)
    return trace.follower.followed_object(np, "numpy")


def _device(operand: Tracer) -> str:
    return "cpu"


_device.is_property = True  # type: ignore[attr-defined]


def _to_device(operand: Tracer, device: Any, /, *, stream: Any = None) -> Tracer:
    if stream is not None or device is None or not is_here(device):
        operand._trace.refuse("error", "ValueError: unsupported device or stream")
    return operand


# Products and diagonals


def vecdot(trace: Trace, x1: Any, x2: Any, /, *, axis: Any = -1) -> Tracer:
    left, right = trace.lift(x1), trace.lift(x2)
    if not left.ndim or not right.ndim:
        trace.refuse("error", "ValueError: vecdot of numbers")
    dtype = common_dtype(trace, [left, right])
    vectors = []
    for operand in (left, right):
        place = axis_of(trace, axis, operand.ndim)
        order = [each for each in range(operand.ndim) if each != place]
        array = permuted(trace, operand, (*order, place))
        vectors.append(trace.convert(array, SINGLE if dtype == HALF else dtype))
    first, second = vectors
    if not trace.same_size(first._value.type.shape[-1], second._value.type.shape[-1]):
        trace.refuse("error", "ValueError: vecdot: mismatch in core dimension")
    if dtype.kind == "c":
        first = apply(trace, np.conjugate, [first])
    product = apply(trace, np.multiply, [first, second])
    axes = (product.ndim - 1,)
    if dtype.kind == "b":
        return folded(trace, rows.reduce_or, product, axes, False)
    return trace.convert(summed(trace, product, axes, product.dtype, False), dtype)


def _vecdot(trace: Trace, x1: Any, x2: Any, /, *, axis: Any = -1) -> Tracer:
    return vecdot(trace, x1, x2, axis=axis)


def _cross(trace: Trace, x1: Any, x2: Any, /, *, axis: Any = -1) -> Tracer:
    return cross(trace, x1, x2, axis=axis)


def _diagonal(trace: Trace, x: Any, /, *, offset: Any = 0) -> Tracer:
    return diagonal(trace, x, offset, -2, -1)


def _trace(trace: Trace, x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Tracer:
    return trace_of(trace, x, offset, -2, -1, dtype)


# Norms


def vector_norm(
    trace: Trace, x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2
) -> Tracer:
    """The norm of what lies along several axes is that of one axis that holds them."""
    operand = trace.lift(x)
    if axis is not None and type(axis) is not tuple:
        return norm(trace, operand, ord, axis, keepdims)
    shape = operand._value.type.shape
    axes = axes_of(trace, axis, len(shape))
    rest = [each for each in range(len(shape)) if each not in axes]
    moved = permuted(trace, operand, (*axes, *rest))
    items = dims.product(tuple([shape[each] for each in axes]))
    flat = reshaped(trace, copied(trace, moved), (items, *[shape[each] for each in rest]))
    result = norm(trace, flat, ord, 0)
    return kept(trace, result, shape, axes) if keepdims else result


def matrix_norm(trace: Trace, x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Tracer:
    return norm(trace, x, ord, (-2, -1), keepdims)


METHODS.update({"__array_namespace__": _namespace, "device": _device, "to_device": _to_device})
GENERALIZED[np.vecdot] = vecdot
FUNCTIONS.update(
    {
        np.linalg.cross: _cross,
        np.linalg.diagonal: _diagonal,
        np.linalg.matrix_norm: matrix_norm,
        np.linalg.trace: _trace,
        np.linalg.vecdot: _vecdot,
        np.linalg.vector_norm: vector_norm,
    }
)
