"""What a trace requires of the objects that it was given, when its code may have asked whether two
of them are the same.

    x is y      two arrays as arguments: a guard that they are not one array
                one array in both: this call runs as Python

An array has one stand-in for each way in which it comes, and so has an object of an argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .captures import Path

if TYPE_CHECKING:
    from .scope import Follower

MOST_APART = 12  # arrays of a function that asks which of them are the same


def guard_identities(follower: Follower) -> None:
    """At the end of a trace: what was not the same is not, and the parts of arguments are the very
    objects that they were, if the code may have asked.
    """
    in_items = any(path.how == "item" for path, _, _ in follower.parts)
    if "is" not in follower.identity and not (in_items and "items" in follower.identity):
        return
    follower.trace.draws.refuse_several()
    if "is" in follower.identity:
        _guard_arrays(follower)
    ways: dict[int, int] = {}
    for number, _ in follower.seen:
        ways[number] = ways.get(number, 0) + 1
    for path, value, name in follower.parts:
        if ways[id(value)] > 1:  # its stand-ins are not the same, though it is
            text = f"{name}, reached in two ways and compared by identity"
            follower.trace.refuse("source", text)
        follower.trace.captures.identity(path, value, name)


def _guard_arrays(follower: Follower) -> None:
    trace = follower.trace
    captures, found = trace.captures, []
    for (how, number), array in zip(trace.origins, trace.given, strict=True):
        if isinstance(array, (np.ndarray, np.generic)):
            leaf = number if how == "leaf" else None
            found.append(
                (
                    Path("leaf", None, number) if how == "leaf" else captures.paths[number],
                    leaf,
                    array,
                )
            )
    if len(found) > MOST_APART:
        trace.refuse("source", f"{len(found)} arrays, compared by identity,")
    for place, (path, leaf, array) in enumerate(found):
        for other, key, earlier in found[:place]:
            if array is earlier:
                trace.refuse("path", "one array comes in two ways and is compared by `is`")
            if leaf is not None:
                captures.apart(other, leaf)
            elif key is not None:
                captures.apart(path, key)
            else:
                captures.identity(path, array)
