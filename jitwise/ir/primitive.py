"""The record of one primitive: everything jitwise knows about an operation, in one place.

A row in `ops/` builds a `Primitive`; the tracer, type checker, evaluator, kernel emitter, StableHLO
printer, cost model and generated tests all read the same row. The registry maps IR spelling to
record. `Emitter` and `ProgramEmitter` are the two protocols through which a row says how it runs:
as scalar code inside a kernel, or as instructions of a program.

Not here: rules (they stand under the rows, see `rewrite`), and compositions of primitives (see
`trace/numpy`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .dims import Dim
from .types import DTYPE_NAMES, ArrayType

if TYPE_CHECKING:
    from .dims import Size
    from .graph import Op, Value

Attrs = Mapping[str, Any]
Infer = Callable[[tuple[ArrayType, ...], Attrs], ArrayType | tuple[ArrayType, ...]]
NO_ATTRS: Attrs = {}


def exact_attrs(attrs: Attrs) -> tuple[Any, ...]:
    """A key that two sets of attributes share when they are the same: 0.0 and -0.0, 1, 1.0 and
    True, and nans of other bits differ.
    """
    found = []
    for name, value in attrs.items():
        kind = type(value)
        plain = _PLAIN.issuperset(map(type, value)) if kind is tuple else kind in _PLAIN
        found.append((name, value if plain else exact(value)))
    return tuple(found)


_PLAIN = {int, str, Dim, *map(type, DTYPE_NAMES)}  # equal only to what is the same


def exact(value: Any) -> Any:
    """What of one attribute such a key holds."""
    kind = type(value)
    if kind is tuple:
        return tuple([exact(each) for each in value])
    if kind in (bool, float, complex) or isinstance(value, np.generic):
        scalar = np.asarray(value)
        return (kind, scalar.dtype.str, scalar.tobytes())
    return value


class Operand(Protocol):
    """A value inside a kernel being emitted: opaque text with a dtype."""

    @property
    def dtype(self) -> np.dtype: ...


class Emitter(Protocol):
    """Emission of elementwise code for one kernel body; implemented by the llvm layer.

    Operands have one lane (row prologue) or as many as the kernel; a lowering never needs to know.
    Bool operands are masks. Every method returns a new operand. `instruction`, `compare` and
    `intrinsic` (fneg too) are LLVM's words, unguarded; `convert` is NumPy's `astype`; `math` is the
    vector math library; the methods from `is_nan` on have NumPy's meaning for every operand:
    division by zero, wide shifts, the largest of nans. Floating-point flags are NumPy's:
    comparisons raise none for nan unless they are told not to be quiet, and `raise_where` raises
    "divide", "overflow" or "invalid" where no arithmetic does. `choose` is a `select` that keeps
    the flags of both values; of what is `unknown` LLVM computes nothing beforehand.
    """

    def instruction(self, opcode: str, left: Any, right: Any) -> Any: ...
    def compare(self, predicate: str, left: Any, right: Any, quiet: bool = True) -> Any: ...
    def select(self, mask: Any, on_true: Any, on_false: Any) -> Any: ...
    def choose(self, mask: Any, on_true: Any, on_false: Any) -> Any: ...
    def unknown(self, operand: Any) -> Any: ...
    def intrinsic(self, name: str, *operands: Any) -> Any: ...
    def math(self, name: str, *operands: Any) -> Any: ...
    def convert(self, operand: Any, dtype: np.dtype) -> Any: ...
    def bitcast(self, operand: Any, dtype: np.dtype) -> Any: ...
    def constant(self, value: Any, dtype: np.dtype) -> Any: ...
    def real(self, operand: Any) -> Any: ...
    def imag(self, operand: Any) -> Any: ...
    def complex(self, real: Any, imag: Any) -> Any: ...
    def logical_not(self, mask: Any) -> Any: ...
    def raise_where(self, mask: Any, flag: str) -> None: ...
    def with_overflow(self, word: str, left: Any, right: Any) -> Any: ...
    def is_nan(self, operand: Any) -> Any: ...
    def maximum(self, left: Any, right: Any) -> Any: ...
    def minimum(self, left: Any, right: Any) -> Any: ...
    def shift_left(self, operand: Any, amount: Any) -> Any: ...
    def shift_right(self, operand: Any, amount: Any) -> Any: ...
    def floor_divide(self, left: Any, right: Any) -> Any: ...
    def remainder(self, left: Any, right: Any) -> Any: ...
    def truncated_remainder(self, left: Any, right: Any) -> Any: ...
    def float_remainder(self, left: Any, right: Any) -> Any: ...


class ProgramEmitter(Protocol):
    """Emission of program instructions for one op; implemented by the runtime layer.

    dim: index of a size among the program's run-time dims. slot: where an operand is. define: a
    new slot for a result that
    an instruction will set (a view, a scalar). allocate: a new slot for a result, with memory.
    temporary: a slot for
    a view that is no value of the graph. overwrite: a slot for a result that starts as a copy of
    `whole`, in the memory of `whole` when that ends here and none of `others` lies in it.
    instruction: append one. host: call `function(*arrays)` on the host. evaluate: call the op's
    NumPy meaning on the host.
    """

    def dim(self, size: Size) -> int: ...
    def slot(self, value: Value) -> int: ...
    def define(self, value: Value) -> int: ...
    def allocate(self, value: Value) -> int: ...
    def temporary(self) -> int: ...
    def overwrite(self, result: Value, whole: Value, others: Sequence[Value]) -> int: ...
    def instruction(self, *parts: Any) -> None: ...
    def host(
        self, function: Callable, operands: Sequence[Value], results: Sequence[Value]
    ) -> None: ...
    def evaluate(self, op: Op) -> None: ...


@dataclass(slots=True, eq=False, repr=False)
class Primitive:
    """One operation of the tensor IR.

    name: IR spelling, StableHLO's word where it exists.
    category: "elementwise" (one output element from one element of each operand), "reduce", "view"
    (moves no data),
        "data" (moves data), "scan", "contract", "source" (no operands), "control", "effect".
    infer: type rule `(operand types, attrs) -> result type(s)`; raises TypeError in the user's
    words.
    direct: attrs -> a library's own function of the operands, with what else it is called with
    (`ops.call.DirectCall`), which does all of `evaluate` but to check what it gives; or None.
    evaluate: the NumPy meaning `(*arrays, **attrs)`; sizes in attrs arrive as ints.
    ufunc: the NumPy ufunc it is, when it is one; the tracer's table is derived from it.
    lower: dtype kind of the first operand -> `(emitter, attrs, *operands) -> operand`; elementwise
    only.
    expand: `(builder, operands, attrs) -> value(s)`: a composition of other primitives, replacing
    this one when compiled.
    execute: `(program_emitter, op)`: instructions of the native program machine. Without lower,
    expand and execute the
        program calls `evaluate` on the host.
    measures: it defines symbols, named by its attribute `symbols` (see `measured`).
    reduction: native reduction word (add, multiply, min, max, and, or, xor, argmin, argmax).
    hlo: StableHLO spelling, or None where StableHLO has no word.
    ulp: how far from the correctly rounded value a compiled result may be; 0 means the same bits
    as NumPy.
    flops: arithmetic cost of one element, in units of one add.
    jvp, transpose, batch: derivative and vectorisation rules; None is a listed gap.
    samples: attrs and edge values for the generated tests.
    """

    name: str
    category: str
    infer: Infer
    evaluate: Callable[..., Any]
    ufunc: np.ufunc | None = None
    commutative: bool = False
    effect: bool = False
    measures: bool = False
    multiple: bool = False
    lower: Mapping[str, Callable[..., Any]] | None = None
    expand: Callable[..., Any] | None = None
    execute: Callable[[ProgramEmitter, Op], None] | None = None
    direct: Callable[[Attrs], Any] | None = None
    reduction: str | None = None
    hlo: str | Callable[..., str] | None = None
    ulp: float = 0
    flops: float = 1.0
    jvp: Callable[..., Any] | None = None
    transpose: Callable[..., Any] | None = None
    batch: Callable[..., Any] | None = None
    samples: Mapping[str, Any] = field(default_factory=dict)
    fold: Callable[..., Any] | None = None

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"


REGISTRY: dict[str, Primitive] = {}


def register(primitive: Primitive) -> Primitive:
    """Enter `primitive` under its name; a second row of the same name is a mistake in the
    source.
    """
    if primitive.name in REGISTRY:
        raise ValueError(f"two primitives are called {primitive.name!r}")
    REGISTRY[primitive.name] = primitive
    return primitive


def attach_fold(primitive: Primitive, fold: Callable[..., Any]) -> None:
    """Give a primitive its compiled rules: `fold(builder, operands, attrs) -> value or None`."""
    primitive.fold = fold
