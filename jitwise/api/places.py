"""Fetch paths as the dispatcher takes them: what is reached through an argument is a place,
counted from 0, or lies in one.

    Path("attr", Path("attr", Path("leaf", None, 0), "layer"), "w")
    rows [(0, "layer", "leaf.attr")], and (0, "w", "place.attr")
"""

from __future__ import annotations

import types
from typing import Any

from ..trace.captures import Guard, Path, chain_of


class Places:
    """The places of one call, as they are needed by captures and guards."""

    def __init__(self, order: list[int | Path]) -> None:
        self.order = order
        self.rows: list[tuple[Any, Any, str]] = []
        self._numbers: dict[Path, int] = {}

    def fetch(self, path: Path) -> tuple[Any, Any, str]:
        """(container, key, how) of a path."""
        for holder in reversed(chain_of(path)[1:]):
            if holder.how != "leaf" and holder not in self._numbers:
                self.place(holder)
        return self._row(path)

    def place(self, path: Path) -> None:
        """Make a path, whose containers are places already, the next place."""
        row = self._row(path)
        if type(path.container) in (Path, types.FunctionType):
            self._numbers[path] = len(self.rows)
        self.rows.append(row)

    def _row(self, path: Path) -> tuple[Any, Any, str]:
        how, container, key = path
        if how == "leaf":
            given = self.order[key]
            return self.fetch(given) if isinstance(given, Path) else (None, given, how)
        if type(container) is not Path:
            return container, key, how
        if container.how == "leaf":
            return self.order[container.key], key, f"leaf.{how}"
        return self._numbers[container], key, f"place.{how}"

    def guard(self, guard: Guard) -> tuple[Any, Any, str, Any, str]:
        """(container, key, how, expected, test) of a guard."""
        expected = self.order[guard.expected] if guard.test == "apart" else guard.expected
        return (*self.fetch(guard.path), expected, guard.test)
