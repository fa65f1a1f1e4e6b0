"""What a jitted function keeps of its calls: the traces of each signature, compiled."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..runtime.executable import Executable
from ..trace.function import Traced


class Version:
    """One trace of a function, compiled."""

    __slots__ = ("entries", "executable", "traced")

    def __init__(self, traced: Traced, executable: Executable) -> None:
        self.traced = traced
        self.executable = executable
        self.entries: list[Any] = []  # the dispatcher's, one a style of call

    def is_alive(self) -> bool:
        """Whether it can still serve a call: not when an object it asks for is gone."""
        return all(guard.is_alive() for guard in self.traced.guards)


class Signature:
    """What is known for one canonical signature."""

    __slots__ = ("errors", "python", "styles", "traces", "versions")

    def __init__(self) -> None:
        self.versions: list[Version] = []
        # By the sizes that are 1; those whose objects are gone included.
        self.traces: Counter = Counter()
        self.errors: Counter = Counter()
        self.python = False
        self.styles: set[Any] = set()
