"""A number that is Python's on one path and NumPy's on another.

    s = 0.0                          s is a float when no element is positive, and a float64 else:
    for v in x:                      the same number, of which some operations make different ones
        if v > 0: s = s + v

Its value is stored as f64, i64 or bool, and beside it stands a code, which only the running program
knows: 0 for an int or bool of Python's, 1 for a float, 2 for a NumPy scalar, whose dtype is known.
Where that makes no difference - arithmetic with arrays beside which it is weak anyhow, functions of
NumPy's, tests - it is a NumPy scalar. With numbers of Python's it gives another number like itself,
and so it may be returned. Everything else asks for its kind (`_kind`), which is NumPy's from then
on: the program checks it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.compare import equal, less_equal, not_equal, select
from ..ops.convert import convert
from ..ops.elementwise import absolute
from ..ops.extremes import maximum
from ..ops.integer import or_
from ..ops.ufuncs import emit_ufunc
from .size import SizeTracer
from .tracer import ABOVE, Tracer

if TYPE_CHECKING:
    from ..ir.graph import Value
    from .tracing import Trace

CODE = np.dtype(np.int8)
CODES = {"bool": 0, "int": 0, "float": 1, "scalar": 2}
_BOOL, _DOUBLE = np.dtype(np.bool_), np.dtype(np.float64)
_WIDE = (_DOUBLE, np.dtype(np.complex128))
# Operators that give the same number of every kind, or raise an exception for Python's.
_ARITHMETIC = frozenset((np.add, np.subtract, np.multiply, np.negative, np.positive, np.absolute))
_COMPARISONS = frozenset(
    (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
)


class Either(Tracer):
    """See the module docstring."""

    __slots__ = ("_asked", "_code", "_may_be_int", "_numpys", "_stored")

    def __init__(
        self, trace: Trace, stored: Value, code: Value, numpys: np.dtype, may_be_int: bool
    ) -> None:
        self._trace = trace
        self._stored = stored
        self._hint = None
        self._fresh = trace.stamp
        self._shared = False
        self._c_ordered = False
        self._views = None
        self._code = code
        self._numpys = numpys  # the dtype of the NumPy scalar that it may be
        self._may_be_int = may_be_int
        self._asked: set[int] = set()  # regions in which it was checked

    @property
    def _kind(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        trace = self._trace
        if self._asked.isdisjoint(trace.open_regions()):
            if self._code.constant is not None and self._code.constant != 2:
                trace.refuse("branch", "a number is an int on one path and a float on another")
            self._asked.add(trace.stamp)
            trace.check(trace.wrap(self.is_numpys()), "a number of NumPy's")
        return "scalar"

    @property
    def _value(self) -> Value:  # pyright: ignore[reportIncompatibleVariableOverride]
        if self._stored.type.dtype == self._numpys:
            return self._stored
        self._kind  # noqa: B018 - which checks it
        return self.as_dtype(self._numpys)._value

    def as_dtype(self, dtype: np.dtype) -> Tracer:
        """The number as a NumPy scalar, where its kind makes no difference."""
        stored = Tracer(self._trace, self._stored, "scalar")
        return stored if stored.dtype == dtype else self._trace.convert(stored, dtype, "scalar")

    def is_numpys(self) -> Value:
        """Whether it is a NumPy scalar."""
        builder = self._trace.builder
        return builder.emit(equal, (self._code, builder.constant(2, CODE)))

    def settled(self) -> Tracer:
        """The number, where its kind makes no difference or was asked for."""
        return Tracer(self._trace, self._value, "scalar")

    def recipe(self, output: Callable[[Tracer], int]) -> tuple:
        """How it is made of outputs of a program."""
        parts = [Tracer(self._trace, each, "scalar") for each in (self._stored, self._code)]
        stored, code = map(output, parts)
        if self._stored.type.dtype == self._numpys:
            return "either", stored, code
        make = functools.partial(_number, self._numpys.type)
        kind = "float" if self._stored.type.dtype == _DOUBLE else "int"
        return "call", make, [(kind, stored), ("int", code)]


def _number(numpys: type, stored: Any, code: int) -> Any:
    return numpys(stored) if code == 2 else float(stored) if code == 1 else int(stored)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):  # no memory changes
    setattr(Either, f"__i{_name}__", getattr(Tracer, f"__{_name}__"))


def operate_either(trace: Trace, ufunc: np.ufunc, operands: Any) -> Any:
    """A Python operator, one of whose operands is an `Either`."""
    eithers = [each for each in operands if type(each) is Either]
    others = [each for each in operands if type(each) is not Either]
    arrays = [each for each in others if _is_numpys(each)]
    numpys = eithers[0]._numpys
    if arrays and all(_is_weak_beside(each, arrays) for each in eithers):
        kind = np.result_type(*[each.dtype for each in arrays], numpys)
        plain = [_beside(trace, each, kind) if type(each) is Either else each for each in operands]
        return ABOVE["operate"](trace, ufunc, plain)
    alike = _is_alike(ufunc, operands) and all(each._numpys == numpys for each in eithers)
    if arrays or not alike or not all(map(_is_real, others)):
        return ABOVE["operate"](trace, ufunc, [_as_numpys(each) for each in operands])
    stored = {each._stored.type.dtype for each in eithers}
    if numpys.kind == "i" and (_DOUBLE in stored or ufunc is np.true_divide):
        return ABOVE["operate"](trace, ufunc, [_as_numpys(each) for each in operands])
    if numpys.kind == "i" and not all(map(_is_int, others)):
        return ABOVE["operate"](trace, ufunc, [_as_numpys(each) for each in operands])
    return _operated(trace, ufunc, operands, numpys, stored.pop())


def _operated(
    trace: Trace, ufunc: np.ufunc, operands: Any, numpys: np.dtype, stored: np.dtype
) -> Any:
    """An operator on numbers like each other and numbers of Python's."""
    values, code = [], None
    for each in operands:
        operand = (
            Tracer(trace, each._stored, "scalar") if type(each) is Either else trace.lift(each)
        )
        own = each._code if type(each) is Either else _code_of(trace, operand)
        if operand._value.type.dtype != stored:
            if type(each) is SizeTracer:
                return ABOVE["operate"](trace, ufunc, [_as_numpys(item) for item in operands])
            operand = trace.convert(operand, stored, "scalar")
        values.append(operand._value)
        code = own if code is None else trace.builder.emit(maximum, (code, own))
    assert code is not None
    if ufunc is np.true_divide:
        code = trace.builder.emit(maximum, (code, trace.builder.constant(1, CODE)))
        _require_quotient(trace, values[1], code)
    may_be_int = ufunc is not np.true_divide and all(map(_may_be_int, operands))
    if stored.kind == "i":
        _require_short(trace, values)
    (value,) = emit_ufunc(trace.builder, ufunc, tuple(values))
    if ufunc in _COMPARISONS:
        two = trace.builder.constant(2, CODE)
        (is_numpys,) = emit_ufunc(trace.builder, np.equal, (code, two))
        return Either(trace, value, _coded(trace, is_numpys), _BOOL, False)
    if numpys != stored:
        value = _rounded(trace, ufunc, values, code, value, numpys)
    if may_be_int and stored == _DOUBLE:
        _require_exact(trace, value, code)
    return Either(trace, value, code, numpys, may_be_int)


