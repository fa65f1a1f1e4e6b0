"""Functions that are made anew, with the code of one that was traced before: one trace serves all,
and each gives what it would give as Python.
"""

from __future__ import annotations

import functools
import gc
import types
import weakref

import numpy as np
import pytest
from oracle import same

import jitwise
from jitwise import config, jit, lax
from jitwise.api.remade import MOST_CODES, remade
from jitwise.record import recorder

X = np.linspace(-1.0, 2.0, 5)
SCALE = 3.0


def traces(make, count=6):
    """How many traces are made where `make(turn)` gives a function each turn, whose answers are
    those of Python.
    """
    jitwise.clear_caches()
    before = recorder.counts["trace"]
    for turn in range(count):
        function, *args = make(turn)
        same(jit(function)(*args), function(*args))
    return recorder.counts["trace"] - before


class Model:
    def __init__(self, weight, layer=None):
        self.weight = weight
        self.layer = layer

    def forward(self, x):
        return x * self.weight if self.layer is None else self.layer.forward(x) + self.weight

    def __call__(self, x):
        return x + self.weight


def closure(value):
    return lambda x: x * value


def closure_of_items(items):
    def f(x):
        for item in items:
            x = x + (item if isinstance(item, float) else len(item))
        return x

    return f


def named_anew(name):
    def helper(x):
        return x * len(helper.__name__) if helper.__name__ != "made_1" else x

    helper.__name__ = name
    return helper


def calling(helper):
    def outer(x):
        return helper(x) + helper(x * 2)

    return outer


def with_default(value):
    def f(x, y=value):
        return x + y

    return f


def with_keyword_default(value):
    def f(x, *, y=value):
        return x + y

    return f


def with_attribute(value):
    def f(x):
        return x + f.value

    f.value = value
    return f


def from_list(values):
    return lambda x: x * values[0] + values[-1]


def from_dict(values):
    return lambda x: x * values["a"] + values["b"]


def of_jitted(value):
    inner = jit(lambda x: x * value)
    return lambda x: inner(x) + 1


def recursive():
    def f(x, k=3):
        return x if k == 0 else f(x, k - 1) * 2

    return f


ONE_TRACE = {
    "a lambda": lambda turn: (lambda x: x * SCALE + 1, X),
    "a closure over an equal number": lambda turn: (closure(2.5), X),
    "a closure over another array": lambda turn: (closure(np.arange(5.0) + turn), X),
    "a partial of an equal number": lambda turn: (functools.partial(lambda x, k: x * k, k=2.0), X),
    "a partial of a partial": lambda turn: (
        functools.partial(functools.partial(lambda x, k, m: x * k - m, k=2.0), m=1),
        X,
    ),
    "a method of another object": lambda turn: (Model(np.ones(5) + turn).forward, X),
    "a method of nested objects": lambda turn: (
        Model(np.ones(5) + turn, Model(np.ones(5) * turn)).forward,
        X,
    ),
    "an object that is called": lambda turn: (Model(np.ones(5) + turn), X),
    "a helper made anew": lambda turn: (calling(closure(np.ones(5) + turn)), X),
    "a helper that is an equal partial": lambda turn: (
        calling(functools.partial(lambda k, x: x - k, 2.0)),
        X,
    ),
    "a default": lambda turn: (with_default(np.ones(5) * turn), X),
    "a default by name": lambda turn: (with_keyword_default(np.ones(5) * turn), X),
    "an attribute": lambda turn: (with_attribute(np.ones(5) * turn), X),
    "a list": lambda turn: (from_list([1.5, np.ones(5) * turn, 2.0]), X),
    "a dict": lambda turn: (from_dict({"a": 1.5, "b": np.ones(5) * turn}), X),
    "one that calls itself": lambda turn: (recursive(), X),
}


@pytest.mark.parametrize("name", ONE_TRACE)
def test_one_trace_serves_all(name):
    assert traces(ONE_TRACE[name]) == 1


