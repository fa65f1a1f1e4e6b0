"""The article's three programs, with only the imports changed."""

from __future__ import annotations

import numpy as np
from oracle import same

import jitwise as jax
import jitwise.numpy as jnp


def f(x: jnp.array) -> jnp.array:
    return x * 2 + jnp.sin(x)


@jax.jit
def g_jitted(x: jnp.array) -> jnp.array:
    y = f(x)
    for _ in range(5):
        y = f(y)
    return y / 3 + jnp.cos(y)


f_jitted = jax.jit(f)


def g_no_jit(x):
    y = f_jitted(x)
    for _ in range(5):
        y = f_jitted(y)
    return y / 3 + jnp.cos(y)


@jax.jit
def g_nested_jit(x):
    y = f_jitted(x)
    for _ in range(5):
        y = f_jitted(y)
    return y / 3 + jnp.cos(y)


def plain(x):
    y = x * 2 + np.sin(x)
    for _ in range(5):
        y = y * 2 + np.sin(y)
    return y / 3 + np.cos(y)


def test_the_whole_function_jitted_gives_numpys_answer():
    assert np.allclose(g_jitted(jnp.array(1.0)), plain(np.array(1.0)), rtol=1e-13)
    assert type(g_jitted(jnp.array(1.0))) is type(plain(np.array(1.0)))


def test_the_three_strategies_agree():
    x = np.linspace(0, 1, 1001)
    expected = plain(x)
    for strategy in (g_jitted, g_no_jit, g_nested_jit):
        got = strategy(x)
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_make_jaxpr_prints_the_graph_of_the_function():
    text = str(jax.make_jaxpr(f)(1.5))
    assert "sine" in text and "multiply" in text and "add" in text
    assert "test_article.py:" in text


def test_an_inner_jit_is_part_of_the_outer_graph():
    graph = jax.make_jaxpr(g_nested_jit)(np.ones(3))
    assert str(graph).count(" sine(") == 6


def test_float32_stays_float32():
    got = g_jitted(np.linspace(0, 1, 100, dtype=np.float32))
    assert got.dtype == np.float32
    same(f_jitted(np.float32(0)), f(np.float32(0)))
