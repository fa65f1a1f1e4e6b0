"""What users import, used in every way in which they write it: callables of all kinds, the stages,
looking at functions, switching off, NumPy's namespace, lax and tree.
"""

from __future__ import annotations

import functools
import inspect
import pickle
import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest
from oracle import agrees, same

import jitwise
from jitwise import jit, lax, tree
from jitwise.record import recorder

X = np.linspace(0.1, 1, 7)


class Model:
    """Methods of every kind, each decorated."""

    base = 3.0

    def __init__(self, weight):
        self.weight = weight

    @jit
    def scaled(self, x, power=1):
        return x**power * self.weight

    @jit(static_argnums=1)
    def repeated(self, count, x):
        for _ in range(count):
            x = x * self.weight
        return x

    @classmethod
    @jit
    def of_class(cls, x):
        return x * cls.base

    @staticmethod
    @jit
    def static(x, y=1.0):
        return x - y

    @property
    @jit
    def doubled(self):
        return self.weight * np.ones(2)

    def __call__(self, x):
        return x * self.weight + 1


class Derived(Model):
    """Another value for the class method."""

    base = 5.0


@jit
def of_module(x):
    """Known by its name."""
    return x * 2


def test_methods_of_every_kind_are_those_of_the_class():
    first, second = Model(2.0), Derived(np.arange(7.0))
    for _ in range(2):
        same(first.scaled(X), X * 2)
        same(second.scaled(X, power=2), X**2 * np.arange(7.0))
        same(Model.scaled(first, X), X * 2)
        same(first.repeated(3, X), X * 2 * 2 * 2)
        same(Model.of_class(X), X * 3)
        same(second.of_class(X), X * 5)
        same(Derived.static(X), X - 1)
        same(second.static(X, y=2), X - 2)
        same(first.doubled, np.full(2, 2.0))
    first.weight = 7.0
    same(first.scaled(X), X * 7)


def test_methods_that_call_each_other_are_one_program():
    class Chain(Model):
        @jit
        def twice(self, x):
            return self.scaled(self.scaled(x)) + self.doubled[0] + self.static(x)

        def plain(self, x):
            return self.scaled(x) + Model.static(x)

    chain, before = Chain(2.0), recorder.counts["fallback"]
    for jitted in (Chain.twice, jit(Chain.plain), jit(lambda model, x: model.scaled(x))):
        for weight in (2.0, 3.0, 2.0):
            chain.weight = weight
            same(jitted(chain, X), jitted.__wrapped__(chain, X))
        assert (jitted.state.traces, jitted.state.compiles) == (2, 2)
    bound = jit(chain.twice)
    same(bound(X), chain.twice(X))
    assert (bound.state.traces, bound.state.compiles) == (1, 1)
    assert recorder.counts["fallback"] == before


CALLABLES = {
    "lambda": (lambda x, y: x - y, (X, 2.0)),
    "object": (Model(2.0), (X,)),
    "bound method": (Model(2.0).scaled, (X, 2)),
    "bound lambda": ((lambda self, x: x * self.weight).__get__(Model(3.0)), (X,)),
    "partial": (functools.partial(lambda x, y: x - y, y=2.0), (X,)),
    "partial of position": (functools.partial(lambda x, y: x - y, X), (X * 2,)),
    "partial of a partial": (functools.partial(functools.partial(max, 1), 2), (3,)),
    "ufunc": (np.add, (X, 2)),
    "function of NumPy": (np.sum, (X,)),
    "builtin": (len, (X,)),
    "class": (complex, (1.0, 2.0)),
    "jitted": (of_module, (X,)),
    "nested": (lambda x: of_module(of_module(x)), (X,)),
    "wrapped": (functools.wraps(of_module.__wrapped__)(lambda x: of_module(x) + 1), (X,)),
    "cached": (functools.lru_cache(lambda k: k + 1), (3,)),
}


