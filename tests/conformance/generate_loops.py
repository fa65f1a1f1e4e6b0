"""Random programs of branches and loops over numbers and arrays, as text.

    program(random.Random(3))    "def f(x, n, a, k):\n    y = x * 1\n    s = 0.0\n    for i in ..."

`x` is an array of one axis, `n` an int, `a` a float, `k` an int. Programs end, and seldom raise.
"""

from __future__ import annotations

import linecache
import math
import random
from typing import Any

import numpy as np

_INDENT = "    "


class Program:
    """Writes one program."""

    def __init__(self, source: random.Random, most: int = 14) -> None:
        self.random = source
        self.left = most  # statements
        self.loops = 0
        self.ints = ["n", "k"]  # names of ints that are known to have a value
        self.floats = ["a", "s", "t"]
        self.arrays = ["x", "y"]
        self.lines: list[str] = []

    def text(self) -> str:
        """The program."""
        self.lines = ["def f(x, n, a, k):"]
        for line in (
            "y = x * 1",
            "z = x * 2",
            "b = n > 1",
            f"s = {self.pick('0.0', 'a', 'x[0]', '1.5')}",
            "t = a * 2",
        ):
            self.lines.append(_INDENT + line)
        if self.pick(True, False):
            self.lines.append(f"{_INDENT}c = 0")
            self.ints.append("c")
        self.block(1, False)
        results = ["s", "t", "y", "z", "b", *self.ints]
        self.random.shuffle(results)
        self.lines.append(f"{_INDENT}return {', '.join(results[: self.random.randint(1, 4)])},")
        return "\n".join(self.lines) + "\n"

    def pick(self, *items: Any) -> Any:
        return self.random.choice(items)

    def block(self, depth: int, in_loop: bool) -> None:
        """Statements of one block."""
        for _ in range(self.random.randint(1, 4 if depth < 3 else 2)):
            if self.left <= 0:
                break
            self.statement(depth, in_loop)
        if self.lines[-1].endswith(":"):
            self.say(depth, "s = s + 1")

    def say(self, depth: int, text: str) -> None:
        self.lines.append(_INDENT * depth + text)

    def statement(self, depth: int, in_loop: bool) -> None:
        """One statement."""
        self.left -= 1
        kinds = ["number", "number", "element", "whole", "int"]
        if depth < 4:
            kinds += ["if", "if", "for", "for", "while"]
        if in_loop:
            kinds += ["leave"]
        kind = self.pick(*kinds)
        getattr(self, f"_{kind}")(depth, in_loop)

    def _number(self, depth: int, in_loop: bool) -> None:
        name = self.pick("s", "t")
        if self.pick(True, False):
            self.say(depth, f"{name} {self.pick('+=', '-=', '*=')} {self.number(1)}")
        else:
            self.say(depth, f"{name} = {self.number()}")

    def _int(self, depth: int, in_loop: bool) -> None:
        name = self.pick(*[each for each in self.ints if each in ("k", "c")])
        amount = self.pick(f"{name} + 1", f"{name} - 1", f"({name} * 3 + 1) % 7", f"{name} // 2")
        self.say(depth, f"{name} = {amount}")

    def _element(self, depth: int, in_loop: bool) -> None:
        self.say(depth, f"y[{self.place()}] {self.pick('=', '+=', '*=')} {self.number(1)}")

    def _whole(self, depth: int, in_loop: bool) -> None:
        self.say(
            depth,
            self.pick(
                "y = y + x",
                f"y = np.where(y > {self.number(2)}, x, y)",
                f"y[:] = y * {self.number(2)}",
                "y[1:] = y[:-1] + 1",
                f"s = s + y[:{self.pick('n', 'k % 3', '2')}].sum()",
                f"y += {self.number(2)}",
                "t = np.abs(y).max()",
                "z = y",
                "y = z",
                "y, z = z, y",
                "z = y[::-1]",
                "z[0] = s",
                "s = s + z[-1]",
                "t = helper(y, t)",
                f"b = {self.test()}",
                "s = s + 1 if b else s",
            ),
        )

    def _if(self, depth: int, in_loop: bool) -> None:
        self.say(depth, f"if {self.test()}:")
        self.block(depth + 1, in_loop)
        if self.pick(True, False):
            self.say(depth, f"elif {self.test()}:")
            self.block(depth + 1, in_loop)
        if self.pick(True, False):
            self.say(depth, "else:")
            self.block(depth + 1, in_loop)

    def _for(self, depth: int, in_loop: bool) -> None:
        self.loops += 1
        name = f"i{self.loops}"
        items = self.pick(
            f"{name} in range(n)",
            f"{name} in range(len(x))",
            f"{name} in range(1, n)",
            f"{name} in range(n - 1, -1, -1)",
            f"{name} in range(0, n, 2)",
            f"{name} in range(3)",
            f"{name} in range(k % 4)",
            f"{name}, s in enumerate(x)",
            f"{name}, t in zip(range(n), y)",
            "s in x",
        )
        self.say(depth, f"for {items}:")
        counts = items.startswith("i")
        if counts:
            self.ints.append(name)
        self.block(depth + 1, True)
        if counts:
            self.ints.remove(name)
        if self.random.random() < 0.15:
            self.say(depth, "else:")
            self.block(depth + 1, in_loop)

    def _while(self, depth: int, in_loop: bool) -> None:
        self.loops += 1
        name = f"w{self.loops}"
        self.say(depth, f"{name} = {self.pick('0', 'k % 2', 'n - 2')}")
        self.say(depth, f"while {name} < {self.pick('3', 'n', 'n + 1')} and {self.test()}:")
        self.say(depth + 1, f"{name} += 1")
        self.ints.append(name)
        self.block(depth + 1, True)
        self.ints.remove(name)

    def _leave(self, depth: int, in_loop: bool) -> None:
        if self.pick(True, True, False):
            self.say(depth, f"if {self.test()}:")
            depth += 1
        self.say(depth, self.pick("break", "continue", "return s, y", "return t,"))

    def place(self) -> str:
        """An index that is in range."""
        return self.pick(*[f"{name} % len(x)" for name in self.ints], "0", "-1")

    def number(self, depth: int = 0) -> str:
        """An expression that gives a number."""
        if depth > 2 or self.random.random() < 0.4:
            names = [*self.floats, *self.ints, "2", "0.5", f"x[{self.place()}]", "y[0]"]
            return self.pick(*names)
        left, right = self.number(depth + 1), self.number(depth + 1)
        return self.pick(
            f"({left} + {right})",
            f"({left} - {right})",
            f"{left} * 0.5",
            f"abs({left})",
            f"min({left}, {right})",
            f"max({left}, {right})",
            f"({left} if {self.test(2)} else {right})",
            f"np.sin({left})",
        )

    def test(self, depth: int = 0) -> str:
        """A condition."""
        number = self.number(3)
        plain = f"{number} {self.pick('<', '>', '<=', '>=', '==', '!=')} {self.number(3)}"
        if depth > 1 or self.random.random() < 0.6:
            return self.pick(plain, plain, f"{self.pick(*self.ints)} % 2 == 0", f"0 < {number} < 2")
        other = self.test(depth + 1)
        return self.pick(f"({plain} and {other})", f"({plain} or {other})", f"not ({other})")


def helper(row: Any, start: Any) -> Any:
    """What programs call: a loop of its own, left early."""
    for each in row:
        if each > 3:
            return start
        start = start * 0.5 + each
    return start


def made(text: str, number: int | str, name: str = "f", **surroundings: Any) -> Any:
    """The function `name` of a program, whose source can be read."""
    filename = f"<program {number}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"np": np, "math": math, "__name__": "program", "helper": helper}
    namespace.update(surroundings)
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


def arguments(source: random.Random) -> list[Any]:
    """Arguments of a program."""
    size = source.choice([1, 2, 3, 5])
    x = np.array([source.choice([-1.5, 0.0, 0.5, 1.0, 2.0, 3.25]) for _ in range(size)])
    return [x, source.randint(0, size), source.choice([-1.0, 0.5, 2.0]), source.randint(0, 6)]
