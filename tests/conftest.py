"""Fixtures of all tests: golden files, call counts, and the round trip of every graph a test
builds.

`golden_path` runs a test once for each `*.jw` file of a folder; `golden` compares a file with what
a function makes of its input, and rewrites it when pytest runs with `--update-golden`.

    # pipeline: simplify,fuse
    # expect: kernels=1 temporaries=0
    graph f(%0: f64[8]) {...}          the input
    ---
    graph f(%0: f64[8]) {...}          what is expected

The tests import the installed jitwise. `python -m pytest` tests the source tree instead.
"""

from __future__ import annotations

import gc
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

try:
    import jitwise
except ImportError as error:
    raise pytest.UsageError(
        'jitwise is not installed: run `pip install ".[test]"`, or `python -m pytest`'
    ) from error

import jitwise.ops
from jitwise.api.remade import remade
from jitwise.ir.builder import Builder
from jitwise.ir.graph import Graph
from jitwise.ir.parser import parse
from jitwise.ir.printer import print_graph
from jitwise.ir.verify import verify
from jitwise.record import recorder

assert jitwise.ops.__all__  # importing it filled the registry of primitives
hypothesis.settings.register_profile("busy machine", deadline=None)
hypothesis.settings.load_profile("busy machine")
LARGEST_ROUND_TRIP = 2_000  # ops; longer graphs are checked by the tests that are about length
MOST_ROUND_TRIPS = 50  # graphs a test


@pytest.fixture(autouse=True)
def nothing_traced_before() -> None:
    """Functions that a test makes are not those that another test made with the same code."""
    remade.clear()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the expectations of the *.jw files"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "faults: the test provokes a fault of jitwise")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "golden(folder): the folder whose *.jw files a test runs on")
    config.addinivalue_line(
        "markers",
        "no_round_trip: the test builds broken graphs, or counts what graphs cost",
    )


@pytest.fixture(autouse=True)
def floating_point_errors_are_ignored() -> Iterator[None]:
    """Else NumPy itself would give the results of a call that raises a flag (see
    `api/float_errors.py`), and nothing would be tested. Tests of the flags set a state themselves.
    """
    with np.errstate(all="ignore"):
        yield


def pytest_report_header(config: pytest.Config) -> str:
    return f"jitwise: {Path(jitwise.__file__).parent}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "golden_path" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("golden")
        folder = metafunc.definition.path.parent / (marker.args[0] if marker else "")
        paths = sorted(folder.rglob("*.jw"))
        metafunc.parametrize("golden_path", paths, ids=[path.stem for path in paths])


# Golden files


@dataclass(frozen=True)
class GoldenFile:
    """One behaviour: an input, what is expected of it, and the header that says what is done."""

    path: Path
    header: Mapping[str, str]
    input: str
    expected: str

    @property
    def expectations(self) -> dict[str, int]:
        """`# expect: kernels=1 loops=2` as numbers."""
        pairs = (item.split("=") for item in self.header.get("expect", "").split())
        return {name: int(number) for name, number in pairs}

    def graph(self) -> Graph:
        """The input."""
        return parse(self.input)

    def text(self, expected: str, expectations: Mapping[str, int]) -> str:
        """The whole file with another expectation."""
        header = dict(self.header)
        if expectations:
            header["expect"] = " ".join(f"{name}={number}" for name, number in expectations.items())
        lines = [f"# {key}: {value}" if value else f"# {key}" for key, value in header.items()]
        return "\n".join([*lines, self.input.strip(), "---", expected.strip(), ""])


def read_golden(path: Path) -> GoldenFile:
    """Take a `*.jw` file apart. Header lines are `# key: value`, or a sentence."""
    before, separator, expected = path.read_text().partition("\n---\n")
    header: dict[str, str] = {}
    lines = before.splitlines()
    while lines and lines[0].startswith("#"):
        match = re.match(r"# (\w+): (.*)$", lines[0])
        header[match[1] if match else lines[0][1:].strip()] = match[2] if match else ""
        lines.pop(0)
    if not lines:
        raise ValueError(f"{path.name} has no input")
    return GoldenFile(path, header, "\n".join(lines), expected if separator else "")


