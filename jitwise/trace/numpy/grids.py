"""Matrices and grids made of positions: eye, tri, tril, triu, indices, meshgrid.

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
from ..tracer import FUNCTIONS, Tracer
from ..ufuncs import apply
from .arguments import dtype_of, is_traced, lengths_of, refuse_given, refuse_order
from .join import stack_nested
from .ranges import INT, counting
from .shape import broadcast_arrays
from .views import copied, reshaped

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
    refuse_given(trace, "eye", device=device, like=like)
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


FUNCTIONS.update({np.tril: tril, np.triu: triu, np.meshgrid: meshgrid})
CREATION.update({np.eye: eye, np.identity: identity, np.tri: tri, np.indices: indices})
