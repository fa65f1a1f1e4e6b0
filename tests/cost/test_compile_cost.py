"""What compiling costs, by counts: Python calls for each op, kernels made, instructions.

Counts do not depend on the machine, so they can decide. Bounds are 1.3 times what was
counted.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from jitwise import config, jit
from jitwise.ir.builder import Builder, primitive_named
from jitwise.ir.types import ArrayType
from jitwise.kernel.layout import layout_of
from jitwise.passes.fuse import Fuse
from jitwise.passes.pipeline import PassContext
from jitwise.passes.pipelines import DEFAULT
from jitwise.runtime.blas import library
from jitwise.runtime.executable import fusion_bodies

sys.path.insert(0, str(Path(__file__).parents[1] / "conformance"))
from reference_machine import lower

pytestmark = pytest.mark.no_round_trip
F64 = np.dtype(np.float64)


def emit(builder, name, *operands, **attrs):
    values = tuple(
        builder.constant(operand, F64) if isinstance(operand, float) else operand
        for operand in operands
    )
    return builder.emit(primitive_named(name), values, attrs)


def start():
    builder = Builder("program")
    n = builder.symbol("n", ("size", 0, 0))
    return builder, n, builder.input(ArrayType(F64, (n,)))


def chain(count, period=2):
    """A chain of `count` ops whose pattern repeats after `period` ops."""
    builder, _, x = start()
    names = ["sine", *["multiply"] * (period - 1)]
    for index in range(count):
        name = names[index % period]
        x = (
            emit(builder, name, x)
            if name == "sine"
            else emit(builder, name, x, 1.0 + index % period)
        )
    return builder.finish((x,))


def layers(count):
    """Matrix product, tanh, mean, subtract, add, concatenate, again and again."""
    builder = Builder("layers")
    n = builder.symbol("n", ("size", 0, 0))
    x = builder.input(ArrayType(F64, (n, 256)))
    weights = builder.input(ArrayType(F64, (256, 256)))
    for _ in range(count):
        hidden = emit(builder, "tanh", emit(builder, "dot_general", x, weights))
        mean = emit(builder, "divide", emit(builder, "reduce_add", hidden, axes=(1,)), 256.0)
        spread = emit(builder, "broadcast_in_dim", mean, sizes=(n, 256), dimensions=(0,))
        y = emit(builder, "add", emit(builder, "subtract", hidden, spread), x)
        cut = {"strides": (1, 1), "sizes": (n, 128)}
        left = emit(builder, "slice", y, starts=(0, 0), **cut)
        right = emit(builder, "slice", y, starts=(0, 128), **cut)
        x = emit(builder, "concatenate", right, left, dimension=1)
    return builder.finish((x,))


def scalar_expressions(count):
    """A stack of expressions on single elements."""
    builder = Builder("scalars")
    x = builder.input(ArrayType(F64, (count,)))
    parts = []
    for index in range(count):
        part = emit(builder, "slice", x, starts=(index,), strides=(1,), sizes=(1,))
        element = emit(builder, "reshape", part, sizes=())
        y = emit(
            builder, "add", emit(builder, "multiply", emit(builder, "sine", element), 2.0), element
        )
        parts.append(emit(builder, "reshape", y, sizes=(1,)))
    return builder.finish((emit(builder, "concatenate", *parts, dimension=0),))


def kernels(fused):
    return len({layout_of(body).key for body in fusion_bodies(fused)})


@pytest.mark.parametrize(
    "program, count, calls",
    [(chain, 2000, 22), (layers, 100, 26), (scalar_expressions, 200, 30)],
    ids=["chain", "layers", "scalars"],
)
def test_fusing_takes_few_python_calls_an_op(program, count, calls, count_calls):
    graph = program(count)
    found = count_calls(Fuse().run, graph, PassContext())
    assert found.total <= calls * len(graph.ops), found.by_name.most_common(12)


@pytest.mark.parametrize(
    "program, count", [(chain, 2000), (layers, 100), (scalar_expressions, 200)]
)
def test_lowering_takes_few_python_calls_an_op(program, count, count_calls):
    fused = DEFAULT.run(program(count))
    library()  # loads BLAS
    found = count_calls(lower, fused)
    lowering = sum(n for name, n in found.by_name.items() if ".runtime." in name)
    assert lowering <= 24 * len(fused.ops), found.by_name.most_common(12)


@pytest.mark.parametrize("program", [chain, layers, scalar_expressions])
def test_the_cost_of_the_pipeline_grows_with_the_length_of_the_program(program, count_calls):
    costs = [count_calls(DEFAULT.run, program(count)).total for count in (100, 400)]
    assert costs[1] <= 4.2 * costs[0]


@pytest.mark.parametrize("period", [1, 2, 3, 5, 7, 11, 37])
def test_a_long_repetitive_chain_needs_a_handful_of_kernels(period):
    fused = DEFAULT.run(chain(10_000, period))
    assert kernels(fused) <= 4
    assert len(fused.ops) <= 300


def test_equal_layers_share_their_kernels_and_bodies():
    fused = DEFAULT.run(layers(50))
    assert kernels(fused) == 1
    assert len(fusion_bodies(fused)) == 1


def test_equal_expressions_on_single_elements_share_their_kernel():
    fused = DEFAULT.run(scalar_expressions(300))
    assert kernels(fused) == 1


def constants_apart(count, dtype=F64, name="multiply"):
    """Expressions on single elements, each with a constant of its own, as one array."""
    builder = Builder("scalars")
    x = builder.input(ArrayType(dtype, ()))
    parts = []
    for index in range(count):
        factor = builder.constant(dtype.type(index + 3), dtype)
        y = emit(builder, "negate", emit(builder, name, x, factor))
        parts.append(emit(builder, "reshape", y, sizes=(1,)))
    return builder.finish((emit(builder, "concatenate", *parts, dimension=0),))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_many_expressions_that_differ_in_constants_only_share_a_kernel(dtype):
    fused = DEFAULT.run(constants_apart(100, np.dtype(dtype)))
    assert kernels(fused) == 1
    assert len(fusion_bodies(fused)) == 1


def test_a_few_expressions_keep_their_constants():
    assert kernels(DEFAULT.run(constants_apart(3))) == 3


def test_integer_divisors_stay_known():
    assert kernels(DEFAULT.run(constants_apart(20, np.dtype(int), "floor_divide"))) == 20


def test_constants_become_operands_of_kernels_over_arrays_too():
    builder, _, x = start()
    outputs = [emit(builder, "sine", emit(builder, "multiply", x, 2.5 + k)) for k in range(600)]
    fused = DEFAULT.run(builder.finish(tuple(outputs)))
    assert kernels(fused) <= 8
    assert max(len(op.operands) + len(op.results) for op in fused.ops) <= 160


def stacked_expressions(count):
    return lambda a, b: np.stack([a * float(k) + np.sin(b * float(k)) for k in range(count)])


def test_a_stack_of_expressions_costs_few_python_calls_an_element(count_calls):
    totals = []
    for function in map(stacked_expressions, (100, 200, 400)):  # the first compiles the kernel
        with config.override(verify=0):
            found = count_calls(jit(function), np.float64(0.25), np.float64(0.5))
        np.testing.assert_allclose(found.result, function(0.25, 0.5), 1e-15)
        totals.append(found.total)
    assert (totals[2] - totals[1]) / 200 <= 390


def sum_by_loop(count):
    def total(x):
        result = 0.0
        for index in range(count):
            result = result + x[index]
        return result

    return total


def test_a_loop_over_elements_costs_few_python_calls_an_element(count_calls):
    totals = []
    for count in (200, 400, 800):
        x = np.arange(float(count))
        with config.override(verify=0):
            found = count_calls(jit(sum_by_loop(count)), x)
        assert found.result == x.sum()
        totals.append(found.total)
    assert (totals[2] - totals[1]) / 400 <= 126
    assert totals[2] - totals[1] <= 2.1 * (totals[1] - totals[0])


def test_a_chain_of_100_000_ops_goes_through():
    fused = DEFAULT.run(chain(100_000))
    assert kernels(fused) <= 4
    text = lower(fused)
    assert text.slots <= 8
    assert "fusion" in str(fused)


def test_wide_sums_are_cut_into_kernels_with_few_operands():
    builder = Builder("wide")
    n = builder.symbol("n", ("size", 0, 0))
    inputs = [builder.input(ArrayType(F64, (n,))) for _ in range(1000)]
    total = inputs[0]
    for value in inputs[1:]:
        total = emit(builder, "add", total, value)
    fused = DEFAULT.run(builder.finish((total,)))
    sizes = [len(op.operands) + len(op.results) for op in fused.ops]
    assert max(sizes) <= 200
    assert len(sizes) <= 12
