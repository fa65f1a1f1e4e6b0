"""Which results of a call are objects of the caller, and whose memory they lie in: the same for
every call, whether NumPy had to warn, arguments overlapped, or another jitted function called it.

Arrays are fresh and in C order, but for arguments that the function has changed. Containers of the
caller's are themselves.
"""

from __future__ import annotations

import copy
import dataclasses
import os
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitwise import JitwiseWarning, eval_shape, jit

EXAMPLES = int(os.environ.get("PROGRAM_EXAMPLES", "200"))
LAYOUTS = {
    "C": lambda x: x.copy(),
    "F": np.asfortranarray,
    "strided": lambda x: np.repeat(np.repeat(x, 2, 0), 2, 1)[::2, ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
}


def quietly(function: Any, *args: Any, is_native: bool = False) -> Any:
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("ignore")
        if is_native:
            warnings.simplefilter("error", JitwiseWarning)
        return function(*args)


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass
class Fields:
    w: Any
    n: Any = 2.0


@dataclasses.dataclass(eq=False, repr=False)
class Bare:
    w: Any


# Whose the results of compiled functions are


def written(x):
    x += 1
    return x


KEPT = (7.0, "label")
RESULTS = {
    "argument": lambda x, y, q: x,
    "part": lambda x, y, q: (x[1:], y.T),
    "twice": lambda x, y, q: (x, x, y[0], y[0]),
    "made and its part": lambda x, y, q: (lambda z: [z, z[0], z.T])(x * 2),
    "computed of the transpose": lambda x, y, q: x.T + 1,
    "reshaped": lambda x, y, q: x.reshape(-1),
    "changed": lambda x, y, q: written(x),
    "changed, its part, and another": lambda x, y, q: (written(x), x[0], y, x),
    "of a dict": lambda x, y, q: {"x": x, "sum": x + y, "number": x[0, 0]},
    "of a dataclass": lambda x, y, q: Bare(Bare(y[1:])),
    "of a namedtuple": lambda x, y, q: Pair(x[:, 1], [y]),
    "an argument that is a list": lambda x, y, q: (q, q[0], q[1]["y"]),
    "parts of an argument": lambda x, y, q: [q[1], q[2], q[3].w],
    "a constant": lambda x, y, q: (KEPT, x[0]),
}


def picture(result: Any, given: list[Any]) -> Any:
    """A result with arrays replaced by what they are to what was given, and to each other."""
    arrays: list[Any] = []
    objects: list[Any] = list(given)
    for each in objects:
        inner = {dict: dict.values, list: iter, tuple: iter, Pair: iter}.get(type(each))
        fields = vars(each).values() if dataclasses.is_dataclass(each) else ()
        objects += inner(each) if inner else fields

    def shown(item: Any) -> Any:
        for place, other in enumerate(objects):
            if item is other and isinstance(item, (np.ndarray, list, dict, tuple, Fields, Bare)):
                return f"object {place}"
        if isinstance(item, np.ndarray):
            given_arrays = [each for each in objects if isinstance(each, np.ndarray)]
            shares = [np.shares_memory(item, other) for other in given_arrays]
            same = [item is other for other in arrays]
            apart = [not np.shares_memory(item, each) for each in arrays if item is not each]
            arrays.append(item)
            return shares, same, apart, item.flags.forc, item.shape
        if isinstance(item, dict):
            return {key: shown(each) for key, each in item.items()}
        if isinstance(item, (list, tuple)):
            return type(item).__name__, [shown(each) for each in item]
        if dataclasses.is_dataclass(item):
            return type(item).__name__, shown(vars(item))
        return type(item)

    return shown(result)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", RESULTS)
def test_results_are_whose_they_are_whether_numpy_warns_or_not(name, layout):
    results, turned = RESULTS[name], LAYOUTS[layout]

    def function(x, y, q, b):
        return results(x, y, q), 1 / b

    def arguments(b):
        x, y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)[:2, :3]
        x, y = turned(x), turned(y)
        q = [turned(x + 1), {"y": turned(x)}, (turned(x),), Fields(turned(x))]
        return x, y, q, np.full(3, b)

    jitted = jit(function)
    warned, shown, values = [], [], []
    for b in (1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0):
        given = arguments(b)
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
            warnings.simplefilter("always")
            found = jitted(*given)
        warned.append([each.category for each in caught])
        shown.append(picture(found, list(given)))
        values.append(told(found[0], {}) == told(function(*arguments(1.0))[0], {}))
    assert warned == [[RuntimeWarning] if b == 0 else [] for b in (1, 0, 0, 2, 0, 0, 0)]
    assert shown == shown[:1] * len(shown)
    assert all(values)
    with np.errstate(all="print", divide="call"), np.errstate(call=lambda *_: None):
        given = arguments(0.0)
        assert picture(jitted(*given), list(given)) == shown[0]


