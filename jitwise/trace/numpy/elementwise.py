"""Functions of each element that are no ufuncs: where, clip, round, select, nan_to_num, isclose,
real, imag, angle, sinc.

    np.where(m, x, 0)   ->  select(m, x, constant), in the dtype of x
    np.round(x, 2)      ->  multiply by 100, round_nearest_even, divide by 100

`np.where(m)` is `nonzero`: see `selecting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.types import DTYPE_NAMES
from ...ops import complex_number
from ...ops.compare import select as select_
from ..memory import write
from ..size import SizeTracer
from ..tracer import FUNCTIONS, METHODS, Tracer
from ..ufuncs import _as_dtype, apply
from .arguments import NO_VALUE, is_traced, strong
from .create import filled
from .elements import cast
from .library import left_to_numpy, stored
from .selecting import nonzero
from .views import copied, same_memory

if TYPE_CHECKING:
    from ..tracing import Trace

BOOL = np.dtype(np.bool_)
_CLIP = np._core.umath.clip  # type: ignore[attr-defined]


def common_dtype(trace: Trace, operands: Sequence[Tracer]) -> np.dtype:
    """The dtype of a result that holds elements of all operands; Python numbers are weak."""
    try:
        found = np.result_type(
            *[each._hint if each._kind == "python" else each._value.type.dtype for each in operands]
        )
    except TypeError:
        trace.refuse("error", "TypeError")
    if found not in DTYPE_NAMES:
        trace.refuse("dtype", str(found))
    return found


def as_dtype(trace: Trace, operand: Tracer, dtype: np.dtype) -> Tracer:
    """`operand` in `dtype`; a Python int must fit, as NumPy demands."""
    return (
        operand if operand._value.type.dtype == dtype else _as_dtype(trace, operand, dtype, np.add)
    )


def chosen(
    trace: Trace, mask: Tracer, on_true: Tracer, on_false: Tracer, kind: str | None = None
) -> Tracer:
    """`select` with broadcasting; the last two are of one dtype."""
    return trace.emit(select_, trace.align([mask, on_true, on_false]), kind=kind)


def where(trace: Trace, condition: Any, x: Any = NO_VALUE, y: Any = NO_VALUE, /) -> Any:
    if x is NO_VALUE and y is NO_VALUE:
        return nonzero(trace, condition)
    if x is NO_VALUE or y is NO_VALUE:
        trace.refuse("error", "ValueError: either both or neither of x and y should be given")
    mask = trace.convert(trace.lift(condition), BOOL)
    operands = [trace.lift(x), trace.lift(y)]
    dtype = common_dtype(trace, operands)
    return chosen(trace, mask, *[as_dtype(trace, each, dtype) for each in operands], kind="array")


def clip(
    trace: Trace,
    a: Any,
    a_min: Any = NO_VALUE,
    a_max: Any = NO_VALUE,
    out: Any = None,
    *,
    min: Any = NO_VALUE,
    max: Any = NO_VALUE,
    dtype: Any = None,
) -> Tracer:
    if dtype is not None:
        trace.refuse("argument", "clip(dtype=...)")
    if out is not None:
        result = clip(trace, a, a_min, a_max, min=min, max=max)
        if isinstance(out, Tracer) and out.dtype == result.dtype:
            return stored(trace, out, result)
        return left_to_numpy(trace, np.clip, (a, a_min, a_max, out), {"min": min, "max": max})
    if a_min is NO_VALUE and a_max is NO_VALUE:
        a_min, a_max = min, max
    elif a_min is NO_VALUE or a_max is NO_VALUE:
        trace.refuse("error", "TypeError")
    low = None if a_min is NO_VALUE else a_min
    high = None if a_max is NO_VALUE else a_max
    operand = strong(trace, a)
    own = operand._value.type.dtype
    if own.kind in "iu":  # a Python int beyond the dtype bounds nothing
        limits = np.iinfo(own)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    if low is None:
        if high is None:
            return apply(trace, np.positive, [operand])
        return apply(trace, np.minimum, [operand, high])
    if high is None:
        return apply(trace, np.maximum, [operand, low])
    return apply(trace, _CLIP, [operand, low, high])


def round(trace: Trace, a: Any, decimals: Any = 0, out: Any = None) -> Tracer:
    operand = trace.lift(a)
    if type(decimals) is not int or decimals:
        trace.refuse_swapped(operand._value)  # NumPy keeps a foreign byte order then
    kind = operand._value.type.dtype.kind
    plain = out is None and type(decimals) is int and abs(decimals) <= 22
    if kind in "iu" and plain and decimals >= 0:
        return copied(trace, operand, "array" if operand.ndim else "scalar")
    if kind != "f" or not plain:
        return left_to_numpy(trace, np.round, (operand, decimals, out), {})
    if decimals == 0:
        return apply(trace, np.rint, [operand])
    scale = trace.constant(10.0 ** abs(decimals), operand._value.type.dtype)
    first, second = (np.multiply, np.true_divide) if decimals > 0 else (np.true_divide, np.multiply)
    return apply(
        trace, second, [apply(trace, np.rint, [apply(trace, first, [operand, scale])]), scale]
    )


def fix(trace: Trace, x: Any, out: Any = None) -> Tracer:
    if out is not None:
        trace.refuse("argument", "fix(out=...)")
    return apply(trace, np.trunc, [trace.lift(x)])


def select(trace: Trace, condlist: Any, choicelist: Any, default: Any = 0) -> Tracer:
    if len(condlist) != len(choicelist) or not len(condlist):
        trace.refuse("error", "ValueError")
    masks = [trace.lift(item) for item in condlist]
    choices = [trace.lift(item) for item in (*choicelist, default)]
    if any(mask._value.type.dtype != BOOL for mask in masks):
        trace.refuse("error", "TypeError: invalid entry in condlist")
    dtype = common_dtype(trace, choices)
    # A Python number takes part in the dtype, and is an array of its own when it is copied.
    choices = [strong(trace, choice) for choice in choices]
    if not all(np.can_cast(each.dtype, dtype, "same_kind") for each in choices[:-1]):
        trace.refuse("error", "UFuncTypeError: cannot cast")
    choices = [cast(trace, choice, dtype) for choice in choices]
    shape = trace.broadcast_shapes([each._value.type.shape for each in (*masks, *choices)])
    result = trace.broadcast(choices[-1], shape)
    for mask, choice in zip(masks[::-1], choices[-2::-1], strict=True):
        result = chosen(trace, mask, choice, result, "array")
    return trace.wrap(result._value, "array")


def nan_to_num(
    trace: Trace, x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Tracer:
    operand = trace.lift(x)
    dtype = operand._value.type.dtype
    if not copy:
        if operand._kind != "array":
            trace.refuse("error", "ValueError: Unable to avoid copy")
        if dtype.kind in "fc":
            write(operand, nan_to_num(trace, operand, True, nan, posinf, neginf)._value)
        return operand if operand.ndim else Tracer(trace, operand._value, "scalar")
    if dtype.kind in "fc":
        trace.refuse_swapped(operand._value)  # NumPy changes a copy
    if dtype.kind == "c":
        halves = [
            trace.emit(each, (operand,)) for each in (complex_number.real, complex_number.imag)
        ]
        halves = [nan_to_num(trace, half, True, nan, posinf, neginf) for half in halves]
        return trace.emit(complex_number.complex_, tuple(halves))
    if dtype.kind != "f":
        return copied(trace, operand, "array" if operand.ndim else "scalar")
    limits = np.finfo(dtype)
    numbers = [
        nan,
        limits.max if posinf is None else posinf,
        limits.min if neginf is None else neginf,
    ]
    if not all(isinstance(number, (int, float, np.floating)) for number in numbers) or is_traced(
        *numbers
    ):
        trace.refuse("argument", "nan_to_num with traced replacements")
    fillers = [trace.constant(dtype.type(number), dtype) for number in numbers]
    result = operand
    for test, filler in zip((-np.inf, np.inf), fillers[:0:-1], strict=True):
        infinite = apply(trace, np.equal, [operand, trace.constant(test, dtype)])
        result = chosen(trace, infinite, filler, result)
    result = chosen(trace, apply(trace, np.isnan, [operand]), fillers[0], result)
    return trace.wrap(result._value)


def isclose(
    trace: Trace, a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: Any = False
) -> Tracer:
    left = trace.lift(a)
    right = trace.lift(b)
    if any(type(each) not in (int, float) or not np.isfinite(each) for each in (rtol, atol)):
        trace.refuse("argument", "isclose with traced or infinite tolerances")
    if right._kind == "python":
        if right.dtype.kind == "i":
            value = trace.convert(right, np.dtype(np.float64))._value
            right = Tracer(trace, value, "python", float(right._hint))
    else:
        right = trace.convert(right, np.result_type(right.dtype, 1.0))
    distance = apply(trace, np.absolute, [apply(trace, np.subtract, [left, right])])
    bound = apply(
        trace, np.add, [atol, apply(trace, np.multiply, [rtol, apply(trace, np.absolute, [right])])]
    )
    near = apply(trace, np.less_equal, [distance, bound])
    near = apply(trace, np.bitwise_and, [near, apply(trace, np.isfinite, [right])])
    result = apply(trace, np.bitwise_or, [near, apply(trace, np.equal, [left, right])])
    if equal_nan:
        both = apply(
            trace, np.bitwise_and, [apply(trace, np.isnan, [each]) for each in (left, right)]
        )
        result = apply(trace, np.bitwise_or, [result, both])
    return result


# Complex numbers


def _real(operand: Tracer) -> Tracer:
    trace = operand._trace
    if operand._value.type.dtype.kind != "c":
        return operand if operand._kind == "python" else same_memory(trace, operand)
    if operand._kind == "python":
        trace.refuse("value", "real")
    trace.refuse_swapped(operand._value)
    result = trace.emit(complex_number.real, (operand,), kind=operand._kind)
    if operand._kind == "array":
        operand._shared = result._shared = True
        result._fresh = operand._fresh
    return result


def _imag(operand: Tracer) -> Any:
    trace = operand._trace
    if operand._kind == "python":
        return (
            type(operand._hint)(0) if operand.dtype.kind in "if" else trace.refuse("value", "imag")
        )
    trace.refuse_swapped(operand._value)
    if operand._value.type.dtype.kind != "c":
        zero = filled(
            trace, trace.constant(0, operand._value.type.dtype), operand._value.type.shape
        )
        zero._kind = operand._kind
        zero._shared = True  # NumPy makes it read-only
        return zero
    result = trace.emit(complex_number.imag, (operand,), kind=operand._kind)
    if operand._kind == "array":
        operand._shared = result._shared = True
        result._fresh = operand._fresh
    return result


_real.is_property = True  # type: ignore[attr-defined]
_imag.is_property = True  # type: ignore[attr-defined]


def real(trace: Trace, val: Any) -> Tracer:
    operand = trace.lift(val)
    if operand._kind == "python" and type(operand._hint) is bool:
        trace.refuse("argument", "real of a bool")  # an int
    return _real(operand)


def imag(trace: Trace, val: Any) -> Any:
    return _imag(trace.lift(val))


def _conjugate_method(operand: Tracer) -> Tracer:
    if operand._value.type.dtype.kind != "c":
        return operand
    kind = "python" if operand._kind == "python" else None
    return operand._trace.emit(complex_number.conjugate, (operand,), kind=kind)


def angle(trace: Trace, z: Any, deg: Any = False) -> Tracer:
    operand = trace.lift(z)
    if operand._value.type.dtype.kind == "c":
        parts: list[Any] = [
            trace.emit(part, (operand,)) for part in (complex_number.imag, complex_number.real)
        ]
    else:
        parts = [0, operand]
    result = apply(trace, np.arctan2, parts)
    if not deg:
        return result
    return apply(trace, np.multiply, [result, trace.constant(180 / np.pi, result.dtype)])


def sinc(trace: Trace, x: Any) -> Tracer:
    scaled = apply(trace, np.multiply, [np.pi, trace.lift(x)])
    dtype = scaled._value.type.dtype
    if dtype.kind != "f":
        return left_to_numpy(trace, np.sinc, (x,), {})
    nonzero = trace.convert(scaled, BOOL)
    angle = chosen(trace, nonzero, scaled, trace.constant(np.finfo(dtype).eps, dtype))
    return apply(trace, np.true_divide, [apply(trace, np.sin, [angle]), angle])


def isposinf(trace: Trace, x: Any, out: Any = None) -> Tracer:
    return _is_infinite(trace, x, out, np.inf)


def isneginf(trace: Trace, x: Any, out: Any = None) -> Tracer:
    return _is_infinite(trace, x, out, -np.inf)


def _is_infinite(trace: Trace, x: Any, out: Any, sign: float) -> Tracer:
    operand = trace.lift(x)
    dtype = operand._value.type.dtype
    if dtype.kind == "c":
        trace.refuse("error", "TypeError: This operation is not supported for complex numbers")
    if dtype.kind == "f":
        result = apply(trace, np.equal, [operand, trace.constant(sign, dtype)])
    else:
        never = filled(trace, trace.constant(False, BOOL), operand._value.type.shape)
        result = trace.wrap(never._value)
    return result if out is None else stored(trace, out, result)


# Facts about types


def iscomplexobj(trace: Trace, x: Any) -> bool:
    return trace.lift(x)._value.type.dtype.kind == "c"


def isrealobj(trace: Trace, x: Any) -> bool:
    return not iscomplexobj(trace, x)


def _plain(item: Any) -> Any:
    if type(item) is SizeTracer:
        return 0
    if isinstance(item, Tracer):
        return item._hint if item._kind == "python" else item._value.type.dtype
    return item


def result_type(trace: Trace, *arrays_and_dtypes: Any) -> np.dtype:
    return np.result_type(*map(_plain, arrays_and_dtypes))


def can_cast(trace: Trace, from_: Any, to: Any, casting: Any = "safe") -> bool:
    return np.can_cast(_plain(from_), to, casting)


def _round_method(operand: Tracer, decimals: Any = 0, out: Any = None) -> Tracer:
    return round(operand._trace, operand, decimals, out)


def _clip_method(operand: Tracer, min: Any = None, max: Any = None, out: Any = None) -> Tracer:
    return clip(operand._trace, operand, min, max, out)


FUNCTIONS.update(
    {
        np.where: where,
        np.clip: clip,
        np.round: round,
        np.around: round,
        np.fix: fix,
        np.select: select,
        np.nan_to_num: nan_to_num,
        np.isclose: isclose,
        np.real: real,
        np.imag: imag,
        np.angle: angle,
        np.sinc: sinc,
        np.isposinf: isposinf,
        np.isneginf: isneginf,
        np.iscomplexobj: iscomplexobj,
        np.isrealobj: isrealobj,
        np.result_type: result_type,
        np.can_cast: can_cast,
    }
)
METHODS.update(
    {
        "real": _real,
        "imag": _imag,
        "conj": _conjugate_method,
        "conjugate": _conjugate_method,
        "round": _round_method,
        "clip": _clip_method,
    }
)
