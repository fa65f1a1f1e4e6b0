"""Reductions of long rows whose elements lie side by side: several at a time, in a vector.

The element that is asked for is then the first of so many. Where its index is the last axis of an
array and one element is next to the other, they are loaded at once; what does not change with it
is repeated. Anything else is no vector, and the loop over single elements stays:

    x[i, ::2]          the stride is asked for at run time, before the loop
    x[j % 3]           no vector
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import region_loops
from .operations import BOOL, Operand
from .text import SCALARS, splat

if TYPE_CHECKING:
    from .region import Emission

PLAIN = frozenset(
    ("add", "subtract", "multiply", "divide", "sqrt", "negate", "abs", "square", "convert")
    + ("maximum", "minimum", "select", "and", "or", "xor", "not")
    + ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
)


Combine = Callable[[Operand, Operand], Operand]


class NoVector(Exception):
    """Elements that are not taken several at a time."""


class Lanes:
    """While elements are taken `count` at a time: what the names of indices are."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.firsts: set[str] = set()  # indices of the first element of so many
        self.others: set[str] = set()  # what else depends on such an index
        self.strides: dict[str, int] = {}  # names of those that have to be so many bytes

    def follow(self, opcode: str, left: str, right: str, result: str) -> None:
        """What an index becomes by arithmetic."""
        own = self.firsts | self.others
        if left not in own and right not in own:
            return
        steps = opcode == "add" and not {left, right} & self.others and not {left, right} <= own
        steps |= opcode == "sub" and left in self.firsts and right not in own
        (self.firsts if steps else self.others).add(result)


class Vector(NamedTuple):
    """A body that takes elements several at a time, not yet written, and when it may be."""

    lines: list[str]
    strides: dict[str, int]


def attempt(region: Emission, count: int, body: Callable[[Lanes], None]) -> Vector | None:
    """The lines of `body`, in which elements are taken `count` at a time."""
    function, lines, lanes = region.function, region.function.lines, Lanes(count)
    function.lines, region.lanes, region.e.lanes = [], lanes, count
    try:
        with region_loops.block(region):
            body(lanes)
        return Vector(function.lines, lanes.strides)
    except NoVector:
        return None
    finally:
        function.lines, region.lanes, region.e.lanes = lines, None, 1


def holds(region: Emission, vector: Vector, condition: str) -> str:
    """Whether it may be taken: an i1."""
    for stride, size in vector.strides.items():
        fits = region.define(f"icmp eq i64 {stride}, {size}")
        condition = region.define(f"and i1 {condition}, {fits}")
    return condition


def spread(region: Emission, operand: Operand) -> Operand:
    """A single value, in each lane."""
    lanes = region.lanes
    if lanes is None:
        return operand
    if operand.imag is not None:
        raise NoVector
    if not operand.text.startswith("%"):
        return Operand(splat(SCALARS[operand.dtype], lanes.count, operand.text), operand.dtype)
    return Operand(region.e.spread(operand, lanes.count), operand.dtype)


def load(
    region: Emission, array: tuple[np.dtype, str, str], indices: list[str], strides: list[str]
) -> Operand:
    """So many elements of an array in memory: its dtype, the address of the first, its note."""
    lanes = region.lanes
    assert lanes is not None
    dtype, address, note = array
    if any(index in lanes.others for index in indices) or dtype.kind == "c":
        raise NoVector
    moving = [
        stride
        for index, stride in zip(indices, strides, strict=True)
        if index in lanes.firsts and stride != "0"
    ]
    if not moving:
        region.e.lanes, region.lanes = 1, None
        one = region.load(address, dtype, note)
        region.e.lanes, region.lanes = lanes.count, lanes
        return spread(region, one)
    if len(moving) > 1:
        raise NoVector
    if not moving[0].startswith("%"):
        if moving[0] != str(dtype.itemsize):
            raise NoVector
    elif lanes.strides.setdefault(moving[0], dtype.itemsize) != dtype.itemsize:
        raise NoVector
    scalar = "i8" if dtype == BOOL else SCALARS[dtype]
    type = f"<{lanes.count} x {scalar}>"
    found = region.define(f"load {type}, ptr {address}, align 1{note}")
    if dtype == BOOL:
        found = region.define(f"icmp ne {type} {found}, zeroinitializer")
    return Operand(found, dtype)


def reduce(region: Emission, vector: Operand, combine: Combine, least: int) -> list[Operand]:
    """The elements of a vector, halves of which are combined while they are longer than `least`."""
    count, dtype = region.e.lanes, vector.dtype
    scalar, text = SCALARS[dtype], vector.text
    while count > least:
        half, halves = count // 2, []
        for begin in (0, half):
            places = ", ".join(f"i32 {begin + place}" for place in range(half))
            pair = f"<{count} x {scalar}> {text}, <{count} x {scalar}> poison"
            halves.append(
                Operand(region.define(f"shufflevector {pair}, <{half} x i32> <{places}>"), dtype)
            )
        region.e.lanes = count = half
        text = combine(*halves).text
    region.e.lanes = 1
    found = f"extractelement <{count} x {scalar}> {text}, i64"
    return [Operand(region.define(f"{found} {place}"), dtype) for place in range(count)]


class Variable(NamedTuple):
    """A variable that has a vector."""

    name: str
    type: str
    dtype: np.dtype

    @classmethod
    def new(cls, region: Emission, dtype: np.dtype, count: int) -> Variable:
        """One that was not set."""
        type = f"<{count} x {SCALARS[dtype]}>"
        return cls(region.variable(type), type, dtype)

    def read(self, region: Emission) -> Operand:
        """What it has."""
        return Operand(region.define(f"load {self.type}, ptr {self.name}"), self.dtype)

    def write(self, region: Emission, value: Operand) -> None:
        """Set it."""
        region.function.line(f"store {self.type} {value.text}, ptr {self.name}")
