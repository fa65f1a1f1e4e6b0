"""One program run with jitwise and without: how long each takes, and how far the answers are apart.

NumPy's time is that of the same functions under `disable_jit`. After the first call both take turns
of several runs each, so that a machine that gets busy is busy for both; the later turns count, when
compiled code has had the time to take over. There is a pause before a turn, and its first run does
not count: the threads of NumPy's BLAS spin for a while after each product and would keep others
from running.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import jitwise

from .programs import Program

TURNS = 6
LEAST_RUNS, SECONDS = 2, 0.15  # of one turn
PAUSE = 0.15  # seconds for which the threads of a BLAS go on spinning after their last product


@dataclass(frozen=True, slots=True)
class Comparison:
    """Times in seconds; `difference` is relative to the largest number of the array it is in."""

    name: str
    numpy: float
    first: float
    later: float
    difference: float

    @property
    def ratio(self) -> float:
        """How many times faster later calls are than NumPy."""
        return self.numpy / self.later


def compare(program: Program, advance: Callable[[str], None] = lambda what: None) -> Comparison:
    """Run `program` with both; `advance` is told what comes next."""
    advance("data")
    arguments = program.data()

    def with_numpy() -> Any:
        with jitwise.disable_jit():
            return program.run(*arguments)

    advance("NumPy")
    _, wanted = _timed(with_numpy)
    advance("first call")
    time.sleep(PAUSE)
    first, found = _timed(lambda: program.run(*arguments))
    apart = difference(found, wanted)
    advance("later calls")
    turns: list[tuple[float, float]] = []
    for _ in range(TURNS):
        ours, found = _turn(lambda: program.run(*arguments))
        theirs, _ = _turn(with_numpy)
        turns.append((ours, theirs))
    counted = turns[TURNS // 2 :]
    later, numpy = (statistics.median(times) for times in zip(*counted, strict=True))
    apart = max(apart, difference(found, wanted))
    return Comparison(program.name, numpy, first, later, apart)


def _turn(call: Callable[[], Any]) -> tuple[float, Any]:
    """The median of some runs, and the last result."""
    time.sleep(PAUSE)
    times, result = [], call()
    start = time.perf_counter()
    while len(times) < LEAST_RUNS or time.perf_counter() - start < SECONDS:
        seconds, result = _timed(call)
        times.append(seconds)
    return statistics.median(times), result


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def difference(found: Any, wanted: Any) -> float:
    """The largest difference between two answers, each array's relative to its largest number.

    Raises AssertionError when they differ in structure, dtype or shape, or where either has a nan.
    """
    largest = 0.0
    for ours, theirs in zip(leaves(found), leaves(wanted), strict=True):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        kinds = (ours.dtype, ours.shape), (theirs.dtype, theirs.shape)
        assert kinds[0] == kinds[1], f"the answer is {kinds[0]}, NumPy's is {kinds[1]}"
        if theirs.size == 0:
            continue
        if theirs.dtype.kind not in "fc":
            assert np.array_equal(ours, theirs), "an answer that is not of floats differs"
            continue
        real = np.isfinite(theirs)
        assert np.array_equal(real, np.isfinite(ours)), "inf or nan differ"
        assert np.array_equal(ours[~real], theirs[~real], equal_nan=True), "inf or nan differ"
        scale = np.abs(theirs[real]).max(initial=0.0) or 1.0
        largest = max(largest, float(np.abs(ours[real] - theirs[real]).max(initial=0.0) / scale))
    return largest


def leaves(answer: Any) -> Iterator[Any]:
    """The arrays in a tuple, list or dict of answers, in order."""
    if isinstance(answer, dict):
        for key in answer:
            yield from leaves(answer[key])
    elif isinstance(answer, (tuple, list)):
        for item in answer:
            yield from leaves(item)
    else:
        yield answer
