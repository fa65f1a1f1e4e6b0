"""The oracle of what a call tells: its result or exception, its warnings, and its arguments
afterwards, of a jitted function that is called several times and of the plain one.

    faults_of("a + k", ("a", "k"), calls)      what differed, in words; empty when nothing did
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from surface_run import differs, outcome

from jitwise import jit
from jitwise.errors import JitwiseWarning


def told(function: Callable[..., Any], given: list[Any]) -> tuple[Any, list[Any]]:
    """The outcome of a call, and the categories of the warnings it gave but jitwise's own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = outcome(function, given)
    kept = {each.category for each in caught}
    return found, sorted(each.__name__ for each in kept if not issubclass(each, JitwiseWarning))


def difference(
    compiled: Any, plain: Callable[..., Any], given: list[Any], warned: bool = True
) -> str | None:
    """In what a call of the jitted function differs, and in what it warns of if it is to."""
    expected, words = told(plain, copy.deepcopy(given))
    found, own = told(compiled, copy.deepcopy(given))
    found_error, error = (isinstance(each[0], Exception) for each in (found, expected))
    text = differs(found, expected)
    if warned and text is None and not found_error and not error and own != words:
        text = f"warns {own}, not {words}"
    return text


def function_of(text: str, names: Sequence[str]) -> Callable[..., Any]:
    """A function of these parameters: an expression, or statements that are to be followed by a
    return of all parameters.
    """
    try:
        compile(text, "", "eval")
        statement = False
    except SyntaxError:
        statement = True
    body = f"    {text}\n    return {', '.join(names)}" if statement else f"    return {text}"
    scope: dict[str, Any] = {"np": np, "math": math}
    exec(f"def function({', '.join(names)}):\n{body}\n", scope)
    return scope["function"]


def faults_of(
    text: str, names: Sequence[str], calls: Sequence[list[Any]], warned: bool = True
) -> list[str]:
    """What differs in these calls, made in this order and in the opposite one."""
    plain = function_of(text, names)
    faults = []
    for order in (1, -1):
        compiled = jit(plain)
        for given in calls[::order]:
            found = difference(compiled, plain, given, warned)
            if found is not None:
                faults.append(f"{text} of {given}: {found}")
    return faults
