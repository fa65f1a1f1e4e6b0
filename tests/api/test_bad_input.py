"""Input that is no plain numeric array, functions that fail, and calls that cannot be served: what
NumPy does happens, and the same jitted function works afterwards.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from oracle import agrees, same

from jitwise import config, jit

pytestmark = pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
GOOD = np.arange(6.0).reshape(2, 3)


@pytest.fixture(autouse=True)
def _verify() -> Iterator[None]:
    with config.override(verify=1):
        yield


def survives(function: Any, bad: tuple, good: tuple = (GOOD,), jitted: Any = None) -> Any:
    """Good arguments, bad ones, good ones: each time what the plain function gives or raises."""
    jitted = jit(function) if jitted is None else jitted
    agrees(function, *good, jitted=jitted)
    agrees(function, *bad, jitted=jitted)
    agrees(function, *good, jitted=jitted)
    fresh = jit(function)
    agrees(function, *bad, jitted=fresh)
    agrees(function, *good, jitted=fresh)
    return jitted


with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    MATRIX = np.matrix([[1.0, 2.0], [3.0, 4.0]])
UNUSUAL = {
    "objects": np.array([[1, 2.5, Fraction(1, 3)]], object),
    "mixed objects": np.array([["a", None, 3]], object),
    "text": np.array([["a", "bc", "d"]]),
    "bytes": np.array([[b"a", b"bc", b"d"]]),
    "dates": np.array([["2020-01-01", "2021-02-03", "NaT"]], "M8[D]"),
    "durations": np.array([[1, 2, 3]], "m8[s]"),
    "records": np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]),
    "longdouble": np.array([[1, 2, 3]], np.longdouble),
    "complex longdouble": np.array([[1, 2, 3]], np.clongdouble),
    "void": np.zeros((1, 3), "V5"),
    "masked": np.ma.masked_array([[1.0, 2.0, 3.0]], [[False, True, False]]),
    "matrix": MATRIX,
    "record array": np.rec.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]),
    "list": [[1.0, 2.0, 3.0]],
    "ragged list": [[1.0], [2.0, 3.0]],
    "string": "abc",
    "none": None,
    "dictionary": {"a": np.ones(3)},
    "empty list": [],
    "longdouble scalar": np.longdouble(2.5),
    "date scalar": np.datetime64("2020-01-01"),
    "text scalar": np.str_("abc"),
    "fraction": Fraction(1, 3),
    "large int": 2**70,
    "range": range(3),
    "memory": memoryview(np.ones(3)),
    "bytearray": bytearray(b"abc"),
    "set": {1, 2},
    "type": float,
    "ellipsis": ...,
    "function": abs,
}
FUNCTIONS = {
    "arithmetic": lambda x: x * 2 + 1,
    "ufunc": lambda x: np.sin(x) + np.abs(x),
    "comparison": lambda x: (x == x, x != 1),
    "sum": lambda x: np.sum(x, axis=0),
    "method": lambda x: x.max() - x.min(),
    "item": lambda x: x[0],
    "square": lambda x: x * x,
    "product": lambda x: x @ np.asarray(x).T,
    "where": lambda x: np.where(x, x, 0),
    "shape": lambda x: (np.shape(x), np.ndim(x)),
    "attribute": lambda x: x.no_such_attribute,
    "asarray": lambda x: np.asarray(x) + 1,
    "join": lambda x: np.concatenate([x, x]),
    "length": lambda x: len(x) * 2,
    "iteration": lambda x: [each * 1 for each in x],
}


def _plain(item: Any) -> Any:
    """Results that `oracle.same` compares: arrays of other dtypes as lists, the rest as text."""
    if isinstance(item, (tuple, list)):
        return [type(item).__name__, *[_plain(each) for each in item]]
    if isinstance(item, (np.ndarray, np.generic)) and (
        item.dtype.kind not in "biufc" or item.dtype.itemsize > 8
    ):
        return [type(item).__name__, str(item.dtype), repr(item)]
    return (
        item if type(item) in (np.ndarray, int, float, bool) else [type(item).__name__, repr(item)]
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_unusual_input_gives_what_numpy_gives_or_raises(name):
    function = FUNCTIONS[name]
    jitted = jit(function)
    for kind, bad in UNUSUAL.items():
        for argument in (GOOD, bad, bad):
            outcomes = []
            for called in (function, jitted):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        outcomes.append(_plain(called(argument)))
                    except Exception as error:
                        outcomes.append(type(error))
            same(outcomes[1], outcomes[0], where=kind)


ARRAYS = [kind for kind, each in UNUSUAL.items() if isinstance(each, np.ndarray | np.generic)]


@pytest.mark.parametrize("kind", ARRAYS)
def test_unusual_arrays_beside_usual_ones_and_captured_give_what_numpy_gives(kind):
    unusual, row = UNUSUAL[kind], np.ones(3)
    for function in (
        lambda x, y: x + y,
        lambda x, y: y * x,
        lambda x, y: np.where(x > 0, x, y),
        lambda x, y: np.concatenate([np.atleast_2d(x), np.atleast_2d(y)]),
        lambda x, y: x * 2 + np.size(y),
        lambda x, y: (x == y, y != x),
        lambda x, y: [x.sum(), y],
    ):
        captured = jit(lambda x, function=function: function(x, unusual))
        given, outcomes = jit(function), []
        for called in (
            lambda function=function: function(row, unusual),
            lambda given=given: given(row, unusual),
            lambda given=given: given(row, unusual),
            lambda captured=captured: captured(row),
            lambda captured=captured: captured(row),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    outcomes.append(_plain(called()))
                except Exception as error:
                    outcomes.append(type(error))
            same(outcomes[-1], outcomes[0], where=kind)


def test_shapes_that_do_not_agree_raise_value_error():
    for function in (
        lambda x, y: x + y,
        lambda x, y: x @ y,
        lambda x, y: np.concatenate([x, y]),
        lambda x, y: np.stack([x, y]),
        lambda x, y: np.where(x > 0, x, y),
        lambda x, y: np.dot(x, y),
        lambda x, y: np.einsum("ij,ij->i", x, y),
    ):
        good = (GOOD, GOOD)
        jitted = jit(function)
        for bad in ((GOOD, np.ones(4)), (GOOD, np.ones((4, 4))), (np.ones(0), GOOD)):
            survives(function, bad, good, jitted)
    for function in (
        lambda x: x.reshape(4),
        lambda x: x.reshape(x.shape[0] + 1, -1),
        lambda x: np.broadcast_to(x, (3, 2)),
        lambda x: x.sum(axis=2),
        lambda x: np.transpose(x, (0, 0)),
        lambda x: np.squeeze(x, 0),
        lambda x: np.split(x, 5),
    ):
        jitted = jit(function)
        for bad in (GOOD, np.ones(7), np.ones((3, 5)), np.ones((0, 3)), np.float64(3)):
            survives(function, (bad,), (np.ones((2, 2)),), jitted)


def test_indices_out_of_range_raise_index_error():
    for function in (lambda x: x[5], lambda x: x[:, 4], lambda x: x[-3], lambda x: x[[0, 7]]):
        survives(function, (np.ones((2, 2)),), (np.ones((9, 9)),))
    survives(lambda x: x[0, 0, 0], (GOOD,), (np.ones((2, 2, 2)),))
    survives(lambda x, i: x[i], (GOOD, 2), (GOOD, 1))
    survives(lambda x, i: x[i], (GOOD, -3), (GOOD, -1))
    survives(lambda x, i: x[i], (GOOD, 0.5), (GOOD, 1))
    survives(lambda x, i: x[i], (GOOD, np.array([0, 5])), (GOOD, np.array([0, 1])))


def test_wrong_argument_counts_raise_type_error():
    def f(x, y, *, scale=1.0):
        return (x + y) * scale

    jitted = jit(f)
    for args, kwargs in (
        ((GOOD,), {}),
        ((GOOD, GOOD, GOOD), {}),
        ((GOOD, GOOD), {"x": 1}),
        ((GOOD, GOOD), {"other": 1}),
        ((), {}),
    ):
        agrees(f, *args, jitted=jitted, **kwargs)
        agrees(f, GOOD, GOOD, jitted=jitted, scale=2.0)
    helper = lambda a, b: a + b  # noqa: E731
    survives(lambda x: helper(x) if x.ndim == 1 else helper(x, x), (np.ones(3),))


def test_attributes_that_do_not_exist_raise_attribute_error():
    survives(lambda x: x.sum(), (4,))
    for bad in (4, 2.5, True, 1j, np.float32(2), GOOD):
        agrees(lambda x: x.no_such_thing, bad)
        agrees(lambda x: x.sum(), bad)
        agrees(lambda x: len(x), bad)
        agrees(lambda x: list(x), bad)
        agrees(lambda x: x[0], bad)
        agrees(lambda x: x(), bad)
        agrees(lambda x: x.shape, bad)
        agrees(lambda x: x.real, bad)
        agrees(lambda x: x + "a", bad)
        agrees(lambda x: x + None, bad)
        agrees(lambda x: {x: 1}, bad)
        agrees(lambda x: range(x), bad)
        agrees(lambda x: x.shape[3], bad)
        agrees(lambda x: x.bit_length(), bad)
        agrees(lambda x: x.conjugate(), bad)
        agrees(lambda x: "abc"[x], bad)
        agrees(lambda x: x.astype(float), bad)
        agrees(lambda x: x and 1, bad)
        agrees(lambda x: x < "a", bad)


def test_recursion_with_a_python_depth_works_and_its_limit_raises():
    def power(x, n):
        return x if n == 0 else power(x * 2, n - 1) + 1

    jitted = jit(power)
    for depth in (0, 1, 5, 30, 5):
        agrees(power, GOOD, depth, jitted=jitted)
    agrees(power, GOOD, 100_000, jitted=jitted)
    agrees(power, GOOD, 5, jitted=jitted)

    def endless(x):
        return endless(x)

    survives(lambda x: endless(x) if x.ndim == 1 else x, (np.ones(3),))

    @jit
    def itself(x, n):
        return x if n == 0 else itself(x + 1, n - 1)

    same(itself(GOOD, 3), GOOD + 3)
    same(itself(GOOD, 4), GOOD + 4)


HUGE = np.broadcast_to(np.float64(1), (2**24, 1))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + x.T,
        lambda x: x * np.ones((1, 2**23)),
        lambda x: np.sin(x) + np.cos(x).T,
        lambda x: np.ones((x.shape[0], x.shape[0])),
        lambda x: np.zeros((x.shape[0], x.shape[0], x.shape[0])) + 1,
        lambda x: np.concatenate([x + x.T, x + x.T]),
        lambda x: np.broadcast_to(x, (2**24, 2**24)).copy(),
        lambda x: (x @ x.T).sum(),
        lambda x: np.outer(x, x),
    ],
)
def test_a_result_too_large_for_memory_raises_memory_error(function):
    plain = np.ones((4, 1))
    expected = (MemoryError, ValueError)
    jitted = jit(function)
    for first in (True, False):
        with pytest.raises(expected):
            jitted(HUGE)
        if first:
            agrees(lambda x: x + 1, plain)
    if not function.__code__.co_consts or 2**24 not in function.__code__.co_consts:
        return
    with pytest.raises(expected):
        function(HUGE)


def test_the_function_works_after_memory_ran_out():
    jitted = jit(lambda x: x + x.T)
    for _ in range(2):
        same(jitted(np.ones((4, 1))), np.full((4, 4), 2.0))
        with pytest.raises(MemoryError):
            jitted(HUGE)


def test_arrays_of_many_axes_run_as_numpy():
    for ndim in (15, 16, 17, 33, 64):
        agrees(lambda x: x * 2 + x.sum(axis=-1, keepdims=True), np.ones((1,) * (ndim - 1) + (3,)))
    function = lambda x: x[None] + 1  # noqa: E731
    survives(function, (np.ones((1,) * 64),))
    survives(lambda x: np.add.outer(x, x), (np.ones((1,) * 40),))
    agrees(lambda x: x.reshape((1,) * 20 + (-1,)) * 2, GOOD)
    agrees(lambda x: x.T * 2, np.arange(2.0**17).reshape((2,) * 17))


def test_generators_run_as_python():
    def generate(x):
        yield x + 1
        yield x * 2

    jitted = jit(generate)
    for _ in range(2):
        same(list(jitted(GOOD)), [GOOD + 1, GOOD * 2])
    agrees(lambda x: sum(each * 2 for each in x), GOOD)
    agrees(lambda x: np.stack(list(generate(x))), GOOD)

    async def later(x):
        return x + 1

    coroutine = jit(later)(GOOD)
    with pytest.raises(StopIteration) as stopped:
        coroutine.send(None)
    same(stopped.value.value, GOOD + 1)


class OwnError(Exception):
    """An exception of the user's."""


