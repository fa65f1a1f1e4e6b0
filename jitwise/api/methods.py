"""What can be done with a jitted function besides calling it, and what `dir` shows of it.

f.clear_cache()    f.records()    f.trace(x), f.lower(x): see `stages`    pickle, copy
"""

from __future__ import annotations

from typing import Any

from ..record import Record, recorder
from ..runtime._native import Function


def _by_name(native: Any) -> str:
    """Pickled, and copied, like any function: by the name under which its module holds it."""
    return native.__qualname__


def _clear_cache(native: Any) -> None:
    """Forget the traces and programs of this function."""
    state = native.state
    with state.lock:
        native.clear()
        state.known.clear()


def _records(native: Any) -> list[Record]:
    """What happened to this function and why, oldest first: traces, compilations, what runs as
    Python. `jitwise.records()` gives those of all functions; functions of one name share theirs.
    """
    return recorder.records(name=native.state.name)


_INTERNAL = (
    "add_entry",
    "clear",
    "describe",
    "disabled",
    "entries",
    "fallback",
    "matches",
    "miss",
    "misses",
    "opaque_types",
    "remove_entry",
    "state",
)


def _dir(native: Any) -> list[str]:
    """The names meant for users: those of any function, and the stages."""
    return sorted(set(object.__dir__(native)) - set(_INTERNAL))


def _trace(native: Any, *args: Any, **kwargs: Any) -> Any:
    """The function as a graph for these arguments. Raises StageError when it has to run as
    Python.
    """
    from .stages import trace_stage

    return trace_stage(native.state, args, kwargs)


def _lower(native: Any, *args: Any, **kwargs: Any) -> Any:
    """`trace(...).lower()`."""
    return _trace(native, *args, **kwargs).lower()


Function.trace = _trace
Function.lower = _lower
Function.__reduce__ = _by_name  # pyright: ignore
Function.clear_cache = _clear_cache
Function.records = _records  # pyright: ignore
Function.__dir__ = _dir  # pyright: ignore
