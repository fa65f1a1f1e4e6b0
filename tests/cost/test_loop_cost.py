"""What compiling plain Python loops costs, in counts: it does not depend on how often a loop turns,
and little is written for LLVM. The programs are those that `bench` compares with numba.
"""

from __future__ import annotations

import linecache
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from jitwise import config, jit
from jitwise.api.remade import remade
from jitwise.llvm import compile as compiling
from jitwise.llvm.region import emit_region
from jitwise.runtime import regions
from jitwise.trace import syntax
from jitwise.trace.looping import Loop

sys.path.append(str(Path(__file__).parents[2]))  # after the installed package
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
    remade.clear()


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


def instructions(text):
    return sum(line.startswith("  ") for line in text.splitlines())


@by_name
def test_few_instructions_are_written_for_a_program(program, texts):
    forget()
    jit(program.function)(*program.make(program.sizes[0]))
    (text,) = texts
    assert instructions(text) <= INSTRUCTIONS[program.function.__name__]


INSTRUCTIONS = {
    "lu": 130, "cholesky": 147, "floyd": 117, "warping": 119, "mandelbrot": 80, "collatz": 78,
    "gauss_seidel": 133, "lfsr": 59,
}  # fmt: skip


@pytest.mark.parametrize("name", ["lu", "cholesky", "floyd", "warping", "gauss_seidel"])
def test_loops_over_sizes_check_only_that_the_arrays_fit_into_memory(name, texts):
    """Overflow and indices are known not to be wrong before the program runs."""
    forget()
    (program,) = [each for each in PROGRAMS if each.function.__name__ == name]
    jit(program.function)(*program.make(program.sizes[0]))
    (text,) = texts
    arrays = len(set(re.findall(r"icmp ult i64 (%\w+), 281474976710656", text)))
    assert text.count("label %deoptimize") == arrays <= 4
    assert "with.overflow" not in text


def nest(depth):
    """Loops in each other over the axes of an array."""
    lines = [
        f"{'    ' * level}for i{level} in range(x.shape[{level - 1}]):"
        for level in range(1, depth + 1)
    ]
    index = ", ".join(f"i{level}" for level in range(1, depth + 1))
    inside = f"{'    ' * (depth + 1)}x[{index}] = x[{index}] * 2 + y[{index}]"
    return "\n".join(["def function(x, y):", *lines, inside, "    return x", ""])


@pytest.fixture
def nests(tmp_path):
    """Functions of some loops in each other; their source is in a file."""

    def made(depth):
        path = tmp_path / f"nest_{depth}.py"
        path.write_text(nest(depth))
        code = runpy.run_path(str(path))
        linecache.checkcache(str(path))
        return code["function"]

    return made


def test_what_is_written_for_a_nest_grows_with_its_depth(nests, texts, bodies, count_calls):
    found = []
    for depth in (1, 2, 3, 4, 5):
        del texts[:], bodies[:]
        forget()
        x = np.ones((2,) * depth)
        function = jit(nests(depth))
        with config.override(verify=0):
            calls = count_calls(function, x, x.copy()).total
        assert (x == 3).all()
        (text,) = texts
        assert bodies.count("body") == depth
        found.append((instructions(text), calls))
    steps = np.diff(found, axis=0)
    assert (steps[-1] <= 1.5 * steps[1]).all(), found
    assert steps[-1][0] <= 50 and steps[-1][1] <= 5900


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


def running(x):
    for i in range(1, len(x)):
        x[i] = x[i] - x[i - 1]
    return x


def total_of(x):
    total = x[0]
    for i in range(len(x)):
        total = total + x[i]
    return total


@pytest.mark.parametrize(
    ("function", "dtype", "vectors"),
    [
        (running, "f8", True),
        (total_of, "i8", True),
        (total_of, "f8", False),
        (PROGRAMS[2].function, "f8", False),  # with a branch
    ],
    ids=["update", "sum of ints", "sum of floats", "branch"],
)
def test_passes_for_vectors_run_where_there_can_be_some(function, dtype, vectors, monkeypatch):
    found = []
    compiled = compiling.compile_region
    monkeypatch.setattr(
        compiling, "compile_region", lambda text: (found.append(text.is_plain), compiled(text))[1]
    )
    forget()
    rank = 1 + (function is PROGRAMS[2].function)
    jit(function)(np.ones((3,) * rank, dtype))
    assert found == [not vectors]
