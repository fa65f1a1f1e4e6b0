"""Column kernels: a chunk of columns goes through some rows with its accumulators in registers.

    void phase(ptr pointers, ptr steps, i64 chunks, i64 rows, ptr starts, ptr downs)

`downs[k]` is the distance in bytes from input k's row to the next, as `steps[k]` is that from a
chunk to the next. Results begin with what the outputs hold, or where `starts` is not null with the
accumulators there, one chunk that serves every chunk of columns: the identities. So nothing has to
be filled, and a result is stored and loaded again once every `rows` rows.

    entry:              loop:                          row:                          stored:
      pointers, steps     %p0 = phi, %s1 = phi           %q0 = phi, %a = phi           store %na
      prologue            %a = load ptr %s1              %na = combine %a, f(%q0)      br loop, exit
      br loop, exit       br row                         br row, stored

Rows are combined in their order, so results do not depend on how many of them a call takes. An
operand with one element per row is read in the prologue: such a kernel is given one row at a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..kernel.nest import Reduce
from .accumulate import combine, incoming, outgoing
from .operations import Operand

if TYPE_CHECKING:
    from .emit import PhaseEmission

COLUMN_SIGNATURE = "ptr %pointers, ptr %steps, i64 %chunks, i64 %rows, ptr %starts, ptr %downs"


class ColumnAccumulator:
    """One reduction of a column phase: in registers over the rows of a chunk, in its output between
    chunks.
    """

    def __init__(self, phase: PhaseEmission, statement: Reduce) -> None:
        assert statement.target is not None
        self.phase = phase
        self.target = statement.target
        self.slot = phase.outer.slots[statement]
        self.dtype = phase.outer.dtypes[statement.value]

    def enter(self) -> None:
        """Where the first chunk begins: in its output, or in `starts`."""
        phase, target = self.phase, self.target
        identity = phase.element("%starts", "i8", phase.outer.offsets[self.slot])
        phase.function.line(f"%start{target} = select i1 %own, ptr %base{target}, ptr {identity}")
        phase.function.line(f"%along{target} = select i1 %own, i64 %step{target}, i64 0")

    def move(self) -> None:
        """From a chunk's beginning to the next: a phi, which must stand before all else."""
        target, line = self.target, self.phase.function.line
        line(f"%s{target} = phi ptr [%start{target}, %entry], [%following{target}, %stored]")

    def load(self) -> None:
        """The value before the first row of a chunk."""
        target, line = self.target, self.phase.function.line
        line(f"%following{target} = getelementptr i8, ptr %s{target}, i64 %along{target}")
        self.start = self.phase.load(f"%s{target}", self.dtype)

    def begin(self) -> None:
        """The value before a row."""
        self.before = incoming(self.phase.e, f"a{self.slot}_0", self.start, "loop", "row")

    def combine(self, word: str, value: Operand) -> None:
        """Take one row in."""
        after = combine(self.phase.e, word, self.before, value)
        self.after = outgoing(self.phase.e, f"a{self.slot}_0", after)

    def finish(self) -> None:
        """Store the value after the last row of a chunk."""
        self.phase.store(self.after, f"%p{self.target}")


def column_entry(phase: PhaseEmission) -> None:
    """How to go from row to row, and where accumulators begin."""
    for number in phase.moving:
        if not phase.kernel.operands[number].is_output:
            place = phase.element("%downs", "i64", number)
            phase.function.line(f"%down{number} = load i64, ptr {place}")
    phase.function.line("%own = icmp eq ptr %starts, null")
    for accumulator in phase.column_accumulators:
        accumulator.enter()


def column_loops(phase: PhaseEmission) -> None:
    """A loop over chunks around a loop over rows."""
    function = phase.function
    function.label("loop")
    function.line("%left = phi i64 [%chunks, %entry], [%less, %stored]")
    for number in phase.moving:
        function.line(f"%p{number} = phi ptr [%base{number}, %entry], [%next{number}, %stored]")
    for accumulator in phase.column_accumulators:
        accumulator.move()
    for accumulator in phase.column_accumulators:
        accumulator.load()
    function.line("br label %row")
    _row(phase)
    function.label("stored")
    for accumulator in phase.column_accumulators:
        accumulator.finish()
    for number in phase.moving:
        function.line(f"%next{number} = getelementptr i8, ptr %p{number}, i64 %step{number}")
    function.line("%less = sub i64 %left, 1")
    function.line("%more = icmp ne i64 %less, 0")
    function.line("br i1 %more, label %loop, label %exit")


def _row(phase: PhaseEmission) -> None:
    function = phase.function
    inputs = [n for n in phase.moving if not phase.kernel.operands[n].is_output]
    function.label("row")
    function.line("%above = phi i64 [%rows, %loop], [%fewer, %row]")
    for number in inputs:
        function.line(f"%q{number} = phi ptr [%p{number}, %loop], [%below{number}, %row]")
    for accumulator in phase.column_accumulators:
        accumulator.begin()
    phase.vector = {number: phase.splat(operand) for number, operand in phase.body_scalars.items()}
    phase.places = {number: f"%q{number}" for number in inputs}
    waiting = iter(phase.column_accumulators)
    for statement in phase.phase.body:
        phase.vector_statement(statement, waiting)
    for number in inputs:
        function.line(f"%below{number} = getelementptr i8, ptr %q{number}, i64 %down{number}")
    function.line("%fewer = sub i64 %above, 1")
    function.line("%again = icmp ne i64 %fewer, 0")
    function.line("br i1 %again, label %row, label %stored")
