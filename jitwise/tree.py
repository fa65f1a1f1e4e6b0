"""`jitwise.tree`: functions on pytrees - nests of tuples, lists, dicts, namedtuples, dataclasses
and None - as `jax.tree` has them.

Dicts keep their insertion order. Built on optree, imported at first use.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any

_NAMESPACE = "jitwise"


@contextlib.contextmanager
def _optree() -> Iterator[Any]:
    """The library, keeping the order of dicts."""
    import optree

    with optree.dict_insertion_ordered(True, namespace=_NAMESPACE):
        yield optree


@functools.cache
def _register(kind: type) -> None:
    names = tuple(field.name for field in dataclasses.fields(kind))

    def flatten(item: Any) -> tuple[tuple, None, tuple]:
        return tuple(getattr(item, name) for name in names), None, names

    def unflatten(metadata: None, children: tuple) -> Any:
        made = object.__new__(kind)
        for name, child in zip(names, children, strict=True):
            object.__setattr__(made, name, child)
        return made

    with _optree() as optree:
        optree.register_pytree_node(kind, flatten, unflatten, namespace=_NAMESPACE)


def _prepare(tree: Any) -> None:
    """Register the classes of dataclass instances in `tree`."""
    pending = [tree]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending.extend(item.values())
        elif isinstance(item, (list, tuple)):
            pending.extend(item)
        elif dataclasses.is_dataclass(item) and not isinstance(item, type):
            _register(type(item))
            pending.extend(getattr(item, field.name) for field in dataclasses.fields(item))


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Any]:
    """The leaves of `tree`, and its structure. None has no leaves."""
    _prepare(tree)
    with _optree() as optree:
        return optree.tree_flatten(tree, is_leaf, namespace=_NAMESPACE)


def unflatten(structure: Any, leaves: Any) -> Any:
    """The tree of this structure with these leaves. Raises ValueError when their number differs."""
    with _optree() as optree:
        return optree.tree_unflatten(structure, leaves)


def leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of `tree`, in order."""
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The structure of `tree`; structures compare equal when trees match."""
    return flatten(tree, is_leaf)[1]


def map(
    function: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Apply `function` leaf by leaf. Raises ValueError when the trees do not match."""
    for each in (tree, *rest):
        _prepare(each)
    with _optree() as optree:
        return optree.tree_map(function, tree, *rest, is_leaf=is_leaf, namespace=_NAMESPACE)


def reduce(function: Callable[[Any, Any], Any], tree: Any, *initial: Any) -> Any:
    """Fold the leaves of `tree` with `function`, from the left."""
    return functools.reduce(function, leaves(tree), *initial)


def all(tree: Any) -> bool:
    """Whether every leaf is true."""
    return not any(not leaf for leaf in leaves(tree))


__all__ = ["all", "flatten", "leaves", "map", "reduce", "structure", "unflatten"]
