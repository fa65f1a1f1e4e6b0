"""Mathematical functions of each element, computed by the vector math library.

At most 2 ulp from the true value over the whole range, with NumPy's special values. Complex ones
have no native code: the program calls NumPy.
"""

from __future__ import annotations

import numpy as np

from ..ir.primitive import Primitive
from ..rewrite.pattern import holes, node
from ..rewrite.rule import rule
from .families import MathCall, elementwise, intrinsic


def _function(name: str, ufunc: np.ufunc, hlo: str | None, flops: float) -> Primitive:
    return elementwise(name, ufunc, {"f": MathCall(name)}, hlo=hlo, ulp=2, flops=flops)


sqrt = elementwise("sqrt", np.sqrt, {"f": intrinsic("sqrt")}, hlo="stablehlo.sqrt", flops=6)
cbrt = _function("cbrt", np.cbrt, "stablehlo.cbrt", 25)

exponential = _function("exponential", np.exp, "stablehlo.exponential", 16)
exp2 = _function("exp2", np.exp2, None, 16)
exponential_minus_one = _function(
    "exponential_minus_one", np.expm1, "stablehlo.exponential_minus_one", 22
)
log = _function("log", np.log, "stablehlo.log", 20)
log2 = _function("log2", np.log2, None, 22)
log10 = _function("log10", np.log10, None, 22)
log_plus_one = _function("log_plus_one", np.log1p, "stablehlo.log_plus_one", 24)

sine = _function("sine", np.sin, "stablehlo.sine", 20)
cosine = _function("cosine", np.cos, "stablehlo.cosine", 20)
tan = _function("tan", np.tan, "stablehlo.tan", 26)
asin = _function("asin", np.arcsin, "chlo.asin", 24)
acos = _function("acos", np.arccos, "chlo.acos", 24)
atan = _function("atan", np.arctan, "chlo.atan", 24)
atan2 = _function("atan2", np.arctan2, "stablehlo.atan2", 32)

sinh = _function("sinh", np.sinh, "chlo.sinh", 28)
cosh = _function("cosh", np.cosh, "chlo.cosh", 26)
tanh = _function("tanh", np.tanh, "stablehlo.tanh", 22)
asinh = _function("asinh", np.arcsinh, "chlo.asinh", 34)
acosh = _function("acosh", np.arccosh, "chlo.acosh", 34)
atanh = _function("atanh", np.arctanh, "chlo.atanh", 34)

hypot = _function("hypot", np.hypot, None, 16)
logaddexp = _function("logaddexp", np.logaddexp, None, 44)
logaddexp2 = _function("logaddexp2", np.logaddexp2, None, 44)

(x,) = holes("x")
rule("log-exp", node("log", node("exponential", x)), x, kinds="f", exact="real")
rule("exp-log", node("exponential", node("log", x)), x, kinds="f", exact="real")
rule("sqrt-square", node("sqrt", x * x), node("abs", x), kinds="f", exact="real")
rule("tanh-neg", node("tanh", -x), -node("tanh", x), kinds="f", exact="real")
rule("cos-neg", node("cosine", -x), node("cosine", x), kinds="f", exact="real")
