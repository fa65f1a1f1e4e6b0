"""Every elementwise primitive on every dtype: its evaluation is the ufunc, and its machine code is
that too, bit for bit or within the row's `ulp`, over the edge grid and over all sizes of a tail.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from edge_values import DTYPES, describe, grid, same_bits, within
from one_kernel import compile_graph, register_math

import jitwise.ops
from jitwise.ir.builder import Builder
from jitwise.ir.dims import Dim
from jitwise.ir.evaluate import evaluate
from jitwise.ir.graph import Graph
from jitwise.ir.parser import parse
from jitwise.ir.primitive import REGISTRY, Primitive
from jitwise.ir.types import ArrayType
from jitwise.ir.verify import verify
from jitwise.ops.families import elementwise
from jitwise.ops.promotion import UnsupportedLoop, resolve_loop
from jitwise.ops.ufuncs import UFUNCS, emit_ufunc

assert jitwise.ops.__all__
ELEMENTWISE = [each for each in REGISTRY.values() if each.category == "elementwise"]
OPERANDS = {
    "scalar_add": 2,
    "scalar_subtract": 2,
    "scalar_multiply": 2,
    "select": 3,
    "complex": 2,
    "ldexp": 2,
}
pytestmark = pytest.mark.no_round_trip


def operand_count(primitive: Primitive) -> int:
    """Number of operands."""
    ufunc = primitive.ufunc
    return ufunc.nin if ufunc is not None else OPERANDS.get(primitive.name, 1)


def attrs_of(primitive: Primitive) -> list[dict]:
    """The attributes to try."""
    return [{"dtype": dtype} for dtype in DTYPES] if primitive.name == "convert" else [{}]


def cases() -> list[tuple[Primitive, tuple[np.dtype, ...], dict]]:
    """Each primitive with each tuple of dtypes that its type rule accepts."""
    found = []
    for primitive in ELEMENTWISE:
        count = operand_count(primitive)
        alike = primitive.ufunc is not None and primitive.name != "ldexp"
        choices = (
            [(dtype,) * count for dtype in DTYPES]
            if alike
            else [
                dtypes
                for dtypes in itertools.product(DTYPES, repeat=count)
                if primitive.name != "select" or (dtypes[0].kind == "b" and dtypes[1] == dtypes[2])
            ]
        )
        for dtypes in choices:
            try:
                primitive.infer(
                    tuple(ArrayType(dtype, (4,)) for dtype in dtypes), {"dtype": dtypes[0]}
                )
            except TypeError:
                continue
            found += [(primitive, dtypes, attrs) for attrs in attrs_of(primitive)]
    return found


def name_of(case: tuple) -> str:
    primitive, dtypes, attrs = case
    target = f"-to-{attrs['dtype']}" if attrs else ""
    return f"{primitive.name}-{'-'.join(map(str, dtypes))}{target}"


CASES = cases()
COMPILED = [case for case in CASES if case[1][0].kind in (case[0].lower or {})]


def one_op(primitive: Primitive, dtypes: tuple[np.dtype, ...], attrs: dict) -> Graph:
    """A graph of one op over arrays of length n."""
    builder = Builder(primitive.name, fold=False)
    size = builder.symbol("n", ("size", 0, 0))
    operands = tuple(builder.input(ArrayType(dtype, (size,))) for dtype in dtypes)
    return builder.finish((builder.emit(primitive, operands, attrs),))


def arguments(primitive: Primitive, dtypes: tuple[np.dtype, ...], attrs: dict) -> list[np.ndarray]:
    """The edge grid, without what NumPy refuses."""
    arrays = grid(dtypes)
    if primitive.name == "power" and dtypes[1].kind == "i":
        arrays[1] = np.abs(arrays[1].astype(object) % 70).astype(dtypes[1])
    if primitive.name == "convert" and attrs["dtype"].kind != "c" and dtypes[0].kind == "c":
        arrays[0].imag = 0
    if attrs.get("dtype") == np.uint32 and dtypes[0].kind in "fc":
        # NumPy's answer out of range depends on the position in the array: vector loop or tail.
        with np.errstate(all="ignore"):
            arrays[0][~((arrays[0].real > -(2.0**31)) & (arrays[0].real < 2.0**32))] = 0
    return arrays


def expected(primitive: Primitive, arrays: list[np.ndarray], attrs: dict) -> np.ndarray:
    """What NumPy gives."""
    with np.errstate(all="ignore"):
        return np.asarray(primitive.evaluate(*arrays, **attrs))


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_evaluation_of_a_graph_is_what_numpy_computes(case):
    primitive, _, attrs = case
    arrays = arguments(*case)
    graph = one_op(*case)
    verify(graph)
    with np.errstate(all="ignore"):
        (found,) = evaluate(graph, arrays)
    wanted = expected(primitive, arrays, attrs)
    assert graph.outputs[0].type.dtype == wanted.dtype
    good = same_bits(found, wanted)
    assert good.all(), describe(arrays, found, wanted, good)


def true_values(ufunc: np.ufunc, arrays: list[np.ndarray]) -> np.ndarray:
    """The ufunc in extended precision."""
    wide = [np.clongdouble if each.dtype.kind == "c" else np.longdouble for each in arrays]
    with np.errstate(all="ignore"):
        return ufunc(*[each.astype(dtype) for each, dtype in zip(arrays, wide, strict=True)])


def assert_right(primitive: Primitive, arrays: list, found: np.ndarray, wanted: np.ndarray) -> None:
    """Bits, or at most the row's `ulp` from the true value."""
    if primitive.ulp:
        good = within(found, true_values(primitive.ufunc, arrays), wanted, primitive.ulp)
    else:
        good = same_bits(found, wanted)
    assert good.all(), describe(arrays, found, wanted, good)


