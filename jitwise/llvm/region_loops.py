"""Loops of a region. A loop that counts has what does not change, and its checks, before it.

    while i < n:                          if 0 < n:
        check 0 <= k + i < m                  check 0 <= k < m; check 0 <= k + n - 1 < m
        ...                       ->          do: ... while i < n
        poll                                  poll, after each 65536 turns

What is checked is a polynomial of first degree in the counter, so it is between its values in the
first and in the last turn, and so are its partial sums. A check goes before the loop only from
where each turn comes by: then the region is left where it would have been left later on, and
nothing that it did is seen. What is known beforehand is not checked at all (see `region_facts`).
Everything else, and loops that end by another condition, is written as it stands.

Note: [Addresses]
    In `A[i, j] -= A[i, k] * A[k, j]` the addresses are polynomials in the counters of three loops,
    and LLVM's strength reduction tries the ways to count all of them, for each of the copies that
    its vectors made of the innermost loop: 22 of the 56 ms that LLVM took for it. It does not find
    a better one than a pointer to the row, made where the row is known. As soon as LLVM cannot see
    what that pointer is made of, all of it takes 24 ms, and the loop is as fast. Where there are no
    vectors, it would save little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ir.dims import Dim, Size, subtract, symbols_of
from ..ir.graph import Graph, Op, Value

if TYPE_CHECKING:
    from .region import Emission

PLAIN = frozenset(("constant", "dimension", "less"))
SMALL = 1 << 61
Ends = tuple[str, str]


class Counter(NamedTuple):
    """What is carried at `place` goes up by one while it is less than `bound`. `first` and `last`
    are its ends, where they are known around the loop.
    """

    place: int
    bound: Size
    name: str  # the symbol of the body that it is
    next: Value
    first: Size | None
    last: Size | None


class Scope:
    """A loop that counts, while its body is written; `lines` are those before it."""

    def __init__(self, region: Emission, counter: Counter, ends: Ends, body: Graph) -> None:
        self.outer = region.scope
        self.is_flat = is_flat(body)
        self.counter = counter.name
        self.ends = ends
        self.lines: list[str] = []
        self.sizes = dict(region.sizes)
        self.values = dict(region.values)
        self.outside = set(region.symbols)  # these do not change
        self.first_name = region.function.count
        self.early: set[int] = set()  # numbers of the names that are defined before the loop
        self.proven: set[tuple[Any, ...]] = set()
        self.ends_of: dict[Size, Ends] = {}

    @contextmanager
    def before(self, region: Emission) -> Iterator[None]:
        """What is written here stands before the loop."""
        function = region.function
        kept = function.lines, region.sizes, region.scope, region.always, region.exact
        start, values = function.count + 1, region.values
        function.lines, region.sizes, region.scope = self.lines, self.sizes, self.outer
        region.values = self.values
        region.always, region.exact = False, False
        yield
        self.early.update(range(start, function.count + 1))
        region.values = values
        function.lines, region.sizes, region.scope, region.always, region.exact = kept

    def is_early(self, name: str) -> bool:
        """Whether a name is defined before the loop, or is a number, or a place on the stack."""
        if not name.startswith("%v") or name.startswith("%variable"):
            return True
        number = int(name[2:])
        return number <= self.first_name or number in self.early

    def is_constant(self, size: Size) -> bool:
        """Whether each turn has the same."""
        return symbols_of(size) <= self.outside

    def is_linear(self, size: Size) -> bool:
        """Whether it is of first degree in the counter, and otherwise constant."""
        if not isinstance(size, Dim) or symbols_of(size) - self.outside != {self.counter}:
            return False
        for atoms, _ in size.terms:
            others = [atom for atom in atoms if atom.text != self.counter]
            if len(atoms) - len(others) > 1:
                return False
            inner = [symbols_of(x) for atom in others for x in (atom.left, atom.right)]  # type: ignore
            if any(self.counter in names for names in inner):
                return False
        return True

    def evaluate_ends(self, region: Emission, size: Size) -> Ends:
        """A size of first degree in the first turn and in the last; what overflows is seen."""
        found = self.ends_of.get(size)
        if found is None:
            with self.before(region):
                texts = []
                for end in self.ends:
                    region.sizes = dict(self.sizes)
                    region.symbols[self.counter], kept = end, region.symbols[self.counter]
                    texts.append(region.size(size))
                    region.symbols[self.counter] = kept
            found = self.ends_of[size] = (texts[0], texts[1])
        return found


def size(region: Emission, size: Size) -> str | None:
    """The value of a size that does not change or is of first degree; None: as it stands."""
    scope = region.scope
    if region.exact:
        return None
    fits = isinstance(size, Dim) and region.facts.fits(size)
    if scope is not None and (fits or region.always) and scope.is_constant(size):
        with scope.before(region):
            return region.size(size)
    if not fits:
        if scope is None or not region.always or not scope.is_linear(size):
            return None
        scope.evaluate_ends(region, size)
    region.exact = True
    text = region.size(size)
    region.exact = False
    return text


def pure(region: Emission, text: str, *operands: str) -> str:
    """A name for what an instruction without effect gives: one that there is, or a new one, outside
    of the loops in which its operands do not change.
    """
    scope = region.scope
    if scope is not None and all(map(scope.is_early, operands)):
        with scope.before(region):
            return pure(region, text, *operands)
    found = region.values.get(text)
    while found is None and scope is not None:
        found, scope = scope.values.get(text), scope.outer
    if found is None:
        found = region.values[text] = region.define(text)
    return found


@contextmanager
def block(region: Emission) -> Iterator[None]:
    """What is defined here is not known afterwards."""
    values, region.values = region.values, dict(region.values)
    try:
        yield
    finally:
        region.values = values


def _hidden(region: Emission, pointer: str) -> str:
    """The same pointer, of which LLVM does not know where it comes from."""
    text = f'call ptr asm "", "=r,0"(ptr {pointer})'
    return pure(region, f"{text} nounwind memory(none)", pointer)


def address(region: Emission, pointer: str, places: Iterable[tuple[str, str]]) -> str:
    """A pointer, and so many strides further on for each index: first those that do not change in
    the innermost loop. If LLVM may take several turns of that at once, it does not see what their
    sum is made of (see Note: [Addresses]).
    """
    scope, whole = region.scope, pointer
    rows = sorted(places, key=lambda place: _level(scope, place[0]))
    stays = [
        scope is not None and scope.is_early(each)
        for each in [pointer, *[index for index, _ in rows]]
    ]
    for number, (index, stride) in enumerate(rows, 1):
        pointer = region.offset(pointer, region.arithmetic("mul", index, stride))
        is_last = all(stays[: number + 1]) and not any(stays[number + 1 :])
        if scope is not None and scope.is_flat and is_last and pointer != whole:
            pointer = _hidden(region, pointer)
    return pointer


def is_flat(body: Graph) -> bool:
    """Whether turns of a loop may be taken several at once: over arrays, without branches, and
    without floats that are carried, which would need another order.
    """
    if not any(value.type.shape for value in body.inputs):
        return False
    carried = [value.type for value in body.outputs if not value.type.shape]
    if any(type.dtype.kind not in "biu" for type in carried):
        return False
    return not any(op.primitive.category == "control" for op in body.ops)


def _level(scope: Scope | None, name: str) -> int:
    """How many loops are entered before what has this name is known."""
    while scope is not None and scope.is_early(name):
        scope = scope.outer
    count = 0
    while scope is not None:
        scope, count = scope.outer, count + 1
    return count


def is_proven(region: Emission, start: Size, extent: tuple[int, str, str]) -> bool:
    """Whether a slice from `start` stays inside; it is checked before the loop where possible.
    `extent`: its step, its size and that of the array.
    """
    key = (start, *extent)
    scope = region.scope
    while scope is not None:
        if key in scope.proven:
            return True
        scope = scope.outer
    scope = region.scope
    if scope is None or not region.always or not all(map(scope.is_early, extent[1:])):
        return False
    from .region_views import stays_inside

    if scope.is_constant(start):
        with scope.before(region):
            stays_inside(region, region.size(start), *extent)
    elif scope.is_linear(start):
        ends = scope.evaluate_ends(region, start)
        with scope.before(region):
            for end in ends:
                stays_inside(region, end, *extent)
    else:
        return False
    scope.proven.add(key)
    return True


def emit(region: Emission, op: Op, given: list[Any]) -> list[Any]:
    """A loop; what it carries afterwards."""
    counter = counter_of(op)
    if counter is None:
        return _as_it_stands(region, op, given)
    return _counting(region, op, given, counter)


def counter_of(op: Op) -> Counter | None:
    """What counts the turns of a loop, and nothing else ends it."""
    cond, body = op.attrs["cond"], op.attrs["body"]
    (go,) = cond.outputs
    if go.op is None or go.op.primitive.name != "less":
        return None
    if any(each.primitive.name not in PLAIN for each in cond.ops):
        return None
    tested, bound = map(_size_of, go.op.operands)
    if not isinstance(tested, Dim) or bound is None:
        return None
    kind, place = cond.symbols.get(str(tested), ("", 0))[:2]
    own = [name for name in symbols_of(bound) if name in cond.symbols]
    if kind != "value" or place >= len(body.outputs):
        return None
    if any(cond.symbols[name][1] < len(body.outputs) for name in own):
        return None
    following = body.outputs[place]
    for name, origin in body.symbols.items():
        if origin[:2] == ("value", place) and _size_of(following) == Dim.symbol(name) + 1:
            last = None if own else subtract(bound, 1)
            return Counter(place, bound, name, following, _size_of(op.operands[place]), last)
    return None


def _size_of(value: Value) -> Size | None:
    op = value.op
    if op is None or value.type.dtype.str[1:] != "i8":
        return None
    if op.primitive.name == "constant":
        return int(op.attrs["value"])
    return op.attrs["size"] if op.primitive.name == "dimension" else None


def _as_it_stands(region: Emission, op: Op, given: list[Any]) -> list[Any]:
    cond, body = op.attrs["cond"], op.attrs["body"]
    count = len(body.outputs)
    function = region.function
    variables = region.variables(given[:count])
    region.keep(given[:count], variables)
    steps = _steps(body)

    def stay_small() -> None:
        for place in steps:
            at = region.define(f"load i64, ptr {variables[place][0]}")
            moved = region.define(f"add i64 {at}, {SMALL}")
            region.require(region.define(f"icmp ult i64 {moved}, {2 * SMALL}"))

    stay_small()
    test, inside, after = region.label("while"), region.label("body"), region.label("done")
    scope, region.scope = region.scope, None
    function.line(f"br label %{test}")
    function.label(test)
    carried = region.kept(given[:count], variables)
    (go,) = region.graph_inside(cond, [*carried, *given[count:]])
    function.line(f"br i1 {go.text}, label %{inside}, label %{after}")
    function.label(inside)
    known = {}
    for place, step in steps.items():
        text = region.define(f"add nsw i64 {carried[place].text}, {step}")
        known[body.outputs[place]] = carried[place]._replace(text=text)
    polls = region.polls
    region.keep(region.graph_inside(body, [*carried, *given[count:]], known), variables)
    if region.polls > polls:  # those inside may have been the ones that looked for signals
        stay_small()
    region.poll(then=stay_small)
    function.line(f"br label %{test}")
    function.label(after)
    region.scope = scope
    return region.kept(given[:count], variables)


def _steps(body: Graph) -> dict[int, int]:
    """What each turn adds to numbers that are carried. As they stay small between two polls, what
    is added needs no look at overflow.
    """
    found = {}
    for name, (kind, place, *_) in body.symbols.items():
        if kind != "value" or place >= len(body.outputs):
            continue
        following = _size_of(body.outputs[place])
        step = following - Dim.symbol(name) if isinstance(following, Dim) else None
        if isinstance(step, int) and 0 < abs(step) < SMALL >> 20:
            found[place] = step
    return found


def _counting(region: Emission, op: Op, given: list[Any], counter: Counter) -> list[Any]:
    cond, body = op.attrs["cond"], op.attrs["body"]
    count = len(body.outputs)
    function = region.function
    variables = region.variables(given[:count])
    region.keep(given[:count], variables)
    first = given[counter.place].text
    with region.inside(cond, given):
        bound = region.size(counter.bound)
    enter, turn, after = region.label("enter"), region.label("turn"), region.label("done")
    some = region.define(f"icmp slt i64 {first}, {bound}")
    function.line(f"br i1 {some}, label %{enter}, label %{after}")
    function.label(enter)
    last = region.define(f"sub nsw i64 {bound}, 1")
    scope = Scope(region, counter, (first, last), body)
    region.has_vectors |= scope.is_flat
    for name, origin in body.symbols.items():
        if origin[0] == "size" or origin[1] >= count:
            scope.outside.add(name)
    around, polls, always = function.lines, region.polls, region.always
    function.lines = []
    region.scope, region.always = scope, True
    carried = region.kept(given[:count], variables)
    now = carried[counter.place]
    following = now._replace(text=region.define(f"add nsw i64 {now.text}, 1"))
    known = {counter.next: following}
    with region.facts.counting(*counter[2:3], *counter[4:]):
        outputs = region.graph_inside(body, [*carried, *given[count:]], known)
    region.keep(outputs, variables)
    written, function.lines = function.lines, [*around, *scope.lines]
    region.scope, region.always = scope.outer, always
    variable = variables[counter.place][0]
    if region.polls > polls:
        function.line(f"br label %{turn}")
        function.label(turn)
        function.lines += written
        region.poll()
        more = region.define(f"icmp slt i64 {following.text}, {bound}")
        function.line(f"br i1 {more}, label %{turn}, label %{after}")
    else:
        _in_chunks(region, written, turn, after, (variable, following.text, bound))
    function.label(after)
    return region.kept(given[:count], variables)


def _in_chunks(
    region: Emission, written: list[str], turn: str, after: str, names: tuple[str, str, str]
) -> None:
    """So many turns, then a poll."""
    from .region import POLL
    from .region_sizes import call

    variable, following, bound = names
    function = region.function
    chunk, polls = region.label("chunk"), region.label("polls")
    function.line(f"br label %{chunk}")
    function.label(chunk)
    start = region.define(f"load i64, ptr {variable}")
    rest = region.define(f"sub i64 {bound}, {start}")
    turns = call(region, "llvm.umin.i64", "i64", rest, str(POLL))
    end = region.define(f"add i64 {start}, {turns}")
    function.line(f"br label %{turn}")
    function.label(turn)
    function.lines += written
    more = region.define(f"icmp slt i64 {following}, {end}")
    function.line(f"br i1 {more}, label %{turn}, label %{polls}")
    function.label(polls)
    region.poll(turns)
    again = region.define(f"icmp slt i64 {end}, {bound}")
    function.line(f"br i1 {again}, label %{chunk}, label %{after}")
