"""Through the public `jit`: every primitive that is no ufunc, on every dtype, in every layout, of
many rows, of long rows, of no elements and of rank 0, gives NumPy's bits.

Each primitive stands in `PROGRAMS` with functions of one matrix that are traced into it; a view
stands alone and with a consumer. Ufuncs are in `test_jit_layouts`; together they hold every row of
the registry, and a test counts that. Sums, products and matrix products are taken of numbers for
which every order of the terms is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from edge_values import DTYPES, grid, same_bits
from layouts import LAYOUTS, check, compare, exact, outcome
from test_jit_layouts import CASES, NAMED

from jitwise import config, jit
from jitwise.api.stages import StageError
from jitwise.ir.builder import Builder
from jitwise.ir.primitive import REGISTRY
from jitwise.ir.types import ArrayType
from jitwise.ops.scalar_arithmetic import OF_SCALARS
from jitwise.ops.ufuncs import emit_ufunc
from jitwise.runtime.executable import compile_graph

pytestmark = [
    pytest.mark.no_round_trip,
    pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning"),
]
COLUMNS = 7
LONG = (5, 333)


@pytest.fixture(autouse=True)
def _verify() -> Iterator[None]:
    with config.override(verify=1):
        yield


def edges(dtype: np.dtype) -> np.ndarray:
    """The edge grid of one dtype as a matrix."""
    (values,) = grid([dtype])
    return values[: len(values) // COLUMNS * COLUMNS].reshape(-1, COLUMNS)


def whole(dtype: np.dtype) -> np.ndarray:
    """Small whole numbers: their sums and products of two are exact, in any order."""
    values = np.random.default_rng(1).integers(0, 4, 16 * COLUMNS).reshape(-1, COLUMNS)
    return (values - 2 if dtype.kind in "ifc" else values).astype(dtype)


def factors(dtype: np.dtype) -> np.ndarray:
    """Ones, few twos, and signs: products of them are exact, in any order."""
    values = np.where(np.random.default_rng(2).random((16, COLUMNS)) < 0.9, 1, 2)
    values[3] = 1 if dtype.kind in "bu" else -1
    values[5, 2] = 0
    return values.astype(dtype)


def long(matrix: np.ndarray) -> np.ndarray:
    """The numbers of a matrix in long rows."""
    return np.resize(matrix, LONG)


def zeros_alike(inputs: Sequence[Any], found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """The judge of extremes and complex products: which of two zeros it is depends on the order."""
    return same_bits(found, expected, zeros_alike=True)


def in_range(x: np.ndarray) -> np.ndarray:
    """Numbers that an unsigned integer holds: NumPy's answer for others depends on their place."""
    return abs(np.where(abs(x) < 100, x, 7).real)


def consumed(view: Callable[..., Any]) -> Callable[..., Any]:
    """A function that reads the elements of a view in a kernel."""
    return lambda x: (view(x) != x[0, 0]) | (view(x) == view(x))


