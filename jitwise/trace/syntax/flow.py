"""Which variables a statement needs, binds and deletes, and which are needed after it: liveness.

    needs     read before the statement has surely bound them
    binds     surely bound at its end
    assigned  perhaps bound or deleted
    deleted   perhaps deleted
    out       perhaps needed after it, by exception handlers too (`handled`)
    head      of a loop: perhaps needed where it begins or goes round

The first four are found from the inside out, `out` from the outside in: each statement is seen
twice. A loop needs no iteration to a fixed point: what its body needs is needed where it goes
round.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .exits import TRY, Exits, Statements, is_plain_context
from .names import ITEM
from .nodes import children
from .scopes import Scope, Walk, bound_by, outer_expressions

_NONE: frozenset[str] = frozenset()


class Flow:
    """See the module docstring."""

    __slots__ = ("assigned", "binds", "deleted", "handled", "head", "needs", "out")

    def __init__(
        self,
        needs: frozenset[str] = _NONE,
        binds: frozenset[str] = _NONE,
        assigned: frozenset[str] = _NONE,
        deleted: frozenset[str] = _NONE,
    ) -> None:
        self.needs = needs
        self.binds = binds
        self.assigned = assigned
        self.deleted = deleted
        self.out = self.handled = self.head = _NONE

    def then(self, after: Flow) -> Flow:
        """One, and another after it."""
        return Flow(
            self.needs | (after.needs - self.binds),
            (self.binds - after.deleted) | after.binds,
            self.assigned | after.assigned,
            self.deleted | after.deleted,
        )

    def either(self, other: Flow) -> Flow:
        """One or the other."""
        return Flow(
            self.needs | other.needs,
            self.binds & other.binds,
            self.assigned | other.assigned,
            self.deleted | other.deleted,
        )

    def perhaps(self) -> Flow:
        """All, or a part of it."""
        return Flow(self.needs, _NONE, self.assigned, self.deleted)


class _Reads(Walk):
    """What one expression or simple statement reads and binds. `surely`: it is not in an operand
    that may be left out.
    """

    def __init__(self) -> None:
        super().__init__(Scope(ast.Pass()), {})
        self.deleted: set[str] = set()
        self.perhaps: set[str] = set()
        self.surely = True

    def name(self, node: ast.Name, hidden: frozenset[str]) -> None:
        super().name(node, hidden)
        if isinstance(node.ctx, ast.Del):
            self.scope.loads.add(node.id)
            self.deleted.add(node.id)

    def inner(self, node: ast.AST, hidden: frozenset[str]) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.scope.bound.add(node.name)
        self.all(outer_expressions(node), hidden)

    def comprehension(self, node: ast.AST, hidden: frozenset[str]) -> None:
        before, self.surely = self.surely, False
        super().comprehension(node, hidden)
        self.surely = before

    def rest(self, node: ast.AST, hidden: frozenset[str]) -> None:
        if isinstance(node, ast.NamedExpr):
            self.visit(node.value, hidden)
            (self.scope.bound if self.surely else self.perhaps).add(node.target.id)
        elif isinstance(node, ast.BoolOp):
            self.visit(node.values[0], hidden)
            self._perhaps(node.values[1:], hidden)
        elif isinstance(node, ast.IfExp):
            self.visit(node.test, hidden)
            self._perhaps([node.body, node.orelse], hidden)
        elif isinstance(node, ast.Compare):
            self.all([node.left, node.comparators[0]], hidden)
            self._perhaps(node.comparators[1:], hidden)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None or not isinstance(node.target, ast.Name):
                self.visit(node.target, hidden)
            if node.value is not None:
                self.visit(node.value, hidden)
        else:
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self.scope.loads.add(node.target.id)
            self.scope.bound.update(bound_by(node))
            self.all(children(node), hidden)

    def _perhaps(self, nodes: Sequence[ast.AST], hidden: frozenset[str]) -> None:
        before, self.surely = self.surely, False
        self.all(nodes, hidden)
        self.surely = before

    def flow(self) -> Flow:
        bound = self.scope.bound
        return Flow(
            frozenset(self.scope.loads),
            frozenset(bound - self.deleted),
            frozenset(bound | self.perhaps),
            frozenset(self.deleted),
        )


def flow_of_nodes(*nodes: ast.AST) -> Flow:
    """The flow of expressions, or of a statement without blocks."""
    reads = _Reads()
    reads.all(nodes, _NONE)
    return reads.flow()


class Flows:
    """The flows of a function's statements, blocks and tests, by identity."""

    def __init__(self, exits: Exits, variables: frozenset[str]) -> None:
        self.exits = exits
        self.variables = variables
        self.known: dict[int, Flow] = {}

    def __getitem__(self, node: object) -> Flow:
        return self.known[id(node)]

    # From the inside out

    def block(self, statements: Statements) -> Flow:
        """The flow of a block, from which idle statements are taken away."""
        statements[:] = [each for each in statements if not self.exits.is_idle(each)]
        flow = Flow()
        for statement in statements:
            flow = flow.then(self.statement(statement))
        self.known[id(statements)] = flow
        return flow

    def expression(self, node: ast.AST) -> Flow:
        flow = self.known[id(node)] = flow_of_nodes(node)
        return flow

    def statement(self, node: ast.stmt) -> Flow:
        flow = self.known[id(node)] = self._statement(node)
        return flow

    def _statement(self, node: Any) -> Flow:
        if isinstance(node, ast.If):
            then, other = self.block(node.body), self.block(node.orelse)
            return self.expression(node.test).then(then.either(other))
        if isinstance(node, (ast.For, ast.While)):
            first = self.expression(node.iter if isinstance(node, ast.For) else node.test)
            stops: frozenset[str] = node.stops  # pyright: ignore
            body = self.block(node.body)
            needs = (body.needs - {ITEM}) | stops
            return first.then(Flow(needs, _NONE, body.assigned, body.deleted))
        if isinstance(node, ast.With):
            first = self.expression_of_items(node)
            body = self.block(node.body)
            return first.then(body if is_plain_context(node) else body.perhaps())
        if isinstance(node, ast.Match):
            flow = self.expression(node.subject)
            for case in node.cases:
                pattern = flow_of_nodes(case.pattern, *([case.guard] if case.guard else []))
                pattern = self.known[id(case)] = pattern.perhaps()
                flow = flow.then(pattern.then(self.block(case.body)).perhaps())
            return flow
        if isinstance(node, TRY):
            return self._attempt(node)
        flow = flow_of_nodes(node)
        if isinstance(node, (ast.Raise, ast.Return)):
            flow.binds = self.variables
        return flow

    def expression_of_items(self, node: ast.With) -> Flow:
        flow = self.known[id(node.items)] = flow_of_nodes(*node.items)
        return flow

    def _attempt(self, node: ast.Try) -> Flow:
        flow = self.block(node.body).either(self.block(node.orelse))
        for handler in node.handlers:
            kind = flow_of_nodes(*([handler.type] if handler.type else []))
            named = frozenset([handler.name] if handler.name else [])
            self.known[id(handler)] = Flow(kind.needs, named, kind.assigned | named, named)
            flow = flow.either(self.known[id(handler)].then(self.block(handler.body)))
        final = self.block(node.finalbody)
        return flow.perhaps().then(final)

    # From the outside in

    def needed(
        self, statements: Statements, out: frozenset[str], handled: frozenset[str]
    ) -> frozenset[str]:
        """Note what is needed after each statement; what is needed before the first one."""
        for node in reversed(statements):
            flow = self.known[id(node)]
            flow.out = out = out | handled
            flow.handled = handled
            self._inside(node, flow)
            out = flow.needs | (out - flow.binds) | handled
        return out

    def _inside(self, node: Any, flow: Flow) -> None:
        out, handled = flow.out, flow.handled
        if isinstance(node, ast.If):
            self.needed(node.body, out, handled)
            self.needed(node.orelse, out, handled)
        elif isinstance(node, (ast.For, ast.While)):
            test = _NONE if isinstance(node, ast.For) else self[node.test].needs
            body = self[node.body].needs - {ITEM}
            flow.head = body | test | out | node.stops  # pyright: ignore
            self.needed(node.body, flow.head, handled)
        elif isinstance(node, ast.With):
            self.needed(node.body, out, handled if is_plain_context(node) else handled | out)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                self.needed(case.body, out, handled)
        elif isinstance(node, TRY):
            final = self.needed(node.finalbody, out, handled)
            after = handled | final if node.finalbody else handled
            caught = after
            for handler in node.handlers:
                own = self[handler]
                inside = self.needed(handler.body, final, after)
                caught = caught | own.needs | (inside - own.binds)
            orelse = self.needed(node.orelse, final, after)
            self.needed(node.body, orelse, caught)
