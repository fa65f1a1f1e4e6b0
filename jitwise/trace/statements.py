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

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors import CannotTrace, CarryError
from ..ir.graph import Value
from ..ops.integer import not_
from .control import Branch, meet, truth
from .counted import counted
from .either import Either
from .held import Held, written_to
from .iterated import Counting, math_calls, python_calls
from .looping import Loop
from .regions import is_inner, region
from .size import SizeTracer
from .source import locate
from .tracer import Tracer
from .unbound import read_by
from .watch import DECISIONS_AT_A_LINE

if TYPE_CHECKING:
    from .tracing import Trace

_UNROLLED_OPS = 2000  # that turns of a loop of known length may emit before it is tried as a loop
_UNROLLED_TURNS = 3  # that are always unrolled
_MOST_ENTERED = 8  # branches in each other of one statement: a function that calls itself
_DEEPEST = 800  # calls of itself that do as Python; it ends a recursion that is too deep


class Truth:
    """`a and b`, not known to be the one or the other: it may be tested, and nothing else."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class Undecided(Exception):
    """A part cannot be a branch or a turn of a loop."""


class CallsItself(CannotTrace):
    """A recursion does not end while it is traced: no branch can take the place of it."""


class Statements:
    """The operations that rewritten functions call, of one trace."""

    def __init__(self, trace: Trace, conversions: dict[Any, Any]) -> None:
        self.trace = trace
        self.entered: list[Any] = []  # the statements whose branches are being traced
        self.reason = ""  # why the last loop that was tried is none
        self.cause: CannotTrace | None = None
        self._calls = {**conversions, **python_calls(trace, self), **math_calls(trace)}

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
        if kind is Either:
            return None if test._stored.constant is not None else truth(self.trace, test)
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
        if self.entered.count(held.code) >= _MOST_ENTERED:
            how = "it calls itself, and when that ends is known at run time only"
            trace.failure = CallsItself("path", how, locate())
            raise trace.failure
        parts: list[Branch | None] = []
        reasons: list[BaseException] = []
        for run in (no, yes):
            failure, printed = trace.failure, len(trace.printed)
            part = None
            self.entered.append(held.code)
            try:
                part = Branch(trace, f"branch_{trace.next_region()}", run)
                if len(trace.printed) > printed:
                    raise Undecided("it prints")
            except CallsItself:
                raise
            except (CannotTrace, Exception) as error:
                trace.failure = failure
                del trace.printed[printed:]
                reasons.append(error)
                part = None
            finally:
                self.entered.pop()
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
        kinds: set[str | None] = set()

        def asked(run: Callable[[], Any]) -> Callable[[], Any]:
            def tested() -> Any:
                found = run()
                kinds.add(_kind_of_bool(found))
                opened = self._open(found)
                value = truth(trace, bool(found)) if opened is None else opened
                return Tracer(trace, value, "python", False)

            return tested

        found = self._branches(index, asked(no), asked(yes), Held(parts, ()), ())
        (kind,) = kinds if len(kinds) == 1 else (None,)
        if kind is None:
            return Truth(found._value)
        return Tracer(trace, found._value, kind, False if kind == "python" else None)

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
        writes, by_sizes = self._looked_at(test, values)
        if writes:
            held = Held((test, body), values)
            return self._looped(lambda: self._tested_after(test, body, names, values), held)
        turns, before, decided = 0, trace.builder.emitted, 0
        while not by_sizes and decided < DECISIONS_AT_A_LINE:
            guards = len(trace.root.guards)
            asked = test(*values)
            if self._open(asked) is not None:
                break
            if not asked:
                return values
            if turns >= _UNROLLED_TURNS and trace.builder.emitted - before > _UNROLLED_OPS:
                break
            values = body(*values)
            turns += 1
            decided += len(trace.root.guards) > guards  # by sizes of this call
        held = Held((test, body), values)
        loop = self._loop(
            lambda carry: self._tested(test(*carry)),
            lambda carry: tuple(body(*carry)),
            names,
            (body, test),
        )
        return self._looped(lambda: loop.run(tuple(values)), held)

    def _loop(
        self,
        test: Callable[[Any], Any],
        body: Callable[[Any], Any],
        names: tuple[str, ...],
        parts: tuple[Callable[..., tuple], Callable[..., Any]],
    ) -> Loop:
        guesses, reads = written_to(parts[0]), read_by(*parts)
        return Loop(
            self.trace, test, body, promotes=False, names=names, guesses=guesses, reads=reads
        )

    def _tested_after(
        self,
        test: Callable[..., Any],
        body: Callable[..., tuple],
        names: tuple[str, ...],
        values: tuple,
    ) -> tuple:
        """A loop that carries what its test said, which is asked at the end of each turn."""

        def asked(carry: tuple) -> Any:
            value = truth(self.trace, self._tested(test(*carry)))
            return Tracer(self.trace, value, "python", False)

        def turn(state: tuple[Any, tuple]) -> tuple[Any, tuple]:
            after = tuple(body(*state[1]))
            return asked(after), after

        loop = self._loop(lambda state: state[0], turn, names, (body, test))
        return loop.run((asked(values), tuple(values)))[1]

    def _looked_at(self, test: Callable[..., Any], values: tuple) -> tuple[bool, bool]:
        """Whether a test does more than to look (draws random numbers, or writes to an array); and
        whether sizes of this call say what it gives: other calls may turn otherwise.
        """
        trace = self.trace
        guards = trace.root.guards
        count = len(guards)
        with region(trace, f"test_{trace.next_region()}") as opened:
            is_open = self._open(test(*values)) is not None
        added = list(guards)[count:]
        for key in added:  # nothing rests on them
            del guards[key]
        by_sizes = any(type(value) is SizeTracer for value in values)
        return bool(opened.written), by_sizes and bool(added) and not is_open

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
        if found is not None:
            return found
        cause = self.cause
        try:
            return self._unrolled(iter(items), body, values, test)
        except CannotTrace as failure:
            if failure.reason == "value" and cause is not None and cause.reason == "value":
                self.trace.failure = cause  # why it is no loop says more than where that ended
                raise cause from None
            raise

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

        def watched(result: Any) -> Any:
            # Before the loop is emitted: a list cannot be changed, nor an array written to, twice.
            if held.restore() or len(trace.printed) > printed:
                raise Undecided("it changes a list, a dict or an object, or prints")
            return result

        def turn(index: Any, carry: tuple) -> tuple:
            return watched(tuple(body(counting.item(index), *carry)))

        def goes_on(carry: tuple) -> Any:
            return True if test is None else watched(self._tested(test(*carry)))

        try:
            return counted(
                trace,
                counting.range(),
                turn,
                tuple(values),
                test=None if test is None else goes_on,
                names=names,
                guesses=written_to(body),
                reads=read_by(body, test),
            )
        except CallsItself:
            raise
        except (CannotTrace, Exception) as error:
            self.reason = str(error)
            self.cause = error if isinstance(error, CannotTrace) else None
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

    def itself(self, function: Any, depth: Any, name: str, line: int) -> bool:
        """Whether a function is the one that calls it, which goes round a loop then."""
        if hasattr(function, "stands_for"):
            function = function.__wrapped__
        code = getattr(function, "__code__", None)
        if code is None or (code.co_qualname, code.co_firstlineno) != (name, line):
            return False
        if code.co_filename != sys._getframe(1).f_code.co_filename:
            return False
        fits = depth < _DEEPEST
        if isinstance(fits, Tracer):
            self.trace.check(fits, "a recursion that Python may end")
        elif not fits:
            self.trace.refuse("path", "it calls itself many times")
        return True


def _kind_of_bool(item: Any) -> str | None:
    """Whether a bool is Python's or a NumPy scalar. None: it is no bool, or it is not known."""
    kind = type(item)
    if kind is bool:
        return "python"
    if not issubclass(kind, Tracer) or kind is Either or item._value.type.dtype != np.bool_:
        return None
    return item._kind if item._kind != "array" else None


__all__ = ["Statements"]
