"""Functions of arrays that jitwise has no row for, called inside the program: other libraries'
ufuncs, NumPy's functions of functions, and what a newer NumPy has.

    scipy.special.gammaln(x)             ->  outside_call{types=(f64[n],), ...}(x)
    np.apply_along_axis(f, 0, x)         ->  the same; the sizes of `x` become guards

A ufunc's shapes are known. Of any other function nothing is: it is called once on the elements of
this call, and the program is for these sizes. What it gives is checked at each call; where dtype or
shape differ the function is traced again. It may not write to its arrays, and only arrays and NumPy
scalars may come out: a Python number would have to be known while tracing.

Python functions among the arguments are the user's own, not what stands for them in traced code:
they run as Python, at each call.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from ..namespace import CREATION, INSTANCES
from ..originals import original
from ..tracer import FUNCTIONS, Tracer
from ..ufuncs import apply
from .arguments import NO_VALUE, axis_of, is_traced
from .library import Row, left_by_row, left_to_numpy, row
from .library_shapes import reduced, replaced, same
from .reduce import masked

if TYPE_CHECKING:
    from ..tracing import Trace


def outside(trace: Trace, function: Any, args: tuple, options: dict[str, Any]) -> Any:
    """A call of a function that nothing is known of."""
    name = f"{function.__module__}.{function.__name__}"
    try:
        bound = inspect.signature(function).bind(*args, **options).arguments
    except TypeError:
        trace.refuse("error", "TypeError")
    except ValueError:  # no signature is known
        trace.refuse("function", name)
    given = {key: original(trace, each) for key, each in bound.items()}
    arrays = tuple([key for key, each in given.items() if _holds_array(each)])
    facts = {"by_value": True, "nested": True, "outside": True, "name": name}
    known = Row(function, arrays, _learned, **facts)
    parameters = inspect.signature(function).parameters
    by_place = [given[key] for key, each in parameters.items() if each.kind < 2 and key in given]
    rest = {key: each for key, each in given.items() if parameters[key].kind == 3}
    if len(by_place) + len(rest) < len(given) or len(by_place) < _last_place(parameters, given):
        trace.refuse("function", name)
    return left_by_row(trace, known, tuple(by_place), rest)


def _last_place(parameters: Any, given: dict[str, Any]) -> int:
    """How many parameters there are up to the last one that is given by place."""
    places = [place for place, key in enumerate(parameters) if key in given]
    kinds = list(parameters.values())
    return max([place + 1 for place in places if kinds[place].kind < 2], default=0)


def _holds_array(item: Any) -> bool:
    if type(item) in (list, tuple):
        return any(map(_holds_array, item))
    return isinstance(item, (Tracer, np.ndarray))


def _learned(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> None:
    """No shapes are known: those of this call are taken, and the sizes of all arrays guarded."""


# Ufuncs


def _results(count: int) -> Any:
    def shapes_of(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
        return [trace.broadcast_shapes(shapes["inputs"])] * count

    return shapes_of


def _inputs(*inputs: Any) -> None:
    """The parameters of a ufunc."""


def foreign(trace: Trace, ufunc: np.ufunc, inputs: tuple) -> Any:
    """`ufunc(*inputs)` of a ufunc that is none of NumPy's."""
    if ufunc.signature is not None:
        trace.refuse("function", ufunc.__name__)
    facts = {"outside": True, "like": _inputs, "name": ufunc.__name__}
    return left_by_row(trace, Row(ufunc, ("inputs",), _results(ufunc.nout), **facts), inputs, {})


