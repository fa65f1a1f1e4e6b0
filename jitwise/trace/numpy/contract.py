"""Products that sum over axes: matmul, dot, inner, outer, vdot, tensordot, einsum, kron, cross, trace of products.

Everything is brought to stacks of matrices, the only form that `dot_general` has:

    x @ y of f64[n, k], f64[k]               ->  y as [k, 1], dot_general, reshape to [n]
    np.tensordot(x, y, axes=([0], [1]))      ->  transpose and reshape both to matrices, dot_general, reshape
    np.einsum("bij,bkj->bik", x, y)          ->  transpose y to [b, j, k], dot_general
    np.einsum("ij,ij->i", x, y)              ->  multiply, reduce_add: there is no matrix in it

A sum has no given order: results differ from NumPy's in rounding only. An index that occurs twice in one operand
(`np.einsum("ii->i", x)`) ends the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Size
from ...ops.contract import dot_general
from ...ops.movement import reshape as reshape_
from ...ops.movement import transpose as transpose_
from ...ops.reduce import reduce_add, reduce_or
from ..tracer import FUNCTIONS, METHODS, Tracer
from ..ufuncs import apply
from .arguments import axis_of
from .elementwise import common_dtype
from .views import copied

if TYPE_CHECKING:
    from ..tracing import Trace


def _reshape(trace: Trace, operand: Tracer, sizes: tuple[Size, ...]) -> Tracer:
    return Tracer(trace, trace.builder.emit(reshape_, (operand.value,), {"sizes": sizes}), "array")


def _transpose(trace: Trace, operand: Tracer, permutation: tuple[int, ...]) -> Tracer:
    value = trace.builder.emit(transpose_, (operand.value,), {"permutation": permutation})
    return Tracer(trace, value, "array")


def _result(
    trace: Trace, operand: Tracer, sizes: tuple[Size, ...], kind: str | None = None
) -> Tracer:
    value = trace.builder.emit(reshape_, (operand.value,), {"sizes": sizes})
    return trace.wrap(value, kind)


def _unify(trace: Trace, operand: Tracer, axis: int, size: Size) -> Tracer:
    """`operand` with `size` along `axis`, which must agree in this call."""
    shape = operand.value.type.shape
    if not trace.same_size(shape[axis], size):
        trace.refuse("error", "ValueError: matmul: mismatch in core dimension")
    return _reshape(trace, operand, (*shape[:axis], size, *shape[axis + 1 :]))


def _multiplied(trace: Trace, left: Tracer, right: Tracer) -> Tracer:
    """Stacks of matrices [..., M, K] and [..., K, N] of one dtype."""
    inner = left.value.type.shape[-1]
    right = _unify(trace, right, right.ndim - 2, inner)
    first, second = left.value.type.shape[:-2], right.value.type.shape[:-2]
    if first != second:
        if not second and len(first) == 1:  # one matrix on the right: the stack is one tall matrix
            rows = left.value.type.shape[-2]
            tall = _reshape(trace, left, (dims.multiply(first[0], rows), inner))
            product = trace.emit(dot_general, (tall, right), kind="array")
            return _reshape(trace, product, (*first, rows, right.value.type.shape[-1]))
        stack = trace.broadcast_shapes([first, second])
        left = trace.broadcast(left, (*stack, *left.value.type.shape[-2:]))
        right = trace.broadcast(right, (*stack, *right.value.type.shape[-2:]))
    return trace.emit(dot_general, (left, right), kind="array")


def matmul(trace: Trace, a: Any, b: Any) -> Tracer:
    """`np.matmul(a, b)`."""
    left, right = trace.lift(a), trace.lift(b)
    if not left.ndim or not right.ndim:
        trace.refuse("error", "ValueError: matmul: operands do not have enough dimensions")
    dtype = common_dtype(trace, [left, right])
    left, right = trace.convert(left, dtype), trace.convert(right, dtype)
    row, column = left.ndim == 1, right.ndim == 1
    if row:
        left = _reshape(trace, left, (1, *left.value.type.shape))
    if column:
        right = _reshape(trace, right, (*right.value.type.shape, 1))
    product = _multiplied(trace, left, right)
    sizes = product.value.type.shape
    if row:
        sizes = (*sizes[:-2], sizes[-1])
    if column:
        sizes = sizes[:-1]
    return _result(trace, product, sizes)


def dot(trace: Trace, a: Any, b: Any, out: Any = None) -> Tracer:
    if out is not None:
        trace.refuse("argument", "dot(out=...)")
    left, right = trace.lift(a), trace.lift(b)
    if not left.ndim or not right.ndim:
        if left.kind == "python" or right.kind == "python":
            dtype = np.result_type(left.dtype, right.dtype)
            left, right = (
                trace.convert(left, dtype, "scalar"),
                trace.convert(right, dtype, "scalar"),
            )
        return apply(trace, np.multiply, [left, right])
    if right.ndim <= 2:
        return matmul(trace, left, right)
    return tensordot(trace, left, right, ((left.ndim - 1,), (right.ndim - 2,)))


def inner(trace: Trace, a: Any, b: Any, /) -> Tracer:
    left, right = trace.lift(a), trace.lift(b)
    if not left.ndim or not right.ndim:
        return dot(trace, left, right)
    if left.ndim == 1 and right.ndim == 1:
        return matmul(trace, left, right)
    return tensordot(trace, left, right, ((left.ndim - 1,), (right.ndim - 1,)))


def _flat(trace: Trace, operand: Tracer) -> Tracer:
    return _reshape(trace, operand, (dims.product(operand.value.type.shape),))


def vdot(trace: Trace, a: Any, b: Any, /) -> Tracer:
    left, right = _flat(trace, trace.lift(a)), _flat(trace, trace.lift(b))
    return matmul(trace, apply(trace, np.conjugate, [left]), right)


def outer(trace: Trace, a: Any, b: Any, out: Any = None) -> Tracer:
    if out is not None:
        trace.refuse("argument", "outer(out=...)")
    left, right = _flat(trace, trace.lift(a)), _flat(trace, trace.lift(b))
    column = _reshape(trace, left, (*left.value.type.shape, 1))
    row = _reshape(trace, right, (1, *right.value.type.shape))
    return apply(trace, np.multiply, [column, row])


def linalg_outer(trace: Trace, x1: Any, x2: Any, /) -> Tracer:
    left, right = trace.lift(x1), trace.lift(x2)
    if left.ndim != 1 or right.ndim != 1:
        trace.refuse("error", "ValueError: Input arrays must be one-dimensional")
    return outer(trace, left, right)


def linalg_matmul(trace: Trace, x1: Any, x2: Any, /) -> Tracer:
    return matmul(trace, x1, x2)


def tensordot(trace: Trace, a: Any, b: Any, axes: Any = 2) -> Tracer:
    left, right = trace.lift(a), trace.lift(b)
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
        right = _unify(trace, right, other, left.value.type.shape[one])
    rows = [axis for axis in range(left.ndim) if axis not in first]
    columns = [axis for axis in range(right.ndim) if axis not in second]
    kept = [left.value.type.shape[axis] for axis in rows] + [
        right.value.type.shape[axis] for axis in columns
    ]
    product = trace.emit(
        dot_general,
        (_matrix(trace, left, [], rows, first), _matrix(trace, right, [], second, columns)),
        kind="array",
    )
    return _result(trace, product, tuple(kept), "array")


def _matrix(
    trace: Trace, operand: Tracer, stack: list[int], rows: list[int], columns: list[int]
) -> Tracer:
    """`operand` with its axes in this order, those of each group merged; stack axes stay apart."""
    moved = _transpose(trace, operand, tuple([*stack, *rows, *columns]))
    shape = operand.value.type.shape
    merged = [dims.product(tuple([shape[axis] for axis in group])) for group in (rows, columns)]
    return _reshape(trace, moved, (*[shape[axis] for axis in stack], *merged))


# einsum


def einsum(
    trace: Trace, *operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, order: Any = "K",
    casting: Any = "safe",
) -> Tracer:  # fmt: skip
    if out is not None or dtype is not None or order != "K" or casting != "safe":
        trace.refuse("argument", "einsum with these options")
    if not operands or not isinstance(operands[0], str):
        trace.refuse("argument", "einsum without a subscripts string")
    arrays = [trace.lift(item) for item in operands[1:]]
    inputs, output = _parsed(trace, operands[0], arrays)
    dtypes = common_dtype(trace, [Tracer(trace, each.value, "scalar") for each in arrays])
    terms = [
        _Term(trace, trace.convert(array, dtypes), labels)
        for array, labels in zip(arrays, inputs, strict=True)
    ]
    _unify_labels(trace, terms)
    for pair in _path(trace, terms, inputs, output):
        chosen = [terms[place] for place in sorted(pair)]
        terms = [term for place, term in enumerate(terms) if place not in pair]
        needed = set(output).union(*[term.labels for term in terms])
        terms.append(_contracted(trace, chosen, output if not terms else None, needed))
    result = _summed_away(trace, terms[0], set(output))
    result = _ordered(trace, result, output)
    return copied(trace, result.array, "array" if output else "scalar")


class _Term:
    """An operand and the labels of its axes."""

    __slots__ = ("array", "labels")

    def __init__(self, trace: Trace, array: Tracer, labels: list[str]) -> None:
        self.array = array
        self.labels = labels

    def size(self, label: str) -> Size:
        return self.array.value.type.shape[self.labels.index(label)]


def _parsed(
    trace: Trace, subscripts: str, arrays: Sequence[Tracer]
) -> tuple[list[list[str]], list[str]]:
    """The labels of each operand and of the output; an ellipsis becomes labels of its own."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    pieces = left.split(",")
    if len(pieces) != len(arrays):
        trace.refuse("error", "ValueError: einsum: wrong number of operands")
    hidden = max(
        [
            array.ndim - len(piece.replace("...", ""))
            for piece, array in zip(pieces, arrays, strict=True)
        ]
    )
    inputs = []
    for piece, array in zip(pieces, arrays, strict=True):
        head, dots, tail = piece.partition("...")
        missing = array.ndim - len(head) - len(tail)
        if missing < 0 or (missing and not dots) or not (head + tail).isalpha() and head + tail:
            trace.refuse("error", "ValueError: einsum: subscripts do not fit the operand")
        labels = [*head, *[f"...{place}" for place in range(hidden - missing, hidden)], *tail]
        if len(set(labels)) != len(labels):
            trace.refuse("argument", "einsum with an index twice in one operand")
        inputs.append(labels)
    spread = [f"...{place}" for place in range(max(hidden, 0))]
    if arrow:
        head, dots, tail = right.partition("...")
        output = [*head, *(spread if dots else []), *tail]
    else:
        letters = [label for labels in inputs for label in labels if len(label) == 1]
        output = spread + sorted({label for label in letters if letters.count(label) == 1})
    known = {label for labels in inputs for label in labels}
    if len(set(output)) != len(output) or not set(output) <= known:
        trace.refuse("error", "ValueError: einsum: bad output subscripts")
    if spread and arrow and "..." not in right:
        trace.refuse("argument", "einsum that sums over an ellipsis")
    return inputs, output


