"""Traces that serve functions made anew: equal lambdas, methods of other objects, inner functions
of a function that is called again.

    for k in range(50):
        jit(lambda x: x * 2 + k)(x)      one trace: k is a guard, and another k another trace

What a trace asks of the world outside begins at the function it was made of. Kept for others,
these places are numbered in the order in which they are met: the function, its cells, its defaults,
what was found by a guard and may be another object next time. A new function with the same code is
walked in the same order; the trace is its own when the walk meets the same kinds of objects, one
object where it was one, and every guard holds. So nothing of the first function is kept alive, and
no object is taken for another.

    guard cell(h) is <function h>      kept as     guard cell(number 1) is number 2
    capture cell(w)                    kept as     capture cell(number 3)

Not shared: traces that hold arrays, callbacks or other functions of the user's by reference.
"""

from __future__ import annotations

import builtins
import functools
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ir.graph import Graph
from ..runtime._native import Function
from ..runtime.executable import Executable
from ..trace.captures import Guard, Path, fetch, is_rooted, matches
from ..trace.code import is_users, undecorated
from ..trace.function import Traced
from ..trace.objects import is_keyed_by_type
from .options import Options

MOST_KEPT = 16  # traces of one code object
MOST_CODES = 256
_COMPARED = (int, str, Options)
_CODE = object()  # the code of the function at hand
_FIXED_HOLDERS = (type, types.ModuleType)


class _Number(NamedTuple):
    """Stands for the object that a walk meets as the number-th."""

    number: int


class Kept(NamedTuple):
    """A compiled trace without the objects that it was made of."""

    key: Any
    traced: Traced
    executable: Executable
    walked: tuple[Any, ...]


class _NotAlike(Exception):
    """The walk met something else than the first one, or what cannot be numbered."""


class _Walk:
    """Numbers the objects that a trace depends on, in the order in which they are met."""

    def __init__(self, function: Any) -> None:
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.asked = 0  # how many of those met are known to be alike
        self.met: list[Any] = []  # the kind of each new object, the number of each known one
        self.fixed: set[int] = {id(vars(builtins))}
        self.add(function)

    def add(self, item: Any) -> None:
        """Meet an object, and what it holds that cannot be replaced."""
        pending = [item]
        while pending:
            item = pending.pop()
            number = self.numbers.get(id(item))
            if number is not None:
                self.met.append(number)
            elif is_movable(item):
                self.numbers[id(item)] = len(self.objects)
                self.objects.append(item)
                self.met.append(_kind(item))
                pending += [*_parts(item)][::-1]
            else:
                self.met.append((item,))
                self.fixed.add(id(item))

    def numbered(self, item: Any) -> Any:
        """What stands for what a path begins at."""
        number = self.numbers.get(id(item))
        if number is not None:
            return _Number(number)
        if id(item) not in self.fixed and not isinstance(item, _FIXED_HOLDERS):
            raise _NotAlike
        return item

    def alike(self, walked: Sequence[Any]) -> bool:
        """Whether this walk has met what that one did, since it was asked last."""
        start, self.asked = self.asked, len(self.met)
        known = walked[start : self.asked]
        return len(known) == self.asked - start and all(map(_same, self.met[start:], known))


def _same(one: Any, other: Any) -> bool:
    if type(one) is not tuple or type(other) is not tuple:
        return one == other
    return len(one) == len(other) and all(
        a is b or type(a) is type(b) is Options and a == b for a, b in zip(one, other, strict=True)
    )


def is_movable(item: Any) -> bool:
    """Whether another object in the place of this one may be served by the same trace: what the
    trace depends on of it has guards of its own.
    """
    if isinstance(item, types.MethodType):
        item = undecorated(item.__func__)
    if isinstance(item, types.FunctionType):
        return is_users(item.__code__)  # any other is not looked into
    if isinstance(item, (types.CellType, Function)):
        return True
    if type(item) in (functools.partial, list, dict, tuple) or hasattr(type(item), "_fields"):
        return True
    return is_keyed_by_type(item) and hasattr(item, "__dict__")