def test_exceptions_of_the_function_reach_the_caller_with_their_text():
    def f(x, fail):
        if fail:
            raise OwnError(f"shape {x.shape}, sum {x.sum()}")
        return x + 1

    jitted = jit(f)
    for fail in (True, False, True, True, False):
        if fail:
            with pytest.raises(OwnError, match=r"shape \(2, 3\), sum 15.0"):
                jitted(GOOD, True)
        else:
            same(jitted(GOOD, False), GOOD + 1)

    def g(x):
        assert x.sum() > 0, "not positive"
        return x

    jitted = jit(g)
    same(jitted(GOOD), GOOD)
    with pytest.raises(AssertionError, match="not positive"):
        jitted(-GOOD)
    same(jitted(GOOD), GOOD)


def test_exceptions_that_the_function_catches_are_caught():
    def f(x, y):
        try:
            return x + y
        except ValueError:
            return x.sum()

    jitted = jit(f)
    for other in (GOOD, np.ones(4), np.ones(3), np.ones(5)):
        agrees(f, GOOD, other, jitted=jitted)

    def g(x):
        try:
            return x.sum(axis=1)
        except (IndexError, ValueError, AttributeError):
            return x * 2
        finally:
            x = None

    jitted = jit(g)
    for argument in (GOOD, np.ones(3), 4.0, np.float32(3), np.ones((2, 2, 2))):
        agrees(g, argument, jitted=jitted)

    def h(x):
        try:
            return x.no_such_thing
        except BaseException:
            return x + 1

    agrees(h, GOOD)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError])
