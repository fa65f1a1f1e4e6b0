"""A call in canonical form: arguments bound to parameters, leaves numbered, and the signature they
make.

    f(1.0, b=2.0)  and  f(b=2.0, a=1.0)    ->  bound_args (1.0, 2.0), one signature

`order` says which leaf of the call as it was given each canonical leaf is, so that one trace
serves every style of call.
"""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..ir.primitive import exact
from ..trace.captures import Path, chain_of, keys_from_leaf
from ..trace.containers import children, entries, is_namedtuple, leaves_of
from ..trace.function import Traced
from ..trace.objects import is_keyed_by_type
from .options import Options, positional_names, positions

_PLAIN = (int, float, bool, complex, str, bytes, type(None))
_NUMERIC = (np.ndarray, np.generic, int, float, complex)


class Call(NamedTuple):
    """One call: as given, as bound to parameters, and how the leaves of the two correspond."""

    args: tuple
    kwargs: dict[str, Any]
    bound_args: tuple
    bound_kwargs: dict[str, Any]
    order: list[int | Path]  # by canonical leaf: the leaf as given, or where its default is
    static: frozenset[int]
    key: Any
    style: Any
    roots: dict[Any, int]  # which argument of the call as given a bound one is, by place or name
    types: frozenset[type]  # of instances whose identity is not part of the key

    def inputs(self, traced: Traced) -> tuple[list[tuple[str, int]], list[Path]]:
        """Where each program input comes from, leaves counted as the call is given; and what is
        captured: what the trace does, and then the defaults of what the call does not give.
        """
        captures, found = [*traced.captures], []
        for how, number in traced.origins:
            place = self.order[number] if how == "leaf" else number
            if isinstance(place, Path):
                captures.append(place)
                how, place = "capture", len(captures) - 1
            found.append((how, place))
        return found, captures

    def outputs(self, traced: Traced) -> Any:
        """The recipe of the result, leaves counted as the call is given."""
        return self._renumbered(traced.outputs)

    def _renumbered(self, recipe: Any) -> Any:
        kind, item = recipe[0], recipe[1]
        if kind == "leaf":
            return (kind, self.order[item])
        if kind == "argument":
            return (kind, self.roots[item], recipe[2])
        if kind == "reached":
            root, keys = self._way_to(chain_of(item)[-1].key)
            return ("argument", self.roots[root], (*keys, *(keys_from_leaf(item) or ())))
        if kind in ("tuple", "list"):
            return (kind, [self._renumbered(each) for each in item])
        if kind == "dict":
            return (kind, [(key, self._renumbered(each)) for key, each in item])
        if kind == "call":
            return (kind, item, [self._renumbered(each) for each in recipe[2]])
        return recipe

    def _way_to(self, leaf: int) -> tuple[Any, tuple]:
        """The bound argument that a leaf belongs to, and what leads from there to it."""
        pending = [(root, (), item) for root, item in enumerate(self.bound_args)]
        pending += [(root, (), item) for root, item in self.bound_kwargs.items()]
        found = []
        pending.reverse()
        while len(found) <= leaf:
            root, keys, item = pending.pop()
            inner = entries(item)
            if inner is None:
                found.append((root, keys))
            else:
                pending += [(root, (*keys, key), each) for key, each in inner[::-1]]
        return found[leaf]

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


class _Leaf:
    """A leaf of the call as given, with its number; or a default, with its place."""

    __slots__ = ("index", "value")

    def __init__(self, index: int | Path, value: Any) -> None:
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


def canonical(
    function: Any,
    signature: inspect.Signature | None,
    options: Options,
    args: tuple,
    kwargs: dict[str, Any],
) -> Call | None:
    """The call with arguments bound to parameters, numbers and names that are left out being those
    of the defaults; None when Python would refuse it.
    """
    numbered = Numbered()
    call_args = tuple([numbered.number(item) for item in args])
    call_kwargs = {name: numbered.number(item) for name, item in kwargs.items()}
    try:
        defaults = defaults_of(function) if signature is not None else {}
        bound_args, bound_kwargs = _bound(signature, call_args, call_kwargs, defaults)
    except TypeError:
        return None
    order = [leaf.index for leaf in numbered_leaves((*bound_args, *bound_kwargs.values()))]
    real_args = tuple([unnumber(item) for item in bound_args])
    real_kwargs = {name: unnumber(item) for name, item in bound_kwargs.items()}
    static = _static_leaves(signature, options, bound_args, bound_kwargs)
    return Call(
        args=args,
        kwargs=kwargs,
        bound_args=real_args,
        bound_kwargs=real_kwargs,
        order=order,
        static=frozenset(static),
        key=(structure(real_args), structure(real_kwargs), static),
        style=(len(args), tuple(kwargs)),
        roots=_roots(signature, args, kwargs),
        types=types_of_instances(args, kwargs),
    )


def defaults_of(function: Any) -> dict[str, _Leaf]:
    """The defaults of a function that are numbers, names or None, with the places where the next
    call finds them. Others are objects that the function may know again or change.
    """
    if not isinstance(function, types.FunctionType) or hasattr(function, "__wrapped__"):
        return {}
    code, found = function.__code__, {}
    names = code.co_varnames[: code.co_argcount]
    values, base = function.__defaults__ or (), Path("attr", function, "__defaults__")
    for index, value in enumerate(values):
        found[names[len(names) - len(values) + index]] = Path("item", base, index), value
    base = Path("attr", function, "__kwdefaults__")
    for name, value in (function.__kwdefaults__ or {}).items():
        found[name] = Path("item", base, name), value
    return {
        name: _Leaf(path, value) for name, (path, value) in found.items() if type(value) in _PLAIN
    }


def _bound(
    signature: inspect.Signature | None,
    args: tuple,
    kwargs: dict[str, Any],
    defaults: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[tuple, dict[str, Any]]:
    if signature is None:
        return args, kwargs
    bound = signature.bind(*args, **kwargs)
    for name, leaf in defaults.items():
        if name in signature.parameters:
            bound.arguments.setdefault(name, leaf)
    return bound.args, dict(sorted(bound.kwargs.items()))


def _roots(
    signature: inspect.Signature | None, args: tuple, kwargs: dict[str, Any]
) -> dict[Any, int]:
    """For each bound argument, by place or name, its place in the call as it was given."""
    count = len(args)
    names = {name: count + place for place, name in enumerate(kwargs)}
    by_place, by_name = _bound(signature, tuple(range(count)), names)
    return {**dict(enumerate(by_place)), **by_name}


def _static_leaves(
    signature: inspect.Signature | None, options: Options, args: tuple, kwargs: dict[str, Any]
) -> tuple[int, ...]:
    """Indices, among canonical leaves, of those in arguments declared static."""
    numbers, names = options.static_argnums, options.static_argnames
    if not numbers and not names:
        return ()
    wanted = positions(numbers, signature, len(args))
    names_of_args = positional_names(signature, len(args))
    wanted |= {index for index, name in enumerate(names_of_args) if name in names}
    found, index = [], 0
    items = [(position in wanted, item) for position, item in enumerate(args)]
    items += [(name in names, item) for name, item in kwargs.items()]
    for is_static, item in items:
        count = len(numbered_leaves((item,)))
        found += range(index, index + count) if is_static else ()
        index += count
    return tuple(found)