def _kind(item: Any) -> tuple:
    """What must be the same of two objects, beside what has guards of its own: what cannot change
    of the one.
    """
    kind: Any = type(item)
    if kind is types.FunctionType:
        code = weakref.ref(item.__code__)  # the same object while the code lives
        names = item.__name__, item.__qualname__, item.__module__
        return kind, code, *names, *(item.__kwdefaults__ or ())
    if kind is functools.partial:
        return kind, *item.keywords
    if isinstance(item, Function):
        return kind, item.state.options
    return (kind, len(item)) if isinstance(item, tuple) else (kind,)


def _parts(item: Any) -> Iterator[Any]:
    """What an object holds for good, or is asked for by its address."""
    if isinstance(item, types.FunctionType):
        yield from item.__closure__ or ()
        yield from (item.__defaults__, item.__kwdefaults__, vars(item), item.__globals__)
    elif isinstance(item, types.MethodType):
        yield from (item.__func__, item.__self__)
    elif type(item) is functools.partial:
        yield from (item.func, item.args, item.keywords)
    elif isinstance(item, Function):
        yield from (item.__wrapped__, vars(item))
    elif hasattr(item, "__dict__"):
        yield vars(item)


def kept(key: Any, traced: Traced, executable: Executable, function: Any) -> Kept | None:
    """A trace of `function` for others with its code; None when it can serve no other."""
    if _holds_functions(traced.graph):
        return None
    walk = _Walk(function)
    try:
        guards = [_numbered_guard(walk, guard) for guard in traced.guards]
        captures = tuple([_numbered_path(walk, path) for path in traced.captures])
        objects = tuple([_numbered_path(walk, path) for path in traced.objects])
    except _NotAlike:
        return None
    outputs = _mapped(traced.outputs, lambda item: _of(walk, item))
    shared = traced._replace(
        captures=captures, guards=tuple(guards), outputs=outputs, objects=objects, sizes={}
    )
    return Kept(key, shared, executable, tuple(walk.met))


def _of(walk: _Walk, item: Any) -> Any:
    number = walk.numbers.get(id(item))
    return item if number is None else _Number(number)


def _numbered_guard(walk: _Walk, guard: Guard) -> Guard:
    path, expected = _numbered_path(walk, guard.path), guard.expected
    if path.key == "__code__" and type(path.container) is _Number:
        return guard._replace(path=path, expected=_CODE)  # the walk compares it
    if guard.test == "is" and not is_rooted(guard.path):
        walk.add(expected)
        expected = _of(walk, expected)
    return guard._replace(path=path, expected=expected)


def _numbered_path(walk: _Walk, path: Path) -> Path:
    if is_rooted(path):
        return path
    if path.how == "object":
        raise _NotAlike
    return path._replace(container=walk.numbered(path.container))


def served(one: Kept, function: Any, leaves: Sequence[Any]) -> Traced | None:
    """The trace as that of `function`, if it would be its own in a call with these leaves."""
    walk = _Walk(function)
    traced, guards = one.traced, []
    try:
        for guard in traced.guards:
            guard = guard._replace(path=_own_path(walk, guard.path))
            if guard.expected is _CODE:
                guard = guard._replace(expected=guard.path.container.__code__)
            elif type(guard.expected) is _Number:
                walk.add(_fetched(guard.path, leaves))
                if not walk.alike(one.walked):
                    return None
                guard = guard._replace(expected=walk.objects[guard.expected.number])
            elif guard.test == "is" and not is_rooted(guard.path):
                walk.add(guard.expected)
            if not walk.alike(one.walked) or not matches(guard, leaves)[0]:
                return None
            guards.append(guard)
        captures = tuple([_own_path(walk, path) for path in traced.captures])
        objects = tuple([_own_path(walk, path) for path in traced.objects])
        if not _fit(traced, captures, leaves):
            return None
    except _NotAlike:
        return None
    outputs = _mapped(traced.outputs, lambda item: _own(walk, item))
    return traced._replace(
        captures=captures, guards=tuple(guards), outputs=outputs, objects=objects
    )


