"""Nothing random is frozen, and no number is drawn twice: whatever a call has to run again."""

import dataclasses
import gc
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from oracle import same

import jitwise
from jitwise import JitwiseWarning, jit
from jitwise.runtime._native import Function

GLOBAL_RNG = np.random.default_rng(0)


def generators(count=2, seed=11):
    return [np.random.default_rng(seed) for _ in range(count)]


def is_compiled(jitted):
    return all(program is not None for _, _, program, *_ in jitted.entries())


def same_state(ours, theirs):
    return repr(ours.bit_generator.state) == repr(theirs.bit_generator.state)


def test_the_global_stream_is_numpys_and_two_calls_differ():
    f = jit(lambda x: x + np.random.rand())
    np.random.seed(0)
    expected = [np.random.rand() for _ in range(4)]
    np.random.seed(0)
    assert [f(0.0) for _ in range(4)] == expected
    assert is_compiled(f)


def test_a_clock_beside_a_draw_still_runs_as_python():
    f = jit(lambda x: x + np.random.rand() + time.perf_counter_ns())
    with pytest.warns(JitwiseWarning, match="runs as Python"):
        f(0.0)


# Where a generator comes from


def test_another_generator_of_the_same_type_is_no_other_trace():
    f = jit(lambda rng, x: rng.normal(size=len(x)) + x)
    for seed in range(40):
        found = f(np.random.default_rng(seed), np.ones(3))
        assert (found == np.random.default_rng(seed).normal(size=3) + 1).all()
    assert f.state.traces == 1
    other = np.random.Generator(np.random.MT19937(3))
    again = np.random.Generator(np.random.MT19937(3))
    assert (f(other, np.ones(3)) == again.normal(size=3) + 1).all()
    assert f.state.traces == 1


def test_a_generator_is_not_kept_alive():
    f = jit(lambda rng: rng.random(3))
    rng = np.random.default_rng(1)
    before = sys.getrefcount(rng)
    for _ in range(3):
        f(rng)
    gc.collect()
    assert sys.getrefcount(rng) == before


def test_a_rebound_global_is_drawn_from(monkeypatch):
    f = jit(lambda x: x + GLOBAL_RNG.random())
    f(0.0)
    for seed in (4, 5):
        monkeypatch.setitem(globals(), "GLOBAL_RNG", np.random.default_rng(seed))
        assert f(0.0) == np.random.default_rng(seed).random()
    assert f.state.traces == 1


def test_cells_attributes_and_containers_hold_generators():
    @dataclasses.dataclass
    class Model:
        rng: np.random.Generator
        scale: float

    class Plain:
        def __init__(self, rng):
            self.rng = rng

    def cell(rng):
        return lambda: rng.random(2)

    ours, theirs = generators()
    by_cell, by_plain = jit(cell(ours)), jit(lambda plain: plain.rng.random(2))
    by_field = jit(lambda model: model.rng.random(2) * model.scale)
    by_item = jit(lambda items: items["rngs"][1].random(2))
    for _ in range(3):
        assert (by_cell() == theirs.random(2)).all()
        assert (by_plain(Plain(ours)) == theirs.random(2)).all()
        assert (by_field(Model(ours, 2.0)) == theirs.random(2) * 2.0).all()
        assert (by_item({"rngs": (1.0, ours)}) == theirs.random(2)).all()
    assert all(map(is_compiled, (by_cell, by_plain, by_field, by_item)))
    assert same_state(ours, theirs)


def test_an_attribute_may_be_rebound():
    class Plain:
        pass

    plain = Plain()
    plain.inner = Plain()
    f = jit(lambda: plain.inner.rng.random(2))
    for seed in (1, 2):
        plain.inner.rng = np.random.default_rng(seed)
        assert (f() == np.random.default_rng(seed).random(2)).all()
    assert f.state.traces == 1


def test_keywords_in_any_order():
    def f(x, a, b):
        return x + a.random() - 2 * b.random()

    jitted = jit(f)
    mine, other = generators(2, 1), generators(2, 1)
    mine[1], other[1] = np.random.default_rng(2), np.random.default_rng(2)
    for call in (
        lambda f, a, b: f(1.0, a, b),
        lambda f, a, b: f(b=b, a=a, x=1.0),
        lambda f, a, b: f(1.0, b=b, a=a),
    ):
        assert call(jitted, *mine) == call(f, *other)
    assert jitted.state.traces == 1


