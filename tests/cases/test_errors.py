"""What needs the value of an array runs as Python, gives NumPy's answer, and says so once: the
first line names the value and the line; what leaves a trace is a value; results of any type.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import math
import re
import types
import warnings

import numpy as np
import pytest
from beside_numpy import Beside

from jitwise import JitwiseWarning, jit

case = pytest.mark.case
VECTOR = np.array([0.5, 1.5, 2.5])


def as_float(x):
    return float(x.sum()) * 2


def as_int(x):
    return int(x.sum()) + 1


def as_bool(x):
    return bool(x.sum() > 1)


def as_complex(x):
    return complex(x.sum())


def sine(x):
    return math.sin(x.sum())


def gamma(x):
    return math.gamma(x.sum())


def floored(x):
    return math.floor(x[0] + 0.7), math.sqrt(x[1])


def length(x):
    return len(x[0])


def counted(x):
    return [each * 2 for each in range(x[0])]


def counted_by_int(x):
    return [each * 2 for each in range(int(x[0]))]


def found(x):
    return x[1] in [0.5, 1.5, 2.5]


def found_in_dict(x):
    return {0.5: "a", 1.5: "b"}[x[0].item()]


def as_text(x):
    return "%f and %s" % (x[0], x.sum())  # noqa: UP031


def as_formatted(x):
    return f"{x[0]:.2f} of {x}"


def as_string(x):
    return str(x.sum()) + repr(x)


def array_of(x):
    return np.array([x[0], 1.0, x.sum()])


def array_of_arrays(x):
    return np.array([x, x * 2])


def assigned_to_zeros(x):
    z = np.zeros(3)
    z[0] = x[1]
    z[1:] = x[:2]
    return z * 2


def indexed_by_value(x):
    return [10, 20, 30][int(x[0])]


def listed(x):
    return x.tolist()


def item(x):
    return x.sum().item() + x[0].item()


def rounded(x):
    return round(float(x[0]), 1), round(x[1])


def branched(x):
    return x * 2 if x.sum() > 3 else -x


def unpacked(x):
    a, b, c = x
    return a + b * c


def summed_by_python(x):
    return sum(x), max(x), min(list(x)), sorted(x)


def joined(x):
    return ",".join(str(each) for each in x)


def hashed(x):
    return hash(float(x[0]))


def raised(x):
    if x[0] < 1:
        raise ValueError(f"neg {x[0]}")
    return x


def asserted(x):
    if not x.sum() > 3:
        raise AssertionError("too small")
    return x * 2


def by_isinstance(x):
    return isinstance(x, np.ndarray), isinstance(x[0], float), type(x).__name__


NEEDS_VALUES = [as_float, as_int, as_bool, as_complex, sine, gamma, floored, length]
NEEDS_VALUES += [
    counted,
    found,
    counted_by_int,
    found_in_dict,
    as_text,
    as_formatted,
    as_string,
    array_of,
    item,
]
NEEDS_VALUES += [array_of_arrays, assigned_to_zeros, indexed_by_value, listed, rounded, branched]
NEEDS_VALUES += [unpacked, summed_by_python, joined, hashed, raised, asserted, by_isinstance]
COMPILED = [array_of, array_of_arrays, assigned_to_zeros, unpacked, as_bool, sine, branched, raised]


@case("C99")
@pytest.mark.parametrize("function", NEEDS_VALUES, ids=lambda function: function.__name__)
def test_what_needs_a_value_gives_pythons_answer_and_is_said_once_with_its_line(function):
    f = Beside(function, ulp=4)
    with np.errstate(all="ignore"):
        for x in (VECTOR, VECTOR + 1, VECTOR * 0, VECTOR - 2, np.arange(3), VECTOR.astype("f4")):
            f(x)
            f(x[::-1])
    if function in COMPILED:
        f.compiled()
    reasons = {
        (each["reason"], each["text"]) for each in f.fallbacks() if each["reason"] != "error"
    }
    if reasons:
        code = function.__code__
        lines = {number for _, _, number in code.co_lines() if number is not None}
        assert len(f.said) == len(set(f.said)), "said once"
        for message in f.said:
            first = message.splitlines()[0]
            assert first.startswith(f"{function.__name__} runs as Python, because ")
            path, line = re.search(r", at (.*):(\d+)", first).groups()
            assert path == code.co_filename
            assert int(line) in lines


NAMED = {
    found: "bool",
    gamma: "float",
    as_formatted: "format",
    listed: "tolist",
}


@case("C99")
@pytest.mark.parametrize("function", NAMED, ids=lambda function: function.__name__)
def test_the_first_line_names_what_was_asked_of_the_value(function):
    f = Beside(function)
    f(VECTOR)
    f(VECTOR + 1)
    f.python(NAMED[function])


@case("C99")
def test_a_value_of_an_argument_that_is_a_number_needs_no_python():
    f = Beside(lambda x, n: [float(n), int(n), x * n, "%d" % n, list(range(n))])  # noqa: UP031
    for n in (3, 5, 0):
        f(VECTOR, n)
    f.compiled()


@case("C99")
@pytest.mark.parametrize("function", NEEDS_VALUES, ids=lambda function: function.__name__)
def test_what_needs_a_value_works_inside_of_another_function(function):
    inner = jit(function)
    f = Beside(lambda x: (inner(x * 1.0), x + 1))
    for x in (VECTOR, VECTOR + 1):
        f(x)
    assert len(f.said) == len(set(f.said))


@case("C59")
@pytest.mark.parametrize("length", [1, 3, 1000])
def test_a_value_that_was_kept_outside_is_a_value(length):
    kept: list = []
    f = jit(lambda x: (kept.append(x * 2), x)[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JitwiseWarning)
        for number in (1.0, 2.0, 3.0):
            assert np.array_equal(f(np.full(length, number)), np.full(length, number))
            assert np.array_equal(kept[-1] + 1, np.full(length, number * 2 + 1))
            assert type(kept[-1]) is np.ndarray
        assert len(kept) == 3
        assert f(1.0) == 1.0
        assert kept[-1] + 1 == 3.0
        assert type(kept[-1]) is float


@case("C59")
def test_values_kept_in_many_ways_are_values_and_it_is_said_once():
    class Holder:
        value = None

    holder, table, rows = Holder(), {}, collections.deque()

    def f(x):
        y = x * 2
        holder.value = y
        table["y"] = y + 1
        rows.append((y[0], [y]))
        return y.sum()

    jitted = jit(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number in (1.0, 2.0, 3.0):
            x = np.full(4, number)
            assert jitted(x) == number * 8
            assert (holder.value == number * 2).all()
            assert (table["y"] == number * 2 + 1).all()
            assert rows[-1][0] == number * 2
            assert (rows[-1][1][0] == number * 2).all()
    said = [str(each.message) for each in caught if each.category is JitwiseWarning]
    assert len(said) == 1
    assert "test_errors.py:" in said[0].splitlines()[0]


@dataclasses.dataclass
class Result:
    """A result of the user's."""

    total: object
    name: str


