"""Ufuncs on tracers: promotion by NumPy's own rules, then one primitive; and operators on Python
numbers.

    np.add(x: f32[n], 2)      ->  add(x, constant f32 2)           a Python number is weak (NEP 50)
    np.add(x: i32[n], y: f32) ->  add(convert x to f64, convert y to f64)
    a * b, both Python floats ->  multiply on f64, and the result is a Python float again

Where Python numbers behave otherwise than NumPy scalars (division by zero raises, powers overflow),
the value of this call is used and checked at run time (`concrete`).
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import dims
from ..ir.types import DTYPE_NAMES
from ..ops.compare import equal, greater_equal, not_equal, select
from ..ops.elementwise import divide
from ..ops.integer import not_
from ..ops.promotion import UnsupportedLoop, resolve_loop
from ..ops.reduce import reduce_and
from ..ops.scalar_arithmetic import OF_SCALARS
from ..ops.ufuncs import UFUNCS, compare_out_of_range, emit_ufunc
from .conversions import python_number
from .powers import TAKES_ROOTS, power, with_roots
from .regions import is_open
from .size import SizeTracer
from .tracer import ABOVE, FUNCTIONS, Tracer, concrete, rebind

if TYPE_CHECKING:
    from ..ir.graph import Value
    from .tracing import Trace

PYTHON: dict[np.ufunc, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.power: operator.pow,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: abs,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor,
    np.invert: operator.invert,
    np.left_shift: operator.lshift,
    np.right_shift: operator.rshift,
    np.matmul: operator.matmul,
}
_EXACT = {np.add, np.subtract, np.multiply, np.negative, np.positive, np.absolute, np.true_divide}
# What a complex number of Python's does itself with a float that stands on its right.
_OF_COMPLEX = {np.add, np.subtract, np.multiply, np.true_divide, np.power, np.equal, np.not_equal}
_RING = {np.add, np.subtract, np.multiply, np.negative, np.positive}
_COMPARISONS = {np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal}
SCALARS = {dtype.type for dtype in DTYPE_NAMES}
Handlers = dict[np.ufunc, Callable[..., Any]]
REDUCTIONS: Handlers = {}  # of ufunc.reduce; filled by trace.numpy
ACCUMULATIONS: Handlers = {}
GENERALIZED: Handlers = {}  # those that work on whole axes
_BOOL, _DOUBLE, _COMPLEX = np.dtype(np.bool_), np.dtype(np.float64), np.dtype(np.complex128)
_ALL_COMPLEX = sys.version_info < (3, 14)  # a float beside a complex number is made complex
_PROMOTES: dict[type, Any] = {bool: _BOOL, int: int, float: float, complex: complex}


def operate(trace: Trace, ufunc: np.ufunc, operands: Sequence[Any]) -> Any:
    """A Python operator on operands of which at least one is a tracer."""
    python = scalars = 0
    sequence = False
    for each in operands:
        kind = type(each)
        if issubclass(kind, Tracer):
            if kind.__name__ == "Either":
                return ABOVE["operate_either"](trace, ufunc, operands)
            python += each._kind == "python"
            scalars += each._kind == "scalar"
        elif kind in _PROMOTES or kind is SizeTracer:
            python += 1
        else:
            sequence |= kind in (list, tuple)
            scalars += kind in SCALARS
    if sequence and python:  # a Python number repeats a list, and is no operand of it otherwise
        return PYTHON[ufunc](*[concrete(e) if isinstance(e, Tracer) else e for e in operands])
    if sequence and ufunc is np.multiply and any(e.__class__ in SCALARS for e in operands):
        trace.refuse("value", "repetition")
    if python == 1 == scalars and ufunc in _OF_COMPLEX and _is_complex(operands[0]):
        number = trace.lift(operands[1])
        if number._value.type.dtype == np.float64:  # a float of Python's too, which complex takes
            operands, python = [operands[0], python_number(trace, number)], 2
    if python == len(operands):
        return _python_operator(trace, ufunc, [trace.lift(each) for each in operands])
    if ufunc is np.power:
        ufunc, operands = power(trace, *operands)
        scalars = sum(not isinstance(each, Tracer) or each._kind != "array" for each in operands)
        python = 0
    return apply(trace, ufunc, operands, of_scalars=python + scalars == len(operands))


def _is_complex(operand: Any) -> bool:
    """Whether an operand is a Python complex number."""
    is_traced = issubclass(type(operand), Tracer) and operand._kind == "python"
    return type(operand._hint if is_traced else operand) is complex


def apply(
    trace: Trace,
    ufunc: np.ufunc,
    operands: Sequence[Any],
    dtype: np.dtype | None = None,
    *,
    of_scalars: bool = False,
) -> Any:
    """`ufunc(*operands)` on tracers and what can stand among them: promote, convert, broadcast,
    emit.

    `dtype` chooses the loop, as in NumPy. `of_scalars`: it is an operator of NumPy scalars.
    """
    if not trace.active:
        trace.escaped(next(each._value for each in operands if isinstance(each, Tracer)))
    if ufunc is np.matmul:
        return FUNCTIONS[np.matmul](trace, *operands)
    if ufunc not in UFUNCS:
        return _other(trace, ufunc, operands)
    key, lifted = [], []
    for each in operands:
        kind = type(each)
        if not issubclass(kind, Tracer):
            if kind in _PROMOTES:  # a number of the program's text
                key.append(_PROMOTES[kind])
                lifted.append(each)
                continue
            each = trace.lift(each)
        elif each._trace is not trace:
            each._trace.escaped(each._value)
        elif kind.__name__ == "Either":
            each = ABOVE["among"](each, operands)
        key.append(
            _PROMOTES[type(each._hint)] if each._kind == "python" else each._value.type.dtype
        )
        lifted.append(each)
    loop = _loop(trace, ufunc, tuple(key), dtype)
    values, shapes = [], {}
    for each, target in zip(lifted, loop, strict=True):
        if not isinstance(each, Tracer):
            value = _constant(trace, each, target, ufunc)
        elif each._value.type.dtype == target:
            value = each._value
        else:
            value = _as_dtype(trace, each, target, ufunc)._value
        values.append(value)
        shapes[value.type.shape] = None
    if len(shapes) > 1:
        values = _aligned(trace, values, shapes)
    if ufunc is np.power and loop[1].kind == "i":
        _require_nonnegative(trace, values[1])
    if of_scalars and loop[0].kind in "iu" and ufunc in OF_SCALARS and _BOOL not in key:
        return trace.wrap(trace.builder.emit(OF_SCALARS[ufunc], tuple(values)), "scalar")
    results = emit_ufunc(trace.builder, ufunc, tuple(values))
    if ufunc is np.power and TAKES_ROOTS and loop[1].kind == "f" and not of_scalars:
        results = (with_roots(trace, values, lifted[1], results[0]),)
    if len(results) == 1:
        value = results[0]
        return Tracer(trace, value, "array" if value.type.shape else "scalar")
    return trace.wrap(results)


def _other(trace: Trace, ufunc: np.ufunc, operands: Sequence[Any], **options: Any) -> Any:
    """A ufunc that is no primitive: one that works on whole axes, or another library's."""
    from .numpy.outside import foreign

    if ufunc in GENERALIZED:
        return GENERALIZED[ufunc](trace, *operands, **options)
    return foreign(trace, ufunc, tuple(operands))


