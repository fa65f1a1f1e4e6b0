"""Jitted functions called by traced code: part of the trace, with results as on their own.

    h = jit(lambda p: p.T);  h(c)[0] = 5       c is not written to, whoever calls h

A jitted function gives fresh arrays. So each array that one gives inside of a trace is a handle of
its own on the value; but what it was given, changed and returns is what it was given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .containers import containers_in, fresh, leaves_of
from .memory import View, is_c_ordered
from .tracer import Tracer

if TYPE_CHECKING:
    from .tracing import Trace


def inner_call(trace: Trace, function: Callable[..., Any], behind: Any) -> Callable[..., Any]:
    """What traced code calls for a jitted function: `function` is followed, `behind` is the
    user's.
    """

    def call(*args: Any, **options: Any) -> Any:
        changes: list[Tracer] = []
        outer, trace.changes = trace.changes, changes
        try:
            result = function(*args, **options)
        finally:
            trace.changes = outer
        if outer is not None:
            outer.extend(changes)
        return _returned(trace, result, changes, args, options)

    call.__name__ = call.__qualname__ = getattr(behind, "__name__", type(behind).__name__)
    call.__wrapped__ = function  # type: ignore[attr-defined]
    call.stands_for = behind  # type: ignore[attr-defined]
    trace.captures.shadow(behind, vars(call), f"an attribute of {call.__name__}")
    return call


def _returned(
    trace: Trace, result: Any, changes: list[Tracer], args: tuple, options: dict[str, Any]
) -> Any:
    changed = {id(each) for each in changes}
    given = {id(each) for each in leaves_of(args, options)}
    kept = {id(each) for each in containers_in([*args, *options.values()])}

    def of_leaf(item: Any) -> Any:
        if not isinstance(item, Tracer) or item._kind != "array":
            return item
        base = item._base if isinstance(item, View) else item
        if id(base) in changed and (id(item) in given or id(item) in trace.caller_arrays):
            return item
        copy = Tracer(trace, item._value, "array")
        copy._c_ordered = True if is_c_ordered(item) else None
        return copy

    return fresh(result, kept, of_leaf)
