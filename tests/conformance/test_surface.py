"""Every public function of NumPy with a numeric meaning gives in a jitted function what it gives
outside, over dtypes, axes, empty arrays and layouts, and runs as docs/functions.md says.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from surface_document import row_of
from surface_run import WAYS, run
from surface_table import Call, ambiguous, calls, missing

ROWS = (Path(__file__).parents[2] / "docs" / "functions.md").read_text().splitlines()
BY_FUNCTION: dict[str, list[Call]] = {}
for _call in calls():
    BY_FUNCTION.setdefault(_call.function, []).append(_call)


@pytest.mark.no_round_trip
@pytest.mark.parametrize("function", BY_FUNCTION)
def test_a_function_gives_what_it_gives_outside_and_runs_as_documented(function):
    found = [run(call) for call in BY_FUNCTION[function]]
    faults = [fault for each in found for fault in each.faults]
    assert not faults, "\n".join(faults)
    rows = [row for row in ROWS if row.startswith(f"| `{function}` |")]
    assert rows == [row_of(function, found)], "run tools/surface.py --write"


def test_every_public_function_is_tried_or_left_out_for_a_reason():
    assert missing() == []
    assert ambiguous() == []


def test_nearly_all_functions_are_compiled_or_called_inside_of_the_program():
    ways = Counter(row.split("|")[2].strip() for row in ROWS if row.startswith("| `"))
    assert set(ways) <= set(WAYS)
    assert ways["native"] + ways["library"] >= 0.85 * ways.total()