def test_results_are_fresh_where_only_some_calls_are_compiled():
    @jit(control_flow=False)
    def function(x, b, count):
        for _ in range(count):
            b = b / 1
        return x[1:], 1 / b

    x = np.ones(3)
    for count in range(12):
        quietly(function, x, np.ones(2), count)
    assert [known.python for known in function.state.known.values()] == [True]
    for _ in range(5):
        assert not np.shares_memory(quietly(function, x, np.zeros(2), 1)[0], x)


OVERLAPS = {
    "part": lambda x, y: (x.__iadd__(y), y[:1])[1],
    "both": lambda x, y: [x.__iadd__(y), x[0], y * 2],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OVERLAPS)
def test_results_are_fresh_where_arguments_overlap(name):
    function = OVERLAPS[name]
    jitted = jit(function)
    for _ in range(2):
        for parts in (lambda a: (a[1:], a[:-1]), lambda a: (a[1:], a[1:].copy())):
            ours, theirs = np.arange(12.0).reshape(4, 3), np.arange(12.0).reshape(4, 3)
            given = parts(ours)
            found, expected = jitted(*given), function(*parts(theirs))
            for one, other in zip([*found], [*expected], strict=True):
                np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(ours, theirs)
            results = found if isinstance(found, list) else [found]
            for each in results:
                assert any(each is one for one in given) or not np.shares_memory(each, ours)


# Jitted functions called by others


def half(p):
    p += 1
    return p


def changed_part(p):
    part = p[1:]
    part *= 2
    return part


INNERS = {
    "transpose": lambda p: p.T,
    "itself": lambda p: p,
    "part": lambda p: p[1:],
    "reshaped": lambda p: p.reshape(-1),
    "several": lambda p: [p, p[0], {"p": p[1:]}][0],
    "changed": half,
    "a changed part": changed_part,
    "with a warning": lambda p: (p.T, 1 / (p - p))[0],
    "changed with a warning": lambda p: (half(p), 1 / (p - p))[0],
}


class Holder:
    @jit
    def method(self, p):
        return p.T


