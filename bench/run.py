"""Measure jitwise beside its peers: `python bench/run.py [CASE ...]`, or `python -m bench`.

    python bench/run.py --list                  what there is
    python bench/run.py g dispatch/1            cases by name, or by how their names start
    python bench/run.py --peers jitwise,jax     some peers only
    python bench/run.py --json results.json     numbers, with versions and the machine

It prints a table and never passes judgement. `python bench/run.py` measures the installed jitwise,
`python -m bench` the source tree's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__" and not __package__:
    # `bench` is a package of the source tree; jitwise is the installed one, when there is one.
    sys.path[:1] = []
    sys.path.append(str(Path(__file__).resolve().parent.parent))

from bench.cases import Fresh, all_cases
from bench.measure import Result, measure, measure_fresh
from bench.peers import PEERS
from bench.report import refusals, table


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__.splitlines()[0])
    parser.add_argument("case", nargs="*", help="names, or how names start; all without any")
    parser.add_argument("--list", action="store_true", help="say which cases there are")
    parser.add_argument("--peers", default=",".join(PEERS), help="names, separated by commas")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of a case in one process")
    parser.add_argument("--fresh-rounds", type=int, help="processes of a case about first calls")
    parser.add_argument("--json", metavar="FILE", help="write the numbers to a file")
    parser.add_argument("--median", action="store_true", help="medians in the table, not bests")
    return parser.parse_args(given)


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    names = [line for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    return {
        "processor": names[0].partition(":")[2].strip() if names else platform.processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    }


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def main(given: Sequence[str] | None = None) -> int:
    """Measure what was asked for."""
    options = arguments(given)
    cases = all_cases()
    chosen = [
        case
        for name, case in cases.items()
        if not options.case or any(name.startswith(start) for start in options.case)
    ]
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    if not chosen:
        print(f"no case starts with {', '.join(options.case)}; see --list", file=sys.stderr)
        return 2
    peers = [name for name in options.peers.split(",") if name in PEERS]
    absent = [name for name in peers if not PEERS[name].is_there()]
    if absent:
        print(f"not installed, left out: {', '.join(absent)}", file=sys.stderr)
    results: list[Result] = []
    start = time.perf_counter()
    for number, case in enumerate(chosen, 1):
        passed = time.perf_counter() - start
        print(f"[{number}/{len(chosen)}, {passed:.0f} s] {case.name}", file=sys.stderr, flush=True)
        using = [name for name in peers if name in case.peers and name not in absent]
        if isinstance(case, Fresh):
            results += measure_fresh(case, using, options.fresh_rounds or case.rounds)
        else:
            results += measure(case, using, options.rounds)
    print(table(results, "median" if options.median else "best"))
    print(refusals(results))
    if options.json:
        write(options.json, results, peers, absent)
    return 0


def write(path: str, results: list[Result], peers: list[str], absent: list[str]) -> None:
    """The results as JSON, with versions and the machine."""
    versions = {name: PEERS[name].load().version for name in peers if name not in absent}
    content = {
        "machine": machine(),
        "versions": versions,
        "results": [result.as_json() for result in results],
    }
    Path(path).write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
