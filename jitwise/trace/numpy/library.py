"""Functions that a program leaves to NumPy: `LIBRARY`, one row each.

    row(np.sort, "a", same)           the arrays among its parameters, and the shapes it gives

A row says which parameters are arrays (they become operands) and which shapes come out, from the
arrays' shapes and the other parameters, which are part of the op. dtypes, and whether a result is a
scalar, are found by calling the function once on a few elements of the same dtypes; that also
checks the row. Where the number of results' elements depends on values there is no row.

Parameters that are no arrays must be Python's: numbers, strings, tuples, None.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...ir import dims
from ...ir.dims import Size
from ...ir.types import DTYPE_NAMES, ArrayType
from ...ops.call import call, raising_call, results_of
from ..memory import write
from ..size import SizeTracer
from ..tracer import FUNCTIONS, METHODS, Tracer, concrete
from .arguments import NO_VALUE, axes_of, axis_of, is_one

if TYPE_CHECKING:
    from ..tracing import Trace

Shape = tuple[Size, ...]
# (trace, the arrays' shapes by parameter, the other parameters) -> a shape for each result
Shapes = Callable[["Trace", dict[str, Shape], dict[str, Any]], "list[Shape]"]
_PLAIN = (int, float, complex, bool, str, type(None))
_MOST_SAMPLED = 64  # elements of a sample
_SAMPLE_SIZE = 4  # of axes of longer arrays, in a sample


class Row(NamedTuple):
    """How one function is left to NumPy."""

    function: Callable[..., Any]
    arrays: tuple[str, ...]
    shapes: Shapes
    raising: bool


LIBRARY: dict[Any, Row] = {}


def row(function: Any, arrays: str, shapes: Shapes, *, raising: bool = False) -> None:
    """Enter a function; `raising`: it refuses some values of its arrays."""
    LIBRARY[function] = Row(function, tuple(arrays.split()), shapes, raising)
    FUNCTIONS[function] = lambda trace, *args, **options: left_to_numpy(
        trace, function, args, options
    )


@lru_cache(maxsize=256)
def _signature(function: Any) -> Any:
    import inspect

    return inspect.signature(function)


@lru_cache(maxsize=256)
def _defaults(function: Any) -> dict[str, Any]:
    """The defaults of parameters that have one."""
    parameters = _signature(function).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}


def name_of(function: Any) -> str:
    """Where the function is found: `numpy.sort`, `numpy.linalg.inv`."""
    for place in ("numpy", "numpy.linalg", "numpy.fft"):
        module = sys.modules.get(place)
        if getattr(module, function.__name__, None) is function:
            return f"{place}.{function.__name__}"
    raise ValueError(f"{function} is not a public function of NumPy")


def left_to_numpy(trace: Trace, function: Any, args: tuple, options: dict[str, Any]) -> Any:
    """The results of a call of NumPy's function inside the program."""
    known = LIBRARY[function]
    try:
        bound = _signature(function).bind(*args, **options).arguments
    except TypeError:
        trace.refuse("error", "TypeError")
    operands: dict[str, Tracer] = {}
    plain: dict[str, Any] = {}
    for name, item in bound.items():
        if name in known.arrays and not _is_plain(item):
            operand = trace.lift(item)
            if operand._kind != "python":
                operands[name] = operand
                continue
        plain[name] = _plain(trace, name, item)
    shapes = {}
    for name, operand in operands.items():
        trace.refuse_swapped(operand._value)
        shapes[name] = operand._value.type.shape
    if not shapes:
        trace.refuse("argument", f"{function.__name__} of numbers")
    defaults = _defaults(function)
    every = defaults | plain
    for name in known.arrays:
        if name in plain and plain[name] is not None:
            shapes[name] = np.shape(plain[name])
        if name not in shapes and name not in defaults:
            trace.refuse("error", f"TypeError: {name} is no array")
    if plain.get("out") is not None or "where" in plain:
        trace.refuse("argument", f"{function.__name__} with out= or where=")
    try:
        out = known.shapes(trace, shapes, every)
    except LookupError:  # fewer axes than the row counts with
        trace.refuse("argument", f"{function.__name__} of arrays of these ranks")
    return _emitted(trace, known, operands, plain, out)


def _is_plain(item: Any) -> bool:
    return type(item) in _PLAIN


