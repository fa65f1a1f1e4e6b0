"""How many elements a kernel handles at a time.

A chunk is eight native vectors of the widest dtype in the kernel. Wide values are split by LLVM's
legaliser into native vectors, which interleaves eight independent chains: enough to hide the
latency of arithmetic and to make the call of a vector math function cheap. Measured against four,
eight is 1.1 to 1.6 times faster wherever it matters (see Note) and costs at most 1.6 times the
compile time.

A map that calls the math library takes chunks of sixteen, in the loops of `segments`: between calls
its values are in memory anyway.

A phase with little arithmetic takes a chunk in two parts, the second after the first has been
stored: a processor's prefetchers follow four streams in small steps better than in large ones, and
the loop's own cost is still paid once a chunk. A column kernel goes from row to row with a chunk,
and takes half of one for the same reason.

Note: [Eight vectors]
    ns per element, one thread, AVX-512, codegen level 0        4 vectors    8 vectors
    six times y -> y*2 + sin(y), then y/3 + cos(y), f32         1.77         1.11
    the same in f64                                             3.56         2.22
    60 dependent adds and multiplies on 4 inputs, f32           0.58         0.44
    200 of them                                                 2.08         1.42
    20 of them with 6 values alive                              0.11         0.15

Note: [Parts]
    ns per element, one thread                      eight vectors    twice four    NumPy
    add, f64, 1e6 elements                          0.44             0.33          0.31
    add, f64, 8e6 elements                          0.75             0.62          0.63
    16 dependent adds and multiplies, f64, 1e6      0.56             0.39
    add, i8, 1e5 elements, 128 and 256 lanes        0.029            0.024         0.026

Note: [Columns]
    microseconds, one thread                    eight vectors    four    two     NumPy
    sum along axis 0, f64, 3 x 1e6              859              808     734     1000
    sum along axis 0, c128, 3 x 1e6             2815             1508    1408    3410
    sum along axis 0, f32, 1024 x 1024          44.5             44.0    41.8    62.9
    max along axis 0, f64, 3 x 1e6              1227             957     873     1274
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .nest import Compute, Kernel, Phase, Reduce, value_dtypes
from .segments import cut

VECTORS_PER_CHUNK = 8
VECTORS_PER_SEGMENTED_CHUNK = 16
VECTORS_PER_COLUMN_CHUNK = 4
MINIMUM_LANES = 16  # the math library works on multiples of 16
MAXIMUM_LANES = 128
MAXIMUM_NARROW_LANES = 256  # in kernels that count nothing: the loop's own cost shows
LIGHT_FLOPS = 12  # of one statement: what is heavier calls functions, or waits for itself
LIGHT_STATEMENTS = 24
MAXIMUM_STATEMENTS = 200  # beyond this code generation grows faster than the kernel


def choose_lanes(
    dtypes: Iterable[np.dtype],
    vector_bytes: int,
    maximum: int = MAXIMUM_LANES,
    vectors: int = VECTORS_PER_CHUNK,
) -> int:
    """Elements per chunk for a kernel that holds values of `dtypes`, on a machine with vectors of
    `vector_bytes`.
    """
    widest = max((dtype.itemsize for dtype in dtypes), default=8)
    return max(MINIMUM_LANES, min(maximum, vectors * vector_bytes // widest))


def choose_parts(phase: Phase) -> int:
    """In how many parts, one after another, a phase takes a chunk."""
    computed = [statement for statement in phase.body if isinstance(statement, Compute)]
    if any(isinstance(each, Reduce) for each in phase.body):
        return 1
    light = all(statement.primitive.flops <= LIGHT_FLOPS for statement in computed)
    return 2 if light and len(computed) <= LIGHT_STATEMENTS else 1


def schedule(kernel: Kernel, vector_bytes: int) -> Kernel:
    """`kernel` with the number of lanes that suits its dtypes."""
    maximum = MAXIMUM_NARROW_LANES if kernel.mode == "map" else MAXIMUM_LANES
    dtypes = value_dtypes(kernel)
    segmented = kernel.mode == "map" and any(cut(phase, dtypes) for phase in kernel.phases)
    vectors = VECTORS_PER_SEGMENTED_CHUNK if segmented else VECTORS_PER_CHUNK
    if kernel.mode == "column":
        vectors = VECTORS_PER_COLUMN_CHUNK
    return kernel.with_lanes(choose_lanes(dtypes.values(), vector_bytes, maximum, vectors))
