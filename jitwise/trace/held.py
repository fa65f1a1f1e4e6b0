"""What a part of a rewritten function holds, and may change without the graph knowing: variables,
lists, dicts, sets and objects; and the arrays that it may write to.

    held = Held((then, other), values)      before the parts run
    held.restore()                          True if they changed something; it is as it was before

Looked at are what the variables of a part lead to, through a few containers in each other and the
functions that it calls by them.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .code import cached_by_code
from .memory import View
from .size import SizeTracer
from .syntax.names import UNBOUND
from .tracer import Tracer

if TYPE_CHECKING:
    from .tracing import Trace

_STORE_SUBSCR = dis.opmap["STORE_SUBSCR"]
_DEPTH = 5  # of containers and functions in each other that are looked at for changes
_OWN = __name__.rpartition(".")[0] + "."
_CALLED = (types.FunctionType, types.MethodType, types.BuiltinMethodType, functools.partial)


class Held:
    """The containers and objects that a part may change, as they were before."""

    def __init__(self, parts: Sequence[Any], values: Sequence[Any]) -> None:
        self._kept: dict[int, tuple[Any, Any]] = {}
        self._cells: dict[int, tuple[types.CellType, Any]] = {}
        self.code = getattr(parts[0], "__code__", None)  # by which a statement is known
        pending = [(item, 0) for item in (*parts, *values)]
        while pending:
            item, depth = pending.pop()
            if depth > _DEPTH:
                continue
            if type(item) in _CALLED:
                inner = self._of_function(item)
            else:
                found = None if id(item) in self._kept else _items(item)
                if found is None:
                    continue
                self._kept[id(item)] = (item, found)
                inner = found
            pending += [(each, depth + 1) for each in inner]

    def _of_function(self, function: Any) -> list[Any]:
        """What a function leads to that was not looked at yet."""
        if type(function) is types.BuiltinMethodType:
            return [function.__self__]
        if type(function) is types.MethodType:
            return [function.__self__, function.__func__]
        if type(function) is functools.partial:
            return [function.func, *function.args, *function.keywords.values()]
        if (function.__module__ or "").startswith(_OWN):  # what rewritten functions call
            return []
        found = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        for cell in function.__closure__ or ():
            if id(cell) not in self._cells:
                content = content_of(cell)
                self._cells[id(cell)] = (cell, content)
                if content is not UNBOUND:
                    found.append(content)
        return found

    def restore(self) -> bool:
        """Whether any was changed; it is as it was before then."""
        changed = False
        for cell, content in self._cells.values():
            if content_of(cell) is not content:
                changed = True
                if content is UNBOUND:
                    del cell.cell_contents
                else:
                    cell.cell_contents = content
        for item, before in self._kept.values():
            now = _items(item)
            if now is not None and len(now) == len(before):
                if all(one is other for one, other in zip(now, before, strict=True)):
                    continue
            changed = True
            if type(item) is dict:
                keys = before[: len(before) // 2]
                item.clear()
                item.update(zip(keys, before[len(keys) :], strict=True))
            elif type(item) is list:
                item[:] = before
            elif type(item) is set:
                item.clear()
                item.update(before)
        return changed


class Unseen:
    """What functions given to `lax` do that the graph does not see: it is undone, and refused.

    with Unseen(trace, (f,), carry).refused("loop"):
        ...
    """

    def __init__(self, trace: Trace, functions: Sequence[Any], values: Any) -> None:
        self.trace = trace
        self.held = Held(functions, (values,))
        self.printed = len(trace.printed)

    def undo(self) -> str:
        """Undo it; what it was, in words."""
        found = ""
        if len(self.trace.printed) > self.printed:
            del self.trace.printed[self.printed :]
            found = "it prints"
        return "it changes a list, a dict or an object" if self.held.restore() else found

    @contextmanager
    def refused(self, what: str) -> Iterator[None]:
        """End the trace if anything of it happened meanwhile."""
        try:
            yield
        except BaseException:
            self.undo()
            raise
        reason = self.undo()
        if reason:
            self.trace.refuse(what, reason)


def content_of(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND


def _items(item: Any) -> list[Any] | None:
    kind = type(item)
    if kind is dict:
        return [*item, *item.values()]
    if kind in (list, tuple, set):
        return list(item)
    if kind.__module__ == "builtins" or kind.__module__.startswith(_OWN):
        return None
    if issubclass(kind, (Tracer, SizeTracer, np.generic)):
        return None
    try:  # what stands for a generator or another object answers for none of its own
        own = object.__getattribute__(item, "__dict__")
    except AttributeError:
        return None
    return [*own, *own.values()] if type(own) is dict and not isinstance(item, type) else None


def written_to(part: Any) -> list[Tracer]:
    """The arrays that a part reads through its closure, if it assigns to items at all: perhaps to
    theirs.
    """
    if not _assigns_items(part.__code__):
        return []
    found: dict[int, Tracer] = {}
    for cell in part.__closure__ or ():
        content = content_of(cell)
        if issubclass(type(content), Tracer) and content._kind == "array":
            base = content._base if type(content) is View else content
            found[id(base)] = base
    return list(found.values())


@cached_by_code
def _assigns_items(code: types.CodeType) -> bool:
    if any(op == _STORE_SUBSCR for op in code.co_code[::2]):
        return True
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return any(map(_assigns_items, inner))


__all__ = ["Held", "Unseen", "written_to"]
