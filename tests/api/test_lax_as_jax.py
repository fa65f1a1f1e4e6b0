"""`jitwise.lax` takes and refuses what `jax.lax` does: nothing is promoted, broadcast or clamped
unasked, outside of jitted functions and inside.
"""

from __future__ import annotations

import numpy as np
import pytest
from oracle import same

from jitwise import jit, lax

F8, F4, I8 = np.linspace(0.5, 2, 5), np.ones(5, np.float32), np.arange(5)
ONE, SCALAR, MASK, F25 = np.ones(1), np.float64(2), np.array([1, 0, 1, 0, 1], bool), np.ones((2, 5))

REFUSED = [
    # ranks, sizes
    (TypeError, "one rank", lambda a: lax.add(a, F25)),
    (TypeError, "do not fit", lambda a: lax.mul(a, np.ones(4))),
    (TypeError, "do not fit", lambda a: lax.eq(F25, np.ones((3, 5)))),
    (TypeError, "cases of one shape", lambda a: lax.select(MASK, a, 3.0)),
    (TypeError, "cases of one shape", lambda a: lax.select(MASK, a, ONE)),
    (TypeError, "single pred", lambda a: lax.select(np.ones(1, bool), a, a)),
    (TypeError, "single pred", lambda a: lax.select(MASK, F25, F25)),
    (TypeError, "single limits", lambda a: lax.clamp(ONE, a, ONE)),
    (TypeError, "single limits", lambda a: lax.clamp(a, F25, a)),
    # dtypes
    (TypeError, "one dtype", lambda a: lax.add(a, F4)),
    (TypeError, "one dtype", lambda a: lax.add(a, 2)),
    (TypeError, "one dtype", lambda a: lax.add(I8, 2.0)),
    (TypeError, "one dtype", lambda a: lax.mul(a, True)),
    (TypeError, "one dtype", lambda a: lax.sub(a, 1j)),
    (TypeError, "one dtype", lambda a: lax.add(2, 3.0)),
    (TypeError, "one dtype", lambda a: lax.select(MASK, a, F4)),
    (TypeError, "one dtype", lambda a: lax.clamp(0, a, 1)),
    (TypeError, "one dtype", lambda a: lax.clamp(F4, a, F4)),
    (TypeError, "one dtype", lambda a: lax.concatenate([a, F4], 0)),
    (TypeError, "one dtype", lambda a: lax.div(a, I8)),
    (TypeError, "does not take", lambda a: lax.sin(I8)),
    (TypeError, "does not take", lambda a: lax.floor(I8)),
    (TypeError, "does not take", lambda a: lax.add(MASK, MASK)),
    (TypeError, "does not take", lambda a: lax.bitwise_and(a, a)),
    (TypeError, "does not take", lambda a: lax.lt(1j * a, 1j * a)),
    (TypeError, "does not take", lambda a: lax.real(a)),
    (TypeError, "does not take", lambda a: lax.pow(I8, I8)),
    (TypeError, "does not take", lambda a: lax.cumsum(MASK)),
    (TypeError, "power of at least 0", lambda a: lax.integer_pow(I8, -2)),
    # places
    (TypeError, "not inside", lambda a: lax.slice(a, (1,), (30,))),
    (TypeError, "not inside", lambda a: lax.slice(a, (-1,), (5,))),
    (TypeError, "not inside", lambda a: lax.slice(a, (3,), (2,))),
    (TypeError, "an index for each", lambda a: lax.slice(a, (1, 1), (2, 2))),
    (TypeError, "strides", lambda a: lax.slice(a, (1,), (5,), (-1,))),
    (TypeError, "not inside", lambda a: lax.slice_in_dim(a, 1, 30)),
    (TypeError, "not inside", lambda a: lax.slice_in_dim(a, -30, 3)),
    (TypeError, "not inside", lambda a: lax.slice_in_dim(a, 3, 1)),
    (IndexError, "no axis 3", lambda a: lax.slice_in_dim(a, 1, 3, axis=3)),
    (TypeError, "at least 0", lambda a: lax.reshape(a, (-1,))),
    (TypeError, "each of 2 axes once", lambda a: lax.transpose(F25, (-1, 0))),
    (TypeError, "each of 2 axes once", lambda a: lax.transpose(F25, (0,))),
    (TypeError, "no axis -1", lambda a: lax.rev(F25, (-1,))),
    (TypeError, "each axis once", lambda a: lax.rev(F25, (0, 0))),
    (ValueError, "size not equal to one", lambda a: lax.squeeze(F25, (0,))),
    (TypeError, "one rank", lambda a: lax.concatenate([a, F25], 0)),
    (TypeError, "no axis -1", lambda a: lax.concatenate([a, a], -1)),
    (ValueError, "at least one array", lambda a: lax.concatenate([], 0)),
    (TypeError, "at least 0", lambda a: lax.broadcast(a, (-2,))),
    (TypeError, "cannot repeat", lambda a: lax.broadcast_in_dim(a, (2, 5), (0,))),
    (TypeError, "no axis -1", lambda a: lax.broadcast_in_dim(a, (2, 5), (-1,))),
    (TypeError, "rising", lambda a: lax.broadcast_in_dim(F25, (5, 5), (0, 0))),
    (TypeError, "a place for each", lambda a: lax.broadcast_in_dim(a, (2, 5), ())),
    (ValueError, "that fit", lambda a: lax.dot(F25, F25)),
    (ValueError, "that fit", lambda a: lax.dot(np.ones((2, 2, 2)), a)),
    (TypeError, "numbers and a size", lambda a: lax.iota(np.int32, -1)),
    (TypeError, "numbers and a size", lambda a: lax.iota(bool, 2)),
    (TypeError, "a single value", lambda a: lax.full_like(a, a)),
    (TypeError, "no axis 2", lambda a: lax.cumsum(F25, 2)),
]

