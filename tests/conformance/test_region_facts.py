"""What a region takes for granted of its sizes is true: tried on the values that they can have."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from jitwise import jit
from jitwise.ir.builder import Builder
from jitwise.ir.dims import Dim, add, evaluate_size, multiply, subtract, symbols_of
from jitwise.ir.types import ArrayType
from jitwise.llvm.region_facts import LENGTH, Facts

N, M, I, J, K = map(Dim.symbol, "nmijk")  # noqa: E741 - as they are called in messages
F64 = np.dtype(np.float64)


def facts_of(*guards):
    """Of a region with arrays of n and m elements, and these guards."""
    builder = Builder("region")
    builder.input(ArrayType(F64, (N, M)))
    for guard in guards:
        builder.guard("ge", guard)
    return Facts(builder.finish(()))


def a_size(chosen, *factors):
    """A polynomial of first or second degree."""
    size = chosen.randint(-2, 2)
    for factor in factors:
        size = add(size, multiply(factor, chosen.randint(-2, 2)))
    return add(size, multiply(multiply(N, chosen.choice(factors)), chosen.choice((0, 0, 1, -1))))


def values(counters, guards, most=4):
    """All that symbols can be, up to some length."""
    for n, m in itertools.product(range(most), repeat=2):
        found = [{"n": n, "m": m}]
        for name, (first, last) in counters.items():
            found = [
                {**known, name: value}
                for known in found
                for value in range(evaluate_size(first, known), evaluate_size(last, known) + 1)
            ]
        for known in found:
            if all(evaluate_size(guard, known) >= 0 for guard in guards):
                yield known


@pytest.mark.parametrize("seed", range(40))
def test_what_is_known_to_be_natural_is(seed):
    chosen = random.Random(seed)
    guards = [a_size(chosen, N, M) for _ in range(chosen.randint(0, 2))]
    guards = [guard for guard in guards if isinstance(guard, Dim)]
    facts = facts_of(*guards)
    counters = {
        "i": (a_size(chosen, N), subtract(chosen.choice((N, M)), 1)),
        "j": (chosen.choice((0, I)), chosen.choice((I, subtract(N, I), M))),
        "k": (chosen.choice((0, 1, add(J, 1))), a_size(chosen, N, J)),
    }
    known = list(values(counters, guards))
    with (
        facts.counting("i", *counters["i"]),
        facts.counting("j", *counters["j"]),
        facts.counting("k", *counters["k"]),
    ):
        for _ in range(60):
            size = a_size(chosen, N, M, I, J, K)
            if facts.is_natural(size):
                assert all(evaluate_size(size, each) >= 0 for each in known), size
        for start in (I, J, K, add(I, 1), subtract(subtract(N, 1), I)):
            for step, length, whole in itertools.product((1, 2), (1, 2, J), (N, add(M, 2))):
                if facts.is_inside(start, step, length, whole):
                    for each in known:
                        begin, size, end = (
                            evaluate_size(one, each) for one in (start, length, whole)
                        )
                        assert begin >= 0 and size >= 0
                        assert begin + (size - 1) * step < end
    assert facts.counters == {}


def test_the_common_slices_are_known_to_stay_inside():
    facts = facts_of(subtract(M, N))
    with facts.counting("i", 0, subtract(N, 1)), facts.counting("j", 0, subtract(I, 1)):
        assert facts.is_inside(I, 1, 1, N) and facts.is_inside(J, 1, 1, N)
        assert facts.is_inside(I, 1, 1, M)  # by the guard
        assert facts.is_inside(0, 1, I, N) and facts.is_inside(J, 1, subtract(I, J), N)
        assert facts.is_inside(subtract(subtract(N, 1), I), 1, 1, N)
        assert not facts.is_inside(add(I, 1), 1, 1, N)
        assert not facts.is_inside(subtract(I, 1), 1, 1, N)
        assert not facts.is_inside(K, 1, 1, N)
    assert not facts.is_inside(I, 1, 1, N)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_known_to_fit_does_in_any_order(seed):
    chosen = random.Random(seed)
    facts = facts_of()
    with facts.counting("i", 0, subtract(N, 1)), facts.counting("j", subtract(I, 3), add(M, I)):
        for _ in range(40):
            size = a_size(chosen, N, M, I, J)
            size = multiply(size, chosen.choice((1, 1 << 11, 1 << 13, 1 << 16)))
            if not isinstance(size, Dim) or not facts.fits(size):
                continue
            assert symbols_of(size) & {"n", "m", "i", "j"}
            ends = {"n": LENGTH - 1, "m": LENGTH - 1, "i": LENGTH - 2, "j": 2 * LENGTH - 3}
            total = sum(
                abs(coefficient) * int(np.prod([ends[atom.text] for atom in atoms], dtype=object))
                for atoms, coefficient in size.terms
            )
            assert total < 2**63, size


def neighbours(x, k):
    total = 0.0
    for i in range(k):
        total += x[i] + x[i + 1]
    return total


def by_length(x):
    turns = 0
    i = 0
    while i < 3 and i < len(x):
        turns += x[len(x) - 1 - i]
        i += 1
    return turns


@pytest.mark.parametrize("length", [5, 2**47, 2**48 - 1, 2**48, 2**50, 2**59])
def test_arrays_longer_than_memory_have_their_elements(length):
    x = np.broadcast_to(np.float64(0.5), (length,))
    for _ in range(2):
        assert jit(neighbours)(x, 4) == 4.0
        assert jit(by_length)(x) == 1.5
