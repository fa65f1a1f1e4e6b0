"""Random nests of loops over elements and rows: native ones give what Python gives, or say that an
element is outside where Python would find it outside, and nowhere else.

Sums have NumPy's bits, also of rows longer than the 128 elements that it sums at a time.
"""

from __future__ import annotations

import random
import signal
import threading
import time

import numpy as np
import pytest

from jitwise.ir.parser import parse
from jitwise.ir.verify import verify
from jitwise.runtime import _native as native
from jitwise.runtime.executable import compile_graph

ZEROS = {"f64": "(0.0)", "f32": "(0.0)", "i64": "(0)"}
TYPES = "%0: i64[], %1: DTYPE[n, m], %2: DTYPE[n, m]"


class Nest:
    """One program as text, and as Python. `lines` of Python are indented by `depth`."""

    def __init__(self, seed: int, dtype: str, rows: bool = False) -> None:
        self.choose = random.Random(seed)
        self.dtype = dtype
        self.rows = rows
        self.graphs: list[str] = []
        self.lines: list[str] = []
        self.names = 10
        self.loop([])
        types = TYPES.replace("DTYPE", dtype)
        sizes = "where n = size(1, 0), m = size(1, 1)"
        self.text = "\n".join(
            [
                *self.graphs,
                f"graph f({types}) {sizes} {{",
                f" %3: i64[], %4: {dtype}[n, m] = while{{cond=@go0, body=@turn0}}(%0, %1, %2)",
                " return %3, %4\n}",
            ]
        )

    def fresh(self) -> str:
        self.names += 1
        return f"%{self.names}"

    def start(self, counters: list[str]) -> str:
        one, other = self.choose.choice(counters), self.choose.choice(counters)
        forms = ["{}", "{}", "{}", "{} + 1", "{} - 1", "n - {} - 1", "2*{}", "0", "{} + {}"]
        if self.rows:  # of which a program has many
            forms = ["{}"] * 9 + ["n - {} - 1"] * 9 + ["0"] * 4 + ["{} + 1"]
        return self.choose.choice(forms).format(one, other)

    def bound(self, counters: list[str]) -> str:
        if self.rows:
            return self.choose.choice(["n", "n", "n - 1", *counters])
        forms = ["n", "m", "n - 1", "3", *counters, *[f"n - {each} - 1" for each in counters]]
        return self.choose.choice(forms)

    def element(self, array: str, counters: list[str], body: list[str]) -> tuple[str, str]:
        at = self.start(counters), self.start(counters)
        part, one = self.fresh(), self.fresh()
        where = f"starts=({at[0]}, {at[1]}), strides=(1, 1), sizes=(1, 1)"
        body.append(f" {part}: {self.dtype}[1, 1] = slice{{{where}}}({array})")
        body.append(f" {one}: {self.dtype}[] = reshape{{sizes=()}}({part})")
        return one, f"{at[0]}, {at[1]}"

    def update(self, array: str, counters: list[str], body: list[str]) -> str:
        """array[..] = array[..] + source[..], or the smaller one, perhaps only if it is smaller; or
        something with rows.
        """
        if self.rows and self.choose.random() < 0.8:
            return self.update_row(array, counters, body)
        depth = "    " * len(counters)
        old, at_old = self.element(array, counters, body)
        other, at_other = self.element("%2", counters, body)
        new, less, given = self.fresh(), self.fresh(), self.fresh()
        kind = self.choose.choice(["add", "select", "case"])
        body.append(f" {less}: bool[] = less({other}, {old})")
        if kind == "select":
            body.append(f" {new}: {self.dtype}[] = select({less}, {other}, {old})")
        else:
            body.append(f" {new}: {self.dtype}[] = add({old}, {other})")
        to = f"{self.start(counters)}, {self.start(counters)}"
        first, turned = "(@no{0}, @yes{0})", ""
        if kind == "case" and self.choose.random() < 0.6:
            to = at_old  # which is known to be there
            if self.choose.random() < 0.5:
                first, turned = "(@yes{0}, @no{0})", "not "
        write = f"reshape{{sizes=(1, 1)}}(%7)\n %9: {self.dtype}[n, m] = update_slice"
        write = f" %8: {self.dtype}[1, 1] = {write}{{starts=({to}), strides=(1, 1)}}(%6, %8)"
        self.lines.append(f"{depth}old, other = at(x, {at_old}), at(y, {at_other})")
        value = "(other if other < old else old)" if kind == "select" else "old + other"
        if kind == "case":
            name, head = f"{self.names}", f"(%6: {self.dtype}[n, m], %7: {self.dtype}[])"
            self.graphs.append(f"graph no{name}{head} {{\n return %6\n}}")
            self.graphs.append(f"graph yes{name}{head} {{\n{write}\n return %9\n}}")
            chosen = f"case{{branches={first.format(name)}}}({less}, {array}, {new})"
            body.append(f" {given}: {self.dtype}[n, m] = {chosen}")
            self.lines.append(f"{depth}if {turned}other < old:")
            depth += "    "
        else:
            part = self.fresh()
            write = write.replace("%6", array).replace("%7", new)
            body.append(write.replace("%8", part).replace("%9", given))
        self.lines.append(f"{depth}put(x, {value}, {to})")
        return given

    def row(self, array: str, at: str, body: list[str], cut: str = "0, m") -> str:
        """One of two axes, of `m` elements or of the others after the first, or before the last."""
        start, size = cut.split(", ")
        part, flat = self.fresh(), self.fresh()
        where = f"starts=({at}, {start}), strides=(1, 1), sizes=(1, {size})"
        body.append(f" {part}: {self.dtype}[1, {size}] = slice{{{where}}}({array})")
        body.append(f" {flat}: {self.dtype}[{size}] = reshape{{sizes=({size},)}}({part})")
        return flat

    def op(self, body: list[str], text: str, shape: str) -> str:
        """One op more."""
        name = self.fresh()
        body.append(f" {name}: {self.dtype}[{shape}] = {text}")
        return name

    def put(self, body: list[str], array: str, part: str, at: str, size: str) -> str:
        """Write a row, from element `at[1]` on."""
        wide = self.op(body, f"reshape{{sizes=(1, {size})}}({part})", f"1, {size}")
        where = f"starts=({at}), strides=(1, 1)"
        return self.op(body, f"update_slice{{{where}}}({array}, {wide})", "n, m")

    def update_row(self, array: str, counters: list[str], body: list[str]) -> str:
        """Reductions of rows, rows made of rows, of themselves too, and rows that are exchanged."""
        depth = "    " * len(counters)
        one, two, three = (self.start(counters) for _ in range(3))
        column = self.choose.choice(["0", "m - 1"])
        kind = self.choose.choice(
            ["add", "max", "min", "argmax", "argmin", "dot", "own", "shift", "swap", "twice", "new"]
        )
        source = self.choose.choice([array, "%2"])
        word = "x" if source == array else "y"
        first = self.row(source, one, body)
        python = f"row({word}, {one})"
        if kind in ("add", "max", "min", "argmax", "argmin"):
            name = kind if kind.startswith("arg") else f"reduce_{kind}"
            if kind.startswith("arg"):
                place = self.fresh()
                body.append(f" {place}: i64[] = {name}{{axes=(0,)}}({first})")
                found = self.op(body, f"convert{{dtype={self.dtype}}}({place})", "")
            else:
                found = self.op(body, f"{name}{{axes=(0,)}}({first})", "")
            function = {"add": "sum"}.get(kind, kind)
            self.lines.append(f"{depth}put(x, np.{function}({python}), {two}, {column})")
            part = self.op(body, f"reshape{{sizes=(1,)}}({found})", "1")
            return self.put(body, array, part, f"{two}, {column}", "1")
        second = self.row("%2", two, body)
        if kind == "dot":
            left = self.op(body, f"reshape{{sizes=(1, m)}}({first})", "1, m")
            right = self.op(body, f"reshape{{sizes=(m, 1)}}({second})", "m, 1")
            product = self.op(body, f"dot_general({left}, {right})", "1, 1")
            part = self.op(body, f"reshape{{sizes=(1,)}}({product})", "1")
            self.lines.append(f"{depth}put(x, np.sum({python} * row(y, {two})), {two}, {column})")
            return self.put(body, array, part, f"{two}, {column}", "1")
        if kind == "shift":
            part = self.row(source, one, body, "0, m - 1")
            self.lines.append(f"{depth}row(x, {two})[1:] = more({python})[:-1].copy()")
            return self.put(body, array, part, f"{two}, 1", "m - 1")
        if kind == "swap":
            given = self.row(array, two, body)
            self.lines.append(f"{depth}t, u = {python}.copy(), row(x, {two}).copy()")
            self.lines.append(f"{depth}row(x, {three})[:] = u; row(x, {two})[:] = t")
            array = self.put(body, array, given, f"{three}, 0", "m")
            return self.put(body, array, first, f"{two}, 0", "m")
        difference = self.op(body, f"subtract({first}, {second})", "m")
        if kind == "new":
            zero = self.op(
                body, f"constant{{value={self.dtype}({0})}}()".replace("(0)", ZEROS[self.dtype]), ""
            )
            fresh = self.op(body, f"broadcast_in_dim{{sizes=(3,), dimensions=()}}({zero})", "3")
            total = self.op(body, f"reduce_add{{axes=(0,)}}({difference})", "")
            part = self.op(body, f"reshape{{sizes=(1,)}}({total})", "1")
            fresh = self.op(
                body, f"update_slice{{starts=(1,), strides=(1,)}}({fresh}, {part})", "3"
            )
            fresh = self.op(
                body, f"update_slice{{starts=(2,), strides=(1,)}}({fresh}, {part})", "3"
            )
            total = self.op(body, f"reduce_add{{axes=(0,)}}({fresh})", "")
            part = self.op(body, f"reshape{{sizes=(1,)}}({total})", "1")
            self.lines.append(f"{depth}s = np.sum({python} - row(y, {two}))")
            self.lines.append(f"{depth}put(x, s + s, {two}, {column})")
            return self.put(body, array, part, f"{two}, {column}", "1")
        self.lines.append(f"{depth}t = {python} - row(y, {two})")
        if kind == "twice":
            difference = self.op(body, f"multiply({difference}, {difference})", "m")
            self.lines.append(f"{depth}t = t * t")
        self.lines.append(f"{depth}row(x, {three})[:] = t")
        return self.put(body, array, difference, f"{three}, 0", "m")

    def loop(self, outer: list[str]) -> None:
        level, bound = len(outer), self.bound(outer)
        counters, body = [*outer, f"i{level}"], []
        self.lines.append(f"{'    ' * level}for i{level} in range({bound}):")
        array = "%1"
        if self.choose.random() < 0.7 or level == 2:
            array = self.update(array, counters, body)
        else:
            self.lines.append("    " * (level + 1) + "pass")
        if level < 2 and self.choose.random() < 0.7:
            self.loop(counters)
            zero, count, result = self.fresh(), self.fresh(), self.fresh()
            body.append(f" {zero}: i64[] = constant{{value=i64(0)}}()")
            inner = f"while{{cond=@go{level + 1}, body=@turn{level + 1}}}({zero}, {array}, %2)"
            body.append(f" {count}: i64[], {result}: {self.dtype}[n, m] = {inner}")
            array = result
            if self.choose.random() < 0.3:
                array = self.update(array, counters, body)
        types = TYPES.replace("DTYPE", self.dtype)
        last = f" %5: i64[] = dimension{{size=i{level} + 1}}()\n return %5, {array}"
        self.graphs += [
            f"graph turn{level}({types}) where i{level} = value(0) {{",
            *body,
            f"{last}\n}}",
            f"graph go{level}({types}) where t{level} = value(0) {{",
            f" %3: i64[] = dimension{{size=t{level}}}()",
            f" %4: i64[] = dimension{{size={bound}}}()",
            " %5: bool[] = less(%3, %4)\n return %5\n}",
        ]

    def as_python(self, x: np.ndarray, y: np.ndarray) -> None:
        def inside(array: np.ndarray, *place: int) -> None:
            if not all(0 <= at < size for at, size in zip(place, array.shape, strict=True)):
                raise IndexError(place)

        def at(array: np.ndarray, *place: int):
            inside(array, *place)
            return array[place]

        def put(array: np.ndarray, value: object, *place: int) -> None:
            inside(array, *place)
            array[place] = value

        def row(array: np.ndarray, place: int) -> np.ndarray:
            if not 0 <= place < len(array):
                raise IndexError(place)
            return array[place]

        def more(array: np.ndarray) -> np.ndarray:
            if not len(array):
                raise IndexError("no element")
            return array

        names = {"x": x, "y": y, "n": x.shape[0], "m": x.shape[1], "np": np}
        names |= {"at": at, "put": put, "row": row, "more": more}
        exec("\n".join(self.lines), names)


