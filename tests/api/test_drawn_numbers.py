"""A drawn number is a number like any other: whatever is done with it is what NumPy does."""

import math
import warnings

import numpy as np
import pytest

import jitwise
from jitwise import jit


def generators(count=2, seed=11):
    return [np.random.default_rng(seed) for _ in range(count)]


def same_state(ours, theirs):
    return repr(ours.bit_generator.state) == repr(theirs.bit_generator.state)


USES = [
    "np.arange(0.0, r * 5)",
    "np.linspace(0, r, 5)",
    "round(r, 2)",
    "int(r * 3)",
    "math.floor(r * 3)",
    "math.sqrt(r)",
    "r ** 2 + r // 0.1 + r % 0.3",
    "divmod(r, 0.1)",
    "abs(r) - r",
    "float(r)",
    "complex(r, 1)",
    "np.float32(r)",
    "np.float64(r) * np.float32(2)",
    "str(r)",
    "np.full(3, r)",
    "x[int(r * 3)]",
    "min(r, 0.5) + max(r, 0.5)",
    "r.is_integer()",
    "r.real + r.imag",
    "np.where(x > r, x, r)",
    "x.astype(np.float32) * r",
    "np.array([r, 1.0])",
    "np.clip(x, r, 2 * r)",
    "np.quantile(x, r)",
    "np.zeros(3) + (r > 0.5)",
    "1.0 if r > 0.5 else 2.0",
    "[v for v in (1.0, 2.0) if v > r]",
    "bool(r > 0.5)",
    "{r: 1.0}",
    "np.sum([r, r])",
    "np.roll(x, int(r * 3))",
    "1 / r",
    "r ** 0.5 * 1e300 * 1e300",
    "x * rng.integers(0, 5)",
    "x[rng.integers(0, 3, 2)]",
    "np.take(x, rng.permutation(3))",
    "x + rng.random(3) @ x",
    "np.sort(rng.random(5))",
    "np.unique(rng.integers(0, 3, 9))",
    "np.bincount(rng.integers(0, 3, 9))",
    "rng.random(3).tolist()",
    "np.linalg.eigvals(rng.random((3, 3)))",
    "jnp.random.rand() * 0 + r",
    "rng.normal(r, abs(r))",
    "rng.uniform(r, r + x)",
    "x.sum() > rng.normal()",
    "rng.choice([1.0, 2.0, 3.0])",
    "rng.choice(['a', 'b'])",
    "rng.choice(x, size=np.int64(2))",
    "rng.random(size=int(x.sum()))",
    "rng.permutation([1, 2, 3])",
    "rng.normal(size=(2, -1))",
    "rng.normal(scale=-1.0)",
    "rng.normal(x, size=(3, 2))",
    "rng.normal(nonsense=1)",
    "rng.integers(5, 2)",
    "rng.integers([0, 5], [3, 9])",
    "rng.random(3, np.float32) + rng.random(dtype=np.float32)",
    "rng.integers(0, 2, 3, dtype=bool)",
    "rng.multivariate_normal([0.0, 1.0], [[1.0, 2.0], [2.0, 1.0]])",
    "np.stack([rng.random(2) for _ in range(3)])",
    "x if np.array_equal(rng.integers(0, 2, 2), [0, 0]) else x + 1",
    "np.array_equiv(rng.integers(0, 2, 2), 0) + x",
    "not np.allclose(rng.integers(0, 2, 2), 0)",
    "[np.array_equal(rng.integers(0, 2), 1)] * 2",
    "int(np.array_equal(rng.integers(0, 2), 1)) * x",
]


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
@pytest.mark.parametrize("use", USES)
def test_whatever_is_done_with_a_drawn_number_is_right(use):
    scope = {"np": np, "jnp": jitwise.numpy, "math": math}
    exec(f"def f(rng, x):\n    r = rng.random()\n    return {use}\n", scope)
    function = scope["f"]
    jitted = jit(function)
    ours, theirs = generators()
    for call in range(5):
        outcomes = []
        for each, rng in ((jitted, ours), (function, theirs)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    outcomes.append(each(rng, np.arange(1.0, 4.0) + call))
                except Exception as error:
                    outcomes.append(type(error))
        found, expected = outcomes
        assert type(found) is type(expected)
        if isinstance(expected, (np.ndarray, np.generic, float, int)):
            found, expected = np.asarray(found), np.asarray(expected)
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            if found.dtype.kind in "fc":
                np.testing.assert_allclose(found, expected, rtol=1e-13)
            else:
                assert (found == expected).all()
        else:
            assert repr(found) == repr(expected)
        assert same_state(ours, theirs)