@pytest.mark.parametrize("name", CALLABLES)
def test_anything_that_is_called_can_be_jitted(name):
    function, args = CALLABLES[name]
    jitted = agrees(function, *args, jitted=jit(function))
    agrees(function, *args, jitted=jit(jitted))
    agrees(function, *args, jitted=jit()(function))
    agrees(function, *args, jitted=functools.partial(jit, strategy="auto")(function))


@pytest.mark.parametrize("kind", [staticmethod, classmethod, property])
def test_a_decorator_below_the_one_it_must_stand_above_is_refused_by_name(kind):
    with pytest.raises(TypeError, match=f"write @{kind.__name__} above @jit"):
        jit(kind(lambda x: x))


def test_a_jitted_function_looks_like_the_function():
    def function(x: int, y: float = 2, *, z=3) -> float:
        """Says what it does."""
        return x * y + z

    jitted = jit(function)
    assert jitted.__wrapped__ is function
    assert jitted.__name__ == "function" and jitted.__doc__ == "Says what it does."
    assert jitted.__qualname__ == function.__qualname__ and jitted.__module__ == __name__
    assert inspect.signature(jitted) == inspect.signature(function)
    assert callable(jitted) and "function" in repr(jitted)
    assert pickle.loads(pickle.dumps(of_module)) is of_module