def layouts(n: int, m: int, dtype: type):
    """Pairs of arrays of one shape, in many layouts."""
    values = (np.arange(4 * n * m + 4) * 37 % 101 - 3).astype(dtype)
    if values.dtype.kind == "f":
        values /= 7  # so that sums are rounded
    large = values[: 4 * n * m].reshape(2 * n, 2 * m)
    dense = np.ascontiguousarray(large[:n, :m])
    yield dense, large[n:, m:]
    yield np.asfortranarray(dense), large[::-2, ::-2]
    yield large[::2, ::2], np.broadcast_to(values[:m], (n, m))


@pytest.mark.parametrize("dtype", ["f64", "i64", "f32"])
@pytest.mark.parametrize("rows", [False, True], ids=["elements", "rows"])
@pytest.mark.parametrize("seed", range(40))
def test_a_random_nest_is_what_python_makes_of_it(seed, rows, dtype):
    nest = Nest(seed, dtype, rows)
    graph = parse(nest.text)
    verify(graph)
    executable = compile_graph(graph)
    assert [word for word, *_ in executable.text.instructions].count("region") == 1
    kind = {"f64": np.float64, "i64": np.int64, "f32": np.float32}[dtype]
    sizes = [(0, 0), (1, 1), (2, 5), (5, 3), (6, 6)]
    for n, m in [*sizes, (4, 0), (3, 8), (3, 131), (2, 700)] if rows else sizes:
        for x, y in layouts(n, m, kind):
            expected = x.copy()
            with np.errstate(all="ignore"):
                try:
                    nest.as_python(expected, y)
                except (IndexError, ValueError):
                    with pytest.raises(native.Deoptimize):
                        executable.run([np.int64(0), x, y])
                    continue
                found = executable.run([np.int64(0), x, y])[1]
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("rows", [False, True])
def test_the_nests_are_of_both_kinds(rows):
    """Enough of them stay inside, and enough do not."""
    inside, text = 0, ""
    for seed in range(40):
        x = np.ones((6, 6))
        nest = Nest(seed, "f64", rows)
        try:
            nest.as_python(x, x.copy())
            inside, text = inside + 1, text + nest.text
        except IndexError:
            pass
    assert 5 <= inside <= 35, inside
    words = ("add", "max", "min", "argmax", "argmin", "dot_general", "multiply", "subtract")
    assert not rows or [word for word in words if word not in text] == []


