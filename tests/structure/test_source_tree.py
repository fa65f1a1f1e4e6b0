"""The source keeps its size rules, its names and its layers: rules that no tool enforces are not
kept.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "jitwise"
SOURCES = sorted(PACKAGE.rglob("*.py"))
NATIVE = sorted(
    path for ending in ("*.h", "*.cpp") for path in (PACKAGE / "runtime" / "native").rglob(ending)
)
FORBIDDEN = {"utils", "helpers", "common", "misc", "base", "util", "helper"}
# Each layer imports only from layers below it; names on one line do not import each other.
LAYERS = [
    ["cli"],
    ["debug"],
    ["api"],
    ["runtime", "explain"],
    ["llvm", "stablehlo"],
    ["kernel"],
    ["trace", "passes"],
    ["cost"],
    ["ops"],
    ["rewrite"],
    ["ir"],
    ["errors", "config", "record"],
]
# What only one place may import.
RESERVED = {
    "llvmlite": ("jitwise/llvm/",),
    "optree": ("jitwise/tree.py",),
    "platformdirs": ("jitwise/runtime/cache.py",),
    "rich": ("jitwise/cli/", "jitwise/explain/"),
    "scipy": ("jitwise/runtime/blas.py",),
}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def test_there_is_a_source_to_check():
    assert len(SOURCES) > 20


@pytest.mark.parametrize("path", [*SOURCES, *NATIVE], ids=relative)
def test_a_file_has_at_most_500_lines(path):
    most = 700 if path.parent == PACKAGE / "ops" else 500
    assert len(path.read_text().splitlines()) <= most


def lines_of_code(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Its lines, without a docstring: a public function may explain itself at length."""
    length = (node.end_lineno or 0) - node.lineno + 1
    if ast.get_docstring(node) is not None:
        length -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
    return length


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_a_function_has_at_most_60_lines(path):
    long = {
        f"{node.name}, line {node.lineno}": lines_of_code(node)
        for node in ast.walk(tree_of(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and lines_of_code(node) > 60
    }
    assert not long


@pytest.mark.parametrize("path", [*SOURCES, *NATIVE], ids=relative)
def test_a_file_is_named_for_what_it_does(path):
    assert path.stem not in FORBIDDEN


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if path.read_text().strip()], ids=relative
)
def test_a_module_says_what_it_is_in_its_docstring(path):
    docstring = ast.get_docstring(tree_of(path))
    assert docstring
    assert re.search(r"[.:`)]$|\n", docstring.strip()), "the docstring is a sentence"


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_only_config_reads_the_environment(path):
    if path == PACKAGE / "config.py":
        return
    readers = [
        node.lineno
        for node in ast.walk(tree_of(path))
        if (isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb"))
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and _names_environment(node))
    ]
    assert not readers


def _names_environment(node: ast.ImportFrom) -> bool:
    return any(alias.name in ("environ", "getenv", "environb") for alias in node.names)


def imported_modules(path: Path) -> list[tuple[str, int, bool]]:
    """Absolute names of the modules a file imports, with the line, and whether at import time."""
    package = path.relative_to(ROOT).with_suffix("").parts
    tree = tree_of(path)
    top = {id(node) for node in tree.body}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parent = list(package[: -node.level]) if node.level else []
            stem = [*parent, *(node.module.split(".") if node.module else [])]
            found += [
                (".".join([*stem, alias.name]), node.lineno, id(node) in top)
                for alias in node.names
            ]
    return found


def layer_of(module: str) -> int | None:
    parts = module.split(".")
    if parts[0] != "jitwise" or len(parts) < 2:
        return None
    for height, names in enumerate(reversed(LAYERS)):
        if parts[1] in names:
            return height
    return None


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_a_layer_imports_only_from_layers_below_it(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    own = layer_of(".".join(parts))
    if own is None:
        return
    upward = [
        f"line {line}: {module}"
        for module, line, _ in imported_modules(path)
        if (other := layer_of(module)) is not None
        and (other > own or (other == own and module.split(".")[1] != parts[1]))
        and not _is_for_type_checking(path, line)
    ]
    assert not upward


def _is_for_type_checking(path: Path, line: int) -> bool:
    return any(
        isinstance(node, ast.If)
        and ast.unparse(node.test) == "TYPE_CHECKING"
        and node.lineno <= line <= (node.end_lineno or 0)
        for node in ast.walk(tree_of(path))
    )


def test_every_module_belongs_to_a_layer():
    known = {name for names in LAYERS for name in names} | {"__init__", "__main__"}
    numpy_like = {
        "numpy",
        "lax",
        "lax_control",
        "lax_outside",
        "tree",
        "debug",
        "profiler",
    }  # public names that lead into `api`
    for path in SOURCES:
        assert path.relative_to(PACKAGE).with_suffix("").parts[0] in known | numpy_like


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_a_library_is_imported_in_its_one_place(path):
    name = relative(path)
    for module, line, _ in imported_modules(path):
        allowed = RESERVED.get(module.split(".")[0])
        assert allowed is None or name.startswith(allowed), f"line {line} imports {module}"


def test_at_most_twelve_settings_and_each_is_described():
    from jitwise import config

    settings = dataclasses.fields(config.Settings)
    assert 0 < len(settings) <= 12
    for setting in settings:
        assert setting.metadata["sentence"].endswith("."), setting.name
        assert f"JITWISE_{setting.name.upper()}" in config.describe()


def test_the_tool_and_the_test_know_the_same_layers():
    import tomllib

    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    written = contracts["contracts"][0]["layers"]
    assert [re.findall(r"\w+", line) for line in written] == LAYERS


def test_the_package_stays_small():
    lines = sum(len(path.read_text().splitlines()) for path in SOURCES)
    assert lines <= 43_000  # Python of the whole package, with control flow; the aim is half of it
