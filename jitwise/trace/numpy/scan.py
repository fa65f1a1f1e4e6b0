"""Running totals and positions: cumsum, cumprod, argmin, argmax, and `ufunc.accumulate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.primitive import Primitive
from ...ops import reduce as reductions
from ...ops import scan as rows
from ...ops.promotion import UnsupportedLoop, resolve_reduction
from ..tracer import FUNCTIONS, METHODS, Tracer
from ..ufuncs import ACCUMULATIONS
from .arguments import NO_VALUE, axis_of, dtype_of, is_kept, is_positive
from .create import filled
from .join import joined
from .library import stored
from .reduce import kept
from .views import copied, moved, reshaped

if TYPE_CHECKING:
    from ..tracing import Trace


def _accumulated(
    trace: Trace, ufunc: np.ufunc, primitive: Primitive, operand: Tracer, axis: int, dtype: Any
) -> Tracer:
    if dtype is None:
        try:
            target = resolve_reduction(ufunc, operand._value.type.dtype)
        except UnsupportedLoop:
            trace.refuse("dtype", str(operand.dtype))
    else:
        target = dtype_of(trace, dtype)
        if target.kind == "b" or (operand.dtype.kind == "c" and target.kind != "c"):
            from .outside import method

            options = {"axis": axis, "dtype": target}
            return method(trace, ufunc, "accumulate", (operand,), options)
    return moved(trace, primitive, trace.convert(operand, target), {"axis": axis})


def _cumulative(ufunc: np.ufunc, primitive: Primitive, name: str) -> Any:
    def handler(
        trace: Trace, a: Any, axis: Any = None, dtype: Any = None, out: Any = None
    ) -> Tracer:
        operand = trace.lift(a)
        if axis is None or not operand.ndim:
            operand = Tracer(trace, operand._value, "array")
            operand = reshaped(trace, operand, (dims.product(operand._value.type.shape),))
            axis = 0 if axis is None else axis
        place = axis_of(trace, axis, operand.ndim)
        result = _accumulated(trace, ufunc, primitive, operand, place, dtype)
        return result if out is None else stored(trace, out, result)

    handler.__name__ = name
    return handler


cumsum = _cumulative(np.add, rows.cumulative_add, "cumsum")
cumprod = _cumulative(np.multiply, rows.cumulative_multiply, "cumprod")


def _along(cumulative: Any, first: int) -> Any:
    """`np.cumulative_sum` and `np.cumulative_prod`."""

    def handler(
        trace: Trace,
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: Any = False,
    ) -> Tracer:
        operand = trace.lift(x)
        if not operand.ndim:
            operand = reshaped(trace, copied(trace, operand), (1,))
        if axis is None and operand.ndim > 1:
            trace.refuse("error", "ValueError: no axis given")
        place = axis_of(trace, 0 if axis is None else axis, operand.ndim)
        if not include_initial:
            return cumulative(trace, operand, place, dtype, out)
        result = cumulative(trace, operand, place, dtype)
        sizes = list(result._value.type.shape)
        sizes[place] = 1
        start = filled(trace, trace.constant(first, result.dtype), tuple(sizes))
        whole = joined(trace, [start, result], place)
        return whole if out is None else stored(trace, out, whole)

    return handler


def _accumulate(ufunc: np.ufunc, primitive: Primitive) -> Any:
    def handler(
        trace: Trace, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None
    ) -> Tracer:
        target = out[0] if type(out) is tuple else out
        operand = trace.lift(array)
        if not operand.ndim:
            trace.refuse("error", "TypeError: cannot accumulate on a scalar")
        place = axis_of(trace, axis, operand.ndim)
        result = _accumulated(trace, ufunc, primitive, operand, place, dtype)
        return result if target is None else stored(trace, target, result)

    return handler


def _position(primitive: Primitive, name: str) -> Any:
    def handler(
        trace: Trace, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE
    ) -> Tracer:
        operand = trace.lift(a)
        shape = operand._value.type.shape
        if axis is not None and not shape:
            axis_of(trace, axis, 1)  # NumPy takes 0 and -1 here, and raises for others
        if axis is None or not shape:
            flat = copied(trace, operand)
            operand = reshaped(trace, flat, (dims.product(shape),))
            axes, place = tuple(range(len(shape))), 0
        else:
            place = axis_of(trace, axis, len(shape))
            axes = (place,)
        if not is_positive(trace, operand._value.type.shape[place]):
            trace.refuse("error", f"ValueError: attempt to get {name} of an empty sequence")
        result = trace.emit(primitive, (operand,), {"axes": (place,)})
        result = kept(trace, result, shape, axes) if is_kept(keepdims) and shape else result
        return result if out is None else stored(trace, out, result)

    handler.__name__ = name
    return handler


argmax = _position(reductions.argmax, "argmax")
argmin = _position(reductions.argmin, "argmin")


def _method(function: Any) -> Any:
    return lambda operand, *args, **options: function(operand._trace, operand, *args, **options)


FUNCTIONS.update({np.cumsum: cumsum, np.cumprod: cumprod, np.argmax: argmax, np.argmin: argmin})
if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    FUNCTIONS.update({np.cumulative_sum: _along(cumsum, 0), np.cumulative_prod: _along(cumprod, 1)})
ACCUMULATIONS.update(
    {
        np.add: _accumulate(np.add, rows.cumulative_add),
        np.multiply: _accumulate(np.multiply, rows.cumulative_multiply),
        np.maximum: _accumulate(np.maximum, rows.cumulative_max),
        np.minimum: _accumulate(np.minimum, rows.cumulative_min),
    }
)
METHODS.update(
    {
        name: _method(function)
        for name, function in {
            "cumsum": cumsum,
            "cumprod": cumprod,
            "argmax": argmax,
            "argmin": argmin,
        }.items()
    }
)
