"""Functions made of neighbouring elements: diff, ediff1d, gradient, trapezoid; and polyval.

    np.diff(x) of f64[n]       ->  x[1:] - x[:-1], guard n - 1 >= 0
    np.gradient(x) of f64[n]   ->  one-sided, central, one-sided differences, guard n - 2 >= 0

A gradient over coordinates asks whether they are evenly spaced, which is a value: that ends the
trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ..tracer import FUNCTIONS, Tracer
from ..ufuncs import apply
from .arguments import NO_VALUE, axes_of, axis_of, is_nonnegative, is_traced
from .create import filled
from .elements import cast
from .index import getitem
from .join import concatenate, joined
from .library import left_to_numpy
from .reduce import sum as sum_
from .shape import ravel
from .views import copied, cut, reshaped

if TYPE_CHECKING:
    from ..tracing import Trace


def _sides(trace: Trace, operand: Tracer, axis: int) -> list[Tracer]:
    """`x[1:]` and `x[:-1]` along an axis."""
    handle = copied(trace, operand)
    before = (slice(None),) * axis
    return [getitem(handle, (*before, part)) for part in (slice(1, None), slice(None, -1))]


def diff(
    trace: Trace,
    a: Any,
    n: Any = 1,
    axis: Any = -1,
    prepend: Any = NO_VALUE,
    append: Any = NO_VALUE,
) -> Tracer:
    operand = trace.lift(a)
    if type(n) is not int or n < 0:
        trace.refuse("argument", f"diff(n={n!r})")
    if n == 0:
        return operand
    if not operand.ndim:
        trace.refuse("error", "ValueError: diff requires input that is at least one dimensional")
    place = axis_of(trace, axis, operand.ndim)
    shape = operand._value.type.shape
    parts = []
    for item in (prepend, operand, append):
        if item is NO_VALUE:
            continue
        part = trace.lift(item)
        if not part.ndim:
            part = filled(trace, part, (*shape[:place], 1, *shape[place + 1 :]))
        parts.append(part)
    if len(parts) > 1:
        operand = concatenate(trace, parts, place)
    function = np.not_equal if operand._value.type.dtype.kind == "b" else np.subtract
    for _ in range(n):
        operand = apply(trace, function, _sides(trace, operand, place))
    return operand


def ediff1d(trace: Trace, ary: Any, to_end: Any = None, to_begin: Any = None) -> Tracer:
    operand = ravel(trace, copied(trace, trace.lift(ary)))
    parts = []
    for item in (to_begin, None, to_end):
        if item is None:
            continue
        trace.refuse_swapped(operand._value)  # NumPy makes an array like it
        part = ravel(trace, trace.lift(item))
        if not np.can_cast(part.dtype, operand.dtype, "same_kind"):
            trace.refuse("error", "TypeError: dtype of to_begin or to_end must be compatible")
        parts.append(trace.convert(part, operand.dtype))
    differences = apply(trace, np.subtract, _sides(trace, operand, 0))
    parts.insert(1 if to_begin is not None else 0, differences)
    return joined(trace, parts, 0)


def gradient(trace: Trace, f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    operand = trace.lift(f)
    trace.refuse_swapped(operand._value)  # NumPy keeps the byte order
    axes = axes_of(trace, axis, operand.ndim)
    if type(axis) is tuple:
        axes = tuple([axis_of(trace, each, operand.ndim) for each in axis])
    spacings = [trace.lift(item) for item in varargs] or [1.0]
    over_points = any(isinstance(each, Tracer) and each.ndim for each in spacings)
    if edge_order != 1 or over_points or len(varargs) not in (0, 1, len(axes)):
        options = {"axis": axis, "edge_order": edge_order}
        return left_to_numpy(trace, np.gradient, (operand, *varargs), options)
    if len(spacings) == 1:
        spacings = spacings * len(axes)
    kind = operand._value.type.dtype.kind
    if kind == "b":
        trace.refuse("error", "TypeError")
    if kind in "iu":
        operand = trace.convert(operand, np.dtype(np.float64))
    results = [
        _gradient(trace, copied(trace, operand), place, spacing)
        for place, spacing in zip(axes, spacings, strict=True)
    ]
    return results[0] if len(results) == 1 else tuple(results)


def _gradient(trace: Trace, operand: Tracer, axis: int, spacing: Any) -> Tracer:
    length = operand._value.type.shape[axis]
    inner = dims.subtract(length, 2)
    if not is_nonnegative(trace, inner):
        trace.refuse(
            "error", "ValueError: Shape of array too small to calculate a numerical gradient"
        )

    def difference(first: Any, second: Any, size: Any, distance: Any) -> Tracer:
        ends = [cut(trace, operand, axis, first, size), cut(trace, operand, axis, second, size)]
        quotient = apply(trace, np.true_divide, [apply(trace, np.subtract, ends), distance])
        return cast(trace, quotient, operand._value.type.dtype)

    traced = isinstance(spacing, Tracer)
    double = apply(trace, np.multiply, [2.0, spacing]) if traced else 2.0 * spacing
    if isinstance(double, Tracer) and spacing._kind == "python":
        double._kind, double._hint = "python", 2.0 * spacing._hint
    parts = [
        difference(1, 0, 1, spacing),
        difference(2, 0, inner, double),
        difference(dims.subtract(length, 1), inner, 1, spacing),
    ]
    return joined(trace, parts, axis)


def trapezoid(trace: Trace, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Tracer:
    operand = trace.lift(y)
    place = axis_of(trace, axis, operand.ndim)
    if x is None:
        widths: Any = dx
    else:
        points = trace.lift(x)
        widths = diff(trace, points, axis=-1 if points.ndim == 1 else axis)
        if points.ndim == 1:
            sizes = [1] * operand.ndim
            sizes[place] = widths._value.type.shape[0]
            widths = copied(trace, reshaped(trace, widths, tuple(sizes)))
    heights = apply(trace, np.add, _sides(trace, operand, place))
    areas = apply(trace, np.true_divide, [apply(trace, np.multiply, [widths, heights]), 2.0])
    return sum_(trace, areas, place if areas.ndim == operand.ndim else axis)


def polyval(trace: Trace, p: Any, x: Any) -> Tracer:
    points = trace.lift(x)
    coefficients = p if isinstance(p, (list, tuple)) and not is_traced(p) else trace.lift(p)
    if not isinstance(coefficients, Tracer):
        array = np.asarray(coefficients)
        coefficients = list(array) if array.ndim == 1 else trace.lift(p)
    elif coefficients.ndim != 1:
        trace.refuse("argument", "polyval of a matrix of coefficients")
    else:
        coefficients = list(coefficients)
    if not coefficients:
        trace.refuse_swapped(points._value)  # NumPy gives zeros like it
    result = filled(trace, trace.constant(0, points._value.type.dtype), points._value.type.shape)
    if points._kind != "array":
        points = Tracer(trace, points._value, "scalar")
    for coefficient in coefficients:
        result = apply(trace, np.add, [apply(trace, np.multiply, [result, points]), coefficient])
    return result


FUNCTIONS.update(
    {
        np.diff: diff,
        np.ediff1d: ediff1d,
        np.gradient: gradient,
        np.trapezoid: trapezoid,
        np.polyval: polyval,
    }
)
