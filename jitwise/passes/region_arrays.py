"""What a region does with arrays: which are updated where they are, and which have to be copied.

Each array that a graph is given has a version, an update makes the next one, and whatever reads it,
by itself or through views, must read the latest. Where something reads an older one, is computed
and used twice, or is updated though it is no array of the region's own, it is copied at the place
where it is defined, and then has memory and versions of its own:

    %3: f64[1] = slice{starts=(i,)}(%1)                          a copy of %3: it is read after
    %4: f64[n] = update_slice{starts=(i,)}(%1, %2)               the update
    %5: f64[n] = update_slice{starts=(j,)}(%4, %3)

What is given to a graph cannot be copied there: it is copied where it is updated. Copies change
what reads what, so the walk is done again with those known, until it asks for no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ..ir.dims import Size
from ..ir.graph import Graph, Op, Value
from .labels import ELEMENTWISE, REDUCE, kind_of

Version = tuple[int, int]  # of which array of a graph, and after how many updates
PLAIN = frozenset(("constant", "dimension", "check", "measure"))
VIEWS = frozenset(("slice", "reshape", "transpose", "reverse", "broadcast_in_dim"))
Window = tuple[tuple[int, Size, int, Size], ...]  # axes longer than 1: start, step, size
NOTHING: frozenset[Any] = frozenset()
MOST_WALKS = 8
MOST_AT_ONCE = 24  # operations on an element that are done where it is used
SMALL = 64  # elements of an array that a loop carries and makes anew
MATHEMATICAL = 12  # weight of an operation from which kernels are faster, for many elements


class Refused(Exception):
    """A region does not take this."""


class Array(NamedTuple):
    """What an array value is made of: versions of arrays, and which window of each lies under it,
    None where its elements are at other places. `whole`: it is one, itself; `in_memory`: it is
    there, or a view of what is; else `weight` operations compute an element of it.
    """

    versions: frozenset[Version]
    windows: frozenset[tuple[int, Window | None]]
    whole: bool = False
    in_memory: bool = True
    weight: int = 0


class Copies:
    """What the walks of one loop ask for, and what they found."""

    def __init__(self) -> None:
        self.values: set[Value] = set()  # copied where they are defined
        self.operands: set[tuple[Op, int]] = set()  # copied for this op
        self.results: set[tuple[Graph, int]] = set()  # carried arrays that a turn makes anew
        self.reduces = False
        self.mathematical = False

    def count(self) -> int:
        """How many there are."""
        return len(self.values) + len(self.operands) + len(self.results)


def find(op: Op) -> Copies:
    """The copies that make a `while` a region; or it is refused."""
    copies = Copies()
    for _ in range(MOST_WALKS):
        before = copies.count()
        _Arrays(None, (), copies).loop(op)
        if copies.count() == before:
            break
    else:
        raise Refused("too many arrays are copied")
    if copies.mathematical and (copies.reduces or copies.count()):
        raise Refused("mathematical functions of many elements")
    return copies


class _Arrays:
    """Walks one graph; `writable`: inputs that it may update."""

    def __init__(self, graph: Graph | None, writable: tuple[int, ...], copies: Copies) -> None:
        self.copies = copies
        self.writable = set(writable)
        self.latest: dict[int, int] = {}
        self.arrays: dict[Value, Array] = {}
        self.used: set[Value] = set()  # of those that are computed where they are used
        self.updates: dict[Version, tuple[Op, int]] = {}  # what made a version into the next
        for place, value in enumerate(graph.inputs if graph else ()):
            self._hold(value, place, 0)

    def walk(self, graph: Graph) -> list[int | None]:
        """For each output the input that it is a later version of; None for a single value."""
        self._ops(graph)
        places = [self._current(value) if value.type.shape else None for value in graph.outputs]
        if any(place is not None and place >= len(graph.inputs) for place in places):
            raise Refused("a branch gives a new array")
        return self._distinct(places)

    def turn(self, graph: Graph) -> None:
        """The body of a loop: what it gives are versions of what it takes, or small new arrays."""
        self._ops(graph)
        places: list[int | None] = []
        for place, value in enumerate(graph.outputs):
            if value.type.shape:
                places.append(self._carried(graph, place, value))
        self._distinct(places)

    def _ops(self, graph: Graph) -> None:
        for op in graph.ops:
            kind = kind_of(op)
            step = _STEPS.get(op.primitive.name)
            if step is None and kind == ELEMENTWISE:
                step = _Arrays._elementwise
            elif step is None and kind == REDUCE:
                step = _Arrays._reduce
            (step or _refuse)(self, op)
            for value in op.results:
                if value in self.copies.values:
                    self._own(value)

    def _distinct(self, places: list[int | None]) -> list[int | None]:
        arrays = [place for place in places if place is not None]
        if len(set(arrays)) != len(arrays):
            raise Refused("an array is two of the results")
        return places

    def _carried(self, graph: Graph, place: int, value: Value) -> int:
        array = self._read(value)
        if array.whole and array.versions == frozenset([(place, self.latest[place])]):
            return place
        if value.op is None:
            raise Refused("arrays change places")
        count = _count(value)
        if count is None or count > SMALL:
            raise Refused("a part of an array, or a new one, is a result")
        if any(each == place for each, _ in array.versions):
            self._copy(value)
        self._use(value)
        self.copies.results.add((graph, place))
        self.latest[place] += 1
        return place

    # Versions

    def _current(self, value: Value) -> int:
        """The array of which `value` is the latest version."""
        array = self._read(value)
        if not array.whole:
            raise Refused("a part of an array, or a new one, is a result")
        ((place, _),) = array.versions
        return place

    def _read(self, value: Value) -> Array:
        array = self.arrays[value]
        for place, version in array.versions:
            if self.latest[place] == version:
                continue
            if value.op is not None and value not in self.copies.values:
                self._copy(value)
            elif (place, version) in self.updates:
                self.copies.operands.add(self.updates[place, version])
            else:
                raise Refused("an array is read after an update")
        return self.arrays[value]

    def _use(self, value: Value) -> Array:
        """Read what may be computed here, which is done once."""
        array = self._read(value)
        if array.weight:
            if value in self.used or array.weight > MOST_AT_ONCE:
                self._copy(value)
            self.used.add(value)
        return self.arrays[value]

    def _in_memory(self, value: Value) -> Array:
        if not self._read(value).in_memory:
            self._copy(value)
        return self.arrays[value]

    def _copy(self, value: Value) -> None:
        if value.op is None or value in self.copies.values:
            raise Refused("an array is read after an update")
        self.copies.values.add(value)
        self._own(value)

    def _own(self, value: Value) -> None:
        self._hold(value, self._place(), 0)

    def _place(self) -> int:
        """An array of the graph's own."""
        place = len(self.latest)
        self.latest[place] = 0
        self.writable.add(place)
        return place

    def _hold(self, value: Value, place: int, version: int) -> None:
        self.latest[place] = version
        window = tuple(
            (axis, 0, 1, size) for axis, size in enumerate(value.type.shape) if size != 1
        )
        self.arrays[value] = Array(
            frozenset([(place, version)]), frozenset([(place, window)]), True
        )

    def _writable(self, op: Op, at: int) -> int:
        """The array that an operand is, which the op may update."""
        value = op.operands[at]
        if (op, at) in self.copies.operands:
            self._read(value)
            return self._place()
        array = self._read(value)
        if array.whole:
            ((place, _),) = array.versions
            if place in self.writable:
                return place
        if value.op is not None and not array.whole:
            self._copy(value)
        else:
            self.copies.operands.add((op, at))
        return self._writable(op, at)

    def _next(self, op: Op, at: int, place: int, result: Value) -> None:
        self.updates[place, self.latest[place]] = op, at
        self._hold(result, place, self.latest[place] + 1)

    # Ops

    def _plain(self, op: Op) -> None:
        if op.results and op.results[0].type.shape:
            raise Refused(f"{op.primitive.name} gives an array")

    def _elementwise(self, op: Op) -> None:
        result = op.results[0]
        if not result.type.shape:
            return
        versions, windows, weight = NOTHING, NOTHING, 1
        for operand in op.operands:
            if operand.type.shape:
                array = self._use(operand)
                versions |= array.versions
                windows |= array.windows
                weight += array.weight
        self.arrays[result] = Array(versions, windows, in_memory=False, weight=weight)
        if result.type.dtype.kind in "fc" and op.primitive.flops >= MATHEMATICAL:
            self.copies.mathematical |= _count(result) is None

    def _view(self, op: Op) -> None:
        source, result = op.operands[0], op.results[0]
        if op.primitive.name == "reshape" and _lengths(source) != _lengths(result):
            raise Refused("a reshape")
        array = Array(NOTHING, NOTHING, in_memory=False)
        if source.type.shape:
            array = self._use(source)
            if array.weight and op.primitive.name == "broadcast_in_dim":
                if _lengths(source) != _lengths(result):
                    self._copy(source)  # each element is used more than once
                    array = self.arrays[source]
        if result.type.shape:
            windows = _under(op, array)
            self.arrays[result] = array._replace(windows=windows, whole=False)

    def _reduce(self, op: Op) -> None:
        source, result = op.operands[0], op.results[0]
        along = [source.type.shape[axis] for axis in op.attrs["axes"]]
        is_sum = op.primitive.reduction in ("add", "argmin", "argmax")
        dtype = source.type.dtype
        if dtype.kind not in "biuf" or dtype.itemsize == 2 and dtype.kind == "f":
            raise Refused(f"{op.primitive.name} of {dtype}")
        if is_sum and sum(size != 1 for size in along) > 1:
            raise Refused("a sum over several axes")
        self.copies.reduces = True
        array = self._use(source)
        if result.type.shape:
            weight = MOST_AT_ONCE + 1  # computed once
            windows = _elsewhere(array)
            self.arrays[result] = Array(array.versions, windows, in_memory=False, weight=weight)

    def _dot(self, op: Op) -> None:
        """Of two rows."""
        left, right = op.operands
        dtype = left.type.dtype
        if any(size != 1 for size in op.results[0].type.shape):
            raise Refused("a product of matrices")
        if dtype.kind not in "iuf" or dtype.itemsize == 2 and dtype.kind == "f":
            raise Refused(f"a product of {dtype}")
        self.copies.reduces = True
        self._use(left)
        self._use(right)
        self.arrays[op.results[0]] = Array(NOTHING, NOTHING, in_memory=False)

    def _concatenate(self, op: Op) -> None:
        for operand in op.operands:
            self._use(operand)
        self.copies.reduces = True
        self._own(op.results[0])

    def _gather(self, op: Op) -> None:
        whole, *positions = op.operands
        if positions[0].type.shape:
            raise Refused("positions are an array")
        array = self._in_memory(whole)
        if op.results[0].type.shape:
            windows = _elsewhere(array)
            if array.whole:
                ((place, _),) = array.versions
                windows = frozenset([(place, _rest(whole, op.attrs["axes"]))])
            self.arrays[op.results[0]] = array._replace(windows=windows, whole=False)

    def _update(self, op: Op) -> None:
        whole, part, *positions = op.operands
        if positions and positions[0].type.shape:
            raise Refused("positions are an array")
        if not whole.type.shape:
            raise Refused("an update of a single value")
        place = self._writable(op, 0)
        if part.type.shape:
            array = self._use(part)
            others = [window for each, window in array.windows if each == place]
            if _lengths(part) and any(window != _written(op) for window in others):
                self._copy(part)
        self._next(op, 0, place, op.results[0])

    # Graphs inside

    def loop(self, op: Op) -> None:
        """A `while`, here or around everything."""
        cond, body = op.attrs["cond"], op.attrs["body"]
        _Arrays(cond, (), self.copies).walk(cond)
        carried = tuple(range(len(body.outputs)))
        _Arrays(body, carried, self.copies).turn(body)
        if self.arrays or self.latest:
            places = [place if v.type.shape else None for place, v in enumerate(body.outputs)]
            self._give(op, 0, places)

    def _case(self, op: Op) -> None:
        operands = op.operands[1:]
        writable = tuple(
            place
            for place, value in enumerate(operands)
            if value.type.shape
            and (self._may_give(value, operands) or (op, place + 1) in self.copies.operands)
        )
        given: list[list[int | None]] = []
        for branch in op.attrs["branches"]:
            given.append(_Arrays(branch, writable, self.copies).walk(branch))
        if any(other != given[0] for other in given):
            raise Refused("branches give different arrays")
        self._give(op, 1, given[0])

    def _may_give(self, value: Value, operands: tuple[Value, ...]) -> bool:
        """Whether an op may update this operand: the latest of what is ours, and given once."""
        array = self.arrays[value]
        if not array.whole:
            return False
        ((place, version),) = array.versions
        if place not in self.writable or self.latest[place] != version:
            return False
        others = [self.arrays[each].versions for each in operands if each in self.arrays]
        return sum(any(each == place for each, _ in one) for one in others) == 1

    def _give(self, op: Op, first: int, places: list[int | None]) -> None:
        operands = op.operands[first:]
        for value in operands:
            if value.type.shape:
                self._in_memory(value)
        for place, result in zip(places, op.results, strict=True):
            if place is None:
                continue
            if (op, first + place) not in self.copies.operands:
                if not self._may_give(operands[place], operands):
                    self.copies.operands.add((op, first + place))
            at = self._writable(op, first + place)
            self._next(op, first + place, at, result)


