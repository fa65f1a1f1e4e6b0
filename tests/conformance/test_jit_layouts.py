"""Through the public `jit`: every elementwise ufunc, on every dtype, over the edge grid, in every
layout, as arrays, 0-d arrays, NumPy scalars and Python numbers, gives what NumPy gives.

Bit for bit, or within the `ulp` of the primitives that a ufunc is made of. CONFORMANCE_SCALE=10
tries ten times as many of the combinations that are too many to try all.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from edge_values import edge_values, grid, same_bits, within
from layouts import LAYOUTS, compare
from math_reference import exact_ulp_errors

from jitwise import config, jit
from jitwise.ir.builder import Builder
from jitwise.ir.types import DTYPE_NAMES, ArrayType
from jitwise.ops.promotion import UnsupportedLoop, resolve_loop
from jitwise.ops.ufuncs import UFUNCS, emit_ufunc

pytestmark = [
    pytest.mark.no_round_trip,
    pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning"),
]
SCALE = int(os.environ.get("CONFORMANCE_SCALE", "1"))
DTYPES = list(DTYPE_NAMES)
COLUMNS = 7
NAMED = sorted(
    (ufunc for ufunc in UFUNCS if getattr(np, ufunc.__name__, None) is ufunc),
    key=lambda ufunc: ufunc.__name__,
)
CANCELLING = (np.logaddexp, np.logaddexp2)
BINARY = [ufunc for ufunc in NAMED if ufunc.nin == 2]
PYTHON_NUMBERS = [
    0,
    2,
    -1,
    300,
    2**40,
    2**63,
    -(2**70),
    0.0,
    2.5,
    float("nan"),
    1e300,
    True,
    1 + 2j,
]


@pytest.fixture(autouse=True)
def _verify() -> Iterator[None]:
    with config.override(verify=1):
        yield


def loops(ufunc: np.ufunc) -> list[tuple[np.dtype, ...]]:
    """The operand dtypes of each loop that jitwise knows, each once."""
    found = {}
    for text in ufunc.types:
        dtypes = tuple(np.dtype(character) for character in text.split("->")[0])
        if all(dtype in DTYPE_NAMES for dtype in dtypes):
            found[dtypes] = None
    return list(found)


CASES = [(ufunc, dtypes) for ufunc in NAMED for dtypes in loops(ufunc)]


def name_of(case: Any) -> str:
    ufunc, dtypes = case
    return "-".join([ufunc.__name__, *[str(dtype) for dtype in dtypes]])


@lru_cache(maxsize=4096)
def tolerance(ufunc: np.ufunc, dtypes: tuple[np.dtype, ...]) -> float:
    """The sum of the `ulp`s of the primitives that the loop of these dtypes is made of."""
    builder = Builder("tolerance", fold=False)
    emit_ufunc(builder, ufunc, tuple([builder.input(ArrayType(dtype, (4,))) for dtype in dtypes]))
    return sum(op.primitive.ulp for op in builder.finish(()).ops)


def judge_of(ufunc: np.ufunc, dtypes: Sequence[Any]) -> Any:
    """A judge of the values of one ufunc."""

    def judge(args: Sequence[Any], found: np.ndarray, expected: np.ndarray) -> np.ndarray:
        good = same_bits(found, expected)
        try:
            loop = resolve_loop(ufunc, tuple(dtypes))[0]
            ulp = tolerance(ufunc, loop)
        except (UnsupportedLoop, TypeError):
            return good
        if not good.all() and ufunc in (np.multiply, np.square) and found.dtype.kind == "c":
            good = good | same_bits(found, contiguous(ufunc, args, loop))
        if good.all() or not ulp:
            return good
        if found.dtype.kind == "c":
            with np.errstate(all="ignore"):
                near = np.abs(found - expected) <= 2 * ulp * np.spacing(np.abs(expected))
            return good | near.reshape(-1)
        wide = [np.clongdouble if each.kind == "c" else np.longdouble for each in loop]
        with np.errstate(all="ignore"):
            rounded = [np.asarray(a).astype(d) for a, d in zip(args, loop, strict=True)]
            true = ufunc(*[a.astype(w) for a, w in zip(rounded, wide, strict=True)])
        found = found.reshape(-1)
        good = within(found, np.asarray(true).reshape(-1), expected.reshape(-1), ulp)
        if not good.all() and ufunc in CANCELLING:  # the extended reference cancels too
            bad = [np.broadcast_to(a, expected.shape).reshape(-1)[~good] for a in rounded]
            good[~good] = exact_ulp_errors(ufunc.__name__, found[~good], *bad) <= ulp
        return good

    return judge


def contiguous(ufunc: np.ufunc, args: Sequence[Any], loop: Sequence[np.dtype]) -> np.ndarray:
    """NumPy's answer for long contiguous operands: complex products have other bits elsewhere."""
    whole = [np.ascontiguousarray(each) for each in np.broadcast_arrays(*args)]
    padded = [np.repeat(each.astype(dtype), 64) for each, dtype in zip(whole, loop, strict=True)]
    return ufunc(*padded)[::64]


