"""Reductions over axes. The result drops the axes; keeping them is a reshape.

A float sum begins with 0.0, so that its result is never -0.0, and is pairwise over fixed blocks:
its error is no worse than NumPy's and its bits do not depend on threads. float16 is reduced in
float32 and rounded once, as NumPy's inner loops do: a rule emits it so. An empty reduction without
identity is an error that the tracer checks.

A product of floats overflows in one order and not in another. So it is a `product`, in NumPy's
order, unless fastmath allows any: then it is a reduction like the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Op, Value
from ..ir.primitive import Attrs, Primitive, ProgramEmitter, register
from ..ir.types import ArrayType
from ..rewrite.rule import fold_rule
from .call import DirectCall
from .convert import convert
from .elementwise import add
from .families import DOUBLE, HALF, INT, SINGLE
from .movement import transpose


def _kept_shape(type: ArrayType, axes: tuple[int, ...]) -> tuple[Any, ...]:
    if any(not 0 <= axis < type.ndim for axis in axes) or list(axes) != sorted(set(axes)):
        raise TypeError(f"{axes} are not axes of {type}, in ascending order")
    return tuple([size for axis, size in enumerate(type.shape) if axis not in axes])


def _reduction(name: str, ufunc: np.ufunc, word: str, kinds: str = "biufc") -> Primitive:
    def infer(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
        dtype = types[0].dtype
        if dtype.kind not in kinds:
            raise TypeError(f"{name} is not defined for {types[0]}")
        return ArrayType(dtype, _kept_shape(types[0], attrs["axes"]))

    def evaluate(x: Any, axes: tuple[int, ...]) -> Any:
        array = np.asarray(x)
        working = SINGLE if array.dtype == HALF else array.dtype
        return ufunc.reduce(array, axis=axes, dtype=working).astype(array.dtype, copy=False)

    return register(
        Primitive(
            name=name,
            category="reduce",
            infer=infer,
            evaluate=evaluate,
            reduction=word,
            hlo=f"stablehlo.reduce {word}",
        )
    )


reduce_add = _reduction("reduce_add", np.add, "add")
reduce_multiply = _reduction("reduce_multiply", np.multiply, "multiply")
reduce_max = _reduction("reduce_max", np.maximum, "max")
reduce_min = _reduction("reduce_min", np.minimum, "min")
reduce_and = _reduction("reduce_and", np.bitwise_and, "and", "biu")
reduce_or = _reduction("reduce_or", np.bitwise_or, "or", "biu")
reduce_xor = _reduction("reduce_xor", np.bitwise_xor, "xor", "biu")


def _infer_product(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    operand, *start = types
    if operand.dtype.kind not in "fc":
        raise TypeError(f"product is not defined for {operand}")
    if any(each != ArrayType(operand.dtype, ()) for each in start):
        raise TypeError(f"a product of {operand} begins with one number, not with {start[0]}")
    return ArrayType(operand.dtype, _kept_shape(operand, attrs["axes"]))


def _evaluate_product(x: Any, start: Any = None, *, axes: tuple[int, ...]) -> Any:
    if start is None:
        return np.multiply.reduce(x, axes)
    return np.multiply.reduce(x, axes, initial=start)


def _execute_product(program: ProgramEmitter, op: Op) -> None:
    """The machine has one of float32 and of float64."""
    if op.operands[0].type.dtype not in (SINGLE, DOUBLE):
        program.evaluate(op)
        return
    operands = [program.slot(operand) for operand in op.operands]
    out = program.allocate(op.results[0])
    program.instruction("library", "product", operands, [out], list(op.attrs["axes"]), [])


# The product of an array, perhaps behind a number, in NumPy's order.
product = register(
    Primitive(
        name="product",
        category="scan",
        infer=_infer_product,
        evaluate=_evaluate_product,
        execute=_execute_product,
        direct=lambda attrs: DirectCall(_evaluate_product, (attrs["axes"],), ("axes",)),
        hlo="stablehlo.reduce multiply",
    )
)


def _infer_position(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    if len(attrs["axes"]) != 1:
        raise TypeError(f"a position is found along one axis, not along {attrs['axes']}")
    return ArrayType(INT, _kept_shape(types[0], attrs["axes"]))


def _position(name: str, function: Any) -> Primitive:
    """The index of the first largest or smallest element; of the first nan, if there is one."""
    return register(
        Primitive(
            name=name,
            category="reduce",
            infer=_infer_position,
            evaluate=lambda x, axes: np.asarray(function(x, axis=axes[0])),
            reduction=name,
            hlo=f"stablehlo.reduce {name}",
            flops=2,
        )
    )


argmax = _position("argmax", np.argmax)
argmin = _position("argmin", np.argmin)

_HALF_EXAMPLE = """graph example(%0: f16[n, 3]) where n = size(0, 0) {{
      %1: {result}[n] = {name}{{axes=(1,)}}(%0)
      return %1
    }}"""


@fold_rule(
    "product-in-order",
    "reduce_multiply",
    "graph example(%0: f64[n, 3]) where n = size(0, 0) {\n"
    " %1: f64[n] = reduce_multiply{axes=(1,)}(%0)\n return %1\n}",
)
def _product_in_order(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    if builder.fastmath or not attrs["axes"] or operands[0].type.dtype.kind not in "fc":
        return None
    return builder.emit(product, operands, attrs)


def _in_single(primitive: Primitive) -> None:
    """Each float16 reduction of `primitive` is one of float32."""
    name = primitive.name
    result = "i64" if name in ("argmax", "argmin") else "f16"

    exact = "real" if primitive is reduce_multiply else "bits"  # else it is a `product`

    @fold_rule(f"{name}-half", name, _HALF_EXAMPLE.format(name=name, result=result), exact=exact)
    def _fold(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
        if operands[0].type.dtype != HALF:
            return None
        wide = builder.emit(convert, operands, {"dtype": SINGLE})
        reduced = builder.emit(primitive, (wide,), attrs)
        return builder.emit(convert, (reduced,), {"dtype": HALF}) if result == "f16" else reduced


def _along_rows(primitive: Primitive) -> None:
    """A position along another axis than the last is one along the rows of the transposed array:
    kernels find positions along rows only, and a lane takes each where rows lie side by side.
    """
    name = primitive.name

    @fold_rule(
        f"{name}-along-rows",
        name,
        "graph example(%0: f64[n, 3]) where n = size(0, 0) {\n"
        f" %1: i64[3] = {name}{{axes=(0,)}}(%0)\n return %1\n}}",
    )
    def _fold(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
        operand, axes = operands[0], attrs["axes"]
        last = operand.type.ndim - 1
        if axes == (last,) or len(axes) != 1 or operand.type.dtype.kind not in "biuf":
            return None
        axis = axes[0]
        kept = tuple([each for each in range(last + 1) if each != axis])
        turned = builder.emit(transpose, operands, {"permutation": (*kept, axis)})
        return builder.emit(primitive, (turned,), {"axes": (last,)})


_along_rows(argmax)
_along_rows(argmin)

for _primitive in (reduce_add, reduce_multiply, reduce_max, reduce_min, argmax, argmin):
    _in_single(_primitive)


@fold_rule(
    "sum-nothing",
    "reduce_add",
    "graph example(%0: f64[n]) where n = size(0, 0) {\n"
    " %1: f64[n] = reduce_add{axes=()}(%0)\n return %1\n}",
)
def _sum_nothing(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    (operand,) = operands
    if attrs["axes"]:
        return None
    dtype = operand.type.dtype
    return (
        builder.emit(add, (operand, builder.constant(0, dtype))) if dtype.kind in "fc" else operand
    )


@fold_rule(
    "reduce-nothing",
    "reduce_multiply reduce_max reduce_min reduce_and reduce_or reduce_xor",
    "graph example(%0: f64[n]) where n = size(0, 0) {\n"
    " %1: f64[n] = reduce_max{axes=()}(%0)\n return %1\n}",
)
def _reduce_nothing(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
    return operands[0] if not attrs["axes"] else None
