"""Random programs as those of `generate_loops`, over arrays of one and two axes and of several
dtypes, with most of what Python has for control flow.

`x` and `u` are arrays of one axis (often the same one), `m` has two axes, `n` is an int, `a` a
number, `k` an int of Python's or of NumPy's. Two in a hundred raise.

    python tests/conformance/generate_mixed.py 500     how many of 500 compile, and why not others
"""

from __future__ import annotations

import random
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np
from generate_loops import Program, made

DTYPES = ["float64", "float64", "float32", "int64", "int32", "bool"]
NUMBERS = [-1.5, -1.0, 0.0, 0.5, 1.0, 2.0, 3.25]


class Mixed(Program):
    """Writes one program. See the module docstring."""

    def __init__(self, source: random.Random, number: int | str = 0, most: int = 12) -> None:
        super().__init__(source, most)
        self.number_of = number
        self.dtype = self.pick(*DTYPES)
        self.of_floats = self.dtype.startswith("float")
        self.has_loose = False  # the variable `last`

    def text(self) -> str:
        """The program."""
        self.lines = [f"def program_{self.number_of}(x, u, m, n, a, k):"]
        start = self.pick("0.0", "0.0", "0", "a", "x[0]", "1.5", "x.dtype.type(1)", "m.sum()")
        second = self.pick("a * 2", "0.0", "1", "m[0, 0]", "x.sum()")
        for line in ("y = x * 1", "z = u * 2", "w = m * 1", f"s = {start}", f"t = {second}"):
            self.say(1, line)
        self.say(1, f"b = {self.pick('n > 1', 'True', 'a > 0', 'x[0] > 0')}")
        self.say(1, f"best = {self.pick('None', 'None', 's')}")
        if self.pick(True, False):
            self.say(1, "c = 0")
            self.ints.append("c")
        self.closures()
        self.block(1, False)
        results = ["s", "t", "y", "z", "w", "b", "best", *self.ints]
        self.random.shuffle(results)
        self.say(1, f"return {', '.join(results[: self.random.randint(1, 4)])},")
        return "\n".join(self.lines) + "\n"

    def closures(self) -> None:
        """Inner functions that programs may call."""
        self.inner: list[str] = []
        if self.random.random() < 0.5:
            self.say(1, "def inner(v, by=2):")
            self.say(2, f"if v > {self.pick('0', '1', 'a', 's')}:")
            self.say(3, f"return v * {self.pick('by', '0.5', 'a')}")
            self.say(2, f"return {self.pick('v', 's', 'v - by', 'by')}")
            self.inner.append("inner")

    def statement(self, depth: int, in_loop: bool) -> None:
        """One statement."""
        self.left -= 1
        kinds = ["number", "number", "element", "whole", "int", "math", "matrix", "matrix"]
        kinds += ["unpack", "best", "rare", "loose"]
        if depth < 4:
            kinds += ["if", "if", "for", "for", "while", "endless", "function"]
        if in_loop:
            kinds += ["leave"]
        getattr(self, f"_{self.pick(*kinds)}")(depth, in_loop)

    def _element(self, depth: int, in_loop: bool) -> None:
        operator = self.pick("=", "+=", "*=") if self.dtype != "bool" else "="
        name = self.pick("y", "y", "z", "u")
        self.say(depth, f"{name}[{self.place()}] {operator} {self.element_value()}")

    def element_value(self) -> str:
        """What may be put into an element: a Python float does not fit an int in place."""
        if self.of_floats or self.random.random() < 0.3:
            return self.number(1)
        return self.pick("1", "k", "n", f"x[{self.place()}]", "m[0, 0]", "y[-1]")

    def _whole(self, depth: int, in_loop: bool) -> None:
        value = self.element_value()
        self.say(
            depth,
            self.pick(
                "y = y + x",
                f"y = np.where(y > {self.number(2)}, x, y)",
                f"y[:] = {value}",
                "y[1:] = y[:-1]",
                f"s = s + y[:{self.pick('n', 'k % 3', '2')}].sum()",
                f"s = s + y[{self.pick('n - 1', 'k % 2', '1')}:n].sum()",
                f"z[{self.pick('n', 'k % 3', '1')}:] = {value}",
                f"y += {value}",
                "t = np.abs(y).max()",
                "z = y",
                "y, z = z, y",
                "z = y[::-1]",
                "z[0] = s",
                "u[0] = s",
                "s = s + z[-1]",
                "t = helper(y, t)",
                "s = clipped(s, -2, t)",
                "s = norm(z)",
                "t = norm(w[0])",
                f"b = {self.test()}",
                "s = s + 1 if b else s",
                "b = bool(np.any(y > s))",
                "b = any(y > t)",
                "b = all(v > 0 for v in y)",
                "b = (y > 0).all()",
                "s = sum(y)",
                "t = max(y)",
                "t = min(min(z), t)",
                "s = s + len(y)",
                "s += np.dot(y, x)",
                "y = np.clip(y, 0, 2)",
                "y = np.minimum(y, x)",
                "z = np.sort(y)",
                "s = np.median(z)",
                "k = int(np.argmax(y))",
                "z = np.cumsum(x)",
                "t = np.float32(t)",
                "s = float(s)",
                "k = int(s) % 5 if abs(s) < 1000 else 1",
            ),
        )

    def _matrix(self, depth: int, in_loop: bool) -> None:
        row, column = self.place("len(w)"), self.place("w.shape[1]")
        operator = self.pick("=", "+=", "-=") if self.dtype != "bool" else "="
        value = self.element_value()
        self.say(
            depth,
            self.pick(
                f"w[{row}, {column}] {operator} {value}",
                f"w[{row}, {column}] {operator} {value}",
                f"w[{row}][{column}] = {value}",
                f"w[{row}] {operator} {value}",
                f"w[{row}] {operator} w[{self.place('len(w)')}]",
                f"w[:, {column}] = {value}",
                f"w[{row}, :n] = {value}",
                f"s = s + w[{row}, {column}]",
                f"t = w[{row}].sum()",
                f"t = w[:, {column}].max()",
                f"s = s + w[{row}, :{self.pick('n', 'k % 3')}].sum()",
                "s = w.T[0].sum()",
                f"w.T[0] = {value}",
                "w = w.T",
                "w = w.T.copy()",
                "w = w + m.mean() if b else w",
                "w = np.maximum(w, 0)",
                "s = w.mean(axis=0)[0]",
                "t = (w @ w.T)[0, 0]",
                "w[0], w[-1] = w[-1].copy(), w[0].copy()",
                "y = w[0] if len(w[0]) == len(y) else y",
            ),
        )

    def _math(self, depth: int, in_loop: bool) -> None:
        number = self.number(1)
        self.say(
            depth,
            self.pick(
                f"s = math.sqrt(abs({number}))",
                f"s = math.floor(min(max({number}, -9), 9))",
                f"t = math.ceil(min(max({number}, -9), 9))",
                f"b = math.isnan({number})",
                f"t = math.pow(abs({self.number(2)}) % 5, 1.5)",
                f"s = math.gamma(1.5 + abs({self.number(2)}) % 3)",
                f"t = math.hypot({self.number(2)}, a)",
                f"s = math.fmod({self.number(2)}, 2)",
                f"t = math.exp(-abs({number}))",
                f"s = round({number}, 1)",
                f"t = round(min(max({number}, -9), 9))",
                f"k = round(a) + {self.pick(*self.ints)}",
                f"s = abs({number}) ** 2 if abs({self.number(2)}) < 9 else 1",
                f"s = divmod(k, 3)[{self.pick(0, 1)}]",
                f"b = math.isclose({number}, a)",
                f"t = np.sqrt(np.abs({number}))",
                "k = max(k, n)",
            ),
        )

    def _unpack(self, depth: int, in_loop: bool) -> None:
        self.say(
            depth,
            self.pick(
                "s, t = t, s",
                "s, (t, k) = t, (s, k + 1)",
                f"s, *_ = {self.number(2)}, t, 1",
                "pair = (s, t)",
                "s, t = (t, s) if b else (s, t)",
                "t, s = two(s, t)",
                "s, t = s + t, s - t",
            ).replace("pair = (s, t)", "(s, t), b = (t, s), not b"),
        )

    def _best(self, depth: int, in_loop: bool) -> None:
        self.say(depth, f"if best is None or {self.number(2)} > best:")
        self.say(depth + 1, f"best = {self.pick('s', 't', 'x[0]', 'w[0, 0]', 'a')}")

    def _rare(self, depth: int, in_loop: bool) -> None:
        value = self.pick("s", "t", "k", f"x[{self.place()}]")
        self.say(
            depth,
            self.pick(
                f'assert abs({value}) < 1e6, f"too large: {{{value}}}"',
                "pass",
                f"assert not ({value} > 1e6 and {self.test()})",
            ),
        )
        if self.random.random() < 0.3:
            self.say(depth, f"if abs({value}) > {self.pick('60', '900')} and n > 1:")
            self.say(depth + 1, f"raise ValueError(f'{{{value}:.3}} of {{n}}')")

    def _loose(self, depth: int, in_loop: bool) -> None:
        """A variable that has no value before some statement has given it one."""
        if in_loop and self.random.random() < 0.6:
            if self.pick(True, False):
                self.say(depth, f"if {self.test()}:")
                depth += 1
            self.say(depth, f"last = {self.pick('s', 't', 'k', 'y', 'None', 'x[0]')}")
            self.has_loose = True
        elif self.has_loose:
            self.say(depth, f"if {self.test()}:")
            self.say(depth + 1, self.pick("b = last", "last", "b = last is None"))

    def _for(self, depth: int, in_loop: bool) -> None:
        if self.random.random() < 0.5:
            super()._for(depth, in_loop)
            return
        self.loops += 1
        name = f"r{self.loops}"
        items = self.pick(
            f"{name} in w",
            f"{name} in m",
            f"{name} in w.T",
            f"i, {name} in enumerate(m)",
            f"{name}, s in zip(w, y)",
            "s in y[:n]",
            "s in reversed(range(n))",
            "t in x[::-1]",
        )
        self.say(depth, f"for {items}:")
        if name in items:
            self.say(
                depth + 1,
                self.pick(
                    f"s = s + {name}[0]",
                    f"t = {name}.max()",
                    f"{name}[0] = 1" if " w" in items else "pass",
                    f"s = s + {name}[:n].sum()",
                    f"s = s + sum({name})",
                    f"t = norm({name})",
                ),
            )
        self.block(depth + 1, True)
        if self.random.random() < 0.15:
            self.say(depth, "else:")
            self.block(depth + 1, in_loop)

    def _endless(self, depth: int, in_loop: bool) -> None:
        self.loops += 1
        name = f"w{self.loops}"
        self.say(depth, f"{name} = 0")
        test = self.pick("True", "True", f"{name} < n", "1")
        self.say(depth, f"while {test}:")
        self.say(depth + 1, f"{name} += 1")
        self.say(depth + 1, f"if {name} > {self.pick('3', 'n', 'len(x)')} or {self.test()}:")
        self.say(depth + 2, self.pick("break", "break", "break", "return s", "return t, w"))
        self.ints.append(name)
        self.block(depth + 1, True)
        self.ints.remove(name)
        if test not in ("True", "1") and self.pick(True, False):
            self.say(depth, "else:")
            self.block(depth + 1, in_loop)

    def _function(self, depth: int, in_loop: bool) -> None:
        if not self.inner:
            self._number(depth, in_loop)
            return
        self.say(depth, self.pick(f"s = inner({self.number(2)})", "t = inner(t, by=k)"))

    def _leave(self, depth: int, in_loop: bool) -> None:
        if self.pick(True, True, True, False):
            self.say(depth, f"if {self.test()}:")
            depth += 1
        self.say(
            depth,
            self.pick("break", "continue", "return s, y", "return t,", "return s", "return None"),
        )

    def place(self, length: str = "len(x)") -> str:
        """An index that is in range."""
        return self.pick(*[f"{name} % {length}" for name in self.ints], "0", "-1")