def operands(ufunc: np.ufunc, dtypes: Sequence[np.dtype]) -> list[np.ndarray]:
    """The edge grid, as matrices; exponents are not negative where NumPy would raise."""
    arrays = grid(dtypes)
    if ufunc is np.power and dtypes[1].kind == "i":
        arrays[1] = np.abs(arrays[1].astype(object) % 70).astype(dtypes[1])
    rows = len(arrays[0]) // COLUMNS
    return [array[: rows * COLUMNS].reshape(rows, COLUMNS) for array in arrays]


def function_of(ufunc: np.ufunc) -> Any:
    """A function of one ufunc, which has a name of its own."""
    if ufunc.nin == 1:
        return lambda x: ufunc(x)
    if ufunc.nin == 2:
        return lambda x, y: ufunc(x, y)
    return lambda x, y, z: ufunc(x, y, z)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_every_layout_of_a_ufuncs_operands_gives_what_numpy_gives(case):
    ufunc = case[0]
    function, judge = function_of(ufunc), judge_of(*case)
    jitted, arrays = jit(function), operands(*case)
    names = list(LAYOUTS)
    for shift in range(1 if ufunc.nin == 1 else 1 + min(SCALE, len(names) - 1)):
        for index in range(len(names)):
            chosen = [names[(index + k * shift) % len(names)] for k in range(ufunc.nin)]
            given = [LAYOUTS[name](array) for name, array in zip(chosen, arrays, strict=True)]
            try:
                compare(jitted, function, given, judge)
            except AssertionError as error:
                raise AssertionError(f"{chosen}: {error}") from None
    for shape in ((0, COLUMNS), (5, 0)):
        compare(jitted, function, [array[: shape[0], : shape[1]] for array in arrays], judge)


@pytest.mark.parametrize("case", CASES if SCALE > 1 else CASES[::5], ids=name_of)
def test_zero_dimensional_arrays_and_scalars_give_what_numpy_gives(case):
    ufunc = case[0]
    function, judge = function_of(ufunc), judge_of(*case)
    arrays = [array.reshape(-1) for array in operands(*case)]
    places = range(0, arrays[0].size, max(1, arrays[0].size // 12))
    zero_dimensional, scalars = jit(function), jit(function)
    for place in places:
        items = [array[place] for array in arrays]
        compare(zero_dimensional, function, [np.array(item) for item in items], judge)
        compare(scalars, function, items, judge)
    if ufunc.nin == 2:
        mixed = jit(function)
        matrix = operands(*case)[0]
        for place in places[:3]:
            compare(mixed, function, [matrix, arrays[1][place]], judge)
            compare(mixed, function, [matrix, np.array(arrays[1][place])], judge)


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda ufunc: ufunc.__name__)
def test_operands_of_two_dtypes_promote_as_in_numpy(ufunc):
    pairs = [pair for pair in itertools.product(DTYPES, DTYPES) if pair[0] != pair[1]]
    start = BINARY.index(ufunc)
    function = function_of(ufunc)
    for dtypes in pairs[start % len(pairs) :: max(1, len(pairs) // (4 * SCALE))]:
        arrays = operands(ufunc, dtypes)
        try:
            compare(jit(function), function, arrays, judge_of(ufunc, dtypes))
        except AssertionError as error:
            raise AssertionError(f"{dtypes}: {error}") from None


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda ufunc: ufunc.__name__)
def test_python_numbers_promote_as_in_numpy(ufunc):
    """As arguments, and as constants of the program's text; on either side."""
    choices = list(itertools.product(DTYPES, PYTHON_NUMBERS, (False, True), (False, True)))
    start = BINARY.index(ufunc)
    for dtype, number, constant, first in choices[start :: max(1, len(choices) // (9 * SCALE))]:
        array = edge_values(dtype)
        kind = np.dtype(bool) if type(number) is bool else type(number)
        dtypes = (kind, dtype) if first else (dtype, kind)
        function = _with_number(ufunc, number, constant, first)
        args = [array] if constant else ([number, array] if first else [array, number])
        both = [number, array] if first else [array, number]
        judge = _judge_of_both(ufunc, dtypes, both)
        try:
            compare(jit(function), function, args, judge, calls=2)
        except AssertionError as error:
            raise AssertionError(f"{dtype} {number} {constant} {first}: {error}") from None


def _judge_of_both(ufunc: np.ufunc, dtypes: Sequence[Any], both: list[Any]) -> Any:
    """A judge that knows the number that is no argument."""
    judge = judge_of(ufunc, dtypes)
    return lambda _, found, expected: judge(both, found, expected)


def _with_number(ufunc: np.ufunc, number: Any, constant: bool, first: bool) -> Any:
    if not constant:
        return lambda x, y: ufunc(x, y)
    return (lambda x: ufunc(number, x)) if first else (lambda x: ufunc(x, number))
