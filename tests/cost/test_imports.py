"""What `import jitwise` loads, counted in modules: a time depends on the machine, a count does
not.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

HEAVY = ["llvmlite", "scipy", "rich", "platformdirs", "jax", "numba", "ml_dtypes", "networkx"]


START = f"""
import sys, json
sys.path[:] = {sys.path!r}
import numpy
"""


def output_of(program: str) -> Any:
    """What a program prints last, as JSON, in a new process."""
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    return json.loads(output.splitlines()[-1])


def loaded_after(statement: str) -> set[str]:
    """The modules that a new process has loaded after NumPy and then `statement`."""
    return set(
        output_of(f"""{START}
before = set(sys.modules)
{statement}
print(json.dumps(sorted(set(sys.modules) - before)))
""")
    )


@pytest.fixture(scope="module")
def imported() -> set[str]:
    return loaded_after("import jitwise; jitwise.jit(lambda x: x)")


@pytest.mark.parametrize("name", HEAVY)
def test_importing_jitwise_does_not_load(imported, name):
    assert not [module for module in imported if module.split(".")[0] == name]


def test_importing_jitwise_loads_few_modules_of_others(imported):
    others = {module for module in imported if not module.startswith("jitwise")}
    assert len(others) <= 12, sorted(others)


def test_importing_jitwise_loads_few_modules_of_its_own(imported):
    own = {module for module in imported if module.startswith("jitwise")}
    assert len(own) <= 147, sorted(own)


def test_importing_jitwise_makes_few_dataclasses():
    """Each costs as much as importing three modules."""
    found = output_of(f"""{START}
import dataclasses
made, make = [], dataclasses._process_class
dataclasses._process_class = lambda kind, *rest, **more: made.append(kind.__name__) or make(
    kind, *rest, **more
)
import jitwise
jitwise.jit
print(json.dumps(made))
""")
    assert len(found) <= 5, found


def test_a_first_call_loads_few_more_modules(imported):
    found = loaded_after("import jitwise; jitwise.jit(lambda x: numpy.sin(x) + 1)(numpy.ones(2))")
    own = {module for module in found - imported if module.startswith("jitwise")}
    assert len(own) <= 16, sorted(own)
    assert len(found - imported) <= 95


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's list of mappings")
def test_the_library_of_llvm_is_loaded_beside_the_trace():
    before, after, threads = output_of(f"""{START}
from jitwise.llvm import loading
def is_loaded():
    with open("/proc/self/maps") as file:
        return "libllvmlite" in file.read()
before = is_loaded()
loading.begin()
loading._begun[0].join()
after = is_loaded() and "llvmlite" not in sys.modules
import jitwise
jitwise.jit(lambda x: x + 1)(numpy.ones(2))
print(json.dumps([before, after, len(loading._begun)]))
""")
    assert not before
    assert after
    assert threads == 1


def test_a_first_call_begins_to_load_llvm():
    assert output_of(f"""{START}
import jitwise
from jitwise.llvm import loading
jitwise.jit(lambda x: x + 1)(numpy.ones(2))
print(json.dumps(len(loading._begun)))
""") == (1 if sys.platform in ("linux", "darwin") else 0)


def test_importing_the_command_line_does_not_load_rich():
    assert not [name for name in loaded_after("import jitwise.cli.__main__") if name == "rich"]


def test_the_first_call_loads_llvm_and_little_else():
    """Modules that NumPy itself loads late cost more than the compilation."""
    loaded = loaded_after("""
import jitwise
jitwise.jit(lambda x: numpy.sin(x) * x + 1)(numpy.linspace(0, 1, 100))
""")
    assert "llvmlite.binding" in loaded
    late = [
        "numpy.random",
        "numpy.fft",
        "numpy.ma",
        "numpy.polynomial",
        "numpy.testing",
        "ctypes.util",
    ]
    assert not [name for name in late if name in loaded], sorted(loaded)
