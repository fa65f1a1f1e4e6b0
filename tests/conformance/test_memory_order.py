"""Arrays whose axes lie in any order in memory: results have NumPy's values whatever the order is,
and lie as NumPy's do where an elementwise function is given arrays that lie in one order. What asks
for C order gets it.
"""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from edge_values import same_bits

from jitwise import jit

SHAPES = {2: [(3, 4), (37, 50), (130, 70), (1, 9)], 3: [(3, 1, 4), (5, 6, 7), (40, 17, 33)]}
ORDERS = [order for rank in SHAPES for order in itertools.permutations(range(rank))]


def lying(order, shape, dtype="f8", seed=0):
    """An array of this shape whose axes lie in this order, the outermost first."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-50, 50, [shape[axis] for axis in order])
    return (numbers / 4).astype(dtype).transpose(np.argsort(order))


def strides(array):
    """Those that mean something."""
    return [step for step, size in zip(array.strides, array.shape, strict=True) if size > 1]


def shifted(x):
    return (x - x.mean()) / (x.max() + 1)


def through_a_view(x):
    y = x * 2
    return y + y.T[..., :1].T


def halves(x):
    y = x + 0.5
    return y, -y


ELEMENTWISE = {
    "one operand": lambda x: x * x,
    "a number": lambda x: 2 - x,
    "a chain": lambda x: np.sqrt(np.abs(x)) + x * 3,
    "the transpose": lambda x: x.T + 1,
    "axes swapped": lambda x: x.swapaxes(0, -1) * 2,
    "a condition": lambda x: np.where(x > 0, x, 1.0),
    "a comparison": lambda x: x < 1,
    "another dtype": lambda x: x.astype("f4"),
    "a part": lambda x: x[1:, ::2] + 1,
    "a row": lambda x: x + np.arange(x.shape[-1]),
    "two kernels": shifted,
    "two results": halves,
    "the same order": lambda x: x + x.copy(order="K") * 2,
    "its own transpose": lambda x: x.T * 2 + x.T,
    "through a view": through_a_view,
}


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_results_lie_as_numpys_do(name, order):
    function = ELEMENTWISE[name]
    jitted = jit(function)
    for dtype in ("f8", "f4", "i2", "c16"):
        for shape in SHAPES[len(order)] * 2:
            if dtype == "c16" and name in ("a condition", "a comparison", "another dtype"):
                continue
            x = lying(order, shape, dtype)
            found, expected = jitted(x), function(x)
            if not isinstance(found, tuple):
                found, expected = (found,), (expected,)
            for one, other in zip(found, expected, strict=True):
                assert one.dtype == other.dtype and one.shape == other.shape
                np.testing.assert_allclose(one, other, 1e-6)
                assert strides(one) == strides(other)
                assert one.flags.c_contiguous == other.flags.c_contiguous
                assert one.flags.f_contiguous == other.flags.f_contiguous


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_operands_of_two_orders_have_numpys_bits_and_c_order(order):
    def function(x, y, z):
        return x + y * z, (x - y).T * z.T

    jitted = jit(function)
    for dtype, shape in itertools.product(("f8", "f4", "i1", "f2", "c16"), SHAPES[len(order)]):
        x, y = lying(order, shape, dtype), lying(range(len(order)), shape, dtype, 1)
        z = lying(order[::-1], shape, dtype, 2)
        for args in itertools.permutations((x, y, z)):
            for found, expected in zip(jitted(*args), function(*args), strict=True):
                assert same_bits(np.ascontiguousarray(found), np.ascontiguousarray(expected)).all()


def assigned(x):
    y = np.zeros(x.shape)
    y[...] = x * 2
    return y


inner_copy = jit(lambda y: (y + 1).copy())

C_ORDERED = {
    "copy": lambda x: (x + 1).copy(),
    "computed of a copy": lambda x: x.copy() * 2,
    "ascontiguousarray": lambda x: np.ascontiguousarray(x * 2),
    "array": lambda x: np.array(x * 2, order="C"),
    "asarray": lambda x: np.asarray(x * 2, order="C"),
    "astype": lambda x: x.astype("f4", order="C"),
    "assigned": assigned,
    "a reshape": lambda x: (x + 1).reshape(x.shape[::-1]),
    "inner": lambda x: inner_copy(x),
}


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("name", C_ORDERED)
def test_c_order_is_there_where_it_is_asked_for(name, order):
    function = C_ORDERED[name]
    jitted = jit(function)
    for shape in SHAPES[len(order)] * 2:
        x = lying(order, shape)
        found = jitted(x)
        assert found.flags.c_contiguous and found.flags.owndata
        np.testing.assert_array_equal(found, function(x), strict=True)


def looped(x):
    y = x * 2
    for _ in range(x.shape[0] + 40):
        y = y + x
    return y


def branched(x):
    y = x + 1
    if x.sum() > 3:
        y = y * 2 + x
    return y


def changed(x):
    y = x * 2
    y[0] = 7
    y[:, -1] += x[:, 0]
    return y


def scattered(x):
    y = x * 2
    y[np.array([0, -1])] += 1
    np.add.at(y, np.array([0, 0]), 2)
    return y


def joined(x):
    y = x + 1
    return np.concatenate([y, x * 2, y[:1]])


CONSUMERS = {
    "reshape": lambda x: (x + 1).reshape(-1),
    "ravel": lambda x: np.ravel(x * 2) + 1,
    "ravel in another order": lambda x: (x * 2).ravel(order="F"),
    "ravel as memory lies": lambda x: (x * 2).ravel(order="K"),
    "ravel in any order": lambda x: (x * 2).ravel(order="A"),
    "flat": lambda x: np.array(list((x * 2).flat)),
    "flatten": lambda x: (x + 1).flatten(),
    "kept and reshaped": lambda x: (lambda y: (y, y.reshape(-1)))(x + 1),
    "kept and copied": lambda x: (lambda y: (y, y.copy(), np.copy(y)))(x + 1),
    "sort": lambda x: np.sort(x * 2, axis=0),
    "cumsum": lambda x: (x + 1).cumsum(),
    "along an axis": lambda x: np.cumsum(x * 2, axis=1),
    "argmax": lambda x: (np.abs(x).argmax(), (x * 2).argmin(axis=0)),
    "product": lambda x: np.matmul(x * 2, x.swapaxes(-1, -2) + 1),
    "take": lambda x: np.take(x * 2, [1, 0, -1]),
    "rows": lambda x: (x * 2)[np.array([0, -1])],
    "a mask": lambda x: (lambda y: y[y > 0])(x * 2),
    "nonzero": lambda x: np.nonzero(x * 2 > 1),
    "roll": lambda x: np.roll(x + 1, 3),
    "joined": joined,
    "changed": changed,
    "scattered": scattered,
    "looped": looped,
    "branched": branched,
    "unique": lambda x: np.unique(x + 1),
    "sum": lambda x: (x * 2).sum(),
    "twice": lambda x: (lambda y: (y.T, y, y[::-1], y * 2 + y.sum()))(x + 1),
}


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("name", CONSUMERS)
@pytest.mark.filterwarnings("ignore")
def test_what_reads_a_result_reads_it_right(name, order):
    function = CONSUMERS[name]
    jitted = jit(function)
    for shape in SHAPES[len(order)] * 2:
        if name == "rows" and shape[0] == 1:
            continue
        x = lying(order, shape)
        found, expected = jitted(x), function(x.copy(order="K"))
        if not isinstance(found, (tuple, list)):
            found, expected = [found], [expected]
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, 1e-12, strict=True)


REDUCTIONS = ("sum", "max", "min", "mean", "any", "all", "argmax", "std", "prod", "count_nonzero")


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_numpys_in_every_order(name, order):
    reduction = getattr(np, name)
    axes = [None, *range(len(order))]
    if name != "argmax":
        axes += list(itertools.combinations(range(len(order)), 2))
    for axis in axes:

        def function(x, y, axis=axis):
            return reduction(x, axis=axis), reduction(x * y, axis=axis)

        jitted = jit(function)
        for dtype, shape in itertools.product(("f8", "f4", "i8"), SHAPES[len(order)]):
            x = lying(order, shape, dtype)
            if name == "prod":
                x = np.sign(x)  # every order gives the same
            for y in (x, lying(order[::-1], shape, dtype, 3)):
                if name == "prod":
                    y = np.sign(y)
                for found, expected in zip(jitted(x, y), function(x, y), strict=True):
                    tolerance = 3e-5 if dtype == "f4" else 1e-11
                    np.testing.assert_allclose(found, expected, tolerance, tolerance, strict=True)


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_an_array_changed_in_place_keeps_its_order(order):
    def function(x, y):
        x += y
        x *= 2
        return x

    jitted = jit(function)
    for shape in SHAPES[len(order)] * 2:
        for other in (order, order[::-1]):
            x, y = lying(order, shape), lying(other, shape, seed=1)
            found, expected = x.copy(order="K"), x.copy(order="K")
            function(expected, y)
            assert jitted(found, y) is found
            np.testing.assert_array_equal(found, expected)
            assert found.strides == expected.strides


def test_a_call_in_which_numpy_warns_gives_the_same_order():
    def reciprocals_in_order(x):
        return 1 / x

    jitted = jit(reciprocals_in_order)
    x = lying((1, 0), (30, 40))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for start in (1.0, 0.0, 0.0, 2.0):
            x[0, 0] = start
            x[x == 0] = 1 if start else 0
            assert strides(jitted(x)) == strides(x)
