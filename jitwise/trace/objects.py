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

import numpy as np

from .captures import Path
from .code import is_library_file, is_users, undecorated
from .containers import is_written
from .draws import is_generator
from .source import ScopeGlobals
from .tracer import Tracer

if TYPE_CHECKING:
    from .scope import Follower


class ObjectProxy:
    """Stands for a user's object: attributes are followed, assignments end the trace. An object
    that belongs to an argument is found by `path`, and not held.

    Its own slots have mangled names, so that no attribute of the object is hidden.
    """

    __slots__ = ("__follower", "__name", "__object", "__path")

    def __init__(self, follower: Follower, value: Any, name: str, path: Path | None = None) -> None:
        object.__setattr__(self, "_ObjectProxy__follower", follower)
        object.__setattr__(self, "_ObjectProxy__object", value)
        object.__setattr__(self, "_ObjectProxy__name", name)
        object.__setattr__(self, "_ObjectProxy__path", path)

    @property
    def __class__(self) -> type:
        kind = type(self.__object)
        if self.__path is None and type(self) is not FieldsProxy:  # else its type is guarded
            guard = self.__follower.trace.captures.guard
            guard(Path("attr", self.__object, "__class__"), kind, "is")
        if isinstance(sys._getframe(1).f_globals, ScopeGlobals):  # not `isinstance`, which is ours
            return self.__follower.followed_object(kind, kind.__name__)
        return kind

    def __getattr__(self, name: str) -> Any:
        value, follower, path = self.__object, self.__follower, self.__path
        captures, own = follower.trace.captures, getattr(value, "__dict__", None)
        found = self.__in_class(name)
        if path is None:  # else its type is guarded
            captures.guard(Path("attr", value, "__class__"), type(value), "is")
        is_own = type(own) is dict and name in own
        if type(own) is dict and not is_own and found is not _ABSENT:
            shadow = Path("dict", own, name) if path is None else Path("own", path, name)
            captures.guard(shadow, None, "absent")
        if not is_own or isinstance(found, property):
            given = self.__of_class(name, found)
            if given is not _ABSENT:
                return given
        place = Path("attr", value if path is None else path, name)
        return follower.follow(getattr(value, name), place, f"{self.__name}.{name}")

    def __in_class(self, name: str) -> Any:
        """What the class holds under `name`, guarded; or `_ABSENT`."""
        kind, trace = type(self.__object), self.__follower.trace
        if hasattr(kind, "__getattr__") or kind.__getattribute__ is not _GETATTRIBUTE:
            return trace.refuse("source", f"attribute hooks of {kind.__name__}")
        found = _in_class(kind, name)
        if found is not _ABSENT:
            trace.captures.guard(Path("attr", kind, name), getattr(kind, name), "is")
        return found

    def __of_class(self, name: str, found: Any) -> Any:
        """A property, or a method bound to this stand-in; `_ABSENT` for any other value."""
        follower, kind = self.__follower, type(self.__object)
        if found is _ABSENT:
            return follower.trace.refuse("source", f"the missing attribute {name}")
        if isinstance(found, property):
            getter = undecorated(found.fget)
            if not isinstance(getter, types.FunctionType):
                return follower.trace.refuse("source", f"the property {name}")
            return follower.method(found.fget)(self)
        if isinstance(found, staticmethod):
            return follower.followed_object(found.__func__, name)
        if isinstance(found, classmethod):
            return follower.trace.refuse("source", f"the class method {name}")
        method = undecorated(found)
        if not isinstance(method, types.FunctionType):
            return _ABSENT
        if not is_users(method.__code__):
            return follower.trace.refuse("source", f"{kind.__name__}.{name}")
        return functools.partial(follower.method(found), self)

    def __setattr__(self, name: str, value: Any) -> None:
        if not self.__holds(name, value):
            self.__follower.trace.refuse("effect", f"{self.__name}.{name}")

    def __holds(self, name: str, value: Any) -> bool:
        """Whether an array of the object is assigned to the attribute that it is: the end of
        `self.total += x`.
        """
        if not isinstance(value, Tracer) or value._kind != "array":
            return False
        kind, own = type(self.__object), getattr(self.__object, "__dict__", None)
        is_plain = kind.__setattr__ is object.__setattr__ and _in_class(kind, name) is _ABSENT
        return is_plain and type(own) is dict and name in own and self.__getattr__(name) is value

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
    __copy__ = __deepcopy__ = __reduce_ex__ = _refused
    del _refused  # an object may have such an attribute


class FieldsProxy(ObjectProxy):
    """Stands for a dataclass argument: fields are the tracers of its leaves, methods and
    properties are followed.
    """

    __slots__ = ()

    @property
    def __dataclass_fields__(self) -> Any:
        """What `dataclasses.fields` and its relatives ask for, of this and of its class."""
        return type(self._ObjectProxy__object).__dataclass_fields__

    def __getattr__(self, name: str) -> Any:
        value, follower = self._ObjectProxy__object, self._ObjectProxy__follower
        if name in type(value).__dataclass_fields__:
            return object.__getattribute__(value, name)
        found = self._ObjectProxy__in_class(name)
        given = self._ObjectProxy__of_class(name, found)
        if given is not _ABSENT:
            return given
        where = f"{self._ObjectProxy__name}.{name}"
        return follower.follow(getattr(value, name), Path("attr", type(value), name), where)


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
    return not any(map(is_written, vars(kind).values())) and dataclasses.is_dataclass(kind)


def is_keyed_by_type(value: Any) -> bool:
    """Whether a static argument is an instance of a class that one trace may serve all of: what
    the trace read of it is guarded, so its identity need not be in the signature.
    """
    kind = type(value)
    if is_generator(value):
        return True
    if not kind.__flags__ & _HEAP_TYPE or kind.__module__.split(".")[0] in ("numpy", "builtins"):
        return False
    if isinstance(value, _KEYED_BY_IDENTITY) or (callable(value) and not hasattr(kind, "__dict__")):
        return False
    return undecorated(value) is value


def _in_class(kind: type, name: str) -> Any:
    """What a class or its bases hold under `name`, unbound."""
    for owner in kind.__mro__:
        if name in vars(owner):
            return vars(owner)[name]
    return _ABSENT


_ABSENT = object()
_GETATTRIBUTE = object.__getattribute__
_HEAP_TYPE = 1 << 9  # made by a class statement
_KEYED_BY_IDENTITY = (
    *(type, types.FunctionType, types.MethodType, types.ModuleType, functools.partial),
    *(np.ndarray, np.generic, enum.Enum, int, float, complex, str, bytes, tuple, list, dict, set),
)
