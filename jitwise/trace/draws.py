"""Random generators in traced code: what stands for them, and the order of what is drawn.

    rng.normal(0, 1, n)         a draw from the generator that is at its path at each call
    np.random.rand(n)           the same, of the generator behind NumPy's own functions
    np.random.default_rng(3)    a generator that the program makes, at each call

Which numbers come is not known while tracing, and no generator of the user's is touched: what a
draw gives - dtype, rank, scalar or array - is found with another generator (see `draw_shapes`).
What is decided by what was drawn (`if rng.random() < p`) ends the trace. So do methods that give
Python's ints, or something else than arrays: `spawn`, `bytes`, `bit_generator`, `get_state`.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ops.draw import ORDER
from .captures import Path, chain_of, key_of
from .tracer import Tracer

if TYPE_CHECKING:
    from ..ir.graph import Value
    from .tracing import Trace


def _module() -> Any:
    return sys.modules.get("numpy.random")  # NumPy loads it late, and it takes 20 ms


def is_generator(value: Any) -> bool:
    """Whether a value is a generator that programs can draw from."""
    random = _module()
    return random is not None and type(value) in (random.Generator, random.RandomState)


def is_random(value: Any) -> bool:
    """Whether a value is any other object that random numbers come from."""
    random = _module()
    return type(value).__module__.startswith("numpy.random") or (
        random is not None and isinstance(value, random.Generator)
    )


def drawing(trace: Trace, value: Any) -> Callable[..., Any] | None:
    """What stands for a function that draws: a method of a generator, or one of NumPy's own."""
    random = _module()
    if random is None:
        return None
    if isinstance(value, types.MethodType) and is_generator(value.__self__):
        source, name = value.__self__, value.__name__
    elif value is random.default_rng:
        return trace.draws.make
    elif callable(value) and id(value) in (own := _of_module(random)):
        source, name = random.mtrand._rand, own[id(value)]
    else:
        return None
    stand_in = trace.draws.stand_in(source, Path("object", source, None), f"numpy.random.{name}")
    return getattr(stand_in, name)


def _of_module(random: Any) -> dict[int, str]:
    """The functions that are no methods of the generator behind them, by id."""
    names = {"seed": "seed", "ranf": "random_sample", "sample": "random_sample"}
    return {id(getattr(random, name)): method for name, method in names.items()}


class GeneratorProxy:
    """Stands for a generator: `source` says where the program finds it."""

    __slots__ = ("__kind", "__name", "__source", "__trace")

    def __init__(self, trace: Trace, kind: type, source: tuple[str, int], name: str) -> None:
        self.__trace = trace
        self.__kind = kind
        self.__source = source
        self.__name = name

    @property
    def __class__(self) -> type:
        return self.__kind

    def __getattr__(self, name: str) -> Any:
        trace, kind, source = self.__trace, self.__kind, self.__source
        from .draw_shapes import SHAPES, drawn

        if name in SHAPES and hasattr(kind, name):
            return lambda *args, **options: drawn(trace, kind, source, name, args, options)
        return trace.refuse("random", f"{self.__name}.{name}")

    def _refused(self, *args: Any) -> Any:
        return self.__trace.refuse("random", self.__name)

    __eq__ = __ne__ = __hash__ = __copy__ = __deepcopy__ = __reduce_ex__ = _refused  # type: ignore
    __repr__ = __str__ = __format__ = _refused  # type: ignore
    del _refused


class Draws:
    """The draws of one trace. `rows` are the paths of generators, and of what they lie in."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.rows: list[Path] = []
        self._last: Tracer | None = None  # stands for the result of the last draw that orders
        self._made = 0
        self._places: dict[tuple, int] = {}
        self._known: dict[int, tuple[Any, GeneratorProxy]] = {}

    @property
    def order(self) -> Value | None:
        """The result of the last draw that orders."""
        return None if self._last is None else self._last._value

    def begin(self) -> Value:
        """What the next draw follows. It is carried by loops and comes out of branches as an array
        does that is written to.
        """
        if self._last is None:
            first = self.trace.root.constant(0, ORDER.dtype)
            self._last = Tracer(self.trace, first, "scalar")
            self._last._fresh = 1
        return self._last._value

    def follow(self, order: Value) -> None:
        """A draw has taken place."""
        assert self._last is not None
        self._last._bind(order)

    def stand_in(self, value: Any, path: Path, name: str) -> GeneratorProxy:
        """What stands for the generator that is at `path`, whichever there is at each call."""
        holders = [each for each in chain_of(path)[1:] if each.how != "leaf"]
        for each in reversed(holders):
            self._place(each)
        place = self._place(path)
        if place not in self._known:
            if path.how not in ("leaf", "object"):
                self.trace.captures.guard(path, type(value), "type", name)
            proxy = GeneratorProxy(self.trace, type(value), ("place", place), name)
            self._known[place] = (value, proxy)
        return self._known[place][1]

    def _place(self, path: Path) -> int:
        """The number of the row of a path."""
        place = self._places.setdefault(key_of(path), len(self.rows))
        if place == len(self.rows):
            self.rows.append(path)
        return place

    def make(self, *args: Any, **options: Any) -> Any:
        """`np.random.default_rng(...)`."""
        from .draw_shapes import made

        given = [*args, *options.values()]
        if len(given) == 1 and type(given[0]) is GeneratorProxy:
            return given[0]
        random = _module()
        self._made += 1
        name = "numpy.random.default_rng"
        made(self.trace, name, ("make", self._made), args, options)
        return GeneratorProxy(self.trace, random.Generator, ("made", self._made), name)

    def refuse_several(self) -> None:
        """End the trace of code that may ask whether two generators are the same."""
        if len(self._known) > 1:
            self.trace.refuse("source", "random generators, perhaps compared by identity,")

    def refuse_drawn(self, value: Value) -> None:
        """End the trace when a value that decides something follows from a draw."""
        pending, seen = [value] if self.order is not None else [], set()
        while pending:
            op = pending.pop().op
            if op is None or op in seen:
                continue
            if op.primitive.name == "draw":
                self.trace.refuse("drawn", op.attrs["method"])
            seen.add(op)
            pending.extend(op.operands)


__all__ = ["Draws", "GeneratorProxy", "drawing", "is_generator", "is_random"]
