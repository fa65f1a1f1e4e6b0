"""A region as one LLVM function: scalar code with loops, run-time sizes and strides.

    i32 region(ptr data, ptr strides, ptr sizes, ptr frame, ptr poll)

`data` points to the first element of each operand, then of each result; `strides` are those of the
operands, in bytes. What a loop carries is on the stack here and in registers after LLVM's passes; a
carried array is updated in the memory of the result, which begins as the operand. Views are an
address and strides; elementwise work on arrays is done at the element that is asked for.

0 is returned when all is done, 1 when a check fails, a size overflows or a slice leaves its array
(the call then runs as Python), 2 when a signal's handler raised. Back edges count down to a poll.
No arithmetic is reassociated or contracted, and no loop is assumed to end.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..ir.dims import Size
from ..ir.graph import Graph, Op, Value
from . import (
    region_branches,
    region_copies,
    region_lanes,
    region_loops,
    region_reductions,
    region_sizes,
    region_views,
)
from .convert import X86
from .emit import ModuleText
from .operations import BOOL, Operand
from .region_facts import LENGTH, Facts
from .region_operations import RegionOperations
from .region_views import Array, Computed, Elements
from .text import PARTS, SCALARS, FunctionText

FLOAT_REGISTER = "x" if platform.machine() in X86 else "w"
INT = np.dtype(np.int64)
POLL = 1 << 16  # back edges, or elements, between two polls
MOST_UNROLLED = 4  # elements that are written one by one: those of small arrays are in registers
SELDOM = '!{!"branch_weights", i32 1, i32 65536}'
SIGNATURE = "ptr %data, ptr %strides, ptr %sizes, ptr %frame, ptr %poll"
Known = dict[Value, Any]  # an Operand, or Elements


def emit_region(
    graph: Graph, symbols: Sequence[str], has_avx: bool = False, has_avx512: bool = False
) -> ModuleText:
    """The module of a region; `symbols` are those of `sizes`, in order."""
    operations = RegionOperations(has_avx, has_avx512)
    emission = Emission(graph, symbols, operations)
    lines = emission.run()
    operations.metadata = scopes(emission.apart)
    parts = [*operations.declarations.values(), *operations.support.values(), *lines]
    if operations.metadata:
        parts.append(operations.metadata)
    is_plain = not emission.has_vectors and not operations.support
    text = "\n".join(parts) + "\n"
    return ModuleText(text, (("region",),), frozenset(operations.symbols), is_plain)


def note(place: int) -> str:
    """Of an access to the memory of a result; the operands have the place after the last one, and
    arrays that the region makes those after that.
    """
    return f", !alias.scope !{2 * place + 2}, !noalias !{2 * place + 3}"


def scopes(count: int) -> str:
    """What the notes refer to: lists of a scope, and of all others."""
    first = 2 * count + 2
    lines = [f"!0 = {SELDOM}", "!1 = distinct !{!1}"]
    names = [f"!{first + place}" for place in range(count)]
    for place, name in enumerate(names):
        others = ", ".join([*names[:place], *names[place + 1 :]])
        lines.append(f"!{2 * place + 2} = !{{{name}}}")
        lines.append(f"!{2 * place + 3} = !{{{others}}}")
        lines.append(f"{name} = distinct !{{{name}, !1}}")
    return "\n".join(lines)


class Emission:
    """Writes one region."""

    def __init__(self, graph: Graph, symbols: Sequence[str], operations: RegionOperations) -> None:
        self.graph = graph
        self.e = operations
        self.function = operations.function = FunctionText()
        operations.lanes = 1
        operations.emission = self
        self.stack: list[str] = []  # lines that declare variables
        self.owned: list[str] = []  # variables that point to memory to be given back
        self.apart = len(graph.outputs) + 1  # pieces of memory that do not overlap
        self.lanes: region_lanes.Lanes | None = None  # while elements are taken several at a time
        self.labels = 0
        self.sizes: dict[Size, str] = {}
        self.values: dict[str, str] = {}  # names by what they are, where those are defined
        self.facts = Facts(graph)
        self.scope: region_loops.Scope | None = None  # of the innermost loop that counts
        self.always = False  # whether each of its turns comes by here
        self.exact = False  # whether what is computed was checked before the loop
        self.otherwise: str | None = None  # the i1 of a branch that is not computed for itself
        self.polls = 0
        self.has_vectors = False  # there are loops of which several turns may be taken at once
        self.symbols: dict[str, str] = {
            name: self.define(f"load i64, ptr {self.offset('%sizes', 8 * place)}")
            for place, name in enumerate(symbols)
        }

    def run(self) -> list[str]:
        """The lines of the function."""
        graph = self.graph
        known: Known = {}
        before = 0
        start = len(self.function.lines)
        for place, value in enumerate(graph.inputs):
            pointer = self.define(f"load ptr, ptr {self.offset('%data', 8 * place)}")
            sizes = [self.size(size) for size in value.type.shape]
            strides = [
                self.define(f"load i64, ptr {self.offset('%strides', 8 * (before + axis))}")
                for axis in range(len(sizes))
            ]
            before += len(sizes)
            apart = note(len(graph.outputs))
            known[value] = self.element(Array(value.type.dtype, pointer, sizes, strides, apart))
        outs = self._results(known)
        self.counter = self.variable("i64")
        self.function.line(f"store i64 {POLL}, ptr {self.counter}")
        self.ops(graph, known)
        for value, out in zip(graph.outputs, outs, strict=True):
            if not value.type.shape:
                self.store(known[value], out)
        self._check_lengths(start)
        function = self.function
        for status, label in enumerate(("", "deoptimize", "interrupted")):
            if label:
                function.label(label)
            for pointer in self.owned:
                held = self.define(f"load ptr, ptr {pointer}")
                function.line(f"call void @free(ptr {held})")
            function.line(f"ret i32 {status}")
        head = f"define i32 @region({SIGNATURE}) nounwind {{"
        return [head, "entry:", *function.allocations(), *self.stack, *function.lines, "}"]

    def _check_lengths(self, start: int) -> None:
        """Check what was taken for granted, before anything else."""
        lines = self.function.lines
        self.function.lines = []
        for name in sorted(self.facts.used):
            self.require(self.define(f"icmp ult i64 {self.symbols[name]}, {LENGTH}"))
        self.function.lines = lines[:start] + self.function.lines + lines[start:]

    def _results(self, known: Known) -> list[str]:
        """Where the results are; what a loop carries begins there."""
        graph, outs = self.graph, []
        for place, value in enumerate(graph.outputs):
            number = len(graph.inputs) + place
            pointer = self.define(f"load ptr, ptr {self.offset('%data', 8 * number)}")
            outs.append(pointer)
            if value.type.shape:
                sizes = [self.size(size) for size in value.type.shape]
                strides = region_views.dense(self, value.type.dtype, sizes)
                apart = note(place)
                whole = Array(value.type.dtype, pointer, sizes, strides, apart)
                known[graph.inputs[place]] = whole
        return outs

    # Text

    def define(self, text: str) -> str:
        """A new name for what an instruction gives."""
        return self.function.define(text)

    def offset(self, pointer: str, count: int | str) -> str:
        """A pointer so many bytes further on."""
        if count in (0, "0"):
            return pointer
        text = f"getelementptr i8, ptr {pointer}, i64 {count}"
        return region_loops.pure(self, text, pointer, str(count))

    def arithmetic(self, opcode: str, left: str, right: str) -> str:
        """Of two i64; the constants that change nothing are left out."""
        neutral = "1" if opcode == "mul" else "0"
        if right == neutral:
            return left
        if left == neutral and opcode != "sub":
            return right
        if opcode == "mul" and "0" in (left, right):
            return "0"
        if self.lanes is None:
            return region_loops.pure(self, f"{opcode} i64 {left}, {right}", left, right)
        result = self.define(f"{opcode} i64 {left}, {right}")
        self.lanes.follow(opcode, left, right, result)
        return result

    def variable(self, type: str) -> str:
        """A variable, which LLVM keeps in a register."""
        name = f"%variable{len(self.stack)}"
        self.stack.append(f"  {name} = alloca {type}")
        return name

    def memory(self, size: int) -> str:
        """So many bytes, for as long as the region runs."""
        return self.variable(f"[{max(size, 1)} x i8], align 16")

    def note_of_new(self) -> str:
        """The note of another piece of memory."""
        self.apart += 1
        return note(self.apart - 1)

    def label(self, word: str) -> str:
        """A new name for a block."""
        self.labels += 1
        return f"{word}{self.labels}"

    def require(self, condition: str) -> None:
        """Leave the region unless an i1 is true, or `otherwise` is, which is asked second."""
        if self.lanes is not None:
            raise region_lanes.NoVector
        after = self.label("holds")
        if self.otherwise is None:
            self.function.line(f"br i1 {condition}, label %{after}, label %deoptimize")
        else:
            asks = self.label("asks")
            fails = self.define(f"xor i1 {condition}, true")
            self.function.line(f"br i1 {fails}, label %{asks}, label %{after}, !prof !0")
            self.function.label(asks)
            self.function.line(f"br i1 {self.otherwise}, label %{after}, label %deoptimize")
        self.function.label(after)

    def size(self, size: Size) -> str:
        """The value of a size."""
        return region_sizes.emit(self, size)

    # Elements in memory

    def element(self, array: Array) -> Any:
        """An array of rank 0 is its element."""
        return array if array.sizes else self.load(array.pointer, array.dtype)

    def load(self, pointer: str, dtype: np.dtype, note: str = "") -> Operand:
        """The element at an address."""
        part = PARTS.get(dtype)
        if part is not None:
            real = self.load(pointer, part, note)
            return self.e.complex(real, self.load(self.offset(pointer, part.itemsize), part, note))
        if dtype == BOOL:
            byte = self.define(f"load i8, ptr {pointer}, align 1{note}")
            return Operand(self.define(f"icmp ne i8 {byte}, 0"), dtype)
        return Operand(self.define(f"load {SCALARS[dtype]}, ptr {pointer}, align 1{note}"), dtype)

    def store(self, operand: Operand, pointer: str, note: str = "") -> None:
        """Write an element."""
        dtype = operand.dtype
        if operand.imag is not None:
            self.store(self.e.real(operand), pointer, note)
            self.store(self.e.imag(operand), self.offset(pointer, PARTS[dtype].itemsize), note)
        elif dtype == BOOL:
            byte = self.define(f"zext i1 {operand.text} to i8")
            self.function.line(f"store i8 {byte}, ptr {pointer}, align 1{note}")
        else:
            type = SCALARS[dtype]
            self.function.line(f"store {type} {operand.text}, ptr {pointer}, align 1{note}")

    def loop(self, count: str, body: Callable[[str], None]) -> None:
        """`body` for 0 .. count - 1."""
        if count.isdigit() and int(count) <= MOST_UNROLLED:
            for now in range(int(count)):
                body(str(now))
            return
        variable = self.variable("i64")
        test, inside, after = self.label("test"), self.label("inside"), self.label("after")
        self.function.line(f"store i64 0, ptr {variable}")
        self.function.line(f"br label %{test}")
        self.function.label(test)
        now = self.define(f"load i64, ptr {variable}")
        more = self.define(f"icmp slt i64 {now}, {count}")
        self.function.line(f"br i1 {more}, label %{inside}, label %{after}")
        self.function.label(inside)
        with region_loops.block(self):
            body(now)
        next = self.define(f"add i64 {now}, 1")
        self.function.line(f"store i64 {next}, ptr {variable}")
        self.function.line(f"br label %{test}")
        self.function.label(after)

    def poll(self, weight: str = "1", then: Callable[[], None] | None = None) -> None:
        """Count down to a look for signals, and what else is to be done from time to time."""
        self.polls += 1
        left = self.define(f"load i64, ptr {self.counter}")
        less = self.define(f"sub i64 {left}, {weight}")
        self.function.line(f"store i64 {less}, ptr {self.counter}")
        looks, after = self.label("poll"), self.label("polled")
        empty = self.define(f"icmp sle i64 {less}, 0")
        self.function.line(f"br i1 {empty}, label %{looks}, label %{after}, !prof !0")
        self.function.label(looks)
        status = self.define("call i32 %poll(ptr %frame)")
        self.function.line(f"store i64 {POLL}, ptr {self.counter}")
        fine = self.define(f"icmp eq i32 {status}, 0")
        going = self.label("going") if then else after
        self.function.line(f"br i1 {fine}, label %{going}, label %interrupted")
        if then:
            self.function.label(going)
            then()
            self.function.line(f"br label %{after}")
        self.function.label(after)

    # Ops

    @contextmanager
    def inside(self, graph: Graph, arguments: Sequence[Any]) -> Iterator[None]:
        """The symbols of a graph inside, read from what it is given; they end with it."""
        kept = symbols, sizes, values = self.symbols, self.sizes, self.values
        self.symbols, self.sizes, self.values = dict(symbols), dict(sizes), dict(values)
        for name, origin in graph.symbols.items():
            given = arguments[origin[1]]
            self.symbols[name] = (
                given.sizes[origin[2]] if origin[0] == "size" else given.text  # type: ignore[misc]
            )
        yield
        self.symbols, self.sizes, self.values = kept

    def graph_inside(
        self, graph: Graph, arguments: Sequence[Any], given: Known | None = None
    ) -> list[Any]:
        """The outputs of a graph on these values; some of what it computes may be given."""
        known: Known = dict(given or {})
        known.update(zip(graph.inputs, arguments, strict=True))
        with self.inside(graph, arguments):
            self.ops(graph, known)
        return [known[value] for value in graph.outputs]

    def ops(self, graph: Graph, known: Known) -> None:
        """Every op of a graph."""
        for op in graph.ops:
            if op.results and op.results[0] in known:
                continue
            known.update(zip(op.results, self.write(op, known), strict=True))

    def write(self, op: Op, known: Known) -> list[Any]:
        """What an op gives."""
        name = op.primitive.name
        given = [known[value] for value in op.operands]
        if name in WRITERS:
            return WRITERS[name](self, op, given)
        return getattr(self, f"op_{name}", self.elementwise)(op, given)

    def elementwise(self, op: Op, given: list[Any]) -> list[Any]:
        """The primitive's own lowering, now or at each element."""
        lower = op.primitive.lower
        assert lower is not None

        def apply(operands: list[Operand]) -> Operand:
            return lower[operands[0].dtype.kind](self.e, dict(op.attrs), *operands)

        if not op.results[0].type.shape:
            return [apply(given)]
        sizes = [self.size(size) for size in op.results[0].type.shape]

        def at(indices: list[str]) -> Operand:
            if self.lanes is not None and op.primitive.name not in region_lanes.PLAIN:
                raise region_lanes.NoVector
            return apply(
                [
                    region_lanes.spread(self, x) if isinstance(x, Operand) else x.at(self, indices)
                    for x in given
                ]
            )

        return [Computed(op.results[0].type.dtype, sizes, at)]

    def op_constant(self, op: Op, given: list[Any]) -> list[Any]:
        """A number."""
        return [self.e.constant(op.attrs["value"], op.results[0].type.dtype)]

    def op_dimension(self, op: Op, given: list[Any]) -> list[Any]:
        """A size as a number."""
        return [Operand(self.size(op.attrs["size"]), INT)]

    def op_check(self, op: Op, given: list[Any]) -> list[Any]:
        """Leave the region where it does not hold."""
        self.require(given[0].text)
        return []

    def op_measure(self, op: Op, given: list[Any]) -> list[Any]:
        """A number as a size."""
        self.symbols[op.attrs["symbols"][0]] = given[0].text
        return []

    def view(self, op: Op, given: list[Any]) -> list[Any]:
        """Another look at the same elements."""
        source: Any = given[0]
        if isinstance(source, Operand):
            single = source
            source = Computed(single.dtype, [], lambda indices: region_lanes.spread(self, single))
        result = region_views.VIEWS[op.primitive.name](self, op, source, given[1:])
        return [result if result.sizes else result.at(self, [])]

    op_slice = op_reshape = op_transpose = op_reverse = op_broadcast_in_dim = op_gather = view

    def op_update_slice(self, op: Op, given: list[Any]) -> list[Any]:
        """Write a part."""
        whole, part = given
        sizes = [part.sizes[axis] for axis in range(len(part.sizes))]
        shapes = [operand.type.shape for operand in op.operands]
        target = region_views.part(
            self, whole, op.attrs["starts"], op.attrs["strides"], sizes, *shapes
        )
        self.copy(target, part)
        return [whole]

    def op_scatter(self, op: Op, given: list[Any]) -> list[Any]:
        """Write at a position."""
        whole, part, *positions = given
        self.copy(region_views.gather(self, op, whole, positions), part)
        return [whole]

    def copy(self, target: Array, source: Elements | Operand) -> None:
        """Write all elements of a part."""

        def axis(indices: list[str]) -> None:
            if len(indices) < len(target.sizes):
                self.loop(target.sizes[len(indices)], lambda now: axis([*indices, now]))
                return
            value = source if isinstance(source, Operand) else source.at(self, indices)
            self.store(value, target.address(self, indices), target.note)

        axis([])
        if any(size != "1" for size in target.sizes):
            total = "1"
            for size in target.sizes:
                total = self.arithmetic("mul", total, size)
            self.poll(total)

    # Graphs inside

    def variables(self, values: Sequence[Any]) -> list[list[str]]:
        """A variable for each single value, two for a complex one; none for arrays."""
        return [
            [self.variable(SCALARS[PARTS.get(x.dtype, x.dtype)]) for _ in self.parts(x)]
            if isinstance(x, Operand)
            else []
            for x in values
        ]

    def parts(self, x: Operand) -> list[Operand]:
        """The real values that a value is."""
        return [x] if x.imag is None else [self.e.real(x), self.e.imag(x)]

    def keep(self, values: Sequence[Any], variables: list[list[str]]) -> None:
        """Write to variables."""
        for x, names in zip(values, variables, strict=True):
            for name, part in zip(names, self.parts(x) if names else [], strict=True):
                self.function.line(f"store {SCALARS[part.dtype]} {part.text}, ptr {name}")

    def kept(self, values: Sequence[Any], variables: list[list[str]]) -> list[Any]:
        """Read from variables; arrays are where they were."""
        found = []
        for x, names in zip(values, variables, strict=True):
            if not names:
                found.append(x)
                continue
            part: np.dtype = PARTS.get(x.dtype) or x.dtype
            read = [self.define(f"load {SCALARS[part]}, ptr {name}") for name in names]
            found.append(Operand(read[0], x.dtype, *read[1:]))
        return found


WRITERS: dict[str, Callable[[Emission, Op, list[Any]], list[Any]]] = {
    "while": region_loops.emit,
    "case": region_branches.emit,
    "copy": region_copies.copy,
    "concatenate": region_copies.concatenate,
    "dot_general": region_reductions.dot,
    **{
        f"reduce_{word}": region_reductions.reduce
        for word in ("add", "multiply", "max", "min", "and", "or", "xor")
    },
    "argmax": region_reductions.reduce,
    "argmin": region_reductions.reduce,
}
