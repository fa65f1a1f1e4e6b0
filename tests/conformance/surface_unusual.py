"""The calls of `surface_table` with arguments that are rarer: other kinds of arrays, counts and
axes that NumPy refuses, results that nobody uses or that are written to, values of which NumPy
warns.

    runs_alike("np.mean(x, where=mask)", [arguments, others], "unused")     -> what differed

One jitted function serves a sequence of calls, the first with the usual arguments, so that what a
trace took for granted is tried. A result, an exception, the arguments afterwards and what NumPy
warned of, as often, have to be those of the plain function.
"""

from __future__ import annotations

import re
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from surface_arguments import NAMES, Case, arguments
from surface_run import differs
from surface_table import Call

from jitwise import JitwiseWarning, jit

FORMS = {
    "used": "{}",
    "unused": "[{}, 1][1]",
    "written": "(lambda r: [r, np.add(r, 1, out=r, casting='unsafe')])({})",
    "measured": "np.shape({})",
}
USUAL = Case("f8", 3, 4, "dense")
FOREIGN = [Case(dtype, 3, 4, "dense") for dtype in (">f4", ">i2", ">c16")]
FOREIGN += [Case(">f8", 4, 3, "strided"), Case(">f4", 0, 3, "dense"), Case(">i4", 1, 1, "dense")]
# Of nothing these give what the memory happened to hold.
_UNDEFINED = ("unpackbits", "irfft", ".hfft", "empty")
Argument = Any
Change = Callable[[np.ndarray], Argument]


def _with(array: np.ndarray, *places: tuple[Any, Any]) -> np.ndarray:
    """A copy with other elements at some places."""
    copy = array.copy()
    for place, element in places:
        if copy.size and copy.ndim:
            copy[place] = element
    return copy


# What an array of the usual arguments becomes: another kind of argument,
KINDS: dict[str, Change] = {
    "list": lambda array: array.tolist(),
    "zero-d": lambda array: np.array(array.flat[0]),
    "scalar": lambda array: array.flat[0],
    "number": lambda array: array.flat[0].item(),
    "deep": lambda array: array[None],
    "flat": np.ravel,
    "complex": lambda array: array if array.dtype == bool else array * 1j,
    "single": lambda array: array.astype("f4"),
    "int": lambda array: array.astype("i2"),
    "foreign": lambda array: array.astype(array.dtype.newbyteorder(">")),
}
# or one of the same dtype and rank, which the same program is called with.
VALUES: dict[str, Change] = {
    "longer": lambda array: np.concatenate([array, array[:1]]) if array.ndim else array,
    "wider": lambda array: np.concatenate([array, array[..., :1]], -1) if array.ndim else array,
    "empty": lambda array: array[:0] if array.ndim else array,
    "zeros": np.zeros_like,
    "leading zeros": lambda array: _with(array, (slice(1), 0), ((..., slice(1)), 0), (-1, 1)),
    "trailing zeros": lambda array: _with(array, ((..., slice(-1, None)), 0), (0, 1)),
    "equal": lambda array: np.full_like(array, array.flat[0]),
    "far": lambda array: array * 99 if array.dtype != bool else ~array,
}


def parameters_of(text: str) -> tuple[str, ...]:
    """The names of arguments in a call's text."""
    words = set(re.findall(r"(?<![\w.'])[a-z]+\b(?![='])", text))
    return tuple([name for name in NAMES if name in words])


def with_other_numbers(text: str) -> Iterator[str]:
    """A call's text with a number in it replaced: axes out of range, negative counts."""
    for found in re.finditer(r"(?<![\w.'\[])-?\b\d+\b(?![.\d\w'])", text):
        for other in (-int(found[0]) - 1, int(found[0]) + 5):
            yield text[: found.start()] + str(other) + text[found.end() :]


def changed(text: str, change: Change, place: int | None) -> Callable[[], list[Argument]]:
    """The usual arguments, of which the one at `place`, or all, are changed."""

    def make() -> list[Argument]:
        given = arguments(USUAL, parameters_of(text))
        return [
            change(each) if isinstance(each, np.ndarray) and place in (None, number) else each
            for number, each in enumerate(given)
        ]

    return make


def runs_alike(text: str, calls: list[Callable[[], list[Argument]]], form: str) -> list[str]:
    """What differs between a plain and a jitted function in a sequence of calls."""
    names = parameters_of(text)
    function = eval(f"lambda {', '.join(names)}: {FORMS[form].format(text)}", {"np": np})
    function.__name__ = text
    compiled = jit(function)
    faults = []
    for number, make in enumerate(calls):
        expected, warned = _outcome(function, make())
        found, told = _outcome(compiled, make())
        difference = differs(found, expected, True)
        is_told = names and form in ("used", "written")  # of constants nothing is said twice
        if difference is None and is_told and told != warned:
            difference = f"warns {told}, not {warned}"
        if difference is not None:
            faults.append(f"{form} {text}, call {number}: {difference}")
    return faults


def _outcome(function: Any, given: list[Argument]) -> tuple[Any, Counter[str]]:
    """The result or exception with the arguments afterwards; and NumPy's warnings."""
    with warnings.catch_warnings(record=True) as heard, np.errstate(all="warn", under="ignore"):
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", JitwiseWarning)
        try:
            result = function(*given)
        except Exception as error:
            result = error
    # What a program that writes over an argument tells late names no operation: see the README.
    texts = [str(each.message).split(" encountered in ")[0] for each in heard]
    return (result, given), Counter(texts)


def chosen(text: str, names: list[str], count: int) -> list[str]:
    """Some of several names, other ones for other texts."""
    first = zlib.crc32(text.encode()) % len(names)
    return [names[(first + step) % len(names)] for step in range(count)]


def sequences(call: Call) -> Iterator[tuple[str, list[Callable[[], list[Argument]]]]]:
    """Forms and sequences of arguments that a call is tried with, some for each call."""
    text = call.text
    places: list[int | None] = [None, *range(len(parameters_of(text)))]
    first = zlib.crc32(text.encode())
    usual = changed(text, lambda array: array, None)
    skipped = {"empty"} if any(word in text for word in _UNDEFINED) else set()
    for form in FORMS:
        if form != "written":
            place = places[(first + len(form)) % len(places)]
            values = [VALUES[name] for name in VALUES if name not in skipped]
            yield form, [usual, *[changed(text, each, place) for each in values]]
    for step, name in enumerate(chosen(text, list(KINDS), 3)):
        place = places[(first + step) % len(places)]
        yield ("used", "unused", "measured")[step], [changed(text, KINDS[name], place)] * 2


def in_foreign_order(call: Call) -> list[Callable[[], list[Argument]]]:
    """Arguments of foreign byte order."""
    names = parameters_of(call.text)
    return [lambda case=case: arguments(case, names) for case in FOREIGN]
