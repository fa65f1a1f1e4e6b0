"""`case` and `while` run by the program machine give what their evaluation gives, and keep arrays
that are carried in their place.
"""

from __future__ import annotations

import _thread
import threading
import time

import numpy as np
import pytest
from test_loops import CASE, SUMS

from jitwise.config import override
from jitwise.ir.evaluate import evaluate
from jitwise.ir.parser import parse
from jitwise.runtime import _native
from jitwise.runtime.executable import compile_graph

FILL = """
    graph go(%0: i64[], %1: f64[n], %2: f64[n]) {
      %3: i64[] = dimension{size=n}()
      %4: bool[] = less(%0, %3)
      return %4
    }
    graph step(%0: i64[], %1: f64[n], %2: f64[n]) where i = value(0) {
      BODY
    }
    graph f(%0: f64[n], %1: f64[n]) where n = size(0, 0) {
      %2: i64[] = constant{value=i64(0)}()
      %3: f64[n] = negate(%0)
      %4: f64[n] = add(%3, %1)
      %5: i64[], %6: f64[n], %7: f64[n] = while{cond=@go, body=@step}(%2, %3, %4)
      %8: f64[n] = add(%3, %6)
      return RETURN
    }"""
NEXT = "%9: i64[] = dimension{size=i + 1}()\n"
BODIES = {
    "swapped": NEXT + "return %9, %2, %1",
    "one twice": NEXT + "return %9, %2, %2",
    "the other way round": NEXT + "return %9, %1, %1",
    "kept": NEXT + "return %9, %1, %2",
    "computed": NEXT + "%3: f64[n] = add(%1, %2)\n return %9, %3, %1",
    "views": NEXT + "%3: f64[n] = reverse{dimensions=(0,)}(%1)\n return %9, %3, %2",
    "two views": NEXT
    + "%3: f64[n] = reverse{dimensions=(0,)}(%1)\n%4: f64[n] = sine(%3)\n return %9, %4, %3",
    "an element": NEXT
    + """%3: f64[] = constant{value=f64(5.0)}()
         %4: f64[1] = reshape{sizes=(1,)}(%3)
         %5: f64[n] = update_slice{starts=(i,), strides=(1,)}(%1, %4)
         return %9, %5, %2""",
    "read after": NEXT
    + """%3: f64[] = constant{value=f64(5.0)}()
         %4: f64[1] = reshape{sizes=(1,)}(%3)
         %5: f64[n] = update_slice{starts=(i,), strides=(1,)}(%1, %4)
         %6: f64[n] = add(%5, %1)
         return %9, %5, %6""",
    "written both": NEXT
    + """%3: f64[1] = slice{starts=(i,), strides=(1,), sizes=(1,)}(%2)
         %4: f64[n] = update_slice{starts=(0,), strides=(1,)}(%1, %3)
         %5: f64[n] = update_slice{starts=(i,), strides=(1,)}(%2, %3)
         return %9, %5, %4""",
}


def compile_for_machine(graph):
    """Loops as instructions, also those that would be native."""
    with override(passes="dead_code,expand,simplify,dead_code,fuse"):
        return compile_graph(graph)


