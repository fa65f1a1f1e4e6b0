"""What a region knows of its sizes before it runs: so much need not be checked while it does.

    lengths    n of an argument f64[n]: at least 0, and below 2**48, which is checked once, before
               anything else
    counters   i of a loop from 0 while i < n: from 0 to n - 1
    guards     of the program: m - n >= 0

    n - 1 - i >= 0      at worst i is n - 1, which gives 0: no slice at i leaves an axis of n
    i + 1 < 2**63       at worst n: nothing overflows

A counter is replaced by the end that makes a size least, the innermost first; what is left is at
least 0 if all its coefficients are, perhaps after a guard was taken away.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..ir.dims import Atom, Dim, Size, slope, substitute, subtract
from ..ir.graph import Graph

LENGTH = 1 << 48  # no array in memory is as long
ANY = 1 << 63


class Facts:
    """What is known where the region is being written."""

    def __init__(self, graph: Graph) -> None:
        sizes = [size for value in graph.inputs for size in value.type.shape]
        self.lengths = {str(size): size for size in sizes if _is_symbol(size)}
        self.used: set[str] = set()  # lengths on whose bound something rests
        self.counters: dict[str, tuple[Size, Size]] = {}  # and their ends, the innermost last
        self.guards = [guard.dim for guard in graph.guards if guard.relation == "ge"]

    @contextmanager
    def counting(self, name: str, first: Size | None, last: Size | None) -> Iterator[None]:
        """In the body of a loop whose counter goes from `first` to `last`."""
        if first is None or last is None:
            yield
            return
        self.counters[name] = first, last
        yield
        del self.counters[name]

    def fits(self, size: Dim) -> bool:
        """Whether nothing overflows, in whatever order the terms are added."""
        if self._largest(size) >= ANY:
            return False
        pending: list[Size] = [size]
        while pending:
            current = pending.pop()
            for atoms, _ in current.terms if isinstance(current, Dim) else ():
                for atom in atoms:
                    if atom.text in self.lengths:
                        self.used.add(atom.text)
                    elif atom.text in self.counters:
                        pending += self.counters[atom.text]
        return True

    def _largest(self, size: Size) -> int:
        """More than this the size, or a sum of some of its terms, cannot be, whatever its sign."""
        if not isinstance(size, Dim):
            return abs(size)
        total = 0
        for atoms, coefficient in size.terms:
            term = abs(coefficient)
            for atom in atoms:
                term *= self._largest_atom(atom)
            total += term
        return total

    def _largest_atom(self, atom: Atom) -> int:
        if atom.text in self.lengths:
            return LENGTH
        ends = self.counters.get(atom.text)
        return ANY if ends is None else max(map(self._largest, ends))

    def is_inside(self, start: Size, step: int, size: Size, all: Size) -> bool:
        """Whether a slice stays inside of an axis."""
        reach = (size - 1) * step
        return (
            self.is_natural(start)
            and self.is_natural(size)
            and self.is_natural(subtract(subtract(all, 1), start + reach))
        )

    def is_natural(self, size: Size) -> bool:
        """Whether a size is known to be at least 0."""
        least = size
        for name in reversed(self.counters):
            direction = slope(least, name)
            if direction is None:
                return False
            if direction:
                first, last = self.counters[name]
                least = substitute(least, {name: first if direction > 0 else last})
        return any(self._is_plain(subtract(least, known)) for known in (0, *self.guards))

    def _is_plain(self, size: Size) -> bool:
        if not isinstance(size, Dim):
            return size >= 0
        return all(
            coefficient >= 0 and all(atom.text in self.lengths for atom in atoms)
            for atoms, coefficient in size.terms
        )


def _is_symbol(size: Size) -> bool:
    return isinstance(size, Dim) and str(size).isidentifier()
