"""Where matrix products come from: the BLAS that SciPy brings, when SciPy is there.

`scipy.linalg.cython_blas` is the only public table of BLAS addresses, and importing it takes a few
hundred milliseconds: more than hundreds of layers take to compile. SciPy's wheels carry the library
beside the package, and loading that alone takes four. So the library is looked for first, by its
file and its symbols; when either is not as expected the public table is used. Nothing is loaded
before the first product is compiled. Without SciPy products run through NumPy on the host.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
import os
from typing import Any

import numpy as np

from ..ir.types import DTYPE_NAMES
from ..record import recorder

# Fortran calling convention, 32-bit integers.
ROUTINES = tuple(kind + name for name in ("gemm", "gemv") for kind in "sdcz")


@functools.cache
def pointers() -> dict[str, int]:
    """Addresses of BLAS routines, by name; empty without SciPy."""
    try:
        return _bundled() or _public()
    except Exception:  # a SciPy that is not there, or cannot be loaded
        return {}


def _bundled() -> dict[str, int] | None:
    """The routines of the library in SciPy's wheel."""
    found = importlib.util.find_spec("scipy")
    if found is None or found.origin is None:
        return None
    folder = os.path.join(os.path.dirname(os.path.dirname(found.origin)), "scipy.libs")
    try:
        (file,) = [name for name in os.listdir(folder) if name.startswith("libscipy_openblas-")]
        library = ctypes.CDLL(os.path.join(folder, file))
        return {
            name: ctypes.cast(getattr(library, f"scipy_{name}_"), ctypes.c_void_p).value or 0
            for name in ROUTINES
        }
    except (OSError, ValueError, AttributeError):
        return None


def _public() -> dict[str, int]:
    """The routines of SciPy's public table."""
    table = importlib.import_module("scipy.linalg.cython_blas").__pyx_capi__
    return {name: _address(table[name]) for name in ROUTINES if name in table}


def _address(capsule: Any) -> int:
    """The C pointer in a capsule."""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name(capsule))


@functools.cache
def _registered() -> bool:
    """Give the routines to the native runtime, once; False when it cannot take them."""
    from . import _native

    try:
        _native.set_blas(pointers())
    except (RuntimeError, ValueError) as error:
        recorder.event("fallback", "blas", {"reason": str(error), "instead": "numpy.matmul"})
        return False
    return bool(pointers())


def serves(dtype: np.dtype) -> bool:
    """Whether the native runtime multiplies matrices of `dtype`."""
    if dtype.kind not in "fc":
        return True  # by plain loops
    if dtype.itemsize == 2:
        return False
    try:
        return _registered()
    except ImportError:
        return DTYPE_NAMES[dtype] in ("f32", "f64", "c64", "c128") and bool(pointers())