def _aligned(trace: Trace, values: list[Value], shapes: dict[tuple, None]) -> list[Value]:
    """Each value of the common shape, or of rank 0. `shapes` are theirs, each once, in order."""
    if len(shapes) == 2 and () in shapes:
        return values
    several, aligned = tuple(shapes), []
    # Both tables are looked up here too: most ops of a long program need no call more.
    common = trace.common.get(several) or trace.broadcast_shapes(several)
    for value in values:
        shape = value.type.shape
        if shape and shape != common:
            value = trace.stretched.get((value, common)) or trace.stretch(value, common)
        aligned.append(value)
    return aligned


def _loop(
    trace: Trace, ufunc: np.ufunc, key: tuple, dtype: np.dtype | None
) -> tuple[np.dtype, ...]:
    """The dtypes of the loop that NumPy would run."""
    try:
        return resolve_loop(ufunc, key, dtype)[0]
    except UnsupportedLoop:
        trace.refuse("dtype", "longdouble or object")
    except TypeError:
        trace.refuse("error", "TypeError")


def _constant(trace: Trace, number: Any, dtype: np.dtype, ufunc: np.ufunc) -> Value:
    """A number of the program's text in the dtype of the loop; an int must fit, as NumPy
    demands.
    """
    if type(number) is int and dtype.kind in "iu":
        if compare_out_of_range(ufunc, number, dtype) is not None:
            trace.refuse("value", "a comparison with an int out of range")
    if type(number) is int and dtype.kind == "b" and not -(2**63) <= number < 2**63:
        trace.refuse("error", "OverflowError")  # NumPy takes the truth of an int64
    try:
        return trace.builder.constant(number, dtype)
    except (OverflowError, FloatingPointError) as error:
        return trace.beyond(number, dtype, error)


