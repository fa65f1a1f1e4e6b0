"""Before the first step: where a function ends by calling itself, it goes round a loop.

    def gcd(a, b):                          def gcd(a, b):
        return a if b == 0 else                 "depth()" = 0
            gcd(b, a % b)                       while True:
                                                    if b == 0:
                                                        return a
                                                    elif "itself()"(gcd, "depth()", "gcd", 1):
                                                        a, b = b, a % b
                                                        "depth()" += 1
                                                        continue
                                                    return gcd(b, a % b)

Whether the name still stands for the function is asked where it is called. The loop counts, because
Python ends a recursion that is too deep.

Left as they are: calls in loops, `try` and `with`, calls that leave a parameter to its default, and
functions with inner functions, or with variables that a call might find as the one before left
them.
"""

from __future__ import annotations

import ast
import copy

from .exits import Exits
from .expressions import call
from .flow import Flows
from .names import RESULT, RETURNED
from .nodes import assign, at, constant, name, target, tuple_of
from .scopes import Scope

DEPTH = "depth()"


def as_loop(node: ast.FunctionDef, scope: Scope, qualname: str, line: int) -> bool:
    """Change a function into a loop; False where it stays as it is. `line`: of its code."""
    if node.args.vararg or node.args.kwarg or node.name in scope.variables or scope.captured:
        return False
    found = _Loop(node, qualname, line)
    first = node.body[0]
    has_words = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    words = node.body[:1] if has_words else []
    body = found.block(node.body[len(words) :])
    if not found.calls or _reads_what_was_left(node, scope, found.parameters):
        return False
    end = at(ast.Return(constant(None)), node.body[-1])
    loop = at(ast.While(constant(True), [*body, end], []), body[0])
    node.body = [*words, assign(DEPTH, constant(0), body[0]), loop]
    return True


def _reads_what_was_left(node: ast.FunctionDef, scope: Scope, parameters: list[str]) -> bool:
    """Whether a variable may be read before it is assigned: a new call has none."""
    exits = Exits()
    body = exits.function(copy.deepcopy(node))
    flags = {RESULT, RETURNED, *exits.asked, *exits.variables}
    flow = Flows(exits, frozenset(scope.variables | flags)).block(body)
    return not flow.needs.isdisjoint(scope.variables.difference(parameters))


class _Loop:
    """Changes the statements of one function."""

    def __init__(self, node: ast.FunctionDef, qualname: str, line: int) -> None:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.parameters = [each.arg for each in every]
        self.positional = len(arguments.posonlyargs) + len(arguments.args)
        self.only_positional = len(arguments.posonlyargs)
        self.name = node.name
        self.mark = [constant(qualname), constant(line)]
        self.calls = 0

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for each in statements:
            if isinstance(each, ast.Return) and each.value is not None:
                made += self.returned(each.value, each)
            elif isinstance(each, ast.If):
                body, orelse = self.block(each.body), self.block(each.orelse)
                made.append(at(ast.If(each.test, body, orelse), each))
            else:
                made.append(each)
        return made

    def returned(self, value: ast.expr, like: ast.stmt) -> list[ast.stmt]:
        """The return of a value."""
        plain = at(ast.Return(value), like)
        if isinstance(value, ast.IfExp):
            before = self.calls
            ways = [self.returned(each, like) for each in (value.body, value.orelse)]
            return [plain] if self.calls == before else [at(ast.If(value.test, *ways), like)]
        given = self.arguments(value)
        if given is None:
            return [plain]
        self.calls += 1
        function: ast.expr = value.func  # type: ignore[attr-defined]
        test = call("itself()", [function, name(DEPTH), *self.mark], value)
        names: list[ast.expr] = [target(each) for each in given]
        values = tuple_of(list(given.values()))
        again: list[ast.stmt] = [
            at(ast.Assign([tuple_of(names, stored=True)], values), like),
            at(ast.AugAssign(target(DEPTH), ast.Add(), constant(1)), like),
            at(ast.Continue(), like),
        ]
        return [at(ast.If(test, again, []), like), at(ast.Return(copy.deepcopy(value)), like)]

    def arguments(self, value: ast.expr) -> dict[str, ast.expr] | None:
        """What a call of the function itself gives to each parameter, in the order in which it is
        computed; None: it is another call, or leaves one to its default.
        """
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
            return None
        if value.func.id != self.name or len(value.args) > self.positional:
            return None
        if any(isinstance(each, ast.Starred) for each in value.args):
            return None
        given = dict(zip(self.parameters, value.args))
        for each in value.keywords:
            if each.arg is None or each.arg in given:
                return None
            if each.arg not in self.parameters[self.only_positional :]:
                return None
            given[each.arg] = each.value
        return given if len(given) == len(self.parameters) else None


__all__ = ["as_loop"]
