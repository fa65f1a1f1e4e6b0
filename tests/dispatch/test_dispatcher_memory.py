"""A call like a remembered one is replayed, with the result it would have had the long way; what a
memo cannot know is looked up again."""

import gc
import random
import sys
import threading
import weakref

import numpy as np
import pytest

from jitwise import jit
from jitwise.runtime import _native


def replays(function):
    return sum(entry.replays for entry, *_ in function.entries())


def replayed(function, *args, **options):
    """Whether this call was replayed; its result is compared with NumPy's."""
    before = replays(function)
    result = function(*args, **options)
    wanted = function.__wrapped__(*args, **options)
    assert type(result) is type(wanted)
    assert np.array_equal(result, wanted)
    if isinstance(wanted, np.ndarray):
        assert result.dtype == wanted.dtype
        assert not any(np.shares_memory(result, a) for a in args if isinstance(a, np.ndarray))
    return replays(function) > before


def add(a, b):
    return a + b


def test_a_call_with_other_arrays_of_the_same_layout_is_replayed():
    function = jit(add)
    function(np.ones(8), np.ones(8))
    for number in range(20):
        assert replayed(function, np.full(8, number), np.arange(8.0)) == (number > 0) or number < 3
    assert replays(function) >= 17


def unaligned(count):
    return np.zeros(8 * count + 1, "u1")[1:].view("f8")


def read_only(count):
    array = np.arange(float(count))
    array.flags.writeable = False
    return array


LAYOUTS = {
    "zero-dimensional": np.array(2.5),
    "one element": np.ones(1),
    "empty": np.ones(0),
    "eight": np.arange(8.0),
    "a chunk and more": np.arange(77.0),
    "strided": np.arange(16.0)[::2],
    "reversed": np.arange(8.0)[::-1],
    "repeated": np.broadcast_to(np.float64(3), (8,)),
    "read-only": read_only(8),
    "unaligned": unaligned(8),
    "big-endian": np.arange(8.0).astype(">f8"),
    "single": np.arange(8, dtype="f4"),
    "integer": np.arange(8),
    "matrix": np.arange(12.0).reshape(3, 4),
    "transposed": np.arange(12.0).reshape(4, 3).T,
    "every other column": np.arange(24.0).reshape(3, 8)[:, ::2],
    "a row": np.arange(4.0).reshape(1, 4),
    "a column": np.arange(3.0).reshape(3, 1),
    "number": 2.0,
    "whole number": 3,
    "truth": True,
    "complex": 1j,
    "scalar": np.float64(4),
}


def test_every_layout_in_every_order_gives_what_numpy_gives():
    pairs = [
        (a, b)
        for a in LAYOUTS
        for b in LAYOUTS
        if isinstance(LAYOUTS[a], np.ndarray) or isinstance(LAYOUTS[b], np.ndarray)
    ]
    chooser = random.Random(7)
    functions = {pair: jit(add) for pair in pairs}
    every = jit(add)
    for pair in chooser.sample(pairs, 120):
        a, b = LAYOUTS[pair[0]], LAYOUTS[pair[1]]
        try:
            a + b
        except ValueError:
            continue
        for function in (functions[pair], functions[pair], functions[pair], every):
            replayed(function, a, b)


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name != "big-endian"])
def test_every_native_layout_is_replayed(name):
    function = jit(lambda a, b: a * 2.0 + b)
    for _ in range(3):
        last = replayed(function, LAYOUTS[name], np.ones(1))
    assert last


def test_sizes_that_follow_from_an_integer_are_those_of_its_value():
    function, array = jit(lambda a, n: a[:n] * n), np.arange(8.0)
    for number in (3, 5, 3, 5, 0, 8):
        for _ in range(5):
            replayed(function, array, number)
    assert replays(function) > 10


def test_a_byte_swapped_array_is_never_replayed():
    function = jit(add)
    assert not any(replayed(function, LAYOUTS["big-endian"], np.ones(8)) for _ in range(5))


def test_an_array_that_is_given_another_shape_or_dtype_is_seen():
    function, array = jit(lambda a: a + a), np.arange(12.0)
    for _ in range(3):
        replayed(function, array)
    for shape in ((3, 4), (4, 3), (12, 1), (1, 12), (12,)):
        array.shape = shape
        for _ in range(3):
            replayed(function, array)
    array.dtype = "i8"
    for _ in range(3):
        replayed(function, array)


def test_what_is_captured_or_guarded_is_looked_up_at_every_call():
    scope = {"np": np, "w": np.ones(8), "k": 2.0}
    exec("def f(x): return x * w + k", scope)
    function, x = jit(scope["f"]), np.arange(8.0)
    for change in ({}, {"k": 3.0}, {"w": np.full(8, 5.0)}, {"w": np.arange(16.0)[::2]}, {"k": 4},
                   {"w": np.ones((2, 8))}, {"w": np.ones(8, "f4")}, {"w": 2.0}):  # fmt: skip
        scope.update(change)
        assert [replayed(function, x) for _ in range(6)][-1]
    scope["f"].__code__ = (lambda x: x - 1).__code__
    replayed(function, x)


