"""What is measured, one row a case; the budgets they belong to are in the table of the design.

A `Case` is measured with all peers in one process, taking turns. A `Fresh` case is measured in a
new process for each run, because it is about first calls: `bench/fresh.py` has its programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

ALL = ("jitwise", "numpy", "jax", "numba", "numba-parallel", "torch")
ARRAYS = ("jitwise", "numpy", "jax", "torch")  # numba refuses keepdims, batches, lists of arrays


@dataclass(frozen=True, slots=True)
class Case:
    """`make(xp)` gives the function, `arguments()` what it is called with.

    `pause` seconds pass before each turn, for the threads of other peers' libraries to stop
    spinning. `elements` (per call) turns a time into ns an element, `size` (bytes moved) into GB/s.
    `variants` are functions for a peer that needs its own.
    """

    name: str
    make: Callable[[Any], Callable]
    arguments: Callable[[], tuple]
    peers: tuple[str, ...] = ALL
    elements: int | None = None
    size: int | None = None
    pause: float = 0.0
    variants: dict[str, Callable[[Any], Callable]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fresh:
    """`program` is a function of `bench.fresh`; it gives seconds by what they are the seconds
    of.
    """

    name: str
    program: str
    peers: tuple[str, ...] = ALL
    rounds: int = 3
    limit: float = 200.0


def numbers(
    count: int | tuple[int, ...], dtype: str, top: float = 1.0, seed: int = 0
) -> np.ndarray:
    """Numbers between 0 and `top`."""
    return (np.random.default_rng(seed).random(count) * top).astype(dtype)


# The article's function


def make_g(xp: Any) -> Callable:
    def g(x):
        y = x * 2 + xp.sin(x)
        for _ in range(5):
            y = y * 2 + xp.sin(y)
        return y / 3 + xp.cos(y)

    return g


def g_cases() -> list[Case]:
    return [
        Case(
            f"g/{dtype}/{count:.0e}/0-{top}".replace("e+0", "e"),
            make_g,
            lambda count=count, dtype=dtype, top=top: (numbers(count, dtype, top),),
            elements=count,
        )
        for dtype in ("f4", "f8")
        for count in (1_000, 100_000, 1_000_000)
        for top in (1, 100)
    ]


# Dispatch


def make_sum(xp: Any, count: int) -> Callable:
    return {
        1: lambda: lambda a: a + 1.0,
        2: lambda: lambda a, b: a + b,
        3: lambda: lambda a, b, c: a + b + c,
        4: lambda: lambda a, b, c, d: a + b + c + d,
    }[count]()


def make_tree(xp: Any) -> Callable:
    def total(leaves):
        return leaves["a0"] + leaves["a49"]

    return total


def dispatch_cases() -> list[Case]:
    small = [
        Case(
            f"dispatch/{count}",
            lambda xp, count=count: make_sum(xp, count),
            lambda count=count: tuple(numbers(8, "f8", seed=seed) for seed in range(count)),
            ("jitwise", "numpy", "jax", "numba", "torch"),
        )
        for count in (1, 2, 3, 4)
    ]
    leaves = Case(
        "dispatch/dict-of-50",
        make_tree,
        lambda: ({f"a{index}": numbers(8, "f8", seed=index) for index in range(50)},),
        ("jitwise", "numpy", "jax"),
    )
    return [*small, leaves]


# Reductions


def make_row_sum(xp: Any) -> Callable:
    return lambda x: x.sum(axis=1)


def make_column_sum(xp: Any) -> Callable:
    return lambda x: x.sum(axis=0)


def make_softmax(xp: Any) -> Callable:
    def softmax(x):
        powers = xp.exp(x - xp.max(x, axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    return softmax


def make_layer_norm(xp: Any) -> Callable:
    def layer_norm(x):
        centred = x - x.mean(axis=1, keepdims=True)
        variance = (centred * centred).mean(axis=1, keepdims=True)
        return centred / xp.sqrt(variance + 1e-5)

    return layer_norm


def numba_softmax(xp: Any) -> Callable:
    import numba

    def softmax(x):
        result = xp.empty_like(x)
        for row in numba.prange(x.shape[0]):
            top = x[row].max()
            total = x.dtype.type(0)
            for column in range(x.shape[1]):
                result[row, column] = xp.exp(x[row, column] - top)
                total += result[row, column]
            for column in range(x.shape[1]):
                result[row, column] /= total
        return result

    return softmax


def numba_layer_norm(xp: Any) -> Callable:
    import numba

    def layer_norm(x):
        result = xp.empty_like(x)
        for row in numba.prange(x.shape[0]):
            mean = x[row].mean()
            variance = x.dtype.type(0)
            for column in range(x.shape[1]):
                result[row, column] = x[row, column] - mean
                variance += result[row, column] ** 2
            scale = 1 / xp.sqrt(variance / x.shape[1] + 1e-5)
            for column in range(x.shape[1]):
                result[row, column] *= scale
        return result

    return layer_norm


def reduction_cases() -> list[Case]:
    rows = [
        ("row-sum", make_row_sum, None),
        ("column-sum", make_column_sum, None),
        ("softmax", make_softmax, numba_softmax),
        ("layer-norm", make_layer_norm, numba_layer_norm),
    ]
    return [
        Case(
            f"{name}/{dtype}/1024x1024",
            make,
            lambda dtype=dtype: (numbers((1024, 1024), dtype),),
            elements=1024 * 1024,
            variants={"numba": numba, "numba-parallel": numba} if numba else {},
        )
        for dtype in ("f4", "f8")
        for name, make, numba in rows
    ]


# Memory and products


def make_chain(xp: Any) -> Callable:
    return lambda x: (x * 2 + 1) * 3 - 4


def make_copy(xp: Any) -> Callable:
    target = np.zeros(2**25)

    def copy(x):
        np.copyto(target, x)
        return target

    return copy


def memory_cases() -> list[Case]:
    def arguments() -> tuple:
        return (np.ones(2**25),)

    size = 2 * 2**25 * 8
    return [
        Case("memory/chain-256MB", make_chain, arguments, size=size),
        Case("memory/copyto-256MB", make_copy, arguments, ("numpy",), size=size),
    ]


def make_product(xp: Any) -> Callable:
    return lambda a, b: a @ b


def product_cases() -> list[Case]:
    return [
        Case(
            f"matmul/{dtype}/{size}",
            make_product,
            lambda size=size, dtype=dtype: (
                numbers((size, size), dtype),
                numbers((size, size), dtype, seed=1),
            ),
            ("jitwise", "numpy", "jax", "torch"),
            pause=0.15,
        )
        for dtype in ("f4", "f8")
        for size in (64, 128, 256, 512, 1024)
    ]


FRESH = [
    Fresh("import", "import_time", ("jitwise", "numpy", "jax", "numba", "torch"), rounds=5),
    Fresh("first-g", "first_g", rounds=5),
    Fresh("layers-400", "layers", ARRAYS),
    Fresh("roll-200", "roll", ("jitwise", "numpy", "jax"), rounds=1),
    Fresh("stack-1600", "stack", ("jitwise", "numpy", "jax"), rounds=1),
    Fresh("updates-1024", "updates", ("jitwise", "numpy", "jax"), rounds=1),
    Fresh("lengths-300", "lengths", ("jitwise", "numpy", "jax", "numba"), rounds=1),
]


def all_cases() -> dict[str, Case | Fresh]:
    """Every case by name, in the order of the table."""
    cases: list[Case | Fresh] = [
        *g_cases(),
        *dispatch_cases(),
        *reduction_cases(),
        *memory_cases(),
        *product_cases(),
        *FRESH,
    ]
    return {case.name: case for case in cases}
