"""A jitted function beside the plain one: every call of either is made on fresh copies of the
arguments, and everything that a caller can see of it has to agree.

    f = Beside(lambda a, b: a // b)
    f(np.arange(3), np.zeros(3, int))      # value, dtype, shape, kind; arguments afterwards; ...
    f.compiled(traces=1)                   # and it was compiled, by one trace

`f.python()` asserts the contrary: where that is the policy, it ran as Python, and said so once.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jitwise import JitwiseWarning, jit
from jitwise.api.remade import remade
from jitwise.record import Record, recorder

CALLS = 3  # of the jitted function with the same arguments: traced, compiled, found
LARGEST_REPEATED = 100_000  # elements; with larger arguments two calls are enough


class Outcome(NamedTuple):
    """What a caller sees of a call."""

    value: Any
    error: tuple[type, str] | None
    warnings: set[tuple[type, str]]
    arguments: Any
    said: list[str]  # what jitwise said


class Beside:
    """A function and its jitted form. Called, it compares the two."""

    def __init__(self, function: Callable[..., Any], *, ulp: float = 0, text: bool = True) -> None:
        self.function, self.ulp, self.text = function, ulp, text
        remade.clear()  # a test may make the same function several times
        self.jitted = jit(function)
        self.said: list[str] = []
        self.records: list[Record] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compare the outcome of several calls; give the jitted function's value."""
        expected = outcome(self.function, args, kwargs)
        recorder.listeners.append(self.records.append)
        size = max((each.size for each in args if isinstance(each, np.ndarray)), default=0)
        try:
            for _ in range(2 if size > LARGEST_REPEATED else CALLS):
                got = outcome(self.jitted, args, kwargs)
                self.said += got.said
                self.compare(got, expected)
        finally:
            recorder.listeners.remove(self.records.append)
        return got.value

    def compare(self, got: Outcome, expected: Outcome) -> None:
        """Assert that two outcomes are the same."""
        if got.error is None or expected.error is None or self.text:
            assert got.error == expected.error, f"{got.error} instead of {expected.error}"
        else:
            assert got.error[0] is expected.error[0]
        assert got.warnings == expected.warnings
        if expected.error is None:
            alike(got.value, expected.value, self.ulp, "result")
        alike(got.arguments, expected.arguments, 0, "arguments")

    def fallbacks(self) -> list[Any]:
        """The records of calls that ran as Python."""
        return [each.detail for each in self.records if each.subject == "fallback"]

    def compiled(self, *, traces: int | None = None) -> None:
        """Assert that no call ran as Python, for all that is recorded, and how often it was
        traced.
        """
        assert not self.fallbacks(), self.fallbacks()
        assert not self.said, self.said
        assert self.jitted.state.compiles >= 1
        if traces is not None:
            assert (self.jitted.state.traces, self.jitted.state.compiles) == (traces, traces)

    def python(self, *words: str) -> None:
        """Assert that calls ran as Python and that it was said once, in one line that ends in a
        line of the function's file and contains `words`.
        """
        assert self.fallbacks()
        assert len(self.said) == 1, self.said
        (first, *_) = self.said[0].splitlines()
        assert first.startswith(f"{self.function.__name__} runs as Python, because ")
        code = self.function.__code__
        path, line = first.rsplit(", at ", 1)[1].rsplit(":", 1)
        lines = {number for _, _, number in code.co_lines() if number is not None}
        assert path == code.co_filename
        assert int(line) in lines
        for word in words:
            assert word in first, f"{word!r} is not in {first!r}"


