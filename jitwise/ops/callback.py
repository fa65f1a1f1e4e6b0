"""Calls of the user's own Python functions while the program runs: what `jitwise.debug.callback`,
`debug.print`, `pure_callback` and `io_callback` are in a graph.

    io_callback(read, struct, x)   ->   %1: f64[3] = callback{function=..., types=(f64[3],)}(%0)

A callback is an effect, whatever the function does: it takes place each time that the program comes
to it, once, needed or not, in the order of the graph. `function` knows how to make its arguments of
the operands, and what was promised of its results, which `types` are (see `trace.callbacks`).

No graph with callbacks can be evaluated apart from a call: what the function does cannot be undone.
"""

from __future__ import annotations

from typing import Any

from ..ir.primitive import Primitive, register


def _evaluate(*operands: Any, **attrs: Any) -> Any:
    raise NotImplementedError(f"{attrs['function'].name} takes place in a call only")


callback = register(
    Primitive(
        name="callback",
        category="call",
        infer=lambda types, attrs: attrs["types"],
        evaluate=_evaluate,
        multiple=True,
        effect=True,
        hlo="stablehlo.custom_call",
        flops=10,
    )
)
