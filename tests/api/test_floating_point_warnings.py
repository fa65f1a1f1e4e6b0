"""Floating-point errors in compiled functions: NumPy's warnings, exceptions and calls, per call."""

from __future__ import annotations

import io
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from jitwise import jit
from jitwise.api import float_errors
from jitwise.runtime._native import float_flags, set_float_flags

NAN, INF = np.nan, np.inf


@pytest.fixture(autouse=True)
def _numpys_own_state() -> Iterator[None]:
    with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
        yield


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """One item for each time a function is run as Python for its flags."""
    found: list[Any] = []
    settle = float_errors.settle

    def counted(function: Callable, *rest: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            found.append(function)
            return function(*args, **kwargs)

        return settle(run, *rest)

    monkeypatch.setattr(float_errors, "settle", counted)
    return found


def warned(function: Callable, *args: Any) -> list[tuple[type, str, str, int]]:
    """What a call warns of, all of it: category, text, file, line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*args)
    return [(each.category, str(each.message), each.filename, each.lineno) for each in caught]


def inverse(x):
    return 1 / x


def logarithm_of_difference(x, y):
    z = x - y
    return np.log(z)


def helper(x):
    return np.sqrt(x)


jitted_helper = jit(helper)


def nested(x):
    return helper(x) + 1


def at(value: float, length: int = 5, dtype: str = "f8") -> np.ndarray:
    array = np.ones(length, dtype)
    array[length // 2] = value
    return array


CASES: dict[str, tuple[Callable, tuple]] = {
    "divide": (inverse, (at(0.0),)),
    "log": (logarithm_of_difference, (np.ones(3), np.ones(3))),
    "nested": (nested, (at(-1.0),)),
    "jitted inside": (lambda x: jitted_helper(x) * 2, (at(-1.0),)),
    "overflow": (lambda x: x * 1e300, (at(1e300),)),
    "two in one line": (lambda x: np.log(x) + np.sqrt(x - 1), (at(0.0),)),
    "both sides of where": (lambda x: np.where(x > 0, np.log(x), 0.0), (at(-1.0),)),
    "reduce": (lambda x: np.add.reduce(x), (np.full(300, 1e308),)),
    "accumulate": (lambda x: np.cumsum(x), (np.full(300, 1e308),)),
    "rows": (lambda x: 1 / x.sum(axis=1), (np.zeros((40, 7)),)),
    "columns": (lambda x: np.add.reduce(x, axis=0), (np.full((40, 7), 1e308),)),
    "cast": (lambda x: x.astype(np.int32), (at(NAN),)),
    "integers": (lambda x: 7 // x, (np.array([1, 0, 2]),)),
    "small integers": (lambda x: np.int8(7) % x, (np.array([1, 0, 2], np.int8),)),
    "least integer": (lambda x: x // -1, (np.array([-(2**63), 5]),)),
    "complex": (lambda a, b: a / b, (np.array([1 + 1j]), np.array([0j]))),
    "half": (lambda x: x * x, (at(6e4, dtype="f2"),)),
    "matmul": (lambda a: a @ a, (np.full((3, 3), 1e300),)),
    "matmul of many": (lambda a: a @ a, (np.full((90, 90), 1e300),)),
    "large": (inverse, (at(0.0, 2_000_000),)),
    "large rows": (lambda x: np.log(x).sum(axis=1), (at(-1.0, 1_000_000).reshape(1000, 1000),)),
    "strided": (lambda x: np.exp(x[::2]), (at(1000.0, 2001),)),
    "host": (lambda x: np.sort(1 / x)[0] * np.float64(2), (at(0.0),)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_call_warns_of_what_numpy_warns_of(name):
    """The same categories, texts, files and lines, in the same order, at each of ten calls."""
    function, arguments = CASES[name]
    expected = warned(function, *arguments)
    assert expected
    jitted = jit(function)
    for call in range(10):
        assert warned(jitted, *arguments) == expected, call


@pytest.mark.parametrize("name", CASES)
def test_an_error_state_that_raises_gives_numpys_exception(name):
    function, arguments = CASES[name]
    jitted = jit(function)
    for _ in range(3):
        with np.errstate(all="raise", under="ignore"):
            with pytest.raises(FloatingPointError) as expected:
                function(*arguments)
            with pytest.raises(FloatingPointError) as found:
                jitted(*arguments)
        assert str(found.value) == str(expected.value)
        lines = [each[-1] for each in (found.traceback, expected.traceback)]
        assert lines[0].lineno == lines[1].lineno
        assert lines[0].path == lines[1].path


@pytest.mark.parametrize("name", CASES)
def test_an_error_state_that_ignores_runs_nothing_as_python(name, runs):
    function, arguments = CASES[name]
    jitted = jit(function)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            jitted(*arguments)
    assert not runs


def test_an_error_state_that_calls_calls():
    def calls_of(function: Callable) -> list[Any]:
        found: list[Any] = []
        with np.errstate(all="call", call=lambda error, flag: found.append((error, flag))):
            function(at(0.0))
            function(at(0.0))
        return found

    assert calls_of(jit(inverse)) == calls_of(inverse)


def test_an_error_state_that_logs_logs():
    def log_of(function: Callable) -> str:
        log = io.StringIO()
        with np.errstate(all="log", call=log):
            function(at(0.0))
            function(at(0.0))
        return log.getvalue()

    assert log_of(jit(inverse)) == log_of(inverse)


def test_an_error_state_that_prints_prints(capfd):
    with np.errstate(all="print"):
        inverse(at(0.0))
        expected = capfd.readouterr()
        jit(inverse)(at(0.0))
        found = capfd.readouterr()
    assert found == expected
    assert "divide by zero" in found.err + found.out


def test_the_state_is_that_of_the_call(runs):
    jitted = jit(inverse)
    assert warned(jitted, at(0.0))
    with np.errstate(divide="ignore"):
        assert not warned(jitted, at(0.0))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        jitted(at(0.0))
    assert warned(jitted, at(0.0))
    old = np.seterr(divide="ignore")
    try:
        assert not warned(jitted, at(0.0))
    finally:
        np.seterr(**old)
    assert warned(jitted, at(0.0))


def test_underflow_is_ignored_unless_it_is_asked_for():
    jitted = jit(lambda x: x * 1e-200)
    assert not warned(jitted, at(1e-200))
    with np.errstate(under="raise"), pytest.raises(FloatingPointError, match="underflow"):
        jitted(at(1e-200))


def test_a_warning_is_shown_once_for_a_line_as_the_filters_say():
    namespace: dict[str, Any] = {"__name__": "module_of_a_user"}
    exec(compile("def f(x):\n    return 1 / x\n", "user.py", "exec"), namespace)
    jitted = jit(namespace["f"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(20):
            jitted(at(0.0))
    assert [(each.filename, each.lineno) for each in caught] == [("user.py", 2)]
    assert any("divide by zero" in str(key) for key in namespace["__warningregistry__"])


def test_a_filter_that_raises_raises_at_each_call():
    jitted = jit(inverse)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(6):
            with pytest.raises(RuntimeWarning, match="divide by zero encountered in divide"):
                jitted(at(0.0))
    assert jitted(at(2.0))[2] == 0.5


def test_a_function_that_flags_at_every_call_is_seldom_run_as_python(runs):
    jitted = jit(inverse)
    for _ in range(100):
        assert warned(jitted, at(0.0))
    assert len(runs) == 7  # calls 1, 2, 4, ... 64


def test_flags_of_another_operation_are_found_in_time():
    """The same flag from another line: at the latest when the number of calls has doubled."""

    def f(x, y):
        a = np.log(x)
        b = np.log2(y)
        return a + b

    jitted = jit(f)
    first = warned(jitted, at(0.0), np.ones(5))
    assert warned(jitted, np.ones(5), at(0.0)) != first


def test_a_call_without_flags_runs_nothing_as_python(runs):
    jitted = jit(lambda x: np.log(x) / (1 + x))
    for _ in range(50):
        jitted(at(2.0))
    assert not runs


def test_flags_that_the_caller_left_behind_are_not_the_programs(runs):
    jitted = jit(lambda x: x + 1)
    jitted(at(2.0))
    for _ in range(3):
        set_float_flags(15)
        assert not warned(jitted, at(2.0))
    assert not runs
    assert float_flags() in (0, 15)


def test_a_program_that_is_watched_leaves_the_callers_flags():
    jitted = jit(inverse)
    warned(jitted, at(0.0))
    set_float_flags(2)
    with np.errstate(all="ignore"):
        jitted(at(0.0))
    assert float_flags() == 2
    set_float_flags(0)


def test_results_are_numpys_whether_or_not_the_function_was_run_again():
    jitted = jit(logarithm_of_difference)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(6):
            assert np.array_equal(jitted(np.ones(3), np.ones(3)), np.full(3, -INF))


# Arguments that are written to


def halve(x):
    x /= x - 1
    return x.sum()


def fill(x, y):
    z = np.log(y)
    x[:] = z + 1


@pytest.mark.parametrize("mode", ["warn", "raise", "ignore"])
@pytest.mark.parametrize("function", [halve, fill])
def test_arguments_that_are_changed_are_changed_once(function, mode):
    """Whatever is done about the flags, and whether or not it raises, as NumPy leaves them."""
    plain = (np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0]))
    plain = plain[: function.__code__.co_argcount]
    jitted = jit(function)
    for _ in range(5):
        ours, theirs = [[each.copy() for each in plain] for _ in range(2)]
        errors = []
        for called, arguments in ((function, theirs), (jitted, ours)):
            with np.errstate(all=mode), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    called(*arguments)
                except FloatingPointError as error:
                    errors.append(type(error))
        assert len(errors) in (0, 2)
        assert all(map(np.array_equal, ours, theirs)), (ours, theirs)


@pytest.mark.parametrize("function", [halve, fill])
def test_a_function_that_changes_arguments_warns(function):
    """The first time in general words, when its kernel wrote over the argument; then NumPy's."""
    jitted = jit(function)

    def arguments() -> list[np.ndarray]:
        return [np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0])[[0, 1, 1]]][
            : function.__code__.co_argcount
        ]

    expected = warned(function, *arguments())
    first = warned(jitted, *arguments())
    assert first
    assert "divide by zero" in first[0][1]
    for _ in range(4):
        assert warned(jitted, *arguments()) == expected


