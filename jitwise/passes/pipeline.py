"""A pass is a frozen record with a name and a pure method, graph to graph; a pipeline is a list of
passes.

Only `Pipeline.run` calls passes. It alone times, verifies, dumps, records and stops at the bisect
limit, so no pass contains code for debugging. A pass that changes nothing returns the graph it was
given, so "did it change?" is `is`. Fields of a pass are its options:

    JITWISE_PASSES="simplify,fuse{max_weight=8},dead_code"

Not here: which passes run by default (see `pipelines`), and undoing a pass that failed.
"""

from __future__ import annotations

import ast
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

from .. import config
from ..ir.graph import Graph
from ..record import Recorder, recorder


class PassContext:
    """What a pass may know beyond its graph, and where it leaves its records.

    `folded` says that a folding builder made the graph. `sizes` are values of symbols to optimise
    for, not to rely on. `steps` counts changes, for the bisect limit. `snapshots` keeps the graphs
    of stages that `keep` names. `around` are the symbols of graphs around the one at hand.
    """

    def __init__(
        self,
        recorder: Recorder = recorder,
        fastmath: bool = False,
        folded: bool = False,
        name: str = "graph",
        sizes: Mapping[str, int] | None = None,
        keep: frozenset[str] = frozenset(),
    ) -> None:
        self.recorder = recorder
        self.fastmath = fastmath
        self.folded = folded
        self.name = name
        self.sizes = sizes
        self.keep = keep
        self.around: frozenset[str] = frozenset()
        self.steps = 0
        self.snapshots: dict[str, Graph] = {}


@dataclass(frozen=True)
class Pass:
    """One step of a pipeline. Subclasses say what `run` does in their docstring."""

    name: ClassVar[str]
    whole: ClassVar[bool] = False  # looks into graphs inside itself, see `nested`

    def run(self, graph: Graph, context: PassContext) -> Graph:
        """The changed graph, or `graph` itself when nothing changed."""
        raise NotImplementedError

    def __str__(self) -> str:
        options = [
            f"{entry.name}={getattr(self, entry.name)}"
            for entry in fields(self)
            if getattr(self, entry.name) != entry.default
        ]
        return self.name + ("{" + ",".join(options) + "}" if options else "")


class PassError(Exception):
    """A pass failed, or its result is not well formed. `graph` is what the pass was given."""

    def __init__(self, message: str, graph: Graph, step: Pass) -> None:
        super().__init__(message)
        self.graph = graph
        self.step = step


class Pipeline(NamedTuple):
    """Passes, in order."""

    passes: tuple[Pass, ...]

    def run(self, graph: Graph, context: PassContext | None = None) -> Graph:
        """What the passes make of `graph`."""
        context = context or PassContext(name=graph.name)
        settings = config.active
        for step in self.passes:
            if (
                settings.bisect is not None
                and context.steps >= settings.bisect
                and not is_needed(step)
            ):
                continue
            start = time.perf_counter()
            after = _run(step, graph, context)
            seconds = time.perf_counter() - start
            if after is not graph:
                context.steps += 1
                detail = {
                    "ops": (len(graph.ops), len(after.ops)),
                    "seconds": seconds,
                    "step": context.steps,
                }
                context.recorder.event("pass", step.name, detail)
                if settings.verify:
                    _verify(step, graph, after, settings.verify, context)
            if settings.log >= 2:
                _say(
                    f"{context.name}: {step.name} {len(graph.ops)} -> {len(after.ops)} ops, "
                    f"{seconds * 1e3:.2f} ms"
                )
            if settings.dump.wants(step.name, context.name):
                write_stage(step.name, context.name, str(after))
            if step.name in context.keep:
                context.snapshots[step.name] = after
            graph = after
        return graph

    def __str__(self) -> str:
        return ",".join(str(step) for step in self.passes)


def is_needed(step: Pass) -> bool:
    """Whether no program can be made without this pass, so that bisecting keeps it."""
    return getattr(step, "needed", False)


def _run(step: Pass, graph: Graph, context: PassContext) -> Graph:
    try:
        return step.run(graph, context)
    except MemoryError:
        raise
    except Exception as error:
        text = f"pass {step.name!r} failed: {type(error).__name__}: {error}"
        raise PassError(text, graph, step) from error


def _verify(step: Pass, before: Graph, after: Graph, level: int, context: PassContext) -> None:
    from ..ir.verify import VerifyError, verify
    from .compare import Difference, compare

    try:
        verify(after, context.around)
        if level >= 2 and not context.around:
            compare(before, after, exact=not context.fastmath)
    except (VerifyError, Difference) as error:
        raise PassError(f"after pass {step.name!r}: {error}", before, step) from error


def write_stage(stage: str, name: str, text: str) -> None:
    """Write down the text of a stage where the settings want dumps."""
    folder = config.active.dump_dir
    if folder is None:
        _say(f"# {name} after {stage}\n{text}")
        return
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{name}.{stage}.jw"), "w") as file:
        file.write(text + "\n")


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


def parse_pipeline(text: str, known: Mapping[str, type[Pass]]) -> Pipeline:
    """The pipeline that `simplify,fuse{max_weight=8}` spells. Raises ValueError that names what is
    unknown.
    """
    return Pipeline(tuple(_parse_pass(item, known) for item in _split(text)))


def _split(text: str) -> list[str]:
    items, depth, start = [], 0, 0
    for index, character in enumerate(text + ","):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            if text[start:index].strip():
                items.append(text[start:index].strip())
            start = index + 1
    return items


def _parse_pass(text: str, known: Mapping[str, type[Pass]]) -> Pass:
    name, _, rest = text.partition("{")
    kind = known.get(name)
    if kind is None:
        raise ValueError(f"there is no pass {name!r}; the passes are {', '.join(known)}")
    options: dict[str, Any] = {}
    for item in _split(rest.removesuffix("}")):
        key, _, value = item.partition("=")
        if key not in {entry.name for entry in fields(kind)}:
            raise ValueError(f"the pass {name} has no option {key!r}")
        options[key] = ast.literal_eval(value)
    return kind(**options)


def names(passes: Sequence[Pass]) -> list[str]:
    """The names of passes, in order."""
    return [step.name for step in passes]
