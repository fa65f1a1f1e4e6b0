"""`disable_jit`: run jitted functions as Python for a while; `named_scope`: a name for a part of a
program.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..runtime import _native

_depth = 0


@contextmanager
def disable_jit(disable: bool = True) -> Iterator[None]:
    """Within it every jitted function runs as the Python function it is (all threads), for
    debugging with `print` and `pdb`.
    """
    global _depth
    if not disable:
        yield
        return
    _depth += 1
    _native.set_disabled(True)
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _native.set_disabled(False)


@contextmanager
def named_scope(name: str) -> Iterator[None]:
    """Name a part of a program. The name has no effect on the result."""
    if not isinstance(name, str):
        raise TypeError(f"named_scope expects a str, got {name!r}")
    yield
