"""Modules as traced code sees them: NumPy with creation functions that accept sizes and tracers,
users' modules followed.

Inside a trace `np.zeros(n)` must not ask `n` for its value, so the module `np` is replaced by
`NumpyNamespace`, and the functions in `CREATION` by ones bound to the trace, wherever they are
reached from (`from numpy import zeros` too).
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

if TYPE_CHECKING:
    from .scope import Follower
    from .tracing import Trace

CREATION: dict[
    Any, Callable[..., Any]
] = {}  # NumPy function -> (trace, *args, **options); filled by trace.numpy
NUMPY_MODULES: set[str] = {"numpy"}  # modules that are NumPy's namespace under another name


def replacement(trace: Trace, value: Any) -> Any:
    """What stands for a NumPy function in traced code, or None when it stands for itself."""
    try:
        handler = CREATION.get(value)
    except Exception:  # unhashable, or an `__eq__` of the user's that fails
        return None
    if handler is None:
        return None
    return lambda *args, **options: handler(trace, *args, **options)


_WORLD = {
    "time",
    "datetime",
    "secrets",
    "uuid",
    "os",
    "sys",
    "io",
    "pathlib",
    "glob",
    "logging",
    "warnings",
    "subprocess",
    "socket",
    "shutil",
    "tempfile",
    "threading",
    "sqlite3",
    "gc",
}  # modules whose functions answer differently at each call, or change the world


def namespace_of(follower: Follower, module: types.ModuleType) -> Any:
    """The stand-in for a module."""
    name = module.__name__
    if name in NUMPY_MODULES:
        return NumpyNamespace(follower, np)
    if name.startswith("numpy.random") or name == "random":
        return RefusingNamespace(follower.trace, "random", name)
    if name.split(".")[0] in _WORLD:
        return RefusingNamespace(follower.trace, "clock", name)
    filename = getattr(module, "__file__", None)
    if name.split(".")[0] in ("numpy", "scipy", "math", "cmath", "jitwise"):
        return module
    if filename is None:
        builtin = name.split(".")[0] in sys.builtin_module_names or name in sys.stdlib_module_names
        return module if builtin else UserNamespace(follower, module)
    return module if is_library_file(os.path.abspath(filename)) else UserNamespace(follower, module)


_OUTSIDE = {
    "errstate",
    "seterr",
    "geterr",
    "seterrcall",
    "geterrcall",
    "load",
    "loadtxt",
    "genfromtxt",
    "fromfile",
    "save",
    "savez",
    "savez_compressed",
    "savetxt",
    "memmap",
    "set_printoptions",
    "get_printoptions",
    "printoptions",
}  # what depends on, or changes, something that no guard can watch


class NumpyNamespace:
    """NumPy inside a trace."""

    def __init__(self, follower: Follower, module: types.ModuleType) -> None:
        self._follower = follower
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if name == "random":
            value = RefusingNamespace(self._follower.trace, "random", "numpy.random")
        elif name in _OUTSIDE:
            return self._follower.trace.refuse("effect", f"or asks for the world, by numpy.{name}")
        else:
            replaced = replacement(self._follower.trace, value)
            value = value if replaced is None else replaced
        self.__dict__[name] = value
        return value


class RefusingNamespace:
    """A module whose functions answer differently at each call."""

    def __init__(self, trace: Trace, reason: str, name: str) -> None:
        self.__trace = trace
        self.__reason = reason
        self.__name = name

    def __getattr__(self, name: str) -> Any:
        return self.__trace.refuse(self.__reason, f"{self.__name}.{name}")


class UserNamespace:
    """A user's module: its names are followed like globals."""

    def __init__(self, follower: Follower, module: types.ModuleType) -> None:
        self.__follower = follower
        self.__module = module

    def __getattr__(self, name: str) -> Any:
        names = vars(self.__module)
        if name not in names:
            if name.startswith("__"):
                raise AttributeError(name)
            return self.__follower.trace.refuse("source", f"{self.__module.__name__}.{name}")
        value = self.__follower.follow(names[name], Path("dict", names, name), name)
        self.__dict__[name] = value
        return value
