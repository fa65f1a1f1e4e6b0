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

from .dims import Dim, evaluate_size, symbols_of
from .graph import Graph, Op, Value
from .measured import symbols_defined, values_measured
from .types import ArrayType
from .walk import last_uses


class GuardFailed(Exception):
    """A graph was evaluated for values that it was not made for."""


def bind_symbols(graph: Graph, arrays: Sequence[np.ndarray]) -> dict[str, int]:
    """The value of each symbol that is read from `arrays` when `graph` is called with them."""
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
        is_known = symbols_of(attribute) <= values.keys()
        return evaluate_size(attribute, values) if is_known else attribute
    if isinstance(attribute, ArrayType):
        return ArrayType(attribute.dtype, resolve(attribute.shape, values))
    if isinstance(attribute, tuple):
        return tuple([resolve(item, values) for item in attribute])
    return attribute


def resolved_attrs(op: Op, values: Mapping[str, int]) -> dict[str, Any]:
    """The attributes of `op` with numbers for sizes. Sizes that it measures itself stay."""
    own = symbols_defined(op)
    if own:
        values = {name: value for name, value in values.items() if name not in own}
    return {name: resolve(value, values) for name, value in op.attrs.items()}


def evaluate(
    graph: Graph,
    arrays: Sequence[Any],
    values: Mapping[str, int] | None = None,
    *,
    guarded: bool = False,
) -> list[np.ndarray]:
    """The outputs of `graph` on `arrays`, computed op by op with NumPy.

    Raises GuardFailed when `guarded` and a guard does not hold; the default is not to look.
    """
    if len(arrays) != len(graph.inputs):
        raise TypeError(f"{graph.name} takes {len(graph.inputs)} arrays, got {len(arrays)}")
    sizes = bind_symbols(graph, arrays) if values is None else dict(values)
    known: dict[Value, Any] = dict(zip(graph.inputs, arrays, strict=True))
    last = last_uses(graph)
    writes: list[tuple[Any, Any]] = []
    for index, op in enumerate(graph.ops):
        attrs = resolved_attrs(op, sizes)
        if op.primitive.category == "control":
            attrs["sizes"] = sizes
        if op.primitive.name == "write":
            target, value = [known[operand] for operand in op.operands]
            writes.append((target, np.copy(value)))
            continue
        result = op.primitive.evaluate(*[known[operand] for operand in op.operands], **attrs)
        results = result if op.primitive.multiple else (result,)
        if op.primitive.measures:
            sizes.update(values_measured(op, [known[operand] for operand in op.operands], results))
        for value, array in zip(op.results, results, strict=False):
            known[value] = array
        for operand in set(op.operands):
            if last[operand] == index:
                del known[operand]
    if guarded and not all(guard.holds(sizes) for guard in graph.guards):
        raise GuardFailed(graph.name)
    outputs = [known[value] for value in graph.outputs]
    if writes:
        outputs = [np.copy(array) for array in outputs]  # they may lie in an input
        for target, value in writes:
            target[...] = value
    return outputs
