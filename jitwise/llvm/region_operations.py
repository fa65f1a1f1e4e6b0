"""What primitives' `lower` functions write through in a region: one lane.

Divisions that NumPy has an answer of its own for leave the region. Where one of two floats is taken
by their order, the instructions are given by name: quiet for nan, in vector registers. The smaller
one of `a if a < b else b` is one instruction where it can be told to raise no flag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import flags
from .operations import Operand, Operations

if TYPE_CHECKING:
    from .region import Emission

VECTOR_SUFFIXES = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
EXTREMES = {
    "lt": ("vmin", "vmax"),
    "gt": ("vmax", "vmin"),
}  # where the left one is taken; where not


class RegionOperations(Operations):
    """One lane; divisions that NumPy has an answer of its own for leave the region."""

    emission: Emission

    def __init__(self, has_avx: bool, has_avx512: bool) -> None:
        super().__init__()
        self.has_avx = has_avx
        self.has_avx512 = has_avx512
        self.orders: dict[str, tuple[str, Operand, Operand]] = {}  # what a mask compares

    def compare(self, predicate: str, left: Operand, right: Operand, quiet: bool = True) -> Operand:
        """See `Operations`."""
        mask = super().compare(predicate, left, right, quiet)
        if quiet and predicate[0] == "o" and predicate[1:] in flags.ORDERS:
            self.orders[mask.text] = predicate[1:], left, right
        return mask

    def select(self, mask: Operand, on_true: Operand, on_false: Operand) -> Operand:
        """The smaller of two floats and the like stay in vector registers, and LLVM may move them:
        of a constrained comparison it thinks that it touches memory.
        """
        order, dtype = self.orders.get(mask.text), on_true.dtype
        if (
            order is None
            or self.lanes > 1
            or not self.has_avx
            or dtype not in VECTOR_SUFFIXES
            or dtype != order[1].dtype
        ):
            return super().select(mask, on_true, on_false)
        word, left, right = order
        suffix = VECTOR_SUFFIXES[dtype]
        pair = on_true.text, on_false.text
        if self.has_avx512 and word in EXTREMES and set(pair) == {left.text, right.text}:
            # The second operand is what is given for nan and for zeros of two signs.
            name = EXTREMES[word][pair[0] == right.text]
            return self._chosen(f"{name}s{suffix} {{sae}}, $2, $1, $0", on_true, on_false)
        taken = self.assembly(f"vcmp{word}_oqs{suffix} $2, $1, $0", left, right)
        return self._chosen(f"vblendvp{suffix} $3, $2, $1, $0", on_false, on_true, taken)

    def _chosen(self, text: str, *given: Operand) -> Operand:
        """What an instruction takes of its first two operands."""
        chosen = self.assembly(text, *given)
        if not self.function.raising.isdisjoint([each.text for each in given[:2]]):
            self.function.raising.add(chosen.text)
        return chosen

    def assembly(self, text: str, *given: Operand) -> Operand:
        """One instruction by name, on floats in vector registers; it raises no flag."""
        type, dtype = self.type_of(given[0].dtype), given[0].dtype
        constraints = ",".join(["=x", *["x"] * len(given)])
        operands = ", ".join([f"{type} {each.text}" for each in given])
        call = f'tail call {type} asm "{text}", "{constraints}"({operands})'
        return self.define(f"{call} nounwind memory(none)", dtype)

    def floor_divide(self, left: Operand, right: Operand) -> Operand:
        """See `Operations`."""
        return self._divide(left, right)[0]

    def remainder(self, left: Operand, right: Operand) -> Operand:
        """See `Operations`."""
        return self._divide(left, right)[1]

    def truncated_remainder(self, left: Operand, right: Operand) -> Operand:
        """See `Operations`."""
        self._guard(left, right)
        return self.instruction("urem" if left.dtype.kind == "u" else "srem", left, right)

    def _guard(self, left: Operand, right: Operand) -> None:
        known = self.constant_of(right)
        if known is None or known == 0:
            self.emission.require(self.compare("ne", right, self.constant(0, right.dtype)).text)
        if left.dtype.kind == "i" and (known is None or known == -1):
            least = self.constant(np.iinfo(left.dtype).min, left.dtype)
            first = self.compare("ne", left, least)
            second = self.compare("ne", right, self.constant(-1, right.dtype))
            self.emission.require(self.instruction("or", first, second).text)

    def _divide(self, left: Operand, right: Operand) -> tuple[Operand, Operand]:
        known = self.constant_of(right)
        if known is not None and known > 0 and known & (known - 1) == 0:
            shift = "lshr" if left.dtype.kind == "u" else "ashr"
            places = self.constant(known.bit_length() - 1, left.dtype)
            ones = self.constant(known - 1, left.dtype)
            return self.instruction(shift, left, places), self.instruction("and", left, ones)
        self._guard(left, right)
        if left.dtype.kind == "u":
            return self.instruction("udiv", left, right), self.instruction("urem", left, right)
        quotient = self.instruction("sdiv", left, right)
        rest = self.instruction("srem", left, right)
        zero = self.constant(0, left.dtype)
        signs = self.compare("slt", self.instruction("xor", rest, right), zero)
        wrong = self.instruction("and", self.compare("ne", rest, zero), signs)
        less = self.instruction("sub", quotient, self.constant(1, left.dtype))
        more = self.instruction("add", rest, right)
        return self.select(wrong, less, quotient), self.select(wrong, more, rest)
