"""Faults of jitwise: wherever it fails, the function's answer comes all the same, and the user is
told once whose fault it is.

A failure is put into each layer in turn. Where faults are verified (`JITWISE_VERIFY`) they are
raised instead, so that tests see them.
"""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from oracle import same

import jitwise.llvm.compile
import jitwise.llvm.emit
import jitwise.runtime.executable
import jitwise.runtime.host_call
import jitwise.runtime.kernels
import jitwise.trace.numpy.statistics
from jitwise import JitwiseBug, JitwiseWarning, config, jit
from jitwise.api.state import State
from jitwise.passes.fuse import Fuse
from jitwise.passes.simplify import Simplify
from jitwise.record import recorder
from jitwise.runtime._native import Fault
from jitwise.runtime.host_call import HostCall
from jitwise.runtime.lower import Lowering

pytestmark = pytest.mark.faults
A = np.arange(24.0).reshape(2, 3, 4)


def program(a):
    mean = a.mean(axis=(0, 2), keepdims=True)
    return (a - mean) * 2.5, mean


def raises(error):
    def fail(*args, **kwargs):
        raise error

    return fail


def wrong_shapes(self, slot, value, role, layout):
    """A lowering that forgets to drop the reduced axes: the machine refuses its program."""
    return self._ordered(slot, layout) if role == "vector" else slot


@pytest.fixture(autouse=True)
def fresh():
    """No kernel is there already."""
    jitwise.runtime.kernels.clear()
    jitwise.llvm.compile.clear()


PLACES = [
    (Simplify, "run", "compiling it"),
    (Fuse, "run", "compiling it"),
    (jitwise.runtime.kernels, "layout_of", "compiling it"),
    (jitwise.runtime.kernels, "build_kernel", "compiling it"),
    (jitwise.llvm.compile, "emit_kernels", "compiling it"),
    (jitwise.runtime.kernels, "native_kernel", "compiling it"),
    (Lowering, "run", "compiling it"),
    (jitwise.runtime.executable, "native_program", "compiling it"),
]
ERRORS = [RuntimeError("no such shape"), AssertionError(), KeyError("x"), ValueError("parse")]


def told_once(jitted, *arguments, doing):
    """Calls give NumPy's answer, twice; one warning names jitwise, the function and its line."""
    expected = jitted.__wrapped__(*arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            given = [np.array(each) for each in arguments]
            same(jitted(*given), expected)
            same(given, list(arguments))
    texts = [str(each.message) for each in caught if each.category is JitwiseWarning]
    assert len(texts) == 1, texts
    line = inspect.getsourcelines(jitted.__wrapped__)[1]
    for part in (jitted.__name__, f"{__file__}:{line}", doing, "a fault of jitwise", "report it"):
        assert part in texts[0]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(("owner", "name", "doing"), PLACES)
def test_a_failure_while_compiling_is_said_once_and_python_answers(
    monkeypatch, owner, name, doing, error
):
    count = recorder.counts["bug"]
    monkeypatch.setattr(owner, name, raises(error))
    with config.override(verify=0):
        told_once(jit(program), A, doing=doing)
    assert recorder.counts["bug"] == count + 1
    assert type(error).__name__ in recorder.records("bug")[-1].detail["text"]


@pytest.mark.parametrize(("owner", "name", "doing"), PLACES)
def test_where_faults_are_verified_they_are_raised(monkeypatch, owner, name, doing):
    monkeypatch.setattr(owner, name, raises(KeyError("x")))
    with config.override(verify=1), pytest.raises(JitwiseBug, match=doing) as caught:
        jit(program)(A)
    cause = caught.value.__cause__
    assert type(cause) is KeyError or type(cause.__cause__) is KeyError


@pytest.mark.parametrize(("owner", "name", "doing"), PLACES)
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_want_of_memory_and_interrupts_pass_through(monkeypatch, owner, name, doing, error):
    jitted = jit(program)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, raises(error))
        for verify in (0, 1):
            with config.override(verify=verify), pytest.raises(error):
                jitted(A)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(jitted(A), program(A))
    assert jitted.entries()[0][2] is not None, "it is compiled at the next call"


def test_a_failure_while_tracing_is_judged_by_python(monkeypatch):
    monkeypatch.setattr(jitwise.trace.numpy.statistics, "divided", None)  # TypeError
    with config.override(verify=0):
        told_once(jit(program), A, doing="tracing it")
    with config.override(verify=1), pytest.raises(JitwiseBug, match="tracing it"):
        jit(program)(A)