def filled(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """A copy with the chosen elements in turn."""
    y = x.copy()
    y[mask] = y[mask][::-1]
    return y


Program = Callable[[np.ndarray], Any]
VIEWS: dict[str, list[Program]] = {
    "transpose": [lambda x: x.T, lambda x: np.swapaxes(x[None], 0, 2)],
    "reshape": [lambda x: x.reshape(-1), lambda x: x.T.reshape(x.shape), np.ravel],
    "broadcast_in_dim": [
        lambda x: np.broadcast_to(x[0], x.shape),
        lambda x: np.broadcast_to(x[:, None], (x.shape[0], 3, x.shape[1])),
    ],
    "slice": [lambda x: x[1:-1, ::2], lambda x: x[::-2, 3:], lambda x: x[:, 1]],
    "reverse": [lambda x: np.flip(x), lambda x: x[:, ::-1], np.flipud],
    "concatenate": [
        lambda x: np.concatenate([x, x[:2], x[1:]]),
        lambda x: np.roll(x, 2, axis=1),
        lambda x: np.stack([x, x[::-1]], axis=-1),
    ],
}
OTHERS: dict[str, list[Program]] = {
    "iota": [np.tril, lambda x: np.eye(x.shape[0], x.shape[1], dtype=x.dtype)],
    "constant": [lambda x: x + 1, lambda x: (x != 0) & True],
    "dimension": [lambda x: x * (x.shape[0] % 2)],
    "convert to uint32": [lambda x: in_range(x).astype(np.uint32)],
    "select": [lambda x: np.where(x, x[::-1], x), lambda x: np.where(x == x[0], x, x[-1])],
    "clamp": [lambda x: np.clip(x, 0, 2), lambda x: x.clip(x[0, 1], x[1, 0])],
    "compress": [lambda x: x[x != x[0, 0]], lambda x: x[:, x[0] != x[0, 0]], np.flatnonzero],
    "place": [lambda x: filled(x, x != x[0, 0]), lambda x: filled(x.T, x[0] != x[0, 1])],
    "check": [lambda x: np.int64(3) ** (x == x[0]).astype(np.int64)],
    "real": [lambda x: x.real, lambda x: np.real(x) == 0],
    "imag": [lambda x: x.imag, lambda x: np.imag(x)[::-1]],
    "convert": [lambda x, target=target: x.astype(target) for target in DTYPES if target != "u4"],
    "cumulative_add": [lambda x: np.cumsum(x, axis=0), lambda x: np.cumsum(x, 1), np.cumsum],
    "cumulative_multiply": [lambda x: np.cumprod(x, axis=0), lambda x: np.cumprod(x, axis=1)],
    "cumulative_max": [
        lambda x: np.maximum.accumulate(x, axis=0),
        lambda x: np.maximum.accumulate(x, axis=1),
    ],
    "cumulative_min": [
        lambda x: np.minimum.accumulate(x, axis=0),
        lambda x: np.minimum.accumulate(x, axis=1),
    ],
    "argmax": [lambda x: x.argmax(0), lambda x: x.argmax(1), np.argmax],
    "argmin": [lambda x: x.argmin(0), lambda x: x.argmin(1), np.argmin],
    "reduce_and": [lambda x: np.all(x, axis=0), lambda x: np.bitwise_and.reduce(x, axis=1)],
    "reduce_or": [lambda x: np.any(x, axis=1), lambda x: np.bitwise_or.reduce(x, axis=0), np.any],
    "reduce_xor": [
        lambda x: np.bitwise_xor.reduce(x, axis=0),
        lambda x: np.bitwise_xor.reduce(x, axis=1),
    ],
}
EXTREMA: dict[str, list[Program]] = {
    "reduce_max": [lambda x: x.max(axis=0), lambda x: x.max(axis=1), np.max],
    "reduce_min": [lambda x: x.min(axis=0), lambda x: x.min(axis=1), np.min],
}
SUMS: dict[str, list[Program]] = {
    "reduce_add": [lambda x: x.sum(axis=0), lambda x: x.sum(axis=1), np.sum, lambda x: x.mean(0)],
    "dot_general": [lambda x: x @ x.T, lambda x: x.T @ x[:, 1], lambda x: x[0] @ x[1]],
}


def copied_and_assigned(x: np.ndarray) -> np.ndarray:
    """A copy with items, a block and a view written."""
    y = x.copy()
    y[1] = x[0]
    y[2:, ::2] = x[:-2, ::2]
    y.T[3, :2] = y[0, 1]
    return y


def written(x: np.ndarray) -> np.ndarray:
    """An argument that is written to."""
    x[:2] = x[1:3]
    x[-1, ::3] = x[0, 1]
    return x[0] == x[-1]


def scattered(x: np.ndarray) -> np.ndarray:
    """A copy with rows written by position, one of them twice."""
    y = x.copy()
    y[np.array([0, -1, 0])] = x[1:4]
    return y


def combined(x: np.ndarray) -> np.ndarray:
    """A copy in which each position takes what is given it, as often as it is given."""
    y = x.copy()
    np.maximum.at(y, np.array([0, -1, 0]), x[1:4])
    return y


ASSIGNED: dict[str, list[Program]] = {
    "update_slice": [copied_and_assigned],
    "gather": [lambda x: x[x.argmax(axis=0)]],
    "scatter": [scattered],
    "scatter_at": [combined],
}
PRODUCTS: dict[str, list[Program]] = {
    "reduce_multiply": [lambda x: x.prod(axis=0), lambda x: x.prod(axis=1), np.prod],
}
# No function of NumPy is traced into these: they are tried as graphs of one op.
GRAPHS = {
    "complex": (2, {}, ["f4", "f8"]),
    "reduce_xor": (1, {"axes": (1,)}, ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]),
}
PROGRAMS: list[tuple[str, int, Program, Any, Any]] = []
for family, numbers, judge in (
    (VIEWS, edges, None),
    (OTHERS, edges, None),
    (ASSIGNED, edges, None),
    (EXTREMA, edges, zeros_alike),
    (SUMS, whole, None),
    (PRODUCTS, factors, zeros_alike),
):
    for primitive, functions in family.items():
        forms = [*functions, *map(consumed, functions[:1])] if family is VIEWS else functions
        PROGRAMS += [(primitive, place, each, numbers, judge) for place, each in enumerate(forms)]


def name_of(case: Any) -> str:
    return f"{case[0]}-{case[1]}"


def arguments(matrix: np.ndarray) -> Iterator[tuple[str, Any]]:
    """The numbers of `matrix` in each layout, none of them, and one."""
    for name, layout in LAYOUTS.items():
        yield name, layout(matrix)
    yield "no rows", matrix[:0]
    yield "no columns", np.asfortranarray(matrix[:, :0])
    yield "rank 0", np.array(matrix[1, 1])
    yield "scalar", matrix[2, 1]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", PROGRAMS, ids=name_of)
