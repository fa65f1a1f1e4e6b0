"""When an op may run: the part of the fuse pass that sees the whole program before any group.

Every op gets a *kind* and a *label*. Kinds: what fuses (elementwise, reduce), what is free (views,
scalar sources), what does not fuse (barriers: library calls, data movement, host calls). A label
counts how often a path from the inputs leaves what fuses; it never decreases along an edge and
increases on the way from a fusible op to a view or a barrier. So two ops of one label are never
connected through a barrier, and any grouping inside one label is free of cycles through barriers.

    %1 = add(...)            label 0
    %2 = slice(%1)           label 1 (a view)
    %3 = sine(%1)            label 0, sunk to 1: its user is there, and %1 is in memory anyway
    %4 = add(%2, %3)         label 1

Sinking moves an elementwise op to the label of its users when it does not cost a value in memory:
the value it reads is there anyway, or it replaces its own result. Without it a chain of stencils
would store twice as much.

An op that mentions a size which another op measures has at least that op's label: as if an edge led
from one to the other.

Views of what a group computes with fewer elements (a row, a scalar) and that only repeat or rename
it are *soft*: the group may contain them.
"""

from __future__ import annotations

from typing import NamedTuple

from ..ir.builder import CONSTANT, DIMENSION
from ..ir.graph import Graph, Op, Value
from ..ir.measured import Definitions

ELEMENTWISE, REDUCE, SOFT, VIEW, SCALAR, BARRIER = range(6)
FUSIBLE = (ELEMENTWISE, REDUCE, SOFT)
SOFT_VIEWS = frozenset(("broadcast_in_dim", "reshape"))
POSITIONS = ("argmin", "argmax")
# Products of complex numbers with an identity that was not asked for turn infinities into nan.
NO_COMPLEX_REDUCTION = frozenset(("multiply", "min", "max", "argmin", "argmax", "and", "or", "xor"))


class Labels(NamedTuple):
    """Facts about each op, by position: `kinds`, `labels`, and `definitions`: where each value is
    defined.
    """

    kinds: list[int]
    labels: list[int]
    definitions: dict[Value, int]


def kind_of(op: Op) -> int:
    """What the fuse pass can do with `op`."""
    primitive = op.primitive
    category = primitive.category
    if category == "elementwise":
        lower = primitive.lower
        return ELEMENTWISE if lower and op.operands[0].type.dtype.kind in lower else BARRIER
    if category == "view":
        return SOFT if primitive.name in SOFT_VIEWS else VIEW
    if primitive is CONSTANT or primitive is DIMENSION:
        return SCALAR
    if category == "reduce" and _reduces_in_kernel(op):
        return REDUCE
    return BARRIER


def _reduces_in_kernel(op: Op) -> bool:
    word = op.primitive.reduction
    if word in POSITIONS and op.operands[0].type.ndim - 1 not in op.attrs["axes"]:
        return False  # found along rows only
    if word is None or len(op.operands) != 1 or not op.attrs.get("axes") or len(op.results) != 1:
        return False
    return not (op.operands[0].type.dtype.kind == "c" and word in NO_COMPLEX_REDUCTION)


def label(graph: Graph) -> Labels:
    """Kinds and labels of every op of `graph`, in three sweeps."""
    kinds = [kind_of(op) for op in graph.ops]
    definitions: dict[Value, int] = {}
    for index, op in enumerate(graph.ops):
        for result in op.results:
            definitions[result] = index
    earliest, fixed = _earliest(graph, kinds, definitions)
    return Labels(kinds, _sink(graph, kinds, definitions, earliest, fixed), definitions)


def _earliest(
    graph: Graph, kinds: list[int], definitions: dict[Value, int]
) -> tuple[list[int], list[bool]]:
    """The least label of each op, and which results are in memory anyway. Soft views of what is in
    memory become views.
    """
    earliest = [0] * len(kinds)
    fixed = [False] * len(kinds)
    measured = Definitions(graph.ops)
    positions = {op: index for index, op in enumerate(graph.ops)} if measured else {}
    for value in graph.outputs:
        index = definitions.get(value)
        if index is not None:
            fixed[index] = True
    for index, op in enumerate(graph.ops):
        kind = kinds[index]
        if kind == SOFT and op.operands[0].type.shape:
            source = definitions.get(op.operands[0])
            if source is None or kinds[source] not in FUSIBLE:
                kind = kinds[index] = VIEW
        level = 0
        for operand in op.operands:
            source = definitions.get(operand)
            if source is None:
                continue
            above = earliest[source]
            if kind >= VIEW and kinds[source] <= SOFT:
                above += 1
                fixed[source] = True
            if above > level:
                level = above
        for awaited in measured.awaited(op) if measured else ():
            level = max(level, earliest[positions[awaited]])
        earliest[index] = level
        if kind >= VIEW:
            fixed[index] = True
    return earliest, fixed


def _sink(
    graph: Graph,
    kinds: list[int],
    definitions: dict[Value, int],
    earliest: list[int],
    fixed: list[bool],
) -> list[int]:
    """Labels after elementwise ops moved to their users."""
    labels = earliest
    least = [-1] * len(labels)  # the least label among the users
    for index in range(len(labels) - 1, -1, -1):
        op = graph.ops[index]
        kind = kinds[index]
        if kind in (ELEMENTWISE, SOFT) and not fixed[index] and least[index] > labels[index]:
            if kind == SOFT or _moves_for_free(op, definitions, fixed):
                labels[index] = least[index]
        mine = labels[index]
        for operand in op.operands:
            source = definitions.get(operand)
            if source is not None and (least[source] < 0 or mine < least[source]):
                least[source] = mine
    return labels


def _moves_for_free(op: Op, definitions: dict[Value, int], fixed: list[bool]) -> bool:
    stored = None
    for operand in op.operands:
        if not operand.type.shape or operand is stored:
            continue
        source = definitions.get(operand)
        if source is None or fixed[source]:
            continue
        if stored is not None:
            return False
        stored = operand
    return True
