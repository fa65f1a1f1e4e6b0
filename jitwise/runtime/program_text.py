"""A program as data: what the native `Program` is made from, and its text."""

from __future__ import annotations

from typing import Any, NamedTuple


class ProgramText(NamedTuple):
    """What the native `Program` is made from."""

    name: str
    symbols: list[tuple[Any, ...]]
    dims: list[tuple[Any, ...]]
    guards: list[tuple[str, int]]
    inputs: list[tuple[str, int]]
    slots: int
    instructions: list[tuple[Any, ...]]
    outputs: list[int]

    def __str__(self) -> str:
        lines = [f"program {self.name}: {len(self.inputs)} inputs, {self.slots} slots"]
        lines += [
            f"  dim {index}: {entry}" for index, entry in enumerate([*self.symbols, *self.dims])
        ]
        lines += [f"  guard {relation} {dim}" for relation, dim in self.guards]
        lines += ["  " + _instruction_text(instruction) for instruction in self.instructions]
        return "\n".join([*lines, f"  return {self.outputs}"])

    def count(self, *opcodes: str) -> int:
        """How many instructions have one of these opcodes."""
        return sum(instruction[0] in opcodes for instruction in self.instructions)


def _instruction_text(instruction: tuple[Any, ...]) -> str:
    parts = [
        getattr(part, "name", None) or getattr(part, "__name__", None) or str(part)
        for part in instruction[1:]
    ]
    return f"{instruction[0]} {', '.join(parts)}"
