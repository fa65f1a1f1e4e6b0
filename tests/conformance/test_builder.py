"""`Builder.emit` types, folds, numbers and appends; walks replay, inline and extract graphs."""

from __future__ import annotations

import numpy as np
import pytest

from jitwise.ir.builder import Builder, primitive_named
from jitwise.ir.dims import Dim
from jitwise.ir.evaluate import evaluate
from jitwise.ir.fingerprint import fingerprint
from jitwise.ir.parser import parse
from jitwise.ir.printer import print_graph
from jitwise.ir.types import ArrayType, is_static, scalar_type
from jitwise.ir.walk import emit_again, extract, inline, last_uses, live_ops, map_graph, users

F64 = np.dtype(np.float64)
F32 = np.dtype(np.float32)
I64 = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)
ADD, MULTIPLY, SUBTRACT, NEGATE, SINE, DIVIDE, GREATER, CHECK, TRANSPOSE, RESHAPE = map(
    primitive_named,
    ["add", "multiply", "subtract", "negate", "sine", "divide", "greater", "check"]
    + ["transpose", "reshape"],
)


@pytest.fixture
def builder() -> Builder:
    return Builder("f")


def vector(builder: Builder, dtype: np.dtype = F64):
    return builder.input(ArrayType(dtype, (Dim.symbol("n"),)))


def test_equal_operations_are_the_same_value(builder):
    x = vector(builder)
    assert builder.emit(SINE, (x,)) is builder.emit(SINE, (x,))
    assert builder.emit(SINE, (x,)) is not builder.emit(NEGATE, (x,))
    assert len(builder.ops) == 2


def test_operations_with_other_attributes_are_other_values(builder):
    x = builder.input(ArrayType(F64, (2, 3)))
    first = builder.emit(TRANSPOSE, (x,), {"permutation": (1, 0)})
    assert builder.emit(TRANSPOSE, (x,), {"permutation": (1, 0)}) is first
    assert builder.emit(RESHAPE, (x,), {"sizes": (3, 2)}) is not first


def test_equal_constants_are_the_same_value_but_zeros_and_dtypes_differ(builder):
    assert builder.constant(1.5, F64) is builder.constant(1.5, F64)
    assert builder.constant(0.0, F64) is not builder.constant(-0.0, F64)
    assert builder.constant(1, F64) is not builder.constant(1, I64)
    assert builder.constant(np.nan, F64) is builder.constant(np.nan, F64)


def test_a_python_int_that_does_not_fit_is_an_overflow_error(builder):
    with pytest.raises(OverflowError):
        builder.constant(300, np.dtype(np.uint8))


def test_a_constant_of_another_dtype_is_converted(builder):
    value = builder.constant(np.float32(0.5), F64)
    assert value.type == scalar_type(F64)
    assert value.constant.dtype == F64


def test_constants_stand_on_the_right_of_operations_that_commute(builder):
    x, two = vector(builder), builder.constant(2.0, F64)
    assert builder.emit(ADD, (two, x)).op.operands == (x, two)
    assert builder.emit(SUBTRACT, (two, x)).op.operands == (two, x)


def test_ill_typed_operands_are_refused_in_words(builder):
    x, y = vector(builder), vector(builder, F32)
    with pytest.raises(TypeError, match=r"f64\[n\] and f32\[n\]"):
        builder.emit(ADD, (x, y))
    with pytest.raises(TypeError, match="one shape"):
        builder.emit(ADD, (x, builder.input(ArrayType(F64, (3,)))))
    with pytest.raises(TypeError, match="not defined for bool"):
        builder.emit(SUBTRACT, (vector(builder, BOOL),) * 2)
    assert builder.ops == []


def test_constants_fold_without_raising_a_floating_point_flag(builder):
    two, zero = builder.constant(2.0, F64), builder.constant(0.0, F64)
    assert builder.emit(MULTIPLY, (two, two)).constant == 4.0
    assert builder.emit(DIVIDE, (two, zero)).constant is None
    huge = builder.constant(1e300, F64)
    assert builder.emit(MULTIPLY, (huge, huge)).constant is None


def test_functions_that_round_otherwise_when_compiled_do_not_fold(builder):
    assert builder.emit(SINE, (builder.constant(1.0, F64),)).constant is None


def test_effects_are_neither_folded_nor_numbered(builder):
    condition = builder.emit(GREATER, (builder.input(scalar_type(F64)), builder.constant(0.0, F64)))
    builder.emit(CHECK, (condition,), {"reason": "once"})
    builder.emit(CHECK, (condition,), {"reason": "once"})
    assert [op.primitive for op in builder.ops].count(CHECK) == 2


def test_without_folding_the_graph_is_as_written():
    builder = Builder("f", fold=False)
    x = vector(builder)
    twice = builder.emit(NEGATE, (builder.emit(NEGATE, (x,)),))
    assert twice is not x
    assert len(builder.ops) == 2


