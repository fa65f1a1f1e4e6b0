"""`jitwise.lax`: the elementwise and shape functions of `jax.lax`, on arrays and inside of jitted
functions.

Each is written with NumPy functions, so it has NumPy's semantics: float64 stays float64, what is
out of range raises. As in jax, and other than in `jitwise.numpy`, nothing is promoted, broadcast or
clamped unasked:

    lax.add(f64[5], f64[])        a single value, or axes of size 1, are repeated
    lax.add(f64[5], f64[2, 5])    TypeError: ranks differ
    lax.add(f64[5], f32[5])       TypeError: dtypes differ; so does lax.add(f64[5], 2)
    lax.slice(f64[5], (1,), (9,)) TypeError: out of range

A Python number takes the dtype of its partner, when it is of the same kind.
"""

from __future__ import annotations

import operator as _operator
from collections.abc import Sequence
from itertools import pairwise as _pairwise
from typing import Any

import numpy as _np

from .lax_control import (
    associative_scan,
    cond,
    fori_loop,
    map,  # noqa: A004 - jax calls it so
    scan,
    switch,
    while_loop,
)

_slice = slice  # this module's own `slice` is jax's
_KINDS = {
    "b": "bool",
    "i": "signed integer",
    "u": "unsigned integer",
    "f": "floating",
    "c": "complex",
}
_NUMBERS = {bool: "b", int: "iu", float: "f", complex: "c"}
_ANY, _NUMERIC, _REAL, _INTEGERS, _INEXACT = "biufc", "iufc", "biuf", "iu", "fc"


def _is_number(item: Any) -> bool:
    """Whether an operand is a Python number, or stands for one."""
    return item.__class__ in _NUMBERS


def _dtype(item: Any) -> Any:
    """The dtype of an array, or None for a Python number, which takes the dtype of its partner."""
    if _is_number(item):
        return None
    return item.dtype if hasattr(item, "dtype") else _np.asarray(item).dtype


def _shape(item: Any) -> tuple[int, ...]:
    return () if _is_number(item) else item.shape if hasattr(item, "shape") else _np.shape(item)


def _checked(name: str, *operands: Any, kinds: str = _ANY) -> None:
    """Operands have one dtype, of one of these kinds."""
    dtypes = [dtype for each in operands if (dtype := _dtype(each)) is not None]
    numbers = [item for item in operands if _is_number(item)]
    found = {dtype.kind for dtype in dtypes}
    alike = all(dtype == dtypes[0] for dtype in dtypes)
    if dtypes:
        alike = alike and all(dtypes[0].kind in _NUMBERS[item.__class__] for item in numbers)
    else:
        alike = len({item.__class__ for item in numbers}) < 2
        found = {_NUMBERS[item.__class__][0] for item in numbers}
    if not alike:
        shown = ", ".join(str(_dtype(item) or item.__class__.__name__) for item in operands)
        raise TypeError(
            f"lax.{name} needs operands of one dtype, got {shown}; "
            "convert with lax.convert_element_type"
        )
    for kind in found - set(kinds):
        accepted = ", ".join(_KINDS[each] for each in kinds)
        raise TypeError(f"lax.{name} does not take {_KINDS.get(kind, kind)} operands: {accepted}")


def _fit(name: str, *operands: Any) -> None:
    """Shapes are equal, apart from single values and axes of size 1."""
    shapes = [shape for each in operands if (shape := _shape(each))]
    if not shapes:
        return
    if any(len(shape) != len(shapes[0]) for shape in shapes):
        shown = " and ".join(str(len(shape)) for shape in shapes)
        raise TypeError(f"lax.{name} needs operands of one rank, got {shown} axes; reshape them")
    for sizes in zip(*shapes, strict=True):
        given = [size for size in sizes if size != 1]
        if any(size != given[0] for size in given):
            raise TypeError(f"lax.{name} got shapes that do not fit: {_shown(shapes)}")


def _shown(shapes: Sequence[tuple[int, ...]]) -> str:
    return ", ".join(str(tuple(int(size) for size in shape)) for shape in shapes)


def _axis(name: str, axis: Any, ndim: int) -> int:
    """An axis counted from the front, which must be there."""
    number = _operator.index(axis)
    if not 0 <= number < ndim:
        raise TypeError(f"lax.{name} of {ndim} axes has no axis {number}; count from 0")
    return number


def _unary(name: str, function: Any, kinds: str) -> Any:
    def wrapped(x: Any) -> Any:
        _checked(name, x, kinds=kinds)
        return function(x)

    wrapped.__name__ = wrapped.__qualname__ = name
    wrapped.__doc__ = f"Elementwise `numpy.{getattr(function, '__name__', name)}`."
    return wrapped