Make = Callable[[Graph, Mapping[str, str]], Graph | str]
Count = Callable[[Graph], Mapping[str, int]]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`golden(path, make, count=None)`: what `make(graph, header)` gives is what the file expects.

    `count(result)` gives the numbers that `# expect:` names.
    """
    update = request.config.getoption("--update-golden")

    def check(path: Path, make: Make, count: Count | None = None) -> Any:
        file = read_golden(path)
        result = make(file.graph(), file.header)
        text = result if isinstance(result, str) else print_graph(result)
        wanted = file.expectations
        numbers = dict(count(result)) if count and isinstance(result, Graph) else {}
        found = {name: numbers[name] for name in wanted} if numbers else wanted
        if update:
            path.write_text(file.text(text, found))
        else:
            assert text.strip() == file.expected.strip(), f"{path.name}; see --update-golden"
            assert found == wanted, f"{path.name}: the counts differ"
        return result

    return check


# Counting Python calls


@dataclass(frozen=True)
class Calls:
    """How many Python functions ran, in all and by `module.function`, and what the call gave."""

    total: int
    by_name: Counter[str]
    result: Any


@pytest.fixture
def count_calls() -> Callable[..., Calls]:
    """`count_calls(function, *args)`: the calls of Python functions it made, itself not counted."""

    def count(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Calls:
        names: Counter[str] = Counter()

        def profile(frame: Any, event: str, argument: Any) -> None:
            if event == "call":
                names[f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}"] += 1

        before = sys.getprofile()
        gc.collect()  # what earlier tests left is not this function's
        enabled = gc.isenabled()
        gc.disable()
        sys.setprofile(profile)
        try:
            result = function(*args, **kwargs)
        finally:
            sys.setprofile(before)
            if enabled:
                gc.enable()
        own = getattr(function, "__code__", None)
        total = sum(names.values()) - (1 if own is not None else 0)
        return Calls(total, names, result)

    return count


# Faults that did not show


@pytest.fixture(autouse=True)
def no_hidden_faults(request: pytest.FixtureRequest) -> Iterator[None]:
    """A fault of jitwise that it got round by running Python fails the test all the same."""
    before = recorder.counts["bug"]
    yield
    if not request.node.get_closest_marker("faults"):
        count = recorder.counts["bug"] - before
        assert not count, recorder.records("bug")[-count:]


# The round trip


def check_round_trip(graph: Graph) -> None:
    """Print, parse, print again: the same text; and both graphs keep the verifier's invariants."""
    text = print_graph(graph)
    if re.search(r"\bhost\('", text):
        return  # a graph that calls a Python function has no text that could be read back
    again = parse(text)
    assert print_graph(again) == text
    words = frozenset(re.findall(r"[A-Za-z_]\w*", text))  # an inner graph may use outer symbols
    verify(graph, words)
    verify(again, words)


@pytest.fixture
def round_trip() -> Callable[[Graph], None]:
    """The check that every graph passes, for a test that wants it at once."""
    return check_round_trip


@pytest.fixture(autouse=True)
def round_trip_everything(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """After each test, the round trip of the graphs that it built."""
    if request.node.get_closest_marker("no_round_trip"):
        yield
        return
    built: list[Graph] = []
    finish = Builder.finish

    def keep(self: Builder, outputs: tuple) -> Graph:
        graph = finish(self, outputs)
        if len(built) < MOST_ROUND_TRIPS and len(graph.ops) <= LARGEST_ROUND_TRIP:
            built.append(graph)
        return graph

    with monkeypatch.context() as patch:
        patch.setattr(Builder, "finish", keep)
        yield
    for graph in built:
        check_round_trip(graph)
