"""Sizes that depend on values: how many elements of a mask are true, an int that is computed.

    np.zeros(x.sum())       measure{symbols=('m3',)}(%5);  m3 is a size like others from here on

What is decided about a size needs its value in this call (`Trace.hint`). So the part of the graph
that leads to it is evaluated (see `values`), once, with the arguments of the call that is traced;
and the decision becomes a guard, as for other sizes. Where a trace is made without values
(`ShapeDtypeStruct`) it ends here.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from ..ir import dims
from ..ir.dims import Dim
from ..ir.graph import Value
from ..ops.control import CheckFailed
from ..ops.measure import count, measure
from ..ops.movement import reshape
from .values import actual

if TYPE_CHECKING:
    import numpy as np

    from .tracing import Trace


class Hints(dict[str, int]):
    """What symbols are in the call that is traced. `open`: those that nobody has asked for yet: to
    know them, the graph has to be evaluated, perhaps a long loop.
    """

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace
        self.open: dict[str, Value] = {}

    def __missing__(self, name: str) -> int:
        if name not in self.open:
            raise KeyError(name)
        number = int(self.trace.measurements.values_of([self.open[name]])[0])
        self[name] = number
        del self.open[name]
        return number

    def is_open(self, size: Dim) -> bool:
        """Whether a size follows from what nobody has asked for."""
        return bool(self.open) and not self.open.keys().isdisjoint(dims.symbols_of(size))


class Measurements:
    """The measured sizes of one trace. `lengths`: those that cannot be negative."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.has_values = True
        self.symbols: set[str] = set()
        self.lengths: set[str] = set()
        self.calls: dict[Any, Any] = {}  # of NumPy's functions, with their results
        self.sizes: MutableMapping[Value, Dim] = {}

    def count(self, mask: Value) -> Dim:
        """How many elements of a mask are true: one size, whatever the shape of the mask."""
        while (
            mask.op is not None and mask.op.primitive is reshape and mask.op.operands[0].type.ndim
        ):
            mask = mask.op.operands[0]
        return self.size(self.trace.builder.emit(count, (mask,)), is_length=True)

    def size(self, value: Value, is_length: bool = False) -> Dim:
        """The size that an i64 of rank 0 is."""
        found = self.sizes.get(value)
        if found is None:
            number = value if self.trace.sources else int(self.values_of([value])[0])
            found = self.symbol(number, is_length)
            self.sizes[value] = found
            self.trace.builder.emit(measure, (value,), {"symbols": (str(found),)})
        return found

    def symbol(self, number: int | Value, is_length: bool = True) -> Dim:
        """A new symbol, which is `number` in this call, or what a value is."""
        values = self.trace.values
        name = self.trace.name_symbol("m")
        if isinstance(number, Value):
            values.open[name] = number
        else:
            values[name] = number
        if self.trace.region is not None:
            self.trace.inner.add(name)
        self.symbols.add(name)
        if is_length:
            self.lengths.add(name)
        return Dim.symbol(name)

    def values_of(self, values: list[Value]) -> list[np.ndarray]:
        """What values are in this call. Ends the trace where that is not known beforehand."""
        if not self.has_values:
            self.trace.refuse("value", "a size, and there are none: arrays are only described")
        try:
            return actual(self.trace, values)
        except CheckFailed as error:
            self.trace.refuse("path", str(error))
        except Exception as error:
            self.trace.refuse("error", type(error).__name__)
