"""The second step: `if`, `while` and `for` become calls of operations with their blocks as functions.

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

In a block whose exceptions are handled in the function, what a part has assigned must be seen by the
handler: a part leaves it in a variable of the function, its spill, and the statement takes it from
there before the exception goes on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from .exits import _TRY, Exits, Statements, assign, is_plain_context, name
from .expressions import Expressions, call
from .flow import Flow, Flows, flow_of_nodes
from .names import ITEM, RESULT, RETURNED, Unsupported, spill
from .scopes import Scope, parameters, scope_of

_STORE = ast.Store()
_TESTED = "tested()"
_DROPPED = "dropped()"


class State:
    """See the module docstring."""

    __slots__ = ("bound", "held", "perhaps")

    def __init__(self, bound: Iterable[str], held: Iterable[str], perhaps: Iterable[str]) -> None:
        self.bound = set(bound)
        self.held = set(held)
        self.perhaps = set(perhaps)

    def copy(self) -> State:
        return State(self.bound, self.held, self.perhaps)

    def run(self, flow: Flow) -> None:
        """What is known after a statement without blocks."""
        self.bound = (self.bound - flow.deleted) | flow.binds
        self.held = (self.held - flow.deleted) | flow.binds
        self.perhaps |= flow.assigned

    def interrupted(self, flow: Flow) -> State:
        """What is known where a block may have been left by an exception."""
        bound = self.bound - flow.deleted
        return State(bound, bound, self.perhaps | flow.assigned)

    def join(self, others: Sequence[State]) -> None:
        """This is now what holds of all of them."""
        if others:
            self.bound = set.intersection(*[each.bound for each in others])
            self.held = set.intersection(*[each.held | each.bound for each in others])
            self.perhaps = set.union(*[each.perhaps for each in others])


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

    def inner(self, node: Any, unsafe: frozenset[str]) -> Any:
        """An inner function, lambda or class."""
        # The copy of a test that assigns variables has functions which are not known yet.
        scope = self.scopes.get(id(node)) or scope_of(node, self.scopes)
        arguments = getattr(node, "args", None)
        if arguments is not None:
            arguments.defaults = [self.expressions(each, unsafe) for each in arguments.defaults]
            arguments.kw_defaults = [
                each and self.expressions(each, unsafe) for each in arguments.kw_defaults
            ]
        decorators = getattr(node, "decorator_list", [])
        decorators[:] = [self.expressions(each, unsafe) for each in decorators]
        if isinstance(node, ast.ClassDef):
            self.methods(node.body, unsafe)
        elif not scope.is_generator:
            function = Function(node, self.scopes, self.notes)
            node = function.rewritten()
            self.changes += function.changes
        return node

    def methods(self, statements: Statements, unsafe: frozenset[str]) -> None:
        """The functions in a class; its own statements stay as they are, as its variables cannot be
        captured.
        """
        for index, each in enumerate(statements):
            if isinstance(each, (ast.FunctionDef, ast.ClassDef)):
                decorators, each.decorator_list = each.decorator_list, []
                arguments = getattr(each, "args", None)
                defaults = arguments and (arguments.defaults, arguments.kw_defaults)
                if arguments is not None:
                    arguments.defaults, arguments.kw_defaults = [], []
                statements[index] = made = self.inner(each, unsafe)
                made.decorator_list = decorators
                if arguments is not None:
                    made.args.defaults, made.args.kw_defaults = defaults

    def rewritten(self) -> Any:
        """The function's new tree."""
        node = self.node
        given = parameters(node.args)
        if isinstance(node, ast.Lambda):
            unsafe = frozenset(self.scope.variables.difference(given))
            made = ast.Lambda(node.args, self.expressions(node.body, unsafe))
            self.changes += self.expressions.changes
            return ast.copy_location(made, node)
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
        return ast.copy_location(new, node)

    def prepare(self, exits: Exits, body: Statements, given: list[str]) -> None:
        """Find what is needed where, and which variables are shared with inner functions."""
        own = self.scope.variables
        flags = {RESULT, RETURNED, *exits.asked, *exits.variables}
        self.flows = Flows(exits, frozenset(own | flags))
        self.flows.block(body)
        self.flows.needed(body, frozenset(), frozenset())
        self.shared = own & self.scope.captured & _assigned_in_parts(body, self.flows)
        self.mine = (own - self.shared) | flags

    def declarations(self, given: list[str]) -> Statements:
        """What makes names variables of the function, whether or not it still assigns them."""
        made: Statements = []
        if self.scope.globals:
            made.append(ast.Global(sorted(self.scope.globals)))
        if self.scope.nonlocals:
            made.append(ast.Nonlocal(sorted(self.scope.nonlocals)))
        for each in sorted(self.scope.variables.difference(given)):
            made.append(ast.AnnAssign(name(each, _STORE), ast.Constant(None), None, 1))
        return [ast.copy_location(each, self.node) for each in made]

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
        if isinstance(node, _TRY):
            return self.attempt(node, state)
        if isinstance(node, ast.With):
            for item in node.items:
                self.expressions.inside(item, self.unsafe(state))
            state.run(self.flows[node.items])
            after = state.interrupted(self.flows[node.body])
            node.body = self.block(node.body, state) or [ast.Pass()]
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
            node = ast.copy_location(ast.Assign([node.target], node.value), node)
        else:
            flow = self.flows[node]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            node = self.inner(node, self.unsafe(state))
        else:
            self.expressions.inside(node, self.unsafe(state))
        state.run(flow)
        return [node]

    def attempt(self, node: ast.Try, state: State) -> Statements:
        flow = self.flows[node]
        caught = state.interrupted(self.flows[node.body])
        final = state.interrupted(flow)
        node.body = self.block(node.body, state)
        node.orelse = self.block(node.orelse, state)
        ends = [state.copy()] if _ends(node.orelse or node.body) else []
        for handler in node.handlers:
            own = caught.copy()
            if handler.type is not None:
                handler.type = self.expressions(handler.type, self.unsafe(own))
            if handler.name:
                own.bound.add(handler.name)
                own.perhaps.add(handler.name)
            handler.body = self.block(handler.body, own) or [ast.Pass()]
            own.bound.discard(handler.name or "")
            own.held.discard(handler.name or "")
            if _ends(handler.body):
                ends.append(own)
        node.body = node.body or [ast.Pass()]
        state.join(ends)
        if node.finalbody:
            state.run(self.flows[node.finalbody])
            node.finalbody = self.block(node.finalbody, final) or [ast.Pass()]
            state.held &= state.bound  # by the states in which it began
        return [node]

    def match(self, node: ast.Match, state: State) -> Statements:
        flow = self.flows[node.subject]
        node.subject = self.expressions(node.subject, self.unsafe(state))
        state.run(flow)
        ends = []
        for case in node.cases:
            state.run(self.flows[case])
            own = state.copy()
            own.bound |= flow_of_nodes(case.pattern).assigned
            own.held &= own.bound
            case.body = self.block(case.body, own) or [ast.Pass()]
            if _ends(case.body):
                ends.append(own)
        state.join([state.copy(), *ends])
        return [node]

    # Parts

    def branch(self, node: ast.If, state: State) -> Statements:
        flow, then, other = self.flows[node], self.flows[node.body], self.flows[node.orelse]
        self.changes += 1
        assigned = (then.assigned | other.assigned) & self.mine
        needs = (then.needs | other.needs) & self.mine
        before, test = self.test(node.test, state, node)
        names = sorted(
            (assigned & (flow.out | needs)) | (needs - state.bound) if assigned or needs else ()
        )
        spilled = sorted(flow.handled & assigned)
        # Of what no path reads, not even by leaving it as it is, no value is passed.
        wanted = needs | (flow.out - (then.binds & other.binds)) | flow.handled
        more, given = self.values(names, state, node, wanted)
        made = [*before, *more]
        number = self.new_spill(spilled)
        outside = state.copy()
        state.bound.difference_update(set(names) - wanted)
        ends = []
        for kind, body in (("then()", node.body), ("else()", node.orelse)):
            own = state.copy()
            made.append(self.part(kind, names, body, own, flow.out, node, spilled, number))
            if _ends(body):
                ends.append(own)
        state.join(ends) if ends else state.bound.update(self.mine)
        for each in set(names) - flow.out:  # its variable is what it was
            for now, then_ in ((state.bound, outside.bound), (state.held, outside.held)):
                now.add(each) if each in then_ else now.discard(each)
        arguments = [test, name("then()"), name("else()")]
        return made + self.calling("if()", arguments, names, given, flow, state, node, spilled, number)

    def test(
        self, test: ast.expr, state: State, like: ast.stmt
    ) -> tuple[Statements, ast.expr]:
        """The test of an `if`, or what a `for` goes through; one that assigns variables is evaluated before these are passed."""
        flow = self.flows[test]
        test = self.expressions(test, self.unsafe(state))
        state.run(flow)
        if flow.assigned:
            return [assign(_TESTED, test, like)], ast.copy_location(name(_TESTED), test)
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
        round_ = state.copy()
        round_.bound -= body.deleted
        round_.held -= body.deleted - round_.bound
        round_.perhaps |= body.assigned
        assigned = body.assigned & self.mine
        names = sorted((assigned & flow.head) | (((needs | stops) & self.mine) - round_.bound))
        spilled = sorted(flow.handled & assigned)
        more, given = self.values(names, state, node)
        made = [*before, *more]
        number = self.new_spill(spilled)
        test = self.asked(node, stops)
        if test is not None:
            own = round_.copy()
            made.append(self.test_part(names, test, own, node))
            test = name("test()")
        own = round_.copy()
        once = self.once(node, stops)
        made.append(
            self.part("body()", names, node.body, own, flow.head, node, spilled, number)
        )
        state.bound = round_.bound | (once & set(names))
        state.held = (state.held & round_.held) | (set(names) & flow.out)
        state.perhaps |= body.assigned
        if first is not None:
            arguments = [first, name("body()")]
            last = [test if test is not None else ast.Constant(None)]
        else:
            arguments, last = [test or ast.Constant(None), name("body()")], []
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

    def asked(self, node: ast.For | ast.While, stops: frozenset[str]) -> ast.expr | None:
        """What is asked before each round of a loop."""
        tests: list[ast.expr] = []
        if stops:
            words: list[ast.expr] = [name(each) for each in sorted(stops)]
            asked = words[0] if len(words) == 1 else ast.BoolOp(ast.Or(), words)
            tests.append(ast.UnaryOp(ast.Not(), asked))
        if isinstance(node, ast.While) and not (node.always and stops):  # type: ignore[attr-defined]
            tests.append(node.test)
        if not tests:
            return None
        if len(tests) == 1:
            test = tests[0]
        else:
            test = ast.BoolOp(ast.And(), tests)
        for each in ast.walk(test):
            if isinstance(each, ast.expr) and not hasattr(each, "lineno"):
                ast.copy_location(each, node)
        return test

    def test_part(
        self, names: list[str], test: ast.expr, state: State, node: ast.For | ast.While
    ) -> ast.stmt:
        needs = frozenset() if isinstance(node, ast.For) else self.flows[node.test].needs
        self.check_shared(needs, state)
        body = self.unbinding([each for each in names if each in needs], state, node)
        value = self.expressions(test, self.unsafe(state))
        body.append(ast.copy_location(ast.Return(value), test))
        return self.definition("test()", names, body, node)

    def check_shared(self, needs: frozenset[str], state: State) -> None:
        loose = (needs & self.shared) - state.bound
        if loose:
            raise Unsupported(
                f"the variable {min(loose)}, which an inner function captures, may be unbound"
            )

    def unbinding(self, names: Iterable[str], state: State, like: ast.stmt) -> Statements:
        """Make variables unbound that hold UNBOUND."""
        made: Statements = []
        for each in names:
            if each not in state.bound and not _is_ours(each):
                test = ast.Compare(name(each), [ast.Is()], [name("unbound()")])
                made.append(ast.If(test, [ast.Delete([name(each, ast.Del())])], []))
                state.held.discard(each)
        return [ast.copy_location(each, like) for each in made]

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
        self.check_shared(flow.needs, state)
        own = (flow.assigned & self.mine).difference(names)
        outside = State(state.bound & own, state.held & own, state.perhaps & own)
        state.bound -= own
        state.held = (state.held - own) | set(names)
        state.perhaps -= own
        begin = self.beyond(flow, number)
        begin += self.unbinding([each for each in names if each in flow.needs], state, like)
        made = self.block(statements, state)
        if _ends(statements):
            end, value = self.values(names, state, like, out)
            end.append(ast.copy_location(ast.Return(value), like))
        else:
            end = []
        if number:
            loose = state.copy()
            loose.bound -= flow.assigned  # perhaps it was left early
            loose.held -= flow.assigned
            final, left = self.values(spilled, loose, like)
            final.append(assign(number, left, like))
            made = [ast.copy_location(ast.Try(made or [ast.Pass()], [], [], final), like)]
        state.bound = (state.bound - own) | outside.bound
        state.held = (state.held - own) | outside.held
        state.perhaps |= outside.perhaps
        return self.definition(kind, names, [*begin, *made, *end], like)

    def beyond(self, flow: Flow, number: str) -> Statements:
        """The declarations of what a part assigns that is not its own."""
        made: Statements = []
        globals = sorted(flow.assigned & self.scope.globals)
        others = sorted(flow.assigned & (self.scope.nonlocals | self.shared))
        if number:
            others.append(number)
        if globals:
            made.append(ast.Global(globals))
        if others:
            made.append(ast.Nonlocal(others))
        return made

    def definition(
        self, kind: str, names: list[str], body: Statements, like: ast.stmt
    ) -> ast.stmt:
        first = [ast.arg(ITEM)] if kind == "body()" and isinstance(like, ast.For) else []
        arguments = [*first, *[ast.arg(each) for each in names]]
        made = ast.FunctionDef(
            kind, ast.arguments([], arguments, None, [], [], None, []), body, [], None
        )
        if "type_params" in ast.FunctionDef._fields:
            made.type_params = []  # type: ignore[attr-defined]
        return ast.copy_location(made, like)

    def values(
        self,
        names: Sequence[str],
        state: State,
        like: ast.stmt,
        wanted: frozenset[str] | None = None,
    ) -> tuple[Statements, ast.expr]:
        """The variables as a tuple, with UNBOUND for those that are unbound or not `wanted`; and
        what is to be done before.
        """
        made: Statements = []
        values: list[ast.expr] = []
        for each in names:
            if wanted is not None and each not in wanted:
                values.append(name("unbound()"))
            elif each in state.bound or each in state.held:
                values.append(name(each))
            elif each not in state.perhaps:
                values.append(name("unbound()"))
            else:
                word = f"value() {each}"
                instead = assign(word, name("unbound()"), like)
                handler = ast.ExceptHandler(name("NameError()"), None, [instead])
                made.append(ast.Try([assign(word, name(each), like)], [handler], [], []))
                values.append(name(word))
        made = [ast.copy_location(each, like) for each in made]
        return made, ast.Tuple(values, ast.Load())

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
        words = ast.Tuple([ast.Constant(each) for each in names], ast.Load())
        where = like.iter if isinstance(like, ast.For) else like.test
        made = call(word, [*arguments, words, given, *last, ast.Constant(like.lineno)], where)
        kept = [each if each in flow.out else _DROPPED for each in names]
        target = ast.Tuple([name(each, _STORE) for each in kept], _STORE)
        new: ast.stmt = ast.Assign([target], made) if names else ast.Expr(made)
        ast.copy_location(new, where)
        after = self.unbinding([each for each in names if each in flow.out], state, like)
        if not number:
            return [new, *after]
        loose = State((), (), ())
        target = ast.Tuple([name(each, _STORE) for each in spilled], _STORE)
        back: Statements = [ast.Assign([target], name(number))]
        back += self.unbinding(spilled, loose, like)
        test = ast.Compare(name(number), [ast.IsNot()], [ast.Constant(None)])
        handler = ast.ExceptHandler(None, None, [ast.If(test, back, []), ast.Raise()])
        guarded = ast.copy_location(ast.Try([new], [handler], [], []), like)
        return [assign(number, ast.Constant(None), like), guarded, *after]


def _is_ours(word: str) -> bool:
    return "(" in word


def _ends(statements: Statements) -> bool:
    """Whether the end of a block may be reached."""
    return not (statements and isinstance(statements[-1], (ast.Raise, ast.Return)))


def _assigned_in_parts(statements: Statements, flows: Flows) -> set[str]:
    """The variables that are assigned in blocks of which parts are made."""
    found: set[str] = set()
    for node in statements:
        if isinstance(node, (ast.If, ast.For, ast.While)):
            found |= flows[node.body].assigned
            if isinstance(node, ast.If):
                found |= flows[node.orelse].assigned
        elif isinstance(node, ast.With):
            found |= _assigned_in_parts(node.body, flows)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                found |= _assigned_in_parts(case.body, flows)
        elif isinstance(node, _TRY):
            for block in (node.body, node.orelse, node.finalbody):
                found |= _assigned_in_parts(block, flows)
            for handler in node.handlers:
                found |= _assigned_in_parts(handler.body, flows)
    return found
