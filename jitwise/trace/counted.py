"""Loops that count: `fori_loop`, `scan` and Python's `for` over a range.

    for i in range(a, b, s): x = f(i, x)

    i, x = while{cond = i < b, body = (i + s, f(i, x))}(a, x)

The bounds of `i` are known to the trace, so that indices of it need no check. That there is a first
turn is decided by the call that is traced, where the bounds are known around: a loop that does not
turn is no loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CannotTrace
from ..ir import dims
from ..ir.dims import Size
from ..ops.compare import greater, less
from .carried import Kind, kind_of
from .control import bounded
from .forms import Form, flatten
from .held import Unseen
from .looping import Loop
from .numpy.arguments import size_argument
from .numpy.create import filled
from .regions import extremes, is_inner

if TYPE_CHECKING:
    from .tracer import Tracer
    from .tracing import Trace

Body = Callable[[Any, Any], Any]


class Range:
    """The ints of `range(start, stop, step)`, whose bounds are sizes."""

    def __init__(self, trace: Trace, start: Any, stop: Any, step: int = 1) -> None:
        self.trace = trace
        self.start = size_argument(trace, start)
        self.stop = size_argument(trace, stop)
        self.step = step
        up = step > 0
        self.low = self.start if up else dims.add(self.stop, 1)
        self.high = dims.subtract(self.stop, 1) if up else self.start

    def turns(self) -> bool | None:
        """Whether there is one at least; None: that is not known before the loop."""
        trace, span = self.trace, dims.subtract(self.high, self.low)
        if isinstance(span, int):
            return span >= 0
        if not is_inner(trace, span):
            return None if trace.values.is_open(span) else trace.at_least(span)
        found = extremes(trace, span)
        if found is None or trace.hint(found[0]) < 0:
            return None
        trace.require("ge", found[0])
        return True

    def goes_on(self, index: Any) -> Any:
        """Whether `index` is in the range, as a value."""
        trace = self.trace
        bounds = trace.lift(index)._value, trace.lift(trace.expose(self.stop))._value
        return trace.wrap(trace.builder.emit(less if self.step > 0 else greater, bounds))

    def loop(
        self,
        body: Body,
        test: Callable[[Any], Any] | None,
        *,
        promotes: bool,
        runs: bool,
        what: str,
        names: Sequence[str] = (),
        guesses: Sequence[Tracer] = (),
        reads: frozenset[str] = frozenset(),
        where: str = "",
    ) -> Loop:
        """The loop, which carries the index and what the body does."""

        def inner(state: tuple[Any, Any]) -> tuple[Any, Any]:
            index, carry = state
            bounded(self.trace, index, self.low, self.high)
            return index + self.step, body(index, carry)

        def goes_on(state: tuple[Any, Any]) -> Any:
            index, carry = state
            more, other = self.goes_on(index), True if test is None else test(carry)
            return more if other is True else np.logical_and(more, other)

        return Loop(
            self.trace,
            goes_on,
            inner,
            promotes=promotes,
            runs=runs,
            what=what,
            names=names,
            guesses=guesses,
            reads=reads,
            where=where,
            counts=True,
        )


def counted(
    trace: Trace,
    range_: Range,
    body: Body,
    carry: Any,
    *,
    test: Callable[[Any], Any] | None = None,
    names: Sequence[str] = (),
    guesses: Sequence[Tracer] = (),
    reads: frozenset[str] = frozenset(),
) -> Any:
    """What `carry` is after `carry = body(i, carry)` for each `i`, while `test(carry)`: Python's
    `for`.
    """
    turns = range_.turns()
    if turns is False:
        return carry
    runs = bool(turns) and test is None
    options: dict[str, Any] = {"names": names, "guesses": guesses, "reads": reads}
    loop = range_.loop(body, test, promotes=False, runs=runs, what="the loop", **options)
    return loop.run((trace.expose(range_.start), carry))[1]


def turned(
    trace: Trace, range_: Range, body: Body, carry: Any, what: str, where: str, user: Any = None
) -> Any:
    """`lax.fori_loop`. `user`: the function of the user's, where `body` is another one."""
    turns = range_.turns()
    loop = range_.loop(body, None, promotes=True, runs=bool(turns), what=what, where=where)
    given = trace.expose(range_.start), carry
    unseen = Unseen(trace, (user or body,), carry)
    if turns is not False:
        with unseen.refused("loop"):
            return loop.run(given)[1]
    failure = trace.failure
    try:
        return loop.unturned(given)[1]
    except CannotTrace:  # the body need not be one that could turn
        trace.failure = failure
        return carry
    finally:
        unseen.undo()


def scanned(
    trace: Trace,
    f: Body,
    init: Any,
    leaves: Sequence[Any],
    form: Form,
    count: Any,
    reverse: bool,
    what: str,
    where: str,
) -> tuple[Any, Any]:
    """`lax.scan`: see `lax_control`. The body is called for its types first, and then again with
    arrays to put into what it gives.
    """
    range_ = Range(trace, 0, count)
    length = range_.stop
    kinds: list[Kind] = []
    shape = Form(None)
    buffers: list[Any] = []

    def turn(index: Any, carry: Any) -> Any:
        nonlocal shape
        place = trace.expose(dims.subtract(range_.high, index._size)) if reverse else index
        x = form.build([leaf if leaf is None else leaf[place] for leaf in leaves])
        result = f(carry, x)
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(f"lax.scan: {what} is to give (carry, y), not {result!r}")
        after, y = result
        rows, shape = flatten(y)
        kinds[:] = [kind_of(trace, row) for row in rows]
        for buffer, row in zip(buffers, rows, strict=False):
            if buffer is not None:
                buffer[place] = row
        return after

    probe = range_.loop(turn, None, promotes=True, runs=True, what=what, where=where)
    unseen = Unseen(trace, (f,), init)
    try:
        probe.settle((trace.expose(range_.start), init))
    finally:
        unseen.undo()
    buffers += [None if kind.type is None else _empty(trace, length, kind) for kind in kinds]
    carry = turned(trace, range_, turn, init, what, where, f)
    found = [
        kind.static if buffer is None else buffer
        for buffer, kind in zip(buffers, kinds, strict=True)
    ]
    return carry, shape.build(found)


def _empty(trace: Trace, length: Size, kind: Kind) -> Any:
    """An array for what the turns give."""
    assert kind.type is not None
    return filled(trace, trace.constant(0, kind.type.dtype), (length, *kind.type.shape))


__all__ = ["Range", "counted", "scanned"]
