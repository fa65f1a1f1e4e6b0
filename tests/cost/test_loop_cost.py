"""What compiling plain Python loops costs, in counts: it does not depend on how often a loop turns,
and little is written for LLVM. The programs are those that `bench` compares with numba.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from jitwise import config, jit
from jitwise.llvm import compile as compiling
from jitwise.llvm.region import emit_region
from jitwise.runtime import regions
from jitwise.trace import syntax
from jitwise.trace.looping import Loop

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.loop_programs import PROGRAMS

pytestmark = pytest.mark.no_round_trip
by_name = pytest.mark.parametrize(
    "program", PROGRAMS, ids=[program.function.__name__ for program in PROGRAMS]
)


def forget():
    """What earlier compilations left."""
    regions._table.clear()
    syntax._known.clear()
    compiling.clear()


@pytest.fixture
def bodies(monkeypatch):
    """The names of the loops' bodies and tests that are traced, one for each time."""
    found = []
    opened = Loop._open
    monkeypatch.setattr(
        Loop, "_open", lambda loop, what: (found.append(what), opened(loop, what))[1]
    )
    return found


@pytest.fixture
def texts(monkeypatch):
    """What is written for LLVM: a text for each region."""
    found = []

    def emitted(*args):
        found.append(emit_region(*args).text)
        return emit_region(*args)

    monkeypatch.setattr("jitwise.llvm.region.emit_region", emitted)
    return found


@by_name
def test_the_first_call_costs_the_same_for_any_number_of_turns(program, count_calls):
    totals = []
    for size in (program.sizes[0], *program.sizes):  # the first loads modules
        forget()
        function = jit(program.function)
        with config.override(verify=0):
            found = count_calls(function, *program.make(size))
        assert (function.state.traces, function.state.compiles) == (1, 1)
        totals.append(found.total)
    assert max(totals[1:]) <= 1.02 * min(totals[1:])


@by_name
def test_a_nest_of_loops_is_one_region_that_serves_all_sizes(program):
    forget()
    function = jit(program.function)
    built, modules = regions.counters.built, compiling.counters.modules
    for size in program.sizes:
        function(*program.make(size))
    assert (function.state.traces, function.state.compiles) == (1, 1)
    assert regions.counters.built - built == 1
    assert compiling.counters.modules - modules <= 2 - (program.function.__name__ != "warping")


@by_name
def test_a_body_whose_types_stay_is_traced_once(program, bodies):
    jit(program.function).trace(*program.make(program.sizes[0]))
    assert bodies.count("body") == bodies.count("test") == LOOPS[program.function.__name__]


LOOPS = {
    "lu": 3, "cholesky": 3, "floyd": 3, "warping": 2, "mandelbrot": 1, "collatz": 1,
    "gauss_seidel": 2, "lfsr": 1,
}  # fmt: skip


def while_counting(n):
    k = 0
    while n > 0:
        n = n - 1
        k += 1
    return k


def while_of_sizes(x):
    n, k = x.shape[0], 0
    while n > 1:
        n = (n + 1) // 2
        k += n
    return k


def with_a_branch(n):
    k = 0
    while True:
        if n <= 1:
            break
        n = n // 3
        k += 1
    return k


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (while_counting, lambda n: n),
        (while_of_sizes, lambda n: np.zeros(2**n)),
        (with_a_branch, lambda n: 3**n),
    ],
    ids=["counter", "size", "branch"],
)
def test_a_loop_that_ints_decide_about_is_not_written_out(function, make, count_calls):
    totals = []
    for turns in (12, 12, 20):
        forget()
        with config.override(verify=0):
            totals.append(count_calls(jit(function), make(turns)).total)
    assert totals[2] <= 1.02 * totals[1]
    assert totals[2] <= 12_000