class Custom:
    """An object that nobody knows."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return type(other) is Custom and np.array_equal(self.value, other.value)

    __hash__ = None


class Colour(enum.Enum):
    """A constant of the user's."""

    RED = 1


Point = collections.namedtuple("Point", "x y")

RESULTS = {
    "generator": lambda x: (each * 2 for each in x),
    "generator of none": lambda x: (each for each in ()),
    "map": lambda x: map(lambda each: each + 1, x),  # noqa: C417
    "zip": lambda x: zip(x, x * 2, strict=True),
    "iterator": lambda x: iter([x, x + 1]),
    "function": lambda x: lambda: x * 2,
}
VALUES = {
    "string": lambda x: "done",
    "string of size": lambda x: f"{x.shape[0]} rows",
    "bytes": lambda x: b"done",
    "None": lambda x: None,
    "nothing": lambda x: x.sum() and None,
    "custom": lambda x: Custom(x * 2),
    "custom in a list": lambda x: [Custom(x.sum()), x + 1],
    "namedtuple": lambda x: Point(x.sum(), x * 2),
    "dict": lambda x: {"a": x * 2, 3: "three", None: [x[0]]},
    "enum": lambda x: (Colour.RED, x * 2),
    "type": lambda x: (np.float32, int, x.dtype),
    "slice": lambda x: slice(1, None),
    "ellipsis": lambda x: (..., NotImplemented, x * 2),
    "set": lambda x: {1, 2, 3},
    "frozenset": lambda x: frozenset("ab"),
    "range": lambda x: range(len(x)),
    "shape": lambda x: (x.shape, x.ndim, x.size, x.nbytes),
    "numbers": lambda x: (1, 2.5, True, 1j, -0.0, 2**70),
    "numpy numbers": lambda x: (np.float32(1), np.int8(3), np.bool_(True), np.datetime64("2020")),
    "exception": lambda x: type(ValueError("no")),
    "bool": lambda x: x.shape[0] > 2,
    "ordered": lambda x: collections.OrderedDict(b=x * 2, a=x),
    "empty": lambda x: [(), [], {}, x * 2],
    "deep": lambda x: [[[[[x * 2]]]], {"a": {"b": (x,)}}],
    "object array": lambda x: np.array([None, "a"], object),
    "string array": lambda x: np.array(["a", "b"]),
    "fraction": lambda x: math.pi,
    "module": lambda x: math,
}


@case("C101")
@pytest.mark.parametrize("name", VALUES)
def test_a_result_of_any_type_is_passed_on(name):
    f = Beside(VALUES[name])
    for size in (3, 1, 1000):
        f(np.arange(float(size)) + 1)
    assert len(f.said) == len(set(f.said))


@case("C101")
@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_a_dataclass_is_passed_on():
    f = jit(lambda x: Result(x.sum(), "sum"))
    for size in (3, 1, 1000):
        result = f(np.ones(size))
        assert type(result) is Result
        assert result.total == size
        assert type(result.total) is np.float64
        assert result.name == "sum"


@case("C101")
@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_an_iterator_or_a_function_gives_values_of_its_own_at_each_call(name):
    function = RESULTS[name]
    f = jit(function)
    kept = []
    for size in (3, 2, 1000, 3):
        x = np.arange(float(size))
        got, expected = f(x), function(x)
        assert type(got) is type(expected)
        if isinstance(got, types.FunctionType):
            assert np.array_equal(got(), expected())
            continue
        kept.append((got, expected))
    for got, expected in kept:  # some time after the calls
        for left, right in zip(got, expected, strict=True):
            assert type(left) is type(right)
            assert np.array_equal(left, right)


@case("C101")
@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_a_generator_function_is_one():
    def pieces(x):
        for k in range(3):
            yield x * k

    f = jit(pieces)
    for _ in range(3):
        assert [each.tolist() for each in f(np.ones(2))] == [[0, 0], [1, 1], [2, 2]]
