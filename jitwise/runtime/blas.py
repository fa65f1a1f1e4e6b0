"""Where matrix products come from: the BLAS that NumPy itself has loaded, or else SciPy's.

    numpy.libs/libscipy_openblas64_*     in NumPy's wheels, in the process already
    scipy.libs/libscipy_openblas-*       in SciPy's wheels
    scipy.linalg.cython_blas             the only public table of BLAS addresses

NumPy's own library comes first: its results have the bits of NumPy's, and one library has one set
of threads, where two would fight over the processors. A library is known by its file and by its
symbols; what it says of itself must agree with the size of integers that its symbols promise. The
public table is last because importing it takes a few hundred milliseconds, more than hundreds of
layers take to compile. Nothing is looked for before the first product is compiled. When there is
none of these (NumPy built against another library, without SciPy) products run through NumPy on the
host.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..ir.types import DTYPE_NAMES
from ..record import recorder

# Fortran calling convention. A complex dot product returns in ways that compilers differ on.
ROUTINES = (
    *(kind + name for name in ("gemm", "gemv", "syrk") for kind in "sdcz"),
    "sdot",
    "ddot",
)


class Library(NamedTuple):
    """Addresses of BLAS routines by name, and whether their integers have 64 bits, not 32."""

    addresses: dict[str, int]
    wide: bool


@functools.cache
def library() -> Library | None:
    """The library that products use; None when there is none."""
    for path, loaded in _files():
        found = _opened(path, loaded)
        if found is not None:
            return found
    try:
        return _public()
    except Exception:  # a SciPy that is not there, or cannot be loaded
        return None


def _files() -> Iterator[tuple[str, bool]]:
    """Libraries in wheels, and whether each must be in the process already."""
    for package in ("numpy", "scipy"):
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            continue
        folder = os.path.dirname(spec.origin)
        beside = os.path.join(os.path.dirname(folder), f"{package}.libs")
        for libraries in (beside, os.path.join(folder, ".dylibs")):
            if not os.path.isdir(libraries):
                continue
            for name in sorted(os.listdir(libraries)):
                if name.startswith("libscipy_openblas"):
                    yield os.path.join(libraries, name), package == "numpy"


def _opened(path: str, loaded: bool) -> Library | None:
    """The routines of a library, when it is what its name promises."""
    mode = getattr(os, "RTLD_NOLOAD", 0) if loaded else 0
    try:
        file = ctypes.CDLL(path, mode=ctypes.DEFAULT_MODE | mode)
    except OSError:
        return None
    for suffix, wide in (("64_", True), ("", False)):
        try:
            say = getattr(file, f"scipy_openblas_get_config{suffix}")
            addresses = {
                name: ctypes.cast(getattr(file, f"scipy_{name}_{suffix}"), ctypes.c_void_p).value
                for name in ROUTINES
            }
        except AttributeError:
            continue
        say.restype, say.argtypes = ctypes.c_char_p, []
        if (b"USE64BITINT" in say()) == wide:
            return Library({name: address or 0 for name, address in addresses.items()}, wide)
    return None


def _public() -> Library:
    """The routines of SciPy's public table."""
    table = importlib.import_module("scipy.linalg.cython_blas").__pyx_capi__
    return Library({name: _address(table[name]) for name in ROUTINES if name in table}, wide=False)


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

    found = library()
    if found is None:
        return False
    try:
        _native.set_blas(found.addresses, wide=found.wide)
    except (RuntimeError, ValueError) as error:
        recorder.event("fallback", "blas", {"reason": str(error), "instead": "numpy.matmul"})
        return False
    return True


def serves(dtype: np.dtype) -> bool:
    """Whether the native runtime multiplies matrices of `dtype`."""
    if dtype.kind not in "fc":
        return True  # by plain loops
    if dtype.itemsize == 2:
        return False
    try:
        return _registered()
    except ImportError:
        return DTYPE_NAMES[dtype] in ("f32", "f64", "c64", "c128") and library() is not None
