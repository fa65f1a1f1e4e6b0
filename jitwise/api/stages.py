"""The stages of a compiled function, by hand: `jit(f).trace(x)`, `.lower()`, `.compile()`, each
printable.

    traced = jit(f).trace(x)      the graph as the tracer made it
    lowered = traced.lower()      the graph after the passes: fusions are kernels
    compiled = lowered.compile()  callable for arguments of these types

`ShapeDtypeStruct` stands for an array that is not there yet.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np

from ..errors import REPORTS, CannotTrace, JitwiseBug, ShapeError, StageError
from ..explain.lines import at
from ..ir.printer import print_graph
from ..ir.types import DTYPE_NAMES
from ..runtime._native import Fault, Function
from ..runtime.executable import Executable
from ..trace.containers import children, leaves_of
from ..trace.function import Traced as TracedFunction
from ..trace.function import trace_call
from .call import Call
from .differences import difference, leaf_names
from .faults import fault_of
from .state import State
from .versions import compile_traced, install


@dataclass(frozen=True)
class ShapeDtypeStruct:
    """The shape and dtype of an array, without data.

    Raises TypeError for a shape that is not made of non-negative ints.
    """

    shape: tuple[int, ...]
    dtype: np.dtype

    def __init__(self, shape: Any, dtype: Any) -> None:
        sizes = tuple(shape) if np.iterable(shape) else (shape,)
        if not all(isinstance(size, (int, np.integer)) and size >= 0 for size in sizes):
            raise TypeError(f"ShapeDtypeStruct(shape={shape!r}): sizes are non-negative ints")
        object.__setattr__(self, "shape", tuple(_size(size) for size in sizes))
        object.__setattr__(self, "dtype", np.dtype(dtype))

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=object))


def _size(size: Any) -> Any:
    """A size as an int; one that is traced stays open."""
    return size if isinstance(size, int) else int(size)


def stand_in(item: Any) -> Any:
    """`item` with an array without memory in place of each ShapeDtypeStruct."""
    if isinstance(item, ShapeDtypeStruct):
        return np.broadcast_to(np.zeros((), item.dtype), item.shape)
    inner = children(item)
    if inner is None or not any(
        isinstance(each, ShapeDtypeStruct) or children(each) for each in inner
    ):
        return item
    if type(item) is dict:
        return {key: stand_in(each) for key, each in item.items()}
    items = [stand_in(each) for each in inner]
    if type(item) in (tuple, list):
        return type(item)(items)
    return type(item)(*items)


def _is_described(item: Any) -> bool:
    """Whether an argument is, or holds, an array without values."""
    if isinstance(item, ShapeDtypeStruct):
        return True
    return any(map(_is_described, children(item) or ()))


def trace_stage(state: State, args: tuple, kwargs: Mapping[str, Any]) -> Traced:
    """Trace a function for these arguments. Raises StageError with the line when it has to run as
    Python.
    """
    call = state.canonical(
        tuple(stand_in(item) for item in args), {k: stand_in(v) for k, v in kwargs.items()}
    )
    if call is None:
        # raises TypeError in Python's words
        state.signature.bind(*args, **kwargs)  # type: ignore[union-attr]
    assert call is not None
    try:
        traced = trace_call(
            state.function,
            call.bound_args,
            call.bound_kwargs,
            fastmath=state.options.fastmath,
            static=call.static,
            has_values=not any(map(_is_described, (*args, *kwargs.values()))),
            control_flow="auto" if state.options.control_flow else "off",
        )
    except CannotTrace as failure:
        where = at(failure.source or state.definition)
        raise StageError(
            f"{state.name} cannot be compiled, because {failure}{where}; "
            "call it directly, and it runs as Python"
        ) from failure.__cause__
    return Traced(state, call, traced)


@dataclass(frozen=True, slots=True)
class Traced:
    """A function as a graph."""

    state: State
    call: Any
    traced: TracedFunction

    @property
    def graph(self) -> Any:
        """The graph as the tracer made it."""
        return self.traced.graph

    def as_text(self) -> str:
        """The graph's text."""
        return print_graph(self.traced.graph)

    __str__ = as_text

    def call_sizes(self) -> dict[str, int]:
        """The value of each symbol in the call that was traced."""
        return dict(self.traced.sizes)

    def lower(self) -> Lowered:
        """Run the passes, and compile. Raises JitwiseBug when jitwise fails."""
        try:
            executable = compile_traced(self.traced, self.state.options)
        except (JitwiseBug, MemoryError):
            raise
        except Exception as error:
            raise _bug(self.state, "compiling it", error) from error
        return Lowered(self, executable)


@dataclass(frozen=True, slots=True)
class Lowered:
    """A graph after the passes."""

    stage: Traced
    executable: Executable

    def as_text(self, dialect: str | None = None) -> str:
        """Text of a stage: "trace", "fuse" (default), "kernel", "program", "llvm" or "asm"."""
        return self.executable.as_text(dialect or "fuse")

    __str__ = as_text

    def compile(self) -> Compiled:
        """Make it callable."""
        return Compiled(self)


