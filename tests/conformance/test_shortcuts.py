"""Functions of NumPy that are called in a shorter way give what NumPy gives: bits, dtypes, strides,
exceptions and warnings, for every dtype and layout.
"""

import warnings

import numpy as np
import pytest

import jitwise
from jitwise.runtime import host_call
from jitwise.runtime.shortcuts import SHORT

RNG = np.random.default_rng(3)
FLOATS = RNG.normal(size=50)
HOLED = np.where(RNG.random(50) < 0.3, np.nan, FLOATS)
WHOLE = RNG.integers(0, 30, 50)


def unaligned(array):
    """The same elements, one byte further."""
    memory = np.zeros(array.nbytes + 1, np.uint8)[1:]
    result = memory.view(array.dtype).reshape(array.shape)
    result[...] = array
    return result


def frozen(array):
    """The same elements, which cannot be written to."""
    array = array.copy()
    array.flags.writeable = False
    return array


LAYOUTS = [np.array, lambda x: np.repeat(x, 2)[::2], lambda x: x[::-1], unaligned, frozen]
ONE = {
    "sort": lambda x: np.sort(x),
    "sort axis": lambda x: np.sort(x, axis=0),
    "partition": lambda x: np.partition(x, 3),
    "partition axis": lambda x: np.partition(x, -2, axis=0),
    "searchsorted": lambda x: np.searchsorted(np.sort(x), x),
    "convolve": lambda x: np.convolve(x, x[:7]),
    "convolve short": lambda x: np.convolve(x[:3], x),
    "convolve same": lambda x: np.convolve(x, x[:7], "same"),
    "nanmax": lambda x: np.nanmax(x),
    "nanmin": lambda x: np.nanmin(x),
    "nanmean": lambda x: np.nanmean(x),
    "interp": lambda x: np.interp(x, np.arange(5.0), np.arange(5.0) ** 2),
    "unique": lambda x: np.unique(x),
    "unique counts": lambda x: np.unique(x, return_counts=True),
    "unique all": lambda x: np.unique(x, return_index=True, return_inverse=True),
}
COUNTS = {
    "bincount": lambda x: np.bincount(x),
    "bincount least": lambda x: np.bincount(x, minlength=40),
    "bincount weights": lambda x: np.bincount(x, x * 0.5),
}


def outcome(function, *args):
    """What comes of a call: results or an exception, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*args)
        except Exception as error:
            return type(error), str(error)
    several = found if isinstance(found, tuple) else (found,)
    facts = [(type(x), x.dtype, x.shape, x.strides, x.tobytes()) for x in several]
    kinds = [(each.category, str(each.message), each.filename) for each in caught]
    ours = [each for each in kinds if not issubclass(each[0], jitwise.JitwiseWarning)]
    return facts, ours


def check(function, *args):
    jitted = jitwise.jit(function)
    for _ in range(3):
        assert outcome(jitted, *args) == outcome(function, *args)
    return jitted


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("name", ONE)
def test_a_shorter_call_gives_the_same(name, layout):
    for elements in (FLOATS, HOLED, FLOATS.astype("f4"), WHOLE, WHOLE.astype("u1"), FLOATS > 0):
        check(ONE[name], LAYOUTS[layout](elements))


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_the_same(name, layout):
    for elements in (WHOLE, WHOLE.astype("u1"), WHOLE * 100, WHOLE[:1], np.tile(WHOLE, 40)):
        check(COUNTS[name], LAYOUTS[layout](elements))


@pytest.mark.parametrize("name", ["sort", "sort axis", "partition", "nanmax", "nanmean", "unique"])
def test_matrices_in_any_order_keep_it(name):
    for order in "CF":
        check(ONE[name], np.asarray(FLOATS.reshape(5, 10), order=order))


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        (lambda x: np.partition(x, 70), (FLOATS,)),
        (lambda x: np.bincount(x), (WHOLE - 3,)),
        (lambda x: np.bincount(x), (FLOATS,)),
        (lambda x: np.sort(x, axis=1), (FLOATS,)),
        (lambda x, k: np.convolve(x, k), (FLOATS, FLOATS[:0])),
        (lambda x: np.nanmax(x), (FLOATS[:0],)),
        (lambda x: np.linalg.inv(x), (np.zeros((3, 3)),)),
        (lambda x, b: np.linalg.solve(x, b), (np.zeros((3, 3)), np.ones(3))),
        (lambda x, b: np.linalg.solve(x, b), (np.eye(3), np.ones(4))),
    ],
)
def test_exceptions_are_numpys(function, arrays):
    check(function, *arrays)


def test_other_elements_that_numpy_refuses_raise_from_the_same_program():
    counts = jitwise.jit(lambda x: np.bincount(x))
    counts(WHOLE)
    assert outcome(counts, WHOLE - 5) == outcome(np.bincount, WHOLE - 5)
    solve = jitwise.jit(lambda x, b: np.linalg.solve(x, b))
    solve(np.eye(3), np.ones(3))
    with pytest.raises(np.linalg.LinAlgError):
        solve(np.zeros((3, 3)), np.ones(3))


@pytest.mark.parametrize("name", ["nanmax", "nanmin", "nanmean"])
def test_warnings_about_missing_elements_are_numpys_at_the_users_line(name):
    jitted = jitwise.jit(ONE[name])
    jitted(FLOATS)
    everything = np.full(5, np.nan)
    expected = outcome(ONE[name], everything)
    assert expected[1]
    for _ in range(12):
        assert outcome(jitted, everything) == expected


def test_one_program_serves_every_count():
    def counted(x):
        return np.unique(x, return_counts=True)[1] * 2

    jitted = jitwise.jit(counted)
    for top in (1, 3, 10, 20):
        x = WHOLE % top
        assert np.array_equal(jitted(x), counted(x))
    assert not [each for each in jitted.records() if each.subject == "fallback"]


def test_results_are_no_part_of_an_argument():
    """Functions that give back what they are given, or a view of it."""
    for function in (np.real_if_close, lambda x: np.trim_zeros(x), np.resize):
        jitted = jitwise.jit(lambda x, f=function: f(x) if f is not np.resize else f(x, x.shape))
        for _ in range(3):
            x = FLOATS.copy()
            assert not np.shares_memory(jitted(x), x)


@pytest.mark.skipif(not host_call.IS_DIRECT, reason="this NumPy has no such variable")
def test_sizes_that_a_call_measures_are_read_by_the_machine():
    """The call is NumPy's function itself, not one of Python around it."""
    seen = []
    original = host_call.called_for

    def spy(op):
        found = original(op)
        seen.append(found)
        return found

    import jitwise.runtime.lower as lower

    lower.called_for = spy
    try:
        jitwise.jit(lambda x: np.unique(x))(WHOLE.astype("i4"))
        jitwise.jit(lambda x: np.bincount(x))(WHOLE)
    finally:
        lower.called_for = original
    assert [each.direct is not None for each in seen] == [True, True]
    assert seen[1].function is SHORT[np.bincount].function
