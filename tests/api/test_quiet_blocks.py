"""`with np.errstate(...="ignore")` inside of a compiled function: NumPy's values and NumPy's
warnings, exceptions and calls, whatever the error state of the call is.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from oracle import same

from jitwise import JitwiseWarning, jit
from jitwise.api import float_errors


def ratio(x, y):
    with np.errstate(divide="ignore", invalid="ignore"):
        z = x / y
    return np.where(np.isfinite(z), z, 0.0)


def logarithm(x, y):
    with np.errstate(all="ignore"):
        z = np.log(x - x)
    return z + y


def quiet_and_loud(x, y):
    with np.errstate(divide="ignore"):
        z = x / y
    return z + np.sqrt(x - 10)


def loud_twin(x, y):
    with np.errstate(divide="ignore"):
        z = np.log(y)
    return z + np.log(y * 1.0)


def in_place(x, y):
    with np.errstate(all="ignore"):
        x /= y
        x *= 2
    return x.sum()


def nested_blocks(x, y):
    with np.errstate(divide="ignore"):
        a = x / y
        with np.errstate(invalid="ignore", divide=None):
            b = np.log(y) + np.sqrt(x - 10)
    return a, b


def raised_inside(x, y):
    try:
        with np.errstate(all="ignore"):
            z = x / y
            raise KeyError("k")
    except KeyError:
        return z * 2


PROGRAMS = [ratio, logarithm, quiet_and_loud, loud_twin, in_place, nested_blocks, raised_inside]
STATES = [
    {"all": "warn"},
    {"all": "ignore"},
    {"divide": "warn", "invalid": "ignore"},
    {"divide": "raise", "invalid": "warn"},
    {"all": "raise"},
]


def told(function, *args):
    """What a call gives, or raises, and warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args)
        except FloatingPointError as error:
            result = str(error)
    texts = [(each.category, str(each.message), each.lineno) for each in caught]
    return result, texts


@pytest.mark.parametrize("state", STATES, ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_quiet_block_is_quiet_and_nothing_else_is(program, state):
    jitted = jit(program)
    with np.errstate(**state):
        for _ in range(6):
            ours = np.array([1.0, 0.0, 3.0]), np.array([0.0, 0.0, 2.0])
            theirs = tuple(each.copy() for each in ours)
            got, expected = told(jitted, *ours), told(program, *theirs)
            same(got[0], expected[0], ulp=2)
            assert got[1] == expected[1]
            same(ours, theirs, ulp=2)
    assert jitted.state.traces == 1
    assert not any(record.subject == "fallback" for record in jitted.records())


def test_a_quiet_block_costs_python_runs_in_few_calls(monkeypatch):
    counted = [0]

    def counting(function):
        counted[0] += 1
        return function()

    jitted = jit(ratio)
    settle = float_errors.settle
    monkeypatch.setattr(
        float_errors, "settle", lambda plain, *rest: settle(lambda: counting(plain), *rest)
    )
    with np.errstate(all="warn"):
        for _ in range(64):
            jitted(np.ones(3), np.zeros(3))
    assert 1 <= counted[0] <= 7


@pytest.mark.parametrize(
    "modes",
    [{"all": "raise"}, {"divide": "warn"}, {"divide": "print"}, {"call": None}],
    ids=str,
)
def test_other_blocks_are_pythons(modes):
    def function(x, y):
        with np.errstate(**modes):
            return x / y

    with pytest.warns(JitwiseWarning, match=r"numpy\.errstate\("):
        same(jit(function)(np.ones(3), np.full(3, 2.0)), np.full(3, 0.5))


def test_a_wrong_mode_is_numpys_error():
    @jit
    def function(x):
        with np.errstate(divide="loud"):
            return 1 / x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JitwiseWarning)
        with pytest.raises(ValueError, match="loud"):
            function(np.ones(2))
