"""What a jitted function keeps of its calls: the traces of each signature, compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ..runtime.executable import Executable, compile_graph, writing_last
from ..trace.function import Traced
from .call import Call
from .options import Options
from .places import Places


class Version:
    """One trace of a function, compiled."""

    __slots__ = ("entries", "executable", "traced")

    def __init__(self, traced: Traced, executable: Executable) -> None:
        self.traced = traced
        self.executable = executable
        self.entries: list[Any] = []  # the dispatcher's, one a style of call

    def is_alive(self) -> bool:
        """Whether it can still serve a call: not when an object it asks for is gone."""
        return all(guard.is_alive() for guard in self.traced.guards)


class Signature:
    """What is known for one canonical signature."""

    __slots__ = ("errors", "python", "repeats", "styles", "traces", "versions")

    def __init__(self) -> None:
        self.versions: list[Version] = []
        # By the sizes that are 1; those whose objects are gone included.
        self.traces: Counter = Counter()
        self.errors: Counter = Counter()
        self.python = False
        self.repeats = 0  # traces made for calls that a program gave up, and no others than it
        self.styles: set[Any] = set()

    def has(self, traced: Traced) -> bool:
        """Whether there is a version of the same graph."""
        text = str(traced.graph)
        return any(str(version.traced.graph) == text for version in self.versions)


def compile_traced(
    traced: Traced, options: Options, sizes: dict[str, int] | None = None
) -> Executable:
    """The program of a trace. Where a block ignores floating-point errors, it is not known before
    Python is asked whether a flag tells of one: nothing is written until then.
    """
    return compile_graph(
        traced.graph,
        fastmath=options.fastmath,
        folded=True,
        sizes=sizes,
        over_inputs=not traced.is_quiet,
        c_ordered=traced.c_ordered,
    )


def install(native: Any, call: Call, traced: Traced, program: Any) -> Any:
    """Give the dispatcher a program for calls like this one, with what the trace depends on.

    Gives the entry.
    """
    places = Places(call.order)
    for path in traced.objects:
        places.place(path)
    leaves, captured = call.inputs(traced)
    captures = [places.fetch(path) for path in captured]
    guards = [places.guard(guard) for guard in traced.guards]
    outputs, written = call.outputs(traced), traced.written
    return native.add_entry(
        *(call.args, call.kwargs, program, leaves, captures, guards, outputs, written),
        places=places.rows,
        name={},  # what is known of its floating-point errors
    )


def write_last(signatures: Iterable[Signature], native: Any, entry: Any) -> None:
    """From now on the program of `entry` writes to arguments when all is computed; it is installed
    at the next call.
    """
    for known in signatures:
        found = [version for version in known.versions if entry in version.entries]
        for version in found:
            version.executable = writing_last(version.executable)
        if found:
            for version in known.versions:
                for each in version.entries:
                    native.remove_entry(each)
                version.entries.clear()
            known.styles.clear()