def _require_nonnegative(trace: Trace, exponent: Value) -> None:
    """NumPy raises ValueError for integers to negative powers: then the call runs as Python."""
    if exponent.constant is not None:
        if exponent.constant < 0:
            trace.refuse("error", "ValueError")
        return
    zero = trace.builder.constant(0, exponent.type.dtype)
    value = trace.builder.emit(greater_equal, (exponent, zero))
    if value.type.shape:
        value = trace.builder.emit(reduce_and, (value,), {"axes": tuple(range(exponent.type.ndim))})
    trace.check(trace.wrap(value), "a negative integer power")


def _as_dtype(trace: Trace, operand: Tracer, dtype: np.dtype, ufunc: np.ufunc) -> Tracer:
    """`operand` in the dtype of the loop; a Python int must fit, as NumPy demands."""
    if operand._kind != "python":
        return trace.convert(operand, dtype)
    if operand._value.constant is not None:
        return trace.wrap(_constant(trace, operand._hint, dtype, ufunc))
    if type(operand._hint) is int and dtype.kind in "iu":
        size = operand._value.op.attrs["size"]  # type: ignore[union-attr]
        limits = np.iinfo(dtype)
        if not limits.min <= operand._hint <= limits.max:
            trace.refuse("error", "OverflowError")
        if dtype.itemsize < 8 or dtype.kind == "u":
            trace.require("ge", dims.subtract(size, int(limits.min)))
        if dtype.itemsize < 8:
            trace.require("ge", dims.subtract(int(limits.max), size))
    return trace.convert(operand, dtype, "scalar")


def in_dtype(trace: Trace, operand: Tracer, dtype: np.dtype) -> Tracer:
    """A Python number in `dtype`; an int must fit."""
    return _as_dtype(trace, operand, dtype, np.add)


def _python_operator(trace: Trace, ufunc: np.ufunc, operands: list[Tracer]) -> Any:
    """An operator on Python numbers, one of them traced: a Python number again."""
    numbers = [each._hint for each in operands]
    kinds = {type(number) for number in numbers}
    if bool in kinds <= {bool, int} and any(is_open(trace, each._value) for each in operands):
        from .bools import among_bools

        return among_bools(trace, ufunc, operands)
    try:
        result = PYTHON[ufunc](*numbers)
    except (ArithmeticError, TypeError, ValueError) as error:
        trace.refuse("error", type(error).__name__)
    if ufunc is np.power and type(numbers[0]) is float and numbers[1] == 2:
        return _python_square(trace, operands, result)
    floats = float in kinds <= {int, float, bool}
    if ufunc in _RING and complex in kinds and _ALL_COMPLEX:
        values = [trace.convert(_exact_float(trace, each), _COMPLEX)._value for each in operands]
        return Tracer(trace, emit_ufunc(trace.builder, ufunc, tuple(values))[0], "python", result)
    quotient = ufunc is np.true_divide and kinds <= {int, float}
    if not ((floats and (ufunc in _EXACT or ufunc in _COMPARISONS)) or quotient):
        try:  # they need not be what was known of them
            return PYTHON[ufunc](*[concrete(each) for each in operands])
        except ArithmeticError as error:
            trace.refuse("error", type(error).__name__)
    if ufunc is np.true_divide:
        _require_nonzero(trace, operands[1])
    converted = [_exact_float(trace, each) for each in operands]
    (value,) = emit_ufunc(trace.builder, ufunc, tuple([each._value for each in converted]))
    return Tracer(trace, value, "python", result)


