"""The floating-point flags of compiled programs are NumPy's: generated from the table of ufuncs.

Each ufunc is compiled for each dtype, and run on arrays full of one combination of edge values, of
lengths that are one element, a short chunk and a chunk with a tail. What it raises is compared with
what NumPy reports to `np.errstate(all="call")`. Flags that are missing lose a warning; flags too
many cost a run of the function as Python, and no warning. `MISSING` and `EXTRA` list both.

Underflow is compared for arithmetic only: NumPy ignores it unless asked, and its math functions,
like ours, raise it as their polynomials happen to.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from jitwise.ops.ufuncs import UFUNCS
from jitwise.runtime._native import Kernel, float_flags, math_symbols
from jitwise.runtime.executable import compile_graph
from jitwise.trace.function import trace_call

pytestmark = pytest.mark.no_round_trip
assert Kernel and math_symbols
DIVIDE, OVER, UNDER, INVALID = 1, 2, 4, 8
DTYPES = ("f2", "f4", "f8", "c8", "c16", "i8", "i4", "i2", "i1", "u8", "u1")
LENGTHS = (1, 5, 67)
EXACT = ("add", "subtract", "multiply", "divide", "sqrt", "square")  # underflow too
# NumPy's vector loop for powers overflows for the largest bases with an infinite exponent.
MISSING = {"power": (OVER, lambda a, b: np.isinf(b))}
EXTRA: dict[str, tuple[int, Callable[..., Any]]] = {
    # The order of complex numbers is asked for in both parts at once.
    **dict.fromkeys(
        ("less", "less_equal", "greater", "greater_equal"),
        (INVALID, lambda a, b: np.isnan(a) or np.isnan(b)),
    ),
    "divide": (INVALID, lambda a, b: np.iscomplexobj(a) and np.isinf(a)),
    "reciprocal": (INVALID, lambda a: np.iscomplexobj(a) and np.isinf(a)),
    "absolute": (OVER, lambda a: np.iscomplexobj(a)),
    "floor_divide": (INVALID, lambda a, b: np.isinf(a)),
    # The quotient, whose whole part is taken off.
    "remainder": (OVER, lambda a, b: abs(b) < 1),
    "fmod": (OVER, lambda a, b: abs(b) < 1),
    "divmod": (OVER | INVALID, lambda a, b: np.isinf(a) or abs(b) < 1),
    "modf": (INVALID, np.isinf),
    # NumPy's loops for single numbers and for vectors differ.
    **dict.fromkeys(("power", "float_power"), (DIVIDE, lambda a, b: a == 0 and np.isinf(b))),
}


def edges(dtype: np.dtype) -> np.ndarray:
    """Values at which a flag may be raised, and ordinary ones."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        negative = [-1, -7] if dtype.kind == "i" else []
        return np.array([0, 1, 2, 7, limits.min, limits.max, *negative], dtype)
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        largest, tiny, least = map(float, (limits.max, limits.tiny, limits.smallest_subnormal))
        ones = [0.0, 1.0, 0.5, 3.7, 10.0, 100.25, 1000.0, largest, np.inf]
        signed = [sign * one for one in ones for sign in (1, -1)]
        return np.array([*signed, 2.0, tiny, least, largest / 2, np.nan], dtype)
    part = np.finfo(dtype)
    parts = [0.0, 1.0, -2.5, float(part.max), np.inf, np.nan]
    return np.array([complex(a, b) for a, b in itertools.product(parts, parts)], dtype)


def compiled(function: Callable, arrays: Sequence[np.ndarray]) -> Any:
    """The program of a function of arrays."""
    traced = trace_call(function, tuple(arrays), {})
    return compile_graph(traced.graph, folded=True).program


def raised_by(program: Any, arrays: Sequence[np.ndarray]) -> int:
    return program.run_and_tell(list(arrays))[1]


def reported_by(function: Callable, arrays: Sequence[np.ndarray]) -> int:
    """The flags that NumPy reports."""
    found = [0]

    def report(_: str, flags: int) -> None:
        found[0] |= flags

    with np.errstate(all="call", call=report):
        function(*arrays)
    return found[0]


def loops(ufunc: np.ufunc) -> list[list[np.ndarray]]:
    """The edge values of the operands, for each dtype that a ufunc takes."""
    found = []
    for name in DTYPES:
        values = [edges(np.dtype(name))] * ufunc.nin
        if ufunc is np.ldexp:
            values[1] = np.array([0, 5, -5, 2000, -2000], np.int32)
        try:
            ufunc(*[each[1:3] for each in values])
        except (TypeError, ValueError):
            continue
        found.append(values)
    return found


def is_excepted(
    table: dict[str, tuple[int, Callable[..., Any]]], ufunc: np.ufunc, flags: int, values: tuple
) -> bool:
    known, holds = table.get(ufunc.__name__, (0, None))
    return not flags & ~known and (holds is None or bool(holds(*values)))


