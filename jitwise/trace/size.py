"""`SizeTracer`: an int whose value is known at run time only - the size of an axis, or a Python
int argument.

Arithmetic stays symbolic; a comparison asks the value of this call and records what it found as a
guard; whatever needs the number itself (`range`, an index into a list) guards the number.

    n = x.shape[0]          n
    n // 2 + 1              (n // 2) + 1          no guard
    if n > 10: ...          True, guard n - 11 >= 0
    range(n)                guard n - 7 == 0      when this call has 7
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import dims
from ..ir.dims import Dim, Size
from ..ir.primitive import Primitive
from ..ops.compare import equal, greater, greater_equal, less, less_equal, not_equal
from ..ops.integer import and_, or_, shift_left, shift_right, xor
from .regions import is_inner
from .source import ScopeGlobals
from .tracer import Tracer

if TYPE_CHECKING:
    from .tracing import Trace


COMPARISONS = {
    "lt": less,
    "le": less_equal,
    "gt": greater,
    "ge": greater_equal,
    "eq": equal,
    "ne": not_equal,
}


def size_of(item: Any) -> Size | None:
    """The size that a Python object stands for, or None when it is no integer."""
    if type(item) is int:
        return item
    if isinstance(item, SizeTracer):
        return item.size
    if isinstance(item, bool):
        return None
    try:
        return operator.index(item) if hasattr(type(item), "__index__") else None
    except TypeError:
        return None


def _is_among_arrays(other: Any) -> bool:
    """Whether the answer is of the kind that NumPy or a traced number makes it."""
    return isinstance(other, (np.generic, np.ndarray)) or issubclass(type(other), Tracer)


def _arithmetic(apply: Callable[[Size, Size], Size], name: str, swapped: bool = False) -> Any:
    def method(self: SizeTracer, other: Any) -> Any:
        size = None if _is_among_arrays(other) else size_of(other)
        if size is None or (isinstance(other, SizeTracer) and other._trace is not self._trace):
            return _as_array(self, name, other, swapped)
        left, right = (size, self._size) if swapped else (self._size, size)
        return self._trace.expose(apply(left, right))

    return method


def _division(apply: Callable[[Size, Size], Size], name: str, swapped: bool = False) -> Any:
    def method(self: SizeTracer, other: Any) -> Any:
        size = None if _is_among_arrays(other) else size_of(other)
        if size is None:
            return _as_array(self, name, other, swapped)
        left, right = (size, self._size) if swapped else (self._size, size)
        self._trace.require("ne", right)  # Python raises for zero
        return self._trace.expose(apply(left, right))

    return method


def _as_array(self: SizeTracer, name: str, other: Any, swapped: bool) -> Any:
    """The operation on this size as a Python number among arrays and floats."""
    if isinstance(other, (list, tuple, str, bytes, bytearray)):  # repetition, or a TypeError
        return other * self.__index__() if name == "mul" else NotImplemented
    lifted = self._trace.lift(self)
    return getattr(lifted, f"__r{name}__" if swapped else f"__{name}__")(other)


def _comparison(decide: Callable[[SizeTracer, Size], bool], name: str) -> Any:
    def method(self: SizeTracer, other: Any) -> Any:
        if _is_among_arrays(other):
            return getattr(operator, name)(self._trace.lift(self), other)
        size = size_of(other)
        if size is None:
            if isinstance(other, (float, bool, complex)):
                inner = is_inner(self._trace, self._size)
                left = self._trace.lift(self) if inner else int(self)
                return getattr(operator, name)(left, other)
            return NotImplemented
        if self._trace.inner and is_inner(self._trace, dims.subtract(self._size, size)):
            return _compared(self, name, size)
        return decide(self, size)

    return method


def _compared(self: SizeTracer, name: str, other: Size) -> Tracer:
    """A comparison that another turn of a loop may answer otherwise: a bool of Python's."""
    trace = self._trace
    sides = [trace.lift(each)._value for each in (self, trace.expose(other))]
    value = trace.builder.emit(COMPARISONS[name], tuple(sides))
    return Tracer(trace, value, "python", False)


def _less(self: SizeTracer, other: Size) -> bool:
    return not self._trace.at_least(dims.subtract(self._size, other))


def _less_equal(self: SizeTracer, other: Size) -> bool:
    return self._trace.at_least(dims.subtract(other, self._size))


def _bits(name: str, primitive: Primitive, swapped: bool = False) -> Any:
    """An operator on bits. An int that a loop changes is computed, and measured."""
    apply = getattr(operator, f"__{name}__")

    def method(self: SizeTracer, other: Any) -> Any:
        trace = self._trace
        size = None if _is_among_arrays(other) else size_of(other)
        if size is None or not (is_inner(trace, self._size) or is_inner(trace, size)):
            own = trace.lift(self) if _is_among_arrays(other) else int(self)
            return apply(other, own) if swapped else apply(own, other)
        left, right = (size, self._size) if swapped else (self._size, size)
        if name in ("lshift", "rshift"):  # Python raises for negative ones, and loses no bits
            trace.require("ge", right)
            trace.require("ge", dims.subtract(62, right))
        sides = [trace.lift(trace.expose(each))._value for each in (left, right)]
        value = trace.builder.emit(primitive, tuple(sides))
        if name == "lshift":
            back = trace.builder.emit(shift_right, (value, sides[1]))
            trace.check(trace.wrap(trace.builder.emit(equal, (back, sides[0]))), "an int too large")
        if value.constant is not None:
            return int(value.constant)
        return trace.expose(trace.measurements.size(value))

    return method


