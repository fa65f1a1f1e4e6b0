"""A progress bar on standard error: with rich when it is there, in plain text without.

Shown on a terminal, or as `JITWISE_PROGRESS` says. Lines meant to stay go through `print`, which
keeps the bar below them.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from .. import config

WIDTH = 30


class Progress:
    """A bar of `total` steps, for a `with` block."""

    def __init__(self, total: int) -> None:
        self.total = max(total, 1)
        self.done = 0
        wanted = config.active.progress
        self.shown = sys.stderr.isatty() if wanted is None else wanted
        self._bar: Any = None
        self._task: Any = None

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
            filled = WIDTH * self.done // self.total
            bar = "#" * filled + "." * (WIDTH - filled)
            print(f"\r[{bar}] {what:<40}", end="", file=sys.stderr, flush=True)
        self.done += 1

    def print(self, line: str) -> None:
        """Print a line that stays, on standard output."""
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
            return
        if self.shown:
            self._erase()
        print(line, flush=True)

    def _erase(self) -> None:
        print("\r" + " " * (WIDTH + 43) + "\r", end="", file=sys.stderr, flush=True)


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
