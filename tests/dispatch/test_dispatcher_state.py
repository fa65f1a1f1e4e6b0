"""An entry serves a call only while all it depends on is as it was, and gives back what its recipe
says."""

import dataclasses
import sys
import types

import numpy as np
import pytest

native = pytest.importorskip("jitwise.runtime._native")

ONE = [("f64", 1)]
TWO = [("f64", 1), ("f64", 1)]


def ones(*shape, dtype=float):
    return np.ones(shape, dtype)


def cell_of(value):
    return types.CellType(value)


class Box:
    pass


def add_captured(calls, host_program, container, key, how):
    program = host_program(lambda x, w: x + w, TWO)
    calls.function.add_entry(
        (ones(3),), {}, program, [("leaf", 0), ("capture", 0)],
        captures=[(container, key, how)], outputs=("array", 0),
    )  # fmt: skip


def test_a_captured_global_is_read_at_every_call(calls, host_program):
    scope = {"w": ones(3)}
    add_captured(calls, host_program, scope, "w", "dict")
    assert calls.function(ones(3)).tolist() == [2, 2, 2]
    scope["w"][:] = 5
    assert calls.function(ones(3)).tolist() == [6, 6, 6]
    scope["w"] = np.arange(4.0)
    assert calls.function(ones(4)).tolist() == [1, 2, 3, 4]
    for other in (ones(3, dtype="f4"), ones(3, 3), "text", 1.0, ones(3).view(np.matrix)):
        scope["w"] = other
        assert calls.misses(ones(3))
    scope["w"] = ones(3)
    assert not calls.misses(ones(3))
    del scope["w"]
    assert calls.misses(ones(3))


def test_a_captured_cell_attribute_item_or_array_is_read_at_every_call(calls, host_program):
    w = ones(3)
    cell, box, items = cell_of(w), Box(), [0, w]
    box.w = w
    for container, key, how in [
        (cell, None, "cell"), (box, "w", "attr"), (items, 1, "item"), (w, None, "object"),
    ]:  # fmt: skip
        calls.function.clear()
        add_captured(calls, host_program, container, key, how)
        w[:] = 1
        assert calls.function(ones(3)).tolist() == [2, 2, 2]
        w[:] = 2
        assert calls.function(ones(3)).tolist() == [3, 3, 3]
    calls.function.clear()
    add_captured(calls, host_program, box, "w", "attr")
    box.w = np.arange(3.0)
    assert calls.function(ones(3)).tolist() == [1, 2, 3]
    del box.w
    assert calls.misses(ones(3))
    calls.function.clear()
    add_captured(calls, host_program, cell, None, "cell")
    del cell.cell_contents
    assert calls.misses(ones(3))
    calls.function.clear()
    add_captured(calls, host_program, items, 1, "item")
    items.pop()
    assert calls.misses(ones(3))


def test_a_captured_number_keeps_its_kind(calls, host_program):
    scope = {"k": 2}
    program = host_program(lambda x, k: x * k, [("f64", 1), ("i64", 0)])
    calls.function.add_entry(
        (ones(2),), {}, program, [("leaf", 0), ("capture", 0)],
        captures=[(scope, "k", "dict")], outputs=("array", 0),
    )  # fmt: skip
    assert calls.function(ones(2)).tolist() == [2, 2]
    scope["k"] = 7
    assert calls.function(ones(2)).tolist() == [7, 7]
    for other in (7.0, True, 2**70, np.int64(7), None):
        scope["k"] = other
        assert calls.misses(ones(2))


def test_a_capture_that_cannot_be_an_input_is_refused(calls, host_program):
    for container, key, how, error in [
        ({}, "w", "dict", LookupError), ({"w": "text"}, "w", "dict", TypeError),
        (Box(), "w", "attr", LookupError), ([1], "w", "dict", TypeError),
        ({"w": 1}, "w", "nowhere", ValueError), ({"w": 1.0}, "w", "dict", TypeError),
    ]:  # fmt: skip
        with pytest.raises(error):
            add_captured(calls, host_program, container, key, how)
    assert calls.function.entries() == []


