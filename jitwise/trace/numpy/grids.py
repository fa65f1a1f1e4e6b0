"""Matrices and grids made of positions: eye, tri, tril, triu, diag, indices, meshgrid.

np.eye(n)     ->  iota as a column, iota as a row, equal, convert
np.triu(x)    ->  greater_equal of two iotas, select
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ops.compare import select
from ...ops.movement import iota
from ..namespace import CREATION
from ..size import size_of
from ..tracer import FUNCTIONS, METHODS, Tracer
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
    require_cpu,
)
from .create import filled
from .index import getitem
from .join import joined, stack_nested
from .ranges import INT, counting
from .reduce import sum as sum_
from .shape import broadcast_arrays, transposed
from .views import copied, cut, reshaped

if TYPE_CHECKING:
    from ..tracing import Trace


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
    trace: Trace,
    N: Any,  # noqa: N803
    M: Any = None,  # noqa: N803
    k: Any = 0,
    dtype: Any = float,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    if not is_traced(N, M, k, like):
        return np.eye(N, M, k, dtype, order, device=device, like=like)
    refuse_order(trace, order, ("C",))
    require_cpu(trace, device)
    refuse_given(trace, "eye", like=like)
    rows, columns = lengths_of(trace, (N, N if M is None else M))
    column, row = _places(trace, rows, columns, _integer(trace, k))
    return trace.convert(apply(trace, np.equal, [column, row]), dtype_of(trace, dtype))


def identity(trace: Trace, n: Any, dtype: Any = None, *, like: Any = None) -> Any:
    return eye(trace, n, dtype=dtype, like=like)


def tri(
    trace: Trace,
    N: Any,  # noqa: N803
    M: Any = None,  # noqa: N803
    k: Any = 0,
    dtype: Any = float,
    *,
    like: Any = None,
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
    rows, columns = operand._value.type.shape[-2:]
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
        grids.append(Tracer(trace, reshaped(trace, line, own)._value, "array"))
    if sparse:
        return tuple(grids)
    return stack_nested(
        trace, [Tracer(trace, trace.broadcast(grid, sizes)._value, "array") for grid in grids]
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
        total = dims.product(operand._value.type.shape)
        sizes = tuple([total if axis == place else 1 for axis in range(len(xi))])
        outputs.append(reshaped(trace, operand, sizes))
    if not sparse:
        outputs = list(broadcast_arrays(trace, *outputs))
    return tuple([copied(trace, output) for output in outputs]) if copy else tuple(outputs)


# Diagonals


def diagonal(trace: Trace, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tracer:
    operand = trace.lift(a)
    ndim = operand.ndim
    if ndim < 2:
        trace.refuse("error", "ValueError: diag requires an array of at least two dimensions")
    first, second = axis_of(trace, axis1, ndim), axis_of(trace, axis2, ndim)
    if first == second:
        trace.refuse("error", "ValueError: axis1 and axis2 cannot be the same")
    order = (*[axis for axis in range(ndim) if axis not in (first, second)], first, second)
    moved = transposed(trace, copied(trace, operand), order)
    shift = _integer(trace, offset)
    if is_nonnegative(trace, shift):
        part = getitem(moved, (Ellipsis, slice(trace.expose(shift), None)))
    else:
        part = getitem(moved, (Ellipsis, slice(trace.expose(-shift), None), slice(None)))
    result = _main_diagonal(trace, part)
    operand._shared = result._shared = True  # a read-only view
    return result


def _main_diagonal(trace: Trace, operand: Tracer) -> Tracer:
    """The diagonal of an n by n square is a column of its first n*n - 1 items in rows of n + 1."""
    *rest, rows, columns = operand._value.type.shape
    length = rows if is_nonnegative(trace, dims.subtract(columns, rows)) else columns
    if not is_positive(trace, length):
        trace.refuse_swapped(operand._value)
        return filled(trace, trace.constant(0, operand._value.type.dtype), (*rest, 0))
    corner = slice(None, trace.expose(length))
    square = getitem(operand, (Ellipsis, corner, corner))
    items = dims.multiply(length, length)
    flat = copied(trace, reshaped(trace, square, (*rest, items)))
    before = dims.subtract(length, 1)
    axis = len(rest)
    most = cut(trace, flat, axis, 0, dims.subtract(items, 1))
    table = reshaped(trace, most, (*rest, before, dims.add(length, 1)))
    column = reshaped(trace, cut(trace, table, axis + 1, 0, 1), (*rest, before))
    return joined(trace, [column, cut(trace, flat, axis, dims.subtract(items, 1), 1)], axis)


def diag(trace: Trace, v: Any, k: Any = 0) -> Tracer:
    operand = trace.lift(v)
    if operand.ndim == 2:
        return diagonal(trace, operand, k)
    if operand.ndim != 1:
        trace.refuse("error", "ValueError: Input must be 1- or 2-d.")
    trace.refuse_swapped(operand._value)
    shift = _integer(trace, k)
    if not isinstance(shift, int):
        shift = trace.number(shift)
    length = operand._value.type.shape[0]
    size = dims.add(length, abs(shift))
    column, row = _places(trace, size, size, shift)
    zeros = filled(trace, trace.constant(0, operand.dtype), (abs(shift),))
    spread = joined(trace, [zeros, operand] if shift > 0 else [operand, zeros], 0)
    mask = apply(trace, np.equal, [column, row])
    if shift == 0:
        spread = Tracer(trace, operand._value, "array")
    spread = Tracer(
        trace, trace.broadcast(spread, (size, *spread._value.type.shape))._value, "array"
    )
    return trace.emit(select, trace.align([mask, spread, trace.constant(0, operand.dtype)]))


def trace_of(
    trace: Trace,
    a: Any,
    offset: Any = 0,
    axis1: Any = 0,
    axis2: Any = 1,
    dtype: Any = None,
    out: Any = None,
) -> Tracer:
    items = diagonal(trace, copied(trace, trace.lift(a)), offset, axis1, axis2)
    return sum_(trace, items, -1, dtype, out)


def diagflat(trace: Trace, v: Any, k: Any = 0) -> Tracer:
    operand = copied(trace, trace.lift(v))
    size = dims.product(operand._value.type.shape)
    return diag(trace, copied(trace, reshaped(trace, operand, (size,))), k)


# Positions of diagonals and triangles: their number is known where the sizes are


def _fixed(trace: Trace, arr: Any) -> tuple[int, ...]:
    """The shape of an array, every size of which becomes a guard."""
    return tuple(map(trace.number, trace.lift(arr)._value.type.shape))


def diag_indices_from(trace: Trace, arr: Any) -> tuple:
    sizes = _fixed(trace, arr)
    if len(sizes) < 2 or len(set(sizes)) > 1:
        trace.refuse("error", "ValueError: all dimensions of input must be of equal length")
    return np.diag_indices(sizes[0], len(sizes))


def _triangle_from(function: Any) -> Any:
    def handler(trace: Trace, arr: Any, k: Any = 0) -> tuple:
        sizes = _fixed(trace, arr)
        if len(sizes) != 2:
            trace.refuse("error", "ValueError: input array must be 2-d")
        return function(sizes[0], k=_integer_now(trace, k), m=sizes[1])

    return handler


def _integer_now(trace: Trace, item: Any) -> int:
    return trace.number(_integer(trace, item))


FUNCTIONS.update({np.diagonal: diagonal, np.diag: diag, np.trace: trace_of})
FUNCTIONS.update({np.diagflat: diagflat, np.diag_indices_from: diag_indices_from})
for _function, _from in (
    (np.tril_indices, np.tril_indices_from),
    (np.triu_indices, np.triu_indices_from),
):
    FUNCTIONS[_from] = _triangle_from(_function)
METHODS["trace"] = lambda operand, *args, **options: trace_of(
    operand._trace, operand, *args, **options
)
METHODS["diagonal"] = lambda operand, offset=0, axis1=0, axis2=1: diagonal(
    operand._trace, operand, offset, axis1, axis2
)
FUNCTIONS.update({np.tril: tril, np.triu: triu, np.meshgrid: meshgrid})
CREATION.update({np.eye: eye, np.identity: identity, np.tri: tri, np.indices: indices})
