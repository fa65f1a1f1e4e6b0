"""The kernel driver gives NumPy's answer for every layout, length, and number of threads."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

native = pytest.importorskip("jitwise.runtime._native")
_spec = importlib.util.spec_from_file_location(
    "handwritten_kernels", Path(__file__).with_name("handwritten_kernels.py")
)
kernels = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(kernels)

LANES = 16
EXPENSIVE = 1e6  # a flop count that makes every call worth sharing among threads


@pytest.fixture(autouse=True)
def threads():
    yield
    native.set_threads(0)


def values(shape, seed=0, dtype="f8"):
    """Small integers: exact in any order of summation, so rounding cannot hide mistakes."""
    return np.random.default_rng(seed).integers(-9, 10, size=shape).astype(dtype)


@st.composite
def layouts(draw, least=0, rank=5, most=7):
    """A shape, and how to lay an array of that shape out: as a function of a seed."""
    shape = tuple(
        draw(
            st.lists(
                st.integers(0, most), min_size=(n := draw(st.integers(least, rank))), max_size=n
            )
        )
    )
    return shape, [draw(layout_of(shape)) for _ in range(3)]


@st.composite
def layout_of(draw, shape):
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 1, -1, 2, -3, 0])) for _ in shape]
    offset = draw(st.sampled_from([0, 0, 1, 4]))  # bytes
    return order, steps, offset


def arrange(shape, layout, dtype="f8", seed=0, writable=False):
    """An array of `shape`, stored in the layout's order, with its gaps, flips and offset."""
    order, steps, offset = layout
    if writable:
        steps = [step or 1 for step in steps]
    stored = [shape[axis] * abs(steps[axis]) if steps[axis] else 1 for axis in order]
    size = int(np.prod(stored, dtype=int)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 16, "u1")
    base = raw[offset : offset + size].view(dtype).reshape(stored)
    base[...] = values(stored, seed, dtype)
    view = base.transpose(np.argsort(order)) if shape else base
    view = view[(*[slice(None, None, step) if step else slice(0, 1) for step in steps], ...)]
    return np.broadcast_to(view, shape) if not writable else view


@settings(max_examples=400, deadline=None)
@given(layouts(), st.integers(1, 2))
def test_an_elementwise_kernel_does_every_layout(case, count):
    shape, (one, two, three) = case
    native.set_threads(count)
    a, b = arrange(shape, one, seed=1), arrange(shape, two, seed=2)
    out = arrange(shape, three, seed=3, writable=True)
    kernels.multiply_add(flops=EXPENSIVE).run([a, b, np.array(0.5)], [out], len(shape))
    assert np.array_equal(out, a * b + 0.5)


@settings(max_examples=150, deadline=None)
@given(layouts(1, 3, most=90), st.sampled_from(["f8", "f4", "i8", "i4", "i2", "i1"]))
def test_longer_axes_and_every_itemsize(case, dtype):
    shape, (one, two, three) = case
    if np.prod(shape) > 30000:
        return
    name = {"f8": "f64", "f4": "f32", "i8": "i64", "i4": "i32", "i2": "i16", "i1": "i8"}[dtype]
    a, b = arrange(shape, one, dtype, 1), arrange(shape, two, dtype, 2)
    out = arrange(shape, three, dtype, 3, writable=True)
    kernels.add(name).run([a, b], [out], len(shape))
    assert np.array_equal(out, a + b)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("length", [*range(3 * LANES + 2), 1000, 4097])
def test_a_tail_of_any_length_is_exact_and_writes_nothing_beyond(length, count):
    native.set_threads(count)
    a, b = values(length, 1), values(length, 2)
    guarded = np.full(length + 2 * LANES, 77.0)
    out = guarded[LANES : LANES + length]
    kernels.multiply_add(flops=EXPENSIVE).run([a, b, np.array(2.0)], [out], 1)
    assert np.array_equal(out, a * b + 2)
    assert (np.delete(guarded, slice(LANES, LANES + length)) == 77).all()


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("length", [1, 15, 16, 17, 40, 1000, 65537])
def test_an_output_may_be_an_input_at_the_same_positions(length, count):
    native.set_threads(count)
    for step in (1, 2, -1):
        a, b = values(length * 2, 1)[::step][:length], values(length, 2)
        expected = a + b
        kernels.add(flops=EXPENSIVE).run([a, b], [a], 1)
        assert np.array_equal(a, expected)


