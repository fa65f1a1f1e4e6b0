"""Compiled kernels give what NumPy gives, driven chunk by chunk as the native driver does it."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jitwise.ops  # noqa: F401  (fills the registry of primitives)
from jitwise.ir.builder import primitive_named
from jitwise.kernel.evaluate import evaluate_kernel
from jitwise.kernel.nest import INDEX_WORDS, Kernel, KernelBuilder, Operand
from jitwise.kernel.parser import parse_kernel
from jitwise.kernel.schedule import schedule
from jitwise.kernel.verify import verify_kernel
from jitwise.llvm import mathlib
from jitwise.llvm.accumulate import accumulator_offsets
from jitwise.llvm.compile import compile_kernel

PHASE = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_void_p,
)
UFUNCS = {
    "add": np.add,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def identity_of(word: str, dtype: np.dtype):
    """What a reduction starts from."""
    if word in INDEX_WORDS or word in ("or", "xor"):
        return 0
    if word == "and":
        return True if dtype.kind == "b" else ~dtype.type(0)
    if word in ("add", "multiply"):
        return 0 if word == "add" else 1
    if dtype.kind in "fc":
        infinity = np.inf if word == "min" else -np.inf
        return infinity if dtype.kind == "f" else complex(infinity, infinity)
    if dtype.kind == "b":
        return word == "min"
    return getattr(np.iinfo(dtype), "max" if word == "min" else "min")


class Driver:
    """Runs one compiled kernel on two-dimensional arrays: rows of `width` elements, padded by their
    last element.
    """

    def __init__(self, kernel: Kernel, rows: int, width: int) -> None:
        verify_kernel(kernel)
        assert str(parse_kernel(str(kernel))) == str(kernel)
        self.kernel, self.rows, self.width = kernel, rows, width
        self.code = compile_kernel(kernel)
        self.chunks = -(-width // kernel.lanes)
        self.padded = self.chunks * kernel.lanes
        self.valid = kernel.lanes - (self.padded - width)
        self.shift = 3  # bytes: nothing may rely on alignment

    def memory(self, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """Unaligned memory, filled with a pattern."""
        size = int(np.prod(shape)) * dtype.itemsize
        raw = np.full(size + 64, 0x5B, np.uint8)
        return raw[self.shift : self.shift + size].view(dtype).reshape(shape)

    def run(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """The outputs, each of shape (rows, width) or (rows,); column: (width,)."""
        kernel, self.buffers = self.kernel, []
        for operand, array in zip(kernel.inputs, arrays, strict=True):
            if operand.role == "vector":
                padding = ((0, 0), (0, self.padded - self.width))
                array = np.pad(array, padding, mode="edge")
            buffer = self.memory(operand.dtype, array.shape)
            buffer[...] = array
            self.buffers.append(buffer)
        column = kernel.mode == "column"
        for operand in kernel.outputs:
            vector = (1 if column else self.rows, self.padded)
            self.buffers.append(
                self.memory(operand.dtype, vector if operand.role == "vector" else (self.rows,))
            )
        self.buffers += [self.memory(dtype, (self.padded,)) for dtype in kernel.scratch]
        if column:
            self.run_columns()
        for row in range(0 if column else self.rows):
            self.run_row(row)
        outputs = self.buffers[len(arrays) : len(kernel.operands)]
        cut = [out[..., : self.width] if out.ndim == 2 else out for out in outputs]
        return [out[0] if column else out for out in cut]

    def run_columns(self) -> None:
        """All rows in two calls: the first begins with identities, the second with its results."""
        kernel = self.kernel
        offsets, size = accumulator_offsets(kernel)
        raw = np.zeros(size + 64, np.uint8)
        starts = raw[-raw.ctypes.data % 64 :][:size]
        for reduction, offset in zip(kernel.reductions, offsets, strict=True):
            start = starts[offset:][: kernel.lanes * reduction.dtype.itemsize]
            start.view(reduction.dtype)[:] = identity_of(reduction.word, reduction.dtype)
        pointers = np.array([buffer.ctypes.data for buffer in self.buffers], np.uintp)
        steps = np.array([kernel.lanes * buffer.itemsize for buffer in self.buffers], np.int64)
        downs = np.array([buffer.strides[0] for buffer in self.buffers], np.int64)
        inputs = len(kernel.inputs)
        first = (self.rows + 1) // 2
        for rows, place in ((first, starts.ctypes.data), (self.rows - first, 0)):
            if rows:
                arguments = pointers.ctypes.data, steps.ctypes.data, self.chunks, rows
                PHASE(self.code.phases[0])(*arguments, place, downs.ctypes.data)
            pointers[:inputs] += (downs * rows).astype(np.uintp)[:inputs]

    def run_row(self, row: int) -> None:
        """Every phase of one row; phases with reductions in two calls, to see that they resume."""
        kernel = self.kernel
        pointers, steps = [], []
        for number, buffer in enumerate(self.buffers):
            operand = kernel.operands[number] if number < len(kernel.operands) else None
            role = operand.role if operand else "scratch"
            moves = role == "row" or (role == "vector" and buffer.shape[0] > 1)
            pointers.append(buffer.ctypes.data + (row * buffer.strides[0] if moves else 0))
            steps.append(kernel.lanes * buffer.itemsize if role in ("vector", "scratch") else 0)
        offsets, size = accumulator_offsets(kernel)
        raw = np.zeros(size + 64, np.uint8)
        accumulators = raw[-raw.ctypes.data % 64 :][:size]
        scalars = np.zeros((max(1, len(kernel.reductions)), 16), np.uint8)
        for reduction, offset in zip(kernel.reductions, offsets, strict=False):
            self.prepare(reduction, accumulators[offset:])
        for index, address in enumerate(self.code.phases):
            split = [self.chunks // 2, self.chunks - self.chunks // 2] if offsets else [self.chunks]
            at = np.array(pointers, np.uintp)
            for part, count in enumerate(split, 1):
                valid = self.valid if part == len(split) else kernel.lanes
                PHASE(address)(
                    at.ctypes.data,
                    np.array(steps, np.int64).ctypes.data,
                    count,
                    valid,
                    accumulators.ctypes.data,
                    scalars.ctypes.data,
                )
                at = at + np.array(steps, np.uintp) * count
            for number, (reduction, offset) in enumerate(
                zip(kernel.reductions, offsets, strict=False)
            ):
                if reduction.phase == index:
                    result = np.asarray(self.horizontal(reduction, accumulators[offset:]))
                    scalars[number, : result.itemsize] = np.frombuffer(result.tobytes(), np.uint8)

    def blocks(self, reduction, memory: np.ndarray):
        """The value and index blocks of an accumulator."""
        lanes = self.kernel.lanes
        values = memory[: lanes * reduction.dtype.itemsize].view(reduction.dtype)
        start = -(-values.nbytes // 64) * 64
        return values, memory[start : start + lanes * 8].view(
            np.int64
        ) if reduction.word in INDEX_WORDS else None

    def prepare(self, reduction, memory: np.ndarray) -> None:
        values, indices = self.blocks(reduction, memory)
        values[...] = identity_of(reduction.word, reduction.dtype)
        if indices is not None:
            indices[...] = -1

    def horizontal(self, reduction, memory: np.ndarray):
        """All lanes to one value."""
        values, indices = self.blocks(reduction, memory)
        if indices is None:
            return UFUNCS[reduction.word].reduce(values, dtype=reduction.dtype)
        seen = np.flatnonzero(indices >= 0)
        order = seen[np.argsort(indices[seen], kind="stable")]
        return indices[order[getattr(np, reduction.word)(values[order])]]


def compare(
    kernel: Kernel, arrays: list[np.ndarray], rows: int, width: int, rtol: float = 0.0
) -> None:
    """Compiled and evaluated outputs are the same bits (all nans alike), or within rtol."""
    with np.errstate(all="ignore"):
        expected = evaluate_kernel(kernel, arrays, (rows, width), 1)
    found = Driver(kernel, rows, width).run(arrays)
    for got, want in zip(found, expected, strict=True):
        assert got.dtype == want.dtype
        if rtol:
            np.testing.assert_allclose(got, want, rtol=rtol)
        else:
            np.testing.assert_array_equal(got, want)
            if want.dtype.kind == "f":
                real = ~np.isnan(want)
                np.testing.assert_array_equal(np.signbit(got)[real], np.signbit(want)[real])


def unary_kernel(
    name: str, code: str, result: str | None = None, count: int = 1, **attrs
) -> Kernel:
    """out = primitive(in, ...)."""
    kind = np.dtype(code)
    operands = [Operand(kind, "vector", False)] * count
    builder = KernelBuilder("map", (*operands, Operand(np.dtype(result or kind), "vector", True)))
    value = builder.compute(
        primitive_named(name), *[builder.load(k) for k in range(count)], **attrs
    )
    builder.store(count, value)
    return schedule(builder.finish(16), 64)


FLOATS = ("f2", "f4", "f8")
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


def grid(dtype: str) -> np.ndarray:
    """Edge values and some ordinary ones."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True, True, False, True])
    if kind.kind in "iu":
        info = np.iinfo(kind)
        edge = [
            info.min,
            info.min + 1,
            info.max,
            info.max - 1,
            0,
            1,
            2,
            3,
            5,
            7,
            8,
            15,
            16,
            31,
            63,
            64,
            100,
        ]
        return np.array(edge + ([-1, -2, -3, -7, -64] if kind.kind == "i" else [200, 255]), kind)
    with np.errstate(all="ignore"):
        if kind.kind == "c":
            parts = grid("f4" if kind.itemsize == 8 else "f8")[:12]
            return (
                (parts[:, None] + np.zeros_like(parts) + 1j * parts[None, :]).ravel().astype(kind)
            )
        info = np.finfo(kind)
        edge = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            2.5,
            -3.7,
            np.inf,
            -np.inf,
            np.nan,
            254.0,
            256.0,
            300.7,
            -129.0,
            -0.5,
            0.5,
            1.5,
        ]
        edge += [
            65519.0,
            65520.0,
            65504.0,
            2.0**31,
            -(2.0**31),
            2.0**31 + 1,
            2.0**32,
            -(2.0**31) - 0.5,
            2.0**40 + 3,
        ]
        edge += [
            2.0**63,
            -(2.0**63),
            2.0**64,
            1.5 * 2.0**63,
            1e30,
            -1e30,
            1 + 2.0**-11,
            1 + 2.0**-11 + 2.0**-40,
        ]
        edge += [
            info.max,
            info.tiny,
            info.smallest_subnormal,
            -info.tiny,
            3e-8,
            2.98e-8,
            5.96e-8,
            1e-4 / 3,
        ]
        return np.array(edge).astype(kind)


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of edge values."""
    values = grid(dtype)
    left, right = np.meshgrid(values, values)
    return left.reshape(1, -1).copy(), right.reshape(1, -1).copy()


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_float_arithmetic_has_the_bits_of_numpy(name, dtype):
    left, right = pairs(dtype)
    compare(unary_kernel(name, dtype, count=2), [left, right], 1, left.shape[1])


@pytest.mark.parametrize("name", ["add", "subtract", "multiply"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_arithmetic_wraps_as_numpy(name, dtype):
    left, right = pairs(dtype)
    compare(unary_kernel(name, dtype, count=2), [left, right], 1, left.shape[1])


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_division_is_numpys_for_zero_and_for_the_minimum(name, dtype):
    left, right = pairs(dtype)
    compare(unary_kernel(name, dtype, count=2), [left, right], 1, left.shape[1])


@pytest.mark.parametrize("dtype", ["i2", "i4", "u4"])
def test_division_of_any_integers_is_exact(dtype):
    info = np.iinfo(dtype)
    random = np.random.default_rng(6).integers(info.min, info.max, (2, 5000), dtype, endpoint=True)
    small = random[1] >> random[0] % (8 * np.dtype(dtype).itemsize - 1)
    arrays = [random[0].reshape(1, -1), small.reshape(1, -1)]
    for name in ("floor_divide", "remainder"):
        compare(unary_kernel(name, dtype, count=2), arrays, 1, 5000)


@pytest.mark.parametrize("name", ["shift_left", "shift_right"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts_by_too_much_give_what_numpy_gives(name, dtype):
    left, right = pairs(dtype)
    compare(unary_kernel(name, dtype, count=2), [left, right], 1, left.shape[1])


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["?", *INTEGERS, *FLOATS])
def test_extremes_let_nan_win_and_keep_numpys_zero(name, dtype):
    left, right = pairs(dtype)
    compare(unary_kernel(name, dtype, count=2), [left, right], 1, left.shape[1])


@pytest.mark.parametrize("name", ["sqrt", "floor", "negate"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_intrinsics_have_the_bits_of_numpy(name, dtype):
    values = grid(dtype).reshape(1, -1)
    compare(unary_kernel(name, dtype), [values], 1, values.size)


@pytest.mark.filterwarnings("ignore")
def test_float64_to_float16_rounds_once():
    bits = np.arange(0, 0x7C00, 7, np.uint16)
    exact = bits.view(np.float16).astype(np.float64)
    above = (bits + 1).view(np.float16).astype(np.float64)
    halfway = np.where(np.isinf(above), 65520.0, (exact + above) / 2)
    near = [np.nextafter(halfway, side) for side in (0.0, np.inf)]
    values = np.concatenate([halfway, *near, -halfway]).reshape(1, -1)
    kernel = unary_kernel("convert", "f8", "f2", dtype=np.dtype("f2"))
    compare(kernel, [values], 1, values.size)


@pytest.mark.parametrize("source", ["?", *INTEGERS, *FLOATS, "c8", "c16"])
@pytest.mark.parametrize("target", ["?", *INTEGERS, *FLOATS, "c8", "c16"])
@pytest.mark.filterwarnings("ignore")
def test_conversion_gives_what_astype_gives(source, target):
    values = grid(source)
    if target == "u4" and source[0] in "fc":
        # Outside -2**31 .. 2**32 NumPy's vector code and its scalar code disagree.
        values = values[(np.abs(values) < 2.0**31) & ~np.isnan(values)]
    kernel = unary_kernel("convert", source, target, dtype=np.dtype(target))
    compare(kernel, [values.reshape(1, -1)], 1, values.size)


@pytest.mark.parametrize("width", [1, 15, 63, 64, 65, 127, 128, 129, 1000])
@pytest.mark.parametrize("dtype", ["?", "i1", "i8", *FLOATS, "c8", "c16"])
def test_every_length_and_dtype_passes_through_memory(width, dtype):
    values = np.resize(grid(dtype), 3 * width).reshape(3, width)
    builder = KernelBuilder(
        "map", (Operand(np.dtype(dtype), "vector", False), Operand(np.dtype(dtype), "vector", True))
    )
    builder.store(1, builder.load(0))
    compare(schedule(builder.finish(16), 64), [values], 3, width)


def reduction_kernel(word: str, dtype: str) -> Kernel:
    """out[row] = reduce(in[row, :])."""
    kind = np.dtype(dtype)
    result = np.dtype(np.int64) if word in INDEX_WORDS else kind
    builder = KernelBuilder("row", (Operand(kind, "vector", False), Operand(result, "row", True)))
    value = builder.reduce(word, builder.load(0))
    builder.phase()
    builder.store(1, value)
    return schedule(builder.finish(16), 64)


@pytest.mark.parametrize("width", [1, 64, 100, 1000])
@pytest.mark.parametrize("dtype", ["i1", "i4", "u8", "f4", "f8", "c16"])
@pytest.mark.parametrize("word", ["add", "multiply"])
def test_row_sums_and_products_count_each_element_once(word, dtype, width):
    values = np.random.default_rng(1).integers(1, 3, (3, width)).astype(dtype)
    if word == "multiply" and np.dtype(dtype).kind in "fc":
        values = np.where(np.arange(width) % 50, 1, values).astype(dtype)
    compare(reduction_kernel(word, dtype), [values], 3, width)


@pytest.mark.parametrize("width", [1, 64, 100, 1000])
@pytest.mark.parametrize("dtype", ["?", "i1", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("word", ["min", "max", "argmin", "argmax"])
def test_row_extremes_find_nan_and_the_first_of_equals(word, dtype, width):
    values = np.random.default_rng(2).integers(0, 5, (4, width)).astype(dtype)
    if np.dtype(dtype).kind in "fc":
        values[1, width // 2] = np.nan
        values[1, -1] = np.nan
        values[2, :] = np.inf
    if np.dtype(dtype).kind == "c":
        values[2, :] = 1j * (np.arange(width) % 7)
        values[3, -1] = complex(1, np.nan)
    compare(reduction_kernel(word, dtype), [values], 4, width)


@pytest.mark.parametrize("word", ["and", "or", "xor"])
@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "i8"])
def test_row_bit_reductions_agree_with_numpy(word, dtype):
    values = (np.random.default_rng(3).integers(0, 100, (3, 100)) > 1).astype(dtype)
    compare(reduction_kernel(word, dtype), [values], 3, 100)


@pytest.mark.parametrize("word", ["add", "multiply", "min", "max"])
@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "c8"])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_column_kernels_combine_into_their_output(word, dtype, rows):
    kind = np.dtype(dtype)
    builder = KernelBuilder(
        "column", (Operand(kind, "vector", False), Operand(kind, "vector", True))
    )
    builder.reduce(word, builder.load(0), target=1)
    values = np.random.default_rng(4).integers(1, 3, (rows, 130)).astype(dtype)
    compare(schedule(builder.finish(16), 64), [values], rows, 130)


def softmax_kernel(dtype: str) -> Kernel:
    """exp(x - max(x)) / sum(exp(x - max(x))), with a scalar factor and row outputs."""
    kind = np.dtype(dtype)
    vector, row = Operand(kind, "vector", False), Operand(kind, "row", True)
    builder = KernelBuilder(
        "row", (vector, Operand(kind, "scalar", False), Operand(kind, "vector", True), row)
    )
    scratch = builder.add_scratch(kind)
    subtract, multiply, divide = (
        primitive_named(name) for name in ("subtract", "multiply", "divide")
    )
    largest = builder.reduce("max", builder.compute(multiply, builder.load(0), builder.load(1)))
    builder.phase()
    shifted = builder.compute(
        subtract, builder.compute(multiply, builder.load(0), builder.load(1)), largest
    )
    squared = builder.compute(multiply, shifted, shifted)
    builder.store(scratch, squared)
    total = builder.reduce("add", squared)
    builder.phase()
    one = builder.compute(divide, builder.constant(1, kind), total)
    builder.store(2, builder.compute(multiply, builder.load(scratch), one))
    builder.store(3, builder.compute(subtract, total, largest))
    return schedule(builder.finish(16), 64)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("width", [5, 64, 300])
def test_phases_pass_reductions_and_scratch_to_later_phases(dtype, width):
    values = np.random.default_rng(5).random((3, width)).astype(dtype)
    compare(softmax_kernel(dtype), [values, np.asarray(1.5, dtype)], 3, width, rtol=1e-5)


def test_math_functions_are_called_on_vectors_and_on_single_values():
    calls = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    def sine(source, target, count):
        calls.append(count)
        kind = ctypes.c_float * count
        np.sin(
            np.array(kind.from_address(source)),
            out=np.ctypeslib.as_array(kind.from_address(target)),
        )

    kind = np.dtype(np.float32)
    saved = mathlib._addresses.get("jitwise_sine_f32")
    mathlib.register({"sine.f32": ctypes.cast(sine, ctypes.c_void_p).value})
    try:
        operands = (
            Operand(kind, "vector", False),
            Operand(kind, "row", False),
            Operand(kind, "vector", True),
        )
        builder = KernelBuilder("map", operands)
        each, single = (builder.compute(primitive_named("sine"), builder.load(k)) for k in (0, 1))
        builder.store(2, builder.compute(primitive_named("add"), each, single))
        values = np.linspace(-3, 3, 2 * 200).astype("f4").reshape(2, 200)
        kernel = schedule(builder.finish(16), 64).with_lanes(112)  # no other test shares this code
        compare(kernel, [values, np.array([0.5, 0.25], "f4")], 2, 200)
        assert set(calls) == {112, 96, 16}  # the last chunk of a row asks for what it has
    finally:
        if saved is not None:
            mathlib.register({"sine.f32": saved})


def test_threads_compile_the_same_kernels_at_once():
    kind = np.dtype(np.float64)

    def kernel(factor: float) -> Kernel:
        builder = KernelBuilder(
            "map", (Operand(kind, "vector", False), Operand(kind, "vector", True))
        )
        multiply = primitive_named("multiply")
        builder.store(1, builder.compute(multiply, builder.load(0), builder.constant(factor, kind)))
        return schedule(builder.finish(16), 64)

    factors = [1.0 + number / 8 for number in range(12)]
    with ThreadPoolExecutor(4) as pool:
        rounds = list(pool.map(lambda _: [compile_kernel(kernel(f)) for f in factors], range(4)))
    assert all(first is each for column in zip(*rounds) for first in column[:1] for each in column)
    for factor in factors:
        compare(kernel(factor), [np.arange(70.0).reshape(1, 70)], 1, 70)
