"""Run a graph before and after a pass on small random inputs, and compare (`JITWISE_VERIFY=2`).

Sizes are tried from a short list until the graph's guards hold. Results are compared bit for bit,
with all NaNs alike, unless the pass may use rules that hold of real numbers only. A graph that
NumPy itself refuses for these inputs, whose loops do not end soon, or that calls the host, is not
compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ..ir.dims import evaluate_size
from ..ir.evaluate import evaluate
from ..ir.graph import Graph
from ..ir.measured import known_guards
from ..ops.loops import at_most

SIZES = (3, 2, 5, 4, 1, 8, 0)
MOST_TRIES = 200
MOST_TURNS = 2_000  # of loops, for random inputs


class Difference(Exception):
    """Two graphs that should mean the same give different results."""


def compare(before: Graph, after: Graph, exact: bool) -> None:
    """Raise Difference, with the inputs, when the graphs differ on some small inputs."""
    values = _sizes(before)
    if values is None:
        return
    arrays = _inputs(before, values)
    changed, again = [array.copy() for array in arrays], [array.copy() for array in arrays]
    with np.errstate(all="ignore"):
        try:
            with at_most(MOST_TURNS):
                expected = [*evaluate(before, changed, guarded=True), *changed]
        except Exception:  # these inputs are not the graph's: no largest element, a failed check
            return
        with at_most(4 * MOST_TURNS):
            found = [*evaluate(after, again), *again]
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        if not _is_equal(np.asarray(one), np.asarray(other), exact):
            raise Difference(
                f"output {number} is\n{one}\ninstead of\n{other}\n"
                f"for sizes {values}, inputs\n{arrays}"
            )


def _is_equal(one: np.ndarray, other: np.ndarray, exact: bool) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind not in "fc":
        return bool(np.array_equal(one, other))
    if not exact:
        return bool(np.allclose(one, other, rtol=1e-3, atol=1e-3, equal_nan=True))
    return bool(np.array_equal(one, other, equal_nan=True)) and bool(
        np.array_equal(np.signbit(np.real(one)), np.signbit(np.real(other))) or np.isnan(one).any()
    )


def _sizes(graph: Graph) -> dict[str, int] | None:
    """Values of the symbols for which every guard holds; None when none were found."""
    for chosen in _candidates(len(graph.symbols)):
        values = dict(zip(graph.symbols, chosen, strict=True))
        if all(guard.holds(values) for guard in known_guards(graph.guards, values)):
            return values
    return None


def _candidates(count: int) -> Iterator[tuple[int, ...]]:
    """Different sizes first, so that a mixed-up axis shows; then equal ones; then any."""
    yield tuple(SIZES[index % len(SIZES)] for index in range(count))
    for size in SIZES:
        yield (size,) * count
    yield from itertools.islice(itertools.product(SIZES, repeat=count), MOST_TRIES)


def _inputs(graph: Graph, values: dict[str, int]) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    arrays = []
    for value in graph.inputs:
        shape = tuple(evaluate_size(size, values) for size in value.type.shape)
        numbers = random.uniform(-3, 3, shape)
        if value.type.dtype.kind == "u":
            numbers = np.abs(numbers)
        if value.type.dtype.kind == "c":
            numbers = numbers + 1j * random.uniform(-3, 3, shape)
        arrays.append(np.asarray(numbers).astype(value.type.dtype))
    for name, origin in graph.symbols.items():
        if origin[0] == "value":
            arrays[origin[1]] = np.asarray(values[name], arrays[origin[1]].dtype)
    return arrays