def test_rules_are_counted_by_name(builder):
    x = vector(builder)
    builder.emit(NEGATE, (builder.emit(NEGATE, (x,)),))
    assert builder.rules == {"neg-neg": 1}
    assert builder.emitted == 2


def test_rules_of_real_numbers_need_fastmath():
    for fastmath in (False, True):
        builder = Builder("f", fastmath=fastmath)
        x = vector(builder)
        kept = builder.emit(ADD, (x, builder.constant(0.0, F64))) is not x
        assert kept != fastmath


def test_an_operation_carries_the_line_it_was_told_or_the_one_located():
    builder = Builder("f", locate=lambda: ("model.py", 7))
    x = vector(builder)
    assert builder.emit(SINE, (x,)).op.source == ("model.py", 7)
    assert builder.emit(NEGATE, (x,), source=("other.py", 1)).op.source == ("other.py", 1)


def test_a_symbol_has_one_origin(builder):
    builder.symbol("n", ("size", 0, 0))
    builder.symbol("n", ("size", 0, 0))
    with pytest.raises(ValueError, match="two origins"):
        builder.symbol("n", ("size", 1, 0))


def test_a_guard_on_a_number_is_decided_at_once(builder):
    builder.guard("eq", 0)
    builder.guard("ge", Dim.symbol("n") - Dim.symbol("n"))
    assert not builder.guards
    with pytest.raises(ValueError, match="never holds"):
        builder.guard("ne", 0)


def test_equal_guards_are_kept_once(builder):
    for _ in range(3):
        builder.guard("ge", Dim.symbol("n") - 1)
    assert len(builder.guards) == 1


def test_an_unknown_primitive_is_answered_with_the_nearest_ones():
    with pytest.raises(KeyError, match="sine"):
        primitive_named("sinee")


# Walking


@pytest.fixture
def chain():
    return parse("""
        graph f(%0: f64[n], %1: f64[n]) where n = size(0, 0) assuming n - 1 >= 0 {
          %2: f64[n] = add(%0, %1)  # model.py:1
          %3: f64[n] = sine(%2)
          %4: f64[n] = negate(%0)
          %5: f64[n] = multiply(%3, %2)
          return %5, %0
        }""")


def test_users_and_last_uses(chain):
    add, sine, negate, multiply = chain.ops
    found = users(chain)
    assert found[add.results[0]] == [sine, multiply]
    assert found[negate.results[0]] == []
    last = last_uses(chain)
    assert last[add.results[0]] == 3
    assert last[chain.inputs[0]] == len(chain.ops)
    assert negate.results[0] not in last


def test_live_operations_are_those_an_output_needs(chain):
    assert [op.primitive.name for op in live_ops(chain)] == ["add", "sine", "multiply"]


def test_a_replayed_graph_prints_the_same(chain):
    assert print_graph(map_graph(chain, fold=False)) == print_graph(chain)


def test_a_visit_can_put_something_else_in_place(chain):
    def visit(builder, op, operands):
        if op.primitive is SINE:
            return builder.emit(NEGATE, operands, source=op.source)
        return emit_again(builder, op, operands)

    names = [op.primitive.name for op in map_graph(chain, visit).ops]
    assert names == ["add", "negate", "negate", "multiply"]


def test_an_inlined_graph_computes_the_same(chain):
    outer = Builder("outer")
    outer.symbol("n", ("size", 0, 0))
    x = vector(outer)
    graph = outer.finish(inline(outer, chain, (x, outer.emit(NEGATE, (x,)))))
    array = np.linspace(-1, 1, 5)
    for found, wanted in zip(
        evaluate(graph, [array]), evaluate(chain, [array, -array]), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


def test_extracted_operations_name_their_free_values_in_order_of_use(chain):
    inner, free = extract("part", chain.ops[1:2] + chain.ops[3:], chain.outputs[:1])
    assert free == (chain.ops[0].results[0],)
    assert [op.primitive.name for op in inner.ops] == ["sine", "multiply"]


# Identity


def test_fingerprints_ignore_source_lines_and_nothing_else(chain):
    text = print_graph(chain)
    assert fingerprint(parse(text.replace("model.py:1", "model.py:2"))) == fingerprint(chain)
    assert fingerprint(parse(text.replace("sine", "cosine"))) != fingerprint(chain)
    assert fingerprint(parse(text.replace("n - 1 >= 0", "n - 2 >= 0"))) != fingerprint(chain)
    assert fingerprint(parse(text.replace("f64", "f32"))) != fingerprint(chain)


def test_types_are_equal_by_value_and_print_as_ir_text():
    assert ArrayType(F64, (3,)) == ArrayType(np.dtype("f8"), (3,))
    assert str(ArrayType(F64, (Dim.symbol("n"), 3))) == "f64[n, 3]"
    assert str(scalar_type(BOOL)) == "bool[]"
    assert is_static((3, 1))
    assert not is_static((3, Dim.symbol("n")))
