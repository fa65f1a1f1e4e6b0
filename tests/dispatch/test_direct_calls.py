"""Direct calls of a library's functions by the machine: what they are called with, sizes that they
tell, and results that are, or lie in, what somebody else holds.
"""

import numpy as np
import pytest

native = pytest.importorskip("jitwise.runtime._native")


def direct(function, sizes, more=(), names=(), symbols=(("size", 0, 0),), rest=(), dims=()):
    """A program that calls `function` with one vector; its results are vectors of `sizes`."""
    outs = [(1 + i, "f64", 1, [size]) for i, size in enumerate(sizes)]
    work = [("host", function, [0], outs, more, names, True), *rest]
    made = [1 + i for i in range(len(sizes))]
    return native.Program("test", symbols, dims, [], [("f64", 1)], 8, work, made)


X = np.arange(4.0)


def test_what_is_plain_comes_after_the_operands_and_by_name():
    seen = []

    def function(*args, **options):
        seen.append((args[1:], options))
        return args[0] * 2

    made = direct(function, [0], (1, "two", 3.0), ("third",))
    assert np.array_equal(made.run([X])[0], X * 2)
    assert seen == [((1, "two"), {"third": 3.0})]


@pytest.mark.parametrize("count", [0, 1, 5, 11, 12, 40])
def test_any_number_of_plain_arguments_is_passed(count):
    made = direct(lambda x, *rest: x + len(rest) + sum(rest), [0], tuple(range(count)))
    assert np.array_equal(made.run([X])[0], X + count + sum(range(count)))


def test_more_names_than_arguments_are_refused():
    with pytest.raises(ValueError, match="a name without an argument"):
        direct(lambda x: x, [0], (), ("third",))


SYMBOLS = (("size", 0, 0), ("measured", "m0"))


def test_a_length_that_a_result_tells_is_measured():
    made = direct(lambda x: x[x > 1], [-2], symbols=SYMBOLS, rest=[("measure", 1, 1, 0)])
    for x in (X, X + 1, X[:0]):
        assert np.array_equal(made.run([x])[0], x[x > 1])


def test_results_of_one_measured_length_must_agree():
    def function(x):
        return x[x > 1], np.zeros(2)

    rest = [("measure", 1, 1, 0)]
    made = direct(function, [-2, 1], symbols=SYMBOLS, rest=rest)
    assert made.run([X])[0].tolist() == [2, 3]
    with pytest.raises(native.Deoptimize):
        made.run([X + 1])


@pytest.mark.parametrize("size", [1, -1, -3])
def test_sizes_that_are_not_known_are_refused(size):
    with pytest.raises(ValueError):
        direct(lambda x: x, [size], symbols=SYMBOLS, rest=[("measure", 1, 1, 0)])


def test_a_result_of_another_length_gives_up_the_call():
    with pytest.raises(native.Deoptimize):
        direct(lambda x: x[:2].copy(), [0]).run([X])


STORED = np.arange(4.0)
TWICE = np.repeat(STORED, 2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x,
        lambda x: x[:],
        lambda x: x[::-1],
        lambda x: STORED,
        lambda x: TWICE[::2],
        lambda x: np.broadcast_to(np.float64(2), x.shape),
        lambda x: [x.copy()],
        lambda x: np.asmatrix(x).A1,
    ],
)
def test_results_that_others_hold_are_copied(function):
    x = np.arange(4.0)
    (found,) = direct(function, [0]).run([x])
    expected = function(x)
    assert np.array_equal(found, np.squeeze(expected))
    assert found.flags.writeable
    for other in (x, STORED, TWICE):
        assert not np.shares_memory(found, other)


def test_results_that_lie_in_one_array_are_told_apart():
    def function(x):
        both = np.array([x, x + 1])
        return both[0], both[1]

    first, second = direct(function, [0, 0]).run([X])
    first[:] = 7
    assert np.array_equal(second, X + 1)


def test_the_same_array_twice_is_two_results():
    def function(x):
        y = x + 1
        return y, y

    first, second = direct(function, [0, 0]).run([X])
    first[:] = 7
    assert np.array_equal(second, X + 1)


def test_a_fresh_result_is_given_as_it_is():
    made = []

    def function(x):
        found = np.asfortranarray(x) + 1
        made.append(found.ctypes.data)
        return found

    (found,) = direct(function, [0]).run([X])
    assert found.ctypes.data == made[0]


@pytest.mark.parametrize(
    "nest", [lambda a, b, c: (a, [b, c]), lambda a, b, c: [[a], (b, (c,))], lambda *each: each]
)
def test_results_in_a_nest_are_taken_in_order(nest):
    made = direct(lambda x: nest(x + 1, x + 2, x + 3), [0, 0, 0])
    for each, added in zip(made.run([X]), (1, 2, 3), strict=True):
        assert np.array_equal(each, X + added)


@pytest.mark.parametrize("result", [(X,), (X, X, X), (X, [X, X]), X], ids=str)
def test_more_or_fewer_results_than_were_seen_give_up(result):
    with pytest.raises(native.Deoptimize):
        direct(lambda x: result, [0, 0]).run([X])