def test_rows_long_enough_to_be_used_in_place():
    x = values((9, 700), 1)
    out = np.empty((9, 650))
    kernels.add().run([x[:, :650], x[:, 50:]], [out], 2)
    assert np.array_equal(out, x[:, :650] + x[:, 50:])
    kernels.add().run([x[:, :650], x[:, 0][:, None]], [out], 2)
    assert np.array_equal(out, x[:, :650] + x[:, :1])


def test_an_operand_of_another_shape_is_refused():
    with pytest.raises(RuntimeError, match="shape of its iteration space"):
        kernels.add().run([np.ones(5), np.ones(6)], [np.empty(6)], (6,))


# ---- rows


@settings(max_examples=300, deadline=None)
@given(layouts(1, 4, most=11), st.integers(1, 2), st.data())
def test_a_row_reduction_does_every_layout(case, count, data):
    shape, (one, _, _) = case
    native.set_threads(count)
    outer = data.draw(st.integers(0, len(shape)))
    x = arrange(shape, one, seed=1)
    out = np.full(shape[:outer], np.nan)
    kernels.row_sum(squares=True, flops=EXPENSIVE).run([x], [out], shape, outer)
    assert np.array_equal(out, (x * x).sum(axis=tuple(range(outer, len(shape)))))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    "length", [*range(3 * LANES + 2), 95, 96, 97, 100, 255, 256, 257, 1023, 5000]
)
def test_rows_of_every_length(length, count):
    native.set_threads(count)
    x, w = values((21, length), 1), values(21, 2)
    sums = np.empty(21)
    kernels.row_sum(flops=EXPENSIVE).run([x], [sums], 2, 1)
    assert np.array_equal(sums, x.sum(-1))
    out = np.empty_like(x)
    kernels.row_normalise(flops=EXPENSIVE).run([x, w], [out], 2, 1)
    with np.errstate(invalid="ignore"):
        expected = (x * x) / (x * x).sum(-1, keepdims=True) * w[:, None]
    assert np.array_equal(out, expected, equal_nan=True)


def test_an_empty_row_sums_to_plus_zero_and_so_does_a_row_of_minus_zeros():
    out = np.full(3, np.nan)
    kernels.row_sum().run([np.empty((3, 0))], [out], 2, 1)
    assert np.array_equal(out, np.zeros(3))
    assert not np.signbit(out).any()
    for length in (1, 5, 40, 3000):
        out[:] = np.nan
        kernels.row_sum().run([np.full((3, length), -0.0)], [out], 2, 1)
        assert np.array_equal(out, np.zeros(3))
        assert not np.signbit(out).any()


