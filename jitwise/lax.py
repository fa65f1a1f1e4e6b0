"""`jitwise.lax`: the elementwise and shape functions of `jax.lax`, on arrays and inside of jitted
functions.

Each is written with NumPy functions, so it has NumPy's semantics: float64 stays float64, integer
division rounds toward zero as
`jax.lax.div` does, and what is out of range raises. Unlike `jitwise.numpy` functions, these do not
promote: operands must have one
dtype, as in jax.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as _np

_slice = slice  # this module's own `slice` is jax's


def _dtype(item: Any) -> Any:
    """The dtype of an array, or None for a Python number, which takes the dtype of its partner."""
    return None if type(item) in (int, float, bool, complex) else getattr(item, "dtype", None)


def _checked(name: str, *operands: Any) -> None:
    dtypes = [dtype for dtype in map(_dtype, operands) if dtype is not None]
    if any(dtype != dtypes[0] for dtype in dtypes):
        shown = ", ".join(str(dtype) for dtype in dtypes)
        raise TypeError(
            f"lax.{name} needs operands of one dtype, got {shown}; "
            "convert with lax.convert_element_type"
        )


def _unary(name: str, function: Any) -> Any:
    def wrapped(x: Any) -> Any:
        return function(x)

    wrapped.__name__ = wrapped.__qualname__ = name
    wrapped.__doc__ = f"Elementwise `numpy.{getattr(function, '__name__', name)}`."
    return wrapped


def _binary(name: str, function: Any) -> Any:
    def wrapped(x: Any, y: Any) -> Any:
        _checked(name, x, y)
        return function(x, y)

    wrapped.__name__ = wrapped.__qualname__ = name
    wrapped.__doc__ = f"Elementwise `numpy.{function.__name__}` of operands of one dtype."
    return wrapped


def _rsqrt(x: Any) -> Any:
    return 1 / _np.sqrt(x)


def _logistic(x: Any) -> Any:
    return 1 / (1 + _np.exp(-x))


_UNARY = {
    "abs": _np.absolute,
    "acos": _np.arccos,
    "acosh": _np.arccosh,
    "asin": _np.arcsin,
    "asinh": _np.arcsinh,
    "atan": _np.arctan,
    "atanh": _np.arctanh,
    "bitwise_not": _np.invert,
    "cbrt": _np.cbrt,
    "ceil": _np.ceil,
    "conj": _np.conjugate,
    "cos": _np.cos,
    "cosh": _np.cosh,
    "exp": _np.exp,
    "exp2": _np.exp2,
    "expm1": _np.expm1,
    "floor": _np.floor,
    "imag": _np.imag,
    "is_finite": _np.isfinite,
    "log": _np.log,
    "log1p": _np.log1p,
    "logistic": _logistic,
    "neg": _np.negative,
    "population_count": _np.bitwise_count,
    "real": _np.real,
    "reciprocal": _np.reciprocal,
    "round": _np.rint,
    "rsqrt": _rsqrt,
    "sign": _np.sign,
    "sin": _np.sin,
    "sinh": _np.sinh,
    "sqrt": _np.sqrt,
    "square": _np.square,
    "tan": _np.tan,
    "tanh": _np.tanh,
}
_BINARY = {
    "add": _np.add,
    "atan2": _np.arctan2,
    "bitwise_and": _np.bitwise_and,
    "bitwise_or": _np.bitwise_or,
    "bitwise_xor": _np.bitwise_xor,
    "eq": _np.equal,
    "ge": _np.greater_equal,
    "gt": _np.greater,
    "le": _np.less_equal,
    "lt": _np.less,
    "max": _np.maximum,
    "min": _np.minimum,
    "mul": _np.multiply,
    "ne": _np.not_equal,
    "nextafter": _np.nextafter,
    "pow": _np.power,
    "rem": _np.fmod,
    "shift_left": _np.left_shift,
    "shift_right_arithmetic": _np.right_shift,
    "sub": _np.subtract,
}
globals().update({name: _unary(name, function) for name, function in _UNARY.items()})
globals().update({name: _binary(name, function) for name, function in _BINARY.items()})


def div(x: Any, y: Any) -> Any:
    """Elementwise quotient of operands of one dtype; integers round toward zero."""
    _checked("div", x, y)
    if _np.result_type(x, y).kind in "iub":
        return (x - _np.fmod(x, y)) // y
    return _np.true_divide(x, y)


def integer_pow(x: Any, y: int) -> Any:
    """`x ** y` for a Python int `y`."""
    if isinstance(y, bool) or not isinstance(y, int):
        raise TypeError(f"lax.integer_pow needs a Python int, got {y!r}")
    return x**y


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Elements of `on_true` where `pred`, else of `on_false`; both of one dtype."""
    _checked("select", on_true, on_false)
    return _np.where(pred, on_true, on_false)


