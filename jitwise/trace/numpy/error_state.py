"""`with np.errstate(divide="ignore", ...)` inside of a traced function.

A program does not know which of its operations raised a floating-point flag. When flags are raised
that the error state of the *call* does not ignore, the function is run as Python once (see
`api.float_errors`), and there the block keeps its own operations quiet. So a block that only
ignores needs no operation of its own:

    with np.errstate(divide="ignore"):      %1 = divide(%x, %y)
        z = x / y                           flags: divide -> Python, which warns of nothing

What writes to the caller's arrays must know its flags before it writes (`Trace.is_quiet`).

Left out, and run as Python: blocks that warn, raise, print, log or call, since the state of the
call may ask for less than they do.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from ..namespace import CREATION

if TYPE_CHECKING:
    from ..tracing import Trace

_KINDS = ("all", "divide", "over", "under", "invalid")


def errstate(trace: Trace, **modes: Any) -> AbstractContextManager[None]:
    """`np.errstate` of modes that are None or "ignore"."""
    for kind, mode in modes.items():
        if kind not in _KINDS or mode not in (None, "ignore"):
            trace.refuse("world", f"numpy.errstate({kind}={mode!r})")
    trace.is_quiet = True
    return nullcontext()


CREATION[np.errstate] = errstate