def _python_square(trace: Trace, operands: list[Tracer], result: float) -> Tracer:
    """`x ** 2` of a Python float: the product, as long as it does not overflow (Python raises)."""
    concrete(operands[1])
    value = operands[0]._value
    (square,) = emit_ufunc(trace.builder, np.multiply, (value, value))
    (finite,) = emit_ufunc(trace.builder, np.isfinite, (square,))
    (plain,) = emit_ufunc(trace.builder, np.isfinite, (value,))
    (same,) = emit_ufunc(trace.builder, np.equal, (finite, plain))
    trace.check(trace.wrap(same), "a power overflows")
    return Tracer(trace, square, "python", result)


def _exact_float(trace: Trace, operand: Tracer) -> Tracer:
    """A Python number as float64; an int must be one that float64 holds exactly."""
    if type(operand._hint) is int and operand._value.constant is None:
        size = operand._value.op.attrs["size"]  # type: ignore[union-attr]
        if abs(operand._hint) > 2**53:
            trace.number(size)
        else:
            trace.require("ge", dims.subtract(2**53, size))
            trace.require("ge", dims.add(size, 2**53))
    return operand if type(operand._hint) is complex else trace.convert(operand, _DOUBLE)


def _require_nonzero(trace: Trace, operand: Tracer) -> None:
    if operand._value.constant is not None:
        return
    if type(operand._hint) is int:
        trace.require("ne", operand._value.op.attrs["size"])  # type: ignore[union-attr]
        return
    zero = trace.builder.constant(0, operand._value.type.dtype)
    trace.check(
        trace.wrap(trace.builder.emit(not_equal, (operand._value, zero))), "division by zero"
    )


def require_hint(trace: Trace, operand: Tracer) -> None:
    """Check at run time that a Python number has the value it has in this call."""
    value, hint = operand._value, operand._hint
    trace.draws.refuse_drawn(value)
    if type(hint) is bool:
        emitted = value if hint else trace.builder.emit(not_, (value,))
    elif hint != hint:
        emitted = trace.builder.emit(not_equal, (value, value))
    else:
        constant = trace.builder.constant(hint, value.type.dtype)
        emitted = trace.builder.emit(equal, (value, constant))
        if hint == 0 and type(hint) is float:  # the sign of zero counts: 1 / value tells
            one = trace.builder.constant(1.0, value.type.dtype)
            inverse = trace.builder.emit(divide, (one, value))
            expected = trace.builder.constant(np.copysign(np.inf, hint), value.type.dtype)
            trace.check(trace.wrap(trace.builder.emit(equal, (inverse, expected))), "another value")
    trace.check(trace.wrap(emitted), "another value")


def call_ufunc(trace: Trace, ufunc: np.ufunc, method: str, inputs: tuple, options: dict) -> Any:
    """What `__array_ufunc__` does: `ufunc(...)`, `ufunc.reduce(...)` and so on."""
    if method == "__call__":
        return _called(trace, ufunc, inputs, options)
    if method == "reduce" and ufunc in REDUCTIONS:
        return REDUCTIONS[ufunc](trace, *inputs, **options)
    if method == "accumulate" and ufunc in ACCUMULATIONS:
        return ACCUMULATIONS[ufunc](trace, *inputs, **options)
    if method == "outer" and not options and len(inputs) == 2:
        return _outer(trace, ufunc, inputs)
    if method == "at" and len(inputs) == 3 and not options:
        from .numpy.assign import combine_at

        return combine_at(trace, ufunc, *inputs)
    if method in ("reduce", "accumulate", "reduceat"):
        from .numpy import outside

        return outside.method(trace, ufunc, method, inputs, options)
    trace.refuse("function", f"numpy.{ufunc.__name__}.{method}")


