"""Calls of functions whose results are learned from the elements of a call: what they give is
checked at every later call, and never taken for what it was.
"""

from __future__ import annotations

import numpy as np
import pytest
from oracle_of_calls import agrees

from jitwise import jit

x = np.arange(12.0).reshape(3, 4)
v = np.array([0.5, 2.0, 3.0])


def runs_inside(compiled) -> bool:
    return all(program is not None for _, _, program, _, _ in compiled.state.native.entries())


def test_eigenvalues_are_real_or_complex_as_in_each_call():
    turned, plain = np.array([[0.0, -1.0], [1.0, 0.0]]), np.eye(2)
    compiled = agrees(lambda a: np.linalg.eigvals(a * 2) + 1, [plain], [turned], [plain], [turned])
    assert runs_inside(compiled)
    assert compiled.state.traces == 2


def test_the_branch_that_is_taken_is_that_of_each_call():
    def function(a, b):
        return a + 1 if np.allclose(a, b) else a - b

    compiled = agrees(function, [v, v], [v, v + 1], [v, v], [x, x + 2], [x, x])
    assert runs_inside(compiled)


def test_arrays_of_other_shapes_are_not_equal():
    def function(a, b):
        return np.array_equal(a, b), np.array_equiv(a, b)

    agrees(function, [v, v], [v, v[:2]], [v, v + 1], [x, x[0]], [x[:1], x[0]], [v, v[:1]])
    agrees(lambda a: np.array_equal(a, a, equal_nan=True), [np.array([1.0, np.nan])], [v])


def test_residuals_are_missing_where_the_rank_is_low():
    low = np.ones((3, 2))
    agrees(lambda a, b: np.linalg.lstsq(a, b), [x[:, :2], v], [low, v], [x[:, :2], v])


def test_polynomials_with_leading_zeros_are_shorter():
    agrees(lambda a, b: np.polymul(a, b), [v, v], [v * [0, 1, 1], v], [v, v])
    agrees(lambda a: np.roots(a), [v], [v * [0, 1, 1]], [v * [1, 1, 0]], [np.ones(5)])


def test_ufuncs_of_another_library_are_called_inside_of_the_program():
    special = pytest.importorskip("scipy.special")
    calls = ([v, 2], [x, 1.5], [v.astype("f4"), np.float32(2)], [x[:, 0], v])
    compiled = agrees(lambda a, b: special.gammaln(a * 2) + special.beta(a, b), *calls)
    assert runs_inside(compiled)
    assert compiled.state.traces <= 4
    agrees(lambda a: special.sici(a), [v], [x])


def test_a_function_that_numpy_dispatches_and_nothing_is_known_of_is_called_inside():
    windows = np.lib.stride_tricks.sliding_window_view
    compiled = agrees(lambda a: windows(a * 2, 2).sum(axis=-1), [v], [v + 1], [np.ones(5)])
    assert runs_inside(compiled)


def test_a_function_that_changes_what_it_is_given_runs_as_python():
    @np._core.overrides.array_function_dispatch(lambda a: (a,))
    def doubled(a):
        a *= 2
        return a

    agrees(lambda a: (doubled(a), a), [v], [v])
    agrees(lambda a: (doubled(a + 1), a), [v], [v])


def test_python_functions_see_the_state_of_each_call():
    factor = [1.0]

    def scaled(row):
        return row * factor[0]

    def function(a):
        return np.apply_along_axis(scaled, 1, a)

    compiled = jit(function)
    for number in (1.0, 3.0, 5.0):
        factor[0] = number
        np.testing.assert_array_equal(compiled(x), x * number)
    assert runs_inside(compiled)


def test_a_function_that_reads_traced_values_runs_as_python():
    agrees(lambda a, b: np.apply_along_axis(lambda row: row + b[0], 0, a), [x, v], [x, v + 1])


GENERATOR = np.random.default_rng(0)


