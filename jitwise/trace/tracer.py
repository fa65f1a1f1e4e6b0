"""`Tracer`: the stand-in for an array, a NumPy scalar or a Python number while a function is
traced.

A tracer is a handle on a graph value. NumPy's protocols (`__array_ufunc__`, `__array_function__`),
Python's operators, methods and properties all end in `Trace.emit`. What would need the value ends
the trace (`Trace.refuse`): the function then runs as Python.

In-place operators bind the handle to another value, and with it the handles that share its memory
(see `memory`).
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from types import FrameType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from .source import ScopeGlobals, variable_of

if TYPE_CHECKING:
    from ..ir.graph import Value
    from .tracing import Trace

FUNCTIONS: dict[
    Any, Callable[..., Any]
] = {}  # NumPy function -> (trace, *args, **options); filled by trace.numpy
METHODS: dict[
    str, Callable[..., Any]
] = {}  # ndarray method or property name -> (tracer, ...); filled by trace.numpy
ABOVE: dict[
    str, Callable[..., Any]
] = {}  # what files that import this one enter: "operate", "call_ufunc", "require_hint", "write"
_MISSING = object()


class Tracer:
    """See the module docstring. `kind` is "array", "scalar" or "python"; `hint` is a Python
    number's value in this call, or the contents of an array that depends on no argument. `views`
    are those that are to be taken anew when it is bound to another value. `c_ordered`: whether its
    elements lie in C order in NumPy's memory, whatever the arguments' layouts are. None: in some
    order, side by side; False: perhaps apart, even along a single axis.
    """

    __slots__ = (
        "__weakref__",
        "_c_ordered",
        "_fresh",
        "_hint",
        "_kind",
        "_shared",
        "_trace",
        "_value",
        "_views",
    )
    __array_priority__ = 1000

    def __init__(
        self, trace: Trace, value: Value, kind: str, hint: Any = None, fresh: bool = True
    ) -> None:
        self._trace = trace
        self._value = value
        self._kind = kind
        self._hint: Any = hint
        self._fresh = trace.stamp if fresh else 0  # or the region that it was made in
        self._shared = False
        self._c_ordered: bool | None = None
        self._views: list[Any] | None = None

    def _bind(self, value: Value) -> None:
        """Stand for `value` from now on."""
        if self._trace.region is not None:
            self._trace.region.note(self)
        self._value = value
        self._hint = None
        views, self._views = self._views, None
        for reference in views or ():
            view = reference()
            if view is not None:
                try:
                    del view._value
                except AttributeError:  # it is to be taken anew already
                    continue

    def _forget(self) -> bool:
        """Another array was written to that this one may be, or not: it is not asked for again.
        False: it was not anyhow.
        """
        for reference in self._views or ():
            view = reference()
            if view is not None:
                view.forget()
        try:
            del self._value
        except AttributeError:
            return False
        return True

    def _is_known(self) -> bool:
        """Whether it may be asked for: see `_forget`."""
        try:
            object.__getattribute__(self, "_value")
        except AttributeError:
            return False
        return True

    def _taken(self) -> Value:
        self._trace.refuse("assign", "an array may have been changed by another name")

    @property
    def __class__(self) -> type:
        if self._kind == "array":
            return np.ndarray
        return self._value.type.dtype.type if self._kind == "scalar" else type(self._hint)

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return ABOVE["call_ufunc"](self._trace, ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: tuple, options: dict) -> Any:
        handler = FUNCTIONS.get(function)
        if handler is None and function.__module__ == "numpy.fft":
            from .numpy import fourier  # noqa: F401 - fills FUNCTIONS

            handler = FUNCTIONS.get(function)
        if handler is None:
            from .numpy.outside import outside

            return outside(self._trace, function, args, options)
        return handler(self._trace, *args, **options)

    def __array__(self, *args: Any, **options: Any) -> Any:
        if self._kind == "python" and type(self._hint) is not complex:  # np.float64 refuses those
            return np.array(concrete(self), *args)
        self._trace.refuse("convert", "a NumPy array")

    # Facts

    @property
    def dtype(self) -> np.dtype:
        return self._value.type.dtype

    @property
    def shape(self) -> tuple:
        return tuple(map(self._trace.expose, self._value.type.shape))

    @property
    def ndim(self) -> int:
        return len(self._value.type.shape)

    @property
    def size(self) -> Any:
        from ..ir import dims

        return self._trace.expose(dims.product(self._value.type.shape))

    @property
    def itemsize(self) -> int:
        return self._value.type.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        return self.size * self.itemsize

    def __len__(self) -> int:
        shape = self._value.type.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return self._trace.number(shape[0])

    def __iter__(self) -> Iterator[Any]:
        if not self._value.type.shape:
            raise TypeError("iteration over a 0-d array")
        if self._trace.rewrites_next and type(self._value.type.shape[0]) is not int:
            self._trace.refuse("loop", "its length is known at run time only")
        return (self[index] for index in range(len(self)))  # each when it is asked for

    # Values that Python needs

    def __bool__(self) -> bool:
        if self._trace.rewrites_next and self._kind == "python" and self._value.op is not None:
            self._trace.refuse("value", "bool")
        if self._kind == "scalar" and self._value.constant is not None and self._trace.active:
            return bool(self._value.constant)
        return bool(concrete(self, "bool"))

    def __float__(self) -> float:
        return float(concrete(self, "float"))

    def __int__(self) -> int:
        return int(concrete(self, "int"))

    def __complex__(self) -> complex:
        return complex(concrete(self, "complex"))

    def __index__(self) -> int:
        if type(self._hint) is bool:  # NumPy takes a bool for a mask, and asks it for an index
            self._trace.refuse("value", "an index")
        return operator.index(concrete(self, "an index"))

    def __round__(self, digits: Any = None) -> Any:
        if self._kind == "array" or self._value.type.dtype.kind == "c":
            self._trace.refuse("error", "TypeError: there is no __round__ method")
        if self._kind == "python" or digits is None:  # an int, whose value is needed
            return round(concrete(self), *([] if digits is None else [digits]))
        return METHODS["round"](self, digits)

    def __hash__(self) -> int:
        if self._kind == "array":
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return hash(concrete(self, "a hash"))

    def __str__(self) -> str:
        return str(concrete(self, "text"))

    def __format__(self, spec: str) -> str:
        return format(concrete(self, "text"), spec)

    def __repr__(self) -> str:
        if _is_users(sys._getframe(1)):
            return repr(concrete(self, "text"))
        return f"Traced<{self._value.type}>"

    def __copy__(self) -> Any:
        return self.__getattr__("copy")() if self._kind == "array" else self

    def __deepcopy__(self, memory: Any) -> Any:
        return self.__copy__()

    def __contains__(self, item: Any) -> bool:
        self._trace.refuse("value", "in")

    # Items, methods

    def __getitem__(self, index: Any) -> Any:
        return METHODS["__getitem__"](self, index)

    def __setitem__(self, index: Any, item: Any) -> None:
        METHODS["__setitem__"](self, index, item)

    def __getattr__(self, name: str) -> Any:
        if name == "_value":  # of a view: its base stands for another value now
            return self._taken()  # type: ignore[attr-defined]
        if self._kind == "python" and _is_users(sys._getframe(1)) and _is_numbers(self, name):
            return _of_number(self, name)
        handler = METHODS.get(name)
        if self._kind == "scalar" and not hasattr(np.generic, name):
            handler = None
        if handler is None:
            exported = name in _EXPORTS and self._hint is None and self._kind != "python"
            if exported and _is_users(sys._getframe(1)):
                name = variable_of(self) or "x"
                advice = f"for np.float32({name}) write {name}.astype(np.float32)"
                self._trace.refuse("convert", f"a number or what another library reads; {advice}")
            owner = np.ndarray if self._kind == "array" else self.__class__
            if name.startswith("__") or not hasattr(owner, name):
                raise AttributeError(
                    f"{self.__class__.__name__!r} object has no attribute {name!r}"
                )
            self._trace.refuse("function", f"ndarray.{name}")
        return handler(self) if hasattr(handler, "is_property") else MethodType(handler, self)


_EXPORTS = ("__array_interface__", "__array_struct__", "__dlpack__", "__dlpack_device__")


def _of_number(tracer: Tracer, name: str) -> Any:
    """An attribute of the Python number itself, or its AttributeError."""
    return getattr(concrete(tracer) if hasattr(tracer._hint, name) else tracer._hint, name)


def _is_numbers(tracer: Tracer, name: str) -> bool:
    """Whether an attribute of a Python number is not the one that an array of it has."""
    return name not in ("real", "imag") or type(tracer._hint) is bool


def _is_users(frame: FrameType) -> bool:
    """Whether followed code asks. Only jitwise sees a dtype and a shape in a Python number."""
    return isinstance(frame.f_globals, ScopeGlobals)


class _Fact:
    """An attribute that arrays have and Python numbers have not."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.get = vars(Tracer)[name].__get__

    def __get__(self, tracer: Tracer | None, owner: type) -> Any:
        if tracer is None:
            return self
        if tracer._kind == "python" and _is_users(sys._getframe(1)):
            return _of_number(tracer, self.name)
        return self.get(tracer)

    def __set__(self, tracer: Tracer, value: Any) -> None:
        raise AttributeError(f"attribute {self.name!r} is not writable")