@pytest.mark.parametrize("how", ["dict", "attr", "cell", "item"])
def test_a_guard_holds_while_its_value_is_the_same(calls, how):
    box = Box()
    holders = {"dict": box.__dict__, "attr": box, "cell": cell_of(2), "item": [2]}
    holder = holders[how]

    def put(value):
        if how == "cell":
            holder.cell_contents = value
        elif how == "item":
            holder[0] = value
        else:
            box.k = value

    put(2)
    key = 0 if how == "item" else "k"
    calls.function.add_entry((1,), {}, guards=[(holder, key, how, 2, "equal")])
    for _ in range(3):
        assert not calls.misses(1)
        for other in (3, 2.0, True, "2", None, np.int64(2), [2]):
            put(other)
            assert calls.misses(1)
        put(int("2"))


NAN = float("nan")
EQUAL = [
    (1, int("1")), (10**40, 10**40 + 0), (NAN, -NAN), (0.0, float("0")), ("ab", "".join("ab")),
    (b"ab", bytes([97, 98])), (True, True), (None, None), ((1, (2.0, "x")), (1, (2.0, "x"))),
    (complex(0, NAN), complex(0, NAN)), (np.float32(2), np.float32(2)),
    (np.float64(NAN), np.float64(NAN)),
]  # fmt: skip
UNEQUAL = [
    (1, 2), (1, 1.0), (1, True), (0.0, -0.0), (NAN, 1.0), ("a", "b"), ("a", b"a"), (None, 0),
    ((1, 2), (1, 2.0)), ((1,), (1, 1)), ((0.0,), (-0.0,)), ((1,), [1]), (0j, complex(0, -0.0)),
    (np.float32(2), np.float64(2)), (np.float32(2), np.float32(3)),
    (np.float64(0), np.float64(-0.0)), (1.0, np.float64(1)),
]  # fmt: skip


@pytest.mark.parametrize("holds, pairs", [(True, EQUAL), (False, UNEQUAL)])
def test_equality_is_of_type_and_value_with_nan_equal_to_itself_and_signed_zeros_apart(
    calls, holds, pairs
):
    for expected, actual in pairs:
        calls.function.clear()
        scope = {"k": actual}
        calls.function.add_entry((1,), {}, guards=[(scope, "k", "dict", expected, "equal")])
        assert calls.misses(1) is not holds, (expected, actual)


def test_guards_by_identity_absence_length_and_argument_value(calls):
    helper, scope, items = (lambda: 1), {}, [1, 2]
    scope["helper"] = helper
    calls.function.add_entry(
        (3, "a"), {},
        guards=[
            (scope, "helper", "dict", helper, "is"), (scope, "abs", "dict", None, "absent"),
            (items, None, "length", 2, "equal"), (0, None, "leaf", 3, "equal"),
            (None, 1, "leaf", "a", "equal"), ({"a": 5}, "a", "item", 5, "equal"),
        ],
    )  # fmt: skip
    assert not calls.misses(3, "a")
    assert calls.misses(4, "a")
    scope["abs"] = abs
    assert calls.misses(3, "a")
    del scope["abs"]
    items.append(3)
    assert calls.misses(3, "a")
    items.pop()
    assert not calls.misses(3, "a")
    scope["helper"] = lambda: 1
    assert calls.misses(3, "a")


def test_guards_that_could_run_python_code_or_make_no_sense_are_refused(calls):
    for guard, error in [
        (({}, "k", "dict", [1], "equal"), TypeError),
        (({}, "k", "dict", ones(2), "equal"), TypeError),
        (({}, "k", "dict", (1, [2]), "equal"), TypeError),
        (({}, "k", "dict", 1, "like"), ValueError),
        ((1, "k", "dict", 1, "is"), TypeError), ((5, None, "leaf", 1, "is"), IndexError),
        (({}, "k", "dict"), TypeError), ("guard", TypeError),
    ]:  # fmt: skip
        with pytest.raises(error):
            calls.function.add_entry((1,), {}, guards=[guard])
    assert calls.function.entries() == []


def test_an_attribute_that_raises_is_a_miss_but_an_interrupt_is_not_swallowed(calls):
    class Odd:
        error = None

        @property
        def k(self):
            if self.error is not None:
                raise self.error
            return 1

    odd = Odd()
    calls.function.add_entry((1,), {}, guards=[(odd, "k", "attr", 1, "equal")])
    assert not calls.misses(1)
    odd.error = ValueError("no")
    assert calls.misses(1)
    odd.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        calls.function(1)


