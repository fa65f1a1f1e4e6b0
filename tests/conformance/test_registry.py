"""The registry as a whole: names, spellings, machine code, and which ufuncs of NumPy it covers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jitwise.ops
from jitwise.ir.primitive import REGISTRY, Primitive, register
from jitwise.ir.types import DTYPES, ArrayType
from jitwise.ops.promotion import UnsupportedLoop, resolve_loop, resolve_reduction
from jitwise.ops.ufuncs import UFUNCS, compare_out_of_range, emit_ufunc

assert jitwise.ops.__all__

# StableHLO and CHLO have no word for these.
WITHOUT_HLO = {
    "check",
    "compress",
    "count",
    "cumulative_add",
    "cumulative_max",
    "cumulative_min",
    "cumulative_multiply",
    "copysign",
    "exp2",
    "floor_divide",
    "fmax",
    "fmin",
    "frexp_exponent",
    "frexp_mantissa",
    "gcd",
    "heaviside",
    "update_slice",
    "warn",
    "write",
    "hypot",
    "is_nan",
    "lcm",
    "measure",
    "place",
    "places",
    "ldexp",
    "log10",
    "log2",
    "logaddexp",
    "logaddexp2",
    "reciprocal",
    "remainder",
    "signbit",
    "spacing",
    "trunc",
}

# Dtype kinds for which an elementwise primitive has no machine code: the program calls NumPy.
HOST_KINDS = {
    "abs": "c",  # emitted as hypot of the parts
    "acos": "c",
    "acosh": "c",
    "asin": "c",
    "asinh": "c",
    "atan": "c",
    "atanh": "c",
    "ceil": "biu",  # emitted as the operand itself, as are the others of this kind
    "clamp": "c",
    "conjugate": "iuf",
    "cosh": "c",
    "cosine": "c",
    "exp2": "c",
    "exponential": "c",
    "exponential_minus_one": "c",
    "floor": "biu",
    "is_finite": "biu",
    "is_inf": "biu",
    "is_nan": "biu",
    "log": "c",
    "log10": "c",
    "log2": "c",
    "log_plus_one": "c",
    "power": "iuc",  # of a constant integer: a chain of products
    "reciprocal": "iuf",  # emitted as a quotient
    "sign": "c",
    "sine": "c",
    "sinh": "c",
    "sqrt": "c",
    "tan": "c",
    "tanh": "c",
    "trunc": "biu",
}

# Ufuncs that are not elementwise on numbers.
NOT_MAPPED = {
    "isnat": "dates",
    "matmul": "a contraction: dot_general, see trace/numpy",
    "matvec": "a contraction",
    "vecdot": "a contraction",
    "vecmat": "a contraction",
}


def test_two_rows_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two primitives are called 'add'"):
        register(REGISTRY["add"])


def test_every_row_stands_under_its_own_name():
    assert all(name == primitive.name for name, primitive in REGISTRY.items())


def test_every_primitive_has_a_stablehlo_spelling_or_is_listed_as_without():
    without = {name for name, primitive in REGISTRY.items() if primitive.hlo is None}
    assert without == WITHOUT_HLO


def accepted_kinds(primitive: Primitive) -> str:
    """Dtype kinds of the first operand that the type rule takes."""
    count = primitive.ufunc.nin if primitive.ufunc is not None else 1
    kinds = set()
    for dtype in DTYPES.values():
        try:
            primitive.infer((ArrayType(dtype, ()),) * count, {"dtype": dtype})
            kinds.add(dtype.kind)
        except (TypeError, ValueError):
            continue
    return "".join(kind for kind in "biufc" if kind in kinds)


def test_every_elementwise_primitive_has_machine_code_but_for_the_listed_kinds():
    gaps = {}
    for name, primitive in REGISTRY.items():
        if primitive.category == "elementwise" and name not in ("select", "complex", "ldexp"):
            missing = "".join(
                kind for kind in accepted_kinds(primitive) if kind not in (primitive.lower or {})
            )
            if missing:
                gaps[name] = missing
    assert gaps == HOST_KINDS


def test_every_ufunc_of_numpy_is_mapped_or_listed_with_a_reason():
    everything = {getattr(np, name) for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
    unmapped = {ufunc.__name__ for ufunc in everything if ufunc not in UFUNCS}
    assert unmapped == set(NOT_MAPPED)


def test_an_unmapped_ufunc_is_refused_by_its_name():
    with pytest.raises(KeyError, match="isnat"):
        emit_ufunc(None, np.isnat, ())  # type: ignore[arg-type]


def test_every_primitive_says_how_it_runs():
    """Machine code, instructions, a composition, or NumPy on the host by its `evaluate`."""
    for primitive in REGISTRY.values():
        assert callable(primitive.evaluate), primitive
        assert primitive.flops >= 0
        assert primitive.ulp >= 0
        if primitive.category == "elementwise":
            assert primitive.lower is not None, primitive
            assert primitive.execute is None, primitive


F16, F32, F64, C64 = DTYPES["f16"], DTYPES["f32"], DTYPES["f64"], DTYPES["c64"]
BOOL, I8, I32, I64 = DTYPES["bool"], DTYPES["i8"], DTYPES["i32"], DTYPES["i64"]
U8, U64 = DTYPES["u8"], DTYPES["u64"]


@pytest.mark.parametrize(
    "ufunc, operands, inputs, outputs",
    [
        (np.add, (F32, float), (F32, F32), (F32,)),
        (np.add, (F32, F64), (F64, F64), (F64,)),
        (np.add, (F32, complex), (C64, C64), (C64,)),
        (np.add, (I8, int), (I8, I8), (I8,)),
        (np.add, (I64, float), (F64, F64), (F64,)),
        (np.divide, (I32, I32), (F64, F64), (F64,)),
        (np.less, (I64, U64), (I64, U64), (BOOL,)),
        (np.add, (I64, U64), (F64, F64), (F64,)),
        (np.sin, (BOOL,), (F16,), (F16,)),
        (np.sin, (int,), (F64,), (F64,)),
        (np.ldexp, (F32, int), (F32, I32), (F32,)),
        (np.divmod, (U8, U8), (U8, U8), (U8, U8)),
        (np.frexp, (F32,), (F32,), (F32, I32)),
        (np.logical_and, (F32, I32), (F64, F64), (BOOL,)),
        (np.absolute, (C64,), (C64,), (F32,)),
    ],
)
def test_promotion_is_numpys(ufunc, operands, inputs, outputs):
    found = resolve_loop(ufunc, operands)
    if ufunc is np.logical_and:  # its loops differ between NumPy's versions
        assert found[1] == outputs
        return
    assert found == (inputs, outputs)


def test_an_operation_without_a_loop_raises_numpys_own_error():
    with pytest.raises(TypeError, match="numpy boolean subtract"):
        resolve_loop(np.subtract, (BOOL, BOOL))
    with pytest.raises(TypeError, match="not supported for the input types"):
        resolve_loop(np.bitwise_and, (F32, F32))


def test_a_loop_on_foreign_dtypes_is_refused():
    with pytest.raises(UnsupportedLoop):
        resolve_loop(np.add, (np.dtype(object), F32))


def test_reductions_widen_as_numpys_do():
    assert resolve_reduction(np.add, I8) == I64
    assert resolve_reduction(np.add, BOOL) == I64
    assert resolve_reduction(np.multiply, U8) == U64
    assert resolve_reduction(np.maximum, I8) == I8
    assert resolve_reduction(np.add, F16) == F16


@pytest.mark.parametrize(
    "ufunc", [np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal]
)
@pytest.mark.parametrize("value", [300, -1])
@pytest.mark.parametrize("value_first", [False, True])
def test_comparing_with_an_int_that_does_not_fit_is_numpys(ufunc, value, value_first):
    array = np.array([0, 7, 255], np.uint8)
    expected = ufunc(value, array) if value_first else ufunc(array, value)
    assert set(expected.tolist()) == {compare_out_of_range(ufunc, value, U8, value_first)}


def test_an_int_that_fits_is_compared_as_usual():
    assert compare_out_of_range(np.less, 255, U8) is None
    assert compare_out_of_range(np.add, 300, U8) is None


def test_importing_the_rows_is_cheap_and_loads_no_compiler():
    """Rules compile at first use; llvmlite stays out."""
    script = (
        "import sys, jitwise.ops; from jitwise.ir.primitive import REGISTRY; "
        "assert 'llvmlite' not in sys.modules; "
        "assert not any(m.startswith(('jitwise.trace', 'jitwise.llvm')) for m in sys.modules); "
        "compiled = [p.name for p in REGISTRY.values() if p.fold is not None "
        "and p.fold.__code__.co_filename.startswith('<rules')]; "
        "assert not compiled, compiled"
    )
    root = str(Path(jitwise.ops.__file__).parents[2])
    subprocess.run([sys.executable, "-c", script], check=True, cwd=root)
