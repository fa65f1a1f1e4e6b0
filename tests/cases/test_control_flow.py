"""`if`, `while`, `for` and what belongs to them, on values: Python's answers, compiled; and what
runs as Python all the same, which is said.
"""

from __future__ import annotations

import linecache
import math
import traceback
import warnings

import numpy as np
import pytest
from beside_numpy import Beside, alike
from generate_loops import made

import jitwise
from jitwise import JitwiseWarning, jit

case = pytest.mark.case
X = np.array([0.5, 1.5, 2.5, 4.0])
TABLE = np.array([[3.0, -1.0, 2.0], [0.5, 4.0, 1.0], [2.0, 2.0, 2.5], [-1.0, 0.0, 5.0]])


def absolute(x):
    return x if x > 0 else -x


def first_above(x):
    for i in range(len(x)):
        if x[i] > 3:
            return i
    return -1


def halved_number(x):
    count, value = 0, 8
    while count < x[0]:
        count, value = count + 1, value * 0.5
    return count, value


def added_to_zero(x):
    total = 0
    for each in x:
        total = total + each
    return total


def single_total(total, x):
    for each in x:
        total = total + each
    return total


def checked(x):
    if x[0] < 0:
        raise ValueError(f"neg {x[0]}")
    return x * 2


# As text: pytest rewrites what this file asserts.
asserted = made(
    'def f(x):\n    assert x[0] > 0, f"low {x[0]}"\n    return np.sqrt(x)\n', "asserted"
)


def number_or_none(a, b=None):
    if b is None:
        b = 1
    return a + b


def mixed_list(x):
    found = []
    found.append(1)
    found.append(None)
    found.append(0.1)
    found.append(x[0])
    return found


def of_several(x):
    total = x.sum()
    if total > 5:
        found = 1.0
    elif total > 2:
        found = x[0]
    elif total < 0:
        found = -x[1]
    else:
        found = 0.5
    return found


def several_tests(x):
    if 0 < x[0] < 2 < x[2] and not (x[1] > 3 or x[1] == 0):
        return x * 2
    return x


def truths_as_values(x):
    inside = 0 < x[0] < 2 < x[2]
    found = inside or x[1] > 9
    return inside, found, x[0] > 9 and x[1] > 0, not found, 1 if found else 2


def collatz(n):
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def to_an_input(x, n):
    total = 0.0
    for i in range(n):
        total += x[i % len(x)] * i
    return total


def to_a_traced_number(x):
    total = 0.0
    for i in range(int(x.sum())):
        total += np.sqrt(i)
    return total


def best_row(table):
    best = table[0]
    for row in table:
        if row.sum() > best.sum():
            best = row
    return best * 1.0


def place_of_greatest(x):
    place = 0
    for i, each in enumerate(x):
        if each > x[place]:
            place = i
    return place


def zipped(x, y):
    total = 0.0
    for one, other in zip(x, y):
        total += one * other
    return total


def left_and_skipped(x):
    total = 0.0
    for each in x:
        if each < 1:
            continue
        if each > 3:
            break
        total += each
    else:
        total = -1.0
    return total


def endless(x):
    i = 0
    while True:
        if x[i] > 2:
            break
        i += 1
    return i


def while_with_else(x):
    i = 0
    while i < len(x):
        if x[i] > 10:
            break
        i += 1
    else:
        return -1
    return i


def above_one(x):
    total = 0.0
    for each in x:
        if each > 1:
            total += each
    return total


def of_helpers(x):
    return above_one(x) + above_one(x * 2)


def of_rows(table):
    total = 0.0
    for row in table:
        total += above_one(row)
    return total


def of_nested(x):
    def below(value):
        while value > 1:
            value = value / 2
        return value

    return below(x[0]) + below(x[2])


def of_builtins(x):
    return min(x[0], x[1]), max(x[0], 1.0), abs(x[0]), sum(x), len(x)


def of_math(x):
    return math.sin(x[0]) + math.sqrt(x[1]) + math.exp(x[2]), math.floor(x[0]), math.isnan(x[0])


def halved_float(x):
    value = float(x[0])
    while value > 1:
        value = value / 2
    return value


def left_early(x):
    if x.sum() > 3:
        return x * 2
    return -x


def several_given(x):
    if x.sum() > 3:
        return x[0], True
    return x[1] * 2, False


