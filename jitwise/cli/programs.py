"""Where the example programs are, and what a program is: a docstring and two functions.

    docstring              # its first line says what the program does
    def data(): ...        # the arguments of run, as a tuple
    def run(*arguments)    # the answer: an array, or a tuple, list or dict of answers

The decorated functions are somewhere inside `run`. The files stand in `examples/` of the source
tree, and are installed beside this module, in the folder `examples`.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEMO = ("article", "black_scholes", "sharpen", "k_means", "heat", "n_body", "attention", "ocean")


@dataclass(frozen=True, slots=True)
class Program:
    """One example: its name and its two functions."""

    name: str
    data: Callable[[], tuple[Any, ...]]
    run: Callable[..., Any]


def folder() -> Path:
    """The folder of the example programs."""
    installed = Path(__file__).parent / "examples"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "examples"


def names() -> list[str]:
    """The names of all example programs: those of the demo first, in its order."""
    found = sorted(path.stem for path in folder().glob("*.py"))
    return [name for name in DEMO if name in found] + [name for name in found if name not in DEMO]


def path_of(name: str) -> Path:
    """The file of an example's name, or the file itself. Raises FileNotFoundError without one."""
    path = Path(name) if name.endswith(".py") else folder() / f"{name}.py"
    if not path.is_file():
        raise FileNotFoundError(f"there is no program {name}; there are {', '.join(names())}")
    return path


def sentence_of(path: Path) -> str:
    """The first line of a program's docstring, read without running the program."""
    docstring = ast.get_docstring(ast.parse(path.read_text())) or path.stem
    return docstring.splitlines()[0]


def load(name: str) -> Program:
    """The program of an example's name, or in a file."""
    path = path_of(name)
    known = f"jitwise_example_{path.stem}"
    specification = importlib.util.spec_from_file_location(known, path)
    if specification is None or specification.loader is None:
        raise FileNotFoundError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(specification)
    sys.modules[known] = module
    specification.loader.exec_module(module)
    return Program(path.stem, module.data, module.run)
