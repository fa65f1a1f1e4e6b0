"""Loops over traced values: `while` in the graph.

    Loop(trace, test, body, ...).run(carry)   ->   while{cond=@test_5, body=@body_4}(carry..., ...)

A body is called again until what it gives is what it takes: the carry is joined with what comes out
(see `carried`), and an array of those around that it writes to is carried too, by its handle. So

    s = 0.0                         s is a Python float at first
    for i in ...: s = s + x[i]      and a float64 scalar after a turn: the loop carries one or the
                                    other, and which

What stands for a carried array may be what the loop begins with, in any turn (see `sharing`); and
when two are exchanged, what the other begins with. An array that a body gives may also be one that
lies around, or one that it gives twice: then none of them is written to, in the loop and after it.
When a write makes an array around be forgotten, the body is called again: what asks for it above
the write does so after it, in the next turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CarryError
from ..ir.graph import Graph, Value
from ..ir.types import ArrayType
from ..ops.loops import while_
from .carried import (
    Kind,
    as_kind,
    given,
    joined,
    kind_of,
    stand_in,
    take,
    types_of,
    values_of,
)
from .control import Branch, names_of_leaves, truth, widened
from .forms import Form, flatten, spread
from .sharing import base_of, family, is_unknown, link, may_be_one, share
from .syntax.names import UNBOUND
from .tracer import Tracer
from .unbound import Turn

if TYPE_CHECKING:
    from .regions import Region
    from .tracing import Trace

_MOST_TURNS = 12  # of calling a body until its carry is settled
_PLAIN = frozenset(("constant", "dimension", "convert", "measure", "check"))


class _Slot:
    """One leaf of what a loop carries. `is_held`: an array that goes in as it is, by its handle,
    until the body gives another one.
    """

    def __init__(self, trace: Trace, item: Any) -> None:
        self.item = item
        self.own = kind_of(trace, item)
        self.kind = self.own
        self.is_held = self.kind.name == "array" and isinstance(item, Tracer)
        self.shares = False  # its memory with others
        self.leaf: Any = None  # what stands for it in the turn that is traced
        self.sources = family(trace, item) if self.kind.name == "array" else {}
        # Taken here, since an array that is written to by another name is not asked for again.
        self._values = values_of(trace, item, self.own)

    def is_carried(self) -> bool:
        return self.kind.type is not None and not self.is_held

    def note(self, leaf: Tracer) -> None:
        """Note what arrays a stand-in of it may be."""
        link(leaf, self.sources.values())
        if self.shares or is_unknown(self.item):
            share((leaf, *self.sources.values()))

    def first(self, trace: Trace) -> tuple[Value, ...]:
        """What it holds before the first turn, in its kind."""
        return as_kind(trace.builder, self._values, self.own, self.kind)


class Loop:
    """A `while`. `test` and `body` take the carry as it is given, `test` gives a truth and `body`
    the carry; `runs` says that it is known to turn once at least. `what` names it in errors.
    `guesses`: arrays that the body may write to. `reads`: variables that a turn may read before
    they have a value. `where`: the line of a loop of `lax`. `counts`: it carries a counter, and
    then what `body` carries.
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
        reads: frozenset[str] = frozenset(),
        where: str = "",
        counts: bool = False,
    ) -> None:
        self.trace = trace
        self.guesses = guesses
        self.test = test
        self.body = body
        self.promotes = promotes
        self.runs = runs
        self.what = what
        self.names = names
        self.where = where
        self.counts = counts
        self.slots: list[_Slot] = []
        self.handles: list[Tracer] = []
        self.form = Form(None)
        self.reads = reads
        self.loose: list[int] = []  # places of what may have no value after the loop

    def run(self, carry: Any) -> Any:
        """What is carried at the end. Raises CarryError when a component does not settle."""
        return self._emitted(*self.settle(carry))

    def settle(self, carry: Any) -> tuple[Branch, list[Value]]:
        """Call the body until it gives what it takes: the last call of it, and its inputs."""
        trace = self.trace
        leaves, self.form = flatten(carry)
        self.slots = [_Slot(trace, leaf) for leaf in leaves]
        _note_shared(self.slots)
        known = {id(slot.item) for slot in self.slots if slot.is_held}
        self.handles = [each for each in self.guesses if id(each) not in known]
        first: list[tuple] | None = None
        for _ in range(_MOST_TURNS):
            count = len(trace.forgotten)
            body, inputs = self._open("body")
            if first is None:
                first = _signature(body.region.ops)
            forgets = any(stamp < body.region.number for stamp in trace.forgotten[count:])
            if self._settled(body) and not forgets:
                break
        else:
            raise CarryError(f"{self.what} changes the types of what it carries at each turn")
        if not self.promotes and any(map(_was_weak, self.slots)):
            if first != _signature(body.region.ops):
                trace.refuse("loop", "its first turn is another program than the next ones")
        return body, inputs

    def _open(self, what: str) -> tuple[Branch, list[Value]]:
        """Call the body, or the test, once on stand-ins."""
        trace = self.trace
        self.handles = [handle for handle in self.handles if handle._is_known()]
        inputs: list[Value] = []
        # Before anything is taken into the region: the inputs are its first ones.
        firsts = [slot.first(trace) if slot.is_carried() else () for slot in self.slots]

        def run() -> Any:
            opened = trace.region
            assert opened is not None
            seen = []
            for slot, first in zip(self.slots, firsts, strict=True):
                if not slot.is_carried():
                    seen.append(slot.item)
                    continue
                values, slot.leaf = given(trace, opened, slot.kind, first)
                if slot.kind.name == "array":
                    slot.note(slot.leaf)
                inputs.extend(values)
                seen.append(slot.leaf)
            for handle in self.handles:
                value = opened.given(handle._value.type, handle._value)
                handle._bind(value)
                inputs.append(value)
            found = (self.test if what == "test" else self.body)(self.form.build(seen))
            return trace.wrap(truth(trace, found)) if what == "test" else found

        return Branch(trace, f"{what}_{trace.next_region()}", run), inputs

    def _settled(self, body: Branch) -> bool:
        """Whether the body gives what it takes; otherwise the slots are what they have to be."""
        trace = self.trace
        body.spread_to(trace, self.form)
        if not body.order_as(self.form):
            form, leaves = spread(self.form, [slot.item for slot in self.slots], body.form)
            if str(form) == str(self.form):
                raise CarryError(self._unlike(self.form, body.form))
            self.form, self.slots = form, [_Slot(trace, leaf) for leaf in leaves]
            return False
        settled = True
        names = self._shown()
        rows = zip(self.slots, body.leaves, body.kinds, names, strict=True)
        for slot, leaf, kind, name in rows:
            if slot.is_held:
                if leaf is slot.item:
                    continue
                slot.is_held, settled = False, False
                self.handles = [each for each in self.handles if each is not slot.item]
            after = self._joined(slot, kind)
            if after is None:
                raise CarryError(
                    unlike_kinds(name, slot.own.known(trace), kind.known(trace), *self._lines())
                )
            if not after.is_like(slot.kind):
                slot.kind, settled = after, False
        known = set(map(id, self.handles))
        added = [handle for number, (handle, _) in body.written.items() if number not in known]
        self.handles += added
        return settled and not added and self._is_apart(body)

    def _is_apart(self, body: Branch) -> bool:
        """Whether nothing is new about the memory in which the carried arrays may lie."""
        trace = self.trace
        rows = [
            (slot, leaf, family(trace, leaf))
            for slot, leaf in zip(self.slots, body.leaves, strict=True)
            if slot.kind.name == "array" and not slot.is_held
        ]
        stand_ins = {id(slot.leaf): slot for slot, _, _ in rows if slot.leaf is not None}
        begun = {number for slot, _, _ in rows for number in slot.sources}
        before = [(slot.shares, len(slot.sources)) for slot, _, _ in rows]
        for place, (slot, leaf, kin) in enumerate(rows):
            for number, each in kin.items():
                other = stand_ins.get(number)
                if other is not None:
                    slot.sources.update(other.sources)
                elif each._fresh < body.region.number:
                    if number not in begun or each is base_of(leaf):
                        slot.shares = True
                        share([each])
            if leaf is not slot.leaf and is_unknown(leaf):
                slot.shares = True
            for other, before_it, _ in rows[:place]:
                if may_be_one(kin, before_it):
                    slot.shares = other.shares = True
        return before == [(slot.shares, len(slot.sources)) for slot, _, _ in rows]

    def _lines(self) -> tuple[str, str]:
        return (self.where, self.what) if self.where else ("", "")

    def _unlike(self, before: Form, after: Form) -> str:
        shown = [form.items[1] if self.counts else form for form in (before, after)]
        return unlike_carries(self.what, *shown)

    def _shown(self) -> list[str]:
        """What errors call each leaf."""
        if not self.names:
            if self.counts:
                return ["the counter", *self.form.items[1].places("carry")]
            return list(self.form.places("carry"))
        if len(self.form.items) == 2 and len(self.form.items) != len(self.names):  # counted
            counter, variables = self.form.items
            return ["the counter"] * counter.count() + names_of_leaves(variables, self.names)
        if len(self.names) == 2 and self.form.items[1].kind is tuple:
            counter, variables = self.form.items
            if len(variables.items) == 2:
                return ["the counter"] + names_of_leaves(variables, self.names)
        return names_of_leaves(self.form, self.names)

    def _joined(self, slot: _Slot, kind: Kind) -> Kind | None:
        after = joined(self.trace, slot.kind, kind, self.promotes)
        if after is None and self.runs and slot.kind.type is not None and kind.type is not None:
            weak = slot.kind.name in ("bool", "int", "float", "complex")
            if weak and slot.own.name == slot.kind.name:
                return kind if joined(self.trace, slot.kind, kind, True) == kind else None
        return after

    def _require_bound(self) -> None:
        """Check that there is a turn, when it is what gives a variable its value."""
        if self.runs or not self.names:
            return
        for slot, name in zip(self.slots, self._shown(), strict=True):
            if slot.item is UNBOUND and slot.kind.is_bound() and "()" not in name:
                trace = self.trace
                asked = truth(trace, self.test(self.form.build([s.item for s in self.slots])))
                trace.check(trace.wrap(asked), "a variable without a value")
                return

    def _emitted(self, body: Branch, inputs: list[Value]) -> Any:
        trace = self.trace
        graphs, changed, taken = self._graphs(body, inputs)
        self._require_bound()
        bound = [trace.builder.constant(False, _BOOL.dtype) for _ in self.loose]
        first: list[Value] = []
        for slot in self.slots:
            first += slot.first(trace) if slot.is_carried() else ()
        first += [*bound, *[handle._value for handle in self.handles]]
        results = list(trace.builder.emit(while_, (*first, *taken), graphs))
        leaves = [self._leaf(slot, results) for slot in self.slots]
        for _ in bound:
            trace.check(trace.wrap(results.pop(0)), "a variable without a value")
        for handle, result in zip(changed, results, strict=True):
            handle._bind(result)
        return self.form.build(leaves)

    def _graphs(
        self, body: Branch, inputs: list[Value]
    ) -> tuple[dict[str, Graph], list[Tracer], list[Value]]:
        """The test and the body, the arrays that the body writes to, and what both take from
        around.
        """
        test, asked = self._open("test")
        count = len(inputs) - len(self.handles)
        if [value for _, value in test.written.values()] != asked[count:]:
            self.trace.refuse("loop", "its test writes to an array")
        kinds = [slot.kind if slot.is_carried() else _HELD for slot in self.slots]
        outputs = body.given(kinds)
        self.loose = self._loose(body, inputs, outputs)
        outputs += self._flags((body.region, test.region), (inputs, asked), outputs)
        count = len(outputs)
        changed, same = [], []
        for place, handle in enumerate(self.handles, count):
            final = body.region.local(body.written[id(handle)][1])
            (same if final is inputs[place] else changed).append(place)
            outputs += [] if final is inputs[place] else [final]
        order = [*range(count), *changed, *same]
        taken = list(dict.fromkeys([*body.region.taken, *test.region.taken]))
        graphs = {
            "cond": test.region.finished(
                test.values[0], (*[asked[place] for place in order], *taken)
            ),
            "body": body.region.finished(
                tuple(outputs), (*[inputs[place] for place in order], *taken)
            ),
        }
        self.handles = [self.handles[place - count] for place in (*changed, *same)]
        return graphs, self.handles[: len(changed)], taken

    def _loose(self, body: Branch, inputs: list[Value], outputs: list[Value]) -> list[int]:
        """The places of what has no value before the loop, and not surely one after a turn. Ends
        the trace where a turn may read it before it has one.
        """
        found, place = [], 0
        names = self._shown() if self.names else ["()" for _ in self.slots]
        for slot, name, leaf in zip(self.slots, names, body.leaves, strict=True):
            if slot.item is UNBOUND and slot.kind.is_bound() and "()" not in name:
                if name in self.reads or leaf is UNBOUND:
                    self.trace.refuse("loop", f"{name} has no value before its first turn")
                nothing = body.region.constant(False, _BOOL.dtype)
                if slot.is_carried():
                    given = Turn(body.region, inputs[place], nothing).gives(outputs[place])
                    if given is None or not given.constant:
                        found.append(place)
            place += len(types_of(slot.kind)) if slot.is_carried() else 0
        return found

    def _flags(
        self, regions: Sequence[Region], rows: Sequence[list[Value]], outputs: list[Value]
    ) -> list[Value]:
        """Carry beside these outputs of the first region whether there is a value. `rows` are the
        inputs of the regions.
        """
        first = self.trace.builder.constant(False, _BOOL.dtype)
        found = []
        for place in self.loose:
            number = len(outputs) + len(found)
            for region, row in zip(regions, rows, strict=True):
                row.insert(number, region.given(_BOOL, first))
            turn = Turn(regions[0], rows[0][place], rows[0][number])
            after = turn.gives(outputs[place])
            if after is None:
                self.trace.refuse("loop", "whether a variable has a value is not known")
            found.append(after)
        return found

    def _leaf(self, slot: _Slot, results: list[Value]) -> Any:
        """What a slot is after the loop, whose results these are."""
        if not slot.is_carried():  # a text or None that a turn gives is known all the same
            return slot.kind.static if slot.item is UNBOUND else slot.item
        leaf = stand_in(self.trace, slot.kind, take(results, slot.kind))
        if slot.kind.name == "array":
            slot.note(leaf)
        return leaf

    def unturned(self, carry: Any) -> Any:
        """What is carried at the end when there is no turn: in the types that it has with turns."""
        self.settle(carry)
        leaves = [widened(self.trace, slot.item, slot.kind) for slot in self.slots]
        return self.form.build(leaves)


_HELD = Kind("static")
_BOOL = ArrayType(np.dtype(np.bool_), ())


def _note_shared(slots: Sequence[_Slot]) -> None:
    """Note which carried arrays may be one at the beginning."""
    for place, slot in enumerate(slots):
        for other in slots[:place]:
            if may_be_one(slot.sources, other.item):
                slot.shares = other.shares = True


def unlike_kinds(name: str, before: Kind, after: Kind, where: str, what: str) -> str:
    """That a component cannot have one type."""
    start = f"before the loop ({where})" if where else "before"
    end = f"after a turn of {what}" if what else "after a turn"
    return f"{name} is {before} {start} and {after} {end}; make them one type"


def unlike_carries(what: str, before: Form, after: Form) -> str:
    """That a body does not give the structure that it takes."""
    return f"{what} takes {before} and gives {after}; make them one structure"


def _was_weak(slot: _Slot) -> bool:
    """Whether a number of Python's is carried as one of NumPy's."""
    return slot.item is not UNBOUND and slot.kind.name == "scalar" != slot.own.name


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


__all__ = ["Loop", "unlike_carries", "unlike_kinds"]
