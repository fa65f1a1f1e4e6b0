"""Warnings that are not the user's: kept back, or made exceptions, in this thread.

    with unheard(): sample()           what the function warns of is said by nobody

An entry at the front of `warnings.filters` does it, which is asked for the text first.
`warnings.catch_warnings` would make all modules forget what they have warned of.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any


@contextmanager
def unheard(action: str = "ignore") -> Iterator[None]:
    """Keep warnings back; or, with "error", raise them."""
    own = threading.get_ident()
    here = SimpleNamespace(match=lambda text: threading.get_ident() == own)
    with in_front((action, here, Warning, None, 0)):
        yield


@contextmanager
def in_front(row: Any) -> Iterator[None]:
    """An entry before all other filters."""
    filters: Any = warnings.filters
    filters.insert(0, row)
    try:
        yield
    finally:
        taken_out(filters, row)


def taken_out(filters: Any, row: Any) -> None:
    """Remove an entry, which may have gone with others."""
    if row in filters:
        filters.remove(row)


__all__ = ["in_front", "taken_out", "unheard"]