def bisected(low, high):
    for _ in range(200):
        middle = (low + high) / 2
        value = middle * middle - 2
        if abs(value) < 1e-12:
            return middle
        if value > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def product(a, b):
    rows, inner = a.shape
    columns = b.shape[1]
    found = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            for k in range(inner):
                found[i, j] += a[i, k] * b[k, j]
    return found


def summed_in_place(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]
    return x


def from_the_end(x):
    total = 0.0
    for each in reversed(x):
        total = total * 0.5 + each
    return total


def named_in_the_test(x):
    if (total := x.sum()) > 1:
        return total
    return total * 2


def quietly(x):
    with np.errstate(divide="ignore"):
        if x[0] > 1:
            return 1 / x
        return x


def kept_in_a_dict(x):
    found = {"a": 0.0}
    for each in x:
        found["a"] += each
    return found


COMPILED = {
    absolute: [(1.0,), (-1.0,), (np.float64(2),), (np.float64(-2),), (3,), (-3,)],
    first_above: [(X,), (X[:2],), (X * 3,), (-X,)],
    halved_number: [(X,), (X + 3,), (-X,)],
    added_to_zero: [(X,), (X[:3],)],
    single_total: [(np.float32(1), X), (np.float32(1), X[:3])],
    number_or_none: [(1.0,), (1.0, 2.0)],
    mixed_list: [(X,)],
    of_several: [(X,), (X - 2,), (X * 0.3,), (X - 3,), (X * 0.1,)],
    several_tests: [(X,), (X - 1,), (X + 0.1,)],
    truths_as_values: [(X,), (X - 1,), (X + 9,)],
    collatz: [(27,), (1,), (6,)],
    to_an_input: [(X, 5), (X, 9), (X, 4)],
    to_a_traced_number: [(X,), (X + 10,), (X * 2,)],
    best_row: [(TABLE,), (TABLE[::-1],), (TABLE[:2],)],
    place_of_greatest: [(X,), (-X,), (X[::-1],)],
    zipped: [(X, X + 1), (X[:3], X[:3])],
    left_and_skipped: [(X,), (X - 1,), (X * 0.1,)],
    endless: [(X,), (X + 3,)],
    while_with_else: [(X,), (X * 9,)],
    of_helpers: [(X,), (-X,)],
    of_nested: [(X,), (X * 9,)],
    of_builtins: [(X,), (-X,)],
    of_math: [(X,), (X + 1,)],
    halved_float: [(X * 9,), (X,)],
    left_early: [(X,), (-X,)],
    several_given: [(X,), (-X,)],
    bisected: [(0.0, 2.0), (1.0, 3.0)],
    product: [(TABLE, TABLE[:3, :2]), (TABLE[:3], TABLE[:3])],
    summed_in_place: [(X,), (X[:2],)],
    from_the_end: [(X,), (X[:3],)],
    named_in_the_test: [(X,), (-X,)],
    quietly: [(X,), (X + 1,)],
    kept_in_a_dict: [(X,)],
}


@case("C44", "C45", "C47", "C49", "C51")
@pytest.mark.parametrize("function", COMPILED, ids=lambda function: function.__name__)
def test_control_flow_on_values_is_compiled(function):
    f = Beside(function, ulp=2 if function is of_math else 0)
    for arguments in COMPILED[function] * 2:
        f(*arguments)
    f.compiled()


# What raises


@case("C48")
@pytest.mark.parametrize("function", [checked, asserted])
def test_an_exception_has_the_value_in_its_message(function):
    f = Beside(function)
    for sign in (1, -1, 1, -2, 1):
        f(X * sign)
    assert not f.said
    assert f.jitted.state.compiles >= 1


def test_an_exception_points_at_the_users_line():
    with pytest.raises(ValueError, match=r"neg -0\.5") as caught:
        jit(checked)(-X)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno) == (__file__, checked.__code__.co_firstlineno + 2)
    assert last.name == "checked"


def undefined(x):
    if x[0] > 1:
        found = x[1]
    return found


def test_a_variable_without_a_value_on_one_path():
    f = Beside(undefined)
    for moved in (1, 0, 1, 0):
        f(X + moved)


# Compiled once


