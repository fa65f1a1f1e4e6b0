"""Reductions in a region: sums, extremes and positions of the elements of a view, or of what is
computed of views, and products of two rows.

    reduce_add(multiply(%1, %2))       one loop: no array of products is made

A sum of floats is NumPy's own: halves of the row are summed by themselves, until no more than 128
elements are left, of which every eighth go to one of eight sums:

    halves        rows of up to 128: lane j gets x[j] + x[j + 8] + ...
    row           ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)) + what is left, one by one

The halves that wait are on a stack, from the left one of which the sum is known already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.graph import Op
from ..ops.compare import greater, less
from ..ops.elementwise import add, multiply
from ..ops.floating import is_nan
from . import region_lanes, region_loops
from .accumulate import COMBINATIONS
from .operations import Operand
from .region_views import Computed

if TYPE_CHECKING:
    from .region import Emission

INT = np.dtype(np.int64)
LANES = 8
WIDE = 32  # elements of a row that are compared at a time, where they lie side by side
ROW = 128  # elements that are summed in lanes
DEPTH = 64  # halves that wait; each is of half the elements of the one before
WAITING = 24  # bytes: where it begins, how many elements; or the sum of the left half, and -1
Element = Callable[[str], Operand]
Combine = Callable[[Operand, Operand], Operand]


def reduce(region: Emission, op: Op, given: list[Any]) -> list[Any]:
    """One element of the result for each place along the axes that stay."""
    source, axes = given[0], op.attrs["axes"]
    kept = [axis for axis in range(len(source.sizes)) if axis not in axes]

    def element(indices: list[str]) -> Operand:
        places = [""] * len(source.sizes)
        for axis, index in zip(kept, indices, strict=True):
            places[axis] = index
        return _along(region, op, source, places, [*axes])

    if not kept:
        found = element([])
        total = "1"
        for size in source.sizes:
            total = region.arithmetic("mul", total, size)
        region.poll(total)
        return [found]
    return [Computed(op.results[0].type.dtype, [source.sizes[axis] for axis in kept], element)]


def dot(region: Emission, op: Op, given: list[Any]) -> list[Any]:
    """A row times a column."""
    left, right = given
    times = _combination(region, multiply)
    place = len(left.sizes) - 1

    def product(index: str) -> Operand:
        at = ["0"] * place
        return times(left.at(region, [*at, index]), right.at(region, [*at[1:], index, "0"]))

    found = _sum(region, left.sizes[-1], product, op.results[0].type.dtype)
    region.poll(left.sizes[-1])
    sizes = ["1"] * len(left.sizes)
    return [Computed(found.dtype, sizes, lambda indices: region_lanes.spread(region, found))]


def _along(
    region: Emission, op: Op, source: Any, places: Sequence[str], axes: Sequence[int]
) -> Operand:
    """The reduction of the elements at some places; `axes` are those without a place."""
    if region.lanes is not None:
        raise region_lanes.NoVector
    word, dtype = op.primitive.reduction, source.dtype
    assert word is not None
    axis, *others = [axis for axis in axes if source.sizes[axis] != "1"] or axes[:1]

    def at(index: str, *further: str) -> Operand:
        full = [place or "0" for place in places]
        full[axis] = index
        for other, place in zip(others, further, strict=True):
            full[other] = place
        return source.at(region, full)

    if word in ("argmin", "argmax"):
        return _position(region, word, source.sizes[axis], at)
    if word == "add":
        return _sum(region, source.sizes[axis], at, dtype)
    combine = _combination(region, COMBINATIONS[word])
    for each in axes:
        region.require(region.define(f"icmp ne i64 {source.sizes[each]}, 0"))
    if not others:
        return _in_lanes(region, source.sizes[axis], at, combine)
    first = at("0", *["0"] * len(others))
    result = region.variables([first])
    region.keep([first], result)

    def inner(indices: list[str]) -> None:
        if len(indices) <= len(others):
            size = source.sizes[[axis, *others][len(indices)]]
            region.loop(size, lambda index: inner([*indices, index]))
            return
        (now,) = region.kept([first], result)
        region.keep([combine(now, at(*indices))], result)

    inner([])
    return region.kept([first], result)[0]


def _combination(region: Emission, primitive: Any) -> Combine:
    """A primitive of two operands, as it is lowered."""
    return lambda left, right: primitive.lower[left.dtype.kind](region.e, {}, left, right)


def _in_lanes(region: Emission, count: str, at: Element, combine: Combine) -> Operand:
    """Of a row that is not empty; a lane does not wait for the other ones."""
    first, begin = at("0"), region.variable("i64")
    result = region.variables([first])
    region.keep([first], result)
    region.function.line(f"store i64 1, ptr {begin}")

    def with_vectors(lanes: region_lanes.Lanes) -> None:
        begins = region.define("add i64 0, 0")  # a name that no other axis has
        lanes.firsts.add(begins)
        held = region_lanes.Variable.new(region, first.dtype, WIDE)
        held.write(region, at(begins))

        def turn(now: str) -> None:
            index = region.define(f"mul i64 {region.define(f'add i64 {now}, 1')}, {WIDE}")
            lanes.firsts.add(index)
            held.write(region, combine(held.read(region), at(index)))

        rounds = region.define(f"udiv i64 {count}, {WIDE}")
        region.loop(region.define(f"sub i64 {rounds}, 1"), turn)
        region.keep(_tree(region_lanes.reduce(region, held.read(region), combine, 8)), result)
        done = region.define(f"and i64 {count}, {-WIDE}")
        region.function.line(f"store i64 {done}, ptr {begin}")

    def _tree(held: list[Operand]) -> list[Operand]:
        while len(held) > 1:
            held = [combine(*held[place : place + 2]) for place in range(0, len(held), 2)]
        return held

    def with_lanes() -> None:
        lanes = [region.variables([first]) for _ in range(LANES)]
        for place, lane in enumerate(lanes):
            region.keep([at(str(place))], lane)

        def turn(now: str) -> None:
            index = region.define(f"mul i64 {region.define(f'add i64 {now}, 1')}, {LANES}")
            _into_lanes(
                region, lanes, first, lambda place: at(_plus(region, index, place)), combine
            )

        rounds = region.define(f"lshr i64 {count}, 3")
        region.loop(region.define(f"sub i64 {rounds}, 1"), turn)
        region.keep(_tree([region.kept([first], lane)[0] for lane in lanes]), result)
        done = region.define(f"and i64 {count}, -8")
        region.function.line(f"store i64 {done}, ptr {begin}")

    def narrow() -> None:
        _if(region, region.define(f"icmp uge i64 {count}, {LANES}"), with_lanes)

    vector = region_lanes.attempt(region, WIDE, with_vectors)
    _either(region, vector, region.define(f"icmp uge i64 {count}, {WIDE}"), narrow)
    start = region.define(f"load i64, ptr {begin}")

    def one(now: str) -> None:
        (held,) = region.kept([first], result)
        region.keep([combine(held, at(region.define(f"add i64 {start}, {now}")))], result)

    region.loop(region.define(f"sub i64 {count}, {start}"), one)
    return region.kept([first], result)[0]


def _plus(region: Emission, index: str, place: int) -> str:
    return region.arithmetic("add", index, str(place))


def _into_lanes(
    region: Emission,
    lanes: list[list[list[str]]],
    like: Operand,
    at: Callable[[int], Operand],
    combine: Combine,
) -> None:
    """One element more in each lane."""
    for place, lane in enumerate(lanes):
        (held,) = region.kept([like], lane)
        region.keep([combine(held, at(place))], lane)


def _either(
    region: Emission, vector: region_lanes.Vector | None, long: str, single: Callable[[], None]
) -> None:
    """The vector where it may be taken, and otherwise elements one by one."""
    if vector is None:
        single()
        return
    function, after = region.function, region.label("reduced")
    wide, narrow = region.label("wide"), region.label("narrow")
    fits = region_lanes.holds(region, vector, long)
    function.line(f"br i1 {fits}, label %{wide}, label %{narrow}")
    function.label(wide)
    function.lines += vector.lines
    function.line(f"br label %{after}")
    function.label(narrow)
    with region_loops.block(region):
        single()
    function.line(f"br label %{after}")
    function.label(after)


def _if(region: Emission, condition: str, body: Callable[[], None]) -> None:
    inside, after = region.label("some"), region.label("after")
    region.function.line(f"br i1 {condition}, label %{inside}, label %{after}")
    region.function.label(inside)
    with region_loops.block(region):
        body()
    region.function.line(f"br label %{after}")
    region.function.label(after)


def _position(region: Emission, word: str, count: str, at: Element) -> Operand:
    """Where the first largest or smallest element is, or the first nan."""
    region.require(region.define(f"icmp ne i64 {count}, 0"))
    best, place = at("0"), Operand("0", INT)
    variables = region.variables([best, place])
    region.keep([best, place], variables)
    order = _combination(region, greater if word == "argmax" else less)

    def one(now: str) -> None:
        held, where = region.kept([best, place], variables)
        index = region.define(f"add i64 {now}, 1")
        new = at(index)
        better = order(new, held)
        if best.dtype.kind == "f":
            nan, old = (is_nan.lower["f"](region.e, {}, each) for each in (new, held))  # type: ignore
            better = region.e.instruction("or", better, nan)
            better = region.e.instruction("and", better, region.e.logical_not(old))
        chosen = region.e.select(better, new, held)
        region.keep([chosen, region.e.select(better, Operand(index, INT), where)], variables)

    region.loop(region.define(f"sub i64 {count}, 1"), one)
    return region.kept([best, place], variables)[1]


def _sum(region: Emission, count: str, at: Element, dtype: np.dtype) -> Operand:
    zero = region.e.constant(0, dtype)
    plus = _combination(region, add)
    if dtype.kind == "f":
        if count.isdigit() and int(count) < LANES:
            found = at("0") if count != "0" else zero
            for place in range(1, int(count)):
                found = plus(found, at(str(place)))
        else:
            found = _pairwise(region, count, at, plus, dtype)
        return plus(found, zero)
    total = region.variables([zero])
    region.keep([zero], total)
    region.loop(
        count, lambda now: region.keep([plus(region.kept([zero], total)[0], at(now))], total)
    )
    return region.kept([zero], total)[0]


def _pairwise(region: Emission, count: str, at: Element, plus: Combine, dtype: np.dtype) -> Operand:
    """The sum of a row of any length; see the module docstring."""
    function, define, label = region.function, region.define, region.label
    zero = region.e.constant(-0.0, dtype)
    stack = region.memory(DEPTH * WAITING)
    first, rest, top = (region.variable("i64") for _ in range(3))
    names = [label(word) for word in ("split", "wait", "row", "join", "left", "right", "summed")]
    split, wait, row, join, left, right, summed = names
    for name, start in ((first, "0"), (rest, count), (top, "0")):
        function.line(f"store i64 {start}, ptr {name}")
    function.line(f"br label %{split}")

    function.label(split)
    size = define(f"load i64, ptr {rest}")
    is_long = define(f"icmp sgt i64 {size}, {ROW}")
    function.line(f"br i1 {is_long}, label %{wait}, label %{row}")
    function.label(wait)
    half = define(f"and i64 {define(f'lshr i64 {size}, 1')}, -8")
    begin = define(f"load i64, ptr {first}")
    place = _waiting(region, stack, top, 1)
    function.line(f"store i64 {define(f'add i64 {begin}, {half}')}, ptr {place}")
    function.line(f"store i64 {define(f'sub i64 {size}, {half}')}, ptr {region.offset(place, 8)}")
    function.line(f"store i64 {half}, ptr {rest}")
    function.line(f"br label %{split}")

    function.label(row)
    begin = define(f"load i64, ptr {first}")
    size = define(f"load i64, ptr {rest}")
    total = region.variables([zero])
    region.keep([_row(region, begin, size, at, plus, zero)], total)
    function.line(f"br label %{join}")
    function.label(join)
    height = define(f"load i64, ptr {top}")
    function.line(f"br i1 {define(f'icmp eq i64 {height}, 0')}, label %{summed}, label %{left}")
    function.label(left)
    place = _waiting(region, stack, top, 0)
    size = define(f"load i64, ptr {region.offset(place, 8)}")
    waits = region.offset(place, 16)
    is_sum, joined = define(f"icmp slt i64 {size}, 0"), label("joined")
    function.line(f"br i1 {is_sum}, label %{joined}, label %{right}")
    function.label(joined)
    both = plus(region.load(waits, dtype), region.kept([zero], total)[0])
    region.keep([both], total)
    function.line(f"store i64 {define(f'sub i64 {height}, 1')}, ptr {top}")
    function.line(f"br label %{join}")
    function.label(right)
    function.line(f"store i64 {define(f'load i64, ptr {place}')}, ptr {first}")
    function.line(f"store i64 {size}, ptr {rest}")
    function.line(f"store i64 -1, ptr {region.offset(place, 8)}")
    region.store(region.kept([zero], total)[0], waits)
    function.line(f"br label %{split}")
    function.label(summed)
    return region.kept([zero], total)[0]


def _waiting(region: Emission, stack: str, top: str, more: int) -> str:
    """The highest place of the stack, `more` than it has."""
    height = region.define(f"load i64, ptr {top}")
    if more:
        region.function.line(f"store i64 {region.define(f'add i64 {height}, 1')}, ptr {top}")
    else:
        height = region.define(f"sub i64 {height}, 1")
    return region.offset(stack, region.arithmetic("mul", height, str(WAITING)))


def _row(
    region: Emission, begin: str, count: str, at: Element, plus: Combine, zero: Operand
) -> Operand:
    """The sum of up to 128 elements."""
    result = region.variables([zero])
    region.keep([zero], result)
    rounds = region.define(f"lshr i64 {count}, 3")

    def index(now: str) -> str:
        return region.define(f"add i64 {begin}, {region.define(f'mul i64 {now}, {LANES}')}")

    def total(held: list[Operand]) -> None:
        while len(held) > 1:
            held = [plus(*held[place : place + 2]) for place in range(0, len(held), 2)]
        region.keep(held, result)

    def with_vectors(lanes: region_lanes.Lanes) -> None:
        held = region_lanes.Variable.new(region, zero.dtype, LANES)
        held.write(region, region_lanes.spread(region, zero))

        def turn(now: str) -> None:
            first = index(now)
            lanes.firsts.add(first)
            held.write(region, plus(held.read(region), at(first)))

        region.loop(rounds, turn)
        total(region_lanes.reduce(region, held.read(region), plus, LANES))

    def with_lanes() -> None:
        lanes = [region.variables([zero]) for _ in range(LANES)]
        for lane in lanes:
            region.keep([zero], lane)

        def turn(now: str) -> None:
            start = index(now)
            _into_lanes(region, lanes, zero, lambda place: at(_plus(region, start, place)), plus)

        region.loop(rounds, turn)
        total([region.kept([zero], lane)[0] for lane in lanes])

    def narrow() -> None:
        _if(region, region.define(f"icmp uge i64 {count}, {LANES}"), with_lanes)

    vector = region_lanes.attempt(region, LANES, with_vectors)
    _either(region, vector, region.define(f"icmp uge i64 {count}, {LANES}"), narrow)
    done = region.define(f"and i64 {count}, -8")
    start = region.define(f"add i64 {begin}, {done}")

    def one(now: str) -> None:
        (held,) = region.kept([zero], result)
        region.keep([plus(held, at(region.define(f"add i64 {start}, {now}")))], result)

    region.loop(region.define(f"and i64 {count}, 7"), one)
    return region.kept([zero], result)[0]
