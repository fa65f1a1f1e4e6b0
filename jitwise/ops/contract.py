"""Matrix products: one canonical form, to which every contraction is brought by views.

    dot_general(lhs[B..., M, K], rhs[B..., K, N])  ->  [B..., M, N]

A vector is a matrix with an axis of one; contracted axes are merged and moved by transpose and
reshape.
"""

from __future__ import annotations

import numpy as np

from ..ir.graph import Op
from ..ir.primitive import Attrs, Primitive, ProgramEmitter, register
from ..ir.types import ArrayType


def _infer(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    left, right = types
    if left.dtype != right.dtype or left.ndim != right.ndim or left.ndim < 2:
        raise TypeError(
            f"dot_general needs two stacks of matrices of one dtype, got {left}, {right}"
        )
    if left.shape[:-2] != right.shape[:-2] or left.shape[-1] != right.shape[-2]:
        raise TypeError(f"dot_general cannot multiply {left} and {right}: the sizes differ")
    return ArrayType(left.dtype, (*left.shape[:-1], right.shape[-1]))


def _execute(program: ProgramEmitter, op: Op) -> None:
    operands = [program.slot(operand) for operand in op.operands]
    out = program.allocate(op.results[0])
    program.instruction("library", "matmul", operands, [out], [], [])


dot_general = register(
    Primitive(
        name="dot_general",
        category="contract",
        infer=_infer,
        evaluate=np.matmul,
        ufunc=np.matmul,
        execute=_execute,
        hlo="stablehlo.dot_general",
        flops=2,  # for each term of the sum
    )
)
