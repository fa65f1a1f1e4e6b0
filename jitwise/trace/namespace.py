"""Modules as traced code sees them: every name is followed like a global, so that a replaced one
(`unittest.mock.patch("numpy.sin")`) is seen.

Inside a trace `np.zeros(n)` must not ask `n` for its value, so the functions in `CREATION` are
replaced by ones bound to the trace, wherever they are reached from (`from numpy import zeros` too).
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .captures import Path
from .code import is_library_file
from .conversions import BEHIND, CONVERTING

if TYPE_CHECKING:
    from .scope import Follower
    from .tracing import Trace

CREATION: dict[
    Any, Callable[..., Any]
] = {}  # NumPy function -> (trace, *args, **options); filled by trace.numpy
INSTANCES: dict[
    type, Callable[..., Any]
] = {}  # type of NumPy -> (trace, instance) -> what stands for an instance; filled by trace.numpy
NUMPY_MODULES: set[str] = {"numpy"}  # modules that are NumPy's namespace under another name


def replacement(trace: Trace, value: Any) -> Any:
    """What stands for a NumPy function in traced code, or None when it stands for itself."""
    if type(value) in INSTANCES:
        return INSTANCES[type(value)](trace, value)
    try:
        handler = CREATION.get(value)
    except Exception:  # unhashable, or an `__eq__` of the user's that fails
        return None
    if handler is None:
        return None

    def bound(*args: Any, **options: Any) -> Any:
        return handler(trace, *args, **options)

    bound.stands_for = value  # type: ignore[attr-defined]
    return bound


def namespace_of(follower: Follower, module: types.ModuleType) -> Any:
    """The stand-in for a module."""
    if module.__name__ in NUMPY_MODULES:
        module = np
    return (LibraryNamespace if _is_library(module) else UserNamespace)(follower, module)


def is_numpy(value: Any) -> bool:
    """Whether a value is NumPy's namespace, under whichever name."""
    return isinstance(value, types.ModuleType) and value.__name__ in NUMPY_MODULES


def _is_library(module: types.ModuleType) -> bool:
    """Whether a module is none of the user's."""
    name = module.__name__
    root = name.split(".")[0]
    if root == "numpy" or root in sys.stdlib_module_names:
        return True
    filename = getattr(module, "__file__", None)
    return filename is not None and is_library_file(os.path.abspath(filename))


class Namespace:
    """A module: its names are followed like globals, and assigning to one ends the trace.

    Its own slots have mangled names, so that no name of the module is hidden.
    """

    def __init__(self, follower: Follower, module: types.ModuleType) -> None:
        self.__dict__["_Namespace__follower"] = follower
        self.__dict__["_Namespace__module"] = module

    def __getattr__(self, name: str) -> Any:
        names, follower = vars(self.__module), self.__follower
        if name not in names:
            value = self._missing(self.__module, name, follower)
            if name not in names:  # the module computes it
                return value
        value = self._found(names[name], Path("dict", names, name), name, follower)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        self.__follower.trace.refuse("effect", f"{self.__module.__name__}.{name}")

    def __delattr__(self, name: str) -> None:
        self.__follower.trace.refuse("effect", f"{self.__module.__name__}.{name}")

    def _missing(self, module: types.ModuleType, name: str, follower: Follower) -> Any:
        raise NotImplementedError

    def _found(self, value: Any, path: Path, name: str, follower: Follower) -> Any:
        return follower.follow(value, path, name)


class UserNamespace(Namespace):
    """A user's module."""

    def _missing(self, module: types.ModuleType, name: str, follower: Follower) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return follower.trace.refuse("source", f"{module.__name__}.{name}")


class LibraryNamespace(Namespace):
    """NumPy, or a module of an installed package or the standard library. What reads the world may
    be held, not called: see `world`.
    """

    def _missing(self, module: types.ModuleType, name: str, follower: Follower) -> Any:
        if name in BEHIND:
            value = getattr(self, BEHIND[name])
            return follower.conversion(name) if value is CONVERTING[name] else value
        value = getattr(module, name)  # loaded when it is first asked for
        return follower.followed_object(value, f"{module.__name__}.{name}")

    def _found(self, value: Any, path: Path, name: str, follower: Follower) -> Any:
        if isinstance(value, (list, dict, set)):
            follower.trace.refuse("world", f"{self.__name__}.{name}")
        return follower.follow(value, path, name)
