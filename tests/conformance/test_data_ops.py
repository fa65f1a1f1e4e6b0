"""Reductions, running totals and matrix products mean what NumPy's functions mean."""

from __future__ import annotations

import numpy as np
import pytest
from edge_values import DTYPES, same_bits

import jitwise.ops
from jitwise.ir.builder import Builder, primitive_named
from jitwise.ir.evaluate import evaluate
from jitwise.ir.graph import Graph
from jitwise.ir.types import ArrayType
from jitwise.ir.verify import verify

assert jitwise.ops.__all__
REDUCTIONS = {
    "reduce_add": np.add,
    "reduce_multiply": np.multiply,
    "reduce_max": np.maximum,
    "reduce_min": np.minimum,
    "reduce_and": np.bitwise_and,
    "reduce_or": np.bitwise_or,
    "reduce_xor": np.bitwise_xor,
}
SCANS = {
    "cumulative_add": np.add,
    "cumulative_multiply": np.multiply,
    "cumulative_max": np.maximum,
    "cumulative_min": np.minimum,
}


def numbers(dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Small numbers, with signs where there are any."""
    values = np.random.default_rng(3).integers(0, 9, shape)
    return (values - 4 if dtype.kind in "ifc" else values).astype(dtype)


def one_op(name: str, shapes: list[tuple[int, ...]], dtype: np.dtype, attrs: dict) -> Graph:
    builder = Builder(name)
    operands = tuple(builder.input(ArrayType(dtype, shape)) for shape in shapes)
    return builder.finish((builder.emit(primitive_named(name), operands, attrs),))


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 2), (0, 1, 2), ()])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_is_numpys_in_its_own_dtype(name, dtype, axes):
    if dtype.kind in "fc" and name in ("reduce_and", "reduce_or", "reduce_xor"):
        with pytest.raises(TypeError, match="is not defined for"):
            one_op(name, [(2,)], dtype, {"axes": (0,)})
        return
    array = numbers(dtype, (4, 5, 3))
    graph = one_op(name, [array.shape], dtype, {"axes": axes})
    verify(graph)
    (found,) = evaluate(graph, [array])
    wanted = REDUCTIONS[name].reduce(array, axis=axes, dtype=dtype)
    assert graph.outputs[0].type == ArrayType(dtype, np.shape(wanted))
    assert same_bits(found, wanted).all()


def test_a_sum_of_float16_is_rounded_once():
    """2049 ones: float16 alone would stop at 2048."""
    array = np.ones(2049 * 2, np.float16)
    (found,) = evaluate(one_op("reduce_add", [array.shape], array.dtype, {"axes": (0,)}), [array])
    assert found == np.float16(4098)
    assert found == np.add.reduce(array)


def test_an_empty_maximum_raises_numpys_error():
    array = np.zeros((3, 0))
    with pytest.raises(ValueError, match="zero-size array"):
        evaluate(one_op("reduce_max", [array.shape], array.dtype, {"axes": (1,)}), [array])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_a_position_is_that_of_the_first_extremum_or_nan(name, dtype):
    array = numbers(dtype, (6, 7))
    if dtype.kind in "fc":
        array[2, 5], array[2, 6], array[4, 1] = np.nan, np.nan, np.inf
    graph = one_op(name, [array.shape], dtype, {"axes": (1,)})
    verify(graph)
    (found,) = evaluate(graph, [array])
    np.testing.assert_array_equal(found, getattr(np, name)(array, axis=1))
    assert graph.outputs[0].type == ArrayType(np.dtype(np.int64), (6,))


def test_a_position_needs_one_axis():
    with pytest.raises(TypeError, match="along one axis"):
        one_op("argmax", [(2, 3)], np.dtype(np.float64), {"axes": (0, 1)})


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", SCANS)
def test_a_running_total_is_numpys_accumulate(name, dtype, axis):
    array = numbers(dtype, (4, 6))
    graph = one_op(name, [array.shape], dtype, {"axis": axis})
    verify(graph)
    (found,) = evaluate(graph, [array])
    assert same_bits(found, SCANS[name].accumulate(array, axis=axis, dtype=dtype)).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_a_matrix_product_is_numpys(dtype, batch):
    left, right = numbers(dtype, (*batch, 3, 4)), numbers(dtype, (*batch, 4, 2))
    graph = one_op("dot_general", [left.shape, right.shape], dtype, {})
    verify(graph)
    (found,) = evaluate(graph, [left, right])
    assert graph.outputs[0].type == ArrayType(dtype, (*batch, 3, 2))
    assert same_bits(found, np.matmul(left, right)).all()


@pytest.mark.parametrize(
    "shapes", [[(3, 4), (3, 4)], [(4,), (4,)], [(2, 3, 4), (5, 4, 2)], [(2, 3, 4), (4, 2)]]
)
def test_a_matrix_product_of_sizes_that_differ_is_refused(shapes):
    with pytest.raises(TypeError, match="dot_general"):
        one_op("dot_general", shapes, np.dtype(np.float64), {})


def test_a_slice_may_walk_backwards_to_the_first_element():
    array = np.arange(5.0)
    attrs = {"starts": (4,), "strides": (-2,), "sizes": (3,)}
    (found,) = evaluate(one_op("slice", [(5,)], array.dtype, attrs), [array])
    np.testing.assert_array_equal(found, [4.0, 2.0, 0.0])
