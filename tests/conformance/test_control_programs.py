"""Random programs with nested `if`, `while`, `for`, `break`, `continue` and early `return` over
numbers and arrays give Python's answers, whether they are compiled or not.

PROGRAM_EXAMPLES=5000 tries that many of each kind. `generate_mixed` says how many compile.
"""

from __future__ import annotations

import os
import random

import numpy as np
import pytest
from generate_loops import Program, arguments, made
from generate_mixed import program_of
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


@pytest.mark.parametrize("batch", range(max(EXAMPLES // AT_ONCE, 1)))
def test_programs_over_rows_and_dtypes_give_pythons_answers(batch):
    for number in range(batch * AT_ONCE, (batch + 1) * AT_ONCE):
        text, function, calls = program_of(number)
        try:
            agrees(function, *calls)
        except AssertionError as error:
            raise AssertionError(f"{error}\nprogram {number}:\n{text}") from None


# What a turn gives to a variable that has no value before, and where it is asked for.
GIVEN = ["v", "i", "x * v", "None", "(v, i)"]
UNTIL = ["if v > n: last = {}", "last = {}", "if i == n:\n            last = {}\n            break"]
UNTIL += [
    "if v > n: last = {}\n        elif v < 0: last = {}",
    "if v > n: pass\n        else: last = {}",
]
LOOPS = ["for i, v in enumerate(x):", "for i in range(len(x)):\n        v = x[i]"]
LOOPS += ["i = -1\n    while i < len(x) - 1:\n        i += 1\n        v = x[i]"]
ASKED = ["pass", "if v > 1: s = s + (last is None)", "if i > 0: b = last", "b = last"]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("until", UNTIL)
@pytest.mark.parametrize("asked", ASKED)
def test_a_variable_that_a_loop_gives_its_first_value_has_none_before(loop, until, asked):
    arrays = [[0.0, 2.0, 1.0], [], [3.0], [-1.0, 5.0, 2.0, 7.0]]
    calls = [[np.array(x), n] for x in arrays for n in (0, 2)]
    for number, given in enumerate(GIVEN):
        for end in ("last", "s"):
            lines = ["def begun(x, n):", "    s, b = 0.0, False", f"    {loop}", f"        {asked}"]
            lines += [f"        {until.format(given, given)}", f"    return {end}, b", ""]
            text = "\n".join(lines)
            try:
                agrees(made(text, f"begun {number} {hash(text)}", "begun"), *calls)
            except AssertionError as error:
                raise AssertionError(f"{error}\n{text}") from None


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "//", "%", "**", "<", "=="])
@pytest.mark.parametrize("first", ["0.0", "2.5", "3", "True"])
def test_numbers_that_branches_give_are_what_they_are_in_each_call(operator, first):
    calls = [[np.array([one, other]), 1.5] for one in (-1.0, 2.0) for other in (-1.0, 2.0)]
    for second in ("0.5", "4", "False", "a", "s"):
        for left, right in (("s", second), (second, "s")):
            lines = ["def chosen(x, a):", "    s = x[0] > 9" if first == "True" else "    s = 1.5"]
            lines += ["    if x[0] > 0:", f"        s = {first}"]
            lines += ["    t = s", "    if x[1] > 0:", f"        t = ({left}) {operator} ({right})"]
            lines += ["    return t", ""]
            text = "\n".join(lines)
            agrees(made(text, f"chosen {hash(text)}", "chosen"), *calls)


STARTS = ["0.0", "1.5", "0", "3", "a", "k"]
TURNS = ["if v > 1: s = s + v", "if v > 1: s = v", "s = max(s, v)", "s = min(v, s)"]
TURNS += ["s = v if v > 1 else s * 3", "if v > 1: s = abs(v) - s", "s = s / 4 if v > 1 else s + v"]
USES = [
    "s",
    "s * 2, s > 1, -s",
    "s * 0.1",
    "s + x",
    "s if s else None",
    "math.sqrt(abs(s))",
    "s == v",
]


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("start", STARTS)
def test_a_number_that_is_pythons_in_some_turns_and_numpys_in_others(start, turn):
    dtypes = ["f8", "f4", "i8", "i4", "u1", "f2", "?"]
    given = [[1, 2, 3], [0, 0, 0, 0], [1], [5, 1, 40, 0, 7], [0] * 50]
    for number, use in enumerate(USES):
        lines = ["def turned(x, a, k):", f"    s, v = {start}, x[0]", "    for v in x:"]
        text = "\n".join([*lines, f"        {turn}", f"    return {use},", ""])
        calls = [[np.array(x).astype(dtype), -0.5, 2] for dtype in dtypes for x in given]
        try:
            agrees(made(text, f"turned {number} {hash(text)}", "turned"), *calls)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{text}") from None
