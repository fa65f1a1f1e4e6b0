"""Programs that are about first calls, each run in a new process by `measure`.

Each gives seconds by what they are the seconds of. Imports are not counted, but for
`import_time`.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

from .cases import make_g, numbers
from .peers import PEERS, Tools


def timed(tools: Tools, call: Callable[[], Any]) -> float:
    """Seconds until the result of `call` is there."""
    start = time.perf_counter()
    tools.ready(call())
    return time.perf_counter() - start


def first_and_later(tools: Tools, function: Callable, *arguments: Any) -> dict[str, float]:
    """The first call of `function` compiled, and the best of a few later ones."""
    arguments = tuple(map(tools.array, arguments))
    compiled = tools.jit(function)
    first = timed(tools, lambda: compiled(*arguments))
    later, start = [], time.perf_counter()
    while len(later) < 3 or (time.perf_counter() - start < 0.5 and len(later) < 1000):
        later.append(timed(tools, lambda: compiled(*arguments)))
    return {"first call": first, "later call": min(later)}


def import_time(peer: str) -> dict[str, float]:
    """The peer's import, NumPy being there already."""
    import numpy as np

    assert np
    start = time.perf_counter()
    module = importlib.import_module(PEERS[peer].needs)
    module.__dict__.get("jit")
    if peer == "jitwise":
        assert module.jit  # loaded when first used
    return {"import": time.perf_counter() - start}


def first_g(peer: str) -> dict[str, float]:
    """The article's function on 1e5 numbers, nothing compiled yet."""
    tools = PEERS[peer].load()
    return first_and_later(tools, make_g(tools.xp), numbers(100_000, "f8"))


def layers(peer: str) -> dict[str, float]:
    """400 layers of product, tanh, mean, subtract, concatenate on small arrays."""
    tools = PEERS[peer].load()
    xp = tools.xp

    def deep(x, weights):
        for _ in range(400):
            y = xp.tanh(x @ weights)
            y = y - y.mean(axis=1, keepdims=True)
            x = xp.concatenate([y[:, 4:], x[:, :4]], 1)
        return x

    return first_and_later(tools, deep, numbers((8, 16), "f8"), numbers((16, 16), "f8"))


def roll(peer: str) -> dict[str, float]:
    """200 steps of sin and roll on 1000 numbers."""
    tools = PEERS[peer].load()
    xp = tools.xp

    def rolled(x):
        for _ in range(200):
            x = xp.sin(x) + xp.roll(x, 1)
        return x

    return first_and_later(tools, rolled, numbers(1_000, "f8"))


def stack(peer: str) -> dict[str, float]:
    """An array of 1600 expressions of scalars."""
    tools = PEERS[peer].load()
    xp = tools.xp

    def stacked(a, b):
        return xp.stack([a * float(index) + xp.sin(b * float(index)) for index in range(1600)])

    one, two = numbers((), "f8"), numbers((), "f8", seed=1)
    return first_and_later(tools, stacked, one, two)


def updates(peer: str) -> dict[str, float]:
    """1024 elements of an array updated one by one."""
    tools = PEERS[peer].load()

    def updated(x):
        for index in range(1024):
            x = x.at[index].add(float(index))
        return x

    def updated_in_place(x):
        x = x.copy()
        for index in range(1024):
            x[index] += float(index)
        return x

    return first_and_later(
        tools, updated if peer == "jax" else updated_in_place, numbers(1_024, "f8")
    )


def lengths(peer: str) -> dict[str, float]:
    """One function called on 300 lengths: all first calls, and then all again."""
    tools = PEERS[peer].load()
    xp = tools.xp

    def mean(x):
        return (xp.sin(x) * 2 + x).sum() / x.shape[0]

    compiled = tools.jit(mean)
    arrays = [tools.array(numbers(length, "f8")) for length in range(1, 301)]

    def everything() -> None:
        for array in arrays:
            tools.ready(compiled(array))

    return {"first calls": timed(tools, everything), "later calls": timed(tools, everything)}