def _called(trace: Trace, ufunc: np.ufunc, inputs: tuple, options: dict) -> Any:
    """`ufunc(*inputs, out=..., where=..., dtype=...)`."""
    out = options.pop("out", None) if options else None
    dtype = options.pop("dtype", None) if options else None
    where = options.pop("where", True) if options else True
    axis = {"axis": options.pop("axis")} if "axis" in options and ufunc.signature else {}
    for name, value in options.items():
        if not (name in ("casting", "order", "subok") and value in ("same_kind", "K", True)):
            trace.refuse("argument", f"{ufunc.__name__}({name}=...)")
    if ufunc.signature and ufunc is not np.matmul:
        if dtype is not None or where is not True:
            trace.refuse("argument", f"{ufunc.__name__} with these arguments")
        result = _other(trace, ufunc, inputs, **axis)
    elif where is not True:
        return _masked(trace, ufunc, inputs, out, dtype, where)
    else:
        result = apply(trace, ufunc, inputs, None if dtype is None else np.dtype(dtype))
    return result if out is None else _write(trace, out, result)


def _masked(trace: Trace, ufunc: np.ufunc, inputs: tuple, out: Any, dtype: Any, where: Any) -> Any:
    """A ufunc of some elements only: of the others `out` keeps what it has. They are computed
    with, as numbers of which nothing goes wrong.
    """
    if out is None or any(not isinstance(target, Tracer) for target in out):
        trace.refuse("argument", f"{ufunc.__name__}(where=...) without out=")
    if any(target._kind != "array" for target in out):
        trace.refuse("error", "TypeError: return arrays must be of ArrayType")
    mask = trace.lift(where)
    if mask.dtype != np.bool_:
        trace.refuse("error", "TypeError: a mask of bools is required")
    harmless = 0 if ufunc is np.arctanh else 1
    operands = []
    for each in inputs:
        operand = trace.lift(each)
        if operand._kind != "python":
            other = trace.constant(harmless, operand._value.type.dtype)
            aligned = trace.align([mask, operand, other])
            operand = trace.emit(select, aligned, kind="array" if operand.ndim else None)
        operands.append(operand)
    result = apply(trace, ufunc, operands, None if dtype is None else np.dtype(dtype))
    results = result if isinstance(result, tuple) else (result,)
    for target, each in zip(out, results, strict=True):
        if not np.can_cast(each.dtype, target.dtype, "same_kind"):
            trace.refuse("error", "UFuncTypeError")
        parts = trace.align([mask, trace.convert(each, target.dtype), target])
        rebind(target, trace.emit(select, parts))
    return out if len(out) > 1 else out[0]


def _write(trace: Trace, out: tuple, result: Any) -> Any:
    """`out=`: rebind the handles given."""
    results = result if isinstance(result, tuple) else (result,)
    for target, each in zip(out, results, strict=True):
        if target is None:
            continue
        if isinstance(target, Tracer) and target._kind != "array":
            trace.refuse("error", "TypeError: return arrays must be of ArrayType")
        if not isinstance(target, Tracer):
            trace.refuse("mutate", "an array that no function of NumPy made while tracing")
        if not np.can_cast(each.dtype, target.dtype, "same_kind"):
            trace.refuse("error", "UFuncTypeError")
        rebind(target, each)
    written: tuple[Any, ...] = tuple(
        each if target is None else target for target, each in zip(out, results, strict=True)
    )
    return written if len(written) != 1 else written[0]


def _outer(trace: Trace, ufunc: np.ufunc, inputs: tuple) -> Any:
    from ..ops.movement import reshape
    from .numpy.arguments import strong

    left, right = (strong(trace, item) for item in inputs)
    shape = left._value.type.shape + (1,) * right.ndim
    column = trace.emit(reshape, (left,), {"sizes": shape}, left._kind)
    return apply(trace, ufunc, [column, right])


__all__ = [
    "ACCUMULATIONS",
    "FUNCTIONS",
    "GENERALIZED",
    "REDUCTIONS",
    "apply",
    "call_ufunc",
    "operate",
]
ABOVE.update(operate=operate, call_ufunc=call_ufunc, require_hint=require_hint)
