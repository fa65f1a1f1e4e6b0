"""Python from within a program: each callback takes place when and as often as in Python, with what
Python would give it, also when the call is run again.

The oracle is the function that is not jitted: there callbacks are plain calls.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitwise
from jitwise import CallbackError, ShapeDtypeStruct, debug, io_callback, jit, lax, pure_callback
from jitwise.runtime.callbacks import _pasts
from tests.api.oracle import same

SEEN: list[Any] = []
ERROR = KeyError("mine")
ARRAY = np.array([1.5, -2.0, 0.25])
STRUCT = ShapeDtypeStruct((3,), np.float64)


def see(*args: Any, **kwargs: Any) -> None:
    SEEN.append((args, kwargs))


def doubled(x: Any) -> Any:
    SEEN.append(x)
    return x * 2


def failing(x: Any) -> Any:
    SEEN.append(x)
    if np.sum(x) > 3:
        raise KeyError("too much")
    return x


class Ran:
    """What one call of a function did."""

    def __init__(self, function: Callable[..., Any], args: tuple) -> None:
        SEEN.clear()
        self.args = [np.array(each) if isinstance(each, np.ndarray) else each for each in args]
        self.result: Any = None
        self.raised: BaseException | None = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                self.result = function(*self.args)
            except Exception as error:
                self.raised = error
        own = [each for each in caught if each.category is not jitwise.JitwiseWarning]
        self.warned = [(each.category, str(each.message), each.lineno) for each in own]
        self.seen = list(SEEN)


def agree(function: Callable[..., Any], *args: Any, jitted: Any = None, calls: int = 3) -> Any:
    """Calls of the jitted function do what one of the function itself does; gives the former."""
    jitted = jitted or jit(function)
    expected = Ran(function, args)
    for _ in range(calls):
        got = Ran(jitted, args)
        assert type(got.raised) is type(expected.raised), got.raised
        assert str(got.raised) == str(expected.raised)
        assert len(got.seen) == len(expected.seen), (got.seen, expected.seen)
        same(got.seen, expected.seen, where="seen")
        same(got.result, expected.result, ulp=2)
        same(got.args, expected.args, where="arguments")
        assert got.warned == expected.warned
    return jitted


def compiles(jitted: Any) -> None:
    """No call of the function ran as Python for want of a program."""
    assert not jitted.state.said
    assert jitted.state.compiles >= 1


# What is given, and when


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "c16", "?", "i2"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (1, 2, 2)])
def test_arguments_are_what_python_has(dtype, shape):
    array = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype)

    def f(x, n, r):
        y = x.T + x.T
        debug.callback(
            see, x, y, y.sum(), n, r, n + 1, r * 2, [y, (n, "text", None)], named={"a": y}
        )
        return y

    compiles(agree(f, array, 3, 0.5))


def test_arrays_are_the_functions_own():
    kept = []

    def keep(x):
        kept.append(x)
        x += 100

    def f(x):
        y = x * 2
        debug.callback(keep, y)
        debug.callback(keep, x)
        return y + 1

    for called in (f, jit(f)):
        argument = ARRAY.copy()
        same(called(argument), ARRAY * 2 + 1)
        same(argument, ARRAY)
    same(kept[2:], kept[:2])


@pytest.mark.parametrize("length", [0, 1, 5])
def test_once_an_iteration_and_in_the_branch_that_is_taken(length):
    def plain(x):
        total = 0.0
        for i, v in enumerate(x):
            debug.callback(see, i, v)
            if v > 1:
                total = total + pure_callback(doubled, ShapeDtypeStruct((), np.float64), v)
            else:
                debug.callback(see, "small", v)
        return total

    def by_lax(x):
        def step(carry, v):
            debug.callback(see, v)
            return lax.cond(
                v > 1,
                lambda: carry + pure_callback(doubled, ShapeDtypeStruct((), np.float64), v),
                lambda: (debug.callback(see, "small", v), carry)[1],
            ), v

        return lax.scan(step, np.float64(0), x)[0]

    values = np.linspace(0, 3, length)
    compiles(agree(plain, values))
    if length:
        compiles(agree(by_lax, values))


def test_nested_loops_print_once_an_iteration_in_order(capsys):  # C52
    @jit
    def f(n, x):
        def outer(i, total):
            def inner(j, part):
                debug.print("{} {} {part:.1f}", i, j, part=part)
                return part + x.sum()

            return total + lax.fori_loop(0, 2, inner, 0.0)

        return lax.fori_loop(0, n, outer, 0.0)

    for n in (2, 3, 0):
        f(n, np.ones(3))
        rows = [f"{i} {j} {3 * j:.1f}" for i in range(n) for j in range(2)]
        assert capsys.readouterr().out.splitlines() == rows
    compiles(f)


def test_sizes_of_results_are_those_of_the_call():
    def f(x):
        y = io_callback(doubled, ShapeDtypeStruct((len(x), 2), x.dtype), x.reshape(-1, 1) + [1, 2])
        return y.sum(axis=1)

    jitted = jit(f)
    for length in (3, 1, 7, 0, 12):
        agree(f, np.arange(float(length)), jitted=jitted, calls=1)
    assert jitted.state.compiles <= 3


def test_results_are_a_tree():
    struct = {"b": [STRUCT, None], "a": ShapeDtypeStruct((), np.int32)}

    def give(x):
        return {"a": 7, "b": [x * 3, None]}

    def f(x):
        found = io_callback(give, struct, x)
        return found["b"][0] + found["a"], found

    compiles(agree(f, ARRAY))


@pytest.mark.parametrize("values", [[-1.0, 2.0, 3.0], [-1.0, -2.0], []])
def test_numbers_that_are_pythons_or_numpys(values):
    def f(x):
        total = 0.0
        for v in x:
            if v > 0:
                total = total + v
            debug.callback(see, total)
        return total

    compiles(agree(f, np.array(values)))


def test_callbacks_that_nothing_needs_take_place():
    def f(x):
        pure_callback(doubled, STRUCT, x)
        io_callback(see, None, x + 1)
        return x

    compiles(agree(f, ARRAY))


def test_draws_and_callbacks_share_a_generator():
    def run(wrap):
        rng = np.random.default_rng(3)

        def more():
            return rng.normal(size=2)

        def f(x):
            first = rng.random(2)
            second = io_callback(more, ShapeDtypeStruct((2,), np.float64))
            return x + first + second + rng.random(2)

        return [wrap(f)(np.zeros(2)) for _ in range(3)], rng.random()

    same(run(jit), run(lambda f: f))


# What is done is done once


def test_a_warning_after_a_callback_does_not_repeat_it():
    def f(x):
        y = io_callback(doubled, STRUCT, x)
        debug.callback(see, y)
        return 1 / (y - y[0])

    agree(f, ARRAY, calls=20)


@pytest.mark.parametrize("error", ["warn", "raise", "ignore", "print"])
@pytest.mark.parametrize("bad", [None, 0, 2])
def test_error_states(error, bad, capsys):
    divisors = np.ones(3)
    if bad is not None:
        divisors[bad] = 0

    def f(x):
        debug.callback(see, "first")
        y = io_callback(doubled, STRUCT, x)
        z = ARRAY / y
        debug.callback(see, "last")
        return z.sum()

    with np.errstate(all=error):
        if error == "raise" and bad is not None:
            jitted = jit(f)
            for _ in range(3):  # what comes after the division in the text may have taken place
                got = Ran(jitted, (divisors,))
                assert type(got.raised) is FloatingPointError
                assert [each for each in got.seen if isinstance(each, np.ndarray)] != []
                assert len(got.seen) in (2, 3)
        else:
            agree(f, divisors, calls=5)


def test_a_check_that_fails_in_a_later_iteration():
    table = np.arange(5.0)

    def f(places):
        total = 0.0
        for place in places:
            debug.callback(see, place)
            total += table[place] + io_callback(doubled, ShapeDtypeStruct((), np.int64), place)
        return total

    jitted = agree(f, np.array([0, 1, 2]))
    agree(f, np.array([0, 1, 7, 2]), jitted=jitted)
    agree(f, np.array([-1, 9]), jitted=jitted)
    agree(f, np.array([4, 3]), jitted=jitted)


def test_nothing_is_kept_after_the_call():
    alive = []

    def give(x):
        array = x * 2
        alive.append(weakref.ref(array))
        return array

    def f(x):
        y = io_callback(give, STRUCT, x)
        return 1 / (y - y[0])

    jitted = jit(f)
    with np.errstate(all="ignore"):
        jitted(ARRAY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(10):
            jitted(ARRAY)
    agree(lambda x: (debug.callback(see, x), x)[1], ARRAY)
    assert [each() for each in alive] == [None] * 11
    assert _pasts.all == []


def test_a_refusal_of_numpy_after_callbacks():
    def f(x):
        debug.callback(see, x)
        y = np.linalg.inv(io_callback(doubled, ShapeDtypeStruct((2, 2), np.float64), x))
        debug.callback(see, y)
        return y

    jitted = agree(f, np.eye(2))
    agree(f, np.zeros((2, 2)), jitted=jitted)


def test_a_jitted_function_that_the_second_run_calls():
    @jit
    def inner(x):
        debug.callback(see, "inner", x)
        return io_callback(doubled, STRUCT, x)

    def f(x):
        debug.callback(see, "outer")
        y = inner(x) + inner(x + 1)
        debug.callback(see, y)
        return 1 / (y - y[0])

    agree(f, ARRAY, calls=9)


def test_a_jitted_function_within_a_second_run_is_run_again_itself():
    @jit
    def inner(x):
        y = io_callback(doubled, STRUCT, x)
        debug.callback(see, "inner")
        return 1 / (y - y[1])

    def f(x):
        debug.callback(see, "outer")
        y = inner(x)
        debug.callback(see, "between")
        z = inner(y * 0)
        debug.callback(see, "end")
        return 1 / (y - y[0]) + z

    agree(f, ARRAY, calls=9)


# Exceptions


def test_an_exception_reaches_the_caller_unchanged():
    error = ERROR

    def fail(x):
        raise ERROR

    @jit
    def f(x):
        debug.callback(fail, x)
        return x

    for _ in range(3):
        with pytest.raises(KeyError) as caught:
            f(ARRAY)
        assert caught.value is error
        assert vars(error) == {}
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert names[-1] == "fail" and "f" in names


@pytest.mark.parametrize("builtin", [False, True])
def test_exceptions_are_pythons_and_so_is_what_is_written_before(builtin):
    def f(x, text):
        x += 1
        debug.callback(see, x)
        if builtin:
            y = pure_callback(float, ShapeDtypeStruct((), np.float64), text)
        else:
            y = pure_callback(failing, STRUCT, x)
        x *= 2
        debug.callback(see, "not reached")
        return x + y

    jitted = agree(f, np.zeros(3), "1.5")
    agree(f, np.ones(3), "no number", jitted=jitted)


def test_an_exception_that_the_function_catches():
    def f(x):
        debug.callback(see, "before")
        try:
            y = pure_callback(failing, STRUCT, x)
        except KeyError:
            debug.callback(see, "caught")
            y = x * 0
        return y + 1

    jitted = agree(f, np.zeros(3))
    agree(f, np.full(3, 9.0), jitted=jitted)


def test_an_exception_in_a_loop():
    def f(x):
        total = np.zeros(3)
        for row in x:
            total = total + pure_callback(failing, STRUCT, row)
        return total

    jitted = agree(f, np.zeros((4, 3)))
    agree(f, np.arange(12.0).reshape(4, 3) / 10, jitted=jitted)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_of_a_callback(kind):
    def stop(x):
        SEEN.append(x)
        raise kind

    def f(x):
        x += 1
        debug.callback(see, x)
        debug.callback(stop, x)
        return x

    jitted = jit(f)
    for _ in range(3):
        SEEN.clear()
        with pytest.raises(kind):
            jitted(np.zeros(3))
        assert len(SEEN) == 2
    agree(lambda x: (debug.callback(see, x), x + 1)[1], ARRAY)  # and the next call works


# Promises


BROKEN = {
    "shape": (lambda x: x[:2], STRUCT, "float64[2] as result 0, and float64[3] was promised"),
    "rank": (np.sum, STRUCT, "float64[] as result 0, and float64[3] was promised"),
    "dtype": (np.float32, STRUCT, "float32[3] as result 0, and float64[3] was promised"),
    "integer": (lambda x: 2, ShapeDtypeStruct((), bool), "int64[] as result 0, and bool[] was"),
    "wide": (lambda x: 300, ShapeDtypeStruct((), np.uint8), "no array as result 0"),
    "fraction": (lambda x: 0.5, ShapeDtypeStruct((), np.int64), "float64[] as result 0"),
    "order": (lambda x: x.astype(">f8"), STRUCT, "as result 0, and float64[3] was promised"),
    "none": (lambda x: None, STRUCT, "object[] as result 0, and float64[3] was promised"),
    "some": (lambda x: x, None, "gives a ndarray as result 0, and None was promised"),
    "second": (lambda x: (x, x[:1]), (STRUCT, STRUCT), "float64[1] as result 1"),
    "tree": (lambda x: [x, x], (STRUCT, STRUCT), "gives [*, *], and (*, *) was promised"),
    "fewer": (lambda x: (x,), (STRUCT, STRUCT), "gives (*,), and (*, *) was promised"),
    "keys": (lambda x: {"b": x}, {"a": STRUCT}, "was promised"),
    "text": (lambda x: "abc", STRUCT, "as result 0, and float64[3] was promised"),
}


@pytest.mark.parametrize("call", [pure_callback, io_callback])
@pytest.mark.parametrize("case", BROKEN)
def test_results_are_checked(call, case):
    function, struct, text = BROKEN[case]

    def f(x):
        debug.callback(see, x)
        call(function, struct, x)
        return x

    jitted = agree(f, ARRAY)
    for each in (f, jitted):
        with pytest.raises(CallbackError) as caught:
            each(ARRAY)
        message = str(caught.value)
        line = f.__code__.co_firstlineno + 2
        assert text in message
        assert message.startswith(call.__name__ + ": ")
        assert f"(called at {__file__}:{line})" in message
        assert getattr(function, "__name__", "") in message


NUMBERS = [
    (given, dtype)
    for given, dtype in itertools.product(
        (True, 3, 0.5, 1j), ("?", "u1", "i4", "i8", "f4", "f8", "c8", "c16")
    )
]


@pytest.mark.parametrize(("given", "dtype"), NUMBERS)
def test_pythons_numbers_take_the_dtype_that_they_take_beside_an_array(given, dtype):
    dtype = np.dtype(dtype)

    def f(x):
        return pure_callback(lambda x: given, ShapeDtypeStruct((), dtype), x)

    fits = (np.zeros(1, dtype) + given).dtype == dtype
    found = Ran(agree(f, ARRAY), (ARRAY,))
    assert (found.raised is None) == fits
    if fits:
        same(found.result, dtype.type(given))


@pytest.mark.parametrize("wrap", [jit, lambda f: f])
def test_wrong_calls(wrap):
    calls = [
        lambda x: debug.callback(3, x),
        lambda x: pure_callback(None, STRUCT, x),
        lambda x: pure_callback(see, [1], x),
        lambda x: debug.print(x),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            wrap(call)(ARRAY)
    for call in (lambda x: debug.print("{}", x, x), lambda x: debug.print("a", b=x)):
        with pytest.raises(ValueError, match="has no place for"):
            wrap(call)(ARRAY)
    with pytest.raises(IndexError):
        wrap(lambda x: debug.print("{} {}", x))(ARRAY)


def test_formats(capsys):
    def f(x, n):
        debug.print("{0} {x[0]} {0.shape} {y:>{w}.2f} {{}} {n!r}", x, x=x, y=x.sum(), w=8, n=n)
        debug.print("{} {:>{}}", n, n + 1, 5)
        debug.print("{}", n, unused=x, skip_format_check=True)
        return x

    f(ARRAY, 2)
    expected = capsys.readouterr().out
    jitted = jit(f)
    for _ in range(2):
        jitted(ARRAY, 2)
        assert capsys.readouterr().out == expected
    compiles(jitted)


# What the function is


class Recorder:
    def __init__(self) -> None:
        self.rows: list[Any] = []

    def record(self, x: Any) -> None:
        self.rows.append(x)

    def __call__(self, x: Any) -> None:
        self.rows.append(-x)


RECORDER = Recorder()
COUNT = 0


def count(x: Any) -> None:
    global COUNT
    COUNT += 1


def test_methods_and_objects_are_called():
    @jit
    def f(x):
        debug.callback(RECORDER.record, x)
        debug.callback(RECORDER, x)
        return x

    RECORDER.rows.clear()
    for _ in range(2):
        f(ARRAY)
    same(RECORDER.rows, [ARRAY, -ARRAY] * 2)
    compiles(f)


def test_functions_that_count():
    inner = 0

    def count_here(x):
        nonlocal inner
        inner += 1

    @jit
    def f(x):
        debug.callback(count, x)
        debug.callback(count_here, x)
        return x

    before = COUNT
    for _ in range(4):
        f(ARRAY)
    assert (COUNT - before, inner) == (4, 4)
    compiles(f)


@pytest.mark.parametrize("how", ["lambda", "function", "method", "default"])
def test_lists_that_are_filled(how):
    seen: list[Any] = []

    def fill(x):
        seen.append(x)

    @jit
    def f(x):
        if how == "lambda":
            debug.callback(lambda v: seen.append(v), x)
        elif how == "function":
            debug.callback(fill, x)
        elif how == "method":
            debug.callback(seen.append, x)
        else:
            debug.callback(lambda v, to=seen: to.append(v), x)
        return x + 1

    for turn in range(12):
        same(f(ARRAY + turn), ARRAY + turn + 1)
    same(seen, [ARRAY + turn for turn in range(12)])
    if how != "default":
        compiles(f)
        assert f.state.traces == 1


def test_what_a_callback_fills_and_the_function_reads():
    seen: list[Any] = []

    def through_a_list_of_its_own(x):
        own = []
        debug.callback(lambda v: own.append(v.sum()), x)
        return x + len(own)

    def through_one_outside(x):
        debug.callback(lambda v: seen.append(v), x)
        return x + len(seen)

    def through_a_traced_variable(x):
        y = x * 2
        debug.callback(lambda v: see(v, y), x)
        return y

    agree(through_a_list_of_its_own, ARRAY)
    agree(through_a_traced_variable, ARRAY)
    jitted = jit(through_one_outside)
    for turn in range(3):
        same(jitted(ARRAY), ARRAY + turn + 1)


def test_values_that_the_function_reads_are_those_of_the_call():
    scale = 2.0

    @jit
    def f(x):
        return pure_callback(lambda v: v * scale, STRUCT, x)

    same(f(ARRAY), ARRAY * 2)
    scale = 3.0
    same(f(ARRAY), ARRAY * 3)


def test_a_function_that_numpy_calls_makes_no_callbacks_while_tracing():
    def row(v):
        debug.callback(see, v)
        return v.sum()

    def other(v):
        jitwise.debug.print("{}", v)
        see(v)
        return v.sum()

    for each in (row, other):
        agree(lambda x, each=each: np.apply_along_axis(each, 1, x), np.ones((2, 3)))


# Around


def test_numpy_and_jitted_functions_within_callbacks():
    @jit
    def inner(x):
        debug.callback(see, x)
        return np.sin(x) * 2

    def outer(x):
        with np.errstate(all="raise"):
            return inner(np.cos(x)) + np.linalg.solve(np.eye(3), x)

    def f(x):
        y = pure_callback(outer, STRUCT, x)
        return y / (y - y)

    agree(f, ARRAY, calls=9)


def test_a_function_that_calls_itself_through_a_callback():
    @jit
    def f(x, n):
        def again(x, n):
            see(n)
            return f(x + 1, n - 1) if n > 0 else x

        return pure_callback(again, STRUCT, x, n)

    SEEN.clear()
    same(f(ARRAY, 5), ARRAY + 5)
    assert [args[0] for args, _ in SEEN] == [5, 4, 3, 2, 1, 0]


def test_threads():
    lock, seen = threading.Lock(), {}

    def note(x):
        with lock:
            seen.setdefault(threading.current_thread().name, []).append(float(x))

    @jit
    def f(x, n):
        def step(i, total):
            debug.callback(note, total)
            y = x @ x
            return total + y.sum()

        return lax.fori_loop(0, n, step, 0.0)

    def work():
        for _ in range(20):
            f(np.ones((40, 40)), 10)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
        assert not each.is_alive()
    row = [float(64000 * turn) for turn in range(10)] * 20
    assert list(seen.values()) == [row] * 4


def test_stages_call_back_when_they_run():
    @jit
    def f(x):
        debug.callback(see, x)
        return io_callback(doubled, STRUCT, x)

    SEEN.clear()
    lowered = f.lower(ARRAY)
    jitwise.make_jaxpr(f)(ARRAY)
    jitwise.eval_shape(f, ARRAY)
    compiled = lowered.compile()
    assert "callback" in lowered.as_text("trace")
    assert SEEN == []
    same(compiled(ARRAY), ARRAY * 2)
    assert len(SEEN) == 2
    with jitwise.disable_jit():
        same(f(ARRAY), ARRAY * 2)
    assert len(SEEN) == 4


def test_a_size_cannot_follow_from_a_callback():
    def f(x):
        n = pure_callback(lambda v: len(v), ShapeDtypeStruct((), np.int64), x)
        SEEN.append("python")
        return np.zeros(int(n)) + 1

    with contextlib.suppress(jitwise.JitwiseWarning):
        same(jit(f)(ARRAY), np.ones(3))
