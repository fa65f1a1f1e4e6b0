"""Reductions over axes. The result drops the axes; keeping them is a reshape.

A float sum is pairwise over fixed blocks: its error is no worse than NumPy's and its bits do not
depend on threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.primitive import Attrs, Primitive, register
from ..ir.types import ArrayType


def _infer_reduce(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    axes = attrs["axes"]
    type = types[0]
    if any(not 0 <= axis < type.ndim for axis in axes) or list(axes) != sorted(set(axes)):
        raise TypeError(f"{axes} are not axes of {type}, in ascending order")
    kept = tuple(size for axis, size in enumerate(type.shape) if axis not in axes)
    return ArrayType(type.dtype, kept)


def _reduction(name: str, ufunc: np.ufunc, word: str, **facts: Any) -> Primitive:
    def evaluate(x: Any, axes: tuple[int, ...]) -> Any:
        array = np.asarray(x)
        return ufunc.reduce(array, axis=axes, dtype=array.dtype)

    return register(
        Primitive(
            name=name,
            category="reduce",
            infer=_infer_reduce,
            evaluate=evaluate,
            reduction=word,
            hlo=f"stablehlo.reduce {word}",
            **facts,
        )
    )


reduce_add = _reduction("reduce_add", np.add, "add")
reduce_multiply = _reduction("reduce_multiply", np.multiply, "multiply")
reduce_max = _reduction("reduce_max", np.maximum, "max")
reduce_min = _reduction("reduce_min", np.minimum, "min")
reduce_and = _reduction("reduce_and", np.logical_and, "and")
reduce_or = _reduction("reduce_or", np.logical_or, "or")
