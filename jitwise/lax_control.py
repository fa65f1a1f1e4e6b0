"""`cond`, `switch`, `while_loop`, `fori_loop`, `scan`, `map`, `associative_scan` of `jitwise.lax`.

Inside of a jitted function they are branches and loops of the program; elsewhere they run as the
Python that their docstrings say, with the same answer. Carries and results are pytrees: nests of
tuples, lists, dicts, namedtuples and dataclasses, in which None, strings and functions may stand
and stay what they are. What is carried has one type in all turns: numbers that a body makes wider
(int to float, a Python number to an array) are wider from the beginning.
"""

from __future__ import annotations

import operator as _operator
import sys as _sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as _np

from .trace.code import is_own_file
from .trace.tracing import current as _current

_NOTHING: Any = object()
_map = map  # this module's own `map` is jax's


def _require_callable(name: str, **functions: Any) -> None:
    for parameter, function in functions.items():
        if not callable(function):
            shown = parameter.replace("_at_", " ")
            raise TypeError(f"lax.{name}: {shown} is to be a function, not {_shown(function)}")


def _ndim(item: Any) -> int:
    """How many axes there are; a size is not asked for its value."""
    if _is_traced(item):
        return len(item._value.type.shape) if hasattr(type(item), "_value") else 0
    return _np.ndim(item)


def _shown(item: Any) -> str:
    """What a message calls an argument: a traced one has no value to show."""
    if _is_traced(item) or _ndim(item):
        return f"an array of shape {_np.shape(item)}" if _ndim(item) else "a traced value"
    return repr(item)


def _integer(name: str, parameter: str, item: Any) -> Any:
    """An argument that is one integer."""
    if _is_traced(item):
        value = item._value if hasattr(type(item), "_value") else None  # a size has none
        if value is None or (not value.type.shape and value.type.dtype.kind in "iub"):
            return item
    else:
        try:
            return _operator.index(item)
        except TypeError:
            pass
    raise TypeError(
        f"lax.{name}: {parameter} is to be one integer, not {_shown(item)}; write int(...)"
    )


def _named(function: Any) -> str:
    """What a message calls a function: its name and line."""
    name = getattr(function, "__name__", type(function).__name__)
    code = getattr(_undecorated(function), "__code__", None)
    if code is None:
        return name
    return f"{name} ({code.co_filename}:{code.co_firstlineno})"


def _undecorated(function: Any) -> Any:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _line() -> str:
    """The line outside of jitwise that is being executed."""
    frame: Any = _sys._getframe(1)
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = _NOTHING,
) -> Any:
    """`true_fun(*operands)` if `pred` else `false_fun(*operands)`.

    `pred` is one bool or number. Both functions give the same structure, with leaves of the same
    shapes; dtypes are promoted. Raises CarryError, a TypeError, where they do not.
    """
    _require_callable("cond", true_fun=true_fun, false_fun=false_fun)
    given = operands if operand is _NOTHING else (operand,)
    trace = _current.get()
    if _ndim(pred) or pred is None or isinstance(pred, (str, bytes)):
        raise TypeError(
            f"lax.cond: pred is to be one bool, not {_shown(pred)}; write numpy.any(...), "
            "numpy.all(...), or numpy.where for a choice in each place"
        )
    if trace is not None:
        from .trace.control import case, truth

        branches, names = (false_fun, true_fun), (_named(false_fun), _named(true_fun))
        return case(trace, truth(trace, pred), branches, given, names)
    from .lax_outside import Call, chosen

    is_true = bool(pred)
    call = Call(cond, (pred, true_fun, false_fun, *given), is_true, "")
    return chosen(call, true_fun if is_true else false_fun, given)


