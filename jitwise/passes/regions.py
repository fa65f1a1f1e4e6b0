"""Make loops whose steps are small native: `while` ops become `region`s.

    %3: i64[] = while{cond=@go, body=@step}(%1)      ->      %3: i64[] = region{body=@region_0}(%1)

A region is one function with run-time sizes: single values are in registers, and arrays that a loop
carries are updated where they are. So it takes single values, views, reads and writes of elements,
elementwise work on parts of arrays, and `case` and `while` of those; and an array only if nobody
asks for what it was before an update:

    %4: f64[n] = scatter{axes=(0,)}(%0, %3, %1)
    %5: f64[] = gather{axes=(0,)}(%0, %2)            no region: %0 is no longer there

Which is found out by counting: each array that a graph is given has a version, an update makes the
next one, and whatever reads it, by itself or through views, must read the latest.

Not taken: reductions, library calls, host calls, new arrays, arrays that change places.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ..ir.dims import Guard, symbols_of
from ..ir.graph import Graph, Op, Value
from .dead_code import DeadCode
from .labels import ELEMENTWISE, kind_of
from .nested import NESTED
from .pipeline import Pass, PassContext

if TYPE_CHECKING:
    from .region_bodies import Sinking

Version = tuple[int, int]  # of which input of the graph, and after how many updates
PLAIN = frozenset(("constant", "dimension", "check", "measure"))
VIEWS = frozenset(("slice", "reshape", "transpose", "reverse", "broadcast_in_dim"))


class Refused(Exception):
    """A region does not take this."""


class Array(NamedTuple):
    """What an array value is made of: versions of inputs; `whole`: it is one, itself."""

    versions: frozenset[Version]
    whole: bool = False


class Regions(Pass):
    """Make native loops of `while` ops."""

    name: ClassVar[str] = "regions"
    whole: ClassVar[bool] = True

    def run(self, graph: Graph, context: PassContext) -> Graph:
        """See the module docstring."""
        return _Search(graph).run(graph)


class _Search:
    def __init__(self, graph: Graph) -> None:
        self.count = 0
        known = graph.symbols.keys()  # those of measured sizes may fail later on
        self.guards = [guard for guard in graph.guards if symbols_of(guard.dim) <= known]

    def run(self, graph: Graph) -> Graph:
        """`graph` with its loops as regions, or itself."""
        if not any(op.primitive.name in NESTED for op in graph.ops):
            return graph
        loops = {op for op in graph.ops if op.primitive.name == "while" and refusal(op) is None}
        sinking = _sinking(graph, loops, self.guards) if loops else None
        mapping: dict[Value, Value] = {}
        ops = [self._op(op, mapping, sinking if op in loops else None) for op in graph.ops]
        if ops == list(graph.ops):
            return graph
        outputs = tuple([mapping.get(value, value) for value in graph.outputs])
        made = Graph(graph.name, graph.inputs, tuple(ops), outputs, graph.symbols, graph.guards)
        return DeadCode().run(made, PassContext()) if loops else made

    def _op(self, op: Op, mapping: dict[Value, Value], sinking: Sinking | None) -> Op:
        if sinking is not None:
            new, replaced = sinking.region(f"region_{self.count}", op)
            self.count += 1
        else:
            attrs = op.attrs
            if op.primitive.name in NESTED:
                attrs = {name: self._inside(value) for name, value in attrs.items()}
            if attrs is op.attrs and not any(value in mapping for value in op.operands):
                return op
            new, replaced = Op(op.primitive, op.operands, attrs, op.source), op.results
            new.results = tuple([Value(result.type, new, result.constant) for result in op.results])
        new.operands = tuple([mapping.get(value, value) for value in new.operands])
        mapping.update(zip(replaced, new.results, strict=True))
        return new

    def _inside(self, value: Any) -> Any:
        if type(value) is tuple:
            return tuple([self._inside(item) for item in value])
        return self.run(value) if type(value) is Graph else value


def _sinking(graph: Graph, loops: set[Op], guards: list[Guard]) -> Sinking:
    from .region_bodies import Sinking

    return Sinking(graph, loops, guards)


def refusal(op: Op) -> str | None:
    """Why a `while` is no region; None: it is one."""
    try:
        _Arrays(None, ()).loop(op)
    except Refused as reason:
        return str(reason)
    return None


class _Arrays:
    """Walks one graph; `writable`: inputs that it may update."""

    def __init__(self, graph: Graph | None, writable: tuple[int, ...]) -> None:
        self.writable = frozenset(writable)
        self.latest: dict[int, int] = {}
        self.arrays: dict[Value, Array] = {}
        self.pending: set[Value] = set()  # arrays that are computed where they are used
        for place, value in enumerate(graph.inputs if graph else ()):
            self.arrays[value] = Array(frozenset([(place, 0)]), True)
            self.latest[place] = 0

    def walk(self, graph: Graph) -> list[int | None]:
        """For each output the input that it is a later version of; None for a single value."""
        for op in graph.ops:
            step = _STEPS.get(op.primitive.name)
            if step is None:
                step = _Arrays._elementwise if kind_of(op) == ELEMENTWISE else _refuse
            step(self, op)
        found: list[int | None] = []
        for value in graph.outputs:
            found.append(self._current(value) if value.type.shape else None)
        places = [place for place in found if place is not None]
        if len(set(places)) != len(places):
            raise Refused("an array is two of the results")
        return found

    def _current(self, value: Value) -> int:
        """The input of which `value` is the latest version."""
        array = self._read(value)
        if not array.whole:
            raise Refused("a part of an array, or a new one, is a result")
        ((place, _),) = array.versions
        return place

    def _read(self, value: Value) -> Array:
        array = self.arrays[value]
        if any(self.latest[place] != version for place, version in array.versions):
            raise Refused("an array is read after an update")
        if value in self.pending:
            self.pending.discard(value)
        return array

    def _plain(self, op: Op) -> None:
        if op.results and op.results[0].type.shape:
            raise Refused(f"{op.primitive.name} gives an array")

    def _elementwise(self, op: Op) -> None:
        result = op.results[0]
        if not result.type.shape:
            return
        versions: frozenset[Version] = frozenset()
        for operand in op.operands:
            if operand.type.shape:
                versions |= self._once(operand).versions
        self.arrays[result] = Array(versions)
        self.pending.add(result)

    def _once(self, value: Value) -> Array:
        """What is computed where it is used must be used once."""
        if value.op is not None and value.op.primitive.category == "elementwise":
            if value not in self.pending:
                raise Refused("an array is computed and used twice")
        return self._read(value)

    def _require_memory(self, value: Value, array: Array) -> None:
        if not array.versions or (value.op and value.op.primitive.category == "elementwise"):
            raise Refused("elements of what is computed are asked for")

    def _view(self, op: Op) -> None:
        source, result = op.operands[0], op.results[0]
        if op.primitive.name == "reshape" and _lengths(source) != _lengths(result):
            raise Refused("a reshape")
        if result.type.shape:
            array = self._once(source) if source.type.shape else Array(frozenset())
            if source.op is not None and source.op.primitive.category == "elementwise":
                if source.type.shape:
                    raise Refused("a view of what is computed")
            self.arrays[result] = Array(array.versions)
        elif source.type.shape:
            self._once(source)

    def _gather(self, op: Op) -> None:
        whole, *positions = op.operands
        if positions[0].type.shape:
            raise Refused("positions are an array")
        array = self._once(whole)
        self._require_memory(whole, array)
        if op.results[0].type.shape:
            self.arrays[op.results[0]] = Array(array.versions)

    def _update(self, op: Op) -> None:
        whole, part, *positions = op.operands
        if positions and positions[0].type.shape:
            raise Refused("positions are an array")
        if not whole.type.shape:
            raise Refused("an update of a single value")
        place = self._current(whole)
        if place not in self.writable:
            raise Refused("an array that is not carried is updated")
        if part.type.shape:
            array = self._once(part)
            alone = all(size == 1 for size in part.type.shape)
            if not alone and any(each == place for each, _ in array.versions):
                raise Refused("an array is updated with its own elements")
        self._next(place, op.results[0])

    def _next(self, place: int, result: Value) -> None:
        self.latest[place] += 1
        self.arrays[result] = Array(frozenset([(place, self.latest[place])]), True)

    # Graphs inside

    def loop(self, op: Op) -> None:
        """A `while`, here or around everything."""
        cond, body = op.attrs["cond"], op.attrs["body"]
        carried = tuple(range(len(body.outputs)))
        _Arrays(cond, ()).walk(cond)
        found = _Arrays(body, carried).walk(body)
        for place, value in zip(carried, body.outputs, strict=True):
            if value.type.shape and found[place] != place:
                raise Refused("arrays change places")
        if self.arrays or self.latest:
            self._give(
                op,
                op.operands,
                [place if v.type.shape else None for place, v in enumerate(body.outputs)],
            )

    def _case(self, op: Op) -> None:
        operands = op.operands[1:]
        writable = tuple(
            place
            for place, value in enumerate(operands)
            if value.type.shape and self._may_give(value, operands)
        )
        given: list[list[int | None]] = []
        for branch in op.attrs["branches"]:
            given.append(_Arrays(branch, writable).walk(branch))
        if any(other != given[0] for other in given):
            raise Refused("branches give different arrays")
        self._give(op, operands, given[0])

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

    def _give(self, op: Op, operands: tuple[Value, ...], places: list[int | None]) -> None:
        for value in operands:
            if value.type.shape:
                self._require_memory(value, self._read(value))
        for place, result in zip(places, op.results, strict=True):
            if place is None:
                continue
            if not self._may_give(operands[place], operands):
                raise Refused("a loop updates an array that is not carried")
            self._next(self._current(operands[place]), result)


def _lengths(value: Value) -> list[Any]:
    return [size for size in value.type.shape if size != 1]


def _refuse(arrays: _Arrays, op: Op) -> None:
    raise Refused(op.primitive.name)


_STEPS: dict[str, Callable[[_Arrays, Op], None]] = {
    **dict.fromkeys(PLAIN, _Arrays._plain),
    **dict.fromkeys(VIEWS, _Arrays._view),
    "gather": _Arrays._gather,
    "update_slice": _Arrays._update,
    "scatter": _Arrays._update,
    "while": _Arrays.loop,
    "case": _Arrays._case,
}