# Threads


def test_each_thread_has_its_own_state():
    jitted = jit(inverse)
    jitted(at(2.0))
    found: dict[str, Any] = {}

    def call(mode: str) -> None:
        with np.errstate(divide=mode):
            try:
                for _ in range(200):
                    jitted(at(0.0))
                found[mode] = None
            except FloatingPointError as error:
                found[mode] = str(error)

    threads = [threading.Thread(target=call, args=(mode,)) for mode in ("ignore", "raise")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"ignore": None, "raise": "divide by zero encountered in divide"}


# No warnings without cause


SMOOTH: dict[str, Callable] = {
    "elementary": lambda x: np.sin(x) + np.exp(-x) * np.tanh(x) + np.log1p(x * x),
    "inverse": lambda x: np.arcsin(x / 100) + np.arctan2(x, x + 1) + np.cbrt(x),
    "hyperbolic": lambda x: np.arcsinh(x) + np.arccosh(1 + x * x) + np.cosh(x / 9) + np.sinh(x / 9),
    "powers": lambda x: (x * x + 1) ** 1.5 + np.hypot(x, 2) + np.logaddexp(x, 1),
    "guarded": lambda x: np.where(x > 1e-3, 1 / np.maximum(x, 1e-3), 0),
    "statistics": lambda x: x.mean() + x.var() + x.std() + x.max() - x.min(),
    "softmax": lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
    "remainders": lambda x: x % 3 + x // 2 + np.fmod(x, 7) + np.floor(x) + np.rint(x),
    "casts": lambda x: x.astype(np.int32) + x.astype(np.float32).astype(np.int64),
    "integers": lambda x: (x.astype(np.int64) + 7) // 3 % 5,
    "sorted": lambda x: np.sort(x)[::-1] + np.argsort(x),
    "products": lambda x: np.outer(x, x) @ x + np.cumsum(x),
    "complex": lambda x: abs((x + 1j) * (x - 2j) / (x + 3j)),
}


