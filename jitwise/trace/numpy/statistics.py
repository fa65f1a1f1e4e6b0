"""Statistics by reductions, with NumPy's own steps: mean, var, std, average, norm, softmax-like
compositions need nothing more.

    np.mean(x) of f32[n]   ->  reduce_add, convert to f64, divide by n, convert to f32; guard n >= 1
    np.var(x) of f64[n]    ->  mean with kept axes, subtract, square, reduce_add, divide by n - ddof

The number of items is an int64 to NumPy, so that a division of float32 happens in float64. With
`where=` the items are counted: to divide by none is invalid, so that NumPy says what it has to say
of it. Of too few items without it NumPy warns: the function runs as Python for such a call, so that
each warning comes once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...ir import dims
from ...ir.dims import Size
from ...ops import complex_number as complex_rows
from ...ops import reduce as rows
from ..size import SizeTracer
from ..tracer import FUNCTIONS, METHODS, Tracer
from ..ufuncs import apply
from .arguments import NO_VALUE, axes_of, axis_of, dtype_of, is_kept, is_masked, is_positive
from .contract import matmul
from .library import left_to_numpy
from .reduce import axes_given, folded, masked, summed
from .views import copied, reshaped

if TYPE_CHECKING:
    from ..tracing import Trace

HALF, SINGLE, DOUBLE = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)


def number_of(trace: Trace, size: Size) -> Tracer:
    """A size as the int64 scalar that NumPy divides by."""
    if isinstance(size, int):
        return trace.constant(size, np.dtype(np.int64))
    operand = trace.lift(SizeTracer(trace, size))
    return Tracer(trace, operand._value, "scalar")


def divided(trace: Trace, operand: Tracer, count: Tracer) -> Tracer:
    """`np.true_divide(operand, count, out=operand, casting="unsafe")`."""
    quotient = apply(trace, np.true_divide, [operand, count])
    return trace.convert(quotient, operand._value.type.dtype)


def _items(operand: Tracer, axes: tuple[int, ...]) -> Size:
    shape = operand._value.type.shape
    return dims.product(tuple([shape[axis] for axis in axes]))


def _left(trace: Trace, function: Any, operand: Tracer, options: dict[str, Any]) -> Tracer:
    """What is unusual (`out=`, dtypes) is left to NumPy."""
    given = {name: each for name, each in options.items() if each is not NO_VALUE}
    return left_to_numpy(trace, function, (operand,), given)


def require_enough(trace: Trace, items: Size, name: str) -> None:
    """End the trace where NumPy warns of too few items."""
    if not is_positive(trace, items):
        trace.refuse("size", f"{name} of too few items, of which NumPy warns")


class _Items(NamedTuple):
    """Which items there are, and how many along the axes: a size, or a count with kept axes."""

    axes: tuple[int, ...]
    where: Any
    count: Any

    def taken(self, trace: Trace, operand: Tracer) -> Tracer:
        """`operand` with zeros for what is left out."""
        return operand if self.where is None else masked(trace, operand, self.where, 0)

    def require_more_than(self, trace: Trace, degrees: int) -> None:
        """Look at the counts: of too few NumPy warns."""
        if self.where is not None:
            enough = apply(trace, np.greater, [self.count, degrees])
            trace.check(trace.lift(np.all(enough)), "too few items")

    def less(self, trace: Trace, degrees: int, keepdims: bool) -> Tracer:
        """What NumPy divides by."""
        if self.where is None:
            return number_of(trace, dims.subtract(self.count, degrees))
        count = self.count if keepdims else _dropped(trace, self.count, self.axes)
        if not degrees:
            return count
        integer = np.dtype(np.int64)
        less = apply(trace, np.subtract, [count, trace.constant(degrees, integer)])
        return apply(trace, np.maximum, [less, trace.constant(0, integer)])


def _dropped(trace: Trace, operand: Tracer, axes: tuple[int, ...]) -> Tracer:
    shape = operand._value.type.shape
    kept = tuple([size for axis, size in enumerate(shape) if axis not in axes])
    return trace.wrap(reshaped(trace, operand, kept)._value)


def _is_countable(trace: Trace, operand: Tracer, where: Any) -> bool:
    """Whether `where` says which items of an array there are."""
    mask, shape = trace.lift(where), operand._value.type.shape
    return (
        bool(shape)
        and mask._value.type.dtype == np.bool_
        and trace.fits(mask._value.type.shape, shape)
    )


def _items_of(trace: Trace, operand: Tracer, axes: tuple[int, ...], where: Any) -> _Items:
    if not is_masked(where):
        return _Items(axes, None, _items(operand, axes))
    mask, integer = trace.lift(where), np.dtype(np.int64)
    whole = trace.convert(trace.broadcast(mask, operand._value.type.shape), integer)
    count = folded(trace, rows.reduce_add, whole, axes, True)
    return _Items(axes, mask, count)


def mean(
    trace: Trace,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
) -> Tracer:
    operand = trace.lift(a)
    axes = axes_of(trace, axis, operand.ndim)
    own = operand._value.type.dtype
    target = None if dtype is None else dtype_of(trace, dtype)
    if target is not None and own.kind == "c" and target.kind not in "cb":
        trace.refuse("argument", "a mean of complex numbers in a real dtype")  # NumPy warns
    unusual = target is not None and target.kind not in "fc"
    if not is_masked(where):
        require_enough(trace, _items(operand, axes), "mean")
    else:
        unusual = unusual or not _is_countable(trace, operand, where)
    if unusual or out is not None:
        options = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims, "where": where}
        return _left(trace, np.mean, operand, options)
    dtype = target
    items = _items_of(trace, operand, axes, where)
    items.require_more_than(trace, 0)
    operand, count = items.taken(trace, operand), items.less(trace, 0, is_kept(keepdims))
    if own.kind in "biu" and dtype in (None, DOUBLE):
        total = _integer_total(trace, operand, axes, is_kept(keepdims))
        return divided(trace, total, count)
    if dtype is None and own == HALF:
        total = summed(trace, operand, axes, SINGLE, is_kept(keepdims))
        quotient = apply(trace, np.true_divide, [total, count])
        if quotient._kind == "array":
            quotient = trace.convert(quotient, SINGLE)
        return trace.convert(quotient, HALF)
    total = summed(trace, operand, axes, dtype, is_kept(keepdims))
    return divided(trace, total, count)


def _integer_total(trace: Trace, operand: Tracer, axes: tuple[int, ...], keepdims: bool) -> Tracer:
    """The sum of integers in float64, rounded where it is made from its two halves and nowhere
    else: halves of 2**31 numbers sum without overflow.
    """
    own = operand._value.type.dtype
    if own.itemsize < 8:
        total = summed(trace, operand, axes, np.dtype(np.int64), keepdims)
        return trace.convert(total, DOUBLE)
    bits = trace.constant(32, own)
    high = apply(trace, np.right_shift, [operand, bits])
    low = apply(trace, np.bitwise_and, [operand, trace.constant(2**32 - 1, own)])
    upper, lower = (
        trace.convert(summed(trace, half, axes, None, keepdims), DOUBLE) for half in (high, low)
    )
    return apply(
        trace, np.add, [apply(trace, np.multiply, [upper, trace.constant(2.0**32, DOUBLE)]), lower]
    )


def _deviations(trace: Trace, operand: Tracer, dtype: Any, items: _Items) -> Tracer:
    """Squares of the distances to the mean."""
    taken = items.taken(trace, operand)
    if dtype == DOUBLE and operand._value.type.dtype.kind in "biu":
        total = _integer_total(trace, taken, items.axes, True)
    else:
        total = summed(trace, taken, items.axes, dtype, True)
    center = divided(trace, total, items.less(trace, 0, True))
    distance = apply(trace, np.subtract, [operand, center])
    if distance._value.type.dtype.kind != "c":
        return apply(trace, np.square, [distance])
    parts = [trace.emit(part, (distance,)) for part in (complex_rows.real, complex_rows.imag)]
    return apply(trace, np.add, [apply(trace, np.square, [part]) for part in parts])


def var(
    trace: Trace,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Tracer:
    options = {"axis": axis, "dtype": dtype, "out": out, "ddof": ddof, "keepdims": keepdims}
    options |= {"where": where, "mean": mean, "correction": correction}
    operand = trace.lift(a)
    counted = is_masked(where)
    if counted and (not _is_countable(trace, operand, where) or isinstance(ddof, SizeTracer)):
        return _left(trace, np.var, operand, options)
    if out is not None or mean is not NO_VALUE:
        return _left(trace, np.var, operand, options)
    if correction is not NO_VALUE:
        if type(ddof) is not int or ddof != 0:
            trace.refuse("error", "ValueError")
        ddof = correction
    if isinstance(ddof, float) and ddof == int(ddof):
        ddof = int(ddof)
    if not isinstance(ddof, int):
        trace.refuse("argument", f"var(ddof={ddof!r})")
    axes = axes_of(trace, axis, operand.ndim)
    size = _items(operand, axes)
    degrees = dims.subtract(size, ddof.size if isinstance(ddof, SizeTracer) else int(ddof))
    if not counted:
        require_enough(trace, size, "var")
        require_enough(trace, degrees, "var")
    if dtype is not None:
        dtype = dtype_of(trace, dtype)
        if operand._value.type.dtype.kind == "c":
            trace.refuse("argument", "var of complex numbers in a dtype")  # NumPy warns
        if dtype.kind != "f":
            return _left(trace, np.var, operand, options)
    elif operand._value.type.dtype.kind in "biu":
        dtype = DOUBLE
    items = _items_of(trace, operand, axes, where)
    items.require_more_than(trace, ddof)
    squares = _deviations(trace, operand, dtype, items)
    total = summed(
        trace,
        items.taken(trace, squares),
        axes,
        None if squares.dtype.kind == "f" and dtype is None else dtype,
        is_kept(keepdims),
    )
    count = items.less(trace, ddof, is_kept(keepdims)) if counted else number_of(trace, degrees)
    return divided(trace, total, count)


def std(
    trace: Trace,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = NO_VALUE,
    **others: Any,
) -> Tracer:
    if out is not None or others.get("mean", NO_VALUE) is not NO_VALUE:
        options = {"axis": axis, "dtype": dtype, "out": out, "ddof": ddof, "keepdims": keepdims}
        return _left(trace, np.std, trace.lift(a), options | others)
    variance = var(trace, a, axis, dtype, None, ddof, keepdims, **others)
    return trace.convert(apply(trace, np.sqrt, [variance]), variance._value.type.dtype)


def _weight_of(trace: Trace, operand: Tracer, axis: Any, weights: Any, found: Tracer) -> Tracer:
    """The weights that an average divides by, in its shape."""
    dtype, shape = found._value.type
    if weights is None:
        whole, part = dims.product(operand._value.type.shape), dims.product(shape)
        count = number_of(trace, dims.floor_divide(whole, part))
        return trace.wrap(trace.broadcast(trace.convert(count, dtype), shape)._value)
    weight = trace.lift(weights)
    if weight.ndim != operand.ndim:
        axis = None
    axes = axes_given(trace, axis, weight)
    scale = summed(trace, trace.convert(weight, dtype), axes, dtype, False)
    if scale.ndim not in (0, len(shape)):
        trace.refuse("argument", "average(returned=True) of these shapes")
    return trace.wrap(trace.broadcast(scale, shape)._value)


def average(
    trace: Trace,
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: Any = False,
    *,
    keepdims: Any = NO_VALUE,
) -> Any:
    operand = trace.lift(a)
    if returned:
        found = average(trace, operand, axis, weights, keepdims=keepdims)
        return found, _weight_of(trace, operand, axis, weights, found)
    if weights is None:
        found = mean(trace, operand, axis, None, None, keepdims)
        if trace.is_zero(dims.product(found._value.type.shape)):
            trace.refuse("error", "ZeroDivisionError")
        return found
    weight = copied(trace, trace.lift(weights))
    shape = operand._value.type.shape
    if operand._value.type.dtype.kind in "biu":
        common = np.result_type(operand.dtype, weight.dtype, np.float64)
    else:
        common = np.result_type(operand.dtype, weight.dtype)
    if weight.ndim != operand.ndim:
        if axis is None or type(axis) is tuple or weight.ndim != 1:
            trace.refuse("argument", "average with weights of another shape")
        place = axis_of(trace, axis, operand.ndim)
        if not trace.same_size(weight._value.type.shape[0], shape[place]):
            trace.refuse("error", "ValueError: shape of weights must be consistent")
        sizes = tuple([shape[place] if each == place else 1 for each in range(operand.ndim)])
        weight = Tracer(trace, reshaped(trace, weight, sizes)._value, "array")
    elif not all(map(trace.same_size, weight._value.type.shape, shape)):
        trace.refuse("error", "TypeError: shapes of a and weights differ")
    axes = axes_given(trace, axis, operand)
    scale = summed(trace, weight, axes, common, is_kept(keepdims))
    nonzero = apply(trace, np.not_equal, [scale, trace.constant(0, scale.dtype)])
    trace.check(
        folded(trace, rows.reduce_and, nonzero, tuple(range(nonzero.ndim)), False),
        "weights that sum to zero",
    )
    product = apply(
        trace, np.multiply, [trace.convert(operand, common), trace.convert(weight, common)]
    )
    return apply(
        trace, np.true_divide, [summed(trace, product, axes, None, is_kept(keepdims)), scale]
    )


def norm(trace: Trace, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Tracer:
    given = operand = trace.lift(x)
    if operand._value.type.dtype.kind not in "fc":
        operand = trace.convert(operand, DOUBLE, "array" if operand.ndim else "scalar")
    ndim = operand.ndim
    keep = bool(keepdims)
    if axis is None and (
        ord is None or (ndim == 1 and ord == 2) or (ndim == 2 and ord in ("f", "fro"))
    ):
        return _euclidean(trace, operand, tuple(range(ndim)), keep, True)
    axes = axes_of(trace, axis, ndim)
    if len(axes) == 1:
        if ord is None or ord == 2:
            return _euclidean(trace, operand, axes, keep, False)
        if ord not in (1, 0, np.inf, -np.inf):
            return _left(trace, np.linalg.norm, given, _norm_options(ord, axis, keepdims))
        if abs(ord) != np.inf or is_positive(trace, operand._value.type.shape[axes[0]]):
            return _vector_norm(trace, operand, ord, axes, keep)
    if len(axes) == 2 and (ord is None or ord in ("f", "fro")):
        return _euclidean(trace, operand, axes, keep, False)
    elif len(axes) == 2 and ord in (1, -1, np.inf, -np.inf):
        pair = (0, 1) if axis is None else tuple([axis_of(trace, each, ndim) for each in axis])
        if is_positive(trace, operand._value.type.shape[pair[abs(ord) == 1]]):
            return _matrix_norm(trace, operand, ord, pair, keep)
    return _left(trace, np.linalg.norm, given, _norm_options(ord, axis, keepdims))


def _norm_options(ord: Any, axis: Any, keepdims: Any) -> dict[str, Any]:
    return {"ord": ord, "axis": axis, "keepdims": keepdims}


def _euclidean(
    trace: Trace, operand: Tracer, axes: tuple[int, ...], keep: bool, single: bool
) -> Tracer:
    """The root of the sum of squares. NumPy's dot product of float16 (`single`) adds in float32."""
    dtype = operand._value.type.dtype
    if dtype.kind == "c":
        parts = [trace.emit(part, (operand,)) for part in (complex_rows.real, complex_rows.imag)]
        squares = apply(trace, np.add, [apply(trace, np.multiply, [part, part]) for part in parts])
    else:
        # A vector that lies in memory is left to the library, which NumPy uses; what is computed on
        # the way is summed on the way.
        if single and not keep and operand.ndim == 1 and _is_stored(operand):
            return apply(trace, np.sqrt, [matmul(trace, operand, operand)])
        if single and dtype == HALF:
            operand = trace.convert(operand, SINGLE)
        squares = apply(trace, np.multiply, [operand, operand])
    total = summed(trace, squares, axes, None, keep)
    if single and dtype == HALF:
        total = trace.convert(total, HALF)
    return apply(trace, np.sqrt, [total])


