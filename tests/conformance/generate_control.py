"""Random functions full of control flow, as Python text: what a rewriting of the syntax tree could
get wrong.

A program is a function `f(a, b, box, obj)` of numbers, a list and an object, which has the local
variables `a` to `e`, not all of them bound, and calls `log`, which notes the order of what is
evaluated, `tick`, which ends loops that would not end, and other functions of its surroundings
(`Surroundings`). `closures` lets it have inner functions that outlive the statement they stand in.
"""

from __future__ import annotations

import contextlib
import copy
import linecache
import random
from types import FunctionType
from typing import Any

NAMES = ["a", "b", "c", "d", "e"]
MOST_STEPS = 60


class OutOfSteps(BaseException):
    """Ends a loop that goes on; no handler of a program catches it."""


class Thing:
    """An object with attributes."""

    def __init__(self) -> None:
        self.p = 1


class Guard:
    """A context that notes its beginning and its end, and may swallow exceptions."""

    def __init__(self, log: list[Any], swallow: bool) -> None:
        self.log, self.swallow = log, swallow

    def __enter__(self) -> int:
        self.log.append("enter")
        return 3

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        self.log.append(("exit", kind and kind.__name__))
        return self.swallow and kind is not None and issubclass(kind, Exception)


class Surroundings:
    """The globals of a program, and what it can change there."""

    def __init__(self) -> None:
        self.noted: list[Any] = []
        self.steps = 0
        self.kept: list[Any] = []
        self.box: list[Any] = [1, 2, 0, 4]
        self.thing = Thing()
        self.globals: dict[str, Any] = {
            "__name__": "program",
            "log": self.log,
            "tick": self.tick,
            "keep": self.kept.append,
            "guard": lambda swallow=False: Guard(self.noted, swallow),
            "suppress": contextlib.suppress,
            "half": lambda x: x // 2,
            "total": 0,
        }

    def log(self, value: Any) -> Any:
        self.noted.append(repr(value) if isinstance(value, Exception) else _plain(value))
        return value

    def tick(self) -> bool:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise OutOfSteps
        return True

    def save(self) -> Any:
        """What a program may have changed, to be set back by `restore`."""
        return (
            (len(self.noted), len(self.kept)),
            (self.steps, self.box[:], self.thing.p, self.globals["total"]),
        )

    def restore(self, saved: Any) -> None:
        del self.noted[saved[0][0] :], self.kept[saved[0][1] :]
        self.steps, self.box[:], self.thing.p, self.globals["total"] = saved[1]