class SizeTracer:
    """See the module docstring."""

    __slots__ = ("_size", "_trace")

    def __init__(self, trace: Trace, size: Dim) -> None:
        self._trace = trace
        self._size = size

    @property
    def size(self) -> Dim:
        if isinstance(sys._getframe(1).f_globals, ScopeGlobals):
            raise AttributeError("'int' object has no attribute 'size'")
        return self._size

    @property
    def __class__(self) -> type:  # isinstance(n, int) holds
        return int

    __add__ = __radd__ = _arithmetic(dims.add, "add")
    __sub__ = _arithmetic(dims.subtract, "sub")
    __rsub__ = _arithmetic(dims.subtract, "sub", swapped=True)
    __mul__ = __rmul__ = _arithmetic(dims.multiply, "mul")
    __floordiv__ = _division(dims.floor_divide, "floordiv")
    __rfloordiv__ = _division(dims.floor_divide, "floordiv", swapped=True)
    __mod__ = _division(dims.modulo, "mod")
    __rmod__ = _division(dims.modulo, "mod", swapped=True)

    def __truediv__(self, other: Any) -> Any:
        return self._trace.lift(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / self._trace.lift(self)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            return pow(int(self), other, modulus)
        if _is_among_arrays(other):
            return self._trace.lift(self) ** other
        if type(other) is int and 0 <= other <= 4:
            return self._trace.expose(dims.product((self._size,) * other))
        return int(self) ** other

    def __rpow__(self, other: Any) -> Any:
        return other ** (self._trace.lift(self) if _is_among_arrays(other) else int(self))

    def __neg__(self) -> Any:
        return self._trace.expose(dims.multiply(self._size, -1))

    def __pos__(self) -> Any:
        return self

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memory: Any) -> Any:
        return self

    def __invert__(self) -> Any:
        return self._trace.expose(dims.subtract(-1, self._size))

    def __round__(self, digits: Any = None) -> Any:
        if digits is None or (type(digits) is int and digits >= 0):
            return self
        return round(int(self), digits)

    def __abs__(self) -> Any:
        return self if self._trace.at_least(self._size) else -self

    __lt__ = _comparison(_less, "lt")
    __le__ = _comparison(_less_equal, "le")
    __gt__ = _comparison(lambda self, other: not _less_equal(self, other), "gt")
    __ge__ = _comparison(lambda self, other: not _less(self, other), "ge")

    def __eq__(self, other: Any) -> Any:
        if _is_among_arrays(other):
            return self._trace.lift(self) == other
        size = size_of(other)
        if size is None:
            return (
                int(self) == other if isinstance(other, (float, bool, complex)) else NotImplemented
            )
        if self._trace.inner and is_inner(self._trace, dims.subtract(self._size, size)):
            return _compared(self, "eq", size)
        return self._trace.is_zero(dims.subtract(self._size, size))

    def __ne__(self, other: Any) -> Any:
        if _is_among_arrays(other):
            return self._trace.lift(self) != other
        size = size_of(other) if self._trace.inner else None
        if size is not None and is_inner(self._trace, dims.subtract(self._size, size)):
            return _compared(self, "ne", size)
        result = self.__eq__(other)
        return result if result is NotImplemented else not result

    def __bool__(self) -> bool:
        return not self._trace.is_zero(self._size)

    def __index__(self) -> int:
        return self._trace.number(self._size)

    __int__ = __index__
    __trunc__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def __hash__(self) -> int:
        return hash(self.__index__())

    def __repr__(self) -> str:
        return repr(self.__index__())

    def __format__(self, spec: str) -> str:
        return format(self.__index__(), spec)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc is np.power and type(inputs[0]) is np.ndarray and inputs[0].dtype == np.bool_:
            if self == 2:  # the operator would take a square, the function would not
                self._trace.refuse("argument", "a power of an array of bools")
        return self._trace.lift(self).__array_ufunc__(ufunc, method, *inputs, **options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return self._trace.lift(self).__array_function__(function, types, args, options)

    def __array__(self, *args: Any, **options: Any) -> Any:
        return np.array(self.__index__(), *args)

    def __getattr__(self, name: str) -> Any:  # bit_length, real, ... : those of the number
        return getattr(self.__index__(), name)

    __and__ = __rand__ = _bits("and", and_)
    __or__ = __ror__ = _bits("or", or_)
    __xor__ = __rxor__ = _bits("xor", xor)
    __lshift__ = _bits("lshift", shift_left)
    __rlshift__ = _bits("lshift", shift_left, swapped=True)
    __rshift__ = _bits("rshift", shift_right)
    __rrshift__ = _bits("rshift", shift_right, swapped=True)

    def __divmod__(self, other: Any) -> Any:
        return (self // other, self % other)

    def __rdivmod__(self, other: Any) -> Any:
        return (other // self, other % self)