def nested_three_deep(table):
    total = 0.0
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            for k in range(i + 1):
                total += table[k, j] * 0.5
    return total


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (added_to_zero, [(np.arange(float(n)),) for n in (5, 9, 17, 300)]),
        (to_an_input, [(X, n) for n in (5, 9, 300, 10_000)]),
        (product, [(np.ones((n, n + 1)), np.ones((n + 1, n))) for n in (4, 5, 7)]),
        (nested_three_deep, [(np.ones((n, n + 1)),) for n in (4, 5, 30)]),
        (collatz, [(n,) for n in (27, 97, 6)]),
    ],
    ids=["over an array", "range(n)", "product", "three deep", "while"],
)
def test_a_loop_is_compiled_once_whatever_the_sizes(function, arguments):
    f = Beside(function)
    for each in arguments:
        f(*each)
    f.compiled(traces=1)


@pytest.mark.parametrize("function", [to_an_input, nested_three_deep])
def test_what_compiling_costs_does_not_depend_on_the_number_of_turns(function):
    counts = []
    for number in (8, 4000):
        size = number if function is to_an_input else 8 + number // 100
        given = (X, size) if function is to_an_input else (np.ones((size, size)),)
        jitwise.clear_caches()
        f = jit(function)
        before = len(f.records())
        f(*given)
        records = f.records()[before:]
        counts.append([each.detail["ops"] for each in records if each.subject == "trace"])
    assert counts[0] == counts[1]
    assert sum(counts[0]) < 100


# What runs as Python


def of_two_kinds(x):
    found = 0
    if x[0] > 1:
        found = x
    return found


def number_or_array(x):
    if x.sum() > 3:
        return x
    return 0


def nothing_or_array(x):
    if x.sum() > 3:
        return None
    return x


def text(x):
    name = "low"
    if x[0] > 1:
        name = "high"
    return name


def of_two_sizes(x):
    found = x[:2] if x.sum() > 3 else x
    return found * 2


def grown(x):
    found = x
    while found.sum() < 30:
        found = np.concatenate([found, found])
    return found


def halved_array(x):
    count = 0
    while x.sum() > 1:
        x, count = x * 0.5, count + 1
    return count, x


def is_found(x):
    return x[1] in [0.5, 1.5]


PYTHON = {
    of_two_kinds: [X + 1, X],
    number_or_array: [X, -X],
    nothing_or_array: [X, -X],
    text: [X + 1, X],
    of_two_sizes: [X, -X],
    grown: [X + 1, X],
    halved_array: [np.array([4, 8]), np.array([0, 0])],
    is_found: [X],
}


@case("C47", "C99")
@pytest.mark.parametrize("function", PYTHON, ids=lambda function: function.__name__)
def test_what_has_two_kinds_runs_as_python_and_it_is_said_once(function):
    f = Beside(function)
    for x in PYTHON[function]:
        f(x)
    f.python()


@pytest.mark.parametrize(
    ("function", "variable"),
    [(of_two_kinds, "found is int from else and array"), (grown, "found is array")],
)
def test_the_reason_names_the_variable_and_its_kinds(function, variable):
    f = Beside(function)
    f(X + 1)
    f.python(variable)


def appended_in_a_branch(x):
    found = []
    for each in x:
        if each > 1:
            found.append(each)
    return np.array(found)


def changed_list(x):
    found = [0.0, 0.0]
    for i in range(len(x)):
        found[i % 2] += x[i]
    return found


@case("C51")
@pytest.mark.parametrize("function", [appended_in_a_branch, changed_list])
@pytest.mark.parametrize("size", [4, 40])
def test_lists_that_loops_change_are_changed_as_by_python(function, size):
    f = Beside(function)
    x = np.resize(X, size)
    for moved in (x, -x, x[1:], x * 2, x - 1):
        f(moved)
    assert len(f.said) <= 1


def printing(table):
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            if table[i, j] > 2:
                print(i, j)
    return table * 2


@case("C52")
@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_what_a_loop_prints_is_printed_in_order_at_each_call(capsys):
    printing(TABLE)
    expected = capsys.readouterr().out
    f = jit(printing)
    for _ in range(3):
        alike(f(TABLE), TABLE * 2, 0, "result")
        assert capsys.readouterr().out == expected


# Without the rewriting


