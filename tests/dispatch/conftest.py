"""Programs and functions to dispatch to, without tracing or compiling anything."""

import numpy as np
import pytest

native = pytest.importorskip("jitwise.runtime._native")


def make_program(function, inputs, outputs=(("f64", 1),), symbols=(), dims=(), guards=()):
    """A program whose only work is a call of `function` on its inputs."""
    count = len(inputs)
    slots = [(count + i, *row) for i, row in enumerate(outputs)]
    work = ("host", function, list(range(count)), slots)
    return native.Program(
        "test", list(symbols), list(dims), list(guards), list(inputs), count + len(outputs),
        [work], [slot for slot, *_ in slots],
    )  # fmt: skip


def make_copy_program():
    """x: f64[n] -> a copy of x, without a Python call."""
    return native.Program(
        "copy", [("size", 0, 0)], [], [], [("f64", 1)], 2,
        [("alloc", 1, "f64", [0]), ("copy", 1, 0)], [1],
    )  # fmt: skip


def make_checked_program():
    """x: f64[n] -> x + 1, given up when an element is negative."""
    return native.Program(
        "checked", [], [], [], [("f64", 1)], 3,
        [
            ("host", lambda x: np.bool_((x >= 0).all()), [0], [(1, "bool", 0)]),
            ("check", 1),
            ("host", lambda x: x + 1, [0], [(2, "f64", 1)]),
        ],
        [2],
    )  # fmt: skip


class Calls:
    """A Function that counts how its calls were served; a miss returns ("miss", args, kwargs)."""

    def __init__(self):
        self.missed = []
        self.function = native.Function(self.miss, self.fallback)

    def miss(self, args, kwargs):
        self.missed.append((args, kwargs))
        return ("miss", args, kwargs)

    def fallback(self, *args, **kwargs):
        return ("python", args, kwargs)

    def misses(self, *args, **kwargs):
        """Whether this call is a miss."""
        before = len(self.missed)
        self.function(*args, **kwargs)
        return len(self.missed) == before + 1

    def plain(self, *args, **kwargs):
        """Let calls like this one run as Python."""
        return self.function.add_entry(args, kwargs)


@pytest.fixture
def calls():
    return Calls()


@pytest.fixture
def host_program():
    return make_program


@pytest.fixture
def copy_program():
    return make_copy_program


@pytest.fixture
def checked_program():
    return make_checked_program
