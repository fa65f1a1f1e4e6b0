"""Arithmetic and mathematical functions of each element, and their rules."""

from __future__ import annotations

import numpy as np

from ..rewrite.pattern import holes
from ..rewrite.rule import rule
from .families import binary, intrinsic, math, unary

add = binary(
    "add",
    np.add,
    {"b": "or", "i": "add", "f": "fadd", "c": lambda e, attrs, a, b: e.complex(
        e.instruction("fadd", e.real(a), e.real(b)), e.instruction("fadd", e.imag(a), e.imag(b))
    )},
    hlo="stablehlo.add",
    commutative=True,
)
subtract = binary(
    "subtract",
    np.subtract,
    {"i": "sub", "f": "fsub", "c": lambda e, attrs, a, b: e.complex(
        e.instruction("fsub", e.real(a), e.real(b)), e.instruction("fsub", e.imag(a), e.imag(b))
    )},
    hlo="stablehlo.subtract",
)
multiply = binary(
    "multiply", np.multiply, {"b": "and", "i": "mul", "f": "fmul"}, hlo="stablehlo.multiply", commutative=True
)
divide = binary("divide", np.divide, {"f": "fdiv"}, hlo="stablehlo.divide", flops=4)
negate = unary(
    "negate",
    np.negative,
    {
        "i": lambda e, attrs, a: e.instruction("sub", e.constant(0, a.dtype), a),
        "f": lambda e, attrs, a: e.intrinsic("fneg", a),
    },
    hlo="stablehlo.negate",
)
sqrt = unary("sqrt", np.sqrt, {"f": intrinsic("sqrt")}, hlo="stablehlo.sqrt", flops=6)
sine = unary("sine", np.sin, {"f": math("sine")}, hlo="stablehlo.sine", ulp=2, flops=20)
cosine = unary("cosine", np.cos, {"f": math("cosine")}, hlo="stablehlo.cosine", ulp=2, flops=20)
exponential = unary("exponential", np.exp, {"f": math("exponential")}, hlo="stablehlo.exponential", ulp=2, flops=16)

x, y = holes("x y")
rule("neg-neg", -(-x), x)
rule("add-neg", x + -y, x - y)
rule("sub-neg", x - -y, x + y)
rule("add-negzero", x + -0.0, x, kinds="f")
rule("add-zero", x + 0.0, x, kinds="f", exact="value")
rule("add-zero-int", x + 0, x, kinds="iu")
rule("mul-one", x * 1, x, kinds="iuf")
rule("div-one", x / 1, x, kinds="f")