@pytest.mark.parametrize("case", COMPILED, ids=name_of)
def test_machine_code_computes_what_numpy_computes(case):
    primitive, _, attrs = case
    if primitive.ulp and not register_math():
        pytest.skip("the native math library is not built")
    run = compile_graph(one_op(*case))
    arrays = arguments(*case)
    wanted = expected(primitive, arrays, attrs)
    assert_right(primitive, arrays, run(arrays)[0], wanted)
    lanes = run.lanes
    for length in sorted(
        {*range(0, 2 * lanes + 4, 13), lanes - 1, lanes, lanes + 1, 2 * lanes + 3}
    ):
        part = [each[:length] for each in arrays]
        found = run(part)[0]
        assert_right(primitive, part, found, wanted[:length])


def ufunc_cases() -> list[tuple[np.ufunc, tuple[np.dtype, ...]]]:
    """Each ufunc with each distinct loop."""
    found: dict[tuple, None] = {}
    for ufunc in UFUNCS:
        for dtypes in itertools.product(DTYPES, repeat=ufunc.nin):
            try:
                found[ufunc, resolve_loop(ufunc, dtypes)[0]] = None
            except (TypeError, UnsupportedLoop):
                continue
    return list(found)


UFUNC_CASES = ufunc_cases()


def ufunc_name(case: tuple) -> str:
    return f"{case[0].__name__}-{'-'.join(map(str, case[1]))}"


def ufunc_graph(ufunc: np.ufunc, dtypes: tuple[np.dtype, ...], fold: bool) -> Graph:
    """The ufunc of arrays of length n, as the tracer emits it."""
    builder = Builder(ufunc.__name__, fold=fold)
    size = builder.symbol("n", ("size", 0, 0))
    operands = tuple(builder.input(ArrayType(dtype, (size,))) for dtype in dtypes)
    return builder.finish(emit_ufunc(builder, ufunc, operands))


# These are hypot of the parts, and NumPy's other power: at most 2 ulp from the truth, as that.
INEXACT = (np.absolute, np.float_power)


@pytest.mark.parametrize("case", UFUNC_CASES, ids=ufunc_name)
def test_what_is_emitted_for_a_ufunc_computes_the_ufunc(case):
    ufunc, dtypes = case
    arrays = grid(dtypes)
    if ufunc is np.power and dtypes[1].kind == "i":
        arrays[1] = np.abs(arrays[1].astype(object) % 70).astype(dtypes[1])
    graph = ufunc_graph(ufunc, dtypes, fold=True)
    assert isinstance(graph.inputs[0].type.shape[0], Dim)
    assert tuple(each.type.dtype for each in graph.outputs) == resolve_loop(ufunc, dtypes)[1]
    with np.errstate(all="ignore"):
        results = ufunc(*arrays)
        found = evaluate(graph, arrays)
    for mine, wanted in zip(found, results if ufunc.nout > 1 else (results,), strict=True):
        good = same_bits(mine, wanted)
        if ufunc in INEXACT and wanted.dtype.kind == "f":
            good |= np.isclose(mine, wanted, rtol=4 * np.finfo(wanted.dtype).eps, atol=0)
        if ufunc in INEXACT and wanted.dtype.kind == "c":
            good |= np.isclose(mine, wanted, rtol=1e-12, atol=0, equal_nan=True)
        assert good.all(), describe(arrays, mine, wanted, good)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_program_computes_what_numpy_computes(case):
    """By the native machine; dtypes without machine code are NumPy's on the host."""
    pytest.importorskip("jitwise.runtime._native")
    from jitwise.runtime.executable import compile_graph as compile_program

    primitive, _, attrs = case
    program = compile_program(one_op(*case))
    arrays = arguments(*case)
    wanted = expected(primitive, arrays, attrs)
    with np.errstate(all="ignore"):
        spread = [np.repeat(each, 2)[::2] for each in arrays]
        for given in (arrays, spread, [each[::-1] for each in arrays]):
            right = wanted[::-1] if given[0].strides[0] < 0 else wanted
            (found,) = program.run(given)
            if case in COMPILED:
                assert_right(primitive, given, found, right)
            else:
                good = same_bits(found, expected(primitive, given, attrs))
                assert good.all(), describe(given, found, right, good)


