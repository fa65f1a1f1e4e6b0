"""Arrays of one number, and arrays of other objects: zeros, full, array, and their relatives.

    np.zeros((n, 3))        ->  broadcast_in_dim of a constant
    np.array([x, 1.0])      ->  concatenate (see `join.stack_nested`)

`zeros`, `ones`, `empty` and `full` are traced when their sizes are plain ints, too: such an array
is there to be added to in place.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.dims import Size
from ...ir.types import DTYPE_NAMES
from ..memory import may_lie_apart, perhaps_shared
from ..namespace import CREATION
from ..tracer import FUNCTIONS, Tracer
from ..ufuncs import apply
from .arguments import (
    dtype_of,
    is_here,
    is_traced,
    lengths_of,
    refuse_given,
    refuse_order,
    require_cpu,
)
from .elements import as_element, cast
from .join import stack_nested
from .views import copied, reshaped, same_memory

if TYPE_CHECKING:
    from ..tracing import Trace

_MOST_ITEMS = 1 << 12  # of an array whose contents are kept
INT, DOUBLE, BOOL = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_)


def filled(trace: Trace, value: Tracer, sizes: tuple[Size, ...]) -> Tracer:
    """An array with the scalar `value` in each element."""
    return Tracer(trace, trace.broadcast(value, sizes)._value, "array")


def _full(trace: Trace, shape: Any, number: Any, dtype: Any) -> Tracer:
    sizes = lengths_of(trace, shape)
    result = filled(trace, trace.constant(number, dtype), sizes)
    result._c_ordered = True
    plain = tuple([size for size in sizes if isinstance(size, int)])
    if len(plain) == len(sizes) and math.prod(plain) <= _MOST_ITEMS:
        result._hint = np.full(plain, number, dtype)  # for assignments
    return result


def _is_known(dtype: Any) -> bool:
    try:
        found = np.dtype(dtype)
    except TypeError:
        return False
    return found in DTYPE_NAMES and found.isnative


def _constant_maker(function: Any, number: int, name: str) -> Any:
    def handler(
        trace: Trace,
        shape: Any,
        dtype: Any = None,
        order: Any = "C",
        *,
        device: Any = None,
        like: Any = None,
    ) -> Any:
        if (
            not _is_known(dtype)
            or order not in ("C", None)
            or like is not None
            or not is_here(device)
        ):
            if is_traced(shape, like):
                trace.refuse("argument", f"{name} with these options")
            return function(shape, dtype, order, device=device, like=like)
        return _full(trace, shape, number, np.dtype(dtype))

    return handler


zeros = _constant_maker(np.zeros, 0, "zeros")
ones = _constant_maker(np.ones, 1, "ones")
empty = _constant_maker(np.empty, 0, "empty")


def full(
    trace: Trace,
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    known = dtype is None or _is_known(dtype)
    if not known or order not in ("C", None) or like is not None or not is_here(device):
        if is_traced(shape, fill_value, like):
            trace.refuse("argument", "full with these options")
        return np.full(shape, fill_value, dtype, order, device=device, like=like)
    if (
        dtype is None
        and type(fill_value) not in (bool, int, float, complex)
        and not is_traced(fill_value)
    ):
        if not _is_known(np.asarray(fill_value).dtype):
            return np.full(shape, fill_value)
    result = _filled_like(trace, lengths_of(trace, shape), fill_value, dtype)
    result._c_ordered = True
    return result


def _filled_like(trace: Trace, sizes: tuple[Size, ...], fill_value: Any, dtype: Any) -> Tracer:
    """`np.full`: a broadcast of anything, converted as an assignment does."""
    value = trace.lift(fill_value)
    if dtype is not None:
        weak = value._kind == "python" and value._value.type.dtype.kind != "c"
        value = (as_element if weak else cast)(trace, value, np.dtype(dtype))
    if not trace.fits(value._value.type.shape, sizes):
        trace.refuse("error", "ValueError: could not broadcast")
    return filled(trace, value, sizes)


def _like(number: int | None, function: Any, name: str) -> Any:
    def handler(
        trace: Trace,
        a: Any,
        dtype: Any = None,
        order: Any = "K",
        subok: Any = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> Any:
        if not is_traced(a, shape):
            return function(a, dtype, order, subok, shape, device=device)
        refuse_order(trace, order)
        require_cpu(trace, device)
        operand = trace.lift(a)
        if dtype is None:
            trace.refuse_swapped(operand._value)
        sizes = operand._value.type.shape if shape is None else lengths_of(trace, shape)
        return filled(
            trace,
            trace.constant(number, operand.dtype if dtype is None else dtype_of(trace, dtype)),
            sizes,
        )

    return handler


zeros_like = _like(0, np.zeros_like, "zeros_like")
ones_like = _like(1, np.ones_like, "ones_like")
empty_like = _like(0, np.empty_like, "empty_like")


def full_like(
    trace: Trace,
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    if not is_traced(a, fill_value, shape):
        return np.full_like(a, fill_value, dtype, order, subok, shape, device=device)
    refuse_order(trace, order)
    require_cpu(trace, device)
    operand = trace.lift(a)
    if dtype is None:
        trace.refuse_swapped(operand._value)
    sizes = operand._value.type.shape if shape is None else lengths_of(trace, shape)
    return _filled_like(
        trace, sizes, fill_value, operand.dtype if dtype is None else dtype_of(trace, dtype)
    )


# np.array and its relatives


def array(
    trace: Trace,
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: Any = False,
    ndmin: Any = 0,
    ndmax: Any = 0,
    like: Any = None,
) -> Any:
    if not is_traced(object):
        options = {"copy": copy, "order": order, "subok": subok, "ndmin": ndmin, "like": like}
        return np.array(object, dtype, **options, **({"ndmax": ndmax} if ndmax else {}))
    refuse_order(trace, order)
    refuse_given(trace, "array", like=like)
    if ndmax:
        trace.refuse("argument", "array(ndmax=...)")
    result = _as_array(trace, object, dtype, copy)
    if result.ndim < ndmin:
        result = reshaped(trace, result, (1,) * (ndmin - result.ndim) + result._value.type.shape)
    return result


def _as_array(trace: Trace, item: Any, dtype: Any, copy: Any) -> Tracer:
    """An array of what holds a tracer: itself when it is one and nothing asks for a copy."""
    target = None if dtype is None else dtype_of(trace, dtype)
    if type(item) in (list, tuple):
        if copy is False:
            trace.refuse("error", "ValueError: Unable to avoid copy")
        return stack_nested(trace, item, target)
    operand = trace.lift(item)
    if target is not None and operand._value.type.dtype != target or operand._kind != "array":
        if copy is False:
            trace.refuse("error", "ValueError: Unable to avoid copy")
        if target is not None:
            operand = (as_element if operand._kind == "python" else cast)(trace, operand, target)
        return copied(trace, operand)
    return copied(trace, operand) if copy else operand


def asarray(
    trace: Trace,
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: Any = None,
    like: Any = None,
) -> Any:
    if not is_traced(a):
        return np.asarray(a, dtype, order, device=device, copy=copy, like=like)
    refuse_order(trace, order)
    require_cpu(trace, device)
    refuse_given(trace, "asarray", like=like)
    return _as_array(trace, a, dtype, copy)


def ascontiguousarray(trace: Trace, a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    if not is_traced(a):
        return np.ascontiguousarray(a, dtype, like=like)
    trace.asks_c_order = True
    result = _as_array(trace, a, dtype, None)
    if not result.ndim:
        return reshaped(trace, result, (1,))
    if result.ndim == 1 and not may_lie_apart(result):
        return same_memory(trace, result)
    return perhaps_shared(result, copied(trace, result))  # NumPy decides by the strides


def asfortranarray(trace: Trace, a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    if not is_traced(a):
        return np.asfortranarray(a, dtype, like=like)
    refuse_given(trace, "asfortranarray", like=like)
    result = _as_array(trace, a, dtype, None)
    if not result.ndim:
        return reshaped(trace, result, (1,))
    return perhaps_shared(result, copied(trace, result))  # NumPy decides by the strides


def asarray_chkfinite(trace: Trace, a: Any, dtype: Any = None, order: Any = None) -> Any:
    if not is_traced(a):
        return np.asarray_chkfinite(a, dtype, order)
    refuse_order(trace, order)
    result = _as_array(trace, a, dtype, None)
    if result._value.type.dtype.kind in "fc":
        finite = FUNCTIONS[np.all](trace, apply(trace, np.isfinite, [result]))
        trace.check(finite, "array must not contain infs or NaNs")
    return result


def copy(trace: Trace, a: Any, order: Any = "K", subok: Any = False) -> Tracer:
    refuse_order(trace, order)
    return copied(trace, trace.lift(a))


FUNCTIONS.update(
    {
        np.zeros_like: zeros_like,
        np.ones_like: ones_like,
        np.empty_like: empty_like,
        np.full_like: full_like,
        np.copy: copy,
    }
)
CREATION.update(
    {
        np.zeros: zeros,
        np.ones: ones,
        np.empty: empty,
        np.full: full,
        np.zeros_like: zeros_like,
        np.ones_like: ones_like,
        np.empty_like: empty_like,
        np.full_like: full_like,
        np.array: array,
        np.asarray: asarray,
        np.asanyarray: asarray,
        np.ascontiguousarray: ascontiguousarray,
        np.asfortranarray: asfortranarray,
        np.asarray_chkfinite: asarray_chkfinite,
    }
)
