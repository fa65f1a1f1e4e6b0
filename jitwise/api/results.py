"""Results of calls that run as Python in between others that a program serves: when NumPy has to
warn, or when arguments that are written to overlap. They are as the program would have given them.

    return x[1:], 1 / x        a view of x, and infinity       copies of both, with NumPy's warning

Arrays are copies that lie in the order of NumPy's; but arguments, and arrays from outside, that the
program writes to are themselves, and so are the caller's lists, dicts, tuples and dataclass
instances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..trace.captures import fetch
from ..trace.containers import containers_in, fresh, leaves_of
from ..trace.function import Traced
from .call import Call


def as_compiled(function: Callable[..., Any], call: Call, traces: Sequence[Traced]) -> Any:
    """Make the call as Python. `traces` are of programs that may be meant for it."""
    kept = _kept(call, traces)
    result = function(*call.args, **call.kwargs)
    return fresh(result, {id(each) for each in kept}, _copy)


def _copy(item: Any) -> Any:
    return np.array(item, order="K") if type(item) is np.ndarray else item


def _kept(call: Call, traces: Sequence[Traced]) -> list[Any]:
    """The objects that are returned as they are."""
    kept = list(containers_in([*call.args, *call.kwargs.values()]))
    leaves = leaves_of(call.bound_args, call.bound_kwargs)
    arrays = [leaf for leaf in leaves if type(leaf) is np.ndarray]
    for traced in traces:
        try:
            written = [traced.given(place, leaves) for place in traced.written]
        except Exception:  # what was captured is no longer there: the trace does not serve
            continue
        kept += written
        kept += [array for array in arrays if any(np.may_share_memory(array, w) for w in written)]
        kept += _named(traced.outputs, leaves)
    return kept


def _named(recipe: Any, leaves: list[Any]) -> list[Any]:
    """The objects from outside that a recipe of results names."""
    kind, item = recipe[0], recipe[1]
    if kind == "const":
        return [item]
    if kind == "reached":
        return [fetch(item, leaves)]
    if kind == "dict":
        item = [each for _, each in item]
    if kind == "call":
        item = recipe[2]
    if kind not in ("tuple", "list", "dict", "call"):
        return []
    return [each for part in item for each in _named(part, leaves)]
