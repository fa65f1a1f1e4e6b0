"""Powers as NumPy takes them: cheaper functions for some exponents, with their bits.

    x ** 2       ->  square(x)                  ndarray's operator looks at a number's value
    x ** p       ->  square(x), guard p == 2    where a Python number is 2 in this call
    power(x, y)  ->  select(y == 0.5, sqrt(x), power(x, y))    so does the loop, for one 0.5

A number that a loop changes keeps the general power.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.compare import equal, select
from ..ops.ufuncs import emit_ufunc
from .regions import is_inner
from .size import SizeTracer
from .tracer import Tracer, concrete

if TYPE_CHECKING:
    from ..ir.graph import Value
    from .tracing import Trace

_CHEAPER = {2: np.square, 1: np.positive, 0.5: np.sqrt, -1: np.reciprocal}

with np.errstate(all="ignore"):  # NumPy 2.3
    TAKES_ROOTS = bool(np.signbit(np.power(np.array([-0.0, -0.0]), 0.5)[0]))


def power(trace: Trace, base: Any, exponent: Any) -> tuple[np.ufunc, list[Any]]:
    """The ufunc that `base ** exponent` is, and its operands."""
    if isinstance(base, Tracer) and base._kind == "array":
        kind = base._value.type.dtype.kind
        if kind == "b":
            number = type(exponent) in (int, SizeTracer)
            if number and exponent == 2:  # where it is a size, with a guard
                return np.square, [base]
        elif kind in "fc":
            exponent = _known(trace, exponent)
            if type(exponent) in (int, float) and exponent in _CHEAPER:
                return _CHEAPER[exponent], [base]
    return np.power, [base, exponent]


def _known(trace: Trace, exponent: Any) -> Any:
    """The number that an exponent is in this call, with a guard, where it makes a power cheaper."""
    if type(exponent) is SizeTracer:
        if not is_inner(trace, exponent.size) and trace.hint(exponent.size) in _CHEAPER:
            return int(exponent)
    elif issubclass(type(exponent), Tracer) and exponent._kind == "python":
        is_float = type(exponent._hint) is float and trace.region is None
        if is_float and exponent._hint in _CHEAPER:
            return concrete(exponent)
    return exponent


def with_roots(trace: Trace, values: list[Value], given: Any, power: Value) -> Value:
    """NumPy's inner loop takes the square root where the exponent is the same 0.5 all along."""
    base, exponent = values
    if base.type.dtype.itemsize < 4:
        return power
    if exponent.type.shape:  # one number that is repeated?
        sizes = list(map(trace.hint, given._value.type.shape))
        if math.prod(sizes) != 1 or sizes == list(map(trace.hint, power.type.shape)):
            return power
    if exponent.constant is not None and exponent.constant != 0.5:
        return power
    (root,) = emit_ufunc(trace.builder, np.sqrt, (base,))
    if exponent.constant is not None:
        return root
    half = trace.builder.constant(0.5, exponent.type.dtype)
    mask = trace.builder.emit(equal, (exponent, half))
    parts = trace.align([trace.wrap(each, "array") for each in (mask, root, power)])
    return trace.builder.emit(select, tuple([part._value for part in parts]))
