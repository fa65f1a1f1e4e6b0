"""What NumPy reports of integers and of numbers that do not fit is reported by compiled code too:
divisions by a zero of the program's text, NumPy scalars that wrap, numbers that become infinite;
and what NumPy makes read-only is not written to.
"""

from __future__ import annotations

import operator
import warnings

import numpy as np
import pytest
from surface_run import differs

import jitwise
from jitwise.api.remade import remade
from jitwise.errors import JitwiseWarning
from jitwise.ops.scalar_arithmetic import OF_SCALARS

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
BINARY = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul}
UNARY = {"negative": operator.neg, "absolute": abs}


def edges(dtype):
    limits = np.iinfo(dtype)
    middle = 1 << (limits.bits // 2)
    numbers = {limits.min, limits.min + 1, -1, 0, 1, 2, middle - 1, middle, limits.max}
    return np.array([each for each in sorted(numbers) if each >= limits.min], dtype)


def told(function, *args):
    """The result, or the exception, and the warnings but jitwise's own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args)
        except Exception as error:
            result = repr(error)
    kept = [each for each in caught if not issubclass(each.category, JitwiseWarning)]
    return result, [(each.category, str(each.message)) for each in kept]


def same(function, *args, compiles=True):
    remade.clear()
    jitted = jitwise.jit(function)
    for _ in range(2):
        expected, found = told(function, *args), told(jitted, *args)
        assert found[1] == expected[1], args
        np.testing.assert_array_equal(found[0], expected[0])
        assert type(found[0]) is type(expected[0])
        assert getattr(found[0], "dtype", None) == getattr(expected[0], "dtype", None)
    assert bool(jitted.state.compiles) == compiles


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", BINARY)
def test_scalars_that_wrap_are_reported(name, dtype):
    numbers, apply = edges(dtype), BINARY[name]

    def function(x, i, j):
        return apply(x[i], x[j])

    jitted = jitwise.jit(function)
    for i in range(len(numbers)):
        for j in range(len(numbers)):
            assert told(jitted, numbers, i, j) == told(function, numbers, i, j)
    assert jitted.state.traces <= 2


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", UNARY)
def test_opposites_that_do_not_fit_are_reported(name, dtype):
    apply = UNARY[name]
    jitted = jitwise.jit(lambda x: apply(x.max()))
    for number in edges(dtype):
        array = np.array([number, number])
        assert told(jitted, array) == told(lambda x: apply(x.max()), array)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_python_int_beside_a_scalar_is_no_array(dtype):
    for number in edges(dtype):
        array = np.array([number])
        same(lambda x: x.max() + 1, array)
        same(lambda x: 3 * x[0], array)


def test_arrays_and_functions_wrap_in_silence():
    x = np.array([100, -128], "i1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in (
            lambda x: x + x,
            lambda x: -x,
            lambda x: np.add(x[0], x[0]),
            lambda x: np.negative(x[1]),
            lambda x: x[0] + np.array(x[0]),
            lambda x: np.square(x[1]),
            lambda x: x.astype(bool)[0] + x[0],
        ):
            np.testing.assert_array_equal(jitwise.jit(function)(x), function(x))


def test_a_scalar_that_wraps_is_raised_or_ignored_as_numpy_is_told():
    jitted = jitwise.jit(lambda x: x[0] * x[0])
    x = np.array([100], "i1")
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="scalar multiply"):
        jitted(x)
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jitted(x) == 16


def test_every_row_of_scalars_has_a_test():
    assert {ufunc.__name__ for ufunc in OF_SCALARS} == {*BINARY, *UNARY}


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod", "divmod"])
def test_a_division_by_a_zero_of_the_text_is_reported(name, dtype):
    ufunc, numbers = getattr(np, name), edges(dtype)
    same(lambda x: ufunc(x, 0), numbers)
    same(lambda x: ufunc(x, x.dtype.type(0)), numbers)
    same(lambda x: ufunc(x[1], 0), numbers)
    same(lambda x: ufunc(x, x * 0), numbers)
    same(lambda x: ufunc(7, x), numbers)


def test_what_numpy_makes_read_only_is_not_written_to():
    def first(x):
        np.lib.stride_tricks.sliding_window_view(x, 2)[0] = 7
        return x

    def allowed(x):
        np.lib.stride_tricks.sliding_window_view(x, 2, writeable=True)[0, 0] = 7
        return x

    for function in (first, allowed):
        x, y = np.arange(4.0), np.arange(4.0)
        expected, found = told(function, x), told(jitwise.jit(function), y)
        assert str(found) == str(expected)
        np.testing.assert_array_equal(x, y)


def test_functions_that_move_elements_keep_a_foreign_byte_order():
    x = np.arange(3, dtype=">f4")
    for function in (np.diagflat, np.diag, np.tile, np.repeat, np.roll, np.flip, np.triu):
        args = (2,) if function in (np.tile, np.repeat, np.roll) else ()
        assert (
            jitwise.jit(lambda x, f=function, a=args: f(x, *a))(x).dtype == function(x, *args).dtype
        )


COMPLEX = """
z.astype(float); z.astype("f4", casting="unsafe"); np.array(z, "i4"); np.asarray(z, dtype="f8")
np.astype(z, np.int64); np.concatenate([z, z], dtype="f4", casting="unsafe"); np.float32(z[0])
np.array([z[0], 1], "f8"); np.full(3, z[0], "f8"); np.full_like(a, z); np.array([z, z], "f4")
np.linspace(z[0], z[1], 3, dtype="f8"); z[0].astype(int); np.int8(z[1]); z.astype(bool); np.real(z)
a.__setitem__(0, z[1]); a.__setitem__(slice(None), z); a.fill(z[0]); np.copyto(a, z)
np.copyto(a, z, casting="unsafe"); a.__iadd__(z); np.add(a, z, out=a); np.put(a, [0], z[:1])
np.add.at(a, [0], z[:1]); a.__setitem__(a > 0, z[0]); a.__setitem__([0, 1], z[:2])
np.real_if_close(z); np.where(a > 0, z, a); np.sum(z, dtype=float); float(z[0]); int(z[0])
np.array(1j, "f8"); np.full_like(a, 1j); a.__setitem__(0, 1j); a.__setitem__(slice(2), [1j, 1])
"""


@pytest.mark.parametrize("dtype", ["f8", "i4", "?"])
@pytest.mark.parametrize("text", [each.strip() for each in COMPLEX.replace("\n", ";").split(";")])
def test_imaginary_parts_that_are_lost_are_warned_of_or_refused(text, dtype):
    scope = {"np": np}
    exec(f"def function(z, a):\n    found = {text or None}\n    return found, a", scope)
    function = scope["function"]
    jitted = jitwise.jit(function)
    for number in (1j, 2.0, 1j):
        z, a, b = np.full(3, number + 1), np.ones(3, dtype), np.ones(3, dtype)
        for _ in range(2):
            expected, found = told(function, z, a), told(jitted, z, b)
            assert found[1] == expected[1]
            assert str(found[0]) == str(expected[0])
            np.testing.assert_array_equal(a, b)


def test_a_lost_imaginary_part_is_reported_by_the_program_at_the_users_line():
    jitted = jitwise.jit(lambda z: z.astype(float))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            jitted(np.array([1j, 2.0]))
    line = jitted.__wrapped__.__code__.co_firstlineno
    assert [(each.filename, each.lineno) for each in caught] == [(__file__, line)] * 3
    assert jitted.state.compiles == 1
    a = np.zeros(2)
    write = jitwise.jit(lambda z, a: a.__setitem__(slice(None), z))
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(np.exceptions.ComplexWarning):
                write(np.array([1j, 2.0]), a)
        assert not a.any()


OF_BOOLS = """
(x.sum() < k) / 0; (x[0] == k) / 0.0; np.True_ % x[0]; np.True_ // x[0]; x / 0; 1 / x; 0.0 / x
x[1] / 0; 3 % x.astype("i1"); 3 // x.astype("u1"); 3 // x.astype("i4"); 3 % x.astype("i8")
x.astype("f2") / 0; np.float32(1) / x; np.fmod(x.astype("i1"), x.astype("i1")); np.log(x)
"""


@pytest.mark.parametrize("text", [each.strip() for each in OF_BOOLS.replace("\n", ";").split(";")])
def test_divisions_of_bools_and_by_bools_are_reported(text):
    function = eval(f"lambda x, k: {text or None}", {"np": np})
    for number in (False, True):
        same(function, np.array([False, True]), number)


TOO_LARGE = """
x + {k}; {k} - x; x * {k}; x < {k}; {k} == x; np.maximum(x, {k}); x[0] + {k}
np.where(x > 0, {k}, x); np.clip(x, 0, {k}); np.full(3, {k}, x.dtype) + x; x + (x * {k})
np.add(x, {k}, dtype="f2"); replaced(x, 0, {k}); replaced(x, slice(1, None), {k})
"""


def replaced(x, place, item):
    y = x.copy()
    y[place] = item
    return y


@pytest.mark.parametrize(
    "number", ["1e300", "-1e39", "7e4", "2**40", "np.inf", "(1e300+2j)", "(1-1e39j)"]
)
@pytest.mark.parametrize("text", [each.strip() for each in TOO_LARGE.replace("\n", ";").split(";")])
def test_numbers_of_the_text_that_become_infinite_are_reported_at_each_call(text, number):
    if not text:
        return
    known = {"np": np, "replaced": replaced}
    function = eval(f"lambda x: {text.format(k=number)}", known)
    dtypes = ("c8", "c16") if "full" in text and "j" in number else ("f2", "f4", "f8", "c8", "c16")
    for dtype in dtypes:
        array = np.array([1, 0, -2], dtype)
        try:
            function(array)
        except Exception:
            continue
        jitted = jitwise.jit(function)
        with np.errstate(all="warn", under="ignore"):
            for _ in range(3):
                (expected, said), (found, heard) = told(function, array), told(jitted, array)
                assert heard == said, dtype
                assert differs((found, []), (expected, [])) is None, dtype
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", JitwiseWarning)
                jitwise.jit(function)(array)
