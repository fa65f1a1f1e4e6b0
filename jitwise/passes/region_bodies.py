"""The graph of a region: a `while`, with the single values before it that only it needs.

    %3: i64[] = constant{value=0}()
    %4: f64[] = add(%1, %2)                             -> %7: f64[m], %6: f64[] = region{body=...}(
    %5: i64[], %6: f64[], %7: f64[m] = while{...}(              %0, %1, %2)
        %3, %4, %0)

A number that LLVM knows is worth more than one that it reads, and arithmetic on single values costs
no kernel of its own. Of the results, single values that nobody needs are left away, and arrays come
first, so that each has the place of the operand that it begins as. What the program has checked of
its sizes is said again, as guards that hold.

Numbers stay outside where loops of the graph differ in them only: these share their code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ir.builder import CONSTANT, DIMENSION, Builder
from ..ir.dims import Guard, symbols_of
from ..ir.fingerprint import fingerprint
from ..ir.graph import Graph, Op, Value
from ..ir.measured import sizes_inside
from ..ir.walk import replay, users
from ..ops.control import region
from .labels import ELEMENTWISE, kind_of

LIGHT = 4  # at most so much arithmetic is moved: mathematical functions have kernels


class Sinking:
    """Makes the regions of one graph. `loops` are the `while`s that become one, with their
    attributes; `guards` hold wherever the program runs.
    """

    def __init__(
        self, graph: Graph, loops: Mapping[Op, Mapping[str, Any]], guards: Sequence[Guard] = ()
    ) -> None:
        self.loops = loops
        self.guards = guards
        self.users = users(graph)
        self.outputs = set(graph.outputs)
        self.place = {op: place for place, op in enumerate(graph.ops)}
        alone = len(loops) == 1
        self.texts = (
            {} if alone else {op: fingerprint(_body("region", op, loops[op])[0]) for op in loops}
        )
        self.copies = Counter(self.texts.values())

    def region(self, name: str, op: Op) -> tuple[Op, list[Value]]:
        """A region for a `while`, on values of the graph; and the results of the `while` that its
        own stand for.
        """
        sunk = [] if self.copies[self.texts.get(op, "")] > 1 else self._sunk(op)
        body, operands, places = _body(
            name, op, self.loops[op], sunk, self._guards_of(op), self._is_needed
        )
        new = Op(region, operands, {"body": body}, op.source)
        kept = [op.results[place] for place in places]
        new.results = tuple([Value(result.type, new, result.constant) for result in kept])
        return new, kept

    def _guards_of(self, op: Op) -> list[Guard]:
        """What is known of the sizes that a loop mentions."""
        sizes = [size for value in op.operands for size in value.type.shape]
        names = {name for size in (*sizes, *sizes_inside(op)) for name in symbols_of(size)}
        return [
            Guard(guard.relation, guard.dim)
            for guard in self.guards
            if guard.relation == "ge" and symbols_of(guard.dim) <= names
        ]

    def _is_needed(self, value: Value) -> bool:
        return bool(value.type.shape or self.users[value]) or value in self.outputs

    def _sunk(self, op: Op) -> list[Op]:
        """The ops that move into the region, in order."""
        found = {op}
        pending = list(op.operands)
        while pending:
            before = pending.pop().op
            if before is None or before in found or not self._moves(before, found):
                continue
            found.add(before)
            pending += before.operands
        found.remove(op)
        return sorted(found, key=self.place.__getitem__)

    def _moves(self, op: Op, inside: set[Op]) -> bool:
        """Whether an op moves into the region with those that are `inside`."""
        if op.primitive in (CONSTANT, DIMENSION):
            return True
        if len(op.results) != 1 or op.primitive.flops > LIGHT or kind_of(op) != ELEMENTWISE:
            return False
        (result,) = op.results
        if result in self.outputs or any(value.type.shape for value in (result, *op.operands)):
            return False
        return inside.issuperset(self.users[result])


def _all(value: Value) -> bool:
    return True


def _body(
    name: str,
    op: Op,
    attrs: Mapping[str, Any],
    sunk: Sequence[Op] = (),
    guards: Sequence[Guard] = (),
    is_needed: Callable[[Value], bool] = _all,
) -> tuple[Graph, tuple[Value, ...], list[int]]:
    """The graph, the operands, and which results of the `while` it gives."""
    arrays = [place for place, result in enumerate(op.results) if result.type.shape]
    builder = Builder(name, fold=False)
    operands = [op.operands[place] for place in arrays]
    carried = {place: builder.input(op.operands[place].type) for place in arrays}
    inside = {result for each in sunk for result in each.results}
    taken = [value for each in sunk for value in each.operands]
    taken += [value for place, value in enumerate(op.operands) if place not in carried]
    mapping: dict[Value, Value] = {}
    for value in taken:
        if value not in inside and value not in mapping:
            mapping[value] = builder.input(value.type)
            operands.append(value)
    builder.guards.update({(guard.relation, guard.dim): guard for guard in guards})
    replay(builder, sunk, mapping)
    given = [carried.get(place) or mapping[value] for place, value in enumerate(op.operands)]
    results = builder.emit(op.primitive, tuple(given), attrs, op.source)
    places = arrays + [
        place
        for place, result in enumerate(op.results)
        if place not in carried and is_needed(result)
    ]
    return builder.finish(tuple([results[place] for place in places])), tuple(operands), places