def test_entries_of_one_signature_are_tried_in_order_until_one_fits(calls, host_program):
    def sized(size, order):
        # Program that holds for one length only: symbol 0, constant 1, difference 2.
        return host_program(
            lambda x: x * order, ONE, symbols=[("size", 0, 0)],
            dims=[("const", size), ("sub", 0, 1)], guards=[("eq", 2)],
        )  # fmt: skip

    def add(program, **more):
        return calls.function.add_entry(
            (ones(2),), {}, program, [("leaf", 0)], outputs=("array", 0), **more
        )

    entries = [add(sized(n, n)) for n in range(2, 10)]
    assert [calls.function(ones(n))[0] for n in (2, 9, 5, 5, 3)] == [2, 9, 5, 5, 3]
    assert calls.misses(ones(10))
    calls.plain(ones(2))
    assert calls.function(ones(10))[0] == "python"
    assert calls.function(ones(2))[0] == 2
    late = add(sized(10, 10))  # behind the entry that runs Python, which would take every call
    assert calls.function(ones(10))[0] == 10
    add(sized(10, -10), front=True)
    for _ in range(3):
        assert calls.function(ones(10))[0] == -10
    assert [entry.hits for entry in [*entries, late]] == [2, 1, 0, 2, 0, 0, 0, 1, 1]
    assert calls.function.remove_entry(entries[0]) is True
    assert calls.function.remove_entry(entries[0]) is False
    assert calls.function(ones(2))[0] == "python"
    assert len(calls.function.entries()) == 10
    with pytest.raises(TypeError):
        calls.function.remove_entry("entry")


def test_a_program_that_gives_up_leaves_the_call_to_the_next_entry_and_the_last_to_miss(
    calls, checked_program, host_program
):
    def add(program):
        calls.function.add_entry(
            (ones(3),), {"k": 1.0}, program, [("leaf", 0)], outputs=("array", 0)
        )

    add(checked_program())
    assert calls.function(ones(3), k=2.0).tolist() == [2, 2, 2]
    x = -ones(3)
    assert calls.function(x, k=2.0) == ("miss", (x,), {"k": 2.0})
    [(_, _, _, hits, gave_up)] = calls.function.entries()
    assert (hits, gave_up) == (1, 1)
    calls.plain(x, k=1.0)
    assert calls.function(x, k=2.0) == ("python", (x,), {"k": 2.0})
    add(host_program(lambda x: x - 1, ONE))
    assert calls.function(x, k=2.0).tolist() == [-2, -2, -2]
    assert calls.function(ones(3), k=2.0).tolist() == [2, 2, 2]


def test_matches_tells_whether_an_entry_would_serve_without_running_it(calls, host_program):
    ran = []
    scope = {"w": ones(3), "k": 1}
    program = host_program(
        lambda x, w: ran.append(x) or x, TWO, symbols=[("size", 0, 0), ("size", 1, 0)],
        dims=[("sub", 0, 1)], guards=[("eq", 2)],
    )  # fmt: skip
    calls.function.add_entry(
        (), {"x": ones(3)}, program, [("leaf", 0), ("capture", 0)],
        captures=[(scope, "w", "dict")], guards=[(scope, "k", "dict", 1, "equal")],
        outputs=("array", 0),
    )  # fmt: skip
    matches = calls.function.matches
    assert matches(x=ones(3))
    assert not matches(x=ones(4))
    assert not matches(ones(3))
    assert not matches(x=1.0)
    scope["k"] = 2
    assert not matches(x=ones(3))
    scope.update(k=1, w=ones(3, dtype="f4"))
    assert not matches(x=ones(3))
    scope["w"] = ones(4)
    assert matches(x=ones(4))
    calls.plain(1)
    assert matches(2)
    assert ran == []
    assert not calls.missed


def test_errors_of_program_miss_fallback_and_result_pass_through(calls, host_program):
    def fail(*args):
        raise ZeroDivisionError("here")

    calls.function.add_entry(
        (ones(3),), {}, host_program(fail, ONE), [("leaf", 0)], outputs=("array", 0)
    )
    good = host_program(lambda x: x, ONE)
    calls.function.add_entry(
        (ones(3), 1), {}, good, [("leaf", 0)], outputs=("call", fail, [("array", 0)])
    )
    for args in [(ones(3),), (ones(3), 1)]:
        with pytest.raises(ZeroDivisionError, match="here"):
            calls.function(*args)
    function = native.Function(fail, fail)
    function.add_entry((1,), {})
    for args in [(1,), (1.0,)]:
        with pytest.raises(ZeroDivisionError, match="here"):
            function(*args)


