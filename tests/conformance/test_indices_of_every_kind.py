"""Indices of every kind, in every order: short tuples of slices, None, `...`, ints, arrays of
positions, masks and numbers without axes read, replace and combine what they do in NumPy.

    a[None, i, ..., i]      a gap that takes no axis still parts two arrays of positions
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from compiled import agree
from traced import agrees

from jitwise.errors import CannotTrace

# What an index may be, in a function of an array `a` and of those that `CALLS` gives.
COMMON = [":", "...", "None", "0", "i", "m"]
RARE = ["n", "1:", "z", "-1", "g", "s", "[2, 0, 1]", "[]", "b", "T", "True", "np.True_",
        "::-1", "np.int64(1)", "CAPTURED", "np.array(1)"]  # fmt: skip
CAPTURED = np.array([1, -1, 2])
NAMES = ("a", "v", "i", "g", "m", "n", "s", "z", "b", "T")


def call(size: int, positions: list[int], mask: list[bool], truth: bool) -> list[Any]:
    """An array of three axes, and arguments of the names after `v`."""
    whole = np.arange(float(size**3)).reshape(size, size, size)
    places = np.array(positions)
    return [whole, places, places[:2, None] - 1, np.array(mask), 1, np.int64(-2), np.array(2),
            np.array(truth), np.bool_(truth)]  # fmt: skip


CALLS = [
    call(4, [2, 0, 2], [True, False, True, True], True),
    call(5, [-1, 3, 0], [True, True, False, False, True], True),
    call(4, [1, 1, -3], [True, True, True, False], False),
]
SINGLE, PAIRS = [*COMMON, *RARE], list(itertools.product([*COMMON, *RARE], repeat=2))
KEYS = [
    *SINGLE,
    *map(", ".join, PAIRS),
    *[", ".join(each) for count in (3, 4) for each in itertools.product(COMMON, repeat=count)],
    *[
        ", ".join([*others[:place], rare, *others[place:]])
        for place, rare in itertools.product(range(3), RARE[::2])
        for others in itertools.product(COMMON, repeat=2)
    ],
]


def replaced(a: Any, key: Any, v: Any) -> tuple:
    one, other, third = a.copy(), a.copy(), a[::-1].copy()
    one[key] = v
    other[key] -= v
    third[key] = 7
    third[::-1][key] += v
    return one, other, third


def combined(a: Any, key: Any, v: Any) -> tuple:
    one, other = a.copy(), a.copy()
    np.add.at(one, key, v)
    np.subtract.at(other, key, 2.0)
    return one, other


FORMS = {
    "read": "a[{}]",
    "replaced": "replaced(a, np.index_exp[{}], v)",
    "combined": "combined(a, np.index_exp[{}], v)",
}
KNOWN = {"np": np, "CAPTURED": CAPTURED, "replaced": replaced, "combined": combined}


def function_of(form: str, key: str) -> Callable[..., Any]:
    """The function of `NAMES` that does this with such an index."""
    return eval(f"lambda {', '.join(NAMES)}: {FORMS[form].format(key + ',')}", KNOWN)


def calls_of(key: str, ndim: int) -> Iterator[list[Any]]:
    """Arguments for which NumPy takes this index of an array with so many axes. `v` is of the shape
    of what it takes, in which no two numbers are the same.
    """
    taken = function_of("read", key)
    for whole, *others in CALLS:
        array = whole[(0,) * (3 - ndim)].copy()
        try:
            shape = taken(array, None, *others).shape
        except (IndexError, ValueError):
            continue
        yield [array, np.arange(1.0, 1 + math.prod(shape)).reshape(shape), *others]


@pytest.mark.no_round_trip
@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("form", FORMS)
def test_every_short_index_takes_what_numpy_takes(form, ndim):
    faults = []
    for key in KEYS:
        function, calls = function_of(form, key), list(calls_of(key, ndim))
        try:
            for truth in (True, False):  # another count may need another trace
                agrees(function, *[given for given in calls if given[-1] == truth])
        except (AssertionError, CannotTrace, ValueError) as error:
            faults.append(f"{key}: {error}")
    assert not faults, f"{len(faults)} indices, of which the first are\n" + "\n".join(faults[:9])


@pytest.mark.parametrize("form", FORMS)
def test_compiled_programs_take_what_numpy_takes(form):
    for ndim, keys in ((2, KEYS[::101]), (3, KEYS[::53])):
        for key in keys:
            if calls := list(calls_of(key, ndim)):
                agree(function_of(form, key), *calls, times=1)
