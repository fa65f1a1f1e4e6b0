"""Sizes as a straight line of integer operations: what a program computes once per call, before
anything runs.

    n*m - 1    ->    ("mul", 0, 1), ("const", 1), ("sub", 2, 3)

Entries 0.. are the symbols; equal subexpressions stand once. An overflow of 64 bits ends the run,
natively; a constant beyond them raises OverflowError here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ir.dims import Atom, Dim, Size

_WORDS = {"floordiv": "floordiv", "mod": "mod", "min": "min", "max": "max"}


class DimTable:
    """Entries of the table, and where each size is in it."""

    def __init__(self, symbols: Iterable[str]) -> None:
        self.entries: list[tuple[Any, ...]] = []
        self._known: dict[Any, int] = {}
        self._sizes: dict[Any, int] = {}
        for name in symbols:
            self._known[("symbol", name)] = len(self._known)
        self._first = len(self._known)

    def index(self, size: Size) -> int:
        """Where `size` is."""
        found = self._sizes.get(size)
        if found is None:
            found = self._constant(size) if not isinstance(size, Dim) else self._polynomial(size)
            self._sizes[size] = found
        return found

    def _entry(self, key: tuple[Any, ...]) -> int:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._first + len(self.entries)
            self.entries.append(key)
        return found

    def _constant(self, value: int) -> int:
        if not -(2**63) <= value < 2**63:
            raise OverflowError(f"{value} is no 64-bit size")
        return self._entry(("const", int(value)))

    def _polynomial(self, size: Dim) -> int:
        total: int | None = None
        # Positive terms first: n - 1 is one subtraction.
        for monomial, coefficient in sorted(size.terms, key=lambda term: term[1] < 0):
            scale = abs(coefficient) if total is not None or coefficient > 0 else coefficient
            term = self._monomial(monomial, scale)
            if total is None:
                total = term
            else:
                total = self._entry(("sub" if coefficient < 0 else "add", total, term))
        assert total is not None
        return total

    def _monomial(self, atoms: tuple[Atom, ...], scale: int) -> int:
        if not atoms:
            return self._constant(scale)
        product = self._atom(atoms[0])
        for atom in atoms[1:]:
            product = self._entry(("mul", product, self._atom(atom)))
        return product if scale == 1 else self._entry(("mul", product, self._constant(scale)))

    def _atom(self, atom: Atom) -> int:
        if atom.operation == "symbol":
            return self._known[("symbol", atom.text)]
        left, right = self.index(atom.left), self.index(atom.right)  # type: ignore[arg-type]
        return self._entry((_WORDS[atom.operation], left, right))
