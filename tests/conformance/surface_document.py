"""The document about how every function runs, made of what `surface_run` found: docs/functions.md.

| `numpy.sort` | library | |
| `numpy.max` | native | host |        of some dtypes a call of NumPy's own
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from surface_excluded import EXCLUDED, EXCLUDED_METHODS
from surface_run import WAYS, Found
from surface_table import Call

_HEAD = """# How NumPy's functions run

Made by `python tools/surface.py --write`; a test compares each row with what it finds. Every public
function of `numpy`, `numpy.linalg` and `numpy.fft` with a numeric meaning, and every such method of
arrays, is called in jitted functions with several dtypes, shapes and layouts of memory, and gives
what it gives outside: the same values, dtype, shape and kind, or the same exception.

- *native*: compiled code.
- *library*: a call of NumPy's own function inside the compiled program.
- *host*: the same for parts of it, or for functions that call Python functions.
- *Python*: the function that calls it runs as Python.

A function is as good as the least of its calls (options included), and a call is what most of its
cases are. The last column says what fewer cases come to: some dtypes (complex numbers, mostly), or
arrays without elements.

"""


def _usual(found: list[Found]) -> str:
    return max((each.usual for each in found), key=WAYS.index, default="Python")


def row_of(function: str, found: list[Found]) -> str:
    """The row of one function."""
    usual = _usual(found)
    total: Counter[str] = sum((each.ways for each in found), Counter())
    lower = [way for way in WAYS if total[way] and WAYS.index(way) > WAYS.index(usual)]
    return f"| `{function}` | {usual} | {', '.join(lower)} |".replace("|  |", "| |")


def _by_function(found: Mapping[Call, Found]) -> dict[str, list[Found]]:
    table: dict[str, list[Found]] = {}
    for call, each in found.items():
        table.setdefault(call.function, []).append(each)
    return table


def rows_of(found: Mapping[Call, Found]) -> list[str]:
    """A row for each function."""
    return [row_of(name, each) for name, each in sorted(_by_function(found).items())]


def document(found: Mapping[Call, Found]) -> str:
    """The whole document."""
    table = _by_function(found)
    usual = Counter(_usual(each) for each in table.values())
    least = Counter(max((one.least for one in each), key=WAYS.index) for each in table.values())
    lines = ["| | functions | | in every case |", "| --- | ---: | ---: | ---: |"]
    for way in WAYS:
        share = 100 * usual[way] / max(len(table), 1)
        lines.append(f"| {way} | {usual[way]} | {share:.0f} % | {least[way]} |")
    lines += ["", "| function | runs | in some cases |", "| --- | --- | --- |", *rows_of(found), ""]
    return _HEAD + "\n".join(lines) + "\n" + _left_out()


def _left_out() -> str:
    """What has no numeric meaning, by reason."""
    reasons: dict[str, list[str]] = {}
    for name, reason in (
        EXCLUDED | {f"ndarray.{n}": r for n, r in EXCLUDED_METHODS.items()}
    ).items():
        reasons.setdefault(reason, []).append(f"`{name}`")
    lines = [f"- {reason}: {', '.join(names)}" for reason, names in reasons.items()]
    return "Left out, because they have no numeric meaning:\n\n" + "\n".join(lines) + "\n"
