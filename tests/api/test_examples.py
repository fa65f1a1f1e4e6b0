"""Every example gives NumPy's answer, at the first call and later; the demo says so."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import jitwise
from jitwise.cli import compare, programs
from jitwise.record import recorder

# The largest difference allowed, relative to the largest number of an array. A step repeated many
# times multiplies the last-place differences of sums, products and mathematical functions.
CLOSE = {"k_means": 1e-11, "network": 1e-10, "sharpen": 1e-6, "attention": 1e-4, "article": 1e-14}


@pytest.mark.parametrize("name", programs.names())
def test_an_example_gives_numpys_answer(name):
    program = programs.load(name)
    try:
        arguments = program.data()
    except ImportError as error:
        pytest.skip(f"its data is not there: {error}")
    with jitwise.disable_jit():
        wanted = program.run(*arguments)
    before = recorder.counts["fallback"]
    for _ in range(2):
        found = program.run(*arguments)
        assert compare.difference(found, wanted) <= CLOSE.get(name, 1e-12)
    count = recorder.counts["fallback"] - before
    assert not count, recorder.records("fallback")[-count:]


def test_the_demo_runs_what_there_is():
    assert set(programs.DEMO) <= set(programs.names())
    assert len(programs.names()) >= 9


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = f"import sys; sys.path[:] = {sys.path!r}; from jitwise.cli.__main__ import main"
    program += "; sys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True
    )


def test_the_demo_prints_a_row_a_program_in_plain_text():
    done = run("demo", "article")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no progress bar where nobody looks
    header, row = done.stdout.splitlines()[:2]
    assert header.split("  ")[0] == "program"
    assert "largest difference" in header
    cells = row.split()
    assert cells[0] == "article"
    assert [float(cell) > 0 for cell in cells[1:5]] == [True] * 4
    assert "\x1b" not in done.stdout


def test_the_demo_runs_a_program_of_the_users(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        '"""Twice."""\nimport numpy as np, jitwise\n\n@jitwise.jit\ndef twice(x): return x * 2\n'
        "def data(): return (np.ones(9),)\n"
        "def run(x): return twice(x)\n"
    )
    assert "mine" in run("demo", str(path)).stdout


def test_the_demo_leaves_out_what_lacks_a_package(tmp_path):
    path = tmp_path / "lacking.py"
    path.write_text('"""Needs more."""\ndef data():\n    import no_such_package\ndef run(): pass\n')
    done = run("demo", str(path))
    assert done.returncode == 0
    assert "left out: No module named 'no_such_package'" in done.stdout


def test_a_wrong_answer_is_said_and_fails_the_demo(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text(
        '"""Not the same twice."""\nimport numpy as np\ncalls = []\n'
        "def data(): return ()\n"
        "def run():\n    calls.append(1)\n    return np.arange(len(calls))\n"
    )
    done = run("demo", str(path))
    assert done.returncode == 1
    assert "WRONG" in done.stdout


def test_a_program_that_fails_is_said_and_the_others_still_run(tmp_path):
    path = tmp_path / "failing.py"
    path.write_text('"""Fails."""\ndef data(): return (0,)\ndef run(x): return 1 / x\n')
    done = run("demo", str(path), "article")
    assert done.returncode == 1
    assert "FAILED: ZeroDivisionError" in done.stdout
    assert "article  " in done.stdout


def test_a_program_that_is_not_there_is_answered_with_those_that_are():
    done = run("demo", "black_schools")
    assert done.returncode == 2
    assert "there is no program black_schools; there are article, black_scholes" in done.stderr


def test_the_list_has_a_sentence_for_each_program():
    lines = run("demo", "--list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == programs.names()
    assert all(line.endswith(".") for line in lines)


def test_other_commands_print_what_they_are_asked_for():
    assert "JITWISE_VERIFY" in run("settings").stdout
    assert run("version").stdout.startswith("jitwise ")
    assert run("nonsense").returncode == 2


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (np.zeros(3), np.zeros(4)),
        (np.zeros(3, np.float32), np.zeros(3)),
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0])),
        (np.array([1.0, np.inf]), np.array([1.0, -np.inf])),
    ],
)
def test_answers_of_another_kind_are_wrong(found, wanted):
    with pytest.raises(AssertionError):
        compare.difference(found, wanted)


def test_differences_are_relative_to_the_largest_number():
    wanted = {"a": [np.array([1.0, -100.0, np.nan])], "b": (np.array(0.0),)}
    found = {"a": [np.array([1.5, -100.0, np.nan])], "b": (np.array(0.0),)}
    assert compare.difference(found, wanted) == pytest.approx(0.005, rel=1e-12)
