"""The vector math library: within 2 ulp everywhere and NumPy's special values, in every variant."""

from __future__ import annotations

import ctypes
import itertools

import math_reference as reference
import numpy as np
import pytest

_native = pytest.importorskip("jitwise.runtime._native")

POINTER = ctypes.c_void_p
UNARY_TYPE = ctypes.CFUNCTYPE(None, POINTER, POINTER, ctypes.c_int64)
BINARY_TYPE = ctypes.CFUNCTYPE(None, POINTER, POINTER, POINTER, ctypes.c_int64)

SYMBOLS = _native.math_symbols()
VARIANTS = sorted({name.partition("@")[2] for name in SYMBOLS if "@" in name})
CASES = [
    pytest.param(name, dtype, id=f"{name}-{dtype}")
    for name, dtype in itertools.product(reference.FUNCTIONS, reference.DTYPES)
]


def run(symbol, *inputs, out=None):
    """Call a function of the library on arrays whose length is a multiple of 16."""
    prototype = BINARY_TYPE if len(inputs) == 2 else UNARY_TYPE
    out = np.empty_like(inputs[0]) if out is None else out
    pointers = [array.ctypes.data for array in (*inputs, out)]
    prototype(SYMBOLS[symbol])(*pointers, out.size)
    return out


def padded(array):
    """`array` with its last element repeated up to a multiple of 16."""
    return np.concatenate([array, np.repeat(array[-1:], -array.size % 16)])


def inputs_of(name, dtype, count=6000):
    x = padded(reference.samples(dtype, count, seed=1))
    if name not in reference.BINARY:
        return [x]
    return [x, np.random.default_rng(2).permutation(x)]


def report(symbol, errors, inputs):
    worst = int(np.argmax(errors))
    values = [float(x[worst]) for x in inputs]
    return f"{symbol}: {errors[worst]:.3f} ulp at {values!r}"


def test_the_table_has_every_function_in_every_variant():
    assert "baseline" in VARIANTS
    for name, dtype in itertools.product(reference.FUNCTIONS, reference.DTYPES):
        assert f"{name}.{dtype}" in SYMBOLS
        assert all(f"{name}.{dtype}@{variant}" in SYMBOLS for variant in VARIANTS)


@pytest.mark.skipif(not reference.EXTENDED, reason="needs 64-bit long double")
@pytest.mark.parametrize("name, dtype", CASES)
def test_every_exponent_is_within_two_ulp_of_the_true_value(name, dtype):
    inputs = inputs_of(name, reference.DTYPES[dtype])
    with np.errstate(all="ignore"):
        true = reference.FUNCTIONS[name](*(x.astype(np.longdouble) for x in inputs))
    keep = np.ones(true.size, bool)
    if name.startswith("logaddexp"):  # long double cancels too: checked with mpmath
        keep = ~(np.abs(true) < 2.0**-8 * np.maximum(np.abs(inputs[0]), np.abs(inputs[1])))
    for variant in VARIANTS:
        symbol = f"{name}.{dtype}@{variant}"
        got = run(symbol, *inputs)
        errors = np.where(keep, reference.ulp_errors(got, true), 0)
        assert errors.max() <= 2, report(symbol, errors, inputs)
        zero = keep & (true == 0)
        assert (np.signbit(got[zero]) == np.signbit(true[zero])).all(), symbol


@pytest.mark.parametrize("name, dtype", CASES)
def test_a_sample_is_within_two_ulp_of_mpmath(name, dtype):
    rng = np.random.default_rng(3)
    low, high = reference.INTERVALS.get(name, (-20, 20))
    count = 2 if name in reference.BINARY else 1
    inputs = [rng.uniform(low, high, 64).astype(reference.DTYPES[dtype]) for _ in range(count)]
    for variant in VARIANTS:
        symbol = f"{name}.{dtype}@{variant}"
        got = run(symbol, *inputs)
        with np.errstate(all="ignore"):
            finite = np.isfinite(got) & np.isfinite(reference.FUNCTIONS[name](*inputs))
        errors = reference.exact_ulp_errors(name, got[finite], *(x[finite] for x in inputs))
        assert errors.max() <= 2, report(symbol, errors, [x[finite] for x in inputs])


