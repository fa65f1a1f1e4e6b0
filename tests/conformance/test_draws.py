"""Programs draw random numbers in NumPy's own stream: every method of generators, and every
function of `numpy.random`, gives what it gives undecorated, and leaves the generator in the same
state.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitwise import jit

SCALARS = {
    "beta": (2.0, 3.0),
    "binomial": (5, 0.4),
    "chisquare": (3.0,),
    "exponential": (2.0,),
    "f": (3.0, 4.0),
    "gamma": (2.0, 1.5),
    "geometric": (0.3,),
    "gumbel": (0.5, 2.0),
    "hypergeometric": (5, 6, 4),
    "integers": (2, 9),
    "randint": (2, 9),
    "laplace": (0.5, 2.0),
    "logistic": (0.5, 2.0),
    "lognormal": (0.1, 0.5),
    "logseries": (0.4,),
    "negative_binomial": (5, 0.4),
    "noncentral_chisquare": (3.0, 1.5),
    "noncentral_f": (3.0, 4.0, 1.5),
    "normal": (0.5, 2.0),
    "pareto": (3.0,),
    "poisson": (3.0,),
    "power": (3.0,),
    "rayleigh": (2.0,),
    "standard_gamma": (2.0,),
    "standard_t": (3.0,),
    "triangular": (0.0, 0.5, 2.0),
    "uniform": (1.0, 4.0),
    "vonmises": (0.5, 2.0),
    "wald": (2.0, 3.0),
    "weibull": (2.0,),
    "zipf": (2.5,),
    "standard_cauchy": (),
    "standard_exponential": (),
    "standard_normal": (),
    "random": (),
    "random_sample": (),
}
INTEGER_PARAMETERS = {
    ("binomial", 0),
    ("negative_binomial", 0),
    *(("hypergeometric", place) for place in range(3)),
    *((name, place) for name in ("integers", "randint") for place in range(2)),
}
GIVES_PYTHON_INTS = {
    "binomial", "geometric", "hypergeometric", "logseries", "negative_binomial", "poisson",
    "zipf", "randint",
}  # fmt: skip
KINDS = (np.random.Generator, np.random.RandomState)
METHODS = [(kind, name) for kind in KINDS for name in SCALARS if hasattr(kind, name)]


def make(kind, seed=5):
    return np.random.default_rng(seed) if kind is np.random.Generator else kind(seed)


def state_of(source):
    state = source.get_state(legacy=False) if hasattr(source, "get_state") else None
    return repr(state or source.bit_generator.state)


def require_same(found, expected):
    assert type(found) is type(expected)
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()


def require_alike(function, kind, *arguments, calls=3, traces=1):
    """Several calls, of several lengths, by one trace: values, kinds and states are NumPy's."""
    jitted = jit(function)
    ours, theirs = make(kind), make(kind)
    for given_now in arguments:
        for _ in range(calls):
            expected = function(theirs, *given_now)
            require_same(jitted(ours, *given_now), expected)
            assert state_of(ours) == state_of(theirs)
    assert jitted.state.traces == traces
    assert all(program is not None for _, _, program, *_ in jitted.entries())


def parameter(name, place, value, n):
    if (name, place) in INTEGER_PARAMETERS:
        return np.full(n, value)
    return value + 0.01 * np.arange(n)


@pytest.mark.parametrize(("kind", "name"), METHODS)
@pytest.mark.parametrize("size", ["n", "(n, 2)", "x.shape", "(3,)", "()", "len(x)"])
def test_every_method_draws_a_given_size(kind, name, size):
    parameters = SCALARS[name]
    scope = {}
    exec(f"def size_of(x, n): return {size}", scope)
    size_of = scope["size_of"]

    def function(rng, x, n):
        return getattr(rng, name)(*parameters, size=size_of(x, n))

    traces = 1
    require_alike(function, kind, *[(np.ones(n), n) for n in (4, 7)], traces=traces)


