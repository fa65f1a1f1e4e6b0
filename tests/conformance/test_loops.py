"""`case` and `while` choose and repeat, are text like other ops, and refuse what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from jitwise.ir.evaluate import evaluate
from jitwise.ir.parser import ParseError, parse
from jitwise.ir.verify import VerifyError, verify
from jitwise.ops.control import CheckFailed

CASE = """
    graph no(%0: f64[n]) {
      %1: f64[n] = negate(%0)
      return %1
    }
    graph yes(%0: f64[n]) {
      return %0
    }
    graph f(%0: INDEX, %1: f64[n]) where n = size(1, 0) {
      %2: f64[n] = case{branches=(@no, @yes)}(%0, %1)
      return %2
    }"""

# The sum of the first k elements, for k = 1 .. n, by a loop around a slice of run-time size.
SUMS = """
    graph go(%0: i64[], %1: f64[n], %2: f64[n]) {
      %3: i64[] = dimension{size=n}()
      %4: bool[] = less(%0, %3)
      return %4
    }
    graph step(%0: i64[], %1: f64[n], %2: f64[n]) where i = value(0) {
      %3: f64[i + 1] = slice{starts=(0,), strides=(1,), sizes=(i + 1,)}(%2)
      %4: f64[] = reduce_add{axes=(0,)}(%3)
      %5: f64[1] = reshape{sizes=(1,)}(%4)
      %6: f64[n] = update_slice{starts=(i,), strides=(1,)}(%1, %5)
      %7: i64[] = dimension{size=i + 1}()
      return %7, %6
    }
    graph f(%0: f64[n]) where n = size(0, 0) {
      %1: i64[] = constant{value=i64(0)}()
      %2: i64[], %3: f64[n] = while{cond=@go, body=@step}(%1, %0, %0)
      return %2, %3
    }"""


@pytest.mark.parametrize("index", [False, True, np.int64(0), np.int64(1), np.int64(9), -1])
def test_a_case_takes_the_branch_of_its_index_and_the_last_one_beyond(index):
    dtype = "bool[]" if isinstance(index, bool) else "i64[]"
    graph = parse(CASE.replace("INDEX", dtype))
    verify(graph)
    x = np.array([1.0, -2.0, np.inf])
    (found,) = evaluate(graph, [np.asarray(index), x])
    np.testing.assert_array_equal(found, -x if int(index) == 0 else x)


@pytest.mark.parametrize("length", [0, 1, 7])
def test_what_a_while_carries_may_be_a_size(length):
    graph = parse(SUMS)
    verify(graph)
    x = np.linspace(1, 2, length)
    count, sums = evaluate(graph, [x])
    assert count == length
    np.testing.assert_allclose(sums, np.cumsum(x), rtol=1e-15)


def test_loops_are_text():
    for text in (CASE.replace("INDEX", "bool[]"), SUMS):
        graph = parse(text)
        assert str(parse(str(graph))) == str(graph)


def test_what_does_not_fit_is_refused_with_the_component():
    with pytest.raises(ParseError, match=r"no takes \(f64\[n\]\), got \(bool\[\]\)"):
        parse(CASE.replace("INDEX", "bool[]").replace("}(%0, %1)", "}(%0, %0)"))
    with pytest.raises(ParseError, match=r"step takes f64\[n\] as number 1, and gives i64\[\]"):
        parse(SUMS.replace("return %7, %6", "return %7, %7"))
    with pytest.raises(ParseError, match="go does not give one bool"):
        parse(SUMS.replace("return %4\n", "return %3\n"))
    with pytest.raises(ParseError, match="bool or i64"):
        parse(CASE.replace("INDEX", "f64[]"))


def test_symbols_of_a_body_are_not_seen_around_it():
    text = SUMS.replace("return %2, %3", "%4: i64[] = dimension{size=i}()\n return %2, %3")
    with pytest.raises(VerifyError, match="symbol i"):
        verify(parse(text))


CHECK = """
      %8: i64[] = constant{value=i64(3)}()
      %9: bool[] = less(%0, %8)
      check{reason='few'}(%9)"""


def test_a_check_inside_of_a_loop_is_an_effect_of_the_loop():
    start = "where i = value(0) {"
    graph = parse(SUMS.replace(start, start + CHECK))
    assert graph.has_effects()
    assert not parse(SUMS).has_effects()
    evaluate(graph, [np.ones(3)])
    with pytest.raises(CheckFailed, match="few"):
        evaluate(graph, [np.ones(4)])
