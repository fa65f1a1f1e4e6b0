"""Branches and loops of `jitwise.lax` give what a plain Python reference gives (`plain_lax`), inside
of jitted functions and outside: values, dtypes, shapes, kinds, structures, exceptions, and what
becomes of the arrays that they were given.
"""

# ruff: noqa: B023, E501 - programs are called in the turn that makes them, and stand on a line
from __future__ import annotations

import itertools
import re
import threading

import lax_programs
import numpy as np
import pytest
from lax_programs import put
from oracle import agrees, copied, same
from plain_lax import Plain

import jitwise
from jitwise import jit, lax
from jitwise.config import override
from jitwise.errors import CarryError

pytestmark = pytest.mark.filterwarnings("ignore")
X = np.linspace(0, 1, 6)
NUMBERS = itertools.count()


def outcome(function, args):
    """What a call gives or raises, and its arguments afterwards."""
    args = copied(args)
    try:
        return function(*args), None, args
    except Exception as error:
        return None, error, args


def check(row, call):
    """A program with `jitwise.lax` is one with the reference."""
    plain = Plain(calls=not row.changes)
    expected, expected_error, after = outcome(lambda *a: row.program(plain, *a), row.arguments)
    got, error, left = outcome(call, row.arguments)
    assert type(error) is type(expected_error), f"{row.name} raised {error!r}"
    same(got, expected, ulp=4, where=row.name)
    same(left, after, where=f"{row.name}: arguments")


def jitted(row, known):
    """The jitted program, of a name of its own: one for all arguments."""
    found = known.get(row.program)
    if found is None:

        def program_of_lax(*args):
            return row.program(lax, *args)

        program_of_lax.__name__ += f"_{next(NUMBERS)}"
        found = known[row.program] = jit(program_of_lax)
    return found


GENERATORS = ["carries", "nests", "rows", "selects", "programs", "writes"]


@pytest.mark.parametrize("name", GENERATORS)
def test_outside_of_a_jitted_function_it_is_plain_python(name):
    for row in getattr(lax_programs, name)():
        check(row, lambda *args, row=row: row.program(lax, *args))


@pytest.mark.parametrize("name", GENERATORS)
def test_inside_of_a_jitted_function_it_is_plain_python(name):
    known = {}
    for row in getattr(lax_programs, name)():
        check(row, jitted(row, known))


@pytest.mark.parametrize("name", ["rows", "programs", "writes"])
def test_each_stage_gives_what_the_one_before_gives(name):
    known = {}
    with override(verify=2):
        for row in getattr(lax_programs, name)():
            check(row, jitted(row, known))


@pytest.mark.parametrize("name", ["rows", "programs", "writes"])
def test_with_fastmath_it_is_plain_python_up_to_rounding(name):
    for row in list(getattr(lax_programs, name)())[::3]:
        call = jit(lambda *args, row=row: row.program(lax, *args), fastmath=True)
        plain = Plain(calls=not row.changes)
        expected, error, _ = outcome(lambda *a, row=row: row.program(plain, *a), row.arguments)
        if error is None:
            same(call(*copied(row.arguments)), expected, ulp=64, where=row.name)


def why_python(call):
    return [record.detail for record in call.records() if record.subject == "fallback"]


@pytest.mark.parametrize("name", ["rows", "selects", "programs"])
def test_programs_that_write_to_nothing_are_compiled(name):
    known = {}
    for row in getattr(lax_programs, name)():
        call = jitted(row, known)
        call(*copied(row.arguments))
        assert call.state.traces and not why_python(call), row.name


def test_other_lengths_and_turns_are_no_new_trace():
    def f(x, n, rows):
        total = lax.fori_loop(0, n, lambda i, s: s + x[i], 0.0)
        carry, ys = lax.scan(lambda c, r: (c * 0.5 + r, c.sum()), x, rows)
        count = lax.while_loop(
            lambda s: s[1] < total + 5, lambda s: (s[0] + 1, s[1] + 1.0), (0, 0.0)
        )
        return total, carry, ys, count, lax.map(lambda r: r[0], rows)

    call = jit(f)
    for size in (3, 5, 17):
        x, rows = np.linspace(1, 2, size), np.linspace(0, 1, 4 * size).reshape(4, size)
        for n in (2, 3):
            for count in (2, 4):
                same(call(x, n, rows[:count]), f(x, n, rows[:count]), ulp=4)
    assert call.state.traces == 1


def test_threads_may_call_one_function_and_loops_outside_of_it():
    def f(x, n):
        return lax.fori_loop(0, n, lambda i, c: (c[0] + x[i], c[1] * 0.5), (0, 4))

    call, found = jit(f), []

    def work(k):
        x = np.linspace(0, k, 5)
        for n in (1, 3, 5):
            found.append((call(x, n), f(x, n)))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 12
    for one, other in found:
        same(one, other, ulp=4)


