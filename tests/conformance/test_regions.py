"""A loop whose steps are small is one native function with the meaning of its graph."""

from __future__ import annotations

import signal
import threading
import time
from collections import OrderedDict

import numpy as np
import pytest

from jitwise.ir.evaluate import evaluate
from jitwise.ir.parser import parse
from jitwise.ir.verify import verify
from jitwise.llvm import compile as llvm
from jitwise.runtime import _native as native
from jitwise.runtime import regions
from jitwise.runtime.executable import compile_graph

COLLATZ = """
    graph go(%0: i64[], %1: i64[]) {
      %2: i64[] = constant{value=i64(1)}()
      %3: bool[] = greater(%0, %2)
      return %3
    }
    graph even(%0: i64[]) {
      %1: i64[] = constant{value=i64(2)}()
      %2: i64[] = floor_divide(%0, %1)
      return %2
    }
    graph odd(%0: i64[]) {
      %1: i64[] = constant{value=i64(3)}()
      %2: i64[] = multiply(%0, %1)
      %3: i64[] = constant{value=i64(1)}()
      %4: i64[] = add(%2, %3)
      return %4
    }
    graph step(%0: i64[], %1: i64[]) {
      %2: i64[] = constant{value=i64(2)}()
      %3: i64[] = remainder(%0, %2)
      %4: i64[] = case{branches=(@even, @odd)}(%3, %0)
      %5: i64[] = constant{value=i64(1)}()
      %6: i64[] = add(%1, %5)
      return %4, %6
    }
    graph f(%0: i64[]) {
      %1: i64[] = constant{value=i64(0)}()
      %2: i64[], %3: i64[] = while{cond=@go, body=@step}(%0, %1)
      return %3
    }"""

GO = """
    graph go(%0: i64[], %1: DTYPE[n], %2: DTYPE[n]) {
      %3: i64[] = dimension{size=n}()
      %4: bool[] = less(%0, %3)
      return %4
    }"""
REVERSED_SUM = (
    GO
    + """
    graph step(%0: i64[], %1: DTYPE[n], %2: DTYPE[n]) where i = value(0) {
      %3: DTYPE[] = gather{axes=(0,)}(%2, %0)
      %4: DTYPE[1] = slice{starts=(n - i - 1,), strides=(1,), sizes=(1,)}(%1)
      %5: DTYPE[] = reshape{sizes=()}(%4)
      %6: DTYPE[] = add(%3, %5)
      %7: DTYPE[1] = reshape{sizes=(1,)}(%6)
      %8: DTYPE[n] = update_slice{starts=(i,), strides=(1,)}(%1, %7)
      %9: i64[] = dimension{size=i + 1}()
      return %9, %8
    }
    graph f(%0: DTYPE[n]) where n = size(0, 0) {
      %1: i64[] = constant{value=i64(0)}()
      %2: i64[], %3: DTYPE[n] = while{cond=@go, body=@step}(%1, %0, %0)
      return %2, %3
    }"""
)

# Rows below row k lose their first elements: elimination without pivots.
ELIMINATION = """
    graph go(%0: i64[], %1: f64[n, n]) {
      %2: i64[] = dimension{size=n}()
      %3: bool[] = less(%0, %2)
      return %3
    }
    graph rows(%0: i64[], %1: f64[n, n], %2: i64[]) {
      %3: i64[] = dimension{size=n}()
      %4: bool[] = less(%0, %3)
      return %4
    }
    graph columns(%0: i64[], %1: f64[n, n], %2: i64[], %3: i64[], %4: f64[]) {
      %5: i64[] = dimension{size=n}()
      %6: bool[] = less(%0, %5)
      return %6
    }
    graph column(%0: i64[], %1: f64[n, n], %2: i64[], %3: i64[], %4: f64[]) where j = value(0) {
      %5: f64[] = gather{axes=(0, 1)}(%1, %2, %0)
      %6: f64[] = gather{axes=(0, 1)}(%1, %3, %0)
      %7: f64[] = multiply(%4, %5)
      %8: f64[] = subtract(%6, %7)
      %9: f64[n, n] = scatter{axes=(0, 1)}(%1, %8, %3, %0)
      %10: i64[] = dimension{size=j + 1}()
      return %10, %9
    }
    graph row(%0: i64[], %1: f64[n, n], %2: i64[]) where i = value(0), k = value(2) {
      %3: f64[] = gather{axes=(0, 1)}(%1, %0, %2)
      %4: f64[] = gather{axes=(0, 1)}(%1, %2, %2)
      %5: f64[] = divide(%3, %4)
      %6: i64[], %7: f64[n, n] = while{cond=@columns, body=@column}(%2, %1, %2, %0, %5)
      %8: i64[] = dimension{size=i + 1}()
      return %8, %7
    }
    graph step(%0: i64[], %1: f64[n, n]) where p = value(0) {
      %2: i64[] = dimension{size=p + 1}()
      %3: i64[], %4: f64[n, n] = while{cond=@rows, body=@row}(%2, %1, %0)
      return %2, %4
    }
    graph f(%0: f64[n, n]) where n = size(0, 0) {
      %1: i64[] = constant{value=i64(0)}()
      %2: i64[], %3: f64[n, n] = while{cond=@go, body=@step}(%1, %0)
      return %3
    }"""


