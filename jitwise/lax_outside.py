"""Branches and loops of `jitwise.lax` outside of jitted functions: Python, with the types that
compiled ones have.

    while_loop(lambda c: c < 3, lambda c: c * 0.5, 4)      4 becomes 4.0 before the first turn

What the types are is found out by tracing (`trace.foreseen`), once for each code and types of what
it is given and holds; where it cannot be traced, a carry becomes wider when a turn makes it so.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .errors import CannotTrace, CarryError
from .ir import dims
from .trace.carried import Kind, as_plain, is_same, joined, plain_kind
from .trace.foreseen import foreseen
from .trace.forms import Form, flatten, leaves_like
from .trace.looping import unlike_carries, unlike_kinds

_MOST_KNOWN = 1024
_DEEPEST = 3  # of functions that hold functions
_KNOWN: dict[Any, Foreseen | None] = {}


class Foreseen(NamedTuple):
    """The form and the kinds of a result."""

    form: Form
    kinds: list[Kind]


class Call(NamedTuple):
    """A call of a function of `lax`. `chosen`: what is decided by values; `where`: its line."""

    function: Callable[..., Any]
    args: tuple
    chosen: Any
    where: str

    def foresee(self) -> Foreseen | CannotTrace:
        """What it gives in a trace."""
        found = foreseen(self.function, self.args)
        return found if isinstance(found, CannotTrace) else Foreseen(*found)

    def key(self) -> Any:
        """What the types of the result follow from, as far as can be seen."""
        return self.function, self.chosen, tuple([_key(each, _DEEPEST) for each in self.args])


def _key(item: Any, depth: int) -> Any:
    """What of an argument, or of what a function holds, decides about types."""
    if isinstance(item, types.FunctionType):
        inner = ()
        if depth:
            held = [_content(cell) for cell in item.__closure__ or ()]
            held += item.__defaults__ or ()
            inner = tuple([_key(each, depth - 1) for each in held])
        return item.__code__, inner
    leaves, form = flatten(item)
    if form.kind is None:
        kind = plain_kind(item)
        if kind.name != "static":
            return kind.name, kind.type
        return type(item) if item.__hash__ is None else _held_weakly(item)
    return str(form), tuple([_key(leaf, depth) for leaf in leaves])


def _held_weakly(item: Any) -> Any:
    """What is equal as the item is, and does not keep an object of the user's alive."""
    try:
        return weakref.ref(item)
    except TypeError:
        return item


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _known(call: Call) -> Foreseen | None:
    """What a call gives, as it was found out before or is now."""
    try:
        key = call.key()
        if key in _KNOWN:
            return _KNOWN[key]
    except TypeError:  # something has no hash
        key = None
    found = call.foresee()
    if isinstance(found, CannotTrace):
        found = None
    if key is not None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = found
    return found


