"""Print then parse is the identity; text that is no graph is refused with its line."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitwise.ir.builder import Builder, primitive_named
from jitwise.ir.dims import Dim, parse_size
from jitwise.ir.parser import ParseError, parse
from jitwise.ir.printer import print_graph
from jitwise.ir.types import DTYPES, ArrayType, scalar_type

CHECK = primitive_named("check")
CONSTANT = primitive_named("constant")
SIZES = ["n", "2*n - 1", "(n // 2)", "min(n, m)", "max(m, 0)*n + m", "((n + 1) % 3)"]

sizes = st.integers(0, 10) | st.sampled_from(SIZES).map(parse_size)
types = st.builds(
    ArrayType,
    st.sampled_from(list(DTYPES.values())),
    st.lists(sizes, max_size=3).map(tuple),
)


def scalars(dtype: np.dtype) -> st.SearchStrategy:
    return st.binary(min_size=dtype.itemsize, max_size=dtype.itemsize).map(
        lambda raw: np.frombuffer(raw, dtype)[0]
    )


any_scalar = st.sampled_from([d for d in DTYPES.values() if d.kind != "b"]).flatmap(
    scalars
) | st.booleans().map(np.bool_)
attributes = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text(max_size=12)
    | st.sampled_from(list(DTYPES.values()))
    | sizes
    | types
    | any_scalar,
    lambda children: st.lists(children, max_size=3).map(tuple),
    max_leaves=6,
)


def same(first, second) -> bool:
    """Equal, of one type, and the same bits."""
    if isinstance(first, tuple):
        return (
            type(first) is type(second)
            and len(first) == len(second)
            and all(same(a, b) for a, b in zip(first, second, strict=True))
        )
    if isinstance(first, np.generic):
        return first.dtype == second.dtype and first.tobytes() == second.tobytes()
    if isinstance(first, float):
        return struct.pack("d", first) == struct.pack("d", second)
    if isinstance(first, complex):
        return same(first.real, second.real) and same(first.imag, second.imag)
    return type(first) is type(second) and first == second


@given(attributes)
def test_an_attribute_reads_back_with_its_type_and_bits(value):
    builder = Builder("f", fold=False)
    builder.symbol("n", ("value", 0))
    builder.symbol("m", ("value", 0))
    builder.input(scalar_type(np.dtype(np.int64)))
    condition = builder.constant(True, np.dtype(np.bool_))
    builder.emit(CHECK, (condition,), {"reason": "text", "detail": value})
    graph = builder.finish(())
    text = print_graph(graph)
    again = parse(text)
    assert same(again.ops[-1].attrs["detail"], value)
    assert print_graph(again) == text


@given(any_scalar)
def test_a_constant_reads_back_bit_for_bit(value):
    builder = Builder("f")
    graph = builder.finish((builder.constant(value, value.dtype),))
    again = parse(print_graph(graph)).outputs[0].constant
    assert again.dtype == value.dtype
    assert again.tobytes() == value.tobytes()


@given(st.lists(types, max_size=4))
def test_types_read_back_as_the_same_types(kinds):
    builder = Builder("f")
    for kind in kinds:
        builder.input(kind)
    graph = builder.finish(tuple(builder.inputs))
    assert [value.type for value in parse(print_graph(graph)).inputs] == kinds


def test_guards_symbols_and_lines_read_back():
    text = """\
graph f(%0: f64[n, m], %1: i64[]) where n = size(0, 0), m = size(0, 1), k = value(1) \
assuming 2*m - 1 >= 0, n != 0, min(m, n) - 3 == 0 {
  %2: f64[n, m] = sine(%0)  # model.py:12
  return %2
}"""
    graph = parse(text)
    assert print_graph(graph) == text
    assert graph.symbols == {"n": ("size", 0, 0), "m": ("size", 0, 1), "k": ("value", 1)}
    assert [guard.relation for guard in graph.guards] == ["ge", "ne", "eq"]
    assert graph.guards[1].dim is Dim.symbol("n")
    assert graph.ops[0].source == ("model.py", 12)


def test_graphs_inside_get_names_of_their_own():
    def body(scale: float):
        inner = Builder("body")
        x = inner.input(ArrayType(np.dtype(float), (3,)))
        factor = inner.constant(scale, np.dtype(float))
        return inner.finish((inner.emit(primitive_named("multiply"), (x, factor)),))

    builder = Builder("f")
    value = builder.input(ArrayType(np.dtype(float), (3,)))
    for scale in (2.0, 3.0):
        (value,) = builder.emit(primitive_named("fusion"), (value,), {"body": body(scale)})
    text = print_graph(builder.finish((value,)))
    assert "@body(" not in text
    assert "{body=@body}" in text
    assert "{body=@body_2}" in text
    assert print_graph(parse(text)) == text


def test_constants_keep_their_order_when_both_operands_are_constants():
    builder = Builder("f", fold=False)
    one, two = (builder.constant(value, np.dtype(float)) for value in (1.0, 2.0))
    graph = builder.finish((builder.emit(primitive_named("add"), (two, one)),))
    assert print_graph(parse(print_graph(graph))) == print_graph(graph)


def test_source_lines_can_be_left_out():
    graph = parse("graph f(%0: f64[]) {\n%1: f64[] = sine(%0)  # a.py:3\nreturn %1\n}")
    assert "a.py" in print_graph(graph)
    assert "a.py" not in print_graph(graph, sources=False)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%1: f64[n] = sine(%9)", "%9"),
        ("%1: f64[n] = sinus(%0)", "no primitive 'sinus' .*near: .*sine"),
        ("%1: f32[n] = sine(%0)", r"sine yields f64\[n\], the text says f32\[n\]"),
        ("%1: f64[n] = add(%0, %0, %0", "expected an op or return"),
        ("%1: f64[n] = transpose{permutation=(1,)}(%0)", "does not permute"),
        ("%1: f99[n] = sine(%0)", "no dtype 'f99'"),
        ("%1: f64[n / 2] = sine(%0)", "not a size"),
        ("%1: f64[n], %2: f64[n] = sine(%0)", "zip"),
        ("%1: f64[] = constant{value=f64(x)}()", "could not convert"),
        ("return %5", "%5"),
    ],
)
@pytest.mark.no_round_trip
def test_text_that_is_no_graph_is_refused_with_its_line(line, message):
    text = f"graph f(%0: f64[n]) where n = size(0, 0) {{\n  {line}\n  return %0\n}}"
    with pytest.raises(ParseError, match=rf"line 2: .*{message}.* in: "):
        parse(text)


@pytest.mark.parametrize("text", ["", "graph f() {", "graph f() {\nreturn"])
def test_text_that_ends_too_early_is_refused(text):
    with pytest.raises(ParseError, match="ends before a graph does"):
        parse(text)


def test_a_graph_with_two_names_for_one_symbol_is_refused():
    with pytest.raises(ParseError, match="two origins"):
        parse("graph f(%0: f64[n]) where n = size(0, 0), n = size(0, 1) {\nreturn\n}")


def test_nan_keeps_its_payload():
    payload = struct.unpack("d", struct.pack("Q", 0x7FF8_0000_0000_1234))[0]
    builder = Builder("f")
    for value in (np.float64(payload), np.complex128(complex(-math.nan, payload))):
        again = parse(print_graph(builder.finish((builder.constant(value, value.dtype),))))
        assert again.outputs[0].constant.tobytes() == value.tobytes()
