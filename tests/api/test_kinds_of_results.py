"""Scalars, 0-d arrays and axes are taken and given as NumPy does, by every function that is
traced: a generated table, not a list of cases.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import jitwise.trace.numpy
from jitwise import jit
from jitwise.trace.tracer import FUNCTIONS, METHODS

assert jitwise.trace.numpy.__name__  # importing it filled the tables
CUBE = np.arange(24.0).reshape(2, 3, 4)
SINGLE = [
    np.array(3),
    np.array(2.5),
    np.array(True),
    np.array(1 + 2j),
    np.array(3, np.int8),
    np.array(2.5, np.float32),
    np.array(3, np.float16),
    np.int64(3),
    np.float32(3),
    3,
    2.5,
    True,
]
AXES = [True, False, np.True_, (True,), 1.0, np.int8(1), "1", [0], None, (0,), np.array(1)]


def method(name):
    def call(a):
        found = getattr(a, name)
        return found() if callable(found) else found

    return call


ALL = {f"{each.__module__}.{each.__name__}": each for each in FUNCTIONS}
UFUNCS = {
    name: each for name, each in vars(np).items() if isinstance(each, np.ufunc) and each.nin == 1
}
NAMED = ALL | UFUNCS | {f".{name}": method(name) for name in METHODS if not name.startswith("__")}


def outcome(function, *args):
    """The types of a result, or of the exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return described(function(*args))
        except Exception as error:
            return type(error)


def described(result):
    if isinstance(result, (tuple, list)):
        return type(result), [described(each) for each in result]
    return type(result), getattr(result, "dtype", None), getattr(result, "shape", None)


@pytest.mark.parametrize("name", NAMED)
def test_a_single_value_gives_the_kind_that_numpy_gives(name):
    function = NAMED[name]
    for value in SINGLE:
        wanted = outcome(function, value)
        assert outcome(jit(lambda a: function(a)), value) == wanted, repr(value)


@pytest.mark.parametrize("name", ALL)
def test_an_axis_is_taken_or_refused_as_numpy_does(name):
    function = ALL[name]
    if not isinstance(outcome(function, CUBE), tuple):
        pytest.skip("needs other arguments")
    for axis in AXES:
        for argument in (CUBE, [CUBE, CUBE]):
            wanted = outcome(lambda a, axis=axis: function(a, axis=axis), argument)
            found = outcome(jit(lambda a, axis=axis: function(a, axis=axis)), argument)
            assert found == wanted, f"axis={axis!r}"
