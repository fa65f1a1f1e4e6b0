"""Ops that hold graphs, steer a program or change what is outside: fusion, region, check, write,
warn.

    write(%0, %7)        the array given as input %0 gets the elements of %7

    warn{text='Casting ...', category='ComplexWarning', filename='model.py', line=3, ...}()

A graph reads its inputs as they were when it was called; writes happen together, after everything
else was computed and no check can fail any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..ir.evaluate import evaluate
from ..ir.graph import Graph, Op
from ..ir.primitive import Attrs, Primitive, ProgramEmitter, register
from ..ir.types import ArrayType


def _infer_fusion(types: tuple[ArrayType, ...], attrs: Attrs) -> tuple[ArrayType, ...]:
    body: Graph = attrs["body"]
    expected = tuple(value.type for value in body.inputs)
    if types != expected:
        raise TypeError(f"the body {body.name} takes {expected}, got {types}")
    return tuple(value.type for value in body.outputs)


def _evaluate_fusion(*arrays: Any, body: Graph, sizes: Mapping[str, int]) -> tuple[Any, ...]:
    return tuple(evaluate(body, arrays, sizes))


fusion = register(
    Primitive(
        name="fusion",
        category="control",
        infer=_infer_fusion,
        evaluate=_evaluate_fusion,
        multiple=True,
        hlo="stablehlo.composite",
    )
)

# A graph that is one native loop, or several in each other; `passes.regions` makes it.
region = register(
    Primitive(
        name="region",
        category="control",
        infer=_infer_fusion,
        evaluate=_evaluate_fusion,
        multiple=True,
        hlo="stablehlo.composite",
        flops=0,
    )
)


# The elements of an array, computed now and once, in memory that nothing else has: a region that
# updates what it computes, or uses it twice, has them; `passes.regions` makes these.
copy = register(
    Primitive(
        name="copy",
        category="control",
        infer=lambda types, attrs: types[0],
        evaluate=lambda x, sizes=None: np.array(x),
        hlo="stablehlo.optimization_barrier",
        flops=0,
    )
)


def _infer_check(types: tuple[ArrayType, ...], attrs: Attrs) -> tuple[ArrayType, ...]:
    if str(types[0]) != "bool[]":
        raise TypeError(f"check needs one bool, got {types[0]}")
    return ()


class CheckFailed(Exception):
    """What a program assumed does not hold for these values; the call is run as Python instead."""


def _evaluate_check(condition: Any, reason: str) -> tuple[()]:
    if not condition:
        raise CheckFailed(reason)
    return ()


def _execute_check(program: ProgramEmitter, op: Op) -> None:
    program.instruction("check", program.slot(op.operands[0]))


check = register(
    Primitive(
        name="check",
        category="effect",
        infer=_infer_check,
        evaluate=_evaluate_check,
        execute=_execute_check,
        multiple=True,
        effect=True,
    )
)


def _infer_write(types: tuple[ArrayType, ...], attrs: Attrs) -> tuple[ArrayType, ...]:
    if types[0] != types[1]:
        raise TypeError(f"write needs two arrays of one type, got {types[0]} and {types[1]}")
    return ()


def _evaluate_write(target: Any, value: Any) -> tuple[()]:
    target[...] = value
    return ()


write = register(
    Primitive(
        name="write",
        category="effect",
        infer=_infer_write,
        evaluate=_evaluate_write,
        multiple=True,
        effect=True,
    )
)


warn = register(
    Primitive(
        name="warn",
        category="effect",
        infer=lambda types, attrs: (),
        evaluate=lambda **place: (),  # a program warns, once: see `runtime.warned`
        execute=lambda program, op: program.evaluate(op),
        multiple=True,
        effect=True,
    )
)
