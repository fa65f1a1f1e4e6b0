"""What a traced function read from outside: arrays become hidden inputs, everything else becomes a
guard.

A capture or guard is a fetch path that the dispatcher follows natively at each call:

    ("dict", globals, "W")     globals["W"]            ("cell", cell, None)     cell.cell_contents
    ("attr", object, "w")      object.w                ("item", list, 3)        list[3]
    ("object", array, None)    the array itself        ("leaf", None, k)        the k-th argument
    leaf
    ("length", list, None)     len(list)               ("keys", dict, None)     tuple(dict)
    ("own", object, "w")       object.__dict__["w"]

What belongs to an argument is not held: its path begins at the leaf, the container being a path in
turn. So one trace serves every instance of a class whose guards hold, and keeps none alive.

    self.layer.w   ->   Path("attr", Path("attr", Path("leaf", None, 0), "layer"), "w")

A guard's test is "is" (the same object), "weak" (the same, held weakly), "equal" (same type and
value), "type", "absent", or "apart" (not the leaf of this number). Containers are shown to the
function as copies, so that a change is noticed (`changed`) and undone by never having happened.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..ir.primitive import exact
from ..ir.types import DTYPE_NAMES
from .containers import is_dataclass_instance
from .source import Source, locate

if TYPE_CHECKING:
    from .tracer import Tracer
    from .tracing import Trace


class Path(NamedTuple):
    """How to fetch a value again: see the module docstring."""

    how: str
    container: Any
    key: Any


def is_rooted(path: Path) -> bool:
    """Whether a path begins at an argument of the call."""
    return path.how == "leaf" or type(path.container) is Path


def chain_of(path: Path) -> list[Path]:
    """A path and those that it begins with, the innermost last."""
    chain = [path]
    while type(chain[-1].container) is Path:
        chain.append(chain[-1].container)
    return chain


def keys_from_leaf(path: Path) -> tuple | None:
    """The items and attributes on the way from a leaf; None where the way leads by other things."""
    steps = chain_of(path)[::-1]
    if steps[0].how != "leaf" or not all(step.how in ("item", "attr") for step in steps[1:]):
        return None
    return tuple([step.key for step in steps[1:]])


def key_of(path: Path) -> tuple:
    """Tells paths apart, by the identity of what they begin at."""
    container = path.container
    return path.how, container if type(container) is Path else id(container), path.key


class CallerArray(NamedTuple):
    """An array that is the caller's, an argument or fetched by a path, and the number of the graph
    input that it is. It may be written to.
    """

    array: np.ndarray
    input: int


class Guard(NamedTuple):
    """At `path` there must be `expected`, by one of the tests of the module docstring. `name` and
    `source` say what the user calls it and where his program first read it.
    """

    path: Path
    expected: Any
    test: str
    name: str = ""
    source: Source | None = None

    def is_alive(self) -> bool:
        """Whether the guard can still hold: not when the object it asks for is gone."""
        return self.test != "weak" or self.expected() is not None


class Captures:
    """The hidden inputs and guards of one trace, each once."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.paths: list[Path] = []
        self.guards: list[Guard] = []
        self.shadows: list[tuple[Any, Any, Any, str]] = []
        self.behind: dict[int, tuple[str, Any]] = {}  # by the id of a copy: how to return it
        self._arrays: dict[tuple, Tracer] = {}
        self._guarded: set[tuple] = set()
        self._seen: list[tuple[np.ndarray, np.ndarray]] = []

    def guard(self, path: Path, expected: Any, test: str = "is", name: str = "") -> None:
        """Require `expected` at `path` at every later call."""
        key = (*key_of(path), test)
        if key not in self._guarded:
            self._guarded.add(key)
            shown = name or str(path.key)
            self.guards.append(Guard(path, expected, test, shown, locate()))

    def apart(self, path: Path, leaf: int) -> None:
        """Require that what is at `path` is not that leaf."""
        self.guards.append(Guard(path, leaf, "apart", str(path.key), locate()))

    def identity(self, path: Path, value: Any, name: str = "") -> None:
        """Require the very object at `path`; without keeping it, if it belongs to an argument."""
        if not is_rooted(path):
            return self.guard(path, value, "is", name)
        try:
            return self.guard(path, weakref.ref(value), "weak", name)
        except TypeError:
            return self.guard(path, value, "is", name)

    def container(self, path: Path, value: Any, name: str = "") -> None:
        """Require the container at `path`, whose items have guards of their own. That of an
        argument may be another one of this type.
        """
        if not is_rooted(path):
            return self.guard(path, value, "is", name)
        self.guard(path, type(value), "type", name)
        if isinstance(value, tuple):
            self.guard(Path("length", path, None), len(value), "equal", f"len({name})")

    def array(self, path: Path, array: np.ndarray) -> Tracer:
        """The tracer of an array that is fetched by `path` at every call."""
        key = key_of(path)
        found = self._arrays.get(key)
        if found is None:
            if array.dtype.newbyteorder("=") not in DTYPE_NAMES:
                self.trace.refuse("dtype", str(array.dtype))
            place = len(self.trace.origins)
            found = self.trace.input(array, ("capture", len(self.paths)), "array")
            found._fresh = 0
            if path.how != "object":
                self.trace.caller_arrays[id(found)] = CallerArray(array, place)
            self.paths.append(path)
            self._arrays[key] = found
        return found

    def array_object(self, array: np.ndarray) -> Tracer:
        """The tracer of an array that traced code holds without our knowing from where: by
        reference. The function must not write to it afterwards (`written`).
        """
        path = Path("object", array, None)
        if key_of(path) not in self._arrays:
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
    """The items of a list, dict or set as they are now, or the fields of a dataclass instance."""
    if isinstance(container, dict):
        return list(container.items())
    if is_dataclass_instance(container):
        names = [field.name for field in dataclasses.fields(container)]
        held = {name: getattr(container, name, None) for name in names}
        held |= getattr(container, "__dict__", {})
        return [*held, *held.values()]
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
    expected = guard.expected
    try:
        now = fetch(guard.path, leaves)
        if guard.test == "equal":
            return bool(exact(now) == exact(expected)), now  # an array has no truth
    except Exception:  # it is no longer there, or an `__eq__` of the user's fails
        return guard.test == "absent", None
    if guard.test == "apart":
        return now is not leaves[expected], now
    if guard.test == "type":
        return type(now) is expected, now
    expected = expected() if guard.test == "weak" else expected
    return guard.test in ("is", "weak") and now is expected, now


def fetch(path: Path, leaves: Sequence[Any]) -> Any:
    """What is at `path` now, in a call with these leaves."""
    steps = chain_of(path)
    value = steps[-1].container
    for how, _, key in reversed(steps):
        value = leaves[key] if how == "leaf" else _step(how, value, key)
    return value


def _step(how: str, value: Any, key: Any) -> Any:
    if how in ("dict", "item"):
        return value[key]
    if how == "attr":
        return getattr(value, key)
    if how == "own":
        return vars(value)[key]
    if how == "cell":
        return value.cell_contents
    if how == "keys":
        return tuple(value)
    return len(value) if how == "length" else value
