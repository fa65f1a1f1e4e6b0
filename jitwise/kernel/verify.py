"""Check that a kernel is well formed.

The invariants:
1. The mode is map, row or column; lanes is a positive multiple of 16. Inputs stand before outputs.
   Roles are vector, row, scalar; an output is vector or row; in mode map and column no output is a
   row.
2. Map and column kernels have one phase and no scratch; a map kernel reduces nothing.
3. Results are numbered operands first, then scratch, then statements in order of the text: no gap,
   no repetition.
4. A value is used in its own phase only, after its definition, and a value of the body not in the
   prologue. The value of a row reduction is used in later phases only.
5. A prologue loads row and scalar inputs and stores row outputs; a body loads vector inputs and
   scratch, and stores vector outputs and scratch. Nothing loads an output, nothing stores to an
   input. Scratch is loaded only in a phase after one that stores it.
6. Each output is written exactly once, by a store or a column reduction; each scratch is stored
   once.
7. In a body, loads of operands stand before the first write to an output, so an output of a map
   kernel may lie on an input.
8. Computes apply elementwise primitives with a lowering for their operands' kind, or `constant`;
   constants stand in prologues.
9. A stored value has its target's dtype. argmin and argmax occur in row kernels only.
10. Attributes are hashable.

Not checked: that a kernel is of a size worth compiling; dead statements; that a reduction is
defined for its dtype.
"""

from __future__ import annotations

from ..ir.builder import CONSTANT
from .nest import (
    INDEX,
    INDEX_WORDS,
    MODES,
    REDUCTIONS,
    ROLES,
    Compute,
    Kernel,
    Load,
    Reduce,
    Statement,
    Store,
    result_dtype,
)
from .printer import print_kernel, statement_text


class KernelVerifyError(Exception):
    """A kernel breaks an invariant; the message quotes the statement and the kernel."""


def verify_kernel(kernel: Kernel) -> None:
    """Raise KernelVerifyError unless `kernel` keeps the invariants above."""
    fault = _declaration_fault(kernel)
    if fault is None:
        fault = _Checker(kernel).fault()
    if fault is not None:
        raise KernelVerifyError(f"{fault}\n{print_kernel(kernel)}")


def _declaration_fault(kernel: Kernel) -> str | None:
    if kernel.mode not in MODES:
        return f"there is no mode {kernel.mode}"
    if kernel.lanes <= 0 or kernel.lanes % 16:
        return f"{kernel.lanes} lanes are not a multiple of 16"
    kinds = [operand.is_output for operand in kernel.operands]
    if kinds != sorted(kinds):
        return "an input stands after an output"
    if kernel.mode != "row" and (len(kernel.phases) != 1 or kernel.scratch):
        return f"a {kernel.mode} kernel has one phase and no scratch"
    for number, operand in enumerate(kernel.operands):
        allowed = (
            ROLES if not operand.is_output else ROLES[:2] if kernel.mode == "row" else ROLES[:1]
        )
        if operand.role not in allowed:
            return f"%{number} cannot have the role {operand.role}"
    return None


