"""Text back to kernels: the inverse of `printer`.

    kernel    = "kernel" MODE ["fastmath"] "lanes=" INT OPERANDS "->" OPERANDS ["scratch" SCRATCH]
                "{" phase* "}"
    OPERANDS  = "(" [%N: DTYPE ROLE, ...] ")"
    SCRATCH   = "(" [%N: DTYPE, ...] ")"
    phase     = "phase {" ["prologue {" statement* "}"] statement* "}"
    statement = "%N = load %N" | "store %N, %N"
              | "%N = " PRIMITIVE ["{" KEY=EXPR, ... "}"] "(" [%N, ...] ")"
              | "%N = reduce" WORD %N | "reduce" WORD %N "into" %N

Numbers are kept as written, so that `verify` can judge them; a primitive is looked up by name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.builder import primitive_named
from ..ir.parser import ParseError
from ..ir.types import DTYPES
from .nest import Compute, Kernel, Load, Operand, Phase, Reduce, Statement, Store

_HEADER = re.compile(
    r"kernel (?P<mode>\w+)(?P<fastmath> fastmath)? lanes=(?P<lanes>\d+) "
    r"\((?P<inputs>.*?)\) -> \((?P<outputs>.*?)\)"
    r"(?: scratch \((?P<scratch>.*?)\))? \{$"
)
_OPERAND = re.compile(r"%(\d+): (\w+) (\w+)")
_SCRATCH = re.compile(r"%\d+: (\w+)")
_COMPUTE = re.compile(r"%(\d+) = (\w+)(\{.*\})?\(([%\d, ]*)\)$")
_SIMPLE: list[tuple[re.Pattern[str], Callable[..., Statement]]] = [
    (re.compile(r"%(\d+) = load %(\d+)$"), lambda result, source: Load(int(result), int(source))),
    (re.compile(r"store %(\d+), %(\d+)$"), lambda target, value: Store(int(target), int(value))),
    (
        re.compile(r"%(\d+) = reduce (\w+) %(\d+)$"),
        lambda result, word, value: Reduce(int(result), word, int(value)),
    ),
    (
        re.compile(r"reduce (\w+) %(\d+) into %(\d+)$"),
        lambda word, value, target: Reduce(None, word, int(value), int(target)),
    ),
]


def parse_kernel(text: str) -> Kernel:
    """The kernel that `text` spells. Raises ParseError with the line that does not fit."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    if not lines:
        raise ParseError("there is no kernel in the text")
    header = _HEADER.match(lines[0][1])
    if header is None:
        raise ParseError(f"line {lines[0][0]}: expected: kernel MODE lanes=N (...) -> (...) {{")
    operands = tuple(
        Operand(DTYPES[dtype], role, is_output)
        for part, is_output in (("inputs", False), ("outputs", True))
        for _, dtype, role in _OPERAND.findall(header[part])
    )
    scratch = tuple(DTYPES[dtype] for dtype in _SCRATCH.findall(header["scratch"] or ""))
    reader = _Reader()
    for number, line in lines[1:]:
        try:
            reader.line(line)
        except (ValueError, KeyError, TypeError, SyntaxError) as error:
            raise ParseError(f"line {number}: {error} in: {line}") from error
    if not reader.closed:
        raise ParseError("the text ends before the kernel does")
    lanes, phases, relaxed = int(header["lanes"]), tuple(reader.phases), bool(header["fastmath"])
    return Kernel(header["mode"], lanes, operands, scratch, phases, relaxed)


class _Reader:
    """Reads what stands between the braces of a kernel, line by line."""

    def __init__(self) -> None:
        self.phases: list[Phase] = []
        self.prologue: list[Statement] = []
        self.body: list[Statement] = []
        self.blocks: list[str] = ["kernel"]
        self.closed = False

    def line(self, line: str) -> None:
        """Open or close a block, or read a statement into the block that is open."""
        if self.closed:
            raise ValueError("text after the kernel")
        if line == "phase {" and self.blocks == ["kernel"]:
            self.blocks.append("phase")
            self.prologue, self.body = [], []
        elif (
            line == "prologue {"
            and self.blocks[-1] == "phase"
            and not self.prologue
            and not self.body
        ):
            self.blocks.append("prologue")
        elif line == "}":
            closed = self.blocks.pop()
            if closed == "phase":
                self.phases.append(Phase(tuple(self.prologue), tuple(self.body)))
            self.closed = not self.blocks
        elif self.blocks[-1] == "kernel":
            raise ValueError("expected: phase {")
        else:
            (self.prologue if self.blocks[-1] == "prologue" else self.body).append(_statement(line))


def _statement(line: str) -> Statement:
    for pattern, make in _SIMPLE:
        match = pattern.match(line)
        if match is not None:
            return make(*match.groups())
    match = _COMPUTE.match(line)
    if match is None:
        raise ValueError("expected a statement")
    result, name, attrs, operands = match.groups()
    items: tuple[tuple[str, Any], ...] = _attributes(attrs) if attrs else ()
    used = tuple(int(operand.strip()[1:]) for operand in operands.split(",") if operand.strip())
    return Compute(int(result), primitive_named(name), items, used)


def _attributes(text: str) -> tuple[tuple[str, Any], ...]:
    """`{key=value, ...}` read as the keywords of a call."""
    tree = ast.parse(f"attributes({text[1:-1]})", mode="eval").body
    if not isinstance(tree, ast.Call):
        raise ValueError("expected attributes")
    return tuple((str(item.arg), _attribute(item.value)) for item in tree.keywords)


def _attribute(node: ast.expr) -> Any:
    match node:
        case ast.Name(id=name) if name in DTYPES:
            return DTYPES[name]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in DTYPES:
            return _scalar(DTYPES[name], [_number(each) for each in arguments])
        case ast.Call(func=ast.Name(id=name), keywords=[ast.keyword(arg="bits", value=bits)]):
            dtype = DTYPES[name]
            return np.frombuffer(ast.literal_eval(bits).to_bytes(dtype.itemsize, "little"), dtype)[
                0
            ]
    return ast.literal_eval(node)


def _number(node: ast.expr) -> Any:
    text = ast.unparse(node)
    return (
        float(text.replace(" ", ""))
        if text.lstrip("-") in ("inf", "nan")
        else ast.literal_eval(node)
    )


def _scalar(dtype: np.dtype, numbers: list[Any]) -> Any:
    if dtype.kind != "c":
        return np.asarray(numbers[0], dtype)[()]
    scalar = np.zeros((), dtype)
    scalar.real, scalar.imag = numbers
    return scalar[()]
