"""A kernel: what is done to each chunk of `lanes` consecutive elements, as a name-free record.

A kernel has operands (memory it is given), scratch (row-long temporaries it is given) and phases. A
phase is a prologue, run once per call on single values, and a body, run once per chunk on vectors
of `lanes` values:

    kernel row lanes=64 (%0: f32 vector) -> (%1: f32 vector) scratch (%2: f32) {
      phase {
        %3 = load %0
        %4 = exponential(%3)
        store %2, %4
        %5 = reduce add %4
      }
      phase {
        prologue {
          %6 = constant{value=f32(1.0)}()
          %7 = divide(%6, %5)
        }
        %8 = load %2
        %9 = multiply(%8, %7)
        store %1, %9
      }
    }

Numbers are positions: operands, then scratch, then every defining statement in order of the text.
So equal kernels have equal text, and the text is a kernel's identity. Strides, extents, tails and
broadcasting are absent on purpose: whoever drives a kernel hands it contiguous chunks.

A header with the word `fastmath` allows what holds of real numbers: another kernel, by its text.

Modes: `map` (no reductions, one phase), `row` (reductions along the row; a result is known after
its phase), `column` (one phase; each reduction combines into an output, element by element).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

try:
    from _blake2 import blake2b  # what `hashlib` gives, without loading OpenSSL
except ImportError:
    from hashlib import blake2b

from ..ir.builder import CONSTANT
from ..ir.primitive import Primitive, exact_attrs
from ..ir.types import ArrayType

MODES = ("map", "row", "column")
ROLES = ("vector", "row", "scalar")
REDUCTIONS = ("add", "multiply", "min", "max", "and", "or", "xor", "argmin", "argmax")
INDEX_WORDS = ("argmin", "argmax")
INDEX = np.dtype(np.int64)


class Operand(NamedTuple):
    """Memory given to a kernel: `vector` has an element per point, `row` one per row, `scalar` one
    in all.
    """

    dtype: np.dtype
    role: str
    is_output: bool


class Load(NamedTuple):
    """Read an operand or scratch; in a prologue a row or scalar operand, in a body a vector operand
    or scratch.
    """

    result: int
    source: int


class Compute(NamedTuple):
    """Apply an elementwise primitive (or `constant`) to values."""

    result: int
    primitive: Primitive
    attrs: tuple[tuple[str, Any], ...]
    operands: tuple[int, ...]


class Store(NamedTuple):
    """Write a value to an output or scratch."""

    target: int
    value: int


class Reduce(NamedTuple):
    """Combine a value over the points of a row into `result` (row), or over rows into the output
    `target` (column).
    """

    result: int | None
    word: str
    value: int
    target: int | None = None


Statement = Load | Compute | Store | Reduce


class Phase(NamedTuple):
    """One pass over the chunks of a row."""

    prologue: tuple[Statement, ...]
    body: tuple[Statement, ...]


class Reduction(NamedTuple):
    """A reduction as the driver of the kernel sees it."""

    word: str
    dtype: np.dtype
    phase: int


class Kernel(NamedTuple):
    """See the module docstring; `verify` states what holds of one."""

    mode: str
    lanes: int
    operands: tuple[Operand, ...]
    scratch: tuple[np.dtype, ...]
    phases: tuple[Phase, ...]
    fastmath: bool = False  # arithmetic may be reassociated and contracted

    @property
    def inputs(self) -> tuple[Operand, ...]:
        """The operands that are read, which come first."""
        return tuple(operand for operand in self.operands if not operand.is_output)

    @property
    def outputs(self) -> tuple[Operand, ...]:
        """The operands that are written."""
        return tuple(operand for operand in self.operands if operand.is_output)

    @property
    def reductions(self) -> tuple[Reduction, ...]:
        """Every reduction, in the order of the text, which is the order of the accumulators."""
        dtypes = value_dtypes(self)
        return tuple(
            Reduction(statement.word, dtypes[statement.value], number)
            for number, phase in enumerate(self.phases)
            for statement in phase.body
            if isinstance(statement, Reduce)
        )

    def statements(self) -> Iterator[Statement]:
        """Every statement, in the order of the text."""
        for phase in self.phases:
            yield from phase.prologue
            yield from phase.body

    def with_lanes(self, lanes: int) -> Kernel:
        """The same kernel over chunks of another length."""
        return self._replace(lanes=lanes)

    def __str__(self) -> str:
        from .printer import print_kernel

        return print_kernel(self)


def identity(kernel: Kernel) -> str:
    """32 hexadecimal digits of BLAKE2b over the kernel's text: equal kernels are one kernel, on any
    machine.
    """
    return blake2b(str(kernel).encode(), digest_size=16).hexdigest()


def result_dtype(
    primitive: Primitive, attrs: tuple[tuple[str, Any], ...], dtypes: list[np.dtype]
) -> np.dtype:
    """The dtype of one element of `primitive`'s result. Raises TypeError when the operands do not
    fit.
    """
    found = primitive.infer(tuple([ArrayType(dtype, ()) for dtype in dtypes]), dict(attrs))
    if not isinstance(found, ArrayType):
        raise TypeError(
            f"{primitive.name} has several results; a kernel computes one value at a time"
        )
    return found.dtype


def value_dtypes(kernel: Kernel) -> dict[int, np.dtype]:
    """The dtype of every number in the kernel: operands, scratch and values."""
    dtypes = {number: operand.dtype for number, operand in enumerate(kernel.operands)}
    dtypes.update(enumerate(kernel.scratch, len(kernel.operands)))
    for statement in kernel.statements():
        if isinstance(statement, Load):
            dtypes[statement.result] = dtypes[statement.source]
        elif isinstance(statement, Compute):
            operands = [dtypes[operand] for operand in statement.operands]
            dtypes[statement.result] = result_dtype(statement.primitive, statement.attrs, operands)
        elif isinstance(statement, Reduce) and statement.result is not None:
            is_index = statement.word in INDEX_WORDS
            dtypes[statement.result] = INDEX if is_index else dtypes[statement.value]
    return dtypes


class KernelBuilder:
    """Builds one kernel, statement by statement; equal loads and computes of a phase become one.

    A load of a row or scalar operand, and a compute whose operands are all single values, goes to
    the prologue by itself. Values of one phase are not visible in the next: only reductions are.
    `finish` renumbers to the canonical order.
    """

    def __init__(
        self, mode: str, operands: tuple[Operand, ...], scratch: tuple[np.dtype, ...] = ()
    ) -> None:
        self.mode = mode
        self.operands = operands
        self.scratch = list(scratch)
        self.phases: list[tuple[list[Statement], list[Statement]]] = []
        self._next = -1  # values count downward until `finish`, so that scratch can still be added
        self._single: set[int] = set()
        self._known: dict[tuple, int] = {}
        self.phase()

    def phase(self) -> None:
        """Begin the next phase."""
        self.phases.append(([], []))
        self._known.clear()

    def add_scratch(self, dtype: np.dtype) -> int:
        """A new row-long temporary; its number for `load` and `store`."""
        self.scratch.append(dtype)
        return len(self.operands) + len(self.scratch) - 1

    def load(self, source: int) -> int:
        """The value read from operand or scratch `source`."""
        single = source < len(self.operands) and self.operands[source].role != "vector"
        return self._define((Load, source), single, lambda number: Load(number, source))

    def constant(self, value: Any, dtype: np.dtype) -> int:
        """A single value known now."""
        scalar = np.asarray(value, dtype)[()]
        attrs = (("value", scalar),)
        key = (CONSTANT, dtype, scalar.tobytes())
        return self._define(key, True, lambda number: Compute(number, CONSTANT, attrs, ()))

    def compute(self, primitive: Primitive, *operands: int, **attrs: Any) -> int:
        """The result of an elementwise primitive."""
        if primitive is CONSTANT:
            return self.constant(attrs["value"], attrs["value"].dtype)
        items = tuple(attrs.items())
        exact = exact_attrs(attrs)
        single = all(operand in self._single for operand in operands)
        return self._define(
            (primitive, exact, operands),
            single,
            lambda number: Compute(number, primitive, items, operands),
        )

    def store(self, target: int, value: int) -> None:
        """Write `value`: in the prologue when `target` is a row operand, else in the body."""
        single = target < len(self.operands) and self.operands[target].role != "vector"
        self.phases[-1][0 if single else 1].append(Store(target, value))

    def reduce(self, word: str, value: int, target: int | None = None) -> int:
        """A reduction of the current phase; its value may be used from the next phase on."""
        result = None if self.mode == "column" else self._number(True)
        self.phases[-1][1].append(Reduce(result, word, value, target))
        return 0 if result is None else result

    def finish(self, lanes: int) -> Kernel:
        """The kernel, numbered in the order of its text."""
        phases = tuple(Phase(tuple(prologue), tuple(body)) for prologue, body in self.phases)
        return renumber(Kernel(self.mode, lanes, self.operands, tuple(self.scratch), phases))

    def _number(self, single: bool) -> int:
        number = self._next
        self._next -= 1
        if single:
            self._single.add(number)
        return number

    def _define(self, key: tuple, single: bool, make: Any) -> int:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._number(single)
            self.phases[-1][0 if single else 1].append(make(found))
        return found


def renumber(kernel: Kernel) -> Kernel:
    """`kernel` with its values numbered in the order of its text."""
    first = len(kernel.operands) + len(kernel.scratch)
    numbers: dict[int, int] = {}

    def define(old: int) -> int:
        return numbers.setdefault(old, first + len(numbers))

    def use(old: int) -> int:
        return numbers.get(old, old)

    def convert(statement: Statement) -> Statement:
        match statement:
            case Load(result, source):
                return Load(define(result), source)
            case Compute(result, primitive, attrs, operands):
                used = tuple([use(operand) for operand in operands])
                return Compute(define(result), primitive, attrs, used)
            case Store(target, value):
                return Store(target, use(value))
            case Reduce(result, word, value, target):
                used_value = use(value)
                return Reduce(None if result is None else define(result), word, used_value, target)
        raise TypeError(f"not a statement: {statement!r}")

    phases = tuple(
        Phase(tuple([convert(s) for s in phase.prologue]), tuple([convert(s) for s in phase.body]))
        for phase in kernel.phases
    )
    return kernel._replace(phases=phases)
