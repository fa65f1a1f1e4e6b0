"""Objects that a function reads from outside: whatever of them changes between two calls is seen,
and what the function changes of them is changed as in Python.
"""

from __future__ import annotations

import abc
import collections
import numbers
import sys
import types
import weakref

import numpy as np
import pytest
from oracle import agrees, same

from jitwise import JitwiseWarning, jit

X = np.ones(3)
LEVEL = 1.0


class Plain:
    pass


class Other:
    pass


class Joined(abc.ABC):  # noqa: B024
    pass


class Second(abc.ABC):  # noqa: B024
    pass


class Meta(type):
    @property
    def level(cls):
        return LEVEL


class WithMeta(metaclass=Meta):
    pass


def raised_level():
    global LEVEL
    LEVEL += 1


def structured():
    rows = np.zeros(3, [("a", float), ("b", int)])

    def change():
        rows["a"][0] += 5

    return {
        "a field": (lambda x: x * rows["a"], change),
        "an item of a field": (lambda x: x * rows["a"][0], change),
        "a field of an item": (lambda x: x * rows[0]["a"], change),
        "a record array": (lambda x: x * rows.view(np.recarray).a, change),
    }


def dicts():
    table = {"a": 1.0, "b": 2.0}
    proxy, keys, values, items = (
        types.MappingProxyType(table),
        table.keys(),
        table.values(),
        table.items(),
    )

    def change():
        table["a"] += 1
        table[f"c{len(table)}"] = 1.0

    def reorder():
        first = next(iter(table))
        table[first] = table.pop(first)

    return {
        "an item of a proxy": (lambda x: x * proxy["a"], change),
        "get of a proxy": (lambda x: x * proxy.get("a"), change),
        "the length of a proxy": (lambda x: x * len(proxy), change),
        "the length of keys": (lambda x: x * len(keys), change),
        "the sum of values": (lambda x: x * sum(values), change),
        "a list of items": (lambda x: (x, list(items)), change),
        "the first key": (lambda x: (x, next(iter(table))), reorder),
        "all keys": (lambda x: (x, list(table)), reorder),
        "values in order": (lambda x: (x, list(table.values())), reorder),
        "a copy": (lambda x: (x, dict(table)), reorder),
        "an unpacked dict": (lambda x: (x, {**table}), reorder),
    }


def references():
    item = Plain()
    item.level = 1.0
    reference, proxy = weakref.ref(item), weakref.proxy(item)
    by_name = weakref.WeakValueDictionary(item=item)

    def change():
        item.level += 1

    return {
        "a weak reference": (lambda x: x * reference().level, change),
        "a weak proxy": (lambda x: x * proxy.level, change),
        "a weak dictionary": (lambda x: x * by_name["item"].level, change),
        "sys.modules": (lambda x: x * sys.modules[__name__].LEVEL, raised_level),
        "a property of a metaclass": (lambda x: x * WithMeta.level, raised_level),
    }


def classes():
    item, registered = Plain(), Plain()
    turn = iter((Other, Plain, Other))
    joining = iter((Plain, Other))

    def change():
        item.__class__ = next(turn)

    return {
        "isinstance": (lambda x: x * isinstance(item, Other), change),
        "type": (lambda x: x * (type(item) is Other), change),
        "__class__": (lambda x: x * (item.__class__ is Other), change),
        "a registered class": (
            lambda x: x * isinstance(registered, Joined),
            lambda: Joined.register(next(joining, Plain)),
        ),
        "a registered class among others": (
            lambda x: x * isinstance(registered, (int, Second)),
            lambda: Second.register(Plain),
        ),
        "a class registered as a number": (
            lambda x: x * isinstance(registered, numbers.Complex),
            lambda: numbers.Complex.register(Plain),
        ),
    }


def functions():
    def helper():
        return 1.0

    def change():
        helper.level = getattr(helper, "level", 0.0) + 1

    frozen = frozenset([helper])
    return {
        "an attribute of a function": (lambda x: x * getattr(helper, "level", 7.0), change),
        "hasattr of a function": (lambda x: x * hasattr(helper, "level"), change),
        "what a frozenset holds": (lambda x: x * sum(each.level for each in frozen), change),
    }