def machine_agrees(graph, *arrays):
    expected = evaluate(graph, [np.copy(each) for each in arrays])
    given = [np.copy(each) for each in arrays]
    found = compile_for_machine(graph).run(given)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
    for before, after in zip(arrays, given, strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("given", ["%6, %7", "%7, %6, %8", "%6, %6, %5", "%8"])
@pytest.mark.parametrize("body", BODIES)
def test_what_is_carried_moves_and_is_kept_apart(body, given):
    graph = parse(FILL.replace("BODY", BODIES[body]).replace("RETURN", given))
    for length in (0, 1, 2, 5):
        machine_agrees(graph, np.arange(1.0, length + 1), np.linspace(0, 1, length) ** 2)


@pytest.mark.parametrize(
    "index", [False, True, np.int64(0), np.int64(1), np.int64(7), np.int64(-1)]
)
def test_a_case_runs_one_branch(index):
    dtype = "bool[]" if isinstance(index, bool) else "i64[]"
    machine_agrees(parse(CASE.replace("INDEX", dtype)), np.asarray(index), np.arange(3.0))


def test_a_case_of_several_branches_by_number():
    text = """
    graph a(%0: f64[n], %1: f64[]) {
      return %0, %1
    }
    graph b(%0: f64[n], %1: f64[]) {
      %2: f64[n] = add(%0, %1)
      %3: f64[] = reduce_add{axes=(0,)}(%2)
      return %2, %3
    }
    graph c(%0: f64[n], %1: f64[]) {
      %2: f64[n] = broadcast_in_dim{sizes=(n,), dimensions=()}(%1)
      %3: f64[] = negate(%1)
      return %2, %3
    }
    graph f(%0: i64[], %1: f64[n], %2: f64[]) where n = size(1, 0) {
      %3: f64[n], %4: f64[] = case{branches=(@a, @b, @c)}(%0, %1, %2)
      return %3, %4
    }"""
    for index in range(-1, 5):
        machine_agrees(parse(text), np.int64(index), np.arange(4.0), np.float64(2.5))


@pytest.mark.parametrize("length", [0, 1, 2, 40])
def test_sizes_inside_of_a_loop_are_those_of_the_iteration(length):
    machine_agrees(parse(SUMS), np.arange(1.0, length + 1))


def test_loops_inside_of_loops_and_cases():
    text = """
    graph go2(%0: i64[], %1: f64[], %2: f64[n]) where k = value(0) {
      %3: i64[] = dimension{size=n}()
      %4: bool[] = less(%0, %3)
      return %4
    }
    graph step2(%0: i64[], %1: f64[], %2: f64[n]) where j = value(0) {
      %3: f64[1] = slice{starts=(j,), strides=(1,), sizes=(1,)}(%2)
      %4: f64[] = reshape{sizes=()}(%3)
      %5: f64[] = add(%1, %4)
      %6: i64[] = dimension{size=j + 1}()
      return %6, %5
    }
    graph no(%0: f64[], %1: f64[n]) {
      return %0
    }
    graph yes(%0: f64[], %1: f64[n]) {
      %2: i64[] = constant{value=i64(0)}()
      %3: i64[], %4: f64[] = while{cond=@go2, body=@step2}(%2, %0, %1)
      return %4
    }
    graph go(%0: i64[], %1: f64[], %2: f64[n]) {
      %3: i64[] = constant{value=i64(7)}()
      %4: bool[] = less(%0, %3)
      return %4
    }
    graph step(%0: i64[], %1: f64[], %2: f64[n]) where i = value(0) {
      %3: i64[] = dimension{size=(i % 2)}()
      %4: f64[] = case{branches=(@no, @yes)}(%3, %1, %2)
      %5: i64[] = dimension{size=i + 1}()
      return %5, %4
    }
    graph f(%0: f64[n]) where n = size(0, 0) {
      %1: i64[] = constant{value=i64(0)}()
      %2: f64[] = constant{value=f64(0.5)}()
      %3: i64[], %4: f64[] = while{cond=@go, body=@step}(%1, %2, %0)
      return %3, %4
    }"""
    for length in (0, 1, 9):
        machine_agrees(parse(text), np.arange(float(length)))


def test_a_carried_array_that_is_updated_stays_where_it_is():
    graph = parse(FILL.replace("BODY", BODIES["an element"]).replace("RETURN", "%6"))
    executable = compile_for_machine(graph)
    loop = [each[0] for each in executable.text.instructions]
    inside = loop[loop.index("jump_unless") : loop.index("jump")]
    assert inside.count("alloc") <= 1 and inside.count("copy") <= 2, inside  # the element's


def test_an_int_that_overflows_or_a_check_that_fails_is_run_again():
    text = FILL.replace("BODY", BODIES["kept"].replace("i + 1", "i*i*i*i + 9999999"))
    executable = compile_for_machine(
        parse(text.replace("RETURN", "%6").replace("less", "not_equal"))
    )
    with pytest.raises(_native.Deoptimize):
        executable.run([np.ones(3), np.ones(3)])


ENDLESS = FILL.replace("BODY", BODIES["computed"]).replace("less(%0, %3)", "equal(%3, %3)")


def test_an_interrupt_ends_a_loop_and_the_next_call_works():
    executable = compile_for_machine(parse(ENDLESS.replace("RETURN", "%6")))
    for _ in range(2):
        timer = threading.Timer(0.2, _thread.interrupt_main)
        timer.start()
        start = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            executable.run([np.ones(3), np.ones(3)])
        assert time.perf_counter() - start < 5
        timer.join()