OPTIONS = {
    "static_argnums": {"static_argnums": 1},
    "several": {"static_argnums": (1,)},
    "negative": {"static_argnums": -1},
    "static_argnames": {"static_argnames": "n"},
    "names": {"static_argnames": ("n",)},
    "donate_argnums": {"donate_argnums": 0},
    "donate_argnames": {"donate_argnames": "x"},
    "keep_unused": {"keep_unused": True},
    "inline": {"inline": True},
    "backend": {"backend": "cpu"},
    "device": {"device": "cpu"},
    "strategy": {"strategy": "whole"},
    "off": {"strategy": "off"},
    "wait": {"wait": True},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_is_taken_and_changes_no_result(name):
    def function(x, n):
        return x * n

    jitted = jit(function, **OPTIONS[name])
    given = X.copy()
    for n in (3, 4, 3):
        same(jitted(given, n), X * n)
        same(jitted(given, n=n), X * n)
        same(jitted(x=given, n=n), X * n)
    same(given, X)


def test_the_stages_of_functions_and_methods_print_and_run():
    def function(x, y=2.0, *, z=1):
        return {"a": (x * y).sum(), "b": [x + z]}

    for traced, again in (
        (jit(function).trace(X, z=3), lambda c: c(X, z=3)),
        (jit(function).trace(X, 2.0, z=3), lambda c: c(X, 2.0, z=3)),
        (jit(function).trace(x=X, z=3), lambda c: c(x=X, z=3)),
    ):
        compiled = traced.lower().compile()
        same(again(compiled), function(X, z=3), ulp=4)
    model = Model(2.0)
    same(Model.scaled.lower(model, X).compile()(model, X), X * 2)
    for stage in (traced, traced.lower(), compiled):
        assert stage.as_text() == str(stage)
    texts = [compiled.as_text(each) for each in ("trace", "fuse", "kernel", "program", "llvm")]
    assert len(set(texts)) == 5
    with pytest.raises(jitwise.JitwiseError, match="no stage 'hlo'; the stages are trace, fuse"):
        compiled.as_text("hlo")
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        jit(function).trace()
    with pytest.raises(TypeError, match="unexpected keyword"):
        jit(function).lower(X, w=1)


def test_make_jaxpr_shows_what_is_called_and_not_what_it_wraps():
    @functools.wraps(np.sin)
    def wrapper(x):
        return np.cos(x)

    text = str(jitwise.make_jaxpr(wrapper)(X))
    assert "cosine" in text and "sine(" not in text.replace("cosine(", "")
    assert "multiply" in str(jitwise.make_jaxpr(Model(2.0).scaled)(X))
    assert "multiply" in str(jitwise.make_jaxpr(Model(2.0))(X))
    assert "f32[n0]" in str(jitwise.make_jaxpr(of_module)(jitwise.ShapeDtypeStruct((3,), "f4")))
    assert str(jitwise.make_jaxpr(np.sin)(X)).count(" = sine(") == 1
    with pytest.raises(TypeError, match="expected a function, got int"):
        jitwise.make_jaxpr(3)
    with pytest.raises(jitwise.StageError, match=r"test_public_face.py:\d+"):
        jitwise.make_jaxpr(lambda x: x if x.sum() in (1.0, 7.0) else -x)(X)


def test_eval_shape_has_the_structure_and_computes_nothing():
    struct = jitwise.ShapeDtypeStruct
    Pair = namedtuple("Pair", "first second")
    huge = struct((10**6, 10**6), np.float64)
    found = jitwise.eval_shape(
        lambda a, *, b: Pair({"z": a + b, "y": [a.sum(axis=0), None]}, (a > b, 2, "text")),
        huge,
        b=struct((10**6,), np.float32),
    )
    assert found == Pair(
        {"z": struct(huge.shape, "f8"), "y": [struct((10**6,), "f8"), None]},
        (struct(huge.shape, "?"), 2, "text"),
    )
    assert type(found) is Pair and list(found.first) == ["z", "y"]
    assert jitwise.eval_shape(Model(2.0).scaled, X) == struct((7,), "f8")
    with pytest.raises(jitwise.StageError, match="broadcast"):
        jitwise.eval_shape(lambda a, b: a + b, struct((3,), "f4"), struct((4,), "f4"))


def test_a_shape_and_dtype_is_a_value():
    struct = jitwise.ShapeDtypeStruct
    one = struct((2, 3), np.float32)
    assert one == struct([2, np.int64(3)], "f4") and hash(one) == hash(struct((2, 3), "f4"))
    assert one != struct((2, 3), "f8") and one != struct((3, 2), "f4")
    assert (one.shape, one.dtype, one.ndim, one.size) == ((2, 3), np.dtype("f4"), 2, 6)
    assert struct(5, "i4").shape == (5,) and struct((), "i4").size == 1
    assert "shape=(2, 3)" in repr(one) and "float32" in repr(one)
    for shape in ((2.5,), (-1,), "ab"):
        with pytest.raises(TypeError, match="sizes are non-negative ints"):
            struct(shape, "f4")


def test_disable_jit_is_a_context_and_a_decorator_and_may_be_nested():
    seen = []

    @jit
    def function(x):
        seen.append(type(x))
        return x + 1

    with jitwise.disable_jit():
        with jitwise.disable_jit():
            function(X)
        function(X)
        with pytest.raises(ZeroDivisionError), jitwise.disable_jit():
            function(1 / 0)
        assert seen == [np.ndarray] * 2

    @jitwise.disable_jit()
    def decorated():
        return function(X)

    same(decorated(), X + 1)
    assert seen == [np.ndarray] * 3
    with jitwise.disable_jit(False):
        before = of_module.state.traces
        of_module(X.astype(np.float32))
        assert of_module.state.traces == before + 1


IMPORTS = [
    "import jitwise.numpy as jnp; jnp.sin(1.0)",
    "from jitwise import numpy as jnp; jnp.linalg.norm([1.0])",
    "from jitwise.numpy import sin, pi, float32, newaxis, linalg; sin(pi)",
    "from jitwise.numpy.linalg import norm; norm([1.0])",
    "import jitwise.numpy.linalg as la; la.inv([[1.0]])",
    "import jitwise.numpy.fft as fft; fft.fft([1.0])",
    "from jitwise.numpy import *; arange(3)",
    "import jitwise as jax; jax.numpy.array(1.0); jax.lax.sin(1.0); jax.tree.leaves([1])",
    "from jitwise import *; jit(lambda x: x)(1); make_jaxpr; eval_shape; ShapeDtypeStruct",
    "from jitwise.lax import add, sin; from jitwise.tree import map; map(sin, [1.0])",
    "from jitwise import jit, lax; import jitwise.tree",
]


@pytest.mark.parametrize("statement", IMPORTS)
def test_names_are_imported_as_users_of_jax_do(statement):
    program = f"import sys; sys.path[:] = {sys.path!r}\n{statement}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_name_that_is_offered_is_there():
    for name in jitwise.__all__:
        assert getattr(jitwise, name) is not None
    assert set(jitwise.__all__) <= set(dir(jitwise))
    with pytest.raises(AttributeError, match="no attribute 'vmapp'"):
        jitwise.vmapp
    assert {"sin", "linalg", "float32"} <= set(dir(jitwise.numpy))


ONE_ARRAY = [
    name
    for name in sorted({*lax._UNARY})
    if name
    not in ("bitwise_not", "population_count", "imag", "real", "acosh", "atanh", "asin", "acos")
]


@pytest.mark.parametrize("name", ONE_ARRAY)
def test_a_function_of_lax_is_traced_and_is_the_same_outside(name):
    function = getattr(lax, name)
    jitted = jit(lambda x: function(x))
    for x in (X, X.astype(np.float32), np.float64(0.3), X[:0]):
        agrees(lambda x: function(x), x, jitted=jitted, ulp=4)
    assert (jitted.state.traces, jitted.state.compiles) == (3, 3)


def test_shape_functions_of_lax_are_numpys():
    x = np.arange(12.0).reshape(3, 4)
    for function in (
        lambda x: lax.reshape(x, (4, 3)),
        lambda x: lax.transpose(x, (1, 0)),
        lambda x: lax.broadcast_in_dim(x, (2, 3, 4), (1, 2)),
        lambda x: lax.concatenate([x, x], 0),
        lambda x: lax.select(x > 3, x, -x),
        lambda x: lax.slice(x, (0, 1), (2, 3)),
        lambda x: lax.rev(x, (0,)),
        lambda x: lax.convert_element_type(x, np.int32),
        lambda x: lax.clamp(2.0, x, 7.0),
        lambda x: lax.max(x, x + 1) - lax.min(x, x[::-1]),
        lambda x: lax.squeeze(x[:, :1], (1,)),
        lambda x: lax.expand_dims(x, (0,)),
        lambda x: lax.iota(np.int32, 5) + x[0, 0],
    ):
        jitted = agrees(function, x)
        assert (jitted.state.traces, jitted.state.compiles) == (1, 1)


def test_tree_functions_work_on_several_trees_and_inside_a_trace():
    first, second = {"b": 1, "a": (2, [3])}, {"b": 10, "a": (20, [30])}
    assert tree.map(lambda x, y: x + y, first, second) == {"b": 11, "a": (22, [33])}
    assert tree.leaves(first) == [1, 2, 3]
    assert tree.unflatten(tree.structure(first), [4, 5, 6]) == {"b": 4, "a": (5, [6])}
    assert tree.structure(first) == tree.structure(second) != tree.structure([1])
    assert tree.reduce(lambda x, y: x + y, first) == 6
    assert tree.all([True, (True,)]) and not tree.all([True, (False,)])
    with pytest.raises(ValueError, match="expected: 2, got: 1"):
        tree.map(lambda x, y: x, [1, 2], [1])

    def step(parameters, gradients):
        return tree.map(lambda p, g: p - 0.5 * g, parameters, gradients)

    agrees(step, {"w": np.ones((2, 2)), "b": [np.ones(2), 3.0]}, {"w": np.eye(2), "b": [X[:2], 1]})


@pytest.mark.parametrize("callable_", [np.negative, functools.partial(np.add, 2.0), len])
def test_what_does_not_bind_outside_does_not_bind_jitted(callable_):
    class Plain:
        act = callable_

    class Jitted:
        act = jit(callable_)

    array = np.array([0.5])
    assert Jitted().act(array) == Plain().act(array) == Jitted.act(array)
    assert type(Jitted().act(array)) is type(Plain().act(array))
