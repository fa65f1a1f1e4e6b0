"""One program serves the instances of a class, sees what each of them is now, and keeps none of
them alive."""

import dataclasses
import gc
import warnings
import weakref

import numpy as np
import pytest

from jitwise import jit
from jitwise.errors import JitwiseWarning


class Plain:
    def __init__(self, number=1.0):
        self.weights = np.full(3, number)

    @jit
    def scaled(self, x):
        return x * self.weights


class Slotted:
    __slots__ = ("weights",)

    def __init__(self, number=1.0):
        self.weights = np.full(3, number)

    @jit
    def scaled(self, x):
        return x * self.weights


class SlottedWithReference:
    __slots__ = ("__weakref__", "weights")

    def __init__(self, number=1.0):
        self.weights = np.full(3, number)

    @jit
    def scaled(self, x):
        return x * self.weights


@dataclasses.dataclass
class Record:
    weights: np.ndarray

    @jit
    def scaled(self, x):
        return x * self.weights


class Layer:
    def __init__(self, number, owner):
        self.weights = np.full(3, number)
        self.owner = owner


class Nested:
    """Its parts know it: a cycle through whatever is kept of them."""

    def __init__(self, number=1.0):
        self.layer = Layer(number, self)
        self.layers = [Layer(number, self), Layer(number, self)]
        self.table = {"layer": Layer(number, self)}
        self.pair = (Layer(number, self), 2.0)
        self.act = lambda x: x * self.layer.weights

    @jit
    def scaled(self, x):
        for layer in self.layers:
            x = x * layer.weights
        pair = self.pair
        return self.act(x * self.layer.weights * self.table["layer"].weights) * pair[0].weights


class Alive:
    """Counts instances, of classes that cannot be weakly referenced too."""

    def __init__(self, kind):
        self.kind = kind

    def count(self):
        gc.collect()
        return sum(type(item) is self.kind for item in gc.get_objects())


KINDS = [Plain, Slotted, SlottedWithReference, Record, Nested]


def made(kind, number=1.0):
    return Record(np.full(3, number)) if kind is Record else kind(number)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number_differs", [False, True])
def test_no_instance_is_kept_alive(kind, number_differs):
    alive = Alive(kind)
    before = alive.count()
    for number in range(20):
        item = made(kind, number if number_differs else 1)
        item.scaled(np.ones(3))
        item.scaled(np.ones(3))
        del item
    assert alive.count() == before


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_instances_are_not_kept_alive(kind):
    item = made(kind)
    array = weakref.ref(item.layer.weights if kind is Nested else item.weights)
    item.scaled(np.ones(3))
    item.scaled(np.ones(3))
    del item
    gc.collect()
    assert array() is None


def test_an_instance_given_as_an_argument_is_not_kept_alive():
    scaled = jit(lambda x, item: x * item.weights)
    alive = Alive(Plain)
    before = alive.count()
    for _ in range(20):
        scaled(np.ones(3), Plain())
        scaled(np.ones(3), item=Plain())
    assert alive.count() == before


@pytest.mark.parametrize("kind", KINDS)
def test_one_program_serves_all_instances(kind):
    kind.scaled.clear_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("error", JitwiseWarning)
        results = [made(kind, number).scaled(np.ones(3))[0] for number in (1.0, 2.0, 3.0)]
    power = 6 if kind is Nested else 1
    assert results == [1.0, 2.0**power, 3.0**power]
    programs = [row for row in kind.scaled.entries() if row[2] is not None]
    # Each instance of `Nested` has a function of its own, which is compared by identity.
    assert len(programs) == 1 or kind is Nested


def test_ten_thousand_short_lived_instances_leave_few_entries():
    for kind in (Plain, Slotted, Record):
        kind.scaled.clear_cache()
        for number in range(10_000):
            result = made(kind, number).scaled(np.ones(3))
        assert result[0] == 9999.0
        assert len(kind.scaled.entries()) == 1


