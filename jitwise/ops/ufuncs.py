"""What to emit for a NumPy ufunc: `UFUNCS`, derived from the rows, and `emit_ufunc`.

    emit_ufunc(builder, np.add, (x, y))      ->  (add(x, y),)
    emit_ufunc(builder, np.divmod, (x, y))   ->  (floor_divide(x, y), remainder(x, y))
    emit_ufunc(builder, np.floor, (i64,))    ->  the operand

Operands have the dtypes of the loop (`promotion.resolve_loop`), and one shape or rank 0. A ufunc
that a primitive names as its own is that primitive; what needs a choice by dtype, or several ops,
is a function in the table below. A ufunc that is not in `UFUNCS` is not elementwise, or works on
text or dates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Source, Value
from ..ir.primitive import REGISTRY, Primitive
from . import compare, complex_number, elementwise, extremes, floating, integer, transcendental
from .convert import convert
from .families import BOOL, DOUBLE, HALF, SINGLE
from .movement import filled

Emission = Callable[[Builder, tuple[Value, ...], Source | None], tuple[Value, ...]]
UFUNCS: dict[np.ufunc, Primitive | Emission] = {}


def emit_ufunc(
    builder: Builder, ufunc: np.ufunc, operands: tuple[Value, ...], source: Source | None = None
) -> tuple[Value, ...]:
    """The results of `ufunc` on operands of its loop's dtypes. Raises KeyError: see `UFUNCS`."""
    found = UFUNCS.get(ufunc) or _registered(ufunc)
    if isinstance(found, Primitive):
        return (builder.emit(found, operands, source=source),)
    return found(builder, operands, source)


def _registered(ufunc: np.ufunc) -> Primitive:
    """A primitive whose row was added after this table was made."""
    for primitive in REGISTRY.values():
        if primitive.ufunc is ufunc and primitive.category == "elementwise":
            UFUNCS[ufunc] = primitive
            return primitive
    raise KeyError(ufunc)


def compare_out_of_range(
    ufunc: np.ufunc, value: int, dtype: np.dtype, value_first: bool = False
) -> bool | None:
    """What comparing integers of `dtype` with a Python int gives everywhere when it does not fit.

    None when it fits, or when `ufunc` is no comparison (NumPy then raises OverflowError).
    """
    bounds = np.iinfo(dtype)
    if ufunc not in _COMPARISONS or bounds.min <= value <= bounds.max:
        return None
    stand_in = 1 if value > 0 else -1  # compared with 0, which stands for every element
    return bool(ufunc(stand_in, 0) if value_first else ufunc(0, stand_in))


_COMPARISONS = {
    np.less: compare.less,
    np.less_equal: compare.less_equal,
    np.greater: compare.greater,
    np.greater_equal: compare.greater_equal,
    np.equal: compare.equal,
    np.not_equal: compare.not_equal,
}
_MIRRORED = {
    np.less: np.greater,
    np.less_equal: np.greater_equal,
    np.greater: np.less,
    np.greater_equal: np.less_equal,
    np.equal: np.equal,
    np.not_equal: np.not_equal,
}


def _convert(builder: Builder, value: Value, dtype: np.dtype, source: Source | None) -> Value:
    return builder.emit(convert, (value,), {"dtype": dtype}, source)


def _same(builder: Builder, operands: tuple[Value, ...], source: Source | None) -> Any:
    return operands


def _by_kind(**choices: Primitive | Emission) -> Emission:
    """Choose by the dtype kind of the first operand; `other` serves the kinds not named."""

    def emission(builder: Builder, operands: tuple[Value, ...], source: Source | None) -> Any:
        kind = operands[0].type.dtype.kind
        chosen = choices.get(kind) or choices["other"]
        if isinstance(chosen, Primitive):
            return (builder.emit(chosen, operands, source=source),)
        return chosen(builder, operands, source)

    return emission


def _never(value: bool) -> Emission:
    return lambda builder, operands, source: (filled(builder, value, BOOL, operands[0].type.shape),)


def _comparison(ufunc: np.ufunc) -> Emission:
    """Comparisons of int64 with uint64 are exact: a negative number is below every unsigned one."""
    primitive = _COMPARISONS[ufunc]
    below = bool(ufunc(-1, 0))

    def emission(builder: Builder, operands: tuple[Value, ...], source: Source | None) -> Any:
        left, right = operands
        if left.type.dtype == right.type.dtype:
            return (builder.emit(primitive, operands, source=source),)
        if left.type.dtype.kind == "u":
            return UFUNCS[_MIRRORED[ufunc]](builder, (right, left), source)  # type: ignore[operator]
        zero = builder.constant(0, left.type.dtype)
        unsigned = _convert(builder, left, right.type.dtype, source)
        compared = builder.emit(primitive, (unsigned, right), source=source)
        test, combine = (
            (compare.less, integer.or_) if below else (compare.greater_equal, integer.and_)
        )
        sign = builder.emit(test, (left, zero), source=source)
        return (builder.emit(combine, (sign, compared), source=source),)

    return emission


def _logical(primitive: Primitive) -> Emission:
    def emission(builder: Builder, operands: tuple[Value, ...], source: Source | None) -> Any:
        masks = tuple([_convert(builder, operand, BOOL, source) for operand in operands])
        return (builder.emit(primitive, masks, source=source),)

    return emission


