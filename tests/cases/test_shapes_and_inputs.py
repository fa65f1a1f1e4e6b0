"""Shapes, layouts and inputs that other compilers get wrong, refuse, or compile again for."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from beside_numpy import Beside
from layouts import in_each_layout, unaligned

from jitwise import jit
from jitwise.llvm import compile as compiling

case = pytest.mark.case
FLOATS = ["f2", "f4", "f8"]
SIZES = [0, 1, 3, 1000]


def mean_of_waves(x):
    return np.sum(np.sin(x) * 2 + x) / x.shape[0]


LENGTHS = {
    "waves": mean_of_waves,
    "rows": lambda x: (x[:, None] * x[None, :3]).sum(axis=0),
    "slices": lambda x: x[1:] - x[:-1],
    "scan": lambda x: np.cumsum(x)[::2] * len(x),
    "reshaped": lambda x: x.reshape(1, -1).T * x.size,
    "padded": lambda x: np.concatenate([x, np.zeros(3), x[::-1]]).mean(),
    "sorted": lambda x: np.sort(x)[0] + np.argmax(x),
    "filled": lambda x: np.zeros(len(x)) + np.arange(len(x)) * x,
}


@case("C26")
@pytest.mark.parametrize("name", LENGTHS)
def test_three_hundred_lengths_are_one_trace_and_one_compile(name):
    function = LENGTHS[name]
    f = jit(function)
    f(np.linspace(0, 1, 7))
    f(np.linspace(0, 1, 8))
    kernels = compiling.counters.kernels
    traces = f.state.traces
    for n in [*range(5, 301), *range(300, 4, -7)]:
        x = np.linspace(0, 1, n)
        np.testing.assert_allclose(f(x), function(x), rtol=1e-12, atol=1e-14)
    assert (f.state.traces, f.state.compiles) == (traces, traces)
    assert traces == 1
    assert compiling.counters.kernels == kernels


@case("C26")
def test_memory_stays_flat_over_many_lengths():
    f = jit(mean_of_waves)
    for n in range(1, 500):
        f(np.ones(n))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for n in range(500, 6000):
        f(np.ones(n))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_000  # KiB
    assert (f.state.traces, f.state.compiles, f.state.native.entries().__len__()) == (1, 1, 1)


BROADCASTS = [((4, 3), (4, 3)), ((1, 3), (4, 3)), ((0, 3), (1, 3)), ((3,), (4, 3)), ((), (4, 3))]
BROADCASTS += [((4, 1), (1, 3)), ((1, 1), (4, 3)), ((2, 3), (4, 3)), ((1,), (1, 1)), ((4, 3), (4,))]
BROADCASTS += [((0, 1), (1, 5)), ((1, 0), (4, 1)), ((300, 1), (300, 70)), ((300, 70), (70,))]


@case("C27")
@pytest.mark.parametrize("first", range(len(BROADCASTS)))
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "?"])
def test_sizes_of_one_broadcast_whatever_was_traced_first(first, dtype):
    programs = [
        Beside(lambda a, b: a + b),
        Beside(lambda a, b: (a + b) * a + (a + b).sum()),
        Beside(lambda a, b: (a - b * 2).max(axis=-1, initial=-9)),
    ]
    order = BROADCASTS[first:] + BROADCASTS[:first]
    for f in programs:
        for left, right in order:
            a = (np.arange(np.prod(left, dtype=int)).reshape(left) % 2).astype(dtype)
            b = (np.arange(np.prod(right, dtype=int)).reshape(right) % 3).astype(dtype)
            f(a, b)
            f(b, a)
        assert not [each for each in f.fallbacks() if each["reason"] != "error"]


@case("C29")
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "c16", "?", "f2"])
@pytest.mark.parametrize("shape", [(5, 7), (1, 9), (33, 1), (40, 130)])
def test_layouts_give_the_same_values_without_compiling_again(dtype, shape):
    f = Beside(lambda x: (x[::-1, ::-2] * 2 + 1, x.T + x.T, x[1:], x[:, 0], x.ravel() * 1))
    g = Beside(lambda x: (x.sum(), x.sum(axis=0), x.sum(axis=1), np.abs(x).max(), (x != 0).all()))
    kernels = 0
    for x in in_each_layout((np.arange(np.prod(shape)).reshape(shape) % 5).astype(dtype)).values():
        f(x)
        g(x)
        kernels = kernels or compiling.counters.kernels
    traces = 1 if 1 not in shape else None
    f.compiled(traces=traces)
    g.compiled(traces=traces)
    if traces:
        assert compiling.counters.kernels == kernels


@case("C29")
def test_a_read_only_argument_that_is_written_raises_as_numpy_does():
    def f(x):
        x[0] = 7
        return x.sum()

    beside = Beside(f)
    for x in in_each_layout(np.arange(35.0).reshape(5, 7)).values():
        if 0 not in x.strides:
            beside(x)


@case("C30")
@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("shape", [(2, 2), (2, 3, 4), (1, 5), (0, 3), (1000, 7)])
def test_a_fortran_array_reshapes_as_numpy_does(order, shape):
    x = np.arange(np.prod(shape, dtype=float)).reshape(shape)
    f = Beside(lambda x: (x.ravel(order), x.ravel(order) * 2))
    g = Beside(lambda x: (x.reshape(-1) + 1, x.T.reshape(-1), x.flatten(order)))
    for each in (x, np.asfortranarray(x), x[::-1], x.T.copy().T):
        f(each)
        g(each)
        if order in "CFA":
            h = Beside(lambda x: x.reshape((x.shape[-1], -1), order=order) + 1)
            if x.size:
                h(each)
                if order != "A":  # which asks for the strides
                    h.compiled()
    if order in "CF":
        f.compiled()
        g.compiled()
    assert jit(lambda x: x.reshape(4))(np.asfortranarray([[1, 2], [3, 4]])).tolist() == [1, 2, 3, 4]


@case("C32")
@pytest.mark.parametrize("dtype", [">f8", ">f4", ">f2", ">i8", ">i4", ">i2", ">u2", ">u8", ">c16"])
def test_big_endian_arrays_are_taken_as_they_are(dtype):
    f = Beside(lambda x: (x + 1, x * x - x, x[1:] + x[:-1], x.sum()))
    g = Beside(lambda x, y: (x + y, y - x, np.where(x > y, x, y)))
    for size in SIZES:
        x = np.arange(size).astype(dtype)
        for each in (x, x[::-2], unaligned(x)):
            f(each)
        g(x, x.astype(x.dtype.newbyteorder("=")))
        g(x, x[::-1])
    f.compiled()
    h = Beside(lambda x: (x, x[1:], x.T, np.sort(x), x.max(initial=0), x.astype("c8")))
    h(np.arange(3).astype(dtype))


SCALARS = [2.0, 2, True, 2 + 3j, np.float32(2), np.float64(0.5), np.float16(3), np.int8(3)]
SCALARS += [np.uint64(2**63), np.int64(-5), np.bool_(True), np.complex64(1j), np.array(2.0)]
SCALARS += [np.array(3, "i2"), np.array(True), np.array(1.5, "f4"), -0.0, 2**70, 0, float("nan")]


@case("C33")
@pytest.mark.parametrize("position", range(len(SCALARS)))
def test_scalars_keep_their_kind(position):
    x = SCALARS[position]
    programs = {
        "arithmetic": Beside(lambda x: (x * 2 + 1, x + x, x * 1.5)),
        "sine": Beside(lambda x: np.cos(x), ulp=2),
        "identity": Beside(lambda x: x),
        "absolute": Beside(lambda x: (abs(x), +x)),
        "comparison": Beside(lambda x: (x > 1) if not isinstance(x, complex) else x == 1),
        "truth": Beside(lambda x: (not x, bool(x))),
        "beside an array": Beside(lambda x: np.ones(3, "f4") * x),
        "functions": Beside(lambda x: (np.sum(x), np.add(x, 1), np.square(x), np.maximum(x, 1))),
        "reshaped": Beside(lambda x: (np.reshape(x, -1) * 2, np.shape(x), np.ndim(x))),
        "taken": Beside(lambda x: np.asarray(x)[()]),
        "stacked": Beside(lambda x: np.array([x, x])),
    }
    if isinstance(x, np.complexfloating):
        del programs["comparison"], programs["functions"]
    for f in programs.values():
        for each in (x, *SCALARS[:3], x):
            f(each)


@case("C33")
def test_arrays_without_axes_are_indexed_by_nothing():
    f = Beside(lambda x: (x[()], x[...], x[None], x[()] * 2, x.item()))
    f(np.array(2.0))
    g = Beside(lambda x: (x[()], x[...] + 1, x[None], x.T, x.sum(), x.reshape(1)))
    for dtype in ("f8", "f4", "i1", "?", "c8"):
        g(np.array(1, dtype))
    g.compiled()
    kinds = [type(jit(lambda x: x * 2 + 1)(x)) for x in (2, 2.5, np.float32(2), np.array(2.0))]
    assert kinds == [int, float, np.float32, np.float64]


@case("C35")
@pytest.mark.parametrize("size", [*SIZES, 33])
def test_halves_overflow_round_and_keep_their_dtype(size):
    f = Beside(lambda x: (x**2, x * x + 1, x / 3, -x, x - x, x > 2, x.astype("f4"), abs(x)))
    g = Beside(lambda x: (x.max(initial=0), np.sort(x), np.sqrt(abs(x)), x[::2] * 2, x.cumsum()))
    x = np.resize(np.array([300, 1, 65504, -2.5, 6e-8, 0.1], "f2"), size)
    for each in (x, x[::-1], unaligned(x)):
        f(each)
        g(each)
    f.compiled(traces=1)
    g.compiled(traces=1)
    assert np.isinf(jit(lambda x: x**2)(np.array([300.0], "f2"))[0])


GATHERS = {
    "element": lambda x, i: x[i],
    "elements": lambda x, i: x[np.array([0, 0]) + i],
    "rows": lambda x, i: np.stack([x, x])[:, i],
    "take": lambda x, i: np.take(x, i),
    "sum of elements": lambda x, i: (x[[0, i]] * 2).sum(),
    "after work": lambda x, i: (x * 2 + 1)[i] - 1,
    "matrix": lambda x, i: np.outer(x, x)[i, 0] + np.outer(x, x)[0, i],
    "take_along_axis": lambda x, i: np.take_along_axis(x, np.array([0]) + i, 0),
    "clipped": lambda x, i: (np.take(x, i, mode="clip"), np.take(x, i, mode="wrap")),
}


@case("C37")
@pytest.mark.parametrize("dtype", ["f8", "i4", "u1", "?", "c8"])
@pytest.mark.parametrize("name", GATHERS)
def test_an_index_out_of_bounds_raises_whatever_reads_there(name, dtype):
    f = Beside(GATHERS[name])
    for size in (3, 1, 1000, 40_000):
        x = (np.arange(size) % 2).astype(dtype) if size < 40_000 or name != "matrix" else None
        if x is None:
            continue
        for i in (0, size - 1, -size, size, -size - 1, size + 1_000_000, -(2**40), 2**62, 0):
            if (name == "matrix" and size > 3 and i) or (name == "clipped" and abs(i) > 1e7):
                continue  # NumPy counts up to them
            f(x, i)
    g = Beside(lambda x, i: x[i] + 1)
    for positions in ([0], [7], [-7], [0, 1, 2, 3], [0, -4], [2, -3]):
        for kind in ("i8", "i4", "i1"):
            g(np.array([10, 20, 30]).astype(dtype), np.array(positions, kind))
    g(np.array([10, 20, 30], dtype), np.array([250, 1], "u1"))
    g(np.array([10, 20, 30], dtype), np.array([2**64 - 1], "u8"))
    g(np.array([10, 20, 30], dtype), np.array([], "i8"))


SCATTERS = {
    "element": lambda x, i, v: x.__setitem__(i, v),
    "elements": lambda x, i, v: x.__setitem__(np.array([0, 1]) * 0 + i, v),
    "last is wrong": lambda x, i, v: x.__setitem__(
        np.array([0, 1, 0]) + np.array([0, 0, 1]) * i, v
    ),
    "added": lambda x, i, v: np.add.at(x, np.array([0, 1, 0]) + np.array([0, 0, 1]) * i, v),
    "put": lambda x, i, v: np.put(x, np.array([0, 1, 0]) + np.array([0, 0, 1]) * i, v),
    "after another": lambda x, i, v: (x.__setitem__(0, v), x.__setitem__(i, v), None)[2],
    "in a copy": lambda x, i, v: (lambda z: (z.__setitem__(i, v), z)[1])(x * 2),
}


@case("C37")
@pytest.mark.parametrize("name", SCATTERS)
def test_an_index_out_of_bounds_raises_before_anything_else_is_written_than_numpy_writes(name):
    f = Beside(SCATTERS[name])
    for size in (3, 2, 1000):
        for i in (0, 1, size - 1, size, -size - 1, 10_000, -(2**40), 1):
            f(np.arange(float(size)), i, 99.0)


@case("C39")
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i2", "u1", "c16"])
def test_repeated_indices_are_written_in_numpys_order(dtype):
    def added(z, i, v):
        z[i] += v
        return z * 2

    def at(z, i, v):
        np.add.at(z, i, v)
        return z

    def last(z, i, v):
        z[i] = v
        return z.sum()

    def subtracted(z, i, v):
        np.subtract.at(z, i, v)
        z[i] *= 2
        np.maximum.at(z, i, v)
        return z

    random = np.random.default_rng(0)
    for function in (added, at, last, subtracted):
        if function is subtracted and dtype == "c16":
            continue
        f = Beside(function)
        f(np.zeros(2, dtype), np.array([0, 0, 1]), np.ones(3, dtype))
        f(np.zeros(2, dtype), np.array([0, 0, 0]), np.array([1, 2, 3], dtype))
        for size in (1, 3, 1000, 50_000):
            places = random.integers(0, min(size, 7), size)
            f(np.zeros(size, dtype), places, (np.arange(size) % 100).astype(dtype))
        f.compiled()
    z = np.zeros(2, dtype)
    assert jit(at)(z, np.array([0, 0, 1]), np.array(1, dtype)).tolist() == [2, 1]


SIZED = {
    "unique": (lambda x: np.unique(x), [[3, 0, 1, 3], [1, 1], [], list(range(50))]),
    "nonzero": (lambda x: np.nonzero(x), [[3, 0, 1, 3], [0, 0], [], [0] * 99 + [1]]),
    "repeat": (lambda x: np.repeat(x, (x * 2).astype(int)), [[3, 0, 1], [0, 0], [], [9] * 50]),
    "first n": (lambda x: x[: int(x[0])], [[3, 0, 1, 3], [1, 1], [2, 0, 0], [0, 1]]),
    "arange": (lambda x: np.arange(len(x)) * x, [[3, 0], [1], [], [5] * 30]),
    "zeros": (lambda x: np.zeros(int(x.sum())), [[3, 0], [1], [], [5] * 30]),
    "mask": (lambda x: x[x > 0.5] * 2, [[3, 0, 1], [0], [], [5] * 300]),
    "mask summed": (lambda x: x[x > 0.5].sum() + 1, [[3, 0, 1], [0], [], [5] * 300]),
    "counts": (lambda x: np.bincount(x.astype(int)), [[3, 0, 1], [0], [], [5] * 300]),
    "where": (lambda x: np.where(x > 1)[0] + 1, [[3, 0, 1], [0], [], [5] * 300]),
    "flat": (lambda x: np.flatnonzero(x).sum(), [[3, 0, 1], [0], [], [5] * 300]),
    "unique counts": (lambda x: np.unique(x, return_counts=True), [[3, 0, 3], [0], [1] * 40]),
    "compress": (lambda x: np.compress(x > 0, x) - 1, [[3, 0, 1], [0], [], [5] * 300]),
}


@case("C41")
@pytest.mark.parametrize("dtype", ["f8", "i4"])
@pytest.mark.parametrize("name", SIZED)
def test_sizes_that_follow_from_values_are_those_of_numpy(name, dtype):
    function, values = SIZED[name]
    f = Beside(function)
    for each in [*values, *values[::-1]]:
        f(np.array(each, dtype))
    if name not in ("first n", "zeros"):
        f.compiled(traces=1)


@case("C41")
def test_sizes_that_are_arguments_are_those_of_numpy():
    for function in (
        lambda n: np.arange(n),
        lambda n: np.zeros(n) + 1,
        lambda n: np.ones((n, 2)).sum(),
    ):
        f = Beside(function)
        for n in (3, 5, 0, 1, 1000, 3):
            f(n)
        f.compiled(traces=1)
    g = Beside(lambda x, n: x[:n].sum() + x[n:].size)
    for n in (2, 3, 0, -1, 100, -100):
        g(np.arange(9.0), n)
    g.compiled()


@case("C42")
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?"])
def test_arguments_that_others_leave_out_are_taken(dtype):
    f = Beside(
        lambda x: (
            x.sum(axis=1, keepdims=True),
            x.sum(0),
            np.mean(x, axis=(0, 1)),
            x.mean(1, keepdims=True),
            x.max(axis=(0, 1), keepdims=True),
            x.sum(axis=-1, dtype="f8"),
            np.sum(x, axis=0, initial=3),
            x.sum(axis=0, where=x > 1),
            x.argmax(axis=1, keepdims=True),
        ),
        ulp=4,
    )
    g = Beside(lambda x: (x @ x.T, x[0] @ x[1], np.einsum("ij,kj->ik", x, x)), ulp=8)
    h = Beside(lambda x: (np.percentile(x, 50, axis=0), np.median(x, axis=1, keepdims=True)), ulp=4)
    k = Beside(lambda x: np.einsum("ij,ij->i", x, x), ulp=8)
    for shape in ((3, 4), (2, 1), (30, 41)):
        x = (np.arange(np.prod(shape)).reshape(shape) % 7).astype(dtype)
        for program in (f, g, k):
            program(x)
        if dtype != "?":
            h(x)
    for program in (f, g, k):
        program.compiled()
