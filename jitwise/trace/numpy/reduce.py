"""Reductions: sum, prod, min, max, any, all, ptp, count_nonzero, and `ufunc.reduce`.

    np.sum(x) of i32[n]              ->  convert to i64, reduce_add{axes=(0,)}
    x.max(axis=-1, keepdims=True)    ->  reduce_max{axes=(1,)}, reshape; guard m - 1 >= 0

A minimum or maximum of nothing raises, so it is refused when a reduced axis is empty in this call,
and guarded otherwise. A sum of floats begins with 0.0, so that one of negative zeros is 0.0, unless
`initial` is -0.0 (or None: then it begins with its first element). What `where=` leaves out is
replaced by what changes nothing. Statistics made of reductions are in `statistics`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.primitive import Primitive
from ...ops import complex_number as complex_rows
from ...ops import reduce as rows
from ...ops.compare import select
from ...ops.promotion import UnsupportedLoop, resolve_reduction
from ..tracer import FUNCTIONS, METHODS, Tracer
from ..ufuncs import REDUCTIONS, apply
from .arguments import NO_VALUE, axes_of, dtype_of, is_kept, is_masked, is_positive
from .elements import as_element
from .library import stored
from .views import copied, reshaped

if TYPE_CHECKING:
    from ..tracing import Trace

BOOL = np.dtype(np.bool_)
INT = np.dtype(np.int64)
HALF = np.dtype(np.float16)


def folded(
    trace: Trace, primitive: Primitive, operand: Tracer, axes: tuple[int, ...], keepdims: bool
) -> Tracer:
    """`primitive` over `axes`: an array, or a NumPy scalar when no axis is left."""
    shape = operand._value.type.shape
    if not trace.active:
        trace.escaped(operand._value)
    if not axes:
        # A sum of one element is not always that element, nor is a product of complex numbers.
        if primitive is rows.reduce_add:
            operand = trace.emit(primitive, (operand,), {"axes": ()}, kind=operand._kind)
        elif primitive is rows.reduce_multiply and operand._value.type.dtype.kind == "c":
            operand = trace.emit(rows.product, (operand,), {"axes": ()}, kind=operand._kind)
        return copied(trace, operand, "array" if shape else "scalar")
    result = trace.emit(primitive, (operand,), {"axes": axes})
    return kept(trace, result, shape, axes) if keepdims else result


def kept(trace: Trace, result: Tracer, shape: tuple, axes: tuple[int, ...]) -> Tracer:
    """A reduced array with its axes of size 1 put back."""
    sizes = tuple([1 if axis in axes else size for axis, size in enumerate(shape)])
    return trace.wrap(reshaped(trace, result, sizes)._value, "array")


def require_items(trace: Trace, operand: Tracer, axes: tuple[int, ...], name: str) -> None:
    """A reduction without identity: no reduced axis may be empty."""
    shape = operand._value.type.shape
    for axis in axes:
        if not is_positive(trace, shape[axis]):
            trace.refuse("error", f"ValueError: zero-size array to reduction operation {name}")


def axes_given(trace: Trace, axis: Any, operand: Tracer) -> tuple[int, ...]:
    """The axes of a ufunc reduction; rank 0 has an axis 0 there."""
    if not operand._value.type.shape and axis in (0, -1):
        return ()
    return axes_of(trace, axis, operand.ndim)


def summed(
    trace: Trace, operand: Tracer, axes: tuple[int, ...], dtype: Any, keepdims: bool
) -> Tracer:
    """`add.reduce`, in NumPy's dtype for it or in `dtype`."""
    return _accumulated(trace, np.add, rows.reduce_add, operand, axes, dtype, keepdims)


