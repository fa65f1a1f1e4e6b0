"""Arguments that are changed, returned, given twice, or changed by the caller after the call."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from beside_numpy import Beside
from layouts import unaligned

from jitwise import jit

case = pytest.mark.case
SIZES = [0, 1, 3, 1000, 100_003]


def increased(x):
    x += 1
    return x


def scaled(x):
    x *= 2
    y = x + 1
    x -= 3
    return x, y


def by_part(x):
    x[1:] += x[:-1]
    return x


def by_out(x):
    np.add(x, x, out=x)
    np.multiply(x, 3, out=x)
    return x.sum()


def by_mask(x):
    x[x > 2] = 1
    return x


def filled(x):
    x.fill(7)
    x[::2] = 3
    return x


def sorted_in_place(x):
    x.sort()
    return x[:1]


def unsaid(x):
    x[...] = x[::-1]


CHANGES = [increased, scaled, by_part, by_out, by_mask, filled, sorted_in_place, unsaid]


@case("C70")
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "f2"])
@pytest.mark.parametrize("function", CHANGES, ids=lambda function: function.__name__)
def test_an_argument_that_is_changed_is_changed_for_the_caller(function, dtype):
    f = Beside(function)
    for size in SIZES:
        x = (np.arange(size) * 7 % 5).astype(dtype)
        f(x)
        f(unaligned(x))
        f(np.repeat(x, 2)[::2])
        f(x[::-1])
    f.compiled()


@case("C70")
@pytest.mark.parametrize("size", SIZES)
def test_an_argument_that_is_changed_and_returned_is_the_callers_own(size):
    f, g = jit(increased), jit(scaled)
    for _ in range(3):
        a = np.zeros(size)
        r = f(a)
        assert r is a
        assert (a == 1).all()
        first, second = g(a)
        assert first is a
        assert not np.shares_memory(second, a)
        assert (a == -1).all()
        assert (second == 3).all()


@case("C70")
def test_what_cannot_be_changed_so_raises_as_in_numpy():
    f = Beside(increased)
    g = Beside(lambda x: x.__iadd__(0.5))
    for dtype in ("f8", "i8", "u1", "?", "c16"):
        f(np.ones(3, dtype))
        g(np.ones(3, dtype))
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    f(frozen)
    f(np.zeros(3))
    for number in (1, 2.5, np.float32(1), np.float64(2)):
        f(number)


def forward(x):
    x[1:] = x[:-1]
    return x


def backward(x):
    x[:-1] = x[1:]
    return x * 2


def swapped(x):
    x[[0, 1]] = x[[1, 0]]
    return x


def swapped_by_tuple(x):
    x[0], x[1] = x[1], x[0]
    return x


def exchanged_views(x):
    a, b = x[:2], x[2:4]
    a[:], b[:] = b, a
    return x


def reversed_onto_itself(x):
    x[:] = x[::-1]
    x += x[::-1]
    return x


def transposed_onto_itself(x):
    square = x[:4].reshape(2, 2)
    square[:] = square.T
    return x.sum() * 2 + square


def added_onto_a_part(x):
    np.add(x[1:], x[:-1], out=x[1:])
    return x


def copied_and_changed(x):
    y = x.copy()
    x[0] = 99
    y[1] = -x[0]
    return x, y


OVERLAPS = [forward, backward, swapped, swapped_by_tuple, exchanged_views, reversed_onto_itself]
OVERLAPS += [transposed_onto_itself, added_onto_a_part, copied_and_changed]


@case("C71")
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "c16"])
@pytest.mark.parametrize("function", OVERLAPS, ids=lambda function: function.__name__)
def test_parts_that_overlap_are_assigned_as_by_numpy(function, dtype):
    f = Beside(function)
    for size in (6, 4, 1000, 50_001, 6):
        x = (np.arange(size) % 101).astype(dtype)
        f(x)
        f(np.repeat(x, 3)[::-3])
    f.compiled()


@case("C71")
def test_parts_too_short_to_be_assigned_raise_as_by_numpy():
    for function in OVERLAPS:
        f = Beside(function)
        for size in (6, 0, 1, 2, 3, 6):
            f(np.arange(float(size)))


@case("C71")
def test_the_program_of_the_case():
    f = jit(forward)
    for _ in range(3):
        assert f(np.arange(6)).tolist() == [0, 0, 1, 2, 3, 4]


@case("C71")
@pytest.mark.parametrize("size", [3, 1000, 60_000])
def test_arguments_that_share_memory_are_changed_as_by_numpy(size):
    def f(x, y):
        x += 1
        y *= 2
        return x + y

    def g(x, y):
        x[:] = y + y[::-1]
        return y.sum() + x

    for function in (f, g):
        jitted = jit(function)
        for repeat in range(3):
            for start in (0, 1, 2):
                ours, numpys = (np.arange(float(size + start)) for _ in range(2))
                got = jitted(ours[: size + 0], ours[start:])
                expected = function(numpys[: size + 0], numpys[start:])
                assert np.array_equal(got, expected), (repeat, start)
                assert np.array_equal(ours, numpys)
            ours, numpys = np.arange(float(size)), np.arange(float(size))
            assert np.array_equal(jitted(ours, ours), function(numpys, numpys))
            assert np.array_equal(ours, numpys)
            apart = np.arange(float(size))
            assert np.array_equal(jitted(ours, apart), function(numpys, np.arange(float(size))))


PARTS = {
    "the argument": lambda x: x,
    "a slice": lambda x: x[1:],
    "the transpose": lambda x: x.T,
    "reshaped": lambda x: x.reshape(-1),
    "itself twice": lambda x: (x, [x, {"again": x}]),
    "beside a result": lambda x: (x, x * 2),
    "a view of a view": lambda x: x[::-1][:2],
    "with an axis": lambda x: x[None],
    "real": lambda x: x.real,
    "broadcast": lambda x: np.broadcast_to(x, (2, *x.shape)),
    "asarray": lambda x: np.asarray(x),
    "squeezed": lambda x: np.squeeze(x),
}


@case("C73")
@pytest.mark.parametrize("dtype", ["f8", "i2", "?", "c8"])
@pytest.mark.parametrize("name", PARTS)
def test_an_argument_that_is_returned_is_returned_in_fresh_memory(name, dtype):
    f = Beside(PARTS[name])
    for shape in ((3, 4), (1, 1), (0, 3), (300, 70), (5,)):
        x = (np.arange(np.prod(shape)).reshape(shape) % 2).astype(dtype)
        f(x)
        f(x[::-1])
        results = f.jitted(x)
        for each in results if isinstance(results, tuple) else (results,):
            if isinstance(each, np.ndarray):
                assert not np.shares_memory(each, x)
                assert each.flags.writeable
    f.compiled()


@case("C73")
def test_results_share_no_memory_with_one_another():
    for function in (
        lambda x: (x, x),
        lambda x: (x * 2,) * 2,
        lambda x: (lambda y: (y, y[1:]))(x + 1),
    ):
        f = jit(function)
        for size in (3, 1000):
            for _ in range(3):
                x = np.arange(float(size))
                first, second = f(x)
                expected = [each.copy() for each in function(x)]
                assert np.array_equal(first, expected[0])
                assert np.array_equal(second, expected[1])
                assert not np.shares_memory(first, x)


@case("C73")
def test_results_of_calls_share_no_memory():
    f = jit(lambda x: x + 1)
    for size in (1, 3, 64, 1000, 1_000_000):
        x = np.zeros(size)
        kept = [f(x) for _ in range(5)]
        for number, each in enumerate(kept):
            each[:] = number
        assert [each[0] for each in kept] == [0, 1, 2, 3, 4]
        assert (f(x) == 1).all()


SUMMED = 65_536 * 16 + 7


@case("C74")
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_an_argument_may_be_changed_right_after_the_call(dtype):
    f = jit(lambda x: (np.sin(x).sum(), x * 2, x[::-1]))
    expected = None
    for _ in range(50):
        x = np.ones(SUMMED, dtype)
        total, doubled, turned = f(x)
        x[:] = 0
        expected = expected if expected is not None else float(total)
        assert float(total) == expected
        assert doubled.min() == doubled.max() == 2
        assert turned.min() == 1
    assert abs(expected / SUMMED - np.sin(1)) < 1e-6
    assert (f.state.traces, f.state.compiles) == (1, 1)


@case("C74")
def test_arguments_may_be_changed_after_the_call_by_each_of_several_threads():
    f = jit(lambda x, k: (np.sqrt(x) + k).sum() / x.shape[0])
    f(np.ones(SUMMED), 0.0)
    wrong: list[tuple[float, float]] = []

    def run(number: int) -> None:
        x = np.empty(SUMMED)
        for turn in range(12):
            x[:] = (number + turn) ** 2
            result = f(x, 0.5)
            x[:] = -1
            if result != number + turn + 0.5:
                wrong.append((float(result), number + turn + 0.5))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert f.state.compiles == 1
