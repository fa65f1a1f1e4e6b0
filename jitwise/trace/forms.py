"""Nests of tuples, lists, dicts, namedtuples and dataclasses, as a form and leaves.

    (x, {"w": 2, "b": None})    ->    leaves x, 2, None; form (*, {'w': *, 'b': *})

Forms are compared as they are; a dict whose keys come in another order is taken for one like it
(`leaves_like`). A leaf has a place in words: `carry[1]['w']`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from .containers import entries, has_methods, is_namedtuple, rebuilder
from .objects import FieldsProxy
from .syntax.names import UNBOUND
from .tracer import Tracer
from .tracing import current


class Form(NamedTuple):
    """How leaves make up a nest."""

    kind: Any  # a class; None: a leaf
    keys: tuple = ()
    items: tuple[Form, ...] = ()

    def __str__(self) -> str:
        kind, shown = self.kind, [str(item) for item in self.items]
        if kind is None:
            return "*"
        if kind is dict:
            pairs = zip(self.keys, shown, strict=True)
            return "{" + ", ".join([f"{key!r}: {item}" for key, item in pairs]) + "}"
        if kind is list:
            return "[" + ", ".join(shown) + "]"
        if kind is tuple:
            return "(" + ", ".join(shown) + (",)" if len(shown) == 1 else ")")
        return f"{kind.__name__}({', '.join(shown)})"

    def count(self) -> int:
        """How many leaves there are."""
        return 1 if self.kind is None else sum(item.count() for item in self.items)

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
        if issubclass(kind, tuple):
            return kind(*items)
        made = rebuilder(kind)(*items)
        trace = current.get()
        if trace is not None and trace.follower is not None and has_methods(kind):
            return FieldsProxy(trace.follower, made, kind.__name__)
        return made

    def places(self, start: str) -> Iterator[str]:
        """What leads to each leaf."""
        if self.kind is None:
            yield start
        for place, item in enumerate(self.items):
            if self.kind is tuple or self.kind is list:
                step = f"[{place}]"
            elif self.kind is dict:
                step = f"[{self.keys[place]!r}]"
            else:
                step = f".{self.keys[place]}"
            yield from item.places(start + step)


LEAF = Form(None)


def flatten(item: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Form]:
    """The leaves of a nest, in order, and its form. `is_leaf`: what is not looked into."""
    # To ask a traced number for its class is to ask for its kind.
    ends = issubclass(type(item), Tracer) or (is_leaf is not None and is_leaf(item))
    found = None if ends else entries(item)
    if found is None:
        return [item], LEAF
    leaves: list[Any] = []
    forms: list[Form] = []
    for _, each in found:
        inner, form = flatten(each, is_leaf)
        leaves += inner
        forms.append(form)
    kind = _class_of(item)
    if is_namedtuple(item):
        return leaves, Form(kind, kind._fields, tuple(forms))  # type: ignore[attr-defined]
    keys = () if kind is tuple or kind is list else tuple([key for key, _ in found])
    return leaves, Form(kind, keys, tuple(forms))


def _class_of(item: Any) -> type:
    """The class of a nest, not that of what stands for it in a trace."""
    return item.__class__ if type(item) is FieldsProxy else type(item)


def leaves_like(item: Any, form: Form) -> list[Any] | None:
    """The leaves of a nest in the order of a form that it has; None where it has another one."""
    if form.kind is None:
        is_leaf = issubclass(type(item), Tracer) or entries(item) is None
        return [item] if is_leaf else None
    found = entries(item) if _class_of(item) is form.kind else None
    if found is None or len(found) != len(form.items):
        return None
    if form.kind is dict:
        if set(item) != set(form.keys):
            return None
        found = [(key, item[key]) for key in form.keys]
    leaves: list[Any] = []
    for (_, each), inner in zip(found, form.items, strict=True):
        below = leaves_like(each, inner)
        if below is None:
            return None
        leaves += below
    return leaves


def spread(form: Form, leaves: Sequence[Any], other: Form) -> tuple[Form, list[Any]]:
    """A nest with another one's form where it has no value."""
    found: list[Any] = []
    made = _spread(form, iter(leaves), other, found)
    return made, found


def _spread(form: Form, leaves: Any, other: Form, found: list[Any]) -> Form:
    if form.kind is None:
        leaf = next(leaves)
        if leaf is UNBOUND and other.kind is not None:
            found += [UNBOUND] * other.count()
            return other
        found.append(leaf)
        return form
    same = form.kind is other.kind and len(form.items) == len(other.items)
    others = other.items if same else form.items
    items = [_spread(item, leaves, each, found) for item, each in zip(form.items, others)]
    return form._replace(items=tuple(items))


__all__ = ["LEAF", "Form", "flatten", "leaves_like", "spread"]
