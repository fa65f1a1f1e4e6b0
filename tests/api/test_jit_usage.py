"""`jit` as users write it: decorator forms, arguments, results, stages, switches, errors."""

from __future__ import annotations

import dataclasses
import enum
from collections import namedtuple

import numpy as np
import pytest
from oracle import agrees, same

import jitwise
from jitwise import jit

Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class State:
    position: np.ndarray
    velocity: np.ndarray
    mass: float = 1.0

    def energy(self):
        return (self.velocity**2).sum() * self.mass / 2


class Mode(enum.Enum):
    ADD = 1
    MULTIPLY = 2


def test_every_form_of_the_decorator_works():
    @jit
    def first(x):
        """Doubles."""
        return x * 2

    @jit(fastmath=False)
    def second(x):
        return x * 2

    x = np.arange(3.0)
    for f in (first, second, jit(lambda x: x * 2), jit(jit(lambda x: x * 2))):
        same(f(x), x * 2)
    assert first.__name__ == "first" and first.__doc__ == "Doubles."
    assert first.__wrapped__(3) == 6


def test_wrong_uses_of_jit_say_what_to_write():
    with pytest.raises(TypeError, match="expects a function, got int"):
        jit(3)
    with pytest.raises(TypeError, match="static_argnums"):
        jit(lambda x: x, static_argnums="x")
    with pytest.raises(ValueError, match="strategy='fast'"):
        jit(lambda x: x, strategy="fast")
    with pytest.raises(ValueError, match="CPU"):
        jit(lambda x: x, backend="gpu")


def test_wrong_arguments_raise_what_python_raises():
    def f(x, y=1.0):
        return x + y

    for args, kwargs in [
        ((), {}),
        ((1.0, 2.0, 3.0), {}),
        ((1.0,), {"z": 2.0}),
        ((1.0,), {"x": 2.0}),
    ]:
        agrees(f, *args, **kwargs)
    agrees(lambda x, y: x + y, np.ones(3), np.ones(4))


def test_containers_keep_their_kind_and_order():
    def f(tree):
        return {
            "z": tree["b"][0] + 1,
            "a": [tree["b"][1], None, (tree["c"],)],
            "p": Point(tree["p"].y, tree["p"].x * 2),
            "s": dataclasses.replace(tree["s"], mass=3.0) if False else tree["s"].position * 2,
        }

    state = State(np.ones(2), np.arange(2.0))
    tree = {"b": (np.ones(3), np.zeros(2)), "c": 4, "p": Point(np.ones(1), 2.0), "s": state}
    agrees(f, tree)


def test_a_dataclass_goes_in_and_out_and_its_methods_work():
    def step(state, dt):
        return State(
            state.position + state.velocity * dt, state.velocity * 0.5, state.mass
        ), state.energy()

    state = State(np.zeros(3), np.arange(3.0), 2.0)
    f = agrees(step, state, 0.1)
    agrees(step, State(np.ones(5), np.ones(5), 1.0), 0.2, jitted=f)
    assert f.state.traces == 1


def test_strings_enums_functions_and_none_are_static_without_being_asked():
    def f(x, mode, function=None, flag=Mode.ADD):
        y = x if function is None else function(x)
        y = y + 1 if flag is Mode.ADD else y * 10
        return y * 2 if mode == "double" else y

    g = agrees(f, np.ones(2), "double")
    agrees(f, np.ones(2), "single", jitted=g)
    agrees(f, np.ones(2), "single", np.sin, jitted=g, ulp=2)
    agrees(f, np.ones(2), "single", flag=Mode.MULTIPLY, jitted=g)


def test_python_numbers_are_inputs_and_their_use_by_python_is_a_guard():
    def f(x, n, scale, flag):
        for _ in list(range(n)):
            x = x * scale
        return x if flag else -x

    g = agrees(f, np.ones(3), 2, 1.5, True)
    agrees(f, np.ones(3), 2, 2.5, True, jitted=g)
    assert g.state.traces == 1
    agrees(f, np.ones(3), 3, 2.5, True, jitted=g)
    agrees(f, np.ones(3), 3, 2.5, False, jitted=g)
    assert g.state.traces == 3


def test_arithmetic_of_python_numbers_stays_pythons():
    def f(a, b):
        return a + b, a * b, a / b, a - 1, a // 2, a % 3, -a, abs(a), a**2, a > b

    g = jit(f)
    for a, b in [(7, 2), (7.5, 2), (2, 0.5), (-3, 4), (1e308, 10.0), (5, 3)]:
        agrees(f, a, b, jitted=g)
    agrees(f, 1, 0, jitted=g)
    agrees(f, 1.0, 0.0, jitted=g)
    agrees(lambda n: n * n, 2**40)