def _binary(name: str, function: Any, kinds: str) -> Any:
    def wrapped(x: Any, y: Any) -> Any:
        _checked(name, x, y, kinds=kinds)
        _fit(name, x, y)
        return function(x, y)

    wrapped.__name__ = wrapped.__qualname__ = name
    wrapped.__doc__ = f"Elementwise `numpy.{function.__name__}` of operands of one dtype."
    return wrapped


def _population_count(x: Any) -> Any:
    return _np.bitwise_count(x).astype(_dtype(x) or int)


def _rsqrt(x: Any) -> Any:
    return 1 / _np.sqrt(x)


def _logistic(x: Any) -> Any:
    return 1 / (1 + _np.exp(-x))


_UNARY = {
    "abs": (_np.absolute, "ifc"),
    "acos": (_np.arccos, _INEXACT),
    "acosh": (_np.arccosh, _INEXACT),
    "asin": (_np.arcsin, _INEXACT),
    "asinh": (_np.arcsinh, _INEXACT),
    "atan": (_np.arctan, _INEXACT),
    "atanh": (_np.arctanh, _INEXACT),
    "bitwise_not": (_np.invert, "biu"),
    "cbrt": (_np.cbrt, "f"),
    "ceil": (_np.ceil, "f"),
    "conj": (_np.conjugate, _INEXACT),
    "cos": (_np.cos, _INEXACT),
    "cosh": (_np.cosh, _INEXACT),
    "exp": (_np.exp, _INEXACT),
    "exp2": (_np.exp2, _INEXACT),
    "expm1": (_np.expm1, _INEXACT),
    "floor": (_np.floor, "f"),
    "imag": (_np.imag, "c"),
    "is_finite": (_np.isfinite, "f"),
    "log": (_np.log, _INEXACT),
    "log1p": (_np.log1p, _INEXACT),
    "logistic": (_logistic, _INEXACT),
    "neg": (_np.negative, _NUMERIC),
    "population_count": (_population_count, _INTEGERS),
    "real": (_np.real, "c"),
    "reciprocal": (_np.reciprocal, _INEXACT),
    "round": (_np.rint, "f"),
    "rsqrt": (_rsqrt, _INEXACT),
    "sign": (_np.sign, _NUMERIC),
    "sin": (_np.sin, _INEXACT),
    "sinh": (_np.sinh, _INEXACT),
    "sqrt": (_np.sqrt, _INEXACT),
    "square": (_np.square, _NUMERIC),
    "tan": (_np.tan, _INEXACT),
    "tanh": (_np.tanh, _INEXACT),
}
_BINARY = {
    "add": (_np.add, _NUMERIC),
    "atan2": (_np.arctan2, "f"),
    "bitwise_and": (_np.bitwise_and, "biu"),
    "bitwise_or": (_np.bitwise_or, "biu"),
    "bitwise_xor": (_np.bitwise_xor, "biu"),
    "eq": (_np.equal, _ANY),
    "ge": (_np.greater_equal, _REAL),
    "gt": (_np.greater, _REAL),
    "le": (_np.less_equal, _REAL),
    "lt": (_np.less, _REAL),
    "max": (_np.maximum, _ANY),
    "min": (_np.minimum, _ANY),
    "mul": (_np.multiply, _NUMERIC),
    "ne": (_np.not_equal, _ANY),
    "nextafter": (_np.nextafter, "f"),
    "rem": (_np.fmod, "iuf"),
    "shift_left": (_np.left_shift, _INTEGERS),
    "shift_right_arithmetic": (_np.right_shift, _INTEGERS),
    "sub": (_np.subtract, _NUMERIC),
}
globals().update({name: _unary(name, *row) for name, row in _UNARY.items()})
globals().update({name: _binary(name, *row) for name, row in _BINARY.items()})


def pow(x: Any, y: Any) -> Any:
    """Elementwise power of a floating or complex `x`; `y` has its dtype, or is of integers."""
    _checked("pow", x, kinds=_INEXACT)
    exponent = _np.dtype(int) if _is_number(y) and y.__class__ is int else _dtype(y)
    if exponent is None or exponent.kind not in "iu":
        _checked("pow", x, y)
        exponent = None
    _fit("pow", x, y)
    if exponent is None or _is_number(y):
        return _np.power(x, y)
    return _np.power(x, y.astype(_dtype(x) or float))


