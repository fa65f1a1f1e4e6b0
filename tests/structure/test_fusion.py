"""NumPy programs as graphs, and what they become: kernels, phases, temporaries, library calls."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from jitwise import jit
from jitwise.ir.builder import Builder, primitive_named
from jitwise.ir.evaluate import evaluate
from jitwise.ir.parser import parse
from jitwise.ir.types import ArrayType
from jitwise.kernel.build import build_kernel
from jitwise.passes.pipeline import PassContext
from jitwise.passes.pipelines import DEFAULT

sys.path.insert(0, str(Path(__file__).parents[1] / "conformance"))
from reference_machine import Machine, lower

F64 = np.dtype(np.float64)


def shape_of(graph):
    """Fuse, lower, check the meaning on one input, and count."""
    fused = DEFAULT.run(graph)
    text = lower(fused)
    kernels = [build_kernel(op.attrs["body"]) for op in fused.ops if op.primitive.name == "fusion"]
    random = np.random.default_rng(0)
    arrays = [
        np.asarray(random.uniform(0.5, 2, (6,) * v.type.ndim), v.type.dtype) for v in graph.inputs
    ]
    for one, other in zip(Machine(text).run(arrays), evaluate(graph, arrays), strict=True):
        np.testing.assert_allclose(one, other, 1e-9)
    return {
        "kernels": len(kernels),
        "distinct": len({str(kernel) for kernel in kernels}),
        "phases": sum(len(kernel.phases) for kernel in kernels),
        "scratch": sum(len(kernel.scratch) for kernel in kernels),
        "temporaries": text.count("alloc") - len(set(fused.outputs)),
        "library": text.count("library"),
        "host": text.count("host"),
        "copies": text.count("copy"),
    }


def expect(graph, **counts):
    found = shape_of(graph)
    assert {name: found[name] for name in counts} == counts


class Program:
    """Emits by name: `p.sine(x)`."""

    def __init__(self, *ranks):
        self.builder = Builder("program")
        self.n = self.builder.symbol("n", ("size", 0, 0)) if ranks[0] else None
        self.inputs = [self.builder.input(ArrayType(F64, (self.n,) * rank)) for rank in ranks]

    def __getattr__(self, name):
        def emit(*operands, **attrs):
            values = tuple(
                self.builder.constant(operand, F64) if isinstance(operand, float) else operand
                for operand in operands
            )
            return self.builder.emit(primitive_named(name), values, attrs)

        return emit

    def cut(self, x, start, size):
        return self.slice(x, starts=(start,), strides=(1,), sizes=(size,))

    def finish(self, *outputs):
        return self.builder.finish(outputs)


def article(p, x):
    def f(y):
        return p.add(p.multiply(y, 2.0), p.sine(y))

    y = f(x)
    for _ in range(5):
        y = f(y)
    return p.add(p.divide(y, 3.0), p.cosine(y))


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_the_program_of_the_article_is_one_kernel_without_temporaries(rank):
    p = Program(rank)
    expect(p.finish(article(p, p.inputs[0])), kernels=1, phases=1, temporaries=0, copies=0)


ROWS = "graph rows(%0: f64[n, m]) where n = size(0, 0), m = size(0, 1) {\n"
SOFTMAX = (
    ROWS
    + """
  %1: f64[n] = reduce_max{axes=(1,)}(%0)
  %2: f64[n, 1] = reshape{sizes=(n, 1)}(%1)
  %3: f64[n, m] = broadcast_in_dim{sizes=(n, m), dimensions=(0, 1)}(%2)
  %4: f64[n, m] = subtract(%0, %3)
  %5: f64[n, m] = exponential(%4)
  %6: f64[n] = reduce_add{axes=(1,)}(%5)
  %7: f64[n, m] = broadcast_in_dim{sizes=(n, m), dimensions=(0,)}(%6)
  %8: f64[n, m] = divide(%5, %7)
  return %8
}"""
)
LAYER_NORM = (
    ROWS.replace("(%0: f64[n, m])", "(%0: f64[n, m], %20: f64[m])")
    + """
  %1: f64[n] = reduce_add{axes=(1,)}(%0)
  %2: i64[] = dimension{size=m}()
  %3: f64[] = convert{dtype=f64}(%2)
  %4: f64[n] = divide(%1, %3)
  %5: f64[n, m] = broadcast_in_dim{sizes=(n, m), dimensions=(0,)}(%4)
  %6: f64[n, m] = subtract(%0, %5)
  %7: f64[n, m] = multiply(%6, %6)
  %8: f64[n] = reduce_add{axes=(1,)}(%7)
  %9: f64[n] = divide(%8, %3)
  %10: f64[] = constant{value=f64(1e-05)}()
  %11: f64[n] = add(%9, %10)
  %12: f64[n] = sqrt(%11)
  %13: f64[n, m] = broadcast_in_dim{sizes=(n, m), dimensions=(0,)}(%12)
  %14: f64[n, m] = divide(%6, %13)
  %15: f64[n, m] = broadcast_in_dim{sizes=(n, m), dimensions=(1,)}(%20)
  %16: f64[n, m] = multiply(%14, %15)
  return %16
}"""
)


def test_softmax_is_one_kernel_that_carries_the_exponentials():
    expect(parse(SOFTMAX), kernels=1, phases=3, scratch=1, temporaries=0)


def test_layer_normalisation_is_one_kernel_that_carries_nothing():
    expect(parse(LAYER_NORM), kernels=1, phases=3, scratch=0, temporaries=0)


@pytest.mark.parametrize("rank", [1, 2])
def test_centring_around_the_mean_of_all_elements_is_one_kernel(rank):
    p = Program(rank)
    x = p.inputs[0]
    mean = p.divide(p.reduce_add(x, axes=tuple(range(rank))), 7.0)
    expect(p.finish(p.subtract(x, mean)), kernels=1, phases=2, scratch=0, temporaries=0)


def test_a_sum_of_an_expression_with_what_follows_it_is_one_kernel():
    p = Program(1)
    x = p.inputs[0]
    total = p.reduce_add(p.add(p.multiply(p.sine(x), 2.0), x), axes=(0,))
    count = p.convert(p.dimension(size=p.n), dtype=F64)
    expect(p.finish(p.divide(total, count)), kernels=1, phases=2, temporaries=0)


def test_mean_and_variance_of_one_array_share_a_kernel():
    p = Program(2)
    x = p.inputs[0]
    total = p.reduce_add(x, axes=(1,))
    squares = p.reduce_add(p.multiply(x, x), axes=(1,))
    expect(p.finish(p.subtract(p.multiply(squares, 0.2), p.multiply(total, total))), kernels=1)


def test_sums_over_columns_take_what_is_summed_along():
    p = Program(2)
    total = p.reduce_add(p.sine(p.inputs[0]), axes=(0,))
    expect(p.finish(total), kernels=1, temporaries=0)


def test_a_sum_over_the_middle_axis_needs_no_transposed_copy():
    p = Program(3)
    expect(
        p.finish(p.reduce_add(p.sine(p.inputs[0]), axes=(1,))), kernels=1, temporaries=0, copies=0
    )


def test_a_heat_step_by_slices_is_one_kernel():
    p = Program(1)
    x = p.inputs[0]
    for _ in range(3):
        left, middle, right = (p.cut(x, start, p.n - 2) for start in (0, 1, 2))
        flow = p.add(p.subtract(left, p.multiply(middle, 2.0)), right)
        moved = p.add(middle, p.multiply(flow, 0.1))
        x = p.concatenate(p.cut(x, 0, 1), moved, p.cut(x, p.n - 1, 1), dimension=0)
    expect(p.finish(x), kernels=3, distinct=1)


def test_a_chain_of_rolls_computes_each_sine_once_and_stores_one_array_a_step():
    p = Program(1)
    x = p.inputs[0]
    for _ in range(4):
        rolled = p.concatenate(p.cut(x, p.n - 1, 1), p.cut(x, 0, p.n - 1), dimension=0)
        x = p.add(p.multiply(p.sine(x), 1.0001), rolled)
    graph = p.finish(x)
    expect(graph, kernels=4, distinct=1)
    fused = DEFAULT.run(graph)
    sines = sum(
        op.primitive.name == "sine"
        for fusion in fused.ops
        if fusion.primitive.name == "fusion"
        for op in fusion.attrs["body"].ops
    )
    assert sines == 4
    assert all(len(op.results) == 1 for op in fused.ops)


def test_a_network_of_two_layers_is_two_products_and_two_kernels():
    p = Program(2, 2, 2, 1)
    x, first, second, bias = p.inputs
    row = p.broadcast_in_dim(bias, sizes=(p.n, p.n), dimensions=(1,))
    hidden = p.tanh(p.add(p.dot_general(x, first), row))
    expect(p.finish(p.add(p.dot_general(hidden, second), row)), kernels=2, library=2, temporaries=1)


def test_results_that_share_work_are_one_kernel():
    p = Program(1)
    s = p.sine(p.inputs[0])
    expect(p.finish(s, p.multiply(s, 2.0), p.add(s, p.inputs[0])), kernels=1, temporaries=0)


def test_an_expensive_producer_is_stored_not_repeated():
    p = Program(1)
    s = p.sine(p.inputs[0])
    half = p.cut(s, 0, p.n // 2)
    graph = p.finish(p.multiply(s, 2.0), p.multiply(half, 3.0))
    fused = DEFAULT.run(graph)
    bodies = [op.attrs["body"] for op in fused.ops if op.primitive.name == "fusion"]
    assert sum(op.primitive.name == "sine" for body in bodies for op in body.ops) == 1


def test_a_library_call_between_two_ops_of_one_shape_makes_no_cycle():
    p = Program(2)
    x = p.inputs[0]
    a = p.sine(x)
    b = p.add(p.dot_general(a, a), a)
    expect(p.finish(b), kernels=2, library=1)


def test_two_shapes_that_cross_make_no_cycle():
    p = Program(2)
    x = p.inputs[0]
    rows = p.reduce_add(x, axes=(1,))
    spread = p.broadcast_in_dim(p.sine(rows), sizes=(p.n, p.n), dimensions=(1,))
    y = p.multiply(p.cosine(x), spread)
    again = p.reduce_add(y, axes=(1,))
    expect(p.finish(p.add(again, rows), y))


def test_a_kernel_writes_over_an_operand_that_ends():
    p = Program(2)
    x = p.inputs[0]
    y = p.dot_general(p.sine(x), x)
    for _ in range(4):
        y = p.dot_general(p.add(p.cosine(y), y), x)
    assert shape_of(p.finish(y))["temporaries"] <= 9


def test_outputs_that_are_inputs_or_views_or_twice_the_same_are_copies():
    p = Program(1)
    x = p.inputs[0]
    s = p.sine(x)
    expect(p.finish(x, s, s, p.cut(s, 0, 1), p.reverse(x, dimensions=(0,))), kernels=1, copies=4)


def test_single_values_are_computed_where_they_are_used():
    p = Program(1, 0)
    x, a = p.inputs
    scale = p.divide(p.add(a, 1.0), 3.0)
    expect(p.finish(p.multiply(p.sine(x), scale)), kernels=1, temporaries=0)


def test_a_cheap_vector_is_computed_again_instead_of_stored():
    p = Program(2)
    x = p.inputs[0]
    y = p.multiply(x, 2.0)
    total = p.reduce_add(y, axes=(0,))
    spread = p.broadcast_in_dim(total, sizes=(p.n, p.n), dimensions=(1,))
    expect(p.finish(p.subtract(y, spread)), kernels=2, temporaries=1)


def test_an_expensive_vector_is_stored_between_kernels():
    p = Program(2)
    y = p.sine(p.inputs[0])
    total = p.reduce_add(y, axes=(0,))
    spread = p.broadcast_in_dim(total, sizes=(p.n, p.n), dimensions=(1,))
    expect(p.finish(p.subtract(y, spread)), kernels=3)


@pytest.mark.parametrize("length, kernels", [(8, 4), (200, 1)])
def test_short_rows_are_reduced_by_a_kernel_of_its_own(length, kernels):
    text = SOFTMAX.replace("(n, m)", f"(n, {length})").replace("[n, m]", f"[n, {length}]")
    graph = parse(text.replace(", m = size(0, 1)", ""))
    fused = DEFAULT.run(graph)
    assert sum(op.primitive.name == "fusion" for op in fused.ops) == kernels
    x = np.random.default_rng(0).uniform(size=(6, length))
    np.testing.assert_allclose(Machine(lower(fused)).run([x])[0], evaluate(graph, [x])[0], 1e-12)


def test_how_long_rows_are_may_be_known_from_a_call():
    graph = parse(SOFTMAX)
    short = DEFAULT.run(graph, PassContext(sizes={"n": 600, "m": 8}))
    few = DEFAULT.run(graph, PassContext(sizes={"n": 6, "m": 8}))
    long = DEFAULT.run(graph, PassContext(sizes={"n": 600, "m": 800}))
    assert len(long.ops) == len(few.ops) == 1 < len(short.ops)
    for shape in ((6, 8), (6, 800)):
        x = np.random.default_rng(0).uniform(size=shape)
        expected = evaluate(graph, [x])[0]
        for fused in (short, long):
            np.testing.assert_allclose(Machine(lower(fused)).run([x])[0], expected, 1e-12)


def test_kernels_that_read_one_array_become_one():
    p = Program(2)
    x = p.inputs[0]
    expect(p.finish(p.sine(x), p.multiply(x, 2.0), p.reduce_add(x, axes=(1,))), kernels=1)


def test_a_broadcast_of_a_single_value_takes_no_memory():
    p = Program(1, 0)
    x, a = p.inputs
    spread = p.broadcast_in_dim(p.negate(a), sizes=(p.n,), dimensions=())
    graph = p.finish(p.add(x, spread), p.multiply(p.add(spread, x), 2.0))
    expect(graph, kernels=1, temporaries=0)


# Assignments


def instructions(function, *args) -> dict[str, int]:
    """How many instructions of each kind the program of a function has."""
    lines = jit(function).lower(*args).as_text("program").splitlines()
    return Counter(line.split()[0] for line in lines if line.startswith("  "))


def test_a_kernel_writes_straight_into_the_part_that_it_replaces():
    def stencil(x):
        y = np.zeros_like(x)
        y[1:-1] = x[:-2] + x[2:]
        y[0] = x[0]
        return y

    found = instructions(stencil, np.ones(9))
    assert found["kernel"] == 1 and found["alloc"] == 1
    assert found["copy"] == 2  # zeros, and the first element


def test_a_part_computed_from_the_array_itself_is_put_aside_first():
    def smoothed(x):
        y = x * 2
        y[1:-1] = y[:-2] + y[2:]
        return y

    found = instructions(smoothed, np.ones(9))
    assert found["kernel"] == 2 and found["alloc"] == 2 and found["copy"] == 1


def test_an_argument_is_changed_where_it_is():
    def changed(x):
        x[1:-1] = x[:-2] + x[2:]

    found = instructions(changed, np.ones(9))
    assert found["kernel"] == 1 and found["alloc"] == 1 and found["copy"] == 1

    def ends(x):
        x[0] = 5
        x[-1] = 7

    found = instructions(ends, np.ones(9))
    assert found["alloc"] == 0 and found["copy"] == 2


def test_a_kernel_writes_over_an_argument_that_nothing_reads_afterwards():
    def added(x):
        x += 1
        return x

    found = instructions(added, np.ones(9))
    assert found["kernel"] == 1 and found["alloc"] == found["copy"] == 0

    def kept(x):
        before = x[1:]
        x *= x[::-1]
        return before

    found = instructions(kept, np.ones(9))
    assert found["alloc"] >= 1 and found["copy"] >= 1


def test_updates_one_after_the_other_share_one_array():
    def filled(x):
        y = np.zeros(20)
        for place in range(20):
            y[place] = x[place] * place
        return y

    found = instructions(filled, np.ones(20))
    assert found["alloc"] <= 21 and found["copy"] <= 21


def steps_of(function, *args):
    lines = jit(function).lower(*args).compile().as_text("program").splitlines()
    return [line.split()[0] for line in lines]


def test_repeated_elements_between_others_are_copied_once_into_the_result():
    for function in (lambda x: np.repeat(x, 3), lambda x: np.tile(x, 3)):
        steps = steps_of(function, np.arange(5.0))
        made = steps[steps.index("alloc") :]
        assert [step for step in made if step != "free"] == ["alloc", "reshape", "copy", "return"]


def test_repeated_elements_that_stay_neighbours_are_a_view():
    steps = steps_of(lambda x: np.broadcast_to(x, (3, x.size)).reshape(3, 1, -1) * 2, np.ones(5))
    assert steps.count("alloc") == 1 and "copy" not in steps


def test_linspace_between_numbers_counts_once_and_divides_once():
    program = jit(lambda x: np.linspace(0, 1, x.size)).lower(np.ones(5)).compile()
    assert program.as_text("program").count("library iota") == 1
    assert program.as_text("kernel").count("divide") == 1
