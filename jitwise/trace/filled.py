"""Lists, dicts and sets outside of a traced function that its callbacks fill.

    seen = []
    @jit
    def f(x):
        debug.callback(lambda v: seen.append(v), x)

What a traced function reads of a list becomes guards, which a list that grows at each call would
fail. So a variable whose list is changed by code of a function with callbacks is not followed: it
stands for itself, and only callbacks may have it. Whoever asks it ends the trace; so does a
callback that fills what was followed before, because the trace goes on with what it was then.
"""

from __future__ import annotations

import dis
import types
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

from .code import cached_by_code

if TYPE_CHECKING:
    from .captures import Path
    from .scope import Follower
    from .tracing import Trace

CONTAINERS = (list, dict, set, deque)
CALLS = frozenset(("callback", "pure_callback", "io_callback"))
_CHANGES = frozenset(
    ("append", "appendleft", "extend", "insert", "add", "update", "setdefault", "pop", "popleft")
) | {"remove", "discard", "clear"}
_VARIABLES = ("LOAD_DEREF", "LOAD_GLOBAL", "LOAD_CLASSDEREF")


class Fillings:
    """The variables whose containers the followed functions of one trace change."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.names: set[str] = set()
        self._calls_back = False
        self._read = ""  # one that was followed before it was known

    def note(self, function: types.FunctionType) -> None:
        """A function is followed."""
        self._calls_back = self._calls_back or calls_back(function.__code__)
        if not self._calls_back:
            return
        for name in filled_by(function.__code__):
            self.names.add(name)
            value = named(function, name)
            known = self.follower.seen.get((id(value), None))
            if type(value) in CONTAINERS and known and type(known[1]) is not Filled:
                self._read = name

    def stand_in(self, value: Any, path: Path, name: str) -> Filled:
        """What stands for a container, which must be there at each call."""
        follower = self.follower
        follower.trace.captures.guard(path, value, "is", name)
        known = follower.seen.get((id(value), None))
        if known is None:
            known = follower.seen[id(value), None] = (value, Filled(follower.trace, value, name))
        return known[1]

    def refuse(self) -> None:
        """End the trace when a callback may change a container that was followed before."""
        if self._read:
            self.follower.trace.refuse("effect", self._read)


@cached_by_code
def calls_back(code: types.CodeType) -> bool:
    """Whether code, or a function in it, may make callbacks."""
    if not CALLS.isdisjoint((*code.co_names, *code.co_freevars)):
        return True
    return any(isinstance(each, types.CodeType) and calls_back(each) for each in code.co_consts)


@cached_by_code
def filled_by(code: types.CodeType) -> frozenset[str]:
    """The variables from outside of code whose containers it, or a function in it, changes."""
    found: set[str] = set()
    last = list(dis.get_instructions(code))
    for before, now in pairwise(last):
        changes = now.opname in ("LOAD_METHOD", "LOAD_ATTR") and now.argval in _CHANGES
        if changes and before.opname in _VARIABLES:
            found.add(before.argval)
    for holder, _, now in zip(last, last[1:], last[2:], strict=False):
        if now.opname in ("STORE_SUBSCR", "DELETE_SUBSCR") and holder.opname in _VARIABLES:
            found.add(holder.argval)
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            found |= filled_by(each)
    return frozenset(found)


def named(function: types.FunctionType, name: str) -> Any:
    """What a variable of a function from outside holds; None where it holds nothing."""
    if name in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            return None
    return function.__globals__.get(name)


class Filled:
    """Stands for a container that callbacks fill."""

    __slots__ = ("_name", "_trace", "stands_for")

    def __init__(self, trace: Trace, value: Any, name: str) -> None:
        self._trace = trace
        self._name = name
        self.stands_for = value

    def __getattr__(self, name: str) -> Any:
        real = getattr(self.stands_for, name)  # which may be a callback itself

        def refused(*args: Any, **options: Any) -> NoReturn:
            self._refused()

        refused.stands_for = real  # type: ignore[attr-defined]
        return refused

    def _refused(self, *args: Any) -> NoReturn:
        self._trace.refuse("effect", f"{self._name}, or asks it")

    __len__ = __iter__ = __getitem__ = __setitem__ = __delitem__ = __contains__ = _refused
    __bool__ = __eq__ = __ne__ = __hash__ = __lt__ = __le__ = __gt__ = __ge__ = _refused  # type: ignore
    __add__ = __radd__ = __iadd__ = __mul__ = __rmul__ = __or__ = __ror__ = __and__ = _refused
    __repr__ = __str__ = __format__ = __reversed__ = __copy__ = __deepcopy__ = _refused  # type: ignore
    __array__ = _refused


__all__ = ["CALLS", "CONTAINERS", "Filled", "Fillings"]
