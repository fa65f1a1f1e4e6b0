"""Sizes that are 1: they broadcast, and yet are lengths like others. One function meets every pair
of shapes in two orders, so that what was traced for one pair is asked to serve the next.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jitwise import jit

SHAPES = [(1, 1), (4, 3), (1, 3), (4, 1), (3, 1), (3, 3), (1, 4), (5, 5)]


def _assigned(a, b):
    y = a.copy()
    y[:] = b
    y[0] = 5
    return y


def _row(a, b):
    y = np.zeros((1, a.shape[1]))
    y[0] = a.sum(0)
    y += b.size
    return y


def _added_in_place(a, b):
    a += b
    return a


def _added_into(a, b):
    np.add(a, b, out=a)
    return a


# Each program, and whether its shapes decide anything: if not, one trace serves all of them.
PROGRAMS = {
    "sum": (lambda a, b: a + b, True),
    "number": (lambda a, b: a * 2 - 1, False),
    "total and row": (lambda a, b: (a * 2).sum(0) + b, True),
    "squeeze": (lambda a, b: np.squeeze(a) + 1, True),
    "ravel": (lambda a, b: a.reshape(-1) * 2, True),
    "centred": (lambda a, b: a - a.mean(axis=1, keepdims=True), False),
    "concatenate": (lambda a, b: np.concatenate([a, b]), True),
    "product": (lambda a, b: a @ b.T, True),
    "product with itself": (lambda a, b: a @ a.T, False),
    "einsum": (lambda a, b: np.einsum("ij,ij->i", a, b), True),
    "broadcast_to": (lambda a, b: np.broadcast_to(a, b.shape) * 1, True),
    "where": (lambda a, b: np.where(a > b, a, 0), True),
    "outer": (lambda a, b: np.outer(a, b), False),
    "roll": (lambda a, b: np.roll(a, 1, 0) + b, True),
    "cumsum": (lambda a, b: a.cumsum(0), False),
    "edges": (lambda a, b: np.pad(a, 1, mode="edge"), False),
    "wrapped": (lambda a, b: np.pad(a, 1, mode="wrap"), True),
    "covariance": (lambda a, b: np.cov(a, bias=True), True),
    "stack": (lambda a, b: np.stack([a, b]), True),
    "argmax": (lambda a, b: np.argmax(a, axis=1), False),
    "std": (lambda a, b: a.std(axis=0), False),
    "dot": (lambda a, b: np.dot(a.T, b), True),
    "kron": (lambda a, b: np.kron(a, b), False),
    "diff": (lambda a, b: np.diff(a, axis=0), False),
    "tile": (lambda a, b: np.tile(a, (2, 1)) + 0, True),
    "column": (lambda a, b: a[:, 0] * 1, False),
    "transposed": (lambda a, b: a.T.reshape(a.shape) + b, True),
    "assigned": (_assigned, True),
    "row": (_row, False),
    "added in place": (_added_in_place, True),
    "added into": (_added_into, True),
}


def outcome(function, shapes):
    """The result and the arguments afterwards, or the type of the exception."""
    arrays = [1.0 + np.arange(np.prod(shape)).reshape(shape) ** 1.5 for shape in shapes]
    try:
        return [function(*arrays), *arrays]
    except Exception as error:
        return type(error)


@pytest.mark.filterwarnings("ignore:.*because NumPy raises")
@pytest.mark.parametrize("order", [1, -1], ids=["", "reversed"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_pair_of_shapes_gives_what_numpy_gives_whatever_was_traced_before(name, order):
    program, decides = PROGRAMS[name]
    compiled = jit(program)
    pairs = list(itertools.product(SHAPES, SHAPES))[::order]
    refused = [shapes for shapes in pairs if isinstance(outcome(program, shapes), type)]
    for shapes in pairs:
        if shapes in refused:
            continue
        expected, found = outcome(program, shapes), outcome(compiled, shapes)
        for ours, theirs in zip(found, expected, strict=True):
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    assert not compiled.state.said  # no call ran as Python
    assert decides or compiled.state.traces == 1
    for shapes in refused:
        assert outcome(compiled, shapes) is outcome(program, shapes)
