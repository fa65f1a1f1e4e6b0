"""What a function asks of the world, or tells it, happens at each call as in Python: no answer of
the call that was traced is kept.
"""

from __future__ import annotations

import builtins
import datetime
import getpass
import glob
import locale
import logging
import os
import pathlib
import platform
import sys
import threading
import time
import uuid
import warnings
import weakref
from unittest import mock

import numpy as np
import pytest
from oracle import agrees, same

from jitwise import JitwiseWarning, jit
from jitwise.trace import world

X = np.ones(3)
LOGGER = logging.getLogger("a user's program")
INFO = LOGGER.info
WARN = warnings.warn
LIMIT = sys.getrecursionlimit
GLOB = glob.glob
PRINT_OPTIONS = np.get_printoptions
GENFROMTXT, LOADTXT, LOAD = np.genfromtxt, np.loadtxt, np.load
PATH = pathlib.Path
NOW = datetime.datetime.now


class Keeper(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


@pytest.fixture
def logged():
    keeper = Keeper()
    LOGGER.addHandler(keeper)
    LOGGER.setLevel(logging.INFO)
    yield keeper.records
    LOGGER.removeHandler(keeper)


def import_warn(x):
    import warnings

    warnings.warn("from inside", stacklevel=1)
    return x * 2


@pytest.mark.parametrize(
    "tell",
    [
        lambda x: (warnings.warn("by module", stacklevel=1), x * 2)[1],
        lambda x: (WARN("by name", stacklevel=1), x * 2)[1],
        import_warn,
    ],
)
def test_a_warning_of_the_function_is_given_at_each_call(tell):
    jitted, counts = jit(tell), []
    for _ in range(3):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            same(jitted(X), X * 2)
        counts.append(len([each for each in given if each.category is UserWarning]))
    assert counts == [1, 1, 1]


@pytest.mark.parametrize(
    "tell",
    [
        lambda x: (LOGGER.info("by object"), x * 2)[1],
        lambda x: (INFO("by bound method"), x * 2)[1],
        lambda x: (logging.getLogger(LOGGER.name).warning("by name"), x * 2)[1],
        lambda x: (logging.LoggerAdapter(LOGGER).info("adapted"), x * 2)[1],
    ],
)
def test_a_line_for_the_log_is_written_at_each_call(tell, logged):
    jitted = jit(tell)
    with pytest.warns(JitwiseWarning) as said:
        for _ in range(3):
            same(jitted(X), X * 2)
    assert len(logged) == 3
    assert len([each for each in said if each.category is JitwiseWarning]) == 1


def number_in(path, count=[0]):  # noqa: B006
    count[0] += 1
    path.write_text(f"{count[0]} 1\n")


def saved(path, count=[0]):  # noqa: B006
    count[0] += 1
    np.save(path, np.full(3, count[0]))


FILES = {
    "genfromtxt": (lambda path: lambda x: x[:2] * np.genfromtxt(path), number_in),
    "genfromtxt by name": (lambda path: lambda x: x[:2] * GENFROMTXT(path), number_in),
    "loadtxt by name": (lambda path: lambda x: x[:2] * LOADTXT(path), number_in),
    "read_text": (
        lambda path: lambda x: x * len(path.read_text()),
        lambda p: p.open("a").write("a"),
    ),
    "Path by name": (
        lambda p: lambda x: x * len(PATH(str(p)).read_text()),
        lambda p: p.open("a").write("a"),
    ),
    "load": (lambda path: lambda x: x * np.load(f"{path}.npy"), lambda p: saved(f"{p}.npy")),
    "load by name": (lambda path: lambda x: x * LOAD(f"{path}.npy"), lambda p: saved(f"{p}.npy")),
    "glob": (
        lambda p: lambda x: x * len(glob.glob(f"{p}*")),
        lambda p: p.with_name(f"file{time.time_ns()}").touch(),
    ),
    "glob by name": (
        lambda p: lambda x: x * len(GLOB(f"{p}*")),
        lambda p: p.with_name(f"file{time.time_ns()}").touch(),
    ),
    "getsize": (lambda p: lambda x: x * os.path.getsize(p), lambda p: p.open("a").write("a")),
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_in_files_is_read_at_each_call(name, tmp_path):
    make, change = FILES[name]
    path = tmp_path / "file"
    path.write_text("0 1\n")
    np.save(f"{path}.npy", X)
    plain = make(path)
    jitted = jit(plain)
    for _ in range(3):
        same(jitted(X), plain(X))
        change(path)


@pytest.mark.parametrize(
    "plain",
    [
        lambda x: x * sys.getrecursionlimit(),
        lambda x: x * LIMIT(),
        lambda x: x * np.get_printoptions()["precision"],
        lambda x: x * PRINT_OPTIONS()["precision"],
        lambda x: x * LOGGER.getEffectiveLevel(),
        lambda x: x * logging.getLogger(LOGGER.name).level,
        lambda x: x * len(os.environ.get("A_USERS_VARIABLE", "")),
        lambda x: x * threading.active_count(),
    ],
)
def test_settings_of_the_process_are_asked_at_each_call(plain, monkeypatch):
    jitted = jit(plain)
    limit, threads, stop = sys.getrecursionlimit(), [], threading.Event()
    try:
        for turn in range(3):
            same(jitted(X), plain(X))
            sys.setrecursionlimit(limit + turn + 1)
            np.set_printoptions(precision=turn + 3)
            LOGGER.setLevel(turn + 10)
            monkeypatch.setenv("A_USERS_VARIABLE", "a" * turn)
            threads.append(threading.Thread(target=stop.wait))
            threads[-1].start()
    finally:
        stop.set()
        sys.setrecursionlimit(limit)
        np.set_printoptions(precision=8)


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: NOW().microsecond + x,
        lambda x: datetime.datetime.now().microsecond + x,
        lambda x: time.perf_counter_ns() + x,
        lambda x: uuid.uuid4().int % 2**31 + x,
        lambda x: os.urandom(4)[0] * 1e9 + os.urandom(4)[1] * 1e5 + x,
    ],
)
def test_a_clock_answers_anew_at_each_call(ask):
    jitted = jit(ask)
    assert len({float(jitted(0.0)) for _ in range(20)}) > 1


