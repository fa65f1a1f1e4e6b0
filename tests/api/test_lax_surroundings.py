"""What surrounds branches and loops of `jitwise.lax`: lists, printing, random numbers, objects,
globals and warnings are as in Python, inside of jitted functions and outside.
"""

from __future__ import annotations

import gc
import warnings
import weakref

import numpy as np
import pytest
from oracle import agrees, same
from plain_lax import Plain

from jitwise import jit, lax

pytestmark = pytest.mark.filterwarnings("ignore")
X = np.linspace(0, 1, 6)


class Sums:
    """Carries of a class of the user's own, which are no nests."""

    def __init__(self, x):
        self.x = x


def test_what_bodies_do_to_lists_is_done_once_a_turn():
    def f(x, n):
        noted = []

        def body(i, c):
            noted.append(1)
            return c + x[i]

        return lax.fori_loop(0, n, body, 0.0), len(noted)

    kept_outside = []

    def g(x, n):
        lax.fori_loop(0, n, lambda i, c: (kept_outside.append(1), c)[1], 0.0)
        return len(kept_outside)

    for call in (f, jit(f)):
        same(call(X, 3), (X[0] + X[1] + X[2], 3), ulp=2)
    call = jit(g)
    assert [call(X, 3), call(X, 2)] == [3, 5]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_what_bodies_print_is_printed_once_a_turn(n, capsys):
    def f(x):
        return lax.fori_loop(0, n, lambda i, c: (print("turn"), c + x[i])[1], 0.0)

    for call in (f, jit(f)):
        call(X)
        assert capsys.readouterr().out.count("turn") == n


def test_a_branch_that_is_not_taken_prints_nothing(capsys):
    def f(x):
        return lax.cond(x[0] > 5, lambda: (print("yes"), 1)[1], lambda: (print("no"), 2)[1])

    for call in (f, jit(f)):
        assert call(X) == 2
        assert capsys.readouterr().out == "no\n"


def test_random_numbers_are_drawn_once_a_turn():
    def f(rng, n):
        return lax.fori_loop(0, n, lambda i, s: s + rng.random(), 0.0), rng.random()

    call = jit(f)
    for n in (0, 1, 4, 2):
        expected = Plain(calls=False).fori_loop
        one, other, third = (np.random.default_rng(1) for _ in range(3))
        total = expected(0, n, lambda i, s, third=third: s + third.random(), 0.0)
        for got in (f(one, n), call(other, n)):
            np.testing.assert_allclose(got[0], total)
        assert one.random() == other.random() != third.random()


def test_functions_and_texts_are_carried_as_they_are():
    def f(x, n):
        return lax.fori_loop(
            0,
            n,
            lambda i, c: (c[0], c[1], c[1](c[2]) if c[0] == "sine" else c[2]),
            ("sine", np.sin, x),
        )

    for n in (0, 2):
        expected = np.sin(np.sin(X)) if n else X
        for call in (f, jit(f)):
            text, function, x = call(X, n)
            assert (text, function) == ("sine", np.sin)
            same(x, expected, ulp=4)


def test_objects_of_no_nest_are_leaves():
    def f(x):
        return lax.fori_loop(0, 2, lambda i, c: (c[0], c[1] + c[0].x.sum()), (Sums(x), 0.0))[1]

    agrees(f, X, ulp=4)


@pytest.mark.parametrize("dtype", ["U3", "M8[D]", object])
def test_arrays_that_are_not_compiled_are_carried_outside(dtype):
    x = np.array(["2001", "2002"]).astype(dtype)

    def f(x):
        return lax.fori_loop(0, 3, lambda i, c: c[::-1], x)

    for call in (f, jit(f)):
        assert call(x).tolist() == x[::-1].tolist()


def test_a_changed_global_is_seen_by_the_next_call():
    world = {"scale": 2.0}

    def f(x, n):
        return lax.fori_loop(0, n, lambda i, c: c * world["scale"], x)

    call = jit(f)
    for scale in (2.0, 3.0, 2):
        world["scale"] = scale
        for n in (1, 2):
            same(call(X, n), X * float(scale) ** n, ulp=2)
            same(f(X, n), X * float(scale) ** n, ulp=2)


def test_functions_outside_are_read_anew_where_what_they_hold_changes():
    """An int is carried as what the array in the closure makes of it, each time."""
    for step in (1, 2.5, np.float32(2), np.arange(3), np.ones(3, np.float32)):
        for n in (0, 2):
            got = lax.fori_loop(0, n, lambda i, c, step=step: c + step, 0)
            expected = Plain().fori_loop(0, n, lambda i, c, step=step: c + step, 0)
            same(got, expected)


def test_loops_outside_keep_no_object_alive():
    held = Sums(X)
    lax.fori_loop(0, 2, lambda i, c, held=held: c + held.x, X)
    alive = weakref.ref(held)
    del held
    gc.collect()
    assert alive() is None


def test_warnings_are_numpys():
    def f(x):
        return lax.fori_loop(0, 3, lambda i, c: c / x, x)

    for call in (f, jit(f)):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            with np.errstate(all="warn"):
                call(np.zeros(2))
        assert {each.category for each in found} == {RuntimeWarning}
