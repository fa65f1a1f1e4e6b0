"""What `if`, `while`, `for` and `and` of rewritten functions do (see `syntax`).

    if x > 0: y = x                     y = if(x > 0, then, else, ("y",), (y,))

Where Python can decide (a number of the text, a size of an argument), it decides, and the part that
runs is a plain call. Else both parts become branches, a loop becomes a loop (see `control`). What
Python sees of both paths has to be of one kind: a variable that is an int on one path and an array
on the other ends the trace.

A part that raises, or that cannot be traced, is a path that is not taken, as long as it is not the
one that this call takes: the program checks that, and else runs as Python, which raises.

Not seen by the graph, and so no part of a branch or a loop: changes of lists, dicts and objects.
They are looked for (`Held`), and end the trace.
"""

from __future__ import annotations

import dis
import functools
import operator
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors import CannotTrace, CarryError
from ..ir.graph import Value
from ..ops.compare import select
from ..ops.integer import not_
from .carried import as_kind, joined, kind_of, stand_in, values_of
from .control import Branch, meet, truth
from .counted import Range, counted
from .looping import Loop
from .memory import View
from .regions import is_inner, region
from .size import SizeTracer
from .syntax.names import UNBOUND
from .tracer import Tracer

if TYPE_CHECKING:
    from .tracing import Trace

_UNROLLED_OPS = 2000  # that turns of a loop of known length may emit before it is tried as a loop
_UNROLLED_TURNS = 3  # that are always unrolled
_STORE_SUBSCR = dis.opmap["STORE_SUBSCR"]
_DEPTH = 4  # of containers in each other that are looked at for changes


