"""Greatest common divisors and least common multiples are NumPy's: every pair of edge values, small
numbers, numbers with much in common, sixteen together and one by one.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest
from one_kernel import compile_graph

import jitwise
import jitwise.ops
from jitwise.ir.parser import parse
from jitwise.llvm import compile as llvm
from jitwise.llvm import division

UFUNCS = {"gcd": np.gcd, "lcm": np.lcm}
DTYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of edge values, and random ones of every size with and without common factors."""
    info, random = np.iinfo(dtype), np.random.default_rng(3)
    powers = [2**bits + more for bits in range(info.bits) for more in (-1, 0, 1)]
    edges = {0, 1, 2, 3, 6, 12, 60, info.max, info.max - 1, info.max // 3, *powers}
    if dtype[0] == "i":
        edges |= {-each for each in edges} | {info.min, info.min + 1, info.min // 2}
    inside = sorted(each for each in edges if info.min <= each <= info.max)
    first, second = np.meshgrid(*[np.array(inside, dtype)] * 2)
    sizes = random.integers(1, info.bits + 1, (3, 20_000))
    numbers = random.integers(0, 2**64, (3, 20_000), np.uint64) >> (64 - sizes).astype(np.uint64)
    a, b, common = numbers.astype(dtype)
    with np.errstate(all="ignore"):
        left, right = [first.ravel(), a, a * common], [second.ravel(), b, b * common]
    return np.concatenate(left), np.concatenate(right)


def compiled(name: str, dtype: str):
    kind = f"{dtype[0]}{8 * int(dtype[1])}"
    return compile_graph(
        parse(
            f"""graph body(%0: {kind}[n], %1: {kind}[n]) where n = size(0, 0) {{
              %2: {kind}[n] = {name}(%0, %1)
              return %2
            }}"""
        )
    )


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("together", [True, False])
def test_every_pair_of_integers_is_numpys(monkeypatch, name, dtype, together):
    if not together:
        monkeypatch.setattr(division, "fuses", lambda: False)
        monkeypatch.setattr(llvm, "_table", OrderedDict())
    left, right = pairs(dtype)
    with np.errstate(all="ignore"):
        expected = UFUNCS[name](left, right)
    found = compiled(name, dtype)([left, right])[0]
    wrong = np.flatnonzero(found != expected)[:3]
    assert not len(wrong), [left[wrong], right[wrong], found[wrong], expected[wrong]]
    assert found.dtype == expected.dtype


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_divisors_are_computed_inside_kernels_with_what_is_around_them(name, dtype):
    ufunc = UFUNCS[name]

    def divisors_and_sums(x, y):
        return ufunc(x, y) + x, ufunc(x[::-1], 6), ufunc(12, y[0]), ufunc.reduce(x[:4])

    jitted = jitwise.jit(divisors_and_sums, wait=True)
    random = np.random.default_rng(1)
    for count in (4, 5, 16, 63, 64, 65, 1000):
        x, y = random.integers(1, 100, (2, count)).astype(dtype)
        for found, expected in zip(jitted(x, y), divisors_and_sums(x, y), strict=True):
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype
        with np.errstate(all="raise"):
            jitted(x * 0, y)
    assert not any(record.subject == "fallback" for record in jitted.records())


def test_a_common_divisor_is_one_kernel_with_the_sum_after_it():
    lowered = jitwise.jit(lambda x, y: np.gcd(x, y) * 2 + np.lcm(x, 3)).lower(
        np.arange(5), np.arange(5)
    )
    assert len(lowered.executable.kernels) == 1
    assert lowered.executable.text.count("host") == 0
