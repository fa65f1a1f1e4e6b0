"""Integer arithmetic of NumPy scalars, which reports what does not fit: arrays wrap in silence.

    x.max() + 1         %2: i8[] = scalar_add(%0, %1)     127 + 1 is -128, and NumPy warns of it
    x + 1               %2: i8[n] = add(%0, %1)           127 + 1 is -128

The bits are those of `add`, `subtract`, `multiply`, `negate` and `abs`; a row here raises the flag
for overflow besides. Floats raise it by themselves, and remainders never overflow.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.primitive import Attrs, Primitive
from .families import elementwise, infer_loop


def _with_overflow(word: str) -> Callable[..., Any]:
    return lambda e, attrs, left, right: e.with_overflow(word, left, right)


def _negate(e: Any, attrs: Attrs, operand: Any) -> Any:
    return e.with_overflow("sub", e.constant(0, operand.dtype), operand)


def _abs(e: Any, attrs: Attrs, operand: Any) -> Any:
    zero = e.constant(0, operand.dtype)
    negative = e.compare("slt", operand, zero)
    opposite = e.with_overflow("sub", zero, e.select(negative, operand, zero))
    return e.select(negative, opposite, operand)


def _row(word: str, ufunc: np.ufunc, meaning: Any, lower: Any) -> Primitive:
    name = f"scalar_{word}"
    infer = infer_loop(name, ufunc)

    def infer_integers(types: tuple, attrs: Attrs) -> Any:
        if types[0].dtype.kind not in "iu":
            raise TypeError(f"{name} is not defined for {types[0]}")
        return infer(types, attrs)

    hlo = f"stablehlo.{word}"
    return elementwise(name, None, lower, infer_integers, evaluate=meaning, hlo=hlo)


scalar_add = _row("add", np.add, operator.add, {"i": _with_overflow("add")})
scalar_subtract = _row("subtract", np.subtract, operator.sub, {"i": _with_overflow("sub")})
scalar_multiply = _row("multiply", np.multiply, operator.mul, {"i": _with_overflow("mul")})
scalar_negate = _row("negate", np.negative, operator.neg, {"i": _negate})
scalar_abs = _row(
    "abs", np.absolute, operator.abs, {"i": _abs, "u": lambda e, attrs, operand: operand}
)

OF_SCALARS: dict[np.ufunc, Primitive] = {
    np.add: scalar_add,
    np.subtract: scalar_subtract,
    np.multiply: scalar_multiply,
    np.negative: scalar_negate,
    np.absolute: scalar_abs,
}
