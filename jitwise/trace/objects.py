"""Stand-ins for the user's objects and classes in followed code.

    self.weights     ->  tracer of a hidden input, fetched by attribute at each call
    self.scale       ->  the number, and a guard that it is equal
    self.step(x)     ->  the method of the class, followed, and a guard that it is the same
    self.count = 1   ->  ends the trace

Attributes that are missing, computed by hooks, or class methods end the trace: what they give next
time cannot be guarded.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import os
import sys
import types
from typing import TYPE_CHECKING, Any

from .captures import Path
from .code import is_library_file, is_users, undecorated
from .source import ScopeGlobals

if TYPE_CHECKING:
    from .scope import Follower


class ObjectProxy:
    """Stands for a user's object: attributes are followed, assignments end the trace.

    Its own slots have mangled names, so that no attribute of the object is hidden.
    """

    __slots__ = ("__follower", "__name", "__object")

    def __init__(self, follower: Follower, value: Any, name: str) -> None:
        object.__setattr__(self, "_ObjectProxy__follower", follower)
        object.__setattr__(self, "_ObjectProxy__object", value)
        object.__setattr__(self, "_ObjectProxy__name", name)

    @property
    def __class__(self) -> type:
        kind = type(self.__object)
        guard = self.__follower.trace.captures.guard
        guard(Path("attr", self.__object, "__class__"), kind, "is")
        if isinstance(sys._getframe(1).f_globals, ScopeGlobals):  # not `isinstance`, which is ours
            return self.__follower.followed_object(kind, kind.__name__)
        return kind

    def __getattr__(self, name: str) -> Any:
        value, follower = self.__object, self.__follower
        captures = follower.trace.captures
        found = _in_class(type(value), name)
        if hasattr(type(value), "__getattr__") or type(value).__getattribute__ is not _GETATTRIBUTE:
            return follower.trace.refuse("source", f"attribute hooks of {type(value).__name__}")
        captures.guard(Path("attr", value, "__class__"), type(value), "is")
        own = getattr(value, "__dict__", {})
        if found is not _ABSENT:
            captures.guard(Path("attr", type(value), name), getattr(type(value), name), "is")
            if name not in own and type(own) is dict:
                captures.guard(Path("dict", own, name), None, "absent")
        if isinstance(found, property):
            getter = undecorated(found.fget)
            if not isinstance(getter, types.FunctionType):
                return follower.trace.refuse("source", f"the property {name}")
            return follower.function(getter)(self)
        method = undecorated(found)
        if name not in own and isinstance(method, types.FunctionType):
            if not is_users(method.__code__):
                return follower.trace.refuse("source", f"{type(value).__name__}.{name}")
            return functools.partial(follower.function(method), self)
        if name not in own and isinstance(found, staticmethod):
            return follower.followed_object(found.__func__, name)
        if name not in own and found is _ABSENT:
            return follower.trace.refuse("source", f"the missing attribute {name}")
        if name not in own and isinstance(found, classmethod):
            return follower.trace.refuse("source", f"the class method {name}")
        where = f"{self.__name}.{name}"
        return follower.follow(getattr(value, name), Path("attr", value, name), where)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__follower.trace.refuse("effect", f"{self.__name}.{name}")

    def __delattr__(self, name: str) -> None:
        self.__follower.trace.refuse("effect", f"{self.__name}.{name}")

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.__getattr__("__call__")(*args, **options)

    def _refused(self, *args: Any) -> Any:
        return self.__follower.trace.refuse(
            "source", f"{self.__name}, a {type(self.__object).__name__},"
        )

    __getitem__ = __setitem__ = __len__ = __iter__ = __contains__ = __add__ = __radd__ = _refused
    __mul__ = __rmul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __bool__ = _refused
    __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __enter__ = __exit__ = _refused
    __repr__ = __str__ = __format__ = __hash__ = _refused


class FieldsProxy(ObjectProxy):
    """Stands for a dataclass argument: fields are the tracers of its leaves, methods and
    properties are followed.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._ObjectProxy__object, "__dict__", {})
        return own[name] if name in own else ObjectProxy.__getattr__(self, name)


class ClassProxy(ObjectProxy):
    """Stands for a class of the user: its attributes are followed. Making an instance ends the
    trace, because its methods would run unseen (classes without such methods have no proxy).
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        kind, follower = self._ObjectProxy__object, self._ObjectProxy__follower
        found = _in_class(kind, name)
        where = f"{kind.__name__}.{name}"
        if found is _ABSENT or type(kind) is not type or isinstance(found, (classmethod, property)):
            if name.startswith("__") and name.endswith("__"):
                return getattr(kind, name)
            return follower.trace.refuse("source", where)
        return follower.follow(getattr(kind, name), Path("attr", kind, name), where)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._ObjectProxy__follower.trace.refuse(
            "source", f"an instance of {self._ObjectProxy__object.__name__}"
        )

    def __instancecheck__(self, item: Any) -> bool:
        return isinstance(item, self._ObjectProxy__object)

    def __subclasscheck__(self, item: type) -> bool:
        return issubclass(item, self._ObjectProxy__object)


def is_plain_class(kind: type) -> bool:
    """Whether a class may be used as it is: not the user's, or without code of his that would run
    unseen.
    """
    if issubclass(kind, (BaseException, enum.Enum)) or hasattr(kind, "_fields"):
        return True
    module = sys.modules.get(kind.__module__)
    filename = getattr(module, "__file__", None)
    if kind.__module__ == "builtins" or (filename and is_library_file(os.path.abspath(filename))):
        return True
    return not any(
        isinstance(value, types.FunctionType) and value.__code__.co_filename != "<string>"
        for value in vars(kind).values()
    ) and dataclasses.is_dataclass(kind)


def _in_class(kind: type, name: str) -> Any:
    """What a class or its bases hold under `name`, unbound."""
    for owner in kind.__mro__:
        if name in vars(owner):
            return vars(owner)[name]
    return _ABSENT


_ABSENT = object()
_GETATTRIBUTE = object.__getattribute__