for _name in ("itemsize", "nbytes", "ndim", "size"):
    setattr(Tracer, _name, _Fact(_name))


class _Attribute:
    """An attribute of ndarray that can be assigned to, which ends a trace.

    Any other assignment raises AttributeError, as it does for an array.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.get = vars(Tracer).get(name)

    def __get__(self, tracer: Tracer | None, owner: type) -> Any:
        if tracer is None:
            return self
        if tracer._kind == "python" and _is_users(sys._getframe(1)):
            if _is_numbers(tracer, self.name):
                return _of_number(tracer, self.name)
        if self.name == "dtype" and tracer._trace.swapped and _is_users(sys._getframe(1)):
            tracer._trace.refuse_swapped(tracer._value)
        return tracer.__getattr__(self.name) if self.get is None else self.get.__get__(tracer)

    def __set__(self, tracer: Tracer, value: Any) -> None:
        tracer._trace.refuse("assign", f"{self.name!r} of an array is assigned")


for _name in ("data", "dtype", "flat", "imag", "real", "shape", "strides"):
    setattr(Tracer, _name, _Attribute(_name))


def concrete(tracer: Tracer, purpose: str = "value") -> Any:
    """The Python number that a tracer of kind "python" has in this call, checked at every later
    call.

    Any other tracer ends the trace.
    """
    trace = tracer._trace
    if not trace.active:
        trace.escaped(tracer._value)
    if tracer._kind != "python":
        trace.refuse("value", purpose)
    if tracer._value.constant is None:
        op = tracer._value.op
        if trace.sources:
            _find_hint(trace, tracer, purpose)
        if op is not None and op.primitive.name == "dimension":
            return trace.number(op.attrs["size"])
        else:
            ABOVE["require_hint"](trace, tracer)
    return tracer._hint


def _find_hint(trace: Trace, tracer: Tracer, purpose: str) -> None:
    """What a number is in this call, where branches and loops lead to it; the next turn of a loop
    has another one.
    """
    value = tracer._value
    if trace.region is not None and trace.region.owns(value):
        trace.refuse("value", purpose)
    if value.op is None or value.op.primitive.name != "dimension":
        tracer._hint = trace.measurements.values_of([value])[0].item()


def _binary(ufunc: np.ufunc, swapped: bool = False) -> Any:
    def method(self: Tracer, other: Any) -> Any:
        kind = type(other)
        if kind not in _PLAIN and not issubclass(kind, Tracer) and _yields(other):
            if self._kind != "python" and ufunc in (np.equal, np.not_equal):
                self._trace.refuse("type", kind.__name__)  # NumPy compares element by element
            return NotImplemented
        operands = (other, self) if swapped else (self, other)
        return ABOVE["operate"](self._trace, ufunc, operands)

    return method


_PLAIN = (int, float, bool, complex, np.ndarray)


def _yields(other: Any) -> bool:
    """Whether another type's own operator should run (NumPy yields to `__array_ufunc__ = None`)."""
    return (
        other is None
        or isinstance(other, str)
        or getattr(other, "__array_ufunc__", _MISSING) is None
    )


