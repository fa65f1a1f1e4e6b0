"""Faults of jitwise: what is recorded and said of them.

A fault is an exception of jitwise that the user's function, run as Python, does not raise. `State`
decides that; here it is put into words.
"""

from __future__ import annotations

import os
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

from .. import config
from ..errors import REPORTS, CannotTrace, JitwiseBug
from ..record import recorder
from ..trace.code import is_own_file, is_users

ADVICE = f"This is a fault of jitwise, and the result is right; please report it at {REPORTS}"


def fault_of(function: Callable[..., Any], doing: str, error: Exception) -> CannotTrace:
    """Why a function runs as Python after jitwise failed while `doing` something for it.

    The fault is recorded, and raised where jitwise is being verified.
    """
    name = getattr(function, "__name__", type(function).__name__)
    detail = f"{doing} ({type(error).__name__}: {error}{_place_of(error)})"
    recorder.event("bug", name, {"text": detail, "traceback": traceback.format_exception(error)})
    if config.active.verify:
        raise JitwiseBug(f"jitwise failed {detail}, for {name}") from error
    return CannotTrace("fault", detail, _line_of(function))


def _place_of(error: Exception) -> str:
    """The line that raised, as far as it is Python's."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    return f", {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}"


def _line_of(function: Callable[..., Any]) -> tuple[str, int] | None:
    """Where a function begins."""
    code = getattr(function, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else None


def is_of_users(error: BaseException) -> bool:
    """Whether an exception passed through code of the user's: a callable that a program calls."""
    return any(is_users(frame.f_code) for frame, _ in traceback.walk_tb(error.__traceback__))


def is_of_callback(error: BaseException) -> bool:
    """Whether a callback raised it, in the call that is running."""
    from ..runtime.callbacks import was_raised

    return was_raised(error)


def definition_of(function: Callable[..., Any]) -> tuple[str, int] | None:
    """File and first line of a function that is written in Python."""
    for called in (function, vars(type(function)).get("__call__")):
        code = getattr(called, "__code__", None)
        if isinstance(code, types.CodeType):
            return code.co_filename, code.co_firstlineno
    return None


def frames_of_ours() -> int:
    """How many frames up the user's call is, counted as `warnings.warn` does."""
    frame, count = sys._getframe(1), 1
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame, count = frame.f_back, count + 1
    return count
