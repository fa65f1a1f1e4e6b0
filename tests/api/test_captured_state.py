"""What a function reads from outside is never stale, and what it changes outside is never
frozen.
"""

from __future__ import annotations

import functools
import itertools
import random
import time
import types
import warnings

import numpy as np
import pytest
from oracle import agrees, same

from jitwise import JitwiseWarning, jit

SCALE = 2.0
WEIGHTS = np.arange(4.0)
SETTINGS = {"gain": 3.0, "offset": np.ones(4)}
COUNTER = [0]


def helper(x):
    return x + 1


def restored(name, value):
    globals()[name] = value


@pytest.fixture(autouse=True)
def fresh_globals():
    kept = {name: globals()[name] for name in ("SCALE", "WEIGHTS", "helper")}
    yield
    globals().update(kept)
    WEIGHTS[:] = np.arange(4.0)
    SETTINGS.update(gain=3.0, offset=np.ones(4))
    COUNTER[:] = [0]


def test_a_changed_global_number_is_seen():
    f = agrees(lambda x: x * SCALE, np.ones(4))
    restored("SCALE", 5.0)
    agrees(lambda x: x * SCALE, np.ones(4), jitted=f)


def test_a_rebound_and_a_rewritten_global_array_are_seen():
    plain = lambda x: x + WEIGHTS  # noqa: E731
    f = agrees(plain, np.ones(4))
    WEIGHTS[:] = 9
    agrees(plain, np.ones(4), jitted=f)
    restored("WEIGHTS", np.full(4, 7.0))
    agrees(plain, np.ones(4), jitted=f)
    assert f.state.traces == 1
    restored("WEIGHTS", np.full((2, 4), 7.0, np.float32))
    agrees(plain, np.ones(4), jitted=f)


def test_a_redefined_helper_is_seen():
    plain = lambda x: helper(x) * 2  # noqa: E731
    f = agrees(plain, np.ones(4))
    restored("helper", lambda x: x + 100)
    agrees(plain, np.ones(4), jitted=f)


def test_a_changed_closure_cell_and_list_are_seen():
    level, items = 1.0, [1.0, 2.0]

    def plain(x):
        return x * level + items[0] * len(items)

    f = agrees(plain, np.ones(4))
    level = 7.0
    agrees(plain, np.ones(4), jitted=f)
    items[0] = 50.0
    agrees(plain, np.ones(4), jitted=f)
    items.append(3.0)
    agrees(plain, np.ones(4), jitted=f)


def test_a_changed_dict_and_the_arrays_in_it_are_seen():
    plain = lambda x: x * SETTINGS["gain"] + SETTINGS["offset"]  # noqa: E731
    f = agrees(plain, np.ones(4))
    SETTINGS["offset"][0] = 5
    agrees(plain, np.ones(4), jitted=f)
    SETTINGS["gain"] = -1.0
    agrees(plain, np.ones(4), jitted=f)


class Model:
    def __init__(self):
        self.weight = np.arange(4.0)
        self.bias = 1.0

    def apply(self, x):
        return self.scaled(x) + self.bias

    def scaled(self, x):
        return self.weight * x


def test_changed_attributes_of_self_are_seen():
    model = Model()
    f = jit(model.apply)
    x = np.ones(4)
    same(f(x), model.apply(x))
    model.bias = 5.0
    same(f(x), model.apply(x))
    model.weight[0] = 17
    same(f(x), model.apply(x))
    model.weight = np.full(4, 3.0)
    same(f(x), model.apply(x))


class Decorated:
    def __init__(self, scale):
        self.scale = scale

    @jit
    def apply(self, x):
        return x * self.scale


def test_a_decorated_method_serves_every_instance():
    first, second = Decorated(2.0), Decorated(3.0)
    x = np.ones(3)
    same(first.apply(x), x * 2.0)
    same(second.apply(x), x * 3.0)
    first.scale = 9.0
    same(first.apply(x), x * 9.0)
    same(Decorated.apply(second, x), x * 3.0)