def test_the_same_generator_twice():
    def f(a, b):
        return a.random(3) - b.random(3) + a.normal()

    jitted = jit(f)
    ours, theirs = generators()
    for _ in range(3):
        assert (jitted(ours, ours) == f(theirs, theirs)).all()
    assert same_state(ours, theirs)


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_generators_compared_by_identity():
    def f(a, b):
        return a.random() * (1.0 if a is b else -1.0)

    jitted = jit(f)
    one, two = generators()
    assert jitted(one, two) < 0 < jitted(one, one)


def test_a_generator_that_is_absent_is_made():
    def f(x, rng=None):
        if rng is None:
            rng = np.random.default_rng(3)
        return rng.random(len(x))

    jitted = jit(f)
    for _ in range(2):
        assert (jitted(np.ones(3)) == f(np.ones(3))).all()
        ours, theirs = generators()
        assert (jitted(np.ones(3), ours) == f(np.ones(3), theirs)).all()
    assert is_compiled(jitted)


def test_a_generator_without_a_seed_is_another_at_each_call():
    f = jit(lambda: np.random.default_rng().random())
    assert len({f() for _ in range(5)}) == 5
    assert is_compiled(f)


def test_inner_functions_draw():
    inner = jit(lambda rng, x: x + rng.normal())
    f = jit(lambda rng, x: inner(rng, x) * inner(rng, x))
    ours, theirs = generators()
    assert f(ours, 1.0) == (1.0 + theirs.normal()) * (1.0 + theirs.normal())
    assert same_state(ours, theirs)


# Effects


def test_draws_that_nothing_needs_are_drawn_and_equal_ones_are_two():
    def f(rng, x):
        rng.random(5)
        return rng.random(len(x)) - rng.random(len(x))

    jitted = jit(f)
    ours, theirs = generators()
    for n in (3, 3, 4):
        assert (jitted(ours, np.ones(n)) == f(theirs, np.ones(n))).all()
    assert same_state(ours, theirs)


