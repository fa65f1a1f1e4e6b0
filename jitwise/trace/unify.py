"""Sizes that a trace found equal: solve for a symbol, and replace it in the whole graph at the end.

    guard n - m == 0                 ->  m := n
    guard (n - 2) - (m - 2) == 0     ->  m := n
    guard n*k - 12 == 0              ->  nothing to solve; the guard alone stays

The replaced symbol keeps its origin, because its guard is still checked at each call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ir import dims
from ..ir.builder import Builder
from ..ir.dims import Dim, Size
from ..ir.graph import Graph, Value
from ..ir.types import ArrayType
from ..ir.walk import replay


def substitution_for(difference: Size, known: Mapping[str, Size]) -> tuple[str, Size] | None:
    """Solve `difference == 0` for its youngest symbol that occurs once, linearly; None when there
    is none.
    """
    difference = resolve(difference, known)
    if isinstance(difference, int):
        return None
    candidates = []
    for monomial, coefficient in difference.terms:
        if len(monomial) == 1 and monomial[0].operation == "symbol" and abs(coefficient) == 1:
            candidates.append((monomial[0].text, coefficient))
    for name, coefficient in sorted(candidates, key=lambda item: -int(item[0][1:] or 0)):
        rest = dims.subtract(difference, dims.multiply(Dim.symbol(name), coefficient))
        if name not in dims.symbols_of(rest):
            return name, dims.multiply(rest, -coefficient)
    return None


def resolve(size: Size, known: Mapping[str, Size]) -> Size:
    """`size` with every known symbol replaced, also inside replacements."""
    for _ in range(len(known) + 1):
        replaced = dims.substitute(size, known)
        if replaced is size or replaced == size:
            return size
        size = replaced
    return size


def resolve_attribute(attribute: Any, known: Mapping[str, Size], found: dict[Dim, Size]) -> Any:
    """Replace symbols in an attribute: a size, a type, or a tuple that holds them.

    `found` keeps what has been resolved: a long program has few distinct sizes.
    """
    if isinstance(attribute, Dim):
        if attribute not in found:
            found[attribute] = resolve(attribute, known)
        return found[attribute]
    if isinstance(attribute, ArrayType):
        return ArrayType(attribute.dtype, resolve_attribute(attribute.shape, known, found))
    if isinstance(attribute, tuple):
        return tuple([resolve_attribute(item, known, found) for item in attribute])
    return attribute


def substitute_graph(graph: Graph, known: Mapping[str, Size], fastmath: bool) -> Graph:
    """`graph` with symbols replaced in every type and attribute. Reshapes that unified sizes fold
    away.
    """
    builder = Builder(graph.name, fastmath=fastmath)
    for name, origin in graph.symbols.items():
        builder.symbol(name, origin)
    for guard in graph.guards:
        builder.guard(guard.relation, guard.dim, guard.source)
    mapping: dict[Value, Value] = {}
    found: dict[Dim, Size] = {}
    for value in graph.inputs:
        shape = tuple([resolve(size, known) for size in value.type.shape])
        mapping[value] = builder.input(ArrayType(value.type.dtype, shape))

    def visit(target: Builder, op: Any, operands: tuple[Value, ...]) -> Any:
        attrs = (
            {key: resolve_attribute(value, known, found) for key, value in op.attrs.items()}
            if op.attrs
            else op.attrs
        )
        return target.emit(op.primitive, operands, attrs, op.source)

    replay(builder, graph.ops, mapping, visit)
    return builder.finish(tuple([mapping[value] for value in graph.outputs]))
