"""Loops over rows and small arrays, as users write them, are one native function: no step of the
program's machine is taken in a turn, and what is given is what NumPy gives.

Sums are NumPy's to the bit, products of rows nearly: BLAS adds in an order of its own.
"""

from __future__ import annotations

import numpy as np
import pytest

import jitwise
from jitwise.runtime.executable import compile_graph
from jitwise.trace.function import trace_call

pytestmark = pytest.mark.filterwarnings("error::jitwise.JitwiseWarning")


def sums_of_parts(a):
    total = 0.0
    for i in range(a.shape[0]):
        total += np.sum(a[i, :i]) - a[i:, i].sum() + a[i].mean()
    return total


def extremes_of_rows(a):
    out = np.zeros((a.shape[0], 4))
    for i in range(a.shape[0]):
        out[i, 0] = a[i].max()
        out[i, 1] = np.min(a[i, i:])
        out[i, 2] = np.argmax(a[i])
        out[i, 3] = a[:, i].argmin()
    return out


def rows_that_have(a):
    count = 0
    for i in range(a.shape[0]):
        if np.any(a[i] < 0.2) and not np.all(a[i] < 0.9):
            count += 1
    return count


def deviations(a):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        out[i] = a[i].std()
    return out


def cholesky(a):
    n = a.shape[0]
    s = a @ a.T + n * np.eye(n)
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            lower[i, j] = (s[i, j] - lower[i, :j] @ lower[j, :j]) / lower[j, j]
        lower[i, i] = np.sqrt(s[i, i] - np.dot(lower[i, :i], lower[i, :i]))
    return lower


def orthogonal(a):
    q = a + np.eye(a.shape[0])
    for j in range(q.shape[1]):
        for k in range(j):
            q[:, j] -= (q[:, k] @ q[:, j]) * q[:, k]
        q[:, j] /= np.sqrt(np.sum(q[:, j] ** 2))
    return q


def elimination(a):
    x = a + a.shape[0] * np.eye(a.shape[0])
    for k in range(x.shape[0]):
        for i in range(k + 1, x.shape[0]):
            x[i, :] -= x[i, k] / x[k, k] * x[k, :]
    return x


def rows_of_themselves(a):
    x = a + 1
    for i in range(x.shape[0]):
        x[i, 1:] = x[i, :-1]
        x[i] += x[:, i]
        x[i, ::2] *= 2
    return x


def exchanged_rows(a):
    x = a + 1
    for i in range(x.shape[0] // 2):
        row = x[i].copy()
        x[i] = x[x.shape[0] - 1 - i]
        x[x.shape[0] - 1 - i] = row
    return x


def sorted_rows(a):
    x = a + 1
    for i in range(x.shape[0]):
        for j in range(x.shape[1] - 1):
            for k in range(x.shape[1] - 1 - j):
                if x[i, k] > x[i, k + 1]:
                    x[i, k], x[i, k + 1] = x[i, k + 1], x[i, k]
    return x


def nearest(a):
    points, centres = a[:, :3], a[:4, :3] * 0.9
    labels = np.zeros(points.shape[0], np.int64)
    sums, counts = np.zeros(centres.shape), np.zeros(4)
    for i in range(points.shape[0]):
        distances = np.sum((centres - points[i]) ** 2, axis=1)
        label = np.argmin(distances)
        labels[i] = label
        sums[label] += points[i]
        counts[label] += 1
    return labels, sums, counts


def attraction(a):
    places, masses = a[:, :3], a[:, 3]
    forces = np.zeros((places.shape[0], 3))
    for i in range(places.shape[0]):
        for j in range(places.shape[0]):
            d = places[j] - places[i]
            r = np.sqrt(np.sum(d * d) + 1e-3)
            forces[i] += masses[j] * d / (r * r * r)
    return forces


def small_arrays(a):
    total = 0.0
    for i in range(a.shape[0]):
        v = np.zeros(3)
        v[0] = a[i, 0]
        v[1] = 2 * v[0]
        v[2:] = v[1] - v[:1]
        total += np.sum(v * v)
    return total


def small_arrays_that_are_carried(a):
    x, v = a[0, :3] * 1, np.array([1.0, 0.5, 2.0])
    for i in range(a.shape[0]):
        force = a[i, 1:4] - x
        v = v + 0.01 * force
        x = x + 0.01 * v
        v = np.array([v[1], v[2], v[0]])
    return x, v


def windows(a):
    x, w = a[0], a[1, :4]
    out = np.zeros((2, x.shape[0] - 3))
    for i in range(out.shape[1]):
        out[0, i] = np.sum(x[i : i + 4] * w)
        out[1, i] = np.max(x[i : i + 4])
    return out


def integers(a):
    x = (a * 100).astype(np.int64)
    out = np.zeros((x.shape[0], 3), np.int64)
    for i in range(x.shape[0]):
        out[i, 0] = np.sum(x[i]) + x[i] @ x[:, i]
        out[i, 1] = np.max(x[i] % 7)
        out[i, 2] = np.prod(x[i, :2])
    return out


EXACT = [
    sums_of_parts,
    extremes_of_rows,
    rows_that_have,
    deviations,
    elimination,
    rows_of_themselves,
    exchanged_rows,
    sorted_rows,
    nearest,
    attraction,
    small_arrays,
    small_arrays_that_are_carried,
    windows,
    integers,
]
NEARLY = [cholesky, orthogonal]


@pytest.mark.parametrize("function", EXACT + NEARLY, ids=lambda each: each.__name__)
def test_a_loop_over_rows_is_one_native_function(function):
    random = np.random.default_rng(0)
    traced = trace_call(function, (random.random((5, 5)),), {})
    instructions = compile_graph(traced.graph, folded=True).text.instructions
    words = [word for word, *_ in instructions]
    assert words.count("region") == 1 and "jump" not in words
    compiled = jitwise.jit(function, wait=True)
    for n in (4, 7, 40, 150):
        large = random.random((2 * n, 2 * n))
        layouts = [large[:n, :n].copy(), large[:n, :n].T.copy().T, large[::-2, ::2]]
        if function is not integers:  # nan has none
            layouts.append(np.where(random.random((n, n)) < 1 / n, np.nan, layouts[0]))
        for a in layouts:
            expected, found = function(a), compiled(a)
            if type(expected) is not tuple:
                expected, found = (expected,), (found,)
            for one, other in zip(found, expected, strict=True):
                assert type(one) is type(other)
                if function in NEARLY:
                    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
                else:
                    np.testing.assert_array_equal(one, other)
