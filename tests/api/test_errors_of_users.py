"""What a user sees of a fault in his own program: NumPy's exception with NumPy's text and his own
line, at the first call and at any later one; a warning at the line of his call; values that he kept
outside the function are values.
"""

from __future__ import annotations

import collections
import contextvars
import linecache
import operator
import queue
import threading
import traceback
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle import same

import jitwise
from jitwise import jit
from jitwise.trace.tracer import Tracer

pytestmark = pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
MATRIX = np.arange(6.0).reshape(2, 3)
SQUARE = np.eye(3) + 1


def raised(function: Callable[..., Any], *args: Any) -> tuple[type, str, tuple[str, int]]:
    """Type and text of the exception, and the innermost line of this file that raised it."""
    try:
        function(*args)
    except Exception as error:
        lines = traceback.extract_tb(error.__traceback__)
        own = [(line.name, line.lineno) for line in lines if line.filename == __file__]
        return type(error), str(error), own[-1]
    raise AssertionError("nothing was raised")


def through_a_helper(x, y):
    shifted = x * 2
    return helper(shifted, y)


def helper(x, y):
    total = x.sum()
    return x + y + total  # the line that raises


WRONG = {
    "sum": (lambda x, y: x + y, (SQUARE, SQUARE), (SQUARE, MATRIX.T[:2])),
    "helper": (through_a_helper, (SQUARE, SQUARE), (SQUARE, np.ones(4))),
    "product": (lambda x, y: x @ y, (SQUARE, SQUARE), (SQUARE, MATRIX)),
    "dot": (lambda x, y: np.dot(x, y), (SQUARE, SQUARE), (SQUARE, np.ones(2))),
    "concatenate": (lambda x, y: np.concatenate([x, y]), (SQUARE, SQUARE), (SQUARE, np.ones(3))),
    "stack": (lambda x, y: np.stack([x, y]), (SQUARE, SQUARE), (SQUARE, MATRIX)),
    "einsum": (lambda x, y: np.einsum("ij,jk", x, y), (SQUARE, SQUARE), (SQUARE, MATRIX)),
    "where": (lambda x, y: np.where(x > 0, x, y), (SQUARE, SQUARE), (SQUARE, np.ones(2))),
    "reshape": (lambda x: x.reshape(3, 3), (SQUARE,), (MATRIX,)),
    "broadcast": (lambda x: np.broadcast_to(x, (4, 3)), (np.ones(3),), (np.ones(4),)),
    "axis": (lambda x: x.sum(axis=1), (SQUARE,), (np.ones(3),)),
    "transpose": (lambda x: np.transpose(x, (1, 0)), (SQUARE,), (np.ones(3),)),
    "squeeze": (lambda x: np.squeeze(x, 0), (np.ones((1, 3)),), (MATRIX,)),
    "index": (lambda x: x[2], (SQUARE,), (MATRIX,)),
    "indices": (lambda x: x[0, 0], (SQUARE,), (np.ones(3),)),
    "out": (lambda x, y: np.add(x, y, out=np.zeros(3)), (np.ones(3),) * 2, (np.ones(4),) * 2),
    "split": (lambda x: np.split(x, 3), (SQUARE,), (np.ones(4),)),
    "empty": (lambda x: x.max(), (SQUARE,), (np.ones(0),)),
    "type": (lambda x, y: x & y, (np.arange(3), np.arange(3)), (np.ones(3), np.ones(3))),
    "negative": (lambda x: -x, (SQUARE,), (SQUARE > 1,)),
    "power": (lambda x, y: x**y, (np.arange(3),) * 2, (np.arange(3), -np.arange(3))),
    "overflow": (lambda x: x.astype(np.uint8) + 300, (), (SQUARE,)),
    "singular": (lambda x: np.linalg.inv(x), (SQUARE,), (np.zeros((2, 2)),)),
    "quotient": (lambda x, y: x / y, (1.0, 2.0), (1.0, 0.0)),
    "attribute": (lambda x: x.columns, (), (SQUARE,)),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_is_numpys_with_its_text_and_the_users_line(name):
    function, good, bad = WRONG[name]
    expected = raised(function, *bad)
    fresh, used = jit(function), jit(function)
    if good:
        used(*good)
    for jitted in (fresh, used):
        for _ in range(3):
            assert raised(jitted, *bad) == expected
            if good:
                jitted(*good)
    outer = jit(lambda *args: fresh(*args))
    assert raised(outer, *bad) == expected


def test_an_error_of_the_users_own_has_its_text_and_line():
    def function(x):
        if x.shape[0] > 2:
            raise KeyError(f"{x.shape} and {x.sum()}")
        return x

    jitted = jit(function)
    for argument in (SQUARE, np.ones(4)):
        assert raised(jitted, argument) == raised(function, argument)


def test_memory_that_is_not_there_is_said_in_numpys_words():
    column = np.broadcast_to(np.float64(1), (2**24, 1))
    for function in (lambda x: x + x.T, lambda x: np.ones((x.shape[0], x.shape[0]))):
        jitted = jit(function)
        jitted(np.ones((4, 1)))
        for called in (jitted, jit(function)):
            with pytest.raises(MemoryError, match=r"Unable to allocate 2\.00 PiB .* \(16777216, 1"):
                called(column)


def test_a_warning_points_at_the_users_call():
    jitted = jit(lambda x: x if x.sum() in (1.0, 7.0) else -x)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        jitted(SQUARE)
    (warning,) = [each for each in caught if each.category is jitwise.JitwiseWarning]
    assert warning.filename == __file__
    assert "jitted(SQUARE)" in linecache.getline(__file__, warning.lineno)


# Values that the function keeps outside


class Holder:
    """Where values may be kept: on the class, on an instance, in its list, by a descriptor."""

    value: Any = None
    slot: Any

    def __init__(self) -> None:
        self.items: list[Any] = []


class Slots:
    """An object without a dict."""

    __slots__ = ("value",)


class Derived(list):
    """A list of the user's."""


GLOBAL: Any = None


def _keep_global(value: Any) -> None:
    global GLOBAL
    GLOBAL = value


def keepers() -> dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]]:
    """Ways of keeping a value, and of getting it again."""
    items: list[Any] = []
    table: dict[str, Any] = {}
    deque: collections.deque = collections.deque()
    default: Any = collections.defaultdict(list)
    holder, slots, derived = Holder(), Slots(), Derived()
    line: queue.SimpleQueue = queue.SimpleQueue()
    local, namespace, module = threading.local(), types.SimpleNamespace(), types.ModuleType("own")
    variable: contextvars.ContextVar = contextvars.ContextVar("variable")
    objects = np.empty(2, object)
    append = items.append

    def in_a_thread(value: Any) -> None:
        thread = threading.Thread(target=lambda: items.append(value))
        thread.start()
        thread.join()

    return {
        "list": (lambda v: items.append(v), lambda: items[-1]),
        "bound method": (lambda v: append(v), lambda: items[-1]),
        "tuple": (lambda v: items.append((v, 1)), lambda: items[-1][0]),
        "function": (lambda v: items.append(lambda: v), lambda: items[-1]()),
        "generator": (lambda v: items.append(each for each in [v]), lambda: next(items[-1])),
        "map": (lambda v: list(map(items.append, [v])), lambda: items[-1]),
        "thread": (in_a_thread, lambda: items[-1]),
        "dict": (lambda v: table.update(kept=v), lambda: table["kept"]),
        "setitem": (lambda v: operator.setitem(table, "kept", v), lambda: table["kept"]),
        "deque": (lambda v: deque.append(v), lambda: deque[-1]),
        "default": (lambda v: default["kept"].append(v), lambda: default["kept"][-1]),
        "instance": (lambda v: setattr(holder, "value", v), lambda: holder.value),
        "its list": (lambda v: holder.items.append(v), lambda: holder.items[-1]),
        "class": (lambda v: setattr(Holder, "value", v), lambda: Holder.value),
        "slot": (lambda v: setattr(slots, "value", v), lambda: slots.value),
        "derived list": (lambda v: derived.append(v), lambda: derived[-1]),
        "queue": (lambda v: line.put(v), lambda: [line.get() for _ in range(line.qsize())][-1]),
        "thread-local": (lambda v: setattr(local, "value", v), lambda: local.value),
        "namespace": (lambda v: setattr(namespace, "value", v), lambda: namespace.value),
        "module": (lambda v: setattr(module, "value", v), lambda: module.value),
        "context": (lambda v: variable.set(v), lambda: variable.get()),
        "objects": (lambda v: operator.setitem(objects, 0, v), lambda: objects[0]),
        "global": (_keep_global, lambda: GLOBAL),
    }


