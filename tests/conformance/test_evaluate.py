"""The evaluator computes what NumPy computes, frees what it no longer needs, and reads sizes at run
time.
"""

from __future__ import annotations

import numpy as np
import pytest

from jitwise.ir.builder import primitive_named
from jitwise.ir.evaluate import bind_symbols, evaluate, resolve
from jitwise.ir.parser import parse, parse_type
from jitwise.ir.types import ArrayType
from jitwise.ops.control import CheckFailed


def test_a_graph_computes_what_numpy_computes():
    graph = parse("""
        graph f(%0: f64[n], %1: f64[n]) where n = size(0, 0) {
          %2: f64[] = constant{value=f64(2.0)}()
          %3: f64[n] = multiply(%0, %2)
          %4: f64[n] = sine(%1)
          %5: f64[n] = add(%3, %4)
          %6: f64[] = reduce_add{axes=(0,)}(%5)
          return %5, %6, %0
        }""")
    for length in (0, 1, 7, 100):
        x, y = np.linspace(-3, 3, length), np.linspace(0, 1, length)
        values, total, same = evaluate(graph, [x, y])
        np.testing.assert_array_equal(values, x * 2 + np.sin(y))
        assert total == np.sum(x * 2 + np.sin(y))
        assert same is x


def test_sizes_are_run_time_values():
    graph = parse("""
        graph f(%0: f64[n, m], %1: i64[]) where n = size(0, 0), m = size(0, 1), k = value(1) {
          %2: i64[] = dimension{size=2*m*n + k}()
          %3: f64[m*n] = reshape{sizes=(m*n,)}(%0)
          %4: f64[(n // 2), m] = slice{starts=(0, 0), strides=(2, 1), sizes=((n // 2), m)}(%0)
          return %2, %3, %4
        }""")
    for shape in ((4, 3), (5, 2), (0, 3)):
        x = np.arange(np.prod(shape), dtype=float).reshape(shape)
        size, flat, half = evaluate(graph, [x, np.int64(7)])
        assert size == 2 * x.size + 7
        np.testing.assert_array_equal(flat, x.ravel())
        np.testing.assert_array_equal(half, x[: shape[0] // 2 * 2 : 2])


def test_symbols_are_bound_from_shapes_and_values():
    graph = parse("""
        graph f(%0: f64[n, m], %1: i64[]) where n = size(0, 0), m = size(0, 1), k = value(1) {
          return
        }""")
    assert bind_symbols(graph, [np.zeros((2, 3)), np.int64(-4)]) == {"n": 2, "m": 3, "k": -4}


def test_a_graph_inside_sees_the_sizes_around_it():
    graph = parse("""
        graph body(%0: f64[n]) {
          %1: i64[] = dimension{size=n}()
          %2: f64[] = convert{dtype=f64}(%1)
          %3: f64[n] = divide(%0, %2)
          return %3
        }
        graph f(%0: f64[n]) where n = size(0, 0) {
          %1: f64[n] = fusion{body=@body}(%0)
          return %1
        }""")
    (found,) = evaluate(graph, [np.arange(5.0)])
    np.testing.assert_array_equal(found, np.arange(5.0) / 5)


def test_a_failed_check_stops_the_run():
    graph = parse("""
        graph f(%0: f64[]) {
          %1: f64[] = constant{value=f64(0.0)}()
          %2: bool[] = greater(%0, %1)
          check{reason='x is positive'}(%2)
          return %0
        }""")
    assert evaluate(graph, [np.float64(1.0)]) == [1.0]
    with pytest.raises(CheckFailed, match="x is positive"):
        evaluate(graph, [np.float64(-1.0)])


def test_the_wrong_number_of_arrays_is_a_type_error():
    graph = parse("graph f(%0: f64[]) {\n  return %0\n}")
    with pytest.raises(TypeError, match="f takes 1 arrays, got 2"):
        evaluate(graph, [1.0, 2.0])


def test_values_are_dropped_after_their_last_use():
    import tracemalloc

    ops = "\n".join(f"%{index}: f64[n] = negate(%{index - 1})" for index in range(1, 60))
    graph = parse(f"graph f(%0: f64[n]) where n = size(0, 0) {{\n{ops}\nreturn %59\n}}")
    x = np.ones(100_000)
    tracemalloc.start()
    evaluate(graph, [x])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * x.nbytes


def test_attributes_are_resolved_deep_inside_tuples():
    shape = parse_type("f64", "n, 2*n").shape
    assert resolve(((shape, "text"), 3), {"n": 5}) == (((5, 10), "text"), 3)
    kind = resolve(parse_type("f64", "n"), {"n": 5})
    assert type(kind) is ArrayType
    assert str(kind) == "f64[5]"


MOVEMENTS = [
    ("transpose", (2, 3, 4), {"permutation": (2, 0, 1)}, lambda x: x.transpose(2, 0, 1)),
    ("reshape", (2, 3), {"sizes": (3, 2)}, lambda x: x.reshape(3, 2)),
    ("reverse", (3, 4), {"dimensions": (1,)}, lambda x: x[:, ::-1]),
    (
        "broadcast_in_dim",
        (3, 1),
        {"sizes": (2, 3, 4), "dimensions": (1, 2)},
        lambda x: np.broadcast_to(x, (2, 3, 4)),
    ),
    (
        "slice",
        (5, 6),
        {"starts": (1, 0), "strides": (2, 3), "sizes": (2, 2)},
        lambda x: x[1:4:2, ::3],
    ),
    ("slice", (5,), {"starts": (4,), "strides": (1,), "sizes": (0,)}, lambda x: x[4:4]),
    ("reduce_add", (3, 4), {"axes": (0, 1)}, np.sum),
    ("reduce_max", (3, 4), {"axes": (1,)}, lambda x: x.max(axis=1)),
]


@pytest.mark.parametrize(("name", "shape", "attrs", "numpy"), MOVEMENTS)
def test_what_a_primitive_infers_is_what_it_computes(name, shape, attrs, numpy):
    x = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    primitive = primitive_named(name)
    found = primitive.evaluate(x, **attrs)
    np.testing.assert_array_equal(found, numpy(x))
    assert primitive.infer((ArrayType(x.dtype, shape),), attrs) == ArrayType(
        found.dtype, found.shape
    )
