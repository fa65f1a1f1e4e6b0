"""`tools/array_api.py` counts right, and the namespace it runs the suite on is jitted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
REPORT = """<testsuites><testsuite>
<testcase classname="array_api_tests.test_fft" name="test_fft[a]"/>
<testcase classname="array_api_tests.test_fft" name="test_ifft"><{sort} message="why"/></testcase>
<testcase classname="array_api_tests.test_dlpack" name="test_x"><skipped/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    import array_api

    return array_api


@pytest.mark.parametrize("sort", ["failure", "error"])
def test_outcomes_are_read_from_a_report(tool, tmp_path, sort):
    (tmp_path / "report.xml").write_text(REPORT.format(sort=sort))
    assert tool.outcomes(tmp_path / "report.xml") == {
        "test_fft::test_fft[a]": "passed",
        "test_fft::test_ifft": "failed",
        "test_dlpack::test_x": "skipped",
    }


def test_only_what_passes_for_numpy_must_pass(tool, monkeypatch):
    numpy = {"a": "passed", "b": "failed", "c": "skipped", "d": "passed", "e": "passed"}
    good = {**numpy, "b": "passed"}
    assert tool.faults({"numpy": numpy, "eager": good, "jitted": good}) == []
    bad = {"a": "failed", "b": "failed", "c": "failed", "d": "skipped"}
    assert tool.faults({"numpy": numpy, "eager": numpy, "jitted": bad}) == ["a", "d", "e"]
    monkeypatch.setattr(tool, "EXCEPTIONS", {"d": "of no use"})
    assert tool.faults({"numpy": numpy, "eager": numpy, "jitted": bad}) == ["a", "e"]
    assert tool.faults({"numpy": numpy, "eager": bad, "jitted": numpy}) == ["a", "d", "e"]
    said = "\n".join(tool.summary({"numpy": numpy, "jitted": bad}))
    assert "d: of no use" in said and "a: FAULT" in said


def test_exceptions_are_few_and_in_the_readme(tool):
    readme = (TOOLS.parent / "README.md").read_text()
    assert len(tool.EXCEPTIONS) <= 10
    assert [test for test in tool.EXCEPTIONS if test not in readme] == []


PROGRAM = """
import jitted_numpy as xp, numpy as np
x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
y = xp.linalg.inv(x) @ x + xp.sum(x, axis=0, keepdims=True)
assert type(y) is xp.Array and np.allclose(y.view(np.ndarray), np.eye(2) + [[4, 6]]), y
x += 1
x[0, 1] = 9
assert type(x) is xp.Array and x.tolist() == [[2, 9], [4, 5]], x
assert type(3 - x.mT) is xp.Array and (3 - x.mT).tolist() == [[1, -1], [-6, -2]]
assert x.__array_namespace__() is xp and xp.__array_api_version__
made = xp._compiled
assert {"numpy.sum", "numpy.linalg.inv", "array.__matmul__", "array.__iadd__", "array.mT",
    "array.__rsub__", "array.__setitem__"} <= set(made), sorted(made)
for name, function in made.items():
    known = function.state.known.values()
    assert known and all(each.versions and not each.python for each in known), name
import inspect
assert inspect.signature(xp.concat) == inspect.signature(np.concat)
"""


def test_the_namespace_compiles_functions_methods_and_operators():
    path = f"import sys; sys.path[:] = {[str(TOOLS), *sys.path]!r}\n"
    done = subprocess.run([sys.executable, "-c", path + PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