class Writer:
    """Writes one program."""

    def __init__(self, seed: int, closures: bool) -> None:
        self.random = random.Random(seed)
        self.closures = closures
        self.lines: list[str] = []
        self.left = self.random.choice([4, 8, 14, 25])
        self.has_global = self.random.random() < 0.1
        self.functions = 0

    def write(self) -> str:
        self.lines.append("def f(a, b, box, obj):")
        if self.has_global:
            self.lines.append("    global total")
        if self.random.random() < 0.8:
            self.lines.append("    c = 2")
        while self.left > 0:
            self.statement("    ", 0, False)
        if self.random.random() < 0.8:
            self.lines.append(f"    return ({', '.join(self.some_names())},)")
        return "\n".join(self.lines) + "\n"

    def some_names(self) -> list[str]:
        return self.random.sample(NAMES, self.random.randint(1, 4))

    # Expressions

    def name(self) -> str:
        return self.random.choice(["a", "a", "b", "b", "c", "c", *NAMES])

    def expression(self, depth: int = 0) -> str:
        pick = self.random.randrange(30 if depth < 3 else 8)
        e = lambda: self.expression(depth + 1)  # noqa: E731
        if pick < 4:
            return self.name()
        if pick < 7:
            return str(self.random.randint(-2, 5))
        forms = [
            lambda: f"log({e()})",
            lambda: f"({e()} + {e()})",
            lambda: f"({e()} - {e()})",
            lambda: f"({e()} * {e()} % 97)",
            lambda: f"({e()} // {e()})",
            lambda: f"({e()} if {self.test(depth + 1)} else {e()})",
            lambda: f"({e()} and {e()})",
            lambda: f"({e()} or {e()} or {e()})",
            lambda: f"(not {e()})",
            lambda: f"({e()} < {e()} <= {e()})",
            lambda: f"(log({e()}) > {e()} != log({e()}) < {e()})",
            lambda: f"({self.name()} := {e()})",
            lambda: f"sum([t * {e()} for t in range({self.random.randint(0, 3)})])",
            lambda: f"sum(t if t > {self.name()} else {e()} for t in range(3))",
            lambda: f"box[{self.random.randint(0, 3)}]",
            lambda: "obj.p",
            lambda: f"half({e()})",
            lambda: f"abs({e()})",
            lambda: f"len([t for t in box if t > {e()}])",
            lambda: f"max({e()}, *[t for t in box if log(t) and t < {self.name()}], 0)",
            lambda: f"(lambda t, u=1: t + u if t > u else u)({e()})",
            lambda: f"len(f'{{{self.name()}}}')",
        ]
        return self.random.choice(forms)()

    def test(self, depth: int = 0) -> str:
        if self.random.random() < 0.2:
            return self.expression(depth)
        sign = self.random.choice(["<", ">", "==", "!=", "<="])
        return f"{self.expression(depth + 1)} {sign} {self.name()}"

    # Statements

    def block(self, indent: str, depth: int, in_loop: bool) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent + "    ", depth + 1, in_loop)

    def statement(self, indent: str, depth: int, in_loop: bool) -> None:
        self.left -= 1
        compound = [self.branch, self.branch, self.branch, self.count, self.repeat, self.attempt]
        compound += [self.context, self.choose, self.function]
        if depth < 4 and self.left > 0 and self.random.random() < 0.5:
            self.random.choice(compound)(indent, depth, in_loop)
        else:
            self.simple(indent, in_loop)

    def simple(self, indent: str, in_loop: bool) -> None:
        v, w, e = self.name(), self.name(), self.expression
        choices = [f"{v} = {e()}"] * 8 + [f"{v} += {e()}"] * 3
        choices += [
            f"{v}, {w} = {e()}, {e()}",
            f"{v}, *rest = box",
            f"box[{self.random.randint(0, 3)}] = {e()}",
            f"box[log(1)] += {e()}",
            f"obj.p = {e()}",
            f"obj.p -= {e()}",
            f"del {v}",
            f"log({v})",
            f"log({v})",
            "pass",
            f"assert {self.test()}, {v}",
            "import math as m; log(m.floor(2.5))",
            f"return {e()}",
            f"if {self.test()}: return {v}",
            f"if {self.test()}: raise ValueError({v})",
        ]
        if self.random.random() < 0.2:
            choices += [f"raise KeyError({v})", "return", "raise"]
        if not self.closures:
            choices += [f"{v}: int = {e()}"]  # no syntax for a nonlocal variable
        if in_loop:
            choices += ["break", "continue", f"if {self.test()}: break"] * 2
            choices += [f"if {self.test()}: continue"] * 2
        if self.has_global:
            choices += [f"total += {e()}", "log(total)"] * 3
        if self.closures:
            choices += [f"keep(lambda: ({v}, {w}))", f"keep(lambda: {e()})"] * 2
            choices += [f"keep(lambda u={v}: u + {w} if u else {v})"]
            choices += [f"keep(({v} + t for t in range(2)))"]
        self.lines.append(indent + self.random.choice(choices))

    def branch(self, indent: str, depth: int, in_loop: bool) -> None:
        self.lines.append(f"{indent}if {self.test()}:")
        self.block(indent, depth, in_loop)
        while self.random.random() < 0.25:
            self.lines.append(f"{indent}elif {self.test()}:")
            self.block(indent, depth, in_loop)
        if self.random.random() < 0.5:
            self.lines.append(f"{indent}else:")
            self.block(indent, depth, in_loop)

    def count(self, indent: str, depth: int, in_loop: bool) -> None:
        targets = [(self.name(), f"range({self.random.randint(0, 4)})")] * 4
        targets += [
            (self.name(), "list(box)"),
            (f"({self.name()}, {self.name()})", "enumerate(box)"),
        ]
        targets += [("obj.p", "range(3)"), ("box[1]", "range(3)"), (self.name(), self.expression())]
        targets += [(f"{self.name()}, *rest", "[(1, 2), (3,)]"), (self.name(), "range(log(3))")]
        target, items = self.random.choice(targets)
        self.lines.append(f"{indent}for {target} in {items}:")
        self.block(indent, depth, True)
        self.otherwise(indent, depth, in_loop)

    def repeat(self, indent: str, depth: int, in_loop: bool) -> None:
        tests = [f"tick() and {self.test()}", "True", f"({self.name()} := {self.expression()}) > 2"]
        test = self.random.choice([tests[0], *tests])
        self.lines.append(f"{indent}while {test}:")
        self.lines.append(f"{indent}    tick()")
        self.block(indent, depth, True)
        if test == "True" and self.random.random() < 0.8:
            self.lines.append(f"{indent}    if {self.test()}: break")
        self.otherwise(indent, depth, in_loop)

    def otherwise(self, indent: str, depth: int, in_loop: bool) -> None:
        if self.random.random() < 0.25:
            self.lines.append(f"{indent}else:")
            self.block(indent, depth, in_loop)

    def attempt(self, indent: str, depth: int, in_loop: bool) -> None:
        self.lines.append(f"{indent}try:")
        self.block(indent, depth, in_loop)
        final = self.random.random() < 0.3
        if not final or self.random.random() < 0.5:
            kind = self.random.choice(
                ["Exception", "ValueError", "(NameError, TypeError) as error", "Exception as e"]
                + ["ZeroDivisionError", "UnboundLocalError"]
            )
            self.lines.append(f"{indent}except {kind}:")
            if kind.endswith("error"):
                self.lines.append(f"{indent}    log(str(error))")
            if kind.endswith(" e"):
                self.lines.append(f"{indent}    log(str(e))")
            self.block(indent, depth, in_loop)
            self.otherwise(indent, depth, in_loop)
        if final:
            self.lines.append(f"{indent}finally:")
            before = len(self.lines)
            self.block(indent, depth, False)
            for number in range(before, len(self.lines)):  # what returns there is not rewritten
                if self.random.random() < 0.95:
                    text = self.lines[number]
                    stripped = text.lstrip()
                    if stripped.startswith("return"):
                        self.lines[number] = text[: len(text) - len(stripped)] + "log(0)"
                    elif ": return" in text:
                        self.lines[number] = text[: text.index(": return")] + ": log(1)"

    def context(self, indent: str, depth: int, in_loop: bool) -> None:
        made = self.random.choice(
            ["guard()", "guard(True)", f"guard() as {self.name()}", "suppress(ValueError)"]
        )
        self.lines.append(f"{indent}with {made}:")
        self.block(indent, depth, in_loop)

    def choose(self, indent: str, depth: int, in_loop: bool) -> None:
        self.lines.append(f"{indent}match {self.expression()}:")
        for pattern in ("1 | 2", f"int() as {self.name()} if {self.test()}", "_"):
            if self.random.random() < 0.7:
                self.lines.append(f"{indent}    case {pattern}:")
                self.block(indent + "    ", depth + 1, in_loop)
        if self.lines[-1].lstrip().startswith("match"):
            self.lines.append(f"{indent}    case _: pass")

    def function(self, indent: str, depth: int, in_loop: bool) -> None:
        """An inner function, called at once; with `closures` it uses what is around it."""
        self.functions += 1
        word, given = f"g{self.functions}", "t"
        if not self.closures:
            given = "a, b=2, c=3, d=4, e=5"
        self.lines.append(f"{indent}def {word}({given}):")
        if self.closures and self.random.random() < 0.4:
            self.lines.append(f"{indent}    nonlocal {self.random.choice(['a', 'b'])}")
        self.block(indent, depth, False)
        if self.random.random() < 0.7:
            self.lines.append(f"{indent}    return {self.expression()}")
        self.lines.append(f"{indent}{self.name()} = {word}({self.expression()})")
        if self.closures and self.random.random() < 0.5:
            self.lines.append(f"{indent}keep(lambda: {word}(1))")


