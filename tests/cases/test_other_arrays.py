"""Arrays that are no plain arrays of numbers: NumPy's answer, by NumPy."""

from __future__ import annotations

import datetime
import fractions
import warnings

import numpy as np
import numpy.ma
import pytest
from beside_numpy import Beside

from jitwise import jit

pytestmark = pytest.mark.filterwarnings("ignore")
case = pytest.mark.case


class Metres(np.ndarray):
    """A subclass of the user's."""


DAYS = np.array(["2020-01-01", "2020-01-03", "NaT"], "M8[D]")
PAIRS = np.array([(1, 2.0), (3, 4.0)], [("a", int), ("b", float)])
with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    MATRIX = np.matrix([[1, 2], [3, 4]])
MASKED = numpy.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
LONG = np.arange(3, dtype=np.longdouble) / 3
OBJECTS = np.array([fractions.Fraction(1, 3), 2, 3.5], object)
METRES = np.arange(3.0).view(Metres)

OTHERS = {
    "objects": (OBJECTS, [lambda x: x + x, lambda x: (x * 2).sum(), lambda x: x[::-1] / 3]),
    "objects with None": (np.array([None, "a"], object), [lambda x: x == None, lambda x: x[1]]),  # noqa: E711
    "objects that cannot": (np.array([None, "a"], object), [lambda x: x + 1, np.sin]),
    "strings": (
        np.array(["a", "bc"]),
        [lambda x: x == "a", lambda x: np.char.upper(x), lambda x: x[::-1], lambda x: np.sort(x)],
    ),
    "strings that cannot": (np.array(["a", "bc"]), [lambda x: x * 2, lambda x: x.sum(), np.sin]),
    "bytes": (np.array([b"a", b"bc"]), [lambda x: x == b"a", lambda x: np.char.add(x, x)]),
    "days": (
        DAYS,
        [
            lambda x: x - x[0],
            lambda x: x + 1,
            lambda x: np.isnat(x),
            lambda x: x.max(),
            lambda x: x + x,
            lambda x: (x - x[0]).astype("f8") * 2,
            lambda x: x < np.datetime64("2020-01-02"),
        ],
    ),
    "spans": (DAYS[:2] - DAYS[0], [lambda x: x * 2, lambda x: x / x, lambda x: x.sum(), np.sin]),
    "records": (
        PAIRS,
        [lambda x: x["a"] + 1, lambda x: x[0], lambda x: x["b"].sum(), lambda x: x + 1, np.sort],
    ),
    "masked": (
        MASKED,
        [lambda x: x + 1, lambda x: x.sum(), lambda x: np.sin(x), lambda x: x.mean() * x],
    ),
    "matrix": (
        MATRIX,
        [
            lambda x: x * x,
            lambda x: x + 1,
            lambda x: x.sum(axis=0),
            lambda x: x**2,
            lambda x: x.T @ x,
            lambda x: x[0],
            lambda x: np.multiply(x, x),
            lambda x: x.A1,
            lambda x: np.asarray(x) * 2,
        ],
    ),
    "long": (LONG, [lambda x: x * 2, lambda x: x.sum(), lambda x: np.sin(x), lambda x: x + 1j]),
    "subclass": (METRES, [lambda x: x * 2, lambda x: x.sum(), lambda x: x[1:], np.sin]),
}
OTHER_PROGRAMS = [(name, number) for name in OTHERS for number in range(len(OTHERS[name][1]))]


@case("C36")
@pytest.mark.parametrize(("name", "number"), OTHER_PROGRAMS)
def test_what_is_no_plain_numeric_array_gives_what_numpy_gives(name, number):
    array, programs = OTHERS[name]
    f = Beside(programs[number])
    f(array)
    f(array[::-1])
    f(np.arange(4.0).reshape(2, 2))  # a plain array between them, and the other again
    f(array)
    assert len(f.said) == len(set(f.said)) <= 2, "a reason is said once"
    inside = Beside(lambda n: programs[number](array) if n > 0 else n)
    inside(2)
    kept = Beside(lambda x: (x, [array, x * 2]))
    kept(np.ones(3))


@case("C36")
def test_a_product_of_matrices_is_no_elementwise_product():
    f = jit(lambda x: x * x)
    assert f(np.array([[1, 2], [3, 4]])).tolist() == [[1, 4], [9, 16]]
    for _ in range(3):
        assert type(f(MATRIX)) is np.matrix
        assert f(MATRIX).tolist() == [[7, 10], [15, 22]]
    assert f(np.array([[1, 2], [3, 4]])).tolist() == [[1, 4], [9, 16]]


@case("C36")
@pytest.mark.parametrize(
    "item",
    [datetime.date(2020, 1, 2), np.datetime64("2020-01-02"), np.timedelta64(3, "D"), "a", b"a"],
)
def test_scalars_that_are_no_numbers_are_passed_on(item):
    for function in (
        lambda x: x,
        lambda x: [x, np.arange(2) + 1],
        lambda x: x == x,
        lambda x: x + x,
    ):
        Beside(function)(item)