class Truth:
    """`a and b` of which only the truth is known: it may be tested, and nothing else."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class Undecided(Exception):
    """A part cannot be a branch or a turn of a loop."""


class Held:
    """The containers and objects that a part may change, as they were before."""

    def __init__(self, parts: Sequence[Any], values: Sequence[Any]) -> None:
        self._kept: dict[int, tuple[Any, Any]] = {}
        self._cells: list[tuple[types.CellType, Any]] = []
        pending = [(value, 0) for value in values]
        for part in parts:
            for cell in getattr(part, "__closure__", None) or ():
                content = _content(cell)
                self._cells.append((cell, content))
                if content is not UNBOUND:
                    pending.append((content, 0))
        while pending:
            item, depth = pending.pop()
            inner = _items(item)
            if inner is None or id(item) in self._kept or depth > _DEPTH:
                continue
            self._kept[id(item)] = (item, inner)
            pending += [(each, depth + 1) for each in inner]

    def restore(self) -> bool:
        """Whether any was changed; it is as it was before then."""
        changed = False
        for cell, content in self._cells:
            if _content(cell) is not content:
                changed = True
                if content is UNBOUND:
                    del cell.cell_contents
                else:
                    cell.cell_contents = content
        for item, before in self._kept.values():
            now = _items(item)
            if now is not None and len(now) == len(before):
                if all(one is other for one, other in zip(now, before, strict=True)):
                    continue
            changed = True
            if type(item) is dict:
                keys = before[: len(before) // 2]
                item.clear()
                item.update(zip(keys, before[len(keys) :], strict=True))
            elif type(item) is list:
                item[:] = before
            elif type(item) is set:
                item.clear()
                item.update(before)
        return changed


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND


def _items(item: Any) -> list[Any] | None:
    kind = type(item)
    if kind is dict:
        return [*item, *item.values()]
    if kind in (list, tuple, set):
        return list(item)
    if kind.__module__ == "builtins" or issubclass(kind, (Tracer, SizeTracer, np.generic)):
        return None
    own = getattr(item, "__dict__", None)
    return [*own, *own.values()] if type(own) is dict and not isinstance(item, type) else None


def _written_to(part: Any) -> list[Tracer]:
    """The arrays that a part reads through its closure, if it assigns to items at all: perhaps to
    theirs.
    """
    if not _assigns_items(part.__code__):
        return []
    found: dict[int, Tracer] = {}
    for cell in part.__closure__ or ():
        content = _content(cell)
        if issubclass(type(content), Tracer) and content._kind == "array":
            base = content._base if type(content) is View else content
            found[id(base)] = base
    return list(found.values())


@functools.lru_cache(maxsize=1024)
def _assigns_items(code: types.CodeType) -> bool:
    if any(op == _STORE_SUBSCR for op in code.co_code[::2]):
        return True
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return any(map(_assigns_items, inner))


class Statements:
    """The operations that rewritten functions call, of one trace."""

    def __init__(self, trace: Trace, conversions: dict[Any, Any]) -> None:
        self.trace = trace
        self.reason = ""  # why the last loop that was tried is none
        self._calls = {**conversions, **python_calls(trace)}

    # Branches

    def if_(
        self,
        test: Any,
        then: Callable[..., tuple],
        other: Callable[..., tuple],
        names: tuple[str, ...],
        values: tuple,
        *_: Any,
    ) -> tuple:
        """See the module docstring."""
        index = self._open(test)
        if index is None:
            return then(*values) if test else other(*values)
        held = Held((then, other), values)
        return self._branches(index, lambda: other(*values), lambda: then(*values), held, names)

    def select(self, test: Any, then: Callable[[], Any], other: Callable[[], Any], *_: Any) -> Any:
        """`then() if test else other()`."""
        index = self._open(test)
        if index is None:
            return then() if test else other()
        held = Held((then, other), ())
        return self._branches(index, other, then, held, ())

    def _open(self, test: Any) -> Value | None:
        """The bool that is not known before the program runs; None: Python decides."""
        kind = type(test)
        if kind is Truth:
            return test.value
        if kind is SizeTracer:
            return truth(self.trace, test) if is_inner(self.trace, test._size) else None
        if not issubclass(kind, Tracer) or test._value.type.shape:
            return None
        if test._value.constant is not None or type(test._hint) is np.ndarray:
            return None
        if test._kind == "python" and test._value.op is None and self.trace.region is None:
            return None if type(test._hint) is bool else truth(self.trace, test)
        return truth(self.trace, test)

    def _branches(
        self,
        index: Value,
        no: Callable[[], Any],
        yes: Callable[[], Any],
        held: Held,
        names: tuple[str, ...],
    ) -> Any:
        trace = self.trace
        parts: list[Branch | None] = []
        reasons: list[BaseException] = []
        for run in (no, yes):
            failure, printed = trace.failure, len(trace.printed)
            part = None
            try:
                part = Branch(trace, f"branch_{trace.next_region()}", run)
                if len(trace.printed) > printed:
                    raise Undecided("it prints")
            except (CannotTrace, Exception) as error:
                trace.failure = failure
                del trace.printed[printed:]
                reasons.append(error)
                part = None
            if held.restore() and part is not None:
                reasons.append(Undecided("it changes a list, a dict or an object"))
                part = None
            parts.append(part)
        if parts[0] is None and parts[1] is None:
            self._give_up(reasons[0])
        if parts[0] is not None and parts[1] is not None:
            try:
                return meet(trace, index, [parts[0], parts[1]], False, ("else", "if"), names)
            except CarryError as error:
                trace.refuse("branch", str(error))
        taken = parts[1] is not None
        if bool(trace.measurements.values_of([index])[0]) is not taken:
            self._give_up(reasons[0])
        if not taken:
            index = trace.builder.emit(not_, (index,))
        trace.check(trace.wrap(index), "a path that was not traced")
        return (yes if taken else no)()

    def _give_up(self, error: BaseException) -> NoReturn:
        """End the trace: the path that this call takes was not traced, for this reason."""
        if isinstance(error, (CannotTrace, Undecided)):
            self.trace.refuse("path", str(error))
        self.trace.refuse("path", f"it raises {type(error).__name__}")

    # Tests

    def both(self, first: Any, second: Callable[[], Any]) -> Any:
        """`first and second()`."""
        index = self._open(first)
        if index is None:
            return first and second()
        return self._joined(index, lambda: first, second, (second,))

    def either(self, first: Any, second: Callable[[], Any]) -> Any:
        """`first or second()`."""
        index = self._open(first)
        if index is None:
            return first or second()
        return self._joined(index, second, lambda: first, (second,))

    def negate(self, item: Any) -> Any:
        """`not item`."""
        index = self._open(item)
        if index is None:
            return not item
        value = self.trace.builder.emit(not_, (index,))
        return Tracer(self.trace, value, "python", False)

    def _joined(
        self, index: Value, no: Callable[[], Any], yes: Callable[[], Any], parts: Sequence[Any]
    ) -> Any:
        trace = self.trace

        def asked(run: Callable[[], Any]) -> Callable[[], Any]:
            def tested() -> Any:
                found = run()
                opened = self._open(found)
                value = truth(trace, bool(found)) if opened is None else opened
                return Tracer(trace, value, "python", False)

            return tested

        found = self._branches(index, asked(no), asked(yes), Held(parts, ()), ())
        return Truth(found._value)

    # Loops

    def while_(
        self,
        test: Callable[..., Any],
        body: Callable[..., tuple],
        names: tuple[str, ...],
        values: tuple,
        *_: Any,
    ) -> tuple:
        """See the module docstring."""
        trace = self.trace
        turns, before = 0, trace.builder.emitted
        while not self._is_decided_by_sizes(test, values, turns):
            asked = test(*values)
            if self._open(asked) is not None:
                break
            if not asked:
                return values
            if turns >= _UNROLLED_TURNS and trace.builder.emitted - before > _UNROLLED_OPS:
                break
            values = body(*values)
            turns += 1
        held = Held((test, body), values)
        loop = Loop(
            trace,
            lambda carry: self._tested(test(*carry)),
            lambda carry: tuple(body(*carry)),
            promotes=False,
            what="the loop",
            names=names,
            guesses=_written_to(body),
        )
        return self._looped(lambda: loop.run(tuple(values)), held)

    def _is_decided_by_sizes(self, test: Callable[..., Any], values: tuple, turns: int) -> bool:
        """Whether sizes of this call say that a loop turns: other calls may turn otherwise."""
        trace = self.trace
        if turns or not any(type(value) is SizeTracer for value in values):
            return False
        guards = trace.root.guards
        count = len(guards)
        with region(trace, f"test_{trace.next_region()}"):
            asked = test(*values)
        if len(guards) == count or self._open(asked) is not None:
            return False
        for key in list(guards)[count:]:  # nothing rests on them
            del guards[key]
        return True

    def _tested(self, item: Any) -> Any:
        return Tracer(self.trace, item.value, "python", False) if type(item) is Truth else item

    def _looped(self, run: Callable[[], Any], held: Held) -> Any:
        """A loop, or the end of the trace."""
        trace = self.trace
        printed = len(trace.printed)
        try:
            result = run()
        except CarryError as error:
            held.restore()
            trace.refuse("loop", str(error))
        except BaseException:
            held.restore()
            raise
        if held.restore():
            trace.refuse("loop", "it changes a list, a dict or an object")
        if len(trace.printed) > printed:
            trace.refuse("loop", "it prints")
        return result

    def for_(
        self,
        items: Any,
        body: Callable[..., tuple],
        names: tuple[str, ...],
        values: tuple,
        test: Callable[..., Any] | None = None,
        *_: Any,
    ) -> tuple:
        """See the module docstring."""
        counting = Counting.of(self.trace, items)
        if counting is None:
            return self._unrolled(iter(items), body, values, test)
        if counting.has_known_length():
            return self._few_or_loop(counting, body, names, values, test)
        found = self._counted(counting, body, names, values, test)
        return self._unrolled(iter(items), body, values, test) if found is None else found

    def _unrolled(self, items: Any, body: Callable[..., tuple], values: tuple, test: Any) -> tuple:
        while True:
            if test is not None:
                goes_on = test(*values)
                if self._open(goes_on) is not None:
                    why = self.reason or "whether it is left is known at run time only"
                    self.trace.refuse("loop", why)
                if not goes_on:
                    return values
            try:
                item = next(items)
            except StopIteration:
                return values
            values = body(item, *values)

    def _few_or_loop(
        self,
        counting: Counting,
        body: Callable[..., tuple],
        names: tuple[str, ...],
        values: tuple,
        test: Any,
    ) -> tuple:
        """Turns of a known number: unrolled while that is cheap."""
        trace = self.trace
        turns = range(counting.length())
        before = trace.builder.emitted
        tried = False
        for turn in turns:
            emitted = trace.builder.emitted - before
            is_long = turn >= _UNROLLED_TURNS and emitted * len(turns) > turn * _UNROLLED_OPS
            if is_long and not tried and len(turns) - turn > _UNROLLED_TURNS:
                tried = True
                found = self._counted(counting.after(turn), body, names, values, test)
                if found is not None:
                    return found
            if test is not None:
                goes_on = test(*values)
                if self._open(goes_on) is not None:
                    found = self._counted(counting.after(turn), body, names, values, test)
                    if found is None:
                        trace.refuse("loop", self.reason)
                    return found
                if not goes_on:
                    break
            values = body(counting.item(turn), *values)
        return values

    def _counted(
        self,
        counting: Counting,
        body: Callable[..., tuple],
        names: tuple[str, ...],
        values: tuple,
        test: Any,
    ) -> tuple | None:
        """A loop, or None where it cannot be one; nothing has happened then."""
        trace = self.trace
        held = Held((body, *([] if test is None else [test])), values)
        failure, printed = trace.failure, len(trace.printed)

        def turn(index: Any, carry: tuple) -> tuple:
            return tuple(body(counting.item(index), *carry))

        def goes_on(carry: tuple) -> Any:
            return True if test is None else self._tested(test(*carry))

        try:
            result = counted(
                trace,
                counting.range(),
                turn,
                tuple(values),
                test=None if test is None else goes_on,
                promotes=False,
                names=names,
                guesses=_written_to(body),
            )
            if not held.restore() and len(trace.printed) == printed:
                return result
            self.reason = "it changes a list, a dict or an object, or prints"
        except (CannotTrace, Exception) as error:
            self.reason = str(error)
        held.restore()
        trace.failure = failure
        del trace.printed[printed:]
        return None

    # Calls

    def call(self, function: Any) -> Any:
        """What is called in place of a function."""
        try:
            return self._calls.get(function, function)
        except TypeError:  # it has no hash
            return function


class Counting:
    """What a `for` runs over, by number: ints, rows of arrays, or several of these together.

    range(n), array, enumerate(...), zip(...)
    """

    def __init__(self, trace: Trace, size: Any, item: Callable[[Any], Any], start: int = 0) -> None:
        self.trace = trace
        self.size = size  # an int or a SizeTracer
        self.item = item
        self.start = start

    @classmethod
    def of(cls, trace: Trace, items: Any) -> Counting | None:
        """What `items` is, or None: Python's iteration of it."""
        kind = type(items)
        if kind is range:
            return cls(trace, len(items), lambda place: items.start + place * items.step)
        if kind is Numbers:
            return items.counting()
        if issubclass(kind, Tracer) and items._value.type.shape:
            return cls(trace, trace.expose(items._value.type.shape[0]), lambda place: items[place])
        if kind is Together:
            inner = [cls.of(trace, each) for each in items.parts]
            if any(each is None for each in inner):
                return None
            return items.counting([each for each in inner if each is not None])
        return None

    def has_known_length(self) -> bool:
        """Whether the number of turns is in the text of the program."""
        return type(self.size) is int

    def length(self) -> int:
        return self.size

    def after(self, turns: int) -> Counting:
        """The rest."""
        return Counting(self.trace, self.size, self.item, turns)

    def range(self) -> Range:
        return Range(self.trace, self.start, self.size)


