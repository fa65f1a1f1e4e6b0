"""Looking at functions without running them: `make_jaxpr`, `eval_shape`; and at what happened to
those that ran: `records`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.dims import evaluate_size
from ..ir.graph import Graph
from ..record import Record, recorder
from ..runtime._native import Function
from ..trace.captures import fetch
from ..trace.containers import fresh, is_dataclass_instance, leaves_of
from .options import Options
from .stages import ShapeDtypeStruct, Traced, trace_stage
from .state import State


def _state(function: Callable[..., Any], static_argnums: Any = ()) -> State:
    if not callable(function):
        raise TypeError(f"expected a function, got {type(function).__name__}")
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    inner = function.__wrapped__ if isinstance(function, Function) else function
    return State(inner, Options(static_argnums=numbers))


def make_jaxpr(function: Callable[..., Any], static_argnums: Any = ()) -> Callable[..., Graph]:
    """A function that gives the graph of `function` for its arguments (arrays, numbers,
    ShapeDtypeStructs); print it.

    Raises StageError with the line when the function cannot be traced.
    """
    state = _state(function, static_argnums)
    return lambda *args, **kwargs: trace_stage(state, args, kwargs).graph


def eval_shape(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes of `function(*args, **kwargs)`, as a pytree of ShapeDtypeStruct,
    without computing it.

    Raises StageError with the line when the function cannot be traced.
    """
    return shapes_of(trace_stage(_state(function), args, kwargs))


def records(subject: str | None = None, name: str | None = None) -> list[Record]:
    """What jitwise did and why, oldest first: traces, compilations, what runs as Python, choices
    with the estimates they rest on.

    Of one subject ("trace", "retrace", "fallback", "compile", "pass"...; see `jitwise.record`), of
    one name (a function's), or all that are kept. `f.records()` gives those of one jitted function.
    """
    return recorder.records(subject, name)


def shapes_of(stage: Traced) -> Any:
    """The result's pytree with a ShapeDtypeStruct for each array."""
    graph, call = stage.graph, stage.call
    sizes = stage.call_sizes()
    leaves = leaves_of(call.bound_args, call.bound_kwargs)

    def shaped(item: Any) -> Any:
        is_array = isinstance(item, (np.ndarray, np.generic, int, float, complex))
        given = np.asarray(item) if is_array else item
        return ShapeDtypeStruct(given.shape, given.dtype) if is_array else item

    def describe(recipe: Any) -> Any:
        how, content = recipe[0], recipe[1]
        if how == "const":
            return content
        if how == "leaf":
            return shaped(leaves[content])
        if how == "reached":
            return fresh(fetch(content, leaves), (), shaped)
        if how == "argument":
            item = {**dict(enumerate(call.bound_args)), **call.bound_kwargs}[content]
            for key in recipe[2]:
                item = getattr(item, key) if is_dataclass_instance(item) else item[key]
            return fresh(item, (), shaped)
        if how in ("tuple", "list"):
            return {"tuple": tuple, "list": list}[how]([describe(each) for each in content])
        if how == "dict":
            return {key: describe(each) for key, each in content}
        if how == "call":
            return content(*[describe(each) for each in recipe[2]])
        type = graph.outputs[content].type
        return ShapeDtypeStruct(
            tuple(evaluate_size(size, sizes) for size in type.shape), type.dtype
        )

    return describe(stage.traced.outputs)
