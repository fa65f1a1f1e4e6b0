"""Kernels cut at their calls of the math library: the plan, and values that cross calls."""

from __future__ import annotations

import numpy as np
import pytest

import jitwise
import jitwise.ops
from jitwise.kernel.nest import Compute, Load, Store, value_dtypes
from jitwise.kernel.parser import parse_kernel
from jitwise.kernel.segments import cut

CHAIN = """
kernel map lanes=64 (%0: f32 vector) -> (%1: f32 vector) {
  phase {
    prologue {
      %2 = constant{value=f32(2.0)}()
    }
    %3 = load %0
    %4 = multiply(%3, %2)
    %5 = sine(%3)
    %6 = add(%4, %5)
    %7 = multiply(%6, %2)
    %8 = cosine(%6)
    %9 = add(%7, %8)
    store %1, %9
  }
}
"""


def chain(x):
    y = x * 2 + np.sin(x)
    y = y * 2 + np.sin(y)
    return y / 3 + np.cos(y)


def two_calls_at_once(x):
    return np.sin(x) + np.cos(x) * np.exp(np.sin(x) - np.cos(x))


def a_mask_crosses(x):
    return np.where(x > 0.5, np.sin(np.cos(x)), x)


def integers_cross(x):
    count = np.floor(x * 7).astype(np.int32)
    return np.exp(np.sin(x)) + (count // 3 + count % (count - 2))


def a_constant_is_an_argument(x):
    return np.hypot(np.exp(x), 3.0) + np.arctan2(2.0, x)


def only_a_call(x):
    return np.tanh(x)


def a_call_of_a_call(x):
    return np.log1p(np.exp(x))


def two_outputs(x):
    s = np.sin(x)
    return s, np.exp(s) * x


def many_values_cross(x):
    kept = [x * k + np.sin(x * k) for k in range(1, 9)]
    return np.exp(kept[0] * 0.01) + sum(kept[1:], kept[0])


PROGRAMS = [
    chain, two_calls_at_once, a_mask_crosses, integers_cross, a_constant_is_an_argument,
    only_a_call, a_call_of_a_call, two_outputs, many_values_cross,
]  # fmt: skip


def close(got, want, dtype):
    with np.errstate(all="ignore"):
        for left, right in zip(np.atleast_2d(got), np.atleast_2d(want), strict=True):
            assert left.dtype == right.dtype
            np.testing.assert_allclose(left, right, rtol=64 * np.finfo(dtype).eps, atol=1e-5)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_values_cross_calls_at_every_length(program, dtype):
    compiled = jitwise.jit(program, wait=True)
    memory = np.random.default_rng(0).uniform(0.1, 1, 4000).astype(dtype)
    with np.errstate(all="ignore"):
        for length in (1, 3, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000):
            close(compiled(memory[:length]), program(memory[:length]), dtype)
            strided = memory[1 : 1 + 3 * length : 3]
            close(compiled(strided), program(strided), dtype)


@pytest.mark.parametrize("length", [5, 300])
def test_an_output_may_overwrite_the_input_of_a_call(length):
    def program(x):
        x += np.sin(x)
        x *= np.exp(x)

    start = np.random.default_rng(1).uniform(0, 1, length)
    got, want = start.copy(), start.copy()
    jitwise.jit(program, wait=True)(got)
    program(want)
    np.testing.assert_allclose(got, want, rtol=1e-14)


def segments_of(text):
    kernel = parse_kernel(text)
    return cut(kernel.phases[0], value_dtypes(kernel))


def computed(segment):
    return [each.result for each in segment.statements if isinstance(each, Compute)]


def test_a_phase_has_a_segment_more_than_calls_in_a_row():
    segments = segments_of(CHAIN)
    assert [[each.result for each in segment.calls] for segment in segments] == [[5], [8], []]


def test_a_value_is_computed_where_it_is_first_used_if_that_keeps_nothing_more():
    segments = segments_of(CHAIN)
    assert [computed(segment) for segment in segments] == [[], [4, 6], [7, 9]]
    assert [segment.found for segment in segments] == [(), (5,), (6, 8)]
    assert [segment.kept for segment in segments] == [(), (6,), ()]


def test_loads_are_repeated_and_stores_are_last():
    segments = segments_of(CHAIN.replace("%7 = multiply(%6", "%7 = multiply(%3"))
    loads = [
        [each for each in segment.statements if isinstance(each, Load)] for segment in segments
    ]
    assert [len(each) for each in loads] == [0, 1, 1]
    stores = [any(isinstance(each, Store) for each in segment.statements) for segment in segments]
    assert stores == [False, False, True]


def test_a_phase_without_calls_is_left_whole():
    assert segments_of(CHAIN.replace("cosine", "sqrt").replace("sine", "sqrt")) == []
