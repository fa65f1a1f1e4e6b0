"""From groups to a graph: what each kernel takes and gives, and the `fusion` ops that hold them.

Constants, and broadcasts of single values, are copied into each body that uses them. A value that
leaves its group becomes an output of it; a row view that leaves its group is made again outside.
Groups over single values disappear into the group that uses them, or into each, when they are
cheap; so do groups of an op or two that read one array, which then is read instead of theirs.

Equal groups share one body: it is found by a key of positions, primitives and types before it is
built. Where many groups differ in the values of constants only, constants become operands, and the
groups share one body too:

    %2 = fusion{body=x * 2.0}(%0)          %1 = constant{value=2.0}()
    %3 = fusion{body=x * 3.0}(%0)    ->    %2 = fusion{body=x * y}(%0, %1)
    ... and many more                      ...

Integer constants stay where they are: dividing by a known integer is faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.builder import CONSTANT, Builder
from ..ir.graph import Graph, Op, Value
from ..ir.measured import Definitions
from ..ir.primitive import REGISTRY, exact_attrs
from .groups import MOST_OPERANDS, VECTOR, Group, Grouping, find
from .labels import BARRIER, REDUCE, SOFT

CHEAP_VECTOR = 2  # weight of elementwise arithmetic that may be repeated to save an array
CHEAP = 4  # weight of single-value arithmetic that may be repeated in several kernels
PER_ROW = 8  # weight of single-value arithmetic that may be repeated for each row
LIFTED = "fc"  # kinds of constants that may become operands
MOST_ALIKE = 4  # bodies that differ in constants only, each compiled with its own
OUTSIDE = None


class Bodies:
    """Members and outputs of each group after cleaning up, then the fused graph."""

    def __init__(self, grouping: Grouping, max_weight: int) -> None:
        self.graph = grouping.graph
        self.kinds = grouping.kinds
        self.forms = grouping.forms
        self.definitions = grouping.definitions
        self.max_weight = max_weight
        self.groups = [None if group is None else find(group) for group in grouping.groups]
        self.leaves = [False] * len(self.groups)  # results used outside their group
        self.users: dict[Group, set[Group | None]] = {}
        self.members: dict[Group, list[int]] = {}
        self.bodies: dict[tuple, Graph] = {}
        # What repeats a single value and belongs to no group is copied to where it is used.
        self.splats = {
            index
            for index, op in enumerate(self.graph.ops)
            if self.kinds[index] == SOFT
            and self.groups[index] is None
            and not op.operands[0].type.shape
            and op.primitive.name == "broadcast_in_dim"
        }

    def run(self) -> Graph:
        """The fused graph."""
        self._find_leaving()
        if self._split_final():
            self.leaves = [False] * len(self.groups)
            self.users.clear()
            self._find_leaving()
        for index, group in enumerate(self.groups):
            if group is not None:
                self.members.setdefault(group, []).append(index)
        self._absorb_cheap_groups()
        return Emission(self).run()

    # What leaves a group

    def _split_final(self) -> bool:
        """A kernel that reduces leading axes stores nothing else: what it would store is computed
        before it.
        """
        split: dict[Group, Group] = {}
        for index, leaves in enumerate(self.leaves):
            group = self.groups[index]
            if leaves and group is not None and group.is_final and self.forms[index] == VECTOR:
                if group not in split:
                    split[group] = Group(group.label, group.step, group.space, None, group.first)
        for index, group in enumerate(self.groups if split else ()):
            if group in split and self.kinds[index] != REDUCE:
                self.groups[index] = split[group]
        return bool(split)

    def _find_leaving(self) -> None:
        for index, op in enumerate(self.graph.ops):
            if index not in self.splats:
                user = self.groups[index]
                for operand in op.operands:
                    self._use(operand, user)
        for value in self.graph.outputs:
            self._use(value, OUTSIDE)

    def _use(self, value: Value, user: Group | None) -> None:
        """Note that `user` (None: an op outside groups) takes `value`."""
        index = self.definitions.get(value)
        while index is not None and self.kinds[index] < BARRIER:
            group = self.groups[index]
            if group is None and self.kinds[index] == SOFT:
                if index not in self.splats:
                    return  # a view outside: its own operand was noted when it was met
            elif group is None or group is user:
                return
            elif self.kinds[index] == SOFT:
                user = OUTSIDE  # a row view that leaves its group is made again outside
            else:
                self.leaves[index] = True
                self.users.setdefault(group, set()).add(user)
                return
            index = self.definitions.get(self.graph.ops[index].operands[0])

    # Groups that are repeated where they are used

    def _absorb_cheap_groups(self) -> None:
        """Repeat single values, and vectors as cheap as reading them, where they are used."""
        replaced: dict[Group, tuple[Group, ...]] = {}
        for group in sorted(self.members, key=lambda group: -self.members[group][-1]):
            users = self.users.get(group, set())
            if group.axes is not None or OUTSIDE in users or not users:
                continue
            if group.space != () and (group.weight > CHEAP_VECTOR or self._reads(group) > 1):
                continue
            targets: list[Group] = []
            for user in users:
                assert user is not None
                targets += replaced.get(user, (user,))
            targets = list(dict.fromkeys(targets))
            if len(targets) > 1 and group.weight > CHEAP:
                continue
            if not all(self._takes(target, group) for target in targets):
                continue
            replaced[group] = tuple(targets)
            mine = self.members.pop(group)
            for target in targets:
                target.weight += group.weight
                self.members[target] = sorted({*self.members[target], *mine})

    def _reads(self, group: Group) -> int:
        """How many arrays as large as its space a group reads; broadcasts do not count."""
        mine = set(self.members[group])
        read = set()
        for index in mine:
            for operand in self.graph.ops[index].operands:
                op = operand.op
                if operand.type.shape != group.space or self.definitions.get(operand) in mine:
                    continue
                if op is None or op.primitive.name != "broadcast_in_dim":
                    read.add(operand)
        return len(read)

    def _takes(self, target: Group, group: Group) -> bool:
        if target.weight + group.weight > self.max_weight:
            return False
        if group.space != ():
            return target.space == group.space
        return target.axes is None or target.row_shapes()[0] == () or group.weight <= PER_ROW


class Emission:
    """Emits groups and the ops outside them, each when all it needs is there.

    The new graph keeps the inputs of the old one, and every op that no fusion comes before.
    """

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self.graph = bodies.graph
        self.definitions = bodies.definitions
        self.builder = Builder(self.graph.name, fold=False)
        self.builder.symbols.update(self.graph.symbols)
        self.builder.inputs.extend(self.graph.inputs)
        self.mapping: dict[Value, Value] = {value: value for value in self.graph.inputs}
        self.homes: dict[int, Group] = {}  # the group that gives what leaves it
        self.last: dict[int, Group] = {}
        for group, members in bodies.members.items():
            self.last[members[-1]] = group
        for index, group in enumerate(bodies.groups):
            if group is not None and group in bodies.members:
                self.homes[index] = group
        self.done: set[Group] = set()
        self.measured = Definitions(self.graph.ops)
        self.emitted: set[Op] = set()  # those without results
        self.texts = {group: BodyText(bodies, group) for group in bodies.members}

    def _lift_constants(self) -> None:
        """Make constants operands in groups that are alike but for many constants."""
        alike: dict[tuple, set[tuple]] = {}
        for text in self.texts.values():
            if text.outputs:
                alike.setdefault(text.pattern, set()).add(text.key)
        for group, text in self.texts.items():
            if text.outputs and len(alike[text.pattern]) > MOST_ALIKE:
                lifted = BodyText(self.bodies, group, lift=True)
                if len(lifted.inputs) + len(lifted.outputs) <= MOST_OPERANDS:
                    self.texts[group] = lifted

    def run(self) -> Graph:
        """The fused graph, ops in an order near the original one."""
        self._lift_constants()
        graph, kinds = self.graph, self.bodies.kinds
        for index, op in enumerate(graph.ops):
            group = self.last.get(index)
            if group is not None:
                self._demand(group)
            elif kinds[index] == BARRIER:
                self._demand(op)
        for value in graph.outputs:
            if value not in self.mapping:
                self._demand(self._unit(value))
        outputs = tuple([self.mapping[value] for value in graph.outputs])
        ops = tuple(self.builder.ops)
        return Graph(graph.name, graph.inputs, ops, outputs, graph.symbols, graph.guards)

    def _unit(self, value: Value) -> Group | Op:
        """What has to be emitted so that `value` is there."""
        index = self.definitions[value]
        if self.bodies.kinds[index] == SOFT or index not in self.homes:
            return self.graph.ops[index]
        return self.homes[index]

    def _demand(self, unit: Group | Op) -> None:
        mapping = self.mapping
        pending: list[Group | Op] = [unit]
        while pending:
            current = pending[-1]
            if isinstance(current, Op):
                if current.results[0] in mapping if current.results else current in self.emitted:
                    pending.pop()
                    continue
                needs: Sequence[Value] = current.operands
            elif current in self.done:
                pending.pop()
                continue
            else:
                needs = self.texts[current].inputs
            missing = [self._unit(value) for value in needs if value not in mapping]
            if self.measured:
                missing += self._unmeasured(current)
            if missing:
                pending += reversed(missing)
                continue
            pending.pop()
            if isinstance(current, Op):
                self._emit_op(current)
            else:
                self._emit_group(current)

    def _unmeasured(self, unit: Group | Op) -> list[Op]:
        """The ops, not emitted yet, that define sizes which `unit` mentions."""
        ops = [unit] if isinstance(unit, Op) else self.texts[unit].ops
        awaited = dict.fromkeys([each for op in ops for each in self.measured.awaited(op)])
        return [
            op
            for op in awaited
            if not (op.results[0] in self.mapping if op.results else op in self.emitted)
        ]

    def _emit_op(self, op: Op) -> None:
        mapping = self.mapping
        if not op.results:
            self.emitted.add(op)
        operands = tuple([mapping[operand] for operand in op.operands])
        if operands == op.operands:
            self.builder.ops.append(op)
            mapping.update(zip(op.results, op.results, strict=True))
            return
        result = self.builder.emit(op.primitive, operands, op.attrs, op.source)
        if op.primitive.multiple:
            mapping.update(zip(op.results, result, strict=True))
        elif op.results:
            mapping[op.results[0]] = result

    def _emit_group(self, group: Group) -> None:
        self.done.add(group)
        text = self.texts[group]
        if not text.outputs:
            return
        body = self.bodies.bodies.get(text.key)
        if body is None:
            body = self.bodies.bodies[text.key] = text.build(f"kernel_{len(self.bodies.bodies)}")
        operands = tuple([self.mapping[value] for value in text.inputs])
        source = self.graph.ops[text.members[-1]].source
        results = self.builder.emit(REGISTRY["fusion"], operands, {"body": body}, source)
        self.mapping.update(zip(text.outputs, results, strict=True))


class BodyText:
    """One group as positions: `key` is equal for equal groups, `pattern` for groups that differ in
    constants only; `build` makes the graph. With `lift`, constants are inputs.
    """

    def __init__(self, bodies: Bodies, group: Group, lift: bool = False) -> None:
        self.bodies = bodies
        self.lift = lift
        ops = bodies.graph.ops
        self.members = _live(bodies, group)
        self.inputs: list[Value] = []
        self.ops: list[Op] = []
        self.numbers: dict[Value, int] = {}
        inside = {result for index in self.members for result in ops[index].results}
        items: list[Any] = []
        for index in self.members:
            self._add(ops[index], items, inside)
        self.outputs = [
            ops[index].results[0]
            for index in self.members
            if bodies.leaves[index]
            and bodies.groups[index] is group
            and bodies.kinds[index] != SOFT
        ]
        if not self.outputs:
            return
        ends = (
            tuple([self.numbers[value] for value in self.outputs]),
            tuple([value.type for value in self.inputs]),
        )
        self.key = (*items, *ends)
        open_items = [
            item[:2] if item[0] is CONSTANT and item[1].kind in LIFTED else item for item in items
        ]
        self.pattern = (*open_items, *ends)

    def _add(self, op: Op, items: list[Any], inside: set[Value]) -> None:
        places = []
        for operand in op.operands:
            place = self.numbers.get(operand)
            if place is None:
                place = self._reach(operand, items, inside)
            places.append(place)
        self.numbers[op.results[0]] = len(self.ops)
        self.ops.append(op)
        items.append((op.primitive, tuple(places), exact_attrs(op.attrs)))

    def _reach(self, value: Value, items: list[Any], inside: set[Value]) -> int:
        """The position of a value from outside: a copied constant or splat, or an input
        (negative).
        """
        op = value.op
        if op is not None and value not in inside:
            if op.primitive is CONSTANT and not (self.lift and value.type.dtype.kind in LIFTED):
                self.numbers[value] = len(self.ops)
                self.ops.append(op)
                items.append((CONSTANT, value.type.dtype, op.attrs["value"].tobytes()))
                return self.numbers[value]
            if self.bodies.definitions[value] in self.bodies.splats:
                self._add(op, items, inside)
                return self.numbers[value]
        self.inputs.append(value)
        self.numbers[value] = -len(self.inputs)
        return self.numbers[value]

    def build(self, name: str) -> Graph:
        """The body."""
        builder = Builder(name, fold=False)
        mapping = {value: builder.input(value.type) for value in self.inputs}
        for op in self.ops:
            operands = tuple([mapping[operand] for operand in op.operands])
            mapping[op.results[0]] = builder.emit(op.primitive, operands, op.attrs, op.source)
        return builder.finish(tuple([mapping[value] for value in self.outputs]))


def _live(bodies: Bodies, group: Group) -> list[int]:
    """The members of `group` that one of its outputs needs."""
    members = bodies.members[group]
    needed: set[int] = set()
    kept: list[int] = []
    for index in reversed(members):
        is_output = (
            bodies.leaves[index] and bodies.groups[index] is group and bodies.kinds[index] != SOFT
        )
        if not is_output and index not in needed:
            continue
        kept.append(index)
        for operand in bodies.graph.ops[index].operands:
            source = bodies.definitions.get(operand)
            if source is not None:
                needed.add(source)
    kept.reverse()
    return kept
