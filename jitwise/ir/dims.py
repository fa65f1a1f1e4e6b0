"""Symbolic sizes: integer polynomials over symbols, kept in one canonical form.

A `Dim` is a sum of products of atoms. An atom is a symbol (`n`) or an opaque operation (`n // 2`,
`n % 2`, `min(n, m)`, `max(n, 0)`). Dims are interned: two Dims are equal exactly when they are the
same object, so comparing and hashing shapes costs nothing.

    (n + 1) * 2 - 2   ->   2*n
    n*m + m*n         ->   2*m*n

Arithmetic on sizes gives a plain `int` as soon as the result is constant. Not done: factoring, and
proofs about opaque atoms beyond equality of their text (`n // 2 * 2` stays as it is). `Guard`
states what a trace assumed.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple, Union

Size = Union[int, "Dim"]
MOST_KNOWN = 4096  # results of arithmetic on sizes that are remembered
_interned: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class Atom:
    """A symbol (`operation` is "symbol") or an opaque operation on two sizes.

    Interned by its text, so that hashing the terms of a `Dim` costs nothing.
    """

    __slots__ = ("__weakref__", "left", "operation", "right", "text")

    def __init__(self, operation: str, left: Size | str, right: Size | None, text: str) -> None:
        self.operation = operation
        self.left = left
        self.right = right
        self.text = text


_atoms: weakref.WeakValueDictionary[str, Atom] = weakref.WeakValueDictionary()


def _atom(operation: str, left: Size | str, right: Size | None, text: str) -> Atom:
    found = _atoms.get(text)
    return _atoms.setdefault(text, Atom(operation, left, right, text)) if found is None else found


def _divide(left: int, right: int) -> int:
    return left // right


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "floordiv": _divide,
    "mod": lambda left, right: left % right,
    "min": min,
    "max": max,
}


class Dim:
    """A size known at run time: a canonical integer polynomial (see the module docstring)."""

    __slots__ = ("__weakref__", "_text", "terms")

    terms: tuple[tuple[tuple[Atom, ...], int], ...]
    _text: str | None

    @staticmethod
    def symbol(name: str) -> Dim:
        """The size called `name`."""
        if not name.isidentifier():
            raise ValueError(f"a symbol is a Python identifier, not {name!r}")
        size = _from_terms({(_atom("symbol", name, None, name),): 1})
        assert isinstance(size, Dim)
        return size

    def __add__(self, other: Size) -> Size:
        return add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Size) -> Size:
        return add(self, multiply(other, -1))

    def __rsub__(self, other: Size) -> Size:
        return add(other, multiply(self, -1))

    def __mul__(self, other: Size) -> Size:
        return multiply(self, other)

    __rmul__ = __mul__

    def __neg__(self) -> Size:
        return multiply(self, -1)

    def __floordiv__(self, other: Size) -> Size:
        return floor_divide(self, other)

    def __mod__(self, other: Size) -> Size:
        return modulo(self, other)

    def __reduce__(self):
        return (parse_size, (str(self),))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if self._text is None:
            self._text = _polynomial_text(self.terms)
        return self._text


def _polynomial_text(terms: tuple[tuple[tuple[Atom, ...], int], ...]) -> str:
    pieces = []
    for monomial, coefficient in terms:
        factors = [atom.text for atom in monomial]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        sign = ("- " if coefficient < 0 else "+ ") if pieces else ("-" if coefficient < 0 else "")
        pieces.append(sign + "*".join(factors))
    return " ".join(pieces)


def _monomial_order(item: tuple[tuple[Atom, ...], int]) -> tuple:
    return (-len(item[0]), [atom.text for atom in item[0]])


def _from_terms(terms: Mapping[tuple[Atom, ...], int]) -> Size:
    kept = [(monomial, coefficient) for monomial, coefficient in terms.items() if coefficient]
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    return _dim(tuple(kept if len(kept) == 1 else sorted(kept, key=_monomial_order)))


def _dim(key: tuple[tuple[tuple[Atom, ...], int], ...]) -> Dim:
    """The one Dim of these terms, which are in order and do not make a number."""
    found = _interned.get(key)
    if found is None:
        found = object.__new__(Dim)
        found.terms = key
        found._text = None
        found = _interned.setdefault(key, found)
    return found


def _terms(size: Size) -> dict[tuple[Atom, ...], int]:
    return dict(size.terms) if isinstance(size, Dim) else {(): int(size)}


@lru_cache(maxsize=MOST_KNOWN)
def add(left: Size, right: Size) -> Size:
    """`left + right`."""
    if isinstance(left, int):
        left, right = right, left
    if isinstance(right, int):
        if isinstance(left, int):
            return left + right
        return _plus_number(left, int(right)) if right else left
    total = _terms(left)
    for monomial, coefficient in _terms(right).items():
        total[monomial] = total.get(monomial, 0) + coefficient
    return _from_terms(total)


def _plus_number(size: Dim, number: int) -> Dim:
    terms = size.terms
    if terms[-1][0]:  # no number yet; it is the last term
        return _dim((*terms, ((), number)))
    number += terms[-1][1]
    return _dim((*terms[:-1], ((), number)) if number else terms[:-1])


@lru_cache(maxsize=MOST_KNOWN)
def subtract(left: Size, right: Size) -> Size:
    """`left - right`."""
    if isinstance(right, int):
        return add(left, -right)
    return 0 if left is right else add(left, multiply(right, -1))


@lru_cache(maxsize=MOST_KNOWN)
def multiply(left: Size, right: Size) -> Size:
    """`left * right`."""
    if isinstance(left, int):
        if isinstance(right, int):
            return left * right
        left, right = right, left
    if isinstance(right, int):
        if right == 1:
            return left
        return _from_terms({monomial: scale * right for monomial, scale in left.terms})
    total: dict[tuple[Atom, ...], int] = {}
    for first, scale in _terms(left).items():
        for second, factor in _terms(right).items():
            monomial = tuple(sorted(first + second, key=lambda atom: atom.text))
            total[monomial] = total.get(monomial, 0) + scale * factor
    return _from_terms(total)


def _opaque(operation: str, left: Size, right: Size, text: str) -> Size:
    return _from_terms({(_atom(operation, left, right, text),): 1})


def _bracketed(size: Size) -> str:
    text = str(size)
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _exact_quotient(left: Size, right: Size) -> Size | None:
    """`left / right` when `right` is one product that divides every term of `left`; or None."""
    terms = _terms(right)
    if len(terms) != 1 or isinstance(left, int):
        return None
    ((divisor, factor),) = terms.items()
    if not factor:
        return None
    quotient = {}
    for monomial, coefficient in left.terms:
        rest = list(monomial)
        for atom in divisor:
            if atom not in rest:
                return None
            rest.remove(atom)
        if coefficient % factor:
            return None
        quotient[tuple(rest)] = coefficient // factor
    return _from_terms(quotient)


def floor_divide(left: Size, right: Size) -> Size:
    """`left // right`, without a division where `right` divides every term of `left`.

    A size of zero divides nothing: who divides has made sure that `right` is not zero.
    """
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    exact = _exact_quotient(left, right)
    if exact is not None:
        return exact
    return _opaque("floordiv", left, right, f"({_bracketed(left)} // {_bracketed(right)})")


def modulo(left: Size, right: Size) -> Size:
    """`left % right`."""
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    if _exact_quotient(left, right) is not None:
        return 0
    return _opaque("mod", left, right, f"({_bracketed(left)} % {_bracketed(right)})")


def minimum(left: Size, right: Size) -> Size:
    """`min(left, right)`."""
    difference = subtract(left, right)
    if isinstance(difference, int):
        return left if difference <= 0 else right
    return _opaque("min", left, right, f"min({left}, {right})")


def maximum(left: Size, right: Size) -> Size:
    """`max(left, right)`."""
    difference = subtract(left, right)
    if isinstance(difference, int):
        return left if difference >= 0 else right
    return _opaque("max", left, right, f"max({left}, {right})")


@lru_cache(maxsize=MOST_KNOWN)
def product(sizes: tuple[Size, ...]) -> Size:
    """The number of elements of an array with these sizes."""
    total: Size = 1
    for size in sizes:
        total = multiply(total, size)
    return total


def apply(operation: str, left: Size, right: Size) -> Size:
    """Apply an atom's operation to two sizes, in the canonical form."""
    table = {"floordiv": floor_divide, "mod": modulo, "min": minimum, "max": maximum}
    return table[operation](left, right)


