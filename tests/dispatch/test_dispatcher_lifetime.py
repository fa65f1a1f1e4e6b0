"""Whatever happens during a call - re-entry, removal, errors, other threads - nothing is freed too
early and nothing is leaked."""

import contextlib
import gc
import sys
import threading

import numpy as np
import pytest

native = pytest.importorskip("jitwise.runtime._native")

ONE = [("f64", 1)]
TWO = [("f64", 1), ("f64", 1)]


def ones(*shape, dtype=float):
    return np.ones(shape, dtype)


class Box:
    pass


def test_a_miss_may_call_the_function_add_entries_and_clear_them(calls, host_program):
    program = host_program(lambda x: x + 1, ONE)

    def miss(args, kwargs):
        (x,) = args
        function.add_entry(args, kwargs, program, [("leaf", 0)], outputs=("array", 0))
        result = function(x)
        function.clear()
        function.add_entry(args, kwargs, program, [("leaf", 0)], outputs=("array", 0))
        return result

    function = native.Function(miss, calls.fallback)
    assert function(ones(3)).tolist() == [2, 2, 2]
    assert function(ones(5)).tolist() == [2] * 5
    assert function.misses == 1


def test_entries_removed_and_lists_emptied_during_the_run_stay_alive_for_it(calls, host_program):
    data = [ones(3)]
    scope = {"w": ones(3)}

    def work(x, w):
        calls.function.clear()
        data.clear()
        scope.clear()
        gc.collect()
        noise = [np.full(3, 9.0) for _ in range(50)]
        assert noise
        return x + w

    calls.function.add_entry(
        (data,), {}, host_program(work, TWO), [("leaf", 0), ("capture", 0)],
        captures=[(scope, "w", "dict")], outputs=("tuple", [("array", 0), ("leaf", 0)]),
    )  # fmt: skip
    del work
    result, leaf = calls.function(data)
    assert result.tolist() == [2, 2, 2]
    assert leaf.tolist() == [1, 1, 1]
    assert calls.function.entries() == []


def test_endless_recursion_through_miss_or_fallback_is_a_recursion_error():
    function = native.Function(lambda args, kwargs: function(*args), lambda *args: function(*args))
    with pytest.raises(RecursionError):
        function(1)
    function.add_entry((1,), {})
    with pytest.raises(RecursionError):
        function(1)


def test_calls_of_every_outcome_leave_no_references_behind(calls, host_program, checked_program):
    def fail(x):
        raise ValueError("no")

    scope = {"w": ones(3), "k": (1, 2.5)}
    x, text, swapped = ones(3), "text" * 10, ones(3, dtype=">f8")
    add = calls.function.add_entry
    add(
        (x, text), {}, checked_program(), [("leaf", 0)],
        guards=[(scope, "k", "dict", (1, 2.5), "equal")],
        outputs=("list", [("array", 0), ("leaf", 1)]),
    )  # fmt: skip
    add(
        ([x, x],), {"key": scope["w"]}, host_program(lambda a, b: a, TWO),
        [("leaf", 1), ("capture", 0)], captures=[(scope, "w", "dict")], outputs=("array", 0),
    )  # fmt: skip
    add((swapped,), {}, host_program(fail, ONE), [("leaf", 0)], outputs=("array", 0))
    add(
        (x, 1.0), {}, host_program(lambda a: a, ONE), [("leaf", 0)],
        outputs=("tuple", [("array", 0), ("call", fail, [("array", 0)])]),
    )  # fmt: skip

    negative, pair = -x, [x, x]

    def work():
        calls.function(x, text)
        calls.function(negative, text)
        calls.function(pair, key=x)
        calls.function(pair, other=x)
        for args in [(swapped,), (x, 1.0)]:
            with contextlib.suppress(ValueError):
                calls.function(*args)
        calls.missed.clear()

    watched = [x, text, swapped, negative, pair, scope, scope["w"], scope["k"], calls.function,
               calls.function.miss, calls.function.fallback, None, np.dtype("f8")]  # fmt: skip
    work()
    gc.collect()
    before = [sys.getrefcount(thing) for thing in watched]
    blocks = sys.getallocatedblocks()
    for _ in range(500):
        work()
    gc.collect()
    after = [sys.getrefcount(thing) for thing in watched]
    assert max(abs(b - a) for a, b in zip(before, after)) < 20
    assert sys.getallocatedblocks() - blocks < 300


def test_refused_and_replaced_entries_leave_no_references_behind(calls, host_program):
    program, x, marker = host_program(lambda x: x, ONE), ones(3), Box()
    scope = {"k": marker}

    def work():
        with pytest.raises(IndexError):
            calls.function.add_entry(
                ([x], marker), {}, program, [("leaf", 0)], captures=[(x, None, "object")],
                guards=[(scope, "k", "dict", marker, "is")],
                outputs=("dict", [("a", ("const", marker)), ("b", ("array", 7))]),
            )  # fmt: skip
        entry = calls.function.add_entry(
            ([x], marker), {}, program, [("leaf", 0)], captures=[(x, None, "object")],
            guards=[(scope, "k", "dict", marker, "is")], outputs=("const", marker), name=marker,
        )  # fmt: skip
        calls.function([x], marker)
        calls.function.entries()
        calls.function.remove_entry(entry)

    work()
    watched = [program, x, marker, scope]
    before = [sys.getrefcount(thing) for thing in watched]
    for _ in range(100):
        work()
    assert [sys.getrefcount(thing) for thing in watched] == before


def test_eight_threads_call_while_others_add_remove_and_clear(calls, host_program):
    program = host_program(lambda x, w: x + w, TWO)
    scope = {"w": ones(4)}
    stop = threading.Event()
    wrong = []

    def install():
        return calls.function.add_entry(
            ([ones(2)],), {}, program, [("leaf", 0), ("capture", 0)],
            captures=[(scope, "w", "dict")], outputs=("array", 0),
        )  # fmt: skip

    def call():
        x = [np.arange(4.0)]
        for _ in range(3000):
            result = calls.function(x)
            if isinstance(result, np.ndarray) and result.tolist() != [1, 2, 3, 4]:
                wrong.append(result)

    def change():
        while not stop.is_set():
            entry = install()
            install()
            calls.function.remove_entry(entry)
            scope["w"] = ones(4)
            calls.function.entries()
            calls.function.clear()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    changers = [threading.Thread(target=change) for _ in range(2)]
    callers = [threading.Thread(target=call) for _ in range(8)]
    try:
        for thread in changers + callers:
            thread.start()
        for thread in callers:
            thread.join()
    finally:
        stop.set()
        sys.setswitchinterval(interval)
    for thread in changers:
        thread.join()
    assert wrong == []
