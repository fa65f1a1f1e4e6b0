"""Floating-point errors of compiled programs: what NumPy's error state says is done, by NumPy.

A program tells which flags it raised - divide, over, under, invalid - that the error state of the
call does not ignore. Flags say neither which operation nor which line, so the function is run as
Python once for it, and NumPy itself warns, raises, prints or calls, at the user's line:

    np.log(x) of 0      flags: divide      function(x), and NumPy's own warning

Where all that is asked for is a warning, what was warned of is remembered for these flags, and the
next calls that raise them keep the program's result and warn of the same again. At the 2nd, 4th,
8th, ... such call the function is run again: the flags may have come from another line meanwhile.
A flag that NumPy does not raise costs such a run, too, and no warning.

A program that writes its results over an argument may learn of a flag too late for Python to be
run. That is then said in general words, and the program is made anew so that it writes last.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..runtime._native import undo_draws

FLAGS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
WORDS = {
    "divide": "divide by zero",
    "over": "overflow",
    "under": "underflow",
    "invalid": "invalid value",
}
PREFIX = "Warning: "  # of what NumPy logs
MOST_REMEMBERED = 64  # warnings of one call


class Warned(NamedTuple):
    """A warning of NumPy's: its text, and the line that ran the operation."""

    text: str
    filename: str
    line: int
    module: dict[str, Any]  # the globals of the code

    def again(self) -> None:
        """Warn, as NumPy does: the module remembers what was warned of at which line."""
        registry = self.module.setdefault("__warningregistry__", {})
        name = self.module.get("__name__") or "<string>"
        warnings.warn_explicit(
            *(self.text, RuntimeWarning, self.filename, self.line, name, registry)
        )


class Listener:
    """What NumPy logs to in place of warning: it warns itself, and keeps what of."""

    def __init__(self) -> None:
        self.heard: list[Warned] = []

    def write(self, message: str) -> None:
        """Take one message, from the line that called NumPy."""
        frame = sys._getframe(1)
        text = message.removeprefix(PREFIX).rstrip("\n")
        warned = Warned(text, frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
        if len(self.heard) < MOST_REMEMBERED:
            self.heard.append(warned)
        warned.again()


class Finding:
    """What is known of the calls of one program that raised the same flags."""

    __slots__ = ("calls", "due", "warned")

    def __init__(self) -> None:
        self.calls = 0
        self.due = 1  # the call at which the function is run again
        self.warned: list[Warned] = []

    def look(self, function: Callable[[], Any]) -> Any:
        """Run the call as Python; its result."""
        listener = Listener()
        undo_draws()
        logged: Any = {name: "log" for name, mode in np.geterr().items() if mode == "warn"}
        with np.errstate(call=listener, **logged):
            result = function()
        self.warned = listener.heard
        self.due = 2 * self.calls
        return result


def settle(
    function: Callable[[], Any],
    findings: dict[int, Finding],
    flags: int,
    given: tuple[Any, ...],
) -> Any:
    """The result of a call whose program raised `flags`: `given` holds the program's, if it has
    come to the end. `function` makes the call as Python; `findings` is what is known of the
    program, by flags.
    """
    modes: Any = np.geterr()
    raised = {modes[name] for name, flag in FLAGS.items() if flags & flag}
    if raised != {"warn"} or not {"call", "log"}.isdisjoint(modes.values()):
        undo_draws()
        return function()
    finding = findings.setdefault(flags, Finding())
    finding.calls += 1
    if not given or finding.calls >= finding.due:
        return finding.look(function)
    for warned in finding.warned:
        warned.again()
    return given[0]


def settle_late(function: Any, flags: int) -> None:
    """Warn of a call that has changed its arguments already. An error state that asks for more than
    warnings is never too late: the program asks for it before a kernel writes to an argument.
    """
    modes: Any = np.geterr()
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", type(function).__name__)
    for error, flag in FLAGS.items():
        if not flags & flag or modes[error] != "warn":
            continue
        text = f"{WORDS[error]} encountered in {name}"
        if code is None:
            warnings.warn(text, RuntimeWarning, stacklevel=3)
        else:
            Warned(text, code.co_filename, code.co_firstlineno, function.__globals__).again()
