"""`jitwise.debug`: looking into a running program, as `jax.debug` does.

debug.print("step {}: {:.3f}", i, loss)      a line, each time that the program comes here
debug.callback(log, i, loss)                 the same for any function
"""

from __future__ import annotations

from .api.callbacks import callback, print  # noqa: A004

__all__ = ["callback", "print"]