@pytest.mark.skipif(not reference.EXTENDED, reason="needs 64-bit long double")
@pytest.mark.parametrize("name, dtype", CASES)
def test_many_ordinary_arguments_are_within_two_ulp(name, dtype):
    # Each block of them lies where the function needs to look at no edge.
    rng = np.random.default_rng(6)
    low, high = reference.INTERVALS.get(name, (-20, 20))
    low = max(low, -0.99) if name == "log_plus_one" else low
    count = 2 if name in reference.BINARY else 1
    inputs = [rng.uniform(low, high, 50_000).astype(reference.DTYPES[dtype]) for _ in range(count)]
    inputs = [np.clip(x, *np.nextafter([low, high], [high, low], dtype=x.dtype)) for x in inputs]
    if name.startswith("logaddexp"):
        inputs = [np.abs(x) for x in inputs]
    true = reference.FUNCTIONS[name](*(x.astype(np.longdouble) for x in inputs))
    for variant in VARIANTS:
        symbol = f"{name}.{dtype}@{variant}"
        errors = reference.ulp_errors(run(symbol, *inputs), true)
        assert errors.max() <= 2, report(symbol, errors, inputs)


@pytest.mark.skipif(not reference.EXTENDED, reason="needs 64-bit long double")
@pytest.mark.parametrize("dtype", reference.DTYPES)
def test_large_powers_of_numbers_near_one_are_within_two_ulp(dtype):
    rng = np.random.default_rng(7)
    most = 6000 if dtype == "f64" else 700
    inputs = [rng.uniform(0.9, 1.1, 50_000), rng.uniform(-most, most, 50_000)]
    inputs = [x.astype(reference.DTYPES[dtype]) for x in inputs]
    true = np.power(*(x.astype(np.longdouble) for x in inputs))
    for variant in VARIANTS:
        symbol = f"power.{dtype}@{variant}"
        errors = reference.ulp_errors(run(symbol, *inputs), true)
        assert errors.max() <= 2, report(symbol, errors, inputs)


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_logarithms_of_sums_keep_two_ulp_when_they_cancel(name):
    # e^a + e^b close to one: the result is small, its relative error is what counts.
    rng = np.random.default_rng(4)
    a = -rng.uniform(0.1, 0.6, 192)
    power = np.exp(a) if name == "logaddexp" else np.exp2(a)
    b = (np.log1p if name == "logaddexp" else lambda x: np.log2(1 + x))(-power)
    # By size: how many bits are needed is decided for neighbours together.
    b = b + np.exp2(np.sort(rng.uniform(-40, -3, 192)))
    for variant in VARIANTS:
        symbol = f"{name}.f64@{variant}"
        errors = reference.exact_ulp_errors(name, run(symbol, a, b), a, b)
        assert errors.max() <= 2, report(symbol, errors, [a, b])


@pytest.mark.parametrize("dtype", reference.DTYPES)
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_logarithms_of_sums_of_equals_are_within_two_ulp(name, dtype):
    rng = np.random.default_rng(8)
    zero = -np.log(2) if name == "logaddexp" else -1.0
    near = zero + np.exp2(rng.uniform(-60, 0, 64)) * rng.choice([-1, 1], 64)
    a = np.concatenate([near, rng.uniform(-800, 800, 62), [zero, np.nextafter(zero, 0)]])
    a = a.astype(reference.DTYPES[dtype])
    some = np.where(rng.random(a.size) < 0.7, a, np.roll(a, 7))
    for variant, b in itertools.product(VARIANTS, (a, some)):
        symbol = f"{name}.{dtype}@{variant}"
        errors = reference.exact_ulp_errors(name, run(symbol, a, b), a, b)
        assert errors.max() <= 2, report(symbol, errors, [a, b])


@pytest.mark.parametrize("name, dtype", CASES)
def test_special_values_are_those_of_numpy(name, dtype):
    values = reference.special_values(reference.DTYPES[dtype])
    inputs = [values]
    if name in reference.BINARY:
        inputs = [grid.ravel() for grid in np.meshgrid(values, values)]
    inputs = [padded(x) for x in inputs]
    with np.errstate(all="ignore"):
        wanted = reference.FUNCTIONS[name](*inputs)
        true = reference.FUNCTIONS[name](*(x.astype(np.longdouble) for x in inputs))
    # Where NumPy itself rounds an ordinary value, 2 ulp of the true value is the claim instead.
    special = ~np.isfinite(true) | (true == 0) | np.isnan(wanted)
    for variant in VARIANTS:
        symbol = f"{name}.{dtype}@{variant}"
        got = run(symbol, *inputs)
        where = np.flatnonzero(special)
        same = (got[where] == wanted[where]) | (np.isnan(got[where]) & np.isnan(wanted[where]))
        same &= np.isnan(wanted[where]) | (np.signbit(got[where]) == np.signbit(wanted[where]))
        bad = where[~same]
        shown = [(*(float(x[k]) for x in inputs), got[k], wanted[k]) for k in bad[:4]]
        assert not bad.size, f"{symbol}: (inputs, got, wanted) {shown}"


