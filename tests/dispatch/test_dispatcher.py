"""The dispatcher tells calls apart exactly when one compiled program could not serve both."""

import collections
import dataclasses
import enum
import gc
import sys
import typing
import weakref

import numpy as np
import pytest

native = pytest.importorskip("jitwise.runtime._native")

Point = collections.namedtuple("Point", "x y")
Other = collections.namedtuple("Other", "x y")


class Longer(Point):
    """A named tuple with a method."""

    def total(self):
        return self.x + self.y


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Mine(np.ndarray):
    pass


@dataclasses.dataclass
class State:
    position: object
    name: str = "a"
    unit: typing.ClassVar[str] = "m"


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    position: object


@dataclasses.dataclass
class Derived(State):
    more: float = 0.0


@dataclasses.dataclass
class Hooked:
    position: object

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


def ones(*shape, dtype=float):
    return np.ones(shape, dtype)


SAME = {
    "lengths": (ones(3), ones(300)),
    "an empty array": (ones(3), ones(0)),
    "lengths of a matrix": (ones(3, 4), ones(7, 2)),
    "strides": (ones(3, 4), ones(8, 12)[::-2, ::3]),
    "alignment": (ones(3), np.zeros(25, np.uint8)[1:].view(float)),
    "a read-only array": (ones(3), np.broadcast_to(1.0, (3,))),
    "long and long long": (ones(3, dtype="l"), ones(3, dtype="q")),
    "floats": (1.0, float("nan")),
    "ints": (1, 10**30),
    "booleans": (True, False),
    "complexes": (1j, 2 + 0j),
    "NumPy numbers": (np.float32(1), np.float32(2)),
    "equal strings": ("ab", "".join(["a", "b"])),
    "equal bytes": (b"ab", bytes([97, 98])),
    "tuples": ((1, ones(2)), (5, ones(3))),
    "lists": ([1.0, [2.0]], [3.0, [4.0]]),
    "dicts": ({"a": 1, 2: ones(2)}, {"a": 9, 2: ones(3)}),
    "dicts with tuple keys": ({("a", 1): 1}, {("a", 1): 2}),
    "named tuples": (Point(1, 2.0), Point(3, 4.0)),
    "classes derived from named tuples": (Longer(1, 2.0), Longer(3, 4.0)),
    "dataclasses": (State(ones(2)), State(ones(3))),
    "slotted dataclasses": (Frozen([1]), Frozen([2])),
    "derived dataclasses": (Derived(1, more=1.0), Derived(2, more=2.0)),
    "the same object": (Colour.RED, Colour.RED),
    "the same function": (len, len),
    "None": (None, None),
    "an array of many axes": (ones(0, *[2] * 29), ones(0, *[2] * 28, 3)),
}


@pytest.mark.parametrize("first, second", SAME.values(), ids=SAME.keys())
def test_calls_that_differ_only_in_what_is_an_input_share_an_entry(calls, first, second):
    calls.plain(first)
    assert not calls.misses(second)
    assert calls.function(second) == ("python", (second,), {})


DIFFERENT = {
    "dtypes": (ones(3), ones(3, dtype="f4")),
    "signed and unsigned": (ones(3, dtype="i4"), ones(3, dtype="u4")),
    "byte orders": (ones(3), ones(3, dtype=">f8")),
    "ranks": (ones(3), ones(3, 3)),
    "array and number": (np.array(1.0), 1.0),
    "array and NumPy number": (np.array(1.0), np.float64(1)),
    "float and NumPy float": (1.0, np.float64(1)),
    "True and 1": (True, 1),
    "1 and 1.0": (1, 1.0),
    "1.0 and 1+0j": (1.0, 1 + 0j),
    "True and NumPy's": (True, np.True_),
    "NumPy numbers": (np.float32(1), np.float64(1)),
    "strings": ("a", "b"),
    "strings of one prefix": ("a", "ab"),
    "strings of other letters": ("abc", "ab\u0107"),
    "string and bytes": ("a", b"a"),
    "None and string": (None, "None"),
    "tuple and list": ((1,), [1]),
    "nesting": ((1, (2, 3)), ((1, 2), 3)),
    "lengths of tuples": ((1,), (1, 2)),
    "empty tuple and None": ((), None),
    "keys": ({"a": 1}, {"b": 1}),
    "key types": ({1: 1}, {True: 1}),
    "key 1 and 1.0": ({1: 1}, {1.0: 1}),
    "key order": ({"a": 1, "b": 1}, {"b": 1, "a": 1}),
    "named tuple and tuple": (Point(1, 2), (1, 2)),
    "named tuple types": (Point(1, 2), Other(1, 2)),
    "named tuple and derived": (Point(1, 2), Longer(1, 2)),
    "dict and subclass": ({"a": 1}, collections.OrderedDict(a=1)),
    "dataclass and tuple": (State(1), (1, "a")),
    "dataclasses of other strings": (State(1), State(1, "b")),
    "dataclasses of other types": (State(1), State(1.0)),
    "dataclass and base": (Derived(1), State(1)),
    "dataclasses with hooks": (Hooked(1), Hooked(1)),
    "members": (Colour.RED, Colour.BLUE),
    "functions": (len, abs),
    "types": (int, float),
    "dtype objects": (np.dtype("f4"), np.dtype("f8")),
    "matrix": (ones(2, 2), np.asmatrix(ones(2, 2))),
    "masked array": (ones(2), np.ma.array([1.0, 2.0])),
    "array subclass": (ones(2), ones(2).view(Mine)),
    "string arrays": (np.array(["a"]), np.array(["ab"])),
}


