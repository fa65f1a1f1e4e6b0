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
from ..ir.primitive import Attrs
from ..ir.types import ArrayType


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


def resolve_attribute(attribute: Any, known: Mapping[str, Size], found: dict[Any, Any]) -> Any:
    """Replace symbols in an attribute: a size, a type, or a tuple that holds them. It is the same
    object when it holds none.

    `found` keeps what has been resolved: a long program has few distinct sizes and types.
    """
    kind = type(attribute)
    if kind is not tuple and kind is not Dim and kind is not ArrayType:
        return attribute
    known_before = kind is not tuple or SIZES.issuperset(map(type, attribute))
    resolved = found.get(attribute) if known_before else None
    if resolved is not None:
        return resolved
    if kind is Dim:
        resolved = resolve(attribute, known)
    elif kind is ArrayType:
        shape = resolve_attribute(attribute.shape, known, found)
        resolved = ArrayType(attribute.dtype, shape)
    else:
        resolved = tuple([resolve_attribute(item, known, found) for item in attribute])
    if resolved == attribute:
        resolved = attribute
    if known_before:
        found[attribute] = resolved
    return resolved


SIZES = {int, Dim}  # tuples of them are equal only to the same


def finish_substituted(
    traced: Builder, outputs: tuple[Value, ...], known: Mapping[str, Size]
) -> Graph:
    """What `traced` has built, with symbols replaced in every type and attribute, and in the graphs
    inside.

    An op whose attributes and whose operands' types stay is taken over as it is. The others are
    emitted again, so that reshapes between sizes that are now one fold away.
    """
    guards = tuple(traced.guards.values())
    inputs, ops = tuple(traced.inputs), tuple(traced.ops)
    graph = Graph(traced.name, inputs, ops, outputs, traced.symbols, guards)
    return _substituted(graph, known, {}, traced.fastmath)


def _substituted(
    traced: Graph, known: Mapping[str, Size], found: dict[Any, Any], fastmath: bool
) -> Graph:
    builder = Builder(traced.name, fastmath=fastmath)
    for name, origin in traced.symbols.items():
        builder.symbol(name, origin)
    for guard in traced.guards:
        builder.guard(guard.relation, guard.dim, guard.source)
    replaced: dict[Value, Value] = {}
    changed: set[Value] = set()  # whose type is another one now
    for value in traced.inputs:
        type = resolve_attribute(value.type, known, found)
        replaced[value] = builder.input(type)
        if type != value.type:
            changed.add(replaced[value])
    for op in traced.ops:
        operands = tuple(map(replaced.get, op.operands, op.operands))
        attrs = _resolved(op.attrs, known, found) if op.attrs else op.attrs
        if op.primitive.category == "control":
            attrs = {name: _inside(value, known, found, fastmath) for name, value in attrs.items()}
        again = attrs is not op.attrs or (op.attrs and not changed.isdisjoint(operands))
        for value in op.results:
            type = found.get(value.type)
            if type is None:
                type = resolve_attribute(value.type, known, found)
            if type != value.type:
                changed.add(value)
                value.type = type
        result = (
            builder.emit(op.primitive, operands, attrs, op.source)
            if again
            else builder.adopt(op, operands)
        )
        if op.primitive.multiple:
            replaced.update(zip(op.results, result, strict=True))
        elif op.results and result is not op.results[0]:
            replaced[op.results[0]] = result
    return builder.finish(tuple(map(replaced.get, traced.outputs, traced.outputs)))


def _inside(value: Any, known: Mapping[str, Size], found: dict[Any, Any], fastmath: bool) -> Any:
    """`value` with symbols replaced in the graphs that it is made of."""
    if type(value) is tuple:
        return tuple([_inside(item, known, found, fastmath) for item in value])
    return _substituted(value, known, found, fastmath) if type(value) is Graph else value


def _resolved(attrs: Attrs, known: Mapping[str, Size], found: dict[Any, Any]) -> Attrs:
    """`attrs` with symbols replaced, or `attrs` itself when it mentions none of them."""
    resolved: dict[str, Any] = {}
    for name, value in attrs.items():
        kind = type(value)
        if kind is tuple or kind is Dim:
            plain = kind is Dim or SIZES.issuperset(map(type, value))
            other = found.get(value) if plain else None
            if other is None:
                other = resolve_attribute(value, known, found)
            if other is not value:
                resolved[name] = other
    return {**attrs, **resolved} if resolved else attrs
