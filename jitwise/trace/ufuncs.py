"""Ufuncs on tracers: promotion by NumPy's own rules, then one primitive; and operators on Python numbers.

    np.add(x: f32[n], 2)      ->  add(x, constant f32 2)           a Python number is weak (NEP 50)
    np.add(x: i32[n], y: f32) ->  add(convert x to f64, convert y to f64)
    a * b, both Python floats ->  multiply on f64, and the result is a Python float again

Where Python numbers behave otherwise than NumPy scalars (division by zero raises, powers overflow), the value of this call
is used and checked at run time (`concrete`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import dims
from ..ops import ufuncs as table
from ..ops.compare import equal, not_equal
from ..ops.elementwise import bitwise_not_bool
from ..ops.promotion import UnsupportedLoop, resolve_loop
from .tracer import FUNCTIONS, Tracer, concrete, rebind

if TYPE_CHECKING:
    from .tracing import Trace

_PYTHON: dict[np.ufunc, Callable[..., Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.true_divide: operator.truediv, np.floor_divide: operator.floordiv, np.remainder: operator.mod,
    np.power: operator.pow, np.negative: operator.neg, np.positive: operator.pos, np.absolute: abs,
    np.less: operator.lt, np.less_equal: operator.le, np.greater: operator.gt,
    np.greater_equal: operator.ge, np.equal: operator.eq, np.not_equal: operator.ne,
    np.bitwise_and: operator.and_, np.bitwise_or: operator.or_, np.bitwise_xor: operator.xor,
    np.invert: operator.invert, np.left_shift: operator.lshift, np.right_shift: operator.rshift,
}  # fmt: skip
_EXACT = {np.add, np.subtract, np.multiply, np.negative, np.positive, np.absolute, np.true_divide}
_COMPARISONS = {np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal}
REDUCTIONS: dict[
    np.ufunc, Callable[..., Any]
] = {}  # ufunc -> handler of ufunc.reduce; filled by trace.numpy
ACCUMULATIONS: dict[np.ufunc, Callable[..., Any]] = {}


def operate(trace: Trace, ufunc: np.ufunc, operands: Sequence[Any]) -> Any:
    """A Python operator on operands of which at least one is a tracer."""
    lifted = [item if type(item) is Tracer else trace.lift(item) for item in operands]
    for each in lifted:
        if each.kind != "python":
            break
    else:
        return _python_operator(trace, ufunc, lifted)
    if ufunc is np.power:
        return _power(trace, lifted)
    return apply(trace, ufunc, lifted)


def apply(
    trace: Trace, ufunc: np.ufunc, operands: Sequence[Tracer], dtype: np.dtype | None = None
) -> Any:
    """`ufunc(*operands)` on tracers: promote, convert, broadcast, emit."""
    if not trace.active:
        trace.escaped()
    if ufunc is np.matmul:
        from .numpy.contract import matmul

        return matmul(trace, *operands)
    key = tuple(
        [
            _PROMOTES[type(each.hint)] if each.kind == "python" else each.value.type.dtype
            for each in operands
        ]
    )
    try:
        inputs, _ = (
            resolve_loop(ufunc, key) if dtype is None else table.loop_for(ufunc, len(key), dtype)
        )
    except UnsupportedLoop:
        trace.refuse("dtype", "longdouble or object")
    except TypeError:
        trace.refuse("error", "TypeError")
    selected = table.select(ufunc, inputs)
    if selected is None:
        trace.refuse("function", f"numpy.{ufunc.__name__} of {', '.join(map(str, inputs))}")
    primitive, attrs, wanted = selected
    converted = [
        each if each.value.type.dtype == target else _as_dtype(trace, each, target)
        for each, target in zip(operands, inputs if wanted is None else wanted, strict=True)
    ]
    if len(converted) > 1:
        converted = trace.align(converted)
    return trace.emit(primitive, converted, attrs)


_PROMOTES = {bool: np.dtype(np.bool_), int: int, float: float, complex: complex}


def _as_dtype(trace: Trace, operand: Tracer, dtype: np.dtype) -> Tracer:
    """`operand` in the dtype of the loop; a Python int must fit, as NumPy demands."""
    if operand.kind != "python":
        return trace.convert(operand, dtype)
    if operand.value.constant is not None:
        return trace.constant(operand.hint, dtype)
    if type(operand.hint) is int and dtype.kind in "iu":
        size = operand.value.op.attrs["size"]  # type: ignore[union-attr]
        limits = np.iinfo(dtype)
        if not limits.min <= operand.hint <= limits.max:
            trace.refuse("error", "OverflowError")
        if dtype.itemsize < 8 or dtype.kind == "u":
            trace.require("ge", dims.subtract(size, int(limits.min)))
        if dtype.itemsize < 8:
            trace.require("ge", dims.subtract(int(limits.max), size))
    return trace.convert(operand, dtype, "scalar")


def _power(trace: Trace, operands: list[Tracer]) -> Any:
    """`x ** y`: ndarray's operator turns some exponents into cheaper functions, so the bits are those of the function."""
    base, exponent = operands
    constant = exponent.value.constant
    if exponent.kind == "python" and constant is not None and base.value.type.dtype.kind in "fc":
        if base.kind == "array" and base.value.type.shape:
            fast = {2: np.square, 1: np.positive, 0.5: np.sqrt, -1: np.reciprocal}.get(
                constant.item()
            )
            if fast is not None:
                return apply(trace, fast, [base])
    return apply(trace, np.power, operands)


