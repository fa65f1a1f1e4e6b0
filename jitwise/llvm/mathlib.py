"""Which vector math function serves which primitive: (primitive, dtype) to symbol, and symbol to
address.

Functions take `(const T *a, [const T *b,] T *out, int64_t n)` with n a multiple of 16; `out` may be
`a`. Whoever owns the native library registers it here once, so that this layer need not import it:

    register({"sine.f32": 0x7f..., "power.f64": 0x7f...})
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np

PADDING = 16  # the library reads and writes whole groups of 16 elements
_NAMES = {np.dtype(np.float32): "f32", np.dtype(np.float64): "f64"}

_addresses: dict[str, int] = {}
_lock = threading.Lock()


def register(table: Mapping[str, int]) -> None:
    """Enter addresses of math functions, keyed `primitive.dtype`; later entries replace earlier
    ones.
    """
    with _lock:
        _addresses.update({symbol_of(*key.split(".")): address for key, address in table.items()})


def symbol_of(primitive: str, dtype: str) -> str:
    """The linker's name of a math function."""
    return f"jitwise_{primitive}_{dtype}"


def symbol(primitive: str, dtype: np.dtype) -> str:
    """The linker's name of the function for float32 or float64 values."""
    return symbol_of(primitive, _NAMES[dtype])


def address(name: str) -> int:
    """Where a symbol is. Raises KeyError for one that was never registered."""
    found = _addresses.get(name)
    if found is None:
        raise KeyError(f"no native math function is registered as {name}")
    return found
