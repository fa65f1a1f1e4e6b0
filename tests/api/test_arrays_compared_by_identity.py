"""`x is y` of arrays: what Python says, in each call, however the arrays come."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from jitwise import jit

A, B, C = np.arange(3.0), np.arange(3.0), np.ones(3)
HELD = [A]


class Holder:
    def __init__(self, first, second):
        self.first, self.second = first, second


def of_arguments(x, y):
    return x * 2 if x is y else x + y


def of_another_name(x, y):
    z = y
    return (x + 1, z is x, x is not y)


def of_a_list(x, y):
    pair = [x, y]
    return pair[0] is pair[1], x + y


def of_a_global(x, y):
    return x + y if x is A else x - y


def of_two_ways(x, y):
    return (x is HELD[0]) + (y is A), x + y


def of_a_holder(x, y, holder=None):
    return x + y if x is holder.first else x - holder.second


def by_operator(x, y):
    import operator

    return operator.is_(x, y), x + y


def plain(found):
    if isinstance(found, tuple):
        return [plain(each) for each in found]
    return found.tolist() if isinstance(found, np.ndarray) else found


@pytest.mark.parametrize(
    "function", [of_arguments, of_another_name, of_a_list, of_a_global, of_two_ways, by_operator]
)
@pytest.mark.parametrize("order", list(itertools.permutations([(A, B), (A, A), (C, B), (B, A)], 3)))
def test_arguments_that_are_one_array_are_the_same(function, order):
    jitted = jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x, y in (*order, *order):
            assert plain(jitted(x, y)) == plain(function(x, y))


@pytest.mark.parametrize("order", list(itertools.permutations([(A, B), (B, A), (A, A), (C, C)], 3)))
def test_arrays_of_an_object_are_what_they_are(order):
    jitted = jit(of_a_holder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for first, second in (*order, *order):
            holder = Holder(first, second)
            for x in (A, B):
                expected = of_a_holder(x, C, holder)
                assert plain(jitted(x, C, holder)) == plain(expected)


def test_functions_that_ask_are_compiled_for_arrays_that_are_not_the_same():
    jitted = jit(of_arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(4):
            assert plain(jitted(A + k, B)) == plain(A + k + B)
    assert jitted.state.traces == 1


@pytest.mark.parametrize("swapped", [False, True])
def test_arguments_by_name_are_those_that_are_compared(swapped):
    jitted = jit(of_arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x, y in ((A, B), (A, A), (B, B), (B, A)):
            given = {"y": y, "x": x} if swapped else {"x": x, "y": y}
            assert plain(jitted(**given)) == plain(of_arguments(x, y))
