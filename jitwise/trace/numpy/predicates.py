"""Questions about whole arrays: allclose, array_equal, array_equiv, iscomplex, isreal.

    if np.allclose(x, y):    ->   isclose, reduce_and; the answer of this call, checked at each

The answers are Python's True and False, which are known while tracing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Size
from ..conversions import python_number
from ..tracer import FUNCTIONS, Tracer, concrete
from ..ufuncs import apply
from .arguments import strong
from .create import filled
from .elementwise import imag, isclose
from .reduce import all as all_

if TYPE_CHECKING:
    from ..tracing import Trace

BOOL = np.dtype(np.bool_)


def _answer(trace: Trace, mask: Tracer) -> Tracer:
    """`bool(mask.all())`."""
    return python_number(trace, all_(trace, mask))


def allclose(
    trace: Trace, a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: Any = False
) -> Any:
    return _answer(trace, isclose(trace, a, b, rtol, atol, equal_nan))


def _agree(trace: Trace, one: Size, other: Size) -> bool:
    """Whether two sizes agree in this call; the answer becomes a guard."""
    return trace.same_size(one, other) or trace.is_zero(dims.subtract(one, other))


def _equal(trace: Trace, left: Tracer, right: Tracer, equal_nan: Any) -> Tracer:
    mask = apply(trace, np.equal, [left, right])
    if not equal_nan:
        return mask
    numbers = "fc"
    if left.dtype.kind not in numbers or right.dtype.kind not in numbers:
        return mask
    both = [apply(trace, np.isnan, [each]) for each in (left, right)]
    return apply(trace, np.logical_or, [mask, apply(trace, np.logical_and, both)])


def array_equal(trace: Trace, a1: Any, a2: Any, equal_nan: Any = False) -> Any:
    left, right = strong(trace, a1), strong(trace, a2)
    one, other = left._value.type.shape, right._value.type.shape
    if len(one) != len(other):
        return False
    if not all(_agree(trace, *pair) for pair in zip(one, other, strict=True)):
        return False
    return _answer(trace, _equal(trace, left, right, equal_nan))


def array_equiv(trace: Trace, a1: Any, a2: Any) -> Any:
    left, right = strong(trace, a1), strong(trace, a2)
    one, other = left._value.type.shape, right._value.type.shape
    pairs = zip(one[::-1], other[::-1], strict=False)
    for size, against in pairs:
        if not (_agree(trace, size, against) or any(_agree(trace, s, 1) for s in (size, against))):
            return False
    return _answer(trace, _equal(trace, left, right, False))


def _of_every_element(trace: Trace, operand: Tracer, answer: bool) -> Tracer:
    """One answer for all elements; of a number it is a number."""
    found = trace.constant(answer, BOOL)
    return filled(trace, found, operand._value.type.shape) if operand.ndim else found


def iscomplex(trace: Trace, x: Any) -> Tracer:
    operand = strong(trace, x)
    if operand._value.type.dtype.kind == "c":
        return apply(trace, np.not_equal, [imag(trace, operand), 0])
    return _of_every_element(trace, operand, False)


def isreal(trace: Trace, x: Any) -> Any:
    given = trace.lift(x)
    if given._kind == "python":  # `x.imag == 0`, of Python's numbers
        return bool(concrete(given).imag == 0) if given.dtype.kind == "c" else True
    operand = strong(trace, x)
    if operand._value.type.dtype.kind == "c":
        return apply(trace, np.equal, [imag(trace, operand), 0])
    return _of_every_element(trace, operand, True)


FUNCTIONS.update(
    {
        np.allclose: allclose,
        np.array_equal: array_equal,
        np.array_equiv: array_equiv,
        np.iscomplex: iscomplex,
        np.isreal: isreal,
    }
)