def _plain(trace: Trace, name: str, item: Any) -> Any:
    """A parameter that becomes part of the op. A traced number's value is guarded."""
    if isinstance(item, Tracer):
        return concrete(item, f"the parameter {name}")
    if isinstance(item, SizeTracer):
        return int(item)
    if type(item) is tuple:
        return tuple([_plain(trace, name, each) for each in item])
    if not _is_plain(item):
        trace.refuse("argument", f"the parameter {name}")
    return item


def _emitted(
    trace: Trace, known: Row, operands: dict[str, Tracer], plain: dict[str, Any], out: list[Shape]
) -> Any:
    name = name_of(known.function)
    given = list(_signature(known.function).parameters)
    order = sorted(operands, key=given.index)
    # Operands are passed by place, so what stands between them has to be an operand too.
    if order != given[: len(order)]:
        trace.refuse("argument", f"{name} with these arguments")
    samples = _samples(trace, known, operands, plain, order, out)
    types = []
    for sample, shape in zip(samples, out, strict=True):
        dtype = np.asarray(sample).dtype
        if dtype not in DTYPE_NAMES:
            trace.refuse("function", name)
        types.append(ArrayType(dtype, shape))
    numbers = [place for place, each in enumerate(order) if operands[each]._kind == "scalar"]
    attrs = {
        "function": name,
        "options": tuple(plain.items()),
        "numbers": tuple(numbers),
        "types": tuple(types),
    }
    values = tuple([operands[each]._value for each in order])
    results = trace.builder.emit(raising_call if known.raising else call, values, attrs)
    wrapped = [
        trace.wrap(value, "array" if isinstance(sample, np.ndarray) else "scalar")
        for value, sample in zip(results, samples, strict=True)
    ]
    return wrapped[0] if len(wrapped) == 1 else _as_given(trace, known, wrapped)


def _as_given(trace: Trace, known: Row, wrapped: list[Any]) -> Any:
    kind = _TUPLES.get(known.function, tuple)
    return kind(*wrapped) if hasattr(kind, "_fields") else tuple(wrapped)


def _named_tuples() -> dict[Any, Any]:
    matrix = np.eye(2)
    functions = (np.linalg.eigh, np.linalg.qr, np.linalg.slogdet, np.linalg.svd)
    return {function: type(function(matrix)) for function in functions}


_TUPLES: dict[Any, Any] = {}


def _samples(
    trace: Trace,
    known: Row,
    operands: dict[str, Tracer],
    plain: dict[str, Any],
    order: list[str],
    out: list[Shape],
) -> tuple[Any, ...]:
    """What the function gives for a few elements. Ends the trace when the row is wrong."""
    if not _TUPLES:
        _TUPLES.update(_named_tuples())
    total = sum(
        trace.hint(dims.product(operand._value.type.shape)) for operand in operands.values()
    )
    values = dict(trace.values)
    if total > _MOST_SAMPLED:
        values = {name: min(size, _SAMPLE_SIZE) for name, size in values.items()}
    try:
        given = [_sample(operands[name], values) for name in order]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            samples = results_of(known.function(*given, **plain))
        expected = [tuple([dims.evaluate_size(size, values) for size in shape]) for shape in out]
    except Exception:
        trace.refuse("function", name_of(known.function) + " with these arguments")
    if [np.shape(each) for each in samples] != expected:
        trace.refuse("function", name_of(known.function) + " with these arguments")
    return samples


def _sample(operand: Tracer, values: dict[str, int]) -> Any:
    """Elements that functions of matrices accept: the identity."""
    dtype, shape = operand._value.type
    sizes = tuple([dims.evaluate_size(size, values) for size in shape])
    ones = np.eye(sizes[-2], sizes[-1]) if len(sizes) > 1 else np.ones(())
    array = np.broadcast_to(ones, sizes).astype(dtype)
    return array[()] if operand._kind == "scalar" else array


# Shapes


def first(shapes: dict[str, Shape]) -> Shape:
    """The shape of the first array."""
    return next(iter(shapes.values()))


