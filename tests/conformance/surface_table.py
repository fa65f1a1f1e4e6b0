"""Every public function of `numpy`, `numpy.linalg` and `numpy.fft`, and every method of arrays:
what has a numeric meaning stands here with calls of it, the rest in `surface_excluded` with a
reason.

    "sort": "np.sort(x); np.sort(x, axis=0)"     ->    [Call("numpy.sort", "np.sort(x)"), ...]

The names of arguments say what they are: see `surface_arguments`. `missing()` names what stands in
neither table, so that a function of a newer NumPy is noticed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from surface_arrays import ARRAYS
from surface_elementwise import ELEMENTWISE
from surface_excluded import EXCLUDED, EXCLUDED_METHODS
from surface_linear import LINEAR, METHODS


class Call(NamedTuple):
    """One call of a function: the function's full name, and the call's text."""

    function: str
    text: str


def _public() -> dict[str, Any]:
    """Public names by their name after `numpy.`."""
    names = {name: getattr(np, name) for name in np.__all__ if hasattr(np, name)}
    for module in ("linalg", "fft"):
        place = getattr(np, module)
        names |= {f"{module}.{name}": getattr(place, name) for name in place.__all__}
    return {name: value for name, value in names.items() if callable(value)}


def _methods() -> list[str]:
    return [name for name in dir(np.ndarray) if not name.startswith("_")]


def _calls(prefix: str, table: dict[str, str]) -> list[Call]:
    rows = [(name, text.strip()) for name, texts in table.items() for text in texts.split(";")]
    return [Call(prefix + name, " ".join(text.split())) for name, text in rows if text]


def calls() -> list[Call]:
    """All calls of functions and methods that this NumPy has."""
    public, methods = _public(), _methods()
    table = {k: v for k, v in (ELEMENTWISE | ARRAYS | LINEAR).items() if k in public}
    own = {name: texts for name, texts in METHODS.items() if name in methods}
    return _calls("numpy.", table) + _calls("ndarray.", own)


def missing() -> list[str]:
    """Public functions and methods that are in no table."""
    known = ELEMENTWISE.keys() | ARRAYS.keys() | LINEAR.keys()
    found = [n for n in _public() if n not in known and n.split(".")[-1] not in EXCLUDED]
    return found + [n for n in _methods() if n not in METHODS and n not in EXCLUDED_METHODS]


def ambiguous() -> list[str]:
    """Names that are in more than one table."""
    tables = [ELEMENTWISE.keys(), ARRAYS.keys(), LINEAR.keys(), EXCLUDED.keys()]
    names = [name for table in tables for name in table] + []
    both = METHODS.keys() & EXCLUDED_METHODS.keys()
    return sorted({name for name in names if names.count(name) > 1} | both)
