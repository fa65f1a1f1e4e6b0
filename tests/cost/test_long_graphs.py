"""A program of 100,000 operations builds, prints, parses, verifies, runs and is freed: at a flat
cost an operation, and without recursion.
"""

from __future__ import annotations

import gc
import sys
import weakref

import numpy as np
import pytest

from jitwise.ir.builder import Builder, primitive_named
from jitwise.ir.dims import Dim
from jitwise.ir.evaluate import evaluate
from jitwise.ir.fingerprint import fingerprint
from jitwise.ir.graph import Graph, Op
from jitwise.ir.parser import parse
from jitwise.ir.printer import print_graph
from jitwise.ir.types import ArrayType
from jitwise.ir.verify import verify
from jitwise.ir.walk import last_uses, live_ops, map_graph, users

pytestmark = pytest.mark.no_round_trip
LENGTH = 100_000
SINE, ADD = primitive_named("sine"), primitive_named("add")


def chain(length: int) -> Graph:
    builder = Builder("chain")
    builder.symbol("n", ("size", 0, 0))
    first = value = builder.input(ArrayType(np.dtype(float), (Dim.symbol("n"),)))
    for index in range(length):
        value = builder.emit(SINE, (value,)) if index % 2 else builder.emit(ADD, (value, first))
    return builder.finish((value,))


@pytest.fixture(scope="module")
def long() -> Graph:
    return chain(LENGTH)


@pytest.fixture(autouse=True)
def shallow_stack():
    """Recursion that grows with the program fails at once."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    yield
    sys.setrecursionlimit(limit)


def test_it_prints_and_parses(long):
    text = print_graph(long)
    assert text.count("\n") == LENGTH + 2
    assert print_graph(parse(text)) == text


def test_it_verifies(long):
    verify(long)


def test_it_has_a_fingerprint(long):
    assert fingerprint(long) == fingerprint(map_graph(long))


def test_it_is_walked(long):
    assert len(live_ops(long)) == LENGTH
    assert len(users(long)[long.inputs[0]]) == LENGTH // 2 + 1
    assert len(last_uses(long)) == LENGTH + 1


def test_it_runs(long):
    (found,) = evaluate(long, [np.zeros(2)])
    np.testing.assert_array_equal(found, np.zeros(2))


def test_it_is_freed():
    def operations() -> int:
        gc.collect()
        return sum(type(item) is Op for item in gc.get_objects())

    before = operations()
    graph = chain(LENGTH)
    assert operations() == before + LENGTH
    alive = weakref.ref(graph)
    del graph
    assert alive() is None  # without waiting for the collector: a graph holds no cycle of itself
    assert operations() == before


@pytest.mark.parametrize(
    "step",
    [print_graph, verify, map_graph, live_ops, last_uses, lambda graph: parse(print_graph(graph))],
    ids=["print", "verify", "map", "live", "last", "parse"],
)
def test_the_calls_of_a_step_grow_with_the_length_only(step, count_calls):
    short, long = chain(500), chain(2_000)
    calls = [count_calls(step, graph).total for graph in (short, long)]
    assert calls[1] <= 4.2 * calls[0]


def test_emitting_an_operation_costs_few_calls(count_calls):
    short, long = (count_calls(chain, length) for length in (500, 1_500))
    assert (long.total - short.total) / 1_000 <= 12
