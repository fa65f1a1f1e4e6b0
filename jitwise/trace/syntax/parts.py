"""The second step: `if`, `while` and `for` become calls of operations, their blocks functions.

    if test: A      ->    def "then()"(x, y): A; return (x, y)
    else: B               def "else()"(x, y): B; return (x, y)
                          (x, y) = "if()"(test, "then()", "else()", ("x", "y"), (x, y), LINE)

A part takes and returns the variables that it assigns and that are needed later (`flow`), and
those it needs which may be unbound; it reads others through its closure. What is known of a
variable at a point of the text is a `State`:

    bound    surely bound: it is passed as it is
    held     bound, or holds UNBOUND where Python's variable would be unbound
    perhaps  a statement that binds it may have run; any other is passed as UNBOUND

    try: "value() x" = x                        before the call, where x is none of these
    except NameError: "value() x" = UNBOUND
    if x is UNBOUND: del x                      after it, and where a part begins that reads x

Variables that an inner function of the user captures cannot be copied from part to part: the parts
assign them by `nonlocal`.

In a block whose exceptions are handled in the function, what a part has assigned must be seen by
the handler: a part leaves it in a variable of the function, its spill, and the statement takes it
from there before the exception goes on.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .exits import TRY, Exits, Statements, is_plain_context
from .expressions import Expressions, call
from .flow import Flow, Flows, flow_of_nodes
from .names import ITEM, RESULT, RETURNED, Unsupported, spill
from .nodes import assign, at, constant, name, target
from .pieces import (
    asked,
    assigned,
    definition,
    nothing,
    spilling,
    unbinding,
    unspilling,
    values,
)
from .scopes import Scope, parameters, scope_of
from .state import State, assigned_in_parts, ends

_TESTED = "tested()"
_DROPPED = "dropped()"


class Function:
    """Rewrites one function of the user's; inner ones are rewritten in turn."""

    def __init__(
        self, node: ast.FunctionDef | ast.Lambda, scopes: dict[int, Scope], notes: list[str]
    ) -> None:
        self.node = node
        self.scopes = scopes
        self.scope = scopes[id(node)]
        self.notes = notes
        self.expressions = Expressions(self.inner)
        self.changes = 0
        self.spills = 0
        self.shared: set[str] = set()
        self.mine: set[str] = set()
        self.flows: Flows = None  # type: ignore[assignment]

    # Scopes

    def inner(self, node: Any, unsafe: frozenset[str], *, in_class: bool = False) -> Any:
        """An inner function, lambda or class. A class's own expressions stay as they are, as its
        variables cannot be captured by operands.
        """
        # The copy of a test that assigns variables has functions which are not known yet.
        scope = self.scopes.get(id(node)) or scope_of(node, self.scopes)
        if not in_class:
            self.outside(node, unsafe)
        if isinstance(node, ast.ClassDef):
            for index, each in enumerate(node.body):
                if isinstance(each, (ast.FunctionDef, ast.ClassDef)):
                    node.body[index] = self.inner(each, unsafe, in_class=True)
        elif not scope.is_generator:
            function = Function(node, self.scopes, self.notes)
            node = function.rewritten()
            self.changes += function.changes
        return node

    def outside(self, node: Any, unsafe: frozenset[str]) -> None:
        """What a definition evaluates where it stands."""
        arguments = getattr(node, "args", None)
        if arguments is not None:
            arguments.defaults = [self.expressions(each, unsafe) for each in arguments.defaults]
            arguments.kw_defaults = [
                each and self.expressions(each, unsafe) for each in arguments.kw_defaults
            ]
        decorators = getattr(node, "decorator_list", [])
        decorators[:] = [self.expressions(each, unsafe) for each in decorators]

    def rewritten(self) -> Any:
        """The function's new tree."""
        node = self.node
        given = parameters(node.args)
        if isinstance(node, ast.Lambda):
            unsafe = frozenset(self.scope.variables.difference(given))
            made = ast.Lambda(node.args, self.expressions(node.body, unsafe))
            self.changes += self.expressions.changes
            return at(made, node)
        exits = Exits()
        first = node.body[0]
        has_words = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        words = node.body[:1] if has_words and isinstance(first.value.value, str) else []  # type: ignore[attr-defined]
        try:
            body = exits.function(node)
        except Unsupported as error:
            self.notes.append(f"{node.name} stays as it is: {error}")
            if self.scopes.get(0) is self.scope:
                raise
            return node
        if words:
            body.remove(words[0])
        self.prepare(exits, body, given)
        state = State(given, given, given)
        made = [*words, *self.declarations(given), *self.block(body, state)]
        self.changes += self.expressions.changes
        new = ast.FunctionDef(node.name, node.args, made, node.decorator_list, node.returns)
        if hasattr(node, "type_params"):
            new.type_params = node.type_params  # type: ignore[attr-defined]
        self.notes += [f"line {line}: {why}" for line, why in self.expressions.left]
        return at(new, node)

    def prepare(self, exits: Exits, body: Statements, given: list[str]) -> None:
        """Find what is needed where, and which variables are shared with inner functions."""
        own = self.scope.variables
        flags = {RESULT, RETURNED, *exits.asked, *exits.variables}
        self.flows = Flows(exits, frozenset(own | flags))
        self.flows.block(body)
        self.flows.needed(body, frozenset(), frozenset())
        self.shared = own & self.scope.captured & assigned_in_parts(body, self.flows)
        self.mine = (own - self.shared) | flags

    def declarations(self, given: list[str]) -> Statements:
        """What makes names variables of the function, whether or not it still assigns them."""
        made: Statements = []
        if self.scope.globals:
            made.append(ast.Global(sorted(self.scope.globals)))
        if self.scope.nonlocals:
            made.append(ast.Nonlocal(sorted(self.scope.nonlocals)))
        for each in sorted(self.scope.variables.difference(given)):
            made.append(ast.AnnAssign(target(each), constant(None), None, 1))
        return [at(each, self.node) for each in made]

    # Statements

    def unsafe(self, state: State) -> frozenset[str]:
        return frozenset(self.scope.variables - state.bound)

    def block(self, statements: Statements, state: State) -> Statements:
        made: Statements = []
        for each in statements:
            made += self.statement(each, state)
        return made

    def statement(self, node: ast.stmt, state: State) -> Statements:
        if isinstance(node, ast.If):
            return self.branch(node, state)
        if isinstance(node, (ast.For, ast.While)):
            return self.loop(node, state)
        if isinstance(node, TRY):
            return self.attempt(node, state)
        if isinstance(node, ast.With):
            for item in node.items:
                self.expressions.inside(item, self.unsafe(state))
            state.run(self.flows[node.items])
            after = state.interrupted(self.flows[node.body])
            node.body = self.block(node.body, state) or nothing(node)
            if not is_plain_context(node):
                state.join([after, state.copy()])
            return [node]
        if isinstance(node, ast.Match):
            return self.match(node, state)
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return []
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if node.value is None:
                return []
            flow = self.flows[node]
            node = at(ast.Assign([node.target], node.value), node)
        else:
            flow = self.flows[node]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            node = self.inner(node, self.unsafe(state))
        else:
            self.expressions.inside(node, self.unsafe(state))
        state.run(flow)
        return [node]

    def attempt(self, node: Any, state: State) -> Statements:
        flow = self.flows[node]
        caught = state.interrupted(self.flows[node.body])
        final = state.interrupted(flow)
        node.body = self.block(node.body, state)
        node.orelse = self.block(node.orelse, state)
        last = [state.copy()] if ends(node.orelse or node.body) else []
        for handler in node.handlers:
            own = caught.copy()
            if handler.type is not None:
                handler.type = self.expressions(handler.type, self.unsafe(own))
            if handler.name:
                own.bound.add(handler.name)
                own.perhaps.add(handler.name)
            handler.body = self.block(handler.body, own) or nothing(node)
            own.bound.discard(handler.name or "")
            own.held.discard(handler.name or "")
            if ends(handler.body):
                last.append(own)
        node.body = node.body or nothing(node)
        state.join(last)
        if node.finalbody:
            state.run(self.flows[node.finalbody])
            node.finalbody = self.block(node.finalbody, final) or nothing(node)
            state.held &= state.bound  # by the states in which it began
        return [node]

    def match(self, node: ast.Match, state: State) -> Statements:
        flow = self.flows[node.subject]
        node.subject = self.expressions(node.subject, self.unsafe(state))
        state.run(flow)
        last = []
        for case in node.cases:
            state.run(self.flows[case])
            own = state.copy()
            own.bound |= flow_of_nodes(case.pattern).assigned
            own.held &= own.bound
            case.body = self.block(case.body, own) or nothing(node)
            if ends(case.body):
                last.append(own)
        state.join([state.copy(), *last])
        return [node]

    # Parts

    def branch(self, node: ast.If, state: State) -> Statements:
        flow, then, other = self.flows[node], self.flows[node.body], self.flows[node.orelse]
        self.changes += 1
        binds = (then.assigned | other.assigned) & self.mine
        needs = (then.needs | other.needs) & self.mine
        before, test = self.test(node.test, state, node)
        names = sorted((binds & (flow.out | needs)) | (needs - state.bound))
        spilled = sorted(flow.handled & binds)
        # Of what no path reads, not even by leaving it as it is, no value is passed.
        wanted = needs | (flow.out - (then.binds & other.binds)) | flow.handled
        more, given = values(names, state, node, wanted)
        made = [*before, *more]
        number = self.new_spill(spilled)
        outside = state.copy()
        state.bound.difference_update(set(names) - wanted)
        last = []
        for kind, body in (("then()", node.body), ("else()", node.orelse)):
            own = state.copy()
            made.append(self.part(kind, names, body, own, flow.out, node, spilled, number))
            if ends(body):
                last.append(own)
        state.join(last) if last else state.bound.update(self.mine)
        state.keep(set(names) - flow.out, outside)
        arguments = [test, name("then()"), name("else()")]
        return made + self.calling(
            "if()", arguments, names, given, flow, state, node, spilled, number
        )

    def test(self, test: ast.expr, state: State, like: ast.stmt) -> tuple[Statements, ast.expr]:
        """The test of an `if`, or what a `for` goes through. It is evaluated before variables are
        passed if it assigns some.
        """
        flow = self.flows[test]
        test = self.expressions(test, self.unsafe(state))
        state.run(flow)
        if flow.assigned:
            return [assign(_TESTED, test, like)], name(_TESTED)
        return [], test

    def loop(self, node: ast.For | ast.While, state: State) -> Statements:
        flow, body = self.flows[node], self.flows[node.body]
        self.changes += 1
        stops: frozenset[str] = node.stops  # type: ignore[union-attr]
        if isinstance(node, ast.For):
            word = "for()"
            before, first = self.test(node.iter, state, node)
            needs = body.needs - {ITEM}
        else:
            word, before, first = "while()", [], None
            needs = body.needs | self.flows[node.test].needs
        round_ = state.round(body)
        binds = body.assigned & self.mine
        names = sorted((binds & flow.head) | (((needs | stops) & self.mine) - round_.bound))
        spilled = sorted(flow.handled & binds)
        more, given = values(names, state, node)
        made = [*before, *more]
        number = self.new_spill(spilled)
        test = asked(node)
        if test is not None:
            own = round_.copy()
            made.append(self.test_part(names, test, own, node))
            test = name("test()")
        own = round_.copy()
        once = self.once(node, stops)
        made.append(self.part("body()", names, node.body, own, flow.head, node, spilled, number))
        state.bound = round_.bound | (once & set(names))
        state.held = (state.held & round_.held) | (set(names) & flow.out)
        state.perhaps |= body.assigned
        if first is not None:
            arguments = [first, name("body()")]
            last = [test if test is not None else constant(None)]
        else:
            arguments, last = [test or constant(None), name("body()")], []
        return made + self.calling(
            word, arguments, names, given, flow, state, node, spilled, number, last
        )

    def once(self, node: ast.For | ast.While, stops: frozenset[str]) -> set[str]:
        """What a loop that runs at least once surely binds: what comes before its first exit."""
        bound: set[str] = set()
        if isinstance(node, ast.While) and node.always:  # type: ignore[attr-defined]
            for each in node.body:
                flow = self.flows[each]
                if flow.assigned & stops:
                    break
                bound = (bound - flow.deleted) | flow.binds
        return bound - self.flows[node.body].deleted

    def test_part(
        self, names: list[str], test: ast.expr, state: State, node: ast.For | ast.While
    ) -> ast.stmt:
        needs = frozenset() if isinstance(node, ast.For) else self.flows[node.test].needs
        self.check_shared(needs - state.bound)
        body = unbinding([each for each in names if each in needs], state, node)
        value = self.expressions(test, self.unsafe(state))
        body.append(at(ast.Return(value), test))
        return definition("test()", names, body, node)

    def check_shared(self, unbound: frozenset[str]) -> None:
        """A part that reads an unbound variable of the function around raises another exception
        than the function.
        """
        loose = unbound & self.shared
        if loose:
            raise Unsupported(
                f"the variable {min(loose)}, which an inner function captures, may be unbound"
            )

    def part(
        self,
        kind: str,
        names: list[str],
        statements: Statements,
        state: State,
        out: frozenset[str],
        like: ast.stmt,
        spilled: list[str],
        number: str,
    ) -> ast.stmt:
        """The function of a block; `state` becomes what is known after it."""
        flow = self.flows[statements]
        self.check_shared((flow.needs - state.bound) | flow.deleted)
        own = (flow.assigned & self.mine).difference(names)
        outside = State(state.bound & own, state.held & own, state.perhaps & own)
        state.bound -= own
        state.held = (state.held - own) | set(names)
        state.perhaps -= own
        begin = self.beyond(flow, number, like)
        begin += unbinding([each for each in names if each in flow.needs], state, like)
        made = self.block(statements, state)
        if ends(statements):
            end, value = values(names, state, like, out)
            end.append(at(ast.Return(value), like))
        else:
            end = []
        if number:
            loose = state.copy()
            loose.bound -= flow.assigned  # perhaps it was left early
            loose.held -= flow.assigned
            made = spilling(made, spilled, number, loose, like)
        state.bound = (state.bound - own) | outside.bound
        state.held = (state.held - own) | outside.held
        state.perhaps |= outside.perhaps
        return definition(kind, names, [*begin, *made, *end], like)

    def beyond(self, flow: Flow, number: str, like: ast.stmt) -> Statements:
        """The declarations of what a part assigns that is not its own."""
        made: Statements = []
        globals = sorted(flow.assigned & self.scope.globals)
        others = sorted(flow.assigned & (self.scope.nonlocals | self.shared))
        if number:
            others.append(number)
        if globals:
            made.append(at(ast.Global(globals), like))
        if others:
            made.append(at(ast.Nonlocal(others), like))
        return made

    def new_spill(self, spilled: list[str]) -> str:
        if not spilled:
            return ""
        self.spills += 1
        return spill(self.spills)

    def calling(
        self,
        word: str,
        arguments: list[ast.expr],
        names: list[str],
        given: ast.expr,
        flow: Flow,
        state: State,
        like: Any,
        spilled: list[str],
        number: str,
        last: Sequence[ast.expr] = (),
    ) -> Statements:
        """The call of an operation, and its results as variables."""
        where = like.iter if isinstance(like, ast.For) else like.test
        line = constant(like.lineno)
        made = call(word, [*arguments, constant(tuple(names)), given, *last, line], where)
        kept = [each if each in flow.out else _DROPPED for each in names]
        new = assigned(kept, made, where)
        after = unbinding([each for each in names if each in flow.out], state, like)
        return [*(unspilling(new, spilled, number, like) if number else [new]), *after]
