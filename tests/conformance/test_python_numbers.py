"""`int(x)` and `float(x)` of traced values: a size of the program or a number of Python's, the
same for every value, and left to Python where it fits no program.
"""

from __future__ import annotations

import numpy as np
import pytest
from oracle_of_calls import agrees

from jitwise import jit

V = np.array([1.0, 2.0, 3.5])
X = np.arange(12.0).reshape(3, 4)


def zeros(x):
    return np.zeros(int(x.sum()))


def head(x):
    return x[: int(x[0])] * 2


def scaled(x):
    return x * int(x[0]) + float(x[1])


def typed(x):
    return np.arange(int(x[-1]), dtype=int), isinstance(int(x[0]), int), type(int(x[0])) is int


def in_a_lambda(x):
    return [item(x) for item in (lambda a: int(a[0]), lambda a: float(a[1]))]


@pytest.mark.parametrize("function", [zeros, head, scaled, typed, in_a_lambda])
def test_numbers_of_traced_values_need_no_trace_for_each_value(function):
    compiled = agrees(function, [V], [V + 1], [V * 1.25], [V[::-1]])
    assert all(program is not None for _, _, program, _, _ in compiled.state.native.entries())
    assert compiled.state.traces == 1


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_numbers_of_every_dtype_are_pythons(dtype):
    compiled = jit(lambda x: (int(x.max()), float(x.max()), int(x.max()) ** 2))
    for numbers in ([0, 1, 1], [1, 1, 0]):
        given = np.array(numbers, dtype)
        result = compiled(given)
        assert result == (1, 1.0, 1)
        assert list(map(type, result)) == [int, float, int]


@pytest.mark.filterwarnings("ignore")
def test_what_is_no_int_or_a_large_one_is_left_to_python():
    agrees(lambda x: int(x.sum()), [V], [V * np.nan], [V * np.inf], [V * 1e20], [-V], [V * 1e9])
    agrees(lambda x: int(x[0]), [np.array([2**62])], [np.array([-(2**63)])], [np.array([3])])
    agrees(lambda x: int(x), [V], [np.array([1.5])], [np.array(1.5)])


def test_a_name_that_hides_int_is_what_it_was():
    scope = {"int": lambda item: item * 2}
    exec("def function(x):\n    return int(x) + 1", scope)
    agrees(scope["function"], [V], [X])


def test_counts_of_numpy_are_ints():
    agrees(lambda x: x[: x.astype(int)[1].item()], [V], [V + 1])
    agrees(lambda x: np.linalg.matrix_rank(x), [V], [V * 0])


def test_functions_of_slices_and_samples_are_called_inside_of_the_program():
    calls = ([V, X], [V[:2], X[:2]], [V * 2, X[:, :3]])
    for function in (
        lambda v, x: np.delete(x, slice(0, 1), 0),
        lambda v, x: np.insert(v, slice(0, 2), 7),
        lambda v, x: np.insert(x, 1, v[0], axis=1),
        lambda v, x: np.histogram2d(v, v, 2),
        lambda v, x: np.histogramdd(x[:, :2], 3),
        lambda v, x: np.histogram_bin_edges(v, "auto"),
        lambda v, x: np.pad(v, 5, "reflect"),
        lambda v, x: x[np.ix_(x[:, 1] > 1, [0, 1])],
    ):
        compiled = agrees(function, *calls)
        assert all(program is not None for _, _, program, _, _ in compiled.state.native.entries())


def test_gradient_keeps_a_foreign_byte_order():
    given = X.astype(">f8")
    for got, expected in zip(jit(lambda x: np.gradient(x))(given), np.gradient(given), strict=True):
        assert got.dtype == expected.dtype
        assert np.array_equal(got, expected)
