"""Products of arrays: matmul, dot, inner, outer, vdot, tensordot, kron, cross.

Sums are brought to stacks of matrices, the only form that `dot_general` has:

    x @ y of f64[n, k], f64[k]               ->  y as [k, 1], dot_general, reshape to [n]
    np.tensordot(x, y, axes=([0], [1]))      ->  both to matrices, dot_general, reshape

A sum has no given order: results differ from NumPy's in rounding only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Size
from ...ops.contract import dot_general
from ...ops.movement import reshape as reshape_
from ...ops.movement import transpose as transpose_
from ...ops.reduce import reduce_add, reduce_or
from ..memory import in_c_order
from ..tracer import FUNCTIONS, METHODS, Tracer
from ..ufuncs import GENERALIZED, apply
from .arguments import axis_of, strong
from .elementwise import common_dtype
from .library import stored
from .views import copied

if TYPE_CHECKING:
    from ..tracing import Trace


def shaped(trace: Trace, operand: Tracer, sizes: tuple[Size, ...]) -> Tracer:
    return Tracer(trace, trace.builder.emit(reshape_, (operand._value,), {"sizes": sizes}), "array")


def permuted(trace: Trace, operand: Tracer, permutation: tuple[int, ...]) -> Tracer:
    value = trace.builder.emit(transpose_, (operand._value,), {"permutation": permutation})
    return Tracer(trace, value, "array")


def _result(
    trace: Trace, operand: Tracer, sizes: tuple[Size, ...], kind: str | None = None
) -> Tracer:
    value = trace.builder.emit(reshape_, (operand._value,), {"sizes": sizes})
    return trace.wrap(value, kind)


def _unify(trace: Trace, operand: Tracer, axis: int, size: Size) -> Tracer:
    """`operand` with `size` along `axis`, which must agree in this call."""
    shape = operand._value.type.shape
    if not trace.same_size(shape[axis], size):
        trace.refuse("error", "ValueError: matmul: mismatch in core dimension")
    return shaped(trace, operand, (*shape[:axis], size, *shape[axis + 1 :]))


def _multiplied(trace: Trace, left: Tracer, right: Tracer) -> Tracer:
    """Stacks of matrices [..., M, K] and [..., K, N] of one dtype."""
    inner, shape = left._value.type.shape[-1], right._value.type.shape
    if shape[-2] is not inner:
        right = _unify(trace, right, len(shape) - 2, inner)
    first, second = left._value.type.shape[:-2], right._value.type.shape[:-2]
    if first != second:
        if not second and len(first) == 1:  # one matrix on the right: the stack is one tall matrix
            rows = left._value.type.shape[-2]
            tall = shaped(trace, left, (dims.multiply(first[0], rows), inner))
            product = trace.emit(dot_general, (tall, right), kind="array")
            return shaped(trace, product, (*first, rows, right._value.type.shape[-1]))
        stack = trace.broadcast_shapes([first, second])
        left = trace.broadcast(left, (*stack, *left._value.type.shape[-2:]))
        right = trace.broadcast(right, (*stack, *right._value.type.shape[-2:]))
    return trace.emit(dot_general, (left, right), kind="array")


def matmul(trace: Trace, a: Any, b: Any) -> Tracer:
    """`np.matmul(a, b)`."""
    left, right = trace.lift(a), trace.lift(b)
    first, second = left._value.type, right._value.type
    if not first.shape or not second.shape:
        trace.refuse("error", "ValueError: matmul: operands do not have enough dimensions")
    if first.dtype != second.dtype:
        dtype = common_dtype(trace, [left, right])
        left, right = trace.convert(left, dtype), trace.convert(right, dtype)
    row, column = len(first.shape) == 1, len(second.shape) == 1
    if not row and not column:
        return _multiplied(trace, left, right)
    if row and column and left._value.type.dtype.kind in "biu":  # exact in any order
        right = _unify(trace, right, 0, left._value.type.shape[0])
        products = apply(trace, np.multiply, [left, right])
        primitive = reduce_or if left._value.type.dtype.kind == "b" else reduce_add
        return trace.emit(primitive, (products,), {"axes": (0,)})
    if row:
        left = shaped(trace, left, (1, *left._value.type.shape))
    if column:
        right = shaped(trace, right, (*right._value.type.shape, 1))
    product = _multiplied(trace, left, right)
    sizes = product._value.type.shape
    if row:
        sizes = (*sizes[:-2], sizes[-1])
    if column:
        sizes = sizes[:-1]
    return _result(trace, product, sizes)


def dot(trace: Trace, a: Any, b: Any, out: Any = None) -> Tracer:
    if out is not None:
        result = dot(trace, a, b)
        if isinstance(out, Tracer) and not in_c_order(out):
            trace.refuse("argument", "dot(out=...) of an array that is perhaps not in C order")
        return stored(trace, out, result)
    left, right = trace.lift(a), trace.lift(b)
    if not left.ndim or not right.ndim:
        if left._kind == "python" or right._kind == "python":
            dtype = np.result_type(left.dtype, right.dtype)
            left, right = (
                trace.convert(left, dtype, "scalar"),
                trace.convert(right, dtype, "scalar"),
            )
        return apply(trace, np.multiply, [left, right])
    if right.ndim <= 2:
        return matmul(trace, left, right)
    return tensordot(trace, left, right, ((left.ndim - 1,), (right.ndim - 2,)))


def _conjugated(trace: Trace, operand: Tracer) -> Tracer:
    if operand._value.type.dtype.kind != "c":
        return operand
    return apply(trace, np.conjugate, [operand])


def matvec(trace: Trace, x1: Any, x2: Any, /) -> Tracer:
    """Matrices times vectors."""
    left, right = trace.lift(x1), trace.lift(x2)
    if left.ndim < 2 or not right.ndim:
        trace.refuse("error", "ValueError: matvec: operands do not have enough dimensions")
    product = matmul(trace, left, shaped(trace, right, (*right._value.type.shape, 1)))
    return _result(trace, product, product._value.type.shape[:-1])


def vecmat(trace: Trace, x1: Any, x2: Any, /) -> Tracer:
    """Vectors, conjugated, times matrices."""
    left, right = trace.lift(x1), trace.lift(x2)
    if right.ndim < 2 or not left.ndim:
        trace.refuse("error", "ValueError: vecmat: operands do not have enough dimensions")
    shape = left._value.type.shape
    row = shaped(trace, _conjugated(trace, left), (*shape[:-1], 1, shape[-1]))
    product = matmul(trace, row, right)
    sizes = product._value.type.shape
    return _result(trace, product, (*sizes[:-2], sizes[-1]))


for _name, _handler in {"matvec": matvec, "vecmat": vecmat}.items():
    if hasattr(np, _name):  # NumPy 2.2
        GENERALIZED[getattr(np, _name)] = _handler


def inner(trace: Trace, a: Any, b: Any, /) -> Tracer:
    left, right = trace.lift(a), trace.lift(b)
    if not left.ndim or not right.ndim:
        return dot(trace, left, right)
    if left.ndim == 1 and right.ndim == 1:
        return matmul(trace, left, right)
    return tensordot(trace, left, right, ((left.ndim - 1,), (right.ndim - 1,)))


def _flat(trace: Trace, operand: Tracer) -> Tracer:
    return shaped(trace, operand, (dims.product(operand._value.type.shape),))


def vdot(trace: Trace, a: Any, b: Any, /) -> Tracer:
    left, right = _flat(trace, trace.lift(a)), _flat(trace, trace.lift(b))
    if left._value.type.dtype.kind == "c":
        left = apply(trace, np.conjugate, [left])
    return matmul(trace, left, right)


def outer(trace: Trace, a: Any, b: Any, out: Any = None) -> Tracer:
    if out is not None:
        return stored(trace, out, outer(trace, a, b))
    left, right = _flat(trace, trace.lift(a)), _flat(trace, trace.lift(b))
    column = shaped(trace, left, (*left._value.type.shape, 1))
    row = shaped(trace, right, (1, *right._value.type.shape))
    return apply(trace, np.multiply, [column, row])


def linalg_outer(trace: Trace, x1: Any, x2: Any, /) -> Tracer:
    left, right = trace.lift(x1), trace.lift(x2)
    if left.ndim != 1 or right.ndim != 1:
        trace.refuse("error", "ValueError: Input arrays must be one-dimensional")
    return outer(trace, left, right)


def linalg_matmul(trace: Trace, x1: Any, x2: Any, /) -> Tracer:
    return matmul(trace, x1, x2)


def tensordot(trace: Trace, a: Any, b: Any, axes: Any = 2) -> Tracer:
    left, right = strong(trace, a), strong(trace, b)
    if isinstance(axes, (list, tuple)):
        if len(axes) != 2:
            trace.refuse("error", "ValueError")
        summed = [list(each) if isinstance(each, (list, tuple)) else [each] for each in axes]
    else:
        count = int(axes)
        summed = [list(range(-count, 0)), list(range(count))]
    first = [axis_of(trace, axis, left.ndim) for axis in summed[0]]
    second = [axis_of(trace, axis, right.ndim) for axis in summed[1]]
    if (
        len(first) != len(second)
        or len(set(first)) != len(first)
        or len(set(second)) != len(second)
    ):
        trace.refuse("error", "ValueError: shape-mismatch for sum")
    dtype = common_dtype(trace, [left, right])
    left, right = trace.convert(left, dtype), trace.convert(right, dtype)
    for one, other in zip(first, second, strict=True):
        right = _unify(trace, right, other, left._value.type.shape[one])
    rows = [axis for axis in range(left.ndim) if axis not in first]
    columns = [axis for axis in range(right.ndim) if axis not in second]
    kept = [left._value.type.shape[axis] for axis in rows] + [
        right._value.type.shape[axis] for axis in columns
    ]
    product = trace.emit(
        dot_general,
        (as_matrices(trace, left, [], rows, first), as_matrices(trace, right, [], second, columns)),
        kind="array",
    )
    return _result(trace, product, tuple(kept), "array")


def as_matrices(
    trace: Trace, operand: Tracer, stack: list[int], rows: list[int], columns: list[int]
) -> Tracer:
    """`operand` with its axes in this order, those of each group merged; stack axes stay apart."""
    moved = permuted(trace, operand, (*stack, *rows, *columns))
    shape = operand._value.type.shape
    merged = [dims.product(tuple([shape[axis] for axis in group])) for group in (rows, columns)]
    return shaped(trace, moved, (*[shape[axis] for axis in stack], *merged))


def kron(trace: Trace, a: Any, b: Any) -> Tracer:
    left, right = strong(trace, a), strong(trace, b)
    if not left.ndim or not right.ndim:
        return apply(trace, np.multiply, [left, right])
    ndim = max(left.ndim, right.ndim)
    first = (1,) * (ndim - left.ndim) + left._value.type.shape
    second = (1,) * (ndim - right.ndim) + right._value.type.shape
    wide = shaped(trace, left, tuple([size for each in first for size in (each, 1)]))
    narrow = shaped(trace, right, tuple([size for each in second for size in (1, each)]))
    product = apply(trace, np.multiply, [wide, narrow])
    return _result(trace, product, tuple(map(dims.multiply, first, second)), "array")


def cross(
    trace: Trace,
    a: Any,
    b: Any,
    axisa: Any = -1,
    axisb: Any = -1,
    axisc: Any = -1,
    axis: Any = None,
) -> Tracer:
    from .join import stacked
    from .shape import moveaxis

    if axis is not None:
        axisa = axisb = axisc = axis
    operands = [trace.lift(a), trace.lift(b)]
    dtype = common_dtype(trace, [Tracer(trace, each._value, "scalar") for each in operands])
    parts = []
    for operand, place in zip(operands, (axisa, axisb), strict=True):
        last = axis_of(trace, place, operand.ndim)
        if operand._value.type.shape[last] != 3:
            if not trace.same_size(operand._value.type.shape[last], 3):
                trace.refuse("argument", "cross of vectors that have not 3 components")
        array = trace.convert(copied(trace, operand), dtype)
        order = (last, *[each for each in range(operand.ndim) if each != last])
        first = permuted(trace, array, order)
        parts.append([first[component] for component in range(3)])
    (a0, a1, a2), (b0, b1, b2) = parts
    components = []
    for one, two, three, four in ((a1, b2, a2, b1), (a2, b0, a0, b2), (a0, b1, a1, b0)):
        products = [apply(trace, np.multiply, [one, two]), apply(trace, np.multiply, [three, four])]
        components.append(apply(trace, np.subtract, products))
    result = stacked(trace, components, components[0].ndim)
    return (
        result
        if axisc in (-1, result.ndim - 1)
        else copied(trace, moveaxis(trace, result, -1, axisc))
    )


def multi_dot(trace: Trace, arrays: Any, *, out: Any = None) -> Tracer:
    """The product of several matrices, in the order that is cheapest for the sizes of this call."""
    if len(arrays) < 2:
        trace.refuse("error", "ValueError: Expecting at least two arrays.")
    operands = [trace.lift(each) for each in arrays]
    shapes = [each._value.type.shape for each in operands]
    if len(operands) == 2:
        return dot(trace, operands[0], operands[1], out)
    ends = (shapes[0], shapes[-1])
    if not all(len(s) == 2 for s in shapes[1:-1]) or not all(len(s) in (1, 2) for s in ends):
        trace.refuse("error", "LinAlgError: two-dimensional arrays are required")
    sizes = [1 if len(shapes[0]) == 1 else trace.hint(shapes[0][0])]
    sizes += [trace.hint(shape[0]) for shape in shapes[1:]]
    sizes.append(1 if len(shapes[-1]) == 1 else trace.hint(shapes[-1][-1]))
    result = _product(trace, operands, _splits(sizes), 0, len(operands) - 1)
    return result if out is None else stored(trace, out, result)


def _splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each run of a chain of matrices, of which matrix i is sizes[i] by
    sizes[i + 1], for the fewest multiplications.
    """
    count = len(sizes) - 1
    cost = {(place, place): 0 for place in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for start in range(count - length):
            end = start + length
            costs = [
                cost[start, middle]
                + cost[middle + 1, end]
                + sizes[start] * sizes[middle + 1] * sizes[end + 1]
                for middle in range(start, end)
            ]
            cost[start, end] = min(costs)
            splits[start, end] = start + costs.index(cost[start, end])
    return splits


def _product(
    trace: Trace, operands: list[Tracer], splits: dict[tuple[int, int], int], start: int, end: int
) -> Tracer:
    if start == end:
        return operands[start]
    middle = splits[start, end]
    left = _product(trace, operands, splits, start, middle)
    return dot(trace, left, _product(trace, operands, splits, middle + 1, end))


FUNCTIONS.update(
    {
        np.matmul: matmul,
        np.dot: dot,
        np.inner: inner,
        np.vdot: vdot,
        np.outer: outer,
        np.tensordot: tensordot,
        np.kron: kron,
        np.cross: cross,
        np.linalg.outer: linalg_outer,
        np.linalg.matmul: linalg_matmul,
        np.linalg.tensordot: lambda trace, x1, x2, /, *, axes=2: tensordot(trace, x1, x2, axes),
        np.linalg.multi_dot: multi_dot,
    }
)
METHODS["dot"] = lambda operand, b, out=None: dot(operand._trace, operand, b, out)
