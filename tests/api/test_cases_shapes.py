"""Shapes, layouts and inputs that other compilers get wrong, refuse or compile again for."""

from __future__ import annotations

import numpy as np
import numpy.ma
import pytest
from layouts import in_each_layout
from oracle import agrees, same

from jitwise import jit
from jitwise.llvm import compile as compiling


def mean_of_waves(x):
    return np.sum(np.sin(x) * 2 + x) / x.shape[0]


def test_three_hundred_lengths_are_one_trace_and_one_compile():
    f, before = jit(mean_of_waves), compiling.counters.kernels
    counted = set()
    for n in range(1, 301):
        x = np.linspace(0, 1, n)
        same(f(x), mean_of_waves(x), ulp=20)
        counted.add((f.state.traces, f.state.compiles, compiling.counters.kernels - before))
    assert counted == {(1, 1, 1)}
    for n in [1, 0, *range(300, 0, -1)]:
        same(f(np.ones(n)), mean_of_waves(np.ones(n)), ulp=20)
    assert (f.state.traces, f.state.compiles, compiling.counters.kernels - before) == (1, 1, 1)


def test_size_one_broadcasts_whatever_was_traced_first():
    add = jit(lambda a, b: a + b)
    plain = lambda a, b: a + b  # noqa: E731
    for first, second in [
        ((4, 3), (4, 3)),
        ((1, 3), (4, 3)),
        ((0, 3), (1, 3)),
        ((3,), (4, 3)),
        ((), (4, 3)),
    ]:
        agrees(plain, np.ones(first), np.full(second, 2.0), jitted=add)
    agrees(plain, np.ones((2, 3)), np.ones((4, 3)), jitted=add)


def test_layouts_give_the_same_values_without_compiling_again():
    def f(x):
        # The sines are positive: a sum that cancels is off by many units of its last place.
        return x[::-1] * 2 + 1, x.sum(axis=0), np.sin(x / 16).sum(axis=1)

    jitted, kernels = jit(f), 0
    for x in in_each_layout(np.arange(35.0).reshape(5, 7)).values():
        agrees(f, x, jitted=jitted, ulp=4)
        kernels = kernels or compiling.counters.kernels
    assert (jitted.state.traces, jitted.state.compiles) == (1, 1)
    assert compiling.counters.kernels == kernels


def test_results_of_a_case_of_each_layout_are_those_of_numpy():
    x = np.arange(12.0).reshape(3, 4)
    agrees(lambda x: x[::-1, ::-2] * 2 + 1, x)
    agrees(lambda v: np.broadcast_to(v, (2, 3)).sum(), np.arange(3.0))
    agrees(lambda v: v.sum(), np.broadcast_to(np.arange(3.0), (2, 3)))


def test_a_fortran_array_reshapes_in_c_order():
    fortran = np.asfortranarray([[1, 2], [3, 4]])
    f = agrees(lambda x: x.reshape(4), fortran)
    assert f(fortran).tolist() == [1, 2, 3, 4]
    cube = np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))
    for order in "CFAK":
        agrees(lambda x, order=order: x.ravel(order), cube)
        agrees(lambda x, order=order: x.ravel(order), np.ascontiguousarray(cube))
    for order in "CFA":
        agrees(lambda x, order=order: x.reshape((4, -1), order=order) + 1, cube)
    agrees(lambda x: x.T.reshape(-1), cube)


def test_big_endian_arrays_are_accepted():
    for dtype in (">f8", ">f4", ">i4", ">u2", ">c16"):
        f = agrees(lambda x: x + 1, np.arange(3).astype(dtype))
        agrees(lambda x: x + 1, np.arange(5).astype(dtype)[::-2], jitted=f)
        assert f.state.traces == 1
        agrees(lambda x: (x.sum(), x.max(), x[1:], x.T), np.arange(3).astype(dtype))


def test_zero_dimensional_arrays_and_scalars_keep_their_kind():
    f = jit(lambda x: x * 2 + 1)
    plain = lambda x: x * 2 + 1  # noqa: E731
    for x in (np.array(2.0), np.float32(2), np.int8(3), 2, 2.5, True, np.float64(0.5), 1 + 2j):
        agrees(plain, x, jitted=f)
    agrees(lambda x: x[()], np.array(2.0))
    assert (type(f(2)), type(f(2.5)), type(f(np.float32(2)))) == (int, float, np.float32)


def test_float16_overflows_to_infinity():
    agrees(lambda x: x**2, np.array([300.0], np.float16))
    result = jit(lambda x: x**2)(np.array([300.0], np.float16))
    assert result.dtype == np.float16 and np.isinf(result[0])


@pytest.mark.filterwarnings("ignore")
def test_what_is_no_plain_numeric_array_runs_as_numpy():
    agrees(lambda x: x + x, np.array(["a", "b"], object))
    agrees(lambda x: x == "a", np.array(["a", "b"]))
    agrees(lambda x: x - x[0], np.array(["2020-01-01", "2020-01-03"], "M8[D]"))
    agrees(lambda x: x["a"] + 1, np.array([(1, 2.0)], [("a", int), ("b", float)]))
    agrees(lambda x: x * 2, np.arange(3, dtype=np.longdouble))
    matrix = np.matrix([[1, 2], [3, 4]])
    same(np.asarray(jit(lambda x: x * x)(matrix)), np.asarray(matrix * matrix))
    assert type(jit(lambda x: x * x)(matrix)) is np.matrix
    assert jit(lambda x: x * x)(matrix).tolist() == [[7, 10], [15, 22]]
    masked = numpy.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    assert str(jit(lambda x: x + 1)(masked)) == str(masked + 1)


def test_ragged_lists_raise_what_numpy_raises():
    agrees(lambda x: np.sin([[1.0, 2.0], [x]]), 3.0)
    agrees(lambda items: np.asarray(items) + 1, [[1.0, 2.0], [3.0]])


def test_an_identity_gives_the_value_in_fresh_memory():
    x = np.ones(5)
    result = jit(lambda x: x)(x)
    same(result, x)
    assert result is not x and not np.shares_memory(result, x)


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_sizes_that_depend_on_values_are_those_of_numpy():
    x, repeats = np.array([3.0, 0.0, 1.0, 3.0]), np.array([1, 0, 2, 1])
    for function, args, others in [
        (lambda x: np.unique(x), (x,), (x[:2],)),
        (lambda x: np.nonzero(x), (x,), (x - 3,)),
        (lambda x, r: np.repeat(x, r), (x, repeats), (x, repeats + 1)),
        (lambda x, n: x[:n], (x, 2), (x, 3)),
        (lambda n: np.arange(n), (3,), (5,)),
        (lambda x: np.zeros(int(x.sum())), (x,), (x[:1],)),
        (lambda x: x[x > 0.5], (x,), (-x,)),
        (lambda x: np.flatnonzero(x).sum(), (x,), (x - 1,)),
    ]:
        f = agrees(function, *args)
        agrees(function, *others, jitted=f)
        agrees(function, *args, jitted=f)


def test_arguments_that_others_leave_out_work():
    x = np.arange(12.0).reshape(3, 4)
    y = np.arange(12).reshape(3, 4)
    agrees(lambda x: x.sum(axis=1, keepdims=True), x)
    agrees(lambda x: x.sum(0), x)
    agrees(lambda x: np.mean(x, axis=(0, 1)), x)
    agrees(lambda x: np.percentile(x, 50, axis=0), x)
    agrees(lambda x: np.einsum("ij,ij->i", x, x), x)
    agrees(lambda x: x @ x.T, y)
    agrees(lambda x: x[0] @ x[1], y)