class Numbers:
    """`range(...)` of which a bound is known at run time only."""

    __slots__ = ("_start", "_step", "_stop", "_trace")

    def __init__(self, trace: Trace, start: Any, stop: Any, step: int) -> None:
        self._trace = trace
        self._start, self._stop, self._step = start, stop, step

    def counting(self) -> Counting:
        """See `Counting`."""
        start, stop, step = self._start, self._stop, self._step
        span = stop - start if step > 0 else start - stop
        size = span if abs(step) == 1 else (span + (abs(step) - 1)) // abs(step)
        if type(size) is int:
            size = max(size, 0)
        return Counting(self._trace, size, lambda place: start + place * step)

    @property
    def __class__(self) -> type:
        return range

    def __iter__(self) -> Any:
        return iter(self._range())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._range(), name)

    def __len__(self) -> int:
        return len(self._range())

    def __getitem__(self, place: Any) -> Any:
        return self._range()[place]

    def __reversed__(self) -> Any:
        return reversed(self._range())

    def __contains__(self, item: Any) -> bool:
        return item in self._range()

    def _range(self) -> range:
        return range(int(self._start), int(self._stop), self._step)


class Together:
    """`zip` or `enumerate` of what a loop may count: also an iterator, as they are."""

    __slots__ = ("_iterator", "_make", "parts")

    def __init__(self, make: Callable[[], Any], parts: tuple, start: Any = None) -> None:
        self.parts = parts
        self._make = make
        self._iterator: Any = start

    def counting(self, inner: Sequence[Counting]) -> Counting | None:
        """See `Counting`; None where lengths differ."""
        trace = inner[0].trace
        sizes = [each.size for each in inner]
        shortest = sizes[0]
        for size in sizes[1:]:
            if size is not shortest and bool(size < shortest):
                shortest = size
        start = self._iterator

        def item(place: Any) -> tuple:
            found = tuple([each.item(place) for each in inner])
            return found if start is None else (start + place, *found)

        return Counting(trace, shortest, item)

    def __iter__(self) -> Any:
        return self._make()