def test_every_layout_of_a_primitives_operand_gives_numpys_bits(case, dtype):
    _, _, function, numbers, judge = case
    matrix = numbers(dtype)
    for rows in (matrix, long(matrix)):
        jitted = jit(function)
        for name, argument in arguments(rows):
            try:
                compare(jitted, function, [argument], *([judge] if judge else []))
            except AssertionError as error:
                raise AssertionError(f"{rows.shape} {name}: {error}") from None


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_an_argument_in_every_layout_is_written_as_numpy_writes_it(dtype):
    jitted = jit(written)
    for rows in (edges(dtype), long(edges(dtype))):
        for (name, ours), (_, theirs) in zip(arguments(rows), arguments(rows), strict=True):
            ours, theirs = ([own(each)] * 2 for each in (ours, theirs))
            results = outcome(jitted, ours[:1]), outcome(written, theirs[:1])
            check((results[0], ours), (results[1], theirs), (), exact, f"{name}: ")


def own(array: Any) -> Any:
    """The array, or a copy of what shares its memory with the numbers the layouts are made of."""
    return array.copy() if array.flags.c_contiguous and array.flags.writeable else array


@pytest.mark.parametrize("name", GRAPHS)
def test_every_layout_of_the_operands_of_a_graph_gives_numpys_bits(name):
    count, attrs, dtypes = GRAPHS[name]
    primitive = REGISTRY[name]
    for dtype in map(np.dtype, dtypes):
        builder = Builder(name, fold=False)
        shape = (builder.symbol("n", ("size", 0, 0)), builder.symbol("m", ("size", 0, 1)))
        operands = tuple([builder.input(ArrayType(dtype, shape)) for _ in range(count)])
        graph = builder.finish((builder.emit(primitive, operands, attrs),))
        executable = compile_graph(graph)
        tried = [layout for name, layout in LAYOUTS.items() if "big-endian" not in name]
        for matrix in (edges(dtype), long(edges(dtype))):
            for given in [[layout(matrix), layout(matrix[::-1])][:count] for layout in tried]:
                (found,) = executable.run(given)
                assert same_bits(found, np.asarray(primitive.evaluate(*given, **attrs))).all()
        (found,) = executable.run([matrix[:0]] * count)
        assert found.size == 0


def test_the_layouts_tried_are_those_that_an_array_can_have():
    kinds = set()
    for layout in LAYOUTS.values():
        for dtype in (np.dtype("f8"), np.dtype("c16")):
            array = layout(edges(dtype))
            kinds |= {("C", array.flags.c_contiguous), ("F", array.flags.f_contiguous)}
            kinds |= {("aligned", array.flags.aligned), ("native", array.dtype.isnative)}
            kinds |= {("written", array.flags.writeable)}
            kinds |= {("negative", min(array.strides) < 0), ("zero", 0 in array.strides)}
            kinds |= {("odd", any(stride % array.itemsize for stride in array.strides))}
    assert len(kinds) == 16, sorted(kinds)


def primitives_of_ufuncs() -> set[str]:
    """What the loops of the ufuncs in `test_jit_layouts` are made of."""
    found = set()
    for ufunc, dtypes in CASES:
        builder = Builder(ufunc.__name__, fold=False)
        operands = tuple([builder.input(ArrayType(dtype, (4,))) for dtype in dtypes])
        emit_ufunc(builder, ufunc, operands)
        found |= {op.primitive.name for op in builder.ops}
    return found


def primitives_of_programs() -> set[str]:
    """What the programs of this file are traced into."""
    found = set()
    for _, _, function, numbers, _ in PROGRAMS:
        for dtype in ("f8", "c16", "i8", "?"):
            try:
                graph = jit(function).trace(numbers(np.dtype(dtype))).graph
            except (StageError, TypeError):
                continue
            found |= {op.primitive.name for op in graph.ops}
    found |= {op.primitive.name for op in jit(written).trace(edges(np.dtype("f8"))).graph.ops}
    return found


def test_every_row_of_the_registry_is_tried():
    assert len(NAMED) >= 85 and len(CASES) >= 700
    tried = primitives_of_ufuncs() | primitives_of_programs()
    # A pass makes fusions; calls are tried in test_library and test_surface, draws in test_draws,
    # callbacks in test_callbacks, `case`, `while`, `region` in test_loops and test_regions, scalars
    # in test_reported_errors.
    calls = {"call", "raising_call", "outside_call", "measured_call", "measured_raising_call"}
    calls |= {"draw", "callback", "case", "while", "region", "copy"}
    calls |= {each.name for each in OF_SCALARS.values()}
    assert set(REGISTRY) - tried - calls == {*GRAPHS, "fusion"}
