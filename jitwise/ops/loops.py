"""Ops that choose and repeat: `case` runs one of several graphs, `while` runs a graph until another
says stop.

    %3: f64[] = case{branches=(@no, @yes)}(%0, %1)          %0 false: @no(%1), true: @yes(%1)
    %5: i64[], %6: f64[n] = while{cond=@go, body=@step}(%1, %2, %3)

The operands of a `while` are what it carries, then what stays the same; `body` and `cond` take all
of them. `body` gives what is carried on, of the same types, and `cond` one bool; the results are
what is carried when it is false. An index of `case` beyond the branches takes the last one.

These graphs may mention the symbols of the graph around them. Their own are read from their inputs
anew each time that they run, so an int that is carried may be a size:

    graph step(%0: i64[], %1: f64[n]) where i = value(0) { ... slice{sizes=(i,), ...}(%1) ... }

Writes stand in no such graph: what becomes of an argument is a result. Not here: what of it is
compiled to a native loop (see `passes.regions`), and derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..ir.evaluate import bind_symbols, evaluate
from ..ir.graph import Graph
from ..ir.primitive import Attrs, Primitive, register
from ..ir.types import ArrayType

_BOOL = ArrayType(np.dtype(np.bool_), ())
_INT = ArrayType(np.dtype(np.int64), ())


def _require_inputs(graph: Graph, types: tuple[ArrayType, ...]) -> None:
    expected = tuple([value.type for value in graph.inputs])
    if types != expected:
        raise TypeError(f"{graph.name} takes {_listed(expected)}, got {_listed(types)}")


def _listed(types: tuple[ArrayType, ...]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"


def _run(graph: Graph, arrays: tuple[Any, ...], sizes: Mapping[str, int]) -> list[Any]:
    return evaluate(graph, arrays, {**sizes, **bind_symbols(graph, arrays)})


# case


def _infer_case(types: tuple[ArrayType, ...], attrs: Attrs) -> tuple[ArrayType, ...]:
    branches: tuple[Graph, ...] = attrs["branches"]
    if not types or types[0] not in (_BOOL, _INT):
        raise TypeError(f"case chooses by one bool or i64, got {types[0] if types else 'nothing'}")
    if not branches or (types[0] == _BOOL and len(branches) != 2):
        raise TypeError(f"case by {types[0]} has {len(branches)} branches")
    given = tuple([value.type for value in branches[0].outputs])
    for branch in branches:
        _require_inputs(branch, types[1:])
        other = tuple([value.type for value in branch.outputs])
        if other != given:
            raise TypeError(
                f"{branches[0].name} gives {_listed(given)}, {branch.name} {_listed(other)}"
            )
    return given


def _evaluate_case(
    index: Any, *arrays: Any, branches: tuple[Graph, ...], sizes: Mapping[str, int]
) -> tuple[Any, ...]:
    place = int(index)
    chosen = branches[place if 0 <= place < len(branches) else -1]
    return tuple(_run(chosen, arrays, sizes))


case = register(
    Primitive(
        name="case",
        category="control",
        infer=_infer_case,
        evaluate=_evaluate_case,
        multiple=True,
        hlo="stablehlo.case",
        flops=0,
    )
)


# while


def _infer_while(types: tuple[ArrayType, ...], attrs: Attrs) -> tuple[ArrayType, ...]:
    cond: Graph = attrs["cond"]
    body: Graph = attrs["body"]
    _require_inputs(cond, types)
    _require_inputs(body, types)
    if [value.type for value in cond.outputs] != [_BOOL]:
        raise TypeError(f"{cond.name} does not give one bool")
    for place, value in enumerate(body.outputs):
        if place >= len(types) or value.type != types[place]:
            given = types[place] if place < len(types) else "nothing"
            raise TypeError(f"{body.name} takes {given} as number {place}, and gives {value.type}")
    return types[: len(body.outputs)]


class TooManyTurns(Exception):
    """Loops turn more often than the block `at_most` allows."""


_LEFT: ContextVar[list[int] | None] = ContextVar("turns that loops may still have", default=None)


@contextmanager
def at_most(turns: int) -> Iterator[None]:
    """Raise TooManyTurns when the loops that are evaluated meanwhile have more turns in all. Inputs
    that are none of the program's may keep it going for ever.
    """
    token = _LEFT.set([turns])
    try:
        yield
    finally:
        _LEFT.reset(token)


def _evaluate_while(
    *arrays: Any, cond: Graph, body: Graph, sizes: Mapping[str, int]
) -> tuple[Any, ...]:
    carried, same = list(arrays[: len(body.outputs)]), arrays[len(body.outputs) :]
    left = _LEFT.get()
    while _run(cond, (*carried, *same), sizes)[0]:
        if left is not None:
            left[0] -= 1
            if left[0] < 0:
                raise TooManyTurns
        carried = _run(body, (*carried, *same), sizes)
    return tuple(carried)


while_ = register(
    Primitive(
        name="while",
        category="control",
        infer=_infer_while,
        evaluate=_evaluate_while,
        multiple=True,
        hlo="stablehlo.while",
        flops=0,
    )
)