def clamp(minimum: Any, x: Any, maximum: Any) -> Any:
    """`x` limited to [minimum, maximum], elementwise."""
    return _np.clip(x, minimum, maximum)


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """`operand` converted as `ndarray.astype` does."""
    return (
        _np.asarray(operand).astype(new_dtype)
        if _dtype(operand) is None
        else operand.astype(new_dtype)
    )


def broadcast(operand: Any, sizes: Sequence[int]) -> Any:
    """Add leading axes of these sizes."""
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
    sizes: list[Any] = [1] * len(shape)
    for size, axis in zip(_np.shape(operand), broadcast_dimensions, strict=True):
        sizes[axis] = size
    return _np.broadcast_to(_np.reshape(operand, tuple(sizes)), tuple(shape))


def reshape(operand: Any, new_sizes: Sequence[int]) -> Any:
    """`operand` with another shape of as many elements."""
    return _np.reshape(operand, tuple(new_sizes))


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """`operand` with its axes permuted."""
    return _np.transpose(operand, tuple(permutation))


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """`operand` reversed along these axes."""
    return _np.flip(operand, tuple(dimensions))


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """`array` without these axes of size 1."""
    return _np.squeeze(array, tuple(dimensions))


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """`array` with axes of size 1 at these places of the result."""
    return _np.expand_dims(array, tuple(dimensions))


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Join arrays of one dtype along an axis."""
    _checked("concatenate", *operands)
    return _np.concatenate(list(operands), axis=dimension)


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Any:
    """`operand[start:limit:stride]` along one axis."""
    index: list[Any] = [_slice(None)] * _np.ndim(operand)
    index[axis] = _slice(start_index, limit_index, stride)
    return operand[tuple(index)]


def slice_(operand: Any, start_indices: Any, limit_indices: Any, strides: Any = None) -> Any:
    """`operand[start:limit:stride]` along every axis (`lax.slice`)."""
    steps = (1,) * len(start_indices) if strides is None else strides
    return operand[
        tuple(_slice(*each) for each in zip(start_indices, limit_indices, steps, strict=True))
    ]


def dot(lhs: Any, rhs: Any) -> Any:
    """The matrix or inner product of arrays of one dtype."""
    _checked("dot", lhs, rhs)
    return _np.dot(lhs, rhs)


def iota(dtype: Any, size: int) -> Any:
    """0, 1, ..., size - 1."""
    return _np.arange(size).astype(dtype)


def full_like(x: Any, fill_value: Any) -> Any:
    """An array like `x` filled with a value."""
    return _np.full_like(x, fill_value)


def cumsum(operand: Any, axis: int = 0) -> Any:
    """Running sum in the operand's dtype."""
    return _np.cumsum(operand, axis=axis, dtype=operand.dtype)


def cumprod(operand: Any, axis: int = 0) -> Any:
    """Running product in the operand's dtype."""
    return _np.cumprod(operand, axis=axis, dtype=operand.dtype)


globals()["slice"] = slice_
_NOT_OURS = {"Any", "Sequence", "annotations", "slice_"}
__all__ = [name for name in globals() if not name.startswith("_") and name not in _NOT_OURS]
