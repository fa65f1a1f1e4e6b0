"""NumPy's namespace with every call jitted: `jitted_numpy.add(x, y)` is
`jit(lambda *args, **options: np.add(*args, **options))(x, y)`.

So are the methods and operators of the arrays that it gives. These are of a subclass of ndarray,
which is taken off before a call, as jitwise does not compile for subclasses, and put on after it.

    x = jitted_numpy.asarray([1.0, 2.0])
    x + 1         is  jit(lambda x, y: x + y)(x, 1)
    x[0] = 3.0    is  jit(lambda x, index, item: x.__setitem__(index, item))(x, 0, 3.0)

`array_api.py` runs the array API's test suite on it, as an array module and as a pytest plugin.
Each test begins with new functions: every test compiles what it runs, and memory stays bounded.
How many signatures were compiled, and which ran as Python, is written into the folder that
JITTED_NUMPY_REPORT names when pytest ends.

Left out: NumPy scalars, which NumPy gives where no axis is left, keep their own operators; classes,
dtypes and constants are NumPy's.
"""

from __future__ import annotations

import collections
import functools
import json
import operator
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import jitwise
from jitwise.api import state as bounds
from jitwise.record import Record, recorder

warnings.simplefilter("ignore", jitwise.JitwiseWarning)
# A test calls a function with more signatures than a program does: all of them are compiled.
bounds.MOST_TRACES = bounds.MOST_SIGNATURES = bounds.MOST_USED_ONCE = 1_000_000

_compiled: dict[str, Any] = {}  # jitted functions of the test that runs, by name
_python: collections.Counter[tuple[str, str]] = collections.Counter()
_counts: collections.Counter[str] = collections.Counter()


def jitted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose calls go through a jitted one that is made anew for each test."""

    def make() -> Any:
        def call(*args: Any, **options: Any) -> Any:
            return function(*args, **options)

        call.__name__ = name
        made = _compiled[name] = jitwise.jit(call)
        return made

    @functools.wraps(function, updated=())
    def wrapper(*args: Any, **options: Any) -> Any:
        compiled = _compiled.get(name) or make()
        given = [plain(each) for each in args]
        result = compiled(*given, **{key: plain(each) for key, each in options.items()})
        for original, each in zip(args, given, strict=True):
            if result is each:  # changed in place and given back
                return original
        return dressed(result)

    return wrapper


def plain(item: Any) -> Any:
    """What holds arrays of ours, with NumPy's own over the same memory."""
    if type(item) is Array:
        return item.view(np.ndarray)
    if type(item) in (list, tuple):
        return type(item)([plain(each) for each in item])
    return item


def dressed(item: Any) -> Any:
    """What holds NumPy's arrays, with arrays of ours."""
    if type(item) is np.ndarray:
        return item.view(Array)
    if type(item) in (list, tuple):
        return type(item)([dressed(each) for each in item])
    if isinstance(item, tuple) and hasattr(item, "_fields"):
        return type(item)(*[dressed(each) for each in item])
    return item


class Array(np.ndarray):
    """An array whose methods and operators are jitted."""

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        np.empty(0).__array_namespace__(api_version=api_version)
        return sys.modules[__name__]


_BINARY = ["add", "and", "floordiv", "lshift", "matmul", "mod", "mul", "or", "pow", "rshift"]
_BINARY += ["sub", "truediv", "xor"]
_UNARY = ["abs", "bool", "complex", "float", "index", "int", "invert", "neg", "pos"]
_COMPARE = ["eq", "ge", "gt", "le", "lt", "ne"]
_OTHER = ["getitem", "setitem"]


def _operators() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in (*_BINARY, *_COMPARE, *_OTHER, *_UNARY):
        known = {"and": "and_", "or": "or_", "invert": "invert"}.get(name, name)
        python = {"bool": bool, "complex": complex, "float": float, "int": int}.get(name)
        yield f"__{name}__", python or getattr(operator, known)
    for name in _BINARY:
        yield f"__i{name}__", getattr(operator, f"i{name}")
        forward = getattr(operator, {"and": "and_", "or": "or_"}.get(name, name))
        yield f"__r{name}__", lambda x, y, forward=forward: forward(y, x)


for _name, _function in _operators():
    setattr(Array, _name, jitted(f"array.{_name}", _function))
for _name in ("T", "mT", "real", "imag"):
    setattr(Array, _name, property(jitted(f"array.{_name}", operator.attrgetter(_name))))


def _namespace(module: types.ModuleType, holder: dict[str, Any]) -> None:
    for name in dir(module):
        value = getattr(module, name, None)
        if name.startswith("__") and name not in _NAMED or name.startswith("_f"):
            continue
        is_function = callable(value) and not isinstance(value, type)
        holder[name] = jitted(f"{module.__name__}.{name}", value) if is_function else value


_NAMED = ("__array_api_version__", "__array_namespace_info__", "__version__")
# From here on, `abs`, `bool` and the like are names of the namespace.
_namespace(np, globals())
for _module in (np.linalg, np.fft):
    _twin = types.ModuleType(f"{__name__}.{_module.__name__.rpartition('.')[2]}")
    _namespace(_module, vars(_twin))
    globals()[_twin.__name__.rpartition(".")[2]] = _twin


# The plugin


def _listen(record: Record) -> None:
    if record.subject == "fallback" and "reason" in record.detail:
        _python[record.name, record.detail["text"]] += 1


recorder.listeners.append(_listen)


def pytest_runtest_teardown(item: Any, nextitem: Any) -> None:
    """Forget what the test has compiled."""
    for made in _compiled.values():
        for known in made.state.known.values():
            _counts["compiled"] += len(known.versions)
            _counts["python"] += known.python
    _compiled.clear()
    recorder.clear()


def pytest_sessionfinish(session: Any) -> None:
    """Write down what was compiled and what ran as Python, and why."""
    folder = os.environ.get("JITTED_NUMPY_REPORT")
    if folder and (_counts or _python):
        reasons = [[*key, count] for key, count in _python.most_common()]
        report = {**_counts, "reasons": reasons}
        (Path(folder) / f"calls-{os.getpid()}.json").write_text(json.dumps(report))
