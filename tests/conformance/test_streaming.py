"""The loop that stores past the caches gives the bytes of the other, and writes nothing else."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import jitwise.ops  # noqa: F401  (fills the registry of primitives)
from jitwise.ir.builder import primitive_named
from jitwise.kernel.nest import KernelBuilder, Operand
from jitwise.kernel.schedule import schedule
from jitwise.llvm.compile import compile_kernel, vector_bytes
from jitwise.llvm.emit import STREAMED_BYTES, emit_kernels

PHASE = ctypes.CFUNCTYPE(
    None, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2, *[ctypes.c_void_p] * 2
)
GUARD = 0x5B


def kernel_of(dtype: np.dtype, compares: bool):
    result = np.dtype(np.bool_) if compares else dtype
    builder = KernelBuilder(
        "map",
        (
            Operand(dtype, "vector", False),
            Operand(dtype, "vector", False),
            Operand(result, "vector", True),
        ),
    )
    name = "less" if compares else "add"
    builder.store(2, builder.compute(primitive_named(name), builder.load(0), builder.load(1)))
    return schedule(builder.finish(16), vector_bytes())


def placed(length: int, dtype: np.dtype, offset: int) -> np.ndarray:
    """Memory that begins `offset` bytes behind a cache line, between guards."""
    raw = np.full(length * dtype.itemsize + 256, GUARD, np.uint8)
    start = -raw.ctypes.data % 64 + 64 + offset
    return raw[start : start + length * dtype.itemsize].view(dtype)


def run(kernel, arrays: list[np.ndarray], told: bool) -> None:
    pointers = np.array([each.ctypes.data for each in arrays], np.uintp)
    steps = np.array([each.itemsize * kernel.lanes for each in arrays], np.int64)
    scalars = np.zeros(16, np.uint8)
    code = compile_kernel(kernel)
    phase = PHASE(code.phases[0])
    chunks = len(arrays[0]) // kernel.lanes
    told_pointer = scalars.ctypes.data if told else 0
    phase(pointers.ctypes.data, steps.ctypes.data, chunks, kernel.lanes, 0, told_pointer)


@pytest.mark.parametrize("offset", [0, 8, 1])
@pytest.mark.parametrize("compares", [False, True])
@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "f2", "f4", "i8", "f8", "c8", "c16"])
def test_streamed_stores_give_the_bytes_of_others(dtype, compares, offset):
    kind = np.dtype(dtype)
    kernel = kernel_of(kind, compares)
    random = np.random.default_rng(3)
    for chunks in (0, 1, 5):
        length = chunks * kernel.lanes
        inputs = [placed(length, kind, 16) for _ in range(2)]
        for each in inputs:
            each[:] = (random.random(length) * 3).astype(kind)
        output = placed(length, kernel.outputs[0].dtype, offset)
        run(kernel, [*inputs, output], told=True)
        expected = inputs[0] < inputs[1] if compares else inputs[0] + inputs[1]
        np.testing.assert_array_equal(output, expected)
        around = output.base.view(np.uint8)
        first = output.ctypes.data - around.ctypes.data
        assert (around[:first] == GUARD).all()
        assert (around[first + output.nbytes :] == GUARD).all()


def test_outputs_far_larger_than_the_caches_are_streamed_untold():
    dtype = np.dtype(np.float64)
    kernel = kernel_of(dtype, False)
    length = STREAMED_BYTES // 8 + kernel.lanes
    for offset in (0, 8):
        inputs = [np.arange(length, dtype=dtype), np.ones(length)]
        output = placed(length, dtype, offset)
        run(kernel, [*inputs, output], told=False)
        np.testing.assert_array_equal(output, inputs[0] + 1)


def test_a_map_without_whole_cache_lines_has_one_loop():
    kernel = kernel_of(np.dtype(np.int8), False).with_lanes(16)
    assert "stream:" not in emit_kernels([kernel]).text
