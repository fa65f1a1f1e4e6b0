"""`python -m jitwise demo`: example programs, each run by NumPy and by jitwise, as a table.

    program        NumPy ms first call ms later calls ms  ratio largest difference
    black_scholes    141.23         60.31           9.84   14.4            2.2e-16

A program whose data a missing package ships is named and left out. The largest difference is
relative to the largest number in the array.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import programs
from .compare import Comparison, compare
from .programs import Program
from .progress import Progress

STEPS = 4  # what `compare` reports for each program
HEADER = ("program", "NumPy ms", "first call ms", "later calls ms", "ratio", "largest difference")


def run_demo(chosen: Sequence[str], only_list: bool = False) -> int:
    """Run the programs named, or those of the demo. Gives 1 when an answer differs from NumPy's."""
    if only_list:
        for name in programs.names():
            print(f"{name:<16} {programs.sentence_of(programs.path_of(name))}")
        return 0
    return run_files(chosen or programs.DEMO)


def run_files(names: Sequence[str]) -> int:
    """Run programs, each an example's name or a file, and print the table."""
    try:
        loaded = [programs.load(name) for name in names]
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    print(_row(HEADER), flush=True)
    wrong = False
    with Progress(len(loaded) * STEPS) as progress:
        for program in loaded:
            line, right = _one(program, progress)
            progress.print(line)
            wrong |= not right
    print(f"\n{_note()}")
    return int(wrong)


def _one(program: Program, progress: Progress) -> tuple[str, bool]:
    """The row of one program, and whether its answer is right."""
    try:
        done = compare(program, lambda what: progress.advance(f"{program.name}: {what}"))
    except ImportError as error:
        return f"{program.name:<14} left out: {error} (pip install jitwise[examples])", True
    except AssertionError as error:
        return f"{program.name:<14} WRONG: {error}", False
    except Exception as error:  # one program that fails does not keep the others from running
        return f"{program.name:<14} FAILED: {type(error).__name__}: {error}", False
    return _row(_cells(done)), True


def _cells(done: Comparison) -> tuple[str, ...]:
    times = (f"{seconds * 1e3:.2f}" for seconds in (done.numpy, done.first, done.later))
    return (done.name, *times, f"{done.ratio:.1f}", f"{done.difference:.1e}")


def _row(cells: Sequence[str]) -> str:
    widths = (14, 9, 13, 14, 6, 18)  # 79 columns in all
    first = f"{cells[0]:<{widths[0]}}"
    return first + " ".join(
        f"{cell:>{width}}" for cell, width in zip(cells[1:], widths[1:], strict=True)
    )


def _note() -> str:
    return (
        "NumPy: the same functions without the decorator. first call: with tracing and compiling.\n"
        "ratio: NumPy / later calls. largest difference: relative to the array's largest number."
    )