def _like_reduce(
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> None:
    """The parameters of `ufunc.reduce`."""


def _like_accumulate(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> None:
    """The parameters of `ufunc.accumulate`."""


def _like_reduceat(
    array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> None:
    """The parameters of `ufunc.reduceat`."""


def _segments(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `reduceat`: as many elements along the axis as there are positions."""
    shape, places = shapes["array"], shapes["indices"]
    return [replaced(shape, axis_of(trace, plain["axis"], len(shape)), places[0])]


_METHODS = {
    "reduce": (_like_reduce, "array where", reduced),
    "accumulate": (_like_accumulate, "array", same),
    "reduceat": (_like_reduceat, "array indices", _segments),
}


def method(trace: Trace, ufunc: np.ufunc, name: str, inputs: tuple, options: dict) -> Any:
    """`ufunc.reduce(...)`, `ufunc.accumulate(...)` or `ufunc.reduceat(...)`, left to NumPy."""
    like, arrays, shapes = _METHODS[name]
    shown = f"numpy.{ufunc.__name__}.{name}"
    names = tuple(arrays.split())
    known = Row(getattr(ufunc, name), names, shapes, raising=True, like=like, name=shown)
    return left_by_row(trace, known, inputs, options)


# Functions of functions


def _over_axes(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `apply_over_axes`: 1 along the axes."""
    axes = tuple(plain["axes"]) if type(plain["axes"]) is list else plain["axes"]
    return reduced(trace, shapes, {"axis": axes, "keepdims": True})


_facts = {"raising": True, "outside": True, "only": False}
row(np.piecewise, "x condlist", same, nested=True, **_facts)
row(np.apply_over_axes, "a", _over_axes, **_facts)


def _calling(function: Any) -> Any:
    """A handler of a NumPy function that is given functions."""

    def handler(trace: Trace, *args: Any, **options: Any) -> Any:
        given = [_originals(trace, each) for each in args]
        return left_to_numpy(trace, function, tuple(given), options)

    return handler


def _originals(trace: Trace, item: Any) -> Any:
    if type(item) in (list, tuple):
        return type(item)([_originals(trace, each) for each in item])
    return original(trace, item)


class _Elementwise:
    """What stands for an `np.vectorize` object in traced code."""

    def __init__(self, trace: Trace, function: np.vectorize) -> None:
        self.trace = trace
        self.stands_for = function

    def __call__(self, *args: Any, **options: Any) -> Any:
        if not is_traced(*args, *options.values()):
            return self.stands_for(*args, **options)
        function = self.stands_for
        if options or function.signature is not None or function.excluded:
            self.trace.refuse("argument", "vectorize with these arguments")
        original(self.trace, function.pyfunc)  # which must be one that may be called once more
        facts = {"outside": True, "like": _inputs, "name": "vectorize", "by_value": True}
        return left_by_row(self.trace, Row(function, ("inputs",), _vectorized, **facts), args, {})


def _vectorized(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    return [trace.broadcast_shapes(shapes["inputs"])]


def _vectorize(trace: Trace, pyfunc: Any, *args: Any, **options: Any) -> Any:
    return _Elementwise(trace, np.vectorize(original(trace, pyfunc), *args, **options))


_called_piecewise = _calling(np.piecewise)


def piecewise(
    trace: Trace, x: Any, condlist: Any, funclist: Any, *args: Any, **options: Any
) -> Tracer:
    """Numbers are chosen in the program; functions are the user's, and called by NumPy."""
    operand = trace.lift(x)
    if not args and not options and _chooses_numbers(trace, operand, condlist, funclist):
        trace.refuse_swapped(operand._value)
        last = funclist[-1] if len(funclist) > len(condlist) else 0
        shape, dtype = operand._value.type.shape, operand._value.type.dtype
        result = trace.broadcast(trace.constant(last, dtype), shape)
        for condition, number in zip(condlist, funclist, strict=False):
            others = apply(trace, np.logical_not, [condition])
            result = masked(trace, result, others, number)
        return trace.wrap(result._value, "array")
    return _called_piecewise(trace, x, condlist, funclist, *args, **options)


def _chooses_numbers(trace: Trace, operand: Tracer, condlist: Any, funclist: Any) -> bool:
    """Whether masks of the shape of floats choose between floats that each dtype holds."""
    shape, dtype = operand._value.type.shape, operand._value.type.dtype
    if not shape or dtype.kind != "f" or {type(condlist), type(funclist)} - {list, tuple}:
        return False
    if not all(type(each) in (int, float) and abs(each) < 6e4 for each in funclist):
        return False
    return len(funclist) - len(condlist) in (0, 1) and all(
        isinstance(each, Tracer)
        and each.dtype == np.bool_
        and each.ndim == len(shape)
        and all(map(trace.same_size, each._value.type.shape, shape))
        for each in condlist
    )


FUNCTIONS[np.piecewise] = piecewise
FUNCTIONS[np.apply_over_axes] = _calling(np.apply_over_axes)
CREATION[np.vectorize] = _vectorize
INSTANCES[np.vectorize] = _Elementwise
__all__ = ["foreign", "method", "outside"]
