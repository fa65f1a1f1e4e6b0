"""How many elements a kernel handles at a time.

A chunk is eight native vectors of the widest dtype in the kernel. Wide values are split by LLVM's
legaliser into native vectors, which interleaves eight independent chains: enough to hide the
latency of arithmetic and to make the call of a vector math function cheap. Measured against four,
eight is 1.1 to 1.6 times faster wherever it matters (see Note) and costs at most 1.6 times the
compile time.

Note: [Eight vectors]
    ns per element, one thread, AVX-512, codegen level 0        4 vectors    8 vectors
    six times y -> y*2 + sin(y), then y/3 + cos(y), f32         1.77         1.11
    the same in f64                                             3.56         2.22
    60 dependent adds and multiplies on 4 inputs, f32           0.58         0.44
    200 of them                                                 2.08         1.42
    20 of them with 6 values alive                              0.11         0.15
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .nest import Kernel, value_dtypes

VECTORS_PER_CHUNK = 8
MINIMUM_LANES = 16  # the math library works on multiples of 16
MAXIMUM_LANES = 128
MAXIMUM_STATEMENTS = 200  # beyond this code generation grows faster than the kernel


def choose_lanes(dtypes: Iterable[np.dtype], vector_bytes: int) -> int:
    """Elements per chunk for a kernel that holds values of `dtypes`, on a machine with vectors of
    `vector_bytes`.
    """
    widest = max((dtype.itemsize for dtype in dtypes), default=8)
    return max(MINIMUM_LANES, min(MAXIMUM_LANES, VECTORS_PER_CHUNK * vector_bytes // widest))


def schedule(kernel: Kernel, vector_bytes: int) -> Kernel:
    """`kernel` with the number of lanes that suits its dtypes."""
    return kernel.with_lanes(choose_lanes(set(value_dtypes(kernel).values()), vector_bytes))
