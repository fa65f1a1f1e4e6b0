"""Every rewrite rule keeps what it promises, on the edge grid; and every rule can fire.

A rule of patterns is made into graphs: each hole is an input, of every dtype that the rule is for.
A rule that is a function brings its graphs. The graph is evaluated as written and as the builder
makes it: equal bit for bit ("bits"), up to the sign of zero ("value"), near for moderate numbers
("real"). The last two only fire with fast-math.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from edge_values import DTYPES, describe, grid, same_bits

import jitwise.ops
from jitwise.ir.builder import Builder, copy_declarations
from jitwise.ir.dims import Dim
from jitwise.ir.evaluate import evaluate
from jitwise.ir.graph import Graph, Value
from jitwise.ir.parser import parse
from jitwise.ir.primitive import REGISTRY, attach_fold
from jitwise.ir.types import ArrayType
from jitwise.ir.verify import verify
from jitwise.ir.walk import replay
from jitwise.rewrite.pattern import Hole, Literal, Node
from jitwise.rewrite.rule import RULES, FoldRule, Rule, compile_rules

assert jitwise.ops.__all__
pytestmark = pytest.mark.no_round_trip
LENGTH = 7
ALL = [(primitive, each) for primitive, rules in RULES.items() for each in rules]


def rule_name(case: tuple[str, Rule | FoldRule]) -> str:
    return f"{case[0]}:{case[1].name}"


class Unfit(Exception):
    """The pattern cannot be built of these dtypes."""


def pattern_holes(pattern) -> list[str]:
    """Names of the holes, each once, in order."""
    if isinstance(pattern, Hole):
        return [pattern.name]
    if isinstance(pattern, Literal):
        return []
    names = [name for each in pattern.operands for name in pattern_holes(each)]
    return list(dict.fromkeys(names))


def emit_pattern(builder: Builder, pattern, holes: dict[str, Value], near: np.dtype) -> Value:
    """The values that a pattern stands for; literals take the dtype of the operand beside them."""
    if isinstance(pattern, Hole):
        return holes[pattern.name]
    if isinstance(pattern, Literal):
        value = pattern.value
        if value == "all ones":
            value = np.array(-1).astype(near)[()]
        elif type(value) is bool and near.kind != "b":
            raise Unfit
        try:
            return builder.constant(value, near)
        except OverflowError:
            raise Unfit from None
    operands = []
    beside = [each for each in pattern.operands if not isinstance(each, Literal)]
    for each in beside[-1:]:
        near = emit_pattern(builder, each, holes, near).type.dtype
    for place, each in enumerate(pattern.operands):
        dtype = np.dtype(bool) if pattern.primitive == "select" and place == 0 else near
        if pattern.primitive == "select" and place and isinstance(each, Literal):
            dtype = np.dtype(type(each.value))
        operands.append(emit_pattern(builder, each, holes, dtype))
    try:
        return builder.emit(REGISTRY[pattern.primitive], tuple(operands))
    except TypeError:
        raise Unfit from None


def pattern_graph(each: Rule, dtypes: tuple[np.dtype, ...], ranks: tuple[int, ...]) -> Graph:
    """The left side as written."""
    builder = Builder(each.name, fold=False)
    size = builder.symbol("n", ("size", 0, 0)) if ranks[:1] == (1,) else LENGTH
    holes = {
        name: builder.input(ArrayType(dtype, (size,) if rank else ()))
        for name, dtype, rank in zip(pattern_holes(each.lhs), dtypes, ranks, strict=True)
    }
    result = emit_pattern(builder, each.lhs, holes, np.dtype(bool))
    root = result.op
    assert root is not None
    if root.operands[0].type.dtype.kind not in each.kinds:
        raise Unfit
    return builder.finish((result,))


def rebuilt(graph: Graph, fastmath: bool) -> tuple[Graph, dict[str, int]]:
    """The graph replayed through a builder with rules, and which were applied."""
    builder = Builder(graph.name, fastmath=fastmath)
    mapping = dict(copy_declarations(builder, graph))
    replay(builder, graph.ops, mapping)
    return builder.finish(tuple([mapping[each] for each in graph.outputs])), builder.rules


def graphs_of(each: Rule | FoldRule) -> list[tuple[Graph, list[np.ndarray]]]:
    """Graphs in which the rule should apply, with arguments."""
    if isinstance(each, FoldRule):
        return [(graph, arguments_of(graph)) for graph in map(parse, each.examples)]
    found = []
    names = pattern_holes(each.lhs)
    for dtypes in itertools.product(DTYPES, repeat=len(names)):
        for ranks in ((1,) * len(names), *([(1,) * (len(names) - 1) + (0,)] * (len(names) > 1))):
            try:
                graph = pattern_graph(each, dtypes, ranks)
            except Unfit:
                continue
            arrays = grid(dtypes)
            found += [
                (graph, [array if rank else array[place] for array, rank in zip(arrays, ranks)])
                for place in ((3, 8, -1) if 0 in ranks else (0,))
            ]
    return found


def arguments_of(graph: Graph) -> list[np.ndarray]:
    """Edge values in the shapes of the inputs."""
    flat = grid([value.type.dtype for value in graph.inputs[:2]])
    flat += [np.zeros(1, value.type.dtype) for value in graph.inputs[2:]]
    sizes = len(flat[0]) // 3
    arrays = []
    for value, numbers in zip(graph.inputs, flat, strict=True):
        shape = tuple(sizes if isinstance(size, Dim) else size for size in value.type.shape)
        arrays.append(np.resize(numbers, shape))
    return arrays


def moderate(graph: Graph) -> list[np.ndarray]:
    """Numbers about 1 in the shapes of the inputs."""
    numbers = np.linspace(0.5, 1.25, LENGTH)
    return [
        np.resize(
            numbers, tuple(LENGTH if isinstance(size, Dim) else size for size in value.type.shape)
        ).astype(value.type.dtype)
        for value in graph.inputs
    ]


def applied(each: Rule | FoldRule, fastmath: bool) -> list[tuple[Graph, list, Graph]]:
    """Graphs to which the rule was applied: as written, arguments, as rebuilt."""
    found = []
    for graph, arrays in graphs_of(each):
        result, counts = rebuilt(graph, fastmath)
        if each.name in counts:
            verify(result)
            found.append((graph, arrays, result))
    return found


@pytest.mark.parametrize("case", ALL, ids=rule_name)
def test_a_rule_keeps_what_it_promises(case):
    _, each = case
    cases = applied(each, fastmath=each.exact != "bits")
    assert cases, f"{each.name} never fires"
    if each.exact == "real":
        for graph, _, result in cases:
            arrays = moderate(graph)
            (wanted,), (found,) = evaluate(graph, arrays), evaluate(result, arrays)
            tolerance = 8 * np.finfo(wanted.dtype).eps
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
        return
    for graph, arrays, result in cases:
        assert [out.type for out in result.outputs] == [out.type for out in graph.outputs]
        with np.errstate(all="ignore"):
            (wanted,), (found,) = evaluate(graph, arrays), evaluate(result, arrays)
        good = same_bits(found, wanted, zeros_alike=each.exact == "value")
        shown = arrays if all(np.shape(array) == np.shape(wanted) for array in arrays) else []
        assert good.all(), f"{graph}\n{result}\n" + describe(
            shown, np.asarray(found), np.asarray(wanted), good
        )


@pytest.mark.parametrize("case", ALL, ids=rule_name)
def test_a_rule_that_is_not_exact_to_the_bit_needs_fast_math(case):
    _, each = case
    if each.exact != "bits":
        assert not applied(each, fastmath=False)


def test_rule_names_are_unique_but_for_functions_of_several_primitives():
    names: dict[str, object] = {}
    for _, each in ALL:
        known = names.setdefault(each.name, each)
        same = isinstance(each, FoldRule) and isinstance(known, FoldRule)
        assert known is each or (same and known.function is each.function), each.name


def test_the_generated_test_catches_a_rule_that_changes_the_sign_of_zero():
    """Adding zero declared exact to the bit is the usual mistake of compilers."""
    x = Hole("x")
    wrong = Rule("wrong", x + 0.0, x, "f", "bits")
    add = REGISTRY["add"]
    kept = add.fold
    try:
        attach_fold(add, compile_rules(add, [wrong]))
        with pytest.raises(AssertionError, match=r"-0\.0"):
            test_a_rule_keeps_what_it_promises(("add", wrong))
    finally:
        attach_fold(add, kept)


def test_a_rule_that_never_fires_fails():
    x = Hole("x")
    never = Rule("never", Node("sqrt", (Literal(1.0),)), x, "f", "bits")
    with pytest.raises(AssertionError, match="never fires"):
        test_a_rule_keeps_what_it_promises(("sqrt", never))
