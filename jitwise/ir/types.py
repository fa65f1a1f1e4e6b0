"""Array types of the tensor IR: a dtype and a shape of sizes, each an int or a `Dim`.

Text form: `f64[n, 3]`, `f32[]`, `bool[2*n]`. Dtypes are NumPy's, always in native byte order. A
type is a plain tuple, so equal types compare and hash in C.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .dims import Dim, Size

DTYPE_NAMES: dict[np.dtype, str] = {
    np.dtype(np.bool_): "bool",
    np.dtype(np.int8): "i8",
    np.dtype(np.int16): "i16",
    np.dtype(np.int32): "i32",
    np.dtype(np.int64): "i64",
    np.dtype(np.uint8): "u8",
    np.dtype(np.uint16): "u16",
    np.dtype(np.uint32): "u32",
    np.dtype(np.uint64): "u64",
    np.dtype(np.float16): "f16",
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
    np.dtype(np.complex64): "c64",
    np.dtype(np.complex128): "c128",
}
DTYPES: dict[str, np.dtype] = {name: dtype for dtype, name in DTYPE_NAMES.items()}


class ArrayType(NamedTuple):
    """What is known of an array before it exists."""

    dtype: np.dtype
    shape: tuple[Size, ...]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __str__(self) -> str:
        return f"{DTYPE_NAMES[self.dtype]}[{', '.join(map(str, self.shape))}]"

    __repr__ = __str__


def is_static(shape: tuple[Size, ...]) -> bool:
    """Whether every size is a plain int."""
    return not any(isinstance(size, Dim) for size in shape)


def scalar_type(dtype: np.dtype) -> ArrayType:
    """The type of one value of `dtype`."""
    return ArrayType(dtype, ())
