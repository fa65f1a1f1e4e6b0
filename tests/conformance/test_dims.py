"""Sizes: arithmetic on Dims is integer arithmetic, their form is canonical, their text reads
back.
"""

from __future__ import annotations

import copy
import gc
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitwise.ir.dims import (
    Dim,
    Guard,
    Size,
    add,
    apply,
    evaluate_size,
    floor_divide,
    maximum,
    minimum,
    modulo,
    multiply,
    parse_size,
    product,
    substitute,
    subtract,
    symbols_of,
)

NAMES = ("n", "m", "k", "n_1", "batch")
OPERATIONS = {
    "add": (add, lambda a, b: a + b),
    "subtract": (subtract, lambda a, b: a - b),
    "multiply": (multiply, lambda a, b: a * b),
    "floordiv": (floor_divide, lambda a, b: a // b),
    "mod": (modulo, lambda a, b: a % b),
    "min": (minimum, min),
    "max": (maximum, max),
}
values = st.fixed_dictionaries({name: st.integers(-50, 50) for name in NAMES})
leaves = st.sampled_from(NAMES) | st.integers(-20, 20)
trees = st.recursive(
    leaves,
    lambda children: st.tuples(st.sampled_from(sorted(OPERATIONS)), children, children),
    max_leaves=10,
)


def build(tree) -> Size:
    match tree:
        case str():
            return Dim.symbol(tree)
        case int():
            return tree
    return OPERATIONS[tree[0]][0](build(tree[1]), build(tree[2]))


def compute(tree, numbers) -> int:
    match tree:
        case str():
            return numbers[tree]
        case int():
            return tree
    return OPERATIONS[tree[0]][1](compute(tree[1], numbers), compute(tree[2], numbers))


@given(trees, values)
def test_arithmetic_on_sizes_is_integer_arithmetic(tree, numbers):
    try:
        wanted = compute(tree, numbers)
        size = build(tree)
    except ZeroDivisionError:
        return  # a division by zero that NumPy would not get to either
    assert evaluate_size(size, numbers) == wanted


@given(trees)
def test_text_of_a_size_reads_back_as_the_same_size(tree):
    try:
        size = build(tree)
    except ZeroDivisionError:
        return
    again = parse_size(str(size))
    assert again is size if isinstance(size, Dim) else again == size


@given(trees, trees, trees)
def test_equal_polynomials_are_one_object(first, second, third):
    try:
        a, b, c = build(first), build(second), build(third)
    except ZeroDivisionError:
        return
    pairs = [
        (add(a, b), add(b, a)),
        (multiply(a, b), multiply(b, a)),
        (add(add(a, b), c), add(a, add(b, c))),
        (multiply(a, add(b, c)), add(multiply(a, b), multiply(a, c))),
        (subtract(a, subtract(a, b)), b),
    ]
    for left, right in pairs:
        assert left is right if isinstance(left, Dim) else left == right


@given(trees)
def test_a_constant_size_is_a_plain_int(tree):
    try:
        size = build(tree)
    except ZeroDivisionError:
        return
    assert subtract(size, size) == 0
    assert type(subtract(size, size)) is int
    if isinstance(size, Dim):
        assert any(monomial for monomial, _ in size.terms)
        assert all(coefficient for _, coefficient in size.terms)
        assert symbols_of(size) or "//" in str(size) or "%" in str(size)


@given(trees, values)
def test_substituting_numbers_is_evaluating(tree, numbers):
    try:
        size = build(tree)
        wanted = evaluate_size(size, numbers)
        found = substitute(size, numbers)
    except ZeroDivisionError:
        return
    assert found == wanted


@given(trees, trees, values)
def test_substituting_a_size_then_evaluating_is_evaluating_both(tree, inner, numbers):
    try:
        size, replacement = build(tree), build(inner)
        wanted = evaluate_size(size, {**numbers, "n": evaluate_size(replacement, numbers)})
        found = evaluate_size(substitute(size, {"n": replacement}), numbers)
    except ZeroDivisionError:
        return
    assert found == wanted


@given(trees)
def test_symbols_of_a_size_are_enough_to_evaluate_it(tree):
    try:
        size = build(tree)
        evaluate_size(size, dict.fromkeys(symbols_of(size), 3))
    except ZeroDivisionError:
        return


@given(trees)
def test_sizes_survive_pickling_and_copying(tree):
    try:
        size = build(tree)
    except ZeroDivisionError:
        return
    for again in (pickle.loads(pickle.dumps(size)), copy.copy(size), copy.deepcopy(size)):
        assert again is size if isinstance(size, Dim) else again == size


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("n + 1 - n", "1"),
        ("(n + 1)*2 - 2", "2*n"),
        ("n*m + m*n", "2*m*n"),
        ("(4*n + 8*m) // 4", "2*m + n"),
        ("(4*n + 8) % 4", "0"),
        ("n // 1", "n"),
        ("n // n", "1"),
        ("(2*n*m + 4*n) // (2*n)", "m + 2"),
        ("n*m // n", "m"),
        ("n*m % n", "0"),
        ("n*m // (2*n)", "((m*n) // (2*n))"),
        ("min(n, n + 3)", "n"),
        ("max(n, n + 3)", "n + 3"),
        ("-n", "-n"),
        ("n // 2 * 2", "2*(n // 2)"),
    ],
)
def test_canonical_forms(text, canonical):
    assert str(parse_size(text)) == canonical


@pytest.mark.parametrize("text", ["n / 2", "n ** 2", "f(n)", "1.5", "True", "'n'", "min(n)"])
def test_text_that_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="not a size"):
        parse_size(text)


@pytest.mark.parametrize("name", ["", "1n", "n m", "n-1"])
def test_a_symbol_is_an_identifier(name):
    with pytest.raises(ValueError, match="identifier"):
        Dim.symbol(name)


def test_division_by_zero_is_an_error_when_the_size_is_known():
    with pytest.raises(ZeroDivisionError):
        evaluate_size(parse_size("n // m"), {"n": 3, "m": 0})


def test_operators_are_the_functions():
    n, m = Dim.symbol("n"), Dim.symbol("m")
    assert 2 * n + m - 1 is add(add(multiply(2, n), m), -1)
    assert 5 - n is subtract(5, n)
    assert n // 2 is floor_divide(n, 2)
    assert n % m is modulo(n, m)
    assert -n is multiply(n, -1)
    assert apply("min", n, m) is minimum(n, m)


@given(st.lists(leaves, max_size=4), values)
def test_product_of_sizes_is_the_number_of_elements(tree, numbers):
    wanted = 1
    for item in tree:
        wanted *= compute(item, numbers)
    assert evaluate_size(product(tuple(build(item) for item in tree)), numbers) == wanted


@given(trees, values)
def test_guards_hold_as_their_text_says(tree, numbers):
    try:
        size = build(tree)
        value = evaluate_size(size, numbers)
    except ZeroDivisionError:
        return
    if isinstance(size, int):
        return
    for relation in ("eq", "ne", "ge"):
        guard = Guard(relation, size)
        assert guard.holds(numbers) == eval(str(guard), {}, dict(numbers))
        assert {"eq": value == 0, "ne": value != 0, "ge": value >= 0}[relation] == guard.holds(
            numbers
        )


def test_sizes_nobody_uses_are_forgotten_but_for_a_bounded_number():
    from jitwise.ir import dims

    for index in range(8 * dims.MOST_KNOWN):
        Dim.symbol(f"forgotten_{index}") * 3 + 1
    gc.collect()
    assert len(dims._interned) <= 6 * dims.MOST_KNOWN
