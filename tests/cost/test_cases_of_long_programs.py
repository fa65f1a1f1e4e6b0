"""Programs that take other compilers minutes: chains, stencils, wide expressions, many results,
large captured arrays. What they cost is counted: traces, compiles, kernels; and their answers are
NumPy's.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from jitwise import jit
from jitwise.llvm import compile as compiling
from jitwise.record import recorder

pytestmark = pytest.mark.no_round_trip


def counted(function, *args):
    """What `jit(function)` gives at a second call, and kernels, traces and compiles of both."""
    jitted, kernels = jit(function), compiling.counters.kernels
    jitted(*args)
    result = jitted(*args)
    state = jitted.state
    return result, compiling.counters.kernels - kernels, (state.traces, state.compiles)


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
@pytest.mark.parametrize("n", [8, 32])
def test_updates_of_single_elements_are_numpys_and_are_not_traced_again(n):
    def f(x):
        for i in range(n):
            for k in range(n):
                x[i, k] = x[i, k] * 2 + x[k, i]
        return x

    start = np.arange(1.0, n * n + 1).reshape(n, n) / n**2
    expected = start.copy()
    jitted = jit(f)
    for _ in range(3):
        given = start.copy()
        result = jitted(given)
        np.testing.assert_array_equal(result, f(expected))
        assert result is given or np.array_equal(result, given)
        expected = start.copy()
    assert jitted.state.traces <= 1


@pytest.mark.parametrize("steps", [24, 200])
def test_a_chain_of_sines_and_rolls_needs_kernels_for_its_ends_only(steps):
    def f(x):
        for _ in range(steps):
            x = np.sin(x) * 0.5 + np.roll(x, 1) * 0.499  # not chaotic, as with larger factors
        return x

    x = np.linspace(0, 1, 1000)
    result, kernels, made = counted(f, x)
    assert made == (1, 1)
    assert kernels <= 4
    np.testing.assert_allclose(result, f(x), rtol=1e-9)
    compiled = jit(f).lower(x).compile()
    flops = compiled.cost_analysis()["flops"]
    assert flops <= 1000 * steps * 40  # each sine once


def polynomial(terms):
    lines = " + ".join(f"{index}.5 * x**{index % 7}" for index in range(terms))
    space = {}
    exec(f"def f(x):\n return {lines}", space)
    return space["f"]


def jacobian(size):
    rows = ",".join(
        "[" + ",".join(f"x[{i}] * {j + 1}.0 + np.sin(x[{j}])" for j in range(size)) + "]"
        for i in range(size)
    )
    space = {"np": np}
    exec(f"def f(x):\n return np.array([{rows}])", space)
    return space["f"]


def test_a_polynomial_of_a_thousand_terms_is_a_handful_of_kernels():
    f, x = polynomial(1000), np.linspace(0, 1, 100)
    result, kernels, made = counted(f, x)
    assert made == (1, 1)
    assert kernels <= 20
    np.testing.assert_allclose(result, f(x), rtol=1e-12)


def test_a_jacobian_written_element_by_element_is_a_kernel_for_each_column():
    f, x = jacobian(30), np.linspace(0, 1, 30)
    result, kernels, made = counted(f, x)
    assert made == (1, 1)
    assert kernels <= 40
    assert result.shape == (30, 30)
    np.testing.assert_allclose(result, f(x), rtol=1e-14)


@pytest.mark.parametrize("kind", [np.ones, np.float64], ids=["arrays", "scalars"])
def test_sixteen_hundred_independent_results_share_their_kernel(kind):
    f = lambda xs: [np.sin(x) + 1 for x in xs]  # noqa: E731
    xs = [kind(3) * (index / 100) for index in range(1600)]
    result, kernels, made = counted(f, xs)
    assert made == (1, 1)
    assert kernels <= 12
    assert type(result) is list and len(result) == 1600
    for got, expected in zip(result, f(xs), strict=True):
        assert type(got) is type(expected)
        np.testing.assert_allclose(got, expected, rtol=1e-15, atol=1e-15)


def test_a_large_captured_array_is_an_input_that_is_not_copied():
    large = np.random.default_rng(0).random(5_000_000)
    f = jit(lambda x: (np.sin(large) * x).sum())
    tracemalloc.start()
    first = f(2.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000
    np.testing.assert_allclose(first, (np.sin(large) * 2.0).sum(), rtol=1e-12)
    assert len(str(f.trace(2.0))) < 2_000
    large[:] = 0.5
    np.testing.assert_allclose(f(2.0), 1e7 * np.sin(0.5), rtol=1e-12)
    assert f.state.traces == 1


def test_a_large_constant_array_is_not_computed_while_compiling():
    def f(x):
        return np.ones((500, 500, 100)) * x

    before = recorder.counts["fallback"]
    text = str(jit(f).trace(2.0))
    assert len(text) < 2_000
    assert jit(f)(2.0)[3, 4, 5] == 2.0
    assert recorder.counts["fallback"] == before