@pytest.mark.parametrize(("kind", "name"), [row for row in METHODS if SCALARS[row[1]]])
def test_parameters_may_be_traced_arrays(kind, name):
    parameters = SCALARS[name]

    def function(rng, *arrays):
        return getattr(rng, name)(*arrays)

    calls = [
        [parameter(name, place, value, n) for place, value in enumerate(parameters)] for n in (4, 7)
    ]
    require_alike(function, kind, *calls)


@pytest.mark.parametrize(("kind", "name"), [row for row in METHODS if SCALARS[row[1]]])
def test_one_parameter_may_be_traced_and_broadcast_to_the_size(kind, name):
    parameters = SCALARS[name]

    def function(rng, first, n):
        return getattr(rng, name)(first, *parameters[1:], size=(2, n))

    require_alike(function, kind, *[(parameter(name, 0, parameters[0], n), n) for n in (4, 7)])


@pytest.mark.parametrize(
    ("kind", "name"), [row for row in METHODS if row[1] not in GIVES_PYTHON_INTS]
)
def test_without_a_size_one_number_is_drawn(kind, name):
    parameters = SCALARS[name]

    def function(rng, x):
        return getattr(rng, name)(*parameters), x * getattr(rng, name)(*parameters)

    jitted, ours, theirs = jit(function), make(kind), make(kind)
    for n in (4, 4, 7):
        found, expected = jitted(ours, np.ones(n)), function(theirs, np.ones(n))
        require_same(found[0], expected[0])
        require_same(found[1], expected[1])
        assert state_of(ours) == state_of(theirs)
    assert jitted.state.traces == 1


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
@pytest.mark.parametrize(("kind", "name"), [r for r in METHODS if r[1] in GIVES_PYTHON_INTS])
def test_a_python_int_that_is_drawn_is_what_python_draws(kind, name):
    def function(rng):
        return getattr(rng, name)(*SCALARS[name])

    jitted, ours, theirs = jit(function), make(kind), make(kind)
    for _ in range(3):
        require_same(jitted(ours), function(theirs))
        assert state_of(ours) == state_of(theirs)


OTHERS = {
    "shuffle": lambda rng, x: (rng.shuffle(x), x * 1.0)[1],
    "shuffle of rows": lambda rng, x: (rng.shuffle(y := np.outer(x, x)), y)[1],
    "permutation": lambda rng, x: rng.permutation(x),
    "permutation of a number": lambda rng, x: rng.permutation(len(x)),
    "choice": lambda rng, x: rng.choice(x, 5),
    "choice of a number": lambda rng, x: rng.choice(len(x), size=len(x)),
    "choice without replacement": lambda rng, x: rng.choice(x, 3, replace=False),
    "choice with probabilities": lambda rng, x: rng.choice(x, len(x), p=np.ones_like(x) / len(x)),
    "dirichlet": lambda rng, x: rng.dirichlet(x + 1, 3),
    "multinomial": lambda rng, x: rng.multinomial(9, [0.2, 0.3, 0.5], size=len(x)),
    "multivariate_normal": lambda rng, x: rng.multivariate_normal(x, np.eye(len(x)), (2,)),
}
GENERATORS_ALONE = {
    "permuted": lambda rng, x: rng.permuted(x),
    "permuted along an axis": lambda rng, x: rng.permuted(np.outer(x, x), axis=1),
    "choice along an axis": lambda rng, x: rng.choice(np.outer(x, x), 2, axis=1),
    "integers of a dtype": lambda rng, x: rng.integers(0, 9, len(x), dtype=np.uint8, endpoint=True),
    "float32": lambda rng, x: rng.standard_normal(len(x), dtype=np.float32),
    "out": lambda rng, x: (rng.standard_normal(out=x), x * 2)[1],
    "hypergeometric": lambda rng, x: rng.multivariate_hypergeometric([3, 4, 5], 6, len(x)),
    "one of an array": lambda rng, x: rng.choice(x),
}
LEGACY_ALONE = {
    "rand": lambda rng, x: rng.rand(len(x), 2),
    "randn": lambda rng, x: rng.randn(2, len(x)),
    "rand of nothing": lambda rng, x: rng.rand() + x,
    "seed": lambda rng, x: (rng.seed(3), rng.rand(len(x)))[1],
    "normal numbers in pairs": lambda rng, x: x + rng.normal(),
}
ROWS = [(np.random.Generator, name, f) for name, f in (OTHERS | GENERATORS_ALONE).items()]
ROWS += [(np.random.RandomState, name, f) for name, f in (OTHERS | LEGACY_ALONE).items()]


