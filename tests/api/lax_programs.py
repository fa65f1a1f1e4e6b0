"""Programs with branches and loops of `lax`, for `test_lax_control`: `program(lax, *args)` is
called with `jitwise.lax` and with a plain Python reference.
"""

# ruff: noqa: B023 - programs are called in the turn that makes them, and stand on a line
from __future__ import annotations

import dataclasses
from collections import namedtuple
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from plain_lax import is_number, mapped

Pair = namedtuple("Pair", "x y")


@dataclasses.dataclass
class State:
    w: Any
    b: Any


class Row(NamedTuple):
    """`changes`: the functions of the program write to arrays, so that they are called as often as
    the loop says by the reference.
    """

    name: str
    program: Any
    arguments: tuple
    changes: bool = False


CARRIES = {
    "int": 3,
    "float": 2.5,
    "bool": True,
    "complex": 1 + 2j,
    "i8": np.int8(3),
    "u2": np.uint16(3),
    "i8 scalar": np.int64(3),
    "f2": np.float16(1.5),
    "f4": np.float32(1.5),
    "f8": np.float64(1.5),
    "c8": np.complex64(1 + 2j),
    "b1": np.bool_(True),
    "0-d": np.array(1.5),
    "0-d int": np.array(2),
    "0-d bool": np.array(True),
    "0-d f2": np.array(1.5, np.float16),
    "bools": np.array([True, False, True]),
    "ints": np.arange(3, dtype=np.int32),
    "floats": np.linspace(0, 1, 3),
    "halves": np.linspace(0, 1, 3).astype(np.float16),
    "complexes": np.linspace(0, 1, 3) * (1 - 1j),
    "empty": np.zeros(0),
    "rows": np.arange(6.0).reshape(3, 2),
}
NESTS = {
    "tuple": lambda a, b: (a, b),
    "list": lambda a, b: [a, b],
    "dict": lambda a, b: {"b": b, "a": a},
    "namedtuple": lambda a, b: Pair(a, b),
    "dataclass": lambda a, b: State(a, b),
    "deep": lambda a, b: {"w": [(a, None)], "s": ("text", Pair(b, abs))},
    "empty tuple": lambda a, b: ((), a, {}, b),
}
STEPS = {
    "kept": lambda x: x,
    "plus": lambda x: x + x,
    "not": lambda x: x & True if np.asarray(x).dtype.kind == "b" else x - 1,
    "half": lambda x: x * 0.5,
    "third": lambda x: x / 3,
    "imaginary": lambda x: x * (0.5 + 1j),
    "wide": lambda x: x + np.float64(1),
    "array": lambda x: x + np.ones(3, np.float32) if np.ndim(x) < 2 and np.size(x) else x,
    "int array": lambda x: x * np.array(2),
}


def doubled(step):
    """A function of nests: a step for each number."""
    return lambda item: mapped(lambda leaf: step(leaf) if is_number(leaf) else leaf, item)


LEAVES = [(2, 1.5), (np.arange(3), np.float32(2)), (np.ones((2, 2)), True), (3, np.array(2))]
FEW = ("plus", "half", "wide", "array")


def loops(step):
    """Loops that do a step in each turn: `loop(lax, carry, turns)`."""
    return {
        "fori": lambda lax, c, n: lax.fori_loop(0, n, lambda i, c: step(c), c),
        "while": lambda lax, c, n: lax.while_loop(
            lambda s: s[0] < n, lambda s: (s[0] + 1, step(s[1])), (0, c)
        ),
        "while, counted last": lambda lax, c, n: lax.while_loop(
            lambda s: s["n"] < n, lambda s: {"n": s["n"] + 1, "c": step(s["c"])}, {"c": c, "n": 0}
        ),
        "scan": lambda lax, c, n: lax.scan(lambda c, x: (step(c), c), c, None, length=n),
    }


def carries() -> Iterator[Row]:
    """Each kind of carry, in loops that keep and that change it."""
    for name, carry in CARRIES.items():
        for how, step in STEPS.items():
            try:
                step(step(carry))
            except TypeError:
                continue
            if name == "complex" and how in ("wide", "third"):
                continue  # Python's complex numbers, where they are not like NumPy's
            for loop, program in loops(step).items():
                for turns in (0, 1, 3):
                    yield Row(f"{loop}, {name}, {how}, {turns}", program, (carry, turns))