def _accumulated(
    trace: Trace,
    ufunc: np.ufunc,
    primitive: Primitive,
    operand: Tracer,
    axes: Any,
    dtype: Any,
    keepdims: bool,
    initial: Any = NO_VALUE,
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

            options = {"axis": axes, "dtype": target, "keepdims": keepdims}
            return method(trace, ufunc, "reduce", (operand,), options)
    operand = trace.convert(operand, target)
    if initial is NO_VALUE:
        return folded(trace, primitive, operand, axes, keepdims)
    result = trace.emit(
        rows.product, (operand, _start(trace, initial, target, "prod")), {"axes": axes}
    )
    return kept(trace, result, operand._value.type.shape, axes) if keepdims else result


def masked(trace: Trace, operand: Tracer, where: Any, filler: Any) -> Tracer:
    """The elements that take part, and `filler`, which changes nothing, in place of the others."""
    mask = trace.lift(where)
    if mask._value.type.dtype != BOOL:
        trace.refuse("error", "TypeError: a mask of bools is required")
    dtype, shape = operand._value.type
    if not trace.fits(mask._value.type.shape, shape):
        trace.refuse("argument", "where= of a larger shape")
    other = as_element(trace, filler, dtype)
    if other.ndim:
        trace.refuse("argument", "initial= of several numbers")
    return trace.emit(select, (trace.broadcast(mask, shape), operand, other), kind=operand._kind)


def _start(trace: Trace, initial: Any, dtype: np.dtype, name: str) -> Tracer:
    """`initial` in the dtype of the result."""
    start = trace.lift(initial)
    if start.ndim or (start._kind != "python" and start._value.type.dtype != dtype):
        trace.refuse("argument", f"{name}(initial=...)")
    return as_element(trace, start, dtype)


def _sum_like(ufunc: np.ufunc, primitive: Primitive, name: str) -> Any:
    def handler(
        trace: Trace,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Tracer:
        operand = trace.lift(a)
        axes = axes_given(trace, axis, operand)
        is_partial = where is not NO_VALUE and is_masked(where)
        if initial is None:
            require_items(trace, operand, axes, ufunc.__name__)
            if is_partial:
                trace.refuse("error", "ValueError: reduction without identity")
        given = {"dtype": dtype, "out": out, "keepdims": keepdims, "initial": initial}
        ordered = ufunc is np.multiply and _in_order(trace, operand, dtype)
        if ordered and _is_numpys(trace, operand, axes, dtype, initial, is_partial):
            return _left(trace, ufunc, a, axis, given | {"where": where})
        if is_partial:
            operand = masked(trace, operand, where, int(ufunc is np.multiply))
        first = initial if ordered and initial is not None else NO_VALUE
        result = _accumulated(
            trace, ufunc, primitive, operand, axes, dtype, is_kept(keepdims), first
        )
        plain = out is None and (initial is NO_VALUE or result._value.type.dtype.kind != "c")
        if not plain and not (_fits(result, out) and _is_plain(ufunc, initial, result, ordered)):
            return _left(trace, ufunc, a, axis, given | {"where": where})
        if ufunc is np.add and (initial is None or _may_be_negative_zero(initial)):
            result = _with_sign(trace, operand, axes, result, is_kept(keepdims))
        if initial is not None and initial is not NO_VALUE and not ordered:
            start = _start(trace, initial, result._value.type.dtype, name)
            result = apply(trace, ufunc, [start, result])
        return result if out is None else stored(trace, out, result)

    handler.__name__ = name
    return handler


def _in_order(trace: Trace, operand: Tracer, dtype: Any) -> bool:
    """Whether a product must be multiplied in NumPy's order."""
    target = operand._value.type.dtype if dtype is None else dtype_of(trace, dtype)
    return target.kind in "fc" and not trace.builder.fastmath


def _is_numpys(
    trace: Trace, operand: Tracer, axes: Any, dtype: Any, initial: Any, is_partial: bool
) -> bool:
    """Whether NumPy must multiply itself: what elements it skips or converts on the way decides in
    what order it takes several axes, when half precision is rounded, and what 1 makes of complex
    infinities.
    """
    source = operand._value.type.dtype
    target = source if dtype is None else dtype_of(trace, dtype)
    if target.kind == "c" and (initial is None or source.kind != "c"):
        return True
    special = target.kind == "c" or target == HALF
    converted = target != source
    return (is_partial or converted) and (special or len(axes) > 1)


def _is_plain(ufunc: np.ufunc, initial: Any, result: Tracer, ordered: bool) -> bool:
    """Whether a product of complex numbers begins with 1: with another number in front, or behind,
    infinities become other ones.
    """
    if ordered or ufunc is np.add or result._value.type.dtype.kind != "c":
        return True
    return initial is NO_VALUE or initial is None


def _fits(result: Tracer, out: Any) -> bool:
    """Whether `out` is of the dtype that the result has without it."""
    return out is None or not isinstance(out, Tracer) or out.dtype == result.dtype


def _left(
    trace: Trace, ufunc: np.ufunc, operand: Any, axis: Any, options: dict[str, Any]
) -> Tracer:
    """`ufunc.reduce`, left to NumPy."""
    from .outside import method

    given = {name: each for name, each in options.items() if each is not NO_VALUE}
    return method(trace, ufunc, "reduce", (operand, axis), given)


def _may_be_negative_zero(initial: Any) -> bool:
    """Whether a sum that begins with `initial` is to keep the sign of zero."""
    if isinstance(initial, Tracer):
        return True
    if not isinstance(initial, (int, float, complex, np.number, np.bool_)):
        return False
    number = complex(initial)
    parts = np.array([number.real, number.imag])
    return bool(np.any(np.signbit(parts) & (parts == 0)))


def _with_sign(
    trace: Trace, operand: Tracer, axes: tuple[int, ...], total: Tracer, keepdims: bool
) -> Tracer:
    """`total`, a sum that began with 0.0, as if it had begun with nothing: -0.0 where nothing but
    -0.0 was added.
    """
    dtype = total._value.type.dtype
    if dtype.kind not in "fc":
        return total
    operand = trace.convert(operand, dtype)
    if dtype.kind == "c":
        parts = [
            _with_sign(
                trace, trace.emit(part, (operand,)), axes, trace.emit(part, (total,)), keepdims
            )
            for part in (complex_rows.real, complex_rows.imag)
        ]
        return trace.emit(complex_rows.complex_, tuple(parts), kind=total._kind)
    negative = folded(trace, rows.reduce_and, apply(trace, np.signbit, [operand]), axes, keepdims)
    is_zero = apply(trace, np.equal, [total, trace.constant(0, dtype)])
    nothing = apply(trace, np.logical_and, [negative, is_zero])
    return trace.emit(select, (nothing, trace.constant(-0.0, dtype), total), kind=total._kind)


sum = _sum_like(np.add, rows.reduce_add, "sum")
prod = _sum_like(np.multiply, rows.reduce_multiply, "prod")


def _extremum(ufunc: np.ufunc, primitive: Primitive, name: str) -> Any:
    def handler(
        trace: Trace,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Tracer:
        operand = trace.lift(a)
        axes = axes_given(trace, axis, operand)
        begins = initial is not NO_VALUE and initial is not None
        if is_masked(where):
            if not begins:
                trace.refuse("error", "ValueError: reduction without identity")
            operand = masked(trace, operand, where, initial)
        if not begins or operand._value.type.dtype.kind == "c":
            require_items(trace, operand, axes, ufunc.__name__)
        result = folded(trace, primitive, operand, axes, is_kept(keepdims))
        if not _fits(result, out):
            given = {"out": out, "keepdims": keepdims, "initial": initial, "where": where}
            return _left(trace, ufunc, a, axis, given)
        if begins:
            start = _start(trace, initial, result._value.type.dtype, name)
            result = apply(trace, ufunc, [start, result])
        return result if out is None else stored(trace, out, result)

    handler.__name__ = name
    return handler


max = _extremum(np.maximum, rows.reduce_max, "max")
min = _extremum(np.minimum, rows.reduce_min, "min")


def _logical(primitive: Primitive, name: str) -> Any:
    def handler(
        trace: Trace,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        *,
        where: Any = NO_VALUE,
    ) -> Tracer:
        operand = trace.convert(trace.lift(a), BOOL)
        axes = axes_given(trace, axis, operand)
        if is_masked(where):
            operand = masked(trace, operand, where, primitive is rows.reduce_and)
        result = folded(trace, primitive, operand, axes, is_kept(keepdims))
        if out is None:
            return result
        return stored(
            trace, out, trace.convert(result, out.dtype) if isinstance(out, Tracer) else result
        )

    handler.__name__ = name
    return handler


any = _logical(rows.reduce_or, "any")
all = _logical(rows.reduce_and, "all")


def ptp(
    trace: Trace, a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE
) -> Tracer:
    operand = trace.lift(a)
    extremes = [each(trace, operand, axis, None, keepdims) for each in (max, min)]
    result = apply(trace, np.subtract, extremes)
    return result if out is None else stored(trace, out, result)


def count_nonzero(trace: Trace, a: Any, axis: Any = None, *, keepdims: Any = False) -> Tracer:
    operand = trace.convert(trace.lift(a), BOOL)
    axes = axes_of(trace, axis, operand.ndim)
    return folded(trace, rows.reduce_add, trace.convert(operand, INT), axes, bool(keepdims))


def nansum(
    trace: Trace,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Tracer:
    return sum(
        trace, _without_nan(trace, trace.lift(a), 0), axis, dtype, out, keepdims, initial, where
    )


def nanprod(
    trace: Trace,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Tracer:
    return prod(
        trace, _without_nan(trace, trace.lift(a), 1), axis, dtype, out, keepdims, initial, where
    )


def _without_nan(trace: Trace, operand: Tracer, replacement: int) -> Tracer:
    if operand._value.type.dtype.kind not in "fc":
        return operand
    missing = apply(trace, np.isnan, [operand])
    filler = trace.constant(replacement, operand._value.type.dtype)
    return trace.emit(select, (missing, filler, operand), kind=operand._kind)


def _reduction(function: Any, takes_dtype: bool) -> Any:
    """`ufunc.reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial, where)`."""

    def handler(
        trace: Trace,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Tracer:
        target = out[0] if type(out) is tuple else out
        options = {} if initial is NO_VALUE else {"initial": initial}
        if takes_dtype:
            options["dtype"] = dtype
        elif dtype is not None:
            trace.refuse("argument", "reduce(dtype=...)")
        options |= {"keepdims": keepdims, "where": where, "out": target}
        return function(trace, array, axis, **options)

    return handler


def _method(function: Any) -> Any:
    return lambda operand, *args, **options: function(operand._trace, operand, *args, **options)


FUNCTIONS.update(
    {
        np.sum: sum,
        np.prod: prod,
        np.max: max,
        np.min: min,
        np.amax: max,
        np.amin: min,
        np.any: any,
        np.all: all,
        np.ptp: ptp,
        np.count_nonzero: count_nonzero,
        np.nansum: nansum,
        np.nanprod: nanprod,
    }
)
REDUCTIONS.update(
    {
        np.add: _reduction(sum, True),
        np.multiply: _reduction(prod, True),
        np.maximum: _reduction(max, False),
        np.minimum: _reduction(min, False),
        np.logical_or: _reduction(any, False),
        np.logical_and: _reduction(all, False),
    }
)
METHODS.update(
    {
        name: _method(function)
        for name, function in {
            "sum": sum,
            "prod": prod,
            "max": max,
            "min": min,
            "any": any,
            "all": all,
        }.items()
    }
)
