"""`debug.print`, `debug.callback`, `pure_callback`, `io_callback`: Python from within a program.

In a jitted function they become ops, and the running program calls the function with its arrays, at
each call, once per iteration of a loop, in the branch that is taken, and in order. Elsewhere they
call the function at once, with the same arguments. All of them are ordered and none is left out or
done twice, whatever `ordered` says and whether the function is pure.
"""

from __future__ import annotations

import builtins
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..runtime.callbacks import perform
from ..trace.callbacks import Callback, promise, staged
from ..trace.forms import flatten
from ..trace.tracing import current


def _require_callable(name: str, function: Any) -> None:
    if not callable(function):
        raise TypeError(f"{name} calls a function, not {function!r}")


def _call(called: Callback, args: tuple, kwargs: dict[str, Any]) -> Any:
    trace = current.get()
    if trace is not None:
        return staged(trace, called, args, kwargs)
    leaves, form = flatten((args, kwargs))
    own = [np.array(leaf) if type(leaf) is np.ndarray else leaf for leaf in leaves]
    args, kwargs = form.build(own)
    shapes: list[Any] = [each.shape for each in called.promised or () if each is not None]
    arrays = perform(called, args, kwargs, shapes)
    return called.build([np.array(each) if each.ndim else each[()] for each in arrays])


def callback(
    callback: Callable[..., Any],
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> None:
    """Call `callback(*args, **kwargs)` when the program runs, and leave what it gives.

    Arguments are pytrees; the arrays in them are the function's own. An exception of the function
    is raised by the call. `ordered` and `partitioned` are taken and change nothing: callbacks take
    place in order.
    """
    _require_callable("debug.callback", callback)
    _call(Callback("debug.callback", callback, None, None), args, kwargs)


class _Format(string.Formatter):
    """Formats nothing: finds out whether every argument is asked for."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        first = field_name.split(".")[0].split("[")[0]
        key: Any = int(first) if first.isdigit() else first
        self.get_value(key, args, kwargs)
        return "", key

    def format_field(self, value: Any, format_spec: str) -> str:
        return ""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value

    def check_unused_args(
        self, used_args: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        unused = [place for place in range(len(args)) if place not in used_args]
        named = [name for name in kwargs if name not in used_args]
        if unused or named:
            raise ValueError(f"debug.print: the format has no place for {[*unused, *named]}")


class _Printer:
    """Prints a line."""

    def __init__(self, fmt: str) -> None:
        self.fmt = fmt
        self.__qualname__ = f"the format {fmt!r}"

    stands_for = property(lambda self: self)  # it is what it is in traced code, too

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        builtins.print(self.fmt.format(*args, **kwargs))  # noqa: T201


def print(
    fmt: str,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> None:
    """Print `fmt.format(*args, **kwargs)` when the program runs.

    `fmt` is a format string, not an f-string, which would be made when the function is traced.
    Raises ValueError when an argument has no place in it, unless `skip_format_check`. `ordered` and
    `partitioned` are taken and change nothing: lines are printed in order.
    """
    if not isinstance(fmt, str):
        raise TypeError(f"debug.print takes a format string, not {fmt!r}")
    if not skip_format_check:
        _Format().format(fmt, *args, **kwargs)
    _call(Callback("debug.print", _Printer(fmt), None, None), args, kwargs)


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """`callback(*args, **kwargs)`, called when the program runs.

    `result_shape_dtypes` is a pytree of what has a shape and a dtype (`ShapeDtypeStruct`, arrays),
    and says what the function gives. Raises CallbackError, a TypeError, when it gives something
    else. The function is called once for each time that the program comes here, although jax lets
    it be left out or called again. `sharding` and `vmap_method` are taken and change nothing.
    """
    _require_callable("pure_callback", callback)
    promised, form = promise("pure_callback", result_shape_dtypes)
    return _call(Callback("pure_callback", callback, promised, form), args, kwargs)


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """`callback(*args, **kwargs)` of a function with effects, called when the program runs.

    The same as `pure_callback`; None in `result_shape_dtypes` is a result that is None. `sharding`
    and `ordered` are taken and change nothing: callbacks take place in order.
    """
    _require_callable("io_callback", callback)
    promised, form = promise("io_callback", result_shape_dtypes)
    return _call(Callback("io_callback", callback, promised, form), args, kwargs)


__all__ = ["callback", "io_callback", "print", "pure_callback"]
