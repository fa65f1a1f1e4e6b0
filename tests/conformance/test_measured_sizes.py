"""Sizes that follow from values: functions whose results have them, programs with several, and the
order that they keep among the ops.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from compiled import agree, outcome, raises, same
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_machine import GuardFailed, Machine, lower

from jitwise import JitwiseError, ShapeDtypeStruct, eval_shape, jit
from jitwise.ir.evaluate import evaluate
from jitwise.ir.parser import ParseError, parse
from jitwise.ir.printer import print_graph
from jitwise.ir.verify import VerifyError, verify
from jitwise.ir.walk import live_ops
from jitwise.passes.pipelines import DEFAULT
from jitwise.runtime import _native
from jitwise.runtime.executable import compile_graph

random = np.random.default_rng(0)
# Of an array of ints from 0 to 9, in which 0 and 9 are.
FUNCTIONS = {
    "nonzero": lambda x: np.nonzero(x % 2),
    "nonzero method": lambda x: (x > 4).nonzero(),
    "nonzero of floats": lambda x: np.nonzero(x * 0.5),
    "nonzero of two axes": lambda x: np.nonzero(x[:, None] > x[None, :4]),
    "flatnonzero": lambda x: np.flatnonzero(x > 3),
    "flatnonzero of two axes": lambda x: np.flatnonzero(np.stack([x, x]) > 3),
    "argwhere": lambda x: np.argwhere(x > 3),
    "argwhere of two axes": lambda x: np.argwhere(x[:, None] > x[None, :4]),
    "where": lambda x: np.where(x > 3),
    "where, read": lambda x: x[np.where(x > 3)],
    "compress": lambda x: np.compress(x > 3, x),
    "compress along an axis": lambda x: np.compress(x > 3, np.stack([x, x + 1]), axis=1),
    "compress by a short list": lambda x: np.compress([True, False, True], x),
    "compress method": lambda x: np.stack([x, x]).compress([False, True], axis=0),
    "extract": lambda x: np.extract(x > 3, x),
    "unique": lambda x: np.unique(x),
    "unique with everything": lambda x: np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    ),
    "unique inverse of two axes": lambda x: np.unique(np.stack([x, x]), return_inverse=True),
    "unique rows": lambda x: np.unique(np.stack([x, x % 2], axis=1), axis=0, return_counts=True),
    "unique of floats": lambda x: np.unique(np.where(x > 8, np.nan, x), equal_nan=False),
    "unique_values": lambda x: np.unique_values(x),
    "unique_counts": lambda x: np.unique_counts(x),
    "unique_inverse": lambda x: np.unique_inverse(x),
    "unique_all": lambda x: np.unique_all(x),
    "intersect1d": lambda x: np.intersect1d(x, x[::2] + 1),
    "intersect1d with places": lambda x: np.intersect1d(x, x[:4] + 1, return_indices=True),
    "union1d": lambda x: np.union1d(x, x + 3),
    "setdiff1d": lambda x: np.setdiff1d(x, x + 1),
    "setxor1d": lambda x: np.setxor1d(x, x + 5),
    "bincount": lambda x: np.bincount(x),
    "bincount with weights": lambda x: np.bincount(x, x * 0.5, minlength=4),
    "histogram": lambda x: np.histogram(x, 7),
    "histogram of a range": lambda x: np.histogram(x, 5, range=(1, 8), density=True),
    "histogram with edges": lambda x: np.histogram(x, [0.0, 1, 5, 9]),
    "histogram of its own accord": lambda x: np.histogram(x, bins="auto"),
    "repeat by counts": lambda x: np.repeat(x, x),
    "repeat method": lambda x: x.repeat(x % 3) * 2,
    "repeat rows": lambda x: np.repeat(np.stack([x, x], axis=1), x % 3, axis=0),
    "repeat by one count": lambda x: np.repeat(x, x.max() - 7),
    "trim_zeros": lambda x: np.trim_zeros(np.where(x > 7, x, 0)),
    "delete": lambda x: np.delete(x, 2),
    "delete several": lambda x: np.delete(x, np.array([0, 1, 1])),
    "zeros": lambda x: np.zeros(x.sum()),
    "ones of two axes": lambda x: np.ones((x.max(), 2)) * 2,
    "full": lambda x: np.full(x.sum() % 50, 7.0),
    "empty, filled": lambda x: filled(np.empty(x.sum() % 40, int)),
    "arange": lambda x: np.arange(x.sum()),
    "arange from and to": lambda x: np.arange(x.min(), x.sum() + 1),
    "arange in steps": lambda x: np.arange(0, x.sum(), 3),
    "linspace": lambda x: np.linspace(0, 1, x.sum() + 2),
    "a slice up to a place": lambda x: x[: x.argmax()],
    "a slice from a place": lambda x: x[x.argmax() :],
    "the largest of some": lambda x: x[x > 3].max(),
    "how many": lambda x: len(x[x > 3]),
    "as many zeros": lambda x: np.zeros(len(x[x > 3])) + np.arange(x[x > 3].size),
    "two of different counts": lambda x: (x[x > 3] * 2, x[x <= 3] + 1, x[x > 7]),
    "a mean of some": lambda x: x[x % 2 == 0].mean(),
    "some of some": lambda x: x[x > 2][x[x > 2] < 6],
    "tiled": lambda x: np.tile(x[x > 3], 2),
    "counted": lambda x: np.count_nonzero(x[x > 3] % 2),
    "any of none": lambda x: (x > 20).any() | (x[x > 20] > 3).any(),
    "a sum of none": lambda x: x[x > 20].sum(),
}


def filled(array):
    array[...] = 3
    return array


def of_digits(size):
    x = random.integers(0, 10, size)
    x[:3] = 9, 0, 9
    return x


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_trace_and_one_program_serve_50_counts(name):
    calls = [[of_digits(size)] for size in range(5, 55)]
    assert agree(FUNCTIONS[name], *calls, times=1) == (1, 1)


MIXED = {
    "a bool array": lambda x: np.nonzero(x > 0),
    "unique": lambda x: np.unique(x, return_counts=True),
    "unique rows": lambda x: np.unique(x, axis=1),
    "by a scalar": lambda x: np.zeros(np.count_nonzero(x)),
    "a mask of a list": lambda x: x[[True, False, True]],
    "flat": lambda x: np.union1d(x, x[0]),
    "compress": lambda x: np.compress(x[:, 0] > 0, x, axis=0),
}


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "f4", "f8", "c16"])
@pytest.mark.parametrize("name", MIXED)
def test_measured_functions_are_numpys_in_every_dtype(name, dtype):
    calls = [[random.integers(0, 2, (3, 4)).astype(dtype)] for _ in range(4)]
    assert agree(MIXED[name], *calls).compiles == 1


REFUSED = {
    "a negative length": lambda x: np.zeros(x.sum() - 1000),
    "negative counts": lambda x: np.repeat(x, x - 5),
    "a negative number counted": lambda x: np.bincount(x - 5),
    "nonzero of a number": lambda x: np.nonzero(x.sum()),
    "compress by two axes": lambda x: np.compress(np.ones((2, 2)), x),
    "compress by more than there are": lambda x: np.compress(np.ones(100), x),
    "a float length": lambda x: np.zeros(x.sum() * 1.0),
    "an array of lengths": lambda x: np.arange(x),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_numpy_refuses_raises_numpys_exception(name):
    assert raises(REFUSED[name], [of_digits(8)], [of_digits(9)])


def test_an_argument_is_as_it_was_when_a_later_size_does_not_fit():
    def program(x, y):
        x += 1
        x[0] = 100
        return x[x > 3] + y

    first, second = np.array([1, 5, 6]), np.array([1, 2, 6])
    pair = np.array([10, 20, 30])
    assert raises(program, [first, pair[:3]], [second, pair[:2]], [second, pair]) == {ValueError}


def test_shapes_without_values_are_refused_and_values_are_not():
    compiled = jit(lambda x: x[x > 0])
    with pytest.raises(JitwiseError, match="a size, and there are none"):
        compiled.trace(ShapeDtypeStruct((4,), "f8"))
    with pytest.raises(JitwiseError, match="a size, and there are none"):
        eval_shape(lambda x: x[x > 0], {"x": ShapeDtypeStruct((4,), "f8")}["x"])
    stage = compiled.lower(np.array([1.0, -1, 2])).compile()
    np.testing.assert_array_equal(stage(np.array([-1.0, 3, -2])), [3])
    assert eval_shape(lambda x: x[x > 0], np.array([1.0, -1, 2])).shape == (2,)
    assert stage.memory_analysis()["outputs"] == 16


def test_a_size_that_another_call_broke_is_named():
    compiled = jit(lambda x, y: x[x > 0] + y)
    compiled(np.array([1.0, -1, 2]), np.ones(2))
    stage = compiled.lower(np.array([1.0, -1, 2]), np.ones(2)).compile()
    with pytest.raises(JitwiseError, match="a size that depends on values"):
        stage(np.array([1.0, 1, 2]), np.ones(2))


# The text, the verifier, the passes, the machine

TEXT = """graph f(%0: f64[n]) where n = size(0, 0) assuming -m0 + n - 1 >= 0 {
  %1: f64[] = constant{value=f64(0.0)}()
  %2: bool[n] = greater(%0, %1)
  %3: i64[] = count(%2)
  measure{symbols=('m0',)}(%3)
  %4: f64[m0] = compress{axis=0, size=m0}(%0, %2)
  %5: i64[] = dimension{size=2*m0 + 1}()
  %6: f64[] = convert{dtype=f64}(%5)
  %7: f64[m0] = multiply(%4, %6)
  %8: f64[m1], %9: i64[m1] = measured_call{function='numpy.unique', arguments=(('', ('array', \
0)), ('return_counts', ('plain', True))), changed=-1, \
types=(type(f64, (m1,)), type(i64, (m1,))), symbols=('m1',)}(%0)
  %10: f64[m0 + m1] = concatenate{dimension=0}(%7, %8)
  return %10, %9
}"""
EXAMPLE = np.array([3.0, -1, 2, 2, -1])


def by_numpy(x):
    values, counts = np.unique(x, return_counts=True)
    chosen = x[x > 0]
    return [np.concatenate([chosen * (2 * len(chosen) + 1), values]), counts]


def test_the_text_of_measured_sizes_is_read_back():
    graph = parse(TEXT)
    verify(graph)
    assert print_graph(graph) == TEXT
    same(evaluate(graph, [EXAMPLE]), by_numpy(EXAMPLE))


def test_a_size_is_used_only_after_it_is_measured():
    graph = parse(TEXT)
    measuring = next(op for op in graph.ops if op.primitive.name == "measure")
    late = [op for op in graph.ops if op is not measuring]
    broken = type(graph)(
        "f", graph.inputs, (*late, measuring), graph.outputs, graph.symbols, graph.guards
    )
    with pytest.raises(VerifyError, match="uses the symbol m0, which is not declared"):
        verify(broken)
    missing = type(graph)(
        "f", graph.inputs, graph.ops[:3], graph.inputs, graph.symbols, graph.guards
    )
    with pytest.raises(VerifyError, match="the symbol m0 is not declared"):
        verify(missing)


@pytest.mark.no_round_trip  # broken on purpose
def test_a_size_is_measured_once():
    lines = TEXT.splitlines()
    with pytest.raises(VerifyError, match="measure defines the symbol m0, which is there already"):
        verify(parse("\n".join([*lines[:5], lines[4], *lines[5:]])))
    with pytest.raises(VerifyError, match="no result of measured_call has an axis of the length"):
        verify(parse(TEXT.replace("symbols=('m1',)", "symbols=('m1', 'm2')")))
    with pytest.raises(ParseError, match="measure needs one i64"):
        parse(TEXT.replace("(%3)\n", "(%2)\n"))


def test_a_measurement_stays_as_long_as_something_mentions_its_symbol():
    graph = parse(TEXT)
    assert len(live_ops(graph)) == len(graph.ops)
    unused = TEXT.replace("return %10, %9", "return %9").replace(" assuming -m0 + n - 1 >= 0", "")
    assert [op.primitive.name for op in live_ops(parse(unused))] == ["measured_call"]
    guarded = TEXT.replace("return %10, %9", "return %9")
    names = [op.primitive.name for op in live_ops(parse(guarded))]
    assert names == ["constant", "greater", "count", "measure", "measured_call"]
    mentioned = unused.replace("return %9", "return %9, %5")
    assert "measure" in [op.primitive.name for op in live_ops(parse(mentioned))]


ORDERS = {
    "a part of a concatenation": """
      %1: f64[n] = sine(%0)
      %2: bool[n] = greater(%0, %1)
      %3: i64[] = count(%2)
      measure{symbols=('m0',)}(%3)
      %4: f64[m0] = compress{axis=0, size=m0}(%0, %2)
      %5: f64[n + m0] = concatenate{dimension=0}(%1, %4)
      return %5""",
    "a part of zeros": """
      %1: f64[n] = sine(%0)
      %2: f64[n] = cosine(%1)
      %3: bool[n] = greater(%0, %1)
      %4: i64[] = count(%3)
      measure{symbols=('m0',)}(%4)
      %5: f64[] = constant{value=f64(0.0)}()
      %6: f64[n + m0] = broadcast_in_dim{sizes=(n + m0,), dimensions=()}(%5)
      %7: f64[n + m0] = update_slice{starts=(m0,), strides=(1,)}(%6, %2)
      return %7""",
    "a size of a size": """
      %1: f64[] = constant{value=f64(0.0)}()
      %2: bool[n] = greater(%0, %1)
      %3: i64[] = count(%2)
      measure{symbols=('m0',)}(%3)
      %4: i64[m0] = iota{sizes=(m0,), dimension=0, dtype=i64}()
      %5: i64[] = constant{value=i64(1)}()
      %6: bool[m0] = greater(%4, %5)
      %7: i64[] = count(%6)
      measure{symbols=('m1',)}(%7)
      %8: i64[m1] = compress{axis=0, size=m1}(%4, %6)
      %9: i64[m1 + m0] = concatenate{dimension=0}(%8, %4)
      return %9""",
}


@pytest.mark.parametrize("name", ORDERS)
def test_passes_and_lowering_keep_what_needs_a_size_behind_its_measurement(name):
    graph = parse("graph f(%0: f64[n]) where n = size(0, 0) {" + ORDERS[name] + "\n}")
    verify(graph)
    fused = DEFAULT.run(graph)
    verify(fused)
    machine, native = Machine(lower(fused)), compile_graph(graph)
    for size in (1, 4, 9, 40):
        x = random.normal(size=size)
        expected = evaluate(graph, [x])
        for found in (machine.run([x.copy()]), native.run([x.copy()])):
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_kernel_with_a_number_of_the_size_waits_though_another_result_of_it_is_needed_before():
    graph = parse("""graph f(%0: f64[n], %1: bool[k]) where n = size(0, 0), k = size(1, 0) {
      %2: f64[n] = sine(%0)
      %3: f64[n] = cumulative_add{axis=0}(%2)
      %4: i64[] = count(%1)
      measure{symbols=('m0',)}(%4)
      %5: i64[] = dimension{size=m0}()
      %6: f64[] = convert{dtype=f64}(%5)
      %7: f64[n] = multiply(%2, %6)
      return %7, %3
    }""")
    fused = DEFAULT.run(graph)
    verify(fused)
    assert [op.primitive.name for op in fused.ops].count("fusion") == 1
    x, mask = np.linspace(0, 1, 5), np.array([True, False, True])
    for one, other in zip(compile_graph(graph).run([x, mask]), evaluate(graph, [x, mask])):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_a_guard_on_a_measured_size_is_looked_at_when_it_is_there():
    graph = parse(TEXT)
    native, machine = compile_graph(graph), Machine(lower(DEFAULT.run(graph)))
    same(native.run([EXAMPLE]), by_numpy(EXAMPLE))
    same(machine.run([EXAMPLE]), by_numpy(EXAMPLE))
    with pytest.raises(_native.GuardFailure):
        native.run([EXAMPLE * EXAMPLE])
    with pytest.raises(GuardFailed):
        machine.run([EXAMPLE * EXAMPLE])


def test_the_machine_refuses_sizes_that_are_not_there_yet():
    def program(instructions, symbols=(("measured", "m0"),)):
        return _native.Program("f", list(symbols), [], [], [("i64", 0)], 4, instructions, [1])

    measure = ("measure", 0, 0, -1)
    alloc = ("alloc", 1, "f64", [0])
    made = program([measure, alloc])
    assert made.run([np.int64(3)])[0].shape == (3,)
    with pytest.raises(_native.Deoptimize):
        made.run([np.int64(-3)])
    for wrong in ([alloc, measure], [alloc], [measure, measure, alloc], [("measure", 0, 0, 0)]):
        with pytest.raises(ValueError, match=r"measured|axis"):
            program(wrong)
    with pytest.raises(ValueError, match="only a symbol is measured"):
        program([("measure", 0, 0, -1)], symbols=[("value", 0)])


# Programs of any shape

WORDS = """select select binary assign number nonzero centred zeros join unique repeat slice size
columns extend count positions"""
STEPS = st.lists(
    st.tuples(
        st.sampled_from(WORDS.split()),
        st.integers(0, 9),
        st.integers(0, 9),
        st.integers(-2, 8),
    ),
    min_size=2,
    max_size=9,
)


def interpreted(steps):
    """A program over groups of arrays of one length."""

    def program(x, y):
        groups = [[x, y]]
        for word, place, other, number in steps:
            group = groups[place % len(groups)]
            a, b = group[other % len(group)], group[place % len(group)]
            if word == "select":
                groups.append([each[a > number] for each in group])
            elif word == "binary":
                group.append((a * 3 - b) % 13)
            elif word == "assign":
                copy = a.copy()
                copy[b > number] = (a + b)[b > number] % 13
                group.append(copy)
            elif word == "number":
                copy = a + 0
                copy[b > number] += number
                group.append(copy)
            elif word == "nonzero":
                groups.append([np.flatnonzero(a > number)])
            elif word == "centred":
                group.append((a - b.sum()) % 13)
            elif word == "zeros":
                group.append(np.zeros(a.shape[0], int) + np.arange(len(b)))
            elif word == "join":
                last = groups[other % len(groups)]
                groups.append([np.concatenate([a, last[0]])])
            elif word == "unique":
                groups.append(list(np.unique(a, return_counts=True)))
            elif word == "repeat":
                groups.append([np.repeat(a, abs(b) % 3)])
            elif word == "slice":
                groups.append([each[1:] for each in group])
            elif word == "size":
                groups.append([np.zeros(abs(a).sum() % 7, int)])
            elif word == "columns":
                table = np.stack([a, b, a + b], axis=1)
                groups.append([table[a > number].sum(axis=1), table[b > number][:, 0][::-1]][:1])
            elif word == "extend":
                copy = np.zeros(a.shape[0] + 2, int)
                copy[1:-1] = b
                groups.append([copy])
            elif word == "count":
                group.append(a + np.count_nonzero(b > number) + len(b[b > number]))
            elif word == "positions":
                groups.append([a[np.where(b > number)], b[np.where(b > number)[0]]])
        return groups

    return program


@settings(max_examples=150)
@given(STEPS, st.integers(0, 2**31))
def test_random_programs_of_masks_are_numpys(steps, seed):
    generator = np.random.default_rng(seed)
    program = interpreted(steps)
    compiled = jit(program)
    for size in (6, 9, 6, 0, 1, 30):
        args = [generator.integers(-3, 10, size) for _ in range(2)]
        before = [array.copy() for array in args]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, found = outcome(program, before), outcome(compiled, args)
        if isinstance(expected, Exception):
            assert type(found) is type(expected)
        else:
            same(found, expected)
        same(args, before)
