"""Arrays that are known by several names in branches and loops: a write to one of them is seen by
all, in later turns too, or the function runs as Python.
"""

from __future__ import annotations

import numpy as np
import pytest
from beside_numpy import Beside

X = np.array([1.0, 2.0, 3.0, 4.0])
TABLE = np.arange(20.0).reshape(5, 4)


def gives_one_around(x, n):
    w = x * 2
    y = x * 1
    s = 0.0
    for _i in range(n):
        y[0] += 1.0
        s = s + w[0]
        y = w
    return s, y, w


def gives_one_around_later(x, n):
    w = x * 2
    y = x * 1
    s = 0.0
    for i in range(n):
        y[0] += 1.0
        s = s + w[0]
        if i > 1:
            y = w
    return s, y


def gives_one_around_after_it_is_read(x, n):
    w = x * 2
    y = x * 1
    s = 0.0
    for _i in range(n):
        s = s + w[0]
        y[0] += 1.0
        y = w
    return s


def a_view_from_before(x, n):
    y = x * 1
    v = y[1:]
    s = 0.0
    for _i in range(n):
        s = s + v[0]
        y[1] += 1.0
        y = y + x
    return s


def views_in_turn(x, n):
    y = x * 1
    v = y[1:]
    s = 0.0
    for _i in range(n):
        s = s + v[0]
        v = y[:2]
        y[1] += 1.0
    return s


def exchanged(x, n):
    y = x * 1
    z = x * 2
    for _i in range(n):
        y, z = z, y
        y[0] += z[0]
    return y, z


def one_before(x, n):
    y = x * 1
    z = y
    s = 0.0
    for _i in range(n):
        s += z[0]
        y[0] += 1
        z = y
        y = x * 3
    return y, z, s


def in_a_list(x, n):
    y = x * 1
    kept = [y]
    for _i in range(n):
        y[0] += kept[0][0]
        y = y + x
    return y


def reversed_view(x, n):
    y = x * 1
    z = x * 2
    for _i in range(n):
        y[0] += z[0]
        z = y[::-1]
    return y, z


def an_argument_later(x, n):
    y = x * 1
    s = 0.0
    while s < n:
        y[0] += 1
        s += y.sum() * 0 + 1
        y = x if s > 2 else y
    return y, x


def an_argument(x, n):
    y = x * 1
    for _i in range(n):
        y[0] += 1
        y = x
    return y, x


def rows_of_an_argument(table, n):
    r = table[0] * 1
    for i in range(n):
        r[0] += 1
        r = table[i]
    return r, table


def rows(table, n):
    B = table * 1
    r = B[0]
    for i in range(n):
        r[0] += 1
        r = B[i]
    return r, B


def by_the_other_name(x, n):
    y = x * 1
    z = y
    s = 0.0
    for i in range(n):
        if i > 1:
            y = y + x
        z[0] += 1
        s += y[0]
    return s


def one_of_two_from_before(x, n):
    y = x * 1
    z = y * 2
    u = y if n > 2 else z
    s = 0.0
    for _i in range(n):
        s += u[0]
        y[0] += 1
    return s


def twice_from_a_branch(x, n):
    if x[0] * 0 + n > 0:
        y = x * 2
        z = y
    else:
        y = x * 3
        z = y
    y[0] = 7
    return z


def a_view_from_a_branch(x, n):
    if x[0] * 0 + n > 0:
        y = x * 2
        z = y[1:]
    else:
        y = x * 3
        z = y[1:]
    y[1] = 7
    return z


def around_from_a_branch_of_a_branch(x, n):
    w = x * 5
    if x[0] * 0 + n > 0:
        if x[0] * 0 + n > 3:
            y = w
        else:
            y = x * 2
    else:
        y = x * 3
    y[1] = 7
    return w, y


