"""Every public function of NumPy with a numeric meaning gives in a jitted function what it gives
outside, for arguments that are rarer, as often refused, and with as many warnings.
"""

from __future__ import annotations

import pytest
from surface_table import Call, calls
from surface_unusual import changed, in_foreign_order, runs_alike, sequences, with_other_numbers

BY_FUNCTION: dict[str, list[Call]] = {}
for _call in calls():
    if _call.function != "numpy.unpackbits":  # of which NumPy gives what was in the memory
        BY_FUNCTION.setdefault(_call.function, []).append(_call)
pytestmark = [pytest.mark.no_round_trip, pytest.mark.parametrize("function", BY_FUNCTION)]


def test_foreign_byte_order_is_kept_where_numpy_keeps_it(function):
    faults = [
        fault
        for call in BY_FUNCTION[function]
        for form in ("used", "written")
        for fault in runs_alike(call.text, in_foreign_order(call), form)
    ]
    assert not faults, "\n".join(faults)


def test_other_kinds_and_values_of_arguments_give_the_same(function):
    faults = [
        fault
        for call in BY_FUNCTION[function]
        for form, made in sequences(call)
        for fault in runs_alike(call.text, made, form)
    ]
    assert not faults, "\n".join(faults)


def test_numbers_that_numpy_refuses_are_refused(function):
    faults = [
        fault
        for call in BY_FUNCTION[function]
        for text in with_other_numbers(call.text)
        for form in ("used", "unused")
        for fault in runs_alike(text, [changed(text, lambda array: array, None)] * 2, form)
    ]
    assert not faults, "\n".join(faults)