@pytest.mark.parametrize(
    "ufunc", [each for each in UFUNCS if each.nin <= 2], ids=lambda each: each.__name__
)
def test_a_ufunc_raises_the_flags_that_numpy_reports(ufunc):
    faults: list[str] = []
    counted = 15 if ufunc.__name__ in EXACT else DIVIDE | OVER | INVALID
    for operands in loops(ufunc):
        program = compiled(ufunc, [each[:2] for each in operands])
        pairs = itertools.product(LENGTHS, itertools.product(*operands))
        for length, values in pairs:
            arrays = [np.full(length, value) for value in values]
            try:
                expected = reported_by(ufunc, arrays) & counted
                found = raised_by(program, arrays) & counted
            except (ValueError, TypeError):  # negative powers of integers
                continue
            missing, extra = expected & ~found, found & ~expected
            if missing and not is_excepted(MISSING, ufunc, missing, values):
                faults.append(f"{length} x {values}: missing {missing}")
            if extra and not is_excepted(EXTRA, ufunc, extra, values):
                faults.append(f"{length} x {values}: extra {extra}")
    assert not faults, "\n".join(faults[:8])


REDUCTIONS: dict[str, Callable] = {
    "sum": np.sum,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "mean": np.mean,
    "var": np.var,
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "all": np.all,
    "any": np.any,
    "norm": lambda x: np.sqrt((x * x).sum()),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_raises_the_flags_that_numpy_reports(name, dtype):
    """In rows, in columns, and all; with one edge value among ones."""
    reduction, counted = REDUCTIONS[name], DIVIDE | OVER | INVALID
    functions = [reduction]
    if name != "norm":
        functions += [lambda x: reduction(x, axis=0), lambda x: reduction(x, axis=1)]
    faults = []
    for function in functions:
        program = compiled(function, [np.ones((4, 3), dtype)])
        for shape, value in itertools.product([(5, 7), (3, 130)], edges(np.dtype(dtype))):
            array = np.ones(shape, dtype)
            array[1, shape[1] // 2] = value
            expected = reported_by(function, [array]) & counted
            found = raised_by(program, [array]) & counted
            if expected != found:
                faults.append(f"{shape} with {value}: {found}, not {expected}")
    assert not faults, "\n".join(faults[:8])


@pytest.mark.parametrize("target", ["i8", "i4", "i2", "i1", "u8", "u2", "u1", "f4", "f2", "?"])
@pytest.mark.parametrize("source", ["f2", "f4", "f8"])
def test_a_conversion_raises_the_flags_that_numpy_reports(source, target):
    program = compiled(lambda x: x.astype(target), [np.ones(2, source)])
    faults = []
    values = [*edges(np.dtype(source)), 200.0, 300.0, -129.0, 4e4, 6e4]
    for length, value in itertools.product(LENGTHS, values):
        array = np.full(length, value, source)
        expected = reported_by(lambda x: x.astype(target), [array]) & ~UNDER
        found = raised_by(program, [array]) & ~UNDER
        if expected != found:
            faults.append(f"{length} x {value}: {found}, not {expected}")
    assert not faults, "\n".join(faults[:8])


@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 7, 1), (90, 91, 92)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_product_of_matrices_raises_no_flag_without_cause(dtype, shape):
    """Products of infinite elements with what fills blocks up may be invalid, in a BLAS too, now
    and then.
    """
    m, k, n = shape
    a, b = np.ones((m, k), dtype), np.ones((k, n), dtype)
    program = compiled(np.matmul, [a, b])
    for value in (1.0, np.inf, np.nan, np.finfo(dtype).max):
        changed = a.copy()
        changed[m // 2] = value
        counted = DIVIDE | OVER | (0 if np.isinf(value) else INVALID)
        expected = reported_by(np.matmul, [changed, b]) & counted
        assert raised_by(program, [changed, b]) & counted == expected, value


@pytest.mark.parametrize("length", [1, 16, 17, 100, 129, 300, 1000])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_what_a_chunk_holds_beyond_the_array_raises_nothing(dtype, length):
    """Several calls of the math library in a kernel, on arrays that end in mid-chunk."""
    x = np.linspace(0.5, 2, length).astype(dtype)
    functions: list[Callable] = [
        lambda x: np.exp(-x) * np.tanh(x) / np.sin(x),
        lambda x: np.log(np.sqrt(np.exp(x))) / np.cos(x / 9),
        lambda x: (np.sin(x) ** 2 + np.cos(x) ** 2) / np.log1p(x) + np.cbrt(x),
        lambda x: 1 / np.hypot(np.exp(x), np.arctan(x)),
    ]
    for function in functions:
        program = compiled(function, [x])
        for _ in range(3):  # the stack holds other numbers each time
            noise = compiled(lambda x: x * np.float64(1e308), [np.ones(2)])
            raised_by(noise, [np.full(300, 1e308)])
            assert raised_by(program, [x]) & ~UNDER == 0
    assert float_flags() == 0