def nests() -> Iterator[Row]:
    """Nests that are carried, chosen and stacked."""
    for name, nest in NESTS.items():
        for number, (a, b) in enumerate(LEAVES):
            for how in FEW:
                step = doubled(STEPS[how])
                programs = {
                    key: lambda lax, a, b, n, loop=loop, nest=nest: loop(lax, nest(a, b), n)
                    for key, loop in loops(step).items()
                }
                programs["cond"] = lambda lax, a, b, n, step=step, nest=nest: lax.cond(
                    n > 0, step, lambda item: item, nest(a, b)
                )
                for key, program in programs.items():
                    for turns in (0, 2):
                        title = f"{key}, {name}, {number}, {how}, {turns}"
                        yield Row(title, program, (a, b, turns))


def rows() -> Iterator[Row]:
    """What `scan`, `map` and `associative_scan` run over and give."""
    for length in (0, 1, 4):
        x, y = np.linspace(0, 1, length), np.arange(2 * length).reshape(length, 2)
        for reverse in (False, True):
            name = f", {length}, {'reverse' if reverse else 'forth'}"

            def run(f, init, xs=lambda x, y: x, reverse=reverse, **options):
                return lambda lax, x, y: lax.scan(f, init, xs(x, y), reverse=reverse, **options)

            def associated(fn, elems=lambda x, y: x, reverse=reverse, axis=0):
                return lambda lax, x, y: lax.associative_scan(
                    fn, elems(x, y), reverse=reverse, axis=axis
                )

            yield Row("sums" + name, run(lambda c, x: (c + x, c), 0.0), (x, y))
            yield Row("from an int" + name, run(lambda c, x: (c + x, c * x), 0), (x, y))
            yield Row("unrolled" + name, run(lambda c, x: (c + x, x), 0.0, unroll=2), (x, y))
            yield Row("length" + name, run(lambda c, x: (c - x, x), 1, length=length), (x, y))
            yield Row("one" + name, run(lambda c, x: (c, 1), None), (x, y))
            both = lambda x, y: {"x": x, "y": (y, None)}  # noqa: E731
            yield Row(
                "two" + name,
                run(lambda c, r: (c + r["x"] * r["y"][0], (r["y"], None, "text")), 0, both),
                (x, y),
            )
            yield Row("none" + name, run(lambda c, x: (c + 1, None), 0), (x, y))
            listed = run(lambda c, x: (x, [c]), np.zeros(2), lambda x, y: y)
            yield Row("rows" + name, listed, (x, y))
            products = run(lambda c, x: (c, np.outer(x, x)), 0, lambda x, y: y)
            yield Row("rows of rows" + name, products, (x, y))
            yield Row("associated" + name, associated(np.add), (x, y))
            yield Row("in order" + name, associated(np.subtract, lambda x, y: y), (x, y))
            if length:
                yield Row("columns" + name, associated(np.add, lambda x, y: y, axis=1), (x, y))
            yield Row(
                "pairs" + name,
                associated(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), lambda x, y: (x, x * 2)),
                (x, y),
            )
        yield Row(f"map, {length}", lambda lax, x, y: lax.map(np.sin, x), (x, y))
        yield Row(
            f"map of pairs, {length}",
            lambda lax, x, y: lax.map(lambda p: {"s": p[0] + p[1], "n": None}, (x, y)),
            (x, y),
        )
        yield Row(
            f"map in map, {length}",
            lambda lax, x, y: lax.map(lambda row: lax.map(lambda v: v * 2, row), y),
            (x, y),
        )


def flipped(lax, p, x, y):
    return lax.fori_loop(0, 3, lambda i, c: (lax.select(c[1], x, c[0] + y), ~c[1]), (y, p))


def selects() -> Iterator[Row]:
    """Elements chosen by a mask or a truth, also by one that a loop carries."""
    for dtype in "?bBhHiIlLefdFD":
        for shape in ((), (3,), (2, 0), (2, 3)):
            x, y = np.ones(shape, dtype), np.zeros(shape, dtype)
            mask = np.arange(x.size).reshape(shape) % 2 == 0
            for pred in (mask, np.True_, False):
                title, chosen = f"select, {type(pred)}, {dtype}, {shape}", (pred, x, y)
                yield Row(title, lambda lax, p, x, y: lax.select(p, x, y), chosen)
            yield Row(f"select in a loop, {dtype}, {shape}", flipped, (mask, x, y))


