"""Branches and loops over traced values: `case` and `while` in the graph.

    case(trace, p, (no, yes))         ->   case{branches=(@no_2, @yes_3)}(p, ...)
    Loop(trace, ...).run(carry)       ->   while{cond=@test_5, body=@body_4}(carry..., ...)

The functions are called once for each graph that they become, in a region (see `regions`). A body
is called again until what it gives is what it takes: the carry is joined with what comes out (see
`carried`), and an array of those around that it writes to is carried too, by its handle. So

    s = 0.0                         s is a Python float at first
    for i in ...: s = s + x[i]      and a float64 scalar after a turn: the loop carries f64[]

An array that a branch or a body gives may be one that lies around; then neither is written to later
(`_shared`), because it is not known which memory it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CarryError
from ..ir.dims import Size
from ..ir.graph import Value
from ..ops.compare import not_equal
from ..ops.integer import not_
from ..ops.loops import case as case_
from ..ops.loops import while_
from .carried import Form, Kind, as_kind, flatten, given, joined, kind_of, stand_in
from .memory import View
from .regions import Region, region
from .syntax.names import UNBOUND
from .tracer import Tracer

if TYPE_CHECKING:
    from .tracing import Trace

_BOOL = np.dtype(np.bool_)
_MOST_TURNS = 12  # of calling a body until its carry is settled
_PLAIN = frozenset(("constant", "dimension", "convert", "measure", "check"))


class Branch:
    """A function that was called in a region: what it gave, and the arrays that it wrote to."""

    def __init__(self, trace: Trace, name: str, run: Callable[[], Any]) -> None:
        with region(trace, name) as self.region:
            self.leaves, self.form = flatten(run())
            self.kinds = [kind_of(trace, leaf) for leaf in self.leaves]
            self.values = [
                None if kind.type is None else self.region.local(trace.lift(leaf)._value)
                for leaf, kind in zip(self.leaves, self.kinds, strict=True)
            ]
        self.written = self.region.written


def case(
    trace: Trace,
    index: Value,
    branches: Sequence[Callable[[], Any]],
    promotes: bool,
    names: Sequence[str],
) -> Any:
    """What the branch of `index` (bool: no and yes; or i64) gives. Raises CarryError when the
    branches do not agree.
    """
    parts = [Branch(trace, f"branch_{trace.next_region()}", run) for run in branches]
    return meet(trace, index, parts, promotes, names)


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
    kinds = _agreed(trace, parts, promotes, names, variables)
    changed = {number: handle for part in parts for number, (handle, _) in part.written.items()}
    handles = list(changed.values())
    taken: dict[Value, None] = {}
    outputs = []
    _require_bound(trace, index, parts, variables)
    for part in parts:
        values = [
            _given(part.region, value, kind)
            for value, kind in zip(part.values, kinds, strict=True)
            if kind.type is not None
        ]
        for handle in handles:
            _, final = part.written.get(id(handle), (handle, handle._value))
            values.append(part.region.local(final))
        outputs.append(tuple(values))
        taken.update(dict.fromkeys(part.region.taken))
    graphs = tuple(
        [
            part.region.finished(values, tuple(taken))
            for part, values in zip(parts, outputs, strict=True)
        ]
    )
    results = list(trace.builder.emit(case_, (index, *taken), {"branches": graphs}))
    leaves = [
        kind.static if kind.type is None else stand_in(trace, kind, results.pop(0))
        for kind in kinds
    ]
    for place, leaf in enumerate(leaves):
        given_ = [part.leaves[place] for part in parts]
        if any(not _is_new(part.region, each) for part, each in zip(parts, given_, strict=True)):
            _share(leaf, *given_)
    for handle, result in zip(handles, results, strict=True):
        handle._bind(result)
    return parts[0].form.build(leaves)


def _agreed(
    trace: Trace,
    parts: Sequence[Branch],
    promotes: bool,
    names: Sequence[str],
    variables: Sequence[str],
) -> list[Kind]:
    first = parts[0]
    for part, name in zip(parts[1:], names[1:], strict=True):
        if str(part.form) != str(first.form):
            raise CarryError(f"{names[0]} gives {first.form} and {name} {part.form}")
    kinds = []
    for place in range(len(first.leaves)):
        kind = first.kinds[place]
        for part, name in zip(parts[1:], names[1:], strict=True):
            other = joined(trace, kind, part.kinds[place], promotes)
            if other is None:
                raise CarryError(
                    f"{_component(place, variables, len(first.leaves))} is {kind} from {names[0]} "
                    f"and {part.kinds[place]} from {name}; make them one type"
                )
            kind = other
        kinds.append(kind)
    return kinds


def _given(opened: Region, value: Value | None, kind: Kind) -> Value:
    """What a branch gives, as a kind; a variable that has no value there is anything."""
    assert kind.type is not None
    if value is None:
        value = opened.constant(0, kind.type.dtype)
    return as_kind(opened, value, kind)


def _require_bound(
    trace: Trace, index: Value, parts: Sequence[Branch], variables: Sequence[str]
) -> None:
    """Check that a path is taken which gives a value to each variable of the user's that has one on
    some path: Python raises where it is read otherwise, and else it is not known to be read.
    """
    bound = [True for _ in parts]
    for place, name in enumerate(variables):
        have = [part.kinds[place].is_bound() for part in parts]
        if any(have) and "()" not in name:
            bound = [one and other for one, other in zip(bound, have, strict=True)]
    if not all(bound):
        if not any(bound):
            trace.refuse("branch", "variables have no value on one path or the other")
        taken = index if bound[1] else trace.builder.emit(not_, (index,))
        trace.check(trace.wrap(taken), "a variable without a value")


def _component(place: int, variables: Sequence[str], count: int) -> str:
    return variables[place] if len(variables) == count else f"component {place}"


def _is_new(opened: Region, leaf: Any) -> bool:
    """Whether a leaf is no array that lies around or may share memory with one."""
    if not isinstance(leaf, Tracer) or leaf._kind != "array":
        return not isinstance(leaf, np.ndarray)
    return type(leaf) is not View and leaf._fresh >= opened.number and not leaf._shared


def _share(*leaves: Any) -> None:
    for leaf in leaves:
        if isinstance(leaf, Tracer) and leaf._kind == "array":
            leaf._shared = True


def truth(trace: Trace, item: Any) -> Value:
    """The bool that a test is, as a value."""
    operand = trace.lift(item)
    value = operand._value
    if value.type.shape:
        trace.refuse("error", "ValueError: the truth value of an array is ambiguous")
    if value.type.dtype != _BOOL:
        zero = trace.builder.constant(0, value.type.dtype)
        value = trace.builder.emit(not_equal, (value, zero))
    return value


class _Slot:
    """One leaf of what a loop carries. `is_held`: an array that goes in as it is, by its handle,
    until the body gives another one.
    """

    def __init__(self, trace: Trace, item: Any) -> None:
        self.item = item
        self.kind = kind_of(trace, item)
        self.is_held = self.kind.name == "array" and isinstance(item, Tracer)
        self.shares = False

    def is_carried(self) -> bool:
        return self.kind.type is not None and not self.is_held


class Loop:
    """A `while`. `test` and `body` take the carry as it is given, `test` gives a truth and `body`
    the carry; `runs` says that it is known to turn once at least. `what` names it in errors.
    `guesses`: arrays that the body may write to.
    """

    def __init__(
        self,
        trace: Trace,
        test: Callable[[Any], Any],
        body: Callable[[Any], Any],
        *,
        promotes: bool,
        runs: bool = False,
        what: str = "the loop",
        names: Sequence[str] = (),
        guesses: Sequence[Tracer] = (),
    ) -> None:
        self.trace = trace
        self.guesses = guesses
        self.test = test
        self.body = body
        self.promotes = promotes
        self.runs = runs
        self.what = what
        self.names = names
        self.slots: list[_Slot] = []
        self.handles: list[Tracer] = []
        self.form = Form(None)

    def run(self, carry: Any) -> Any:
        """What is carried at the end. Raises CarryError when a component does not settle."""
        return self._emitted(*self.settle(carry))

    def settle(self, carry: Any) -> tuple[Branch, list[Value]]:
        """Call the body until it gives what it takes: the last call of it, and its inputs."""
        trace = self.trace
        leaves, self.form = flatten(carry)
        self.slots = [_Slot(trace, leaf) for leaf in leaves]
        known = {id(slot.item) for slot in self.slots if slot.is_held}
        self.handles = [each for each in self.guesses if id(each) not in known]
        first: list[tuple] | None = None
        for _ in range(_MOST_TURNS):
            body, inputs = self._open("body")
            if first is None:
                first = _signature(body.region.ops)
            if self._settled(body):
                break
        else:
            raise CarryError(f"{self.what} changes the types of what it carries at each turn")
        if not self.promotes and any(_was_weak(trace, slot) for slot in self.slots):
            if first != _signature(body.region.ops):
                trace.refuse("loop", "its first turn is another program than the next ones")
        return body, inputs

    def _open(self, what: str) -> tuple[Branch, list[Value]]:
        """Call the body, or the test, once on stand-ins."""
        trace = self.trace
        inputs: list[Value] = []

        def run() -> Any:
            opened = trace.region
            assert opened is not None
            seen = []
            for slot in self.slots:
                if not slot.is_carried():
                    seen.append(slot.item)
                    continue
                value, leaf = given(trace, opened, slot.kind, self._first(slot))
                if isinstance(leaf, Tracer) and leaf._kind == "array":
                    leaf._shared = True  # in the first turn it is the array that was given
                inputs.append(value)
                seen.append(leaf)
            for handle in self.handles:
                value = opened.given(handle._value.type, handle._value)
                handle._bind(value)
                inputs.append(value)
            found = (self.test if what == "test" else self.body)(self.form.build(seen))
            return trace.wrap(truth(trace, found)) if what == "test" else found

        name = f"{what}_{trace.next_region()}"
        return Branch(trace, name, run), inputs

    def _first(self, slot: _Slot) -> Value:
        """What a slot holds before the first turn; called with the region open."""
        trace = self.trace
        assert slot.kind.type is not None
        if slot.item is UNBOUND:
            item: Any = np.zeros((), slot.kind.type.dtype)[()]
        else:
            item = slot.item
        return trace.lift(item)._value

    def _settled(self, body: Branch) -> bool:
        """Whether the body gives what it takes; otherwise the slots are what they have to be."""
        if str(body.form) != str(self.form):
            raise CarryError(f"{self.what} takes {self.form} and gives {body.form}")
        settled = True
        for place, (slot, leaf, kind) in enumerate(
            zip(self.slots, body.leaves, body.kinds, strict=True)
        ):
            if slot.is_held:
                if leaf is slot.item:
                    continue
                slot.is_held, settled = False, False
            after = self._joined(slot, kind)
            if after is None:
                if len(self.names) == len(self.slots):
                    shown = self.names[place]
                elif len(self.names) == len(self.slots) - 1 and place:  # after the counter
                    shown = self.names[place - 1]
                else:
                    shown = f"component {place} of what {self.what} carries"
                raise CarryError(
                    f"{shown} is {slot.kind} before and {kind} after a turn; make them one type"
                )
            if not after.is_like(slot.kind):
                slot.kind, settled = after, False
            slot.shares = kind.name == "array" and not _is_new(body.region, leaf)
        known = set(map(id, self.handles))
        added = [handle for number, (handle, _) in body.written.items() if number not in known]
        self.handles += added
        return settled and not added

    def _joined(self, slot: _Slot, kind: Kind) -> Kind | None:
        after = joined(self.trace, slot.kind, kind, self.promotes)
        if after is None and self.runs and slot.kind.type is not None and kind.type is not None:
            weak = slot.kind.name in ("bool", "int", "float", "complex")
            if weak and kind_of(self.trace, slot.item).name == slot.kind.name:
                return kind if joined(self.trace, slot.kind, kind, True) == kind else None
        return after

    def _require_bound(self) -> None:
        """Check that there is a turn, when it is what gives a variable its value."""
        names = self.names[-len(self.slots) :] if self.names else ()
        offset = len(self.slots) - len(names)
        for slot, name in zip(self.slots[offset:], names, strict=True):
            if slot.item is UNBOUND and slot.is_carried() and "()" not in name and not self.runs:
                trace = self.trace
                asked = truth(trace, self.test(self.form.build([s.item for s in self.slots])))
                trace.check(trace.wrap(asked), "a variable without a value")
                return

    def _emitted(self, body: Branch, inputs: list[Value]) -> Any:
        trace = self.trace
        test, asked = self._open("test")
        before = asked[len(asked) - len(self.handles) :]
        if [value for _, value in test.written.values()] != before:
            trace.refuse("loop", "its test writes to an array")
        carried = [slot for slot in self.slots if slot.is_carried()]
        outputs = [
            as_kind(body.region, value, slot.kind)
            for slot, value in zip(self.slots, body.values, strict=True)
            if value is not None and slot.is_carried()
        ]
        count, changed, same = len(carried), [], []
        for place, handle in enumerate(self.handles, count):
            final = body.region.local(body.written[id(handle)][1])
            (same if final is inputs[place] else changed).append((place, handle))
            outputs += [] if final is inputs[place] else [final]
        order = [*range(count), *[place for place, _ in (*changed, *same)]]
        taken = list(dict.fromkeys([*body.region.taken, *test.region.taken]))
        truths = tuple([value for value in test.values if value is not None])
        graphs = {
            "cond": test.region.finished(truths, (*[asked[place] for place in order], *taken)),
            "body": body.region.finished(
                tuple(outputs), (*[inputs[place] for place in order], *taken)
            ),
        }
        self._require_bound()
        first = [as_kind(trace.builder, self._first(slot), slot.kind) for slot in carried]
        first += [handle._value for _, handle in (*changed, *same)]
        results = list(trace.builder.emit(while_, (*first, *taken), graphs))
        leaves = [self._leaf(slot, results) for slot in self.slots]
        for (_, handle), result in zip(changed, results, strict=True):
            handle._bind(result)
        return self.form.build(leaves)

    def _leaf(self, slot: _Slot, results: list[Value]) -> Any:
        """What a slot is after the loop, whose results these are."""
        if not slot.is_carried():
            return slot.item
        leaf = stand_in(self.trace, slot.kind, results.pop(0))
        if slot.kind.name == "array" and (slot.shares or not self.runs):
            _share(leaf, slot.item)
        return leaf


def _was_weak(trace: Trace, slot: _Slot) -> bool:
    return slot.item is not UNBOUND and not kind_of(trace, slot.item).is_like(slot.kind)


def _signature(ops: Sequence[Any]) -> list[tuple]:
    """What a body computes, apart from conversions: to compare two of them."""
    found: list[tuple] = []
    pending = list(ops)
    for op in pending:
        if op.primitive.name not in _PLAIN:
            found.append((op.primitive.name, tuple([result.type for result in op.results])))
            for graph in op.graphs():
                pending += graph.ops
    return found


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


__all__ = ["Branch", "Loop", "bounded", "case", "clamped", "meet", "truth"]
