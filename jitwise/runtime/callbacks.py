"""Callbacks of a running program, and how none takes place twice when a call is run again.

    run: print, read, give up    ->    both are recorded    ->    run as Python: print and read are
                                                                  answered from the record, and what
                                                                  follows takes place

A call is run again because a check failed, floating-point flags were raised that NumPy has to tell
of, or an exception was raised. What a callback has done cannot be undone, as a draw can. So the
journal of the call keeps, in order, what each callback gave, an exception too; when the call begins
anew (`rewind`, in `draws`) that becomes its *past*: the next callbacks of the same functions are
answered by it, wherever they are made - by another program, by the function as Python, by a jitted
function that this calls. An exception is raised again where Python would have raised it, so that
the function may catch it, and has changed its arguments as far as Python would have.

A past lives as long as the journal it is kept in: that of the call. What a callback itself calls
knows of none. Where the functions differ, the second run has taken another way than the first, and
the rest of the past is dropped.

What is kept costs memory for each result, and a list entry for each callback without, until the
call returns.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from ..ir.dims import Dim
from ..ir.graph import Op
from ..trace.callbacks import Callback
from ..trace.tracing import current
from . import draws  # noqa: F401 - which sets back a call that begins anew
from ._native import journal
from .host_call import HostCall, dims_in

_KEY, _PAST = "callbacks", "past of callbacks"


class _Record(NamedTuple):
    """What a callback gave, or raised."""

    identity: Any
    results: Sequence[np.ndarray]
    error: Exception | None = None
    traceback: TracebackType | None = None

    def outcome(self) -> Sequence[np.ndarray]:
        if self.error is not None:
            raise self.error.with_traceback(self.traceback)
        return self.results


class _Past:
    """Records of a run that is repeated, and how many of them were asked for."""

    __slots__ = ("__weakref__", "place", "records")

    def __init__(self, records: list[_Record]) -> None:
        self.records = records
        self.place = 0

    def rest(self) -> list[_Record]:
        return self.records[self.place :]


class _Pasts(threading.local):
    """The pasts of the calls that this thread is in, the innermost last."""

    def __init__(self) -> None:
        self.all: list[weakref.ref[_Past]] = []

    def next(self, identity: Any) -> _Record | None:
        """What the callback gave in the former run, if it took place there."""
        while self.all:
            past = self.all[-1]()
            if past is not None and past.place < len(past.records):
                record = past.records[past.place]
                if record.identity == identity:
                    past.place += 1
                    return record
                past.place = len(past.records)
            if past is not None and past.place:
                return self._before(past, identity)
            self.all.pop()
        return None

    def _before(self, past: _Past, identity: Any) -> _Record | None:
        held = self.all.pop()
        try:
            return self.next(identity)
        finally:
            self.all.append(held)


_pasts = _Pasts()


class _Apart:
    """What a callback calls is no part of the trace or the call that it belongs to."""

    __slots__ = ("pasts", "token")

    def __enter__(self) -> None:
        self.pasts, _pasts.all = _pasts.all, []
        self.token = current.set(None)

    def __exit__(self, *error: object) -> None:
        current.reset(self.token)
        _pasts.all = self.pasts


def perform(
    called: Callback, args: tuple, kwargs: dict[str, Any], shapes: Sequence[tuple[int, ...]]
) -> Sequence[np.ndarray]:
    """A callback that Python makes: what it gives, now or in the run before."""
    record = _pasts.next(called.identity) if _pasts.all else None
    if record is not None:
        return record.outcome()
    with _Apart():
        return called(args, kwargs, shapes)


class CallbackCall(HostCall):
    """A callback of a program as a function of arrays and the sizes of its results."""

    def __init__(self, op: Op, sizes: list[Dim]) -> None:
        super().__init__(op, sizes)
        self.callback: Callback = op.attrs["function"]
        self.shapes = [each.shape for each in op.attrs["types"]]
        self.is_static = not any(dims_in(shape) for shape in self.shapes)

    def __call__(self, *given: Any) -> Any:
        notes = journal()
        called = self.callback
        record = _pasts.next(called.identity) if _pasts.all else None
        if record is None:
            record = self._made(given)
        notes.setdefault(_KEY, []).append(record)
        return tuple(record.outcome())

    def _made(self, given: Sequence[Any]) -> _Record:
        called = self.callback
        shapes = self.shapes if self.is_static else self._sizes(given[self.count :])
        args, kwargs = called.made(given)
        try:
            with _Apart():
                return _Record(called.identity, called(args, kwargs, shapes))
        except Exception as error:
            return _Record(called.identity, (), error, error.__traceback__)

    def _sizes(self, given: Sequence[Any]) -> list[tuple[int, ...]]:
        values = dict(zip(self.sizes, map(int, given), strict=True))
        known: Any = values.get
        return [tuple([known(each, each) for each in shape]) for shape in self.shapes]


def was_raised(error: BaseException) -> bool:
    """Whether the running call ended with an exception of a callback."""
    records = journal().get(_KEY)
    return bool(records) and records[-1].error is error


def remember(notes: dict[Any, Any]) -> None:
    """The call whose journal this was begins anew: its callbacks become its past."""
    records, former = notes.get(_KEY, []), notes.get(_PAST)
    if former is not None:
        records = records + former.rest()
        former.place = len(former.records)
    if records:
        past = journal()[_PAST] = _Past(records)
        _pasts.all.append(weakref.ref(past))


__all__ = ["CallbackCall", "perform", "remember", "was_raised"]
