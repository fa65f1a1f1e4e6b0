"""Comparisons and choices between elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.primitive import Attrs
from ..ir.types import ArrayType
from .families import BOOL, broadcast_shape, comparison, elementwise, predicate


def _ordered(name: str) -> dict[str, Any]:
    return {"i": comparison("s" + name), "u": comparison("u" + name), "f": comparison("o" + name)}


less = predicate("less", np.less, _ordered("lt"), hlo="stablehlo.compare LT")
less_equal = predicate("less_equal", np.less_equal, _ordered("le"), hlo="stablehlo.compare LE")
greater = predicate("greater", np.greater, _ordered("gt"), hlo="stablehlo.compare GT")
greater_equal = predicate("greater_equal", np.greater_equal, _ordered("ge"), hlo="stablehlo.compare GE")
equal = predicate(
    "equal", np.equal, {"i": comparison("eq"), "f": comparison("oeq")}, hlo="stablehlo.compare EQ", commutative=True
)
not_equal = predicate(
    "not_equal",
    np.not_equal,
    {"b": "xor", "i": comparison("ne"), "f": comparison("une")},
    hlo="stablehlo.compare NE",
    commutative=True,
)


def _infer_select(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    mask, on_true, on_false = types
    if mask.dtype != BOOL or on_true.dtype != on_false.dtype:
        raise TypeError(f"select needs a bool and two operands of one dtype, got {mask}, {on_true}, {on_false}")
    return ArrayType(on_true.dtype, broadcast_shape("select", types))


def _select(e: Any, attrs: Attrs, mask: Any, on_true: Any, on_false: Any) -> Any:
    return e.select(mask, on_true, on_false)


select = elementwise(
    "select",
    None,
    {"b": _select},  # the first operand is always bool
    infer=_infer_select,
    evaluate=np.where,
    hlo="stablehlo.select",
)