def div(x: Any, y: Any) -> Any:
    """Elementwise quotient of operands of one dtype; integers round toward zero."""
    _checked("div", x, y, kinds=_NUMERIC)
    _fit("div", x, y)
    if _np.result_type(x, y).kind in _INTEGERS:
        return (x - _np.fmod(x, y)) // y
    return _np.true_divide(x, y)


def integer_pow(x: Any, y: int) -> Any:
    """`x ** y` for a Python int `y`, which is not negative when `x` is of integers."""
    if isinstance(y, bool) or not isinstance(y, int):
        raise TypeError(f"lax.integer_pow needs a Python int, got {y!r}")
    _checked("integer_pow", x, kinds=_NUMERIC)
    if y < 0 and (x.__class__ is int or not _is_number(x) and _dtype(x).kind in _INTEGERS):
        raise TypeError(f"lax.integer_pow of integers needs a power of at least 0, got {y}")
    return x**y


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Elements of `on_true` where `pred`, else of `on_false`: both of one dtype and shape; `pred`
    has that shape too, or is a single value.
    """
    shape = _shape(on_true)
    if _shape(on_false) != shape:
        shapes = _shown([shape, _shape(on_false)])
        raise TypeError(f"lax.select needs cases of one shape, got {shapes}; use lax.full_like")
    if _shape(pred) not in ((), shape):
        shapes = _shown([_shape(pred), shape])
        raise TypeError(f"lax.select needs a single pred, or one of the cases' shape, got {shapes}")
    _checked("select", on_true, on_false)
    _checked("select", pred, kinds="biu")
    return _np.where(pred, on_true, on_false)


def clamp(min: Any, x: Any, max: Any) -> Any:
    """`x` limited to [min, max], elementwise; each is a single value, or of the shape of `x`."""
    for limit in (min, max):
        if _shape(limit) not in ((), _shape(x)):
            shapes = _shown([_shape(limit), _shape(x)])
            raise TypeError(f"lax.clamp needs single limits, or ones of x's shape, got {shapes}")
    _checked("clamp", min, x, max, kinds=_REAL)
    return _np.clip(x, min, max)


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """`operand` converted as `ndarray.astype` does."""
    return (
        _np.asarray(operand).astype(new_dtype)
        if _dtype(operand) is None
        else operand.astype(new_dtype)
    )


def broadcast(operand: Any, sizes: Sequence[int]) -> Any:
    """Add leading axes of these sizes."""
    if any(size < 0 for size in sizes):
        raise TypeError(f"lax.broadcast needs sizes of at least 0, got {tuple(sizes)}")
    return _np.broadcast_to(operand, (*sizes, *_np.shape(operand)))


def broadcast_in_dim(
    operand: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int]
) -> Any:
    """Place axis i of `operand` at `broadcast_dimensions[i]` of `shape`, and broadcast."""
    if len(broadcast_dimensions) != _np.ndim(operand):
        raise TypeError(
            f"lax.broadcast_in_dim needs a place for each of {_np.ndim(operand)} axes, "
            f"got {broadcast_dimensions}"
        )
    places = [_axis("broadcast_in_dim", axis, len(shape)) for axis in broadcast_dimensions]
    if any(later <= before for before, later in _pairwise(places)):
        raise TypeError(f"lax.broadcast_in_dim needs rising dimensions, got {tuple(places)}")
    sizes: list[Any] = [1] * len(shape)
    for size, axis in zip(_shape(operand), places, strict=True):
        if size not in (1, shape[axis]):
            raise TypeError(
                f"lax.broadcast_in_dim cannot repeat an axis of size {size} to {shape[axis]}"
            )
        sizes[axis] = size
    return _np.broadcast_to(_np.reshape(operand, tuple(sizes)), tuple(shape))


def reshape(operand: Any, new_sizes: Sequence[int]) -> Any:
    """`operand` with another shape of as many elements; no size is left to be found (-1)."""
    sizes = (new_sizes,) if isinstance(new_sizes, int) else tuple(new_sizes)
    if any(size < 0 for size in sizes):
        raise TypeError(f"lax.reshape needs sizes of at least 0, got {sizes}")
    return _np.reshape(operand, sizes)


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """`operand` with its axes permuted."""
    if sorted(permutation) != list(range(_np.ndim(operand))):
        raise TypeError(
            f"lax.transpose needs each of {_np.ndim(operand)} axes once, got {tuple(permutation)}"
        )
    return _np.transpose(operand, tuple(permutation))


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """`operand` reversed along these axes."""
    axes = tuple([_axis("rev", axis, _np.ndim(operand)) for axis in dimensions])
    if len(set(axes)) < len(axes):
        raise TypeError(f"lax.rev needs each axis once, got {axes}")
    return _np.flip(operand, axes)


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """`array` without these axes of size 1."""
    return _np.squeeze(array, tuple(dimensions))


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """`array` with axes of size 1 at these places of the result."""
    return _np.expand_dims(array, tuple(dimensions))


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Join arrays of one dtype along an axis."""
    if not len(operands):
        raise ValueError("lax.concatenate needs at least one array")
    _checked("concatenate", *operands)
    ranks = {len(_shape(item)) for item in operands}
    if len(ranks) > 1:
        raise TypeError(f"lax.concatenate needs arrays of one rank, got {sorted(ranks)} axes")
    axis = _axis("concatenate", dimension, ranks.pop())
    return _np.concatenate(list(operands), axis=axis)


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Any:
    """`operand[start:limit:stride]` along one axis. A negative index counts from the end; one that
    is out of range raises.
    """
    shape = _shape(operand)
    if not -len(shape) <= axis < len(shape):
        raise IndexError(f"lax.slice_in_dim of {len(shape)} axes has no axis {axis}")
    size = shape[axis]
    start = 0 if start_index is None else start_index if start_index >= 0 else size + start_index
    limit = size if limit_index is None else limit_index
    limit = limit if limit >= 0 else size + limit
    index: list[Any] = [_slice(None)] * len(shape)
    index[axis] = _range("slice_in_dim", start, limit, stride, size)
    return operand[tuple(index)]