def assert_quiet(function, x, runs):
    """Neither NumPy nor the compiled function warns, and no call of it runs as Python."""
    jitted = jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        function(x)
        for _ in range(3):
            jitted(x)
    assert not runs


@pytest.mark.parametrize("length", [1, 3, 64, 1001])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", SMOOTH)
def test_ordinary_programs_raise_no_flags(name, dtype, length, runs):
    function = SMOOTH[name]
    x = np.linspace(-4, 6, length).astype(dtype)
    assert_quiet(function, x, runs)


NANS: dict[str, Callable] = {
    "comparisons": lambda x: (x > 0) | (x < 1) | (x == 2) | (x >= 3),
    "where": lambda x: np.where(np.isnan(x), 0.0, x),
    "extremes": lambda x: np.maximum(x, 0) + np.minimum(x, 1) + np.clip(x, 0, 1),
    "reductions": lambda x: x.max() + x.min() + x.sum() + x.mean(),
    "along axes": lambda x: x.reshape(-1, 5).max(axis=1) + x.reshape(-1, 5).min(axis=1),
    "functions": lambda x: np.sin(x) + np.exp(x) + np.log(x * x + 1) + np.arctan(x) + np.sign(x),
    "nan functions": lambda x: np.nan_to_num(x) + np.nansum(x),
    "tests": lambda x: np.isfinite(x) & ~np.isinf(x),
}


@pytest.mark.parametrize("length", [5, 1000])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", NANS)
def test_nans_are_quiet(name, dtype, length, runs):
    function, x = NANS[name], at(NAN, length, dtype)
    assert_quiet(function, x, runs)


def test_a_compiled_stage_warns_too():
    compiled = jit(inverse).trace(at(2.0)).lower().compile()
    assert warned(compiled, at(0.0)) == warned(inverse, at(0.0))
    assert sys.exc_info() == (None, None, None)
