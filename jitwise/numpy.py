"""`jitwise.numpy`: NumPy's namespace under jitwise's name, usable inside and outside of a trace.

`jnp.sin`, `jnp.zeros`, `jnp.linalg.norm` are NumPy's own functions; inside a jitted function they
are traced like any other use of NumPy. Nothing differs from `import numpy as np`, which jitted
functions may use as well.
"""

from __future__ import annotations

import sys as _sys
from typing import Any

import numpy as _numpy

from .trace.namespace import NUMPY_MODULES

NUMPY_MODULES.add(__name__)
__all__ = [name for name in _numpy.__all__ if hasattr(_numpy, name) and name[:2] != "__"]
_STANDARD = ("__array_api_version__", "__array_namespace_info__", "__version__")
_sys.modules[f"{__name__}.linalg"] = _numpy.linalg  # for `from jitwise.numpy.linalg import norm`
_sys.modules[f"{__name__}.fft"] = _numpy.fft


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name not in _STANDARD:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(_numpy, name)
    except AttributeError:
        raise AttributeError(f"numpy, and so {__name__}, has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return dir(_numpy)
