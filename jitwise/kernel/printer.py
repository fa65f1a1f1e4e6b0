"""Kernels as text; `parser.parse_kernel` reads it back. The text is a kernel's identity: see
`nest`.
"""

from __future__ import annotations

from ..ir.printer import attr_text
from ..ir.types import DTYPE_NAMES
from .nest import Compute, Kernel, Load, Operand, Reduce, Statement, Store


def print_kernel(kernel: Kernel) -> str:
    """The text of `kernel`, one statement a line."""
    numbered = list(enumerate(kernel.operands))
    inputs = ", ".join(_operand(number, each) for number, each in numbered if not each.is_output)
    outputs = ", ".join(_operand(number, each) for number, each in numbered if each.is_output)
    word = " fastmath" if kernel.fastmath else ""
    header = f"kernel {kernel.mode}{word} lanes={kernel.lanes} ({inputs}) -> ({outputs})"
    if kernel.scratch:
        numbered_scratch = enumerate(kernel.scratch, len(kernel.operands))
        scratch = ", ".join(
            f"%{number}: {DTYPE_NAMES[dtype]}" for number, dtype in numbered_scratch
        )
        header += f" scratch ({scratch})"
    lines = [header + " {"]
    for phase in kernel.phases:
        lines.append("  phase {")
        if phase.prologue:
            lines.append("    prologue {")
            lines += ["      " + statement_text(statement) for statement in phase.prologue]
            lines.append("    }")
        lines += ["    " + statement_text(statement) for statement in phase.body]
        lines.append("  }")
    lines.append("}")
    return "\n".join(lines)


def _operand(number: int, operand: Operand) -> str:
    return f"%{number}: {DTYPE_NAMES[operand.dtype]} {operand.role}"


def statement_text(statement: Statement) -> str:
    """One line."""
    match statement:
        case Load(result, source):
            return f"%{result} = load %{source}"
        case Compute(result, primitive, attrs, operands):
            shown = ", ".join([f"%{operand}" for operand in operands])
            if not attrs:
                return f"%{result} = {primitive.name}({shown})"
            items = ", ".join([f"{key}={attr_text(value)}" for key, value in attrs])
            return f"%{result} = {primitive.name}{{{items}}}({shown})"
        case Store(target, value):
            return f"store %{target}, %{value}"
        case Reduce(result, word, value, target):
            if target is None:
                return f"%{result} = reduce {word} %{value}"
            return f"reduce {word} %{value} into %{target}"
    raise TypeError(f"not a statement: {statement!r}")
