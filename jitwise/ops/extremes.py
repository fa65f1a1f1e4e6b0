"""The larger and the smaller of elements, bounds, and their rules.

`maximum` and `minimum` hand a NaN on, `fmax` and `fmin` pass it over. A complex number comes before
another by its real part, then by its imaginary part. Of two equal numbers NumPy's loops give one by
place, which shows in the sign of zero; so none of these commutes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.primitive import Attrs
from ..rewrite.pattern import holes, node
from ..rewrite.rule import rule
from .families import elementwise, method


def _complex_order(e: Any, left: Any, right: Any, order: str) -> Any:
    """Whether `left` comes first: by real part, then by imaginary part, `ogt` or `olt`."""
    a, b, c, d = e.real(left), e.imag(left), e.real(right), e.imag(right)
    clean = e.compare("ord", b, d)
    strictly = e.instruction("and", e.compare(order, a, c), clean)
    inclusive = order[:2] + "e"
    tied = e.instruction("and", e.compare("oeq", a, c), e.compare(inclusive, b, d))
    return e.instruction("or", strictly, tied)


def _complex_nan(e: Any, operand: Any) -> Any:
    return e.instruction("or", e.is_nan(e.real(operand)), e.is_nan(e.imag(operand)))


def _extremum_complex(order: str, ignore_nan: bool) -> Any:
    def lower(e: Any, attrs: Attrs, left: Any, right: Any) -> Any:
        decisive = right if ignore_nan else left
        first = _complex_order(e, left, right, order)
        return e.select(e.instruction("or", first, _complex_nan(e, decisive)), left, right)

    return lower


def _extremum_float(order: str, ignore_nan: bool) -> Any:
    """float32 and float64: of equal values the second, as NumPy's vector loops on x86.

    float16: the first, as its scalar loop.
    """

    def lower(e: Any, attrs: Attrs, left: Any, right: Any) -> Any:
        half = left.dtype.itemsize == 2
        better = e.compare(f"o{order[0]}e" if half else "o" + order, left, right)
        picked = e.select(better, left, right)
        if ignore_nan:
            return e.select(e.is_nan(right), left, picked)
        return e.select(e.is_nan(left), left, picked)

    return lower


def _extremum(name: str, ufunc: np.ufunc, order: str, ignore_nan: bool, hlo: str | None) -> Any:
    word = "maximum" if order == "gt" else "minimum"
    return elementwise(
        name,
        ufunc,
        {
            "b": "or" if order == "gt" else "and",
            "i": method(word),
            "f": _extremum_float(order, ignore_nan),
            "c": _extremum_complex("o" + order, ignore_nan),
        },
        hlo=hlo,
        commutative=False,  # of two zeros, or two nans, the place decides
        flops=2,
    )


maximum = _extremum("maximum", np.maximum, "gt", False, "stablehlo.maximum")
minimum = _extremum("minimum", np.minimum, "lt", False, "stablehlo.minimum")
fmax = _extremum("fmax", np.fmax, "gt", True, None)
fmin = _extremum("fmin", np.fmin, "lt", True, None)


def _clamp(e: Any, attrs: Attrs, operand: Any, low: Any, high: Any) -> Any:
    """Below `low` low, above `high` high; a nan bound is the result."""
    dtype = operand.dtype
    if dtype.kind == "b":
        return e.instruction("and", e.instruction("or", operand, low), high)
    kind = {"i": "s", "u": "u", "f": "o"}[dtype.kind]
    raised = e.select(e.compare(kind + "lt", operand, low), low, operand)
    result = e.select(e.compare(kind + "gt", raised, high), high, raised)
    if dtype.kind != "f":
        return result
    result = e.select(e.is_nan(low), low, e.select(e.is_nan(high), high, result))
    return e.select(e.is_nan(operand), operand, result)


clamp = elementwise(
    "clamp",
    np._core.umath.clip,  # pyright: ignore[reportAttributeAccessIssue]
    {"b": _clamp, "i": _clamp, "f": _clamp},
    hlo="stablehlo.clamp",
    flops=2,
)

(x,) = holes("x")
for _name in ("maximum", "minimum", "fmax", "fmin"):
    rule(f"{_name}-self", node(_name, x, x), x)
