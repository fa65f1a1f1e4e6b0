"""What tracing costs, from the user's function to the graph, in Python calls for each op; and that
a long function goes through `jit` as a whole: traced, compiled, printed, run and freed.

The calls are those of a long program less those of a short one, so that what a trace costs once
does not count. An op is one of the finished graph.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections import Counter

import numpy as np
import pytest

from jitwise import jit
from jitwise.ir.graph import Op

pytestmark = pytest.mark.no_round_trip
SQUARE = np.linspace(-1, 1, 16).reshape(4, 4)


def repeated(step, count):
    """A function that applies `step` to its first argument `count` times."""

    def program(x, y):
        for _ in range(count):
            x = step(x, y)
        return x

    return program


def cost(step, count_calls, lengths=(40, 120)):
    """Python calls and ops of one step; the calls of this file's own functions not counted."""
    calls, ops = Counter(), 0
    jit(repeated(step, 1), control_flow=False).trace(
        SQUARE, SQUARE.copy()
    )  # what a process does once
    for sign, length in zip((-1, 1), lengths, strict=True):
        found = count_calls(
            jit(repeated(step, length), control_flow=False).trace, SQUARE, SQUARE.copy()
        )
        for name, number in found.by_name.items():
            calls[name] += sign * number * (not name.startswith(__name__))
        ops += sign * len(found.result.graph.ops)
    steps = lengths[1] - lengths[0]
    return sum(calls.values()) / steps, ops / steps, calls


def changed(x, y):
    x = x * 2
    x[0] = 1.0
    return x


def added(x, y):
    x = x * 2
    x += y
    return x


@pytest.mark.parametrize(
    "step",
    [
        lambda x, y: np.sin(x) * 1.0001,
        lambda x, y: x * 2 + 1 - x / 3,
        lambda x, y: x + y,
        lambda x, y: y - x,
        lambda x, y: np.maximum(np.add(x, y), np.sqrt(abs(x))),
        lambda x, y: -x * (x > 0.5) + x.clip(-1, 1),
        lambda x, y: x * x.sum() + np.exp(-x),
        lambda x, y: x + np.float64(0.5) * x**2,
    ],
    ids=["sine", "numbers", "sum", "difference", "functions", "masks", "total", "square"],
)
def test_an_op_on_elements_takes_at_most_25_python_calls(step, count_calls):
    calls, ops, names = cost(step, count_calls)
    assert ops >= 1
    assert calls <= 25 * ops, names.most_common(12)


@pytest.mark.parametrize(
    "step",
    [
        lambda x, y: np.where(x > y, x, y) + 1,
        lambda x, y: x - x.mean(axis=1, keepdims=True),
        lambda x, y: np.cumsum(x, axis=1) * 0.1,
        lambda x, y: np.tanh(x @ y),
        lambda x, y: x.dot(y) * 0.1,
        lambda x, y: np.concatenate([x[1:], x[:1]]),
        lambda x, y: (x[:, None] * y[None])[:, 0],
        lambda x, y: np.roll(x, 1),
        lambda x, y: x.T.reshape(x.shape),
        lambda x, y: x.astype(np.float32) * y,
        lambda x, y: x / np.linalg.norm(x) + x.std(axis=0),
        lambda x, y: x + x.argmax(axis=0),
        changed,
        added,
    ],
    ids=[
        "where", "centred", "cumulative", "product", "dot", "slices", "newaxis", "roll", "reshape",
        "astype", "norm", "argmax", "setitem", "inplace",
    ],
)  # fmt: skip
def test_an_op_on_shapes_takes_at_most_25_python_calls(step, count_calls):
    calls, ops, names = cost(step, count_calls)
    assert ops >= 1
    assert calls <= 25 * ops, names.most_common(12)


@pytest.mark.parametrize(
    ("step", "most"),
    [
        (lambda x, y: np.stack([x, y]).sum(axis=0), 85),
        (lambda x, y: x * (x @ y[0]), 110),
        (lambda x, y: np.einsum("ij,jk->ik", x, y), 160),
        (lambda x, y: x + np.zeros(x.shape), 35),
    ],
    ids=["stack", "vector", "einsum", "zeros"],
)
def test_a_function_made_of_ops_that_fold_away_takes_few_python_calls(step, most, count_calls):
    """More than 25 for each op that is left, since the others were emitted too."""
    calls, ops, names = cost(step, count_calls)
    assert ops >= 1
    assert calls <= most, names.most_common(12)


def chain(length):
    """`length` ops, half of them sines."""
    return lambda x: repeated(lambda x, y: np.sin(x) * 1.0001, length // 2)(x, x)


def operations():
    gc.collect()
    return sum(type(item) is Op for item in gc.get_objects())


@pytest.fixture
def shallow_stack():
    """Recursion that grows with the program fails at once."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(350)
    yield
    sys.setrecursionlimit(limit)


def test_a_function_of_10_000_ops_is_traced_compiled_printed_run_and_freed(shallow_stack):
    before = operations()
    function, x = jit(chain(10_000), control_flow=False), np.linspace(0, 1, 7)
    expected = chain(10_000)(x)
    for _ in range(2):
        np.testing.assert_allclose(function(x), expected, rtol=1e-9)
    assert (function.state.traces, function.state.compiles) == (1, 1)
    stages = function.trace(x)
    assert stages.as_text().count(" sine(") == 5_000
    lowered = stages.lower()
    compiled = lowered.compile()
    assert "fusion" in lowered.as_text()
    assert "define" in compiled.as_text("llvm")
    np.testing.assert_array_equal(compiled(x), function(x))
    alive = weakref.ref(function)
    del function, stages, lowered, compiled
    gc.collect()
    assert alive() is None
    assert operations() <= before


def test_a_function_of_100_000_ops_is_traced_compiled_and_run(shallow_stack):
    function, x = jit(chain(100_000), control_flow=False), np.linspace(0, 1, 7)
    result = function(x)
    assert result.shape == (7,) and np.isfinite(result).all()
    assert (function.state.traces, function.state.compiles) == (1, 1)


@pytest.mark.parametrize("what", ["trace", "call"])
def test_the_calls_of_an_op_do_not_grow_with_the_length_of_the_function(what, count_calls):
    x = np.linspace(0, 1, 7)
    totals = []
    for length in (1_000, 2_000, 4_000):
        function = jit(chain(length), control_flow=False)
        totals.append(count_calls(function.trace if what == "trace" else function, x).total)
    first, second = totals[1] - totals[0], totals[2] - totals[1]
    assert second <= 2.1 * first
    assert totals[2] <= 4.2 * totals[0]
