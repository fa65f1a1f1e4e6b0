"""What a function of `lax` would give inside of a jitted function, found out by tracing a call.

    foreseen(while_loop, (test, body, (0, 4)))    ->    (*, *), [int, float]

So loops and branches that run as Python give what compiled ones give: where one branch gives an int
and the other a float, or a carry becomes wider, that shows in the types of both, before the first
turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import CannotTrace, CarryError
from .carried import Kind, kind_of
from .forms import Form, flatten
from .function import trace_call
from .tracing import current


def foreseen(
    function: Callable[..., Any], args: Sequence[Any]
) -> tuple[Form, list[Kind]] | CannotTrace:
    """The form and the kinds of what `function(*args)` gives, or why it cannot be traced. Nothing
    that the functions among the arguments do is visible. Raises CarryError as the call would.
    """
    found: list[tuple[Form, list[Kind]]] = []

    def described(*given: Any) -> None:
        leaves, form = flatten(function(*given))
        trace = current.get()
        assert trace is not None
        found[:] = [(form, [kind_of(trace, leaf).known(trace) for leaf in leaves])]
        trace.printed.clear()

    try:
        trace_call(described, args, {})
    except CannotTrace as failure:
        if isinstance(failure.__cause__, CarryError):
            raise failure.__cause__ from None
        return failure
    return found[0]


__all__ = ["foreseen"]
