"""Every invariant of the verifier has a graph that breaks it; errors quote the operations around
the fault.
"""

from __future__ import annotations

import numpy as np
import pytest

from jitwise.ir.builder import primitive_named
from jitwise.ir.dims import Dim
from jitwise.ir.graph import Graph, Op, Value
from jitwise.ir.parser import parse
from jitwise.ir.types import ArrayType
from jitwise.ir.verify import VerifyError, verify

pytestmark = pytest.mark.no_round_trip  # broken on purpose

F64 = np.dtype(np.float64)
N = Dim.symbol("n")
TEXT = """
    graph f(%0: f64[n], %1: f64[n]) where n = size(0, 0) assuming n - 1 >= 0 {
      %2: f64[n] = add(%0, %1)
      %3: f64[n] = sine(%2)  # model.py:3
      return %3
    }"""


@pytest.fixture
def graph() -> Graph:
    graph = parse(TEXT)
    verify(graph)
    return graph


def rebuilt(graph: Graph, **changes) -> Graph:
    parts = {name: getattr(graph, name) for name in ("name", "inputs", "ops", "outputs")}
    parts |= {"symbols": graph.symbols, "guards": graph.guards}
    return Graph(**(parts | changes))


def operation(name: str, operands: tuple, attrs=None, type: ArrayType | None = None) -> Op:
    op = Op(primitive_named(name), operands, attrs or {}, None)
    op.results = (Value(type or operands[0].type, op),)
    return op


def fails(graph: Graph, match: str) -> str:
    with pytest.raises(VerifyError, match=match) as caught:
        verify(graph)
    return str(caught.value)


def test_invariant_1_an_operand_is_defined_before_its_use(graph):
    fails(rebuilt(graph, ops=graph.ops[::-1]), "operand 0 of sine is not defined before it")
    stranger = operation("sine", (parse(TEXT).inputs[0],))
    fails(rebuilt(graph, ops=(*graph.ops, stranger)), "operand 0 of sine is not defined")


def test_invariant_2_an_output_is_defined(graph):
    fails(rebuilt(graph, outputs=parse(TEXT).outputs), "an output is not defined")


def test_invariant_3_a_value_is_the_result_of_one_op(graph):
    fails(rebuilt(graph, ops=(*graph.ops, graph.ops[1])), "belongs to another op")
    thief = operation("sine", graph.inputs[:1])
    thief.results = graph.ops[1].results
    fails(rebuilt(graph, ops=(graph.ops[0], thief)), "belongs to another op")


def test_invariant_4_a_type_is_the_one_inferred(graph):
    wrong = operation("sine", graph.inputs[:1], type=ArrayType(F64, (9,)))
    fails(rebuilt(graph, ops=(*graph.ops, wrong)), r"sine yields f64\[n\], the op says f64\[9\]")
    short = operation("sine", graph.inputs[:1])
    short.results = ()
    fails(rebuilt(graph, ops=(*graph.ops, short)), "sine yields 1 values, the op has 0")
    integers = Value(ArrayType(np.dtype(np.int64), (N,)), None)
    mixed = operation("add", (graph.inputs[0], integers))
    inputs = (*graph.inputs, integers)
    fails(rebuilt(graph, inputs=inputs, ops=(*graph.ops, mixed)), "add refuses its operands")


def test_invariant_5_symbols_are_declared(graph):
    bare = rebuilt(graph, symbols={}, guards=())
    fails(bare, "the symbol n is not declared")
    verify(bare, frozenset({"n"}))
    inputs = (Value(ArrayType(F64, (3,)), None),)
    fails(Graph("f", inputs, (), inputs, {}, graph.guards), "the symbol n is not declared")
    attrs = {"sizes": (N,), "dimensions": (0,)}
    one = Value(ArrayType(F64, (1,)), None)
    inner = operation("broadcast_in_dim", (one,), attrs, ArrayType(F64, (N,)))
    fails(Graph("f", (one,), (inner,), inner.results, {}, ()), "uses the symbol n")
    size = operation("dimension", (), {"size": N * 2}, ArrayType(np.dtype(np.int64), ()))
    fails(Graph("f", (), (size,), size.results, {}, ()), "dimension uses the symbol n")


def test_invariant_6_a_symbol_is_read_from_where_it_is(graph):
    fails(rebuilt(graph, symbols={"n": ("size", 2, 0)}), "input 2, which is not there")
    fails(rebuilt(graph, symbols={"n": ("size", 0, 1)}), "not the size of axis 1")
    fails(rebuilt(graph, symbols={"n": ("size", 0, 0), "m": ("size", 1, 0)}), "m is not the size")
    fails(rebuilt(graph, symbols={"n": ("value", 0)}), "the value of an array")


def test_invariant_7_attributes_are_hashable(graph):
    wrong = operation("sine", graph.inputs[:1], {"note": [1]})
    fails(rebuilt(graph, ops=(*graph.ops, wrong)), r"cannot be hashed\n(.*\n)*->  sine with")


def test_graphs_inside_are_verified_with_the_symbols_around_them():
    graph = parse("""
        graph body(%0: f64[n]) {
          %1: f64[n] = sine(%0)
          return %1
        }
        graph f(%0: f64[n]) where n = size(0, 0) {
          %1: f64[n] = fusion{body=@body}(%0)
          return %1
        }""")
    verify(graph)
    body = graph.ops[0].attrs["body"]
    graph.ops[0].attrs["body"] = rebuilt(body, outputs=(Value(body.inputs[0].type, None),))
    fails(graph, "body: an output is not defined")


def test_the_message_quotes_the_operations_around_the_fault(graph):
    wrong = operation("sine", graph.outputs, type=ArrayType(F64, (9,)))
    message = fails(rebuilt(graph, ops=(*graph.ops, wrong)), "sine yields")
    assert "->  %4: f64[9] = sine(%3)" in message
    assert "model.py:3" in message