def one_from_two_branches(x, n):
    w = x * 5
    if x[0] * 0 + n > 0:
        y = w
    else:
        y = x * 3
    if x[0] * 0 + n > 3:
        z = w
    else:
        z = x * 3
    y[1] = 7
    return z


def exchanged_in_branches(x, n):
    w = x * 5
    v = x * 6
    if x[0] * 0 + n > 0:
        w, v = v, w
    w[0] = 1
    if x[0] * 0 + n > 3:
        w, v = v, w
    v[1] += w[0]
    return w, v


def exchanged_and_kept(x, n):
    y = x * 1
    z = x * 2
    p = y
    for _i in range(n):
        y, z = z, y
    y[0] = 9
    return p, y, z


def one_or_another(x, n):
    y = x * 1
    z = x * 2
    for i in range(n):
        y[0] += 1
        if i > 0:
            y = z
    return y, z


def two_buffers(x, n):
    y = x * 1
    z = x * 2
    for _i in range(n):
        for j in range(1, len(x)):
            y[j] = z[j - 1] * 0.5 + y[j]
        y, z = z, y
    return y, z


def two_buffers_in_two_loops(x, n):
    y = x * 1
    z = x * 2
    for _k in range(n):
        for _i in range(n):
            for j in range(1, len(x)):
                y[j] = z[j - 1] * 0.5 + y[j]
            y, z = z, y
    return y, z


def the_end_of_a_reversed_view(x, n):
    y = x * 1
    z = x * 2
    for _i in range(n):
        y[0] += z[-1]
        z = y[::-1]
    return y, z


def written_by_the_other_name(x, n):
    y = x * 1
    w = x * 1
    s = 0.0
    for _i in range(n):
        w[0] += 1
        s += y[0]
        y = w
    w[1] = 3
    return y, s


def written_after_the_loop(x, n):
    y = x * 1
    w = x * 1
    for _i in range(n):
        y = w
    w[1] = 3
    return y


def new_ones_in_a_branch(x, n):
    y = x * 1
    for i in range(n):
        if x[0] > i:
            y = y + x
        y[0] += 1
    return y


def perhaps_the_first(x, n):
    y = x * 1
    p = y
    for i in range(n):
        if x[0] > i:
            y = y + x
    y[0] += 1
    return y, p


def the_one_before_is_kept(x, n):
    y = x * 1
    old = y
    for _i in range(n):
        old = y
        y = y * 2
        y[0] += 1
    return y, old


def the_same_is_kept(x, n):
    y = x * 1
    old = y
    for _i in range(n):
        old = y
        y[0] += 1
    return y, old


def new_ones(x, n):
    y = x * 1
    while y.sum() < n * 100:
        z = y * 2
        z[0] = y[1]
        y = z
    return y


COMPILED = [exchanged, exchanged_in_branches, two_buffers, two_buffers_in_two_loops, new_ones]
COMPILED += [new_ones_in_a_branch, the_one_before_is_kept, the_same_is_kept]
OTHERS = [
    gives_one_around,
    gives_one_around_later,
    gives_one_around_after_it_is_read,
    a_view_from_before,
    views_in_turn,
    one_before,
    in_a_list,
    reversed_view,
    an_argument_later,
    an_argument,
    rows_of_an_argument,
    rows,
    by_the_other_name,
    one_of_two_from_before,
    twice_from_a_branch,
    a_view_from_a_branch,
    around_from_a_branch_of_a_branch,
    one_from_two_branches,
    exchanged_and_kept,
    one_or_another,
    the_end_of_a_reversed_view,
    written_by_the_other_name,
    written_after_the_loop,
    perhaps_the_first,
]


@pytest.mark.parametrize("function", COMPILED + OTHERS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("order", [(0, 1, 3, 4), (5, 2, 0)], ids=["few first", "many first"])
def test_a_write_is_seen_by_every_name(function, order):
    f = Beside(function)
    for n in order:
        f(TABLE if "table" in function.__code__.co_varnames else X, n)
    if function in COMPILED:
        f.compiled()