def outcome(function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Outcome:
    """Call a function on copies of the arguments."""
    args, kwargs = copied(args), copied(kwargs)
    value = error = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function(*args, **kwargs)
        except Exception as raised:
            error = (type(raised), str(raised))
    said = [str(each.message) for each in caught if each.category is JitwiseWarning]
    others = {(w.category, str(w.message)) for w in caught if w.category is not JitwiseWarning}
    return Outcome(value, error, others, [args, kwargs], said)


def alike(got: Any, expected: Any, ulp: float, where: str) -> None:
    """Assert equal kinds, structures, dtypes, shapes and values: bits (NaNs are alike), or within
    `ulp` units in the last place.
    """
    assert type(got) is type(expected), f"{where}: {type(got)} instead of {type(expected)}"
    if isinstance(expected, (np.ndarray, np.generic)):
        assert got.dtype == expected.dtype, f"{where}: {got.dtype} instead of {expected.dtype}"
        assert got.shape == expected.shape, f"{where}: {got.shape} instead of {expected.shape}"
        plain = isinstance(expected, np.generic) or type(expected) is np.ndarray
        if plain and expected.dtype.kind in "biufc" and expected.dtype.char not in "gG":
            numbers_alike(np.asarray(got), np.asarray(expected), ulp, where)
        else:
            assert repr(got) == repr(expected), where
    elif isinstance(expected, (list, tuple)):
        assert len(got) == len(expected), where
        for index, (left, right) in enumerate(zip(got, expected, strict=True)):
            alike(left, right, ulp, f"{where}[{index}]")
    elif isinstance(expected, dict):
        assert list(got) == list(expected), where
        for key, value in expected.items():
            alike(got[key], value, ulp, f"{where}[{key!r}]")
    elif isinstance(expected, (float, complex)):
        numbers_alike(np.asarray(got), np.asarray(expected), ulp, where)
    else:
        assert got == expected, f"{where}: {got!r} instead of {expected!r}"


def numbers_alike(got: np.ndarray, expected: np.ndarray, ulp: float, where: str) -> None:
    """Equal, NaNs and signs of zeros included."""
    if expected.dtype.kind == "c":
        numbers_alike(got.real, expected.real, ulp, where + ".real")
        numbers_alike(got.imag, expected.imag, ulp, where + ".imag")
        return
    unequal = got != expected
    if expected.dtype.kind == "f":
        unequal = unequal & ~(np.isnan(got) & np.isnan(expected))
        unequal |= (got == 0) & (expected == 0) & (np.signbit(got) != np.signbit(expected))
        if ulp:
            with np.errstate(all="ignore"):
                unequal &= ~(np.abs(got - expected) <= ulp * np.spacing(np.abs(expected)))
    if np.any(unequal):
        place = tuple(index[0] for index in np.nonzero(unequal)) if unequal.ndim else ()
        raise AssertionError(f"{where}{list(place)}: {got[place]!r} instead of {expected[place]!r}")


def copied(item: Any) -> Any:
    """A copy of arguments; of arrays with the strides and the alignment they have. An array that
    stands in it twice stands in the copy twice.
    """
    return _copied(item, {})


def _copied(item: Any, done: dict[int, Any]) -> Any:
    if type(item) in (tuple, list):
        return type(item)(_copied(each, done) for each in item)
    if type(item) is dict:
        return {key: _copied(each, done) for key, each in item.items()}
    if not isinstance(item, np.ndarray):
        return item
    if id(item) not in done:
        plain = type(item) is np.ndarray and item.dtype.kind in "biufc"
        done[id(item)] = _same_layout(item) if plain else copy.deepcopy(item)
    return done[id(item)]


def _same_layout(array: np.ndarray) -> np.ndarray:
    pairs = list(zip(array.strides, array.shape, strict=True)) if array.size else []
    low = sum(min(0, stride * (size - 1)) for stride, size in pairs)
    high = sum(max(0, stride * (size - 1)) for stride, size in pairs)
    skew = array.__array_interface__["data"][0] % 64
    buffer = np.zeros(high - low + array.itemsize + 192, np.uint8)
    start = (skew - buffer.__array_interface__["data"][0] + low) % 64 - low
    view = np.ndarray(array.shape, array.dtype, buffer.data, start, array.strides)
    view[...] = array
    view.flags.writeable = array.flags.writeable
    return view
