"""Branches over traced values: `case` in the graph. Loops: see `looping`.

    case(trace, p, (no, yes))         ->   case{branches=(@no_2, @yes_3)}(p, ...)

The functions are called once for each graph that they become, in a region (see `regions`). What
they give is joined (see `carried`), and so is what becomes of the arrays that they write to.

An array that a branch gives may be one that lies around, or that it gives twice: see `sharing`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CarryError
from ..ir.dims import Size
from ..ir.graph import Value
from ..ops.compare import not_equal
from ..ops.integer import not_
from ..ops.loops import case as case_
from .carried import (
    Kind,
    as_kind,
    joined,
    kind_of,
    stand_in,
    take,
    values_of,
)
from .either import Either
from .forms import Form, flatten, leaves_like, spread
from .held import Unseen
from .regions import region
from .sharing import family, is_unknown, link, may_be_one, share
from .tracer import Tracer

if TYPE_CHECKING:
    from .tracing import Trace

_BOOL = np.dtype(np.bool_)


class Branch:
    """A function that was called in a region: what it gave, and the arrays that it wrote to."""

    def __init__(self, trace: Trace, name: str, run: Callable[[], Any]) -> None:
        with region(trace, name) as self.region:
            self._take(trace, *flatten(run()))
        self.written = self.region.written

    def _take(self, trace: Trace, leaves: list[Any], form: Form) -> None:
        self.leaves, self.form = leaves, form
        self.kinds = [kind_of(trace, leaf) for leaf in leaves]
        self.values: list[tuple[Value, ...]] = []
        for leaf, kind in zip(leaves, self.kinds, strict=True):
            found = values_of(trace, leaf, kind)
            self.values.append(tuple([self.region.local(value) for value in found]))

    def spread_to(self, trace: Trace, form: Form) -> None:
        """Where there is nothing, be nothing in each place of a nest."""
        if str(self.form) != str(form):
            made, leaves = spread(self.form, self.leaves, form)
            if str(made) != str(self.form):
                self._take(trace, leaves, made)

    def order_as(self, form: Form) -> bool:
        """Have the leaves in the order of a form that is like its own; whether it is."""
        if self.form == form:
            return True
        places = leaves_like(self.form.build(range(len(self.leaves))), form)
        if places is None:
            return False
        self.form = form
        self.leaves = [self.leaves[place] for place in places]
        self.kinds = [self.kinds[place] for place in places]
        self.values = [self.values[place] for place in places]
        return True

    def given(self, kinds: Sequence[Kind]) -> list[Value]:
        """The values of the leaves, as these kinds."""
        found: list[Value] = []
        for values, own, kind in zip(self.values, self.kinds, kinds, strict=True):
            if kind.type is not None:
                found += as_kind(self.region, values, own, kind)
        return found


def case(
    trace: Trace,
    index: Value,
    branches: Sequence[Callable[..., Any]],
    operands: Sequence[Any],
    names: Sequence[str],
) -> Any:
    """What `branch(*operands)` gives, of the branch of `index` (bool: no and yes; or i64). Raises
    CarryError when the branches do not agree.
    """
    parts, reason = [], ""
    unseen = Unseen(trace, branches, operands)
    for branch in branches:
        run = functools.partial(branch, *operands)
        try:
            parts.append(Branch(trace, f"branch_{trace.next_region()}", run))
        finally:
            reason = unseen.undo() or reason
    if index.constant is not None:
        run = functools.partial(branches[int(index.constant)], *operands)
        return _decided(trace, run, parts, names)
    if reason:
        trace.refuse("branch", reason)
    return meet(trace, index, parts, True, names)


def _decided(
    trace: Trace, branch: Callable[[], Any], parts: Sequence[Branch], names: Sequence[str]
) -> Any:
    """What a branch gives that is known to be taken."""
    form = parts[0].form
    kinds = _agreed(trace, parts, True, names, names_of_leaves(form, ()))
    leaves = leaves_like(branch(), form)
    assert leaves is not None
    return form.build(
        [widened(trace, leaf, kind) for leaf, kind in zip(leaves, kinds, strict=True)]
    )


def widened(trace: Trace, leaf: Any, kind: Kind) -> Any:
    """A leaf as a kind that its own was joined to: itself, where it has it."""
    own = kind_of(trace, leaf)
    if own.is_like(kind):
        return leaf
    found = values_of(trace, leaf, own)
    return stand_in(trace, kind, as_kind(trace.builder, found, own, kind))


def meet(
    trace: Trace,
    index: Value,
    parts: Sequence[Branch],
    promotes: bool,
    names: Sequence[str],
    variables: Sequence[str] = (),
) -> Any:
    """What the branch of `index` gives, of branches that were traced. `variables`: the names of the
    components, for errors.
    """
    for part in parts:
        for other in parts:
            part.spread_to(trace, other.form)
    shown = names_of_leaves(parts[0].form, variables)
    kinds = _agreed(trace, parts, promotes, names, shown)
    _require_bound(trace, index, parts, shown)
    changed = {number: handle for part in parts for number, (handle, _) in part.written.items()}
    handles = list(changed.values())
    outputs = []
    for part in parts:
        values = part.given(kinds)
        for handle in handles:
            _, final = part.written.get(id(handle), (handle, handle._value))
            values.append(part.region.local(final))
        outputs.append(tuple(values))
    taken = tuple(dict.fromkeys([value for part in parts for value in part.region.taken]))
    pairs = zip(parts, outputs, strict=True)
    graphs = tuple([part.region.finished(values, taken) for part, values in pairs])
    results = list(trace.builder.emit(case_, (index, *taken), {"branches": graphs}))
    leaves = []
    for place, kind in enumerate(kinds):
        values = take(results, kind)
        leaf = stand_in(trace, kind, values) if values else kind.static
        if kind.name == "array" and isinstance(parts[0].leaves[place], Tracer):
            if all(part.leaves[place] is parts[0].leaves[place] for part in parts):
                leaf = parts[0].leaves[place]
        leaves.append(leaf)
    _note_families(trace, parts, kinds, leaves)
    for handle, result in zip(handles, results, strict=True):
        handle._bind(result)
    return parts[0].form.build(leaves)


def _note_families(
    trace: Trace, parts: Sequence[Branch], kinds: Sequence[Kind], leaves: Sequence[Any]
) -> None:
    """Note which arrays around the results may be, and which of them may be one."""
    places = [
        place
        for place, kind in enumerate(kinds)
        if kind.name == "array" and all(part.leaves[place] is not leaves[place] for part in parts)
    ]
    around: dict[int, dict[int, Tracer]] = {place: {} for place in places}
    pairs = []
    for part in parts:
        kin = {place: family(trace, part.leaves[place]) for place in places}
        for place in places:
            for number, each in kin[place].items():
                if each._fresh < part.region.number:
                    around[place][number] = each
        pairs += [
            (leaves[place], leaves[other])
            for index, place in enumerate(places)
            for other in places[:index]
            if may_be_one(kin[place], part.leaves[other])
        ]
    for place in places:
        given = [part.leaves[place] for part in parts]
        link(leaves[place], around[place].values())
        if any(map(is_unknown, given)):
            share((leaves[place], *around[place].values()))
    for leaf, other in pairs:
        link(leaf, [other])


def unlike_forms(one: str, form: Form, other: str, another: Form) -> str:
    """That functions give nests of different forms."""
    return f"{one} gives {form} and {other} gives {another}; make them one structure"


def names_of_leaves(form: Form, variables: Sequence[str]) -> list[str]:
    """The name of the variable that each leaf of a tuple of variables is of, or is in."""
    if form.kind is not tuple or len(form.items) != len(variables):
        return list(form.places("result"))
    pairs = zip(form.items, variables, strict=True)
    return [name for item, name in pairs for _ in range(item.count())]


def _agreed(
    trace: Trace,
    parts: Sequence[Branch],
    promotes: bool,
    names: Sequence[str],
    shown: Sequence[str],
) -> list[Kind]:
    first = parts[0]
    for part, name in zip(parts[1:], names[1:], strict=True):
        if not part.order_as(first.form):
            raise CarryError(unlike_forms(names[0], first.form, name, part.form))
    kinds = []
    for place, variable in enumerate(shown):
        kind = first.kinds[place]
        for part, name in zip(parts[1:], names[1:], strict=True):
            other = joined(trace, kind, part.kinds[place], promotes)
            if other is None:
                known = kind.known(trace), part.kinds[place].known(trace)
                raise CarryError(
                    f"{variable} is {known[0]} from {names[0]} and {known[1]} from {name}; "
                    "make them one type"
                )
            kind = other
        kinds.append(kind)
    return kinds


def _require_bound(
    trace: Trace, index: Value, parts: Sequence[Branch], shown: Sequence[str]
) -> None:
    """Check that a path is taken which gives a value to each variable of the user's that has one on
    some path: Python raises where it is read otherwise, and else it is not known to be read.
    """
    bound = [True for _ in parts]
    for place, name in enumerate(shown):
        have = [part.kinds[place].is_bound() for part in parts]
        if any(have) and "()" not in name:
            bound = [one and other for one, other in zip(bound, have, strict=True)]
    if not all(bound):
        if not any(bound):
            trace.refuse("branch", "variables have no value on one path or the other")
        taken = index if bound[1] else trace.builder.emit(not_, (index,))
        trace.check(trace.wrap(taken), "a variable without a value")


def truth(trace: Trace, item: Any) -> Value:
    """The bool that a test is, as a value."""
    value = item._stored if type(item) is Either else trace.lift(item)._value
    if value.type.shape:
        trace.refuse("error", "ValueError: the truth value of an array is ambiguous")
    if value.type.dtype != _BOOL:
        zero = trace.builder.constant(0, value.type.dtype)
        value = trace.builder.emit(not_equal, (value, zero))
    return value


def clamped(trace: Trace, index: Any, count: int) -> Value:
    """An integer moved into `range(count)`, as i64."""
    operand = trace.lift(index)
    if operand._value.type.shape or operand.dtype.kind not in "iu":
        raise TypeError(f"lax.switch: the index is to be one integer, not {operand._value.type}")
    wide = trace.convert(trace.wrap(operand._value, "scalar"), np.dtype(np.int64))
    found: Any = np.clip(wide, 0, count - 1)  # type: ignore[call-overload]
    return found._value


def bounded(trace: Trace, counter: Any, low: Size, high: Size) -> None:
    """Note the bounds of an int that a loop counts with."""
    trace.counters[str(counter._size)] = (low, high)


__all__ = [
    "Branch",
    "bounded",
    "case",
    "clamped",
    "meet",
    "names_of_leaves",
    "truth",
    "unlike_forms",
    "widened",
]