def test_an_interrupt_inside_the_function_passes_through(error):
    interrupting = [True]

    def helper(x):
        if interrupting[0]:
            raise error
        return x * 2

    def f(x):
        return helper(x) + 1

    jitted = jit(f)
    for state in (True, False, True, False):
        interrupting[0] = state
        if state:
            with pytest.raises(error):
                jitted(GOOD)
        else:
            same(jitted(GOOD), GOOD * 2 + 1)


def test_arrays_of_no_elements_in_any_layout():
    base = np.ones((4, 6))
    empties = [base[:0], base[:, :0], base[::2, 6:], base.T[:0], base[2:2, ::-1], base[::-3, 3:3]]
    for function in (
        lambda x: x * 2 + 1,
        lambda x: x.sum(axis=0),
        lambda x: x.sum(axis=1),
        lambda x: x.T @ x,
        lambda x: x.reshape(-1),
        lambda x: np.concatenate([x, x]),
        lambda x: x[::-1] * x[0] if x.shape[0] else x,
        lambda x: x.max(axis=0),
        lambda x: np.cumsum(x, axis=0),
        lambda x: x.mean(),
    ):
        jitted = jit(function)
        for empty in (base, *empties, base):
            agrees(function, empty, jitted=jitted)


def test_exceptions_from_host_calls_reach_the_caller():
    for function, bad, good in (
        (np.linalg.inv, np.zeros((2, 2)), np.eye(2)),
        (np.linalg.cholesky, -np.eye(2), np.eye(2)),
        (lambda x: np.linalg.solve(x, x), np.zeros((2, 2)), np.eye(2)),
        (lambda x: np.linalg.inv(x) + 1, np.ones((2, 3)), np.eye(2)),
        (lambda x: np.linalg.svd(x)[1] * 2, np.full((2, 2), np.nan), np.eye(2)),
        (lambda x: np.linalg.eigvalsh(x), np.ones(3), np.eye(2)),
        (lambda x: np.fft.fft(x, axis=1) * 2, np.ones(3), np.eye(2)),
    ):
        function = (lambda inner: lambda x: inner(x))(function)
        survives(function, (bad,), (good,))


