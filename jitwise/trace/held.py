"""What a part of a rewritten function holds, and may change without the graph knowing: variables,
lists, dicts, sets and objects; and the arrays that it may write to.

    held = Held((then, other), values)      before the parts run
    held.restore()                          True if they changed something; it is as it was before

Looked at are what the variables of a part lead to, through a few containers in each other.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from .code import cached_by_code
from .memory import View
from .size import SizeTracer
from .syntax.names import UNBOUND
from .tracer import Tracer

_STORE_SUBSCR = dis.opmap["STORE_SUBSCR"]
_DEPTH = 4  # of containers in each other that are looked at for changes


class Held:
    """The containers and objects that a part may change, as they were before."""

    def __init__(self, parts: Sequence[Any], values: Sequence[Any]) -> None:
        self._kept: dict[int, tuple[Any, Any]] = {}
        self._cells: list[tuple[types.CellType, Any]] = []
        self.code = getattr(parts[0], "__code__", None)  # by which a statement is known
        pending = [(value, 0) for value in values]
        for part in parts:
            for cell in getattr(part, "__closure__", None) or ():
                content = content_of(cell)
                self._cells.append((cell, content))
                if content is not UNBOUND:
                    pending.append((content, 0))
        while pending:
            item, depth = pending.pop()
            inner = _items(item)
            if inner is None or id(item) in self._kept or depth > _DEPTH:
                continue
            self._kept[id(item)] = (item, inner)
            pending += [(each, depth + 1) for each in inner]

    def restore(self) -> bool:
        """Whether any was changed; it is as it was before then."""
        changed = False
        for cell, content in self._cells:
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
    if kind.__module__ == "builtins" or issubclass(kind, (Tracer, SizeTracer, np.generic)):
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


__all__ = ["Held", "written_to"]
