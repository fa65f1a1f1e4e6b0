"""Arrays that a function finds outside - in globals, cells, items, attributes - are changed in
place as NumPy changes them, by compiled code.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from oracle import same

from jitwise import JitwiseWarning, jit

BUFFER = np.zeros(6)


def assigned(target, x):
    target[:] = x * 2
    return x + target


def added(target, x):
    target += x
    return target.sum()


def one_element(target, x):
    target[2] = x[0]
    target[-1] *= 3
    return target[::2] + x[::2]


def through_a_view(target, x):
    part = target[1:]
    part[:] = part[::-1] + x[1:]
    return part * 2


def out_argument(target, x):
    np.multiply(x, 3, out=target)
    np.sqrt(target, out=target)
    return target[0]


def by_mask(target, x):
    target[x > 1] = 7
    np.add.at(target, [0, 0, 1], x[:3])
    return target.max()


def given_back(target, x):
    target -= x
    return target, target * 2


WRITES = [assigned, added, one_element, through_a_view, out_argument, by_mask, given_back]


class Holder:
    def __init__(self, array):
        self.array = array
        self.items = [array]


def of_global(write, array):
    globals()["BUFFER"] = array
    return lambda x: write(BUFFER, x)


def of_cell(write, array):
    return lambda x: write(array, x)


def of_item(write, array):
    table = {"inner": [array]}
    return lambda x: write(table["inner"][0], x)


def of_attribute(write, array):
    holder = Holder(array)
    return lambda x: write(holder.array, x)


def of_default(write, array):
    def function(x, target=array):
        return write(target, x)

    return function


PLACES = [of_global, of_cell, of_item, of_attribute, of_default]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)
def test_what_is_written_to_an_array_outside_is_there_after_every_call(write, place):
    ours, theirs = np.arange(6.0), np.arange(6.0)
    f, plain = jit(place(write, ours)), place(write, theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("error", JitwiseWarning)
        for turn in range(4):
            x = np.linspace(0, 3 + turn, 6)
            given = x.copy()
            globals()["BUFFER"] = ours  # the other places do not look
            got = f(x)
            globals()["BUFFER"] = theirs
            same(got, plain(given))
            same(ours, theirs)
            same(x, given)
    assert f.state.traces == 1


@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)
@pytest.mark.parametrize(
    "layout",
    [lambda n: np.zeros(2 * n)[::2], lambda n: np.zeros(n)[::-1], lambda n: np.zeros((n, 3)).T[1]],
    ids=["strided", "reversed", "column"],
)
def test_arrays_outside_are_written_to_as_they_lie(write, layout):
    ours, theirs = layout(6), layout(6)
    f, plain = jit(of_cell(write, ours)), of_cell(write, theirs)
    for turn in range(2):
        x = np.linspace(0, 3 + turn, 6)
        same(f(x), plain(x.copy()))
        same(ours, theirs)
        same(ours.base, theirs.base)


def test_the_array_outside_is_given_back_itself():
    global BUFFER
    BUFFER = first = np.zeros(3)

    @jit
    def f(x):
        BUFFER[:] = x
        return {"same": BUFFER, "new": BUFFER + 1, "all": [BUFFER, x]}

    for buffer in (first, np.zeros(3), np.zeros(5), np.zeros(3, np.float32)):
        BUFFER = buffer
        got = f(np.ones(buffer.size))
        assert got["same"] is buffer and got["all"][0] is buffer
        same(buffer, np.ones(buffer.size, buffer.dtype))
        same(got["new"], buffer + 1)


class Running:
    def __init__(self, n):
        self.total = np.zeros(n)
        self.history = [np.zeros(n)]

    @jit
    def add(self, x):
        self.total += x
        self.history[0] -= x
        self.total[0] = 1
        return self.total


def test_attributes_of_instances_are_added_to_without_a_trace_for_each():
    first, second, other = Running(3), Running(3), Running(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error", JitwiseWarning)
        for turn in range(3):
            for each in (first, second, other):
                n = each.total.size
                assert each.add(np.full(n, 2.0)) is each.total
                same(each.total, np.array([1.0] + [2.0 * (turn + 1)] * (n - 1)))
                same(each.history[0], np.full(n, -2.0 * (turn + 1)))
    assert Running.add.state.traces == 1


@dataclass
class Parameters:
    weights: np.ndarray
    bias: np.ndarray

    def decay(self, rate):
        self.weights *= rate
        return self.bias


def test_fields_of_dataclasses_are_changed_in_place():
    @jit
    def f(p, rate):
        p.bias += p.decay(rate) * 2
        return p.weights.sum()

    p = Parameters(np.ones(3), np.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", JitwiseWarning)
        assert f(p, 0.5) == 1.5 and f(p, 0.5) == 0.75
    same(p, Parameters(np.full(3, 0.25), np.full(2, 9.0)))


@pytest.mark.parametrize("how", ["rebound", "another", "deleted"])
def test_other_assignments_to_attributes_are_pythons(how):
    class Thing:
        def __init__(self):
            self.a, self.b = np.ones(2), np.zeros(2)

    def function(thing, x):
        if how == "rebound":
            thing.a = thing.a + x
        elif how == "another":
            thing.a = thing.b
        else:
            del thing.a
        return x * 2

    thing = Thing()
    kept = thing.a
    with pytest.warns(JitwiseWarning, match="runs as Python"):
        jit(function)(thing, np.ones(2))
    assert getattr(thing, "a", None) is not kept
    same(kept, np.ones(2))


def test_steps_of_all_parameters_in_a_dict_are_one_program():
    params = {"w": np.ones((2, 3)), "b": np.zeros(3)}

    @jit
    def step(x, rate):
        error = x @ params["w"] + params["b"]
        params["w"] -= rate * x.T @ error
        params["b"] -= rate * error.sum(0)
        return (error**2).sum()

    x, expected = np.arange(8.0).reshape(4, 2) / 8, {key: v.copy() for key, v in params.items()}
    for _ in range(3):
        error = x @ expected["w"] + expected["b"]
        expected["w"] -= 0.1 * x.T @ error
        expected["b"] -= 0.1 * error.sum(0)
        np.testing.assert_allclose(step(x, 0.1), (error**2).sum(), rtol=1e-12)
        np.testing.assert_allclose(params["w"], expected["w"], rtol=1e-12)
    assert step.state.traces == 1


def test_an_array_outside_that_is_the_argument_too_is_numpys():
    ours, theirs = np.arange(5.0), np.arange(5.0)

    def shifted(target):
        def function(x):
            target[1:] = x[:-1] + target[:-1]
            return x.sum()

        return function

    f, plain = jit(shifted(ours)), shifted(theirs)
    for _ in range(2):
        same(f(ours), plain(theirs))
        same(ours, theirs)
        same(f(ours[::-1]), plain(theirs[::-1]))
        same(ours, theirs)
        same(f(np.ones(5)), plain(np.ones(5)))
        same(ours, theirs)


@pytest.mark.parametrize("before", [0, 1])
def test_a_read_only_array_outside_is_numpys_error(before):
    array = np.zeros(3)

    @jit
    def f(x):
        array[:] = x
        return x

    for _ in range(before):
        f(np.ones(3))
    kept = array.copy()
    array.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(np.full(3, 5.0))
    same(array, kept)
    array.flags.writeable = True
    f(np.full(3, 6.0))
    same(array, np.full(3, 6.0))


def test_nothing_is_written_when_a_later_position_is_out_of_bounds_in_compiled_code():
    array, other = np.zeros(3), np.zeros(3)

    def writing(target):
        def function(x, i):
            y = x[i] * 2
            target[:] = x
            return y

        return function

    f, plain = jit(writing(array)), writing(other)
    same(f(np.ones(3), np.array([0, 2])), plain(np.ones(3), np.array([0, 2])))
    for function, target in ((f, array), (plain, other)):
        with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 3"):
            function(np.full(3, 4.0), np.array([0, 5]))
        same(target, np.ones(3))
