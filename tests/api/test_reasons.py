"""The reason for running as Python names the variable and says what to write instead."""

from __future__ import annotations

import numpy as np
import pytest

from jitwise import JitwiseWarning, jit


def overwritten(grid):
    grid[...] = 3
    return grid


def through_a_copy_perhaps(grid):
    line = grid.T.reshape(-1)
    line[0] = 1
    return line


@pytest.mark.parametrize(
    ("function", "argument", "words"),
    [
        (
            overwritten,
            np.lib.stride_tricks.as_strided(np.zeros(3), (2, 3), (0, 8)),
            "grid, whose elements overlap in memory, is changed in place; change a copy",
        ),
        (through_a_copy_perhaps, np.ones((2, 3)), "changed in place; change a copy"),
    ],
)
def test_a_reason_names_the_variable_and_what_to_write(function, argument, words):
    with pytest.warns(JitwiseWarning, match=words) as told:
        jit(function)(argument)
    assert any(f"{__file__}:" in str(each.message) for each in told)


def test_few_points_between_numbers_are_compiled_for_their_number():
    def few_points(n):
        return np.linspace(0, 1, n, dtype=int) + np.linspace(0, 4, n)

    jitted = jit(few_points)
    for count in (1, 3, 1, 3):
        assert jitted(count).tolist() == [0.0, 2.0, 5.0][:count]
    assert not [each for each in jitted.records() if each.subject == "fallback"]