def _unify_labels(trace: Trace, terms: list[_Term]) -> None:
    """One size for each label; an axis of size 1 beside larger ones is dropped: it broadcasts."""
    sizes: dict[str, Size] = {}
    for term in terms:
        for label in term.labels:
            size = term.size(label)
            sizes[label] = (
                size
                if label not in sizes
                else trace.broadcast_shapes([(sizes[label],), (size,)])[0]
            )
    for term in terms:
        shape = []
        kept = []
        for label, size in zip(term.labels, term.array.value.type.shape, strict=True):
            if sizes[label] != 1 and trace.hint(size) == 1 and trace.hint(sizes[label]) != 1:
                continue
            shape.append(sizes[label])
            kept.append(label)
        if tuple(shape) != term.array.value.type.shape:
            term.array = _reshape(trace, term.array, tuple(shape))
        term.labels = kept


def _path(
    trace: Trace, terms: list[_Term], inputs: list[list[str]], output: list[str]
) -> list[tuple[int, ...]]:
    """Which operands to contract one after another. Sizes of this call choose it; any order is right."""
    if len(terms) == 1:
        return []
    if len(terms) == 2:
        return [(0, 1)]
    letters: dict[str, str] = {}
    for term in terms:
        for label in term.labels:
            letters.setdefault(
                label, chr(ord("a") + len(letters)) if len(letters) < 26 else chr(39 + len(letters))
            )
    if len(letters) > 52:
        trace.refuse("argument", "einsum with more than 52 indices")
    text = ",".join("".join(letters[label] for label in term.labels) for term in terms)
    text += "->" + "".join(letters[label] for label in output if label in letters)
    shapes = [tuple(map(trace.hint, term.array.value.type.shape)) for term in terms]
    path = np.einsum_path(
        text, *[np.broadcast_to(0.0, shape) for shape in shapes], optimize="greedy"
    )[0][1:]
    pairs: list[tuple[int, ...]] = []
    for group in path:
        places = sorted(group)
        while len(places) > 1:  # a group of three is contracted pair by pair
            pairs.append((places[0], places[1]))
            last = len(terms) - len(pairs)
            places = [*[place - 2 for place in places[2:]], last - 1]
    return pairs


