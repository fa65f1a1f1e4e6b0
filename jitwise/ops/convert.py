"""Conversion between dtypes, exactly as `ndarray.astype` does on the same machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Value
from ..ir.primitive import Attrs
from ..ir.types import ArrayType
from ..rewrite.rule import fold_rule
from .families import elementwise


def _infer(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    return ArrayType(attrs["dtype"], types[0].shape)


def _evaluate(array: Any, dtype: np.dtype) -> Any:
    return np.asarray(array).astype(dtype)


def _lower(e: Any, attrs: Attrs, operand: Any) -> Any:
    return e.convert(operand, attrs["dtype"])


convert = elementwise(
    "convert",
    None,
    dict.fromkeys("biufc", _lower),
    infer=_infer,
    evaluate=_evaluate,
    hlo="stablehlo.convert",
)


_ROUND_TRIP = """graph example(%0: {first}[n]) where n = size(0, 0) {{
      %1: {second}[n] = convert{{dtype={second}}}(%0)
      %2: {third}[n] = convert{{dtype={third}}}(%1)
      return %2
    }}"""


@fold_rule(
    "convert-same",
    "convert",
    "graph example(%0: f32[4]) {\n %1: f32[4] = convert{dtype=f32}(%0)\n return %1\n}",
)
def _same(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Value | None:
    return operands[0] if operands[0].type.dtype == attrs["dtype"] else None


_FRACTION_BITS = {"f2": 11, "f4": 24, "f8": 53, "c8": 24, "c16": 53}


def is_exact(source: np.dtype, target: np.dtype) -> bool:
    """Whether every value of `source` is one of `target`, and converts to it."""
    if source == target or source.kind == "b":
        return True
    if target.kind == "b" or (source.kind == "c" and target.kind != "c"):
        return False
    if source.kind in "iu":
        if target.kind in "iu":
            return np.can_cast(source, target, "safe")
        bits = source.itemsize * 8 - (source.kind == "i")
        return bits <= _FRACTION_BITS[target.str[1:]]
    if target.kind in "iu":
        return False
    return _FRACTION_BITS[source.str[1:]] <= _FRACTION_BITS[target.str[1:]]


@fold_rule(
    "convert-exact",
    "convert",
    _ROUND_TRIP.format(first="i32", second="f64", third="i32"),
    _ROUND_TRIP.format(first="bool", second="i64", third="f16"),
    _ROUND_TRIP.format(first="f32", second="f64", third="f16"),
    _ROUND_TRIP.format(first="f32", second="c128", third="bool"),
    _ROUND_TRIP.format(first="i8", second="i64", third="u16"),
    _ROUND_TRIP.format(first="u16", second="f32", third="i64"),
    needs="op:convert",
)
def _through_exact(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Value | None:
    """A conversion that changes no value on the way to another one is left out.

    Except where the last one may be out of range, which NumPy answers by the dtype converted from.
    """
    operand = operands[0]
    assert operand.op is not None
    origin, between, target = operand.op.operands[0], operand.type.dtype, attrs["dtype"]
    source = origin.type.dtype
    if not is_exact(source, between):
        return None
    integers = source.kind in "iu" and between.kind in "iu"
    if target.kind in "iu" and not (integers or is_exact(source, target)):
        return None
    if source.kind == "c" and target.kind != "c":
        return None
    return builder.emit(convert, (origin,), attrs)