def slice_(operand: Any, start_indices: Any, limit_indices: Any, strides: Any = None) -> Any:
    """`operand[start:limit:stride]` along every axis (`lax.slice`). What is out of range raises."""
    shape = _shape(operand)
    steps = (1,) * len(shape) if strides is None else strides
    for given in (start_indices, limit_indices, steps):
        if len(given) != len(shape):
            raise TypeError(f"lax.slice needs an index for each of {len(shape)} axes, got {given}")
    rows = zip(start_indices, limit_indices, steps, shape, strict=True)
    return operand[tuple([_range("slice", *row) for row in rows])]


def _range(name: str, start: Any, limit: Any, stride: Any, size: Any) -> Any:
    """The slice of an axis, when it lies inside."""
    if stride < 1:
        raise TypeError(f"lax.{name} needs strides of at least 1, got {stride}")
    if start < 0 or limit < start or limit > size and limit != start:
        raise TypeError(f"lax.{name} from {start} to {limit} is not inside an axis of size {size}")
    return _slice(start, limit, stride)


def dot(lhs: Any, rhs: Any) -> Any:
    """The matrix or inner product of arrays of one dtype, each a vector or a matrix."""
    _checked("dot", lhs, rhs)
    shapes = [_shape(lhs), _shape(rhs)]
    if not all(1 <= len(shape) <= 2 for shape in shapes) or shapes[0][-1] != shapes[1][0]:
        raise ValueError(f"lax.dot needs vectors or matrices that fit, got {_shown(shapes)}")
    return _np.dot(lhs, rhs)


def iota(dtype: Any, size: int) -> Any:
    """0, 1, ..., size - 1."""
    if size < 0 or _np.dtype(dtype).kind == "b":
        raise TypeError(f"lax.iota needs a dtype of numbers and a size, got {dtype!r}, {size}")
    return _np.arange(size).astype(dtype)


def full_like(x: Any, fill_value: Any) -> Any:
    """An array like `x` filled with a single value."""
    if _shape(fill_value):
        raise TypeError(f"lax.full_like needs a single value, got shape {_shape(fill_value)}")
    return _np.full_like(x, fill_value)


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Running sum in the operand's dtype; from the end when `reverse`."""
    return _running("cumsum", _np.cumsum, operand, axis, reverse)


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Running product in the operand's dtype; from the end when `reverse`."""
    return _running("cumprod", _np.cumprod, operand, axis, reverse)


def _running(name: str, function: Any, operand: Any, axis: int, reverse: bool) -> Any:
    _checked(name, operand, kinds=_NUMERIC)
    axis = _axis(name, axis, _np.ndim(operand))
    ahead = _np.flip(operand, axis) if reverse else operand
    result = function(ahead, axis=axis, dtype=operand.dtype)
    return _np.flip(result, axis) if reverse else result


_control = (associative_scan, cond, fori_loop, map, scan, switch, while_loop)
globals()["slice"] = slice_
_NOT_OURS = {"Any", "Sequence", "annotations", "slice_"}
__all__ = [name for name in globals() if not name.startswith("_") and name not in _NOT_OURS]
