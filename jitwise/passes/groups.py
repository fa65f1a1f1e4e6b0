"""Which ops share a kernel: one forward sweep that grows groups, in time proportional to the ops.

A group has an iteration space (a shape), and, once a reduction has joined, the axes that are
reduced. Every member has a *form* in its group:

    VECTOR   an element for each point of the space
    ROW      one for each row: a reduction along the last axis, and cheap arithmetic on it
    RESULT   what a reduction over leading axes gives, or one over short rows: the kernel ends there

    %1 = reduce_add{axes=(1,)}(%0)        opens a group over [n, m], form ROW
    %2 = divide(%1, %c)                   joins, ROW
    %3 = broadcast_in_dim(%2)             joins, VECTOR: it repeats a row's value along the row
    %4 = subtract(%0, %3)                 joins, VECTOR: x - mean(x) is one kernel

No cycles: inside one label (see `labels`) groups carry a *step*, and every edge between two groups
climbs. A group may move to a later step as long as it stays below its users (`ceiling`). Both are
checked per op in constant time; nothing ever searches for a path.

A group is full at `max_weight`. A long chain is cut where the local pattern of ops repeats that of
the group's first op, so that the pieces of a repetitive chain are equal and compile once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ir.dims import Dim, Size, evaluate_size, symbols_of
from ..ir.graph import Graph, Op, Value
from .labels import ELEMENTWISE, FUSIBLE, REDUCE, SOFT, Labels

VECTOR, ROW, RESULT = range(3)
NO_CEILING = 1 << 60
ROW_WEIGHT = 40  # arithmetic on rows runs one element at a time: keep it small
FEW_ROWS = 32  # rows that are walked over again in less time than another kernel takes to start
MOST_OPERANDS = 160  # arrays a kernel may be given
PATTERN_DEPTH = 24  # ops along the first operands that are compared to see a pattern repeat
MATH_WEIGHT = 3  # a call of the math library, against one instruction
Shape = tuple[Size, ...]


class Group:
    """Ops that become one kernel. `parent` is another group after a merge."""

    __slots__ = (
        "axes",
        "ceiling",
        "first",
        "is_final",
        "label",
        "operands",
        "parent",
        "row_weight",
        "space",
        "step",
        "weight",
    )

    def __init__(
        self, label: int, step: int, space: Shape, axes: tuple[int, ...] | None, first: int
    ) -> None:
        self.parent: Group | None = None
        self.label = label
        self.step = step
        self.ceiling = NO_CEILING
        self.space = space
        self.axes = axes
        self.weight = 0
        self.operands = 0  # at most: arrays read and results that may leave
        self.row_weight = 0
        self.first = first
        self.is_final = False  # it reduces, and its kernel gives nothing else

    def row_shapes(self) -> tuple[Shape, Shape]:
        """The shapes of a row's value: axes dropped, axes of size one."""
        axes = self.axes or ()
        dropped = tuple([size for axis, size in enumerate(self.space) if axis not in axes])
        kept = tuple([1 if axis in axes else size for axis, size in enumerate(self.space)])
        return dropped, kept


def find(group: Group) -> Group:
    """The group that `group` was merged into."""
    while group.parent is not None:
        if group.parent.parent is not None:
            group.parent = group.parent.parent
        group = group.parent
    return group


def weight_of(op: Op) -> int:
    """What an op adds to the size of a kernel."""
    weight = MATH_WEIGHT if op.primitive.ulp else 1
    return weight * 3 if op.results[0].type.dtype.kind == "c" else weight