def test_layouts_that_alternate_are_all_replayed():
    function = jit(add)
    arrays = [np.ones(8), np.ones((2, 4)), np.ones(8, "f4"), np.ones(16)[::2]]
    for _ in range(20):
        for array in arrays:
            function(array, array)
    for array in arrays:
        assert replayed(function, array, array)


def test_a_bounded_number_of_layouts_is_remembered():
    dtypes = [np.dtype("f8", metadata={"number": number}) for number in range(40)]
    arrays = [np.ones(8, dtype) for dtype in dtypes]
    before = [sys.getrefcount(dtype) for dtype in dtypes]
    function = jit(add)
    for _ in range(100):
        for array in arrays:
            function(array, array)
    after = [sys.getrefcount(dtype) for dtype in dtypes]
    assert 0 < sum(now > count for now, count in zip(after, before, strict=True)) <= 4
    function.clear()
    assert [sys.getrefcount(dtype) for dtype in dtypes] == before


def test_calls_leave_no_references_behind():
    function, x, y = jit(lambda x, tree: x + tree["a"][0]), np.ones(8), np.ones(8)
    tree = {"a": [y, 2.0], "b": (x,)}
    for _ in range(5):
        function(x, tree)
    before = [sys.getrefcount(each) for each in (x, y, x.dtype, tree, None)]
    for _ in range(100):
        assert replayed(function, x, tree)
    after = [sys.getrefcount(each) for each in (x, y, x.dtype, tree, None)]
    assert all(abs(a - b) < 10 for a, b in zip(after, before, strict=True))


def test_dicts_with_other_keys_order_or_types_are_told_apart():
    def difference(tree):
        first, second, *_ = tree.values()
        return first * 2 - second

    function = jit(difference)
    x, y = np.ones(8), np.arange(8.0)
    for _ in range(4):
        replayed(function, {"a": x, "b": y})
    for tree in ({"b": y, "a": x}, {"a": x, "c": y}, {"a": x, "b": y, "c": y}, {"a": y, "b": 2.0},
                 {"a": x, "".join(["", "b"]): y}, {1: x, 2: y}):  # fmt: skip
        for _ in range(3):
            replayed(function, tree)
    # After so many kinds of calls, the next one waits for its memo.
    assert any(replayed(function, {"a": y, "b": x}) for _ in range(100))


def test_a_list_that_grows_is_seen():
    function, items = jit(lambda items: sum(items)), [np.ones(8), np.ones(8)]
    for _ in range(4):
        last = replayed(function, items)
    assert last
    items.append(np.ones(8))
    replayed(function, items)
    replayed(function, tuple(items))


def test_keywords_are_told_apart_by_their_order():
    function, x, y = jit(lambda a, b: a - b), np.ones(8), np.arange(8.0)
    for _ in range(6):
        before = replays(function)
        assert np.array_equal(function(x, b=y), x - y)
        assert np.array_equal(function(b=x, a=y), y - x)
        assert np.array_equal(function(a=x, b=y), x - y)
    assert replays(function) == before + 3
    options = {"a": x, "b": y}
    for _ in range(4):
        assert np.array_equal(function(**options), x - y)


def test_an_entry_that_is_removed_serves_no_more(calls):
    donor, x = jit(lambda a: a + 1), np.ones(8)
    donor(x)
    program = donor.entries()[0][2]
    entry = calls.function.add_entry((x,), {}, program, [("leaf", 0)], outputs=("array", 0))
    for _ in range(4):
        calls.function(x)
    assert entry.replays > 0
    assert calls.function.remove_entry(entry)
    assert calls.misses(x)
    calls.function.add_entry((x,), {}, program, [("leaf", 0)], outputs=("array", 0))
    for _ in range(4):
        calls.function(x)
    calls.plain(x)
    assert calls.function(x).tolist() == [2.0] * 8
    calls.function.clear()
    assert calls.misses(x)


def test_another_object_at_the_place_of_a_dead_one_is_not_taken_for_it():
    function = jit(lambda x, part: part(x))
    for number in range(6):
        part = eval(f"lambda x: x * {number}.0")
        for _ in range(4):
            assert function(np.ones(3), part)[0] == number
        del part