@pytest.mark.parametrize("name", [*INNERS, "method"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_jitted_function_gives_is_the_same_to_every_caller(name, layout):
    h = Holder().method if name == "method" else jit(INNERS[name])

    def outer(c, b):
        found = h(c)
        before = found * 1
        found[0] = 70
        c += 1
        return before, found * 1, 1 / b

    def changing(c, b):
        d = c * 2
        found = h(d)
        found += 5
        return d, found * 1, 1 / b

    for function in (outer, changing):
        compiled, shown = jit(function), []
        for caller in (function, compiled, compiled, jit(function)):
            for b in (1.0, 0.0):
                c = LAYOUTS[layout](np.arange(6.0).reshape(2, 3))
                found = quietly(caller, c, np.full(2, b), is_native=name != "reshaped")
                shown.append([np.asarray(each).tolist() for each in (*found[:2], c)])
        assert shown == shown[:1] * len(shown)


# Containers of the caller's

BOX = {"l": [np.arange(3.0), 2.0], "n": 3}
LEAF = st.sampled_from(["w", "v", "n"])
ROUTE = st.sampled_from(
    [
        ("p",),
        ("p", "in"),
        ("p", "list"),
        ("p", "tuple"),
        ("p", "fields"),
        ("p", "bare"),
        ("q",),
        ("q", 1),
        ("box",),
        ("box", "l"),
    ]
)
STEP = st.one_of(
    st.tuples(st.just("add"), ROUTE, st.integers(0, 3)),
    st.tuples(st.just("set"), ROUTE, st.integers(0, 3)),
    st.tuples(st.just("again"), ROUTE, st.integers(0, 3)),
    st.tuples(st.just("number"), ROUTE, st.integers(0, 3)),
    st.tuples(st.just("new"), ROUTE, st.integers(0, 3)),
    st.tuples(st.just("remove"), ROUTE, st.integers(0, 3)),
)
RARE = st.integers(0, 9)


def reached(names: dict[str, Any], route: tuple) -> Any:
    found = names[route[0]]
    for key in route[1:]:
        found = found[key]
    return found


def keys_of(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return list(item)
    if isinstance(item, (list, tuple)):
        return list(range(len(item)))
    return ["w", "n"] if hasattr(item, "n") else ["w"]


def get(item: Any, key: Any) -> Any:
    return item[key] if isinstance(item, (dict, list, tuple)) else getattr(item, key)


def put(item: Any, key: Any, value: Any) -> None:
    if isinstance(item, (dict, list)):
        item[key] = value
    elif not isinstance(item, tuple):
        setattr(item, key, value)


def step(item: Any, word: str, number: int, x: Any) -> None:
    keys = keys_of(item)
    key = keys[number % len(keys)] if keys else None
    value = None if key is None else get(item, key)
    if word == "add":
        if isinstance(value, np.ndarray):
            value += x
    elif word == "again":
        if isinstance(value, np.ndarray):
            value -= x
            put(item, key, value)
    elif word == "set":
        if key is not None:
            put(item, key, x * 2)
    elif word == "number":
        if isinstance(value, float):
            put(item, key, value + 1)
    elif word == "new":
        if isinstance(item, dict):
            item["new"] = x + 1
        elif isinstance(item, list):
            item.append(x)
    elif isinstance(item, dict):
        item.pop("w", None)
    elif isinstance(item, list) and item:
        item.pop()


def states(bare: Any) -> tuple[Any, ...]:
    p = {
        "w": np.ones(3),
        "in": {"w": np.arange(3.0), "n": 1.5},
        "list": [np.zeros(3), 4.0],
        "tuple": (np.full(3, 2.0), 1.0),
        "fields": Fields(np.full(3, 3.0)),
        "bare": bare(np.full(3, 4.0)),
    }
    return p, [np.arange(3.0), [np.ones(3)]], np.arange(3.0)


def named(items: dict[str, Any]) -> dict[int, tuple[str, Any]]:
    """The containers in `items` by their id: where each is first found, and itself."""
    found: dict[int, tuple[str, Any]] = {}
    pending = list(items.items())
    while pending:
        name, item = pending.pop(0)
        if isinstance(item, (dict, list, tuple, Fields, Bare)):
            found.setdefault(id(item), (name, item))
            pending += [(f"{name}.{key}", get(item, key)) for key in keys_of(item)]
    return found


def told(item: Any, names: dict[int, tuple[str, Any]]) -> Any:
    """A value with the caller's containers by name."""
    return names[id(item)][0] if id(item) in names else inside(item, names)


def inside(item: Any, names: dict[int, tuple[str, Any]]) -> Any:
    if isinstance(item, (dict, list, tuple, Fields, Bare)):
        return type(item).__name__, [(key, told(get(item, key), names)) for key in keys_of(item)]
    return item.tolist() if isinstance(item, np.ndarray) else item


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.lists(STEP, max_size=3),
    st.lists(ROUTE, min_size=1, max_size=3),
    st.sampled_from([Bare, Fields]),
    RARE,
)
def test_containers_are_changed_and_returned_as_in_python(steps, routes, bare, rare):
    def program(box):
        def function(p, q, x):
            names = {"p": p, "q": q, "box": box}
            for word, route, number in steps:
                step(reached(names, route), word, number, x)
            found = [reached(names, route) for route in routes]
            return found[0] if rare == 0 else (*found, x + 1)

        return function

    outcomes = []
    for wrap in (lambda function: function, jit):
        box = copy.deepcopy(BOX)
        function, shown = wrap(program(box)), []
        for _ in range(3):
            given = states(bare)
            names = named({"p": given[0], "q": given[1], "box": box})
            try:
                found = quietly(function, *given)
            except (KeyError, IndexError, TypeError, AttributeError) as error:
                found = type(error)
            shown.append(told(found, names))
            shown.append([(name, inside(item, names)) for name, item in names.values()])
        outcomes.append(shown)
    assert outcomes[0] == outcomes[1]


def test_a_dict_that_is_changed_and_returned_stays_in_the_program():
    def descend(p, g):
        p["w"] -= g
        p["in"]["b"] += g
        return p

    jitted = jit(descend)
    with warnings.catch_warnings():
        warnings.simplefilter("error", JitwiseWarning)
        p = {"w": np.ones(3), "in": {"b": np.zeros(3)}}
        inside = p["in"]
        for count in range(1, 4):
            assert jitted(p, np.ones(3)) is p and p["in"] is inside
            assert p["w"].tolist() == [1.0 - count] * 3
        assert jitted(g=np.ones(3), p=p) is p
    assert jitted.state.traces == 1


def test_arguments_are_found_however_they_are_given():
    @jit
    def function(a, *rest, key, **more):
        return [rest[1], more["z"], key, a, rest[0][0]]

    a, b, c, d, e = {"v": np.ones(2)}, [(np.ones(2),)], [2.0], (np.ones(1),), Pair(np.ones(3), 1.0)
    for found in (function(a, b, c, z=e, key=d), function(a, b, c, key=d, z=e)):
        assert [one is other for one, other in zip(found, (c, e, d, a, b[0]), strict=True)] == [
            True
        ] * 5


class Layer:
    def __init__(self, number: float) -> None:
        self.state = {"w": np.full(3, number), "all": [np.ones(2), number]}
        self.below = None if number > 2 else Layer(number + 1)

    @jit
    def step(self, g, b):
        self.state["w"] -= g
        return self.state, [self.below.state["all"]], g, 1 / b


@pytest.mark.parametrize("held", [lambda layer: layer, lambda layer: layer.below])
def test_containers_of_objects_are_returned_as_themselves(held):
    def outer(g, layers, b):
        return layers["layers"][0].state, layers["layers"][1].state["w"], 1 / b

    jitted = jit(outer)
    for number in (1.0, 1.0, 0.5):
        layer, g = held(Layer(number)), np.ones(3)
        for b in (1.0, 0.0, 0.0):
            with np.errstate(all="ignore" if b else "warn"):
                found = quietly(layer.step, g, b) if b else quietly(layer.step, g, np.zeros(1))
                layers = {"n": g, "layers": [layer, layer.below]}
                others = quietly(jitted, g, layers, np.full(1, b))
            assert found[0] is layer.state and found[1][0] is layer.below.state["all"]
            assert found[2] is not g and not np.shares_memory(found[2], g)
            assert others[0] is layer.state and others[1] is not layer.below.state["w"]
    assert [known.python for known in jitted.state.known.values()] == [False]


def test_shapes_of_what_is_the_callers_are_told():
    def function(p, x):
        p["w"] += x
        return p, p["w"], [x]

    p, x = {"w": np.ones(3), "in": Fields(np.ones((2, 1), "f4"))}, np.ones(3)
    shapes = eval_shape(function, p, x)
    found = jit(function)(p, x)

    def shaped(item):
        if hasattr(item, "shape"):
            return item.shape, item.dtype
        if isinstance(item, (dict, list, tuple, Fields)):
            return type(item), [(key, shaped(get(item, key))) for key in keys_of(item)]
        return (), np.asarray(item).dtype

    assert shaped(shapes) == shaped(found)
