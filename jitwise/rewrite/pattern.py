"""Patterns of rewrite rules: holes, literals and nodes, built with the operators they match.

    x, y = holes("x y")
    -(-x)              a node negate(negate(x))
    x * 1              a node multiply(x, literal 1)
    node("sqrt", x)    any primitive by name

A hole that occurs twice matches only the same value twice. A literal matches a scalar constant of
equal value; 0 as a float literal is written 0.0 or -0.0 and matches only that zero.
"""

from __future__ import annotations

from typing import Any, Union

Pattern = Union["Hole", "Literal", "Node"]


class _Pattern:
    """Python operators build nodes; patterns of equal parts are equal."""

    __slots__ = ()

    def parts(self) -> tuple:
        return tuple([getattr(self, name) for name in self.__slots__])

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.parts() == self.parts()  # type: ignore

    def __hash__(self) -> int:
        return hash((type(self), self.parts()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.parts()}"

    def __add__(self, other: Any) -> Node:
        return node("add", self, other)

    def __sub__(self, other: Any) -> Node:
        return node("subtract", self, other)

    def __mul__(self, other: Any) -> Node:
        return node("multiply", self, other)

    def __truediv__(self, other: Any) -> Node:
        return node("divide", self, other)

    def __neg__(self) -> Node:
        return node("negate", self)

    def __and__(self, other: Any) -> Node:
        return node("and", self, other)

    def __or__(self, other: Any) -> Node:
        return node("or", self, other)

    def __xor__(self, other: Any) -> Node:
        return node("xor", self, other)

    def __invert__(self) -> Node:
        return node("not", self)


class Hole(_Pattern):
    """Stands for any value."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Literal(_Pattern):
    """Stands for a scalar constant."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Node(_Pattern):
    """Stands for a primitive applied to patterns."""

    __slots__ = ("operands", "primitive")

    def __init__(self, primitive: str, operands: tuple[Pattern, ...]) -> None:
        self.primitive = primitive
        self.operands = operands


def holes(names: str) -> list[Hole]:
    """Holes with these names."""
    return [Hole(name) for name in names.split()]


def node(primitive: str, *operands: Any) -> Node:
    """The pattern of `primitive` applied to `operands`; plain numbers become literals."""
    return Node(primitive, tuple(as_pattern(operand) for operand in operands))


def as_pattern(item: Any) -> Pattern:
    """A pattern as it is; a number as a literal."""
    return item if isinstance(item, (Hole, Literal, Node)) else Literal(item)