def _python_operator(trace: Trace, ufunc: np.ufunc, operands: list[Tracer]) -> Any:
    """An operator on Python numbers, one of them traced: a Python number again."""
    numbers = [each.hint for each in operands]
    try:
        result = _PYTHON[ufunc](*numbers)
    except (ArithmeticError, TypeError, ValueError) as error:
        trace.refuse("error", type(error).__name__)
    floats = all(type(number) in (int, float) for number in numbers) and any(
        type(number) is float for number in numbers
    )
    quotient = ufunc is np.true_divide and all(type(number) in (int, float) for number in numbers)
    if not (floats and (ufunc in _EXACT or ufunc in _COMPARISONS) or quotient):
        for each in operands:
            concrete(each)
        return result
    if ufunc is np.true_divide:
        _require_nonzero(trace, operands[1])
    converted = [_exact_float(trace, each) for each in operands]
    primitive, attrs, _ = table.select(ufunc, (np.dtype(np.float64),) * len(converted))
    value = trace.builder.emit(primitive, tuple(each.value for each in converted), attrs)
    return Tracer(trace, value, "python", result)


def _exact_float(trace: Trace, operand: Tracer) -> Tracer:
    """A Python number as float64; an int must be one that float64 holds exactly."""
    if type(operand.hint) is int and operand.value.constant is None:
        size = operand.value.op.attrs["size"]  # type: ignore[union-attr]
        if abs(operand.hint) > 2**53:
            trace.number(size)
        else:
            trace.require("ge", dims.subtract(2**53, size))
            trace.require("ge", dims.add(size, 2**53))
    return trace.convert(operand, np.dtype(np.float64))


def _require_nonzero(trace: Trace, operand: Tracer) -> None:
    if operand.value.constant is not None:
        return
    if type(operand.hint) is int:
        trace.require("ne", operand.value.op.attrs["size"])  # type: ignore[union-attr]
        return
    zero = trace.builder.constant(0.0, np.dtype(np.float64))
    trace.check(
        trace.wrap(trace.builder.emit(not_equal, (operand.value, zero))), "division by zero"
    )


def require_hint(trace: Trace, operand: Tracer) -> None:
    """Check at run time that a Python number has the value it has in this call."""
    value, hint = operand.value, operand.hint
    if type(hint) is bool:
        emitted = value if hint else trace.builder.emit(bitwise_not_bool, (value,))
    elif hint != hint:
        emitted = trace.builder.emit(not_equal, (value, value))
    else:
        constant = trace.builder.constant(hint, value.type.dtype)
        emitted = trace.builder.emit(equal, (value, constant))
        if hint == 0 and type(hint) is float:  # the sign of zero counts: 1 / value tells
            one = trace.builder.constant(1.0, value.type.dtype)
            primitive, attrs, _ = table.select(np.true_divide, (value.type.dtype,) * 2)
            inverse = trace.builder.emit(primitive, (one, value), attrs)
            expected = trace.builder.constant(np.copysign(np.inf, hint), value.type.dtype)
            trace.check(trace.wrap(trace.builder.emit(equal, (inverse, expected))), "another value")
    trace.check(trace.wrap(emitted), "another value")


def call_ufunc(trace: Trace, ufunc: np.ufunc, method: str, inputs: tuple, options: dict) -> Any:
    """What `__array_ufunc__` does: `ufunc(...)`, `ufunc.reduce(...)` and so on."""
    if method == "__call__":
        out = options.pop("out", None) if options else None
        dtype = options.pop("dtype", None) if options else None
        for name, value in options.items():
            if not (name in ("casting", "order", "subok") and value in ("same_kind", "K", True)):
                trace.refuse("argument", f"{ufunc.__name__}({name}=...)")
        lifted = [item if type(item) is Tracer else trace.lift(item) for item in inputs]
        result = apply(trace, ufunc, lifted, None if dtype is None else np.dtype(dtype))
        return result if out is None else _write(trace, out, result)
    if method == "reduce" and ufunc in REDUCTIONS:
        return REDUCTIONS[ufunc](trace, *inputs, **options)
    if method == "accumulate" and ufunc in ACCUMULATIONS:
        return ACCUMULATIONS[ufunc](trace, *inputs, **options)
    if method == "outer" and not options and len(inputs) == 2:
        return _outer(trace, ufunc, inputs)
    if method == "at":
        trace.refuse("assign")
    trace.refuse("function", f"numpy.{ufunc.__name__}.{method}")


def _write(trace: Trace, out: tuple, result: Any) -> Any:
    """`out=`: rebind the handles given."""
    results = result if isinstance(result, tuple) else (result,)
    for target, each in zip(out, results, strict=True):
        if target is None:
            continue
        if type(target) is not Tracer or not target.fresh or target.shared:
            trace.refuse("mutate")
        if not np.can_cast(each.dtype, target.dtype, "same_kind"):
            trace.refuse("error", "UFuncTypeError")
        rebind(target, each)
    written = tuple(
        each if target is None else target for target, each in zip(out, results, strict=True)
    )
    return written if len(written) > 1 else written[0]


def _outer(trace: Trace, ufunc: np.ufunc, inputs: tuple) -> Any:
    left, right = (trace.lift(item) for item in inputs)
    shape = left.value.type.shape + (1,) * right.ndim
    from ..ops.movement import reshape

    column = trace.emit(reshape, (left,), {"sizes": shape}, left.kind)
    return apply(trace, ufunc, [column, right])


__all__ = [
    "ACCUMULATIONS",
    "FUNCTIONS",
    "REDUCTIONS",
    "apply",
    "call_ufunc",
    "operate",
    "require_hint",
]
