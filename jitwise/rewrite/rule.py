"""Rewrite rules, and their compilation into one function for each primitive, `Primitive.fold`.

    rule("neg-neg", -(-x), x)
    rule("add-zero", x + 0.0, x, exact="value")      # -0.0 + 0.0 is +0.0

becomes, for `negate`, a function of nested `if`s without calls: matching costs nothing on the
tracing path. It is compiled the first time the primitive is emitted. A rule that looks at attrs
or at the bits of a constant is a function, entered with `fold_rule`.

What a rule preserves (`exact`): "bits", equal bit for bit with all NaNs alike: always on; "value",
equal up to the sign of zero, and "real", true of real numbers: on in a builder with `fastmath=True`
only.

Laws for rule writers:
1. Keep the type. The right side has the dtype and the shape of the left.
2. The right side never costs more.
3. No rule together with its inverse.
4. Literals stand on the right; the builder puts them there.
5. Commutativity belongs to the matcher: it tries both orders of a commutative node. Never write a
   rule for it.
6. A rule looks at operands, never at users.
7. It has a name, and says what it preserves. It may need a comment to be motivated, not to be
   believed.
8. It stands in the file of its root primitive.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Value
from ..ir.primitive import REGISTRY, Attrs, Primitive, attach_fold
from .pattern import Hole, Literal, Node, Pattern, as_pattern

EXACT = ("bits", "value", "real")
# What a rule that is a function waits for, tested without a call. "op:slice": for a first operand
# made by a slice. Several may be named.
NEEDS = {
    "nothing": "True",
    "constant": "operands[-1].constant is not None",
    "zero": "operands[-1].constant is not None and operands[-1].constant == 0",
    "same": "operands[0] is operands[-1]",
    "one": "len(operands) == 1",
    "sizes": "operands[0].type.shape == attrs['sizes']",
}
Fold = Callable[[Builder, tuple[Value, ...], Attrs], Any]


class Rule(NamedTuple):
    """`lhs -> rhs` for operands whose dtype kind is in `kinds`."""

    name: str
    lhs: Node
    rhs: Pattern
    kinds: str
    exact: str


class FoldRule(NamedTuple):
    """A rule that looks at attributes, types or constants: a function, and graphs it changes.

    `function(builder, operands, attrs)` gives what replaces the op, or None. It is only called when
    what it `needs` is there (see NEEDS). Each of `examples` is the text of a graph in which the
    rule applies.
    """

    name: str
    function: Fold
    exact: str
    needs: str
    examples: tuple[str, ...]


RULES: dict[str, list[Rule | FoldRule]] = {}


def fold_rule(
    name: str, primitives: str, *examples: str, exact: str = "bits", needs: str = "nothing"
) -> Callable[[Fold], Fold]:
    """Enter the decorated function as a rule of each of `primitives`, named with spaces."""
    for need in needs.split():
        if need not in NEEDS and not need.startswith("op:"):
            raise ValueError(f"a rule waits for {', '.join(NEEDS)} or op:name, not for {need!r}")

    def enter(function: Fold) -> Fold:
        for primitive in primitives.split():
            _enter(primitive, FoldRule(name, function, exact, needs, examples))
        return function

    return enter


def _enter(primitive: str, entered: Rule | FoldRule) -> None:
    if entered.exact not in EXACT:
        raise ValueError(f"a rule preserves one of {EXACT}, not {entered.exact!r}")
    RULES.setdefault(primitive, []).append(entered)
    attach_fold(REGISTRY[primitive], _compile_on_first_use(REGISTRY[primitive]))


def rule(name: str, lhs: Any, rhs: Any, *, kinds: str = "biufc", exact: str = "bits") -> Rule:
    """Enter a rule. It fires from the next emission of its root primitive on."""
    entered = Rule(name, lhs, as_pattern(rhs), kinds, exact)
    _enter(lhs.primitive, entered)
    return entered


def _compile_on_first_use(primitive: Primitive) -> Any:
    def fold(builder: Builder, operands: tuple[Value, ...], attrs: Attrs) -> Any:
        compiled = compile_rules(primitive, RULES[primitive.name])
        attach_fold(primitive, compiled)
        return compiled(builder, operands, attrs)

    return fold


def matches_literal(value: Value, literal: Any) -> bool:
    """Whether `value` is the scalar constant `literal`, the sign of zero included."""
    constant = value.constant
    if constant is None or (constant.dtype.kind == "b") != (type(literal) is bool):
        return False
    if literal == "all ones":
        return bool(constant == np.array(-1).astype(constant.dtype))
    same = bool(constant == literal)
    if same and literal == 0 and constant.dtype.kind == "f":
        return bool(np.signbit(constant)) == bool(np.signbit(float(literal)))
    return same


def fits(result: Value, operands: tuple[Value, ...]) -> bool:
    """Whether a rule's result has the shape of the op: a scalar stands for an array only where the
    shapes agree (law 1).
    """
    shape = result.type.shape
    if any(operand.type.shape for operand in operands):
        return any(operand.type.shape == shape for operand in operands if operand.type.shape)
    return not shape


def orderings(pattern: Node) -> Iterator[Node]:
    """The patterns equal to `pattern` by commutativity of its nodes, the root included."""
    choices = []
    for operand in pattern.operands:
        choices.append(list(orderings(operand)) if isinstance(operand, Node) else [operand])
    commutes = REGISTRY[pattern.primitive].commutative and len(pattern.operands) == 2
    for operands in itertools.product(*choices):
        yield Node(pattern.primitive, operands)
        if commutes and operands[0] != operands[1] and not isinstance(operands[1], Literal):
            yield Node(pattern.primitive, operands[::-1])


def compile_rules(primitive: Primitive, rules: list[Rule | FoldRule]) -> Any:
    """The function `fold(builder, operands, attrs)` that applies the first rule that matches."""
    writer = _MatcherWriter()
    for each in rules:
        if isinstance(each, FoldRule):
            writer.write_call(each)
            continue
        for lhs in orderings(each.lhs):
            writer.write(each, lhs)
    source = "def fold(builder, operands, attrs):\n" + "\n".join(writer.lines) + "\n return None\n"
    namespace: dict[str, Any] = {"matches": matches_literal, "fits": fits, **writer.constants}
    exec(compile(source, f"<rules of {primitive.name}>", "exec"), namespace)
    return namespace["fold"]


class _MatcherWriter:
    """Writes the source of one matcher."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {}

    def name(self, item: Any) -> str:
        for known, value in self.constants.items():
            if value is item:
                return known
        name = f"c{len(self.constants)}"
        self.constants[name] = item
        return name

    def write_call(self, each: FoldRule) -> None:
        conditions = []
        for need in each.needs.split():
            if need.startswith("op:"):
                made_by = self.name(REGISTRY[need[3:]])
                conditions.append("operands[0].op is not None")
                conditions.append(f"operands[0].op.primitive is {made_by}")
            else:
                conditions.append(NEEDS[need])
        if each.exact != "bits":
            conditions.insert(0, "builder.fastmath")
        self.lines.append(f" if {' and '.join(conditions)}:")
        depth = 2
        self.lines += [
            " " * depth + f"result = {self.name(each.function)}(builder, operands, attrs)",
            " " * depth + "if result is not None:",
            " " * (depth + 1) + f"builder.applied({each.name!r})",
            " " * (depth + 1) + "return result",
        ]

    def write(self, each: Rule, lhs: Node) -> None:
        conditions: list[str] = []
        if each.exact != "bits":
            conditions.append("builder.fastmath")
        if each.kinds != "biufc":
            conditions.append(f"operands[0].type.dtype.kind in {each.kinds!r}")
        bound: dict[str, str] = {}
        self.match_operands(lhs, "operands", conditions, bound)
        depth = 1
        for condition in conditions:
            self.lines.append(" " * depth + f"if {condition}:")
            depth += 1
        result = self.build(each.rhs, bound)
        self.lines.append(" " * depth + f"result = {result}")
        self.lines.append(" " * depth + "if fits(result, operands):")
        self.lines.append(" " * (depth + 1) + f"builder.applied({each.name!r})")
        self.lines.append(" " * (depth + 1) + "return result")

    def match_operands(
        self, pattern: Node, where: str, conditions: list[str], bound: dict[str, str]
    ) -> None:
        for position, operand in enumerate(pattern.operands):
            place = f"{where}[{position}]"
            if isinstance(operand, Hole):
                if operand.name in bound:
                    conditions.append(f"{place} is {bound[operand.name]}")
                bound[operand.name] = place
            elif isinstance(operand, Literal):
                conditions.append(f"{place}.constant is not None")
                if operand.value != "all ones":  # most are other numbers
                    conditions.append(f"{place}.constant == {self.name(operand.value)}")
                conditions.append(f"matches({place}, {self.name(operand.value)})")
            else:
                primitive = self.name(REGISTRY[operand.primitive])
                conditions.append(f"{place}.op is not None and {place}.op.primitive is {primitive}")
                self.match_operands(operand, f"{place}.op.operands", conditions, bound)

    def build(self, pattern: Pattern, bound: dict[str, str]) -> str:
        if isinstance(pattern, Hole):
            return bound[pattern.name]
        if isinstance(pattern, Literal):
            return f"builder.constant({self.name(pattern.value)}, operands[0].type.dtype)"
        operands = ", ".join(self.build(operand, bound) for operand in pattern.operands)
        return f"builder.emit({self.name(REGISTRY[pattern.primitive])}, ({operands},))"
