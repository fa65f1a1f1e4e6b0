"""Who is measured: jitwise, and whichever of NumPy, jax, numba and torch is there.

A peer turns a function written for a namespace `xp` into a compiled one, brings arrays to where it
wants them, and waits until a result is there. Float64 is enabled in jax; every peer may use the
same threads.
"""

from __future__ import annotations

import importlib
import importlib.util
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Peer:
    """One compiler: `load` gives the four things that running a case needs."""

    name: str
    needs: str
    load: Callable[[], Tools]

    def is_there(self) -> bool:
        """Whether its package can be imported."""
        return importlib.util.find_spec(self.needs) is not None


@dataclass(frozen=True, slots=True)
class Tools:
    """`xp`: array functions. `jit`: compile. `array`: from NumPy. `ready`: wait for a result."""

    xp: Any
    jit: Callable[[Callable], Callable]
    array: Callable[[Any], Any]
    ready: Callable[[Any], Any]
    version: str


def _same(value: Any) -> Any:
    return value


def _numpy() -> Tools:
    import numpy as np

    return Tools(np, _same, _same, _same, np.__version__)


def _jitwise() -> Tools:
    import numpy as np

    import jitwise

    return Tools(np, jitwise.jit, _same, _same, jitwise.__version__)


def _jax() -> Tools:
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy

    return Tools(jax.numpy, jax.jit, jax.numpy.asarray, jax.block_until_ready, jax.__version__)


def _numba(parallel: bool) -> Tools:
    import numba
    import numpy as np

    def jit(function: Callable) -> Callable:
        return numba.njit(function, parallel=parallel)

    return Tools(np, jit, _same, _same, numba.__version__)


def _torch() -> Tools:
    import numpy as np
    import torch

    def array(value: Any) -> Any:
        return torch.from_numpy(value) if isinstance(value, np.ndarray) else value

    names = ("sin", "cos", "tanh", "exp", "sqrt", "roll", "stack", "matmul", "concatenate")
    xp = types.SimpleNamespace(**{name: getattr(torch, name) for name in names}, max=torch.amax)
    return Tools(xp, torch.compile, array, _same, torch.__version__)


PEERS = {
    peer.name: peer
    for peer in (
        Peer("jitwise", "jitwise", _jitwise),
        Peer("numpy", "numpy", _numpy),
        Peer("jax", "jax", _jax),
        Peer("numba", "numba", lambda: _numba(False)),
        Peer("numba-parallel", "numba", lambda: _numba(True)),
        Peer("torch", "torch", _torch),
    )
}
