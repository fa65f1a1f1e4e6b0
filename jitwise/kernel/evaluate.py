"""Run a kernel on whole arrays with NumPy: the meaning of the kernel IR.

The iteration space is `shape`, of which the first `outer` axes are the outer ones: the rows of a
map or row kernel, the reduced axes of a column kernel. A vector operand has `shape`, a row operand
`shape[:outer]`, a scalar operand `()`; a column kernel's outputs have `shape[outer:]`. A float sum
is NumPy's, so its last bits are not those of compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .nest import INDEX_WORDS, Compute, Kernel, Load, Reduce, Statement, Store

_UFUNCS = {
    "add": np.add,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def evaluate_kernel(
    kernel: Kernel, arrays: Sequence[np.ndarray], shape: tuple[int, ...], outer: int = 0
) -> list[np.ndarray]:
    """The outputs of `kernel` on `arrays`, the inputs in order."""
    memory: dict[int, np.ndarray] = {}
    inner = len(shape) - outer
    for number, (operand, array) in enumerate(zip(kernel.inputs, arrays, strict=True)):
        expected = {"vector": shape, "row": shape[:outer], "scalar": ()}[operand.role]
        if array.shape != expected or array.dtype != operand.dtype:
            wanted = f"{operand.dtype}{list(expected)}"
            raise TypeError(f"%{number} is {wanted}, got {array.dtype}{list(array.shape)}")
        is_row = operand.role == "row"
        memory[number] = array.reshape(array.shape + (1,) * inner) if is_row else array
    run = _Run(kernel, memory, shape, outer)
    for statement in kernel.statements():
        run.statement(statement)
    return [
        run.output(number) for number, operand in enumerate(kernel.operands) if operand.is_output
    ]


class _Run:
    """The values and memory of one evaluation."""

    def __init__(
        self, kernel: Kernel, memory: dict[int, np.ndarray], shape: tuple[int, ...], outer: int
    ) -> None:
        self.kernel = kernel
        self.memory = memory
        self.shape = shape
        self.outer = outer
        self.values: dict[int, np.ndarray] = {}

    def statement(self, statement: Statement) -> None:
        """Execute one statement on whole arrays."""
        match statement:
            case Load(result, source):
                self.values[result] = self.memory[source]
            case Compute(result, primitive, attrs, operands):
                arguments = [self.values[operand] for operand in operands]
                self.values[result] = np.asarray(primitive.evaluate(*arguments, **dict(attrs)))
            case Store(target, value):
                self.memory[target] = self.values[value]
            case Reduce(result, word, value, target):
                array = np.broadcast_to(self.values[value], self.shape)
                if result is not None:
                    self.values[result] = self.reduce_row(word, array)
                elif target is not None:
                    axes = tuple(range(self.outer))
                    self.memory[target] = _UFUNCS[word].reduce(array, axis=axes, dtype=array.dtype)

    def reduce_row(self, word: str, array: np.ndarray) -> np.ndarray:
        """Over the inner axes, which stay with size 1."""
        axes = tuple(range(self.outer, len(self.shape)))
        if word in INDEX_WORDS:
            rows = array.reshape(*self.shape[: self.outer], -1)
            found = np.asarray(getattr(np, word)(rows, axis=-1))
            return found.reshape(found.shape + (1,) * len(axes))
        return _UFUNCS[word].reduce(array, axis=axes, dtype=array.dtype, keepdims=True)

    def output(self, number: int) -> np.ndarray:
        """An output in its own shape."""
        array = self.memory[number]
        if self.kernel.mode == "column":
            return np.array(np.broadcast_to(array, self.shape[self.outer :]))
        if self.kernel.operands[number].role == "vector":
            return np.array(np.broadcast_to(array, self.shape))
        rows = self.shape[: self.outer]
        return np.array(
            np.broadcast_to(array, rows + (1,) * (len(self.shape) - self.outer)).reshape(rows)
        )