def _is_stored(operand: Tracer) -> bool:
    """An argument of a type that BLAS multiplies."""
    return operand._value.op is None and operand._value.type.dtype in (SINGLE, DOUBLE)


def _vector_norm(
    trace: Trace, operand: Tracer, ord: Any, axes: tuple[int, ...], keep: bool
) -> Tracer:
    from . import reduce

    if ord == np.inf or ord == -np.inf:
        sizes = apply(trace, np.absolute, [operand])
        return (reduce.max if ord > 0 else reduce.min)(trace, sizes, axes, None, keep)
    if ord == 1:
        return summed(trace, apply(trace, np.absolute, [operand]), axes, None, keep)
    if ord == 0:
        nonzero = apply(trace, np.not_equal, [operand, trace.constant(0, operand.dtype)])
        real = complex_rows.PARTS.get(operand.dtype, operand.dtype)
        return summed(trace, trace.convert(nonzero, real), axes, None, keep)
    return trace.refuse("argument", f"norm(ord={ord!r})")


def _matrix_norm(
    trace: Trace, operand: Tracer, ord: Any, axes: tuple[int, ...], keep: bool
) -> Tracer:
    """The largest or smallest sum of sizes over the columns (1) or the rows (inf)."""
    from . import reduce

    inner, outer = axes if abs(ord) == 1 else axes[::-1]
    sums = summed(trace, apply(trace, np.absolute, [operand]), (inner,), None, True)
    result = (reduce.max if ord > 0 else reduce.min)(trace, sums, outer, None, True)
    if keep:
        return result
    rest = [size for axis, size in enumerate(result._value.type.shape) if axis not in axes]
    return trace.wrap(reshaped(trace, result, tuple(rest))._value)


def _method(function: Any) -> Any:
    return lambda operand, *args, **options: function(operand._trace, operand, *args, **options)


FUNCTIONS.update(
    {
        np.mean: mean,
        np.var: var,
        np.std: std,
        np.average: average,
        np.linalg.norm: norm,
    }
)
METHODS.update({"mean": _method(mean), "var": _method(var), "std": _method(std)})