def _inplace(ufunc: np.ufunc) -> Any:
    def method(self: Tracer, other: Any) -> Any:
        result = ABOVE["operate"](self._trace, ufunc, (self, other))
        if self._kind != "array" or result is NotImplemented:
            return result
        trace = self._trace
        if not np.can_cast(result.dtype, self.dtype, "same_kind"):
            trace.refuse("error", "UFuncTypeError")
        rebind(self, result)
        return self

    return method


def rebind(target: Tracer, result: Tracer) -> None:
    """Make the handle `target` stand for `result`, converted to its dtype and broadcast to its
    shape.
    """
    trace = target._trace
    shape = target._value.type.shape
    if not trace.fits(result._value.type.shape, shape):
        trace.refuse("error", "ValueError: non-broadcastable output operand")
    converted = trace.convert(result, target._value.type.dtype)
    ABOVE["write"](target, trace.broadcast(converted, shape)._value)


_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "matmul": np.matmul,
}
_COMPARE = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
for _name, _ufunc in _BINARY.items():
    setattr(Tracer, f"__{_name}__", _binary(_ufunc))
    setattr(Tracer, f"__r{_name}__", _binary(_ufunc, swapped=True))
    setattr(Tracer, f"__i{_name}__", _inplace(_ufunc))
for _name, _ufunc in _COMPARE.items():
    setattr(Tracer, f"__{_name}__", _binary(_ufunc))


def _unary(ufunc: np.ufunc) -> Any:
    return lambda self: ABOVE["operate"](self._trace, ufunc, (self,))


for _name, _ufunc in {
    "neg": np.negative,
    "pos": np.positive,
    "abs": np.absolute,
    "invert": np.invert,
}.items():
    setattr(Tracer, f"__{_name}__", _unary(_ufunc))
Tracer.__divmod__ = lambda self, other: (self // other, self % other)  # type: ignore[attr-defined]
Tracer.__rdivmod__ = lambda self, other: (other // self, other % self)  # type: ignore[attr-defined]
