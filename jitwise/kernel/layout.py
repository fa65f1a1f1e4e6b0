"""How the body of a fusion lies over its iteration space: mode, axes, and the form of every value.

    graph body(%0: f64[n, m]) {
      %1: f64[n] = reduce_add{axes=(1,)}(%0)          mode row, outer axes (0,), inner axes (1,)
      %2: f64[n, m] = broadcast_in_dim{...}(%1)       a row's value, seen at every point
      %3: f64[n, m] = subtract(%0, %2)                a vector
    }

Forms: `VECTOR`, an element per point; `ROW`, one per row; `SINGLE`, one in all. Views inside a body
only rename or repeat, so they have the form of their operand. `key` leaves sizes out: bodies with
equal keys have the same kernel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..ir.builder import CONSTANT
from ..ir.dims import Size
from ..ir.graph import Graph, Op, Value
from ..ir.primitive import exact_attrs

SINGLE, ROW, VECTOR = range(3)
ROLES = ("scalar", "row", "vector")
Shape = tuple[Size, ...]


class Layout(NamedTuple):
    """See the module docstring. `outer` and `inner` are axes of `space`, in the order they are
    walked.
    """

    mode: str
    space: Shape
    outer: tuple[int, ...]
    inner: tuple[int, ...]
    forms: dict[Value, int]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    key: tuple[Any, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """The axes of the space, outermost first."""
        return self.outer + self.inner


def layout_of(body: Graph) -> Layout:
    """The layout of a fusion's body. Raises ValueError when no kernel can hold it."""
    reduction = next((op for op in body.ops if op.primitive.category == "reduce"), None)
    if reduction is None:
        space, axes = _map_space(body), ()
        mode, outer = "map", ()
        inner = tuple(range(len(space)))
    else:
        space, axes = reduction.operands[0].type.shape, tuple(reduction.attrs["axes"])
        kept = tuple([axis for axis in range(len(space)) if axis not in axes])
        mode = "row" if len(space) - 1 in axes else "column"
        outer, inner = (kept, axes) if mode == "row" else (axes, kept)
    rows = _row_shapes(space, axes)
    forms = {value: _input_form(value, space, rows) for value in body.inputs}
    numbers = {value: -1 - index for index, value in enumerate(body.inputs)}
    key: list[Any] = [mode]
    for index, op in enumerate(body.ops):
        _add(op, index, forms, numbers, key, reduction, axes)
    inputs = tuple([ROLES[forms[value]] for value in body.inputs])
    key.append(
        tuple([(value.type.dtype, role) for value, role in zip(body.inputs, inputs, strict=True)])
    )
    outputs = tuple(
        [
            "vector" if mode != "row" or value.type.shape == space else "row"
            for value in body.outputs
        ]
    )
    key.append(
        tuple([(numbers[value], role) for value, role in zip(body.outputs, outputs, strict=True)])
    )
    return Layout(mode, space, outer, inner, forms, inputs, outputs, tuple(key))


def _map_space(body: Graph) -> Shape:
    space: Shape = ()
    for op in body.ops:
        shape = op.results[0].type.shape
        if shape and shape != space:
            if space:
                raise ValueError(f"{body.name} walks over {space} and {shape}")
            space = shape
    return space


def _row_shapes(space: Shape, axes: tuple[int, ...]) -> tuple[Shape, ...]:
    if not axes:
        return ()
    dropped = tuple([size for axis, size in enumerate(space) if axis not in axes])
    return dropped, tuple([1 if axis in axes else size for axis, size in enumerate(space)])


def _input_form(value: Value, space: Shape, rows: tuple[Shape, ...]) -> int:
    shape = value.type.shape
    if not shape:
        return SINGLE
    if shape == space:
        return VECTOR
    if shape in rows:
        return ROW
    raise ValueError(f"an operand of shape {shape} does not lie over {space}")


def _add(
    op: Op,
    index: int,
    forms: dict[Value, int],
    numbers: dict[Value, int],
    key: list[Any],
    reduction: Op | None,
    axes: tuple[int, ...],
) -> None:
    """Give the result of `op` its form, and say in `key` what is computed."""
    primitive, result = op.primitive, op.results[0]
    category = primitive.category
    if category == "view":
        forms[result] = forms[op.operands[0]]
        numbers[result] = numbers[op.operands[0]]
        return
    numbers[result] = index
    if primitive is CONSTANT:
        forms[result] = SINGLE
        key.append((index, result.type.dtype, op.attrs["value"].tobytes()))
        return
    places = tuple([numbers[operand] for operand in op.operands])
    if category == "reduce":
        assert reduction is not None
        if (
            tuple(op.attrs["axes"]) != axes
            or op.operands[0].type.shape != reduction.operands[0].type.shape
        ):
            raise ValueError(f"two reductions along different axes: {reduction!r}, {op!r}")
        forms[result] = ROW
        key.append((index, primitive, places))
        return
    forms[result] = max([forms[operand] for operand in op.operands])
    key.append((index, primitive, places, exact_attrs(op.attrs)))
