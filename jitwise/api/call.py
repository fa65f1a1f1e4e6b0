"""A call in canonical form: arguments bound to parameters, leaves numbered, and the signature they
make.

    f(1.0, b=2.0)  and  f(b=2.0, a=1.0)    ->  bound_args (1.0, 2.0), one signature

`order` says which leaf of the call as it was given each canonical leaf is, so that one trace
serves every style of call.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np

from ..ir.primitive import exact
from ..trace.function import Traced, children, is_namedtuple, leaves_of
from ..trace.objects import is_keyed_by_type

_NUMERIC = (np.ndarray, np.generic, int, float, complex)


class Call(NamedTuple):
    """One call: as given, as bound to parameters, and how the leaves of the two correspond."""

    args: tuple
    kwargs: dict[str, Any]
    bound_args: tuple
    bound_kwargs: dict[str, Any]
    order: list[int]
    static: frozenset[int]
    key: Any
    style: Any
    types: frozenset[type]  # of instances whose identity is not part of the key

    def leaves(self, traced: Traced) -> list[tuple[str, int]]:
        """Where each program input comes from, leaves counted as the call is given."""
        return [("leaf", self.order[k]) if how == "leaf" else (how, k) for how, k in traced.origins]

    def outputs(self, traced: Traced) -> Any:
        """The recipe of the result, leaves counted as the call is given."""
        return _renumbered(traced.outputs, self.order) if traced.written else traced.outputs

    def overlaps(self, traced: Traced) -> bool:
        """Whether an array that is written to shares memory with another one of the program."""
        if not traced.written:
            return False
        leaves = leaves_of(self.bound_args, self.bound_kwargs)
        try:
            inputs = [traced.given(place, leaves) for place in range(len(traced.origins))]
        except Exception:  # what was captured is no longer there: the trace does not serve
            return False
        return any(
            other != place
            and isinstance(item, np.ndarray)
            and np.may_share_memory(inputs[place], item)
            for place in traced.written
            for other, item in enumerate(inputs)
        )

    @property
    def ones(self) -> tuple:
        """Which sizes are 1: what broadcasts decides what a trace is."""
        leaves = leaves_of(self.bound_args, self.bound_kwargs)
        shapes = [leaf.shape for leaf in leaves if isinstance(leaf, np.ndarray)]
        return tuple([tuple([size == 1 for size in shape]) for shape in shapes])

    @property
    def has_objects(self) -> bool:
        """Whether a leaf is neither a number nor an array: its value is part of the signature."""
        leaves = leaves_of(self.args, self.kwargs)
        return not all(isinstance(leaf, _NUMERIC) for leaf in leaves)


def _renumbered(recipe: Any, order: list[int]) -> Any:
    kind, item = recipe[0], recipe[1]
    if kind == "leaf":
        return (kind, order[item])
    if kind in ("tuple", "list"):
        return (kind, [_renumbered(each, order) for each in item])
    if kind == "dict":
        return (kind, [(key, _renumbered(each, order)) for key, each in item])
    if kind == "call":
        return (kind, item, [_renumbered(each, order) for each in recipe[2]])
    return recipe


class _Leaf:
    """A leaf of the call as given, with its number."""

    __slots__ = ("index", "value")

    def __init__(self, index: int, value: Any) -> None:
        self.index = index
        self.value = value


class Numbered:
    """Replaces leaves by numbered ones."""

    def __init__(self) -> None:
        self.count = 0

    def number(self, item: Any) -> Any:
        inner = children(item)
        if inner is None:
            self.count += 1
            return _Leaf(self.count - 1, item)
        return _rebuilt(item, [self.number(each) for each in inner])


class _Node:
    """A dataclass instance with numbered fields."""

    __slots__ = ("items", "original")

    def __init__(self, original: Any, items: list[Any]) -> None:
        self.original = original
        self.items = items


def _rebuilt(item: Any, items: list[Any]) -> Any:
    kind = type(item)
    if kind is dict:
        return dict(zip(item, items, strict=True))
    if kind is tuple or kind is list:
        return kind(items)
    return kind(*items) if is_namedtuple(item) else _Node(item, items)


def numbered_leaves(items: tuple[Any, ...]) -> list[_Leaf]:
    """The numbered leaves in `items`, in order."""
    leaves: list[_Leaf] = []
    pending = list(items[::-1])
    while pending:
        item = pending.pop()
        if type(item) is _Leaf:
            leaves.append(item)
        else:
            inner = item.items if type(item) is _Node else children(item)
            pending.extend((inner or [])[::-1])
    return leaves


def unnumber(item: Any) -> Any:
    kind = type(item)
    if kind is _Leaf:
        return item.value
    if kind is _Node:
        return item.original
    inner = children(item)
    return item if inner is None else _rebuilt(item, [unnumber(each) for each in inner])


def structure(item: Any) -> Any:
    """What of an argument is part of the signature: containers, dtypes, ranks, identities
    of statics.
    """
    kind = type(item)
    if kind is np.ndarray:
        return (kind, item.dtype.str, item.ndim)
    if isinstance(item, np.generic):
        return (kind, item.dtype.str)
    if kind in (int, float, bool, complex):
        return kind
    inner = children(item)
    if inner is not None:
        keys = exact(tuple(item)) if kind is dict else None
        return (kind, keys, tuple([structure(each) for each in inner]))
    if kind in (str, bytes, type(None)):
        return kind, item
    return ("instance", kind) if is_keyed_by_type(item) else _Identity(item)


class _Identity:
    """A static object in a signature, compared by identity; not kept alive if that can be told."""

    __slots__ = ("number", "reference")

    def __init__(self, item: Any) -> None:
        self.number = id(item)
        try:
            self.reference: Any = weakref.ref(item)
        except TypeError:
            self.reference = lambda: item

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Identity):
            return False
        item = self.reference()
        return other is self or (item is not None and other.reference() is item)

    def __hash__(self) -> int:
        return self.number


def types_of_instances(args: tuple, kwargs: dict[str, Any]) -> frozenset[type]:
    """The types of the leaves whose identity is not part of the signature."""
    return frozenset(type(leaf) for leaf in leaves_of(args, kwargs) if is_keyed_by_type(leaf))
