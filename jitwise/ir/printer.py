"""Graphs as text, one op a line; `parser.parse` reads it back.

Sub-graphs (attrs that are graphs) are printed before the graph that uses them and referred to as
`@name`, so nesting never indents and printing never recurses. The user's line stands behind `#`; it
is not part of a graph's identity.

    graph f(%0: f64[n]) where n = size(0, 0) assuming n - 1 >= 0 {
      %1: f64[n] = sine(%0)  # model.py:3
      return %1
    }
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .dims import Dim
from .graph import Graph, Op, Value
from .types import DTYPE_NAMES, ArrayType


def print_graph(graph: Graph, *, sources: bool = True) -> str:
    """The text of `graph` and of every graph inside it."""
    names = _name_subgraphs(graph)
    return "\n".join(_graph_text(each, names, sources) for each in names)


def _name_subgraphs(graph: Graph) -> dict[Graph, str]:
    """Every graph reachable from `graph`, users after the graphs they use, with a unique name
    each.
    """
    order: list[Graph] = []
    seen: set[Graph] = set()
    pending: list[tuple[Graph, bool]] = [(graph, False)]
    while pending:
        current, expanded = pending.pop()
        if expanded:
            order.append(current)
        elif current not in seen:
            seen.add(current)
            pending.append((current, True))
            pending.extend([(inner, False) for op in current.ops for inner in op.graphs()])
    names: dict[Graph, str] = {}
    taken: set[str] = set()
    for each in order:
        name, count = each.name, 1
        while name in taken:
            count += 1
            name = f"{each.name}_{count}"
        taken.add(name)
        names[each] = name
    return names


def _graph_text(graph: Graph, names: dict[Graph, str], sources: bool) -> str:
    numbers: dict[Value, str] = {}
    for value in graph.inputs:
        numbers[value] = f"%{len(numbers)}"
    inputs = ", ".join(f"{numbers[value]}: {value.type}" for value in graph.inputs)
    lines = [f"graph {names[graph]}({inputs}){_declarations(graph)} {{"]
    for op in graph.ops:
        for result in op.results:
            numbers[result] = f"%{len(numbers)}"
        lines.append(op_text(op, numbers, names, sources))
    lines.append(f"  return {', '.join(numbers[value] for value in graph.outputs)}".rstrip())
    return "\n".join(lines) + "\n}"


def _declarations(graph: Graph) -> str:
    text = ""
    if graph.symbols:
        origins = [
            f"{name} = {origin[0]}({', '.join(map(str, origin[1:]))})"
            for name, origin in graph.symbols.items()
        ]
        text += " where " + ", ".join(origins)
    if graph.guards:
        text += " assuming " + ", ".join(map(str, graph.guards))
    return text


def op_text(
    op: Op, numbers: dict[Value, str], names: dict[Graph, str], sources: bool = True
) -> str:
    """One line: results with types, primitive, attrs, operands, the user's line."""
    results = ", ".join(f"{numbers[result]}: {result.type}" for result in op.results)
    attrs = ""
    if op.attrs:
        items = ", ".join(f"{key}={attr_text(value, names)}" for key, value in op.attrs.items())
        attrs = "{" + items + "}"
    operands = ", ".join(numbers[operand] for operand in op.operands)
    assigned = f"{results} = " if results else ""
    line = f"  {assigned}{op.primitive.name}{attrs}({operands})"
    if sources and op.source is not None:
        line += f"  # {os.path.basename(op.source[0])}:{op.source[1]}"
    return line


def attr_text(value: Any, names: dict[Graph, str] | None = None) -> str:
    """An attribute as the parser reads it: a Python expression, a dtype, a size, or `@graph`."""
    if isinstance(value, Graph):
        return f"@{(names or {}).get(value, value.name)}"
    if isinstance(value, ArrayType):  # a tuple too, so before tuples
        return f"type({DTYPE_NAMES[value.dtype]}, {attr_text(value.shape)})"
    if isinstance(value, tuple):
        inside = ", ".join(attr_text(item, names) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, np.dtype):
        return DTYPE_NAMES[value]
    if isinstance(value, np.generic):
        return f"{DTYPE_NAMES[value.dtype]}({_number_text(value)})"
    if isinstance(value, complex):
        return f"complex({value.real!r}, {value.imag!r})"
    if isinstance(value, Dim) or value is None or isinstance(value, (bool, int, str, float)):
        return str(value) if isinstance(value, Dim) else repr(value)
    if callable(value):
        module = getattr(value, "__module__", None) or "?"
        name = getattr(value, "__qualname__", None)
        return f"host({module!r}, {name or repr(value)!r})"
    raise TypeError(f"an attribute that has no text: {value!r}")


def _number_text(value: np.generic) -> str:
    parts = (value.real, value.imag) if value.dtype.kind == "c" else (value,)
    if value.dtype.kind in "fc" and not all(_is_plain(part) for part in parts):
        return f"bits={int.from_bytes(value.tobytes(), 'little')}"
    return ", ".join(repr(part.item()) for part in parts)


def _is_plain(part: np.generic) -> bool:
    """Whether the number's text says everything: the sign and payload of a NaN need its bits."""
    return not np.isnan(part) or part.tobytes() == np.asarray(np.nan, part.dtype).tobytes()
