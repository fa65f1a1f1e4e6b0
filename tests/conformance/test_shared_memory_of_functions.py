"""What functions of NumPy give shares memory with their arguments, or not, as outside of a jitted
function; and so does what is made of it by `ravel` and `reshape`, where the order of elements in
memory decides whether that is a view.

    found = np.nonzero(x);  found[0].ravel()[...] = 5      a copy: the columns of one array
"""

from __future__ import annotations

import warnings
import zlib
from typing import Any

import numpy as np
import pytest
from surface_arguments import LAYOUTS, Case, arguments
from surface_run import differs, function_of, is_product, outcome
from surface_table import Call, calls

from jitwise import jit

BY_FUNCTION: dict[str, list[Call]] = {}
for _call in calls():
    if "out=" not in _call.text:
        BY_FUNCTION.setdefault(_call.function, []).append(_call)

PARTS = {
    "whole": lambda array: array,
    "ravel": lambda array: array.ravel(),
    "reshape": lambda array: array.reshape(-1),
    "ravel of the transpose": lambda array: array.T.ravel(),
    "reshape in Fortran's order": lambda array: array.reshape(-1, order="F"),
}
SIZES = [(3, 4), (5, 3), (1, 3), (2, 1)]


def arrays_of(found: Any) -> list[Any]:
    if isinstance(found, (list, tuple)):
        return [array for each in found for array in arrays_of(each)]
    return [found] if isinstance(found, np.ndarray) else []


def writing(function: Any, part: Any) -> Any:
    """The call, and then a write to its results; without a `part`, to its arguments."""

    def written(*args):
        found = function(*args)
        for array in arrays_of(args if part is None else found):
            target = array if part is None else part(array)
            target[...] = target == 0
        return found, args

    return written


@pytest.mark.no_round_trip
@pytest.mark.parametrize("name", BY_FUNCTION)
def test_results_share_memory_as_outside(name):
    for call in BY_FUNCTION[name]:
        function, names = function_of(call)
        for use, part in {**PARTS, "argument": None}.items():
            chance = zlib.crc32(f"{call.text} {use}".encode())
            layout = list(LAYOUTS)[chance % 3]
            case = Case("f8", *SIZES[chance // 3 % len(SIZES)], layout)
            plain = writing(function, part)
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                expected = outcome(plain, arguments(case, names))
                found = outcome(jit(plain), arguments(case, names))
            difference = differs(found, expected, is_product(call))
            assert difference is None, f"{use} of {call.text}, {case}: {difference}"