def _rounded(
    trace: Trace,
    ufunc: np.ufunc,
    values: list[Value],
    code: Value,
    exact: Value,
    numpys: np.dtype,
) -> Value:
    """The result that a NumPy scalar has, where the code says that it is one."""
    builder = trace.builder
    narrow = [builder.emit(convert, (each,), {"dtype": numpys}) for each in values]
    (value,) = emit_ufunc(builder, ufunc, tuple(narrow))
    value = builder.emit(convert, (value,), {"dtype": exact.type.dtype})
    if numpys.kind == "i":  # it wraps: NumPy warns
        fits = builder.emit(equal, (value, exact))
        others = builder.emit(not_equal, (code, builder.constant(2, CODE)))
        trace.check(trace.wrap(builder.emit(or_, (fits, others))), "an int of NumPy's wraps")
        return exact
    is_numpys = builder.emit(equal, (code, builder.constant(2, CODE)))
    return builder.emit(select, (is_numpys, value, exact))


def _require_short(trace: Trace, values: list[Value]) -> None:
    """Check that ints are such as no sum or product of leaves 64 bits."""
    builder = trace.builder
    for value in values:
        if value.constant is None:
            size = builder.emit(absolute, (value,))
            limit = builder.constant(2**31 - 1, value.type.dtype)
            fits: Any = trace.wrap(builder.emit(less_equal, (size, limit)))
            positive = builder.constant(0, value.type.dtype)
            trace.check(fits & trace.wrap(builder.emit(less_equal, (positive, size))), "a long int")


