"""The user's line that is being executed: the nearest frame whose globals are those of a followed
function.

Frames of jitwise, NumPy and the standard library are passed over, because only the user's
functions run in a `Scope`.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

Source = tuple[str, int]
MODULES: dict[str, str] = {}  # the module whose functions were followed, by their file


class ScopeGlobals(dict):
    """Marks the globals of a followed function (see `scope`)."""


def locate() -> Source | None:
    """File and line of the nearest followed frame, or None outside a trace."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if isinstance(frame.f_globals, ScopeGlobals):
            return (frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


def variable_of(item: Any) -> str:
    """The variable of the user's function that holds an object, or nothing."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not isinstance(frame.f_globals, ScopeGlobals):
        frame = frame.f_back
    names = frame.f_locals.items() if frame is not None else ()
    return next((name for name, value in names if value is item), "")