def same(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """The shape of the first array."""
    return [first(shapes)]


def sorted_along(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """The same shape, or flat for `axis=None`."""
    shape = first(shapes)
    return [(dims.product(shape),) if plain["axis"] is None else shape]


def without_axes(shape: Shape, axes: tuple[int, ...], keepdims: bool) -> Shape:
    """What a reduction leaves."""
    if keepdims:
        return tuple([1 if axis in axes else size for axis, size in enumerate(shape)])
    return tuple([size for axis, size in enumerate(shape) if axis not in axes])


def reduced(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """The first array without some axes; before them the axes of `q`."""
    shape = first(shapes)
    keepdims = plain["keepdims"]
    axes = axes_of(trace, plain["axis"], len(shape))
    for axis in axes:
        if trace.is_zero(shape[axis]):
            trace.refuse("argument", "a statistic of nothing")
    return [(*shapes.get("q", ()), *without_axes(shape, axes, keepdims not in (False, NO_VALUE)))]


def square(trace: Trace, shape: Shape) -> Shape:
    """The shape of a stack of square matrices, whose sizes are made to agree."""
    if len(shape) < 2 or not trace.same_size(shape[-1], shape[-2]):
        trace.refuse("error", "LinAlgError: last two dimensions must be square")
    return shape


def of_square(*kinds: str) -> Shapes:
    """Results of functions of square matrices: "matrix", "vector" or "number" for each."""

    def shapes_of(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
        shape = square(trace, first(shapes))
        found = {"matrix": shape, "vector": shape[:-1], "number": shape[:-2]}
        return [found[kind] for kind in kinds]

    return shapes_of


def solution(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `solve(a, b)`: b is one vector, or a stack of matrices."""
    a, b = square(trace, shapes["a"]), shapes["b"]
    rows = b[0] if len(b) == 1 else b[-2] if b else 0
    if not b or not trace.same_size(a[-1], rows):
        trace.refuse("error", "ValueError: solve: mismatch in core dimension")
    if len(b) == 1:
        return [a[:-1]]
    return [(*trace.broadcast_shapes([a[:-2], b[:-2]]), rows, b[-1])]


def decomposed(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `svd`."""
    *stack, rows, columns = _matrix(trace, first(shapes))
    least = _smaller(trace, rows, columns)
    if not plain["compute_uv"]:
        return [(*stack, least)]
    whole = plain["full_matrices"]
    left, right = (rows, columns) if whole else (least, least)
    return [(*stack, rows, left), (*stack, least), (*stack, right, columns)]


def triangular(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `qr`."""
    *stack, rows, columns = _matrix(trace, first(shapes))
    mode = plain["mode"]
    least = _smaller(trace, rows, columns)
    if mode == "r":
        return [(*stack, least, columns)]
    if mode not in ("reduced", "complete"):
        trace.refuse("argument", f"qr(mode={mode!r})")
    inner = least if mode == "reduced" else rows
    return [(*stack, rows, inner), (*stack, inner, columns)]


def transposed(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """A matrix with its axes exchanged."""
    *stack, rows, columns = _matrix(trace, first(shapes))
    return [(*stack, columns, rows)]


def _matrix(trace: Trace, shape: Shape) -> Shape:
    if len(shape) < 2:
        trace.refuse("error", "LinAlgError: the array must be at least two-dimensional")
    return shape


def _smaller(trace: Trace, left: Size, right: Size) -> Size:
    """The smaller of two sizes; which one it is becomes a guard."""
    return left if trace.at_least(dims.subtract(right, left)) else right


def like_second(name: str) -> Shapes:
    """The shape of another array than the first."""
    return lambda trace, shapes, plain: [shapes[name]]


def overlapped(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `convolve` and `correlate`."""
    left, right = shapes.values()
    if len(left) != 1 or len(right) != 1 or trace.is_zero(left[0]) or trace.is_zero(right[0]):
        trace.refuse("argument", "a convolution of these shapes")
    less = _smaller(trace, left[0], right[0])
    more = right[0] if less is left[0] else left[0]
    mode = plain["mode"]
    both = dims.subtract(dims.add(less, more), 1)
    inner = dims.add(dims.subtract(more, less), 1)
    found = {"full": both, "same": more, "valid": inner}
    if mode not in found:
        trace.refuse("argument", f"convolve(mode={mode!r})")
    return [(found[mode],)]


def covariance(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `cov` and `corrcoef`: a number, or a matrix of the rows' (or columns') number."""
    shape = first(shapes)
    if plain["y"] is not None or "y" in shapes or not 0 < len(shape) < 3:
        trace.refuse("argument", "a covariance of these shapes")
    if len(shape) == 1:
        return [()]
    size = shape[0] if plain["rowvar"] else shape[1]
    return [()] if is_one(trace, size) else [(size, size)]


def fitted(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `polyfit`: deg + 1 coefficients."""
    if plain["full"] or plain["cov"] or type(plain["deg"]) is not int:
        trace.refuse("argument", "polyfit with these arguments")
    return [(plain["deg"] + 1, *shapes["y"][1:])]


def powers(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `vander`."""
    length = first(shapes)[0]
    return [(length, length if plain["N"] is None else plain["N"])]


def along(trace: Trace, shapes: dict[str, Shape], plain: dict[str, Any]) -> list[Shape]:
    """Of `take_along_axis`: the shape of the positions, broadcast along the other axes."""
    array, places = shapes["arr"], shapes["indices"]
    if plain["axis"] is None or len(array) != len(places):
        trace.refuse("argument", "take_along_axis of these shapes")
    axis = axis_of(trace, plain["axis"], len(array))
    pairs = enumerate(zip(array, places, strict=True))
    found = [
        places[axis] if each == axis else trace.broadcast_shapes([(one,), (other,)])[0]
        for each, (one, other) in pairs
    ]
    return [tuple(found)]


row(np.sort, "a", sorted_along)
row(np.argsort, "a", sorted_along)
row(np.partition, "a", sorted_along, raising=True)
row(np.argpartition, "a", sorted_along, raising=True)
row(np.lexsort, "keys", lambda trace, shapes, plain: [first(shapes)[1:]])
row(np.searchsorted, "a v", like_second("v"))
row(np.digitize, "x bins", same, raising=True)
row(np.interp, "x xp fp", same, raising=True)
row(np.isin, "element test_elements", same)
row(np.take_along_axis, "arr indices", along, raising=True)
row(np.convolve, "a v", overlapped)
row(np.correlate, "a v", overlapped)
row(np.unwrap, "p", same)
row(np.cov, "m y", covariance)
row(np.corrcoef, "x y", covariance)
row(np.polyfit, "x y", fitted, raising=True)
row(np.vander, "x", powers)
for _function in (np.median, np.nanmean, np.nanmedian, np.nanstd, np.nanvar, np.nanmax, np.nanmin):
    row(_function, "a", reduced)
for _function in (np.percentile, np.quantile, np.nanpercentile, np.nanquantile):
    row(_function, "a q", reduced, raising=True)
for _function in (np.nanargmax, np.nanargmin):
    row(_function, "a", reduced, raising=True)
row(np.linalg.inv, "a", of_square("matrix"), raising=True)
row(np.linalg.cholesky, "a", of_square("matrix"), raising=True)
row(np.linalg.matrix_power, "a", of_square("matrix"), raising=True)
row(np.linalg.det, "a", of_square("number"))
row(np.linalg.slogdet, "a", of_square("number", "number"))
row(np.linalg.eigh, "a", of_square("vector", "matrix"), raising=True)
row(np.linalg.eigvalsh, "a", of_square("vector"), raising=True)
row(np.linalg.solve, "a b", solution, raising=True)
row(np.linalg.svd, "a", decomposed, raising=True)
row(np.linalg.qr, "a", triangular, raising=True)
row(np.linalg.pinv, "a", transposed, raising=True)


def _method(function: Any) -> Callable[..., Any]:
    return lambda tracer, *args, **options: left_to_numpy(
        tracer._trace, function, (tracer, *args), options
    )


def _in_place(function: Any) -> Callable[..., None]:
    """`x.sort()`: the array gets the elements that `np.sort(x)` has."""

    def method(tracer: Tracer, *args: Any, **options: Any) -> None:
        if tracer._kind != "array" or options.get("axis", -1) is None or None in args[:1]:
            tracer._trace.refuse("error", "TypeError")
        moved = left_to_numpy(tracer._trace, function, (tracer, *args), options)
        write(tracer, moved._value)

    return method


for _function in (np.argsort, np.argpartition, np.searchsorted):
    METHODS[_function.__name__] = _method(_function)
METHODS["sort"] = _in_place(np.sort)
METHODS["partition"] = _in_place(np.partition)
