"""Warnings of a running program, given where NumPy gives them: at the line of the user's function.

    np.nanmean(x)      NumPy warns where it was called: of our code. That is heard, kept back, and
                       said of the line of the op instead

A call may be run again, because NumPy has to tell of floating-point errors, or since a check
failed. What was said is not taken back then: the journal of the call keeps it, and when the call
begins anew (`rewind`, in `draws`) that becomes its *past*. The next run does not say it again, be
it a program or the function as Python.

Both are done by entries in front of `warnings.filters`, which are asked for the text, the module
and the category of a warning one after the other, and let warnings of other threads pass.
"""

from __future__ import annotations

import inspect
import sys
import threading
import types
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..ir.graph import Op
from ..trace.conversions import names_in
from ..trace.filters import in_front, taken_out
from ..trace.source import MODULES
from . import draws  # noqa: F401 - which sets back a call that begins anew
from ._native import journal

_KEY, _PAST = "warnings", "past of warnings"
_OWN = __name__.partition(".")[0] + "."
_MOST_FUNCTIONS = 256  # that are looked at for one


def may_warn(function: Any) -> bool:
    """Whether the Python code of a function, or of those that it calls by name, warns."""
    function = inspect.unwrap(function)
    return isinstance(function, types.FunctionType) and _may_warn(function)


@lru_cache(maxsize=1024)
def _may_warn(function: types.FunctionType) -> bool:
    pending: list[Any] = [function]
    seen: set[types.CodeType] = set()
    while pending and len(seen) < _MOST_FUNCTIONS:
        each = inspect.unwrap(pending.pop())
        code = getattr(each, "__code__", None)
        if code is None or code in seen:
            continue
        seen.add(code)
        names = names_in(code)
        if "warnings" in names:
            return True
        known = [each.__globals__.get(name) for name in names]
        modules = [vars(item) for item in known if isinstance(item, types.ModuleType)]
        known += [module.get(name) for module in modules for name in names]
        pending += [item for item in known if isinstance(inspect.unwrap(item), types.FunctionType)]
    return False


class Place(NamedTuple):
    """A line of the user's."""

    filename: str
    line: int
    module: str


def place_of(op: Op) -> Place | None:
    """The line that made an op, if its module is known."""
    if op.source is None or op.source[0] not in MODULES:
        return None
    return Place(*op.source, MODULES[op.source[0]])


def give(text: str, category: type[Warning], place: Place) -> None:
    """Warn at a line, unless the former run of this call has."""
    if not _was_given(text, place):
        holder = sys.modules.get(place.module)
        registry = {} if holder is None else vars(holder).setdefault("__warningregistry__", {})
        try:
            warnings.warn_explicit(text, category, *place, registry)
        except Warning as error:  # a filter makes an exception of it: NumPy raises it then
            error.__dict__["raised_by_numpy"] = True
            raise
    journal().setdefault(_KEY, []).append((text, place))


def _was_given(text: str, place: Place) -> bool:
    left: Any = getattr(journal().get(_PAST), "left", ())
    found = (text, place) in left
    if found:
        left.remove((text, place))
    return found


class _Heard(threading.local):
    """Texts, categories, and whether they were said of our code, by a call at `place`."""

    rows: list[list[Any]] | None = None
    place: Place


_heard = _Heard()


class _Text:
    def match(self, text: str) -> bool:
        if _heard.rows is None:
            return False
        _heard.rows.append([text, Warning, False])
        return True


class _Module:
    def match(self, module: str) -> bool:
        if not _heard.rows:
            return False
        row = _heard.rows[-1]
        row[2] = module.startswith(_OWN)
        return row[2] or _was_given(row[0], _heard.place)


class _Categories(type):
    def __subclasscheck__(cls, category: type) -> bool:
        if _heard.rows:
            _heard.rows[-1][1] = category
        return True


class _Any(Warning, metaclass=_Categories):
    """Every category."""


_HEARING: Any = ("ignore", _Text(), _Any, _Module(), 0)


class Saying:
    """A function of a library whose warnings are given at a line."""

    def __init__(self, function: Callable[..., Any], place: Place) -> None:
        self.function = function
        self.place = place

    def __call__(self, *args: Any, **options: Any) -> Any:
        _heard.rows, _heard.place = [], self.place
        try:
            with in_front(_HEARING):
                result = self.function(*args, **options)
        finally:
            rows, _heard.rows = _heard.rows, None
        for text, category, is_own in rows:
            if is_own:
                give(text, category, self.place)
            else:  # of a line of the library, which has been said
                journal().setdefault(_KEY, []).append((text, self.place))
        return result


def give_op(text: str, category: str, filename: str, line: int, module: str) -> tuple[()]:
    """The op `warn`."""
    give(text, getattr(np.exceptions, category), Place(filename, line, module))
    return ()


class _Past:
    """What a run has said that is repeated; `left` is what the next run has not come to. It goes
    when the call ends.
    """

    def __init__(self, left: list[tuple[str, Place]]) -> None:
        self.left = left
        again = types.SimpleNamespace(match=partial(_is_said_again, threading.get_ident(), left))
        self.filters: Any = warnings.filters
        self.row = ("ignore", again, Warning, None, 0)
        self.filters.insert(0, self.row)

    def __del__(self) -> None:
        taken_out(self.filters, self.row)


def _is_said_again(thread: int, left: list[tuple[str, Place]], text: str) -> bool:
    """Whether Python is about to say one of `left` in this thread, at the same line."""
    for known in left if threading.get_ident() == thread else ():
        if known[0] == text and _is_at(known[1]):
            left.remove(known)
            return True
    return False


def _is_at(place: Place) -> bool:
    """Whether the innermost code of the file is at this line."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename != place.filename:
        frame = frame.f_back
    return frame is not None and frame.f_lineno == place.line


def remember(notes: dict[Any, Any]) -> None:
    """The call whose journal this was begins anew: what it has said is its past."""
    given, former = notes.get(_KEY, []), notes.get(_PAST)
    left = given + (former.left if former is not None else [])
    if left:
        journal()[_PAST] = _Past(left)


__all__ = ["Saying", "give_op", "may_warn", "place_of", "remember"]
