"""Differential tests of whole calls: a jitted function beside the undecorated one, for many calls.

    agree(lambda x: x[x > 0], [x], [another x])  ->  how many traces and compilations it took

Nothing may run as Python. Results and, after the call, arguments are compared: kind, dtype, shape
and bits. `raises` compares exceptions, for which a function may run as Python.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jitwise import jit
from jitwise.api.remade import remade
from jitwise.errors import JitwiseWarning


class Counts(NamedTuple):
    """How often a function was traced and compiled."""

    traces: int
    compiles: int


def agree(function: Callable[..., Any], *calls: Sequence[Any], times: int = 2) -> Counts:
    """Compare each call, so often."""
    remade.clear()
    compiled = jit(function)
    for args in calls:
        for _ in range(times):
            expected_args, found_args = copy.deepcopy(args), copy.deepcopy(args)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = function(*expected_args)
                warnings.simplefilter("error", JitwiseWarning)
                found = compiled(*found_args)
            same(found, expected)
            same(tuple(found_args), tuple(expected_args))
    return Counts(compiled.state.traces, compiled.state.compiles)


def raises(function: Callable[..., Any], *calls: Sequence[Any]) -> set[type]:
    """Compare each call, of which some raise; gives the types of what is raised."""
    compiled = jit(function)
    types = set()
    for args in calls:
        expected_args, found_args = copy.deepcopy(args), copy.deepcopy(args)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, found = outcome(function, expected_args), outcome(compiled, found_args)
        if isinstance(expected, Exception):
            assert type(found) is type(expected), (found, expected)
            assert str(found) == str(expected)
            types.add(type(expected))
        else:
            same(found, expected)
        same(tuple(found_args), tuple(expected_args))
    return types


def outcome(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """What a call gives or raises."""
    try:
        return function(*args)
    except Exception as error:
        return error


def same(found: Any, expected: Any) -> None:
    """The same kind, dtype, shape and bits."""
    assert type(found) is type(expected), (type(found), type(expected))
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        same(tuple(found.values()), tuple(expected.values()))
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
        if expected.dtype.kind in "fc":
            for part in ("real", "imag"):
                signs = [np.signbit(getattr(each, part)) for each in (found, expected)]
                np.testing.assert_array_equal(*signs)
    else:
        assert found == expected or found != found