def _require_exact(trace: Trace, value: Value, code: Value) -> None:
    """Check that float64 has a result, if that is an int."""
    builder = trace.builder
    size = builder.emit(absolute, (value,))
    fits = builder.emit(less_equal, (size, builder.constant(2.0**53, _DOUBLE)))
    others = builder.emit(not_equal, (code, builder.constant(0, CODE)))
    trace.check(trace.wrap(builder.emit(or_, (fits, others))), "an int beyond 53 bits")


def _may_be_int(item: Any) -> bool:
    return item._may_be_int if type(item) is Either else not _is_float(item)


def _is_float(item: Any) -> bool:
    return type(item._hint if isinstance(item, Tracer) else item) is float


def _is_weak_beside(number: Either, arrays: Any) -> bool:
    """Whether a number of Python's would give the same beside arrays as the NumPy scalar."""
    given = [each.dtype for each in arrays]
    weak = [0] if number._may_be_int else []
    weak += [0.0] if number._stored.type.dtype == _DOUBLE else []
    if number._stored.type.dtype == _BOOL:
        return all(each in _WIDE for each in given)
    expected = np.result_type(*given, number._numpys)
    return all(np.result_type(*given, each) == expected for each in weak)


def _beside(trace: Trace, number: Either, dtype: np.dtype) -> Tracer:
    """A number beside arrays, with which it makes arrays of `dtype`."""
    stored = number._stored.type.dtype
    if stored == _BOOL or dtype.kind == "c":
        return Tracer(trace, number._stored, "scalar")
    if stored.kind == "i" and dtype.kind == "i" and dtype != stored:
        narrow = number.as_dtype(dtype)
        same: Any = trace.convert(narrow, stored, "scalar") == Tracer(
            trace, number._stored, "scalar"
        )
        trace.check(same, "an int that does not fit")
        return narrow
    return number.as_dtype(dtype)


def _is_int(item: Any) -> bool:
    if isinstance(item, Tracer):
        return type(item._hint) is int
    return type(item) in (int, SizeTracer)


def _coded(trace: Trace, is_numpys: Value) -> Value:
    """The code of a bool."""
    numbers = [trace.builder.constant(number, CODE) for number in (2, 0)]
    return trace.builder.emit(select, (is_numpys, *numbers))


def _code_of(trace: Trace, operand: Tracer) -> Value:
    """The code of a Python number."""
    return trace.builder.constant(CODES[type(operand._hint).__name__], CODE)


def _is_alike(ufunc: np.ufunc, operands: Any) -> bool:
    """Whether an operator gives the same number of every kind."""
    if any(type(each) is Either and each._stored.type.dtype == _BOOL for each in operands):
        return False
    return ufunc in _ARITHMETIC or ufunc in _COMPARISONS or ufunc is np.true_divide


def _require_quotient(trace: Trace, divisor: Value, code: Value) -> None:
    """Python raises for a division by zero."""
    builder = trace.builder
    fits = builder.emit(not_equal, (divisor, builder.constant(0.0, _DOUBLE)))
    is_numpys = builder.emit(equal, (code, builder.constant(2, CODE)))
    trace.check(trace.wrap(builder.emit(or_, (fits, is_numpys))), "division by zero")


def _is_numpys(item: Any) -> bool:
    if isinstance(item, Tracer):
        return item._kind != "python"
    return isinstance(item, (np.ndarray, np.generic))


def _is_real(item: Any) -> bool:
    if isinstance(item, Tracer):
        return type(item._hint) in (float, int, bool)
    return type(item) in (float, int, bool, SizeTracer)


def _as_numpys(item: Any) -> Any:
    """A number whose kind was asked for."""
    if type(item) is not Either:
        return item
    item._kind  # noqa: B018 - which checks it
    return item.settled()


def among(number: Either, operands: Any) -> Tracer:
    """A number among the operands of a function of NumPy's. Python's would be weak."""
    if number._stored.type.dtype != number._numpys:
        return _as_numpys(number)
    for each in operands:
        if each is not number and type(each) is not Either and _is_numpys(each):
            if each.dtype.kind in "fc" and each.dtype not in _WIDE or number._numpys.kind == "i":
                return _as_numpys(number)
    return number.settled()


ABOVE.update(operate_either=operate_either, among=among)

__all__ = ["CODE", "CODES", "Either"]
