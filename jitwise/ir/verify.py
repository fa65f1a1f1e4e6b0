"""Check that a graph is well formed.

The invariants:
1. An operand is an input of the graph or a result of an earlier op of the same graph.
2. Every output is an input or a result of an op.
3. No value is the result of two ops, and `result.op` is the op.
4. The type of each result is the one its primitive infers from its operands.
5. Every symbol in a type, an attribute or a guard is declared by the graph (or by a graph around
it), or is defined by an op: once, and, but for guards, by the op itself or an earlier one.
6. A symbol's origin names an input and an axis that exist; the size of that axis is the symbol
   itself, or what an equality guard made of it.
7. Attributes are hashable (numbering relies on it).

Not checked: that guards can hold together; that rules kept the meaning (the conformance tests do
that); dead ops.
"""

from __future__ import annotations

from collections.abc import Iterable

from .dims import Dim, Size, symbols_of
from .graph import Graph, Op, Value
from .measured import axis_of_symbol, sizes_in, symbols_defined
from .printer import op_text
from .types import ArrayType


class VerifyError(Exception):
    """A graph breaks an invariant; the message quotes the ops around the fault."""


def verify(graph: Graph, outer_symbols: frozenset[str] = frozenset()) -> None:
    """Raise VerifyError unless `graph`, and every graph inside it, keeps the invariants above."""
    pending = [(graph, outer_symbols)]
    while pending:
        current, outer = pending.pop()
        known = outer | frozenset(current.symbols)
        _verify_declarations(current, known)
        measured: set[str] = set()
        defined: set[Value] = set(current.inputs)
        for index, op in enumerate(current.ops):
            own = symbols_defined(op)
            fault = _fault_of_symbols(op, own, {*current.symbols, *measured}) if own else None
            measured.update(own)
            known = known.union(own)
            fault = fault or _fault(op, defined, known)
            if fault:
                raise VerifyError(f"{current.name}: {fault}\n{_around(current, index)}")
            defined.update(op.results)
            pending += [(inner, known) for inner in op.graphs()]
        for guard in current.guards:
            _require_known(current.name, (guard.dim,), known)
        for value in current.outputs:
            if value not in defined:
                raise VerifyError(
                    f"{current.name}: an output is not defined in the graph: {value!r}"
                )


def _verify_declarations(graph: Graph, known: frozenset[str]) -> None:
    for name, origin in graph.symbols.items():
        if origin[1] >= len(graph.inputs):
            raise VerifyError(
                f"{graph.name}: {name} is read from input {origin[1]}, which is not there"
            )
        type = graph.inputs[origin[1]].type
        if origin[0] == "size":
            axis = int(origin[2])  # type: ignore[misc]
            unified = any(g.relation == "eq" and name in symbols_of(g.dim) for g in graph.guards)
            if axis >= type.ndim or not (unified or type.shape[axis] is Dim.symbol(name)):
                raise VerifyError(f"{graph.name}: {name} is not the size of axis {axis} of {type}")
        elif type.ndim:
            raise VerifyError(f"{graph.name}: {name} is the value of an array {type}")
    for value in graph.inputs:
        _require_known(graph.name, value.type.shape, known)


def _require_known(where: str, sizes: Iterable[Size], known: frozenset[str]) -> None:
    for size in sizes:
        missing = symbols_of(size) - known
        if missing:
            raise VerifyError(f"{where}: the symbol {sorted(missing)[0]} is not declared")


def _fault_of_symbols(op: Op, own: tuple[str, ...], known: set[str]) -> str | None:
    name = op.primitive.name
    twice = [symbol for symbol in own if symbol in known]
    if twice or len(set(own)) != len(own):
        return f"{name} defines the symbol {(twice or own)[0]}, which is there already"
    types = [result.type for result in op.results]
    lost = [symbol for symbol in own if types and axis_of_symbol(symbol, types) is None]
    return f"no result of {name} has an axis of the length {lost[0]}" if lost else None


def _fault(op: Op, defined: set[Value], known: frozenset[str]) -> str | None:
    name = op.primitive.name
    for position, operand in enumerate(op.operands):
        if operand not in defined:
            return f"operand {position} of {name} is not defined before it"
    try:
        hash(tuple(op.attrs.items()))
    except TypeError:
        return f"{name} has an attribute that cannot be hashed"
    try:
        types = op.primitive.infer(tuple(operand.type for operand in op.operands), op.attrs)
    except (TypeError, ValueError) as error:
        return f"{name} refuses its operands: {error}"
    expected = (types,) if isinstance(types, ArrayType) else types
    if len(expected) != len(op.results):
        return f"{name} yields {len(expected)} values, the op has {len(op.results)}"
    for result, type in zip(op.results, expected, strict=True):
        if result.type != type:
            return f"{name} yields {type}, the op says {result.type}"
        if result.op is not op or result in defined:
            return f"a result of {name} belongs to another op"
    missing = {
        s
        for size in sizes_in((*op.attrs.values(), *(t.shape for t in expected)))
        for s in symbols_of(size)
    }
    missing -= known
    return (
        f"{name} uses the symbol {sorted(missing)[0]}, which is not declared" if missing else None
    )


def _around(graph: Graph, index: int, margin: int = 5) -> str:
    numbers: dict[Value, str] = {}
    for value in graph.inputs:
        numbers[value] = f"%{len(numbers)}"
    lines = []
    for position, op in enumerate(graph.ops):
        for result in op.results:
            numbers[result] = f"%{len(numbers)}"
        if abs(position - index) <= margin:
            shown = {value: numbers.get(value, "%?") for value in (*op.operands, *op.results)}
            marker = "->" if position == index else "  "
            lines.append(marker + _text_or_repr(op, shown))
    return "\n".join(lines)


def _text_or_repr(op: Op, numbers: dict[Value, str]) -> str:
    """The op's line; a faulty attribute may have no text, and the fault must be told all the
    same.
    """
    try:
        return op_text(op, numbers, {})
    except TypeError:
        return f"  {op.primitive.name} with the attributes {dict(op.attrs)!r}"
