"""A bool of Python's that each turn of a loop changes is the int 0 or 1 in arithmetic, as in
Python, and the loop is compiled.
"""

from __future__ import annotations

import operator

import numpy as np
import pytest
from oracle_of_calls import agrees

from jitwise import lax

OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.pow),
]
UNARY = [operator.neg, operator.pos, abs, int, float, bool]
OTHERS = [True, False, 3, 2.5, np.float64(2.5)]
IN_PYTHON = {  # an int raised to a power that a turn changes, quotients of floats rounded down
    *((operator.pow, "first", each) for each in ("True", "False", "3")),
    *((operator.pow, way, "2.5") for way in ("first", "last")),
    *(
        (each, way, "2.5")
        for each in (operator.floordiv, operator.mod)
        for way in ("first", "last")
    ),
}


def loops(step, zero):
    """Programs that sum what a step gives for a bool that changes."""

    def in_python(n, b):
        total = zero
        for _ in range(n):
            total = total + step(b)
            b = not b
        return total, b

    def in_lax(n, b):
        return lax.fori_loop(0, n, lambda i, c: (c[0] + step(c[1]), not c[1]), (zero, b))

    def nested(n, b):
        def outer(i, c):
            return lax.fori_loop(0, i, lambda j, d: (d[0] + step(c[1]), d[1]), c)[0], not c[1]

        return lax.fori_loop(0, n, outer, (zero, b))

    return in_python, in_lax, nested


def check(step, is_compiled, of_lax):
    try:
        zero = step(True) * 0
    except (ArithmeticError, TypeError, ValueError):
        zero = 0
    programs = loops(step, +zero)
    for program in programs[1:] if of_lax else programs[:1]:
        compiled = agrees(program, *[[n, b] for n in (2, 0, 5) for b in (True, False)])
        if is_compiled:
            entries = compiled.state.native.entries()
            assert all(made is not None for _, _, made, _, _ in entries), program.__name__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["first", "last"])
@pytest.mark.parametrize("other", OTHERS, ids=repr)
@pytest.mark.parametrize("operate", OPERATORS, ids=lambda each: each.__name__)
def test_operators_on_bools_that_turns_change(operate, other, way):
    def step(b):
        return operate(other, b) if way == "first" else operate(b, other)

    is_plain = type(other) in (bool, int, float)
    raises = operate in (operator.floordiv, operator.mod, operator.truediv) and (
        way == "first" or not other
    )
    named = (operate, way, repr(other)) in IN_PYTHON
    check(step, is_plain and not named and not raises and _is_defined(step), way == "first")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("operate", UNARY, ids=lambda each: each.__name__)
def test_functions_of_bools_that_turns_change(operate):
    for of_lax in (False, True):
        check(operate, True, of_lax)


def _is_defined(step):
    try:
        return step(True) is not step
    except TypeError:
        return False
