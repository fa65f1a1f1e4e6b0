"""What goes into branches and loops and comes out of them: values of Python as values of a graph.

    (x, 2, "a", n)    ->    leaves x: array f64[n], 2: int, "a": static, n: int

A *kind* tells what a leaf is to Python, beside the type that it has in a graph: an array, a NumPy
scalar, a number of Python's, or static, which is the same object all along. Kinds that differ are
joined, as branches that meet and turns of a loop have to be one thing:

    int and float        float               only where `promotes`: `lax` has one type for a carry
    f32[] and float      f32[]
    int and f64[3]       f64[3]

Without `promotes` (Python's own `if` and `while`) only equal kinds are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..ir import dims
from ..ir.builder import Builder
from ..ir.dims import Size
from ..ir.graph import Value
from ..ir.types import DTYPE_NAMES, ArrayType
from ..ops.compare import less_equal
from ..ops.control import check
from ..ops.convert import convert
from ..ops.elementwise import absolute
from ..ops.movement import broadcast_in_dim, reshape
from .either import CODE, CODES, Either
from .size import SizeTracer
from .syntax.names import UNBOUND
from .tracer import Tracer

if TYPE_CHECKING:
    from .regions import Region
    from .tracing import Trace

_NUMBERS = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}
# Stand for numbers of Python's that are not known: whatever is computed with them is not known.
_UNKNOWN = {"bool": False, "float": float("nan"), "complex": complex("nan")}
_OF_NUMPY = ("scalar", "either")
_BOOL, _DOUBLE = np.dtype(np.bool_), np.dtype(np.float64)
_WEAK = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}


class Kind(NamedTuple):
    """`name` is "array", "scalar", "bool", "int", "float", "complex", "either", "static", or
    "other" (see `plain_kind`). `static` of an "either": the dtype of the NumPy scalar that it may
    be; whether it may be an int.
    """

    name: str
    type: ArrayType | None = None
    static: Any = None

    def known(self, trace: Trace | None) -> Kind:
        """The kind that it is in the call that is traced."""
        if self.type is None or trace is None:
            return self
        shape = tuple(map(trace.hint, self.type.shape))
        return Kind(self.name, ArrayType(self.type.dtype, shape))

    def __str__(self) -> str:
        if self.name == "static":
            return repr(self.static)
        if self.name == "scalar" and self.type is not None:
            return f"scalar {DTYPE_NAMES[self.type.dtype]}"
        return f"array {self.type}" if self.name == "array" else self.name

    def is_like(self, other: Kind) -> bool:
        """Whether it is the same kind."""
        if self.name == "static":
            return other.name == "static" and is_same(self.static, other.static)
        return self.name == other.name and self.type == other.type and self.static == other.static

    def is_bound(self) -> bool:
        """Whether it is not that of a variable without a value."""
        return self.static is not UNBOUND


def is_same(one: Any, other: Any) -> bool:
    """Whether two static leaves are one, or equal and of a type that cannot change."""
    if one is other:
        return True
    return type(one) is type(other) and type(one) in (str, bytes) and one == other


def kind_of(trace: Trace, item: Any) -> Kind:
    """The kind of a leaf."""
    kind = type(item)
    if kind is Either:
        return Kind("either", item._stored.type, (item._numpys, item._may_be_int))
    if issubclass(kind, Tracer):
        if item._trace is not trace:
            item._trace.escaped(item._value)
        name = item._kind if item._kind != "python" else type(item._hint).__name__
        return Kind(name, item._value.type)
    if kind is SizeTracer:
        return Kind("int", ArrayType(_NUMBERS[int], ()))
    if kind in _NUMBERS:
        if kind is int and not -(2**63) <= item < 2**63:
            trace.refuse("type", "int beyond 64 bits")
        return Kind(kind.__name__, ArrayType(_NUMBERS[kind], ()))
    if isinstance(item, np.generic) and item.dtype in DTYPE_NAMES:
        return Kind("scalar", ArrayType(item.dtype, ()))
    if isinstance(item, (np.ndarray, np.generic)):
        return Kind("array", trace.lift(item)._value.type)
    return Kind("static", None, item)


def plain_kind(item: Any) -> Kind:
    """The kind of a leaf that is not traced. What a graph has no type for is of kind "other"."""
    kind = type(item)
    if kind in _NUMBERS:
        return Kind(kind.__name__, ArrayType(_NUMBERS[kind], ()))
    if isinstance(item, (np.ndarray, np.generic)):
        if item.dtype not in DTYPE_NAMES or (kind is not np.ndarray and item.ndim):
            return Kind("other")
        is_array = isinstance(item, np.ndarray)
        return Kind("array" if is_array else "scalar", ArrayType(item.dtype, item.shape))
    return Kind("static", None, item)


def as_plain(item: Any, kind: Kind) -> Any:
    """A leaf that is not traced, in the kind that it was joined to."""
    if kind.type is None or plain_kind(item) == kind:
        return item
    if kind.name in _WEAK:
        return type(_WEAK[kind.name])(item)
    array = np.asarray(item, kind.type.dtype)
    if kind.name == "scalar":
        return array[()]
    return np.broadcast_to(array, [dims.evaluate_size(size, {}) for size in kind.type.shape]).copy()


def joined(trace: Trace | None, one: Kind, other: Kind, promotes: bool) -> Kind | None:
    """What both can be, or None. Sizes that agree in the call that is traced are taken for one.
    Without a trace sizes are numbers.
    """
    if one.is_like(other) or _agree(trace, one, other):
        return one
    if one.static is UNBOUND or other.static is UNBOUND:
        return other if one.static is UNBOUND else one
    if "other" in (one.name, other.name):
        return Kind("other")
    if one.type is None or other.type is None:
        return None
    if not promotes:
        return _either(one, other)
    for each in (one, other):
        if each.name == "either" and each.type and each.static[0] != each.type.dtype:
            return None
    weak = [_WEAK.get(each.name, each.type and each.type.dtype) for each in (one, other)]
    dtype = np.result_type(*weak)
    if dtype not in DTYPE_NAMES:
        return None
    shapes = [one.type.shape, other.type.shape]
    if not _same_shape(trace, *shapes) and () not in shapes:
        return None
    shape = max(shapes, key=len)
    names = {one.name, other.name}
    if names <= _WEAK.keys():
        return Kind(max(names, key=list(_WEAK).index), ArrayType(dtype, ()))
    return Kind("array" if shape or "array" in names else "scalar", ArrayType(dtype, shape))


def _agree(trace: Trace | None, one: Kind, other: Kind) -> bool:
    if one.name != other.name or one.type is None or other.type is None:
        return False
    if one.static != other.static:
        return False
    same = one.type.dtype == other.type.dtype
    return same and _same_shape(trace, one.type.shape, other.type.shape)


def _same_shape(trace: Trace | None, one: tuple[Size, ...], other: tuple[Size, ...]) -> bool:
    if len(one) != len(other) or trace is None:
        return one == other
    return all(trace.same_size(*sizes) for sizes in zip(one, other, strict=True))


def _either(one: Kind, other: Kind) -> Kind | None:
    """The kind of a number that is Python's or NumPy's."""
    names = {one.name, other.name}
    if "array" in names or "complex" in names:
        return None
    eithers = [each for each in (one, other) if each.name == "either"]
    numpys = {each.static[0] for each in eithers}
    numpys |= {each.type.dtype for each in (one, other) if each.type and each.name == "scalar"}
    if names <= {"bool", "scalar", "either"} and numpys <= {_BOOL}:
        return Kind("either", ArrayType(_BOOL, ()), (_BOOL, False))
    if "bool" in names or len(numpys) > 1:
        return None
    (numpy,) = numpys or {_DOUBLE}
    if numpy.kind not in "fi" or numpy.itemsize < 4:
        return None
    wide = any(each.type.dtype == _DOUBLE for each in eithers if each.type)
    stored = _NUMBERS[int] if numpy.kind == "i" and "float" not in names and not wide else _DOUBLE
    has_ints = "int" in names or any(each.static[1] for each in eithers)
    return Kind("either", ArrayType(stored, ()), (numpy, has_ints))


def values_of(trace: Trace, item: Any, kind: Kind) -> tuple[Value, ...]:
    """What a leaf is in a graph."""
    if kind.type is None:
        return ()
    if type(item) is Either:
        return item._stored, item._code
    return (trace.lift(item)._value,)


def types_of(kind: Kind) -> tuple[ArrayType, ...]:
    """The types of the values of a kind."""
    if kind.type is None:
        return ()
    return (kind.type, ArrayType(CODE, ())) if kind.name == "either" else (kind.type,)


def as_kind(
    builder: Builder, values: tuple[Value, ...], own: Kind, kind: Kind
) -> tuple[Value, ...]:
    """The values of a leaf as those of a kind that its own was joined to. A variable that has no
    value is anything.
    """
    if not values:
        nothing = [(builder.constant(0, each.dtype), each) for each in types_of(kind)]
        return tuple([_as_type(builder, value, each) for value, each in nothing])
    if kind.name != "either":
        assert kind.type is not None
        return (_as_type(builder, values[0], kind.type),)
    assert kind.type is not None
    if values[0].type.dtype == _NUMBERS[int] != kind.type.dtype and values[0].constant is None:
        _check_exact(builder, values[0])
    if own.name == "either":
        return _as_type(builder, values[0], kind.type), values[1]
    code = builder.constant(CODES[own.name], CODE)
    return _as_type(builder, values[0], kind.type), code


def _check_exact(builder: Builder, number: Value) -> None:
    """Check that an int is one that float64 has."""
    size = builder.emit(absolute, (number,))
    limit = builder.constant(2**53, number.type.dtype)
    condition = builder.emit(less_equal, (size, limit))
    builder.emit(check, (condition,), {"reason": "an int beyond 53 bits"})


def _as_type(builder: Builder, value: Value, type: ArrayType) -> Value:
    if value.type.dtype != type.dtype:
        value = builder.emit(convert, (value,), {"dtype": type.dtype})
    if value.type.shape == type.shape:
        return value
    if value.type.shape:  # of sizes that were found equal
        return builder.emit(reshape, (value,), {"sizes": type.shape})
    return builder.emit(broadcast_in_dim, (value,), {"sizes": type.shape, "dimensions": ()})


def given(
    trace: Trace, region: Region, kind: Kind, first: tuple[Value, ...]
) -> tuple[tuple[Value, ...], Any]:
    """New inputs of a region for a leaf, and what the function sees of it."""
    place = len(region.inputs)
    pairs = zip(types_of(kind), first, strict=True)
    values = tuple([region.given(type, before) for type, before in pairs])
    if kind.name != "int":
        return values, stand_in(trace, kind, values)
    name = trace.name_symbol("n")
    trace.values.open[name] = first[0]
    trace.inner.add(name)
    return values, SizeTracer(trace, region.symbol(name, ("value", place)))


def stand_in(trace: Trace, kind: Kind, values: tuple[Value, ...]) -> Any:
    """What Python sees of the values of a leaf. An int is measured."""
    value = values[0]
    if kind.name in ("array", "scalar"):
        return Tracer(trace, value, kind.name)
    if kind.name == "either":
        return Either(trace, value, values[1], *kind.static)
    if kind.name == "int":
        if value.constant is not None:
            return int(value.constant)
        return SizeTracer(trace, trace.measurements.size(value))
    return Tracer(trace, value, "python", _UNKNOWN[kind.name])


def take(values: list[Value], kind: Kind) -> tuple[Value, ...]:
    """The values of the next leaf, off the front of those of all."""
    count = len(types_of(kind))
    taken = tuple(values[:count])
    del values[:count]
    return taken


__all__ = [
    "Kind",
    "as_kind",
    "as_plain",
    "given",
    "joined",
    "kind_of",
    "plain_kind",
    "stand_in",
    "take",
    "types_of",
    "values_of",
]
