"""Loading LLVM's library beside other work: the first call of a process needs it a few milliseconds
later, after it has traced a function.

Mapping and relocating the library takes about seven milliseconds, in which Python's lock is not
needed. `begin` does it on a thread; the import of llvmlite then finds the library loaded. Whatever
goes wrong is left for that import to say.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import threading

NAMES = {"linux": "libllvmlite.so", "darwin": "libllvmlite.dylib"}
_begun: list[threading.Thread] = []


def begin() -> None:
    """Load LLVM's library on a thread, unless that was done before."""
    if _begun or "llvmlite" in sys.modules or sys.platform not in NAMES:
        return
    thread = threading.Thread(target=_load, name="jitwise loads LLVM")
    _begun.append(thread)
    thread.start()


def _load() -> None:
    found = importlib.util.find_spec("llvmlite")
    if found is None or found.origin is None:
        return
    path = os.path.join(os.path.dirname(found.origin), "binding", NAMES[sys.platform])
    load = ctypes.CDLL(None).dlopen  # lets go of Python's lock, as `ctypes.CDLL(path)` does not
    load.restype, load.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int]
    load(os.fsencode(path), os.RTLD_NOW)
