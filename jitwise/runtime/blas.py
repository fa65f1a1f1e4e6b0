"""Where matrix products come from: SciPy's pointers to BLAS, when SciPy is there.

`scipy.linalg.cython_blas` is the only public table of BLAS addresses. It is imported when the first
product is compiled, never before. Without SciPy `pointers()` is empty, and products run through
NumPy on the host.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from typing import Any

ROUTINES = ("sgemm", "dgemm", "cgemm", "zgemm", "sgemv", "dgemv", "sdot", "ddot")


@functools.cache
def pointers() -> dict[str, int]:
    """Addresses of BLAS routines (Fortran calling convention, 32-bit integers), by name."""
    try:
        table = importlib.import_module("scipy.linalg.cython_blas").__pyx_capi__
    except Exception:  # without SciPy, or with one that cannot be loaded
        return {}
    return {name: _address(table[name]) for name in ROUTINES if name in table}


def _address(capsule: Any) -> int:
    """The C pointer in a capsule."""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name(capsule))
