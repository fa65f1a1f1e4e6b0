"""Programs of plain Python loops, as one would write them for numba: the same source for each
compiler. `PROGRAMS` has for each what it is called with at some sizes.
"""

# ruff: noqa: N803, N806 - matrices have capitals
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


def lu(A):
    A = A.copy()
    n = A.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] = A[i, j] - A[i, k] * A[k, j]
    return A


def cholesky(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s = s - L[i, k] * L[j, k]
            if i == j:
                L[i, i] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return L


def floyd(D):
    D = D.copy()
    n = D.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d = D[i, k] + D[k, j]
                if d < D[i, j]:
                    D[i, j] = d
    return D


def warping(a, b):
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = abs(a[i - 1] - b[j - 1])
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


def mandelbrot(cr, ci, most):
    zr = zi = 0.0
    k = 0
    while k < most and zr * zr + zi * zi < 4.0:
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
        k += 1
    return k


def collatz(n):
    k = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        k += 1
    return k


def gauss_seidel(u, f, h):
    n = u.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            u[i, j] = 0.25 * (
                u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - h * h * f[i, j]
            )
    return u


def lfsr(s, n):
    for _ in range(n):
        bit = (s ^ (s >> 2) ^ (s >> 3) ^ (s >> 5)) & 1
        s = (s >> 1) | (bit << 15)
    return s


class Program(NamedTuple):
    """`make(size)` gives the arguments."""

    function: Callable[..., Any]
    sizes: tuple[int, ...]
    make: Callable[[int], tuple[Any, ...]]


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).random(shape)


def _dominant(n: int) -> np.ndarray:
    return _numbers(n, n) + n * np.eye(n)


def _positive(n: int) -> np.ndarray:
    return _dominant(n) @ _dominant(n).T


PROGRAMS = (
    Program(lu, (10, 100, 300), lambda n: (_dominant(n),)),
    Program(cholesky, (10, 100, 300), lambda n: (_positive(n),)),
    Program(floyd, (10, 100, 200), lambda n: (_numbers(n, n),)),
    Program(warping, (10, 100, 500), lambda n: (_numbers(n), _numbers(n)[::-1].copy())),
    Program(mandelbrot, (100, 10_000, 100_000), lambda n: (-0.1, 0.2, n)),
    Program(collatz, (27, 837_799, 63_728_127), lambda n: (n,)),
    Program(gauss_seidel, (10, 100, 500), lambda n: (_numbers(n, n), _numbers(n, n), 0.1)),
    Program(lfsr, (100, 10_000, 100_000), lambda n: (44257, n)),
)
