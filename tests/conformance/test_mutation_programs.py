"""Random programs that cut views from arrays, write through them in every way, and read: all arrays
end as NumPy leaves them, arguments too.

PROGRAM_EXAMPLES=10000 tries that many; a program that runs as Python is compared all the same.
"""

from __future__ import annotations

import copy
import os
import warnings
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from jitwise import jit

EXAMPLES = int(os.environ.get("PROGRAM_EXAMPLES", "300"))
PLACE = st.integers(0, 9)
BOUND = st.integers(-5, 5)
STEPS = st.sampled_from([None, 1, 2, -1, -2])
SLICE = st.builds(slice, BOUND | st.none(), BOUND | st.none(), STEPS)
PLACES = st.lists(st.integers(0, 2), min_size=1, max_size=4)
STEP = st.one_of(
    st.tuples(st.just("cut"), PLACE, SLICE, SLICE),
    st.tuples(st.just("turn"), PLACE),
    st.tuples(st.just("widen"), PLACE),
    st.tuples(st.just("ravel"), PLACE),
    st.tuples(st.just("fold"), PLACE, st.sampled_from([(2, -1), (-1, 2), (-1,), (1, -1)])),
    st.tuples(st.just("row"), PLACE, BOUND),
    st.tuples(st.just("write"), PLACE, SLICE, BOUND),
    st.tuples(st.just("move"), PLACE, PLACE),
    st.tuples(st.just("add"), PLACE, BOUND),
    st.tuples(st.just("out"), PLACE, PLACE),
    st.tuples(st.just("mask"), PLACE, BOUND),
    st.tuples(st.just("scale"), PLACE, BOUND),
    st.tuples(st.just("places"), PLACE, PLACES, BOUND),
    st.tuples(st.just("at"), PLACE, PLACES, BOUND),
    st.tuples(st.just("fill"), PLACE, BOUND),
    st.tuples(st.just("copy"), PLACE),
    st.tuples(st.just("new"), PLACE),
    st.tuples(st.just("zeros"), PLACE),
    st.tuples(st.just("element"), PLACE, BOUND, BOUND),
)


def step(arrays: list[Any], word: str, array: Any, rest: list[Any]) -> None:
    """One step on one of the arrays made before."""
    if word == "cut":
        arrays.append(array[tuple(rest)[: array.ndim]])
    elif word == "turn":
        arrays.append(array.T)
    elif word == "widen":
        arrays.append(array[:, None] if array.ndim < 3 else array[0:1])
    elif word == "ravel":
        arrays.append(array.ravel())
    elif word == "fold":
        if array.size % 2 == 0 and array.size:
            arrays.append(array.reshape(rest[0]))
    elif word == "row":
        if len(array):
            arrays.append(array[rest[0] % len(array)] * 1 if array.ndim == 1 else array[0])
    elif word == "write":
        array[rest[0]] = rest[1]
    elif word == "move":
        source = arrays[rest[0] % len(arrays)]
        if array.ndim == source.ndim == 2 and source.shape[1] == array.shape[1]:
            array[: len(source)] = source[: len(array)]
    elif word == "out":
        source = arrays[rest[0] % len(arrays)]
        if source.shape == array.shape:
            np.subtract(source, array, out=array)
    else:
        _changed(arrays, word, array, rest)


def _changed(arrays: list[Any], word: str, array: Any, rest: list[Any]) -> None:
    if word == "add":
        array += rest[0]
    elif word == "mask":
        array[array > rest[0]] = rest[0] - 1
    elif word == "scale":
        array[array > rest[0]] *= 2
    elif word == "places":
        if len(array) > 2:
            array[np.array(rest[0])] = rest[1]
    elif word == "at":
        if len(array) > 2:
            np.add.at(array, np.array(rest[0]), rest[1])
    elif word == "fill":
        array.fill(rest[0])
    elif word == "copy":
        arrays.append(array.copy())
    elif word == "new":
        arrays.append(array * 2 + 1)
    elif word == "zeros":
        arrays.append(np.zeros(array.shape, array.dtype))
    elif array.ndim == 2 and array.shape[0] and array.shape[1]:
        array[rest[0] % array.shape[0], rest[1] % array.shape[1]] = array.sum()


def program(steps):
    def run(x, y):
        arrays = [x, y]
        for word, place, *rest in steps:
            array = arrays[place % len(arrays)]
            if array.ndim:
                step(arrays, word, array, rest)
        return [array * 1 for array in arrays]

    return run


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(STEP, min_size=1, max_size=14), st.sampled_from(["C", "F", "strided"]))
def test_programs_of_writes_and_views_agree_with_numpy(steps, layout):
    numbers = np.arange(24.0).reshape(6, 4)
    first = numbers[::2, ::2] if layout == "strided" else np.array(numbers[:3, :2], order=layout)
    arguments = (first, -np.arange(12.0).reshape(4, 3))
    function = program(steps)
    jitted = jit(function)
    expected_args, found_args = copy.deepcopy(arguments), copy.deepcopy(arguments)
    try:
        expected = function(*expected_args)
    except ValueError as error:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                jitted(*found_args)
            except ValueError:
                return
        raise AssertionError("no error") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = jitted(*found_args)
    for one, other in zip([*found, *found_args], [*expected, *expected_args], strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