@pytest.mark.parametrize("dtype", reference.DTYPES)
@pytest.mark.parametrize("name", ["sine", "cosine", "tan"])
def test_huge_arguments_are_reduced_exactly(name, dtype):
    rng = np.random.default_rng(5)
    limit = 127 if dtype == "f32" else 1023
    x = (rng.choice([-1, 1], 64) * np.exp2(rng.uniform(15, limit, 64))).astype(
        reference.DTYPES[dtype]
    )
    for variant in VARIANTS:
        symbol = f"{name}.{dtype}@{variant}"
        with reference.mpmath.workprec(1400):
            true = [reference.EXACT[name](reference.mpmath.mpf(float(v))) for v in x]
            got = run(symbol, x)
            units = np.spacing(np.abs(got)).astype(float)
            errors = np.array(
                [float(abs(float(g) - t) / u) for g, t, u in zip(got, true, units, strict=True)]
            )
        assert errors.max() <= 2, report(symbol, errors, [x])


@pytest.mark.skipif(not reference.EXTENDED, reason="needs 64-bit long double")
@pytest.mark.parametrize("dtype", reference.DTYPES)
@pytest.mark.parametrize("name", ["sine", "cosine", "tan"])
def test_arguments_next_to_a_multiple_of_half_pi_are_reduced_exactly(name, dtype):
    # There the result is as small as the distance, of which most bits come from far down in pi.
    kind = reference.DTYPES[dtype]
    multiples = np.concatenate([np.arange(1, 6000), np.arange(6000, 670_000, 61)])
    near = (multiples * (np.longdouble(np.pi / 2) + np.longdouble(6.123233995736766e-17))).astype(
        kind
    )
    x = padded(np.concatenate([near, -np.nextafter(near, kind.type(0))]))
    true = reference.FUNCTIONS[name](x.astype(np.longdouble))
    for variant in VARIANTS:
        symbol = f"{name}.{dtype}@{variant}"
        errors = reference.ulp_errors(run(symbol, x), true)
        assert errors.max() <= 2, report(symbol, errors, [x])


@pytest.mark.parametrize("dtype", reference.DTYPES)
@pytest.mark.parametrize("name, extreme", [("sine", np.pi / 2), ("cosine", 0)])
def test_no_sine_or_cosine_is_beyond_one(name, extreme, dtype):
    rng = np.random.default_rng(6)
    turns = np.pi * rng.integers(-300, 300, 1 << 18) + extreme
    x = turns + rng.normal(size=turns.size) * 10.0 ** rng.uniform(-8, -1, turns.size)
    for variant in VARIANTS:
        got = run(f"{name}.{dtype}@{variant}", x.astype(reference.DTYPES[dtype]))
        assert np.abs(got).max() == 1, variant


@pytest.mark.skipif(not reference.EXTENDED, reason="needs 64-bit long double")
@pytest.mark.parametrize("name", ["sine", "cosine", "tan", "exponential", "log", "tanh"])
def test_float32_is_within_two_ulp_on_a_dense_sample_of_all_floats(name):
    # Every 1021st float, of both signs: all exponents and the ends of every reduction.
    bits = np.arange(0, 1 << 32, 1021, dtype=np.uint64).astype(np.uint32)
    x = bits.view(np.float32)
    x = padded(x[~np.isnan(x)])
    with np.errstate(all="ignore"):
        true = reference.FUNCTIONS[name](x.astype(np.float64))
    for variant in VARIANTS:
        symbol = f"{name}.f32@{variant}"
        errors = reference.ulp_errors(run(symbol, x), true)
        assert errors.max() <= 2, report(symbol, errors, [x])


@pytest.mark.parametrize("name, dtype", CASES)
def test_the_result_may_overwrite_an_input_and_need_not_be_aligned(name, dtype):
    kind = reference.DTYPES[dtype]
    inputs = [padded(x) for x in inputs_of(name, kind, count=50)]
    for variant in VARIANTS:
        symbol = f"{name}.{dtype}@{variant}"
        wanted = run(symbol, *inputs)
        for target in range(len(inputs)):
            moved = []
            for x in inputs:
                memory = np.empty(x.nbytes + 1, np.uint8)
                view = memory[1:].view(kind)
                view[:] = x
                moved.append(view)
            got = run(symbol, *moved, out=moved[target])
            assert got.tobytes() == wanted.tobytes(), symbol


@pytest.mark.parametrize("name, dtype", CASES)
def test_an_element_does_not_depend_on_its_neighbours_or_place(name, dtype):
    inputs = [x[: x.size // 16 * 16] for x in inputs_of(name, reference.DTYPES[dtype], count=40)]
    for variant in VARIANTS:
        symbol = f"{name}.{dtype}@{variant}"
        whole = run(symbol, *inputs)
        for k in range(0, whole.size, 7):
            alone = run(symbol, *(np.repeat(x[k], 16) for x in inputs))
            assert alone[3:4].tobytes() == whole[k : k + 1].tobytes(), (symbol, k)
