"""What `import jitwise` loads, counted in modules: a time depends on the machine, a count does
not.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ["llvmlite", "scipy", "rich", "platformdirs", "jax", "numba", "ml_dtypes", "networkx"]


def loaded_after(statement: str) -> set[str]:
    """The modules that a new process has loaded after NumPy and then `statement`."""
    program = f"""
import sys, json
sys.path[:] = {sys.path!r}
import numpy
before = set(sys.modules)
{statement}
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    return set(json.loads(output.splitlines()[-1]))


@pytest.fixture(scope="module")
def imported() -> set[str]:
    return loaded_after("import jitwise; jitwise.jit(lambda x: x)")


@pytest.mark.parametrize("name", HEAVY)
def test_importing_jitwise_does_not_load(imported, name):
    assert not [module for module in imported if module.split(".")[0] == name]


def test_importing_jitwise_loads_few_modules_of_others(imported):
    others = {module for module in imported if not module.startswith("jitwise")}
    assert len(others) <= 60, sorted(others)


def test_importing_jitwise_loads_few_modules_of_its_own(imported):
    own = {module for module in imported if module.startswith("jitwise")}
    assert len(own) <= 120, sorted(own)


def test_importing_the_command_line_does_not_load_rich():
    assert not [name for name in loaded_after("import jitwise.cli.__main__") if name == "rich"]
