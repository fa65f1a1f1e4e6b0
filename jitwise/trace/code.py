"""Whose code a function is, and whether it can be followed.

The user's code is what is in no installed package and not in the standard library. Functions that
assign globals or
nonlocals, generators, and methods that call `super()` cannot be followed.
"""

from __future__ import annotations

import dis
import functools
import os
import site
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_EXAMPLES = os.path.join(_HERE, "cli", "examples") + os.sep  # users' code, installed with us
_LIBRARIES = tuple(
    {
        os.path.abspath(path)
        for path in (sys.prefix, os.path.dirname(os.__file__), *site.getsitepackages())
    }
    | {os.path.dirname(os.path.dirname(np.__file__)), "<frozen"}
)
# Functions that give the Python function of a jitted one, or None.
INNER: list[Callable[[Any], Any]] = []
_GENERATORS = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


_ITSELF = object()


def cached_by_code(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function(code, ...)`, whose results are remembered as long as the code lives."""
    known: dict[Any, tuple[weakref.ref, Any]] = {}

    @functools.wraps(function)
    def cached(code: types.CodeType, *others: Any) -> Any:
        key = id(code), others
        found = known.get(key)
        if found is None or found[0]() is not code:
            result = function(code, *others)
            kept = _ITSELF if result is code else result
            found = known[key] = weakref.ref(code, lambda _: known.pop(key, None)), kept
        return code if found[1] is _ITSELF else found[1]

    return cached


def is_users(code: types.CodeType) -> bool:
    """Whether code was written by the user: not of jitwise, an installed package or the standard
    library.
    """
    filename = code.co_filename
    if filename.startswith("<"):
        return not filename.startswith("<frozen")  # a REPL, a notebook, exec
    return not is_library_file(os.path.abspath(filename))


@cached_by_code
def has_loops(code: types.CodeType) -> bool:
    """Whether code has loops, those of comprehensions apart."""
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    own = any("JUMP_BACKWARD" in dis.opname[op] for op in code.co_code[::2])
    return own or any(has_loops(each) for each in inner if each.co_name[0] != "<")


def undecorated(value: Any) -> Any:
    """The function in a jitted one; anything else as it is."""
    for unwrap in INNER:
        inner = unwrap(value)
        if inner is not None:
            return inner
    return value


def is_own_file(path: str) -> bool:
    """Whether a file is part of jitwise, its installed examples apart."""
    path = os.path.abspath(path)
    return path.startswith(_HERE + os.sep) and not path.startswith(_EXAMPLES)


def is_library_file(path: str) -> bool:
    """Whether a file belongs to jitwise, an installed package or the standard library."""
    return path.startswith(_LIBRARIES + (_HERE + os.sep,)) and not path.startswith(_EXAMPLES)


@cached_by_code
def identity_uses(code: types.CodeType) -> frozenset[str]:
    """How code may tell one object from another like it: "is" by the operator (with anything but
    a constant), "items" by looking it up in containers or comparing these.
    """
    found, before = set(), ""
    for operation in code.co_code[::2]:
        now = dis.opname[operation]
        if now == "IS_OP" and before != "LOAD_CONST":
            found.add("is")
        elif now in ("CONTAINS_OP", "COMPARE_OP"):
            found.add("items")
        if now != "CACHE":
            before = now
    if {"index", "count", "remove"} & set(code.co_names):
        found.add("items")
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return frozenset(found).union(*[identity_uses(each) for each in inner])


@cached_by_code
def fault_of_code(code: types.CodeType) -> tuple[str, str] | None:
    """Why code cannot be followed, as (reason, detail), or None."""
    if code.co_flags & _GENERATORS:
        return "generator", f"{code.co_name} is a generator or coroutine"
    free = len(code.co_freevars)
    if "__class__" in code.co_freevars:
        return "source", f"super() in {code.co_name}"
    cells = len(set(code.co_cellvars) - set(code.co_varnames))
    first_free = len(code.co_varnames) + cells
    raw = code.co_code
    for position in range(0, len(raw), 2):
        name = dis.opname[raw[position]]
        if name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            return "global", code.co_names[raw[position + 1]]
        if free and name in ("STORE_DEREF", "DELETE_DEREF") and raw[position + 1] >= first_free:
            return "global", code.co_freevars[raw[position + 1] - first_free]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            fault = fault_of_code(constant)
            own = fault is not None and fault[0] == "global" and fault[1] in code.co_cellvars
            if fault is not None and fault[0] != "generator" and not own:
                return fault
    return None
