"""Programs that write many single elements, rows and columns, and read them back from the array and
from copies of its earlier states, give what NumPy gives, at a cost that grows with their length.
"""

from __future__ import annotations

import numpy as np
import pytest
from traced import agrees

from jitwise import jit

PLACES = [
    lambda rng: (int(rng.integers(4)), int(rng.integers(3))),
    lambda rng: int(rng.integers(4)),
    lambda rng: (slice(None), int(rng.integers(3))),
    lambda rng: -int(rng.integers(1, 5)),
    lambda rng: slice(1, 3),
    lambda rng: (Ellipsis, 1),
]


def program(seed, steps=60):
    """A function that writes to places of a few kinds, branches off copies, and reads places."""
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(len(PLACES))[: 1 + seed % 3]
    script = []
    for _ in range(steps):
        target, source = [PLACES[kinds[int(rng.integers(len(kinds)))]](rng) for _ in range(2)]
        script.append((int(rng.integers(4)), target, source, bool(rng.random() < 0.1)))

    def run(x):
        arrays, total = [x * 2], x[0, 0] * 0
        for step, (which, target, source, branches) in enumerate(script):
            array = arrays[which % len(arrays)]
            total = total * 0.5 + array[source].sum()
            array[target] = array[target] * 1.5 + step
            if branches:
                arrays.append(array.copy())
        return total, arrays

    return run


@pytest.mark.parametrize("seed", range(24))
def test_what_is_read_is_what_was_written_there_last(seed):
    grid = np.arange(12.0).reshape(4, 3)
    assert agrees(program(seed), [grid], [-grid]) == 1


def updates(count):
    def run(x):
        y = x.copy()
        for place in range(count):
            y[place] = y[place] * 1.5 + y[place // 2]
        return y

    return run


def test_the_calls_of_a_write_do_not_grow_with_the_number_of_writes(count_calls):
    totals = []
    for length in (200, 400, 800):
        function = jit(updates(length), control_flow=False)
        x = np.linspace(0, 1, length)
        np.testing.assert_array_equal(function(x), updates(length)(x))
        totals.append(count_calls(jit(updates(length), control_flow=False).trace, x).total)
    first, second = totals[1] - totals[0], totals[2] - totals[1]
    assert second <= 2.1 * first