def _fetched(path: Path, leaves: Sequence[Any]) -> Any:
    try:
        return fetch(path, leaves)
    except Exception:  # it is not there, or asking for it fails
        raise _NotAlike from None


def _fit(traced: Traced, captures: Sequence[Path], leaves: Sequence[Any]) -> bool:
    """Whether the arrays at `captures` have the dtypes and ranks that the graph takes."""
    for (how, number), value in zip(traced.origins, traced.graph.inputs, strict=True):
        if how == "capture":
            found = _fetched(captures[number], leaves)
            if type(found) is not np.ndarray or found.ndim != len(value.type.shape):
                return False
            if found.dtype.newbyteorder("=") != value.type.dtype:
                return False
    return True


def _own(walk: _Walk, item: Any) -> Any:
    return walk.objects[item.number] if type(item) is _Number else item


def _own_path(walk: _Walk, path: Path) -> Path:
    return path if is_rooted(path) else path._replace(container=_own(walk, path.container))


def _mapped(recipe: Any, of: Callable[[Any], Any]) -> Any:
    """A recipe of results, with `of` applied to the objects that it gives as they are."""
    kind, *rest = recipe
    if kind == "const":
        return kind, of(rest[0])
    if kind in ("tuple", "list"):
        return kind, [_mapped(each, of) for each in rest[0]]
    if kind == "dict":
        return kind, [(key, _mapped(each, of)) for key, each in rest[0]]
    if kind == "call":
        return kind, rest[0], [_mapped(each, of) for each in rest[1]]
    return recipe


def _holds_functions(graph: Graph) -> bool:
    """Whether an op holds a function that is not found by its name."""
    pending: list[Any] = [value for op in graph.ops for value in op.attrs.values()]
    while pending:
        item = pending.pop()
        if isinstance(item, Graph):
            pending += [value for op in item.ops for value in op.attrs.values()]
        elif type(item) is tuple:
            pending += item
        elif callable(item) and not isinstance(item, type):
            return True
    return False


def code_of(function: Any) -> types.CodeType | None:
    """The code that a callable of the user's ends in."""
    for _ in range(16):
        if isinstance(function, types.FunctionType):
            return function.__code__
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif isinstance(function, Function):
            function = function.__wrapped__
        else:
            break
    call = vars(type(function)).get("__call__")
    return call.__code__ if isinstance(call, types.FunctionType) else None


class Remade:
    """The traces kept for functions that are made anew, by their code, as long as that lives."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[weakref.ref, list[Kept]]] = {}

    def find(
        self, key: Any, function: Any, leaves: Sequence[Any]
    ) -> Iterator[tuple[Traced, Executable]]:
        """The traces kept under `key` that are those of `function` in a call with these leaves."""
        code = code_of(function)
        found = self._kept.get(id(code))
        if found is None or found[0]() is not code:
            return
        for one in found[1][::-1]:
            traced = served(one, function, leaves) if one.key == key else None
            if traced is not None:
                yield traced, one.executable

    def keep(self, key: Any, traced: Traced, executable: Executable, function: Any) -> None:
        """Keep a compiled trace of `function` for others with its code."""
        code = code_of(function)
        one = kept(key, traced, executable, function) if code is not None else None
        if one is None:
            return
        number, mine = id(code), self._kept
        if number not in mine or mine[number][0]() is not code:
            mine[number] = weakref.ref(code, lambda _: mine.pop(number, None)), []
            if len(mine) > MOST_CODES:
                mine.pop(next(iter(mine)))
        several = mine[number][1]
        several.append(one)
        del several[:-MOST_KEPT]

    def count(self) -> int:
        """How many traces are kept."""
        return sum(len(several) for _, several in self._kept.values())

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()


remade = Remade()