SEVERAL = {
    "numbers": lambda turn: (closure(turn % 3), X),
    "numbers of other types": lambda turn: (closure((1, 1.0, True)[turn % 3]), X),
    "signs of zero": lambda turn: (closure((0.0, -0.0, 1.0)[turn % 3]), X),
    "dtypes of an array": lambda turn: (closure(np.ones(5, "fib"[turn % 3])), X),
    "kinds": lambda turn: (closure([X, [2.0], (1.0,)][turn % 3]), X),
    "helpers": lambda turn: (calling([closure(2.0), np.abs, with_default(1.0)][turn % 3]), X),
    "functions of a library": lambda turn: (calling([lax.neg, lax.abs, lax.floor][turn % 3]), X),
    "functions that only NumPy calls": lambda turn: (
        calling([np.vectorize(abs), np.vectorize(round), np.vectorize(float)][turn % 3]),
        X,
    ),
    "lengths of a list": lambda turn: (from_list([1.0] * (1 + turn % 3)), X),
    "lengths of a tuple": lambda turn: (closure_of_items((1.0, 2.0, 3.0)[: 1 + turn % 3]), X),
    "lengths of nested tuples": lambda turn: (
        closure_of_items([((1.0,), (1.0, 2.0), ())[turn % 3], 4.0]),
        X,
    ),
    "fields of a partial": lambda turn: (
        functools.partial(
            lambda x, **more: x * sum(more.values()), **dict(zip("abc"[: 1 + turn % 3], (1.0,) * 3))
        ),
        X,
    ),
    "places of a partial": lambda turn: (
        functools.partial(lambda *more: more[-1] * len(more), *[1.0] * (turn % 3)),
        X,
    ),
    "names": lambda turn: (named_anew(f"made_{turn % 3}"), X),
    "keys of a dict": lambda turn: (
        from_dict([{"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}, {"a": 1, "b": 2, "c": 3}][turn % 3]),
        X,
    ),
    "defaults": lambda turn: (with_default(float(turn % 3)), X),
    "classes": lambda turn: (type(f"Made{turn}", (Model,), {})(X).forward, X),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_what_differs_is_seen(name):
    assert traces(SEVERAL[name]) >= 3


def pair(first, second):
    return lambda x: x * (1 if first is second else 2)


@pytest.mark.parametrize("order", [(0, 0, 1), (1, 0, 0), (0, 1, 0)])
def test_one_object_is_not_taken_for_two(order):
    def make(turn):
        one, other = [1.0], [1.0]
        return pair(one, other if order[turn % 3] else one), X

    traces(make)


def writes_to_one(first, second):
    def f(x):
        first[0] = first[0] + x[0]
        return first + second

    return f


def test_arrays_that_are_one_array_or_two():
    for same_array in (False, True, False):
        answers = []
        for function in (lambda f: f, jit):
            a = np.ones(3)
            b = a if same_array else np.ones(3)
            f = function(writes_to_one(a, b))
            answers.append([f(X), f(X), a, b])
        for found, expected in zip(*answers, strict=True):
            same(found, expected)


def test_a_list_that_is_given_back_is_the_functions_own():
    def make():
        kept = [X]
        return kept, jit(lambda x: (kept, x + kept[0]))

    for _ in range(4):
        kept, f = make()
        for _ in range(2):
            assert f(X)[0] is kept


def test_numbers_are_drawn_from_the_functions_own_generator():
    def make(seed):
        rng = np.random.default_rng(seed)
        return lambda x: x + rng.random(5)

    for seed in (1, 2, 2, 3):
        function, plain = jit(make(seed)), make(seed)
        for _ in range(2):
            same(function(X), plain(X))


def test_callbacks_are_the_functions_own():
    def make(seen):
        def f(x):
            jitwise.debug.callback(seen.append, x[0])
            return x

        return jit(f)

    several = [[], [], []]
    for seen in several:
        make(seen)(X)
    assert [len(seen) for seen in several] == [1, 1, 1]


def test_functions_that_numpy_calls_are_the_functions_own():
    def make(k):
        return lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda v: v - k, lambda v: v + k])

    for k in (1.0, 2.0, 2.0):
        same(jit(make(k))(X), make(k)(X))


def test_what_is_changed_later_is_seen():
    made = [closure([1.0, 2.0][k % 2]) for k in range(4)]
    jitted = [jit(each) for each in made]
    for each in jitted:
        each(X)
    for plain, function in zip(made, jitted, strict=True):
        plain.__closure__[0].cell_contents = 7.0
        same(function(X), X * 7.0)
    made[0].__code__ = (lambda value: lambda x: x - value)(0).__code__
    same(jitted[0](X), X - 7.0)
    same(jitted[1](X), X * 7.0)


def test_another_globals_is_another_world():
    code = compile("f = lambda x: x * level", "<made>", "exec").co_consts[0]
    for level in (1.0, 2.0, np.ones(5)):
        namespace = {"level": level}
        same(jit(types.FunctionType(code, namespace))(X), X * level)


def test_other_options_are_another_trace():
    made = [lambda x: x.sum() for _ in range(2)]
    jitwise.clear_caches()
    before = recorder.counts["trace"]
    jit(made[0])(X)
    jit(made[1], fastmath=True)(X)
    assert recorder.counts["trace"] - before == 2


def test_other_settings_are_another_program():
    jitwise.clear_caches()
    before = recorder.counts["trace"]
    for passes in ("fuse", None, "fuse"):
        with config.override(passes=passes):
            jit(closure(1.5))(X)
    assert recorder.counts["trace"] - before == 2


def test_nothing_of_a_function_is_kept_alive():
    class Held(np.ndarray):
        pass

    array = np.ones(1000).view(Held)
    plain = np.asarray(array)
    alive = [weakref.ref(array), weakref.ref(plain.base if plain.base is array else array)]
    function = closure(np.asarray(array))
    alive.append(weakref.ref(function))
    jit(function)(np.ones(1000))
    del function, array, plain
    gc.collect()
    assert [each() for each in alive] == [None] * len(alive)


def test_traces_end_with_their_code():
    jitwise.clear_caches()
    namespace = {}
    exec("def make(k):\n    return lambda x: x * k + 0.125", namespace)
    jit(namespace["make"](2.0))(X)
    assert remade.count() == 1
    namespace.clear()
    gc.collect()
    assert remade.count() == 0


def test_the_number_of_codes_is_bounded():
    jitwise.clear_caches()
    kept = []
    for k in range(3):
        namespace = {}
        exec(f"def make():\n    return lambda x: x * 2.0 + {k}", namespace)
        kept.append(namespace)
        jit(namespace["make"]())(X)
    assert 0 < remade.count() <= MOST_CODES


def test_a_jitted_helper_made_anew():
    jitwise.clear_caches()
    before = recorder.counts["trace"]
    for turn in range(5):
        same(jit(of_jitted(np.ones(5) * turn))(X), X * turn + 1)
    assert recorder.counts["trace"] - before == 1


def test_a_decorator_inside_of_a_function():
    def outer(x, k):
        @jit
        def inner(y):
            return y * k

        return inner(x) + 1

    jitwise.clear_caches()
    before = recorder.counts["trace"]
    for turn in range(5):
        same(outer(X + turn, 2.0), (X + turn) * 2.0 + 1)
    assert recorder.counts["trace"] - before == 1
