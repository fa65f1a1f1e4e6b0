"""Functions of one array, called with a list that holds tracers.

    np.max([a, b])   ->  np.max(np.array([a, b]))

NumPy looks for tracers among the arguments, not inside lists, so `np.max` is replaced in traced
code by what is here. A tracer, the usual argument, goes straight to its handler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..namespace import CREATION
from ..tracer import FUNCTIONS, Tracer
from . import library_arrays, library_changes, library_linear, sets  # noqa: F401 - they fill LIBRARY
from .join import stack_nested
from .library import LIBRARY

if TYPE_CHECKING:
    from ..tracing import Trace

_OF_ONE_ARRAY = (
    np.sum, np.prod, np.max, np.min, np.amax, np.amin, np.any, np.all, np.mean, np.var, np.std,
    np.ptp, np.argmax, np.argmin, np.cumsum, np.cumprod, np.average, np.count_nonzero, np.diff,
    np.flip, np.ravel, np.reshape, np.transpose, np.squeeze, np.tile, np.repeat, np.roll,
    np.shape, np.ndim, np.size, np.diag, np.expand_dims, np.zeros_like, np.ones_like,
    np.atleast_1d, np.atleast_2d,
)  # fmt: skip


_OF_ARRAYS = (
    np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.block,
)  # fmt: skip


def _accepting_nests(function: Any) -> Callable[..., Any]:
    """For a function of a list of arrays, which may be lists that hold tracers."""

    def accept(trace: Trace, *args: Any, **options: Any) -> Any:
        if args and (isinstance(args[0], Tracer) or trace.holds_tracer(args[0])):
            return FUNCTIONS[function](trace, *args, **options)
        return function(*args, **options)

    return accept


def _accepting_lists(function: Any) -> Callable[..., Any]:
    def accept(trace: Trace, *args: Any, **options: Any) -> Any:
        if args:
            first = args[0]
            if isinstance(first, Tracer):
                return FUNCTIONS[function](trace, *args, **options)
            if type(first) in (list, tuple) and trace.holds_tracer(first):
                if function in LIBRARY and not LIBRARY[function].accepts_list:
                    trace.refuse("error", f"{function.__name__} of a list")
                return FUNCTIONS[function](trace, stack_nested(trace, first), *args[1:], **options)
        return function(*args, **options)

    return accept


def _deprecated(function: Any) -> Callable[..., Any]:
    """For what NumPy warns of at each call."""

    def accept(trace: Trace, *args: Any, **options: Any) -> Any:
        return trace.refuse("function", f"{function.__name__}, of which NumPy warns,")

    return accept


_OF_ITEMS = (np.roots, np.poly, np.lexsort)  # NumPy asks each item of what they are called with


for _function in (*_OF_ONE_ARRAY, *[each for each in LIBRARY if each in FUNCTIONS]):
    CREATION.setdefault(_function, _accepting_lists(_function))
for _function in (*_OF_ARRAYS, *_OF_ITEMS):
    CREATION[_function] = _accepting_nests(_function)
for _function in [getattr(np, each) for each in ("row_stack",) if hasattr(np, each)]:
    CREATION[_function] = _deprecated(_function)