def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    operand: Any = _NOTHING,
) -> Any:
    """`branches[index](*operands)`, with an index that is out of range moved to the nearest, as
    jax defines it.

    Raises TypeError when `index` is not one integer, ValueError without branches, and CarryError
    where the branches do not agree.
    """
    functions = tuple(branches)
    if not functions:
        raise ValueError("lax.switch: there are no branches")
    for place, function in enumerate(functions):
        _require_callable("switch", **{f"branch_at_{place}": function})
    given = operands if operand is _NOTHING else (operand,)
    index = _integer("switch", "index", index)
    trace = _current.get()
    if trace is not None:
        from .trace.control import case, clamped

        chosen_ = clamped(trace, index, len(functions))
        return case(trace, chosen_, functions, given, [_named(each) for each in functions])
    from .lax_outside import Call, chosen

    place = min(max(index, 0), len(functions) - 1)
    call = Call(switch, (place, functions, *given), place, "")
    return chosen(call, functions[place], given)


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """`val = init_val`, then `val = body_fun(val)` while `cond_fun(val)`; gives `val`.

    Raises CarryError where a leaf of `val` cannot have one type.
    """
    _require_callable("while_loop", cond_fun=cond_fun, body_fun=body_fun)
    trace, where = _current.get(), _line()
    if trace is not None:
        from .trace.held import Unseen
        from .trace.looping import Loop

        body = _named(body_fun)
        loop = Loop(trace, cond_fun, body_fun, promotes=True, what=body, where=where)
        with Unseen(trace, (cond_fun, body_fun), init_val).refused("loop"):
            return loop.run(init_val)
    from .lax_outside import Call, Carry, looped

    def turns(carry: Carry) -> None:
        while cond_fun(carry.value):
            carry.take(body_fun(carry.value))

    call = Call(while_loop, (cond_fun, body_fun, init_val), None, where)
    return looped(call, _named(body_fun), init_val, turns)


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """`val = body_fun(i, val)` for `i` from `lower` to `upper - 1`; gives `val`.

    `unroll` is taken and changes nothing. Raises CarryError where a leaf of `val` cannot have one
    type.
    """
    _require_callable("fori_loop", body_fun=body_fun)
    lower = _integer("fori_loop", "lower", lower)
    upper = _integer("fori_loop", "upper", upper)
    trace, where = _current.get(), _line()
    if trace is not None:
        from .trace.counted import Range, turned

        range_ = Range(trace, lower, upper)
        return turned(trace, range_, body_fun, init_val, _named(body_fun), where)
    from .lax_outside import Call, Carry, looped

    def turns(carry: Carry) -> None:
        for index in range(lower, upper):
            carry.take(body_fun(index, carry.value))

    call = Call(fori_loop, (lower, upper, body_fun, init_val), None, where)
    return looped(call, _named(body_fun), init_val, turns)


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: Any = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """`carry, y = f(carry, x)` for each `x` along the first axes of `xs`; gives the last carry and
    the `y`s, stacked. Without `xs`, `length` turns with `x` None. `reverse`: from the last to the
    first, which is also where their `y`s stand.

    `unroll` is taken and changes nothing. Raises ValueError when lengths differ or none is given,
    TypeError when `f` does not give a pair, CarryError where the carry cannot have one type.
    """
    _require_callable("scan", f=f)
    from .trace.forms import flatten

    leaves, form = flatten(xs)
    leaves = [_np.asarray(leaf) if type(leaf) in (int, float) else leaf for leaf in leaves]
    count = _length([leaf for leaf in leaves if leaf is not None], length)
    trace, where = _current.get(), _line()
    if trace is not None:
        from .trace.counted import scanned

        return scanned(trace, f, init, leaves, form, count, bool(reverse), _named(f), where)
    from .lax_outside import Call, Carry, Rows
    from .lax_outside import scanned as scanned_

    def turns(carry: Carry, rows: Rows) -> None:
        order = range(count)
        for place in reversed(order) if reverse else order:
            x = form.build([leaf if leaf is None else leaf[place] for leaf in leaves])
            after, y = _pair(f, f(carry.value, x))
            carry.take(after)
            rows.put(place, y)

    call = Call(scan, (f, init, xs, length, bool(reverse)), not count, where)
    return scanned_(call, _named(f), init, count, turns)


def _length(arrays: Sequence[Any], length: Any) -> Any:
    """How many turns a scan has."""
    for leaf in arrays:
        if not _ndim(leaf):
            raise ValueError(
                f"lax.scan: a leaf of xs has no axis to run along: {_shown(leaf)}; give what is "
                "the same in all turns to f in another way"
            )
    sizes = [leaf.shape[0] if hasattr(leaf, "shape") else len(leaf) for leaf in arrays]
    if length is not None:
        sizes.insert(0, _integer("scan", "length", length))
    if not sizes:
        raise ValueError("lax.scan: neither xs nor length says how many turns there are")
    for size in sizes[1:]:
        if size != sizes[0]:
            raise ValueError(f"lax.scan: lengths differ: {', '.join(_map(str, _map(int, sizes)))}")
    if sizes[0] < 0:
        raise ValueError(f"lax.scan: length is to be at least 0, not {int(sizes[0])}")
    return sizes[0]


def _pair(function: Any, result: Any) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(f"lax.scan: {_named(function)} is to give (carry, y), not {result!r}")
    return result


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """`f(x)` for each `x` along the first axes of `xs`, stacked. `batch_size` changes nothing."""
    _require_callable("map", f=f)
    return scan(lambda carry, x: (carry, f(x)), None, xs)[1]


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """The running combinations of `elems` along `axis` by `fn`, which takes and gives slices of one
    element: `out[0] = elems[0]`, `out[i] = fn(out[i - 1], elems[i])`. `reverse`: from the end.

    Nothing is reassociated: `fn` is applied from left to right.
    """
    _require_callable("associative_scan", fn=fn)
    from .trace.forms import flatten

    leaves, form = flatten(elems)
    arrays = [leaf if hasattr(leaf, "shape") else _np.asarray(leaf) for leaf in leaves]
    rows = [_np.moveaxis(leaf, axis, 0) for leaf in arrays]
    if not rows:
        return elems
    count = rows[0].shape[0]
    for row in rows:
        if row.shape[0] != count:
            raise ValueError("lax.associative_scan: the elements have different lengths")
    if count < 2:
        return form.build([_np.moveaxis(row, 0, axis).copy() for row in rows])
    first = slice(-1, None) if reverse else slice(0, 1)
    rest = slice(None, -1) if reverse else slice(1, None)

    def step(before: Any, x: Any) -> tuple[Any, Any]:
        now = form.build([_np.moveaxis(_np.expand_dims(each, 0), 0, axis) for each in x])
        after = fn(before, now)
        taken = [_np.moveaxis(each, axis, 0)[0] for each in flatten(after)[0]]
        return after, tuple(taken)

    start = [_np.moveaxis(row[first], 0, axis) for row in rows]
    _, stacked = scan(step, form.build(start), tuple(row[rest] for row in rows), reverse=reverse)
    ordered = []
    for row, each in zip(rows, stacked, strict=True):
        parts = [each, row[first]] if reverse else [row[first], each]
        ordered.append(_np.moveaxis(_np.concatenate(parts), 0, axis))
    return form.build(ordered)


def _is_traced(item: Any) -> bool:
    from .trace.size import SizeTracer
    from .trace.tracer import Tracer

    return issubclass(type(item), Tracer) or type(item) is SizeTracer


__all__ = ["associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"]