def _summed_away(trace: Trace, term: _Term, needed: set[str]) -> _Term:
    """The sum over labels that nobody else has."""
    axes = tuple([axis for axis, label in enumerate(term.labels) if label not in needed])
    if not axes:
        return term
    primitive = reduce_or if term.array.value.type.dtype.kind == "b" else reduce_add
    array = trace.emit(primitive, (term.array,), {"axes": axes}, "array")
    return _Term(trace, array, [label for label in term.labels if label in needed])


def _ordered(trace: Trace, term: _Term, labels: list[str]) -> _Term:
    permutation = tuple([term.labels.index(label) for label in labels])
    return _Term(trace, _transpose(trace, term.array, permutation), list(labels))


def _contracted(
    trace: Trace, pair: list[_Term], output: list[str] | None, needed: set[str]
) -> _Term:
    """Two operands to one, summing over what is not needed afterwards."""
    first, second = pair
    first = _summed_away(trace, first, needed.union(second.labels))
    second = _summed_away(trace, second, needed.union(first.labels))
    shared = [label for label in first.labels if label in second.labels]
    stack = [label for label in shared if label in needed]
    summed = [label for label in shared if label not in needed]
    rows = [label for label in first.labels if label not in shared]
    columns = [label for label in second.labels if label not in shared]
    if not summed or not (rows or columns):
        labels = [*stack, *rows, *columns, *summed]
        if output is not None and not summed and set(output) == set(labels):
            labels = output
        product = apply(
            trace, np.multiply, [_placed(trace, term, labels) for term in (first, second)]
        )
        return _summed_away(trace, _Term(trace, product, labels), needed)
    left = _matrix(
        trace,
        first.array,
        *[[first.labels.index(each) for each in group] for group in (stack, rows, summed)],
    )
    right = _matrix(
        trace,
        second.array,
        *[[second.labels.index(each) for each in group] for group in (stack, summed, columns)],
    )
    product = trace.emit(dot_general, (left, right), kind="array")
    sizes = [first.size(each) for each in stack + rows] + [second.size(each) for each in columns]
    return _Term(trace, _reshape(trace, product, tuple(sizes)), stack + rows + columns)


