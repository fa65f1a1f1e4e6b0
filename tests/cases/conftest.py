"""Puts this folder on the path, and prints which cases are covered.

`python -m pytest tests/cases --cases` lists each case with the number of tests that carry its mark.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.with_name("conformance"))]  # there are the layouts


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases", action="store_true", help="list the cases that have tests, and stop"
    )


def cases_of(items: list[pytest.Item]) -> Counter[str]:
    """How many tests carry the mark of each case."""
    return Counter(
        name for item in items for marker in item.iter_markers("case") for name in marker.args
    )


def pytest_collection_finish(session: pytest.Session) -> None:
    if session.config.getoption("--cases", False):
        found = cases_of(session.items)
        lines = [f"{name}: {number} tests" for name, number in sorted(found.items())]
        pytest.exit("\n".join(["cases with tests:", *lines]), returncode=0)
