"""Why a call needs another trace, in the user's words: which value differs from those it was traced
for, and the line that asked for it.

    def f(x, n):
        for i in range(n): ...        n (2, 3, then 4), model.py:14

A trace assumes things of sizes and numbers (the guards of its graph), of what it read from outside
(guards of captures), and of numbers that are looked at while the program runs (`check`). The first
that does not hold of the new call is the reason; the last is a guard on a size that is measured
while the program runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from ..ir.dims import symbols_of
from ..ir.graph import Graph, Op, Value
from ..ir.measured import known_guards
from ..record import Source
from ..trace.captures import is_rooted, matches
from ..trace.containers import children, leaves_of
from ..trace.function import Traced
from .call import Call

_LONGEST = 40  # of a value that is shown
_MOST_VALUES = 8


class Difference(NamedTuple):
    """`what` differs, for instance "n (2, 3, then 4)"; `source` is the line that asked for it;
    `is_outside` when it is no argument.
    """

    what: str
    source: Source | None
    is_outside: bool = False


def difference(
    traces: Sequence[Traced], call: Call, signature: inspect.Signature | None
) -> Difference | None:
    """What of `call` none of `traces` was made for, told by the last of them; None when unknown."""
    latest = traces[-1]
    leaves = leaves_of(call.bound_args, call.bound_kwargs)
    names = leaf_names(call, signature)
    return (
        _size(traces, latest, leaves, names)
        or _captured(traces, latest, leaves)
        or _number(latest, leaves, names)
        or _measured(latest)
    )


def _size(
    traces: Sequence[Traced], latest: Traced, leaves: list[Any], names: list[str]
) -> Difference | None:
    """A guard on sizes or integers that does not hold."""
    graph = latest.graph
    values = {name: _value(latest, origin, leaves) for name, origin in graph.symbols.items()}
    now = {name: value for name, value in values.items() if value is not None}
    for guard in known_guards(graph.guards, now):
        symbols = [name for name in symbols_of(guard.dim) if name in values]
        if not guard.holds(now):
            told = []
            for name in sorted(symbols):
                before = [trace.sizes[name] for trace in traces if name in trace.sizes]
                place = _place(latest, graph.symbols[name], names)
                told.append(f"{place} {_listed(before, now[name])}")
            return Difference(" and ".join(told), guard.source)
    return None


def _value(traced: Traced, origin: Any, leaves: list[Any]) -> int | None:
    """The value of a symbol in a call."""
    try:
        item = traced.given(origin[1], leaves)
        return item.shape[origin[2]] if origin[0] == "size" else int(item)
    except Exception:  # what it was read from is no longer there
        return None


def _place(traced: Traced, origin: Any, names: list[str]) -> str:
    how, place = traced.origins[origin[1]]
    name = names[place] if how == "leaf" else str(traced.captures[place].key)
    return f"{name}.shape[{origin[2]}]" if origin[0] == "size" else name


def _captured(traces: Sequence[Traced], latest: Traced, leaves: list[Any]) -> Difference | None:
    """A guard on something from outside that does not hold."""
    for guard in latest.guards:
        holds, now = matches(guard, leaves)
        if not holds:
            before = [
                each.expected
                for trace in traces
                for each in trace.guards
                if each.path == guard.path and each.test == guard.test
            ]
            told = f"{guard.name} {_listed(before, now)}".rstrip()
            return Difference(told, guard.source, not is_rooted(guard.path))
    return None


def _number(latest: Traced, leaves: list[Any], names: list[str]) -> Difference | None:
    """A number whose value Python asked for, looked at while the program runs."""
    inputs = {value: index for index, value in enumerate(latest.graph.inputs)}
    for op in latest.graph.ops:
        if op.primitive.name == "check":
            found = [inputs[value] for value in _reached(latest.graph, op) if value in inputs]
            for how, place in [latest.origins[index] for index in found]:
                if how == "leaf":
                    return Difference(f"{names[place]} (now {_shown(leaves[place])})", op.source)
            return Difference("a value that Python asked for", op.source)
    return None


def _measured(latest: Traced) -> Difference | None:
    """A guard on a size that follows from values: which one cannot be told without running."""
    for guard in latest.graph.guards:
        if not symbols_of(guard.dim) <= latest.graph.symbols.keys():
            return Difference("a size that depends on values", guard.source)
    return None


def _reached(graph: Graph, op: Op) -> list[Value]:
    """Every value that an op depends on."""
    pending, seen = list(op.operands), dict.fromkeys(op.operands)
    while pending:
        value = pending.pop()
        for operand in value.op.operands if value.op else ():
            if operand not in seen:
                seen[operand] = None
                pending.append(operand)
    return list(seen)


def _listed(before: Iterable[Any], now: Any) -> str:
    """`(1, 2, then 3)`, or nothing when the values say nothing."""
    shown = list(dict.fromkeys(_shown(value) for value in before))
    last = _shown(now)
    if not last or not all(shown):
        return ""
    if len(shown) > _MOST_VALUES:
        shown = [*shown[: _MOST_VALUES // 2], "...", *shown[-_MOST_VALUES // 2 :]]
    return f"({', '.join([*shown, f'then {last}'])})"


def _shown(value: Any) -> str:
    """A plain value as text, and nothing for any other."""
    if type(value) in (tuple, list):
        inner = [_shown(each) for each in value]
        text = f"({', '.join(inner)})" if all(inner) else ""
    elif type(value) in (int, float, bool, complex, str, bytes, type(None)):
        text = repr(value)
    else:
        text = ""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def leaf_names(call: Call, signature: inspect.Signature | None) -> list[str]:
    """What the user calls each leaf of a call: `x`, `params['w']`, `state[0].mass`."""
    names: list[str] = []
    for name, item in argument_names(call, signature):
        pending = [(name, item)]
        while pending:
            where, each = pending.pop()
            inner = children(each)
            if inner is None:
                names.append(where)
            else:
                steps = [f"{where}{step}" for step in _steps(each)]
                pending += reversed(list(zip(steps, inner, strict=True)))
    return names


def argument_names(call: Call, signature: inspect.Signature | None) -> list[tuple[str, Any]]:
    """Each argument with the name of its parameter."""
    parameters = list(signature.parameters.values()) if signature else []
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "arguments")
    named = [
        (plain[k] if k < len(plain) else f"{rest}[{k - len(plain)}]", item)
        for k, item in enumerate(call.bound_args)
    ]
    return named + list(call.bound_kwargs.items())


def _steps(item: Any) -> list[str]:
    if type(item) is dict:
        return [f"[{key!r}]" for key in item]
    if type(item) in (tuple, list):
        return [f"[{index}]" for index in range(len(item))]
    if hasattr(type(item), "_fields"):
        return [f".{name}" for name in item._fields]
    return [f".{field.name}" for field in fields(item)]


def differing_argument(before: Any, call: Call, signature: inspect.Signature | None) -> str:
    """The first argument whose kind or static value differs from that of another call's key."""
    named = argument_names(call, signature)
    old = [*before[0][2], *before[1][2]] if before[0][2] or before[1][2] else []
    new = [*call.key[0][2], *call.key[1][2]]
    if len(old) != len(new):
        return "the number of arguments"
    for (name, item), theirs, ours in zip(named, old, new, strict=True):
        if theirs != ours:
            return f"{name}, a {type(item).__name__}"
    return "the arguments"
