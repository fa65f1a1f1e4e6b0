"""The first step: `break`, `continue` and `return` inside of `if`, loops and `with` become
assignments of flags, so that every statement ends at its end.

    for x in xs:                      "left()1" = False
        if x > 3:                     for x in xs:              # asks `not "left()1"` before each
            return x        ->            if x > 3:
        y += x                                "result()" = x; "returned()" = True
    return y                              else:
                                              y += x
                                      if not "returned()":
                                          "result()" = y
                                      return "result()"

Where a branch always leaves, the statements after the `if` go into the other branch, and no flag
is needed. Elsewhere they go under an `if` of the flags that may be set. A flag that nothing asks is
not assigned. Where no part is made - in the function itself, and in its `with` and `try` blocks - a
`return` stays one, and so it does after a statement that always returns.

An exception on the way out undoes a `return`: where it is handled, the flags are taken back.

`assert` becomes an `if` with a `raise`; the target of a `for` is assigned in its body; `else` of a
loop goes behind it. A test of a `while` that assigns variables is evaluated before the loop and at
the end of its body.

The statements are new, the expressions in them are the user's.
"""

from __future__ import annotations

import ast
import copy
from typing import Any, NamedTuple

from .names import ITEM, RESULT, RETURNED, Unsupported, going, left, skipped
from .nodes import assign, at, constant, name, target, walk

Statements = list[ast.stmt]
TRY = (ast.Try, getattr(ast, "TryStar", ast.Try))
_LOOPS = (ast.For, ast.While)
# Contexts that swallow no exception: what is assigned in their block is assigned after it.
_PLAIN_CONTEXTS = frozenset(["errstate", "printoptions", "named_scope", "open", "catch_warnings"])


class Block(NamedTuple):
    """Statements, the flags they may set, and whether their end may be reached."""

    statements: Statements
    flags: frozenset[str]
    falls: bool


class _Leaves(NamedTuple):
    """What a user's statement may do: its exits, and whether the next one may be reached."""

    exits: frozenset[str]  # of "return", "break", "continue"
    falls: bool


_NOTHING: frozenset[str] = frozenset()
_PASSES = _Leaves(_NOTHING, True)


def is_always(test: ast.expr) -> bool:
    """Whether a test is a constant that is true."""
    return isinstance(test, ast.Constant) and bool(test.value)


def assigns(expression: ast.expr) -> bool:
    """Whether an expression assigns variables."""
    return any(isinstance(node, ast.NamedExpr) for node in walk(expression))


def is_plain_context(statement: ast.With) -> bool:
    """Whether a `with` is known to let every exception through."""
    for item in statement.items:
        made = item.context_expr
        called = made.func if isinstance(made, ast.Call) else None
        word = getattr(called, "attr", getattr(called, "id", None))
        if word not in _PLAIN_CONTEXTS:
            return False
    return True


def _children(statement: Any) -> list[Statements]:
    if isinstance(statement, ast.Match):
        return [case.body for case in statement.cases]
    if isinstance(statement, TRY):
        handlers = [handler.body for handler in statement.handlers]
        return [statement.body, *handlers, statement.orelse, statement.finalbody]
    return [statement.body, getattr(statement, "orelse", [])]


_COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Match, *TRY)


