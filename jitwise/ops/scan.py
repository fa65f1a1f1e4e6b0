"""Running totals along an axis, in order, as NumPy's `accumulate`: each element is rounded once.

Products of complex numbers are fused in some of NumPy's loops and not in others, and those of
half precision tell of underflow: both are left to NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.graph import Op
from ..ir.primitive import Attrs, Primitive, ProgramEmitter, register
from ..ir.types import ArrayType
from .call import DirectCall
from .families import HALF


def _infer(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    if not 0 <= attrs["axis"] < types[0].ndim:
        raise TypeError(f"{types[0]} has no axis {attrs['axis']}")
    return types[0]


def _cumulative(name: str, ufunc: np.ufunc, library: str | None) -> Primitive:
    def evaluate(x: Any, axis: int) -> Any:
        array = np.asarray(x)
        return ufunc.accumulate(array, axis=axis, dtype=array.dtype)

    def execute(program: ProgramEmitter, op: Op) -> None:
        dtype = op.operands[0].type.dtype
        if ufunc is np.multiply and (dtype.kind == "c" or dtype == HALF):
            program.evaluate(op)
            return
        operand = program.slot(op.operands[0])
        out = program.allocate(op.results[0])
        program.instruction("library", library, [operand], [out], [op.attrs["axis"], 0], [])

    return register(
        Primitive(
            name=name,
            category="scan",
            infer=_infer,
            evaluate=evaluate,
            execute=execute if library else None,
            # Extremes keep the dtype, and so do complex numbers and float16.
            direct=lambda attrs: DirectCall(ufunc.accumulate, (attrs["axis"],), ()),
        )
    )


cumulative_add = _cumulative("cumulative_add", np.add, "cumsum")
cumulative_multiply = _cumulative("cumulative_multiply", np.multiply, "cumprod")
cumulative_max = _cumulative("cumulative_max", np.maximum, None)
cumulative_min = _cumulative("cumulative_min", np.minimum, None)