class _Checker:
    """Walks a kernel once, knowing what is visible where."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.count = len(kernel.operands)
        self.dtypes = {number: operand.dtype for number, operand in enumerate(kernel.operands)}
        self.dtypes.update(enumerate(kernel.scratch, self.count))
        self.next = self.count + len(kernel.scratch)
        self.finished: set[int] = set()  # reductions of earlier phases
        self.single: set[int] = set()
        self.visible: set[int] = set()
        self.fresh: set[int] = set()  # scratch stored in this phase
        self.written: set[int] = set()
        self.output_written = False

    def fault(self) -> str | None:
        """The first broken invariant, in words."""
        for phase in self.kernel.phases:
            self.single, self.fresh = set(self.finished), set()
            reduced: set[int] = set()
            self.visible = self.single
            for is_body, statements in enumerate((phase.prologue, phase.body)):
                self.visible = set(self.single) if is_body else self.single
                self.output_written = False
                for statement in statements:
                    fault = self.statement_fault(statement, bool(is_body), reduced)
                    if fault is not None:
                        return f"{statement_text(statement)}: {fault}"
            self.finished |= reduced
        unwritten = set(range(self.count + len(self.kernel.scratch))) - self.written
        for number in sorted(unwritten):
            if number >= self.count or self.kernel.operands[number].is_output:
                return f"%{number} is never written"
        return None

    def statement_fault(self, statement: Statement, is_body: bool, reduced: set[int]) -> str | None:
        """What is wrong with one statement; enters what it defines."""
        match statement:
            case Load(result, source):
                return self.load_fault(source, is_body) or self.define(result, self.dtypes[source])
            case Compute():
                return self.compute_fault(statement, is_body)
            case Store(target, value):
                return self.use_fault((value,)) or self.store_fault(target, value, is_body)
            case Reduce(result, word, value, target):
                fault = self.use_fault((value,)) or self.reduce_fault(statement, is_body)
                if fault is None and result is not None:
                    dtype = INDEX if word in INDEX_WORDS else self.dtypes[value]
                    fault = self.define(result, dtype)
                    self.visible.discard(result)
                    reduced.add(result)
                elif fault is None and target is not None:
                    fault = self.write(target, value)
                return fault
        return "not a statement"

    def define(self, result: int, dtype: object) -> str | None:
        """Enter a value."""
        if result != self.next:
            return f"the number should be %{self.next}"
        self.next += 1
        self.dtypes[result] = dtype  # type: ignore[assignment]
        self.visible.add(result)
        return None

    def use_fault(self, values: tuple[int, ...]) -> str | None:
        """Values must be visible here."""
        for value in values:
            if value not in self.visible:
                return f"%{value} is not defined here"
        return None

    def load_fault(self, source: int, is_body: bool) -> str | None:
        """A load must read memory of its block."""
        if source >= self.count:
            if source not in self.dtypes or source >= self.count + len(self.kernel.scratch):
                return f"%{source} is not memory"
            if source not in self.written or source in self.fresh:
                return f"%{source} is not stored in an earlier phase"
            return None if is_body else "a prologue cannot load scratch"
        operand = self.kernel.operands[source]
        if operand.is_output:
            return f"%{source} is an output"
        if is_body != (operand.role == "vector"):
            return f"%{source} is a {operand.role} operand"
        return f"%{source} is read after an output was written" if self.output_written else None

    def compute_fault(self, statement: Compute, is_body: bool) -> str | None:
        """The primitive must accept the operands and know how to lower them."""
        primitive, attrs, operands = statement.primitive, statement.attrs, statement.operands
        try:
            hash(attrs)
        except TypeError:
            return "an attribute cannot be hashed"
        fault = self.use_fault(operands)
        if fault is not None:
            return fault
        dtypes = [self.dtypes[operand] for operand in operands]
        if primitive is CONSTANT:
            fault = "a constant stands in the prologue" if is_body else None
        elif primitive.lower is None or dtypes[0].kind not in primitive.lower:
            fault = f"{primitive.name} has no lowering for {dtypes[0] if dtypes else 'no operands'}"
        if fault is not None:
            return fault
        try:
            dtype = result_dtype(primitive, attrs, dtypes)
        except (TypeError, ValueError) as error:
            return str(error)
        return self.define(statement.result, dtype)

    def store_fault(self, target: int, value: int, is_body: bool) -> str | None:
        """A store must write memory of its block."""
        if target >= self.count:
            if target >= self.count + len(self.kernel.scratch) or not is_body:
                return f"%{target} cannot be written here"
            self.fresh.add(target)
            return self.write(target, value)
        operand = self.kernel.operands[target]
        if not operand.is_output:
            return f"%{target} is an input"
        if is_body != (operand.role == "vector"):
            return f"%{target} is a {operand.role} operand"
        return self.write(target, value)

    def reduce_fault(self, statement: Reduce, is_body: bool) -> str | None:
        """A reduction must fit the mode."""
        mode, word, target = self.kernel.mode, statement.word, statement.target
        if word not in REDUCTIONS:
            return f"there is no reduction {word}"
        if not is_body or mode == "map":
            return "nothing is reduced here"
        if (mode == "row") != (target is None) or (statement.result is None) != (
            target is not None
        ):
            return f"a {mode} kernel reduces into {'a value' if mode == 'row' else 'an output'}"
        if mode == "column" and word in INDEX_WORDS:
            return f"{word} needs a row kernel"
        if target is not None and not (
            target < self.count and self.kernel.operands[target].is_output
        ):
            return f"%{target} is no output"
        return None

    def write(self, target: int, value: int) -> str | None:
        """Enter a write."""
        if self.dtypes[target] != self.dtypes[value]:
            return f"%{target} is {self.dtypes[target]}, %{value} is {self.dtypes[value]}"
        if target in self.written:
            return f"%{target} is written twice"
        self.written.add(target)
        self.output_written = self.output_written or target < self.count
        return None
