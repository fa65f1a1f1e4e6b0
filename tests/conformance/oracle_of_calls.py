"""The oracle of a jitted function that is called several times: the plain one, with the comparison
of `surface_run`.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

from surface_run import differs, outcome

from jitwise import jit


def agrees(function: Callable[..., Any], *calls: list[Any]) -> Any:
    """Assert that a jitted function gives what the plain one gives in each of these calls, twice
    over; gives the jitted function.
    """
    compiled = jit(function)
    for given in (*calls, *calls):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = outcome(function, copy.deepcopy(given))
            difference = differs(outcome(compiled, copy.deepcopy(given)), expected)
        assert difference is None, f"{difference} of {given}"
    return compiled