def _absolute_complex(
    builder: Builder, operands: tuple[Value, ...], source: Source | None
) -> tuple[Value, ...]:
    parts = tuple(
        [builder.emit(each, operands) for each in (complex_number.real, complex_number.imag)]
    )
    return (builder.emit(transcendental.hypot, parts, source=source),)


def _square(builder: Builder, operands: tuple[Value, ...], source: Source | None) -> Any:
    return (builder.emit(elementwise.multiply, operands * 2, source=source),)


def _reciprocal(builder: Builder, operands: tuple[Value, ...], source: Source | None) -> Any:
    """Of an integer: the float quotient, truncated."""
    operand = operands[0]
    dtype = operand.type.dtype
    working = dtype if dtype.kind == "f" else DOUBLE
    one = builder.constant(1.0, working)
    divisor = _convert(builder, operand, working, source)
    quotient = builder.emit(elementwise.divide, (one, divisor), source=source)
    return (_convert(builder, quotient, dtype, source),)


def _scaled(numerator: float, denominator: float) -> Emission:
    """The product with a constant that is rounded to the operand's dtype; float16 in float32."""

    def emission(builder: Builder, operands: tuple[Value, ...], source: Source | None) -> Any:
        dtype = operands[0].type.dtype
        working = SINGLE if dtype == HALF else dtype
        scalar = working.type
        factor = builder.constant(scalar(numerator) / scalar(denominator), working)
        wide = _convert(builder, operands[0], working, source)
        product = builder.emit(elementwise.multiply, (wide, factor), source=source)
        return (_convert(builder, product, dtype, source),)

    return emission


def _pair(first: Primitive, second: Primitive) -> Emission:
    return lambda builder, operands, source: (
        builder.emit(first, operands, source=source),
        builder.emit(second, operands, source=source),
    )


def _modf(builder: Builder, operands: tuple[Value, ...], source: Source | None) -> Any:
    """The fraction with the operand's sign (0 of an infinite one), and the whole part."""
    operand = operands[0]
    whole = builder.emit(floating.trunc, operands, source=source)
    infinite = builder.emit(floating.is_inf, operands, source=source)
    zero = builder.constant(0.0, operand.type.dtype)
    taken = builder.emit(compare.select, (infinite, zero, whole), source=source)
    rest = builder.emit(elementwise.subtract, (operand, taken), source=source)
    rest = builder.emit(compare.select, (infinite, zero, rest), source=source)
    return builder.emit(floating.copysign, (rest, operand), source=source), whole


def _clip(builder: Builder, operands: tuple[Value, ...], source: Source | None) -> Any:
    """`clamp` when the bounds are scalars; over arrays of bounds NumPy takes another zero."""
    operand, low, high = operands
    if operand.type.dtype.kind == "c" or not (low.type.shape or high.type.shape):
        return (builder.emit(extremes.clamp, operands, source=source),)
    raised = _bounded(builder, operand, low, compare.greater, source)
    return (_bounded(builder, raised, high, compare.less, source),)


def _bounded(
    builder: Builder, operand: Value, bound: Value, inside: Primitive, source: Source | None
) -> Value:
    kept = builder.emit(inside, (operand, bound), source=source)
    if operand.type.dtype.kind == "f":
        nan = builder.emit(floating.is_nan, (operand,), source=source)
        kept = builder.emit(integer.or_, (kept, nan), source=source)
    return builder.emit(compare.select, (kept, operand, bound), source=source)


UFUNCS.update(
    (primitive.ufunc, primitive)
    for primitive in list(REGISTRY.values())
    if primitive.ufunc is not None and primitive.category == "elementwise"
)
UFUNCS.update({ufunc: _comparison(ufunc) for ufunc in _COMPARISONS})
UFUNCS.update(
    {
        np.positive: _same,
        np.conjugate: _by_kind(c=complex_number.conjugate, other=_same),
        np.absolute: _by_kind(b=_same, u=_same, c=_absolute_complex, other=elementwise.absolute),
        np.fabs: elementwise.absolute,
        np.square: _square,
        np.reciprocal: _by_kind(c=complex_number.reciprocal, other=_reciprocal),
        np.floor: _by_kind(f=floating.floor, other=_same),
        np.ceil: _by_kind(f=floating.ceil, other=_same),
        np.trunc: _by_kind(f=floating.trunc, other=_same),
        np.isnan: _by_kind(f=floating.is_nan, c=floating.is_nan, other=_never(False)),
        np.isinf: _by_kind(f=floating.is_inf, c=floating.is_inf, other=_never(False)),
        np.isfinite: _by_kind(f=floating.is_finite, c=floating.is_finite, other=_never(True)),
        np.degrees: _scaled(180.0, np.pi),
        np.rad2deg: _scaled(180.0, np.pi),
        np.radians: _scaled(np.pi, 180.0),
        np.deg2rad: _scaled(np.pi, 180.0),
        np.float_power: elementwise.power,
        np.divmod: _pair(elementwise.floor_divide, elementwise.remainder),
        np.modf: _modf,
        np.frexp: _pair(floating.frexp_mantissa, floating.frexp_exponent),
        np.logical_and: _logical(integer.and_),
        np.logical_or: _logical(integer.or_),
        np.logical_xor: _logical(integer.xor),
        np.logical_not: _logical(integer.not_),
        extremes.clamp.ufunc: _clip,
        np._core.umath._ones_like: lambda builder, operands, source: (  # pyright: ignore
            filled(builder, 1, operands[0].type.dtype, operands[0].type.shape),
        ),
    }
)
