"""Functions left to NumPy that are about matrices, polynomials and several variables: rows of
`library`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from .arguments import is_one
from .library import Either, Shape, row
from .library_shapes import (
    first,
    larger,
    matrix,
    of_square,
    reduced,
    same,
    smaller,
    square,
)
from .measured import unknown

if TYPE_CHECKING:
    from ..tracing import Trace


# Several variables


def _overlapped(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `convolve` and `correlate`."""
    left, right = shapes.values()
    left, right = left or (1,), right or (1,)
    if len(left) != 1 or len(right) != 1 or trace.is_zero(left[0]) or trace.is_zero(right[0]):
        trace.refuse("error", "ValueError: a convolution of these shapes")
    less = smaller(trace, left[0], right[0])
    more = right[0] if less is left[0] else left[0]
    both = dims.subtract(dims.add(less, more), 1)
    inner = dims.add(dims.subtract(more, less), 1)
    found = {"full": both, "same": more, "valid": inner}
    if plain["mode"] not in found:
        trace.refuse("argument", f"convolve(mode={plain['mode']!r})")
    return [(found[plain["mode"]],)]


def _covariance(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `cov` and `corrcoef`: a number, or a matrix of the rows' (or columns') number."""
    count: Any = 0
    for name in ("m", "x", "y"):
        shape = shapes.get(name)
        if shape is None:
            continue
        if len(shape) > 2:
            trace.refuse("error", "ValueError: more than 2 dimensions")
        rows = 1 if len(shape) < 2 else shape[0] if plain["rowvar"] else shape[1]
        count = dims.add(count, rows)
    return [()] if is_one(trace, count) else [(count, count)]


# Polynomials


def _fitted(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `polyfit`: deg + 1 coefficients, and their covariances."""
    if plain["full"] or type(plain["deg"]) is not int:
        trace.refuse("argument", "polyfit with these arguments")
    count, rest = plain["deg"] + 1, shapes["y"][1:]
    return [(count, *rest), (count, count, *rest)] if plain["cov"] else [(count, *rest)]


