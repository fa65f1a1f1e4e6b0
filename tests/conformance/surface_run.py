"""Calls of `surface_table` run plain and jitted: whether they agree, and how the jitted one ran.

    found = run(Call("numpy.sort", "np.sort(x)"))
    found.faults      what differed: value, dtype, shape, kind, exception, changed arguments
    found.ways        how each call that NumPy accepts ran, best first in `WAYS`

One jitted function serves all cases of a call.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from surface_arguments import NAMES, Case, arguments, cases
from surface_table import Call

from jitwise import jit

_PRODUCTS = ["dot(", "matmul(", "matvec(", "vecmat(", "einsum(", "inner(", "tensordot(", "@"]
WAYS = ("native", "library", "host", "Python")


class Found(NamedTuple):
    """What the cases of one call showed."""

    faults: list[str]
    ways: Counter[str]
    reasons: list[str]  # why it ran as Python

    @property
    def usual(self) -> str:
        """How most cases ran; of as many the lower way."""
        return max(self.ways, key=lambda way: (self.ways[way], WAYS.index(way)), default="Python")

    @property
    def least(self) -> str:
        """The lowest way of any case."""
        return max(self.ways, key=WAYS.index, default="Python")


def function_of(call: Call) -> tuple[Any, tuple[str, ...]]:
    """A function that makes the call, and the names of its parameters."""
    words = set(re.findall(r"(?<![\w.'])[a-z]+\b(?![='])", call.text))
    names = tuple([name for name in NAMES if name in words])
    function = eval(f"lambda {', '.join(names)}: {call.text}", {"np": np})
    function.__name__ = call.text
    return function, names


def is_product(call: Call) -> bool:
    """Whether a call sums products, which BLAS may do in another order."""
    return any(word in call.text for word in _PRODUCTS)


def run(call: Call, only: list[Case] | None = None) -> Found:
    """Run all cases of a call."""
    function, names = function_of(call)
    compiled = jit(function)
    faults: list[str] = []
    ways: Counter[str] = Counter()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in cases(call.text) if only is None else only:
            expected = outcome(function, arguments(case, names))
            before = _hits(compiled)
            found = outcome(compiled, arguments(case, names))
            difference = differs(found, expected, is_product(call))
            if difference:
                faults.append(f"{call.text} of {tuple(case)}: {difference}")
            if not isinstance(expected[0], Exception):
                ways[_way(compiled, before)] += 1
    events = [each.detail for each in compiled.records() if each.subject == "fallback"]
    faults += [each["text"] for each in events if each["reason"] == "fault"]
    return Found(faults, ways, [each["text"] for each in events if each["reason"] != "error"])


def outcome(function: Any, given: list[Any]) -> tuple[Any, list[Any]]:
    """The result or the exception, and the arguments afterwards."""
    try:
        return function(*given), given
    except Exception as error:
        return error, given


def _hits(compiled: Any) -> dict[Any, int]:
    entries = compiled.state.native.entries()
    return {entry: hits - lost for entry, _, program, hits, lost in entries if program is not None}


def _way(compiled: Any, before: dict[Any, int]) -> str:
    """How the last call ran."""
    served = [entry for entry, hits in _hits(compiled).items() if hits > before.get(entry, 0)]
    if not served:
        return "Python"
    program = served[0].program
    for known in compiled.state.known.values():
        for version in known.versions:
            if version.executable.program is program:
                return way_of(version.executable)
    return "Python"


def way_of(executable: Any) -> str:
    """The lowest way of the ops of a program."""
    hosts = [each for each in executable.text.instructions if each[0] == "host"]
    names = {"call" if len(each) > 4 else each[1].__name__ for each in hosts} - {"warn"}
    if names - {"call", "raising_call", "measured_call", "measured_raising_call"}:
        return "host"
    return "library" if names else "native"


def differs(
    found: tuple[Any, list[Any]], expected: tuple[Any, list[Any]], product: bool = False
) -> str | None:
    """In what two outcomes differ."""
    if isinstance(expected[0], Exception) or isinstance(found[0], Exception):
        if type(found[0]) is type(expected[0]):
            return None
        return f"{found[0]!r}, not {expected[0]!r}"
    result = unequal(found[0], expected[0], product)
    return result or unequal(found[1], expected[1])


def unequal(got: Any, expected: Any, product: bool = False) -> str | None:
    """In what two results differ: kind, dtype, shape or value."""
    if type(got) is not type(expected):
        return f"{type(got).__name__}, not {type(expected).__name__}"
    if isinstance(expected, (list, tuple)):
        if len(got) != len(expected):
            return f"{len(got)} items, not {len(expected)}"
        pairs = zip(got, expected, strict=True)
        return next((text for one, other in pairs if (text := unequal(one, other, product))), None)
    if not isinstance(expected, (np.ndarray, np.generic)):
        return None if _same_numbers(got, expected) else f"{got!r}, not {expected!r}"
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{got.dtype}{got.shape}, not {expected.dtype}{expected.shape}"
    good = _close(np.asarray(got), np.asarray(expected))
    if product:
        good |= _alike(np.asarray(got), np.asarray(expected))
    if good.all():
        return None
    return f"{np.asarray(got)[~good][:3]}, not {np.asarray(expected)[~good][:3]}"


def _same_numbers(got: Any, expected: Any) -> bool:
    return got == expected or (got != got and expected != expected)


def _close(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """For each element whether it is the same; floats within a few units of the largest one."""
    if expected.dtype.kind not in "fc":
        return np.asarray(got == expected)
    if expected.dtype.kind == "c":
        return _close(got.real, expected.real) & _close(got.imag, expected.imag)
    finite = np.abs(expected[np.isfinite(expected)])
    unit = 8 * np.finfo(expected.dtype).eps
    with np.errstate(all="ignore"):
        near = np.abs(got - expected) <= unit * (np.abs(expected) + _scale(finite))
    zeros = (got == 0) & (expected == 0) & (np.signbit(got) != np.signbit(expected))
    same = (got == expected) | (np.isnan(got) & np.isnan(expected)) | near
    return np.asarray(same & ~zeros)


def _alike(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Of products of arrays: both beyond the finite numbers, or both zero. Which of these it is
    depends on the order of a sum, which BLAS chooses by sizes and layout.
    """
    if got.dtype.kind == "c":
        return _alike(got.real, expected.real) & _alike(got.imag, expected.imag)
    zeros = (np.abs(got) == 0) & (np.abs(expected) == 0)
    same = _close(got, expected)
    return np.asarray(same | zeros | (~np.isfinite(got) & ~np.isfinite(expected)))


def _scale(finite: np.ndarray) -> Any:
    """What an element may be off by, in units: the largest of moderate elements."""
    moderate = finite[finite < 1e6]
    return moderate.max() if moderate.size else 0
