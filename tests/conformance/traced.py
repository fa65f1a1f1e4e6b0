"""Differential tests of tracing without a compiler: trace a function once, evaluate its graph with
NumPy for many arguments.

agrees(lambda x: x.mean(axis=0), [x], [longer x]) -> the number of traces that were needed
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitwise.errors import CannotTrace
from jitwise.ir.evaluate import bind_symbols, evaluate
from jitwise.ir.measured import known_guards
from jitwise.trace.containers import leaves_of
from jitwise.trace.function import Traced, trace_call


class Program:
    """A traced function that is run by evaluating its graph."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any]) -> None:
        self.traced: Traced = trace_call(function, args, {})
        self.types = [_type(leaf) for leaf in leaves_of(args, {})]

    def arrays(self, args: Sequence[Any]) -> list[Any]:
        leaves = leaves_of(args, {})
        places = range(len(self.traced.origins))
        return [np.asarray(self.traced.given(place, leaves)) for place in places]

    def holds(self, args: Sequence[Any]) -> bool:
        """Whether this trace serves these arguments: same types, and every guard holds."""
        if [_type(leaf) for leaf in leaves_of(args, {})] != self.types:
            return False
        graph = self.traced.graph
        values = bind_symbols(graph, self.arrays(args))
        return all(guard.holds(values) for guard in known_guards(graph.guards, values))

    def __call__(self, args: Sequence[Any]) -> Any:
        results = evaluate(self.traced.graph, self.arrays(args))
        return _rebuilt(self.traced.outputs, results, leaves_of(args, {}))


def _type(leaf: Any) -> Any:
    if isinstance(leaf, (np.ndarray, np.generic)):
        return type(leaf), leaf.dtype, tuple(1 if size == 1 else None for size in leaf.shape)
    return type(leaf) if isinstance(leaf, (int, float, complex)) else leaf


def _rebuilt(recipe: Any, results: list[Any], leaves: list[Any]) -> Any:
    kind = recipe[0]
    if kind == "leaf":
        return leaves[recipe[1]]
    if kind == "array":
        return np.asarray(results[recipe[1]])
    if kind == "scalar":
        return np.asarray(results[recipe[1]])[()]
    if kind in ("int", "float", "bool", "complex"):
        return np.asarray(results[recipe[1]]).item()
    if kind == "const":
        return recipe[1]
    items = [_rebuilt(item, results, leaves) for item in recipe[1]]
    return tuple(items) if kind == "tuple" else items


def agrees(function: Callable[..., Any], *calls: Sequence[Any], tolerance: float = 0) -> int:
    """Compare with NumPy for each list of arguments; gives the number of traces that were needed.

    `tolerance` is relative to the largest result, for sums, whose order NumPy does not promise.
    """
    programs: list[Program] = []
    for args in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = function(*copy.deepcopy(args))
            program = next((each for each in programs if each.holds(args)), None)
            if program is None:
                program = Program(function, args)
                assert program.holds(args), "a guard of the trace does not hold for its own call"
                programs.append(program)
            where = f"{[np.shape(arg) for arg in args]}"
            if program.traced.written:
                args, changed = copy.deepcopy(args), copy.deepcopy(args)
                function(*changed)
            same(program(args), expected, tolerance, where)
            if program.traced.written:
                same(list(args), list(changed), 0, where)
    return len(programs)


def reason(function: Callable[..., Any], *args: Any) -> str:
    """Why a function is not traced; an AssertionError when it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trace_call(function, args, {})
    except CannotTrace as failure:
        if failure.suspect is not None and _raised(function, args) is not type(failure.suspect):
            raise AssertionError("a fault of the tracer") from failure.suspect
        return failure.reason
    raise AssertionError("it is traced")


def _raised(function: Callable[..., Any], args: Any) -> type | None:
    try:
        function(*args)
    except Exception as error:
        return type(error)
    return None


def same(got: Any, expected: Any, tolerance: float, where: str) -> None:
    """The same kind, dtype, shape and value."""
    if isinstance(expected, (list, tuple)):
        assert type(got) is type(expected) and len(got) == len(expected), where
        for left, right in zip(got, expected, strict=True):
            same(left, right, tolerance, where)
        return
    assert type(got) is type(expected), f"{where}: {type(got)} instead of {type(expected)}"
    if not isinstance(expected, (np.ndarray, np.generic)):
        assert got == expected, f"{where}: {got!r} instead of {expected!r}"
        return
    assert got.dtype == expected.dtype, f"{where}: {got.dtype} instead of {expected.dtype}"
    assert got.shape == expected.shape, f"{where}: {got.shape} instead of {expected.shape}"
    if tolerance and expected.dtype.kind in "fc" and expected.size:
        finite = np.abs(expected[np.isfinite(expected)])
        scale = finite.max() if finite.size else 0
        np.testing.assert_allclose(
            got, expected, rtol=tolerance, atol=tolerance * scale, err_msg=where
        )
        return
    np.testing.assert_array_equal(got, expected, err_msg=where)
    if expected.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(expected), err_msg=where)
