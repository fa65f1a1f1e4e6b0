"""Text back to graphs: the inverse of `printer`.

The grammar, one graph after another, the last one the result:

    graph   = "graph" NAME "(" [%N: TYPE, ...] ")" ["where" NAME = ORIGIN, ...] ["assuming" GUARD,
    ...] "{" op* return "}"
    op      = [%N: TYPE, ... "="] PRIMITIVE ["{" KEY=EXPR, ... "}"] "(" [%N, ...] ")" ["#"
    FILE:LINE]
    return  = "return" [%N, ...]
    TYPE    = DTYPE "[" [SIZE, ...] "]"
    EXPR    = a Python literal, a DTYPE, DTYPE(number), a SIZE, "@" NAME, or a tuple of these

Parsing emits through a `Builder`, so an ill-typed text is refused with its line. Folding is off by
default: text means what
it says. Types written in the text must be the ones inferred. `{` and `}` must not occur in string
attributes' braces unbalanced.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from .builder import Builder, primitive_named
from .dims import Dim, size_from_syntax
from .graph import Graph, Value
from .types import DTYPES, ArrayType

_HEADER = re.compile(
    r"graph (?P<name>[\w.<>]+)\((?P<inputs>.*?)\)"
    r"(?: where (?P<where>.*?))?(?: assuming (?P<assuming>.*?))? \{$"
)
_OP = re.compile(
    r"(?:(?P<results>%.*?) = )?(?P<primitive>\w+)(?P<attrs>\{.*\})?\((?P<operands>[^()]*)\)"
    r"(?:\s+# (?P<file>.*):(?P<line>\d+))?$"
)
_RESULT = re.compile(r"(%\d+): (\w+)\[([^\]]*)\]")
_ORIGIN = re.compile(r"(\w+) = (size|value)\(([\d, ]+)\)")
_GUARD = re.compile(r"(.+?) (==|!=|>=) 0(?:, |$)")
_GRAPH_NAME = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|@([\w.<>]+)""")  # or a string
_RELATIONS = {"==": "eq", "!=": "ne", ">=": "ge"}


class ParseError(ValueError):
    """Text that is not a graph; the message names the line."""


def parse(text: str, *, fold: bool = False) -> Graph:
    """The last graph in `text`. Raises ParseError with the line that does not fit."""
    graphs: dict[str, Graph] = {}
    current: _Reader | None = None
    last: Graph | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        try:
            if current is None:
                current = _Reader(line, graphs, fold)
            elif line == "}":
                last = current.builder.finish(current.outputs)
                graphs[last.name] = last
                current = None
            else:
                current.statement(line)
        except (ValueError, TypeError, KeyError, SyntaxError) as error:
            raise ParseError(f"line {number}: {error} in: {line}") from error
    if last is None or current is not None:
        raise ParseError("the text ends before a graph does")
    return last


def parse_type(dtype: str, sizes: str) -> ArrayType:
    """`f64`, `n, 3` -> f64[n, 3]."""
    if dtype not in DTYPES:
        raise ValueError(f"there is no dtype {dtype!r}")
    shape = ast.parse(f"({sizes},)" if sizes.strip() else "()", mode="eval").body
    assert isinstance(shape, ast.Tuple)
    return ArrayType(DTYPES[dtype], tuple(size_from_syntax(item) for item in shape.elts))


def _graph_call(found: re.Match[str]) -> str:
    return found[0] if found[1] is None else f"graph({found[1]!r})"


