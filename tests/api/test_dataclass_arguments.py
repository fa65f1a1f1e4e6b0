"""What the standard library does with dataclass instances works on arguments, or runs as Python and
says why.
"""

from __future__ import annotations

import copy
import dataclasses
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from jitwise import jit


@dataclass
class Plain:
    a: Any
    b: Any = 3

    def total(self):
        return self.a + self.b


@dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any = 3

    def total(self):
        return self.a + self.b


@dataclass(slots=True)
class Slotted:
    a: Any
    b: Any = 3


class Inherited(Plain):
    pass


@dataclass
class Nested:
    a: Any
    b: Any

    @property
    def inner(self):
        return self.b.a


def by_fields(p):
    total = 0
    for field in dataclasses.fields(p):
        total = total + getattr(p, field.name)
    return total


def names(p):
    return [field.name for field in dataclasses.fields(p)], len(dataclasses.fields(p)) * p.a


def is_one(p):
    return dataclasses.is_dataclass(p), p.a * 2


def as_dict(p):
    return dataclasses.asdict(p)["a"] + 1


def as_tuple(p):
    return dataclasses.astuple(p)[0] + 1


def replaced(p):
    return dataclasses.replace(p, b=2).a * 2


def copied(p):
    return copy.copy(p).a * 2


def deeply(p):
    return copy.deepcopy(p).a * 2


def matched(p):
    match p:
        case Plain(a=x, b=y) | Frozen(a=x, b=y) | Slotted(a=x, b=y):
            return x * y
    return p.a


PROGRAMS = [by_fields, names, is_one, as_dict, as_tuple, replaced, copied, deeply, matched]


@pytest.mark.parametrize("kind", [Plain, Frozen, Slotted, Inherited])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_dataclass_argument_is_what_it_is(program, kind):
    jitted = jit(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for length in (3, 4, 3, 5):
            argument = kind(np.arange(float(length)))
            found, expected = jitted(argument), program(kind(np.arange(float(length))))
            assert type(found) is type(expected)
            for one, other in zip(
                found if isinstance(found, tuple) else [found],
                expected if isinstance(expected, tuple) else [expected],
                strict=True,
            ):
                np.testing.assert_array_equal(one, other)
    assert jitted.state.traces <= 3


@pytest.mark.parametrize("program", [by_fields, names, is_one, as_dict, as_tuple])
def test_fields_are_read_without_python(program):
    jitted = jit(program)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jitted(Frozen(np.arange(3.0)))


def test_nested_instances_are_read_too():
    @jit
    def f(p):
        return [field.name for field in dataclasses.fields(p.b)], p.inner + by_fields(p.b)

    argument = Nested(np.ones(2), Plain(np.arange(2.0)))
    names, total = f(argument)
    assert names == ["a", "b"]
    np.testing.assert_array_equal(total, [3.0, 5.0])


class Instance:
    def __init__(self):
        self.scale = np.arange(3.0)

    @jit
    def copied(self, x):
        return copy.copy(self).scale * x


def test_a_copy_of_an_instance_runs_as_python_and_says_so():
    with pytest.warns(match="runs as Python, because"):
        np.testing.assert_array_equal(Instance().copied(2.0), [0.0, 2.0, 4.0])


def test_what_only_tracing_raises_is_said_at_once_and_not_tried_for_ever():
    @jit
    def matches(p):
        match p:
            case Plain(a=x):
                return x
        return 0

    with pytest.warns(match="TypeError, and running it did not"):
        matches(Plain(np.ones(3)))
    for _ in range(4):
        matches(Plain(np.ones(3)))
    assert matches.state.traces <= 3
    assert [each.detail["reason"] for each in matches.records() if each.subject == "fallback"] == [
        "untrue"
    ]


def test_an_error_that_numpy_raises_too_is_none_of_tracing():
    @jit
    def f(x):
        return x.reshape(7)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            with pytest.raises(ValueError):
                f(np.ones(3))
    assert f(np.ones(7)).shape == (7,)


NUMBERS = [
    lambda x: round(len(x) / 4),
    lambda x: round(len(x)),
    lambda x: round(len(x), -1),
    lambda x: ~len(x),
    lambda x: pow(len(x), 2, 5),
    lambda x: round(x.sum(), 1),
    lambda x: round(x.sum()),
    lambda x: np.ones(~len(x) + len(x) + 3),
    lambda x: x.max(initial=0),
    lambda x: np.min(x, initial=9.0),
    lambda x: np.max(x[:0], initial=-1.0),
]


@pytest.mark.parametrize("number", range(len(NUMBERS)))
def test_numbers_are_rounded_and_inverted_as_python_does(number):
    function = NUMBERS[number]
    function.__name__ = f"rounded{number}"  # records are kept by name
    jitted = jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for length in (5, 6, 0, 13):
            x = np.linspace(0.26, 3.1, length)
            found, expected = jitted(x), function(x)
            assert type(found) is type(expected)
            np.testing.assert_array_equal(found, expected)
    assert not any(
        each.detail["reason"] == "untrue" for each in jitted.records() if each.subject == "fallback"
    )


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,), (2, 3)])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.filterwarnings("ignore")
def test_an_average_over_nothing_raises_what_numpy_raises(shape, axis):
    def function(x):
        return np.average(x, axis)

    try:
        expected = function(np.ones(shape))
    except ZeroDivisionError as error:
        with pytest.raises(type(error)):
            jit(function)(np.ones(shape))
    else:
        np.testing.assert_array_equal(jit(function)(np.ones(shape)), expected)
