"""Work and memory of one run of a graph, for given sizes, from the rows of its primitives.

Arithmetic is counted in units of one addition (`Primitive.flops` an element; a matrix product
2*m*n*k). Bytes are those of the operands and
results of each op of the graph: in a fused graph an op is a kernel or a library call, so values
inside of a kernel cost
nothing. Caches are not modelled here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..ir.dims import evaluate_size
from ..ir.graph import Graph, Op, Value
from ..ir.types import ArrayType


@dataclass(frozen=True, slots=True)
class Work:
    """Arithmetic (in additions), bytes read and written, and number of ops that run as one unit."""

    flops: float
    bytes: int
    units: int


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of arguments, results, and values in between that reach memory."""

    arguments: int
    outputs: int
    temporaries: int


def elements(type: ArrayType, sizes: Mapping[str, int]) -> int:
    """Number of elements of an array of `type`."""
    count = 1
    for size in type.shape:
        count *= evaluate_size(size, sizes)
    return count


def size_in_bytes(type: ArrayType, sizes: Mapping[str, int]) -> int:
    """Bytes of an array of `type`."""
    return elements(type, sizes) * type.dtype.itemsize


def estimate_work(graph: Graph, sizes: Mapping[str, int]) -> Work:
    """The work of one run of `graph`, which may be fused."""
    flops, traffic, units = 0.0, 0, 0
    for op in graph.ops:
        flops += _flops(op, sizes)
        if op.primitive.category in ("view", "source", "effect"):
            continue
        units += 1
        traffic += sum(size_in_bytes(value.type, sizes) for value in (*op.operands, *op.results))
    return Work(flops, traffic, units)


def _flops(op: Op, sizes: Mapping[str, int]) -> float:
    primitive = op.primitive
    if primitive.name == "fusion":
        return sum(_flops(inner, sizes) for inner in op.attrs["body"].ops)
    if primitive.name == "dot_general":
        depth = evaluate_size(op.operands[0].type.shape[-1], sizes)
        return 2.0 * depth * elements(op.results[0].type, sizes)
    if not op.results:
        return 0.0
    counted: Value = op.operands[0] if primitive.category == "reduce" else op.results[0]
    return primitive.flops * elements(counted.type, sizes)


def estimate_memory(graph: Graph, sizes: Mapping[str, int]) -> Memory:
    """The memory of one run of `graph`; temporaries are counted as if none shared its place."""
    outputs = set(graph.outputs)
    temporaries = 0
    for op in graph.ops:
        if op.primitive.category not in ("view", "source", "effect"):
            kept = [value for value in op.results if value not in outputs]
            temporaries += sum(size_in_bytes(value.type, sizes) for value in kept)
    return Memory(
        sum(size_in_bytes(value.type, sizes) for value in graph.inputs),
        sum(size_in_bytes(value.type, sizes) for value in graph.outputs),
        temporaries,
    )