@jit
def inner(x, scale):
    return np.tanh(x * scale)


@jit
def looped(x, n):
    return lax.fori_loop(0, n, lambda i, c: inner(c, 0.5) + i, x)


def test_jitted_functions_are_called_in_bodies():
    def f(x, n):
        _, ys = lax.scan(lambda c, r: (looped(c, n), inner(r, 2.0)), x[0], x)
        return lax.cond(n > 1, lambda: looped(ys[0], 2), lambda: ys[0]), ys

    x = np.linspace(-1, 1, 12).reshape(3, 4)
    call = jit(f)
    for n in (0, 1, 3):
        with jitwise.disable_jit():
            expected = f(x, n)
        same(call(x, n), expected, ulp=8)
        same(f(x, n), expected, ulp=8)


def test_a_loop_in_a_python_loop_is_traced_once_for_all_lengths():
    def f(x, n):
        total = 0.0
        for i in range(n):
            total = total + lax.fori_loop(0, i, lambda j, s: s + x[j] * i, 0.0)
        return total

    call = jit(f)
    for n in (1, 6):
        agrees(f, X, n, jitted=call, ulp=4)


def stops(i, c):
    if i < 100:
        raise ZeroDivisionError("stopped")
    return c


RAISING = {
    "in a body": lambda x: lax.fori_loop(0, 3, stops, x),
    "in a test": lambda x: lax.while_loop(lambda c: 1 / 0, lambda c: c, x),
    "in a branch": lambda x: lax.cond(x[0] < 5, lambda: 1 // 0, lambda: 2),
    "in a branch that is not taken": lambda x: lax.cond(x[0] > 5, lambda: 1 // 0, lambda: 2),
    "in a scan": lambda x: lax.scan(lambda c, r: (c, x[99]), 0, x),
    "out of bounds": lambda x: lax.fori_loop(0, 9, lambda i, s: s + x[i], 0.0),
    "out of bounds to write": lambda x: lax.fori_loop(0, 9, lambda i, c: put(c, i, 1.0), x),
    "negative and out of bounds": lambda x: lax.fori_loop(0, 9, lambda i, s: s + x[-i], 0.0),
    "shapes": lambda x: lax.fori_loop(0, 2, lambda i, s: s + x[:2] + x[:3], 0.0),
    "an array as a test": lambda x: lax.while_loop(lambda c: c < 3, lambda c: c + 1, x),
    "int overflow": lambda x: lax.fori_loop(0, 9, lambda i, s: s * 2**20, 1),
    "division by zero": lambda x: lax.fori_loop(0, 3, lambda i, s: s + 1.0 / i, 0.0),
}


@pytest.mark.parametrize("name", RAISING)
def test_exceptions_are_pythons(name):
    agrees(RAISING[name], X)


# Arguments that are wrong, and what cannot agree

N = np.int64(3)
WRONG = [
    (TypeError, "true_fun is to be a function, not 3", lambda x: lax.cond(True, 3, lambda: 2)),
    (TypeError, "false_fun is to be a function", lambda x: lax.cond(x[0] > 1, lambda: 2, None)),
    (TypeError, "branch 1 is to be a function", lambda x: lax.switch(0, [lambda: 1, 2])),
    (ValueError, "there are no branches", lambda x: lax.switch(0, [])),
    (TypeError, "body_fun is to be a function", lambda x: lax.fori_loop(0, 1, x, 0)),
    (TypeError, "cond_fun is to be a function", lambda x: lax.while_loop(True, lambda c: c, 0)),
    (TypeError, "f is to be a function", lambda x: lax.scan(1, 0, x)),
    (TypeError, "f is to be a function", lambda x: lax.map(x, lambda v: v)),
    (TypeError, "fn is to be a function", lambda x: lax.associative_scan(x, np.add)),
    (TypeError, "pred is to be one bool.*shape.*numpy.any", lambda x: lax.cond(x > 1, abs, abs, 1)),
    (TypeError, "pred is to be one bool, not None", lambda x: lax.cond(None, abs, abs, 1)),
    (TypeError, "pred is to be one bool, not 'a'", lambda x: lax.cond("a", abs, abs, 1)),
    (TypeError, "index is to be one integer, not 0.5", lambda x: lax.switch(0.5, [lambda: 1])),
    (TypeError, "index is to be one integer", lambda x: lax.switch(x[0], [lambda: 1])),
    (TypeError, "index is to be one integer", lambda x: lax.switch(x, [lambda: 1])),
    (TypeError, "lower is to be one integer, not 0.5", lambda x: lax.fori_loop(0.5, 1, put, 0)),
    (TypeError, "upper is to be one integer", lambda x: lax.fori_loop(0, x.sum(), put, 0)),
    (TypeError, "length is to be one integer", lambda x: lax.scan(put, 0, x, length=2.0)),
    (ValueError, "at least 0, not -1", lambda x: lax.scan(put, 0, None, length=-1)),
    (ValueError, "neither xs nor length", lambda x: lax.scan(put, 0, None)),
    (ValueError, "neither xs nor length", lambda x: lax.scan(put, 0, (None, {}))),
    (ValueError, "lengths differ: 6, 2", lambda x: lax.scan(put, 0, (x, x[:2]))),
    (ValueError, "lengths differ: 2, 6", lambda x: lax.scan(put, 0, x, length=2)),
    (ValueError, "no axis to run along", lambda x: lax.scan(put, 0, (x, 3))),
    (ValueError, "no axis to run along", lambda x: lax.map(abs, x[0])),
    (TypeError, "give .carry, y.", lambda x: lax.scan(lambda c, r: c, 0, x)),
    (TypeError, "give .carry, y.", lambda x: lax.scan(lambda c, r: [c, r], 0, x)),
    (ValueError, "different lengths", lambda x: lax.associative_scan(np.add, (x, x[1:]))),
]


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_wrong_arguments_are_refused_in_words(case):
    error, text, function = WRONG[case]
    for call in (function, jit(function)):
        with pytest.raises(error, match=text) as found:
            call(X)
        assert not isinstance(found.value, CarryError)


def kept(c):
    return c


def changed(c):
    return {"w": [c["w"][0], c["w"][0]]}


def first_line(function):
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def two(x):
    return x, np.zeros(2)


def three(x):
    return x, np.zeros(3)


def nested(c):
    return (c[0], {"w": np.zeros(2)})


UNLIKE = {
    "branches": (
        lambda x: lax.cond(x[0] < 1, two, three, x),
        [r"result\[1\] is array f64\[3\] from three", r"array f64\[2\] from two", two, three],
    ),
    "branches of a switch": (
        lambda x: lax.switch(0, [two, two, three], x),
        [r"result\[1\] is array f64\[2\] from two", r"array f64\[3\] from three", two, three],
    ),
    "structures of branches": (
        lambda x: lax.cond(x[0] < 1, two, kept, x),
        [r"kept.* gives \* and two .* gives \(\*, \*\)", two, kept],
    ),
    "keys": (
        lambda x: lax.cond(x[0] < 1, lambda: {"a": 1}, lambda: {"b": 1}),
        [r"gives \{'b': \*\} and .* gives \{'a': \*\}"],
    ),
    "texts": (
        lambda x: lax.cond(x[0] < 1, lambda: (1, "a"), lambda: (1, "b")),
        [r"result\[1\] is 'b' from .* and 'a' from"],
    ),
    "a number and a text": (
        lambda x: lax.cond(x[0] < 1, lambda: 1, lambda: None),
        ["result is None from .* and int from"],
    ),
    "a carry": (
        lambda x: lax.while_loop(lambda c: True, nested, (0, {"w": x})),
        [r"carry\[1\]\['w'\] is array f64\[6\] before", r"array f64\[2\] after a turn of", nested],
    ),
    "a counted carry": (
        lambda x: lax.fori_loop(0, 2, lambda i, c: nested(c), (0, {"w": x})),
        [r"carry\[1\]\['w'\] is array f64\[6\] before", r"array f64\[2\] after a turn of"],
    ),
    "a scanned carry": (
        lambda x: lax.scan(lambda c, r: (x[:2], r), x[:3], x),
        [r"carry is array f64\[3\] before", r"array f64\[2\] after a turn of"],
    ),
    "a text that changes": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: c + "a", "b"),
        ["carry is 'b' before the loop", "'ba' after a turn"],
    ),
    "an int that becomes None": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: (None, c[1]), (1, 2)),
        [r"carry\[0\] is int before the loop", "None after a turn"],
    ),
    "structure of a carry": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: (c[1], c), (1, 2)),
        [r"takes \(\*, \*\) and gives \(\*, \(\*, \*\)\)"],
    ),
    "length of a carry": (
        lambda x: lax.while_loop(lambda c: True, changed, {"w": [x]}),
        [r"takes \{'w': \[\*\]\} and gives \{'w': \[\*, \*\]\}", changed],
    ),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_what_cannot_agree_is_named_with_its_place_types_and_lines(name):
    function, words = UNLIKE[name]
    texts = []
    for call in (function, jit(function)):
        with pytest.raises(CarryError) as found:
            call(X)
        text = str(found.value)
        for word in words:
            if callable(word):
                assert first_line(word) in text
            else:
                assert re.search(word, text), text
        if "before the loop" in text:
            assert f"({first_line(function)})" in text
        texts.append(text)
    assert texts[0] == texts[1]


def test_keys_in_another_order_are_the_same_structure():
    def f(n):
        return lax.fori_loop(
            0, n, lambda i, c: {"b": c["b"] * 2, "a": c["a"] + 1}, {"a": 1, "b": 5}
        )

    for call in (f, jit(f)):
        assert call(3) == {"a": 4, "b": 40}
