"""`np.einsum` as matrix products.

    np.einsum("bij,bkj->bik", x, y)   ->  transpose y to [b, j, k], dot_general
    np.einsum("ij,ij->i", x, y)       ->  multiply, reduce_add: there is no matrix in it
    np.einsum("ij,jk,kl->il", ...)    ->  two products, in the order that NumPy's greedy path gives

Sums are not in NumPy's order: results differ in rounding only. The form without a subscripts string
ends the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.dims import Size
from ...ops.contract import dot_general
from ...ops.reduce import reduce_add, reduce_or
from ..tracer import FUNCTIONS, Tracer
from ..ufuncs import apply
from .contract import as_matrices, permuted, shaped
from .elementwise import common_dtype
from .grids import diagonal
from .views import copied

if TYPE_CHECKING:
    from ..tracing import Trace


def einsum(
    trace: Trace,
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: Any = "K",
    casting: Any = "safe",
) -> Tracer:
    if out is not None or dtype is not None or order != "K" or casting != "safe":
        trace.refuse("argument", "einsum with these options")
    if not operands or not isinstance(operands[0], str):
        trace.refuse("argument", "einsum without a subscripts string")
    arrays = [trace.lift(item) for item in operands[1:]]
    inputs, output = _parsed(trace, operands[0], arrays)
    dtypes = common_dtype(trace, [Tracer(trace, each._value, "scalar") for each in arrays])
    terms = [
        _Term(trace, trace.convert(array, dtypes), labels)
        for array, labels in zip(arrays, inputs, strict=True)
    ]
    terms = [_without_repeats(trace, term) for term in terms]
    _unify_labels(trace, terms)
    for pair in _path(trace, terms, inputs, output):
        chosen = [terms[place] for place in sorted(pair)]
        terms = [term for place, term in enumerate(terms) if place not in pair]
        needed = set(output).union(*[term.labels for term in terms])
        terms.append(_contracted(trace, chosen, output if not terms else None, needed))
    result = _summed_away(trace, terms[0], set(output))
    result = _ordered(trace, result, output)
    if len(arrays) > 1 and dtypes.kind in "fc" and set(output) >= set().union(*inputs):
        # A sum of one product: NumPy begins with 0.0, so that there is no negative zero.
        result.array = apply(trace, np.add, [result.array, trace.constant(0, dtypes)])
    answer = copied(trace, result.array, "array" if output else "scalar")
    if len(arrays) == 1 and output:  # a view where nothing is summed
        arrays[0]._shared = answer._shared = True
        answer._fresh = arrays[0]._fresh
    return answer


class _Term:
    """An operand and the labels of its axes."""

    __slots__ = ("array", "labels")

    def __init__(self, trace: Trace, array: Tracer, labels: list[str]) -> None:
        self.array = array
        self.labels = labels

    def size(self, label: str) -> Size:
        return self.array._value.type.shape[self.labels.index(label)]


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


def _without_repeats(trace: Trace, term: _Term) -> _Term:
    """An index that occurs twice in one operand walks along its diagonal."""
    labels = list(term.labels)
    array = term.array
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            sizes = array._value.type.shape
            if not trace.same_size(sizes[first], sizes[second]):
                trace.refuse("argument", "einsum of a diagonal that is not square")
            array = copied(trace, diagonal(trace, copied(trace, array), 0, first, second))
            labels = [each for place, each in enumerate(labels) if place not in (first, second)]
            labels.append(label)
    return _Term(trace, array, labels)


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
        for label, size in zip(term.labels, term.array._value.type.shape, strict=True):
            if sizes[label] != 1 and trace.hint(size) == 1 and trace.hint(sizes[label]) != 1:
                continue
            shape.append(sizes[label])
            kept.append(label)
        if tuple(shape) != term.array._value.type.shape:
            term.array = shaped(trace, term.array, tuple(shape))
        term.labels = kept


def _path(
    trace: Trace, terms: list[_Term], inputs: list[list[str]], output: list[str]
) -> list[tuple[int, ...]]:
    """Which operands to contract, in turn. Sizes of this call choose; any order is right."""
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
    shapes = [tuple(map(trace.hint, term.array._value.type.shape)) for term in terms]
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
    primitive = reduce_or if term.array._value.type.dtype.kind == "b" else reduce_add
    array = trace.emit(primitive, (term.array,), {"axes": axes}, "array")
    return _Term(trace, array, [label for label in term.labels if label in needed])


def _ordered(trace: Trace, term: _Term, labels: list[str]) -> _Term:
    permutation = tuple([term.labels.index(label) for label in labels])
    return _Term(trace, permuted(trace, term.array, permutation), list(labels))


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
    left = as_matrices(
        trace,
        first.array,
        *[[first.labels.index(each) for each in group] for group in (stack, rows, summed)],
    )
    right = as_matrices(
        trace,
        second.array,
        *[[second.labels.index(each) for each in group] for group in (stack, summed, columns)],
    )
    product = trace.emit(dot_general, (left, right), kind="array")
    sizes = [first.size(each) for each in stack + rows] + [second.size(each) for each in columns]
    return _Term(trace, shaped(trace, product, tuple(sizes)), stack + rows + columns)


def _placed(trace: Trace, term: _Term, labels: list[str]) -> Tracer:
    """The operand with an axis for every label, of size 1 where it has none."""
    own = [label for label in labels if label in term.labels]
    array = _ordered(trace, term, own).array
    sizes = tuple([term.size(label) if label in term.labels else 1 for label in labels])
    return shaped(trace, array, sizes)


FUNCTIONS[np.einsum] = einsum
