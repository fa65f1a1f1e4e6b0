"""Basic indexing of traced arrays: slices are NumPy's at each length that the guards allow."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traced import Program, agrees, reason

BOUNDS = [None, 0, 1, 2, 3, 5, 9, -1, -2, -3, -5, -9]
STEPS = [None, 1, 2, 3, -1, -2, -3, 7, -7]
LENGTHS = [5, 0, 1, 2, 3, 4, 6, 8, 12]


def line(length):
    return np.arange(float(length))


@pytest.mark.parametrize("step", STEPS)
def test_every_slice_of_every_length_is_numpys(step):
    for start, stop in itertools.product(BOUNDS, BOUNDS):
        key = slice(start, stop, step)
        agrees(lambda x, key=key: x[key], *[[line(length)] for length in LENGTHS])


@pytest.mark.parametrize(
    "key",
    [
        slice(1, None), slice(None, -1), slice(1, -1), slice(None, None, 2), slice(None, None, -1),
        slice(-3, None), slice(None, 3), slice(2, -2, 2), slice(None, None, -2), slice(3, 1),
    ],
)  # fmt: skip
def test_one_trace_of_a_common_slice_serves_every_longer_array(key):
    assert agrees(lambda x: x[key], *[[line(length)] for length in (6, 7, 8, 50)]) == 1


def test_a_stencil_has_one_guard_for_each_axis():
    program = Program(lambda x: x[1:-1, 1:-1] + x[2:, 1:-1] - x[:-2, 1:-1], [np.ones((5, 6))])
    assert len(program.traced.graph.guards) <= 4
    assert program.holds([np.ones((9, 20))])


@given(
    st.lists(
        st.one_of(
            st.none(),
            st.just(Ellipsis),
            st.integers(-4, 3),
            st.slices(4),
            st.slices(9),
        ),
        max_size=4,
    ),
    st.permutations([(2, 3, 4), (4, 4, 4), (3, 1, 5), (5, 2, 0)]),
)
@settings(max_examples=300, deadline=None)
def test_every_combination_of_ints_slices_none_and_ellipsis_is_numpys(keys, shapes):
    key = tuple(keys)

    def function(x):
        return x[key]

    for shape in shapes:
        x = np.arange(float(np.prod(shape))).reshape(shape)
        try:
            x[key]
        except IndexError:
            assert reason(function, x) == "error"
        else:
            agrees(function, [x])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[x.shape[0] // 2 :],
        lambda x: x[: x.shape[0] // 2],
        lambda x: x[: len(x) - 1],
        lambda x: x[x.shape[0] - 2],
        lambda x: x[-x.shape[0]],
        lambda x: x[x.shape[0] // 3 : -1 : 2],
        lambda x: x[: x.shape[0] // 2 : -1],
        lambda x: x[:, x.shape[1] // 2, None],
    ],
)
def test_bounds_that_are_sizes_stay_sizes(function):
    assert agrees(function, *[[np.arange(4.0 * n).reshape(n, 4)] for n in (8, 10, 14)]) == 1


def test_an_int_argument_is_an_index_without_a_new_trace():
    calls = [[np.arange(9.0), n] for n in (1, 3, 8, 0)]
    assert agrees(lambda x, n: x[n], *calls) == 1
    assert agrees(lambda x, n: x[:n], *calls) == 1
    assert agrees(lambda x, n: x[n:], [np.arange(9.0), 2], [np.arange(5.0), 4]) == 1
    assert agrees(lambda x, n: x[:n], [np.arange(9.0), -2], [np.arange(5.0), -1]) == 1


def test_an_index_out_of_range_is_left_to_numpy_which_raises():
    x = np.ones((3, 4))
    for key in (3, -4, (0, 4), (0, 0, 0), (slice(None), -5), "name", 1.0, (Ellipsis, Ellipsis)):
        assert reason(lambda x, key=key: x[key], x) == "error"
    assert reason(lambda x: x[::0], x) == "error"
    program = Program(lambda x: x[2], [np.ones(3)])
    assert program.holds([np.ones(9)])
    assert not program.holds([np.ones(2)])


def test_rank_zero_results_are_scalars_unless_an_ellipsis_is_given():
    agrees(lambda x: x[0], [line(3)])
    agrees(lambda x: x[0, ...], [line(3)])
    agrees(lambda x: x[()], [np.array(2.0)])
    agrees(lambda x: x[...], [np.array(2.0)])
    agrees(lambda x: x[...], [np.float32(2)])
    agrees(lambda x: x[None], [np.float32(2)])
    agrees(lambda x: list(x), [line(3)], [line(4)])


def test_a_traced_number_that_is_no_array_has_no_items():
    assert reason(lambda x: x[0], 2.0) == "error"


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[[0, 2]],
        lambda x: x[[2, 0, 1]],
        lambda x: x[[-1, 0, 0]],
        lambda x: x[[1, 2, 3, -1]],
        lambda x: x[[-2, -1, 0, 1]],
        lambda x: x[np.array([1, 3])],
        lambda x: x[:, [2, 0, 1]],
        lambda x: x[..., [2, 0]],
        lambda x: x[[3, 1], 1:],
        lambda x: x[[1]],
        lambda x: x[None, [1, 0], ..., None],
        lambda x: x[..., [1, 0], :],
        lambda x: x[::-1, None, [0, 2]],
        lambda x: np.take(x, [0, 2], axis=1),
        lambda x: np.take(x, [5, 2, 3]),
        lambda x: np.take(x, 3),
        lambda x: x.take(1, axis=-1),
    ],
)
def test_a_short_list_of_places_is_numpys(function):
    assert agrees(function, *[[np.arange(6.0 * n).reshape(n, 6)] for n in (5, 7, 10)]) == 1


def test_a_place_out_of_range_is_left_to_numpy_which_raises():
    x = np.ones((3, 4))
    assert reason(lambda x: x[[0, 3]], x) == "error"
    assert reason(lambda x: x[[0, 1, 2, 3]], x) == "error"
    assert reason(lambda x: x[:, [-5]], x) == "error"
    assert not Program(lambda x: x[[0, 2]], [x]).holds([np.ones((2, 4))])


def test_a_list_of_places_is_a_copy_that_can_be_changed():
    def function(x):
        doubled = x * 2
        part = doubled[[0, 1]]
        part += 1
        doubled -= 1
        return doubled, part

    agrees(function, [np.arange(4.0)])
