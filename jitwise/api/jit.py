"""`jit`: the decorator, which makes the native object that is called in place of a function."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ..explain.lines import listen
from ..runtime._native import Function
from ..trace.code import INNER
from . import methods  # noqa: F401 - gives jitted functions their methods
from .options import STRATEGIES, Options, as_tuple
from .remade import remade
from .state import State

_NOT_GIVEN: Any = object()
_functions: weakref.WeakSet = weakref.WeakSet()


def jit(
    function: Callable[..., Any] = _NOT_GIVEN,
    /,
    *,
    static_argnums: int | Iterable[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Iterable[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    inline: bool = False,
    device: Any = None,
    backend: str | None = None,
    strategy: str = "auto",
    fastmath: bool = False,
    wait: bool = True,
    control_flow: bool = True,
) -> Any:
    """Compile a function of NumPy arrays when it is called; `@jit`, `@jit(...)` and `jit(f, ...)`
    all work.

    The result has the value, dtype, shape, structure and exceptions of the function run by NumPy;
    what cannot be compiled runs as Python and is said once. Outputs are fresh arrays.

    Args:
        function: any callable. Without it, a decorator is returned.
        static_argnums, static_argnames: arguments whose values are compiled in; other values
        compile again.
            Arguments that are no numbers or arrays are static without being named here.
        donate_argnums, donate_argnames: accepted for compatibility; memory of arguments is not
        reused yet.
        keep_unused: accepted for compatibility; unused arguments cost nothing.
        inline: accepted for compatibility; inner functions are part of the outer graph.
        device, backend: None or "cpu".
        strategy: "auto", "whole", "parts" or "off" (run as Python).
        fastmath: allow what holds of real numbers only (reassociation, contraction).
        wait: compile at the first call.
        control_flow: make branches and loops of `if`, `while` and `for` on values, by rewriting the
            syntax tree of the function and of those of the user's that it calls. False: such
            functions run as Python.

    Raises:
        TypeError: `function` is not callable, or an option has the wrong type.
        ValueError: an unknown strategy, a backend other than the CPU, or an argument named or
            numbered that the function does not have.

    """
    options = Options(
        as_tuple(static_argnums, int, "static_argnums"),
        as_tuple(static_argnames, str, "static_argnames"),
        as_tuple(donate_argnums, int, "donate_argnums"),
        as_tuple(donate_argnames, str, "donate_argnames"),
        keep_unused,
        inline,
        strategy,
        fastmath,
        wait,
        control_flow,
    )
    if strategy not in STRATEGIES:
        raise ValueError(f"jit(strategy={strategy!r}): expected one of {', '.join(STRATEGIES)}")
    if backend not in (None, "cpu") or device not in (None, "cpu"):
        raise ValueError(
            f"jit runs on the CPU; backend or device {backend or device!r} is not available"
        )
    if function is _NOT_GIVEN:
        return functools.partial(_jit, options=options)
    return _jit(function, options)


class _Unbound(Function):
    """Stands for a callable that does not become a method of what holds it: a ufunc, a partial."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self


def _jit(function: Callable[..., Any], options: Options) -> Any:
    if isinstance(function, (staticmethod, classmethod, property)):
        raise TypeError(f"write @{type(function).__name__} above @jit, not below it")
    if not callable(function):
        raise TypeError(f"jit expects a function, got {type(function).__name__}: {function!r}")
    if isinstance(function, Function):
        function = function.__wrapped__
    state = State(function, options)
    kind = Function if hasattr(type(function), "__get__") else _Unbound
    native = kind(state.miss, function, state.failed, state.flagged)
    state.native = native
    for name in functools.WRAPPER_ASSIGNMENTS:
        if hasattr(function, name):
            setattr(native, name, getattr(function, name))
    native.__wrapped__ = function
    native.state = state
    _functions.add(native)
    return native


def _inner(value: Any) -> Any:
    return value.__wrapped__ if isinstance(value, Function) else None


INNER.append(_inner)


def clear_caches() -> None:
    """Forget every trace and program of every jitted function."""
    remade.clear()
    for native in list(_functions):
        native.clear_cache()


listen()
__all__ = ["clear_caches", "jit"]
