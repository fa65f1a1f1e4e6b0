"""Random graphs over the primitives, for hypothesis: a DAG of float, int and bool arrays over a few
symbolic shapes, with broadcasts, reductions, slices, concatenations and row patterns.

Shapes are made of the symbols n and m and their sums, so that one graph runs at many sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from jitwise.ir import dims
from jitwise.ir.builder import Builder, primitive_named
from jitwise.ir.dims import Dim, Size
from jitwise.ir.graph import Graph, Value
from jitwise.ir.types import ArrayType

F64, F32, I64, COMPLEX = (np.dtype(name) for name in ("f8", "f4", "i8", "c16"))
UNARY = ("negate", "sine", "exponential", "abs")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")
SCANS = ("cumulative_add", "cumulative_max")
COMPARE = ("less", "equal", "greater_equal")


class Generator:
    """Grows one graph by drawing ops."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.builder = Builder("random")
        self.n = self.builder_symbol("n", 0, 0)
        self.m = self.builder_symbol("m", 0, 1)
        matrix = (self.n, self.m)
        self.values: list[Value] = [
            self.builder.input(ArrayType(F64, matrix)),
            self.builder.input(ArrayType(F64, (self.m,))),
            self.builder.input(ArrayType(F32, matrix)),
            self.builder.input(ArrayType(I64, (self.n,))),
            self.builder.input(ArrayType(F64, ())),
        ]
        self.steps = [
            self.unary, self.binary, self.binary, self.compare_select, self.reduce, self.reduce,
            self.normalise, self.broadcast, self.slice, self.concatenate, self.transpose,
            self.convert, self.scalar, self.reshape, self.position, self.scan, self.reverse,
            self.product, self.mask, self.complex, self.complex, self.count,
        ]  # fmt: skip

    def builder_symbol(self, name: str, place: int, axis: int) -> Dim:
        return self.builder.symbol(name, ("size", place, axis))

    def emit(self, name: str, *operands: Value, **attrs: Any) -> Value:
        return self.builder.emit(primitive_named(name), operands, attrs)

    def pick(self, *, ndim: int | None = None, kinds: str = "fi") -> Value | None:
        fitting = [
            value
            for value in self.values
            if value.type.dtype.kind in kinds and (ndim is None or value.type.ndim >= ndim)
        ]
        return self.draw(st.sampled_from(fitting)) if fitting else None

    def partner(self, value: Value) -> Value:
        """A value of the same dtype that an elementwise op takes beside `value`."""
        fitting = [
            other
            for other in self.values
            if other.type.dtype == value.type.dtype
            and (other.type.shape == value.type.shape or not other.type.shape)
        ]
        return self.draw(st.sampled_from(fitting))

    def grow(self, count: int) -> None:
        for _ in range(count):
            made = self.draw(st.sampled_from(self.steps))()
            if made is not None:
                self.values.append(made)

    def unary(self) -> Value | None:
        value = self.pick(kinds="f")
        return value and self.emit(self.draw(st.sampled_from(UNARY)), value)

    def binary(self) -> Value | None:
        value = self.pick()
        return value and self.emit(self.draw(st.sampled_from(BINARY)), value, self.partner(value))

    def compare_select(self) -> Value | None:
        value = self.pick()
        if value is None:
            return None
        other = self.partner(value)
        mask = self.emit(self.draw(st.sampled_from(COMPARE)), value, other)
        return self.emit("select", mask, value, self.partner(value))

    def reduce(self) -> Value | None:
        value = self.pick(ndim=1)
        if value is None:
            return None
        return self.reduce_value(value, self.draw(st.sampled_from(("add", "max", "min"))))

    def reduce_value(self, value: Value, word: str) -> Value:
        ndim = value.type.ndim
        axes = self.draw(
            st.lists(st.sampled_from(range(ndim)), min_size=1, max_size=ndim, unique=True)
        )
        return self.emit(f"reduce_{word}", value, axes=tuple(sorted(axes)))

    def normalise(self) -> Value | None:
        """x - reduce(x) and its like, over any axes, with the axes kept by reshape or not."""
        value = self.pick(ndim=1, kinds="f")
        if value is None:
            return None
        reduced = self.reduce_value(value, self.draw(st.sampled_from(("add", "max"))))
        axes = reduced.op.attrs["axes"]  # type: ignore[union-attr]
        shape = value.type.shape
        if self.draw(st.booleans()):
            count = self.emit("dimension", size=dims.product(tuple(shape[a] for a in axes)))
            number = self.emit("convert", count, dtype=value.type.dtype)
            reduced = self.emit("multiply", reduced, number)
        kept = tuple(axis for axis in range(len(shape)) if axis not in axes)
        if self.draw(st.booleans()):
            ones = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
            reduced = self.emit("reshape", reduced, sizes=ones)
            kept = tuple(range(len(shape)))
        if self.draw(st.booleans()):
            reduced = self.emit("negate", reduced)
        again = self.emit("broadcast_in_dim", reduced, sizes=shape, dimensions=kept)
        return self.emit(self.draw(st.sampled_from(BINARY)), value, again)

    def broadcast(self) -> Value | None:
        value = self.pick()
        if value is None or value.type.ndim > 1:
            return None
        size = self.draw(st.sampled_from((self.n, self.m, 2)))
        if value.type.ndim == 0:
            return self.emit("broadcast_in_dim", value, sizes=(size,), dimensions=())
        place = self.draw(st.sampled_from((0, 1)))
        sizes = (value.type.shape[0], size) if place == 0 else (size, value.type.shape[0])
        return self.emit("broadcast_in_dim", value, sizes=sizes, dimensions=(place,))

    def slice(self) -> Value | None:
        value = self.pick(ndim=1)
        if value is None:
            return None
        axis = self.draw(st.sampled_from(range(value.type.ndim)))
        starts, sizes = [0] * value.type.ndim, list(value.type.shape)
        half: Size = dims.floor_divide(sizes[axis], 2)
        starts[axis] = self.draw(st.sampled_from((0, dims.subtract(sizes[axis], half))))
        sizes[axis] = half
        return self.emit(
            "slice", value, starts=tuple(starts), strides=(1,) * len(starts), sizes=tuple(sizes)
        )

    def concatenate(self) -> Value | None:
        value = self.pick(ndim=1)
        if value is None:
            return None
        other = self.partner(value)
        return self.emit("concatenate", value, other if other.type.ndim else value, dimension=0)

    def transpose(self) -> Value | None:
        value = self.pick(ndim=2)
        order = value and tuple(reversed(range(value.type.ndim)))
        return value and self.emit("transpose", value, permutation=order)

    def convert(self) -> Value | None:
        value = self.pick(kinds="fib")
        dtype = self.draw(st.sampled_from((F64, F64, F32, I64, COMPLEX)))
        if value is None or (value.type.dtype.kind == "f" and dtype.kind == "i"):
            return None  # what a huge number becomes is the platform's choice
        return self.emit("convert", value, dtype=dtype)

    def position(self) -> Value | None:
        value = self.pick(ndim=1)
        if value is None:
            return None
        axis = self.draw(st.sampled_from(range(value.type.ndim)))
        return self.emit(self.draw(st.sampled_from(("argmax", "argmin"))), value, axes=(axis,))

    def scan(self) -> Value | None:
        value = self.pick(ndim=1)
        if value is None:
            return None
        axis = self.draw(st.sampled_from(range(value.type.ndim)))
        return self.emit(self.draw(st.sampled_from(SCANS)), value, axis=axis)

    def reverse(self) -> Value | None:
        value = self.pick(ndim=1, kinds="fibc")
        if value is None:
            return None
        axis = self.draw(st.sampled_from(range(value.type.ndim)))
        return self.emit("reverse", value, dimensions=(axis,))

    def product(self) -> Value | None:
        value = self.pick(ndim=2)
        if value is None or value.type.ndim != 2:
            return None
        flat = self.emit("transpose", value, permutation=(1, 0))
        return self.emit("dot_general", value, flat)

    def mask(self) -> Value | None:
        value = self.pick(kinds="fib")
        if value is None:
            return None
        mask = self.emit(self.draw(st.sampled_from(COMPARE)), value, self.partner(value))
        if mask.type.ndim and self.draw(st.booleans()):
            return self.reduce_value(mask, self.draw(st.sampled_from(("and", "or"))))
        return mask

    def complex(self) -> Value | None:
        value = self.pick(kinds="c")
        name = self.draw(st.sampled_from(("real", "imag", "multiply", "add", "reduce")))
        if value is None:
            return None
        if name in ("real", "imag"):
            return self.emit(name, value)
        if name == "reduce":
            return self.reduce_value(value, "add") if value.type.ndim else None
        return self.emit(name, value, self.partner(value))

    def count(self) -> Value | None:
        sizes = self.draw(st.sampled_from(((self.n,), (self.n, self.m), (self.m,))))
        dimension = self.draw(st.sampled_from(range(len(sizes))))
        return self.emit("iota", sizes=sizes, dimension=dimension, dtype=F64)

    def scalar(self) -> Value | None:
        number = self.draw(st.sampled_from((0.5, -1.0, 3.0)))
        return self.builder.constant(number, self.draw(st.sampled_from((F64, F32))))

    def reshape(self) -> Value | None:
        value = self.pick(ndim=1)
        return value and self.emit("reshape", value, sizes=(dims.product(value.type.shape),))

    def finish(self) -> Graph:
        size = len(self.values)
        chosen = (
            self.draw(st.lists(st.integers(5, size - 1), min_size=1, max_size=4))
            if size > 5
            else [0]
        )
        return self.builder.finish(tuple(self.values[index] for index in [*chosen, size - 1]))


@st.composite
def graphs(draw: Any) -> Graph:
    generator = Generator(draw)
    generator.grow(draw(st.integers(1, 24)))
    return generator.finish()


def inputs(n: int, m: int, seed: int = 0) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [
        random.uniform(-2, 2, (n, m)),
        random.uniform(-2, 2, m),
        random.uniform(-2, 2, (n, m)).astype(F32),
        random.integers(-3, 4, n),
        np.asarray(random.uniform(-2, 2)),
    ]
