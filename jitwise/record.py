"""What happened and why, as plain data: events, decisions, spans, and the bounded list they are
appended to.

Every layer appends to `recorder`; only `explain` turns records into words, and it never recomputes
a decision, it prints the one that was made. Appending costs about a microsecond, takes no lock (a
deque's append is atomic), and the oldest records go first, so recording is always on.

    recorder.event("fallback", "simulate", {"reason": "value"}, ("model.py", 14))
    recorder.decide("inline", "layer", "call", {"call": 2.0e-6, "inline": 9.0e-3}, "seconds",
    "compiling it again costs more") with recorder.span("compile", "kernel_3f2a"): ...

Subjects are the words of `SUBJECTS`; a record of another subject is refused, so that a reader can
rely on the list.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

SUBJECTS: dict[str, str] = {
    "trace": "a Python function became a graph",
    "retrace": "a function was traced again; the detail says what differs from the nearest trace",
    "guard": "a trace assumed something about a size or a value",
    "fallback": "something is computed by a slower means; the detail says how far down and why",
    "pass": "a pass changed a graph",
    "rule": "rewrite rules were applied",
    "kernel": "a kernel was made, or found in a cache",
    "compile": "machine code was made",
    "program": "a compiled function became ready",
    "tier": "a function moves to a faster means of running",
    "inline": "an inner function became part of a graph, or stayed a call",
    "strategy": "what to compile: whole, parts, both, or nothing",
    "schedule": "how a kernel or a loop is laid out",
    "cache": "something was read from or written to the cache on disk, or dropped from memory",
    "bug": "jitwise failed and went on by a safer way",
}

Source = tuple[str, int]
NO_DETAIL: Mapping[str, Any] = {}


class Event(NamedTuple):
    """Something happened to `name` (a function, a kernel, a pass) at `time` (seconds,
    `time.perf_counter`).
    """

    subject: str
    name: str
    detail: Mapping[str, Any]
    source: Source | None
    time: float


class Decision(NamedTuple):
    """A choice by cost: the winner, every candidate's estimate (losers included) in `unit`, and the
    reason in words.
    """

    subject: str
    name: str
    winner: str
    estimates: Mapping[str, float]
    unit: str
    reason: str
    source: Source | None
    time: float


class Span(NamedTuple):
    """Something took from `start` for `duration` seconds on the thread `thread`."""

    subject: str
    name: str
    start: float
    duration: float
    thread: int
    detail: Mapping[str, Any]


Record = Event | Decision | Span


class Recorder:
    """A bounded list of records, oldest first. `counts` says how many of each subject were ever
    appended, dropped ones included.
    """

    __slots__ = ("_records", "counts", "listeners")

    def __init__(self, limit: int = 20_000) -> None:
        self.listeners: list[Callable[[Record], None]] = []  # told of each record, at once
        self._records: deque[Record] = deque(maxlen=limit)
        self.counts = dict.fromkeys(SUBJECTS, 0)

    def append(self, record: Record) -> None:
        """Append a record that a caller made."""
        if record.subject not in SUBJECTS:
            subjects = ", ".join(SUBJECTS)
            raise ValueError(f"{record.subject!r} is no subject of records; they are {subjects}")
        self._records.append(record)
        self.counts[record.subject] += 1
        for listener in self.listeners:
            listener(record)

    def event(
        self,
        subject: str,
        name: str,
        detail: Mapping[str, Any] = NO_DETAIL,
        source: Source | None = None,
    ) -> None:
        """Record that something happened."""
        self.append(Event(subject, name, detail, source, time.perf_counter()))

    def decide(
        self,
        subject: str,
        name: str,
        winner: str,
        estimates: Mapping[str, float],
        unit: str,
        reason: str,
        source: Source | None = None,
    ) -> None:
        """Record a choice."""
        self.append(
            Decision(subject, name, winner, estimates, unit, reason, source, time.perf_counter())
        )

    @contextmanager
    def span(
        self, subject: str, name: str, detail: Mapping[str, Any] = NO_DETAIL
    ) -> Iterator[None]:
        """Record how long the `with` block took, also when it ends in an exception."""
        start = time.perf_counter()
        try:
            yield
        finally:
            elapsed = time.perf_counter() - start
            self.append(Span(subject, name, start, elapsed, threading.get_ident(), detail))

    def records(self, subject: str | None = None, name: str | None = None) -> list[Record]:
        """The records kept, oldest first; of one subject, of one name, when asked."""
        return [
            record
            for record in self._records.copy()
            if (subject is None or record.subject == subject)
            and (name is None or record.name == name)
        ]

    def clear(self) -> None:
        """Forget everything."""
        self._records.clear()
        self.counts = dict.fromkeys(SUBJECTS, 0)


recorder = Recorder()