def python_calls(trace: Trace) -> dict[Any, Callable[..., Any]]:
    """What rewritten code calls in place of builtins."""

    def traced(*items: Any) -> bool:
        return any(issubclass(type(item), Tracer) or type(item) is SizeTracer for item in items)

    def range_(*bounds: Any) -> Any:
        if not traced(*bounds) or len(bounds) > 3:
            return range(*bounds)
        start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        start, stop = (_as_int(trace, each) for each in (start, stop))
        if type(step) is not int:
            step = int(step)
        if step == 0:
            raise ValueError("range() arg 3 must not be zero")
        return Numbers(trace, start, stop, step)

    def enumerate_(items: Any, start: Any = 0) -> Any:
        if Counting.of(trace, items) is None:
            return enumerate(items, start)
        return Together(lambda: enumerate(items, start), (items,), start)

    def zip_(*items: Any, **options: Any) -> Any:
        if options or not items or any(Counting.of(trace, each) is None for each in items):
            return zip(*items, **options)
        return Together(lambda: zip(*items), items)

    def truth_of(item: Any) -> Any:
        if issubclass(type(item), Tracer) and not item._value.type.shape:
            return Tracer(trace, truth(trace, item), "python", False)
        return bool(item)

    def least(*items: Any, **options: Any) -> Any:
        return _extreme(trace, min, operator.lt, items, options)

    def greatest(*items: Any, **options: Any) -> Any:
        return _extreme(trace, max, operator.gt, items, options)

    return {
        min: least,
        max: greatest,
        range: range_,
        enumerate: enumerate_,
        zip: zip_,
        bool: truth_of,
    }


