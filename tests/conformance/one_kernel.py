"""`compile_graph(graph)`: elementwise ops over arrays of one length as one compiled kernel.

The kernel is driven here, chunk by chunk on padded and unaligned copies, without the native
runtime.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np

from jitwise.ir.graph import Graph
from jitwise.kernel.build import build_kernel
from jitwise.kernel.schedule import schedule
from jitwise.llvm import mathlib
from jitwise.llvm.compile import compile_kernel, vector_bytes

PHASE = ctypes.CFUNCTYPE(
    None, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2, *[ctypes.c_void_p] * 2
)
OFFSET = 3  # bytes: nothing may rely on alignment


def register_math() -> bool:
    """Whether the vector math library is there."""
    try:
        from jitwise.runtime._native import math_symbols
    except ImportError:
        return False
    mathlib.register(math_symbols())
    return True


def _unaligned(dtype: np.dtype, length: int) -> np.ndarray:
    raw = np.full(length * dtype.itemsize + 64, 0x5B, np.uint8)
    return raw[OFFSET : OFFSET + length * dtype.itemsize].view(dtype)


def compile_graph(graph: Graph) -> Callable[[Sequence[np.ndarray]], list[np.ndarray]]:
    """A function from arrays of one length to the outputs."""
    kernel = schedule(build_kernel(graph), vector_bytes())
    code = compile_kernel(kernel)
    lanes = kernel.lanes

    def run(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        length = len(arrays[0])
        chunks = -(-length // lanes)
        buffers = []
        for array in arrays:
            buffer = _unaligned(array.dtype, chunks * lanes)
            buffer[:length] = array
            buffer[length:] = array[-1:]
            buffers.append(buffer)
        outputs = [_unaligned(each.dtype, chunks * lanes) for each in kernel.outputs]
        buffers += outputs
        pointers = np.array([each.ctypes.data for each in buffers], np.uintp)
        steps = np.array([each.itemsize * lanes for each in buffers], np.int64)
        valid = lanes - (chunks * lanes - length)
        PHASE(code.phases[0])(pointers.ctypes.data, steps.ctypes.data, chunks, valid, 0, 0)
        return [each[:length] for each in outputs]

    run.lanes = lanes  # type: ignore[attr-defined]
    return run