def test_call_styles_share_one_trace():
    def f(a, b):
        return a - b * 2

    g = jit(f)
    for args, kwargs in [
        ((1.0, 2.0), {}),
        ((1.0,), {"b": 2.0}),
        ((), {"a": 1.0, "b": 2.0}),
        ((), {"b": 2.0, "a": 1.0}),
    ]:
        agrees(f, *args, jitted=g, **kwargs)
    assert g.state.traces == 1


def test_static_argnums_compile_the_value_in():
    def f(x, n):
        return x * n

    g = jit(f, static_argnums=1)
    agrees(f, np.ones(2), 3, jitted=g)
    agrees(f, np.ones(2), 4, jitted=g)
    assert "3" in str(jitwise.make_jaxpr(f, static_argnums=1)(np.ones(2), 3))


def test_the_same_handle_returned_twice_is_one_array_and_equal_values_are_two():
    first, again, other = jit(lambda x: (lambda y: (y, y, x * 2))(x * 2))(np.ones(3))
    assert first is again
    assert first is not other and not np.shares_memory(first, other)


def test_stages_print_and_run():
    def f(x):
        return (np.sin(x) * 2).sum()

    traced = jit(f).trace(np.ones(4))
    assert "sine" in traced.as_text()
    lowered = traced.lower()
    assert "fusion" in lowered.as_text() or "kernel" in lowered.as_text()
    compiled = lowered.compile()
    same(compiled(np.ones(4)), f(np.ones(4)), ulp=4)
    same(compiled(np.ones(9)), f(np.ones(9)), ulp=8)
    assert "define" in compiled.as_text("llvm")
    assert compiled.cost_analysis()["flops"] > 0
    assert compiled.memory_analysis()["outputs"] == 8
    with pytest.raises(jitwise.ShapeError, match="compiled for"):
        compiled(np.ones(4, np.float32))


def test_shapes_without_arrays_are_enough_for_stages():
    spec = jitwise.ShapeDtypeStruct((3, 4), np.float32)
    out = jitwise.eval_shape(
        lambda x, y: {"r": (x @ y).sum(axis=0), "n": 2},
        spec,
        jitwise.ShapeDtypeStruct((4, 5), "f4"),
    )
    assert out == {"r": jitwise.ShapeDtypeStruct((5,), np.float32), "n": 2}
    compiled = jit(lambda x: x + 1).lower(spec).compile()
    same(compiled(np.ones((3, 4), np.float32)), np.full((3, 4), 2, np.float32))
    with pytest.raises(TypeError, match="non-negative"):
        jitwise.ShapeDtypeStruct((-1,), float)


def test_what_cannot_be_compiled_is_refused_by_the_stages_with_its_line():
    with pytest.raises(jitwise.StageError, match=r"complex.*test_jit_usage.py:\d+"):
        jit(lambda x: complex(x) + 1).lower(np.ones(()))


def test_disable_jit_runs_python():
    seen = []
    f = jit(lambda x: (seen.append(1), x * 2)[1])
    with jitwise.disable_jit():
        assert f(3.0) == 6.0
        assert f(3.0) == 6.0
    assert len(seen) == 2


def test_clear_caches_forgets_and_the_next_call_traces_again():
    f = jit(lambda x: x + 1)
    f(np.ones(2))
    jitwise.clear_caches()
    same(f(np.ones(2)), np.full(2, 2.0))
    assert f.state.traces == 2


def test_tree_functions_keep_the_order_of_dicts():
    tree = {"b": 1, "a": [2, (3, None)], "p": Point(4, 5)}
    leaves, structure = jitwise.tree.flatten(tree)
    assert leaves == [1, 2, 3, 4, 5]
    assert jitwise.tree.unflatten(structure, leaves) == tree
    assert list(jitwise.tree.map(lambda x: x * 2, tree)) == ["b", "a", "p"]


def test_lax_functions_work_inside_and_outside():
    x = np.linspace(0.1, 1, 7)
    plain = lambda x: jitwise.lax.add(jitwise.lax.sin(x), jitwise.lax.rsqrt(x))  # noqa: E731
    same(jit(plain)(x), plain(x), ulp=4)
    with pytest.raises(TypeError, match="one dtype"):
        jitwise.lax.add(np.ones(2), np.ones(2, np.float32))


def test_numpys_names_are_all_in_jitwise_numpy():
    assert jitwise.numpy.sin is np.sin
    assert jitwise.numpy.linalg.norm is np.linalg.norm
    with pytest.raises(AttributeError, match="no attribute 'sinn'"):
        jitwise.numpy.sinn
