"""`Trace`: the state of one trace, and the operations on tracers that everything in this layer is
written with.

A trace runs the user's function on tracers. It owns the builder, the sizes of this call (to decide
comparisons, which become guards), and the list of what the function read from outside. Shapes that
must agree are unified:

    x: f64[n], y: f64[m], this call has n == m == 7;  x + y   ->   guard n - m == 0, and m becomes
    n everywhere

The second half happens at the end, by replaying the graph with the substitution (`finish`).

Values that stand for Python numbers have kind "python": they are weak in promotion (NEP 50). Kind
"scalar" is a NumPy scalar, "array" an array. Kinds decide what the caller gets back; the graph does
not know them.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors import CannotTrace
from ..ir import dims
from ..ir.builder import DIMENSION, Builder
from ..ir.dims import Dim, Guard, Size
from ..ir.graph import Graph, Value
from ..ir.primitive import NO_ATTRS, Attrs, Primitive
from ..ir.types import DTYPE_NAMES, ArrayType
from ..ops.call import cast_by_numpy
from ..ops.control import check, write
from ..ops.convert import convert
from ..ops.movement import broadcast_in_dim, reshape
from .captures import CallerArray, Captures
from .draws import Draws
from .measurements import Hints, Measurements
from .regions import Region, decided, is_inner
from .size import SizeTracer
from .source import locate
from .tracer import Tracer
from .unify import finish_substituted, substitution_for
from .watch import Watch

if TYPE_CHECKING:
    from .scope import Follower

current = contextvars.ContextVar["Trace | None"]("jitwise trace", default=None)
MAX_NDIM = 16
PYTHON_DTYPES = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}
_NATIVE = {dtype: dtype for dtype in DTYPE_NAMES}  # the objects that NumPy's arrays hold
_MOVING = ("view", "data")


class Trace:
    """One trace. `values` are the sizes of this call by symbol; `origins` says what each graph
    input is.
    """

    def __init__(self, name: str, *, fastmath: bool = False) -> None:
        self.name = name
        self.watch = Watch(name)
        self.root = Builder(name, fastmath=fastmath, locate=self.watch)
        self.builder: Builder = self.root  # or the region that is open
        self.region: Region | None = None
        self.stamp = 1  # the number of the region that new handles belong to
        self._regions = 1
        self._symbols = 0
        self.sources: dict[Value, Value] = {}  # inputs of regions, and what they are at first
        self.inner: set[str] = set()  # symbols of regions
        self.counters: dict[str, tuple[Size, Size]] = {}  # those that count, and their bounds
        self.values = Hints(self)
        self.substitution: dict[str, Size] = {}
        self.decided: dict[Size, bool] = {}
        self.nonnegative: set[Size] = set()
        self.exposed: dict[Dim, SizeTracer] = {}
        self.agreed: set[tuple[Size, Size]] = set()
        self.common: dict[tuple, tuple[Size, ...]] = {}
        self.ordered: dict[tuple, bool] = {}
        self.bounds: dict[tuple, tuple[Size, int, Size, bool]] = {}
        self.stretched: dict[tuple[Value, tuple[Size, ...]], Value] = {}
        self.origins: list[tuple[str, int]] = []
        self.given: list[Any] = []  # what the inputs are in this call
        self.originals: dict[int, tuple[Any, Any]] = {}  # followed functions, and the user's
        self.actual: dict[Value, np.ndarray] = {}  # see `values`
        self.measurements = Measurements(self)
        self.captures = Captures(self)
        self.draws = Draws(self)
        self.failure: CannotTrace | None = None
        self.follower: Follower | None = None  # what gives modules their stand-ins
        self.active = True
        self.has_loops = False  # in a followed function
        self.rewrites_next = False  # whether a trace that fails is made again, of rewritten code
        self.is_quiet = False  # a block of it ignores floating-point errors
        self.asks_c_order = False  # for an array in C order, whatever the arguments' order is
        self.swapped: dict[int, Value] = {}
        self.caller_arrays: dict[int, CallerArray] = {}  # by the id of the tracer
        self.aliases: dict[int, dict[int, Tracer]] = {}  # what may be the same array, by id
        self.forgotten: list[int] = []  # the regions of the arrays that nobody may ask for again
        self.written: dict[int, Tracer] = {}  # those of them that were written to
        self.changes: list[Tracer] | None = None  # what a call of a jitted function wrote to
        self.printed: list[tuple[tuple, dict]] = []

    # Inputs

    def input(self, array: np.ndarray | np.generic, origin: tuple[str, int], kind: str) -> Tracer:
        """A tracer for an array that comes from outside; its sizes become symbols."""
        dtype = _NATIVE.get(array.dtype.newbyteorder("="))
        if dtype is None:
            self.refuse("dtype", str(array.dtype))
        if array.ndim > MAX_NDIM:
            self.refuse("rank", str(MAX_NDIM))
        index = len(self.origins)
        shape: list[Size] = []
        for axis, size in enumerate(array.shape):
            shape.append(self._symbol(("size", index, axis), size))
        self.origins.append(origin)
        self.given.append(array)
        value = self.root.input(ArrayType(dtype, tuple(shape)))
        if not array.dtype.isnative:
            self.swapped[id(value)] = value
        return Tracer(self, value, kind)

    def refuse_swapped(self, value: Value) -> None:
        """End the trace when NumPy would keep an argument's foreign byte order in `value`: where
        only moved elements lead to it.
        """
        pending, seen = [value] if self.swapped else [], set()
        while pending:
            each = pending.pop()
            if id(each) in self.swapped:
                own = each.type.dtype.newbyteorder("S").str
                self.refuse("dtype", f"{own}, foreign byte order which the result keeps,")
            if id(each) not in seen and each.op and each.op.primitive.category in _MOVING:
                pending.extend(each.op.operands)
            seen.add(id(each))

    def number_input(self, number: Any, origin: tuple[str, int]) -> Any:
        """A tracer for a Python number that comes from outside; an int or bool is a size."""
        index = len(self.origins)
        if type(number) is int and not -(2**63) <= number < 2**63:
            self.refuse("type", "int beyond 64 bits")
        value = self.root.input(ArrayType(PYTHON_DTYPES[type(number)], ()))
        self.origins.append(origin)
        self.given.append(number)
        if type(number) is int:
            return SizeTracer(self, self._symbol(("value", index), number))
        return Tracer(self, value, "python", number)

    def _symbol(self, origin: Any, value: int) -> Dim:
        name = self.name_symbol("n")
        self.values[name] = value
        return self.root.symbol(name, origin)

    def open_regions(self) -> list[int]:
        """The numbers of the regions that are open, and that of the graph around them all."""
        numbers, region = [1], self.region
        while region is not None:
            numbers.append(region.number)
            region = region.around
        return numbers

    def name_symbol(self, letter: str) -> str:
        """A name for a symbol: the younger, the greater its number."""
        self._symbols += 1
        return f"{letter}{self._symbols - 1}"

    def next_region(self) -> int:
        """A number for a region, greater than that of any before."""
        self._regions += 1
        return self._regions

    # Giving up

    def refuse(self, reason: str, detail: str = "") -> NoReturn:
        """End the trace: the function runs as Python, for this reason, at the present line."""
        failure = CannotTrace(reason, detail, locate())
        if self.failure is None:
            self.failure = failure
        raise failure

    def refuse_written_out(self) -> None:
        """End the trace where a loop makes it long, if it can be tried as a loop."""
        if self.rewrites_next and self.has_loops:
            self.refuse("loop", "it is long")

    def refusing(self, reason: str, detail: str) -> Callable[..., NoReturn]:
        """A function that stands for one whose call ends the trace; holding it does not."""
        return lambda *args, **options: self.refuse(reason, detail)

    # Sizes

    def expose(self, size: Size) -> Any:
        """What the user sees of a size: an int, or a SizeTracer."""
        if not isinstance(size, Dim):
            return size
        found = self.exposed.get(size)
        if found is not None:
            return found
        unknown = self.values.open and self.values.is_open(size)
        if not unknown and abs(self.hint(size)) >= 2**62:  # beyond 64 bits
            for name in sorted(dims.symbols_of(size)):
                self.number(Dim.symbol(name))
            return self.hint(size)
        found = self.exposed[size] = SizeTracer(self, size)
        return found

    def hint(self, size: Size) -> int:
        """The value of `size` in this call."""
        return dims.evaluate_size(size, self.values)

    def require(self, relation: str, size: Size) -> None:
        """Assume a relation that holds in this call; refuse (Python will raise) when it does
        not.
        """
        if isinstance(size, int):
            holds = {"eq": size == 0, "ne": size != 0, "ge": size >= 0}[relation]
        else:
            holds = Guard(relation, size).holds(self.values)
        if not holds:
            self.refuse("size", f"{size} {relation} 0 does not hold")
        if self.region is not None and is_inner(self, size):
            self.region.require(relation, size)  # type: ignore[arg-type]
        else:
            count, source = len(self.root.guards), locate()
            self.root.guard(relation, size, source)
            if len(self.root.guards) > count:
                self.watch.decided(source)

    def is_zero(self, size: Size) -> bool:
        """Whether `size` is 0 in this call; the answer becomes a guard."""
        answer = self.hint(size) == 0
        self.require("eq" if answer else "ne", size)
        return answer

    def at_least(self, size: Size) -> bool:
        """Whether `size >= 0` in this call; the answer becomes a guard."""
        answer = self.decided.get(size)
        if answer is None and self.inner and is_inner(self, size):
            answer = decided(self, size)  # type: ignore[arg-type]
            if answer is not None:
                self.decided[size] = answer
        if answer is None:
            answer = self.decided[size] = self.hint(size) >= 0
            self.require("ge", size if answer else dims.subtract(-1, size))
        return answer

    def number(self, size: Size) -> int:
        """The value of `size`, guarded: another value traces again."""
        if self.inner and is_inner(self, size):
            self.refuse("value", "an int that the next turn of a loop changes")
        value = self.hint(size)
        self.require("eq", dims.subtract(size, value))
        return value

    def same_size(self, left: Size, right: Size) -> bool:
        """Whether two sizes agree in this call. If so there is a guard, and they are unified; but a
        measured size is not there from the beginning, and stays.
        """
        if left is right or left == right or (left, right) in self.agreed:
            return True
        difference = dims.subtract(left, right)
        if isinstance(difference, int) or self.hint(difference) != 0:
            return False
        self.require("eq", difference)
        later = self.measurements.symbols
        outer = not (self.inner and is_inner(self, difference))
        if outer and (not later or later.isdisjoint(dims.symbols_of(difference))):
            solved = substitution_for(difference, self.substitution)
            if solved is not None:
                self.substitution[solved[0]] = solved[1]
        self.agreed.add((left, right))
        return True

    # Emitting

    def emit(
        self,
        primitive: Primitive,
        operands: Sequence[Tracer],
        attrs: Attrs = NO_ATTRS,
        kind: str | None = None,
    ) -> Any:
        """Emit a primitive on tracers. Without `kind` a result of rank 0 is a NumPy scalar."""
        return self.wrap(
            self.builder.emit(primitive, tuple([each._value for each in operands]), attrs), kind
        )

    def wrap(self, result: Any, kind: str | None = None) -> Any:
        """Tracers for emitted values."""
        if not self.active:
            self.escaped(result[0] if isinstance(result, tuple) else result)
        if isinstance(result, tuple):
            return tuple([self.wrap(each, kind) for each in result])
        return Tracer(self, result, kind or ("array" if result.type.shape else "scalar"))

    def escaped(self, value: Value) -> NoReturn:
        """Refuse to go on with a value whose trace has ended."""
        from ..errors import EscapedTracerError

        source, pending = None, [value]
        while pending and source is None:
            op = pending.pop().op
            if op is not None:  # what was made after the end has no line
                source = op.source
                pending.extend(op.operands)
        where = f" at {source[0]}:{source[1]}" if source is not None else ""
        raise EscapedTracerError(
            f"a value traced in {self.name}{where} is used after the call that traced it had "
            "ended; return it from the function instead of storing it outside"
        )

    def constant(self, value: Any, dtype: np.dtype, kind: str | None = None) -> Tracer:
        """A scalar of `dtype`."""
        try:
            return self.wrap(self.builder.constant(value, dtype, locate()), kind)
        except (OverflowError, FloatingPointError) as error:
            return self.wrap(self.beyond(value, dtype, error), kind)

    def beyond(self, value: Any, dtype: np.dtype, error: Exception) -> Value:
        """A number that does not fit: an int is NumPy's to refuse; others become infinite."""
        if type(error) is OverflowError:
            self.refuse("error", "OverflowError")
        return self.convert(self.lift(value), dtype)._value

    def lift(self, item: Any) -> Tracer:
        """A tracer for anything that can stand among arrays."""
        if isinstance(item, Tracer):
            if item._trace is not self:
                item._trace.escaped(item._value)
            return item
        if isinstance(item, SizeTracer):
            value = self.builder.emit(DIMENSION, (), {"size": item.size})
            # What is not known yet is not computed to be looked at: any number will do.
            hint = 1 if self.values.is_open(item.size) else self.hint(item.size)
            return Tracer(self, value, "python", hint)
        kind = type(item)
        if kind in PYTHON_DTYPES:
            if kind is int and not -(2**63) <= item < 2**63:
                self.refuse("type", "int beyond 64 bits")
            return Tracer(self, self.builder.constant(item, PYTHON_DTYPES[kind]), "python", item)
        if isinstance(item, np.generic):
            if item.dtype not in DTYPE_NAMES:
                self.refuse("dtype", str(item.dtype))
            return Tracer(self, self.builder.constant(item, item.dtype), "scalar")
        if kind is np.ndarray:
            return self.captures.array_object(item)
        if kind in (list, tuple):
            return self.stack_sequence(item)
        self.refuse("type", kind.__name__)

    def stack_sequence(self, items: Sequence[Any]) -> Tracer:
        """`np.asarray` of a list or tuple, which may hold tracers."""
        if not self.holds_tracer(items):
            array = np.asarray(items)
            if array.dtype not in DTYPE_NAMES:
                self.refuse("dtype", str(array.dtype))
            return self.captures.array_object(array) if array.ndim else self.lift(array[()])
        from .numpy.join import stack_nested

        return stack_nested(self, items)

    def holds_tracer(self, items: Any) -> bool:
        """Whether a nest of lists and tuples holds a tracer."""
        pending = [items]
        while pending:
            item = pending.pop()
            if isinstance(item, (Tracer, SizeTracer)):
                return True
            if type(item) in (list, tuple):
                pending.extend(item)
        return False

    def convert(self, operand: Tracer, dtype: np.dtype, kind: str | None = None) -> Tracer:
        """`operand.astype(dtype)` without a copy when nothing changes."""
        own = operand._value.type.dtype
        if own == dtype:
            return operand
        if own.kind == "c" and dtype.kind not in "cb":
            self.refuse("argument", "a conversion of complex numbers to real ones")  # NumPy warns
        found = self.emit(convert, (operand,), {"dtype": dtype}, kind or operand._kind)
        if operand._value.constant is not None and found._value.constant is None:
            value = cast_by_numpy(self.builder, operand._value, dtype)
            return Tracer(self, value, found._kind)
        return found

    def check(self, condition: Tracer, reason: str) -> None:
        """Make the program give up at run time, for this call, unless `condition` (bool, rank 0)
        is true.
        """
        self.builder.emit(check, (condition._value,), {"reason": reason})

    # Shapes

    def broadcast_shapes(self, shapes: Sequence[tuple[Size, ...]]) -> tuple[Size, ...]:
        """NumPy's broadcast of shapes, unifying sizes that agree in this call.

        A long program has few distinct combinations: each is compared once.
        """
        known = self.common.get(tuple(shapes))
        if known is not None:
            return known
        result: list[Size] = []
        ndim = max(map(len, shapes), default=0)
        for axis in range(-ndim, 0):
            chosen: Size = 1
            for shape in shapes:
                if len(shape) < -axis:
                    continue
                chosen = self._broadcast_size(chosen, shape[axis])
            result.append(chosen)
        self.common[tuple(shapes)] = tuple(result)
        return tuple(result)

    def _broadcast_size(self, chosen: Size, size: Size) -> Size:
        if size is chosen or size == 1:
            return chosen
        if chosen == 1 or self.same_size(chosen, size):
            return size if chosen == 1 else chosen
        for candidate, other in ((chosen, size), (size, chosen)):
            if isinstance(candidate, Dim) and self.same_size(candidate, 1):
                return other
        self.refuse("error", "ValueError: operands could not be broadcast together")

    def fits(self, own: tuple[Size, ...], shape: tuple[Size, ...]) -> bool:
        """Whether an array of the shape `own` broadcasts to `shape` in this call, with guards."""
        if len(own) > len(shape):
            return False
        axes = zip(own, shape[len(shape) - len(own) :], strict=True)
        for size, target in axes:
            if not (size is target or self.same_size(size, target) or self.same_size(size, 1)):
                return False
        return True

    def broadcast(self, operand: Tracer, shape: tuple[Size, ...]) -> Tracer:
        """`np.broadcast_to(operand, shape)`; sizes have been compared by `broadcast_shapes`
        or `fits` before.
        """
        if operand._value.type.shape == shape:
            return operand
        return Tracer(self, self.stretch(operand._value, shape), "array")

    def stretch(self, value: Value, shape: tuple[Size, ...]) -> Value:
        """`broadcast` of a value that has another shape."""
        found = self.stretched.get((value, shape))
        if found is not None:
            return found
        own, given = value.type.shape, value
        offset = len(shape) - len(own)
        sizes = []
        for size, target in zip(own, shape[offset:], strict=True):
            if size == 1 or size == target:
                sizes.append(size)
            else:  # unified with, or found to be 1 by a guard
                sizes.append(1 if self.hint(size) == 1 and self.hint(target) != 1 else target)
        if tuple(sizes) != own:
            value = self.builder.emit(reshape, (value,), {"sizes": tuple(sizes)})
        if tuple(sizes) != shape:
            attrs = {"sizes": shape, "dimensions": tuple(range(offset, len(shape)))}
            value = self.builder.emit(broadcast_in_dim, (value,), attrs)
        self.stretched[given, shape] = value
        return value

    def align(self, operands: Sequence[Tracer]) -> list[Tracer]:
        """Operands of an elementwise primitive: each of the common shape, or of rank 0."""
        shape = operands[0]._value.type.shape
        for operand in operands:
            if operand._value.type.shape != shape:
                break
        else:
            return list(operands)
        common = self.broadcast_shapes([each._value.type.shape for each in operands])
        return [
            each if not each._value.type.shape else self.broadcast(each, common)
            for each in operands
        ]

    # The end

    def finish(self, outputs: Sequence[Value]) -> Graph:
        """The graph, with unified sizes replaced, and the trace closed."""
        for name, target in self.written.items():
            given = self.root.inputs[self.caller_arrays[name].input]
            self.root.emit(write, (given, target._value))
        if self.substitution:
            return finish_substituted(self.root, tuple(outputs), self.substitution)
        return self.root.finish(tuple(outputs))

    def close(self) -> None:
        """No tracer of this trace may be used from now on."""
        self.active = False
        self.follower = None
