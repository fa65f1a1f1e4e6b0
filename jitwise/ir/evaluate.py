"""Run a graph with NumPy: the meaning of the IR, and the slowest way to run a program.

Each op calls its primitive's `evaluate` on arrays; sizes in attrs are replaced by their run-time
values first. A value is dropped after its last use, so a long chain needs the memory of its widest
point.

Writes to inputs come last, all together, whatever their place among the ops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .dims import Dim, evaluate_size
from .graph import Graph, Value
from .types import ArrayType
from .walk import last_uses


def bind_symbols(graph: Graph, arrays: Sequence[np.ndarray]) -> dict[str, int]:
    """The value of each symbol of `graph` when it is called with `arrays`."""
    values: dict[str, int] = {}
    for name, origin in graph.symbols.items():
        if origin[0] == "size":
            values[name] = arrays[origin[1]].shape[origin[2]]  # type: ignore[misc]
        else:
            values[name] = int(arrays[origin[1]])
    return values


def resolve(attribute: Any, values: Mapping[str, int]) -> Any:
    """`attribute` with every Dim in it replaced by its number."""
    if isinstance(attribute, Dim):
        return evaluate_size(attribute, values)
    if isinstance(attribute, ArrayType):
        return ArrayType(attribute.dtype, resolve(attribute.shape, values))
    if isinstance(attribute, tuple):
        return tuple([resolve(item, values) for item in attribute])
    return attribute


def evaluate(
    graph: Graph, arrays: Sequence[Any], values: Mapping[str, int] | None = None
) -> list[np.ndarray]:
    """The outputs of `graph` on `arrays`, computed op by op with NumPy.

    Guards are not checked here; a caller that needs them asks `guard.holds`.
    """
    if len(arrays) != len(graph.inputs):
        raise TypeError(f"{graph.name} takes {len(graph.inputs)} arrays, got {len(arrays)}")
    sizes = bind_symbols(graph, arrays) if values is None else values
    known: dict[Value, Any] = dict(zip(graph.inputs, arrays, strict=True))
    last = last_uses(graph)
    writes: list[tuple[Any, Any]] = []
    for index, op in enumerate(graph.ops):
        attrs = {name: resolve(value, sizes) for name, value in op.attrs.items()}
        if op.primitive.category == "control":
            attrs["sizes"] = sizes
        if op.primitive.name == "write":
            target, value = [known[operand] for operand in op.operands]
            writes.append((target, np.copy(value)))
            continue
        result = op.primitive.evaluate(*[known[operand] for operand in op.operands], **attrs)
        results = result if op.primitive.multiple else (result,)
        for value, array in zip(op.results, results, strict=False):
            known[value] = array
        for operand in set(op.operands):
            if last[operand] == index:
                del known[operand]
    outputs = [known[value] for value in graph.outputs]
    if writes:
        outputs = [np.copy(array) for array in outputs]  # they may lie in an input
        for target, value in writes:
            target[...] = value
    return outputs