class Exits:
    """The first step for one function."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[ast.stmt, _Leaves]] = {}  # which keeps the statements alive
        self.asked: set[str] = set()  # the flags that a test asks
        self.loops = 0
        self.variables: set[str] = set()  # of ours, flags and others

    def function(self, node: ast.FunctionDef) -> Statements:
        """The new body of a function. It always ends in `return`."""
        end = at(ast.Return(constant(None)), node.body[-1])
        body = [*node.body, end] if self.leaves(node.body).falls else node.body
        made = self.block(body, 0, True).statements
        if RETURNED in self.asked:
            made.insert(0, assign(RETURNED, constant(False), node))
            made.insert(0, assign(RESULT, name("unbound()"), node))
        return made

    # What the user's statements may do

    def leaves(self, statements: Statements) -> _Leaves:
        exits, falls = _NOTHING, True
        for statement in statements:
            each = self.leaves_of(statement)
            exits |= each.exits
            if not each.falls:
                falls = False
                break
        return _Leaves(exits, falls)

    def leaves_of(self, statement: ast.stmt) -> _Leaves:
        found = self.known.get(id(statement))
        if found is None:
            found = self.known[id(statement)] = (statement, self._leaves_of(statement))
        return found[1]

    def _leaves_of(self, statement: ast.stmt) -> _Leaves:
        if isinstance(statement, ast.Return):
            return _Leaves(frozenset({"return"}), False)
        if isinstance(statement, (ast.Break, ast.Continue)):
            return _Leaves(frozenset({type(statement).__name__.lower()}), False)
        if isinstance(statement, ast.Raise):
            return _Leaves(_NOTHING, False)
        if not isinstance(statement, _COMPOUND):
            return _PASSES
        inner = [self.leaves(each) for each in _children(statement)]
        exits = _NOTHING.union(*[each.exits for each in inner])
        if isinstance(statement, _LOOPS):
            body, orelse = inner
            ends = not (isinstance(statement, ast.While) and is_always(statement.test))
            falls = "break" in body.exits or (ends and orelse.falls)
            return _Leaves((body.exits & {"return"}) | orelse.exits, falls)
        if isinstance(statement, TRY):
            if inner[-1].exits:
                raise Unsupported("a finally clause returns, breaks or continues")
            body, orelse = inner[0], inner[-2]
            falls = body.falls and orelse.falls or any(each.falls for each in inner[1:-2])
            return _Leaves(exits, falls and inner[-1].falls)
        if isinstance(statement, ast.With):
            return _Leaves(exits, inner[0].falls or not is_plain_context(statement))
        if isinstance(statement, ast.Match):
            return _Leaves(exits, True)
        return _Leaves(exits, any(each.falls for each in inner))

    # Rewriting

    def block(self, statements: Statements, loop: int, bare: bool) -> Block:
        """Rewrite statements in a loop (0: none). `bare`: no part is made around them."""
        made: Statements = []
        flags: frozenset[str] = _NOTHING
        pending = statements[::-1]
        while pending:
            statement = pending.pop()
            if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
                new, more = self.exit(statement, loop, bare)
                return Block([*made, *new], flags | more, False)
            if isinstance(statement, ast.Assert):
                if not __debug__:
                    continue
                statement = _assertion(statement)
            if not isinstance(statement, _COMPOUND):
                made.append(statement)
                if isinstance(statement, ast.Raise):
                    return Block(made, flags, False)
                continue
            if isinstance(statement, ast.If) and pending:
                statement, pending = self.moved(statement, pending)
            block, after = self.compound(statement, loop, bare)
            pending += after[::-1]
            made += block.statements
            flags |= block.flags
            if block.flags and block.falls and pending:
                block = self.guarded(block.flags, pending[::-1], loop, statement)
                pending = []
                made += block.statements
                flags |= block.flags
            if not block.falls:
                if bare and RETURNED in flags:
                    made.append(self.result(statement))
                    flags -= {RETURNED}
                return Block(made, flags, False)
        return Block(made, flags, True)

    def exit(self, statement: ast.stmt, loop: int, bare: bool) -> tuple[Statements, frozenset[str]]:
        """A `return`, `break` or `continue` as assignments of flags."""
        if not isinstance(statement, ast.Return):
            flag = left(loop) if isinstance(statement, ast.Break) else skipped(loop)
            return [self.flag(flag, statement)], frozenset({flag})
        if bare:
            return [statement], _NOTHING
        self.variables.add(RESULT)
        value = statement.value if statement.value is not None else constant(None)
        made = [assign(RESULT, value, statement), self.flag(RETURNED, statement)]
        return made, frozenset({RETURNED})

    def flag(self, word: str, like: ast.AST, value: bool = True) -> ast.stmt:
        self.variables.add(word)
        made = assign(word, constant(value), like)
        made.flag = word  # type: ignore[attr-defined]
        return made

    def is_idle(self, statement: ast.stmt) -> bool:
        """Whether a statement sets a flag that nothing asks."""
        word = getattr(statement, "flag", None)
        return word is not None and word not in self.asked

    def result(self, like: ast.AST) -> ast.stmt:
        """The return of what was noted."""
        return at(ast.Return(name(RESULT)), like)

    def moved(self, statement: ast.If, pending: Statements) -> tuple[ast.If, Statements]:
        """The `if` with the statements after it (the last one first) in one branch, where the
        other always leaves; and what is still after it.
        """
        then, other = self.leaves(statement.body), self.leaves(statement.orelse)
        if not then.falls and not other.falls:
            return statement, pending
        if then.exits and not then.falls:
            made = ast.If(statement.test, statement.body, [*statement.orelse, *pending[::-1]])
        elif other.exits and not other.falls:
            made = ast.If(statement.test, [*statement.body, *pending[::-1]], statement.orelse)
        else:
            return statement, pending
        return at(made, statement), []

    def guarded(self, flags: frozenset[str], rest: Statements, loop: int, like: ast.AST) -> Block:
        """Statements that run where none of the flags is set."""
        self.asked |= flags
        inner = self.block(rest, loop, False)
        made = at(ast.If(none_of(flags, like), inner.statements, []), like)
        return Block([made], inner.flags, inner.falls)

    def compound(self, statement: ast.stmt, loop: int, bare: bool) -> tuple[Block, Statements]:
        """A statement of blocks, and what is to come after it before the next one."""
        if isinstance(statement, _LOOPS):
            return self.loop(statement)
        if isinstance(statement, ast.If):
            then = self.block(statement.body, loop, False)
            other = self.block(statement.orelse, loop, False)
            made: Any = ast.If(
                statement.test, then.statements or [at(ast.Pass(), statement)], other.statements
            )
            flags, falls = then.flags | other.flags, then.falls or other.falls
        elif isinstance(statement, ast.With):
            body = self.block(statement.body, loop, bare)
            undone = self.undone(body.flags, statement.body, statement)
            statements: Statements = body.statements
            if undone and not is_plain_context(statement):
                undone.append(at(ast.Raise(), statement))
                handler = at(ast.ExceptHandler(None, None, undone), statement)
                statements = [at(ast.Try(statements, [handler], [], []), statement)]
            made = ast.With(statement.items, statements, None)
            flags, falls = body.flags, body.falls or not is_plain_context(statement)
        elif isinstance(statement, ast.Match):
            blocks = [self.block(case.body, loop, bare) for case in statement.cases]
            cases = [
                ast.match_case(case.pattern, case.guard, block.statements)
                for case, block in zip(statement.cases, blocks)
            ]
            made = ast.Match(statement.subject, cases)
            flags, falls = _NOTHING.union(*[block.flags for block in blocks]), True
        else:
            made, flags, falls = self.attempt(statement, loop, bare)
        return Block([at(made, statement)], flags, falls), []

    def attempt(self, statement: Any, loop: int, bare: bool) -> tuple[Any, frozenset[str], bool]:
        """A `try`: its `else` runs where its body did not leave."""
        body = self.block(statement.body, loop, bare)
        flags, falls = body.flags, body.falls
        orelse: Statements = []
        if statement.orelse and body.falls:
            if body.flags:
                other = self.guarded(body.flags, statement.orelse, loop, statement.orelse[0])
            else:
                other = self.block(statement.orelse, loop, bare)
            orelse, flags, falls = other.statements, flags | other.flags, other.falls
        handlers = []
        for handler in statement.handlers:
            block = self.block(handler.body, loop, bare)
            undone = self.undone(body.flags, statement.body, handler)
            new = ast.ExceptHandler(handler.type, handler.name, [*undone, *block.statements])
            handlers.append(at(new, handler))
            flags, falls = flags | block.flags, falls or block.falls
        final = self.block(statement.finalbody, loop, False)
        made = type(statement)(body.statements, handlers, orelse, final.statements)
        return made, flags, falls and final.falls

    def undone(self, flags: frozenset[str], statements: Statements, like: ast.AST) -> Statements:
        """What takes flags back where an exception is handled that came on the way out, of a
        `finally` or of a context.
        """
        if flags and any(
            isinstance(node, ast.With) or (isinstance(node, TRY) and node.finalbody)
            for statement in statements
            for node in walk(statement)
        ):
            return [self.flag(each, like, False) for each in sorted(flags)]
        return []

    def loop(self, statement: ast.For | ast.While) -> tuple[Block, Statements]:
        self.loops += 1
        number = self.loops
        body = self.block(statement.body, number, False)
        statements = body.statements
        stops = body.flags & {left(number), RETURNED}
        self.asked |= stops
        if skipped(number) in self.asked:
            statements.insert(0, assign(skipped(number), constant(False), statement))
        before: Statements = []
        if left(number) in stops:
            before.append(assign(left(number), constant(False), statement))
        always = isinstance(statement, ast.While) and is_always(statement.test)
        if isinstance(statement, ast.For):
            first = ast.Assign([statement.target], name(ITEM))
            statements.insert(0, at(first, statement.target))
            made: Any = ast.For(target(ITEM), statement.iter, statements, [])
        else:
            test = statement.test
            if assigns(test):
                self.variables.add(going(number))
                before.append(assign(going(number), test, test))
                again: ast.stmt = assign(going(number), copy.deepcopy(test), test)
                if stops:
                    again = at(ast.If(none_of(stops, statement), [again], []), statement)
                statements.append(again)
                test = at(ast.Name(going(number), ast.Load()), test)
            made = ast.While(test, statements, [])
        made.stops = stops
        made.always = always
        orelse: Statements = []
        if statement.orelse and not (always and left(number) not in stops):
            orelse = statement.orelse
            if left(number) in stops:
                asked = none_of(frozenset({left(number)}), orelse[0])
                inner = ast.If(asked, orelse, [])
                orelse = [at(inner, orelse[0])]
        flags = stops & {RETURNED}
        falls = not always or left(number) in stops
        return Block([*before, at(made, statement)], flags, falls), orelse


def none_of(flags: frozenset[str], like: ast.AST) -> ast.expr:
    """Whether none of the flags is set."""
    words: list[ast.expr] = [name(word) for word in sorted(flags)]
    asked = words[0] if len(words) == 1 else at(ast.BoolOp(ast.Or(), words), like)
    return at(ast.UnaryOp(ast.Not(), asked), like)


def _assertion(statement: ast.Assert) -> ast.If:
    error: ast.expr = name("AssertionError()")
    if statement.msg is not None:
        error = at(ast.Call(error, [statement.msg], []), statement)
    raised = at(ast.Raise(error, None), statement)
    test = at(ast.UnaryOp(ast.Not(), statement.test), statement)
    return at(ast.If(test, [raised], []), statement)