@pytest.mark.parametrize("name", sorted(sys.stdlib_module_names))
def test_every_module_of_the_standard_library_is_pure_or_asks_the_world(name):
    reason = world.reason_of_module(name)
    assert reason in {None, "world", "clock", "random"}
    assert (reason is None) == bool({name, name.lstrip("_")} & world.PURE)


@pytest.mark.parametrize(
    "function",
    [
        getpass.getuser,
        locale.getlocale,
        platform.node,
        os.getcwd,
        time.time,
        open,
        input,
        warnings.warn,
        weakref.ref(Keeper()),
        threading.Lock().acquire,
        np.random.rand,
        np.random.default_rng,
        np.seterr,
        LOGGER.info,
        datetime.datetime.now,
    ],
)
def test_functions_that_ask_the_world_are_known(function):
    assert world.reason_of(function) is not None


@pytest.mark.parametrize(
    "function", [abs, len, "a".join, np.sin, np.mean, np.zeros, sorted, int, float, np.linalg.norm]
)
def test_functions_that_do_not_are_not(function):
    assert world.reason_of(function) is None


def test_constants_of_modules_that_ask_the_world_are_values():
    f = agrees(lambda x: x * sys.float_info.epsilon + sys.maxsize % 7 + logging.INFO, X)
    assert f.state.compiles == 1


def test_a_name_for_a_builtin_is_what_it_is_for():
    measure, kind, identity = len, type, id
    agrees(lambda x: (x * measure(x), kind(x) is np.ndarray), X)
    assert jit(id)(X) == id(X)
    assert jit(lambda x: identity(x))(X) == id(X)
    items = iter([1, 2, 3])
    assert [jit(next)(items) for _ in range(3)] == [1, 2, 3]


def test_a_patched_function_of_a_library_is_seen():
    import math

    for plain, target in (
        (lambda x: np.sin(x), "numpy.sin"),
        (lambda x: np.linalg.norm(x), "numpy.linalg.norm"),
        (lambda x: x * math.sqrt(4.0), "math.sqrt"),
        (lambda x: x * ord("a"), "builtins.ord"),
    ):
        jitted = jit(plain)
        same(jitted(X), plain(X), ulp=2)
        module = target.rsplit(".", 1)[0]
        assert module in ("builtins", "math", "numpy", "numpy.linalg")
        with mock.patch(target, return_value=9):
            same(jitted(X), plain(X))
        same(jitted(X), plain(X), ulp=2)


def test_builtins_that_change_the_world_are_builtins():
    assert all(hasattr(builtins, name) for name in world.CHANGING_BUILTINS)
