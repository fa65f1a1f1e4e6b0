"""Calls of NumPy's own functions as ops, for what is neither a primitive nor made of primitives.

    np.sort(x)   ->   call{function='numpy.sort', arguments=(('', ('array', 0)),
                           ('axis', ('plain', -1))), changed=-1, types=(f64[n],)}(x)

An argument is named by its parameter, or has no name and is passed by place. It is made of operands
(`array`: as an array, `number`: as a NumPy scalar, `python`: as a Python number), of `plain`
values, and of a `list` or `tuple` of these. `types` is what the function gives, found when the call
is traced; a call that gives anything else is run as Python. A function that changes its operand
number `changed` works on a copy, which is the result.

`raising_call` is the same for functions that may refuse their operands: it takes place even when
nothing needs its results. `outside_call` is a raising call of a function that jitwise knows nothing
of; it is not let write to its operands.

`callback` calls a function of the user's that may do anything. It takes place each time that the
program comes to it, once, in the order of the graph, and in no evaluation apart from a call: what
the function does cannot be undone. `function` itself makes its arguments of the operands, and knows
what was promised of its results, which `types` are (see `trace.callbacks`).

    io_callback(read, struct, x)   ->   callback{function=..., types=(f64[3],)}(x)

`measured_call` and `measured_raising_call` find out sizes of their results: those that mention
`symbols`, which they define.

    np.unique(x)  ->  measured_call{function='numpy.unique', symbols=('m0',), types=(f64[m0],), ...}
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..ir.builder import Builder
from ..ir.dims import Dim, Size, symbols_of
from ..ir.graph import Value
from ..ir.primitive import Attrs, Primitive, register
from ..ir.types import ArrayType

Template = tuple[Any, ...]


class Unexpected(Exception):
    """A function of NumPy gave another dtype or shape than was found when it was traced."""


@lru_cache(maxsize=256)
def named(function: str) -> Any:
    """The function of this name: `numpy.linalg.inv`, `numpy.add.reduceat`."""
    first, *words = function.split(".")
    found: Any = sys.modules[first]
    for word in words:
        found = getattr(found, word)
    return found


def results_of(result: Any) -> tuple[Any, ...]:
    """The results of a function that gives one array, or a nest of tuples and lists of arrays."""
    if isinstance(result, (tuple, list)):
        return tuple([array for each in result for array in results_of(each)])
    return (result,)


def filled(template: Template, operands: Sequence[Any]) -> Any:
    """An argument, made of operands."""
    kind, *content = template
    if kind == "plain":
        return content[0]
    if kind == "array":
        return operands[content[0]]
    if kind == "number":
        return np.asarray(operands[content[0]])[()]
    if kind == "python":
        return np.asarray(operands[content[0]]).item()
    items = [filled(each, operands) for each in content]
    return items if kind == "list" else tuple(items)


def called(
    function: Any, arguments: tuple[tuple[str, Template], ...], operands: Sequence[Any]
) -> Any:
    """What the function gives for arguments made of these operands."""
    by_place = [filled(template, operands) for name, template in arguments if not name]
    by_name = {name: filled(template, operands) for name, template in arguments if name}
    return function(*by_place, **by_name)


def _evaluate(
    *operands: Any,
    function: Any,
    arguments: tuple[tuple[str, Template], ...],
    changed: int,
    types: tuple[ArrayType, ...],
    symbols: tuple[str, ...] = (),
) -> tuple[Any, ...]:
    given = list(operands)
    if changed >= 0:
        given[changed] = np.array(given[changed])
    result = called(named(function) if type(function) is str else function, arguments, given)
    results = results_of(given[changed] if changed >= 0 else result)
    found = tuple([ArrayType(np.asarray(each).dtype, np.shape(each)) for each in results])
    if found != types and not (symbols and _fit(types, found)):
        raise Unexpected(f"{function} gave {found}, not {types}")
    return tuple([np.asarray(each) for each in results])


def _evaluate_outside(*operands: Any, **attrs: Any) -> tuple[Any, ...]:
    try:
        return _evaluate(*[read_only(each) for each in operands], **attrs)
    except ValueError as error:
        if "read-only" in str(error):  # it writes to what it is given
            raise Unexpected(str(error)) from error
        raise


def read_only(operand: Any) -> np.ndarray:
    """An array that cannot be written to, in the same memory."""
    view = np.asarray(operand).view()
    view.flags.writeable = False
    return view


def _fit(types: tuple[ArrayType, ...], found: tuple[ArrayType, ...]) -> bool:
    """Whether results have types in which some sizes are left open: equal ones the same."""
    if [(dtype, len(shape)) for dtype, shape in types] != [(t.dtype, t.ndim) for t in found]:
        return False
    measured: dict[Any, Size] = {}
    for (_, expected), (_, shape) in zip(types, found, strict=True):
        for size, length in zip(expected, shape, strict=True):
            if (measured.setdefault(size, length) if isinstance(size, Dim) else size) != length:
                return False
    return True


class DirectCall(NamedTuple):
    """A function of the operands and `more`, of which the last are named by `names`."""

    function: Callable[..., Any]
    more: tuple[Any, ...]
    names: tuple[str, ...]


def _direct(attrs: Attrs) -> DirectCall | None:
    """The function itself, where the operands are its first arguments, or a list or tuple of them
    is the first, and the others are plain.
    """
    arrays, by_place, by_name = 0, [], {}
    (name, first), *others = attrs["arguments"] or ((None, ("plain", None)),)
    grouped = not name and _is_group(first)
    for name, template in others if grouped else attrs["arguments"]:
        if template == ("array", arrays) and not name and not by_place:
            arrays += 1
        elif not _is_plain(template):
            return None
        elif name:
            by_name[name] = filled(template, ())
        else:
            by_place.append(filled(template, ()))
    if attrs["changed"] >= 0 or _mixes_measured(attrs):
        return None
    function = attrs["function"]
    found = named(function) if type(function) is str else function
    if grouped and (arrays or by_name):
        return None
    if grouped:
        found = _of_group(found, first[0] == "list", len(first) - 1)
    return DirectCall(found, (*by_place, *by_name.values()), tuple(by_name))


def _is_group(template: Template) -> bool:
    """Whether it is a list or tuple of all operands, in their order."""
    kind, *content = template
    arrays = [("array", number) for number in range(len(content))]
    return kind in ("list", "tuple") and bool(content) and content == arrays


def _of_group(function: Callable[..., Any], as_list: bool, count: int) -> Callable[..., Any]:
    """A function of `count` operands that gives them to `function` as one argument."""
    function = inspect.unwrap(function)
    if as_list:
        return lambda *given: function(list(given[:count]), *given[count:])
    return lambda *given: function(given[:count], *given[count:])


def _mixes_measured(attrs: Attrs) -> bool:
    """Whether a size of the results is more than one symbol that the call itself defines."""
    own = [Dim.symbol(name) for name in attrs.get("symbols", ())]
    names = set(attrs.get("symbols", ()))
    return any(
        isinstance(size, Dim) and size not in own and not names.isdisjoint(symbols_of(size))
        for _, shape in attrs["types"]
        for size in shape
    )


def _is_plain(template: Template) -> bool:
    kind, *content = template
    return kind == "plain" or (kind in ("list", "tuple") and all(map(_is_plain, content)))


def _infer(types: tuple[ArrayType, ...], attrs: Attrs) -> tuple[ArrayType, ...]:
    return attrs["types"]


def _call(
    name: str,
    raising: bool,
    evaluate: Any = _evaluate,
    *,
    direct: Any = _direct,
    measures: bool = False,
) -> Primitive:
    return register(
        Primitive(
            name=name,
            category="call",
            infer=_infer,
            evaluate=evaluate,
            direct=direct,
            multiple=True,
            effect=raising,
            measures=measures,
            hlo="stablehlo.custom_call",
            flops=10,
        )
    )


def _evaluate_callback(*operands: Any, **attrs: Any) -> Any:
    raise NotImplementedError(f"{attrs['function'].name} takes place in a call only")


call = _call("call", False)
raising_call = _call("raising_call", True)


def cast_by_numpy(builder: Builder, operand: Value, dtype: np.dtype) -> Value:
    """A known number in `dtype`, of which NumPy has to say in each call that it does not fit."""
    arguments = (("", ("array", 0)), ("", ("plain", dtype)))
    attrs = {"function": "numpy.astype", "arguments": arguments, "changed": -1}
    return builder.emit(call, (operand,), {**attrs, "types": (ArrayType(dtype, ()),)})[0]


outside_call = _call("outside_call", True, _evaluate_outside, direct=None)
measured_call = _call("measured_call", False, measures=True)
measured_raising_call = _call("measured_raising_call", True, measures=True)
callback = _call("callback", True, _evaluate_callback, direct=None)