def test_numpys_errors_of_values_are_raised_at_each_call():
    survives(
        lambda x, n: x**n, (np.arange(4), np.array([-1, 2, 3, 4])), (np.arange(4), np.arange(4))
    )
    survives(lambda x, n: x + n, (np.arange(4, dtype="u1"), 300), (np.arange(4, dtype="u1"), 3))
    survives(lambda x, n: x + n, (np.arange(4, dtype="u1"), -1), (np.arange(4, dtype="u1"), 3))
    survives(lambda x, y: x / y, (1.0, 0.0), (1.0, 2.0))
    survives(lambda x, y: x // y, (1, 0), (5, 2))
    survives(lambda x, y: x % y, (1.0, 0.0), (5.0, 2.0))
    survives(lambda x, y: x**y, (0.0, -1.0), (5.0, 2.0))
    survives(lambda x, y: x**y, (-8.0, 0.5), (5.0, 2.0))
    survives(lambda x, y: x**y, (10.0, 400.0), (5.0, 2.0))
    survives(lambda x, y: x << y, (1, -1), (5, 2))
    survives(lambda x, y: x << y, (1, 70), (5, 2))
    survives(lambda x, y: x * y, (2**62, 4), (5, 2))
    survives(lambda x: x - x, (np.ones(3, bool),))
    survives(lambda x: -x, (np.ones(3, bool),))
    survives(lambda x: int(x), (float("nan"),), (2.5,))
    survives(lambda x: x.max(), (np.ones(0),), (np.ones(3),))
    survives(lambda n: np.zeros(n), (-1,), (3,))
    survives(lambda n: np.arange(5)[n], (7,), (3,))
