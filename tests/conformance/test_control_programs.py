"""Random programs with nested `if`, `while`, `for`, `break`, `continue` and early `return` over
numbers and arrays give Python's answers, whether they are compiled or not.

PROGRAM_EXAMPLES=5000 tries that many.
"""

from __future__ import annotations

import os
import random

import pytest
from generate_loops import Program, arguments, made
from oracle_of_calls import agrees

EXAMPLES = int(os.environ.get("PROGRAM_EXAMPLES", "150"))
AT_ONCE = 10


@pytest.mark.parametrize("batch", range(max(EXAMPLES // AT_ONCE, 1)))
def test_programs_of_branches_and_loops_give_pythons_answers(batch):
    for number in range(batch * AT_ONCE, (batch + 1) * AT_ONCE):
        source = random.Random(number)
        text = Program(source).text()
        calls = [arguments(source) for _ in range(3)]
        try:
            agrees(made(text, number), *calls)
        except AssertionError as error:
            raise AssertionError(f"{error}\nprogram {number}:\n{text}") from None
