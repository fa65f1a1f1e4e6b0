"""Where an array is true, and the elements there: nonzero, flatnonzero, argwhere, compress,
extract; `np.where` of one argument.

    np.nonzero(x)       ->   %1 = not_equal(x, 0); count, measure, places
    np.argwhere(x)      ->   the same, as columns of one array

A condition shorter than the array chooses among the first elements, as in NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ops.movement import concatenate, reshape
from ..tracer import FUNCTIONS, METHODS, Tracer
from .arguments import axis_of, is_nonnegative
from .library import left_to_numpy
from .masks import Masked, places_of_mask, read, truth
from .views import cut

if TYPE_CHECKING:
    from ..tracing import Trace


def flat(trace: Trace, operand: Tracer) -> Tracer:
    """The elements along one axis; no view."""
    sizes = (dims.product(operand._value.type.shape),)
    return trace.emit(reshape, (operand,), {"sizes": sizes}, "array")


def nonzero(trace: Trace, a: Any) -> tuple[Tracer, ...]:
    operand = trace.lift(a)
    if not operand.ndim:
        trace.refuse("error", "ValueError: nonzero of a 0d array")
    found = places_of_mask(trace, truth(trace, operand))
    for each in found if len(found) > 1 else ():
        each._c_ordered = False  # NumPy's are the columns of one array
    return tuple(found)


def flatnonzero(trace: Trace, a: Any) -> Tracer:
    return nonzero(trace, flat(trace, trace.lift(a)))[0]


def argwhere(trace: Trace, a: Any) -> Tracer:
    operand = trace.lift(a)
    if not operand.ndim:
        trace.refuse("argument", "argwhere of a number")
    columns = nonzero(trace, operand)
    (size,) = columns[0]._value.type.shape
    made = [trace.emit(reshape, (each,), {"sizes": (size, 1)}, "array") for each in columns]
    if len(made) == 1:
        return made[0]
    return trace.emit(concatenate, made, {"dimension": 1}, "array")


def compress(trace: Trace, condition: Any, a: Any, axis: Any = None, out: Any = None) -> Tracer:
    if out is not None:
        trace.refuse("argument", "compress(out=...)")
    given = (condition, a, axis)
    mask, operand = truth(trace, trace.lift(condition)), trace.lift(a)
    if mask.ndim != 1:
        trace.refuse("error", "ValueError: condition must be a 1-d array")
    if axis is None:
        operand, axis = flat(trace, operand), 0
    axis = axis_of(trace, axis, operand.ndim)
    if _is_longer(trace, mask, operand, axis):
        return left_to_numpy(trace, np.compress, given, {})
    return _chosen(trace, mask, operand, axis)


def extract(trace: Trace, condition: Any, arr: Any) -> Tracer:
    mask = flat(trace, truth(trace, trace.lift(condition)))
    operand = flat(trace, trace.lift(arr))
    if _is_longer(trace, mask, operand, 0):
        return left_to_numpy(trace, np.compress, (mask, operand), {})
    return _chosen(trace, mask, operand, 0)


def _is_longer(trace: Trace, mask: Tracer, operand: Tracer, axis: int) -> bool:
    (length,), size = mask._value.type.shape, operand._value.type.shape[axis]
    if trace.same_size(length, size):
        return False
    return not is_nonnegative(trace, dims.subtract(size, length))


def _chosen(trace: Trace, mask: Tracer, operand: Tracer, axis: int) -> Tracer:
    """The elements along `axis` where the mask is true, which may be shorter."""
    (length,), size = mask._value.type.shape, operand._value.type.shape[axis]
    if not trace.same_size(length, size):
        operand = cut(trace, operand, axis, 0, length)
    elif length != size:
        mask = trace.emit(reshape, (mask,), {"sizes": (size,)}, "array")
    return read(Masked(operand, mask, axis))


def _compress_method(operand: Tracer, condition: Any, axis: Any = None, out: Any = None) -> Tracer:
    return compress(operand._trace, condition, operand, axis, out)


METHODS["nonzero"] = lambda operand: nonzero(operand._trace, operand)
METHODS["compress"] = _compress_method
FUNCTIONS.update(
    {
        np.nonzero: nonzero,
        np.flatnonzero: flatnonzero,
        np.argwhere: argwhere,
        np.compress: compress,
        np.extract: extract,
    }
)
