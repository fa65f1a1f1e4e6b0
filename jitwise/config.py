"""Every setting of jitwise, in one table: the fields of `Settings`.

A setting has a name, a type, a default and a sentence. It is set by the environment variable
`JITWISE_` + NAME, which is read once, at import, and nowhere else in jitwise:

    JITWISE_DUMP=trace,fuse,kernel:loss  ->  active.dump.wants("fuse", "loss")
    JITWISE_VERIFY=2                     ->  active.verify == 2

Layers read `config.active.verify`; tests and the command line change settings for a while with
`config.override(verify=2)`. No setting changes a result. What may change one (fast-math) is an
argument of `jit`.
"""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

PREFIX = "JITWISE_"


class Dump(NamedTuple):
    """Which stages to write down (`trace`, a pass, `kernel`, `llvm`, `asm`, or `all`), and for
    which function.

    `name` None means every function.
    """

    stages: frozenset[str] = frozenset()
    name: str | None = None

    def wants(self, stage: str, name: str) -> bool:
        """Whether this stage of the function `name` is to be written down."""
        if not self.stages or (stage not in self.stages and "all" not in self.stages):
            return False
        return self.name is None or self.name == name


NO_DUMP = Dump()


def _setting(default: Any, read: Callable[[str], Any], sentence: str) -> Any:
    return field(default=default, metadata={"read": read, "sentence": sentence})


def _flag(text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    if text.lower() in ("0", "false", "no", "off"):
        return False
    raise ValueError("0 or 1")


def _number(least: int, most: int | None = None) -> Callable[[str], int]:
    wanted = (
        f"a number from {least} to {most}" if most is not None else f"a number of at least {least}"
    )

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ValueError(wanted) from None
        if number < least or (most is not None and number > most):
            raise ValueError(wanted)
        return number

    return read


def _dump(text: str) -> Dump:
    stages, _, name = text.partition(":")
    return Dump(
        frozenset(stage.strip() for stage in stages.split(",") if stage.strip()), name or None
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """The table. See the module docstring."""

    dump: Dump = _setting(
        NO_DUMP, _dump, "Stages to write down: trace,PASS,kernel,llvm,asm or all, then :FUNCTION."
    )
    dump_dir: str | None = _setting(
        None, str, "Folder the dumps go to, one file each; standard error without it."
    )
    log: int = _setting(
        0, _number(0, 2), "1: one line per trace, compile and fallback; 2: also per pass."
    )
    verify: int = _setting(
        0,
        _number(0, 2),
        "1: verify after every pass, raise faults of jitwise; 2: also run each stage and compare.",
    )
    bisect: int | None = _setting(
        None,
        _number(0),
        "Stop optimising after this many rule applications and pass changes.",
    )
    passes: str | None = _setting(
        None,
        str,
        "The pipeline to run instead of the default, as fuse{max_ops=8},dead_code.",
    )
    threads: int = _setting(
        0, _number(0), "Most threads to use; 0: as many as the process may run on."
    )
    disable: bool = _setting(
        False, _flag, "1: run every function as Python, as if it were not decorated."
    )
    progress: bool | None = _setting(
        None,
        _flag,
        "1 or 0: show progress bars, or not; without it, on a terminal. 0: also no line about long "
        "traces.",
    )


def read(environment: Mapping[str, str]) -> Settings:
    """The settings that these environment variables make.

    Raises ValueError, naming the variable and what it may be, when one cannot be read. Warns of a
    variable that no setting has. An empty variable counts as absent.
    """
    table = {PREFIX + entry.name.upper(): entry for entry in dataclasses.fields(Settings)}
    values: dict[str, Any] = {}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or not text:
            continue
        entry = table.get(variable)
        if entry is None:
            import difflib

            near = difflib.get_close_matches(variable, table, 1) or sorted(table)
            warnings.warn(
                f"jitwise has no setting {variable}; it has {', '.join(near)}", stacklevel=2
            )
            continue
        try:
            values[entry.name] = entry.metadata["read"](text)
        except ValueError as error:
            raise ValueError(f"{variable}={text!r} cannot be read: it must be {error}") from None
    return Settings(**values)


def describe() -> str:
    """The table as text: variable, default, sentence."""
    rows = [
        f"{PREFIX + entry.name.upper():<20} {entry.metadata['sentence']}"
        for entry in dataclasses.fields(Settings)
    ]
    return "\n".join(rows)


@contextmanager
def override(**changes: Any) -> Iterator[Settings]:
    """Settings changed for the time of a `with` block."""
    global active
    before = active
    active = dataclasses.replace(before, **changes)
    try:
        yield active
    finally:
        active = before


active: Settings = read(os.environ)
