"""What arguments cost whose values are part of the signature: traces, when the values vary."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from jitwise import JitwiseWarning, jit
from jitwise.record import recorder

X = np.arange(3.0)


def scaled(x, name):
    return np.sin(x) * len(name)


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_a_name_that_differs_in_every_call_is_traced_a_few_times_only():
    function = jit(scaled)
    for index in range(100):
        np.testing.assert_allclose(function(X, f"name {index}"), scaled(X, f"name {index}"))
    assert function.state.traces <= 8


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_names_that_come_again_are_compiled():
    function = jit(scaled)
    for _ in range(3):
        for index in range(30):
            function(X, f"name {index}")
    assert function.state.traces == 30


def test_names_that_are_used_again_at_once_are_compiled_at_once():
    function = jit(scaled)
    with warnings.catch_warnings():
        warnings.simplefilter("error", JitwiseWarning)
        for index in range(30):
            function(X, f"name {index}")
            function(X, f"name {index}")
    assert function.state.traces == 30


def test_the_decision_is_recorded_and_said_once_at_the_users_line():
    function = jit(scaled)
    before = recorder.counts["fallback"]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for index in range(30):
            function(X, f"name {index}")
    assert [str(each.message) for each in said] == [
        "scaled runs as Python, because 8 values of name, a str, served one call each; "
        "a new value is compiled when it comes again, at "
        f"{__file__}:{scaled.__code__.co_firstlineno}"
    ]
    assert said[0].filename == __file__
    assert recorder.counts["fallback"] == before + 1
    assert recorder.records("fallback")[-1].detail["reason"] == "varies"


def test_new_dtypes_and_ranks_do_not_count_as_varying_values():
    function = jit(lambda x: x + x)
    for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"):
        function(np.ones(3, dtype))
    assert function.state.traces == 12