@pytest.mark.parametrize(
    "function",
    [
        lambda row: row + GENERATOR.random(),
        lambda row: row + np.random.random(),
        lambda row: row + drawn(),
        GENERATOR.exponential,
    ],
)
def test_no_random_number_is_drawn_while_tracing(function):
    def seeded(called):
        np.random.seed(1)
        GENERATOR.bit_generator.state = np.random.default_rng(7).bit_generator.state
        return [called(x) for _ in range(3)]

    for outer in (
        lambda a: np.apply_along_axis(function, 0, a),
        lambda a: np.vectorize(function)(a),
        lambda a: np.piecewise(a, [a > 3], [function, 0]),
    ):
        plain = seeded(outer)
        with pytest.warns(match="runs as Python"):
            found = seeded(jit(outer))
        np.testing.assert_array_equal(found, plain)


def drawn():
    return np.random.standard_normal()


def test_functions_defined_in_the_traced_function_are_called_inside():
    def function(a, b):
        scale = 2.5

        def scaled(row):
            return np.sort(row)[::-1] * scale

        return np.apply_along_axis(scaled, 0, a) + b

    assert runs_inside(agrees(function, [x, 1.0], [x[::-1], 2.0]))


@np.vectorize
def _step(number):
    return 1 if number > 2 else 0


def test_vectorized_functions_are_called_inside_of_the_program():
    compiled = agrees(lambda a: _step(a * 2) + a, [v], [x], [v - 5])
    assert runs_inside(compiled)
    changing = np.vectorize(lambda number: 1 if number > 2 else 0.5)
    agrees(lambda a: changing(a), [v], [v + 9], [v])


def test_a_list_is_no_array_to_functions_that_tell_them_apart():
    agrees(lambda a: np.put(a, [0, 1], [7, 8]), [np.arange(3, dtype="i4")])
    agrees(lambda a, m: np.place(a, m, [1, 2]), [np.arange(3, dtype="i4"), np.ones(3, bool)])


def test_what_a_function_changes_is_seen_through_views():
    def function(a):
        b = a * 2
        np.put(b[1], [0, 2], -1)
        np.fill_diagonal(b[:, 1:], 9)
        return b, b.sum()

    assert runs_inside(agrees(function, [x], [x + 1]))


@pytest.mark.parametrize("exponent", [0.5, np.float64(0.5), np.array(0.5), np.array([0.5]), 0.25])
@pytest.mark.parametrize("base", [np.array([-0.0, -np.inf, 4.0]), np.array(-0.0), np.float64(-0.0)])
def test_powers_of_one_half_are_roots_where_numpys_are(base, exponent):
    with np.errstate(all="ignore"):
        agrees(lambda a, b: np.power(a, b), [base, exponent])
        agrees(lambda a, b: a**b, [base, exponent])
        agrees(lambda a: np.power(a, 0.5), [base])


def test_rows_of_exponents_are_no_single_exponent():
    base = np.full((40, 30), -0.0)
    with np.errstate(all="ignore"):
        agrees(lambda a, b: np.power(a, b), [base, np.full(30, 0.5)], [base, np.full((40, 1), 0.5)])
        agrees(lambda a, b: np.power(a, b), [base[:1], np.full(30, 0.5)], [base, np.full(1, 0.5)])


def test_products_of_infinities_are_numpys():
    infinite = np.array([[1 + 1j, 2.0], [complex(0, np.inf), 3.0], [1.0, 0.5 - 1j]])
    with np.errstate(all="ignore"):
        agrees(lambda a: np.prod(a, axis=0), [infinite], [infinite[::-1]])
        agrees(lambda a: np.prod(a, axis=1, initial=2), [infinite])


def test_masked_elements_raise_no_flags_and_keep_what_they_have():
    def function(a, b, out):
        return np.divide(a, b, where=b != 0, out=out)

    with np.errstate(all="raise"):
        agrees(function, [v, np.array([0.0, 1.0, 0.0]), np.ones(3)])
