"""The runner of measurements lists, measures and reports; no time is judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = (
        f"import sys; sys.path[:] = {[*sys.path, str(ROOT)]!r}; from bench.run import main; "
        "sys.exit(main(sys.argv[1:]))"
    )
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True
    )


def test_cases_are_listed_by_how_their_names_start():
    everything = run("--list").stdout.split()
    assert len(everything) == len(set(everything)) > 30
    assert run("--list", "dispatch").stdout.split() == [
        name for name in everything if name.startswith("dispatch")
    ]


def test_no_such_case_is_an_error():
    done = run("nonsense")
    assert done.returncode == 2
    assert "no case starts with nonsense" in done.stderr


def test_a_case_is_measured_and_written_down(tmp_path):
    path = tmp_path / "results.json"
    done = run("dispatch/2", "--peers", "numpy,no-such-peer", "--rounds", "2", "--json", str(path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("dispatch/2")
    content = json.loads(path.read_text())
    (result,) = content["results"]
    assert 0 < result["best"] <= result["median"] < 1
    assert result["rounds"] == 2
    assert set(content["versions"]) == {"numpy"}
    assert content["machine"]["cores"] >= 1


def test_a_case_about_first_calls_runs_in_a_process_of_its_own():
    done = run("lengths-300", "--peers", "numpy", "--fresh-rounds", "1")
    assert done.returncode == 0, done.stderr
    assert "lengths-300: first calls" in done.stdout
    assert "lengths-300: later calls" in done.stdout


@pytest.fixture
def bench_on_path(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT)])


def test_a_refusal_is_reported_not_raised(bench_on_path):
    from bench.cases import Case
    from bench.measure import measure
    from bench.report import refusals, table

    def make(xp):
        def refuse(x):
            raise NotImplementedError("not for numbers")

        return refuse

    results = measure(Case("refusing", make, lambda: (1.0,), ("numpy",)), ["numpy"], 1)
    assert "refused" in table(results)
    assert "refusing, numpy: NotImplementedError: not for numbers" in refusals(results)


def test_durations_have_three_digits_and_a_unit(bench_on_path):
    from bench.report import duration

    assert [duration(seconds) for seconds in (2.5, 0.0125, 3.21e-6, 98e-9)] == [
        "2.5 s",
        "12.5 ms",
        "3.21 us",
        "98 ns",
    ]