TAKEN = [
    (lambda a: lax.add(a, 2.0), lambda a: a + 2.0),
    (lambda a: lax.add(a, SCALAR), lambda a: a + SCALAR),
    (lambda a: lax.add(a, ONE), lambda a: a + ONE),
    (lambda a: lax.add(I8, 2), lambda a: I8 + 2),
    (lambda a: lax.add(F4, 0.1), lambda a: F4 + 0.1),
    (lambda a: lax.pow(a, 2), lambda a: a**2),
    (lambda a: lax.pow(a, I8), lambda a: a**I8),
    (lambda a: lax.integer_pow(a, -2), lambda a: a**-2),
    (lambda a: lax.div(I8 - 7, np.full(5, 3)), lambda a: np.array([-2, -2, -1, -1, -1])),
    (lambda a: lax.max(MASK, ~MASK), lambda a: np.ones(5, bool)),
    (lambda a: lax.population_count(I8), lambda a: np.array([0, 1, 1, 2, 1])),
    (lambda a: lax.select(MASK, a, -a), lambda a: np.where(MASK, a, -a)),
    (lambda a: lax.select(True, a, -a), lambda a: a),
    (lambda a: lax.clamp(0.7, a, 1.0), lambda a: np.clip(a, 0.7, 1.0)),
    (lambda a: lax.clamp(0, I8, 1), lambda a: np.clip(I8, 0, 1)),
    (lambda a: lax.slice(a, (1,), (5,), (2,)), lambda a: a[1:5:2]),
    (lambda a: lax.slice_in_dim(a, -3, None), lambda a: a[-3:]),
    (lambda a: lax.slice_in_dim(a, None, -1), lambda a: a[:-1]),
    (lambda a: lax.slice_in_dim(F25, 1, 3, axis=-1), lambda a: F25[:, 1:3]),
    (lambda a: lax.reshape(F25, 10), lambda a: F25.reshape(10)),
    (lambda a: lax.broadcast(a, (2,)), lambda a: np.stack([a, a])),
    (lambda a: lax.broadcast_in_dim(ONE, (2, 5), (0,)), lambda a: np.ones((2, 5))),
    (lambda a: lax.broadcast_in_dim(2.0, (2, 5), ()), lambda a: np.full((2, 5), 2.0)),
    (lambda a: lax.cumsum(I8, reverse=True), lambda a: np.cumsum(I8[::-1])[::-1]),
    (lambda a: lax.cumprod(a), lambda a: np.cumprod(a)),
    (lambda a: lax.iota(np.float64, 5), lambda a: np.arange(5.0)),
]


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_what_jax_refuses_is_refused_in_words(case):
    error, text, function = REFUSED[case]
    with pytest.raises(error, match=text):
        function(F8)
    with pytest.raises(error, match=text):
        jit(function)(F8)


@pytest.mark.parametrize("case", range(len(TAKEN)))
def test_what_jax_takes_is_computed(case):
    function, plain = TAKEN[case]
    same(np.asarray(function(F8)), np.asarray(plain(F8)), ulp=4)
    same(np.asarray(jit(function)(F8)), np.asarray(plain(F8)), ulp=4)


def test_sizes_that_must_agree_are_one_trace_for_all_lengths():
    f = jit(lambda x, y: lax.add(x, y) * lax.select(x > 0, x, y))
    for size in (3, 5, 9):
        x, y = np.linspace(-1, 1, size), np.linspace(2, 3, size)
        same(f(x, y), (x + y) * np.where(x > 0, x, y))
    assert f.state.traces == 1


def test_a_number_that_is_an_argument_is_of_its_kind():
    f = jit(lambda x, number: lax.add(x, number))
    same(f(F8, 2.0), F8 + 2.0)
    with pytest.raises(TypeError, match="one dtype"):
        f(F8, 2)