def evaluate_size(size: Size, values: Mapping[str, int]) -> int:
    """The number `size` stands for when each symbol has its value in `values`."""
    if isinstance(size, int):
        return size
    total = 0
    for monomial, coefficient in size.terms:
        value = coefficient
        for atom in monomial:
            value *= _evaluate_atom(atom, values)
        total += value
    return total


def _evaluate_atom(atom: Atom, values: Mapping[str, int]) -> int:
    if atom.operation == "symbol":
        return values[atom.text]
    left = evaluate_size(atom.left, values)  # type: ignore[arg-type]
    right = evaluate_size(atom.right, values)  # type: ignore[arg-type]
    return _OPERATIONS[atom.operation](left, right)


def substitute(size: Size, values: Mapping[str, Size]) -> Size:
    """`size` with symbols replaced; symbols that `values` does not name stay."""
    if isinstance(size, int):
        return size
    total: Size = 0
    for monomial, coefficient in size.terms:
        value: Size = coefficient
        for atom in monomial:
            if atom.operation == "symbol":
                factor = values.get(atom.text, Dim.symbol(atom.text))
            else:
                left = substitute(atom.left, values)  # type: ignore[arg-type]
                right = substitute(atom.right, values)  # type: ignore[arg-type]
                factor = apply(atom.operation, left, right)
            value = multiply(value, factor)
        total = add(total, value)
    return total


