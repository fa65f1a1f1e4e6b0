"""How a case is measured.

In one process the peers take turns, round by round, so that a machine that gets busy is busy for
all; each turn is as many calls as fill a few milliseconds. Best and median of the rounds are kept.
Fresh cases run a new process each time, the peers again taking turns.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .cases import Case, Fresh
from .peers import PEERS, Tools

TURN = 0.005  # seconds a turn lasts at least
WARM = 0.4  # seconds of calls before the first round, for what compiles in the background


@dataclass(slots=True)
class Result:
    """Seconds a call; `what` names the part of a fresh case; `refused` says why there is no
    number.
    """

    case: str
    what: str
    peer: str
    best: float | None = None
    median: float | None = None
    rounds: int = 0
    first: float | None = None
    elements: int | None = None
    size: int | None = None
    refused: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def measure(case: Case, peers: Sequence[str], rounds: int) -> list[Result]:
    """One result for each peer that can run the case."""
    results: list[Result] = []
    turns: list[tuple[Result, Callable[[int], float], int, list[float]]] = []
    for name in peers:
        result = Result(case.name, "call", name, elements=case.elements, size=case.size)
        results.append(result)
        try:
            run, result.first = _prepare(case, name, PEERS[name].load())
        except Exception as error:  # a peer that refuses the program is a result, not a failure
            words = str(error).strip() or "without a word"
            result.refused = f"{type(error).__name__}: {words.splitlines()[0]}"
            continue
        turns.append((result, run, _calls_in_a_turn(run), []))
    for _ in range(rounds):
        for _, run, calls, times in turns:
            time.sleep(case.pause)
            if case.pause:
                run(1)  # threads that were sent to sleep wake up
            times.append(run(calls) / calls)
    for result, _, _, times in turns:
        result.best, result.median, result.rounds = min(times), statistics.median(times), rounds
    return results


def _prepare(case: Case, name: str, tools: Tools) -> tuple[Callable[[int], float], float]:
    """A function that makes a number of calls and gives the seconds, warmed; and the first
    call's.
    """
    function = tools.jit(case.variants.get(name, case.make)(tools.xp))
    arguments = tuple(_arrays(tools, argument) for argument in case.arguments())
    ready = tools.ready

    def run(calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            ready(function(*arguments))
        return time.perf_counter() - start

    def run_without_waiting(calls: int) -> float:  # a peer that returns when it is done
        start = time.perf_counter()
        for _ in range(calls):
            function(*arguments)
        return time.perf_counter() - start

    chosen = run if name == "jax" else run_without_waiting
    first = chosen(1)
    start = time.perf_counter()
    while time.perf_counter() - start < WARM:
        chosen(1)
    return chosen, first


def _arrays(tools: Tools, argument: Any) -> Any:
    if isinstance(argument, dict):
        return {key: tools.array(value) for key, value in argument.items()}
    return tools.array(argument)


def _calls_in_a_turn(run: Callable[[int], float]) -> int:
    calls = 1
    while (taken := run(calls)) < TURN:
        calls = max(calls * 2, int(calls * TURN / max(taken, 1e-9)))
    return calls


def measure_fresh(case: Fresh, peers: Sequence[str], rounds: int) -> list[Result]:
    """One result for each peer and part."""
    times: dict[tuple[str, str], list[float]] = {}
    refused: dict[str, str] = {}
    for _ in range(rounds):
        for peer in peers:
            if peer in refused:
                continue
            try:
                for what, seconds in _in_a_new_process(case, peer).items():
                    times.setdefault((peer, what), []).append(seconds)
            except subprocess.TimeoutExpired:
                refused[peer] = f"more than {case.limit:.0f} s"
            except subprocess.CalledProcessError as error:
                refused[peer] = (error.stderr or "failed").strip().splitlines()[-1]
    results = [
        Result(case.name, what, peer, min(values), statistics.median(values), len(values))
        for (peer, what), values in times.items()
    ]
    return results + [Result(case.name, "", peer, refused=why) for peer, why in refused.items()]


_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from bench import fresh
print(json.dumps(getattr(fresh, sys.argv[2])(sys.argv[3])))
"""


def _in_a_new_process(case: Fresh, peer: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, json.dumps(sys.path), case.program, peer],
        capture_output=True,
        text=True,
        check=True,
        timeout=case.limit,
    )
    return json.loads(done.stdout.splitlines()[-1])
