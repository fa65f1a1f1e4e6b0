"""Sizes in a region: arithmetic on i64 that leaves the region where it overflows.

n*m - 1    ->    mul n, m; sub 1, each followed by a branch to `deoptimize`
3*n + 1    ->    mul n, 3; add 1, and a branch unless n is one of those for which that is a number
                 of 64 bits, which waits for no product
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.dims import Atom, Dim, Size

if TYPE_CHECKING:
    from .region import Emission


def emit(region: Emission, size: Size) -> str:
    """The value of a size: a name, or a number."""
    if not isinstance(size, Dim):
        if not -(2**63) <= size < 2**63:
            raise OverflowError(f"{size} is no 64-bit size")
        return str(int(size))
    found = region.sizes.get(size)
    if found is None:
        from . import region_loops

        found = region_loops.size(region, size) or _polynomial(region, size)
        region.sizes[size] = found
    return found


def _polynomial(region: Emission, size: Dim) -> str:
    if not region.exact and sum(bool(atoms) for atoms, _ in size.terms) == 1:
        constant = sum(scale for atoms, scale in size.terms if not atoms)
        ((atoms, scale),) = [term for term in size.terms if term[0]]
        if len(atoms) == 1 and scale != 1:
            return _linear(region, _atom(region, atoms[0]), scale, constant)
    total: str | None = None
    for atoms, coefficient in sorted(size.terms, key=lambda term: term[1] < 0):
        scale = abs(coefficient) if total is not None else coefficient
        term = _monomial(region, atoms, scale)
        if total is None:
            total = term
        else:
            total = checked(region, "sub" if coefficient < 0 else "add", total, term)
    assert total is not None
    return total


def _linear(region: Emission, atom: str, scale: int, constant: int) -> str:
    """The value of scale * atom + constant."""
    ends = [-(2**63) - constant, 2**63 - 1 - constant]
    if scale < 0:
        ends = [-end for end in reversed(ends)]
    least, largest = -(-ends[0] // abs(scale)), ends[1] // abs(scale)
    least, largest = max(least, -(2**63)), min(largest, 2**63 - 1)
    if least > largest:
        region.require("false")
        return "0"
    moved = region.define(f"sub i64 {atom}, {least}")
    region.require(region.define(f"icmp ule i64 {moved}, {largest - least}"))
    product = region.define(f"mul i64 {atom}, {emit(region, scale)}")
    return region.arithmetic("add", product, emit(region, constant))


def _monomial(region: Emission, atoms: tuple[Atom, ...], scale: int) -> str:
    factors = [_atom(region, atom) for atom in atoms]
    if scale != 1 or not factors:
        factors.append(emit(region, scale))
    product = factors[0]
    for factor in factors[1:]:
        product = checked(region, "mul", product, factor)
    return product


def _atom(region: Emission, atom: Atom) -> str:
    if atom.operation == "symbol":
        return region.symbols[atom.text]
    left, right = emit(region, atom.left), emit(region, atom.right)  # type: ignore[arg-type]
    if atom.operation in ("min", "max"):
        return call(region, f"llvm.s{atom.operation}.i64", "i64", left, right)
    from .region import INT, Operand

    operands = Operand(left, INT), Operand(right, INT)
    divide = region.e.floor_divide if atom.operation == "floordiv" else region.e.remainder
    return divide(*operands).text


def checked(region: Emission, opcode: str, left: str, right: str) -> str:
    """The exact result, or the end of the region."""
    if region.exact:
        from . import region_loops

        return region_loops.pure(region, f"{opcode} nsw i64 {left}, {right}", left, right)
    pair = call(region, f"llvm.s{opcode}.with.overflow.i64", "{i64, i1}", left, right)
    overflows = region.define(f"extractvalue {{i64, i1}} {pair}, 1")
    region.require(region.define(f"xor i1 {overflows}, true"))
    return region.define(f"extractvalue {{i64, i1}} {pair}, 0")


def call(region: Emission, name: str, result: str, left: str, right: str) -> str:
    """Call a function of LLVM on two i64."""
    region.e.declarations[name] = f"declare {result} @{name}(i64, i64)"
    return region.define(f"call {result} @{name}(i64 {left}, i64 {right})")
