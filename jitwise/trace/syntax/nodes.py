"""Making and going through syntax trees, faster than `ast` does.

Names, arguments and strings of ours are one node each, used again wherever they stand: they have no
place of their own in the text, because reading them raises nothing. What can raise has the place of
the user's text that it stands for (`at`).
"""

from __future__ import annotations

import ast
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)

_LOAD, _STORE, _DEL = ast.Load(), ast.Store(), ast.Del()
_SKIPPED = frozenset(
    ["ctx", "op", "ops", "id", "attr", "kind", "type_comment", "conversion", "level", "module"]
)
_MOST_NAMES = 4096
_fields: dict[type, tuple[str, ...]] = {}
_made: dict[Any, Any] = {}


def at(new: Node, old: Any) -> Node:
    """A node at the place of another one."""
    new.lineno = old.lineno  # type: ignore[attr-defined]
    new.col_offset = old.col_offset  # type: ignore[attr-defined]
    new.end_lineno = old.end_lineno  # type: ignore[attr-defined]
    new.end_col_offset = old.end_col_offset  # type: ignore[attr-defined]
    return new


def _placed(new: Any) -> Any:
    new.lineno = new.end_lineno = 1
    new.col_offset = new.end_col_offset = 0
    return new


def _kept(key: Any, new: Any) -> Any:
    if len(_made) > _MOST_NAMES:
        _made.clear()
    _made[key] = new
    return new


def name(word: str) -> ast.Name:
    """A variable that is read and surely bound."""
    return _made.get((0, word)) or _kept((0, word), _placed(ast.Name(word, _LOAD)))


def target(word: str) -> ast.Name:
    """A variable that is assigned."""
    return _made.get((1, word)) or _kept((1, word), _placed(ast.Name(word, _STORE)))


def deleted(word: str) -> ast.Name:
    """A variable that is deleted."""
    return _placed(ast.Name(word, _DEL))


def argument(word: str) -> ast.arg:
    """A parameter."""
    return _made.get((2, word)) or _kept((2, word), _placed(ast.arg(word)))


def constant(value: Any) -> ast.Constant:
    """A constant of ours."""
    return _placed(ast.Constant(value))


def tuple_of(elements: list[ast.expr], *, stored: bool = False) -> ast.Tuple:
    """A tuple of ours."""
    return _placed(ast.Tuple(elements, _STORE if stored else _LOAD))


def assign(word: str, value: ast.expr, like: ast.AST) -> ast.Assign:
    """An assignment to a variable, at the place of a node of the user's."""
    return at(ast.Assign([target(word)], value), like)


def fields_of(node: ast.AST) -> tuple[str, ...]:
    """The fields of a node that may hold nodes, other than operators and contexts."""
    kind = type(node)
    fields = _fields.get(kind)
    if fields is None:
        skipped = {*_SKIPPED, *(["value"] if kind is ast.Constant else [])}
        fields = _fields[kind] = tuple([each for each in kind._fields if each not in skipped])
    return fields


def children(node: ast.AST) -> list[Any]:
    """The nodes in a node, without operators and contexts."""
    found: list[Any] = []
    for field in _fields.get(type(node)) or fields_of(node):
        value = getattr(node, field, None)
        if value is None:
            continue
        if type(value) is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> list[Any]:
    """A node and all nodes in it."""
    found = [node]
    for each in found:
        found += children(each)
    return found
