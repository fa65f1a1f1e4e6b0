"""Products of integer vectors are sums of products in one kernel: they wrap as NumPy's do."""

from __future__ import annotations

import numpy as np
import pytest

from jitwise import jit

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("function", [np.dot, np.vdot, np.inner, np.matmul])
def test_products_of_integer_vectors_are_numpys(function, dtype):
    rng = np.random.default_rng(6)
    jitted = jit(lambda a, b: function(a, b), wait=True)
    for length in (0, 1, 2, 7, 100, 5000):
        a, b = rng.integers(-(2**63), 2**63 - 1, (2, length)).astype(dtype)
        expected, found = function(a, b), jitted(a, b)
        assert type(found) is type(expected)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found == expected
        with pytest.raises(ValueError):
            jitted(a, rng.integers(0, 2, length + 1).astype(dtype))


def test_they_are_one_kernel_and_no_call():
    def sum_of_products(a, b):
        return np.vdot(a, b)

    jitted = jit(sum_of_products, wait=True)
    a = np.arange(10)
    jitted(a, a)
    (program,) = [each for each in jitted.records() if each.subject == "program"]
    assert program.detail["kernels"] == 1