def _extreme(
    trace: Trace, builtin: Any, relation: Any, items: tuple, options: dict[str, Any]
) -> Any:
    """`min` or `max`: the first of those that none is less than."""
    given = list(items)
    if len(given) == 1 and type(given[0]) in (list, tuple):
        given = list(given[0])
    if options or not any(_is_number(each) for each in given) or len(given) < 2:
        return builtin(*items, **options)
    found = given[0]
    for each in given[1:]:
        better = relation(each, found)
        if isinstance(better, Tracer) and better._value.constant is None:
            kinds = [kind_of(trace, item) for item in (each, found)]
            kind = joined(trace, *kinds, False)
            if kind is None or kind.type is None or kind.type.shape:
                trace.refuse("branch", f"{builtin.__name__} of {kinds[0]} and {kinds[1]}")
            mask, sides = truth(trace, better), []
            for item, own in zip((each, found), kinds, strict=True):
                values = values_of(trace, item, own)
                sides.append(as_kind(trace.builder, values, own, kind))
            chosen = [trace.builder.emit(select, (mask, *pair)) for pair in zip(*sides)]
            found = stand_in(trace, kind, tuple(chosen))
        elif better:
            found = each
    return found


def _is_number(item: Any) -> bool:
    if type(item) is SizeTracer:
        return True
    return issubclass(type(item), Tracer) and not item._value.type.shape


def _as_int(trace: Trace, item: Any) -> Any:
    """A bound of a range: an int of Python's."""
    if not issubclass(type(item), Tracer):
        return item if type(item) is SizeTracer else item.__index__()
    from .numpy.arguments import size_of_number

    return trace.expose(size_of_number(trace, item))


__all__ = ["Statements"]