def _powers(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `vander`."""
    length = first(shapes)[0]
    return [(length, length if plain["N"] is None else plain["N"])]


def _line(trace: Trace, shape: Shape) -> Any:
    if len(shape) > 1:
        trace.refuse("argument", "polynomials of several axes")
    return shape[0] if shape else 1


def _summed(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `polyadd` and `polysub`."""
    left, right = [_line(trace, shape) for shape in shapes.values()]
    return [(larger(trace, left, right),)]


def _multiplied(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `polymul`, which drops leading zeros."""
    for shape in shapes.values():
        _line(trace, shape)
    return [(unknown(0),)]


def _roots(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `roots`: none for leading zeros."""
    _line(trace, first(shapes))
    return [(unknown(0),)]


def _from_roots(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `poly`: one coefficient more than there are roots, or rows of a matrix."""
    return [(dims.add(first(shapes)[0], 1),)]


def _derived(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    size = dims.subtract(_line(trace, first(shapes)), plain["m"])
    return [(larger(trace, size, 0),)]


def _integrated(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    return [(dims.add(_line(trace, first(shapes)), plain["m"]),)]


def _divided(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `polydiv`: the quotient, and a remainder without leading zeros."""
    upper, lower = [_line(trace, shape) for shape in shapes.values()]
    quotient = dims.add(dims.subtract(upper, lower), 1)
    return [(larger(trace, quotient, 1),), (unknown(0),)]


# numpy.linalg


def _solution(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `solve(a, b)`: b is one vector, or a stack of matrices."""
    a, b = square(trace, shapes["a"]), shapes["b"]
    rows = b[0] if len(b) == 1 else b[-2] if b else 0
    if not b or not trace.same_size(a[-1], rows):
        trace.refuse("error", "ValueError: solve: mismatch in core dimension")
    if len(b) == 1:
        return [a[:-1]]
    return [(*trace.broadcast_shapes([a[:-2], b[:-2]]), rows, b[-1])]


def _decomposed(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `svd`."""
    *stack, rows, columns = matrix(trace, first(shapes))
    least = smaller(trace, rows, columns)
    if not plain["compute_uv"]:
        return [(*stack, least)]
    whole = plain["full_matrices"]
    left, right = (rows, columns) if whole else (least, least)
    return [(*stack, rows, left), (*stack, least), (*stack, right, columns)]


def _singular(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `svdvals`."""
    *stack, rows, columns = matrix(trace, first(shapes))
    return [(*stack, smaller(trace, rows, columns))]


def _triangular(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `qr`."""
    *stack, rows, columns = matrix(trace, first(shapes))
    mode = plain["mode"]
    least = smaller(trace, rows, columns)
    if mode == "r":
        return [(*stack, least, columns)]
    if mode == "raw":
        return [(*stack, columns, rows), (*stack, least)]
    if mode not in ("reduced", "complete"):
        trace.refuse("argument", f"qr(mode={mode!r})")
    inner = least if mode == "reduced" else rows
    return [(*stack, rows, inner), (*stack, inner, columns)]


def _transposed(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """A matrix with its axes exchanged."""
    *stack, rows, columns = matrix(trace, first(shapes))
    return [(*stack, columns, rows)]


def _of_matrix(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """A number for each matrix."""
    return [matrix(trace, first(shapes))[:-2]]


def _rank(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `matrix_rank`."""
    return [first(shapes)[:-2]]


def _least_squares(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `lstsq`: the residuals are missing where the rank is low."""
    a, b = shapes["a"], shapes["b"]
    if len(a) != 2 or len(b) not in (1, 2) or not trace.same_size(a[0], b[0]):
        trace.refuse("error", "LinAlgError: incompatible dimensions")
    columns = b[1] if len(b) == 2 else 1
    residuals = Either(((columns,), (0,)))
    return [(a[1], *b[1:]), residuals, (), (smaller(trace, *a),)]


def _inverse_tensor(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `tensorinv`."""
    shape, count = first(shapes), plain["ind"]
    if not 0 < count <= len(shape):
        trace.refuse("error", "ValueError: Invalid ind argument")
    rows, columns = dims.product(shape[count:]), dims.product(shape[:count])
    if not trace.same_size(rows, columns):
        trace.refuse("error", "LinAlgError: not square")
    return [(*shape[count:], *shape[:count])]


def _tensor_solution(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `tensorsolve`."""
    a, b = shapes["a"], shapes["b"]
    if plain["axes"] is not None or len(a) <= len(b):
        trace.refuse("argument", "tensorsolve with these arguments")
    return [a[len(b) - len(a) :]]


row(np.convolve, "a v", _overlapped)
row(np.correlate, "a v", _overlapped, like=lambda a, v, mode="valid": None)
row(np.cov, "m y fweights aweights", _covariance, raising=True)
row(np.corrcoef, "x y", _covariance)
row(np.polyfit, "x y w", _fitted, raising=True)
row(np.vander, "x", _powers)
row(np.polyadd, "a1 a2", _summed)
row(np.polysub, "a1 a2", _summed)
row(np.polymul, "a1 a2", _multiplied)
row(np.polydiv, "u v", _divided, raising=True)
row(np.polyder, "p", _derived)
row(np.polyint, "p k", _integrated)
row(np.poly, "seq_of_zeros", _from_roots, by_value=True, raising=True)
row(np.roots, "p", _roots, raising=True)
row(np.real_if_close, "a", same, by_value=True)
row(np.linalg.inv, "a", of_square("matrix"), raising=True)
row(np.linalg.cholesky, "a", of_square("matrix"), raising=True)
row(np.linalg.matrix_power, "a", of_square("matrix"), raising=True)
row(np.linalg.det, "a", of_square("number"))
row(np.linalg.slogdet, "a", of_square("number", "number"))
row(np.linalg.eigh, "a", of_square("vector", "matrix"), raising=True)
row(np.linalg.eigvalsh, "a", of_square("vector"), raising=True)
row(np.linalg.eig, "a", of_square("vector", "matrix"), raising=True, by_value=True)
row(np.linalg.eigvals, "a", of_square("vector"), raising=True, by_value=True)
row(np.linalg.solve, "a b", _solution, raising=True)
row(np.linalg.svd, "a", _decomposed, raising=True)
row(np.linalg.svdvals, "x", _singular, raising=True)
row(np.linalg.qr, "a", _triangular, raising=True)
row(np.linalg.pinv, "a rcond rtol", _transposed, raising=True)
row(np.linalg.cond, "x", _of_matrix, raising=True)
row(np.linalg.matrix_rank, "A tol rtol", _rank, raising=True)
row(np.linalg.lstsq, "a b", _least_squares, raising=True, by_value=True)
row(np.linalg.tensorinv, "a", _inverse_tensor, raising=True)
row(np.linalg.tensorsolve, "a b", _tensor_solution, raising=True)
row(np.linalg.norm, "x", reduced, raising=True, only=False)