class Compiled:
    """A function compiled for the types it was lowered for; sizes are free as far as its guards
    allow.
    """

    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered
        self._call = Function(self._other, self._other, self._failed, self._flagged)
        self._call.opaque_types = tuple(lowered.stage.call.types)
        self._styles: set[Any] = set()
        self._install(lowered.stage.call)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program. Raises ShapeError when the arguments have other types or break a guard,
        and StageError when what the function reads from outside has changed.
        """
        return self._call(*args, **kwargs)

    def _failed(self, _: Any, error: Exception, *call: Any) -> Any:
        """The program raised: NumPy's exception, a user's, or a fault of ours."""
        if isinstance(error, Fault):
            raise _bug(self.lowered.stage.state, "running it", error) from error
        raise error

    def _flagged(
        self, entry: Any, flags: int, written: bool, given: tuple, args: tuple, kwargs: dict
    ) -> Any:
        """The program raised floating-point flags: see `State.flagged`."""
        from .float_errors import settle, settle_late

        stage = self.lowered.stage
        function = stage.state.function
        if not written:
            from .results import as_compiled

            call = stage.state.canonical(args, kwargs)
            assert call is not None  # the program has served it
            as_python = partial(as_compiled, function, call, [stage.traced])
            return settle(as_python, entry.name, flags, given)
        settle_late(function, flags)
        return given[0]

    def _install(self, call: Call) -> None:
        """Serve calls of this style: by position, or by name."""
        traced, executable = self.lowered.stage.traced, self.lowered.executable
        self._styles.add(call.style)
        install(self._call, call, traced, executable.program)

    def _other(self, args: tuple, kwargs: Mapping[str, Any]) -> Any:
        """A call that no entry serves: another style of the same call, or not this function's."""
        stage = self.lowered.stage
        call = stage.state.canonical(args, dict(kwargs))
        if call is None:
            return stage.state.function(*args, **kwargs)  # raises TypeError in Python's words
        if call.key == stage.call.key and call.style not in self._styles:
            self._install(call)
            return self._call(*args, **kwargs)
        self._refuse(call)

    def _refuse(self, call: Call) -> NoReturn:
        stage = self.lowered.stage
        name, signature = stage.state.name, stage.state.signature
        if call.key != stage.call.key:
            expected = ", ".join(_described(stage.call, signature, stage.traced))
            given = ", ".join(_described(call, signature))
            raise ShapeError(
                f"{name} was compiled for ({expected}), and is called with ({given}); "
                "call the jitted function itself, which compiles for other types"
            )
        found = difference([stage.traced], call, signature)
        what = found.what if found is not None else "what it needs"
        where = at(found.source if found is not None else None)
        kind = StageError if found is not None and found.is_outside else ShapeError
        raise kind(
            f"{name} was compiled for other values of {what}{where}; "
            "call the jitted function itself, which compiles for other values"
        )

    def as_text(self, dialect: str | None = None) -> str:
        """Text of a stage, "kernel" without one: see `Lowered.as_text`."""
        return self.lowered.as_text(dialect or "kernel")

    __str__ = as_text

    def cost_analysis(self) -> dict[str, float]:
        """Estimated work of one call with the sizes it was traced with.

        "flops" in additions, "bytes accessed", and "kernels".
        """
        return self.lowered.executable.cost(self.lowered.stage.call_sizes())

    def memory_analysis(self) -> dict[str, int]:
        """Bytes of "arguments", "outputs" and "temporaries" of one call with the sizes it was
        traced with.
        """
        return self.lowered.executable.memory(self.lowered.stage.call_sizes())


def _bug(state: State, doing: str, error: Exception) -> JitwiseBug:
    return JitwiseBug(f"{state.name}: {fault_of(state.function, doing, error)}; see {REPORTS}")


def _described(
    call: Call, signature: inspect.Signature | None, traced: TracedFunction | None = None
) -> list[str]:
    """Each leaf of a call as `name: f64[n0]`, or `name: float` for a Python number. With the trace
    of the call, sizes are those of the trace.
    """
    types: dict[int, Any] = {}
    if traced is not None:
        rows = zip(traced.graph.inputs, traced.origins, strict=True)
        types = {place: value.type for value, (how, place) in rows if how == "leaf"}
    leaves = leaves_of(call.bound_args, call.bound_kwargs)
    names = leaf_names(call, signature)
    return [
        f"{name}: {_type_of(leaf, types.get(index))}"
        for index, (name, leaf) in enumerate(zip(names, leaves, strict=True))
    ]


def _type_of(leaf: Any, traced: Any) -> str:
    if isinstance(leaf, (np.ndarray, np.generic)):
        dtype = DTYPE_NAMES.get(leaf.dtype, leaf.dtype)
        return str(traced or f"{dtype}[{', '.join(map(str, leaf.shape))}]")
    return type(leaf).__name__
