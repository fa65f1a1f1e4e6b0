"""jitwise: a just-in-time compiler for numerical Python.

    import numpy as np
    from jitwise import jit

    @jit
    def f(x):
        return x * 2 + np.sin(x)

Names are loaded when they are first used: `import jitwise` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import debug, lax, numpy, tree
    from .api.callbacks import io_callback, pure_callback
    from .api.inspection import eval_shape, make_jaxpr, records
    from .api.jit import clear_caches, jit
    from .api.stages import ShapeDtypeStruct
    from .api.switches import disable_jit, named_scope
    from .errors import (
        CallbackError,
        EscapedTracerError,
        JitwiseBug,
        JitwiseError,
        JitwiseWarning,
        ShapeError,
        StageError,
    )

__version__ = "0.1.0"

_PLACES = {
    "clear_caches": "api.jit",
    "disable_jit": "api.switches",
    "eval_shape": "api.inspection",
    "io_callback": "api.callbacks",
    "jit": "api.jit",
    "make_jaxpr": "api.inspection",
    "named_scope": "api.switches",
    "pure_callback": "api.callbacks",
    "records": "api.inspection",
    "CallbackError": "errors",
    "EscapedTracerError": "errors",
    "JitwiseBug": "errors",
    "JitwiseError": "errors",
    "JitwiseWarning": "errors",
    "ShapeDtypeStruct": "api.stages",
    "ShapeError": "errors",
    "StageError": "errors",
}
_MODULES = ("debug", "lax", "numpy", "tree")

__all__ = [
    "CallbackError",
    "EscapedTracerError",
    "JitwiseBug",
    "JitwiseError",
    "JitwiseWarning",
    "ShapeDtypeStruct",
    "ShapeError",
    "StageError",
    "clear_caches",
    "debug",
    "disable_jit",
    "eval_shape",
    "io_callback",
    "jit",
    "lax",
    "make_jaxpr",
    "named_scope",
    "numpy",
    "pure_callback",
    "records",
    "tree",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        try:
            value = getattr(importlib.import_module(f".{_PLACES[name]}", __name__), name)
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.runtime._native":
                raise
            raise ImportError(
                f"jitwise was imported from its sources in {__path__[0]}, which have no native "
                "module; run Python in another folder to use the installed package"
            ) from error
    elif name in _MODULES:
        value = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module 'jitwise' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
