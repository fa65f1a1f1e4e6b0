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

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..ir.builder import Builder
from ..ir.dims import Size
from ..ir.graph import Value
from ..ir.types import DTYPE_NAMES, ArrayType
from ..ops.convert import convert
from ..ops.movement import broadcast_in_dim, reshape
from .containers import children, is_dataclass_instance, is_namedtuple
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
_WEAK = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}


class Kind(NamedTuple):
    """`name` is "array", "scalar", "bool", "int", "float", "complex" or "static"."""

    name: str
    type: ArrayType | None = None
    static: Any = None

    def __str__(self) -> str:
        if self.name == "static":
            return repr(self.static)
        return f"{self.name} {self.type}" if self.name in ("array", "scalar") else self.name

    def is_like(self, other: Kind) -> bool:
        """Whether it is the same kind."""
        if self.name == "static":
            return other.name == "static" and is_same(self.static, other.static)
        return self.name == other.name and self.type == other.type

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
    if kind is np.ndarray:
        return Kind("array", trace.lift(item)._value.type)
    return Kind("static", None, item)


class Form(NamedTuple):
    """How leaves make up a nest of tuples, lists, dicts, namedtuples and dataclasses."""

    kind: Any  # a class; None: a leaf
    keys: tuple = ()
    items: tuple[Form, ...] = ()

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        shown = ", ".join(map(str, self.items))
        return f"{self.kind.__name__}({shown})"

    def build(self, leaves: Sequence[Any]) -> Any:
        """The nest of these leaves."""
        return self._build(iter(leaves))

    def _build(self, leaves: Any) -> Any:
        kind = self.kind
        if kind is None:
            return next(leaves)
        items = [item._build(leaves) for item in self.items]
        if kind is tuple or kind is list:
            return kind(items)
        if kind is dict:
            return dict(zip(self.keys, items, strict=True))
        if hasattr(kind, "_fields"):
            return kind(*items)
        made = object.__new__(kind)
        for name, item in zip(self.keys, items, strict=True):
            object.__setattr__(made, name, item)
        return made


_LEAF = Form(None)


def flatten(item: Any) -> tuple[list[Any], Form]:
    """The leaves of a nest, in order, and its form."""
    inner = children(item)
    if inner is None:
        return [item], _LEAF
    leaves: list[Any] = []
    forms: list[Form] = []
    for each in inner:
        found, form = flatten(each)
        leaves += found
        forms.append(form)
    kind = type(item)
    keys: tuple = ()
    if kind is dict:
        keys = tuple(item)
    elif is_dataclass_instance(item) and not is_namedtuple(item):
        keys = tuple(vars(item)) if hasattr(item, "__dict__") else ()
    return leaves, Form(kind, keys, tuple(forms))


def joined(trace: Trace, one: Kind, other: Kind, promotes: bool) -> Kind | None:
    """What both can be, or None. Sizes that agree in the call that is traced are taken for one."""
    if one.is_like(other) or _agree(trace, one, other):
        return one
    if one.static is UNBOUND or other.static is UNBOUND:
        return other if one.static is UNBOUND else one
    if not promotes or one.type is None or other.type is None:
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


def _agree(trace: Trace, one: Kind, other: Kind) -> bool:
    if one.name != other.name or one.type is None or other.type is None:
        return False
    same = one.type.dtype == other.type.dtype
    return same and _same_shape(trace, one.type.shape, other.type.shape)


def _same_shape(trace: Trace, one: tuple[Size, ...], other: tuple[Size, ...]) -> bool:
    if len(one) != len(other):
        return False
    return all(trace.same_size(*sizes) for sizes in zip(one, other, strict=True))


def as_kind(builder: Builder, value: Value, kind: Kind) -> Value:
    """A value in the type of a kind that it was joined to."""
    type = kind.type
    assert type is not None
    if value.type.dtype != type.dtype:
        value = builder.emit(convert, (value,), {"dtype": type.dtype})
    if value.type.shape == type.shape:
        return value
    if value.type.shape:  # of sizes that were found equal
        return builder.emit(reshape, (value,), {"sizes": type.shape})
    return builder.emit(broadcast_in_dim, (value,), {"sizes": type.shape, "dimensions": ()})


def given(trace: Trace, region: Region, kind: Kind, first: Value) -> tuple[Value, Any]:
    """A new input of a region, and what the function sees of it."""
    assert kind.type is not None
    place = len(region.inputs)
    value = region.given(kind.type, first)
    if kind.name != "int":
        return value, stand_in(trace, kind, value)
    name = trace.name_symbol("n")
    trace.values.open[name] = first
    trace.inner.add(name)
    return value, SizeTracer(trace, region.symbol(name, ("value", place)))


def stand_in(trace: Trace, kind: Kind, value: Value) -> Any:
    """What Python sees of a value. An int is measured."""
    if kind.name in ("array", "scalar"):
        return Tracer(trace, value, kind.name)
    if kind.name == "int":
        if value.constant is not None:
            return int(value.constant)
        return SizeTracer(trace, trace.measurements.size(value))
    return Tracer(trace, value, "python", _UNKNOWN[kind.name])


__all__ = ["Form", "Kind", "as_kind", "flatten", "given", "joined", "kind_of", "stand_in"]
