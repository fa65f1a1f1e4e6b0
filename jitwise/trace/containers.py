"""Containers of arguments and results: tuples, lists, dicts, namedtuples and dataclass instances.

children({"w": w, "b": b})           [w, b]
leaves_of(([x, 2.0],), {"n": 3})     [x, 2.0, 3]
fresh([y, p], {id(p)}, copy)         [copy(y), p]
"""

from __future__ import annotations

import dataclasses
import reprlib
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any


def is_namedtuple(item: Any) -> bool:
    """Whether an object is an instance of a namedtuple class."""
    return isinstance(item, tuple) and type(item) is not tuple and hasattr(type(item), "_fields")


def is_dataclass_instance(item: Any) -> bool:
    """Whether an object is a dataclass instance, which is flattened by field."""
    return dataclasses.is_dataclass(item) and not isinstance(item, type)


def entries(item: Any) -> list[tuple[Any, Any]] | None:
    """The items that an argument is flattened into, each with what reaches it: a place, a key or
    the name of a field. None for a leaf. The native dispatcher flattens alike.
    """
    kind = type(item)
    if kind is tuple or kind is list or is_namedtuple(item):
        return list(enumerate(item))
    if kind is dict:
        return list(item.items())
    if is_dataclass_instance(item):
        names = [field.name for field in dataclasses.fields(item)]
        return [(name, getattr(item, name)) for name in names]
    return None


def children(item: Any) -> list[Any] | None:
    """The items that an argument is flattened into, or None for a leaf."""
    found = entries(item)
    return None if found is None else [each for _, each in found]


def leaves_of(args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """The leaves of a call, in the dispatcher's order."""
    leaves: list[Any] = []
    pending = [*args, *kwargs.values()][::-1]
    while pending:
        item = pending.pop()
        inner = children(item)
        if inner is None:
            leaves.append(item)
        else:
            pending.extend(inner[::-1])
    return leaves


def has_methods(kind: type) -> bool:
    """Whether a dataclass has functions written by the user, which must be followed."""
    return any(
        isinstance(value, property) or is_written(value)
        for owner in kind.__mro__
        if owner is not object
        for value in vars(owner).values()
    )


def is_written(value: Any) -> bool:
    """Whether what a class holds is a function that was not made for a dataclass."""
    return isinstance(value, types.FunctionType) and value.__code__.co_filename not in _MADE


_MADE = ("<string>", dataclasses.__file__, reprlib.__file__)  # files of what is made


def containers_in(items: Iterable[Any]) -> Iterator[Any]:
    """All containers in `items`."""
    pending = list(items)
    while pending:
        item = pending.pop()
        inner = children(item)
        if inner is not None:
            yield item
            pending.extend(inner)


def rebuilder(kind: type) -> Callable[..., Any]:
    """A function that makes a dataclass instance of its fields without running `__init__` or
    `__post_init__` again.
    """
    names = [field.name for field in dataclasses.fields(kind)]

    def rebuild(*values: Any) -> Any:
        made = object.__new__(kind)
        for name, value in zip(names, values, strict=True):
            object.__setattr__(made, name, value)
        return made

    return rebuild


def fresh(item: Any, kept: Collection[int], of_leaf: Callable[[Any], Any]) -> Any:
    """A result with containers of its own, and `of_leaf` of each leaf, once for each object. What
    `kept` has the id of is left as it is.
    """
    made: dict[int, tuple[Any, Any]] = {}  # with what it is made of, whose id is its own meanwhile

    def new(item: Any) -> Any:
        if id(item) in kept:
            return item
        kind = type(item)
        if kind is tuple or kind is list:
            return kind([new(each) for each in item])
        if kind is dict:
            return {key: new(each) for key, each in item.items()}
        if is_namedtuple(item):
            return kind(*[new(each) for each in item])
        if type(getattr(kind, "__dataclass_fields__", None)) is dict:
            return rebuilder(kind)(*[new(each) for each in children(item) or ()])
        if id(item) not in made:
            made[id(item)] = item, of_leaf(item)
        return made[id(item)][1]

    return new(item)