COUNTING = """
    graph go(%0: i64[], %1: i64[]) where i = value(0) {
      %2: i64[] = dimension{size=i}()
      %3: i64[] = dimension{size=n}()
      %4: bool[] = less(%2, %3)
      return %4
    }
    graph step(%0: i64[], %1: i64[]) where i = value(0) {
      %2: i64[] = xor(%1, %0)
      %3: i64[] = constant{value=i64(3)}()
      %4: i64[] = multiply(%2, %3)
      %5: i64[] = dimension{size=i + 1}()
      return %5, %4
    }
    graph f(%0: i64[], %1: i64[]) where n = value(0) {
      %2: i64[] = constant{value=i64(0)}()
      %3: i64[], %4: i64[] = while{cond=@go, body=@step}(%2, %1)
      return %3, %4
    }"""


@pytest.mark.parametrize("turns", [-5, 0, 1, 65535, 65536, 65537, 200000])
def test_a_loop_of_many_turns_polls_between_them_and_takes_each_once(turns):
    executable = compile_graph(parse(COUNTING))
    expected = 7
    for turn in range(turns):
        expected = ((expected ^ turn) * 3 + 2**63) % 2**64 - 2**63
    assert executable.run([np.int64(turns), np.int64(7)]) == [max(turns, 0), expected]


def test_a_counting_loop_is_interrupted():
    executable = compile_graph(parse(COUNTING))
    main = threading.main_thread().ident
    sent = []

    def send():
        sent.append(time.perf_counter())
        signal.pthread_kill(main, signal.SIGINT)

    timer = threading.Timer(0.1, send)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        executable.run([np.int64(2**62), np.int64(7)])
    assert time.perf_counter() - sent[0] < 0.2
    timer.join()
    assert executable.run([np.int64(0), np.int64(7)]) == [0, 7]