@pytest.mark.parametrize("first, second", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_calls_that_need_different_programs_are_told_apart(calls, first, second):
    calls.plain(first)
    assert calls.misses(second)
    assert not calls.misses(first)
    calls.plain(second)
    assert not calls.misses(second)


def test_an_array_subclass_is_known_by_identity_and_never_an_input(calls, host_program):
    mine = ones(2).view(Mine)
    program = host_program(lambda x: x, [("f64", 1)])
    with pytest.raises(TypeError, match="rank"):
        calls.function.add_entry((mine,), {}, program, [("leaf", 0)], outputs=("array", 0))
    calls.plain(mine)
    assert not calls.misses(mine)
    assert calls.misses(mine.copy())


def test_a_dataclass_instance_is_its_fields_only_when_it_is_nothing_else(calls):
    state, frozen = State(ones(2)), Frozen((1, State(2.5)))
    assert native.call_leaves((state, frozen)) == [state.position, "a", 1, 2.5, "a"]
    for change in (lambda s: setattr(s, "cache", 1), lambda s: delattr(s, "position")):
        odd = State(1)
        change(odd)
        assert native.call_leaves((odd,)) == [odd]
    cyclic = State(None)
    cyclic.position = cyclic
    assert calls.misses(cyclic)

    def make():
        @dataclasses.dataclass
        class Local:
            x: float

        calls.plain(Local(1.0))
        assert not calls.misses(Local(2.0))
        return weakref.ref(Local)

    watches = [make() for _ in range(20)]
    gc.collect()
    assert [watch() for watch in watches] == [None] * 20


def test_a_class_that_becomes_a_dataclass_is_taken_apart_from_then_on():
    class Late:
        x: float

        def __init__(self, x):
            self.x = x

    class Later(Late):
        pass

    for late in (Late(1.5), Later(2.5)):
        for _ in range(3):
            assert native.call_leaves((late,)) == [late]
    dataclasses.dataclass(init=False)(Late)
    assert native.call_leaves((Late(1.5), Later(2.5))) == [1.5, 2.5]


def test_a_dataclass_at_the_address_of_a_dead_one_has_its_own_fields():
    for count in range(1, 60):
        names = [f"x{count}_{k}" for k in range(count % 3 + 1)]
        kind = dataclasses.make_dataclass("Local", names)
        values = [float(k) for k in range(len(names))]
        assert native.call_leaves((kind(*values),)) == values
        del kind
        gc.collect()


def test_call_styles_are_separate_keys_and_aliases_share_one_program(calls, host_program):
    program = host_program(lambda a, b: a - b, [("f64", 1), ("f64", 1)])
    a, b = ones(3) * 5, ones(3)
    styles = [
        ((a, b), {}, [0, 1]),
        ((a,), {"b": b}, [0, 1]),
        ((), {"a": a, "b": b}, [0, 1]),
        ((), {"b": b, "a": a}, [1, 0]),
    ]
    for args, kwargs, order in styles:
        assert calls.misses(*args, **kwargs)
        calls.function.add_entry(
            args, kwargs, program, [("leaf", k) for k in order], outputs=("array", 0)
        )
    for args, kwargs, _ in styles:
        assert calls.function(*args, **kwargs).tolist() == [4, 4, 4]
    assert [row[2] for row in calls.function.entries()] == [program] * 4
    assert calls.misses(a, c=b)


def test_a_miss_receives_positional_and_keyword_arguments_as_given(calls):
    marker = object()
    kind, args, kwargs = calls.function(1, marker, key=2.5)
    assert (kind, args, kwargs) == ("miss", (1, marker), {"key": 2.5})
    assert args[1] is marker
    assert calls.function() == ("miss", (), {})
    assert calls.function.misses == 2


def test_arguments_nested_too_deep_or_in_a_cycle_are_misses_every_time(calls):
    deep = 1.0
    for _ in range(100):
        deep = [deep]
    cyclic = []
    cyclic += [cyclic, cyclic]
    for value in (deep, cyclic, {"a": cyclic}):
        assert calls.misses(value)
        assert calls.misses(value)
        with pytest.raises(ValueError, match="deep"):
            calls.plain(value)


def test_leaves_are_counted_in_the_order_of_the_tokens():
    x = ones(2)
    leaves = native.call_leaves((x, [1, {"k": 2.5}], None), {"mode": "a", "t": (3j, len)})
    assert leaves[0] is x
    assert leaves[1:] == [1, 2.5, None, "a", 3j, len]


def test_any_leaf_can_be_returned_as_the_object_it_is(calls, host_program):
    program = host_program(lambda x: x, [("f64", 1)])
    x, thing = ones(3), object()
    args = ([x], thing, "text", None)
    recipe = ("tuple", [("leaf", 0), ("leaf", 1), ("leaf", 2), ("leaf", 3)])
    calls.function.add_entry(args, {}, program, [("leaf", 0)], outputs=recipe)
    y = ones(9)
    result = calls.function([y], thing, "text", None)
    assert result[0] is y
    assert result[1:] == (thing, "text", None)


def test_every_kind_of_number_reaches_the_program_as_a_scalar(calls, host_program):
    seen = []

    def look(*values):
        seen.append([(v.shape, str(v.dtype), v.item()) for v in values])
        return values[1]

    dtypes = ["bool", "i64", "f64", "c128", "f32", "u8"]
    program = host_program(look, [(name, 0) for name in dtypes], [("i64", 0)])
    sample = (True, 1, 1.0, 1j, np.float32(1), np.uint8(1))
    calls.function.add_entry(
        sample, {}, program, [("leaf", k) for k in range(6)], outputs=("int", 0)
    )
    result = calls.function(False, -(2**63), -0.5, 2 - 3j, np.float32(0.1), np.uint8(200))
    assert result == -(2**63)
    assert type(result) is int
    assert [kind for _, kind, _ in seen[0]] == [
        "bool", "int64", "float64", "complex128", "float32", "uint8",
    ]  # fmt: skip
    assert [value for *_, value in seen[0]] == [
        False, -(2**63), -0.5, 2 - 3j, float(np.float32(0.1)), 200,
    ]  # fmt: skip


def test_an_int_outside_64_bits_never_reaches_a_program(calls, host_program):
    program = host_program(lambda n: n, [("i64", 0)], [("i64", 0)])
    calls.function.add_entry((1,), {}, program, [("leaf", 0)], outputs=("int", 0))
    assert calls.function(2**63 - 1) == 2**63 - 1
    assert calls.misses(2**63)
    assert calls.misses(-(2**63) - 1)


def test_big_endian_arrays_are_copied_to_native_order_and_unaligned_ones_read_in_place(
    calls, host_program
):
    program = host_program(lambda x: x * 2, [("f64", 1)])
    swapped = np.arange(5, dtype=">f8")
    unaligned = np.zeros(41, np.uint8)[1:].view(float)
    unaligned[:] = range(5)
    for sample in (swapped, ones(2)):
        calls.function.add_entry((sample,), {}, program, [("leaf", 0)], outputs=("array", 0))
    for x in (swapped[::-2], swapped, unaligned, unaligned[::-1]):
        result = calls.function(x)
        assert result.tolist() == (x * 2).tolist()
        assert result.dtype == np.dtype("f8")
    assert swapped.tolist() == [0, 1, 2, 3, 4]
    assert not calls.missed


def test_an_entry_whose_program_expects_another_type_is_refused(calls, host_program):
    program = host_program(lambda x: x, [("f64", 1)])
    for wrong in (ones(3, dtype="f4"), ones(3, 3), 1.0, "text", np.array([None])):
        with pytest.raises(TypeError, match="input 0"):
            calls.function.add_entry((wrong,), {}, program, [("leaf", 0)], outputs=("array", 0))
    for leaves in ([], [("leaf", 0), ("leaf", 0)]):
        with pytest.raises(ValueError, match="inputs"):
            calls.function.add_entry((ones(3),), {}, program, leaves, outputs=("array", 0))
    with pytest.raises(IndexError):
        calls.function.add_entry((ones(3),), {}, program, [("leaf", 1)], outputs=("array", 0))
    with pytest.raises(IndexError):
        calls.function.add_entry((ones(3),), {}, program, [("leaf", 0)], outputs=("array", 1))
    with pytest.raises(ValueError, match="recipe"):
        calls.function.add_entry((ones(3),), {}, program, [("leaf", 0)], outputs=("arrays", 0))
    with pytest.raises(TypeError):
        calls.function.add_entry((ones(3),), {}, "program", [("leaf", 0)], outputs=("array", 0))
    assert calls.function.entries() == []


def test_an_object_with_the_address_of_a_dead_one_is_a_miss(calls):
    class Thing:
        pass

    addresses = set()
    for _ in range(200):
        thing = Thing()
        addresses.add(id(thing))
        assert calls.misses(thing)
        calls.plain(thing)
        assert not calls.misses(thing)
        calls.missed.clear()
        del thing  # its address is free for the next one
    if len(addresses) == 200:
        pytest.skip("the allocator gave no address twice")


def test_entries_do_not_keep_weakly_referable_arguments_alive_and_dead_ones_are_swept(calls):
    class Thing:
        pass

    alive = Thing()
    calls.function.add_entry((alive,), {}, guards=[(alive, "a", "attr", 1, "equal")])
    watch = weakref.ref(alive)
    del alive
    assert watch() is None
    things = [Thing() for _ in range(1000)]
    for thing in things:
        calls.plain(thing)
    assert len(calls.function.entries()) >= 1000
    del things, thing
    numbers = [list(range(n)) for n in range(1500)]
    for number in numbers:
        calls.plain(number)
    assert len(calls.function.entries()) == 1500


def test_opaque_types_are_told_apart_by_type_alone(calls):
    class Thing:
        pass

    calls.function.opaque_types = [Thing]
    assert calls.function.opaque_types == (Thing,)
    calls.plain(Thing())
    assert not calls.misses(Thing())
    assert calls.misses(object())
    with pytest.raises(TypeError):
        calls.function.opaque_types = [1]
    calls.function.opaque_types = ()
    assert calls.misses(Thing())


def test_a_function_binds_as_a_method_and_works_on_the_class(calls, host_program):
    class Model:
        run = calls.function

    model = Model()
    program = host_program(lambda x: x + 1, [("f64", 1)])
    calls.function.add_entry((model, ones(2)), {}, program, [("leaf", 1)], outputs=("array", 0))
    assert model.run(ones(3)).tolist() == [2, 2, 2]
    bound = model.run
    assert bound.__self__ is model
    assert bound.__func__ is calls.function
    assert bound(ones(2)).tolist() == [2, 2]
    assert Model.run is calls.function
    assert Model.run(model, ones(1)).tolist() == [2]
    assert Model().run(ones(3))[0] == "miss"


def test_a_function_has_attributes_a_dict_weak_references_and_a_changeable_type(calls):
    function = calls.function
    function.__name__ = function.__qualname__ = "work"
    assert function.__dict__ == {"__name__": "work", "__qualname__": "work"}
    assert "work" in repr(function)
    assert weakref.ref(function)() is function
    native.Function.answer = lambda self: (self, 42)
    try:
        assert function.answer() == (function, 42)
    finally:
        del native.Function.answer
    assert function.miss == calls.miss
    assert function.fallback == calls.fallback
    with pytest.raises(AttributeError):
        function.miss = None
    with pytest.raises(TypeError):
        native.Function(1, 2)


def test_what_a_program_raises_is_shown_to_failed(host_program):
    shown = []

    def failed(entry, error, args, kwargs):
        shown.append((entry, error, args, kwargs))
        if len(shown) == 2:
            raise LookupError("mine") from error
        return "instead"

    def fail(x):
        raise kinds[-1]

    kinds = [ZeroDivisionError("once")]
    function = native.Function(print, print, failed)
    x = np.ones(2)
    program = host_program(fail, [("f64", 1)])
    entry = function.add_entry((x,), {}, program, [("leaf", 0)], outputs=("array", 0))
    assert function(x) == "instead"
    assert shown[0][0] is entry
    assert shown[0][1] is kinds[0]
    assert shown[0][1].__traceback__ is not None
    assert shown[0][2][0] is x
    assert shown[0][3] == {}
    with pytest.raises(LookupError, match="mine"):
        function(x)
    for kind in (MemoryError, KeyboardInterrupt, SystemExit):
        kinds.append(kind())
        with pytest.raises(kind):
            function(x)
    assert len(shown) == 2


def test_without_failed_a_program_raises_what_it_raises(host_program, calls):
    def fail(x):
        raise ZeroDivisionError("mine")

    x = np.ones(2)
    program = host_program(fail, [("f64", 1)])
    calls.function.add_entry((x,), {}, program, [("leaf", 0)], outputs=("array", 0))
    with pytest.raises(ZeroDivisionError, match="mine"):
        calls.function(x)


def test_after_a_write_to_an_argument_nothing_is_tried_instead():
    """Before it, an argument is as it was, and another way can be tried."""

    def fail(x):
        raise ZeroDivisionError("mine")

    double = ("host", lambda x: x * 2, [0], [(1, "f64", 1)])
    write = ("copy", 0, 1)
    failing = ("host", fail, [0], [(2, "f64", 1)])
    for instructions, is_late in [
        ([double, failing, write], False),
        ([double, write, failing], True),
    ]:
        x = np.ones(2)
        function = native.Function(print, print, lambda *given: "instead")
        program = native.Program("writes", [], [], [], [("f64", 1)], 3, instructions, [2])
        function.add_entry((x,), {}, program, [("leaf", 0)], outputs=("array", 0), written=[0])
        if is_late:
            with pytest.raises(ZeroDivisionError, match="mine"):
                function(x)
        else:
            assert function(x) == "instead"
        assert x[0] == (2 if is_late else 1)


def test_a_function_in_a_cycle_with_its_miss_is_collected():
    class Holder:
        pass

    def build():
        holder = Holder()
        holder.function = native.Function(lambda *a: holder, lambda *a: holder)
        holder.function.add_entry(
            (1,), {}, guards=[({"f": holder.function}, "f", "dict", holder, "is")], name=holder
        )
        holder.function.self = holder.function
        return weakref.ref(holder), weakref.ref(holder.function)

    watches = build()
    gc.collect()
    assert [watch() for watch in watches] == [None, None]


def test_disabled_functions_run_their_fallback(calls, copy_program):
    x = ones(2)
    calls.function.add_entry((x,), {}, copy_program(), [("leaf", 0)], outputs=("array", 0))
    calls.function.disabled = True
    assert calls.function(x, k=1) == ("python", (x, 1)[:1], {"k": 1})
    calls.function.disabled = False
    assert calls.function(x) is not x
    assert native.set_disabled(True) is False
    try:
        assert calls.function(1, k=2) == ("python", (1,), {"k": 2})
    finally:
        assert native.set_disabled(False) is True
    assert isinstance(calls.function(x), np.ndarray)
    assert not calls.missed


def test_a_hit_makes_no_python_call(calls, copy_program):
    w = ones(4)
    scope = {"w": w, "k": 2.0}
    calls.function.add_entry(
        ({"a": [w]}, "text"), {}, copy_program(), [("leaf", 0)],
        guards=[(scope, "k", "dict", 2.0, "equal"), (scope, "w", "dict", w, "is")],
        outputs=("dict", [("y", ("array", 0))]),
    )  # fmt: skip
    events = []
    sys.setprofile(lambda frame, event, arg: events.append((event, arg)))
    try:
        result = calls.function({"a": [w]}, "text")
    finally:
        sys.setprofile(None)
    assert result["y"].tolist() == [1, 1, 1, 1]
    assert [event for event, _ in events if event == "call"] == []


def test_descriptions_name_what_tells_calls_apart(calls):
    text = calls.function.describe((ones(3, 1), 2.0, {"a": (1, None)}), {"mode": "fast"})
    assert text == [
        "call 3 positional, 1 keyword", "array f64[n, n]", "float", "dict of 1", "'a'",
        "tuple of 2", "int", "None", "'mode'", "'fast'",
    ]  # fmt: skip
    calls.plain(ones(2, dtype=">i4"))
    (entry, key, program, hits, gave_up) = calls.function.entries()[0]
    assert key == ["call 1 positional, 0 keyword", "array swapped i32[n]"]
    assert (program, hits, gave_up) == (None, 0, 0)
    calls.function(ones(2, dtype=">i4"))
    assert entry.hits == 1
