"""Sequences of numbers: arange, linspace, logspace, geomspace.

    np.arange(n)            ->  iota
    np.linspace(a, b, n)    ->  iota, multiply, add, and the last item put in by a select
    np.linspace(0, 1, 5)    ->  NumPy's own array, because nothing in it is traced

Where a number is needed to know a size (`np.arange(0.0, x, 0.1)`), it must be one that the trace
can guard.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ir.types import DTYPE_NAMES
from ...ops.compare import select
from ...ops.movement import iota
from ..namespace import CREATION
from ..size import SizeTracer
from ..tracer import FUNCTIONS, Tracer, concrete
from ..ufuncs import apply
from .arguments import (
    dtype_of,
    is_nonnegative,
    is_positive,
    is_traced,
    refuse_given,
    require_cpu,
    size_argument,
    size_of_number,
)
from .elements import cast
from .library import left_to_numpy
from .reduce import any as any_
from .shape import moveaxis, reshape
from .views import copied

if TYPE_CHECKING:
    from ..tracing import Trace

INT = np.dtype(np.int64)


def counting(trace: Trace, size: Size, dtype: np.dtype) -> Tracer:
    """0, 1, 2, ... along one axis."""
    return trace.wrap(
        trace.builder.emit(iota, (), {"sizes": (size,), "dimension": 0, "dtype": dtype}), "array"
    )


def _number(trace: Trace, item: Any) -> Any:
    """A number that decides a size: a Python number of this call, guarded."""
    if isinstance(item, Tracer):
        op = item._value.op
        if op is not None and op.primitive.name == "dimension":
            return trace.expose(op.attrs["size"])
        if item._kind != "python" and item.dtype.kind in "iu" and not item.ndim:
            return trace.expose(size_of_number(trace, item))
        return concrete(item, "a number")
    return item


def arange(
    trace: Trace,
    start: Any = None,
    /,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    if not is_traced(start, stop, step, like):
        given = {"dtype": dtype, "device": device, "like": like}
        if stop is None and step is None:
            return np.arange(start, **given)
        return np.arange(start, stop, 1 if step is None else step, **given)
    require_cpu(trace, device)
    refuse_given(trace, "arange", like=like)
    if stop is None:
        start, stop = 0, start
    bounds = [_number(trace, item) for item in (start, stop, 1 if step is None else step)]
    if all(type(item) is int or type(item) is SizeTracer for item in bounds):
        first, last, stride = [size_argument(trace, item) for item in bounds]
        return _integers(trace, first, last, stride, dtype)
    first, last, stride = bounds
    if type(last) is SizeTracer and all(
        type(item) in (int, float) and item == item // 1 for item in (first, stride)
    ):  # whole numbers below 2**53 count without rounding
        target = np.dtype(np.float64) if dtype is None else dtype
        return _integers(trace, int(first), last.size, int(stride), target)
    numbers = [trace.number(item.size) if type(item) is SizeTracer else item for item in bounds]
    return np.arange(*numbers, dtype=dtype)


def _integers(trace: Trace, start: Size, stop: Size, step: Size, dtype: Any) -> Any:
    """`np.arange` of sizes."""
    target = INT if dtype is None else dtype_of(trace, dtype)
    if target.kind not in "iuf" or target == np.float16:
        trace.refuse("argument", f"arange(dtype={target})")
    stride = step if isinstance(step, int) else trace.number(step)
    if stride == 0:
        trace.refuse("error", "ZeroDivisionError")
    span = dims.subtract(stop, start) if stride > 0 else dims.subtract(start, stop)
    if not is_nonnegative(trace, span):
        span = 0
    size = (
        dims.floor_divide(dims.add(span, abs(stride) - 1), abs(stride))
        if abs(stride) != 1
        else span
    )
    result = counting(trace, size, target)
    if stride != 1:
        result = apply(trace, np.multiply, [result, trace.constant(stride, target)])
    if isinstance(start, Dim) or start != 0:
        first = trace.lift(trace.expose(start))
        result = apply(trace, np.add, [result, trace.convert(first, target, "scalar")])
    return result


def linspace(
    trace: Trace,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
    *,
    device: Any = None,
) -> Any:
    if not is_traced(start, stop, num):
        return np.linspace(start, stop, num, endpoint, retstep, dtype, axis, device=device)
    require_cpu(trace, device)
    count = size_argument(trace, num)
    unusual = dtype is not None and dtype_of(trace, dtype).kind not in "fc"
    if retstep or unusual or not is_positive(trace, dims.subtract(count, 1)):
        options = {"endpoint": endpoint, "retstep": retstep, "dtype": dtype, "axis": axis}
        if not is_traced(start, stop):  # numbers, which are there when it is traced
            return np.linspace(start, stop, trace.number(count), **options)
        return left_to_numpy(trace, np.linspace, (start, stop, num), options)
    first, last = trace.lift(start), trace.lift(stop)
    for each in (first, last):
        trace.refuse_swapped(each._value)  # the result may have its dtype
    given = [each._hint if each._kind == "python" else each.dtype for each in (first, last)]
    working = np.result_type(*given, 1.0)
    if working not in DTYPE_NAMES:
        trace.refuse("dtype", str(working))
    first, last = trace.convert(first, working, "scalar"), trace.convert(last, working, "scalar")
    delta = apply(trace, np.subtract, [last, first])
    steps = counting(trace, count, working)
    if delta.ndim:
        steps = reshape(trace, steps, (-1, *[1] * delta.ndim))
    parts = dims.subtract(count, 1) if endpoint else count
    result = _spread(trace, steps, delta, parts, has_step=_is_wide(start, stop))
    result = apply(trace, np.add, [result, first])
    if endpoint:
        result = _with_last(trace, result, last, count, steps)
    if axis != 0:
        result = copied(trace, moveaxis(trace, result, 0, axis))
    return result if dtype is None else cast(trace, result, dtype_of(trace, dtype))


def _is_wide(start: Any, stop: Any) -> bool:
    """Whether these are Python numbers so far apart that no step between them is zero."""
    if type(start) not in (int, float) or type(stop) not in (int, float):
        return False
    return 1e-280 <= abs(float(stop) - float(start)) < math.inf


def _spread(trace: Trace, steps: Tracer, delta: Tracer, parts: Size, *, has_step: bool) -> Tracer:
    """`steps * (delta / parts)`; where that step underflows to zero, `steps / parts * delta`.
    `has_step`: it cannot.
    """
    divisor = trace.convert(trace.lift(trace.expose(parts)), delta.dtype, "scalar")
    step = apply(trace, np.true_divide, [delta, divisor])
    usual = apply(trace, np.multiply, [steps, step])
    if has_step:
        return usual
    zero = apply(trace, np.equal, [step, trace.constant(0, step.dtype)])
    if zero.ndim:
        zero = any_(trace, zero)
    small = apply(trace, np.multiply, [apply(trace, np.true_divide, [steps, divisor]), delta])
    return trace.emit(select, trace.align([zero, small, usual]), kind="array")


def _with_last(trace: Trace, result: Tracer, last: Tracer, count: Size, steps: Tracer) -> Tracer:
    """`result` with `last` as its last item along axis 0. `steps` count as well as integers do in
    the one format that holds any number of items.
    """
    exact = steps.dtype == np.float64
    places = steps if exact else counting(trace, count, INT)
    final = trace.lift(trace.expose(dims.subtract(count, 1)))
    mask = apply(trace, np.equal, [places, trace.convert(final, places.dtype, "scalar")])
    if result.ndim > mask.ndim:
        mask = reshape(trace, mask, (-1, *[1] * (result.ndim - 1)))
    return trace.emit(select, trace.align([mask, last, result]), kind="array")


def logspace(
    trace: Trace,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    if not is_traced(start, stop, num, base):
        return np.logspace(start, stop, num, endpoint, base, dtype, axis)
    if type(base) not in (int, float) or dtype is not None:
        trace.refuse("argument", "logspace with these options")
    return apply(trace, np.power, [base, linspace(trace, start, stop, num, endpoint, axis=axis)])


def geomspace(
    trace: Trace,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    if type(num) is SizeTracer:
        num = trace.number(num.size)
    if is_traced(start, stop):
        options = {"endpoint": endpoint, "dtype": dtype, "axis": axis}
        return left_to_numpy(trace, np.geomspace, (start, stop, num), options)
    return np.geomspace(start, stop, num, endpoint, dtype, axis)


FUNCTIONS.update({np.linspace: linspace, np.logspace: logspace, np.geomspace: geomspace})
CREATION.update(
    {
        np.arange: arange,
        np.linspace: linspace,
        np.logspace: logspace,
        np.geomspace: geomspace,
    }
)
