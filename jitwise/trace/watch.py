"""Says what a long trace is at: once, after two seconds, with the user's line.

A loop in Python is traced turn by turn, and a program of 100,000 operations takes a while; nobody
should have to guess. The clock is looked at once in many operations, so watching costs nothing.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from types import FrameType

from ..record import recorder
from .source import ScopeGlobals, Source

SECONDS = 2.0  # of tracing, before anything is said
MANY = 4096  # operations, after which a loop that is written out is tried as a loop
DECISIONS = 64  # about sizes, after which it is tried so too,
DECISIONS_AT_A_LINE = 8  # and at one line: the turns of a loop
OFTEN = 256  # operations between two looks at the clock


class Watch:
    """Gives the user's line of each operation, and looks at the clock now and then."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.start = time.perf_counter()
        self.calls = 0
        self.is_said = False
        self.decisions: Counter[Source | None] = Counter()  # about sizes, at each line
        self.on_many: Callable[[], object] | None = None  # called when there are many of these

    def __call__(self) -> Source | None:
        frame: FrameType | None = sys._getframe(1)  # `source.locate` without a call
        while frame is not None and not isinstance(frame.f_globals, ScopeGlobals):
            frame = frame.f_back
        source = None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        self.calls += 1
        if self.calls % OFTEN == 0 and not self.is_said:
            self._look(source)
        if self.calls == MANY and self.on_many is not None:
            self.on_many()
        return source

    def decided(self, source: Source | None) -> None:
        """Count a decision about a size."""
        if self.on_many is None:
            return
        self.decisions[source] += 1
        if self.decisions[source] >= DECISIONS_AT_A_LINE or self.decisions.total() >= DECISIONS:
            self.on_many()

    def _look(self, source: Source | None) -> None:
        seconds = time.perf_counter() - self.start
        if seconds >= SECONDS:
            self.is_said = True
            recorder.event("trace", self.name, {"seconds": seconds, "ops": self.calls}, source)
