"""Complex numbers and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.primitive import Attrs
from ..ir.types import ArrayType
from ..rewrite.pattern import holes, node
from ..rewrite.rule import rule
from .families import broadcast_shape, elementwise

PARTS = {
    np.dtype(np.complex64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.float64),
}
WHOLES = {part: whole for whole, part in PARTS.items()}


def _infer_part(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    if types[0].dtype not in PARTS:
        raise TypeError(f"a part is taken of a complex number, not of {types[0]}")
    return ArrayType(PARTS[types[0].dtype], types[0].shape)


real = elementwise(
    "real",
    None,
    {"c": lambda e, attrs, z: e.real(z)},
    infer=_infer_part,
    evaluate=np.real,
    hlo="stablehlo.real",
    flops=0,
)
imag = elementwise(
    "imag",
    None,
    {"c": lambda e, attrs, z: e.imag(z)},
    infer=_infer_part,
    evaluate=np.imag,
    hlo="stablehlo.imag",
    flops=0,
)


def _infer_complex(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    first, second = types
    if first.dtype not in WHOLES or first.dtype != second.dtype:
        raise TypeError(f"complex needs two f32 or two f64, got {first} and {second}")
    return ArrayType(WHOLES[first.dtype], broadcast_shape("complex", types))


def _evaluate_complex(real: Any, imag: Any) -> Any:
    """Not `real + 1j * imag`, which turns an infinite part into nan."""
    dtype = np.result_type(real, np.complex64)
    result = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), dtype)
    result.real, result.imag = real, imag
    return result


complex_ = elementwise(
    "complex",
    None,
    {"f": lambda e, attrs, real, imag: e.complex(real, imag)},
    infer=_infer_complex,
    evaluate=_evaluate_complex,
    hlo="stablehlo.complex",
    flops=0,
)


def _conjugate(e: Any, attrs: Attrs, z: Any) -> Any:
    return e.complex(e.real(z), e.intrinsic("fneg", e.imag(z)))


# Of a real number the number itself: `ufuncs` emits nothing.
conjugate = elementwise("conjugate", np.conjugate, {"c": _conjugate}, hlo="chlo.conj")


def _reciprocal(e: Any, attrs: Attrs, z: Any) -> Any:
    """Divide by the larger part first, as NumPy does."""
    x, y = e.real(z), e.imag(z)
    one = e.constant(1.0, x.dtype)
    sizes = e.intrinsic("fabs", y), e.intrinsic("fabs", x)
    wide = e.compare("ole", *sizes, quiet=False)  # as NumPy: nan is invalid
    ratio = e.instruction("fdiv", e.select(wide, y, x), e.select(wide, x, y))
    first = e.select(wide, x, e.instruction("fmul", x, ratio))
    second = e.select(wide, e.instruction("fmul", y, ratio), y)
    scale = e.instruction("fadd", first, second)
    real = e.instruction("fdiv", e.select(wide, one, ratio), scale)
    imag = e.instruction("fdiv", e.intrinsic("fneg", e.select(wide, ratio, one)), scale)
    return e.complex(real, imag)


# Of a real number a division: `ufuncs` emits that.
reciprocal = elementwise("reciprocal", np.reciprocal, {"c": _reciprocal}, flops=14)

x, y = holes("x y")
rule("real-complex", node("real", node("complex", x, y)), x)
rule("imag-complex", node("imag", node("complex", x, y)), y)
rule("complex-parts", node("complex", node("real", x), node("imag", x)), x)
rule("conjugate-conjugate", node("conjugate", node("conjugate", x)), x)
