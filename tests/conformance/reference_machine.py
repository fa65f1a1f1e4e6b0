"""The native program machine in NumPy, instruction by instruction: what lowering means, slowly.

Kernels are run by `evaluate_kernel`. Memory that is used after it was freed is filled with garbage,
so that a wrong lifetime shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitwise.ir.graph import Graph
from jitwise.ir.types import DTYPES
from jitwise.kernel.build import build_kernel
from jitwise.kernel.evaluate import evaluate_kernel
from jitwise.kernel.layout import layout_of
from jitwise.kernel.nest import INDEX_WORDS, Kernel
from jitwise.kernel.verify import verify_kernel
from jitwise.ops.call import results_of
from jitwise.runtime.executable import fusion_bodies
from jitwise.runtime.kernels import CompiledBody, _in_place
from jitwise.runtime.lower import Lowering, ProgramText

OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
}


class GuardFailed(Exception):
    pass


def holds(relation: str, value: int) -> bool:
    return {"eq": value == 0, "ne": value != 0, "ge": value >= 0}[relation]


def lower(fused: Graph) -> ProgramText:
    """The program of a fused graph, with kernels as records."""
    bodies = {}
    for body in fusion_bodies(fused):
        layout = layout_of(body)
        kernel = build_kernel(body, layout)
        verify_kernel(kernel)
        bodies[body] = CompiledBody(layout, kernel, kernel, _in_place(kernel))
    return Lowering(fused, bodies).run()


class Machine:
    def __init__(self, text: ProgramText) -> None:
        self.text = text

    def run(self, arrays: list[Any]) -> list[np.ndarray]:
        text = self.text
        self.slots: dict[int, Any] = dict(enumerate(arrays))
        self.dims = self._dims(arrays)
        self._check_guards()
        self.outputs = set(text.outputs)
        for instruction in text.instructions:
            getattr(self, "do_" + instruction[0])(*instruction[1:])
        assert len(set(text.outputs)) == len(text.outputs)
        results = [self.slots[slot] for slot in text.outputs]
        for result in results:
            assert not any(np.shares_memory(result, array) for array in arrays)
        return results

    def _dims(self, arrays: list[Any]) -> list[Any]:
        dims: list[int | None] = []
        for symbol in self.text.symbols:
            if symbol[0] == "measured":
                dims.append(None)
                continue
            array = arrays[symbol[1]]
            dims.append(array.shape[symbol[2]] if symbol[0] == "size" else int(array))
        return self._computed(dims)

    def _computed(self, symbols: list[int | None]) -> list[Any]:
        """Every size of these symbols; None for what follows from one that is not measured yet."""
        dims: list[Any] = list(symbols)
        for word, *operands in self.text.dims:
            known = [dims[operand] for operand in operands] if word != "const" else operands
            if word == "const":
                dims.append(known[0])
            else:
                dims.append(None if None in known else OPERATIONS[word](*known))
        return dims

    def _check_guards(self) -> None:
        for relation, dim in self.text.guards:
            value = self.dims[dim]
            if value is not None and not holds(relation, value):
                raise GuardFailed

    def do_measure(self, symbol: int, slot: int, axis: int) -> None:
        symbols = self.dims[: len(self.text.symbols)]
        assert symbols[symbol] is None
        array = self.slots[slot]
        symbols[symbol] = int(array) if axis < 0 else array.shape[axis]
        self.dims = self._computed(symbols)
        self._check_guards()

    def _shape(self, dims: list[int]) -> tuple[int, ...]:
        return tuple(self.dims[dim] for dim in dims)

    def do_alloc(self, slot: int, dtype: str, dims: list[int]) -> None:
        self.slots[slot] = np.full(self._shape(dims), 77, DTYPES[dtype])

    def do_free(self, slot: int) -> None:
        array = self.slots.pop(slot)
        assert slot not in self.outputs
        if array.base is None and array.flags.writeable:
            array.fill(77)

    def do_kernel(
        self,
        kernel: Kernel,
        inputs: list[int],
        outputs: list[int],
        dims: list[int],
        outer: int,
        keeps_order: bool = False,
    ) -> None:
        if keeps_order:
            self._lay_apart(outputs)
        shape = self._shape(dims)
        arrays = [
            np.broadcast_to(self.slots[slot], self._kernel_shape(role, shape, outer))
            for slot, role in zip(inputs, [operand.role for operand in kernel.inputs], strict=True)
        ]
        if 0 in shape and any(each.word in INDEX_WORDS for each in kernel.reductions):
            for slot in outputs:
                assert not self.slots[slot].size
            return
        with np.errstate(all="ignore"):
            results = evaluate_kernel(kernel, arrays, shape, outer)
        for slot, result in zip(outputs, results, strict=True):
            assert self.slots[slot].shape == result.shape
            self.slots[slot][...] = result

    def _kernel_shape(self, role: str, shape: tuple[int, ...], outer: int) -> tuple[int, ...]:
        return {"vector": shape, "row": shape[:outer], "scalar": ()}[role]

    def do_scalar(self, slot: int, dtype: str, data: bytes) -> None:
        self.slots[slot] = np.frombuffer(data, DTYPES[dtype])[0:1].reshape(())

    def do_dimension(self, slot: int, dim: int) -> None:
        self.slots[slot] = np.array(self.dims[dim], np.int64)

    def do_transpose(self, out: int, source: int, permutation: list[int]) -> None:
        self.slots[out] = np.transpose(self.slots[source], permutation)

    def do_slice(
        self, out: int, source: int, starts: list[int], strides: list[int], sizes: list[int]
    ) -> None:
        array = self.slots[source]
        where = zip(self._shape(starts), strides, self._shape(sizes), strict=True)
        index = []
        for start, stride, size in where:
            stop: int | None = start + stride * size
            assert stop is not None
            index.append(slice(start, None if stop < 0 else stop, stride) if size else slice(0, 0))
        self.slots[out] = array[tuple(index)]

    def do_broadcast(self, out: int, source: int, axes: list[int], sizes: list[int]) -> None:
        array = self.slots[source]
        shape = [1 if axis < 0 else array.shape[axis] for axis in axes]
        self.slots[out] = np.broadcast_to(array.reshape(shape), self._shape(sizes))

    def do_reshape(self, out: int, source: int, sizes: list[int]) -> None:
        self.slots[out] = self.slots[source].reshape(self._shape(sizes))

    def do_reverse(self, out: int, source: int, axes: list[int]) -> None:
        self.slots[out] = np.flip(self.slots[source], axes)

    def _lay_apart(self, slots: list[int]) -> None:
        """The program counts on no order of these axes: here they lie in Fortran's."""
        for slot in slots:
            self.slots[slot] = np.asfortranarray(self.slots[slot])

    def do_copy(self, target: int, source: int, keeps_order: bool = False) -> None:
        if keeps_order:
            self._lay_apart([target])
        assert self.slots[target].shape == self.slots[source].shape
        self.slots[target][...] = self.slots[source]

    def do_library(
        self, name: str, inputs: list[int], outputs: list[int], attrs: list[int], dims: list[int]
    ) -> None:
        arrays = [self.slots[slot] for slot in inputs]
        out = self.slots[outputs[0]]
        if name == "matmul":
            out[...] = np.matmul(*arrays)
        elif name == "iota":
            shape = [1] * out.ndim
            shape[attrs[0]] = -1
            out[...] = np.arange(out.shape[attrs[0]]).reshape(shape)
        elif name in ("cumsum", "cumprod"):
            out[...] = getattr(np, name)(arrays[0], axis=attrs[0], dtype=out.dtype)
        elif name == "count":
            out[...] = np.count_nonzero(arrays[0])
        elif name == "compress":
            out[...] = np.compress(arrays[1], arrays[0], attrs[0])
        elif name == "place":
            out[(*[slice(None)] * attrs[0], arrays[0])] = arrays[1]
        elif name == "places":
            for slot, found in zip(outputs, np.nonzero(arrays[0]), strict=True):
                self.slots[slot][...] = found
        else:
            raise NotImplementedError(name)

    def do_host(
        self,
        function: Any,
        inputs: list[int],
        outputs: list[tuple],
        more: tuple = (),
        names: tuple[str, ...] = (),
        quiet: bool = False,
    ) -> None:
        given = [self.slots[slot] for slot in inputs]
        count = len(more) - len(names)
        result = function(*given, *more[:count], **dict(zip(names, more[count:], strict=True)))
        results = results_of(result)
        told: dict[int, int] = {}  # what -1 - dim in the first result stands for; measured after
        for (slot, dtype, ndim, *dims), array in zip(outputs, results, strict=True):
            assert array.dtype == DTYPES[dtype]
            assert array.ndim == ndim
            for size, dim in zip(array.shape, *dims, strict=True) if dims else ():
                if dim < 0:
                    told[-1 - dim] = size
                else:
                    assert size == told.get(dim, self.dims[dim])
            self.slots[slot] = np.array(array)

    def do_check(self, slot: int) -> None:
        assert self.slots[slot]