@pytest.mark.parametrize("name", keepers())
def test_a_value_kept_outside_is_a_value_at_every_call(name):
    keep, get = keepers()[name]
    Holder.value = None

    def function(x):
        keep(x * 2)
        return x + 1

    jitted = jit(function)
    for number in (1.0, 2.0, 5.0):
        argument = np.full(2, number)
        same(jitted(argument), argument + 1)
        same(get() + 1, argument * 2 + 1)


def test_a_value_whose_trace_has_ended_is_refused_with_its_line(monkeypatch):
    """Such a value is not known to reach a user; here the trace itself keeps it."""
    made, initialise = [], Tracer.__init__

    def remember(self, *args):
        initialise(self, *args)
        made.append(self)

    monkeypatch.setattr(Tracer, "__init__", remember)

    def model(x):
        return np.concatenate([x[:1], x[1:]]).sum()  # the line that is named

    jit(model).trace(MATRIX)
    monkeypatch.undo()
    value, line = made[-1], model.__code__.co_firstlineno + 1
    assert not value._trace.active
    for use in (
        lambda: value + 1,
        lambda: np.sin(value),
        lambda: value.sum(),
        lambda: value[()],
        lambda: np.stack([value, value]),
        lambda: value.T,
    ):
        expected = rf"traced in model at .*test_errors_of_users.py:{line} is used .* return it"
        with pytest.raises(jitwise.EscapedTracerError, match=expected):
            use()