BINARY = [
    each
    for each in ELEMENTWISE
    if each.ufunc is not None and each.ufunc.nin == 2 and each.lower and each.name != "ldexp"
]
WITH_SCALARS = [DTYPES[place] for place in (0, 1, 3, 4, 8, 10, 11, 12, 13)]


@pytest.mark.parametrize("primitive", BINARY, ids=lambda each: each.name)
def test_machine_code_with_a_constant_operand_computes_what_numpy_computes(primitive):
    """The constants at which guards matter: they must hold when LLVM sees through them."""
    if primitive.ulp and not register_math():
        pytest.skip("the native math library is not built")
    for dtype in WITH_SCALARS:
        if dtype.kind not in primitive.lower:
            continue
        (array,) = grid([dtype])
        special = [array[0], array[-1], array[len(array) // 3]]
        if dtype.kind in "iu":
            special = [dtype.type(0), dtype.type(dtype.itemsize * 8), np.iinfo(dtype).min, array[0]]
            special += [dtype.type(-1)] if dtype.kind == "i" else [dtype.type(3)]
        for scalar in special:
            builder = Builder(primitive.name, fold=False)
            size = builder.symbol("n", ("size", 0, 0))
            operand = builder.input(ArrayType(dtype, (size,)))
            constant = builder.constant(scalar, dtype)
            result = builder.emit(primitive, (operand, constant))
            arrays = [array, np.full_like(array, scalar)]
            (found,) = compile_graph(builder.finish((result,)))([array])
            assert_right(primitive, arrays, found, expected(primitive, arrays, {}))


def has_machine_code(graph: Graph) -> bool:
    """Whether one kernel can hold the graph, with what is built; there is none of an identity."""
    for op in graph.ops:
        primitive = op.primitive
        if primitive.category == "elementwise":
            if op.operands[0].type.dtype.kind not in primitive.lower:
                return False
            if primitive.ulp and not register_math():
                return False
        elif primitive.name not in ("constant", "broadcast_in_dim"):
            return False
    return bool(graph.ops)


COMPILED_UFUNCS = [
    (ufunc, dtypes)
    for ufunc, dtypes in UFUNC_CASES
    if not isinstance(UFUNCS[ufunc], Primitive)
    and has_machine_code(ufunc_graph(ufunc, dtypes, True))
]


@pytest.mark.parametrize("case", COMPILED_UFUNCS, ids=ufunc_name)
def test_machine_code_of_ufuncs_of_several_ops_computes_the_ufunc(case):
    ufunc, dtypes = case
    graph = ufunc_graph(ufunc, dtypes, fold=True)
    ulp = max((op.primitive.ulp for op in graph.ops), default=0)
    arrays = grid(dtypes)
    with np.errstate(all="ignore"):
        results = ufunc(*arrays)
    found = compile_graph(graph)(arrays)
    for mine, wanted in zip(found, results if ufunc.nout > 1 else (results,), strict=True):
        if ulp and wanted.dtype.kind == "f":
            good = within(mine, true_values(ufunc, arrays), wanted, ulp)
        else:
            good = same_bits(mine, wanted)
        assert good.all(), describe(arrays, mine, wanted, good)


def test_a_new_primitive_is_one_row():
    """Typed, evaluated, printed, verified, compiled and found by its ufunc, with no other edit."""
    cube = np.frompyfunc(lambda x: x * x * x, 1, 1)  # stands for a ufunc that has no row yet

    def lower(e, attrs, operand):
        return e.instruction("fmul", e.instruction("fmul", operand, operand), operand)

    row = elementwise(
        "cube",
        cube,
        {"f": lower},
        infer=lambda types, attrs: types[0],
        evaluate=lambda x: x * x * x,
    )
    try:
        builder = Builder("toy")
        size = builder.symbol("n", ("size", 0, 0))
        operand = builder.input(ArrayType(np.dtype(np.float64), (size,)))
        (result,) = emit_ufunc(builder, cube, (operand,))
        graph = builder.finish((result,))
        verify(graph)
        assert str(parse(str(graph))) == str(graph)
        (array,) = grid([np.dtype(np.float64)])
        with np.errstate(all="ignore"):
            wanted = array * array * array
            (evaluated,) = evaluate(graph, [array])
        assert same_bits(evaluated, wanted).all()
        assert same_bits(compile_graph(graph)([array])[0], wanted).all()
    finally:
        del REGISTRY[row.name]
        UFUNCS.pop(cube, None)