def test_partials_and_their_arrays_are_followed():
    weights = np.arange(3.0)
    plain = functools.partial(lambda w, x, scale: w * x * scale, weights, scale=2.0)
    f = agrees(plain, np.ones(3))
    weights[:] = 5
    agrees(plain, np.ones(3), jitted=f)


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_a_mutable_default_is_changed_at_every_call():
    def f(x, acc=[]):  # noqa: B006
        acc.append(1)
        return x + len(acc)

    jitted = jit(f)
    got = [float(jitted(np.float64(0.0))) for _ in range(3)]
    assert got == [1.0, 2.0, 3.0]


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_random_numbers_and_clocks_are_not_frozen():
    draw = jit(lambda x: x + np.random.rand())
    assert draw(1.0) != draw(1.0)
    np.random.seed(0)
    expected = 1.0 + np.random.rand()
    np.random.seed(0)
    assert draw(1.0) == expected
    clock = jit(lambda x: x + time.perf_counter())
    assert clock(0.0) != clock(0.0)
    chance = jit(lambda x: x + random.random())
    assert chance(0.0) != chance(0.0)


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_a_counter_outside_counts_every_call():
    def f(x):
        COUNTER[0] += 1
        return x * COUNTER[0]

    jitted = jit(f)
    assert [float(jitted(np.float64(1.0))) for _ in range(3)] == [1.0, 2.0, 3.0]


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_a_written_global_is_written_at_every_call():
    def f(x):
        global SCALE
        SCALE += 1
        return x * SCALE

    jitted = jit(f)
    assert [float(jitted(np.float64(1.0))) for _ in range(3)] == [3.0, 4.0, 5.0]


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_an_argument_changed_in_place_is_changed():
    def f(x):
        x += 1
        return x

    jitted = jit(f)
    a = np.array([1.0, 2.0])
    result = jitted(a)
    assert result is a
    assert a.tolist() == [2.0, 3.0]


def test_a_list_argument_that_is_changed_is_changed():
    def f(items):
        items.append(1.0)
        return items[0] * 2

    jitted = jit(f)
    items = [3.0]
    with pytest.warns(JitwiseWarning, match="an argument"):
        assert jitted(items) == 6.0
    assert items == [3.0, 1.0]


def test_the_reason_for_running_as_python_names_the_line_once():
    def f(x):
        if x.sum() in (1.0, 3.0):
            return x
        return -x

    jitted = jit(f)
    with pytest.warns(
        JitwiseWarning, match=r"f runs as Python, because .*bool.*test_captured_state.py:\d+"
    ) as said:
        jitted(np.ones(3))
        jitted(np.ones(3))
    assert len(said) == 1
    assert jitted(np.array([-1.0])).tolist() == [1.0]


def test_arrays_changed_right_after_the_call_do_not_change_the_result():
    f = jit(lambda x: np.sum(np.sin(x)))
    for _ in range(5):
        big = np.ones(1_000_000)
        result = f(big)
        big[:] = 0
        assert abs(float(result) - 841470.98) < 0.01


def test_a_large_captured_array_is_neither_copied_nor_compiled_in():
    big = np.random.default_rng(0).random(2_000_000)
    f = jit(lambda x: (np.sin(big) * x).sum())
    assert abs(f(2.0) - (np.sin(big) * 2.0).sum()) < 1e-6
    big[:] = 0
    assert f(2.0) == 0


def test_a_module_of_the_user_is_followed():
    module = types.ModuleType("settings_of_a_user")
    module.__file__ = __file__
    module.level = 2.0
    f = agrees(lambda x: x * module.level, np.ones(2))
    module.level = 3.0
    agrees(lambda x: x * module.level, np.ones(2), jitted=f)


VALUES = [2, 2.5, True, 2j, np.float32(3), np.int64(2), np.arange(4.0), np.arange(4), np.array(2.0),
          np.ones((2, 4))]  # fmt: skip


def in_a_cell():
    held = VALUES[0]

    def scaled_by_a_cell(x):
        return x * held

    def change(value):
        nonlocal held
        held = value

    return scaled_by_a_cell, change


def in_a_global():
    def scaled_by_a_global(x):
        return x * SCALE

    return scaled_by_a_global, functools.partial(restored, "SCALE")


def in_an_attribute():
    class Holder:
        held = VALUES[0]

    holder = Holder()

    def scaled_by_an_attribute(x):
        return x * holder.held

    return scaled_by_an_attribute, lambda value: setattr(holder, "held", value)


def in_a_dict():
    def scaled_by_an_item(x):
        return x * SETTINGS["gain"]

    return scaled_by_an_item, lambda value: SETTINGS.update(gain=value)


def in_a_default():
    def scaled_by_a_default(x, held=VALUES[0]):
        return x * held

    return scaled_by_a_default, lambda value: setattr(scaled_by_a_default, "__defaults__", (value,))


@pytest.mark.parametrize("make", [in_a_cell, in_a_global, in_an_attribute, in_a_dict, in_a_default])
def test_a_captured_value_may_become_one_of_another_kind(make):
    x = np.arange(1.0, 5.0)
    for first, second in itertools.permutations(VALUES, 2):
        function, change = make()
        jitted = jit(function)
        with warnings.catch_warnings():
            warnings.simplefilter("error", JitwiseWarning)
            for value in (first, second, first):
                change(value)
                same(jitted(x), function(x))