def test_a_function_without_source_is_traced_and_else_runs_as_python():
    namespace = {"np": np}
    exec("def f(x):\n    if x.sum() > 1:\n        return x\n    return -x\n", namespace)
    exec("def g(x):\n    for _ in range(3):\n        x = x * 2\n    return x\n", namespace)
    linecache.clearcache()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f, g = jit(namespace["f"]), jit(namespace["g"])
        for sign in (1, -1, 1):
            alike(f(X * sign), X, 0, "f")
            alike(g(X), X * 8, 0, "g")
    said = [str(each.message) for each in caught if each.category is JitwiseWarning]
    assert len(said) == 1
    assert said[0].startswith("f runs as Python, because ")


def test_control_flow_is_turned_off():
    f = jit(left_early, control_flow=False)
    with pytest.warns(JitwiseWarning, match=r"left_early runs as Python, because .*bool") as said:
        for sign in (1, -1, 1):
            alike(f(X * sign), left_early(X * sign), 0, "result")
    assert len(said) == 1


def sieve_of_slices(n):
    s = np.ones(n + 1, bool)
    for i in range(2, int(n**0.5) + 1):
        if s[i]:
            s[i * i :: i] = False
    return s


def asks_a_constant(x):
    known = np.zeros(3)
    if known[1]:
        return x
    while np.ones(2)[0]:
        return x + 1 if np.zeros(1)[0] == 0 else x


@pytest.mark.parametrize("function", [sieve_of_slices, asks_a_constant])
def test_elements_that_are_known_decide(function):
    f = Beside(function)
    for n in (10, 50, 120):
        f(n)
    f.compiled()


def of_one_array(x, k):
    y = x + 1
    for i in range(4):
        if y[i] > k:
            y[i:] = y[i:] * 0.5
    return y


def of_two_arrays(x, k):
    y, z = x + 1, x * 2
    for i in range(4):
        if y[i] > k:
            y[i + 1 :] = z[i + 1 :]
        elif z[i] < k:
            z[: i + 1] = y[: i + 1] + 1
    return y, z


def that_change_places(x, k):
    y, z = x + 1, x * 2
    if y[0] > k:
        y[1] = 7
        y, z = z, y
    elif y[1] > k:
        z[0] = 5
    return y, z


def with_what_was_before(x, k):
    y = x + 1
    before = y.copy()
    if y[0] > k:
        y[1:] = 0
    old = y * 2
    if y[1] > k:
        y[0] = before[2]
    return before, old, y


def that_give_another(x, k):
    y = x + 1
    if y[2] > k:
        y = np.sqrt(y)
    if y[0] > k:
        y[0] = 3
    else:
        y = y + x
    return y


@pytest.mark.parametrize(
    "function",
    [of_one_array, of_two_arrays, that_change_places, with_what_was_before, that_give_another],
)
def test_branches_write_where_an_array_is(function):
    f = Beside(function)
    for k in (-1.0, 0.5, 1.5, 2.5, 4.0, 9.0):
        f(np.array([0.0, 3.0, 1.0, 2.0, 5.0]), k)
    f.compiled()


def test_branches_that_write_copy_no_array():
    text = jit(sieve_of_slices).lower(400).as_text("program")
    copies = [line.split() for line in text.splitlines() if line.startswith("  copy ")]
    slices = {line.split()[1] for line in text.splitlines() if line.startswith("  slice ")}
    assert text.count("jump_unless") > 10
    assert len([words for words in copies if words[1] not in slices]) <= 4


def items_of_what_changes(y):
    z = np.zeros(3, int)
    for r in y:
        y *= 2
        z = z + r
    return z


def rows_of_what_changes(y):
    found = []
    for r in y.reshape(-1, 1):
        y += r[0]
        found.append(r * 1)
    return found


def items_by_unpacking(y):
    a, b, c = y
    y *= 2
    return a + b, c, list(y)


def numbered_items(y):
    found = []
    for k, (r, s) in enumerate(zip(y, y[::-1])):
        y[k] = -1.0
        found.append((r, s))
    return found


@pytest.mark.parametrize(
    "function",
    [items_of_what_changes, rows_of_what_changes, items_by_unpacking, numbered_items],
)
def test_items_are_taken_when_their_turn_comes(function):
    f = Beside(function)
    for x in (np.ones(3), np.arange(3.0), np.array([3, 1, 2])):
        f(x)
