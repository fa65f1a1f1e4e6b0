"""Reading arguments as NumPy does: axes, dtypes, shapes, and comparisons of sizes.

    axes_of(trace, -1, 3)      ->  (2,)
    axes_of(trace, None, 3)    ->  (0, 1, 2)
    shape_of(trace, (n, -1))   ->  (n, -1)         n a size known at run time

What NumPy would refuse is refused with reason "error": the function then runs as Python, which
raises. A comparison of sizes that is not known beforehand is decided by this call and becomes a
guard.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ir.types import DTYPE_NAMES
from ..size import SizeTracer, size_of
from ..tracer import Tracer

if TYPE_CHECKING:
    from ..tracing import Trace

NO_VALUE: Any = np._NoValue  # type: ignore[attr-defined]


def axis_of(trace: Trace, axis: Any, ndim: int) -> int:
    """One axis, counted from the front."""
    if type(axis) is not int:
        if type(axis) is bool:  # an axis to some functions only
            trace.refuse("argument", f"axis={axis}")
        try:
            axis = operator.index(axis)
        except TypeError:
            trace.refuse("error", "TypeError")
    if not -ndim <= axis < ndim:
        trace.refuse("error", "AxisError")
    return axis + ndim if axis < 0 else axis


def axes_of(trace: Trace, axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes that a reduction works on, in ascending order."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is not tuple:
        return (axis_of(trace, axis, ndim),)
    axes = tuple(sorted([axis_of(trace, each, ndim) for each in axis]))
    if len(set(axes)) != len(axes):
        trace.refuse("error", "ValueError: duplicate axis")
    return axes


def dtype_of(trace: Trace, dtype: Any) -> np.dtype:
    """A dtype that the tensor IR has."""
    if isinstance(dtype, Tracer):
        trace.refuse("error", "TypeError")
    try:
        found = np.dtype(dtype)
    except TypeError:
        trace.refuse("error", "TypeError")
    if found not in DTYPE_NAMES or not found.isnative:
        trace.refuse("dtype", str(found))
    return found


def strong(trace: Trace, item: Any) -> Tracer:
    """What `np.asarray` makes of an operand: a Python number in it is not weak any more."""
    operand = trace.lift(item)
    return Tracer(trace, operand._value, "scalar") if operand._kind == "python" else operand


def size_argument(trace: Trace, item: Any) -> Size:
    """A size given by the user: an int, or what stands for one."""
    if type(item) is int:
        return item
    if isinstance(item, Tracer):
        return size_of_number(trace, item)
    size = size_of(item)
    if size is None:
        trace.refuse("error", "TypeError: an integer is required")
    return size


def size_of_number(trace: Trace, item: Tracer) -> Size:
    """The size that a traced integer is: measured, when it was computed."""
    value = item._value
    if value.type.shape or value.type.dtype.kind not in "iu":
        trace.refuse("error", "TypeError: an integer is required")
    if value.constant is not None:
        return int(value.constant)
    if value.op is not None and value.op.primitive.name == "dimension":
        return value.op.attrs["size"]
    if value.type.dtype == np.uint64:
        trace.refuse("value", "a size")  # perhaps beyond int64
    return trace.measurements.size(trace.convert(item, np.dtype(np.int64))._value)


def shape_of(trace: Trace, shape: Any) -> tuple[Size, ...]:
    """A shape given as one size or a sequence of sizes. A negative run-time size becomes an int."""
    if type(shape) in (int, SizeTracer) or not isinstance(shape, (tuple, list)):
        if isinstance(shape, np.ndarray) and not isinstance(shape, Tracer) and shape.ndim == 1:
            shape = shape.tolist()
        else:
            shape = (shape,)
    sizes = []
    for item in shape:
        kind = type(item)
        size = item._size if kind is SizeTracer else item
        if kind is not int and kind is not SizeTracer:
            size = size_argument(trace, item)
        if isinstance(size, Dim) and size not in trace.nonnegative:
            if not is_nonnegative(trace, size):
                size = trace.number(size)
        sizes.append(size)
    return tuple(sizes)


def lengths_of(trace: Trace, shape: Any) -> tuple[Size, ...]:
    """A shape of which every size is at least 0."""
    sizes = shape_of(trace, shape)
    for size in sizes:
        if isinstance(size, int) and size < 0:
            trace.refuse("error", "ValueError: negative dimensions are not allowed")
    return sizes


# Comparisons of sizes


def is_proven_nonnegative(trace: Trace, size: Dim) -> bool:
    """Whether `size` is a sum of products of lengths, so that it cannot be negative."""
    symbols = trace.root.symbols
    for monomial, coefficient in size.terms:
        if coefficient < 0:
            return False
        for atom in monomial:
            if atom.operation == "symbol":
                origin = symbols.get(atom.text)
                if origin is None:
                    if atom.text not in trace.measurements.lengths:
                        return False
                elif origin[0] != "size":
                    return False
            elif atom.operation != "floordiv" or type(atom.right) is not int or atom.right < 0:
                return False
            elif isinstance(atom.left, Dim) and not is_proven_nonnegative(trace, atom.left):
                return False
    return True


def is_nonnegative(trace: Trace, size: Size) -> bool:
    """Whether `size >= 0`."""
    if isinstance(size, int):
        return size >= 0
    if size in trace.nonnegative:
        return True
    if is_proven_nonnegative(trace, size) or trace.at_least(size):
        trace.nonnegative.add(size)
        return True
    return False


def is_positive(trace: Trace, size: Size) -> bool:
    """Whether `size >= 1`."""
    return is_nonnegative(trace, dims.subtract(size, 1))


def is_one(trace: Trace, size: Size) -> bool:
    """Whether `size == 1` in this call; the answer becomes a guard."""
    if isinstance(size, int):
        return size == 1
    return trace.same_size(size, 1) or trace.is_zero(dims.subtract(size, 1))


# Options


def is_kept(keepdims: Any) -> bool:
    """Whether `keepdims` was given and is true."""
    return keepdims is not NO_VALUE and bool(keepdims)


def refuse_given(trace: Trace, name: str, **options: Any) -> None:
    """End the trace when an option that does not take part in tracing is given."""
    for option, value in options.items():
        if value is not None and value is not NO_VALUE:
            trace.refuse("argument", f"{name}({option}=...)")


def is_here(device: Any) -> bool:
    """Whether the array API's `device=` names the only one, which NumPy calls "cpu"."""
    return device is None or type(device) is str and device == "cpu"


def require_cpu(trace: Trace, device: Any) -> None:
    """End the trace where NumPy refuses a device."""
    if not is_here(device):
        trace.refuse("error", "ValueError: unsupported device")


def refuse_order(trace: Trace, order: Any, allowed: Sequence[str] = ("C", "K", "A")) -> None:
    """End the trace when another memory order is asked for; note that C order is."""
    if type(order) is str and order == "C":
        trace.asks_c_order = True
    if order is not None and order not in allowed:
        trace.refuse("argument", f"order={order!r}")


def is_traced(*items: Any) -> bool:
    """Whether a tracer or run-time size occurs among arguments, or in lists and tuples of them."""
    for item in items:
        kind = type(item)
        if kind is SizeTracer or issubclass(kind, Tracer):
            return True
        if (kind is list or kind is tuple) and is_traced(*item):
            return True
    return False


def is_masked(where: Any) -> bool:
    """Whether `where` leaves something out."""
    return where is not NO_VALUE and where is not True
