"""Random numbers, drawn by NumPy's generators while the program runs.

    rng.normal(0.0, 2.0, n)   ->   %1: i64[], %2: f64[n] = draw{generator=('place', 0),
                                       method='normal', arguments=(...), types=(f64[n],), ...}(%0)

A draw changes its generator, so it is an effect: it takes place once, is no other draw's equal, and
follows the draw before it, whose first result it takes as its first operand. That result says
nothing; it orders. `generator` is what the entry looked up at the call (`place`), or was made
before (`made`) or is made now (`make`) by the program. Arguments and `changed` are those of `call`.

No graph with draws can be evaluated apart from a call: the numbers are the call's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.primitive import Attrs, Primitive, register
from ..ir.types import ArrayType

ORDER = ArrayType(np.dtype(np.int64), ())  # the result that orders


def _infer(types: tuple[ArrayType, ...], attrs: Attrs) -> tuple[ArrayType, ...]:
    if not types or types[0] != ORDER:
        raise TypeError("a draw follows another, or a constant")
    return (ORDER, *attrs["types"])


def _evaluate(*operands: Any, **attrs: Any) -> Any:
    raise NotImplementedError(f"{attrs['method']} is drawn by a call only")


draw = register(
    Primitive(
        name="draw",
        category="call",
        infer=_infer,
        evaluate=_evaluate,
        multiple=True,
        effect=True,
        hlo="stablehlo.custom_call",
        flops=10,
    )
)