def two(one: Any, other: Any) -> Any:
    """What programs call: it gives two values."""
    if one > other:
        return one, other
    return other, one


def clipped(value: Any, low: Any, high: Any) -> Any:
    """What programs call: no loop, several ends."""
    if value < low:
        return low
    if value > high:
        return high
    return value


def norm(row: Any) -> Any:
    """What programs call: a loop by place, which begins with an int."""
    total = 0
    for place in range(len(row)):
        total += abs(row[place])
    return total


def arguments_of(source: random.Random, dtype: str) -> list[Any]:
    """Arguments of a program."""
    size = source.choice([1, 2, 3, 5])
    rows, columns = source.choice([(1, 1), (2, 3), (3, 2), (4, size), (size, size)])
    x = np.array([source.choice(NUMBERS) for _ in range(size)]).astype(dtype)
    m = np.array([source.choice(NUMBERS) for _ in range(rows * columns)]).astype(dtype)
    u = x if source.random() < 0.3 else x[::-1].copy()
    a = source.choice([-1.0, 0.5, 2.0, np.float64(1.5), np.float32(0.5)])
    k = source.choice([0, 1, 2, 5, 6, np.int64(3)])
    return [x, u, m.reshape(rows, columns), source.randint(0, size), a, k]


SURROUNDINGS = {"two": two, "clipped": clipped, "norm": norm}


def program_of(number: int) -> tuple[str, Any, list[list[Any]]]:
    """The program of a number: its text, itself, and arguments for three calls."""
    source = random.Random(number)
    mixed = Mixed(source, number)
    text = mixed.text()
    calls = [arguments_of(source, mixed.dtype) for _ in range(3)]
    return text, made(text, f"m{number}", f"program_{number}", **SURROUNDINGS), calls


def report(count: int) -> None:
    """Say how many programs compile, and why the others do not."""
    from oracle_of_calls import agrees

    reasons: Counter[str] = Counter()
    compiles = 0
    for number in range(count):
        text, function, calls = program_of(number)
        try:
            compiled = agrees(function, *calls)
        except AssertionError as error:
            print(f"program {number}: {error}\n{text}")
            continue
        found = {each.detail["text"] for each in compiled.records() if each.subject == "fallback"}
        compiles += not found
        reasons.update(found)
    print(f"{compiles} of {count} programs compile")
    for reason, times in reasons.most_common(40):
        print(f"{times:6} {reason}")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report(int(sys.argv[1]))