def words(executable):
    return [instruction[0] for instruction in executable.text.instructions]


def same(text, *arrays, native_loops=1):
    """The results, which are those of `evaluate`."""
    graph = parse(text)
    verify(graph)
    executable = compile_graph(graph)
    assert words(executable).count("region") == native_loops
    with np.errstate(all="ignore"):
        expected = evaluate(graph, [np.copy(array) for array in arrays])
    for found, wanted in zip(executable.run(arrays), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype
    return executable


@pytest.mark.parametrize("start", [-3, 1, 2, 27, 97, 871])
def test_a_loop_of_single_values(start):
    assert "jump" not in words(same(COLLATZ, np.int64(start)))


DTYPES = ["bool", "i8", "u8", "i32", "u64", "i64", "f16", "f32", "f64", "c64", "c128"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", [0, 1, 2, 9])
def test_elements_are_read_and_written_in_place(dtype, length):
    kind = {"b": "bool", "c": f"complex{dtype[1:]}"}.get(dtype[0]) or (
        {"i": "int", "u": "uint", "f": "float"}[dtype[0]] + dtype[1:]
    )
    x = (np.arange(2 * length) * 37 % 101 - 3).astype(kind)
    text = REVERSED_SUM.replace("DTYPE", dtype)
    before = x.copy()
    for array in (x[:length], x[::2], x[::-2]):
        same(text, array)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("length", [0, 1, 2, 7])
def test_loops_in_loops_are_one_function(length):
    x = np.random.default_rng(0).random((length, length)) + np.eye(length)
    same(ELIMINATION, x)
    same(ELIMINATION, x.T)
    same(ELIMINATION, np.asfortranarray(x)[::-1])


def test_equal_regions_are_compiled_once():
    text = COLLATZ.replace("value=i64(3)", "value=i64(5)")
    compile_graph(parse(text))
    built = regions.counters.built
    compile_graph(parse(text))
    assert regions.counters.built == built


def body(lines, result):
    """A loop over i < n that carries an array `%1` beside an unchanged `%2`."""
    step = "\ngraph step(%0: i64[], %1: f64[n], %2: f64[n]) where i = value(0) {\n"
    return (
        GO.replace("DTYPE", "f64")
        + f"{step}{lines}\n %99: i64[] = dimension{{size=i + 1}}()\n return %99, {result}\n}}"
        + "\n"
        + REVERSED_SUM[REVERSED_SUM.index("graph f") :].replace("DTYPE", "f64")
    )


READ_AFTER = """
  %3: f64[] = gather{axes=(0,)}(%2, %0)
  %4: f64[n] = scatter{axes=(0,)}(%1, %3, %0)
  %5: f64[] = gather{axes=(0,)}(%1, %0)
  %6: f64[] = add(%5, %3)
  %7: f64[n] = scatter{axes=(0,)}(%4, %6, %0)"""
VIEW_AFTER = """
  %3: f64[n] = reverse{dimensions=(0,)}(%1)
  %4: f64[] = gather{axes=(0,)}(%2, %0)
  %5: f64[n] = scatter{axes=(0,)}(%1, %4, %0)
  %6: f64[] = gather{axes=(0,)}(%3, %0)
  %7: f64[n] = scatter{axes=(0,)}(%5, %6, %0)"""
OF_ITSELF = """
  %3: f64[n - 1] = slice{starts=(0,), strides=(1,), sizes=(n - 1,)}(%1)
  %4: f64[n] = update_slice{starts=(1,), strides=(1,)}(%1, %3)"""
SAME_ARRAY = """
  %3: f64[] = gather{axes=(0,)}(%2, %0)
  %4: f64[n] = scatter{axes=(0,)}(%2, %3, %0)"""


@pytest.mark.parametrize(
    "lines, result",
    [(READ_AFTER, "%7"), (SAME_ARRAY, "%4")],
)
def test_what_needs_an_array_as_it_was_is_no_region(lines, result):
    same(body(lines, result), np.arange(6.0) ** 2, native_loops=0)


@pytest.mark.parametrize("lines, result", [(VIEW_AFTER, "%7"), (OF_ITSELF, "%4")])
def test_a_part_that_is_needed_as_it_was_is_copied(lines, result):
    same(body(lines, result), np.arange(6.0) ** 2)


def test_arrays_that_change_places_are_no_region():
    text = """
    graph go(%0: i64[], %1: f64[n], %2: f64[n]) {
      %3: i64[] = constant{value=i64(3)}()
      %4: bool[] = less(%0, %3)
      return %4
    }
    graph step(%0: i64[], %1: f64[n], %2: f64[n]) where i = value(0) {
      %3: i64[] = dimension{size=i + 1}()
      return %3, %2, %1
    }
    graph f(%0: f64[n], %1: f64[n]) where n = size(0, 0) {
      %2: i64[] = constant{value=i64(0)}()
      %3: i64[], %4: f64[n], %5: f64[n] = while{cond=@go, body=@step}(%2, %0, %1)
      return %4, %5
    }"""
    same(text, np.arange(3.0), np.ones(3), native_loops=0)


def test_parts_of_arrays_are_written_elementwise():
    lines = """
  %3: f64[n - i] = slice{starts=(i,), strides=(1,), sizes=(n - i,)}(%2)
  %4: f64[] = gather{axes=(0,)}(%1, %0)
  %5: f64[n - i] = multiply(%3, %3)
  %6: f64[n - i] = broadcast_in_dim{sizes=(n - i,), dimensions=()}(%4)
  %7: f64[n - i] = add(%5, %6)
  %8: f64[n] = update_slice{starts=(i,), strides=(1,)}(%1, %7)"""
    for length in (0, 1, 5, 40):
        same(body(lines, "%8"), np.linspace(0, 1, length))


def test_what_leaves_an_array_or_overflows_runs_as_python():
    outside = """
  %3: f64[2] = slice{starts=(i,), strides=(1,), sizes=(2,)}(%2)
  %4: f64[n] = update_slice{starts=(i,), strides=(1,)}(%1, %3)"""
    far = """
  %3: i64[] = dimension{size=9000000000000000000*i}()
  %4: f64[] = convert{dtype=f64}(%3)
  %5: f64[n] = scatter{axes=(0,)}(%1, %4, %0)"""
    beyond = """
  %3: i64[] = dimension{size=i + 3}()
  %4: f64[] = gather{axes=(0,)}(%2, %3)
  %5: f64[n] = scatter{axes=(0,)}(%1, %4, %0)"""
    for lines, result in ((outside, "%4"), (far, "%5"), (beyond, "%5")):
        executable = compile_graph(parse(body(lines, result)))
        assert words(executable).count("region") == 1
        with pytest.raises(native.Deoptimize, match="a check failed"):
            executable.run([np.ones(4)])
        assert len(executable.run([np.ones(0)])) == 2


FOREVER = """
    graph go(%0: i64[]) {
      %1: i64[] = constant{value=i64(0)}()
      %2: bool[] = greater_equal(%0, %1)
      return %2
    }
    graph step(%0: i64[]) {
      %1: i64[] = constant{value=i64(1)}()
      %2: i64[] = xor(%0, %1)
      return %2
    }
    graph f(%0: i64[]) {
      %1: i64[] = while{cond=@go, body=@step}(%0)
      return %1
    }"""


def test_an_endless_region_is_interrupted():
    executable = compile_graph(parse(FOREVER))
    assert "region" in words(executable)
    main = threading.main_thread().ident
    sent = []

    def send():
        sent.append(time.perf_counter())
        signal.pthread_kill(main, signal.SIGINT)

    timer = threading.Timer(0.1, send)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        executable.run([np.int64(4)])
    assert time.perf_counter() - sent[0] < 0.2
    timer.join()
    assert executable.run([np.int64(-1)]) == [-1]


CHOOSING = """
  %3: f64[] = gather{axes=(0,)}(%1, %0)
  %4: f64[] = gather{axes=(0,)}(%2, %0)
  %5: bool[] = ORDER(%3, %4)
  %6: f64[] = select(%5, CHOSEN)
  %7: f64[n] = scatter{axes=(0,)}(%1, %6, %0)"""


@pytest.mark.parametrize("order", ["less", "less_equal", "greater", "greater_equal"])
@pytest.mark.parametrize("chosen", ["%3, %4", "%4, %3"])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("without", [(), ("has_avx512",), ("has_avx512", "has_avx")])
def test_what_is_chosen_by_its_order_has_the_bits_of_one_of_the_two(
    order, chosen, dtype, without, monkeypatch
):
    """Zeros of two signs, and nan on either side, of which no flag is raised, on any processor."""
    monkeypatch.setattr(regions, "_table", OrderedDict())
    for name in without:
        monkeypatch.setattr(llvm, name, lambda: False)
    ones = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, -np.nan, 5e-324, 3.4e38]
    pairs = np.array([(a, b) for a in ones for b in ones]).astype(dtype.replace("f", "float"))
    left, right = pairs[:, 0].copy(), pairs[:, 1].copy()
    text = body(CHOOSING.replace("ORDER", order).replace("CHOSEN", chosen), "%7")
    text = text.replace("f64", dtype)
    text = text.replace(f"graph f(%0: {dtype}[n])", f"graph f(%0: {dtype}[n], %5: {dtype}[n])")
    executable = compile_graph(parse(text.replace("(%1, %0, %0)", "(%1, %0, %5)")))
    assert words(executable).count("region") == 1
    (_, found), flags = executable.program.run_and_tell([left, right])
    holds = getattr(np, order)(left, right)
    wanted = np.where(holds, left, right) if chosen == "%3, %4" else np.where(holds, right, left)
    kind = f"i{left.itemsize}"
    np.testing.assert_array_equal(found.view(kind), wanted.view(kind))
    assert flags == 0


ONE_TURN = """
    graph plus(%0: i64[]) where p = value(0) {
      %1: i64[] = dimension{size=SIZE}()
      return %1
    }
    graph half(%0: i64[]) where p = value(0) {
      %1: i64[] = dimension{size=(p // 2)}()
      return %1
    }
    graph go(%0: i64[], %1: i64[], %2: bool[]) where i = value(0) {
      %3: i64[] = dimension{size=i}()
      %4: i64[] = constant{value=i64(1)}()
      %5: bool[] = not_equal(%3, %4)
      return %5
    }
    graph turn(%0: i64[], %1: i64[], %2: bool[]) where i = value(0) {
      %3: i64[] = case{branches=(@half, @plus)}(%2, %1)
      %4: i64[] = dimension{size=i + 1}()
      return %4, %3
    }
    graph f(%0: i64[], %1: bool[]) {
      %2: i64[] = constant{value=i64(0)}()
      %3: i64[], %4: i64[] = while{cond=@go, body=@turn}(%2, %0, %1)
      return %4
    }"""


@pytest.mark.parametrize("scale", [1, 2, 3, -1, -2, -7, 1 << 40])
@pytest.mark.parametrize("constant", [0, 1, -5, 1 << 62, -(1 << 62)])
def test_a_size_that_is_computed_for_a_branch_overflows_where_it_is_taken(scale, constant):
    """Just inside of what 64 bits hold, and just outside, on either side."""
    executable = compile_graph(
        parse(ONE_TURN.replace("SIZE", f"{scale}*p + {constant}".replace("+ -", "- ")))
    )
    limits = [-(2**63), 2**63 - 1]
    numbers = {end + step for end in limits for step in (-1, 0, 1)}
    numbers |= {(end - constant) // scale + step for end in limits for step in (-1, 0, 1, 2)}
    inside = [number for number in numbers if limits[0] <= number <= limits[1]]
    seen = set()
    for number in sorted(inside):
        assert executable.run([np.int64(number), np.bool_(False)]) == [number // 2]
        expected = scale * number + constant
        fits = limits[0] <= expected <= limits[1]
        seen.add(fits)
        if fits:
            assert executable.run([np.int64(number), np.bool_(True)]) == [expected]
        else:
            with pytest.raises(native.Deoptimize):
                executable.run([np.int64(number), np.bool_(True)])
    assert True in seen and (False in seen or (scale, constant) == (1, 0))


def test_a_number_that_each_turn_steps_may_begin_anywhere():
    """It is looked at before the first turn, and between turns."""
    text = ONE_TURN.replace("case{branches=(@half, @plus)}(%2, %1)", "add(%1, %1)")
    text = text.replace("{value=i64(1)}", "{value=i64(-9223372036854775807)}")
    executable = compile_graph(
        parse(text.replace("{value=i64(0)}", "{value=i64(-9223372036854775808)}"))
    )
    with pytest.raises(native.Deoptimize):
        executable.run([np.int64(4), np.bool_(True)])