@pytest.mark.parametrize("length", [1, 2, 31, 96, 97, 300, 10000])
def test_the_index_of_the_largest_is_numpys_with_ties_and_nans(length):
    x = values((40, length), 3)
    x[7, length // 2 :] = np.nan
    x[8] = -np.inf
    x[9] = np.nan
    for array in (x, np.asfortranarray(x), x[:, ::-1]):
        for count in (1, 2):
            native.set_threads(count)
            out = np.full(40, -1)
            kernels.row_argmax(flops=EXPENSIVE).run([array], [out], 2, 1)
            assert np.array_equal(out, array.argmax(-1))


@pytest.mark.parametrize(
    "shape",
    [(1, 3_000_001), (3, 200_003), (70, 5003), (300, 4097), (4000, 37), (5000, 3), (500, 90)],
)
def test_bits_of_a_row_sum_depend_on_neither_threads_nor_alignment(shape):
    x = np.random.default_rng(0).normal(size=shape)
    by_rows, by_columns = [], []  # where rows lie side by side, they are summed in another order
    raw = np.zeros(x.nbytes + 8, "u1")
    misaligned = raw[3 : 3 + x.nbytes].view("f8").reshape(shape)
    misaligned[...] = x
    strided = np.repeat(x, 2, axis=-1)[:, ::2]
    for array in (x, np.asfortranarray(x), misaligned, strided):
        for count in (1, 2, 3):
            native.set_threads(count)
            out = np.empty(shape[0])
            kernels.row_sum(flops=EXPENSIVE if count > 1 else 1.0).run([array], [out], 2, 1)
            (by_rows if array.strides[0] > array.strides[1] else by_columns).append(out)
    for results in filter(None, (by_rows, by_columns)):
        assert all(np.array_equal(results[0], other) for other in results[1:])
        assert np.allclose(results[0], x.sum(-1), rtol=1e-12, atol=1e-9)


def test_the_error_of_a_long_sum_is_no_worse_than_pairwise():
    x = np.full((1, 1 << 22), 0.1, "f4")
    out = np.empty(1, "f4")
    kernels.row_sum("f32").run([x], [out], 2, 1)
    exact = float(np.float32(0.1)) * x.size
    assert abs(out[0] - exact) <= abs(x.sum(-1)[0] - exact) + np.spacing(np.float32(exact))


# ---- columns


@settings(max_examples=300, deadline=None)
@given(layouts(1, 4, most=11), st.integers(1, 2), st.data())
def test_a_column_reduction_does_every_layout(case, count, data):
    shape, (one, _, _) = case
    native.set_threads(count)
    outer = data.draw(st.integers(0, len(shape)))
    x = arrange(shape, one, seed=1)
    out = arrange(shape[outer:], data.draw(layout_of(shape[outer:])), writable=True)
    kernels.column_sum(flops=EXPENSIVE).run([x], [out], shape, outer)
    assert np.array_equal(out, x.sum(axis=tuple(range(outer))))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "shape",
    [(0, 5), (1, 1), (3, 50), (1000, 1), (100_001, 3), (5000, 33), (200, 5000), (4000, 129)]
    + [(rows, 70) for rows in (1, 2, 7, 8, 9, 15, 16, 17, 63, 65)]
    + [(9, columns) for columns in (15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65)],
)
def test_columns_of_every_size(shape, weighted):
    x, w = values(shape, 1), values(shape[0], 2)
    expected = (x * (w[:, None] if weighted else 1)).sum(0)
    for array in (x, np.asfortranarray(x)):
        for count in (1, 2):
            native.set_threads(count)
            out = np.full(shape[1], np.nan)
            inputs = [array, w] if weighted else [array]
            kernels.column_sum(weighted=weighted, flops=EXPENSIVE).run(inputs, [out], shape, 1)
            assert np.array_equal(out, expected)


@pytest.mark.parametrize("shape", [(100_001, 3), (9999, 40), (300, 4000), (70_000, 100)])
def test_bits_of_a_column_sum_do_not_depend_on_threads(shape):
    x = np.random.default_rng(0).normal(size=shape)
    for array in (x, np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2]):
        results = []
        for count in (1, 2, 3):
            native.set_threads(count)
            out = np.empty(shape[1])
            kernels.column_sum(flops=EXPENSIVE if count > 1 else 1.0).run([array], [out], shape, 1)
            results.append(out)
        assert all(np.array_equal(results[0], other) for other in results[1:])
        assert np.allclose(results[0], x.sum(0), rtol=1e-12, atol=1e-9)


def test_a_kernel_that_makes_no_sense_is_refused_when_it_is_made():
    engine = kernels.compile_text("define void @f() { ret void }")
    address = engine.get_function_address("f")

    def make(**change):
        spec = {
            "name": "k",
            "lanes": 16,
            "mode": "map",
            "inputs": [(8, "vector")],
            "outputs": [(8, "vector")],
            "scratch": [],
            "reductions": [],
            "phases": [address],
        }
        return native.Kernel(**{**spec, **change})

    make()
    for change in (
        {"lanes": 0},
        {"mode": "loop"},
        {"phases": []},
        {"phases": [0]},
        {"inputs": [(3, "vector")]},
        {"inputs": [(8, "column")]},
        {"reductions": [("add", "f64", 0)]},
        {"mode": "column"},
        {"mode": "row", "reductions": [("median", "f64", 0)]},
        {"mode": "row", "reductions": [("add", "f80", 0)]},
        {"mode": "row", "reductions": [("and", "f64", 0)]},
        {"mode": "row", "reductions": [("add", "f64", 1)]},
    ):
        with pytest.raises(ValueError):
            make(**change)
