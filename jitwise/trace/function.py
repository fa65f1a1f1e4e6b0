"""Trace one call of a function: arguments in, a graph and everything needed to run it again out.

    traced = trace_call(f, (x, 2.0), {"mode": "a"})
    traced.graph                      the graph
    traced.origins                    for each graph input ("leaf", k) or ("capture", j)
    traced.captures, traced.guards    fetch paths and guards on what the function read from outside
    traced.outputs                    the recipe that turns program outputs into the function's
    result
    traced.written                    which graph inputs are written to
    traced.is_quiet                   a block of the function ignores floating-point errors

or `CannotTrace` is raised, and nothing the function did is visible: containers it changed were
copies, `print` had not printed yet.

Arguments are flattened through exact tuples, lists, dicts, namedtuples and dataclasses, in order. A
leaf is an array, a NumPy scalar, a Python number - or static: anything else, which the traced code
sees followed (see `scope`).
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import CannotTrace
from ..ir.graph import Graph, Value
from ..ir.types import DTYPE_NAMES
from . import numpy as handlers  # noqa: F401 - fills FUNCTIONS, METHODS and CREATION
from .captures import CallerArray, Guard, Path, fetch, same_items, shallow
from .code import is_own_file, is_users
from .containers import (
    children,
    entries,
    has_methods,
    is_dataclass_instance,
    is_namedtuple,
    rebuilder,
)
from .either import Either
from .memory import is_c_ordered
from .objects import FieldsProxy
from .scope import Follower
from .size import SizeTracer
from .tracer import Tracer, concrete
from .tracing import Trace, current

_NUMBERS = (int, float, bool, complex)


class Traced(NamedTuple):
    """What a trace found. See the module docstring."""

    name: str
    graph: Graph
    origins: tuple[tuple[str, int], ...]
    captures: tuple[Path, ...]
    guards: tuple[Guard, ...]
    outputs: Any
    written: tuple[int, ...]
    leaves: int
    emitted: int
    sizes: dict[str, int]
    is_quiet: bool
    c_ordered: frozenset[int] = frozenset()  # outputs that NumPy has in C order for any arguments
    objects: tuple[Path, ...] = ()  # what the program itself asks for: places, in order

    def given(self, place: int, leaves: Sequence[Any]) -> Any:
        """What a graph input is in a call with these leaves."""
        how, number = self.origins[place]
        return leaves[number] if how == "leaf" else fetch(self.captures[number], leaves)


class _Arguments:
    """Rebuilds the arguments with tracers for leaves, remembering containers to notice changes."""

    def __init__(self, trace: Trace, follower: Follower, static: frozenset[int]) -> None:
        self.trace = trace
        self.follower = follower
        self.count = 0
        self.containers: list[tuple[Any, list[Any]]] = []
        self.places: dict[int, tuple[Any, Any]] = {}  # by the id of a copy: it, and its recipe
        self.static = static
        self.kept: list[Tracer] = []  # whose ids `Trace.caller_arrays` knows

    def build(self, item: Any, root: int | str, path: tuple = ()) -> Any:
        """What traced code gets for what is reached by `path` from the argument `root`."""
        inner = entries(item)
        if inner is None:
            index = self.count
            self.count += 1
            return self.leaf(item, index)
        items = [self.build(each, root, (*path, key)) for key, each in inner]
        made = self.container(item, items)
        self.places[id(made)] = made, ("argument", root, path)
        return made

    def container(self, item: Any, items: list[Any]) -> Any:
        """A container like `item`, of the items that traced code gets."""
        kind = type(item)
        if kind is list or kind is dict:
            copy: Any = items if kind is list else dict(zip(item, items, strict=True))
            self.containers.append((copy, shallow(copy)))
            return copy
        if kind is tuple:
            return tuple(items)
        if is_namedtuple(item):
            return kind(*items)
        return self.dataclass(item, items)

    def dataclass(self, item: Any, items: list[Any]) -> Any:
        kind = type(item)
        copy = rebuilder(kind)(*items)
        names = {field.name for field in dataclasses.fields(item)}
        if set(getattr(item, "__dict__", {})) - names:
            self.trace.refuse("type", f"{kind.__name__} with attributes that are no fields")
        if has_methods(kind):
            return FieldsProxy(self.follower, copy, kind.__name__)
        self.containers.append((copy, shallow(copy)))
        return copy

    def leaf(self, item: Any, index: int) -> Any:
        trace = self.trace
        kind = type(item)
        if index in self.static:
            return self.follower.follow(item, Path("leaf", None, index), f"argument {index}")
        if kind is np.ndarray:
            place = len(trace.origins)
            tracer = trace.input(item, ("leaf", index), "array")
            tracer._fresh = 0
            trace.caller_arrays[id(tracer)] = CallerArray(item, place)
            self.kept.append(tracer)
            return tracer
        if kind in _NUMBERS:
            return trace.number_input(item, ("leaf", index))
        if isinstance(item, np.generic) and item.dtype in DTYPE_NAMES:
            return trace.input(item, ("leaf", index), "scalar")
        if isinstance(item, np.generic):
            trace.refuse("dtype", str(item.dtype))
        if isinstance(item, np.ndarray):  # a subclass has operators of its own
            trace.refuse("type", kind.__name__)
        if isinstance(item, (Tracer, SizeTracer)):
            trace.refuse("type", "traced value")
        return self.follower.follow(item, Path("leaf", None, index), f"argument {index}")

    def changed(self) -> bool:
        return any(not same_items(copy, before) for copy, before in self.containers)


def trace_call(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    fastmath: bool = False,
    static: frozenset[int] = frozenset(),
    has_values: bool = True,
    control_flow: str = "auto",
) -> Traced:
    """Trace `function(*args, **kwargs)`. Raises CannotTrace when it has to run as Python.

    `static`: indices of leaves whose value becomes part of the trace. `has_values`: arrays are not
    only shapes. Exceptions of the user's function become CannotTrace too, because running it as
    Python raises them with the right values.
    """
    options = {"fastmath": fastmath, "static": static, "has_values": has_values}
    tried = None
    for rewrites, again in _attempts(control_flow):
        try:
            return _traced(function, args, kwargs, rewrites, again, **options)
        except CannotTrace as failure:
            if not again or failure.reason not in _DECIDED:
                # What stands in the way is what rewritten code cannot do.
                raise failure if tried is None else tried from failure.__cause__
            tried = failure if rewrites else None
    raise AssertionError("the last attempt returns or raises")


# Reasons that a trace of rewritten code may not have.
_DECIDED = ("value", "loop", "branch", "drawn")


def _attempts(control_flow: str) -> list[tuple[bool, bool]]:
    """Whether code is rewritten, and whether there is another attempt after it: see `jit`."""
    if control_flow == "off":
        return [(False, False)]
    return (
        [(True, True), (False, False)]
        if control_flow == "on"
        else [(False, True), (True, True), (False, False)]
    )


def _traced(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    rewrites: bool,
    again: bool,
    *,
    fastmath: bool,
    static: frozenset[int],
    has_values: bool,
) -> Traced:
    name = getattr(function, "__name__", type(function).__name__)
    trace = Trace(name, fastmath=fastmath)
    trace.measurements.has_values = has_values
    trace.rewrites_next = again and not rewrites
    if trace.rewrites_next:
        trace.watch.on_many = trace.refuse_written_out
    follower = Follower(trace, rewrites)
    token = current.set(trace)
    try:
        arguments = _Arguments(trace, follower, static)
        with np.errstate(all="ignore"):  # constants are folded without warnings of their own
            given = [arguments.build(item, place) for place, item in enumerate(args)]
            options = {key: arguments.build(item, key) for key, item in kwargs.items()}
            result = follower.callee(function)(*given, **options)
        if trace.failure is not None:
            raise trace.failure  # the function swallowed it
        return _finished(trace, arguments, result)
    except CannotTrace as failure:
        raise (trace.failure or failure) from None
    except Exception as error:
        failure = trace.failure
        if failure is None:
            failure = CannotTrace("error", type(error).__name__, _line_of(error))
            failure.suspect = error if _is_ours(error) else None
        raise failure from error
    finally:
        current.reset(token)
        trace.close()


def _is_ours(error: BaseException) -> bool:
    """Whether an exception was raised by jitwise itself: perhaps Python would not raise it."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and is_own_file(traceback.tb_frame.f_code.co_filename)