def symbols_of(size: Size) -> set[str]:
    """Names of the symbols in `size`."""
    found: set[str] = set()
    pending = [size]
    while pending:
        current = pending.pop()
        if isinstance(current, Dim):
            for monomial, _ in current.terms:
                for atom in monomial:
                    if atom.operation == "symbol":
                        found.add(atom.text)
                    else:
                        pending += [atom.left, atom.right]  # type: ignore[list-item]
    return found


def slope(size: Size, name: str) -> int | None:
    """The coefficient of a symbol that occurs linearly, by itself; None: it occurs otherwise."""
    slope = 0
    for monomial, coefficient in size.terms if isinstance(size, Dim) else ():
        for atom in monomial:
            if atom.operation == "symbol":
                if atom.text != name:
                    continue
                if len(monomial) > 1:
                    return None
                slope = coefficient
            sides = [side for side in (atom.left, atom.right) if isinstance(side, Dim)]
            if any(name in symbols_of(side) for side in sides):
                return None
    return slope


def parse_size(text: str) -> Size:
    """Read back what `str` of a size printed."""
    return size_from_syntax(ast.parse(text, mode="eval").body)


def size_from_syntax(node: ast.expr) -> Size:
    """The size that a Python expression tree spells; raises ValueError for anything else."""
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            return Dim.symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return multiply(size_from_syntax(operand), -1)
        case ast.BinOp(left=left, op=operator, right=right):
            first, second = size_from_syntax(left), size_from_syntax(right)
            match operator:
                case ast.Add():
                    return add(first, second)
                case ast.Sub():
                    return subtract(first, second)
                case ast.Mult():
                    return multiply(first, second)
                case ast.FloorDiv():
                    return floor_divide(first, second)
                case ast.Mod():
                    return modulo(first, second)
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[left, right]):
            return apply(name, size_from_syntax(left), size_from_syntax(right))
    raise ValueError(f"not a size: {ast.unparse(node)}")


_RELATION_TEXT = {"eq": "==", "ne": "!=", "ge": ">="}


class Guard(NamedTuple):
    """What a trace assumed of a size: `dim == 0` ("eq"), `dim != 0` ("ne") or `dim >= 0` ("ge").

    `source` is the user's line that made the assumption, for explaining retraces.
    """

    relation: str
    dim: Dim
    source: tuple[str, int] | None = None

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether the assumption is true for these symbol values."""
        value = evaluate_size(self.dim, values)
        if self.relation == "eq":
            return value == 0
        return value != 0 if self.relation == "ne" else value >= 0

    def __str__(self) -> str:
        return f"{self.dim} {_RELATION_TEXT[self.relation]} 0"
