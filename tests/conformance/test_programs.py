"""Random programs: the graph evaluated, evaluated after each pass, lowered, and compiled agree."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from jitwise.ir.evaluate import evaluate
from jitwise.ir.graph import Graph
from jitwise.ir.verify import verify
from jitwise.passes.pipeline import PassContext, Pipeline
from jitwise.passes.pipelines import DEFAULT

sys.path.insert(0, str(Path(__file__).parent))
from generate_graphs import graphs, inputs
from reference_machine import Machine, lower

SIZES = ((5, 7), (1, 1), (0, 3), (3, 0), (2, 40))
QUIET = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)


def expect_equal(graph: Graph, found: list, expected: list, stage: str, exact: bool) -> None:
    for one, other in zip(found, expected, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        message = f"{stage}\n{graph}"
        assert one.dtype == other.dtype, message
        assert one.shape == other.shape, message
        if exact or one.dtype.kind not in "fc":
            np.testing.assert_array_equal(one, other, err_msg=message)
        else:
            tight = 2e-5 if is_single(graph) else 1e-12
            scale = np.abs(other[np.isfinite(other)]).max(initial=1.0)
            np.testing.assert_allclose(one, other, tight, tight * scale, err_msg=message)


def is_single(graph: Graph) -> bool:
    """Whether anything in the graph is rounded to single precision."""
    return any(op.results and op.results[0].type.dtype == np.float32 for op in graph.ops)


def evaluated(graph: Graph, arrays: list) -> list | None:
    """What the graph means; None where NumPy refuses (the maximum of nothing)."""
    with np.errstate(all="ignore"):
        try:
            return evaluate(graph, arrays)
        except ValueError:
            return None


@QUIET
@given(graphs())
def test_every_pass_keeps_the_meaning(graph):
    stages = [graph]
    for step in DEFAULT.passes:
        stages.append(Pipeline((step,)).run(stages[-1], PassContext()))
        verify(stages[-1])
    for n, m in SIZES:
        arrays = inputs(n, m)
        expected = evaluated(graph, arrays)
        if expected is not None:
            for step, stage in zip(DEFAULT.passes, stages[1:], strict=True):
                found = evaluated(stage, arrays)
                assert found is not None
                expect_equal(graph, found, expected, step.name, exact=True)


@QUIET
@given(graphs())
def test_programs_mean_what_their_graph_means(graph):
    fused = DEFAULT.run(graph)
    machine = Machine(lower(fused))
    for n, m in SIZES:
        arrays = inputs(n, m)
        expected = evaluated(graph, arrays)
        if expected is not None:
            expect_equal(graph, machine.run(arrays), expected, str(machine.text), exact=False)


@QUIET
@given(graphs())
def test_compiled_programs_compute_what_numpy_computes(graph):
    pytest.importorskip("jitwise.runtime._native")
    from jitwise.runtime.executable import compile_graph

    for_short_rows = compile_graph(graph, sizes={"n": 50, "m": 7})
    for executable in (compile_graph(graph), for_short_rows):
        for n, m in SIZES:
            arrays = inputs(n, m)
            expected = evaluated(graph, arrays)
            if expected is not None:
                found = executable.run(arrays)
                expect_equal(graph, found, expected, executable.as_text("program"), exact=False)