class Grouping:
    """The sweep. Then `groups[i]` is the group of op i (or None), `forms[i]` its form there."""

    def __init__(
        self,
        graph: Graph,
        labels: Labels,
        max_weight: int,
        short_row: int = 0,
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self.graph = graph
        self.short_row = short_row
        self.sizes = sizes
        self.kinds = labels.kinds
        self.labels = labels.labels
        self.definitions = labels.definitions
        self.max_weight = max_weight
        self.groups: list[Group | None] = [None] * len(graph.ops)
        self.forms = [VECTOR] * len(graph.ops)
        self.sources: list[Group | None] = [None] * len(graph.ops)  # of soft views outside groups
        self.uses = _count_uses(graph)

    def run(self) -> None:
        """Place every fusible op."""
        for index, op in enumerate(self.graph.ops):
            kind = self.kinds[index]
            if kind == ELEMENTWISE:
                self._place_elementwise(index, op)
            elif kind == REDUCE:
                self._place_reduce(index, op)
            elif kind == SOFT:
                self._place_soft(index, op)
        self._merge_siblings()

    def _merge_siblings(self) -> None:
        """Make groups one that walk over the same array at the same time: it is read once.

        Groups of one label and one step have no edge between them, so this makes no cycle; a group
        may move to a later step first, as far as its users allow.
        """
        readers: dict[tuple[Any, ...], Group] = {}
        for index, op in enumerate(self.graph.ops):
            member = self.groups[index]
            if member is None or not member.space:
                continue
            group = find(member)
            for operand in op.operands:
                source = self.definitions.get(operand)
                if operand.type.shape != group.space:
                    continue
                if source is not None and (home := self.groups[source]) and find(home) is group:
                    continue
                other = find(readers.setdefault((operand, group.label), group))
                if other is not group and self._may_merge(other, group):
                    other.step = max(other.step, group.step)
                    self._merge(other, [other, group], other.axes or group.axes)
                    group = other

    def _may_merge(self, one: Group, other: Group) -> bool:
        if one.space != other.space or one.is_final or other.is_final:
            return False
        early, late = (one, other) if one.step < other.step else (other, one)
        if early.step != late.step and early.ceiling <= late.step:
            return False
        if one.axes and other.axes and one.axes != other.axes:
            return False
        return one.weight + other.weight <= self.max_weight and (
            one.operands + other.operands <= MOST_OPERANDS
        )

    # Where operands are

    def _neighbour(self, value: Value, label: int) -> tuple[int, Group | None, bool]:
        """Where `value` is defined; its group if that is of this label; whether it is a member
        there.
        """
        source = self.definitions.get(value)
        if source is None or self.labels[source] != label or self.kinds[source] not in FUSIBLE:
            return -1, None, False
        group = self.groups[source]
        if group is not None:
            return source, find(group), True
        outside = self.sources[source]
        return source, None if outside is None else find(outside), False

    def _place_elementwise(self, index: int, op: Op) -> None:
        label = self.labels[index]
        shape = op.results[0].type.shape
        wanted: dict[Group, int] = {}  # with the form the op would have there
        above: list[Group] = []
        for operand in op.operands:
            source, group, is_member = self._neighbour(operand, label)
            if group is None:
                continue
            form = self._form(group, self.forms[source], operand, shape) if is_member else None
            if form is None:
                above.append(group)
            else:
                wanted[group] = min(form, wanted.get(group, form))
        weight = weight_of(op)
        group = self._choose(index, wanted, above, weight) if wanted else None
        if group is None:
            group = self._open(label, shape, None, [*above, *wanted], index)
            form = VECTOR
        elif len(wanted) == 1:
            form = wanted[group]
        else:
            form = min([form for each, form in wanted.items() if find(each) is group])
        group.weight += weight
        group.operands += len(above) + (self.uses[index] > 1) + len(op.operands) - len(wanted)
        if form == ROW:
            group.row_weight += weight
        self.groups[index] = group
        self.forms[index] = form

    def _form(self, group: Group, form: int, operand: Value, shape: Shape) -> int | None:
        """The form of an elementwise op over `shape` in `group`, which has its operand in `form`;
        None if it has none.
        """
        if form == VECTOR:
            return VECTOR if group.space == shape else None
        if form == RESULT:
            return None
        if shape in group.row_shapes():
            return ROW
        return VECTOR if shape == group.space and not operand.type.shape else None

    def _choose(
        self, index: int, wanted: dict[Group, int], above: list[Group], weight: int
    ) -> Group | None:
        """The group that the op joins: all that it could join made one, or the last of them, or
        none.
        """
        groups = list(wanted)
        if len(groups) == 1 and not above:
            return self._fill(groups[0], index, wanted[groups[0]], weight)
        heaviest = max(groups, key=lambda group: group.weight)
        if heaviest.weight > self.max_weight // 2 and self._repeats(heaviest, index):
            return None
        if min(wanted.values()) == ROW and max(g.row_weight for g in groups) + weight > ROW_WEIGHT:
            return None
        joined = self._join(groups, above, weight)
        if joined is None and len(groups) > 1:
            last = max(groups, key=lambda group: (group.step, group.axes is not None))
            if wanted[last] != ROW or last.row_weight + weight <= ROW_WEIGHT:
                joined = self._join([last], above + [g for g in groups if g is not last], weight)
        return joined

    def _fill(self, group: Group, index: int, form: int, weight: int) -> Group | None:
        """`group`, if it has room for the op and does not end here."""
        total = group.weight + weight
        if total > self.max_weight or group.operands + 4 > MOST_OPERANDS:
            return None
        if form == ROW and group.row_weight + weight > ROW_WEIGHT:
            return None
        if group.weight > self.max_weight // 2 and self._repeats(group, index):
            return None
        return group

    def _place_reduce(self, index: int, op: Op) -> None:
        label = self.labels[index]
        axes = tuple(op.attrs["axes"])
        operand = op.operands[0]
        space = operand.type.shape
        source, group, is_member = self._neighbour(operand, label)
        is_final = self._is_final(space, axes)
        wanted: list[Group] = []
        if (
            group is not None
            and is_member
            and self.forms[source] == VECTOR
            and group.space == space
        ):
            if group.axes in (None, axes) and not (is_final and self.uses[source] > 1):
                wanted = [group]
        above = [group] if group is not None and not wanted else []
        joined = self._join(wanted, above, 1) if wanted else None
        if joined is None:
            joined = self._open(label, space, axes, above + wanted, index)
        joined.axes = axes
        joined.is_final = is_final
        joined.weight += 1
        joined.operands += 2
        self.groups[index] = joined
        self.forms[index] = RESULT if is_final else ROW

    def _is_final(self, space: Shape, axes: tuple[int, ...]) -> bool:
        """Whether a reduction ends its kernel: over leading axes, or along many rows so short that
        walking over each once more costs more than to store and read a vector.
        """
        if len(space) - 1 not in axes:
            return True
        length = self._extent([space[axis] for axis in axes])
        if length is None or length >= self.short_row:
            return False
        rows = self._extent([size for axis, size in enumerate(space) if axis not in axes])
        return rows is None or rows >= FEW_ROWS

    def _extent(self, sizes: list[Size]) -> int | None:
        """A product of sizes, for the call that is compiled for; None when it is not known."""
        total = 1
        for size in sizes:
            if isinstance(size, Dim):
                if self.sizes is None or not symbols_of(size) <= self.sizes.keys():
                    return None
                size = evaluate_size(size, self.sizes)
            total *= size
        return total

    def _place_soft(self, index: int, op: Op) -> None:
        """A view that repeats or renames a row's value joins the row's group; any other stays
        outside.
        """
        operand = op.operands[0]
        source, group, is_member = self._neighbour(operand, self.labels[index])
        if group is None:
            return
        if not is_member or self.forms[source] != ROW or group.axes is None:
            self.sources[index] = group
            return
        form = row_view(op, group.space, group.axes)
        if form is None:
            self.sources[index] = group
            return
        self.groups[index] = group
        self.forms[index] = form

    # Steps

    def _join(self, wanted: list[Group], above: list[Group], weight: int) -> Group | None:
        """The group made of all of `wanted`, or None when they cannot be one that all of `above`
        lie before.
        """
        first = wanted[0]
        step, total, axes, operands = first.step, first.weight, first.axes, first.operands
        for group in wanted[1:]:
            if group.space != first.space:
                return None
            if group.axes is not None:
                if axes is not None and group.axes != axes:
                    return None
                axes = group.axes
            total += group.weight
            operands += group.operands
            step = max(step, group.step)
        if total + weight > self.max_weight or operands + 4 > MOST_OPERANDS:
            return None
        for group in above:
            if group in wanted:
                return None
            step = max(step, group.step + 1)
        for group in wanted:
            if group.step != step and group.ceiling <= step:
                return None
        for group in above:
            group.ceiling = min(group.ceiling, step)
        first.step = step
        if len(wanted) > 1:
            self._merge(first, wanted, axes)
        return first

    def _merge(self, first: Group, groups: list[Group], axes: tuple[int, ...] | None) -> None:
        first.axes = axes
        for group in groups:
            if group is not first and group.parent is None:
                group.parent = first
                first.weight += group.weight
                first.row_weight += group.row_weight
                first.is_final |= group.is_final
                first.operands += group.operands
                first.ceiling = min(first.ceiling, group.ceiling)
                first.first = min(first.first, group.first)

    def _open(
        self, label: int, space: Shape, axes: tuple[int, ...] | None, above: list[Group], first: int
    ) -> Group:
        step = 0
        for group in above:
            step = max(step, group.step + 1)
        for group in above:
            group.ceiling = min(group.ceiling, step)
        return Group(label, step, space, axes, first)

    def _repeats(self, group: Group, index: int) -> bool:
        """Whether an op looks like the first of the group, with the ops before it."""
        one: Op | None = self.graph.ops[index]
        other: Op | None = self.graph.ops[group.first]
        for _ in range(PATTERN_DEPTH):
            if one is None or other is None or one is other:
                return one is other
            if one.primitive is not other.primitive or len(one.operands) != len(other.operands):
                return False
            before: tuple[Op | None, Op | None] = (None, None)
            for left, right in zip(reversed(one.operands), reversed(other.operands), strict=True):
                if left.constant is None and right.constant is None:
                    before = (left.op, right.op)
                elif left.constant is None or right.constant is None:
                    return False
                elif left.constant.tobytes() != right.constant.tobytes():
                    return False
            one, other = before
        return True


def _count_uses(graph: Graph) -> list[int]:
    """How often each op's (first) result is used; an output counts as a use."""
    definitions = {result: index for index, op in enumerate(graph.ops) for result in op.results}
    uses = [0] * len(graph.ops)
    for op in graph.ops:
        for operand in op.operands:
            index = definitions.get(operand)
            if index is not None:
                uses[index] += 1
    for value in graph.outputs:
        index = definitions.get(value)
        if index is not None:
            uses[index] += 1
    return uses


def row_view(op: Op, space: Shape, axes: tuple[int, ...]) -> int | None:
    """The form of a view of a row's value over `space` reduced along `axes`; None when it is no
    such view.
    """
    source, target = op.operands[0].type.shape, op.results[0].type.shape
    kept_axes = tuple([axis for axis in range(len(space)) if axis not in axes])
    dropped = tuple([space[axis] for axis in kept_axes])
    ones = tuple([1 if axis in axes else size for axis, size in enumerate(space)])
    if op.primitive.name == "reshape":
        return ROW if target in (dropped, ones) and source in (dropped, ones) else None
    dimensions = tuple(op.attrs["dimensions"])
    places = (
        kept_axes if source == dropped else tuple(range(len(space))) if source == ones else None
    )
    if dimensions != places:
        return None
    if target == ones:
        return ROW
    return VECTOR if target == space else None


__all__ = ["RESULT", "ROW", "VECTOR", "Group", "Grouping", "find", "row_view"]
