"""Conditional expressions, `and`, `or`, `not`, chained comparisons and calls, as calls of
operations.

What may be left out is an operand: a lambda, which the operation calls or does not. It reads
variables through its closure. An operand that assigns variables would keep them for itself, and one
that reads a variable which may be unbound would raise another exception than Python's: such
expressions stay as they are. `unsafe` holds the variables that may be unbound.

    a < b < c    ->    (lambda l, r: "both()"(l < r, lambda: r < c))(a, b)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from .names import OPERAND
from .nodes import argument, at, constant, fields_of, name, walk
from .scopes import COMPREHENSIONS

Names = frozenset[str]
_ASSIGNS = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_LEFT, _RIGHT = "left()", "right()"


def call(word: str, arguments: Sequence[ast.expr], like: ast.AST) -> ast.Call:
    """A call of an operation, at the place of a node of the user's."""
    return at(ast.Call(name(word), list(arguments), []), like)


def operand(body: ast.expr, parameters: Sequence[str] = ()) -> ast.Lambda:
    """A lambda of ours, known by its odd parameter."""
    arguments = [argument(each) for each in parameters]
    made = ast.Lambda(ast.arguments([], arguments, argument(OPERAND), [], [], None, []), body)
    return at(made, body)


class Expressions:
    """Rewrites expressions in place. `scope` rewrites an inner function, lambda or class."""

    def __init__(self, scope: Callable[[Any, Names], Any]) -> None:
        self.scope = scope
        self.changes = 0
        self.left: list[tuple[int, str]] = []  # what stayed as it is, and why

    def __call__(self, node: Any, unsafe: Names) -> Any:
        kind = type(node)
        if kind is ast.Name or kind is ast.Constant:
            return node
        rewrite = _REWRITES.get(kind)
        return rewrite(self, node, unsafe) if rewrite is not None else self.inside(node, unsafe)

    def inside(self, node: ast.AST, unsafe: Names) -> ast.AST:
        """Rewrite what a node holds."""
        for field in fields_of(node):
            value = getattr(node, field, None)
            if type(value) is list:
                for index, each in enumerate(value):
                    if isinstance(each, ast.AST):
                        value[index] = self(each, unsafe)
            elif isinstance(value, ast.AST):
                new = self(value, unsafe)
                if new is not value:
                    setattr(node, field, new)
        return node

    def may_be_operands(self, nodes: Sequence[ast.expr], unsafe: Names) -> bool:
        """Whether all of these can be lambdas. If not, that is noted."""
        for node in nodes:
            for each in walk(node):
                if isinstance(each, ast.Name) and each.id in unsafe:
                    self.left.append((node.lineno, f"{each.id} may be unbound"))
                    return False
                if isinstance(each, _ASSIGNS):
                    self.left.append((node.lineno, "an operand assigns variables"))
                    return False
        return True

    def boolean(self, node: ast.BoolOp, unsafe: Names) -> ast.expr:
        if not self.may_be_operands(node.values[1:], unsafe):
            return self.inside(node, unsafe)  # type: ignore[return-value]
        word = "both()" if isinstance(node.op, ast.And) else "either()"
        values = [self(each, unsafe) for each in node.values]
        made = values.pop()
        while values:
            made = call(word, [values.pop(), operand(made)], node)
        self.changes += 1
        return made

    def negation(self, node: ast.UnaryOp, unsafe: Names) -> ast.expr:
        self.inside(node, unsafe)
        if not isinstance(node.op, ast.Not):
            return node
        self.changes += 1
        return call("negate()", [node.operand], node)

    def choice(self, node: ast.IfExp, unsafe: Names) -> ast.expr:
        if not self.may_be_operands([node.body, node.orelse], unsafe):
            return self.inside(node, unsafe)  # type: ignore[return-value]
        self.inside(node, unsafe)
        self.changes += 1
        ways = [operand(node.body), operand(node.orelse)]
        return call("select()", [node.test, *ways, constant(node.lineno)], node)

    def comparison(self, node: ast.Compare, unsafe: Names) -> ast.expr:
        if len(node.ops) == 1 or not self.may_be_operands(node.comparators[1:], unsafe):
            return self.inside(node, unsafe)  # type: ignore[return-value]
        self.inside(node, unsafe)
        self.changes += 1
        return self._chain(node, node.left, node.ops, node.comparators)

    def _chain(
        self, node: ast.Compare, first: ast.expr, ops: list[ast.cmpop], others: list[ast.expr]
    ) -> ast.expr:
        if len(ops) == 1:
            return at(ast.Compare(first, ops, others), node)
        test = at(ast.Compare(name(_LEFT), ops[:1], [name(_RIGHT)]), node)
        rest = self._chain(node, name(_RIGHT), ops[1:], others[1:])
        both = operand(call("both()", [test, operand(rest)], node), (_LEFT, _RIGHT))
        return at(ast.Call(both, [first, others[0]], []), node)

    def calling(self, node: ast.Call, unsafe: Names) -> ast.expr:
        function = node.func
        self.inside(node, unsafe)
        if isinstance(function, ast.Attribute):
            if function.lineno != function.end_lineno:  # Python's line of a call of a method
                node.lineno = function.end_lineno or node.lineno
                end = function.end_col_offset or 0
                node.col_offset = max(end - len(function.attr), 0)
        elif not isinstance(function, ast.Name) or function.id == "super" or "(" in function.id:
            return node
        self.changes += 1
        node.func = call("call()", [node.func], function)
        if isinstance(function, ast.Attribute) and function.lineno != function.end_lineno:
            node.func.lineno, node.func.col_offset = node.lineno, node.col_offset
        return node

    def comprehension(self, node: Any, unsafe: Names) -> ast.expr:
        bound = frozenset(
            each.id
            for generator in node.generators
            for each in walk(generator.target)
            if isinstance(each, ast.Name)
        )
        first = node.generators[0]
        first.iter = self(first.iter, unsafe)
        inside = unsafe - bound
        for index, generator in enumerate(node.generators):
            if index:
                generator.iter = self(generator.iter, inside)
            generator.target = self(generator.target, inside)
            generator.ifs = [self(each, inside) for each in generator.ifs]
        for word in ("key", "value", "elt"):
            if hasattr(node, word):
                setattr(node, word, self(getattr(node, word), inside))
        return node

    def inner(self, node: Any, unsafe: Names) -> Any:
        return self.scope(node, unsafe)


_REWRITES: dict[type, Callable[[Expressions, Any, Names], Any]] = {
    ast.BoolOp: Expressions.boolean,
    ast.UnaryOp: Expressions.negation,
    ast.IfExp: Expressions.choice,
    ast.Compare: Expressions.comparison,
    ast.Call: Expressions.calling,
    ast.GeneratorExp: Expressions.comprehension,
    **dict.fromkeys(COMPREHENSIONS, Expressions.comprehension),
    ast.Lambda: Expressions.inner,
    ast.FunctionDef: Expressions.inner,
    ast.AsyncFunctionDef: Expressions.inner,
    ast.ClassDef: Expressions.inner,
}
