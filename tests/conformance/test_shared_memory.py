"""What shares memory with what is as in NumPy: a write to an array and a write to what was taken
of it reach the same arrays.
"""

from __future__ import annotations

import operator
import warnings

import numpy as np
import pytest

from jitwise import jit

ELEMENTS = {
    "int": 1,
    "int scalar": np.int64(1),
    "unsigned scalar": np.uint8(1),
    "array without axes": np.array(1),
    "unsigned array without axes": np.array(1, "u1"),
    "negative array without axes": np.array(-1),
    "True": True,
    "False": False,
    "bool scalar": np.True_,
    "bool array without axes": np.array(True),
    "list of one": [1],
    "list of none": [],
    "array of one": np.array([1]),
    "slice": slice(1, None),
    "ellipsis": Ellipsis,
    "new axis": None,
}
USES = {
    "base": lambda x, part: (operator.iadd(x, 100), part),
    "part": lambda x, part: (x, operator.iadd(part, 100)),
    "both": lambda x, part: (operator.imul(x, 3), operator.iadd(part, 100), operator.isub(x, 1)),
}


def outcome(function, *args):
    """What is returned and what became of the arguments, with the kinds of all; or the error."""
    args = [each.copy() if isinstance(each, np.ndarray) else each for each in args]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = function(*args)
        except (IndexError, TypeError, ValueError) as error:
            return type(error)
    return [(type(each), np.asarray(each).tolist()) for each in (*found, args[0])]


def compare(function, *args):
    jitted = jit(function)
    expected = outcome(function, *args)
    for _ in range(2):
        assert outcome(jitted, *args) == expected


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("first", ELEMENTS)
def test_an_index_of_any_kinds_makes_a_view_or_a_copy_as_numpy(first, use, ndim):
    x = np.arange(3.0**ndim).reshape((3,) * ndim)
    change, element = USES[use], ELEMENTS[first]
    for index in [element, (element,), *[(element, other) for other in ELEMENTS.values()]]:

        def captured(x, index=index):
            return change(x, x[index])

        def given(x, index):
            return change(x, x[index])

        compare(captured, x)
        compare(given, x, index)
