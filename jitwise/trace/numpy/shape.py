"""Functions that give an array another shape or another order of axes: all of them views.

    x.reshape(-1, 4) of f64[n]    ->   reshape{sizes=(n // 4, 4)}, guard n % 4 == 0
    x.T of f64[n, m]              ->   transpose{permutation=(1, 0)}

`order="F"` of `reshape` and `ravel` is a transpose, a reshape and a transpose. Orders that ask for
the layout in memory ("A", "K") end the trace where they could matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ops.movement import transpose as transpose_
from ..memory import is_c_ordered, may_lie_apart, perhaps_shared
from ..namespace import CREATION
from ..tracer import FUNCTIONS, METHODS, Tracer
from .arguments import (
    NO_VALUE,
    axis_of,
    is_one,
    is_positive,
    is_traced,
    lengths_of,
    refuse_order,
    require_cpu,
    shape_of,
)
from .elements import cast
from .views import copied, reshaped, same_memory, view

if TYPE_CHECKING:
    from ..tracing import Trace


def resolve_shape(
    trace: Trace, shape: tuple[Size, ...], wanted: tuple[Size, ...]
) -> tuple[Size, ...]:
    """The shape that `reshape` gives: a -1 is computed, and the number of elements must agree."""
    total = dims.product(shape)
    unknown = [place for place, size in enumerate(wanted) if isinstance(size, int) and size < 0]
    if not unknown:
        if not trace.same_size(dims.product(wanted), total):
            trace.refuse("error", "ValueError: cannot reshape")
        return wanted
    if len(unknown) > 1 or wanted[unknown[0]] != -1:
        trace.refuse("error", "ValueError: cannot reshape")
    place = unknown[0]
    known = dims.product(wanted[:place] + wanted[place + 1 :])
    if not is_positive(trace, known):
        trace.refuse("error", "ValueError: cannot reshape")
    remainder = dims.modulo(total, known)
    if trace.hint(remainder) != 0:
        trace.refuse("error", "ValueError: cannot reshape")
    if isinstance(remainder, Dim):
        trace.require("eq", remainder)
    return (*wanted[:place], dims.floor_divide(total, known), *wanted[place + 1 :])


def reshape(
    trace: Trace, a: Any, /, shape: Any = NO_VALUE, order: Any = "C", *, copy: Any = None
) -> Tracer:
    operand = trace.lift(a)
    wanted = shape_of(trace, shape)
    if copy is False:
        trace.refuse("argument", "reshape(copy=False)")
    own = operand._value.type.shape
    if order == "F" and (len(own) > 1 or len(wanted) > 1):
        sizes = resolve_shape(trace, own[::-1], wanted[::-1])
        result = transposed(trace, reshaped(trace, transposed(trace, operand), sizes))
    else:
        if order not in ("C", "F"):
            trace.refuse("argument", f"reshape(order={order!r})")
        result = reshaped(trace, operand, resolve_shape(trace, own, wanted))
    return copied(trace, result, result._kind) if copy else result


def _reshape_method(operand: Tracer, *shape: Any, order: Any = "C", copy: Any = None) -> Tracer:
    wanted = shape[0] if len(shape) == 1 else shape
    if wanted is None or not shape:
        operand._trace.refuse("argument", "reshape without a shape")
    return reshape(operand._trace, operand, wanted, order, copy=copy)


def ravel(trace: Trace, a: Any, order: Any = "C") -> Tracer:
    operand = trace.lift(a)
    if order == "F":
        operand = transposed(trace, operand)
    elif order != "C" and operand.ndim > 1:
        trace.refuse("argument", f"ravel(order={order!r})")
    result = reshaped(trace, operand, (dims.product(operand._value.type.shape),))
    # NumPy copies elements that do not lie side by side.
    if operand._kind == "array" and may_lie_apart(operand) and not is_c_ordered(operand):
        return perhaps_shared(operand, copied(trace, result))
    return result


def _flatten(operand: Tracer, order: Any = "C") -> Tracer:
    return copied(operand._trace, ravel(operand._trace, operand, order))


def transposed(trace: Trace, operand: Tracer, permutation: tuple[int, ...] | None = None) -> Tracer:
    """A view with its axes in another order, by default the reverse one."""
    if permutation is None:
        permutation = tuple(range(operand.ndim))[::-1]
    return view(trace, transpose_, operand, {"permutation": permutation})


def transpose(trace: Trace, a: Any, axes: Any = None) -> Tracer:
    operand = trace.lift(a)
    if axes is None:
        return transposed(trace, operand)
    axes = axes if isinstance(axes, (tuple, list)) else (axes,)
    ndim = operand.ndim
    permutation = tuple([axis_of(trace, axis, ndim) for axis in axes])
    if sorted(permutation) != list(range(ndim)):
        trace.refuse("error", "ValueError: axes don't match array")
    return transposed(trace, operand, permutation)


def _transpose_method(operand: Tracer, *axes: Any) -> Tracer:
    if not axes:
        return transposed(operand._trace, operand)
    return transpose(operand._trace, operand, axes[0] if len(axes) == 1 else axes)


def _t(operand: Tracer) -> Tracer:
    return transposed(operand._trace, operand)


def matrix_transpose(trace: Trace, x: Any, /) -> Tracer:
    operand = trace.lift(x)
    if operand.ndim < 2:
        trace.refuse("error", "ValueError")
    return swapaxes(trace, operand, -1, -2)


def swapaxes(trace: Trace, a: Any, axis1: Any, axis2: Any) -> Tracer:
    operand = trace.lift(a)
    permutation = list(range(operand.ndim))
    first, second = axis_of(trace, axis1, operand.ndim), axis_of(trace, axis2, operand.ndim)
    permutation[first], permutation[second] = second, first
    return transposed(trace, operand, tuple(permutation))


def moveaxis(trace: Trace, a: Any, source: Any, destination: Any) -> Tracer:
    operand = trace.lift(a)
    ndim = operand.ndim
    froms = [axis_of(trace, axis, ndim) for axis in _several(source)]
    tos = [axis_of(trace, axis, ndim) for axis in _several(destination)]
    if len(froms) != len(tos) or len(set(froms)) != len(froms) or len(set(tos)) != len(tos):
        trace.refuse("error", "ValueError")
    order = [axis for axis in range(ndim) if axis not in froms]
    for to, axis in sorted(zip(tos, froms, strict=True)):
        order.insert(to, axis)
    return transposed(trace, operand, tuple(order))


def _several(axis: Any) -> Any:
    return axis if isinstance(axis, (tuple, list)) else (axis,)


def rollaxis(trace: Trace, a: Any, axis: Any, start: Any = 0) -> Tracer:
    operand = trace.lift(a)
    ndim = operand.ndim
    axis = axis_of(trace, axis, ndim)
    start = start + ndim if start < 0 else start
    if not 0 <= start <= ndim:
        trace.refuse("error", "AxisError")
    order = [each for each in range(ndim) if each != axis]
    order.insert(start - 1 if axis < start else start, axis)
    return transposed(trace, operand, tuple(order))


def expand_dims(trace: Trace, a: Any, axis: Any) -> Tracer:
    operand = trace.lift(a)
    places = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    ndim = operand.ndim + len(places)
    new = {axis_of(trace, place, ndim) for place in places}
    if len(new) != len(places):
        trace.refuse("error", "ValueError: repeated axis")
    rest = iter(operand._value.type.shape)
    return reshaped(
        trace, operand, tuple([1 if place in new else next(rest) for place in range(ndim)])
    )


def squeeze(trace: Trace, a: Any, axis: Any = None) -> Tracer:
    operand = trace.lift(a)
    shape = operand._value.type.shape
    if axis is None:
        kept = [size for size in shape if not is_one(trace, size)]
    else:
        axes = {axis_of(trace, each, len(shape)) for each in _several(axis)}
        if not all(is_one(trace, shape[each]) for each in axes):
            trace.refuse("error", "ValueError: cannot select an axis to squeeze out")
        kept = [size for place, size in enumerate(shape) if place not in axes]
    return reshaped(trace, operand, tuple(kept))


def broadcast_to(trace: Trace, array: Any, shape: Any, subok: Any = False) -> Any:
    if not is_traced(array, shape):
        return np.broadcast_to(array, shape, subok=subok)
    operand = trace.lift(array)
    sizes = lengths_of(trace, shape)
    if not trace.fits(operand._value.type.shape, sizes):
        trace.refuse("error", "ValueError: cannot broadcast")
    result = same_memory(trace, trace.broadcast(operand, sizes))
    operand._shared = True
    result._kind = "array"
    result._shared = True  # NumPy makes it read-only
    return result


def broadcast_arrays(trace: Trace, *args: Any, subok: Any = False) -> tuple:
    operands = [trace.lift(item) for item in args]
    shape = trace.broadcast_shapes([each._value.type.shape for each in operands])
    results = []
    for operand in operands:
        result = same_memory(trace, trace.broadcast(operand, shape))
        operand._shared = result._shared = True
        result._kind = "array"
        results.append(result)
    return tuple(results)


def broadcast_shapes(trace: Trace, *args: Any) -> tuple:
    if not is_traced(*args):
        return np.broadcast_shapes(*args)
    shape = trace.broadcast_shapes([lengths_of(trace, each) for each in args])
    return tuple([trace.expose(size) for size in shape])


def _at_least(trace: Trace, ndim: int, item: Any) -> Tracer:
    operand = trace.lift(item)
    shape = operand._value.type.shape
    if len(shape) >= ndim:
        return operand
    if ndim == 3 and len(shape) == 2:
        sizes: tuple[Size, ...] = (*shape, 1)
    elif ndim == 3 and len(shape) == 1:
        sizes = (1, shape[0], 1)
    else:
        sizes = (1,) * (ndim - len(shape)) + shape
    return reshaped(trace, operand, sizes)


def atleast_1d(trace: Trace, *arys: Any) -> Any:
    results = tuple([_at_least(trace, 1, item) for item in arys])
    return results[0] if len(results) == 1 else results


def atleast_2d(trace: Trace, *arys: Any) -> Any:
    results = tuple([_at_least(trace, 2, item) for item in arys])
    return results[0] if len(results) == 1 else results


def atleast_3d(trace: Trace, *arys: Any) -> Any:
    results = tuple([_at_least(trace, 3, item) for item in arys])
    return results[0] if len(results) == 1 else results


def shape(trace: Trace, a: Any) -> tuple:
    return trace.lift(a).shape


def ndim(trace: Trace, a: Any) -> int:
    return trace.lift(a).ndim


def size(trace: Trace, a: Any, axis: Any = None) -> Any:
    operand = trace.lift(a)
    if axis is None:
        return operand.size
    if type(axis) is tuple:
        trace.refuse("argument", "size(axis=(...))")
    return trace.expose(operand._value.type.shape[axis_of(trace, axis, operand.ndim)])


def _copy_method(operand: Tracer, order: Any = "C") -> Tracer:
    refuse_order(operand._trace, order)
    result = copied(operand._trace, operand, operand._kind)
    result._c_ordered = True if order == "C" else None
    return result


def _astype_method(
    operand: Tracer,
    dtype: Any,
    order: Any = "K",
    casting: Any = "unsafe",
    subok: Any = True,
    copy: Any = True,
) -> Tracer:
    from .arguments import dtype_of

    trace = operand._trace
    refuse_order(trace, order)
    target = dtype_of(trace, dtype)
    if casting != "unsafe" and not np.can_cast(operand.dtype, target, casting):
        trace.refuse("error", "TypeError: cannot cast")
    if operand._value.type.dtype == target:
        return copied(trace, operand, operand._kind) if copy else operand
    return cast(trace, operand, target)


def astype(trace: Trace, x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Tracer:
    require_cpu(trace, device)
    operand = trace.lift(x)
    if operand._kind == "python":
        trace.refuse("error", "AttributeError: a Python number has no dtype")
    return _astype_method(operand, dtype, copy=copy)


_t.is_property = True  # type: ignore[attr-defined]


def _mt(operand: Tracer) -> Tracer:
    return matrix_transpose(operand._trace, operand)


_mt.is_property = True  # type: ignore[attr-defined]

FUNCTIONS.update(
    {
        np.reshape: reshape,
        np.ravel: ravel,
        np.transpose: transpose,
        np.swapaxes: swapaxes,
        np.moveaxis: moveaxis,
        np.rollaxis: rollaxis,
        np.expand_dims: expand_dims,
        np.squeeze: squeeze,
        np.broadcast_to: broadcast_to,
        np.broadcast_arrays: broadcast_arrays,
        np.atleast_1d: atleast_1d,
        np.atleast_2d: atleast_2d,
        np.atleast_3d: atleast_3d,
        np.shape: shape,
        np.ndim: ndim,
        np.size: size,
        np.matrix_transpose: matrix_transpose,
        np.linalg.matrix_transpose: matrix_transpose,
        np.astype: astype,
    }
)
CREATION.update({np.broadcast_to: broadcast_to, np.broadcast_shapes: broadcast_shapes})
METHODS.update(
    {
        "reshape": _reshape_method,
        "flatten": _flatten,
        "transpose": _transpose_method,
        "T": _t,
        "mT": _mt,
        "ravel": lambda operand, order="C": ravel(operand._trace, operand, order),
        "swapaxes": lambda operand, axis1, axis2: swapaxes(operand._trace, operand, axis1, axis2),
        "squeeze": lambda operand, axis=None: squeeze(operand._trace, operand, axis),
        "copy": _copy_method,
        "astype": _astype_method,
    }
)
