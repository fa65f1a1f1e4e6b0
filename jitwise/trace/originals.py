"""The user's own functions behind what stands for them in traced code, for calls inside programs.

    np.apply_along_axis(f, 0, x)      the program calls `f` itself, which reads its globals then

Such a function is called once more, while tracing, to see what it gives. So it must not draw random
numbers or ask the world, nor may it read values of the trace, which end with it. What it reads by
name is looked at, and what that reads in turn; an object whose methods may do anything ends the
trace.
"""

from __future__ import annotations

import builtins
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from .code import fault_of_code, is_users
from .conversions import without_conversions
from .filled import CALLS
from .namespace import Namespace
from .size import SizeTracer
from .source import ScopeGlobals
from .tracer import Tracer
from .world import reason_of, reason_of_module

if TYPE_CHECKING:
    from .tracing import Trace

_NUMBERS = (int, float, complex, bool, np.generic, np.dtype, np.ndarray)
_PLAIN = (*_NUMBERS, str, bytes, type(None), slice)
_MOST_ITEMS = 64
_OF_CALLBACKS = "jitwise.api.callbacks"


def original(trace: Trace, item: Any) -> Any:
    """The function that stands behind one that traced code holds; anything else as it is."""
    found = _unfollowed(trace, item)
    if callable(found):
        for each in _callables(trace, type(found).__name__, found):
            _require_quiet(trace, each)
    return found


def _unfollowed(trace: Trace, item: Any) -> Any:
    behind = getattr(item, "stands_for", None)
    if behind is not None:
        return behind
    if type(item) is not types.FunctionType:
        return item
    known = trace.originals.get(id(item))
    if known is not None:
        return known[1]
    if not isinstance(item.__globals__, ScopeGlobals):
        return item
    if item.__kwdefaults__:
        trace.refuse("convert", f"what {item.__name__} reads")
    cells = [_content(trace, item, cell.cell_contents) for cell in item.__closure__ or ()]
    defaults = tuple([_content(trace, item, each) for each in item.__defaults__ or ()])
    real = item.__globals__.real  # type: ignore[attr-defined]
    closure = tuple([types.CellType(each) for each in cells])
    code = without_conversions(item.__code__)
    return types.FunctionType(code, real, item.__name__, defaults or None, closure)


def _content(trace: Trace, function: Any, value: Any) -> Any:
    """What a cell of the user's function holds, where a followed one holds a stand-in."""
    if type(value) in (Tracer, SizeTracer) or issubclass(type(value), Tracer):
        trace.refuse("convert", f"what {function.__name__} reads")
    if isinstance(value, Namespace):
        return vars(value)["_Namespace__module"]
    if type(value) in _PLAIN:
        return value
    if type(value) in (tuple, list) and all(type(each) in _PLAIN for each in value):
        return value
    found = _unfollowed(trace, value)
    if found is value and not callable(value):
        trace.refuse("convert", f"what {function.__name__} reads")
    return found


def _require_quiet(trace: Trace, function: Any) -> None:
    """End the trace when a function may ask or change the world."""
    pending: list[Any] = [function]
    seen: set[int] = set()
    while pending:
        each = pending.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if not isinstance(each, types.FunctionType) or not is_users(each.__code__):
            reason = reason_of(each)
            if reason is not None:
                trace.refuse(*reason)
            continue
        fault = fault_of_code(each.__code__)
        if fault is not None:
            trace.refuse(*fault)
        for name, value in _reads(each):
            if name == "random":
                trace.refuse("random", name)
            if name in CALLS or getattr(value, "__module__", None) == _OF_CALLBACKS:
                trace.refuse("world", name)
            pending.extend(_callables(trace, name, value))


def _reads(function: types.FunctionType) -> list[tuple[str, Any]]:
    """What a function reads by name: globals, builtins, cells; and names of attributes."""
    codes, names = [function.__code__], set()
    while codes:
        code = codes.pop()
        names |= set(code.co_names)
        codes += [each for each in code.co_consts if isinstance(each, types.CodeType)]
    known = function.__globals__
    found = [(name, known.get(name, getattr(builtins, name, None))) for name in sorted(names)]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found.append((name, cell.cell_contents))
        except ValueError:
            continue  # still unbound
    return found


def _callables(trace: Trace, name: str, value: Any) -> list[Any]:
    """What of a value may be called; ends the trace where its methods may do anything."""
    if isinstance(value, types.ModuleType):
        if value.__name__ in ("jitwise", "jitwise.debug"):
            trace.refuse("world", f"{name}, which makes callbacks,")
        reason = reason_of_module(value.__name__)
        if reason is not None:
            trace.refuse(reason, value.__name__)
        return []
    if isinstance(value, _PLAIN):
        return []
    if type(value) in (tuple, list) and len(value) <= _MOST_ITEMS:
        return [each for item in value for each in _callables(trace, name, item)]
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
        return [value]
    if isinstance(value, type) and value.__module__ in ("builtins", "numpy"):
        return []
    if type(value).__module__ == "numpy" and callable(value):
        return [value]
    return trace.refuse("source", name)