def test_draws_stay_in_order_whatever_they_wait_for():
    def f(rng, x):
        late = np.sin(x).sum() + (x[::-1] ** 2).mean()
        first = rng.normal(late, 1.0, 3)
        second = rng.uniform(0.0, 1.0, 3)
        third = rng.normal(np.cos(x).max(), first.sum() ** 2)
        return first, second, third

    jitted = jit(f)
    ours, theirs = generators()
    for n in (3, 900):
        for one, other in zip(
            jitted(ours, np.arange(n) / n), f(theirs, np.arange(n) / n), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    assert same_state(ours, theirs)


def test_tracing_draws_nothing():
    ours, theirs = generators()
    f = jit(lambda rng, x: rng.random(len(x)) + np.random.rand())
    before = repr(np.random.get_state())
    f.trace(ours, np.ones(3))
    f.lower(ours, np.ones(3))
    jitwise.make_jaxpr(lambda x: x + GLOBAL_RNG.random())(1.0)
    assert same_state(ours, theirs)
    assert repr(np.random.get_state()) == before


def test_a_compiled_stage_draws():
    def f(rng, x):
        return np.log(rng.random(len(x)) * x)

    ours, theirs = generators()
    compiled = jit(f).lower(ours, np.ones(3)).compile()
    for x in (np.ones(3), np.ones(4)):
        np.testing.assert_allclose(compiled(ours, x), f(theirs, x), rtol=1e-14)
    with np.errstate(all="warn"), pytest.warns(RuntimeWarning, match="divide by zero"):
        compiled(ours, np.zeros(3))
    theirs.random(3)
    assert same_state(ours, theirs)


def test_disabled_functions_draw_as_python():
    f = jit(lambda rng: rng.random(2))
    ours, theirs = generators()
    with jitwise.disable_jit():
        assert (f(ours) == theirs.random(2)).all()
    assert (f(ours) == theirs.random(2)).all()


# Calls that run again


def require_stream(f, x, calls, seed=11):
    """The decorated and the plain function, side by side."""
    jitted = f if isinstance(f, Function) else jit(f)
    ours, theirs = generators(2, seed)
    for each in calls:
        outcomes = []
        for function, rng in ((jitted, ours), (jitted.__wrapped__, theirs)):
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                try:
                    outcome = function(rng, *each)
                except Exception as error:
                    outcome = (type(error), str(error))
            warned = [str(w.message) for w in warned if w.category is not JitwiseWarning]
            outcomes.append((repr(outcome), warned))
        assert outcomes[0] == outcomes[1]
        assert same_state(ours, theirs)
    return jitted


FLAGS = [(np.ones(3),), (np.zeros(3),), (np.zeros(3),), (np.ones(3),), *[(np.zeros(3),)] * 6]


@pytest.mark.parametrize("mode", ["warn", "raise", "ignore", "call", "print"])
def test_floating_point_flags(mode, capfd):
    def f(rng, x):
        a = rng.random(3)
        b = 1.0 / (a * x)
        return b + rng.normal(size=3) + np.random.rand() * 0

    with np.errstate(all=mode, call=lambda *args: None):
        assert is_compiled(require_stream(f, None, FLAGS))


def test_floating_point_flags_in_the_legacy_stream():
    def f(x):
        return 1.0 / (np.random.normal(size=3) * x) + np.random.normal()

    def run(function):
        np.random.seed(5)
        with np.errstate(all="ignore"):
            plain = [function(np.ones(3)) for _ in range(3)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [*plain, *[function(np.zeros(3)) for _ in range(5)], np.random.normal()]

    assert repr(run(jit(f))) == repr(run(f))


@pytest.mark.parametrize("mode", ["warn", "raise", "ignore"])
def test_flags_of_a_function_that_writes_to_an_argument(mode):
    def f(rng, x, divisor):
        x += rng.random(3)
        x /= divisor
        x *= rng.random(3)
        return x.sum() * 0.0

    jitted = jit(f)
    ours, theirs = generators()
    with np.errstate(all=mode), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for divisor in (1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0):
            mine, other = np.ones(3), np.ones(3)
            raised = []
            for function, rng, x in ((jitted, ours, mine), (f, theirs, other)):
                try:
                    function(rng, x, divisor)
                    raised.append(None)
                except FloatingPointError as error:
                    raised.append(str(error))
            assert raised[0] == raised[1]
            assert mine.tobytes() == other.tobytes()
            assert same_state(ours, theirs)
    assert is_compiled(jitted)


def test_flags_from_before_the_call():
    def f(rng, x):
        return rng.random(3) * x

    jitted = jit(f)
    ours, theirs = generators()
    for _ in range(4):
        with np.errstate(all="ignore"):
            np.ones(3) / np.zeros(3)
        assert (jitted(ours, np.ones(3)) == f(theirs, np.ones(3))).all()
        assert same_state(ours, theirs)


def test_a_check_that_fails_after_a_draw():
    def f(rng, x, k):
        a = rng.random(3)
        if k < 0.5:  # looked at after the draw
            return a + x
        return a - rng.random(3) * x

    require_stream(f, None, [(np.ones(3), k) for k in (0.1, 0.1, 0.9, 0.2, 0.9, 0.3, 0.1)])


def test_sizes_that_values_decide_after_a_draw():
    def f(rng, x):
        a = rng.random(3)
        found = x[x > 0]
        return a.sum() + found.reshape(2, -1).sum() + rng.random()

    x = np.array([1.0, -1.0, 2.0, 3.0, -4.0, 5.0])
    require_stream(f, None, [(x,), (x,), (-x,), (x[:5],), (x,), (-x[:1],)])


def test_exceptions_half_way_leave_the_stream_where_numpy_does():
    def f(rng, scale, x):
        a = rng.normal(size=2)
        b = rng.normal(0.0, scale, 3)
        c = rng.random(4)
        return a.sum() + b.sum() + c.sum() + np.linalg.inv(x).sum() + rng.random()

    good, singular = np.eye(2), np.ones((2, 2))
    calls = [(1.0, good), (-1.0, good), (1.0, good), (1.0, singular), (2.0, good)]
    require_stream(f, None, calls)


def test_an_exception_that_the_function_catches():
    def f(rng, scale):
        a = rng.random()
        try:
            b = rng.normal(0.0, scale)
        except ValueError:
            b = rng.random()
        return a + b

    require_stream(f, None, [(1.0,), (-1.0,), (1.0,), (-1.0,)])


def test_indices_out_of_range_after_a_draw():
    def f(rng, x, i):
        return rng.random(3) + x[i]

    require_stream(f, None, [(np.ones(3), np.int64(i)) for i in (1, 2, 7, 0)])


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_what_is_drawn_may_decide_and_then_runs_as_python():
    def f(rng, x):
        if rng.random() < 0.5:
            return x + rng.random()
        return x - rng.random()

    require_stream(f, None, [(1.0,)] * 12)

    def g(rng, x):
        return x[rng.random(len(x)) < 0.5].sum() + rng.random()

    require_stream(g, None, [(np.ones(5),)] * 5)

    def h(rng, x):
        return x[: int(rng.integers(0, 4))].sum() + rng.random()

    require_stream(h, None, [(np.ones(5),)] * 5)


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
@pytest.mark.parametrize(
    "function",
    [
        lambda rng: rng.spawn(2)[1].random(),
        lambda rng: rng.bytes(3),
        lambda rng: rng.poisson(3.0),
        lambda rng: rng.bit_generator.random_raw(),
        lambda rng: np.random.Generator(np.random.PCG64(int(rng.integers(9)))).random(),
        lambda rng: np.vectorize(lambda x: rng.random() + x)(np.ones(3)),
        lambda rng: np.apply_along_axis(lambda x: rng.random() + x, 0, np.ones(3)),
        lambda rng: getattr(rng, "normal")(),  # noqa: B009
        lambda rng: np.random.RandomState(4).rand(),
        lambda rng: rng.normal,
        lambda rng: [rng, rng.random()][1],
    ],
)
def test_whatever_else_is_asked_of_a_generator_is_right(function):
    jitted = jit(function)
    ours, theirs = generators()
    for _ in range(3):
        found, expected = jitted(ours), function(theirs)
        assert callable(found) or found == pytest.approx(expected, abs=0) or found is expected
    assert same_state(ours, theirs)


def test_generators_of_other_types_run_as_python():
    class Own(np.random.Generator):
        def random(self, *args):
            return 0.25

    f = jit(lambda rng: rng.random() + 1)
    with pytest.warns(JitwiseWarning):
        assert f(Own(np.random.PCG64(0))) == 1.25
    assert f(np.random.default_rng(1)) == np.random.default_rng(1).random() + 1


def test_threads_share_a_generator_without_drawing_a_number_twice():
    rng = np.random.default_rng(3)
    f = jit(lambda rng, x: rng.random(50) * x)
    f(np.random.default_rng(0), np.ones(50))
    found = []

    def work():
        for _ in range(100):
            found.append(f(rng, np.ones(50)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drawn = np.concatenate(found)
    assert np.unique(drawn).size == 4 * 100 * 50
    assert (np.sort(drawn) == np.sort(np.random.default_rng(3).random(4 * 100 * 50))).all()


def test_flags_that_numpy_raises_while_it_draws_are_not_the_programs():
    f = jit(lambda rng, x: rng.standard_gamma(x).sum() * 0.0 + rng.gumbel(size=100).sum())
    ours, theirs = generators()
    with np.errstate(all="raise"):
        for _ in range(3):
            expected = f.__wrapped__(theirs, np.full(100, 1e-3))
            assert f(ours, np.full(100, 1e-3)) == pytest.approx(expected, rel=1e-13)
    assert same_state(ours, theirs)


@pytest.mark.parametrize("kind", [lambda rng: {0: rng}, lambda rng: [rng]], ids=["dicts", "lists"])
def test_containers_that_hold_the_same_generator_for_a_while_are_told_apart(kind):
    def program(first, second):
        return lambda x: (x + first[0].random(3), second[0].random(3))

    def calls(make):
        shared, other = np.random.default_rng(1), np.random.default_rng(2)
        first, second = kind(shared), kind(shared)
        function = make(program(first, second))
        results = [function(np.zeros(3))]
        second[0] = other
        return [*results, function(np.zeros(3))]

    for got, expected in zip(calls(jit), calls(lambda function: function), strict=True):
        same(got, expected)
