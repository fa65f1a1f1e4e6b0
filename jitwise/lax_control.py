"""`cond`, `switch`, `while_loop`, `fori_loop`, `scan`, `map`, `associative_scan` of `jitwise.lax`.

Inside of a jitted function they are branches and loops of the program; elsewhere they run as the
Python that their docstrings say, with the same answer. Carries and results are pytrees: nests of
tuples, lists, dicts, namedtuples and dataclasses, in which None, strings and functions may stand
and stay what they are. What is carried has one type in all turns: numbers that a body makes wider
(int to float, a Python number to an array) are wider from the beginning.
"""

from __future__ import annotations

import operator as _operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as _np

from .errors import CarryError
from .trace.tracing import current as _current

_NOTHING: Any = object()


def _require_callable(name: str, **functions: Any) -> None:
    for parameter, function in functions.items():
        if not callable(function):
            raise TypeError(f"lax.{name}: {parameter} is to be a function, not {function!r}")


def _named(function: Any) -> str:
    """What a message calls a function: its name and line."""
    name = getattr(function, "__name__", type(function).__name__)
    code = getattr(function, "__code__", None)
    if code is None:
        return name
    return f"{name} ({code.co_filename}:{code.co_firstlineno})"


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
    if trace is not None and _is_traced(pred):
        from .trace.control import case, truth

        branches = (lambda: false_fun(*given), lambda: true_fun(*given))
        names = (_named(false_fun), _named(true_fun))
        return case(trace, truth(trace, pred), branches, True, names)
    if _np.ndim(pred):
        raise TypeError(f"lax.cond: pred is to be one bool, not of shape {_np.shape(pred)}")
    return true_fun(*given) if pred else false_fun(*given)


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
        _require_callable("switch", **{f"branch {place}": function})
    given = operands if operand is _NOTHING else (operand,)
    trace = _current.get()
    if trace is not None and _is_traced(index):
        from .trace.control import case, clamped

        chosen = clamped(trace, index, len(functions))
        runs = [_called(function, given) for function in functions]
        return case(trace, chosen, runs, True, [_named(function) for function in functions])
    place = min(max(_operator.index(index), 0), len(functions) - 1)
    return functions[place](*given)


def _called(function: Callable[..., Any], given: Sequence[Any]) -> Callable[[], Any]:
    return lambda: function(*given)


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """`val = init_val`, then `val = body_fun(val)` while `cond_fun(val)`; gives `val`.

    Raises CarryError where a leaf of `val` cannot have one type.
    """
    _require_callable("while_loop", cond_fun=cond_fun, body_fun=body_fun)
    trace = _current.get()
    if trace is not None:
        from .trace.looping import Loop

        loop = Loop(trace, cond_fun, body_fun, promotes=True, what=_named(body_fun))
        return loop.run(init_val)
    value = init_val
    while cond_fun(value):
        value = _turn(body_fun, value, body_fun(value))
    return value


def _turn(function: Any, before: Any, after: Any) -> Any:
    """What a body gave, which has the structure of what it took."""
    from .trace.carried import flatten

    first, then = flatten(before)[1], flatten(after)[1]
    if str(first) != str(then):
        raise CarryError(f"{_named(function)} takes {first} and gives {then}")
    return after


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
    trace = _current.get()
    if trace is not None:
        from .trace.counted import Range, counted

        turns = Range(trace, lower, upper)
        return counted(trace, turns, body_fun, init_val, what=_named(body_fun))
    value = init_val
    for index in range(_operator.index(lower), _operator.index(upper)):
        value = _turn(body_fun, value, body_fun(index, value))
    return value


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
    from .trace.carried import flatten

    leaves, form = flatten(xs)
    arrays = [leaf for leaf in leaves if leaf is not None]
    count = _length(arrays, length)
    trace = _current.get()
    if trace is not None:
        from .trace.counted import scanned

        return scanned(trace, f, init, leaves, form, count, bool(reverse), _named(f))
    carry, rows = init, []
    order = range(int(count))
    for place in reversed(order) if reverse else order:
        x = form.build([leaf if leaf is None else leaf[place] for leaf in leaves])
        after, y = _pair(f, f(carry, x))
        carry = _turn(f, carry, after)
        rows.append(y)
    if reverse:
        rows.reverse()
    return carry, _stacked(rows)


def _length(arrays: Sequence[Any], length: Any) -> Any:
    """How many turns a scan has."""
    for leaf in arrays:
        if not _np.ndim(leaf):
            raise ValueError("lax.scan: a leaf of xs has no axis to run along")
    sizes = [leaf.shape[0] if hasattr(leaf, "shape") else len(leaf) for leaf in arrays]
    if length is not None:
        sizes.insert(0, length)
    if not sizes:
        raise ValueError("lax.scan: neither xs nor length says how many turns there are")
    for size in sizes[1:]:
        if size != sizes[0]:
            raise ValueError(f"lax.scan: lengths differ: {', '.join(map(str, map(int, sizes)))}")
    return sizes[0]


def _pair(function: Any, result: Any) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(f"lax.scan: {_named(function)} is to give (carry, y), not {result!r}")
    return result


def _stacked(rows: Sequence[Any]) -> Any:
    from .trace.carried import flatten

    if not rows:
        return None
    form = flatten(rows[0])[1]
    columns = zip(*[flatten(row)[0] for row in rows], strict=True)
    return form.build([None if column[0] is None else _np.stack(column) for column in columns])


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
    from .trace.carried import flatten

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
