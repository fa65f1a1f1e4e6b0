"""Patterns of rewrite rules: holes, literals and nodes, built with the operators they match.

    x, y = holes("x y")
    -(-x)              a node negate(negate(x))
    x * 1              a node multiply(x, literal 1)
    node("sqrt", x)    any primitive by name

A hole that occurs twice matches only the same value twice. A literal matches a scalar constant of
equal value; 0 as a float literal is written 0.0 or -0.0 and matches only that zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union

Pattern = Union["Hole", "Literal", "Node"]


class _Operators:
    """Python operators build nodes."""

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


@dataclass(frozen=True, slots=True)
class Hole(_Operators):
    """Stands for any value."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal(_Operators):
    """Stands for a scalar constant."""

    value: Any


@dataclass(frozen=True, slots=True)
class Node(_Operators):
    """Stands for a primitive applied to patterns."""

    primitive: str
    operands: tuple[Pattern, ...]


def holes(names: str) -> list[Hole]:
    """Holes with these names."""
    return [Hole(name) for name in names.split()]


def node(primitive: str, *operands: Any) -> Node:
    """The pattern of `primitive` applied to `operands`; plain numbers become literals."""
    return Node(primitive, tuple(as_pattern(operand) for operand in operands))


def as_pattern(item: Any) -> Pattern:
    """A pattern as it is; a number as a literal."""
    return item if isinstance(item, (Hole, Literal, Node)) else Literal(item)
