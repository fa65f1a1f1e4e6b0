"""Sizes that a program finds out while it runs: symbols that an op defines.

    %1: i64[] = count(%0)
    measure{symbols=('m0',)}(%1)                    m0 is what %1 is
    %2: i64[m0] = places{size=m0}(%0)

    %3: f64[m1] = unique_values{symbols=('m1',), types=(type(f64, (m1,)),)}(%0)

An op whose primitive `measures` names the symbols it defines in its attribute `symbols`. Without
results it defines one, the value of its operand; otherwise each is the length of an axis of a
result. An op that mentions such a symbol, in the types of its results or in an attribute, comes
after the op that defines it, though no value leads from one to the other: whoever moves or drops
ops asks `Definitions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .dims import Dim, Guard, Size, symbols_of
from .graph import Graph, Op
from .types import ArrayType


def symbols_defined(op: Op) -> tuple[str, ...]:
    """The symbols that `op` defines."""
    return op.attrs["symbols"] if op.primitive.measures else ()


def axis_of_symbol(name: str, types: Sequence[ArrayType]) -> tuple[int, int] | None:
    """The first of `types`, and the axis of it, whose length is the symbol `name`."""
    for place, type in enumerate(types):
        for axis, size in enumerate(type.shape):
            if size is Dim.symbol(name):
                return place, axis
    return None


def values_measured(op: Op, operands: Sequence[Any], results: Sequence[Any]) -> dict[str, int]:
    """What the symbols are that `op` defines, once it has run."""
    if not op.results:
        return {op.attrs["symbols"][0]: int(operands[0])}
    types = [result.type for result in op.results]
    found = {}
    for name in op.attrs["symbols"]:
        place = axis_of_symbol(name, types)
        assert place is not None
        found[name] = np.shape(results[place[0]])[place[1]]
    return found


def sizes_in(value: Any) -> Iterator[Dim]:
    """The sizes in an attribute, or in a tuple of them, that are known at run time."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Dim):
            yield item
        elif isinstance(item, tuple):
            pending += item


def sizes_inside(op: Op) -> list[Dim]:
    """The sizes in the graphs of an op, and in those inside them."""
    found: dict[Dim, None] = {}
    for graph in op.graphs():
        found.update(dict.fromkeys(sizes_of(graph)))
    return list(found)


def sizes_of(graph: Graph) -> tuple[Dim, ...]:
    """The sizes that the ops of a graph mention, and those of the graphs inside: found once."""
    if graph.mentions is None:
        found: dict[Dim, None] = {}
        for op in graph.ops:
            for result in op.results:
                if result.type.shape:
                    found.update(dict.fromkeys(sizes_in(result.type.shape)))
            if op.attrs:
                found.update(dict.fromkeys(sizes_in(tuple(op.attrs.values()))))
                found.update(dict.fromkeys(sizes_inside(op)))
        graph.mentions = tuple(found)
    return graph.mentions


class Definitions:
    """Which op defines each symbol, and which of them an op has to wait for."""

    def __init__(self, ops: Iterable[Op]) -> None:
        self.op_of: dict[str, Op] = {}
        for op in ops:
            if op.primitive.measures:
                for name in op.attrs["symbols"]:
                    self.op_of[name] = op
        self._of_size: dict[Size, tuple[Op, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self.op_of)

    def awaited(self, op: Op) -> list[Op]:
        """The ops that define symbols which `op` mentions; not itself."""
        sizes: list[Dim] = []
        for result in op.results:
            for size in result.type.shape:
                if type(size) is Dim:
                    sizes.append(size)
        for value in op.attrs.values():
            if type(value) is Dim:
                sizes.append(value)
            elif isinstance(value, tuple):
                sizes += sizes_in(value)
        if op.primitive.category == "control":
            sizes += sizes_inside(op)
        if not sizes:
            return []
        found = {each: None for size in sizes for each in self.of_size(size)}
        found.pop(op, None)
        return list(found)

    def of_size(self, size: Dim) -> tuple[Op, ...]:
        """The ops that define symbols of `size`."""
        known = self._of_size.get(size)
        if known is None:
            names = sorted(symbols_of(size) & self.op_of.keys())
            known = self._of_size[size] = tuple([self.op_of[name] for name in names])
        return known

    def of_guards(self, guards: Iterable[Guard]) -> set[Op]:
        """The ops that define symbols of `guards`."""
        return {op for guard in guards for op in self.of_size(guard.dim)}


def known_guards(guards: Iterable[Guard], values: Mapping[str, int]) -> list[Guard]:
    """The guards whose symbols all have a value yet."""
    return [guard for guard in guards if symbols_of(guard.dim) <= values.keys()]


def symbols_measured(graph: Graph) -> list[str]:
    """The symbols that ops of `graph` define, in order."""
    return [name for op in graph.ops for name in symbols_defined(op)]
