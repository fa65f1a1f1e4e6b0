"""Comparisons and choices between elements.

Complex numbers are ordered by their real parts, then by their imaginary parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.primitive import Attrs
from ..ir.types import ArrayType
from ..rewrite.pattern import holes, node
from ..rewrite.rule import rule
from .families import BOOL, broadcast_shape, comparison, elementwise


def _complex_ordered(strict: str, tie: str) -> Any:
    def lower(e: Any, attrs: Attrs, left: Any, right: Any) -> Any:
        a, b, c, d = e.real(left), e.imag(left), e.real(right), e.imag(right)
        # NumPy calls a nan invalid here, other than in comparisons of real numbers.
        order = e.compare(strict, a, c, quiet=False)
        clear = e.instruction("and", order, e.compare("ord", b, d))
        tied = e.instruction("and", e.compare("oeq", a, c), e.compare(tie, b, d, quiet=False))
        return e.instruction("or", clear, tied)

    return lower


def _complex_parts(predicate: str, combine: str) -> Any:
    def lower(e: Any, attrs: Attrs, left: Any, right: Any) -> Any:
        real = e.compare(predicate, e.real(left), e.real(right))
        return e.instruction(combine, real, e.compare(predicate, e.imag(left), e.imag(right)))

    return lower


def _ordered(name: str) -> dict[str, Any]:
    return {
        "b": comparison("u" + name),
        "i": comparison("s" + name),
        "u": comparison("u" + name),
        "f": comparison("o" + name),
        "c": _complex_ordered(f"o{name[0]}t", "o" + name),
    }


less = elementwise("less", np.less, _ordered("lt"), hlo="stablehlo.compare LT")
less_equal = elementwise("less_equal", np.less_equal, _ordered("le"), hlo="stablehlo.compare LE")
greater = elementwise("greater", np.greater, _ordered("gt"), hlo="stablehlo.compare GT")
greater_equal = elementwise(
    "greater_equal", np.greater_equal, _ordered("ge"), hlo="stablehlo.compare GE"
)
equal = elementwise(
    "equal",
    np.equal,
    {
        "b": comparison("eq"),
        "i": comparison("eq"),
        "f": comparison("oeq"),
        "c": _complex_parts("oeq", "and"),
    },
    hlo="stablehlo.compare EQ",
    commutative=True,
)
not_equal = elementwise(
    "not_equal",
    np.not_equal,
    {
        "b": "xor",
        "i": comparison("ne"),
        "f": comparison("une"),
        "c": _complex_parts("une", "or"),
    },
    hlo="stablehlo.compare NE",
    commutative=True,
)


def _infer_select(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    mask, on_true, on_false = types
    if mask.dtype != BOOL or on_true.dtype != on_false.dtype:
        raise TypeError(
            f"select needs a bool and two operands of one dtype, got {mask}, {on_true}, {on_false}"
        )
    return ArrayType(on_true.dtype, broadcast_shape("select", types))


def _select(e: Any, attrs: Attrs, mask: Any, on_true: Any, on_false: Any) -> Any:
    return e.choose(mask, on_true, on_false)


select = elementwise(
    "select",
    None,
    {"b": _select},  # the first operand is always bool
    infer=_infer_select,
    evaluate=np.where,
    hlo="stablehlo.select",
)

x, y, mask = holes("x y mask")
rule("select-true", node("select", True, x, y), x)
rule("select-false", node("select", False, x, y), y)
rule("select-same", node("select", mask, x, x), x)
rule("select-not", node("select", ~mask, x, y), node("select", mask, y, x))
rule("select-mask", node("select", mask, True, False), mask)
rule("select-not-mask", node("select", mask, False, True), ~mask)
rule("equal-true", node("equal", x, True), x, kinds="b")
rule("equal-false", node("equal", x, False), ~x, kinds="b")
rule("not-equal-true", node("not_equal", x, True), ~x, kinds="b")
rule("not-equal-false", node("not_equal", x, False), x, kinds="b")
