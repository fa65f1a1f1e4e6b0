"""What a traced function read from outside: arrays become hidden inputs, everything else becomes a
guard.

A capture or guard is a fetch path that the dispatcher follows natively at each call:

    ("dict", globals, "W")     globals["W"]            ("cell", cell, None)     cell.cell_contents
    ("attr", object, "w")      object.w                ("item", list, 3)        list[3]
    ("object", array, None)    the array itself        ("leaf", None, k)        the k-th argument
    leaf
    ("length", list, None)     len(list)               ("keys", dict, None)     tuple(dict)

A guard's test is "is" (the same object) or "equal" (same type and value). Containers are shown to
the function as copies, so that a change is noticed (`changed`) and undone by never having happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..ir.primitive import exact
from ..ir.types import DTYPE_NAMES
from .source import Source, locate

if TYPE_CHECKING:
    from .tracer import Tracer
    from .tracing import Trace


class Path(NamedTuple):
    """How to fetch a value again: see the module docstring."""

    how: str
    container: Any
    key: Any


class Guard(NamedTuple):
    """At `path` there must be `expected`, by "is" or "equal". `name` and `source` say what the user
    calls it and where his program first read it.
    """

    path: Path
    expected: Any
    test: str
    name: str = ""
    source: Source | None = None


class Captures:
    """The hidden inputs and guards of one trace, each once."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.paths: list[Path] = []
        self.guards: list[Guard] = []
        self.shadows: list[tuple[Any, Any, Any, str]] = []
        self._arrays: dict[tuple, Tracer] = {}
        self._guarded: set[tuple] = set()
        self._seen: list[tuple[np.ndarray, np.ndarray]] = []

    def guard(self, path: Path, expected: Any, test: str = "is", name: str = "") -> None:
        """Require `expected` at `path` at every later call."""
        key = (path.how, id(path.container), path.key, test)
        if key not in self._guarded:
            self._guarded.add(key)
            shown = name or str(path.key)
            self.guards.append(Guard(path, expected, test, shown, locate()))

    def array(self, path: Path, array: np.ndarray) -> Tracer:
        """The tracer of an array that is fetched by `path` at every call."""
        key = (path.how, id(path.container), path.key)
        found = self._arrays.get(key)
        if found is None:
            if array.dtype.newbyteorder("=") not in DTYPE_NAMES:
                self.trace.refuse("dtype", str(array.dtype))
            found = self.trace.input(array, ("capture", len(self.paths)), "array")
            found._fresh = False
            self.paths.append(path)
            self._arrays[key] = found
        return found

    def array_object(self, array: np.ndarray) -> Tracer:
        """The tracer of an array that traced code holds without our knowing from where: by
        reference. The function must not write to it afterwards (`written`).
        """
        path = Path("object", array, None)
        if (path.how, id(array), None) not in self._arrays:
            self._seen.append((array, array.copy()))  # its id must stay its own during the trace
        return self.array(path, array)

    def objects(self) -> int:
        """How many arrays were taken by reference."""
        return len(self._seen)

    def written(self) -> bool:
        """Whether the function wrote to an array after an operation had taken it by reference."""
        return any(array.tobytes() != before.tobytes() for array, before in self._seen)

    def shadow(self, original: Any, copy: Any, name: str) -> Any:
        """Remember a container that the function sees as `copy`, to notice changes at the end."""
        self.shadows.append((original, copy, shallow(copy), name))
        return copy

    def changed(self) -> str | None:
        """The name of a container that the function changed, if any."""
        for _, copy, before, name in self.shadows:
            if not same_items(copy, before):
                return name
        return None


def shallow(container: Any) -> Any:
    """The items of a list, dict or set as they are now."""
    if isinstance(container, dict):
        return list(container.items())
    return list(container)


def same_items(container: Any, before: list[Any]) -> bool:
    """Whether a container still holds the very objects it held, in order."""
    now = shallow(container)
    if len(now) != len(before):
        return False
    if isinstance(container, dict):
        return all(a[0] is b[0] and a[1] is b[1] for a, b in zip(now, before, strict=True))
    return all(a is b for a, b in zip(now, before, strict=True))


def matches(guard: Guard, leaves: Sequence[Any]) -> tuple[bool, Any]:
    """Whether a guard holds of a call with these leaves, and what is there now."""
    path = guard.path
    try:
        now = leaves[path.key] if path.how == "leaf" else fetch(path)
        if guard.test == "equal":
            return exact(now) == exact(guard.expected), now
    except Exception:  # it is no longer there, or an `__eq__` of the user's fails
        return guard.test == "absent", None
    return guard.test == "is" and now is guard.expected, now


def fetch(path: Path) -> Any:
    """What is at `path` now (not for "leaf", which is in the arguments)."""
    container, key = path.container, path.key
    if path.how in ("dict", "item"):
        return container[key]
    if path.how == "attr":
        return getattr(container, key)
    if path.how == "cell":
        return container.cell_contents
    if path.how == "keys":
        return tuple(container)
    return len(container) if path.how == "length" else container