def chosen(call: Call, branch: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """What a branch gives, in the types that it has with the others."""
    found = _known(call)
    result = branch(*operands)
    if found is None:
        return result
    kinds = _meant(result, found)
    if kinds is None:  # other sizes than those that were seen
        again = call.foresee()
        kinds = None if isinstance(again, CannotTrace) else _meant(result, again)
        if kinds is None:
            return result
    leaves = leaves_like(result, found.form)
    assert leaves is not None
    return found.form.build([as_plain(leaf, kind) for leaf, kind in zip(leaves, kinds)])


def _meant(result: Any, found: Foreseen) -> list[Kind] | None:
    """The kinds that a result is to have; None where they do not fit."""
    leaves = leaves_like(result, found.form)
    if leaves is None:
        return None
    kinds = []
    for leaf, kind in zip(leaves, found.kinds, strict=True):
        own = plain_kind(leaf)
        if own.type is not None and kind.type is not None and kind.name != "either":
            if own.type.shape not in (kind.type.shape, ()):
                return None
            kinds.append(kind)
        else:
            kinds.append(own)
    return kinds


class Carry:
    """What a loop carries: `value`, in types that become wider if they must."""

    def __init__(self, call: Call, body: str, init: Any, found: Foreseen | None) -> None:
        self.where, self.body = call.where, body
        leaves, self.form = flatten(init)
        self.first = [plain_kind(leaf) for leaf in leaves]
        self.kinds = list(self.first)
        self.value = init
        if found is not None and found.form == self.form:
            for place, kind in enumerate(found.kinds):
                wider = joined(None, self.kinds[place], kind, True)
                if wider is not None and kind.type is not None and kind.name != "either":
                    self.kinds[place] = wider
                    leaves[place] = as_plain(leaves[place], wider)
            self.value = self.form.build(leaves)

    def take(self, after: Any) -> None:
        """Be what a turn gave. Raises CarryError where it is not of the types that it took."""
        leaves = leaves_like(after, self.form)
        if leaves is None:
            raise CarryError(unlike_carries(self.body, self.form, flatten(after)[1]))
        for place, leaf in enumerate(leaves):
            kind, own = self.kinds[place], plain_kind(leaf)
            if own.is_like(kind):
                continue
            wider = joined(None, kind, own, True)
            if wider is None:
                name = list(self.form.places("carry"))[place]
                first = self.first[place]
                raise CarryError(unlike_kinds(name, first, own, self.where, self.body))
            self.kinds[place] = wider
            leaves[place] = as_plain(leaf, wider)
        self.value = self.form.build(leaves)


class Rows:
    """What the turns of a scan give beside the carry, stacked."""

    def __init__(self, count: int, body: str) -> None:
        self.count, self.body = count, body
        self.form: Form | None = None
        self.kinds: list[Kind] = []
        self.columns: list[Any] = []

    def put(self, place: int, row: Any) -> None:
        """Copy what a turn gave."""
        if self.form is None:
            leaves, self.form = flatten(row)
            self.kinds = [plain_kind(leaf) for leaf in leaves]
            self.columns = [self._column(leaf) for leaf in leaves]
        leaves = leaves_like(row, self.form)
        if leaves is None:
            raise CarryError(unlike_carries(self.body, self.form, flatten(row)[1]))
        for number, leaf in enumerate(leaves):
            self._put(number, place, leaf)

    def _column(self, leaf: Any) -> Any:
        kind = plain_kind(leaf)
        if kind.name == "static":
            return leaf
        array = np.asarray(leaf) if kind.type is None else leaf
        dtype = array.dtype if kind.type is None else kind.type.dtype
        return np.empty((self.count, *np.shape(array)), dtype)

    def _put(self, number: int, place: int, leaf: Any) -> None:
        kind, own, column = self.kinds[number], plain_kind(leaf), self.columns[number]
        wider = kind if own.is_like(kind) else joined(None, kind, own, True)
        if kind.name == "static" and wider is not None and is_same(column, leaf):
            return
        if wider is None or np.shape(leaf) != column.shape[1:]:
            assert self.form is not None
            name = list(self.form.places("y"))[number]
            raise CarryError(f"{name} is {kind} and then {own}, which {self.body} gives")
        if wider.type is not None and wider.type.dtype != column.dtype:
            column = self.columns[number] = column.astype(wider.type.dtype)
        self.kinds[number] = wider
        column[place] = leaf

    def stacked(self) -> Any:
        """The columns."""
        assert self.form is not None
        return self.form.build(self.columns)


def looped(call: Call, body: str, init: Any, turns: Callable[[Carry], None]) -> Any:
    """What is carried after the turns."""
    carry = Carry(call, body, init, _known(call))
    turns(carry)
    return carry.value


def scanned(
    call: Call,
    body: str,
    init: Any,
    count: int,
    turns: Callable[[Carry, Rows], None],
) -> tuple[Any, Any]:
    """The carry after the turns of a scan, and what they gave beside it."""
    found = call.foresee() if not count else _known(call)
    if isinstance(found, CannotTrace):
        raise CarryError(
            f"lax.scan has no turns, and what {body} gives is not known: it cannot be traced, "
            f"because {found}"
        )
    of_carry = None
    if found is not None:
        size = found.form.items[0].count()
        of_carry = Foreseen(found.form.items[0], found.kinds[:size])
    carry, rows = Carry(call, body, init, of_carry), Rows(count, body)
    turns(carry, rows)
    if count:
        return carry.value, rows.stacked()
    assert found is not None
    shape, kinds = found.form.items[1], found.kinds[found.form.items[0].count() :]
    return carry.value, shape.build([_nothing(kind) for kind in kinds])


def _nothing(kind: Kind) -> Any:
    """A column without rows."""
    if kind.type is None:
        return kind.static
    return np.zeros([dims.evaluate_size(size, {}) for size in kind.type.shape], kind.type.dtype)


__all__ = ["Call", "Carry", "Rows", "chosen", "looped", "scanned"]
