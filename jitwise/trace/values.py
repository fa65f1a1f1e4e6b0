"""What traced values are in the call that is traced: the graph so far, evaluated with NumPy.

    np.linalg.eigvals(x * 2)     real or complex? that depends on the numbers

Only where nothing else tells: it costs what NumPy costs, once for each op that leads to the value.
What is found out here is an assumption on later calls, which the program has to check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.evaluate import resolved_attrs
from ..ir.graph import Op, Value
from ..ir.measured import sizes_in, sizes_inside
from .filters import unheard

if TYPE_CHECKING:
    from .tracing import Trace


def actual(trace: Trace, values: list[Value]) -> list[np.ndarray]:
    """The arrays that values are in this call."""
    known = trace.actual
    for value, given in zip(trace.root.inputs, trace.given, strict=True):
        if value not in known:
            known[value] = np.asarray(given, value.type.dtype)
    for op in _needed(trace, values):
        if type(op) is Value:
            first = np.asarray(known[trace.sources[op]], op.type.dtype)
            known[op] = np.broadcast_to(first, [trace.hint(size) for size in op.type.shape])
        else:
            _evaluate(trace, known, op)
    return [known[value] for value in values]


def _needed(trace: Trace, values: list[Value]) -> list[Any]:
    """The ops that lead to values and were not evaluated yet, in an order to evaluate them; and the
    inputs of regions among the values, which are what they are at first.
    """
    known, sources = trace.actual, trace.sources
    order: list[Any] = []
    done: set[Any] = set()
    pending: list[tuple[Value, bool]] = [(value, False) for value in values]
    while pending:
        value, ready = pending.pop()
        op = sources.get(value) and value or value.op
        if value in known or op is None or op in done:
            continue
        if ready:
            done.add(op)
            order.append(op)
            continue
        pending.append((value, True))
        before = (sources[value],) if isinstance(op, Value) else op.operands
        pending.extend([(operand, False) for operand in before])
    return order


def is_drawn(trace: Trace, value: Value) -> bool:
    """Whether what a value is in this call follows from random numbers, which are not drawn yet."""
    pending = [op for op in _needed(trace, [value]) if type(op) is not Value]
    while pending:
        op = pending.pop()
        if op.primitive.name == "draw":
            return True
        pending += [each for graph in op.graphs() for each in graph.ops]
    return False


def _evaluate(trace: Trace, known: dict[Value, Any], op: Op) -> None:
    if op.primitive.name == "draw":
        trace.refuse("drawn", op.attrs["method"])
    if op.primitive.name == "callback":
        trace.refuse("value", f"what {op.attrs['function'].name} gives")
    if trace.values.open:
        for size in (*sizes_in(tuple(op.attrs.values())), *sizes_inside(op)):
            trace.hint(size)  # which asks for what is open
    attrs = resolved_attrs(op, trace.values)
    if op.primitive.category == "control":
        attrs["sizes"] = trace.values
    with np.errstate(all="ignore"), unheard():
        result = op.primitive.evaluate(*[known[operand] for operand in op.operands], **attrs)
    results = result if op.primitive.multiple else (result,)
    for value, array in zip(op.results, results, strict=False):
        known[value] = array


__all__ = ["actual"]
