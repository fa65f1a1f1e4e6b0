"""Run the array API's test suite on NumPy, on `jitwise.numpy`, and with every call jitted, and
compare.

    pip install ".[array-api]"
    python tools/array_api.py                  # fetch the suite from GitHub into a cache, run it
    python tools/array_api.py --suite ../array-api-tests --max-examples 100
    python tools/array_api.py -k floor_divide  # some of its tests

A test that passes for `numpy` must pass for the other two. Those that do not are printed, and the
exit status is 1, unless they are in `EXCEPTIONS`, which the README repeats. The suite draws its
examples from the same seed in all three runs. Nothing is written but the cache and a temporary
folder.

Needs hypothesis, ndindex, pytest and pytest-json-report; with pytest-xdist several tests run at
once.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

TOOLS = Path(__file__).parent
REPOSITORY = "https://github.com/data-apis/array-api-tests"
# Test -> why it passes for NumPy and not with every call jitted.
EXCEPTIONS: dict[str, str] = {
    "test_creation_functions::test_asarray_arrays": "`asarray(x, copy=False)` shares the memory of "
    "`x`, and results of jitted functions are fresh arrays",
}
RUNS = {
    "numpy": "numpy",
    "eager": "jitwise.numpy",
    "jitted": "jitted_numpy",
}
OUTCOMES = ("passed", "failed", "skipped")


class Suite(NamedTuple):
    """How the suite is run: where it is, its own options, and how many processes share a run."""

    folder: Path
    options: tuple[str, ...]
    jobs: int


def fetched(folder: Path) -> Path:
    """The suite in `folder`, cloned when it is not there."""
    if not (folder / "array_api_tests").is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        clone = ["git", "clone", "--quiet", "--depth", "1", "--recurse-submodules"]
        command = [*clone, "--shallow-submodules", REPOSITORY, str(folder)]
        try:
            subprocess.run(command, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            shutil.rmtree(folder / "array_api_tests", ignore_errors=True)  # of half a clone
            raise SystemExit(
                f"could not clone {REPOSITORY}: {error}\n"
                "clone it with --recurse-submodules elsewhere, and give the folder with --suite"
            ) from None
    return folder


def run(suite: Suite, module: str, folder: Path) -> dict[str, str]:
    """Run the suite on one array module: the outcome of each test."""
    import jitwise

    report = folder / f"{module}.xml"
    package = Path(jitwise.__file__).parents[1]
    path = [str(TOOLS), str(package), os.environ.get("PYTHONPATH", "")]
    settings = {
        "ARRAY_API_TESTS_MODULE": module,
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
        "JITTED_NUMPY_REPORT": str(folder),
        "JITWISE_VERIFY": "1",  # a fault of jitwise fails the test
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider"]
    command += ["-p", "array_api_plugin", f"--junitxml={report}", "--tb=short"]
    command += ["--derandomize", "--disable-deadline", "array_api_tests"]
    if module == "jitted_numpy":
        command += ["-p", module]
    if suite.jobs > 1:
        command += ["-n", str(suite.jobs)]
    with open(folder / f"{module}.txt", "w") as log:
        subprocess.run(
            [*command, *suite.options],
            cwd=suite.folder,
            env={**os.environ, **settings},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    if not report.exists():
        raise SystemExit(f"the suite did not run:\n{(folder / f'{module}.txt').read_text()}")
    return outcomes(report)


def outcomes(report: Path) -> dict[str, str]:
    """The outcome of each test in a JUnit report; an error counts as a failure."""
    found = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & {"failure", "error"} else "passed"
        name = f"{case.get('classname')}::{case.get('name')}".removeprefix("array_api_tests.")
        found[name] = "skipped" if "skipped" in kinds else outcome
    return found


def worse(reference: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    """The tests that pass in the reference and do not in ours."""
    return [
        test
        for test, outcome in reference.items()
        if outcome == "passed" and ours.get(test) != "passed"
    ]


def called(folder: Path) -> tuple[int, int, collections.Counter[str]]:
    """Of the jitted run: signatures compiled, those run as Python, and the reasons for these."""
    compiled = python = 0
    reasons: collections.Counter[str] = collections.Counter()
    for file in folder.glob("calls-*.json"):
        report = json.loads(file.read_text())
        compiled += report.get("compiled", 0)
        python += report.get("python", 0)
        for name, text, count in report["reasons"]:
            reasons[f"{name}: {text}"] += count
    return compiled, python, reasons


def summary(results: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
    """The table of counts, and what passes for NumPy and not for ours."""
    yield "".join(f"{word:>10}" for word in ("", *OUTCOMES))
    for name, result in results.items():
        counts = collections.Counter(result.values())
        yield "".join(f"{word:>10}" for word in (name, *[counts[each] for each in OUTCOMES]))
    for name, result in results.items():
        if name == "numpy":
            continue
        tests = worse(results["numpy"], result)
        yield f"{len(tests)} tests pass for numpy and not {name}"
        for test in tests:
            yield f"  {test}: {EXCEPTIONS.get(test, 'FAULT')}"


def faults(results: Mapping[str, Mapping[str, str]]) -> list[str]:
    """What is worse than NumPy and is no exception. Run eagerly there are none."""
    found = worse(results["numpy"], results.get("eager", results["numpy"]))
    jitted = worse(results["numpy"], results.get("jitted", results["numpy"]))
    return found + [test for test in jitted if test not in EXCEPTIONS]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--suite", type=Path, help="a checkout of array-api-tests, with its submodule"
    )
    parser.add_argument("--max-examples", type=int, default=20, help="for each test (default: 20)")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4), help="processes")
    parser.add_argument("--only", choices=RUNS, action="append", help="beside numpy, this run only")
    parser.add_argument("--reasons", action="store_true", help="print why calls ran as Python")
    parser.add_argument("--keep", type=Path, help="a folder for reports and logs")
    parser.add_argument("-k", dest="expression", help="which tests, as for pytest")
    given = parser.parse_args(arguments)
    options = [f"--max-examples={given.max_examples}"]
    if given.expression:
        options += ["-k", given.expression]
    jobs = given.jobs if find_spec("xdist") else 1
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        suite = Suite(fetched(given.suite or _cache()).resolve(), tuple(options), jobs)
        results = {
            name: run(suite, module, folder)
            for name, module in RUNS.items()
            if given.only is None or name in ("numpy", *given.only)
        }
        print("\n".join(summary(results)))
        if "jitted" in results:
            compiled, python, reasons = called(folder)
            print(f"jitted: {compiled} signatures compiled, {python} run as Python")
            for reason, count in reasons.most_common() if given.reasons else ():
                print(f"{count:6} {reason}")
    return 1 if faults(results) else 0


def _cache() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("jitwise")) / "array-api-tests"


if __name__ == "__main__":
    try:
        import jitwise  # noqa: F401
    except ImportError:  # the source tree
        sys.path.insert(0, str(TOOLS.parent))
    sys.exit(main())
