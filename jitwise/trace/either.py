"""A number that is Python's on one path and NumPy's on another.

    s = 0.0                          s is a float when no element is positive, and a float64 else:
    for v in x:                      the same number, of which some operations make different ones
        if v > 0: s = s + v

Its value is a f64 (or a bool), and beside it stands a code, which only the running program knows:
0 for an int or bool of Python's, 1 for a float, 2 for a NumPy scalar. Where that makes no
difference - arithmetic with float64 arrays, functions of NumPy's, tests - it is a float64. With
numbers of Python's it gives another number like itself, and so it may be returned. Everything else
asks for its kind (`_kind`), which is NumPy's from then on: the program checks it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.compare import equal, not_equal
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
_DOUBLE = np.dtype(np.float64)
_WIDE = (_DOUBLE, np.dtype(np.complex128))
# Operators that give the same number of every kind, or raise an exception for Python's.
_ARITHMETIC = frozenset((np.add, np.subtract, np.multiply, np.negative, np.positive, np.absolute))
_COMPARISONS = frozenset(
    (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
)


class Either(Tracer):
    """See the module docstring."""

    __slots__ = ("_asked", "_code")

    def __init__(self, trace: Trace, value: Value, code: Value) -> None:
        self._trace = trace
        self._value = value
        self._hint = None
        self._fresh = trace.stamp
        self._shared = False
        self._c_ordered = False
        self._views = None
        self._code = code
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

    def is_numpys(self) -> Value:
        """Whether it is a NumPy scalar."""
        builder = self._trace.builder
        return builder.emit(equal, (self._code, builder.constant(2, CODE)))

    def settled(self) -> Tracer:
        """The number, where its kind makes no difference."""
        return Tracer(self._trace, self._value, "scalar")

    def parts(self) -> tuple[Tracer, Tracer]:
        """The number and its code, to be returned."""
        return self.settled(), Tracer(self._trace, self._code, "scalar")


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):  # no memory changes
    setattr(Either, f"__i{_name}__", getattr(Tracer, f"__{_name}__"))


def operate_either(trace: Trace, ufunc: np.ufunc, operands: Any) -> Any:
    """A Python operator, one of whose operands is an `Either`."""
    others = [each for each in operands if type(each) is not Either]
    arrays = [each for each in others if _is_numpys(each)]
    if any(each.dtype in _WIDE for each in arrays):
        plain = [each.settled() if type(each) is Either else each for each in operands]
        return ABOVE["operate"](trace, ufunc, plain)
    if arrays or not all(map(_is_real, others)) or not _is_alike(ufunc, operands):
        return ABOVE["operate"](trace, ufunc, [_as_numpys(each) for each in operands])
    values, code = [], None
    for each in operands:
        operand = trace.lift(each)
        own = each._code if type(each) is Either else _code_of(trace, operand)
        if operand._value.type.dtype != _DOUBLE:
            if type(each) is SizeTracer:
                return ABOVE["operate"](trace, ufunc, [_as_numpys(item) for item in operands])
            operand = trace.convert(operand, _DOUBLE, "scalar")
        values.append(operand._value)
        code = own if code is None else trace.builder.emit(maximum, (code, own))
    assert code is not None
    if ufunc is np.true_divide:
        code = trace.builder.emit(maximum, (code, trace.builder.constant(1, CODE)))
        _require_quotient(trace, values[1], code)
    (value,) = emit_ufunc(trace.builder, ufunc, tuple(values))
    if ufunc in _COMPARISONS:
        two = trace.builder.constant(2, CODE)
        (is_numpys,) = emit_ufunc(trace.builder, np.equal, (code, two))
        code = _coded(trace, is_numpys)
    return Either(trace, value, code)


def _coded(trace: Trace, is_numpys: Value) -> Value:
    """The code of a bool."""
    from ..ops.compare import select

    numbers = [trace.builder.constant(number, CODE) for number in (2, 0)]
    return trace.builder.emit(select, (is_numpys, *numbers))


def _code_of(trace: Trace, operand: Tracer) -> Value:
    """The code of a Python number."""
    return trace.builder.constant(CODES[type(operand._hint).__name__], CODE)


def _is_alike(ufunc: np.ufunc, operands: Any) -> bool:
    """Whether an operator gives the same number of every kind."""
    if any(type(each) is Either and each.dtype != _DOUBLE for each in operands):
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
    for each in operands:
        if each is not number and type(each) is not Either and _is_numpys(each):
            if each.dtype.kind in "fc" and each.dtype not in _WIDE:
                return _as_numpys(number)
    return number.settled()


ABOVE.update(operate_either=operate_either, among=among)

__all__ = ["CODE", "CODES", "Either"]
