"""Which variables a function has, and which of them its inner functions capture.

A `Scope` is made of a function, lambda, class or generator expression. Comprehensions run where
they stand, so that what they read is read there; so do generator expressions that are the only
argument of a builtin which uses them up. What they bind themselves is hidden outside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .names import Unsupported
from .nodes import children, walk

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
_USES_UP = frozenset(
    ["sum", "any", "all", "min", "max", "list", "tuple", "set", "frozenset", "sorted", "dict"]
)
_REFUSED = frozenset(["locals", "globals", "eval", "exec"])
_REFUSED_BARE = frozenset(["vars", "dir", "super"])


class Scope:
    """The names of one scope. `free` is what it takes from outside."""

    def __init__(self, node: ast.AST) -> None:
        self.node = node
        self.bound: set[str] = set()
        self.loads: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.captured: set[str] = set()  # by inner scopes
        self.is_generator = isinstance(node, ast.AsyncFunctionDef)

    @property
    def variables(self) -> set[str]:
        """The scope's own variables."""
        return self.bound - self.globals - self.nonlocals

    @property
    def free(self) -> set[str]:
        if isinstance(self.node, ast.ClassDef):
            return (self.loads | self.captured | self.nonlocals) - self.globals
        return (self.loads | self.captured | self.nonlocals) - self.variables - self.globals


def parameters(arguments: ast.arguments) -> list[str]:
    """The names of a function's parameters."""
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [each.arg for each in found]


def is_used_up(node: ast.Call) -> bool:
    """Whether a call uses up the generator expression that is its first argument, where that is
    made.
    """
    return (
        isinstance(node.func, ast.Name)
        and node.func.id in _USES_UP
        and len(node.args) == 1
        and isinstance(node.args[0], ast.GeneratorExp)
    )


def outer_expressions(node: ast.AST) -> list[ast.expr]:
    """What a definition evaluates in the scope where it stands."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *[each.value for each in node.keywords]]
    if isinstance(node, ast.GeneratorExp):
        return [node.generators[0].iter]
    if not isinstance(node, FunctionNode):
        return []
    defaults = [*node.args.defaults, *[each for each in node.args.kw_defaults if each is not None]]
    return defaults if isinstance(node, ast.Lambda) else [*node.decorator_list, *defaults]


def _annotations(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    found = [each.annotation for each in every if each.annotation is not None]
    return [*found, *([node.returns] if node.returns is not None else [])]


def scope_of(node: ast.AST, scopes: dict[int, Scope]) -> Scope:
    """The scope of a function, class or generator expression. It and those inside are added to
    `scopes`, by the identity of their nodes.
    """
    scope = scopes[id(node)] = Scope(node)
    walk = Walk(scope, scopes)
    if isinstance(node, FunctionNode):
        scope.bound.update(parameters(node.args))
        body = node.body if isinstance(node.body, list) else [node.body]
        walk.all(body, frozenset())
    elif isinstance(node, ast.ClassDef):
        walk.all(node.body, frozenset())
    elif isinstance(node, ast.GeneratorExp):
        walk.comprehension(node, frozenset())
    return scope


class Walk:
    """Goes through one scope. `hidden` are the names that comprehensions around a node bind."""

    def __init__(self, scope: Scope, scopes: dict[int, Scope]) -> None:
        self.scope = scope
        self.scopes = scopes

    def all(self, nodes: Iterable[ast.AST], hidden: frozenset[str]) -> None:
        for node in nodes:
            self.visit(node, hidden)

    def visit(self, node: ast.AST, hidden: frozenset[str]) -> None:
        kind = type(node)
        if kind is ast.Name:
            self.name(node, hidden)  # type: ignore[arg-type]
        elif kind is ast.Constant:
            return
        elif isinstance(node, INNER):
            self.inner(node, hidden)
        elif isinstance(node, COMPREHENSIONS):
            self.comprehension(node, hidden)
        elif kind is ast.GeneratorExp:
            self.inner(node, hidden)
        elif isinstance(node, ast.Call):
            self.call(node, hidden)
        else:
            self.rest(node, hidden)

    def name(self, node: ast.Name, hidden: frozenset[str]) -> None:
        if node.id in hidden:
            return
        if isinstance(node.ctx, ast.Load):
            self.scope.loads.add(node.id)
        else:
            self.scope.bound.add(node.id)

    def inner(self, node: ast.AST, hidden: frozenset[str]) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.scope.bound.add(node.name)
            if not isinstance(node, ast.ClassDef):
                self.all(_annotations(node), hidden)
        self.all(outer_expressions(node), hidden)
        self.scope.captured |= scope_of(node, self.scopes).free - hidden

    def comprehension(self, node: ast.AST, hidden: frozenset[str]) -> None:
        targets: set[str] = set()
        for each in node.generators:  # type: ignore[attr-defined]
            targets.update(
                name.id
                for name in walk(each.target)
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
            )
        inside = hidden | targets
        for each in node.generators:  # type: ignore[attr-defined]
            self.visit(each.iter, inside)
            self.visit(each.target, inside)
            self.all(each.ifs, inside)
        for name in ("key", "value", "elt"):
            if hasattr(node, name):
                self.visit(getattr(node, name), inside)
        # The first iterable stands outside: a name of its own in it is not the target.
        self.visit(node.generators[0].iter, hidden)  # type: ignore[attr-defined]

    def call(self, node: ast.Call, hidden: frozenset[str]) -> None:
        if isinstance(node.func, ast.Name):
            name = node.func.id
            bare = not node.args and not node.keywords
            if name in _REFUSED or (bare and name in _REFUSED_BARE):
                raise Unsupported(f"it uses {name}()")
        if is_used_up(node):
            self.visit(node.func, hidden)
            self.comprehension(node.args[0], hidden)
            self.all(node.keywords, hidden)
        else:
            self.rest(node, hidden)

    def rest(self, node: ast.AST, hidden: frozenset[str]) -> None:
        scope = self.scope
        kind = type(node)
        if kind is ast.NamedExpr:
            scope.bound.add(node.target.id)  # type: ignore[attr-defined]
            self.visit(node.value, hidden)  # type: ignore[attr-defined]
            return
        if kind is ast.AnnAssign and isinstance(node.target, ast.Name):  # type: ignore[attr-defined]
            scope.bound.add(node.target.id)  # type: ignore[attr-defined]
        elif kind is ast.Global:
            scope.globals.update(node.names)  # type: ignore[attr-defined]
        elif kind is ast.Nonlocal:
            scope.nonlocals.update(node.names)  # type: ignore[attr-defined]
        elif kind in (ast.Yield, ast.YieldFrom, ast.Await):
            scope.is_generator = True
        else:
            scope.bound.update(bound_by(node))
        self.all(children(node), hidden)


def bound_by(node: ast.AST) -> list[str]:
    """The names that a node binds without an `ast.Name`."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [each.asname or each.name.split(".")[0] for each in node.names]
    if isinstance(node, ast.ExceptHandler):
        return [node.name] if node.name else []
    if isinstance(node, (ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    return []
