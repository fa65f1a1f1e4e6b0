"""Branches of a region: one of several graphs.

Where both branches are an operation or two on integers, both are computed, and one is taken:

    if n % 2 == 0: n = n // 2                select n % 2 == 0, n >> 1, 3n + 1
    else:          n = 3 * n + 1             check n % 2 == 0, or 3n + 1 does not overflow

Which branch it is cannot be guessed by the processor in loops like this one, and a wrong guess
costs more than a few operations. The checks of a branch ask whether it is the one that is taken.

So it is with a branch that writes an element and does nothing else, where it is known that the
element is there: what is written otherwise is what it was.

    if d < x[i, j]: x[i, j] = d              x[i, j] = select d < x[i, j], d, x[i, j]
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..ir.dims import Dim, Size
from ..ir.graph import Graph, Op
from .operations import BOOL, Operand
from .region_loops import is_proven
from .text import PARTS, SCALARS

if TYPE_CHECKING:
    from .region import Emission

FEW = 3  # operations of a branch that is computed though it may not be taken
WRITING = frozenset(("reshape", "constant", "broadcast_in_dim", "update_slice"))
PLAIN = frozenset(("add", "subtract", "multiply", "negate", "and", "or", "xor", "not"))


def emit(region: Emission, op: Op, given: list[Any]) -> list[Any]:
    """What the branch gives that is taken."""
    index, *operands = given
    branches: tuple[Graph, ...] = op.attrs["branches"]
    if index.dtype == BOOL and all(weight(branch) <= FEW for branch in branches):
        return _both(region, branches, index, operands)
    if index.dtype == BOOL and all(value.type.shape for value in op.results):
        for chosen in (0, 1):
            if _writes_an_element(region, branches, chosen, operands):
                return [_write(region, branches[chosen], index, chosen, operands)]
    function = region.function
    after, always, region.always = region.label("chosen"), region.always, False
    labels = [region.label("branch") for _ in branches]
    if index.dtype == BOOL:
        function.line(f"br i1 {index.text}, label %{labels[1]}, label %{labels[0]}")
    else:
        cases = " ".join(f"i64 {place}, label %{name}" for place, name in enumerate(labels[:-1]))
        function.line(f"switch i64 {index.text}, label %{labels[-1]} [ {cases} ]")
    variables: list[list[str]] = []
    outputs: list[Any] = []
    for branch, name in zip(branches, labels, strict=True):
        function.label(name)
        outputs = region.graph_inside(branch, _hidden(region, branch, operands))
        variables = variables or region.variables(outputs)
        region.keep(outputs, variables)
        function.line(f"br label %{after}")
    function.label(after)
    region.always = always
    return region.kept(outputs, variables)


def _both(
    region: Emission, branches: tuple[Graph, ...], index: Operand, operands: list[Any]
) -> list[Any]:
    always, region.always = region.always, False
    other = region.e.logical_not(index)
    with _only_if(region, index):
        on_false = region.graph_inside(branches[0], operands)
    with _only_if(region, other):
        on_true = region.graph_inside(branches[1], operands)
    region.always = always
    return [region.e.select(index, *pair) for pair in zip(on_true, on_false, strict=True)]


def _writes_an_element(
    region: Emission, branches: tuple[Graph, ...], chosen: int, operands: list[Any]
) -> bool:
    """Whether a branch does that alone, and the other one nothing."""
    branch, other = branches[chosen], branches[1 - chosen]
    names = [op.primitive.name for op in branch.ops]
    if other.ops or names.count("update_slice") != 1 or not set(names) <= WRITING:
        return False
    (update,) = [op for op in branch.ops if op.primitive.name == "update_slice"]
    whole, part = update.operands
    if list(branch.outputs) != [update.results[0]] or whole not in branch.inputs:
        return False
    if list(other.outputs) != [other.inputs[branch.inputs.index(whole)]]:
        return False
    if any(size != 1 for size in part.type.shape) or part.type.dtype.kind == "c":
        return False
    array = operands[branch.inputs.index(whole)]
    always, region.always = region.always, False  # it is not to be checked now
    rows = zip(update.attrs["starts"], update.attrs["strides"], array.sizes, strict=True)
    known = all(is_proven(region, start, (step, "1", size)) for start, step, size in rows)
    region.always = always
    return known


def _write(
    region: Emission, branch: Graph, index: Operand, chosen: int, operands: list[Any]
) -> Any:
    """Write the element that a branch writes, or the one that is there; the array."""
    (update,) = [op for op in branch.ops if op.primitive.name == "update_slice"]
    array = operands[branch.inputs.index(update.operands[0])]
    known = dict(zip(branch.inputs, operands, strict=True))
    with region.inside(branch, operands):
        for op in branch.ops:
            if op is not update:
                known.update(zip(op.results, region.write(op, known), strict=True))
        places = [region.size(start) for start in update.attrs["starts"]]
    part = known[update.operands[1]]
    new = part if isinstance(part, Operand) else part.at(region, ["0"] * len(places))
    address = array.address(region, places)
    pair = [region.load(address, array.dtype, array.note), new]
    region.store(region.e.select(index, pair[chosen], pair[1 - chosen]), address, array.note)
    return array


@contextmanager
def _only_if(region: Emission, otherwise: Operand) -> Iterator[None]:
    """Checks hold where `otherwise` does."""
    outer, text = region.otherwise, otherwise.text
    region.otherwise = text if outer is None else region.define(f"or i1 {outer}, {text}")
    yield
    region.otherwise = outer


def weight(branch: Graph) -> int:
    """How many operations on integers a branch is; many, where it is anything else."""
    total = 0
    values = [*branch.inputs, *branch.outputs]
    if any(value.type.shape or value.type.dtype.kind not in "biu" for value in values):
        return FEW + 1
    for op in branch.ops:
        if op.results and op.results[0].type.dtype.kind not in "biu":
            return FEW + 1
        name = op.primitive.name
        if name == "dimension":
            total += _weight_of_size(op.attrs["size"])
        elif name in PLAIN and not op.results[0].type.shape:
            total += 1
        elif name != "constant":
            return FEW + 1
    return total


def _weight_of_size(size: Size) -> int:
    """Operations of a size; what divides is a power of two, by which nothing goes wrong."""
    if not isinstance(size, Dim):
        return 0
    total = len(size.terms) - 1
    for atoms, coefficient in size.terms:
        total += len(atoms) - 1 + (abs(coefficient) != 1) if atoms else 0
        for atom in atoms:
            if atom.operation == "symbol":
                continue
            right = atom.right
            if atom.operation not in ("floordiv", "mod") or not is_power_of_two(right):
                return FEW + 1
            total += 1 + _weight_of_size(atom.left)  # type: ignore[arg-type]
    return total


def is_power_of_two(number: Any) -> bool:
    """Whether it is a plain number, and one of 1, 2, 4, 8 ..."""
    return isinstance(number, int) and number > 0 and number & (number - 1) == 0


def _hidden(region: Emission, branch: Graph, operands: list[Any]) -> list[Any]:
    """Floats that a branch computes with: LLVM is not to do so where the branch is not taken,
    which would raise its floating-point flags.
    """
    if all(op.primitive.flops == 0 or op.primitive.lower is None for op in branch.ops):
        return operands
    return [_hide(region, x) if isinstance(x, Operand) else x for x in operands]


def _hide(region: Emission, x: Operand) -> Operand:
    """The same number, behind a barrier that has to stay where it is."""
    from .region import FLOAT_REGISTER

    part = PARTS.get(x.dtype, x.dtype)
    if part.kind != "f" or part.itemsize < 4:
        return x
    type, code = SCALARS[part], f'asm sideeffect "", "={FLOAT_REGISTER},0"'
    names = [region.define(f"call {type} {code}({type} {each.text})") for each in region.parts(x)]
    return Operand(names[0], x.dtype, *names[1:])
