"""Products of arrays: value, dtype, shape and kind of NumPy, and one trace for all sizes."""

from __future__ import annotations

import numpy as np
import pytest
from traced import Program, agrees, reason

random = np.random.default_rng(3)
DTYPES = ["bool", "i4", "i8", "u1", "f4", "f8", "c16"]


def sample(*shape, dtype="f8"):
    values = random.normal(size=shape) * 3
    if np.dtype(dtype).kind == "b":
        values = values > 0
    if np.dtype(dtype).kind == "c":
        values = values + 1j * random.normal(size=shape)
    return np.abs(values).astype(dtype) if np.dtype(dtype).kind == "u" else values.astype(dtype)


MATRICES = [(4, 6), (3, 6), (8, 10)]
FUNCTIONS = [
    lambda x: x @ x.T,
    lambda x: x.T @ x,
    lambda x: x @ x[0],
    lambda x: x[:, 0] @ x,
    lambda x: x[0] @ x[0],
    lambda x: np.matmul(np.stack([x, x]), x.T),
    lambda x: np.matmul(x, np.stack([x.T, x.T])),
    lambda x: np.stack([x, x]) @ np.stack([x.T, x.T + x.T]),
    lambda x: np.stack([x, x])[:, None] @ np.stack([x.T, x.T, x.T]),
    lambda x: np.stack([x, x]) @ x[0],
    lambda x: np.dot(x, x.T),
    lambda x: x.dot(x[0]),
    lambda x: np.dot(x, np.stack([x.T, x.T])),
    lambda x: np.dot(2, x),
    lambda x: np.dot(x, x[0, 0]),
    lambda x: np.inner(x, x),
    lambda x: np.inner(x[0], x[0]),
    lambda x: np.outer(x[0], x),
    lambda x: np.vdot(x, x),
    lambda x: np.tensordot(x, x, axes=([0], [0])),
    lambda x: np.tensordot(x, x, axes=([0, 1], [0, 1])),
    lambda x: np.tensordot(x, x),
    lambda x: np.tensordot(x, x, axes=0),
    lambda x: np.tensordot(np.stack([x, x]), x, axes=(2, 1)),
    lambda x: np.kron(x, x[:, :2]),
    lambda x: np.kron(x[0], x),
    lambda x: np.linalg.outer(x[0], x[1]),
    lambda x: np.linalg.matmul(x, x.T),
    lambda x: np.linalg.multi_dot([x, x.T, x]),
    lambda x: np.trace(x),
    lambda x: np.trace(x, 1),
]
EINSUMS = [
    ("ij,kj->ik", "x", "x"),
    ("ij,ij->i", "x", "x"),
    ("ij,ij->", "x", "x"),
    ("ij,ij", "x", "x"),
    ("ij->ji", "x"),
    ("ji", "x"),
    ("ij->", "x"),
    ("ij->j", "x"),
    ("i,j->ij", "v", "w"),
    ("ij,j", "x", "w"),
    ("ij,j->ij", "x", "w"),
    ("i,ij->j", "v", "x"),
    ("ij,jk,kl->il", "x", "t", "x"),
    ("ij,kj,lj->ikl", "x", "x", "x"),
    ("i,ij,j->", "v", "x", "w"),
    ("bij,bkj->bik", "s", "s"),
    ("bij,bkj->kib", "s", "s"),
    ("bij,kj->bik", "s", "x"),
    ("bij->bj", "s"),
    ("...j,...j", "s", "s"),
    ("...ij,...jk->...ik", "s", "t"),
    ("i...->...", "s"),
    ("b...,b...->...", "s", "s"),
    (",ij->ij", "x00", "x"),
    ("ij,ij->ij", "x", "x"),
    ("bii->bi", "q"),
    ("bii", "q"),
    ("bij,bjk,bkl->il", "q", "q", "q"),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_one_trace_of_a_product_serves_every_size(function):
    calls = [[sample(*shape)] for shape in MATRICES]
    assert agrees(function, *calls, tolerance=1e-13) == (2 if "trace" in repr(function) else 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_products_of_every_dtype_are_numpys(function, dtype):
    x = sample(4, 6, dtype=dtype)
    agrees(function, [x], tolerance=1e-5 if dtype == "f4" else 1e-13)


@pytest.mark.parametrize("function", FUNCTIONS[:22])
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (2, 0)], ids=str)
def test_products_of_empty_and_unit_matrices_are_numpys(function, shape):
    x = sample(*shape)
    try:
        function(x)
    except IndexError:
        assert reason(function, x) == "error"
    else:
        agrees(function, [x], tolerance=1e-13)


