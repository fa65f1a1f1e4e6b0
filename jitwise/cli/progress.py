"""A progress bar on standard error: with rich when it is there, in plain text without.

Shown on a terminal, or as `JITWISE_PROGRESS` says. Lines meant to stay go through `print`, which
keeps the bar below them.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any

from .. import config

WIDTH = 30  # of the bar, on a terminal that is wide enough
COLUMNS = 80  # of what is no terminal


class Progress:
    """A bar of `total` steps, for a `with` block."""

    def __init__(self, total: int) -> None:
        self.total = max(total, 1)
        self.done = 0
        wanted = config.active.progress
        self.shown = sys.stderr.isatty() if wanted is None else wanted
        self._bar: Any = None
        self._task: Any = None
        self._length = 0  # of the plain bar as it stands there

    def __enter__(self) -> Progress:
        if self.shown:
            self._bar = _rich_bar()
            if self._bar is not None:
                self._bar.start()
                self._task = self._bar.add_task("", total=self.total)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self.shown:
            self._erase()

    def advance(self, what: str) -> None:
        """One more step is under way: `what`."""
        if not self.shown:
            self.done += 1
            return
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, description=what)
        else:
            self._show(what)
        self.done += 1

    def print(self, line: str) -> None:
        """Print a line that stays, on standard output."""
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
            return
        if self.shown:
            self._erase()
        print(line, flush=True)

    def _show(self, what: str) -> None:
        """The plain bar, on one line of the terminal, over the one before."""
        columns = _columns()
        width = min(WIDTH, columns // 3)
        filled = width * self.done // self.total
        line = f"[{'#' * filled}{'.' * (width - filled)}] {what}"[: columns - 1]
        print(f"\r{line:<{self._length}}", end="", file=sys.stderr, flush=True)
        self._length = len(line)

    def _erase(self) -> None:
        print(f"\r{' ' * self._length}\r", end="", file=sys.stderr, flush=True)
        self._length = 0


def _columns() -> int:
    """How wide the terminal is, which may change."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or COLUMNS
    except (OSError, ValueError):
        return COLUMNS


def _rich_bar() -> Any:
    """A bar of rich, or None when rich is not installed or the table goes to a file."""
    if not sys.stdout.isatty():
        return None  # the bar would take the lines of the table with it
    try:
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar
    except ImportError:
        return None
    return Bar(BarColumn(), TextColumn("{task.description}"), transient=True)