@pytest.mark.parametrize("name", ["canonical", "_install", "_flattened_alike", "_is_bounded"])
def test_a_failure_of_the_front_is_no_error_of_the_caller(monkeypatch, name):
    monkeypatch.setattr(State, name, raises(KeyError("x")))
    with config.override(verify=0):
        told_once(jit(program), A, doing="preparing it")
    with config.override(verify=1), pytest.raises(JitwiseBug, match="preparing it"):
        jit(program)(A)


# The run


def largest(z):
    return np.max(z * 2, axis=1) + 1


Z = (A - 7j * A[::-1]).reshape(6, 4)


def test_a_program_the_machine_refuses_is_never_run_again(monkeypatch):
    monkeypatch.setattr(Lowering, "_laid_out", wrong_shapes)
    with config.override(verify=0):
        jitted = jit(program)
        told_once(jitted, A, doing="running it")
        assert [entry[2] for entry in jitted.entries()] == [None]
        same(jitted(a=A), program(A))
    with config.override(verify=1), pytest.raises(JitwiseBug, match="running it") as caught:
        jit(program)(A)
    assert type(caught.value.__cause__) is Fault


def test_a_refused_program_is_dropped_for_every_style_of_call(monkeypatch):
    jitted = jit(program)
    monkeypatch.setattr(Lowering, "_laid_out", wrong_shapes)
    with config.override(verify=0), pytest.warns(JitwiseWarning, match="running it"):
        same(jitted(a=A), program(A))
        same(jitted(A), program(A))
        same(jitted(a=A), program(A))
    assert {entry[2] for entry in jitted.entries()} == {None}


def test_a_program_that_would_write_to_an_argument_has_not_when_it_is_refused(monkeypatch):
    def assigned(a):
        mean = a.mean(axis=(0, 2), keepdims=True)
        a[...] = a - mean
        return mean

    monkeypatch.setattr(Lowering, "_laid_out", wrong_shapes)
    with config.override(verify=0), pytest.warns(JitwiseWarning, match="running it"):
        given, expected = A.copy(), A.copy()
        same(jit(assigned)(given), assigned(expected))
        same(given, expected)


def test_a_failure_of_our_own_host_call_is_a_fault(monkeypatch):
    monkeypatch.setattr(jitwise.runtime.host_call, "reporting", None)
    with config.override(verify=0):
        told_once(jit(largest), Z, doing="running it")
    with config.override(verify=1), pytest.raises(JitwiseBug, match="running it"):
        jit(largest)(Z)


def test_what_numpy_raises_too_is_no_fault(monkeypatch):
    jitted = jit(largest)
    same(jitted(Z), largest(Z))
    monkeypatch.setattr(jitwise.runtime.host_call, "reporting", None)
    monkeypatch.setattr(jitted.state, "function", raises(TypeError("NumPy's words")))
    count = recorder.counts["bug"]
    for _ in range(2):
        with pytest.raises(TypeError, match="NumPy's words"):
            jitted(Z)
    assert recorder.counts["bug"] == count
    assert jitted.entries()[0][2] is not None, "the program stays"


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, ZeroDivisionError, RuntimeError])
def test_what_a_users_callable_raises_passes_through(monkeypatch, error):
    monkeypatch.setattr(HostCall, "__call__", raises(error("mine")))
    jitted = jit(largest)
    count = recorder.counts["bug"]
    for verify in (0, 1):
        with config.override(verify=verify), pytest.raises(error, match="mine"):
            jitted(Z)
    assert recorder.counts["bug"] == count


# Stages, which have nothing to run instead


def test_stages_raise_the_fault(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Fuse, "run", raises(KeyError("x")))
        with pytest.raises(JitwiseBug, match="compiling it"):
            jit(program).lower(A)
    monkeypatch.setattr(Lowering, "_laid_out", wrong_shapes)
    compiled = jit(program).lower(A).compile()
    with pytest.raises(JitwiseBug, match="running it"):
        compiled(A)


# Arguments that nothing can be compiled for


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_arguments_nested_without_end_run_as_python():
    deep: list = [1.0]
    for _ in range(40):
        deep = [deep]
    endless: list = [1.0]
    endless.append(endless)
    jitted = jit(lambda x, items: x + len(items))
    count = recorder.counts["bug"]
    for items in (deep, endless):
        same(jitted(A, items), A + len(items))
    assert recorder.counts["bug"] == count
