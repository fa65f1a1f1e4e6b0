"""The native loops of programs: a function for each distinct region, kept for the next one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, NamedTuple

from ..ir.dims import symbols_of
from ..ir.fingerprint import fingerprint
from ..ir.graph import Graph
from ..ir.measured import sizes_in, sizes_of, symbols_defined

TABLE_SIZE = 1024


class CompiledRegion(NamedTuple):
    """Machine code, who keeps it loaded, and the symbols whose values it takes."""

    address: int
    owner: Any
    symbols: tuple[str, ...]


class _Counters:
    """What the cost tests count."""

    def __init__(self) -> None:
        self.built = 0


counters = _Counters()
_table: OrderedDict[str, CompiledRegion] = OrderedDict()
_lock = threading.Lock()


def compile_region(body: Graph) -> CompiledRegion:
    """The code of a region, from the table if it was compiled before."""
    key = fingerprint(body)
    with _lock:
        known = _table.get(key)
        if known is not None:
            _table.move_to_end(key)
            return known
    from ..llvm import compile as llvm
    from ..llvm.region import emit_region
    from .kernels import register_math

    register_math()
    symbols = outer_symbols(body)
    library = llvm.compile_region(emit_region(body, symbols, llvm.has_avx(), llvm.has_avx512()))
    counters.built += 1
    made = CompiledRegion(library["region"], library, symbols)
    with _lock:
        _table[key] = made
        while len(_table) > TABLE_SIZE:
            _table.popitem(last=False)
    return made


def outer_symbols(body: Graph) -> tuple[str, ...]:
    """The symbols that a region mentions and does not define, in order."""
    own: set[str] = set()
    pending = [body]
    while pending:
        graph = pending.pop()
        own.update(graph.symbols)
        for op in graph.ops:
            own.update(symbols_defined(op))
            pending += op.graphs()
    shapes = tuple([value.type.shape for value in body.inputs])
    sizes = dict.fromkeys((*sizes_in(shapes), *sizes_of(body)))
    mentioned = dict.fromkeys([name for size in sizes for name in sorted(symbols_of(size))])
    return tuple([name for name in mentioned if name not in own])