_programs = 0


def compiled(text: str, surroundings: Surroundings) -> FunctionType:
    """The function of a program, with its text where tracebacks look for it."""
    global _programs
    _programs += 1
    filename = f"<program {_programs}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), surroundings.globals)
    return surroundings.globals["f"]


def forget(function: FunctionType) -> None:
    """Take a program's text away again."""
    linecache.cache.pop(function.__code__.co_filename, None)


def outcome(function: Any, surroundings: Surroundings, filename: str) -> dict[str, Any]:
    """All that a run of a program shows: result or exception with its line, effects in order, and
    what the functions that it kept give afterwards.
    """
    box, obj = surroundings.box, surroundings.thing
    found: dict[str, Any] = {"answer": _answer(lambda: function(3, 2, box, obj), filename)}
    found["kept"] = [
        _answer(lambda each=each: _told(each), filename) for each in surroundings.kept[:20]
    ]
    found["effects"] = copy.copy(surroundings.noted), surroundings.steps, box, _plain(obj.p)
    found["total"] = surroundings.globals["total"]
    return found


def _told(kept: Any) -> Any:
    return kept() if callable(kept) else list(kept)


def _plain(value: Any) -> Any:
    return "function" if callable(value) else value


def _answer(run: Any, filename: str) -> Any:
    try:
        return repr(run()).split(" at 0x")[0]
    except BaseException as error:
        line, trace = 0, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == filename:
                line = trace.tb_lineno
            trace = trace.tb_next
        return type(error).__name__, str(error).split(" at 0x")[0], line