@pytest.mark.parametrize(("kind", "name", "function"), ROWS)
def test_arrays_are_shuffled_and_chosen_from(kind, name, function):
    jitted, ours, theirs = jit(function), make(kind), make(kind)
    for n in (4, 4, 7):
        mine, other = np.arange(1.0, n + 1), np.arange(1.0, n + 1)
        require_same(jitted(ours, mine), function(theirs, other))
        require_same(mine, other)
        assert state_of(ours) == state_of(theirs)
    assert jitted.state.traces == 1
    assert all(program is not None for _, _, program, *_ in jitted.entries())


GLOBAL = {
    "rand": lambda x: np.random.rand(len(x)),
    "randn": lambda x: np.random.randn(len(x)),
    "randint": lambda x: np.random.randint(0, 9, len(x)),
    "normal": lambda x: np.random.normal(x, 1.0),
    "uniform": lambda x: np.random.uniform(size=x.shape),
    "choice": lambda x: np.random.choice(x, 3),
    "shuffle": lambda x: (y := x + 0, np.random.shuffle(y), y)[2],
    "permutation": lambda x: np.random.permutation(len(x)),
    "random_sample": lambda x: np.random.random_sample(len(x)),
    "ranf": lambda x: np.random.ranf(len(x)),
    "sample": lambda x: np.random.sample(len(x)),
    "random": lambda x: np.random.random(len(x)),
    "one number": lambda x: x + np.random.rand(),
    "seed": lambda x: (np.random.seed(7), np.random.rand(len(x)))[1],
}


@pytest.mark.parametrize("name", GLOBAL)
def test_functions_of_the_module_draw_from_its_generator(name):
    function = GLOBAL[name]
    jitted = jit(function)
    np.random.seed(3)
    expected = [function(np.arange(float(n))) for n in (4, 4, 7)]
    after = state_of(np.random.mtrand._rand)
    np.random.seed(3)
    for n, each in zip((4, 4, 7), expected, strict=True):
        require_same(jitted(np.arange(float(n))), each)
    assert state_of(np.random.mtrand._rand) == after
    assert jitted.state.traces == 1
    assert all(program is not None for _, _, program, *_ in jitted.entries())


STEPS = {
    "normal": "x = x + rng.normal(size=x.shape)",
    "scale": "x = x * rng.random()",
    "by": "x = rng.normal(x, 0.5)",
    "sine": "x = np.sin(x)",
    "unused": "rng.random(3)",
    "shuffle": "rng.shuffle(x)",
    "permuted": "x = rng.permutation(x)",
    "other": "x = x - other.uniform(size=len(x))",
    "sum": "x = x + x.sum()",
    "choice": "x = rng.choice(x, len(x))",
    "made": "x = x + np.random.default_rng(4).random(len(x))",
}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=8), st.booleans())
def test_programs_of_draws_and_arithmetic_leave_every_stream_where_numpy_does(names, shared):
    lines = "".join(f"    {STEPS[name]}\n" for name in names)
    scope = {"np": np}
    exec(f"def function(rng, other, x):\n    x = x + 0.0\n{lines}    return x\n", scope)
    function = scope["function"]
    jitted = jit(function)
    ours, theirs = [make(np.random.Generator, 1)], [make(np.random.Generator, 1)]
    ours.append(ours[0] if shared else make(np.random.Generator, 2))
    theirs.append(theirs[0] if shared else make(np.random.Generator, 2))
    for n in (3, 3, 6):
        expected = function(*theirs, np.arange(n) / 7)
        found = jitted(*ours, np.arange(n) / 7)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
        assert list(map(state_of, ours)) == list(map(state_of, theirs))
    assert jitted.state.traces == 1
