"""Builtins as followed code sees them.

    print(x)           waits for the trace to succeed
    len(x)             the size of the first axis
    type(x)            of a tracer: the type of what it stands for
    int(x), float(x)   Python numbers, where they are called: see `conversions`

What reads or changes the world ends the trace when it is called, not when it is held.
"""

from __future__ import annotations

import builtins
import types
from typing import TYPE_CHECKING, Any

from .conversions import followed_conversions
from .objects import ClassProxy, FieldsProxy, ObjectProxy
from .size import SizeTracer
from .tracer import Tracer
from .world import CHANGING_BUILTINS

if TYPE_CHECKING:
    from .scope import Follower

_PROXIES = (ObjectProxy, FieldsProxy, ClassProxy)
_STAND_INS = (Tracer, SizeTracer, *_PROXIES)


def followed_builtins(follower: Follower) -> dict[str, Any]:
    """The builtins for one trace."""
    table = dict(vars(builtins))
    trace = follower.trace

    for name in CHANGING_BUILTINS:
        table[name] = trace.refusing("world", f"{name}()")

    def followed_len(item: Any) -> Any:
        if isinstance(item, Tracer) and item._value.type.shape:
            return trace.expose(item._value.type.shape[0])
        return len(item)

    def followed_print(*args: Any, **options: Any) -> None:
        trace.printed.append((args, options))

    def followed_id(item: Any) -> Any:
        stands_in = isinstance(item, Tracer) or type(item) in _STAND_INS
        return trace.refuse("value", "id") if stands_in else id(item)

    def followed_isinstance(item: Any, kinds: Any) -> bool:
        if type(item) in _PROXIES and _decides(kinds):
            trace.refuse("source", "isinstance with a class that others may join")
        return isinstance(item, kinds)

    def followed_issubclass(item: Any, kinds: Any) -> bool:
        if type(item) is ClassProxy:
            trace.refuse("source", "issubclass")
        return issubclass(item, kinds)

    def followed_import(name: str, *args: Any) -> Any:
        module = builtins.__import__(name, *args)
        return follower.followed_object(module, name)

    table["__import__"] = followed_import
    table.update(len=followed_len, print=followed_print, id=followed_id, type=FollowedType)
    table.update(isinstance=followed_isinstance, issubclass=followed_issubclass)
    table.update(followed_conversions(trace))
    return table


def _decides(kinds: Any) -> bool:
    """Whether classes, as `isinstance` takes them, answer for themselves: `ABC.register`."""
    pending = [kinds]
    while pending:
        kind = pending.pop()
        if isinstance(kind, (tuple, types.UnionType)):
            pending.extend(kind if isinstance(kind, tuple) else kind.__args__)
        elif type(kind) is ClassProxy or isinstance(kind, type):
            check = type(kind.__mro__[0]).__instancecheck__
            if check is not type.__instancecheck__:
                return True
    return False


class _TypeOfType(type):
    """What makes `FollowedType` answer as `type` does."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if len(args) != 1 or options:
            return type(*args, **options)
        item = args[0]
        kind = item.__class__ if type(item) in _STAND_INS else type(item)
        if type(item) in _PROXIES and kind is not type:
            return item._ObjectProxy__follower.followed_object(kind, kind.__name__)
        return FollowedType if kind is type else kind

    def __instancecheck__(cls, item: Any) -> bool:
        return isinstance(item, type)

    def __subclasscheck__(cls, item: type) -> bool:
        return issubclass(item, type)


class FollowedType(metaclass=_TypeOfType):
    """`type` in followed code: the type of what a tracer stands for."""


__all__ = ["FollowedType", "followed_builtins"]
