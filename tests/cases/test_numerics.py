"""Small programs whose numbers other compilers get wrong."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from beside_numpy import CALLS, Beside
from layouts import unaligned

from jitwise import jit

case = pytest.mark.case
INTS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
SIZES = [0, 1, 3, 1000]


def ints(dtype: str, size: int, seed: int = 0) -> np.ndarray:
    """Numbers of the whole range; zero, one, the least and the greatest among them."""
    limits = np.iinfo(dtype)
    random = np.random.default_rng(seed)
    found = random.integers(limits.min, limits.max, size, dtype, endpoint=True)
    special = np.array([0, 1, limits.min, limits.max, 3, limits.max - 1], dtype)
    chosen = random.random(size) < 0.6
    found[chosen] = special[random.integers(0, len(special), chosen.sum())]
    if limits.min:
        found[random.random(size) < 0.2] = -1
    return found


def sizes_and_layouts(*makers):
    """Arguments of every size, then of the same size strided, reversed and unaligned."""
    for size in SIZES:
        yield tuple(make(size) for make in makers)
    arrays = [make(74) for make in makers]
    yield tuple(array[::2] for array in arrays)
    yield tuple(array[::-3] for array in arrays)
    yield tuple(unaligned(array) for array in arrays)


QUOTIENTS = {
    "plain": lambda a, b: a // b,
    "remainder": lambda a, b: (a % b, np.fmod(a, b)),
    "both": lambda a, b: divmod(a, b),
    "in a chain": lambda a, b: (((a + 1) // b) ^ a) * 2 - a % b,
    "summed": lambda a, b: ((a // b).sum(), (a % b * 3).max(initial=0)),
    "by a part of it": lambda a, b: (a // b[:1] + 1, a[:1] % b),
    "by a column": lambda a, b: (a[:30] // b[:5, None]) + (b[:30] // a[:5, None]),
    "chosen": lambda a, b: np.where(b != 0, a // b, a),
}


@case("C01")
@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("name", QUOTIENTS)
def test_a_quotient_of_integers_by_zero_is_zero_in_any_program(name, dtype):
    f = Beside(QUOTIENTS[name])
    for args in sizes_and_layouts(lambda n: ints(dtype, n), lambda n: ints(dtype, n, 1)):
        f(*args)
    f.compiled(traces=None if name in ("by a part of it", "by a column") else 1)


@case("C01")
@pytest.mark.parametrize("dtype", INTS)
def test_a_quotient_by_a_zero_that_is_a_scalar_is_zero(dtype):
    zero = np.dtype(dtype).type(0)
    for divisor in (0, zero, np.array(0, dtype)):
        f = Beside(lambda a, b: (a // b + 1, (b + 1) // a, a % b))
        for size in SIZES:
            f(ints(dtype, size), divisor)
        f.compiled()
    least = np.iinfo(dtype).min
    g = Beside(lambda a: (a // 0 + a % 0, least // (a - a)))
    for size in SIZES:
        g(ints(dtype, size))
    g.compiled(traces=1)


@case("C01")
@pytest.mark.parametrize("dtype", INTS)
def test_a_quotient_of_scalars_by_zero_is_zero(dtype):
    f = Beside(lambda a, b: (a // b, a % b, divmod(a, b)))
    kind = np.dtype(dtype).type
    for a in (0, 1, 7, np.iinfo(dtype).min):
        for b in (0, 1, np.iinfo(dtype).max):
            f(kind(a), kind(b))
    f.compiled(traces=1)


@case("C01")
def test_a_quotient_of_python_numbers_by_zero_raises_as_python_does():
    f = Beside(lambda a, b: a // b)
    for a, b in ((7, 2), (7, 0), (-7, 2), (7.0, 0.0), (True, False)):
        f(a, b)


@case("C01")
@pytest.mark.parametrize("mode", ["ignore", "warn", "raise"])
@pytest.mark.parametrize("name", QUOTIENTS)
def test_a_quotient_by_zero_warns_or_raises_as_the_error_state_says(name, mode):
    f = Beside(QUOTIENTS[name])
    with np.errstate(all=mode):
        for size in SIZES:
            f(ints("i8", size), ints("i8", size, 1))
        f(np.arange(9), np.arange(1, 10))
    f.compiled()


@case("C04")
@pytest.mark.parametrize("dtype", INTS)
def test_a_python_int_too_large_for_the_dtype_raises(dtype):
    limits = np.iinfo(dtype)
    for number in (limits.max + 1, limits.min - 1, 2**64, -(2**63) - 1, 10**30):
        for name in ("array first", "number first", "in a chain", "assigned", "compared"):
            f = Beside(
                {
                    "array first": lambda x, n=number: x + n,
                    "number first": lambda x, n=number: n * x,
                    "in a chain": lambda x, n=number: (x * 2 + 1) - n,
                    "assigned": lambda x, n=number: np.full_like(x, n),
                    "compared": lambda x, n=number: (x + 1 < n, x == n),
                }[name]
            )
            for size in (3, 0, 1000):
                f(ints(dtype, size))
    g = Beside(lambda x, n: x + n)
    for number in (5, limits.max, limits.max + 1, limits.min, limits.min - 1, 3):
        g(ints(dtype, 3), number)


@case("C05")
@pytest.mark.parametrize("dtype", [*FLOATS, "c8", "c16", "i4", "u1", "?"])
@pytest.mark.parametrize(
    "number", [2, 0.1, True, 1j, np.float64(0.1), np.float32(0.1), np.int8(3), np.float16(2)]
)
def test_a_python_number_is_weak_and_a_numpy_number_is_not(dtype, number):
    literal = Beside(lambda x: (x * number, number + x, np.cos(x * number) + number), ulp=4)
    argument = Beside(lambda x, n: (x * n, n + x, (x[:1] * n + n) * n))
    for size in SIZES:
        x = (np.arange(size) % 2).astype(dtype)
        literal(x)
        argument(x, number)
    literal.compiled(traces=1)
    argument.compiled()


@case("C07")
@pytest.mark.parametrize("dtype", [*INTS, "?"])
def test_quotients_and_means_of_integers_are_float64(dtype):
    f = Beside(lambda a, b: (a / b, a.mean(), np.mean(a * b), a.mean(axis=0), a.var()), ulp=2)
    with np.errstate(all="ignore"):
        for size in filter(None, SIZES):
            a = (np.arange(size) % 2).astype(dtype)
            f(a, a[::-1].copy())
        f.compiled(traces=1)
        f(np.zeros(0, dtype), np.zeros(0, dtype))  # as Python: NumPy warns of it, once
    assert jit(lambda a: a / a)(np.ones(1, "i4")).dtype == np.float64
    assert jit(np.mean)(np.ones(5, dtype)).dtype == np.float64


def out_of_range(dtype: str, size: int) -> np.ndarray:
    """Numbers within and beyond the limits of every integer dtype."""
    edges = [2.0**k + d for k in (7, 8, 15, 16, 31, 32, 62, 63, 64) for d in (-1, 0, 1)]
    values = [*edges, *[-each for each in edges], 0.5, -0.5, -1.0, 254.7, np.nan, np.inf, -np.inf]
    if np.dtype(dtype).kind == "f":
        with np.errstate(all="ignore"):
            return np.resize(np.array(values), size).astype(dtype)
    return ints(dtype, size)


# What NumPy itself gives out of range depends on the place in the array, for these.
BY_PLACE = {("f8", "u4"), ("f4", "u4"), ("f4", "u8"), ("f8", "u8"), ("f2", "u4"), ("f2", "u8")}


@case("C08")
@pytest.mark.parametrize("source", [*FLOATS, *INTS])
def test_casts_of_numbers_out_of_range_are_those_of_numpy(source):
    for target in [np.dtype(name).type for name in [*INTS, *FLOATS, "?", "c8"]]:
        f = Beside(lambda x, t=target: (x.astype(t), (x * 2).astype(t) + t(1), x[::2].astype(t)))
        g = Beside(lambda x, t=target: x.astype(t))
        for size in (57, 1000, 3, 1, 0):
            x = out_of_range(source, size)
            if (source, np.dtype(target).str[1:]) in BY_PLACE:
                x = x[(x >= 0) & (x < np.iinfo(target).max)]
                g(x)
                continue
            f(x)
            g(unaligned(x))
        g.compiled(traces=1)


@case("C10")
@pytest.mark.parametrize("dtype", INTS)
def test_shifts_by_the_width_or_more_are_those_of_numpy(dtype):
    width = np.dtype(dtype).itemsize * 8
    f = Beside(lambda a, b: (a << b, a >> b, ((a ^ 1) << b) + (a >> b) * 2, (a << b).sum()))
    g = Beside(lambda a, b: (a[:, None] << b[:9], a >> b[0], a[0] << b))
    for size in (*SIZES, 130):
        counts = (np.arange(size) % (2 * width) if size > 3 else np.full(size, width)).astype(dtype)
        for shift in (counts, counts + np.array(1, dtype), counts[::-1]):
            f(ints(dtype, size), shift)
            if size:
                g(ints(dtype, size), shift)
    f.compiled(traces=1)
    for number in (0, 1, width - 1, width, width + 1, 100):
        h = Beside(lambda a, n=number: (a << n, a >> n, (a << n) | (a >> n)))
        for size in SIZES:
            h(ints(dtype, size))
        h.compiled(traces=1)
    if np.iinfo(dtype).min:
        for size in SIZES:
            f(ints(dtype, size), np.full(size, -1, dtype))


@case("C12")
@pytest.mark.parametrize("size", [1, 2, 3, 17, 1000, 300_000])
def test_subnormal_numbers_are_kept_by_compiled_code(size):
    f = Beside(lambda x: (np.sqrt(x), x * 0.5, x + x, -x, x.sum(), x.max(), x > 0, x / 4 * 4))
    g = Beside(lambda x, y: (x * y, x * y + 0.0, (x * y != 0).sum()))
    log = Beside(lambda x: np.log(x) + 1, ulp=2)
    f(np.resize([5e-324, 1e-310, 2e-308], size))
    f(np.resize(np.array([1e-45, 1e-40, 1e-38], "f4"), size))
    g(np.full(size, 1e-200), np.full(size, 1e-120))
    g(np.full(size, 1e-30, "f4"), np.full(size, 1e-12, "f4"))
    log(np.full(size, 1e-310))
    for each in (f, g, log):
        each.compiled()
    assert jit(lambda x: x * 1e-120)(np.full(size, 1e-200))[-1] == 1e-320
    assert np.float64(1e-310) / 2 == 5e-311, "the caller's thread flushes no number to zero"


@case("C14")
@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("mode", ["ignore", "warn", "raise"])
def test_complex_quotients_by_zero_are_those_of_numpy(dtype, mode):
    values = np.array([1 + 1j, 0, -1, 1j, complex(np.inf, 1), complex(np.nan, 0), -1j], dtype)
    f = Beside(lambda a, b: (a / b, a / 0, 1 / b, ((a + 1) / b).real))
    with np.errstate(all=mode):
        for size in SIZES:
            f(np.resize(values, size), np.resize([0, 0, 1, 0, 2j, 0, 0, 0, 1], size).astype(dtype))
    f.compiled(traces=1)


@case("C15")
@pytest.mark.parametrize("size", SIZES)
def test_minus_of_booleans_raises_as_numpy_does(size):
    a = np.arange(size) % 2 == 0
    for function in (
        lambda a, b: a - b,
        lambda a, b: -a,
        lambda a, b: np.negative(a & b),
        lambda a, b: (a | b) - (a ^ b),
        lambda a, b: np.diff(a) ^ np.diff(b),
        lambda a, b: a - True,
        lambda a, b: (a + b, a * b, a & ~b, a - 1, True * a - 2.0),
    ):
        Beside(function)(a, ~a)


@case("C17")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", [1, 2, 3, 7, 8, 9, 16, 31, 33, 64, 100])
def test_the_first_nan_is_found_at_every_position(dtype, width):
    f = Beside(lambda x: (np.argmax(x), np.argmin(x), x.max(), x.min()))
    rows = Beside(lambda x: (x.argmax(axis=1), x.argmin(axis=1), x.max(axis=1), x.min(axis=1)))
    columns = Beside(lambda x: (x.argmax(axis=0), x.argmin(axis=0), x.max(axis=0)))
    fused = Beside(lambda x: (np.argmax(x * 2 + 1, axis=1), np.nanmax(x + 0), (x - 1).min(axis=1)))
    line = (np.arange(width) * 7 % 5).astype(dtype)
    first, second = (np.tile(line, (width, 1)) for _ in range(2))
    np.fill_diagonal(first, np.nan)  # row k has its NaN at k
    second[np.tril_indices(width)] = np.nan  # and here at 0..k
    f(line)
    for k in range(0, width, 1 + width // 12):
        f(first[k])
        f(second[k, ::-1])
    for table in (first, second, second[:, ::-1], np.asfortranarray(first), np.tile(line, (3, 1))):
        for each in (rows, columns):
            each(table)
        with np.errstate(all="ignore"):
            if width > 1:
                fused(np.where(np.isnan(table), table, table + 0))
    f.compiled(traces=1)
    rows.compiled()
    columns.compiled()


@case("C17")
def test_of_zeros_of_both_signs_the_first_is_the_extreme():
    f = Beside(lambda x: (np.argmin(x), np.argmax(x), np.argmin(-x), x.argmin(axis=-1)))
    for size in (3, 64, 1000):
        x = np.zeros(size)
        x[1::2] = -0.0
        f(x)
        f(-x)
    f.compiled(traces=1)


@case("C18")
@pytest.mark.parametrize("dtype", FLOATS)
def test_no_operation_on_floats_is_folded_away(dtype):
    f = Beside(lambda x: (x * 0, x - x, x / x, x + 0.0, x * 1, 0 - x, x**0, x + -0.0, x - 0.0))
    g = Beside(lambda x: ((x * 2 - x * 2) + 1, (x == x), (x != x).sum(), np.where(x == x, 1, 2)))
    special = np.array([1, np.nan, np.inf, -np.inf, -0.0, 0.0, -2], dtype)
    for size in SIZES:
        f(np.resize(special, size))
        g(np.resize(special, size))
    f.compiled(traces=1)
    g.compiled(traces=1)

    def means(v, m):
        a = np.where(m, np.nan, v)
        return {"l": a.mean(), "t": v.mean() + a.mean() * 0.0}

    h = Beside(means, ulp=2)
    for size in (1, 4, 1000):
        found = h(np.arange(size).astype(dtype), np.arange(size) % 4 == 0)
        assert np.isnan(found["t"])
    h.compiled(traces=1)


@case("C19")
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("size", [*SIZES, 70_000])
def test_sums_are_not_reassociated_and_products_not_contracted(dtype, size):
    digits = 12 if dtype in ("f4", "c8") else 27
    a, b, c = (np.full(size, 1 + k * 2.0**-digits).astype(dtype) for k in (1, -1, 0))
    f = Beside(lambda a, b, c: (a * b - c, c - a * b, a * b + (-c), (a * b - c) * 2, a * a - b * b))
    g = Beside(lambda a, b: ((a + b) - a, (a + b) + a - b, (a - b) + b, a / b * b, a * b / a))
    f(a, b, c)
    g(np.full(size, 1e16 if digits == 27 else 1e8).astype(dtype), np.ones(size, dtype))
    random = np.random.default_rng(size)
    x, y, z = (random.standard_normal(size).astype(dtype) for _ in range(3))
    f(x, y, z)
    g(x, y)
    f.compiled(traces=1)
    g.compiled(traces=1)


@case("C20")
def test_a_float32_sum_of_many_terms_loses_none():
    ones = np.ones(20_000_000, np.float32)
    total, fused = jit(lambda x: x.sum()), jit(lambda x: (x * 2 - 1).sum())
    assert total(ones) == fused(ones) == np.float32(2e7)
    assert total(ones).dtype == np.float32
    assert total(ones[::2]) == np.float32(1e7)
    assert (total.state.traces, total.state.compiles) == (1, 1)
    tenths = np.full(2_000_000, 0.1, np.float32)
    mean = jit(lambda x: (x.mean(), x.mean(axis=0), x.reshape(2, -1).mean(axis=1)))
    for each in mean(tenths):
        assert np.abs(each - 0.1).max() < 1e-7


@case("C20")
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_sums_are_as_accurate_as_numpys(axis):
    random = np.random.default_rng(0)
    f = jit(lambda x: x.sum(axis=axis))
    for shape in ((3, 5), (1, 1000), (1000, 1), (700, 900), (90_000, 7)):
        x = random.random(shape).astype("f4")
        exact = x.astype("f8").sum(axis=axis)
        ours, numpys = (np.abs(g(x) - exact).max() for g in (f, lambda x: x.sum(axis=axis)))
        assert ours <= max(numpys * 1.5, 1e-6 * np.abs(exact).max())


EMPTY = {
    "sum": lambda x: (x.sum(), x.prod(), (x * 2 + 1).sum(), np.any(x), np.all(x)),
    "mean": lambda x: x.mean(),
    "std": lambda x: x.std(),
    "max": lambda x: x.max(),
    "min of a chain": lambda x: (x * 2 + 1).min(),
    "argmax": lambda x: np.argmax(x),
    "argmin": lambda x: (x + 1).argmin() + 1,
    "initial": lambda x: x.max(initial=3),
    "columns": lambda x: np.max(np.stack([x, x], axis=1), axis=0),
    "median": lambda x: np.median(x),
    "ptp": lambda x: np.ptp(x),
    "row sums": lambda x: np.sum(x.reshape(-1, 1), axis=1),
    "first": lambda x: x[0],
    "cumsum": lambda x: np.cumsum(x) + 1,
}


@case("C22")
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?"])
@pytest.mark.parametrize("name", EMPTY)
def test_reductions_of_empty_arrays_are_told_at_each_call(name, dtype):
    f = Beside(EMPTY[name], ulp=4)
    for size in (5, 0, 1, 0, 1000, 0):
        f((np.arange(size) % 2).astype(dtype))
    assert len(f.said) <= 1  # calls that raise run as Python in the end; the others do not
    f(np.ones(7, dtype))


@case("C22")
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 3), (1, 0), (0, 1)])
def test_reductions_of_empty_tables_along_an_axis(shape):
    for axis in (0, 1, -1, (0, 1), None):
        for name in ("sum", "max", "mean", "prod", "any", "argmax"):
            if name == "argmax" and axis == (0, 1):
                continue
            f = Beside(lambda x, n=name, a=axis: getattr(np, n)(x, axis=a), ulp=4)
            f(np.ones((2, 2)))
            f(np.ones(shape))
            f(np.ones((4, 3)))


@case("C23")
@pytest.mark.parametrize("mode", ["ignore", "warn", "raise", "call", "print"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", SIZES)
def test_both_sides_of_where_are_evaluated(mode, dtype, size, capfd):
    heard: list[tuple[str, int]] = []
    functions = (
        lambda a: np.where(a > 0, np.log(a), 0.0),
        lambda a: np.where(a > 0, np.log(a * 2) + 1, np.sqrt(a)).sum(),
        lambda a: np.where(a != 0, 1 / a, 0) * 2,
    )
    with np.errstate(all=mode, call=lambda *what: heard.append(what)):
        for function in functions:
            f = Beside(function, ulp=4)
            f(np.resize(np.array([2, 1, 3], dtype), size))
            f(np.resize(np.array([-1, 0, 1], dtype), size))
            f.compiled(traces=1)
            if mode == "call" and size:
                assert heard
                assert len(heard) % (1 + CALLS) == 0, "each call is heard as often as NumPy's own"
    capfd.readouterr()


CHOSEN = {
    "quotient": lambda m, a, b: np.where(m, 1 / a, b),
    "quotient or zero": lambda m, a, b: np.where(m, 1 / a, 0) * 2,
    "either quotient": lambda m, a, b: np.where(m, 1 / a, 1 / b),
    "root": lambda m, a, b: np.where(m, np.sqrt(a - 1 - b), b),
    "logarithm": lambda m, a, b: np.where(m, np.log(a), 0),
    "product": lambda m, a, b: np.where(m, (a + 2) * 3e4 * (b + 2) * 3e4, 0),
    "int32": lambda m, a, b: np.where(m, (3e4 * (a + 1) * (b + 1) * 3e4).astype("i4"), 0),
    "int64": lambda m, a, b: np.where(m, (b / a).astype("i8"), 0),
    "int8": lambda m, a, b: np.where(m, (b / a).astype("i1"), 0),
    "uint64": lambda m, a, b: np.where(m, (b / a).astype("u8"), 0),
    "narrowed": lambda m, a, b: np.where(m, ((a + 1).astype("f8") * 1e39).astype("f4"), 0),
    "complex": lambda m, a, b: np.where(m, (1 + 1j) / (a + 0j), 0),
    "complex quotient": lambda m, a, b: (1 + 1j) / (a + 0j),
    "assigned": lambda m, a, b: np.divide(1, a, where=m, out=np.zeros_like(a)),
    "remainder": lambda m, a, b: np.where(m, b % a, 0) + np.where(m, b // a, 0),
    "select": lambda m, a, b: np.select([m, ~m], [1 / a, b]),
    "times the mask": lambda m, a, b: (1 / a) * m,
    "nested": lambda m, a, b: np.where(m, np.where(b > 0, 1 / a, -1 / a), 0),
    "of constants": lambda m, a, b: 1 / np.where(m, 2.0, 0.0),
    "of constants, root": lambda m, a, b: np.sqrt(np.where(m, -1.0, 1.0)) + a,
    "of the mask": lambda m, a, b: 1 / m.astype(a.dtype),
    "minimum": lambda m, a, b: np.minimum(1 / a, b),
    "clipped": lambda m, a, b: np.clip(1 / a, -1, 1),
}


@case("C23")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", CHOSEN)
def test_what_is_not_chosen_raises_its_flags_all_the_same(name, dtype):
    f = Beside(CHOSEN[name], ulp=4)
    with np.errstate(all="warn", under="ignore"):
        for size in (3, 1, 100):
            a, b = np.ones(size, dtype), np.ones(size, dtype)
            a[size // 2] = b[0] = 0
            for mask in (a != 0, a == 0, b != 0, np.zeros(size, bool), np.ones(size, bool)):
                f(mask, a, b)
                f(mask, a + 1, b + 1)
    f.compiled(traces=1)


@case("C23")
def test_a_warning_names_the_function_and_comes_once_a_call():
    def logarithm(a):
        return np.where(a > 0, np.log(a), 0.0)

    jitted = jit(logarithm)
    with np.errstate(all="warn"):
        for _ in range(3):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                jitted(np.array([0.0, 1.0]))
            assert [str(each.message) for each in caught] == ["divide by zero encountered in log"]
    assert not [each for each in jitted.records() if each.subject == "fallback"]


@case("C24")
@pytest.mark.parametrize("size", SIZES)
def test_integers_and_floats_of_64_bits_stay_so(size):
    f = Beside(lambda x: (x + 1, x * 2, x.sum(), x.cumsum(), np.abs(x).max(initial=0), x - 3))
    f(np.resize([2**40, -(2**62), 2**31], size))
    f(np.resize(np.array([2**40, 2**63 + 5, 2**31], "u8"), size))
    f(np.resize([1e300, 5e299, 1e-300], size) if size < 1000 else np.full(size, 1e300))
    f(np.resize(np.array([2**31 - 1, 1, -(2**31)], "i4"), size))
    f(np.resize(np.array([255, 1], "u1"), size))
    f.compiled(traces=5)
    g = Beside(lambda n: (n + 1, n * n, np.arange(3) + n, np.zeros(2) + n))
    for number in (2**31, 2**40, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 2**63, 2**70):
        g(number)