@pytest.mark.parametrize(
    "program",
    [
        lambda x: (x + 1, x * 2),
        lambda x: x.sum(),
        lambda x: (x * x).sum(axis=0) / len(x),
        lambda x: x[1:] - x[:-1],
        lambda x: (x.T + 1).mean(axis=-1),
        lambda x: np.where(x > x.mean(), x, -x),
        lambda x: np.concatenate([x, x * 2]).reshape(-1),
        lambda x: (x - x.max()) / x.std(),
        lambda x: {"a": x + 1, "b": [float(len(x)), (x * 2).sum()]},
    ],
)
def test_programs_of_several_instructions_give_the_same_every_time(program):
    function = jit(program)
    for array in (np.arange(24.0).reshape(6, 4), np.arange(24.0).reshape(4, 6).T, np.ones((1, 1))):
        first = function(array)
        for _ in range(6):
            again = function(array + 0 if array.flags.c_contiguous else array)
            assert str(again) == str(first)
    assert replays(function) > 0


def test_threads_that_replay_at_the_same_time_do_not_disturb_each_other():
    function = jit(lambda a, b: (a + b) * (a - b))
    faults = []

    def work(number):
        for turn in range(60):
            count = (8, 30_000, 200_000)[(turn + number) % 3]
            a, b = np.full(count, float(number)), np.arange(float(count))
            if not np.array_equal(function(a, b), (a + b) * (a - b)):
                faults.append((number, turn))
            if number == 0 and turn % 20 == 7:
                function.clear_cache()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_a_function_that_remembers_itself_is_collected():
    function = jit(lambda x, part: x + 1)
    for _ in range(4):
        function(np.ones(3), function)
    reference = weakref.ref(function)
    del function
    gc.collect()
    assert reference() is None


def test_a_program_that_is_called_from_a_guard_changing_the_table_is_safe(calls):
    donor, x = jit(lambda a: a + 1), np.ones(8)
    donor(x)
    program = donor.entries()[0][2]

    class Odd:
        busy = False

        def __getattr__(self, name):
            if self.busy:
                calls.function.clear()
            return 1

    odd = Odd()
    calls.function.add_entry(
        (x,), {}, program, [("leaf", 0)], guards=[(odd, "k", "attr", 1, "equal")],
        outputs=("array", 0),
    )  # fmt: skip
    for _ in range(4):
        calls.function(x)
    odd.busy = True
    assert calls.function(x).tolist() == [2.0] * 8
    assert calls.misses(x)


def test_host_calls_share_the_memory_of_the_arguments(calls, host_program):
    seen = []

    def look(x):
        seen.append(x.__array_interface__["data"][0])
        return x + 1

    calls.function.add_entry(
        (np.ones(3),), {}, host_program(look, [("f64", 1)]), [("leaf", 0)], outputs=("array", 0)
    )
    x = np.arange(10.0)
    calls.function(x)
    assert seen == [x.__array_interface__["data"][0]]


def test_places_are_looked_up_through_the_arguments(calls):
    donor, x = jit(lambda a, b: a + b), np.ones(8)
    donor(x, x)
    program = donor.entries()[0][2]

    class Box:
        pass

    def boxed(number):
        box = Box()
        box.inner = Box()
        box.inner.w = np.full(8, number)
        box.inner.names = ["a", number]
        return box

    calls.function.opaque_types = [Box]
    entry = calls.function.add_entry(
        (x, boxed(1.0)), {}, program, [("leaf", 0), ("capture", 0)],
        captures=[(0, "w", "place.attr")],
        guards=[
            (0, None, "place.object", Box, "type"), (1, None, "place.length", 2, "equal"),
            (1, 0, "place.item", "a", "equal"), (1, "inner", "leaf.own", None, "absent"),
        ][:3],
        places=[(1, "inner", "leaf.attr"), (0, "names", "place.attr")],
        outputs=("array", 0),
    )  # fmt: skip
    for number in (1.0, 2.0, 3.0, 4.0):
        assert calls.function(x, boxed(number)).tolist() == [1 + number] * 8
    assert entry.replays > 0
    other = boxed(5.0)
    other.inner.names.append("more")
    assert calls.misses(x, other)
    other.inner.names[:] = ["b", 1]
    assert calls.misses(x, other)
    other.inner = other
    assert calls.misses(x, other)
    with pytest.raises(LookupError):
        calls.function.add_entry((x, Box()), {}, program, places=[(1, "inner", "leaf.attr")])
    with pytest.raises(IndexError):
        calls.function.add_entry((x, Box()), {}, program, places=[(7, "inner", "leaf.attr")])
    with pytest.raises(IndexError):
        calls.function.add_entry((x, Box()), {}, program, places=[(0, "inner", "place.attr")])


def test_a_weak_guard_ends_with_its_object(calls):
    class Box:
        pass

    x, box, holder = np.ones(3), Box(), Box()
    holder.part = box
    calls.function.add_entry((x,), {}, guards=[(holder, "part", "attr", box, "weak")])
    assert not calls.misses(x)
    holder.part = Box()
    assert calls.misses(x)
    reference = weakref.ref(box)
    del box
    assert reference() is None
    calls.plain(x)
    assert len(calls.function.entries()) == 1
    assert isinstance(calls.function, _native.Function)
