"""Arrays of equal elements: every size of element, short, long, and so long that zeros are pages
that nobody has written to.
"""

import numpy as np
import pytest

from jitwise import jit

UNTOUCHED = (32 << 20) // 8  # float64 elements, from which zeros are such pages
COUNTS = (0, 1, 5, 63, 127, 128, 129, 255, 511, 512, 513, 1023, 1024, 1500, 5000, 40_001)
VALUES = {
    "?": (False, True),
    "i1": (0, -1, 7),
    "u2": (0, 257, 258),
    "i4": (0, -1, 1 << 20),
    "i8": (0, -1, 1 << 40),
    "f4": (0.0, -0.0, 1.5, np.nan),
    "f8": (0.0, -0.0, 1.5, np.inf),
    "c8": (0, 1 + 2j),
    "c16": (0, 1j, complex(-0.0, 0.0)),
}


@pytest.mark.parametrize("dtype", VALUES)
def test_every_element_is_the_value(dtype):
    for value in VALUES[dtype]:
        number = np.dtype(dtype).type(value)
        fill = jit(lambda n, v=number: np.full(n, v), wait=True)
        for count in COUNTS:
            assert fill(count).tobytes() == np.full(count, number).tobytes()
            assert fill((3, count) if count else 0).tobytes() == number.tobytes() * 3 * count


@pytest.mark.parametrize("dtype", ["f8", "i4", "c16"])
@pytest.mark.parametrize("name", ["zeros", "zeros_like", "full"])
def test_large_zeros_are_zero_in_memory_that_was_used(name, dtype):
    functions = {
        "zeros": lambda x: np.zeros(len(x), dtype),
        "zeros_like": lambda x: np.zeros_like(x),
        "full": lambda x: np.full(x.shape, x.dtype.type(0)),
    }
    zeros = jit(functions[name], wait=True)
    x = np.ones(UNTOUCHED * 8 // np.dtype(dtype).itemsize + 7, dtype)
    for _ in range(4):
        found = zeros(x)
        assert found.dtype == x.dtype
        assert len(found) == len(x)
        assert not found.any()
        found[:] = 3


def test_large_zeros_that_are_written_to_afterwards():
    def function(x):
        first, second = np.zeros(len(x)), np.zeros(len(x))
        second[1:-1] = x[1:-1]
        return first, second, first + 1

    jitted = jit(function, wait=True)
    x = np.arange(UNTOUCHED + 5.0)
    for _ in range(3):
        for found, expected in zip(jitted(x), function(x), strict=True):
            assert np.array_equal(found, expected)
            found += 7


def test_a_part_of_an_array_that_becomes_zero_leaves_the_rest():
    """The array is a result, so its memory begins where a block of the store does."""

    def clear(x):
        x[...] = 0
        return x

    whole = jit(lambda x: x + 1, wait=True)(np.zeros(2 * UNTOUCHED))
    part = whole[: UNTOUCHED + 1]
    jitted = jit(clear, wait=True)
    for _ in range(3):
        assert jitted(part) is part
        assert not part.any()
        assert (whole[UNTOUCHED + 1 :] == 1).all()
        part += 1


def test_large_zeros_take_no_memory_until_they_are_touched():
    jitted = jit(lambda n: np.zeros(n), wait=True)
    count = 8 * UNTOUCHED

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    try:
        jitted(count)
        before = resident()
    except OSError:
        pytest.skip("no /proc here")
    kept = jitted(count)
    assert resident() - before < count  # an eighth of its bytes
    assert kept[-1] == 0
