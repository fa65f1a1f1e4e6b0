"""Shapes of what functions left to NumPy give, for rows of `library`.

reduced of f64[n, m], axis=0     ->  [(m,)]
of_square("vector", "matrix")    ->  [(n,), (n, n)], and n is made to agree with m
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir import dims
from ...ir.dims import Size
from .arguments import NO_VALUE, axes_of, axis_of
from .library import Shape, Shapes

if TYPE_CHECKING:
    from ..tracing import Trace


def first(shapes: dict[str, Any]) -> Shape:
    """The shape of the first array."""
    return next(iter(shapes.values()))


def of_array(trace: Trace, nest: Any) -> Shape:
    """The shape of the array that NumPy makes of a list of arrays; its parts are made to agree."""
    if type(nest) is not list:
        return nest
    parts = [of_array(trace, each) for each in nest]
    if not all(len(each) == len(parts[0]) and trace.fits(each, parts[0]) for each in parts):
        trace.refuse("error", "ValueError: arrays of several shapes in a list")
    return (len(parts), *parts[0]) if parts else (0,)


def same(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """The shape of the first array."""
    return [of_array(trace, first(shapes))]


def like(name: str) -> Shapes:
    """The shape of the array of this name."""
    return lambda trace, shapes, plain: [shapes[name]]


def number(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """One number."""
    return [()]


def broadcast(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """The common shape of all arrays."""
    return [trace.broadcast_shapes(list(shapes.values()))]


def flattened(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """All elements in a row."""
    return [(dims.product(first(shapes)),)]


def flat_for_none(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """The same shape, or flat for `axis=None`."""
    shape = first(shapes)
    return [(dims.product(shape),) if plain["axis"] is None else shape]


def without_axes(shape: Shape, axes: tuple[int, ...], keepdims: bool) -> Shape:
    """What a reduction leaves."""
    if keepdims:
        return tuple([1 if axis in axes else size for axis, size in enumerate(shape)])
    return tuple([size for axis, size in enumerate(shape) if axis not in axes])


def reduced(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """The first array without some axes; before them the axes of `q`."""
    shape = first(shapes)
    axis = tuple(plain["axis"]) if type(plain["axis"]) is list else plain["axis"]
    axes = axes_of(trace, axis, len(shape))
    keepdims = plain["keepdims"] not in (False, NO_VALUE)
    return [(*shapes.get("q", ()), *without_axes(shape, axes, keepdims))]


def replaced(shape: Shape, axis: int, size: Size) -> Shape:
    """A shape with another size along `axis`."""
    return (*shape[:axis], size, *shape[axis + 1 :])


def along(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
    """Of `take_along_axis`: the shape of the positions, broadcast along the other axes."""
    array, places = shapes["arr"], shapes["indices"]
    if plain["axis"] is None:
        return [places]
    if len(array) != len(places):
        trace.refuse("error", "ValueError: the shapes have not as many axes")
    axis = axis_of(trace, plain["axis"], len(array))
    pairs = enumerate(zip(array, places, strict=True))
    found = [
        places[axis] if each == axis else trace.broadcast_shapes([(one,), (other,)])[0]
        for each, (one, other) in pairs
    ]
    return [tuple(found)]


# Matrices


def square(trace: Trace, shape: Shape) -> Shape:
    """The shape of a stack of square matrices, whose sizes are made to agree."""
    if len(shape) < 2 or not trace.same_size(shape[-1], shape[-2]):
        trace.refuse("error", "LinAlgError: last two dimensions must be square")
    return shape


def matrix(trace: Trace, shape: Shape) -> Shape:
    """The shape of a stack of matrices."""
    if len(shape) < 2:
        trace.refuse("error", "LinAlgError: the array must be at least two-dimensional")
    return shape


def of_square(*kinds: str) -> Shapes:
    """Results of functions of square matrices: "matrix", "vector" or "number" for each."""

    def shapes_of(trace: Trace, shapes: dict[str, Any], plain: dict[str, Any]) -> list[Any]:
        shape = square(trace, first(shapes))
        found = {"matrix": shape, "vector": shape[:-1], "number": shape[:-2]}
        return [found[kind] for kind in kinds]

    return shapes_of


def smaller(trace: Trace, left: Size, right: Size) -> Size:
    """The smaller of two sizes; which one it is becomes a guard."""
    return left if trace.at_least(dims.subtract(right, left)) else right


def larger(trace: Trace, left: Size, right: Size) -> Size:
    """The larger of two sizes; which one it is becomes a guard."""
    return right if trace.at_least(dims.subtract(right, left)) else left
