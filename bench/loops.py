"""`python -m bench.loops`: plain Python loops, compiled by jitwise and by numba's `njit`.

Run times: both compilers in one process, taking turns; the best turn of each. Compile times: the
first call less a later one, in new processes in which both have compiled another loop before,
again taking turns; the best process of each. A ratio below 1 says that jitwise is faster. Nothing
is asserted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from .loop_programs import PROGRAMS, Program

TURN = 0.003  # seconds a turn lasts at least
PEERS = ("jitwise", "numba")


def compilers() -> dict[str, Callable[..., Any]]:
    """How each peer compiles a function."""
    import numba

    import jitwise

    return {"jitwise": jitwise.jit, "numba": numba.njit}


def _turn(function: Callable[..., Any], args: Sequence[Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function(*args)
    return (time.perf_counter() - start) / calls


def _other(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 1:
            x[i] = total
        total += x[i]
    return total


def first_calls(names: Sequence[str]) -> dict[str, list[float]]:
    """Seconds that each peer's first call takes longer than a later one."""
    import numpy as np

    warnings.simplefilter("ignore")
    found: dict[str, list[float]] = {}
    peers = compilers()
    for compile in peers.values():
        compile(_other)(np.arange(3.0))
    for place, program in enumerate(each for each in PROGRAMS if each.function.__name__ in names):
        times = {}
        for peer in PEERS[:: -1 if place % 2 else 1]:
            function, args = peers[peer](program.function), program.make(program.sizes[0])
            times[peer] = _turn(function, args, 1) - min(_turn(function, args, 1) for _ in "123")
        found[program.function.__name__] = [times[peer] for peer in PEERS]
    return found


def compile_times(names: Sequence[str], processes: int) -> dict[str, list[float]]:
    """The best of some processes."""
    best: dict[str, list[float]] = {}
    for _ in range(processes):
        command = [sys.executable, "-m", "bench.loops", "--first", *names]
        for name, times in json.loads(subprocess.check_output(command)).items():
            best[name] = list(map(min, best.get(name, times), times))
    return best


def run_times(program: Program, size: int, rounds: int) -> list[float]:
    """Seconds a call, of each peer."""
    functions = [compile(program.function) for compile in compilers().values()]
    calls, best = [], [float("inf")] * len(functions)
    args = [program.make(size) for _ in functions]
    for function, given in zip(functions, args, strict=True):
        for _ in range(3):
            once = _turn(function, given, 1)
        calls.append(max(1, int(TURN / max(once, 1e-7))))
    for _ in range(rounds):
        for place, function in enumerate(functions):
            best[place] = min(best[place], _turn(function, args[place], calls[place]))
    return best


def _row(name: str, what: str, times: Sequence[float], unit: float) -> str:
    jitwise, numba = times
    numbers = f"{jitwise * unit:12.2f} {numba * unit:12.2f} {jitwise / numba:8.2f}"
    return f"{name:14} {what:>12} {numbers}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.loops", description=__doc__)
    parser.add_argument("names", nargs="*", help="programs; all when none is named")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each")
    parser.add_argument("--processes", type=int, default=3, help="processes for compile times")
    parser.add_argument("--first", action="store_true", help="first calls in this process, as JSON")
    given = parser.parse_args(arguments)
    names = given.names or [program.function.__name__ for program in PROGRAMS]
    if given.first:
        print(json.dumps(first_calls(names)))
        return 0
    warnings.simplefilter("ignore")
    print(f"{'program':14} {'size':>12} {'jitwise':>12} {'numba':>12} {'ratio':>8}   run time, us")
    for program in PROGRAMS:
        if program.function.__name__ in names:
            for size in program.sizes:
                times = run_times(program, size, given.rounds)
                print(_row(program.function.__name__, str(size), times, 1e6), flush=True)
    if given.processes:
        print("compile time, ms")
        for name, times in compile_times(names, given.processes).items():
            print(_row(name, "compile", times, 1e3))
    return 0


if __name__ == "__main__":
    sys.exit(main())
