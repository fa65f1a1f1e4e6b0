"""Draws of random numbers by a running program, and how they are undone when a call is run again.

    first draw from a generator      its state is noted in the journal of the call
    the call is run again            `rewind`: each noted state is set back

So whatever runs in the end - the program, another one, the function as Python - draws what NumPy
would have drawn, and leaves every generator where NumPy would have left it. A generator of the call
is found anew at each call, by the dispatcher; one that the program makes lives as long as the call.
Small draws take less time than looking at attributes does, so that is done once, when the program
is made: an argument becomes a function of what the machine passes.

Left out: another thread that draws from the same generator between a draw and its being undone
loses its place in the stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.dims import Dim
from ..ir.graph import Op
from ..ops.call import named, results_of
from ._native import journal, place, set_rewind
from .host_call import HostCall, dims_in, reporting

_DOUBLE = np.dtype(np.float64)
_NOTHING = np.int64(0)  # the result that orders
Given = tuple[Any, ...]  # what the machine passes: the order, operands, sizes


class DrawCall(HostCall):
    """A draw as a function of arrays and the sizes in its attributes."""

    def __init__(self, op: Op, sizes: list[Dim]) -> None:
        super().__init__(op, sizes)
        attrs = op.attrs
        self.how, self.number = attrs["generator"]
        self.method = attrs["method"]
        places = {size: len(op.operands) + index for index, size in enumerate(sizes)}
        rows = [(name, _argument(each, places)) for name, each in attrs["arguments"]]
        self.by_place = [each for name, each in rows if not name]
        self.by_name = [(name, each) for name, each in rows if name]
        self.changed = attrs["changed"] + 1 if attrs["changed"] >= 0 else 0
        self.dtypes = [each.dtype for each in attrs["types"]]
        self.shapes = [_value(each.shape, places) for each in attrs["types"]]
        plain = all(each[0] == "plain" and not dims_in(each[1]) for _, each in attrs["arguments"])
        is_number = len(attrs["types"]) == 1 and not attrs["types"][0].shape
        self.number_drawn: Callable[..., Any] | None = None  # a shorter way, where there is one
        if plain and is_number and self.how == "place" and not self.changed:
            self.constants = tuple([each(()) for each in self.by_place])
            self.options = {name: each(()) for name, each in self.by_name}
            self.dtype = self.dtypes[0]
            self.number_drawn = self._draw_number

    def _draw_number(self, *given: Any) -> Any:
        """One number, by arguments of the program's text: nothing is asked but the generator."""
        notes, source = journal(), place(self.number)
        if id(source) not in notes:
            notes[id(source)] = (source, _state(source))
        try:
            result = getattr(source, self.method)(*self.constants, **self.options)
        except Exception as error:
            error.__dict__["raised_by_numpy"] = True
            raise error.with_traceback(None)  # noqa: B904
        if type(result) is float and self.dtype == _DOUBLE:
            return _NOTHING, result
        array = np.asarray(result)
        fits = array.dtype == self.dtype and not array.shape
        return (_NOTHING, result) if fits else (None, None)

    def __call__(self, *given: Any) -> Any:
        try:
            with reporting():
                result = self._draw(given)
        except Exception as error:  # NumPy's: its own frames look like those of a user's file
            error.__dict__["raised_by_numpy"] = True
            raise error.with_traceback(None)  # noqa: B904
        if not self.dtypes:
            return (_NOTHING,)
        results = results_of(result)
        if len(results) != len(self.dtypes):
            return None
        for each, dtype, shape in zip(results, self.dtypes, self.shapes, strict=True):
            array = each if type(each) is np.ndarray else np.asarray(each)
            if array.dtype != dtype or array.shape != shape(given):
                return (None,) * (1 + len(results))  # the machine gives up: see `HostCall`
        return (_NOTHING, *results)

    def _draw(self, given: Given) -> Any:
        notes = journal()
        copy = np.array(given[self.changed]) if self.changed else None
        if self.changed:
            given = (*given[: self.changed], copy, *given[self.changed + 1 :])
        by_place = [each(given) for each in self.by_place]
        by_name = {name: each(given) for name, each in self.by_name}
        if self.how == "make":
            notes["made", self.number] = named(self.method)(*by_place, **by_name)
            return None
        if self.how == "made":
            source = notes["made", self.number]
        else:
            source = place(self.number)
            if id(source) not in notes:
                notes[id(source)] = (source, _state(source))
        result = getattr(source, self.method)(*by_place, **by_name)
        return copy if self.changed else result


def _argument(template: tuple, places: dict[Dim, int]) -> Callable[[Given], Any]:
    """An argument as a function of what the machine passes."""
    kind, *content = template
    if kind == "plain":
        return _value(content[0], places)
    if kind in ("list", "tuple"):
        make = list if kind == "list" else tuple
        items = [_argument(each, places) for each in content]
        return lambda given: make([each(given) for each in items])
    index = content[0] + 1
    if kind == "array":
        return lambda given: given[index]
    if kind == "number":
        return lambda given: np.asarray(given[index])[()]
    return lambda given: np.asarray(given[index]).item()


def _value(item: Any, places: dict[Dim, int]) -> Callable[[Given], Any]:
    if isinstance(item, Dim):
        index = places[item]
        return lambda given: int(given[index])
    if not dims_in(item):
        return lambda given: item
    items = [_value(each, places) for each in item]
    return lambda given: tuple([each(given) for each in items])


def _state(source: Any) -> Any:
    if hasattr(source, "get_state"):  # RandomState: it keeps one normal number more
        return source.get_state(legacy=False)
    return source.bit_generator.state


def rewind(notes: dict[Any, Any]) -> None:
    """Set generators back to where they were when the call began."""
    for key in reversed(notes):  # two may share their bits
        if type(key) is int:
            source, state = notes[key]
            if hasattr(source, "set_state"):
                source.set_state(state)
            else:
                source.bit_generator.state = state
    if "callbacks" in notes or "past of callbacks" in notes:
        from .callbacks import remember

        remember(notes)
    if "warnings" in notes or "past of warnings" in notes:
        from . import warned

        warned.remember(notes)


set_rewind(rewind)
