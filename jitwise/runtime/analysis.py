"""What one call of a program costs by count: arithmetic, bytes moved, memory, for given sizes.

Nothing is run and nothing is measured. Bytes are those of the arrays that each kernel or other
instruction reads and writes; views are free, and what stays inside a kernel does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from ..ir.dims import evaluate_size
from ..ir.graph import Graph, Op, Value
from ..ir.types import DTYPES, ArrayType
from .program_text import ProgramText

Sizes = Mapping[str, int]


def count_of(type: ArrayType, sizes: Sizes) -> int:
    """The number of elements of an array."""
    return prod([evaluate_size(size, sizes) for size in type.shape])


def bytes_of(values: Iterable[Value], sizes: Sizes) -> int:
    """The bytes of arrays."""
    return sum(count_of(value.type, sizes) * value.type.dtype.itemsize for value in values)


def cost(fused: Graph, sizes: Sizes) -> dict[str, float]:
    """Arithmetic, bytes and kernels of one call of a fused graph."""
    flops, moved, kernels = 0.0, 0, 0
    for op in fused.ops:
        if op.primitive.name == "fusion":
            kernels += 1
            flops += sum(_flops(inner, sizes) for inner in op.attrs["body"].ops)
        elif op.primitive.category == "view" or not op.operands:
            continue
        else:
            flops += _flops(op, sizes)
        moved += bytes_of({*op.operands, *op.results}, sizes)
    return {"flops": flops, "bytes accessed": float(moved), "kernels": float(kernels)}


def _flops(op: Op, sizes: Sizes) -> float:
    primitive = op.primitive
    if primitive.category == "view":
        return 0.0
    points = max([count_of(value.type, sizes) for value in (*op.operands, *op.results)], default=0)
    if primitive.category == "contract":
        terms = evaluate_size(op.operands[0].type.shape[-1], sizes)
        return primitive.flops * terms * count_of(op.results[0].type, sizes)
    return primitive.flops * points


def memory(source: Graph, fused: Graph, text: ProgramText, sizes: Sizes) -> dict[str, int]:
    """Bytes of arguments and outputs, and the most that temporaries take at one time."""
    dims = _dims(source, text, sizes)
    outputs = set(text.outputs)
    live: dict[int, int] = {}
    now = peak = 0
    for instruction in text.instructions:
        if instruction[0] == "alloc" and instruction[1] not in outputs:
            _, slot, dtype, shape = instruction
            live[slot] = prod([dims[dim] for dim in shape]) * DTYPES[dtype].itemsize
            now += live[slot]
            peak = max(peak, now)
        elif instruction[0] == "free":
            now -= live.pop(instruction[1], 0)
    return {
        "arguments": bytes_of(fused.inputs, sizes),
        "outputs": bytes_of(fused.outputs, sizes),
        "temporaries": peak,
    }


def _dims(source: Graph, text: ProgramText, sizes: Sizes) -> list[int]:
    """The program's table of sizes, computed."""
    measured = [symbol[1] for symbol in text.symbols if symbol[0] == "measured"]
    values = [sizes[name] for name in (*source.symbols, *measured)]
    operations = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "floordiv": lambda a, b: a // b,
        "mod": lambda a, b: a % b,
        "min": min,
        "max": max,
    }
    for word, *operands in text.dims:
        if word == "const":
            values.append(operands[0])
        else:
            values.append(operations[word](*[values[operand] for operand in operands]))
    return values
