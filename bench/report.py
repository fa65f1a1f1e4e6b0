"""Results as a table: a row for each case and part, a column for each peer, ratios to jitwise.

    case                  jitwise      numpy          jax
    g/f4/1e5/0-1          48.1 us   214 us 4.4    812 us 16.9

The number after a time says how many times longer than jitwise's it is; best of the rounds, as are
the ratios.
"""

from __future__ import annotations

from collections.abc import Iterable

from .measure import Result


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def table(results: Iterable[Result], use: str = "best") -> str:
    """The table, in plain text; `use` is "best" or "median"."""
    rows: dict[tuple[str, str], dict[str, Result]] = {}
    peers: list[str] = []
    for result in results:
        rows.setdefault((result.case, result.what), {})[result.peer] = result
        if result.peer not in peers:
            peers.append(result.peer)
    lines = [["case", *peers]]
    for (case, what), by_peer in rows.items():
        ours = by_peer.get("jitwise")
        reference = getattr(ours, use) if ours else None
        name = case if what in ("", "call") else f"{case}: {what}"
        cells = [_cell(by_peer.get(peer), use, reference) for peer in peers]
        lines.append([name + _rate(ours, reference), *cells])
    widths = [max(len(line[column]) for line in lines) for column in range(len(peers) + 1)]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        )
        for line in lines
    )


def _cell(result: Result | None, use: str, reference: float | None) -> str:
    if result is None:
        return ""
    seconds = getattr(result, use)
    if seconds is None:
        return "refused"
    text = duration(seconds)
    if reference and result.peer != "jitwise":
        text += f" {seconds / reference:5.2f}"
    return text


def _rate(ours: Result | None, seconds: float | None) -> str:
    if ours is None or not seconds:
        return ""
    if ours.elements and ours.elements >= 1_000:
        return f"  ({seconds / ours.elements * 1e9:.2f} ns)"
    return f"  ({ours.size / seconds / 1e9:.1f} GB/s)" if ours.size else ""


def refusals(results: Iterable[Result]) -> str:
    """Why there is no number where there is none."""
    return "\n".join(
        f"{result.case}, {result.peer}: {result.refused}" for result in results if result.refused
    )
