"""Functions of NumPy that are called in a shorter way give what NumPy gives: bits, dtypes, strides,
exceptions and warnings, for every dtype and layout.
"""

import warnings

import numpy as np
import pytest

import jitwise
from jitwise.ir.types import ArrayType
from jitwise.ops.call import DirectCall
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
    "nanmax axis": lambda x: np.nanmax(x, axis=-1),
    "nanmin axis": lambda x: np.nanmin(x, axis=0),
    "nanmean axis": lambda x: np.nanmean(x, axis=0),
    "nanmean last axis": lambda x: np.nanmean(x, -1),
    "argsort": lambda x: np.argsort(x),
    "argsort axis": lambda x: np.argsort(x, axis=0),
    "argsort flat": lambda x: np.argsort(x, axis=None),
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


IN_ORDER = ["sort", "sort axis", "partition", "unique"]
IN_ORDER += [name for name in ONE if name.startswith(("nan", "argsort"))]


@pytest.mark.parametrize("name", IN_ORDER)
def test_matrices_in_any_order_keep_it(name):
    for elements in (FLOATS, HOLED, FLOATS.astype("f4"), FLOATS.astype("f2"), HOLED + 1j, WHOLE):
        for order in "CF":
            x = np.asarray(elements.reshape(5, 10), order=order)
            for layout in (x, x[:, ::2], x[::-1], x.reshape(5, 2, 5), unaligned(x)):
                check(ONE[name], layout)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (4, 2, 2), (0, 0), (2, 0, 0), (3, 2)])
def test_determinants_are_numpys(shape):
    x = RNG.normal(size=shape)
    for matrix in (x, np.asarray(x, order="F"), x * 1e300, x * 0, x * np.nan, x.astype("f4")):
        check(lambda x: np.linalg.det(x), matrix)


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        (lambda x: np.partition(x, 70), (FLOATS,)),
        (lambda x: np.bincount(x), (WHOLE - 3,)),
        (lambda x: np.bincount(x), (FLOATS,)),
        (lambda x: np.sort(x, axis=1), (FLOATS,)),
        (lambda x: np.argsort(x, axis=1), (FLOATS,)),
        (lambda x: np.nanmax(x, axis=1), (FLOATS[:0].reshape(3, 0),)),
        (lambda x: np.nanmean(x, axis=3), (FLOATS,)),
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


@pytest.mark.parametrize("shape", [(5,), (5, 3)])
@pytest.mark.parametrize("name", [name for name in ONE if name.startswith("nan")])
def test_warnings_about_missing_elements_are_numpys_at_the_users_line(name, shape):
    jitted = jitwise.jit(ONE[name])
    jitted(FLOATS[: np.prod(shape)].reshape(shape))
    everything = np.full(shape, np.nan)
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


def test_a_shorter_call_is_for_the_dtype_that_it_names():
    """A dtype is equal to None, if it is float64."""
    det = SHORT[np.linalg.det]
    direct = DirectCall(np.linalg.det, (), ())
    for dtype in ("f4", "f8", "i8", "c16"):
        assert det.takes([ArrayType(np.dtype(dtype), (3, 3))], direct) is (dtype == "f8")