def _lengths(value: Value) -> list[Any]:
    return [size for size in value.type.shape if size != 1]


def _count(value: Value) -> int | None:
    """How many elements there are, where that is known."""
    sizes = [size for size in value.type.shape if isinstance(size, int)]
    return math.prod(sizes) if len(sizes) == value.type.ndim else None


def _elsewhere(array: Array) -> frozenset[tuple[int, Window | None]]:
    return frozenset([(place, None) for place, _ in array.windows])


def _under(op: Op, array: Array) -> frozenset[tuple[int, Window | None]]:
    """The windows of a view. Two windows of one array that differ in an axis of one element, and
    there alone, are the same one or have nothing in common.
    """
    name, source, result = op.primitive.name, op.operands[0], op.results[0]
    if name == "slice" and array.whole:
        ((place, _),) = array.versions
        rows = zip(op.attrs["starts"], op.attrs["strides"], op.attrs["sizes"], strict=True)
        window = tuple((axis, *row) for axis, row in enumerate(rows) if row[2] != 1)
        return frozenset([(place, window)])
    if name in ("reshape", "broadcast_in_dim") and _lengths(source) == _lengths(result):
        return array.windows
    return _elsewhere(array)


def _rest(whole: Value, axes: tuple[int, ...]) -> Window:
    """The window that positions along some axes leave."""
    sizes = enumerate(whole.type.shape)
    return tuple((axis, 0, 1, size) for axis, size in sizes if axis not in axes and size != 1)


def _written(op: Op) -> Window:
    """The window that an update writes."""
    whole, part = op.operands[:2]
    if "axes" in op.attrs:
        return _rest(whole, op.attrs["axes"])
    rows = zip(op.attrs["starts"], op.attrs["strides"], part.type.shape, strict=True)
    return tuple((axis, *row) for axis, row in enumerate(rows) if row[2] != 1)


def _refuse(arrays: _Arrays, op: Op) -> None:
    raise Refused(op.primitive.name)


_STEPS: dict[str, Callable[[_Arrays, Op], None]] = {
    **dict.fromkeys(PLAIN, _Arrays._plain),
    **dict.fromkeys(VIEWS, _Arrays._view),
    "gather": _Arrays._gather,
    "update_slice": _Arrays._update,
    "scatter": _Arrays._update,
    "dot_general": _Arrays._dot,
    "concatenate": _Arrays._concatenate,
    "while": _Arrays.loop,
    "case": _Arrays._case,
}
