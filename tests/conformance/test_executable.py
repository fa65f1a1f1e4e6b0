"""Compiled graphs as a caller sees them: fresh results, one compile, checks, stages."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from jitwise import config
from jitwise.errors import JitwiseError
from jitwise.ir.evaluate import evaluate
from jitwise.ir.parser import parse
from jitwise.passes.pipeline import PassError, Pipeline
from jitwise.passes.pipelines import DEFAULT
from jitwise.record import Recorder

native = pytest.importorskip("jitwise.runtime._native")

from jitwise.runtime import kernels  # noqa: E402
from jitwise.runtime.executable import STAGES, compile_graph  # noqa: E402

CENTRE = """graph centre(%0: f64[n]) where n = size(0, 0) {
  %1: f64[] = reduce_add{axes=(0,)}(%0)
  %2: i64[] = dimension{size=n}()
  %3: f64[] = convert{dtype=f64}(%2)
  %4: f64[] = divide(%1, %3)
  %5: f64[n] = subtract(%0, %4)
  %6: f64[n] = sine(%5)
  return %6
}"""


def compiled(text):
    return compile_graph(parse(text))


def test_results_share_memory_with_nothing():
    executable = compiled("""graph f(%0: f64[n]) where n = size(0, 0) {
      %1: f64[n] = negate(%0)
      %2: f64[n] = reverse{dimensions=(0,)}(%1)
      %3: f64[n] = reverse{dimensions=(0,)}(%0)
      return %0, %1, %1, %2, %3
    }""")
    x = np.arange(5.0)
    results = executable.run([x])
    for index, (one, expected) in enumerate(
        zip(results, (x, -x, -x, -x[::-1], x[::-1]), strict=True)
    ):
        np.testing.assert_array_equal(one, expected)
        assert not np.shares_memory(one, x)
        assert not any(
            np.shares_memory(one, other)
            for at, other in enumerate(results)
            if at not in (index, 1, 2)
        )


def test_constants_and_sizes_can_be_results():
    executable = compiled("""graph f(%0: f64[n]) where n = size(0, 0) {
      %1: f32[] = constant{value=f32(1.5)}()
      %2: i64[] = dimension{size=2*n + 1}()
      return %1, %2
    }""")
    one, two = executable.run([np.zeros(7)])
    assert (one.dtype, float(one), two.dtype, int(two)) == (np.float32, 1.5, np.int64, 15)


def test_the_value_of_an_integer_argument_can_be_a_size():
    executable = compiled("""graph f(%0: i64[], %1: f64[]) where k = value(0) assuming k >= 0 {
      %2: f64[k] = broadcast_in_dim{sizes=(k,), dimensions=()}(%1)
      %3: f64[k] = sine(%2)
      return %3
    }""")
    for count in (0, 1, 5):
        result = executable.run([np.asarray(count), np.asarray(2.0)])[0]
        np.testing.assert_allclose(result, np.full(count, np.sin(2.0)), 1e-15)
    with pytest.raises(native.GuardFailure):
        executable.run([np.asarray(-1), np.asarray(2.0)])


def test_a_check_that_fails_ends_the_run():
    executable = compiled("""graph f(%0: f64[n]) where n = size(0, 0) {
      %1: f64[] = reduce_min{axes=(0,)}(%0)
      %2: f64[] = constant{value=f64(0.0)}()
      %3: bool[] = greater(%1, %2)
      check{reason='positive'}(%3)
      %4: f64[n] = sqrt(%0)
      return %4
    }""")
    np.testing.assert_array_equal(executable.run([np.array([4.0, 9.0])])[0], [2.0, 3.0])
    with pytest.raises(native.Deoptimize):
        executable.run([np.array([4.0, -9.0])])


def test_every_length_runs_in_one_program():
    graph = parse(CENTRE)
    before = kernels.counters.built
    executable = compile_graph(graph)
    assert kernels.counters.built - before <= 1
    for n in range(1, 301):
        x = np.linspace(0, 1, n)
        np.testing.assert_allclose(executable.run([x])[0], evaluate(graph, [x])[0], atol=1e-15)
    assert kernels.counters.built - before <= 1


def test_an_equal_graph_of_another_size_builds_no_kernel():
    text = """graph f(%0: f64[8]) {
      %1: f64[8] = sine(%0)
      %2: f64[8] = multiply(%1, %0)
      return %2
    }"""
    compiled(text)
    before = kernels.counters.built
    compiled(text.replace("[8]", "[3, 9]"))
    assert kernels.counters.built == before


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x[::-1, ::-2],
        np.asfortranarray,
        lambda x: np.broadcast_to(x[:1], x.shape),
        lambda x: x[:0],
        lambda x: x[:1, :1],
        lambda x: np.ascontiguousarray(x).astype(">f8").astype("f8"),
    ],
)
def test_any_layout_of_an_argument_is_taken(make):
    graph = parse("""graph f(%0: f64[n, m]) where n = size(0, 0), m = size(0, 1) {
      %1: f64[n, m] = multiply(%0, %0)
      %2: f64[n] = reduce_add{axes=(1,)}(%1)
      %3: f64[m] = reduce_add{axes=(0,)}(%1)
      %4: f64[m, n] = transpose{permutation=(1, 0)}(%1)
      return %2, %3, %4, %1
    }""")
    executable = compile_graph(graph)
    x = make(np.random.default_rng(1).uniform(size=(9, 70)))
    for one, other in zip(executable.run([x]), evaluate(graph, [x]), strict=True):
        np.testing.assert_allclose(one, other, 1e-13)


def test_threads_run_one_program_at_once():
    graph = parse(CENTRE)
    executable = compile_graph(graph)
    arrays = [np.random.default_rng(seed).uniform(size=1000 + seed) for seed in range(8)]
    expected = [evaluate(graph, [x])[0] for x in arrays]
    faults = []

    def work(x, y):
        for _ in range(200):
            if not np.allclose(executable.run([x])[0], y, atol=1e-14):
                faults.append(len(x))

    threads = [
        threading.Thread(target=work, args=pair) for pair in zip(arrays, expected, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_a_text(stage):
    text = compiled(CENTRE).as_text(stage)
    word = {"trace": "sine", "fuse": "fusion", "kernel": "phase", "program": "alloc"}
    assert word.get(stage, "") in text
    assert text


def test_a_stage_that_is_none_is_refused_by_name():
    with pytest.raises(JitwiseError, match="stages are trace, fuse"):
        compiled(CENTRE).as_text("fused")


def test_what_was_done_is_recorded():
    recorder = Recorder()
    compile_graph(parse(CENTRE), record=recorder)
    assert [event.name for event in recorder.records("pass")] == ["fuse"]
    detail = recorder.records("program", "centre")[0].detail
    assert detail["kernels"] == 1


def test_cost_and_memory_are_counted_for_given_sizes():
    executable = compiled(CENTRE)
    assert executable.cost({"n": 10})["kernels"] == 1
    assert executable.cost({"n": 10})["bytes accessed"] == 10 * 8 * 2 + 8
    assert executable.memory({"n": 10}) == {"arguments": 80, "outputs": 80, "temporaries": 0}


def test_a_pass_that_breaks_a_graph_is_named():
    class Break:
        name = "break"

        def run(self, graph, context):
            from jitwise.ir.graph import Graph

            return Graph(graph.name, graph.inputs, graph.ops[1:], graph.outputs, graph.symbols, ())

    with config.override(verify=1), pytest.raises(PassError, match="after pass 'break'"):
        Pipeline((Break(),)).run(parse(CENTRE))


def test_a_pass_that_changes_the_meaning_is_named_at_level_two():
    class Forget:
        name = "forget"

        def run(self, graph, context):
            from jitwise.ir.graph import Graph

            outputs = (graph.ops[-1].operands[0],)
            return Graph(graph.name, graph.inputs, graph.ops, outputs, graph.symbols, graph.guards)

    with config.override(verify=2):
        DEFAULT.run(parse(CENTRE))
        with pytest.raises(PassError, match="after pass 'forget': output 0"):
            Pipeline((Forget(),)).run(parse(CENTRE))


def test_bisecting_leaves_out_what_comes_after_the_limit():
    graph = parse("""graph f(%0: f64[n]) where n = size(0, 0) {
      %1: f64[n] = sine(%0)
      %2: f64[n] = cosine(%0)
      return %1
    }""")
    with config.override(bisect=0):
        fused = DEFAULT.run(graph)
    assert any(op.primitive.name == "fusion" for op in fused.ops)
    with config.override(bisect=0):
        np.testing.assert_array_equal(
            compile_graph(graph).run([np.arange(3.0)])[0],
            compile_graph(graph).run([np.arange(3.0)])[0],
        )