def collatz(lax, n):
    step = lambda n: lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n)  # noqa: E731
    return lax.while_loop(lambda s: s[0] != 1, lambda s: (step(s[0]), s[1] + 1), (n, 0))


def substitution(lax, a, b):
    """Solves a triangular system."""

    def body(i, x):
        value = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
        return x.at(i, value) if hasattr(x, "at") else put(x, i, value)

    return lax.fori_loop(0, len(b), body, np.zeros(len(b)))


def put(x, i, value):
    x = x.copy()
    x[i] = value
    return x


def deep(lax, x, n):
    def outer(c, row):
        def middle(s):
            i, t = s
            inner = lax.fori_loop(0, i + 1, lambda j, u: u + row * j, t)
            return i + 1, lax.cond(i > 1, lambda: inner * 0.5, lambda: inner + 1.0)

        return lax.while_loop(lambda s: s[0] < n, middle, (0, c))[1], c

    return lax.scan(outer, np.zeros(x.shape[1]), x)


def powers(lax, x, n):
    return lax.switch(
        n, [lambda v: v, lambda v: v * v, lambda v: np.sqrt(abs(v)), lambda v: v > 0], x
    )


def slices(lax, x, n):
    def body(i, s):
        return s + x[:i].sum() - x[i + 1 :].sum() + x[i] - x[i - 1] * 2 + x[-1 - i]

    return lax.fori_loop(0, n, body, 0.0)


def programs() -> Iterator[Row]:
    """Programs of several loops and branches."""
    x = np.linspace(-1, 1, 7)
    for n in (1, 2, 7, 27):
        yield Row(f"collatz {n}", collatz, (n,))
        yield Row(f"collatz of NumPy {n}", collatz, (np.int64(n),))
    for n in (0, 1, 2, 5):
        a = np.tril(np.linspace(1, 2, n * n).reshape(n, n))
        yield Row(f"substitution {n}", substitution, (a, np.ones(n)))
        yield Row(f"deep {n}", deep, (x.reshape(7, 1) * np.ones(3), n))
        yield Row(f"slices {n}", slices, (x, n))
    for n in (-5, 0, 1, 2, 3, 9):
        yield Row(f"powers {n}", powers, (x, n))
        yield Row(f"powers of NumPy {n}", powers, (x, np.int32(n)))
        yield Row(f"powers of 0-d {n}", powers, (x, np.array(n)))
        yield Row(f"powers of int {n}", powers, (n, n))
        yield Row(
            f"range from {n}", lambda lax, n: lax.fori_loop(n, 3, lambda i, s: s + i, 0), (n,)
        )
        yield Row(
            f"range of NumPy from {n}",
            lambda lax, n: lax.fori_loop(n, np.int64(3), lambda i, s: s + i, 0),
            (np.int32(n),),
        )
        yield Row(f"cond of {n}", lambda lax, n: lax.cond(n, lambda: 1, lambda: 2.0), (n,))
        yield Row(
            f"cond of 0-d {n}",
            lambda lax, n: lax.cond(n, lambda a: a, lambda a: a * 1j, 2),
            (np.array(n),),
        )
    yield Row("decided", lambda lax: lax.cond(True, lambda: 1, lambda: 2.5), ())
    yield Row(
        "keys",
        lambda lax, n: lax.cond(n > 0, lambda: {"a": 1, "b": 2.0}, lambda: {"b": 5, "a": 3}),
        (1,),
    )
    yield Row(
        "keys of a carry",
        lambda lax, n: lax.fori_loop(
            0, n, lambda i, c: {"b": c["a"], "a": c["b"] + 1}, {"a": 1, "b": 5}
        ),
        (3,),
    )


def swapped(lax, x, n):
    return lax.fori_loop(0, n, lambda i, c: (c[1], c[0]), (x * 2, x + 1))