def test_entries_of_functions_given_as_arguments_go_with_them():
    apply = jit(lambda x, function: function(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JitwiseWarning)
        functions = [eval(f"lambda x: x * {number}.0") for number in range(3)]
        assert [apply(np.ones(3), function)[0] for function in functions] == [0, 1, 2]
        dead = [weakref.ref(function) for function in functions]
        del functions
        gc.collect()
    assert [reference() for reference in dead] == [None] * 3


class Options:
    def __init__(self, **options):
        self.__dict__.update(options)


def sees_the_change(function, item, change):
    """`function` gives NumPy's value before and after `change(item)`."""
    compiled, x = jit(function), np.arange(3.0)
    for _ in range(3):
        assert np.array_equal(compiled(x, item), function(x, item))
    change(item)
    for _ in range(3):
        assert np.array_equal(compiled(x, item), function(x, item))


def assign(name, value):
    return lambda item: setattr(item, name, value)


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
@pytest.mark.parametrize(
    ("function", "item", "change"),
    [
        (lambda x, o: x * o.k, Options(k=2.0), assign("k", 3.0)),
        (lambda x, o: x * o.k, Options(k=np.float64(2)), assign("k", np.float64(3))),
        (lambda x, o: x * o.k, Options(k=np.ones(3)), assign("k", np.full(3, 7.0))),
        (lambda x, o: x * o.k, Options(k=np.ones(3)), assign("k", 5)),
        (lambda x, o: x * o.t[1], Options(t=(1, 2.0)), assign("t", (1, 3.0))),
        (lambda x, o: x * len(o.t), Options(t=(1, 2.0)), assign("t", (1, 3.0, 4))),
        (lambda x, o: x * o.l[1], Options(l=[1, 2.0]), lambda o: o.l.__setitem__(1, 9)),
        (lambda x, o: x * len(o.l), Options(l=[1, 2.0]), lambda o: o.l.append(9)),
        (lambda x, o: x * o.d["a"], Options(d={"a": 2}), lambda o: o.d.update(a=4)),
        (lambda x, o: x * len(o.d), Options(d={"a": 2}), lambda o: o.d.update(b=4)),
        (lambda x, o: x * o.d["a"], Options(d={"a": 2}), assign("d", {"a": 5})),
        (lambda x, o: x * o.d["a"], Options(d={"a": 2}), assign("d", {"b": 2, "a": 7})),
        (lambda x, o: x * o.s.k, Options(s=Options(k=2)), lambda o: setattr(o.s, "k", 4)),
        (lambda x, o: x * o.s.k, Options(s=Options(k=2)), assign("s", Options(k=8))),
        (lambda x, o: o.f(x), Options(f=np.sin), assign("f", np.cos)),
        (lambda x, o: o.f(x), Options(f=lambda x: x + 1), assign("f", lambda x: x + 2)),
    ],
)
def test_what_a_part_of_an_argument_is_now_is_seen(function, item, change):
    sees_the_change(function, item, change)


class Doubling:
    def __init__(self, k=1.0):
        self.k = k

    def step(self, x):
        return x * self.k


class Tripling(Doubling):
    def step(self, x):
        return x * self.k * 3


@pytest.mark.parametrize("nested", [False, True])
def test_a_method_that_an_instance_hides_and_another_class_are_seen(nested):
    def function(x, item):
        return (item.part if nested else item).step(x)

    compiled, x = jit(function), np.arange(3.0)
    items = [Doubling(), Doubling(), Tripling(), Doubling()]
    items[1].step = lambda x: x - 5
    items += [Doubling()]
    items[-1].__class__ = Tripling
    for _ in range(3):
        for item in items:
            given = Options(part=item) if nested else item
            assert np.array_equal(compiled(x, given), function(x, given))
    items[0].step = lambda x: x - 7
    given = Options(part=items[0]) if nested else items[0]
    assert np.array_equal(compiled(x, given), function(x, given))


A, B = Options(k=2.0), Options(k=3.0)


def compare_arguments(x, a, b):
    return x if a is b else -x


def compare_with_a_global(x, a, b):
    return x if a is A else -x


def read_a_global_and_an_argument(x, a, b):
    return x * a.k + A.k


def compare_a_part(x, a, b):
    return x if Options.favourite is a else -x


def look_up_in_a_list(x, a, b):
    return x if a.__class__ is b.__class__ and a in [b] else -x


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
@pytest.mark.parametrize(
    "function",
    [
        compare_arguments,
        compare_with_a_global,
        read_a_global_and_an_argument,
        compare_a_part,
        look_up_in_a_list,
    ],
)
def test_who_is_who_among_instances_is_seen(function):
    Options.favourite = B
    Options.__eq__ = lambda a, b: a is b
    try:
        compiled, x = jit(function), np.arange(1.0, 4.0)
        for _ in range(2):
            for a, b in [(A, B), (B, A), (A, A), (Options(k=2.0), A), (B, B), (A, Options(k=9))]:
                assert np.array_equal(compiled(x, a, b), function(x, a, b))
    finally:
        del Options.favourite, Options.__eq__


class Chain:
    def __init__(self, k):
        self.k = k

    @jit
    def inner(self, x):
        return x * self.k

    @jit
    def outer(self, x):
        return self.inner(x) + 1


def test_a_jitted_method_called_by_another_is_part_of_its_program():
    with warnings.catch_warnings():
        warnings.simplefilter("error", JitwiseWarning)
        assert Chain(2.0).outer(np.ones(3)).tolist() == [3, 3, 3]
    assert Chain.outer.entries()[0][2] is not None
