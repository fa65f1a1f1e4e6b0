"""What a branch or a loop does to lists, dicts and variables beside the graph is done once a turn,
in the branch that is taken, as in Python; whatever leads to them.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from oracle_of_calls import agrees

from jitwise import lax

X = np.linspace(1.0, 2.0, 6)


def directly(noted):
    return lambda v: noted.append(1)


def by_a_function(noted):
    def note():
        noted.append(1)

    return lambda v: note()


def by_functions(noted):
    def note():
        noted.append(1)

    def twice():
        note()
        note()

    return lambda v: twice()


def by_a_method(noted):
    append = noted.append
    return lambda v: append(1)


def by_a_default(noted):
    def note(v, kept=noted, *, further=noted):
        kept.append(1)
        further.append(2)

    return note


def by_a_partial(noted):
    def note(kept, v):
        kept.append(1)

    return functools.partial(note, noted)


def in_a_dict(noted):
    table = {"lists": (noted,)}
    return lambda v: table["lists"][0].append(1)


def in_a_variable(noted):
    count = 0

    def note(v):
        nonlocal count
        count += 1
        noted[:] = [count]

    return note


def by_nothing(noted):
    return lambda v: None


WAYS = [directly, by_a_function, by_functions, by_a_method, by_a_default, by_a_partial, in_a_dict]
WAYS += [in_a_variable, by_nothing]


def an_if(x, n, note):
    if x[0] * n < 5:
        note(x)
    return x + 1


def an_else(x, n, note):
    if x[0] * n < 5:
        x = x + 1
    else:
        note(x)
    return x


def an_expression(x, n, note):
    return x if x[0] * n < 5 else (note(x), x)[1]


def a_while(x, n, note):
    i = 0
    while i < n and x[i] < 1.7:
        note(x)
        i += 1
    return i


def a_for(x, n, note):
    s = 0.0
    for i in range(n):
        note(x)
        s = s + x[i]
    return s


def a_for_over_an_array(x, n, note):
    s = 0.0
    for v in x[:n]:
        note(v)
        s = s + v
    return s


def a_cond(x, n, note):
    return lax.cond(x[0] * n < 5, lambda: (note(x), 1)[1], lambda: 2)


def a_cond_of_operands(x, n, note):
    return lax.cond(x[0] * n < 5, lambda y: y + 1, lambda y: (note(y), y)[1], x)


def a_switch(x, n, note):
    return lax.switch(n, [lambda: 0, lambda: (note(x), 1)[1], lambda: 2])


def a_while_loop(x, n, note):
    return lax.while_loop(lambda i: i < n, lambda i: (note(x), i + 1)[1], 0)


def a_test_of_a_while_loop(x, n, note):
    return lax.while_loop(lambda i: (note(x), i < n)[1], lambda i: i + 1, 0)


def a_fori_loop(x, n, note):
    return lax.fori_loop(0, n, lambda i, s: (note(x), s + x[i])[1], 0.0)


def a_scan(x, n, note):
    return lax.scan(lambda s, v: (note(v), (s + v, s))[1], 0.0, x[:n])


def a_map(x, n, note):
    return lax.map(lambda v: (note(v), v * 2)[1], x[:n])


def an_associative_scan(x, n, note):
    return lax.associative_scan(lambda a, b: (note(b), a + b)[1], x[:n])


PLACES = [an_if, an_else, an_expression, a_while, a_for, a_for_over_an_array, a_cond]
PLACES += [a_cond_of_operands, a_switch, a_while_loop, a_test_of_a_while_loop, a_fori_loop, a_scan]
PLACES += [a_map, an_associative_scan]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("place", "way"), itertools.product(PLACES, WAYS))
def test_what_parts_change_beside_the_graph_is_changed_as_in_python(place, way):
    def unseen(x, n):
        noted = []
        result = place(x, n, way(noted))
        return result, len(noted), noted[-1:]

    compiled = agrees(unseen, *[[X, n] for n in (1, 3, 0, 6)])
    if way is by_nothing:
        assert all(program is not None for _, _, program, _, _ in compiled.state.native.entries())