@pytest.mark.parametrize("subscripts", EINSUMS, ids=lambda each: each[0])
def test_einsum_is_numpys(subscripts):
    text, *names = subscripts

    def function(x):
        parts = {
            "x": x, "t": x.T, "v": x[:, 0], "w": x[0], "x00": x[0, 0],
            "s": np.stack([x, x + 1, x * 2]), "q": np.stack([x @ x.T, x @ x.T]),
        }  # fmt: skip
        return np.einsum(text, *[parts[name] for name in names])

    calls = [[sample(*shape)] for shape in MATRICES]
    assert agrees(function, *calls, tolerance=1e-12) == 1
    for dtype in ("i8", "f4", "c16"):
        agrees(function, [sample(4, 6, dtype=dtype)], tolerance=1e-4)


def test_einsum_broadcasts_axes_of_one():
    agrees(lambda x, y: np.einsum("ij,ij->ij", x, y), [sample(3, 1), sample(3, 4)], tolerance=1e-13)
    agrees(lambda x, y: np.einsum("ij,ij->i", x, y), [sample(3, 1), sample(3, 4)], tolerance=1e-13)
    agrees(lambda x, y: np.einsum("ij,jk->ik", x, y), [sample(3, 1), sample(4, 5)], tolerance=1e-13)


def test_mixed_dtypes_are_promoted_before_the_product():
    x, y = sample(3, 4, dtype="f4"), sample(4, 2, dtype="i8")
    agrees(lambda x, y: x @ y, [x, y], tolerance=1e-13)
    agrees(lambda x, y: np.dot(x, y), [x, y], tolerance=1e-13)
    agrees(lambda x, y: np.einsum("ij,jk", x, y), [x, y], tolerance=1e-13)
    agrees(lambda x, y: np.tensordot(x, y, 1), [x, y], tolerance=1e-13)


def test_cross_products_give_the_same_bits():
    x, y = sample(5, 3), sample(5, 3)
    agrees(lambda x, y: np.cross(x, y), [x, y], [sample(7, 3), sample(7, 3)])
    agrees(lambda x, y: np.cross(x, y[0]), [x, y])
    agrees(lambda x, y: np.cross(x[0], y[0]), [x, y])
    agrees(lambda x, y: np.cross(x.T, y.T, axis=0), [x, y])


def test_sizes_that_must_agree_become_one_guard():
    program = Program(lambda x, y: x @ y, [sample(3, 4), sample(4, 5)])
    assert program.holds([sample(2, 9), sample(9, 2)])
    assert not program.holds([sample(2, 9), sample(8, 2)])


def test_what_numpy_cannot_multiply_is_left_to_numpy_which_raises():
    x = sample(3, 4)
    assert reason(lambda x: x @ x, x) == "error"
    assert reason(lambda x: x @ 2, x) == "error"
    assert reason(lambda x: np.tensordot(x, x, 1), x) == "error"
    assert reason(lambda x: np.einsum("ij,ij->k", x, x), x) == "error"
    assert reason(lambda x: np.einsum("ijk->i", x), x) == "error"


def test_what_is_not_supported_runs_as_python():
    x = sample(3, 4)
    assert reason(lambda x: np.einsum(x, [0, 1], [1, 0]), x) == "argument"
    assert reason(lambda x: np.einsum("ij,jk", x, x.T, dtype="f4"), x) == "argument"