CASES = [
    (kind, name) for kind in (structured, dicts, references, classes, functions) for name in kind()
]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_change_is_seen(kind, name):
    plain, change = kind()[name]
    jitted = jit(plain)
    if name != "what a frozenset holds":
        same(jitted(X), plain(X))
    for _ in range(2):
        change()
        same(jitted(X), plain(X))


def test_keys_of_a_dict_are_told_by_type():
    for first, second in ((1, True), (1, 1.0), (0.0, -0.0), ("a", "b")):
        table = {first: "x"}
        jitted = jit(lambda x, table=table: (x, [repr(key) for key in table]))
        assert jitted(2.0)[1] == [repr(first)]
        table.clear()
        table[second] = "x"
        assert jitted(2.0)[1] == [repr(second)]
        argument = jit(lambda table: [repr(key) for key in table])
        assert argument({first: X}) == [repr(first)]
        assert argument({second: X}) == [repr(second)]


class Counter:
    count = 0

    @classmethod
    def next(cls):
        cls.count += 1
        return cls.count


def test_what_the_function_counts_is_counted():
    def own(x):
        own.count = getattr(own, "count", 0) + 1
        return x * own.count

    @jit
    def decorated(x):
        decorated.count = getattr(decorated, "count", 0) + 1
        return x * decorated.count

    def helper():
        helper.count = getattr(helper, "count", 0) + 1
        return helper.count

    def by_class(x):
        Counter.count += 1
        return x * Counter.count

    def numbers_in_turn():
        count = 0
        while True:
            count += 1
            yield count

    turns, sent = numbers_in_turn(), numbers_in_turn()
    for jitted in (
        jit(own),
        decorated,
        jit(lambda x: x * helper()),
        jit(lambda x: x * next(turns)),
        jit(lambda x: x * sent.send(None)),
    ):
        assert [jitted(X)[0] for _ in range(3)] == [1, 2, 3]
    assert (own.count, decorated.count, helper.count) == (3, 3, 3)
    Counter.count = 0
    jitted = jit(by_class)
    assert [jitted(X)[0] for _ in range(3)] == [1, 2, 3]
    jitted = jit(lambda x: x * Counter.next())
    assert [jitted(X)[0] for _ in range(3)] == [4, 5, 6]


def test_what_the_function_stores_is_the_value_and_no_tracer():
    module = types.ModuleType("a_users_module")
    kept, cells = collections.deque(), np.empty(1, object)

    def helper():
        pass

    def store_in_module(x):
        module.value = x.sum()
        return x

    def store_in_deque(x):
        kept.append(x.sum())
        return x

    def store_in_array(x):
        cells[0] = x.sum()
        return x

    def store_in_function(x):
        helper.value = x.sum()
        return x

    def delete_from_module(x):
        del module.value
        return x

    for function in (store_in_module, store_in_deque, store_in_array, store_in_function):
        jitted = jit(function)
        with pytest.warns(JitwiseWarning):
            jitted(X)
        jitted(X * 5)
    assert list(kept) == [3.0, 15.0]
    assert (module.value, cells[0], helper.value) == (15.0, 15.0, 15.0)
    jit(delete_from_module)(X)
    assert not hasattr(module, "value")


def test_attributes_of_a_jitted_function_are_seen():
    @jit
    def inner(x):
        return x + 1

    outer = agrees(lambda x: inner(x) * getattr(inner, "scale", 1.0), X)
    inner.scale = 4.0
    same(outer(X), X * 8)
    inner.scale = 5.0
    same(outer(X), X * 10)


def test_functions_with_attributes_are_still_compiled():
    def helper(x):
        return x * helper.weights + helper.level

    helper.weights, helper.level = np.arange(3.0), 2.0
    jitted = agrees(lambda x: helper(x), X)
    helper.weights = np.arange(3.0) * 4
    same(jitted(X), helper(X))
    assert jitted.state.traces == 1
    helper.level = 3.0
    same(jitted(X), helper(X))
    assert jitted.state.compiles == 2
