"""Functions that make arrays of sizes and numbers: zeros, full, arange, linspace, eye, array, and their relatives.

    np.zeros((n, 3))        ->  broadcast_in_dim of a constant, also when n is a plain int: the array may be added to in place
    np.arange(n)            ->  iota
    np.array([x, 1.0])      ->  concatenate (see `join.stack_nested`)
    np.linspace(0, 1, 5)    ->  NumPy's own array, because nothing in it is traced

Where a number is needed to know a size (`np.arange(0.0, x, 0.1)`), it must be one that the trace can guard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ir.types import DTYPE_NAMES
from ...ops.compare import select
from ...ops.movement import iota
from ..namespace import CREATION
from ..size import SizeTracer, size_of
from ..tracer import FUNCTIONS, Tracer, concrete
from ..ufuncs import apply
from .arguments import (
    axis_of,
    dtype_of,
    is_nonnegative,
    is_positive,
    is_traced,
    lengths_of,
    refuse_given,
    refuse_order,
    size_argument,
)
from .join import stack_nested
from .shape import broadcast_arrays, moveaxis, reshape
from .views import copied, reshaped, same_memory

if TYPE_CHECKING:
    from ..tracing import Trace

INT, DOUBLE, BOOL = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_)


def filled(trace: Trace, value: Tracer, sizes: tuple[Size, ...]) -> Tracer:
    """An array with the scalar `value` in each element."""
    return Tracer(trace, trace.broadcast(value, sizes).value, "array")


def _full(trace: Trace, shape: Any, number: Any, dtype: Any) -> Tracer:
    return filled(trace, trace.constant(number, dtype), lengths_of(trace, shape))


def _is_known(dtype: Any) -> bool:
    try:
        found = np.dtype(dtype)
    except TypeError:
        return False
    return found in DTYPE_NAMES and found.isnative


def _constant_maker(function: Any, number: int, name: str) -> Any:
    def handler(
        trace: Trace,
        shape: Any,
        dtype: Any = None,
        order: Any = "C",
        *,
        device: Any = None,
        like: Any = None,
    ) -> Any:
        if (
            not _is_known(dtype)
            or order not in ("C", None)
            or like is not None
            or device is not None
        ):
            if is_traced(shape, like):
                trace.refuse("argument", f"{name} with these options")
            return function(shape, dtype, order, device=device, like=like)
        return _full(trace, shape, number, np.dtype(dtype))

    return handler


zeros = _constant_maker(np.zeros, 0, "zeros")
ones = _constant_maker(np.ones, 1, "ones")
empty = _constant_maker(np.empty, 0, "empty")


def full(
    trace: Trace, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None,
    like: Any = None,
) -> Any:  # fmt: skip
    known = dtype is None or _is_known(dtype)
    if not known or order not in ("C", None) or like is not None or device is not None:
        if is_traced(shape, fill_value, like):
            trace.refuse("argument", "full with these options")
        return np.full(shape, fill_value, dtype, order, device=device, like=like)
    if (
        dtype is None
        and type(fill_value) not in (bool, int, float, complex)
        and not is_traced(fill_value)
    ):
        if not _is_known(np.asarray(fill_value).dtype):
            return np.full(shape, fill_value)
    return _filled_like(trace, lengths_of(trace, shape), fill_value, dtype)


def _filled_like(trace: Trace, sizes: tuple[Size, ...], fill_value: Any, dtype: Any) -> Tracer:
    """`np.full`: a broadcast of anything, converted as an assignment does."""
    value = trace.lift(fill_value)
    if dtype is not None:
        dtype = np.dtype(dtype)
        if type(fill_value) in (bool, int, float, complex):
            if dtype.kind != "c" and type(fill_value) is complex:
                trace.refuse("argument", "full of a complex number")
            value = trace.constant(fill_value, dtype)
        else:
            value = trace.convert(value, dtype)
    if trace.broadcast_shapes([value.value.type.shape, sizes]) != sizes:
        trace.refuse("error", "ValueError: could not broadcast")
    return filled(trace, value, sizes)


def _like(number: int | None, function: Any, name: str) -> Any:
    def handler(
        trace: Trace, a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None, *,
        device: Any = None,
    ) -> Any:  # fmt: skip
        if not is_traced(a, shape):
            return function(a, dtype, order, subok, shape, device=device)
        refuse_order(trace, order)
        refuse_given(trace, name, device=device)
        operand = trace.lift(a)
        sizes = operand.value.type.shape if shape is None else lengths_of(trace, shape)
        return filled(
            trace,
            trace.constant(number, operand.dtype if dtype is None else dtype_of(trace, dtype)),
            sizes,
        )

    return handler


zeros_like = _like(0, np.zeros_like, "zeros_like")
ones_like = _like(1, np.ones_like, "ones_like")
empty_like = _like(0, np.empty_like, "empty_like")


def full_like(
    trace: Trace, a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: Any = True,
    shape: Any = None, *, device: Any = None,
) -> Any:  # fmt: skip
    if not is_traced(a, fill_value, shape):
        return np.full_like(a, fill_value, dtype, order, subok, shape, device=device)
    refuse_order(trace, order)
    refuse_given(trace, "full_like", device=device)
    operand = trace.lift(a)
    sizes = operand.value.type.shape if shape is None else lengths_of(trace, shape)
    return _filled_like(
        trace, sizes, fill_value, operand.dtype if dtype is None else dtype_of(trace, dtype)
    )


# Sequences of numbers


def counting(trace: Trace, size: Size, dtype: np.dtype) -> Tracer:
    """0, 1, 2, ... along one axis."""
    return trace.wrap(
        trace.builder.emit(iota, (), {"sizes": (size,), "dimension": 0, "dtype": dtype}), "array"
    )


def _number(trace: Trace, item: Any) -> Any:
    """A number that decides a size: a Python number of this call, guarded."""
    if type(item) is Tracer:
        op = item.value.op
        if op is not None and op.primitive.name == "dimension":
            return trace.expose(op.attrs["size"])
        return concrete(item, "a number")
    return item


def arange(
    trace: Trace, start: Any = None, /, stop: Any = None, step: Any = None, dtype: Any = None, *,
    device: Any = None, like: Any = None,
) -> Any:  # fmt: skip
    if not is_traced(start, stop, step, like):
        given = {"dtype": dtype, "device": device, "like": like}
        if stop is None and step is None:
            return np.arange(start, **given)
        return np.arange(start, stop, 1 if step is None else step, **given)
    refuse_given(trace, "arange", device=device, like=like)
    if stop is None:
        start, stop = 0, start
    bounds = [_number(trace, item) for item in (start, stop, 1 if step is None else step)]
    if all(type(item) is int or type(item) is SizeTracer for item in bounds):
        return _integers(trace, *[size_argument(trace, item) for item in bounds], dtype)
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
    trace: Trace, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False,
    dtype: Any = None, axis: Any = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    if not is_traced(start, stop, num):
        return np.linspace(start, stop, num, endpoint, retstep, dtype, axis, device=device)
    refuse_given(trace, "linspace", device=device)
    count = size_argument(trace, num)
    if retstep or not is_positive(trace, dims.subtract(count, 1)):
        trace.refuse("argument", "linspace(retstep=True), or of fewer than 2 numbers")
    if dtype is not None and dtype_of(trace, dtype).kind not in "fc":
        trace.refuse("argument", f"linspace(dtype={dtype})")
    first, last = trace.lift(start), trace.lift(stop)
    given = [each.hint if each.kind == "python" else each.dtype for each in (first, last)]
    working = np.result_type(*given, 1.0)
    if working not in DTYPE_NAMES:
        trace.refuse("dtype", str(working))
    first, last = trace.convert(first, working, "scalar"), trace.convert(last, working, "scalar")
    delta = apply(trace, np.subtract, [last, first])
    steps = counting(trace, count, working)
    if delta.ndim:
        steps = reshape(trace, steps, (-1, *[1] * delta.ndim))
    result = _spread(trace, steps, delta, dims.subtract(count, 1) if endpoint else count)
    result = apply(trace, np.add, [result, first])
    if endpoint:
        result = _with_last(trace, result, last, count)
    if axis != 0:
        result = copied(trace, moveaxis(trace, result, 0, axis))
    return result if dtype is None else trace.convert(result, dtype_of(trace, dtype))


def _spread(trace: Trace, steps: Tracer, delta: Tracer, parts: Size) -> Tracer:
    """`steps * (delta / parts)`; where that step underflows to zero, `steps / parts * delta`."""
    divisor = trace.convert(trace.lift(trace.expose(parts)), delta.dtype, "scalar")
    step = apply(trace, np.true_divide, [delta, divisor])
    zero = apply(trace, np.equal, [step, trace.constant(0, step.dtype)])
    if zero.ndim:
        from .reduce import any as any_

        zero = any_(trace, zero)
    usual = apply(trace, np.multiply, [steps, step])
    small = apply(trace, np.multiply, [apply(trace, np.true_divide, [steps, divisor]), delta])
    return trace.emit(select, trace.align([zero, small, usual]), kind="array")


def _with_last(trace: Trace, result: Tracer, last: Tracer, count: Size) -> Tracer:
    """`result` with `last` as its last item along axis 0."""
    places = counting(trace, count, INT)
    final = trace.convert(trace.lift(trace.expose(dims.subtract(count, 1))), INT, "scalar")
    mask = apply(trace, np.equal, [places, final])
    if result.ndim > 1:
        mask = reshape(trace, mask, (-1, *[1] * (result.ndim - 1)))
    return trace.emit(select, trace.align([mask, last, result]), kind="array")


def logspace(
    trace: Trace, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None,
    axis: Any = 0,
) -> Any:  # fmt: skip
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
        trace.refuse("function", "numpy.geomspace")
    return np.geomspace(start, stop, num, endpoint, dtype, axis)


# Matrices of a pattern


def _places(trace: Trace, rows: Size, columns: Size, k: Size) -> tuple[Tracer, Tracer]:
    """Row numbers plus `k` as a column, and column numbers as a row."""
    down = trace.builder.emit(iota, (), {"sizes": (rows,), "dimension": 0, "dtype": INT})
    column = reshaped(trace, Tracer(trace, down, "array"), (rows, 1))
    if isinstance(k, Dim) or k != 0:
        column = apply(trace, np.add, [column, trace.lift(trace.expose(k))])
    return column, counting(trace, columns, INT)


def _integer(trace: Trace, item: Any) -> Size:
    size = size_of(item)
    if size is None:
        trace.refuse("argument", "a diagonal that is no integer")
    return size


def eye(
    trace: Trace, N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C", *, device: Any = None,  # noqa: N803
    like: Any = None,
) -> Any:  # fmt: skip
    if not is_traced(N, M, k, like):
        return np.eye(N, M, k, dtype, order, device=device, like=like)
    refuse_order(trace, order, ("C",))
    refuse_given(trace, "eye", device=device, like=like)
    rows, columns = lengths_of(trace, (N, N if M is None else M))
    column, row = _places(trace, rows, columns, _integer(trace, k))
    return trace.convert(apply(trace, np.equal, [column, row]), dtype_of(trace, dtype))


def identity(trace: Trace, n: Any, dtype: Any = None, *, like: Any = None) -> Any:
    return eye(trace, n, dtype=dtype, like=like)


def tri(
    trace: Trace,
    N: Any,
    M: Any = None,
    k: Any = 0,
    dtype: Any = float,
    *,
    like: Any = None,  # noqa: N803
) -> Any:
    if not is_traced(N, M, k, like):
        return np.tri(N, M, k, dtype, like=like)
    refuse_given(trace, "tri", like=like)
    rows, columns = lengths_of(trace, (N, N if M is None else M))
    column, row = _places(trace, rows, columns, _integer(trace, k))
    return trace.convert(apply(trace, np.greater_equal, [column, row]), dtype_of(trace, dtype))


def _triangle(trace: Trace, m: Any, k: Any, lower: bool) -> Tracer:
    operand = trace.lift(m)
    if operand.ndim < 2:
        trace.refuse("argument", "tril or triu of a vector")
    rows, columns = operand.value.type.shape[-2:]
    offset = _integer(trace, k)
    column, row = _places(trace, rows, columns, offset if lower else dims.subtract(offset, 1))
    mask = apply(trace, np.greater_equal, [column, row])
    zero = trace.constant(0, operand.dtype)
    items = [mask, operand, zero] if lower else [mask, zero, operand]
    return trace.emit(select, trace.align(items))


def tril(trace: Trace, m: Any, k: Any = 0) -> Tracer:
    return _triangle(trace, m, k, True)


def triu(trace: Trace, m: Any, k: Any = 0) -> Tracer:
    return _triangle(trace, m, k, False)


def indices(trace: Trace, dimensions: Any, dtype: Any = int, sparse: Any = False) -> Any:
    if not is_traced(dimensions):
        return np.indices(dimensions, dtype, sparse)
    sizes = lengths_of(trace, dimensions)
    target = dtype_of(trace, dtype)
    grids = []
    for axis, size in enumerate(sizes):
        line = counting(trace, size, target)
        own = tuple([size if place == axis else 1 for place in range(len(sizes))])
        grids.append(Tracer(trace, reshaped(trace, line, own).value, "array"))
    if sparse:
        return tuple(grids)
    return stack_nested(
        trace, [Tracer(trace, trace.broadcast(grid, sizes).value, "array") for grid in grids]
    )


def meshgrid(
    trace: Trace, *xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy"
) -> Any:
    if not is_traced(*xi):
        return np.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing)
    if indexing not in ("xy", "ij"):
        trace.refuse("error", "ValueError")
    places = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        places[:2] = [1, 0]
    outputs = []
    for place, item in zip(places, xi, strict=True):
        operand = trace.lift(item)
        total = dims.product(operand.value.type.shape)
        sizes = tuple([total if axis == place else 1 for axis in range(len(xi))])
        outputs.append(reshaped(trace, operand, sizes))
    if not sparse:
        outputs = list(broadcast_arrays(trace, *outputs))
    return tuple([copied(trace, output) for output in outputs]) if copy else tuple(outputs)


# np.array and its relatives


def array(
    trace: Trace, object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: Any = False,
    ndmin: Any = 0, ndmax: Any = 0, like: Any = None,
) -> Any:  # fmt: skip
    if not is_traced(object):
        options = {"copy": copy, "order": order, "subok": subok, "ndmin": ndmin, "like": like}
        return np.array(object, dtype, **options, **({"ndmax": ndmax} if ndmax else {}))
    refuse_order(trace, order)
    refuse_given(trace, "array", like=like)
    if ndmax:
        trace.refuse("argument", "array(ndmax=...)")
    result = _as_array(trace, object, dtype, copy)
    if result.ndim < ndmin:
        result = reshaped(trace, result, (1,) * (ndmin - result.ndim) + result.value.type.shape)
    return result


def _as_array(trace: Trace, item: Any, dtype: Any, copy: Any) -> Tracer:
    """An array of what holds a tracer: itself when it is one already and nothing asks for a copy."""
    target = None if dtype is None else dtype_of(trace, dtype)
    if type(item) in (list, tuple):
        if copy is False:
            trace.refuse("error", "ValueError: Unable to avoid copy")
        return stack_nested(trace, item, target)
    operand = trace.lift(item)
    if target is not None and operand.value.type.dtype != target or operand.kind != "array":
        if copy is False:
            trace.refuse("error", "ValueError: Unable to avoid copy")
        if target is not None:
            operand = trace.convert(operand, target)
        return copied(trace, operand)
    return copied(trace, operand) if copy else operand


def asarray(
    trace: Trace, a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None,
    like: Any = None,
) -> Any:  # fmt: skip
    if not is_traced(a):
        return np.asarray(a, dtype, order, device=device, copy=copy, like=like)
    refuse_order(trace, order)
    refuse_given(trace, "asarray", device=device, like=like)
    return _as_array(trace, a, dtype, copy)


def ascontiguousarray(trace: Trace, a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    if not is_traced(a):
        return np.ascontiguousarray(a, dtype, like=like)
    result = _as_array(trace, a, dtype, None)
    if not result.ndim:
        return reshaped(trace, result, (1,))
    return same_memory(trace, result)  # a copy or not: NumPy decides by the strides


def copy(trace: Trace, a: Any, order: Any = "K", subok: Any = False) -> Tracer:
    refuse_order(trace, order)
    return copied(trace, trace.lift(a))


FUNCTIONS.update(
    {
        np.zeros_like: zeros_like, np.ones_like: ones_like, np.empty_like: empty_like, np.full_like: full_like,
        np.linspace: linspace, np.logspace: logspace, np.geomspace: geomspace, np.tril: tril, np.triu: triu,
        np.meshgrid: meshgrid, np.copy: copy,
    }
)  # fmt: skip
CREATION.update(
    {
        np.zeros: zeros, np.ones: ones, np.empty: empty, np.full: full, np.zeros_like: zeros_like,
        np.ones_like: ones_like, np.empty_like: empty_like, np.full_like: full_like, np.arange: arange,
        np.linspace: linspace, np.logspace: logspace, np.geomspace: geomspace, np.eye: eye,
        np.identity: identity, np.tri: tri, np.indices: indices, np.array: array, np.asarray: asarray,
        np.asanyarray: asarray, np.ascontiguousarray: ascontiguousarray,
    }
)  # fmt: skip
__all__ = ["arange", "axis_of", "counting", "filled", "linspace"]
