"""Every case of numerics, of shapes and inputs, of aliasing and of errors has a test of its own.

The numbers are those of the log of cases that the tests were written from. `python -m pytest
tests/cases --cases` prints how many tests each has.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

CASES = {
    "test_numerics.py": "C01 C04 C05 C07 C08 C10 C12 C14 C15 C17 C18 C19 C20 C22 C23 C24",
    "test_shapes_and_inputs.py": "C26 C27 C29 C30 C32 C33 C35 C37 C39 C41 C42",
    "test_other_arrays.py": "C36",
    "test_aliasing.py": "C70 C71 C73 C74",
    "test_errors.py": "C59 C99 C101",
}


# Cases stand among other programs of their kind there.
MIXED = {"test_control_flow.py": "C44 C47 C48 C51 C52", "test_arrays_of_several_names.py": ""}


def marks(path: Path) -> dict[str, list[str]]:
    """The cases that the tests of a file are marked with."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            found[node.name] = [
                each.args[0].value
                for each in node.decorator_list
                if isinstance(each, ast.Call)
                and getattr(each.func, "id", "") == "case"
                and isinstance(each.args[0], ast.Constant)
            ]
    return found


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_tested_where_it_belongs(name):
    found = marks(Path(__file__).with_name(name))
    assert all(found.values()), [test for test, cases in found.items() if not cases]
    assert {case for cases in found.values() for case in cases} == set(CASES[name].split())


def test_no_file_of_cases_is_forgotten():
    files = {path.name for path in Path(__file__).parent.glob("test_*.py")}
    assert files == {*CASES, *MIXED, Path(__file__).name}


@pytest.mark.parametrize("name", MIXED)
def test_cases_stand_among_other_programs(name):
    text = Path(__file__).with_name(name).read_text()
    assert all(f'case("{number}"' in text for number in MIXED[name].split())