def _line_of(error: BaseException) -> tuple[str, int] | None:
    """The last line of a user's function in a traceback."""
    found = None
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_users(code):
            found = (code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def _finished(trace: Trace, arguments: _Arguments, result: Any) -> Traced:
    if trace.captures.written():
        trace.refuse("assign", "an array is changed after it was used")
    changed = trace.captures.changed()
    if changed is not None:
        trace.refuse("effect", changed)
    if arguments.changed():
        trace.refuse("effect", "an argument")
    outputs = _Outputs(trace, arguments)
    recipe = outputs.recipe(result)
    if arguments.follower.identity:
        from .identities import guard_identities

        guard_identities(arguments.follower)
    graph = trace.finish(outputs.values)
    for printed, options in trace.printed:
        shown = [repr(item) if isinstance(item, Tracer) else item for item in printed]
        print(*shown, **options)  # noqa: T201
    return Traced(
        trace.name,
        graph,
        tuple(trace.origins),
        tuple(trace.captures.paths),
        tuple(trace.captures.guards),
        recipe,
        tuple([trace.caller_arrays[name].input for name in trace.written]),
        arguments.count,
        trace.builder.emitted,
        dict(trace.values),
        trace.is_quiet,
        outputs.c_ordered(),
        tuple(trace.draws.rows),
    )


def _is_constant(item: Any) -> bool:
    """Whether a result is the same immutable object at each call."""
    if type(item) in (int, float, bool, complex, str, bytes, type(None)):
        return True
    return isinstance(item, np.generic) or isinstance(item, np.dtype) and item in DTYPE_NAMES


_NUMBER_RECIPES = {bool: "bool", int: "int", float: "float", complex: "complex"}


def _known(key: Any) -> Any:
    """A key of a dict: its hash was asked, so that its value is guarded."""
    kind = type(key)
    if issubclass(kind, Tracer):
        return concrete(key, "a key")
    if kind is SizeTracer:
        return operator.index(key)
    return tuple([_known(each) for each in key]) if kind is tuple else key


class _Outputs:
    """Turns the function's result into a recipe and the list of graph outputs."""

    def __init__(self, trace: Trace, arguments: _Arguments) -> None:
        self.trace = trace
        self.arguments = arguments
        self.values: list[Value] = []
        self.places: dict[int, int] = {}
        self.kept: list[Any] = []

    def output(self, tracer: Tracer) -> int:
        """One handle is one array, however often it is returned; two handles are two arrays."""
        found = self.places.get(id(tracer))
        if found is None:
            if tracer._kind == "array":
                self.trace.refuse_swapped(tracer._value)
            found = self.places[id(tracer)] = len(self.values)
            self.values.append(tracer._value)
            self.kept.append(tracer)
        return found

    def c_ordered(self) -> frozenset[int]:
        """The outputs that NumPy has in C order; all, where the function asks for it anywhere."""
        asked = self.trace.asks_c_order
        return frozenset([n for n, each in enumerate(self.kept) if asked or is_c_ordered(each)])

    def recipe(self, item: Any) -> Any:
        kind = type(item)
        if issubclass(kind, Tracer):
            if item._trace is not self.trace:
                item._trace.escaped(item._value)
            if kind is Either:
                return item.recipe(self.output)
            if id(item) in self.trace.written:
                return self.trace.origins[self.trace.caller_arrays[id(item)].input]
            if item._kind == "python":
                return (_NUMBER_RECIPES[type(item._hint)], self.output(item))
            return ("array" if item._kind == "array" else "scalar", self.output(item))
        if id(item) in self.arguments.places:
            return self.arguments.places[id(item)][1]
        if id(item) in self.trace.captures.behind:
            return self.trace.captures.behind[id(item)]
        if kind is SizeTracer:
            return self.recipe(self.trace.lift(item))
        if _is_constant(item):
            return ("const", item)
        if kind is tuple or kind is list:
            return (kind.__name__, [self.recipe(each) for each in item])
        if kind is dict:
            return ("dict", [(_known(key), self.recipe(each)) for key, each in item.items()])
        if kind is np.ndarray:  # made in the trace, or captured: a fresh copy at each call
            if item.dtype in DTYPE_NAMES:
                return ("array", self.output(self.trace.captures.array_object(item)))
            self.trace.refuse("dtype", str(item.dtype))
        if is_namedtuple(item):
            return ("call", kind, [self.recipe(each) for each in item])
        if kind is FieldsProxy:  # made anew, of what a loop carried
            kind = item.__class__
        if is_dataclass_instance(item) and kind.__init__.__qualname__.endswith("__init__"):
            return (
                "call",
                rebuilder(kind),
                [self.recipe(each) for each in children(item) or ()],
            )
        self.trace.refuse("type", item.__class__.__name__)
