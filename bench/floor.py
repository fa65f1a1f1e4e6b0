"""`python -m bench.floor`: is any jitted function slower than NumPy itself?

Each function of `bench.functions` is measured at a few sizes, NumPy and jitwise taking turns in
one process; the ratio is NumPy's best turn over jitwise's, so that 2 is twice as fast. What is
below the floor is measured once more, since a machine that others use gives false alarms, and
listed at the end. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .functions import Row, rows

FLOOR = 0.95
TURN = 0.003  # seconds a turn lasts at least
LONG = 0.2  # seconds of a call from which fewer rounds are run


@dataclass(slots=True)
class Found:
    """One function at one size: microseconds of a call, and how it ran."""

    name: str
    size: int
    numpy: float
    jitwise: float
    how: str

    @property
    def ratio(self) -> float:
        return self.numpy / self.jitwise


def _turn(function: Callable[..., Any], args: Sequence[Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function(*args)
    return (time.perf_counter() - start) / calls


def measure(row: Row, size: int, rounds: int) -> Found:
    """Both in turns, and the best of each."""
    import jitwise

    args = row.make(size)
    jitted = jitwise.jit(lambda *given: row.function(*given))
    for _ in range(3):
        jitted(*args)
    fallback = any(record.subject == "fallback" for record in jitted.records())
    how = "Python" if fallback else "compiled"
    once = _turn(row.function, args, 1)
    calls = max(1, int(TURN / max(once, 1e-7)))
    best = [float("inf"), float("inf")]
    for _ in range(3 if once > LONG else rounds):
        for which, function in enumerate((row.function, jitted)):
            best[which] = min(best[which], _turn(function, args, calls))
    return Found(row.name, size, best[0] * 1e6, best[1] * 1e6, how)


def _line(found: Found) -> str:
    mark = " <" if found.ratio < FLOOR else ""
    return (
        f"{found.name:22} {found.size:>10,} {found.numpy:>13,.1f} {found.jitwise:>13,.1f} "
        f"{found.ratio:>7.2f}  {found.how}{mark}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.floor", description=__doc__)
    parser.add_argument("names", nargs="*", help="functions; all when none is named")
    parser.add_argument("--sizes", default="1000,100000,10000000", help="numbers of elements")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    given = parser.parse_args(arguments)
    chosen = [row for row in rows() if not given.names or row.name in given.names]
    if not chosen:
        parser.error(f"no such function; there are {', '.join(row.name for row in rows())}")
    warnings.simplefilter("ignore")
    print(f"{'function':22} {'elements':>10} {'NumPy us':>13} {'jitwise us':>13} {'ratio':>7}")
    everything, slow = [], []
    for row in chosen:
        for size in map(int, given.sizes.split(",")):
            if size > row.most:
                continue
            found = measure(row, size, given.rounds)
            if found.ratio < FLOOR:
                again = measure(row, size, given.rounds)
                found = max(found, again, key=lambda each: each.ratio)
            print(_line(found), flush=True)
            everything.append(found)
            if found.ratio < FLOOR:
                slow.append(found)
    print(f"\n{len(everything)} measurements, {len(slow)} below {FLOOR}")
    for found in sorted(slow, key=lambda each: each.ratio):
        print(_line(found))
    if given.json:
        with open(given.json, "w") as file:
            json.dump([asdict(each) for each in everything], file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