class _Reader:
    """Reads one graph, line by line."""

    def __init__(self, header: str, graphs: dict[str, Graph], fold: bool) -> None:
        match = _HEADER.match(header)
        if match is None:
            raise ValueError("expected: graph NAME(INPUTS) {")
        self.graphs = graphs
        self.builder = Builder(match["name"], fold=fold)
        self.values: dict[str, Value] = {}
        self.outputs: tuple[Value, ...] = ()
        for name, dtype, sizes in _RESULT.findall(match["inputs"]):
            self.values[name] = self.builder.input(parse_type(dtype, sizes))
        for name, kind, place in _ORIGIN.findall(match["where"] or ""):
            self.builder.symbol(name, (kind, *map(int, place.split(","))))  # type: ignore[arg-type]
        for size, relation, *_ in _GUARD.findall(match["assuming"] or ""):
            tree = ast.parse(size, mode="eval").body
            self.builder.guard(_RELATIONS[relation], size_from_syntax(tree))

    def statement(self, line: str) -> None:
        """An op or the return."""
        if line == "return" or line.startswith("return "):
            names = [name.strip() for name in line[6:].split(",") if name.strip()]
            self.outputs = tuple(self.values[name] for name in names)
            return
        match = _OP.match(line)
        if match is None:
            raise ValueError("expected an op or return")
        operands = tuple(
            self.values[name.strip()] for name in match["operands"].split(",") if name.strip()
        )
        source = (match["file"], int(match["line"])) if match["file"] else None
        attrs = self.attrs(match["attrs"]) if match["attrs"] else {}
        result = self.builder.emit(primitive_named(match["primitive"]), operands, attrs, source)
        results = result if isinstance(result, tuple) else (result,)
        declared = _RESULT.findall(match["results"] or "")
        for value, (name, dtype, sizes) in zip(results, declared, strict=True):
            written = parse_type(dtype, sizes)
            if value.type != written:
                raise TypeError(
                    f"{match['primitive']} yields {value.type}, the text says {written}"
                )
            self.values[name] = value

    def attrs(self, text: str) -> dict[str, Any]:
        """`{key=value, ...}` read as the keywords of a call."""
        call = _GRAPH_NAME.sub(_graph_call, text[1:-1])
        tree = ast.parse(f"attrs({call})", mode="eval").body
        assert isinstance(tree, ast.Call)
        return {str(item.arg): self.attribute(item.value) for item in tree.keywords}

    def attribute(self, node: ast.expr) -> Any:
        match node:
            case ast.Tuple(elts=elements):
                return tuple(self.attribute(item) for item in elements)
            case ast.Constant(value=value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                return -value  # type: ignore[operator]
            case ast.Name(id=name) if name in DTYPES:
                return DTYPES[name]
            case ast.Name(id="inf" | "nan" as name):
                return float(name)
            case ast.Call(func=ast.Name(id="graph"), args=[ast.Constant(value=str() as name)]):
                return self.graphs[name]
            case ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name), shape]):
                return ArrayType(DTYPES[name], self.attribute(shape))
            case ast.Call(func=ast.Name(id="host")):
                raise ValueError("a graph with a host function cannot be read from text")
            case ast.Call(func=ast.Name(id=name)) if name in DTYPES:
                return _scalar(node, DTYPES[name])
            case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="inf")):
                return -float("inf")
            case ast.Call(func=ast.Name(id="complex"), args=[real, imag]):
                return complex(float(ast.unparse(real)), float(ast.unparse(imag)))
        return size_from_syntax(node)


def _scalar(node: ast.Call, dtype: np.dtype) -> Any:
    """`f32(1.5)`, `c64(1.0, -0.0)`, `f64(bits=...)`."""
    if node.keywords:
        bits = ast.literal_eval(node.keywords[0].value)
        return np.frombuffer(bits.to_bytes(dtype.itemsize, "little"), dtype)[0]
    numbers = [
        float(ast.unparse(item)) if dtype.kind in "fc" else ast.literal_eval(item)
        for item in node.args
    ]
    if dtype.kind == "c":
        scalar = np.zeros((), dtype)
        scalar.real, scalar.imag = numbers
        return scalar[()]
    return np.asarray(numbers[0], dtype)[()]


__all__ = ["Dim", "ParseError", "parse", "parse_type"]
