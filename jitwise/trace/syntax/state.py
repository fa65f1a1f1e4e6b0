"""What is known of variables at a point of the text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from .exits import TRY, Statements
from .flow import Flow, Flows


class State:
    """bound: surely bound. held: bound, or holds UNBOUND where Python's variable would be unbound.
    perhaps: a statement that binds it may have run.
    """

    __slots__ = ("bound", "held", "perhaps")

    def __init__(self, bound: Iterable[str], held: Iterable[str], perhaps: Iterable[str]) -> None:
        self.bound = set(bound)
        self.held = set(held)
        self.perhaps = set(perhaps)

    def copy(self) -> State:
        """The same, to be changed."""
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

    def round(self, flow: Flow) -> State:
        """What is known where a loop goes round."""
        bound = self.bound - flow.deleted
        return State(bound, self.held - (flow.deleted - bound), self.perhaps | flow.assigned)

    def join(self, others: Sequence[State]) -> None:
        """Make it what holds of all of them."""
        if others:
            self.bound = set.intersection(*[each.bound for each in others])
            self.held = set.intersection(*[each.held | each.bound for each in others])
            self.perhaps = set.union(*[each.perhaps for each in others])

    def keep(self, names: Iterable[str], before: State) -> None:
        """Some variables are what they were before."""
        for each in names:
            self.bound.discard(each)
            self.held.discard(each)
            if each in before.bound:
                self.bound.add(each)
            if each in before.held:
                self.held.add(each)


def ends(statements: Statements) -> bool:
    """Whether the end of a block may be reached."""
    return not (statements and isinstance(statements[-1], (ast.Raise, ast.Return)))


def assigned_in_parts(statements: Statements, flows: Flows) -> set[str]:
    """The variables that are assigned in blocks of which parts are made."""
    found: set[str] = set()
    node: Any
    for node in statements:
        if isinstance(node, (ast.If, ast.For, ast.While)):
            found |= flows[node.body].assigned
            if isinstance(node, ast.If):
                found |= flows[node.orelse].assigned
        elif isinstance(node, ast.With):
            found |= assigned_in_parts(node.body, flows)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                found |= assigned_in_parts(case.body, flows)
        elif isinstance(node, TRY):
            for block in (node.body, node.orelse, node.finalbody):
                found |= assigned_in_parts(block, flows)
            for handler in node.handlers:
                found |= assigned_in_parts(handler.body, flows)
    return found
