"""Which arrays may be one: what branches give and loops carry is one array or another.

    if c: y = w                y is the array that it was before, or w
    y[0] = 1                   after this nobody may ask for w, nor for what y was before

    family(trace, y)           y, what it was before, and w
    link(y, others)            y may be one of these

A write to an array makes the rest of its family forget their values: whoever asks for one of them
afterwards ends the trace (`memory.write`). As a rule nobody does. In the body of a loop what stands
above the write comes after it too, in the next turn: see `looping`. Memory that is not the
program's own is not written to at all once that is in doubt.

A family is closed when it is noted: what may be `y` may be all that `y` may be. Members of it need
not be able to be each other: when a branch swaps `y` and `z`, each is one of two arrays, and they
are never the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .memory import View
from .tracer import Tracer

if TYPE_CHECKING:
    from .tracing import Trace


def base_of(item: Tracer) -> Tracer:
    """The array whose memory an array lies in, for all that is known."""
    return item._base if isinstance(item, View) else item


def family(trace: Trace, item: Any) -> dict[int, Tracer]:
    """The arrays that `item` may be or lie in, by id. None for what is no array of the trace."""
    if not issubclass(type(item), Tracer) or item._kind != "array":
        return {}
    base = base_of(item)
    return {id(base): base, **trace.aliases.get(id(base), {})}


def may_be_one(kin: dict[int, Tracer], item: Any) -> bool:
    """Whether an array may be one of a family."""
    return issubclass(type(item), Tracer) and id(base_of(item)) in kin


def is_shared(item: Any) -> bool:
    """Whether an array may be part of memory that the trace does not know."""
    if issubclass(type(item), Tracer):
        return item._shared or not item._fresh
    return True


def is_unknown(item: Any) -> bool:
    """Whether the memory that an array lies in is not known."""
    kind = type(item)
    return item._shared if issubclass(kind, Tracer) else issubclass(kind, np.ndarray)


def link(leaf: Any, others: Iterable[Tracer]) -> None:
    """Note that an array may be one of others, which are whole families. Where some memory is not
    the program's own, none of them is written to later.
    """
    others = [each for each in others if each is not leaf]
    known = leaf._trace.aliases
    own = known.setdefault(id(leaf), {})
    for other in others:
        own[id(other)] = other
        known.setdefault(id(other), {})[id(leaf)] = leaf
    if any(map(is_shared, others)):
        share((leaf, *others))


def share(arrays: Iterable[Tracer]) -> None:
    """Note that arrays may lie in memory of others: they are not written to later."""
    for each in arrays:
        each._shared = True


__all__ = ["base_of", "family", "is_shared", "is_unknown", "link", "may_be_one", "share"]