def swapped_and_written(lax, x, n):
    def body(i, c):
        a, b = c
        a[i] = 5.0
        b[i] += 1
        return b, a

    return lax.fori_loop(0, n, body, (x * 2, x + 1))


def twice(lax, x, n):
    a, b = lax.fori_loop(0, n, lambda i, c: (c[0], c[0]), (x * 2, x + 1))
    a[0] = 7.0
    return a, b


def twice_within(lax, x, n):
    def body(i, c):
        c[0][i] += 1.0
        return c[0], c[0]

    return lax.fori_loop(0, n, body, (x * 2, x + 1))


def own(lax, x, n):
    def body(i, c):
        c[i] = i
        return c

    return lax.fori_loop(0, n, body, x.copy())


def callers(lax, x, n):
    def body(i, c):
        c[i] = i
        return c

    return lax.fori_loop(0, n, body, x)


def captured(lax, x, n):
    def body(i, s):
        x[i] = s
        return s + x[i + 1]

    return lax.fori_loop(0, n, body, np.float64(0)), x[0]


def viewed(lax, x, n):
    v = x[1:]

    def body(i, s):
        v[i] += s
        return s + x[i]

    return lax.fori_loop(0, n, body, np.float64(1)), v.sum()


def chosen_and_written(lax, x, n):
    y, z = x * 2, x * 3
    w = lax.cond(n > 1, lambda: y, lambda: z)
    w[0] = 9.0
    return y, z, w


def written_in_branch(lax, x, n):
    y = x * 2

    def yes():
        y[0] = 4.0
        return y.sum()

    return lax.cond(n > 1, yes, lambda: y[1]), y


def argument_in_branch(lax, x, n):
    def yes(x):
        x[0] = 4.0
        return 1

    return lax.cond(n > 1, yes, lambda x: 2, x)


def written_later(lax, x, n):
    y = x * 2
    r = lax.fori_loop(0, n, lambda i, c: c, y)
    r[0] = 3.0
    return y, r


def written_after_rows(lax, x, n):
    def f(c, r):
        c[0] += 1.0
        return c, c

    return lax.scan(f, x * 2, None, length=n)


def row_written(lax, x, n):
    y = x.reshape(1, -1) * np.ones((n, 1))

    def f(c, r):
        r[0] = 5.0
        return c + r.sum(), None

    return lax.scan(f, 0.0, y), y


def buffers(lax, x, n):
    """Two buffers in turn: one is read, the other written."""

    def body(i, c):
        now, then = c
        then[1:-1] = (now[:-2] + now[2:]) * 0.5
        return then, now

    return lax.fori_loop(0, n, body, (x.copy(), x.copy()))


def one_in_two_places(lax, x, n):
    y = x * 2

    def body(i, c):
        c[0][i] = 1.0
        return c

    return lax.fori_loop(0, n, body, (y, y))


def given_and_kept(lax, x, n):
    y = x * 2

    def body(s):
        i, c = s
        c[i] = y[i] + 1
        return i + 1, c

    return lax.while_loop(lambda s: s[0] < n, body, (0, y)), y


def another_each_turn(lax, x, n):
    y = x * 2

    def body(i, c):
        y[i] = -1.0
        return y

    r = lax.fori_loop(0, n, body, x + 1)
    r[1] = 8.0
    return r, y


def view_given(lax, x, n):
    y = x * 2
    r = lax.cond(n > 1, lambda: y[1:], lambda: y[:-1])
    y[2] = 100.0
    return r, y


def tested_by_write(lax, x, n):
    def test(s):
        x[0] += 1
        return s < n

    return lax.while_loop(test, lambda s: s + 1, 0)


WRITES = (
    swapped,
    swapped_and_written,
    twice,
    twice_within,
    own,
    callers,
    captured,
    viewed,
    chosen_and_written,
    written_in_branch,
    argument_in_branch,
    written_later,
    written_after_rows,
    row_written,
    buffers,
    one_in_two_places,
    given_and_kept,
    another_each_turn,
    view_given,
    tested_by_write,
)


def writes() -> Iterator[Row]:
    """Programs that write to arrays, and have them under two names."""
    for program in WRITES:
        for n in range(program in (written_after_rows, row_written), 4):
            yield Row(f"{program.__name__}, {n}", program, (np.linspace(1, 2, 5), n), True)
