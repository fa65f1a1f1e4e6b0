"""The statements that are put around a part and its call.

try: "value() x" = x                        a variable that may be unbound as a value
except NameError: "value() x" = UNBOUND

if x is UNBOUND: del x                      and unbound again

"spill()1" = None                           what a part had assigned when it raised
try: (x, y) = "if()"(...)
except:
    if "spill()1" is not None: (x, y) = "spill()1"
    raise
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from .exits import Statements, none_of
from .names import ITEM
from .nodes import argument, assign, at, constant, deleted, name, target, tuple_of
from .state import State


def unbinding(names: Iterable[str], state: State, like: ast.AST) -> Statements:
    """Make variables unbound that hold UNBOUND. Flags are never read before they are set."""
    made: Statements = []
    for each in names:
        if each not in state.bound and "(" not in each:
            test = at(ast.Compare(name(each), [ast.Is()], [name("unbound()")]), like)
            made.append(at(ast.If(test, [at(ast.Delete([deleted(each)]), like)], []), like))
            state.held.discard(each)
    return made


def values(
    names: Sequence[str], state: State, like: ast.AST, wanted: frozenset[str] | None = None
) -> tuple[Statements, ast.expr]:
    """The variables as a tuple, UNBOUND for those that are unbound or not `wanted`; and what is to
    be done before.
    """
    made: Statements = []
    found: list[ast.expr] = []
    for each in names:
        if wanted is not None and each not in wanted:
            found.append(name("unbound()"))
        elif each in state.bound or each in state.held:
            found.append(name(each))
        elif each not in state.perhaps:
            found.append(name("unbound()"))
        else:
            word = f"value() {each}"
            instead = assign(word, name("unbound()"), like)
            handler = at(ast.ExceptHandler(name("NameError()"), None, [instead]), like)
            tried = assign(word, name(each), like)
            made.append(at(ast.Try([tried], [handler], [], []), like))
            found.append(name(word))
    return made, tuple_of(found)


def definition(kind: str, names: list[str], body: Statements, like: ast.AST) -> ast.stmt:
    """The function of a part."""
    words = [ITEM, *names] if kind == "body()" and isinstance(like, ast.For) else names
    arguments = ast.arguments([], [argument(each) for each in words], None, [], [], None, [])
    made = ast.FunctionDef(kind, arguments, body, [], None)
    if "type_params" in ast.FunctionDef._fields:
        made.type_params = []  # type: ignore[attr-defined]
    return at(made, like)


def assigned(names: Sequence[str], value: ast.expr, like: ast.AST) -> ast.stmt:
    """Variables that get the items of a tuple."""
    if not names:
        return at(ast.Expr(value), like)
    return at(ast.Assign([tuple_of([target(each) for each in names], stored=True)], value), like)


def asked(node: ast.For | ast.While) -> ast.expr | None:
    """What is asked before each round of a loop."""
    stops: frozenset[str] = node.stops  # type: ignore[union-attr]
    tests: list[ast.expr] = [none_of(stops, node)] if stops else []
    if isinstance(node, ast.While) and not (node.always and stops):  # type: ignore[attr-defined]
        tests.append(node.test)
    if len(tests) < 2:
        return tests[0] if tests else None
    return at(ast.BoolOp(ast.And(), tests), node)


def spilling(
    made: Statements, spilled: list[str], number: str, state: State, like: ast.AST
) -> Statements:
    """A block that leaves its variables where the statement around finds them."""
    final, value = values(spilled, state, like)
    final.append(assign(number, value, like))
    return [at(ast.Try(made or [at(ast.Pass(), like)], [], [], final), like)]


def unspilling(new: ast.stmt, spilled: list[str], number: str, like: ast.AST) -> Statements:
    """A call of parts that may leave their variables behind."""
    back = [assigned(spilled, name(number), like)]
    back += unbinding(spilled, State((), (), ()), like)
    test = at(ast.Compare(name(number), [ast.IsNot()], [constant(None)]), like)
    body: Statements = [at(ast.If(test, back, []), like), at(ast.Raise(), like)]
    handler = at(ast.ExceptHandler(None, None, body), like)
    return [
        assign(number, constant(None), like),
        at(ast.Try([new], [handler], [], []), like),
    ]


def nothing(like: ast.AST) -> Statements:
    """An empty block."""
    return [at(ast.Pass(), like)]
