"""`python -m bench.lax_loops`: loops of `lax`, compiled by jitwise and, where it is there, by jax.

    decay       while_loop of 1e5 steps with a few numbers
    waits       the same, where each step waits for the division of the one before
    counting    fori_loop of 1e5 steps
    layers      scan of 1000 steps tanh(c @ x) with 32 x 32 numbers
    rows        map of sin over 1000 rows of 32 numbers

Both compute in the same dtype. They take turns; the best turn of each counts. A ratio below 1 says
that jitwise is faster. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

TURN = 0.003  # seconds a turn lasts at least
STEPS = 100_000


class Peer(NamedTuple):
    """`ready` waits for a result."""

    name: str
    jit: Callable[..., Any]
    lax: Any
    xp: Any
    ready: Callable[[Any], Any]


def peers() -> list[Peer]:
    """jitwise, and jax where it is installed."""
    import jitwise
    import jitwise.lax

    found = [Peer("jitwise", jitwise.jit, jitwise.lax, np, lambda result: result)]
    try:
        import jax
    except ImportError:
        return found
    jax.config.update("jax_enable_x64", True)
    found.append(Peer("jax", jax.jit, jax.lax, jax.numpy, jax.block_until_ready))
    return found


def decay(peer: Peer) -> Callable[..., Any]:
    def program(x, n):
        def body(state):
            i, a, b = state
            return i + 1, a * 0.999 + b, b * 0.5 - a * 0.001

        return peer.lax.while_loop(lambda state: state[0] < n, body, (0, x, x * 0.5))

    return program


def waits(peer: Peer) -> Callable[..., Any]:
    def program(x, n):
        def body(state):
            i, a = state
            return i + 1, (a + 2.0 / a) * 0.5 + 0.001

        return peer.lax.while_loop(lambda state: state[0] < n, body, (0, x))

    return program


def counting(peer: Peer) -> Callable[..., Any]:
    def program(x, n):
        return peer.lax.fori_loop(0, n, lambda i, a: a * 0.999 + i, x)

    return program


def layers(peer: Peer) -> Callable[..., Any]:
    def program(c, xs):
        def step(c, x):
            c = peer.xp.tanh(c @ x)
            return c, c[0, 0]

        return peer.lax.scan(step, c, xs)

    return program


def rows(peer: Peer) -> Callable[..., Any]:
    def program(x):
        return peer.lax.map(peer.xp.sin, x)

    return program


def programs() -> Iterator[tuple[str, Callable[[Peer], Callable[..., Any]], tuple]]:
    """Each program with its arguments."""
    random = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        name = np.dtype(dtype).name
        c = random.normal(size=(32, 32)).astype(dtype)
        xs = (random.normal(size=(1000, 32, 32)) / 6).astype(dtype)
        yield f"layers {name}", layers, (c, xs)
        yield f"rows {name}", rows, (xs[:, 0].copy(),)
    for make in (decay, waits, counting):
        yield make.__name__, make, (np.float64(1.0), STEPS)


def _turn(peer: Peer, function: Callable[..., Any], args: Sequence[Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        peer.ready(function(*args))
    return (time.perf_counter() - start) / calls


def measure(make: Callable[[Peer], Callable[..., Any]], args: tuple, rounds: int) -> list[float]:
    """Seconds of each peer: of the first call, then of a later one."""
    known = peers()
    functions = [peer.jit(make(peer)) for peer in known]
    pairs = list(zip(known, functions, strict=True))
    first = [_turn(peer, function, args, 1) for peer, function in pairs]
    calls = [max(1, int(TURN / _turn(peer, function, args, 1))) for peer, function in pairs]
    best = [float("inf")] * len(known)
    for _ in range(rounds):
        for place, (peer, function) in enumerate(pairs):
            best[place] = min(best[place], _turn(peer, function, args, calls[place]))
    return [*first, *best]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.lax_loops", description=__doc__)
    parser.add_argument("names", nargs="*", help="programs, by how they begin; all when none is")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    names = [peer.name for peer in peers()]
    print(f"{'program':16} " + " ".join(f"{name:>12}" for name in names) + "    ratio   us a call")
    for name, make, args in programs():
        if given.names and not name.startswith(tuple(given.names)):
            continue
        times = measure(make, args, given.rounds)[len(names) :]
        ratio = times[0] / times[1] if len(times) > 1 else float("nan")
        shown = " ".join(f"{each * 1e6:12.1f}" for each in times)
        print(f"{name:16} {shown} {ratio:8.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
