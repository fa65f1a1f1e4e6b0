"""Division in vectors is exact: quotients next to integers, either side of every fast path's
limit.
"""

from __future__ import annotations

import numpy as np
import pytest
from edge_values import same_bits
from one_kernel import compile_graph

import jitwise.ops  # noqa: F401  (fills the registry of primitives)
from jitwise.ir.parser import parse

UFUNCS = {"floor_divide": np.floor_divide, "remainder": np.remainder, "fmod": np.fmod}
COUNT = 40_000


def compiled(name: str, dtype: str, divisor: int | None = None):
    kind = f"{dtype[0]}{8 * int(dtype[1])}"
    second = ", %1: " + kind + "[n]" if divisor is None else ""
    constant = "" if divisor is None else f"%1: {kind}[] = constant{{value={kind}({divisor})}}()"
    return compile_graph(
        parse(
            f"""graph body(%0: {kind}[n]{second}) where n = size(0, 0) {{
              {constant}
              %2: {kind}[n] = {name}(%0, %1)
              return %2
            }}"""
        )
    )


def check(name: str, run, arrays, *divisor) -> None:
    with np.errstate(all="ignore"):
        expected = UFUNCS[name](*arrays, *divisor)
    same = same_bits(run(arrays)[0], expected)
    wrong = np.flatnonzero(~same)[:3]
    assert same.all(), [tuple(array[wrong] for array in arrays), expected[wrong]]


def integers(dtype: str, bits: int, random: np.random.Generator) -> np.ndarray:
    """Numbers of every size up to `bits` bits, of either sign."""
    sizes = random.integers(0, bits + 1, COUNT)
    numbers = (random.integers(0, 2**64, COUNT, np.uint64) >> np.uint64(1)) >> (
        np.uint64(63) - np.minimum(sizes, 63).astype(np.uint64)
    )
    signed = np.where(random.random(COUNT) < 0.5, numbers, -numbers.astype(np.int64).view("u8"))
    return (numbers if dtype[0] == "u" else signed).astype(dtype)


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u4", "i2", "u1"])
@pytest.mark.parametrize("bits", [8, 51, 63])
def test_integers_next_to_multiples_of_the_divisor(name, dtype, bits):
    random = np.random.default_rng(bits)
    right = integers(dtype, bits * 2 // 3, random)
    left = right * integers(dtype, bits // 3, random) + random.integers(-1, 2, COUNT).astype(dtype)
    run = compiled(name, dtype)
    check(name, run, [left, right])
    check(name, run, [integers(dtype, bits, random), right])


def test_integers_at_the_limit_of_the_vectors():
    edge = 2**51 + np.arange(-8, 8)
    left = np.concatenate([edge, -edge]).repeat(40)
    right = np.resize([1, -1, 2, -2, 3, 7, 0, 2**51 - 1, -(2**51), 2**31], len(left))
    for name in UFUNCS:
        check(name, compiled(name, "i8"), [left, right])
        check(name, compiled(name, "u8"), [abs(left).view("u8"), abs(right).view("u8")])


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_constant_divisors(name, dtype):
    info = np.iinfo(dtype)
    random = np.random.default_rng(4)
    divisors = {1, 2, 3, 7, 10, 100, info.max, info.max - 1, info.max // 3}
    if dtype[0] == "i":
        divisors |= {-each for each in divisors} | {info.min, info.min + 1}
    for divisor in divisors:
        number = np.dtype(dtype).type(divisor)
        with np.errstate(all="ignore"):
            multiples = (integers(dtype, 31, random) // number) * number
            near = multiples + random.integers(-1, 2, COUNT).astype(dtype)
        every = random.integers(info.min, info.max, COUNT, dtype, endpoint=True)
        edges = np.array([info.min, info.min + 1, info.max - 1, info.max, 0], dtype)
        for left in (near, every, edges, integers(dtype, 51, random)):
            check(name, compiled(name, dtype, divisor), [left], number)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("spread", [3, 24, 53, 120, 600])
def test_float_remainders_of_quotients_of_every_size(dtype, spread):
    random = np.random.default_rng(spread)
    right = random.standard_normal(COUNT).astype(dtype)
    scale = np.exp2(random.uniform(-spread, spread, COUNT))
    with np.errstate(all="ignore"):
        left = (right * scale).astype(dtype)
        whole = (right * np.rint(scale)).astype(dtype)
        arrays = [left, whole, np.nextafter(whole, right), np.nextafter(whole, -right)]
        tiny = np.finfo(dtype).tiny
        pairs = [(each, right) for each in arrays]
        pairs += [(each * tiny, right * tiny) for each in arrays]
    for name in UFUNCS:
        run = compiled(name, dtype)
        for pair in pairs:
            check(name, run, list(pair))
