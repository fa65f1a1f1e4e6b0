"""Conversion between dtypes, exactly as `ndarray.astype` does on the same machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Value
from ..ir.primitive import Attrs, attach_fold
from ..ir.types import ArrayType
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


def _fold(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Value | None:
    """A conversion to the dtype an operand already has is no conversion."""
    return operands[0] if operands[0].type.dtype == attrs["dtype"] else None


attach_fold(convert, _fold)