def test_results_take_the_shape_their_recipe_says(calls, host_program):
    outputs = [("f64", 1), ("f64", 0), ("i64", 0), ("bool", 0), ("c128", 0)]
    program = host_program(
        lambda x: (x, x.sum(), np.int64(x.size), np.bool_(True), np.complex128(2j)), ONE, outputs
    )
    marker = object()
    recipe = (
        "dict",
        [
            ("a", ("tuple", [("array", 0), ("array", 0), ("array", 1)])),
            (3, ("list", [("scalar", 1), ("float", 1), ("scalar", 2), ("int", 2), ("bool", 3)])),
            ("c", ("complex", 4)), ("m", ("const", marker)), ("x", ("leaf", 0)),
            ("s", ("call", slice, [("int", 2), ("const", None)])), ("e", ("tuple", [])),
            ("f", ("float", 2)), ("b", ("scalar", 3)),
        ],
    )  # fmt: skip
    calls.function.add_entry((ones(3),), {}, program, [("leaf", 0)], outputs=recipe)
    x = np.arange(4.0)
    result = calls.function(x)
    assert list(result) == ["a", 3, "c", "m", "x", "s", "e", "f", "b"]
    first, second, third = result["a"]
    assert first is second
    assert first.tolist() == x.tolist()
    assert type(third) is np.ndarray
    assert third.shape == ()
    assert third == 6
    assert [type(v) for v in result[3]] == [np.float64, float, np.int64, int, bool]
    assert result[3] == [6.0, 6.0, 4, 4, True]
    assert result["c"] == 2j
    assert type(result["c"]) is complex
    assert result["m"] is marker
    assert result["x"] is x
    assert result["s"] == slice(4, None)
    assert (result["e"], result["f"], type(result["f"])) == ((), 4.0, float)
    assert type(result["b"]) is np.bool_


@dataclasses.dataclass
class Held:
    position: object
    weight: float


def test_containers_of_the_call_are_given_back(calls, host_program):
    def added(argument, *, keyword):
        paths = [("argument", 0, ()), ("argument", 0, ("a", 1)), ("argument", 1, (0, "position"))]
        calls.function.add_entry(
            (argument,), {"keyword": keyword}, host_program(lambda x: x, ONE), [("leaf", 0)],
            outputs=("list", [("array", 0), *paths]),
        )  # fmt: skip

    def call():
        return {"a": [np.arange(3.0), {"b": 1.0}]}, [Held([2.0], 3.0)]

    first, second = call()
    added(first, keyword=second)
    for _ in range(5):  # also of a call like the one before
        first, second = call()
        before = [sys.getrefcount(each) for each in (first, second[0].position)]
        result = calls.function(first, keyword=second)
        assert result[0].tolist() == [0, 1, 2]
        assert [result[1] is first, result[2] is first["a"][1]] == [True, True]
        assert result[3] is second[0].position
        del result
        assert [sys.getrefcount(each) for each in (first, second[0].position)] == before
    for recipe in [("argument", 2, ()), ("argument", -1, ()), ("argument", 0), ("argument", 0, 0)]:
        with pytest.raises((IndexError, TypeError)):
            calls.function.add_entry(
                (ones(3), 1.0), {}, host_program(lambda x: x, ONE), [("leaf", 0)], outputs=recipe
            )


def test_an_array_that_is_written_must_be_writable_native_and_share_no_memory(calls, host_program):
    def work(x, w):
        return x + w

    scope = {"w": ones(3)}
    for sample in (ones(3), ones(3, dtype=">f8")):
        calls.function.add_entry(
            (sample,), {}, host_program(work, TWO), [("leaf", 0), ("capture", 0)],
            captures=[(scope, "w", "dict")], outputs=("array", 0), written=[0],
        )  # fmt: skip
    assert calls.function(ones(3)).tolist() == [2, 2, 2]
    frozen = ones(3)
    frozen.flags.writeable = False
    memory = ones(5)
    scope["w"] = memory[2:]
    for x in (frozen, ones(3, dtype=">f8"), memory[:3], np.lib.stride_tricks.as_strided(
        ones(1), (3,), (0,), writeable=True
    )):  # fmt: skip
        assert calls.function(x)[0] == "miss"
        assert not calls.function.matches(x)
    scope["w"] = memory[3:][::-1]
    assert isinstance(calls.function(memory[:2]), np.ndarray)
