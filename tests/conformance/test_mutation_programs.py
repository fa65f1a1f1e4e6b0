"""Random programs that cut views from arrays, write through them in every way, give them to jitted
functions, and read: all arrays end as NumPy leaves them, arguments of every layout too, whether
there is something to warn of or not.

PROGRAM_EXAMPLES=10000 tries that many; a program that runs as Python is compared all the same.
"""

from __future__ import annotations

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
INNERS = [
    jit(lambda p: p.T),
    jit(lambda p: p),
    jit(lambda p: p[1:]),
    jit(lambda p: p.reshape(-1)),
    jit(lambda p: p.__iadd__(1)),
    jit(lambda p: (p[:1].__imul__(2), p)[1]),
]
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
    st.tuples(st.just("pick"), PLACE, BOUND, st.sampled_from([np.array, np.int64, int])),
    st.tuples(st.just("pick column"), PLACE, BOUND, st.sampled_from([np.array, np.int64, int])),
    st.tuples(st.just("unfold"), PLACE),
    st.tuples(st.just("unfold in order"), PLACE, st.sampled_from("CFAK")),
    st.tuples(
        st.just("ordered"), PLACE, st.sampled_from([np.asfortranarray, np.ascontiguousarray])
    ),
    st.tuples(st.just("where"), PLACE, BOUND),
    st.tuples(st.just("inner"), PLACE, st.sampled_from(INNERS)),
    st.tuples(st.just("divide"), PLACE),
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
    elif word == "divide":
        arrays.append(np.rint(6 / array))  # whole numbers, whose sums are exact in any order
    elif word == "inner":
        arrays.append(rest[0](array))
    elif word != "element":
        _taken(arrays, word, array, rest)
    elif array.ndim == 2 and array.shape[0] and array.shape[1]:
        array[rest[0] % array.shape[0], rest[1] % array.shape[1]] = array.sum()


def _taken(arrays: list[Any], word: str, array: Any, rest: list[Any]) -> None:
    if word == "pick":
        if array.ndim > 1 and len(array):
            arrays.append(array[rest[1](rest[0] % len(array))])
    elif word == "pick column":
        if array.ndim > 1 and array.shape[1]:
            arrays.append(array[1:, rest[1](rest[0] % array.shape[1])])
    elif word == "unfold":
        arrays.append(array.T.ravel())
    elif word == "unfold in order":
        arrays.append(array.ravel(order=rest[0]))
    elif word == "ordered":
        arrays.append(rest[0](array))
    else:
        arrays.append(np.where(array > rest[0])[-1])


def program(steps, in_dict):
    def run(x, y):
        if in_dict:
            x, y = x["x"], x["y"]
        arrays = [x, y]
        for word, place, *rest in steps:
            array = arrays[place % len(arrays)]
            if array.ndim:
                step(arrays, word, array, rest)
        return [array * 1 for array in arrays], arrays, arrays[-1]

    return run


LAYOUTS = {
    "C": lambda array: array,
    "F": np.asfortranarray,
    "strided": lambda array: np.repeat(np.repeat(array, 2, 0), 2, 1)[::2, ::2],
    "backwards": lambda array: array[::-1].copy()[::-1],
}
LAYOUT = st.sampled_from(list(LAYOUTS.values()))


def outcome(function: Any, arguments: tuple) -> Any:
    """What a call gives, or its ValueError; and what became of the arguments."""
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("ignore")
        try:
            return function(*arguments)
        except ValueError as error:
            return error


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(STEP, min_size=1, max_size=14), LAYOUT, LAYOUT, st.integers(0, 3))
def test_programs_of_writes_and_views_agree_with_numpy(steps, layout, other_layout, kind):
    function = program(steps, kind == 0)
    jitted = jit(function)
    for number in (1.0, 0.0, 0.0, 3.0):  # the zeros that are divided by
        pairs = []
        for each in (function, jitted):
            first = layout(np.arange(6.0).reshape(3, 2) + number)
            second = other_layout(-number - np.arange(12.0).reshape(4, 3))
            box = {"x": first, "y": second}
            found = outcome(each, (box, None) if kind == 0 else (first, second))
            pairs.append((found, first, second, box))
        (expected, *theirs, _), (found, *ours, box) = pairs
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
        if isinstance(expected, ValueError):
            assert isinstance(found, ValueError)
            continue
        for one, other in zip([*found[0], *found[1]], [*expected[0], *expected[1]], strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(found[2], expected[2])
        assert list(box) == ["x", "y"]
        if not any(known.python for known in jitted.state.known.values()):
            is_ours = [any(each is one for one in ours) for each in found[1]]
            for each, is_argument in zip(found[1], is_ours, strict=True):
                assert is_argument or not any(np.may_share_memory(each, one) for one in ours)
