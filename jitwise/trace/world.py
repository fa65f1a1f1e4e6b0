"""The state of the world: one table of what a traced function must not ask, because the answer of
the call that is traced would be kept for ever.

    time.time(), random.random()          another answer at each call
    open(), np.load(), glob.glob()        what is in files
    sys.getrecursionlimit(), np.geterr()  settings
    warnings.warn(), logging.info()       what others are to see at each call

Functions of the standard library are known by their module: those of `PURE` depend on their
arguments alone, all others ask or change the world, or may. NumPy's and the builtins are pure but
for those named here. Numbers, strings and tuples in any module are values like other globals.

Left out: installed packages other than NumPy, whose functions are taken to be pure.
"""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any

import numpy as np

PURE = frozenset(
    {
        "__future__",
        "abc",
        "array",
        "ast",
        "base64",
        "binascii",
        "bisect",
        "builtins",
        "cmath",
        "collections",
        "colorsys",
        "contextlib",
        "copy",
        "copyreg",
        "dataclasses",
        "difflib",
        "enum",
        "fractions",
        "functools",
        "graphlib",
        "hashlib",
        "heapq",
        "html",
        "itertools",
        "json",
        "keyword",
        "math",
        "numbers",
        "operator",
        "pprint",
        "re",
        "reprlib",
        "statistics",
        "string",
        "struct",
        "textwrap",
        "types",
        "typing",
        "unicodedata",
        "zlib",
    }
)
CLOCKS = frozenset({"time", "datetime", "secrets", "uuid"})  # another answer at each call
CHANGING_BUILTINS = (
    "open",
    "input",
    "exec",
    "eval",
    "globals",
    "locals",
    "vars",
    "setattr",
    "delattr",
    "breakpoint",
)
_NUMPY = (
    "errstate",
    "fromfile",
    "fromregex",
    "genfromtxt",
    "get_include",
    "get_printoptions",
    "getbufsize",
    "geterr",
    "geterrcall",
    "info",
    "load",
    "loadtxt",
    "memmap",
    "printoptions",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
    "set_printoptions",
    "setbufsize",
    "seterr",
    "seterrcall",
    "show_config",
    "show_runtime",
)
_NUMPY_MODULES = ("numpy.random", "numpy.lib.format", "numpy.ctypeslib", "numpy.testing")
_FUNCTIONS = {id(getattr(np, name)): f"numpy.{name}" for name in _NUMPY if hasattr(np, name)} | {
    id(getattr(builtins, name)): name for name in CHANGING_BUILTINS
}


def reason_of_module(name: str) -> str | None:
    """Why the functions of a module end a trace, as a row of `errors.REASONS`, or None."""
    root = name.split(".")[0].lstrip("_")
    if root == "random" or name.startswith("numpy.random"):
        return "random"
    if root in CLOCKS:
        return "clock"
    if name.startswith(_NUMPY_MODULES):
        return "world"
    is_library = name.split(".")[0] in sys.stdlib_module_names
    return "world" if is_library and not {root, name.split(".")[0]} & PURE else None


def reason_of(value: Any) -> tuple[str, str] | None:
    """Why calling a function, or asking an object, of a library ends a trace: a row of
    `errors.REASONS` and the name to say; or None.
    """
    name = _FUNCTIONS.get(id(value))
    if name is not None:
        return "world", name
    holder = getattr(value, "__self__", None)
    owner = holder if isinstance(holder, type) else type(holder)
    modules = [getattr(value, "__module__", None)]
    if holder is not None and not isinstance(holder, types.ModuleType):
        modules.append(owner.__module__)
    if not isinstance(value, (types.FunctionType, type)):
        modules.append(type(value).__module__)
    for module in modules:
        reason = reason_of_module(module) if isinstance(module, str) else None
        if reason is not None:
            return reason, f"{module}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    return None
