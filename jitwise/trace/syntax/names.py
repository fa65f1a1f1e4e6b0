"""The names in rewritten code that no user can write, what they stand for, and the mark by which
the code of a part is known.

An `ast.Name` may hold any string, and CPython compiles it: a name with parentheses can be no
variable of the user's, nor hide one.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any, NamedTuple


class Unbound:
    """The type of `UNBOUND`, what stands in a tuple of variables for one that is not bound."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNBOUND"

    def __reduce__(self) -> str:
        return "UNBOUND"


UNBOUND = Unbound()

# The name in rewritten code, and the attribute of `operations` that it is bound to.
PROVIDED = {
    "if()": "if_",
    "select()": "select",
    "both()": "both",
    "either()": "either",
    "negate()": "negate",
    "while()": "while_",
    "for()": "for_",
    "call()": "call",
    "itself()": "itself",
}
CONSTANTS: dict[str, Any] = {
    "unbound()": UNBOUND,
    "AssertionError()": AssertionError,
    "NameError()": NameError,
}
RETURNED = "returned()"  # whether a `return` was reached
RESULT = "result()"  # what it returns
ITEM = "item()"  # what a loop's body is called with, before its variables
KINDS = ("then()", "else()", "test()", "body()")
OPERAND = "operand()"  # the parameter by which a lambda of ours is told from one of the user's


def left(loop: int) -> str:
    """The flag that a `break` of this loop sets."""
    return f"left(){loop}"


def skipped(loop: int) -> str:
    """The flag that a `continue` of this loop sets."""
    return f"skipped(){loop}"


def going(loop: int) -> str:
    """The variable that holds a test which assigns variables itself."""
    return f"going(){loop}"


def spill(number: int) -> str:
    """The variable that holds what a part's variables were when it raised an exception."""
    return f"spill(){number}"


class Part(NamedTuple):
    """The mark in a part's constants: `kind` is "then", "else", "test", "body" or "operand"."""

    kind: str
    function: str  # the qualified name of the user's function that it is a part of
    line: int


def part_of(code: CodeType) -> Part | None:
    """The mark of a part's code; None for code of the user's."""
    for constant in code.co_consts:
        if type(constant) is Part:
            return constant
    return None


def is_part(code: CodeType) -> bool:
    """Whether code is a part of a statement or expression, not a function of the user's."""
    return part_of(code) is not None


def shared_by(code: CodeType) -> tuple[str, ...]:
    """The variables which a part assigns beyond its own: those of the user that an inner function
    captures. No result tells of them.
    """
    cells = len(set(code.co_cellvars) - set(code.co_varnames))
    first_free = len(code.co_varnames) + cells
    found = {
        code.co_freevars[step.arg - first_free]
        for step in dis.get_instructions(code)
        if step.opname in ("STORE_DEREF", "DELETE_DEREF")
        and step.arg is not None
        and step.arg >= first_free
    }
    found = {name for name in found if not name.startswith("spill()")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and is_part(constant):
            found.update(set(shared_by(constant)) & set(code.co_freevars))
    return tuple(sorted(found))


class Unsupported(Exception):
    """A function cannot be rewritten; the message says why, after its name and "because"."""
