"""One line for each record, and the lines that `JITWISE_LOG=1` prints as they happen.

    jitwise: traced wave in 1.9 ms: 14 ops, 0 guards
    jitwise: compiled wave in 9.5 ms: 14 ops, 1 kernel, 1 instruction
    jitwise: step runs as Python, because Python needs the value of a traced array (bool), at a.py:9
    jitwise: still tracing orbit after 2 s: 31000 ops so far, at orbit.py:12

What each pass did is printed by the pipeline itself, from `JITWISE_LOG=2` on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from .. import config
from ..record import Decision, Event, Record, Source, Span, recorder


def line(record: Record) -> str:
    """A record in words."""
    words = _WORDS.get((record.subject, type(record)))
    if words is not None:
        return words(record)
    if isinstance(record, Decision):
        estimates = ", ".join(f"{name} {cost:.3g}" for name, cost in record.estimates.items())
        text = f"{record.subject} of {record.name}: {record.winner}, because {record.reason}"
        return f"{text} ({record.unit}: {estimates})"
    took = f" in {record.duration * 1e3:.1f} ms" if isinstance(record, Span) else ""
    detail = ", ".join(f"{key} {value}" for key, value in record.detail.items())
    place = at(record.source) if isinstance(record, Event) else ""
    return f"{record.subject} {record.name}{took}{': ' if detail else ''}{detail}{place}"


def at(source: Source | None) -> str:
    """`, at FILE:LINE`, or nothing."""
    return f", at {source[0]}:{source[1]}" if source else ""


def _traced(record: Span) -> str:
    detail = record.detail
    if "ops" not in detail:
        return f"tracing {record.name} ended after {record.duration * 1e3:.1f} ms"
    counts = f"{_count(detail['ops'], 'op')}, {_count(detail['guards'], 'guard')}"
    again = f", trace {detail['number']}" if detail.get("number", 1) > 1 else ""
    return f"traced {record.name} in {record.duration * 1e3:.1f} ms: {counts}{again}"


def _tracing(record: Event) -> str:
    detail = record.detail
    return (
        f"still tracing {record.name} after {detail['seconds']:.0f} s: "
        f"{_count(detail['ops'], 'op')} so far{at(record.source)} "
        "(a loop in Python is written out, turn by turn)"
    )


def _compiled(record: Event) -> str:
    detail: Mapping[str, Any] = record.detail
    counts = ", ".join(_count(detail[f"{word}s"], word) for word in ("op", "kernel", "instruction"))
    return f"compiled {record.name} in {detail['seconds'] * 1e3:.1f} ms: {counts}"


def _fallback(record: Event) -> str:
    return f"{record.name} runs as Python, because {record.detail['text']}{at(record.source)}"


def _bug(record: Event) -> str:
    return f"a fault of jitwise in {record.name}: {record.detail['text']}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


_WORDS: dict[tuple[str, type], Callable[[Any], str]] = {
    ("trace", Span): _traced,
    ("trace", Event): _tracing,
    ("program", Event): _compiled,
    ("fallback", Event): _fallback,
    ("bug", Event): _bug,
}


def say(record: Record) -> None:
    """Print a record's line, if the settings want it: what takes long is said unless progress is
    switched off.
    """
    key = (record.subject, type(record))
    if key not in _WORDS:
        return
    settings = config.active
    if settings.log or (key == ("trace", Event) and settings.progress is not False):
        sys.stderr.write(f"jitwise: {line(record)}\n")


def listen() -> None:
    """Print lines from now on, as the settings say."""
    if say not in recorder.listeners:
        recorder.listeners.append(say)
