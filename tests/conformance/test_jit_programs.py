"""Programs that hypothesis writes give, jitted, what they give undecorated: values, dtypes, shapes,
kinds and exceptions; at the first call, the second, and with other sizes and values.

Values are compared bit for bit. Where a program computes sums or transcendental functions, results
may differ as far as small noise in these moves them (see `generate_programs`).
PROGRAM_EXAMPLES=2000 tries more programs; with PROGRAM_SEED they are others at each run.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from edge_values import same_bits
from generate_programs import Program, programs
from hypothesis import HealthCheck, Phase, given, settings
from layouts import check, outcome

from jitwise import config, jit
from jitwise.record import recorder

pytestmark = pytest.mark.no_round_trip
EXAMPLES = int(os.environ.get("PROGRAM_EXAMPLES", "400"))
FIXED = settings(
    max_examples=EXAMPLES,
    derandomize="PROGRAM_SEED" not in os.environ,
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),  # explaining traces every line of the tracer
    suppress_health_check=list(HealthCheck),
)
numbers = itertools.count()
reasons: Counter[str] = Counter()


class Noise:
    """Moves results as far as a right answer may be from NumPy's."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def __call__(self, value: Any, *about: Any) -> Any:
        dtype = np.asarray(value).dtype
        if dtype.kind not in "fc":
            return value
        unit = float(np.finfo(dtype).eps)
        with np.errstate(all="ignore"):
            value = np.where(value == 0, value * self.generator.choice([-1, 1]), value)
            if not about:
                size = 0 * np.abs(value)
            elif isinstance(about[0], int) and np.ndim(about[0]) == 0 and len(about) == 1:
                size = about[0] * unit * np.abs(value) + float(np.finfo(dtype).smallest_subnormal)
            else:
                size = self._of_sum(value, about, unit)
            moved = value + np.asarray(size * self.generator.uniform(-1, 1, np.shape(value)))
        return moved.astype(dtype) if np.shape(value) else dtype.type(moved)

    def _of_sum(self, value: Any, about: tuple, unit: float) -> Any:
        """Up to the rounding of each addition; nothing when all of them are exact."""
        arrays = [np.asarray(each) for each in about]
        largest = [float(np.max(np.abs(each), initial=0)) for each in arrays]
        terms = max(each.size for each in arrays)
        bound = terms * float(np.prod(largest))
        exact = len(arrays) == 1 and all(np.all(each * 64 % 1 == 0) for each in _parts(arrays[0]))
        if exact and bound * 64 * unit < 0.5:
            return 0 * np.abs(value)
        return (4 * terms * unit) * (np.abs(value) + bound / max(terms, 1)) + 0 * np.abs(value)


def _parts(array: np.ndarray) -> list[np.ndarray]:
    return [array.real, array.imag] if array.dtype.kind == "c" else [array]


class Judge:
    """Bits, or as near as noise allows; `shadows` are the outcomes of programs with noise."""

    def __init__(self, expected: Any, shadows: list[Any]) -> None:
        self.near: dict[int, list] = {}
        self.alike = all(self._collect(expected, each) for each in shadows)
        self.expected = expected

    def _collect(self, expected: Any, shadow: Any) -> bool:
        """Find, for each array of the result, the one of the shadow."""
        if isinstance(expected, (tuple, list)):
            if type(shadow) is not type(expected) or len(shadow) != len(expected):
                return False
            return all(self._collect(*pair) for pair in zip(expected, shadow, strict=True))
        if isinstance(expected, dict):
            return isinstance(shadow, dict) and all(
                self._collect(expected[key], shadow[key]) for key in expected
            )
        if np.shape(expected) != np.shape(shadow) or isinstance(shadow, type):
            return shadow is expected
        self.near.setdefault(id(expected), []).append(shadow)
        return True

    def of(self, expected: Any) -> Any:
        """The judge of one array."""

        def judge(args: Any, found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
            good = same_bits(found, wanted)
            shadows = [np.asarray(each).reshape(-1) for each in self.near.get(id(expected), ())]
            if good.all() or not shadows:
                return good
            found, wanted = found.reshape(-1), wanted.reshape(-1)
            if found.dtype.kind not in "fc":
                return good | np.any([each != wanted for each in shadows], axis=0)
            signs = np.any([~same_bits(each, wanted) for each in shadows], axis=0)
            good = good | (signs & (found == wanted))
            with np.errstate(all="ignore"):
                distance = np.max([np.abs(each - wanted) for each in shadows], axis=0)
                return good | ~(np.abs(found - wanted) > 2 * distance) & (distance > 0)

        return judge


def agree(jitted: Any, program: Program, args: tuple, number: int) -> None:
    """One call of the jitted function, compared with the plain one and with those with noise."""
    expected = outcome(program.function(number), args)
    shadows = []
    if program.kinds - {"exact", "blocks"}:
        shadows = [outcome(program.function(number, Noise(seed)), args) for seed in range(4)]
    judge = Judge(expected, shadows)
    found = outcome(jitted, args)
    if judge.alike:
        compare_trees(found, expected, judge)


def compare_trees(found: Any, expected: Any, judge: Judge) -> None:
    """`layouts.check` for each item, with a judge of its own."""
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected) and len(found) == len(expected), f"{found!r}"
        for pair in zip(found, expected, strict=True):
            compare_trees(*pair, judge)
    elif isinstance(expected, dict):
        assert type(found) is dict and list(found) == list(expected), f"{found!r}"
        for key in expected:
            compare_trees(found[key], expected[key], judge)
    else:
        check(found, expected, (), judge.of(expected))


def tried(program: Program) -> None:
    """Everything that is tried with one program."""
    number = next(numbers)
    before = recorder.counts["fallback"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jitted = jit(program.function(number))
        for index, args in enumerate(program.calls):
            for _ in range(2):
                try:
                    agree(jitted, program, args, number)
                except AssertionError as error:
                    shown = ", ".join(map(repr, args))
                    said = f"call {index}: {error}\n{program.source}\n{program.captured}\n{shown}"
                    print(said)  # at once: making it smaller may take longer than a test may
                    raise AssertionError(said) from None
    fallbacks = recorder.counts["fallback"] - before
    said = recorder.records("fallback")[-1].detail["text"] if fallbacks else "compiled"
    reasons[said] += 1


@pytest.fixture(autouse=True)
def _verify() -> Iterator[None]:
    with config.override(verify=1):
        yield


@pytest.mark.filterwarnings("ignore")
def test_programs_give_jitted_what_they_give_undecorated():
    @FIXED
    @given(programs())
    def run(program: Program) -> None:
        tried(program)

    reasons.clear()
    try:
        run()
    finally:
        for reason, count in reasons.most_common(15):
            print(f"{count:6} {reason}")
    assert reasons["compiled"] > sum(reasons.values()) / 3
