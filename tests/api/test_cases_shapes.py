"""Shapes, layouts and inputs that other compilers get wrong, refuse or compile again for."""

from __future__ import annotations

import numpy as np
import numpy.ma
import pytest
from oracle import agrees, same

from jitwise import jit


def mean_of_waves(x):
    return np.sum(np.sin(x) * 2 + x) / x.shape[0]


def test_three_hundred_lengths_are_one_trace_and_one_compile():
    f = jit(mean_of_waves)
    for n in range(2, 302):
        x = np.linspace(0, 1, n)
        assert abs(f(x) - mean_of_waves(x)) < 1e-12
    assert f.state.traces == 1
    assert f.state.compiles == 1


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


def layouts(x):
    wide = np.zeros((x.shape[0] * 2, x.shape[1] * 3), x.dtype)
    wide[::2, ::3] = x
    raw = np.zeros(x.nbytes + 1, np.uint8)
    unaligned = raw[1:].view(x.dtype).reshape(x.shape)
    unaligned[...] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    return {
        "C": x,
        "Fortran": np.asfortranarray(x),
        "negative": x[::-1, ::-2],
        "strided": wide[::2, ::3],
        "broadcast": np.broadcast_to(x[0], x.shape),
        "unaligned": unaligned,
        "read-only": frozen,
    }


def test_layouts_give_the_same_values_without_compiling_again():
    def f(x):
        return x[::-1] * 2 + 1, x.sum(axis=0), np.sin(x).sum(axis=1)

    jitted = jit(f)
    for x in layouts(np.arange(35.0).reshape(5, 7)).values():
        agrees(f, x, jitted=jitted, ulp=4)
    assert jitted.state.traces == 1


def test_a_fortran_array_reshapes_in_c_order():
    agrees(lambda x: x.reshape(4), np.asfortranarray([[1, 2], [3, 4]]))


def test_big_endian_arrays_are_accepted():
    for dtype in (">f8", ">f4", ">i4", ">u2", ">c16"):
        agrees(lambda x: x + 1, np.arange(3).astype(dtype))


def test_zero_dimensional_arrays_and_scalars_keep_their_kind():
    f = jit(lambda x: x * 2 + 1)
    plain = lambda x: x * 2 + 1  # noqa: E731
    for x in (np.array(2.0), np.float32(2), np.int8(3), 2, 2.5, True, np.float64(0.5), 1 + 2j):
        agrees(plain, x, jitted=f)
    agrees(lambda x: x[()], np.array(2.0))


def test_float16_overflows_to_infinity():
    agrees(lambda x: x**2, np.array([300.0], np.float16))


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