def _placed(trace: Trace, term: _Term, labels: list[str]) -> Tracer:
    """The operand with an axis for every label, of size 1 where it has none."""
    own = [label for label in labels if label in term.labels]
    array = _ordered(trace, term, own).array
    sizes = tuple([term.size(label) if label in term.labels else 1 for label in labels])
    return _reshape(trace, array, sizes)


# Other products


def kron(trace: Trace, a: Any, b: Any) -> Tracer:
    left, right = trace.lift(a), trace.lift(b)
    if not left.ndim or not right.ndim:
        return apply(trace, np.multiply, [left, right])
    ndim = max(left.ndim, right.ndim)
    first = (1,) * (ndim - left.ndim) + left.value.type.shape
    second = (1,) * (ndim - right.ndim) + right.value.type.shape
    wide = _reshape(trace, left, tuple([size for each in first for size in (each, 1)]))
    narrow = _reshape(trace, right, tuple([size for each in second for size in (1, each)]))
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
    dtype = common_dtype(trace, [Tracer(trace, each.value, "scalar") for each in operands])
    parts = []
    for operand, place in zip(operands, (axisa, axisb), strict=True):
        last = axis_of(trace, place, operand.ndim)
        if operand.value.type.shape[last] != 3:
            if not trace.same_size(operand.value.type.shape[last], 3):
                trace.refuse("argument", "cross of vectors that have not 3 components")
        array = trace.convert(copied(trace, operand), dtype)
        order = (last, *[each for each in range(operand.ndim) if each != last])
        first = _transpose(trace, array, order)
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
    if out is not None or len(arrays) < 2:
        trace.refuse("argument", "multi_dot with these arguments")
    return reduce(lambda left, right: dot(trace, left, right), arrays)


FUNCTIONS.update(
    {
        np.dot: dot, np.inner: inner, np.vdot: vdot, np.outer: outer, np.tensordot: tensordot, np.einsum: einsum,
        np.kron: kron, np.cross: cross, np.linalg.outer: linalg_outer, np.linalg.matmul: linalg_matmul,
        np.linalg.tensordot: lambda trace, x1, x2, /, *, axes=2: tensordot(trace, x1, x2, axes),
        np.linalg.multi_dot: multi_dot,
    }
)  # fmt: skip
METHODS["dot"] = lambda operand, b, out=None: dot(operand.trace, operand, b, out)
__all__ = ["matmul"]
