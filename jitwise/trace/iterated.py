"""What a `for` of a rewritten function runs over, and what it calls in place of builtins: `range`,
`enumerate`, `zip`, `min`, `max`, `bool`, `sum`, and the functions of `math`.

    for i in range(n)          Numbers: i is start + place * step, for places 0 .. size - 1
    for row in x               rows by their place
    for i, row in enumerate(x) both together

What is iterated otherwise (`list(range(n))`) asks for its length, as it does without rewriting.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.compare import select
from .carried import as_kind, joined, kind_of, stand_in, values_of
from .control import truth
from .conversions import python_int
from .counted import Range
from .either import Either
from .size import SizeTracer
from .tracer import Tracer
from .ufuncs import apply

if TYPE_CHECKING:
    from .tracing import Trace

_DOUBLE = np.dtype(np.float64)
# Functions of `math` of one or two floats, and NumPy's.
_MATH = {
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "fabs": np.fabs,
    "degrees": np.degrees,
    "radians": np.radians,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign": np.copysign,
}
_PREDICATES = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}
_ROUNDED = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}


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


def python_calls(trace: Trace, statements: Any) -> dict[Any, Callable[..., Any]]:
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

    def sum_(items: Any, start: Any = 0) -> Any:
        if not issubclass(type(items), Tracer) or not items._value.type.shape:
            return sum(items, start)
        body = lambda item, total: (total + item,)  # noqa: E731
        (total,) = statements.for_(items, body, ("total",), (start,))
        return total

    def truth_of(item: Any) -> Any:
        if type(item) is Either or issubclass(type(item), Tracer) and not item._value.type.shape:
            return Tracer(trace, truth(trace, item), "python", False)
        return bool(item)

    def least(*items: Any, **options: Any) -> Any:
        return _extreme(trace, min, operator.lt, items, options)

    def greatest(*items: Any, **options: Any) -> Any:
        return _extreme(trace, max, operator.gt, items, options)

    return {
        min: least,
        max: greatest,
        sum: sum_,
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
    if type(item) in (SizeTracer, Either):
        return True
    return issubclass(type(item), Tracer) and not item._value.type.shape


def _as_int(trace: Trace, item: Any) -> Any:
    """A bound of a range: an int of Python's."""
    if not issubclass(type(item), Tracer):
        return item if type(item) is SizeTracer else item.__index__()
    from .numpy.arguments import size_of_number

    return trace.expose(size_of_number(trace, item))


def math_calls(trace: Trace) -> dict[Any, Callable[..., Any]]:
    """What rewritten code calls in place of functions of `math`."""

    def number_of(item: Any) -> Tracer:
        if type(item) is Either:
            return item.as_dtype(_DOUBLE)
        operand = trace.lift(item)
        return trace.convert(trace.wrap(operand._value, "scalar"), _DOUBLE)

    def traced(function: Callable[..., Any], run: Callable[..., Any]) -> Callable[..., Any]:
        def called(*items: Any, **options: Any) -> Any:
            if options or not any(map(_is_number, items)):
                return function(*items)
            return run(*map(number_of, items))

        return called

    def of_floats(ufunc: np.ufunc) -> Callable[..., Any]:
        def run(*operands: Tracer) -> Any:
            result = apply(trace, ufunc, operands)
            _require_result(trace, result, operands)
            return Tracer(trace, result._value, "python", float("nan"))

        return run

    def of_truth(ufunc: np.ufunc) -> Callable[..., Any]:
        return lambda operand: Tracer(trace, apply(trace, ufunc, [operand])._value, "python", False)

    def of_ints(ufunc: np.ufunc) -> Callable[..., Any]:
        return lambda operand: python_int(trace, apply(trace, ufunc, [operand]))

    table: dict[Any, Callable[..., Any]] = {}
    for rows, make in ((_MATH, of_floats), (_PREDICATES, of_truth), (_ROUNDED, of_ints)):
        for name, ufunc in rows.items():
            function = getattr(math, name, None)
            if function is not None:
                table[function] = traced(function, make(ufunc))
    return table


def _require_result(trace: Trace, result: Tracer, operands: Sequence[Tracer]) -> None:
    """Check that Python does not raise ValueError or OverflowError: that a result of finite numbers
    is finite, and one of infinite numbers is a number.
    """
    fits: Any = np.isfinite(result)
    for operand in operands:
        strange = np.logical_and(np.isinf(operand), np.logical_not(np.isnan(result)))
        fits = np.logical_or(fits, np.logical_or(np.isnan(operand), strange))
    trace.check(fits, "a function of math raises")


__all__ = ["Counting", "Numbers", "Together", "math_calls", "python_calls"]
