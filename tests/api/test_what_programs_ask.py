"""What programs ask of the values they work on - types, attributes, text, keys, items, foreign byte
order - is answered as Python and NumPy answer it, or the function runs as Python.
"""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from oracle import agrees

from jitwise import config, jit

pytestmark = pytest.mark.filterwarnings("ignore")
X = np.array([1.0, 2.0, 3.0])
SWAPPED = X.astype(">f8")
NUMBERS = (2, -1, 0, 2.5, -0.0, True, 1 + 2j, np.float32(2), np.int8(3), np.True_)
OBJECTS = (X, np.array(2, "i1"), None, "a", (1, 2), [0, 1], (), slice(1, 2), {"z": 3}, float)
OF_NUMBERS = """
{k, 1}
[1, 2, 3].index(k)
k in (1, 2)
str(k) * 2
sorted([k, 1, 2])
divmod(k, 2)
round(k)
round(k, 1)
(k.real, k.imag, k.conjugate())
k.is_integer()
hasattr(k, 'shape')
isinstance(k, float)
type(k).__name__
type(k) is float or type(k) is int
np.asarray(k)
not k
bool(k)
complex(k)
k ** 2
2 ** k
k * [1, 2]
'ab' * k
(k < 2, k == 2, 1 <= k < 5)
(k == None, k != 'a', k is None)
k & 1 | 4 ^ k
~k
-k
+k
abs(k)
k + k
k * k * k
range(k)
list(range(k))
slice(k)
np.fromfunction(lambda i: i * k, (3,))
k.__class__.__name__
k.__add__(1)
np.zeros(k)
np.arange(k) * 2
np.linspace(0, k, 5)
np.full((2,), k)
np.eye(3)[k]
[1, 2] * k
k * (1, 2)
k + [1, 2]
k == [1, 2]
[1, 2] == k
k < [1, 2]
k @ [1, 2]
k + 'a'
k == 'a'
'a' * k
np.sqrt(k)
np.add(k, k)
np.add(k, 1)
np.where(k, 1, 2)
np.sum([k, k])
np.abs(k)
np.isnan(k)
np.size(k) + np.ndim(k)
np.shape(k)
np.isscalar(k)
np.iscomplexobj(k)
np.iterable(k)
np.float64(k) is k
k.size if hasattr(k, 'size') else 0
"""
OF_ARRAYS = """
type(x) is np.ndarray
x.dtype
x.shape
x.strides
x.flags.c_contiguous
x.nbytes
x.tolist()
x.item(0)
np.sum(x).item()
x.byteswap()
x.view('i8')
x.view()
x.tobytes()
x.flat[1]
[v for v in x.flat]
1.0 in x
np.may_share_memory(x, x)
memoryview(x)[0]
np.vectorize(lambda t: t + 1)(x)
np.apply_along_axis(lambda t: t + 1, 0, x)
np.piecewise(x, [x > 0], [lambda t: t + 1])
[i for i, _ in np.ndenumerate(x)]
np.array2string(x)
repr(x)
f'{x}'
f'{x!r}'
np.fft.fft(x)
id(x) == id(x)
x.__class__.__name__
x.__array_interface__['shape']
x.__add__(1)
getattr(x, 'ndim')
vars(x)
setattr(x, 'foo', 1)
x.__dict__
callable(x)
iter(x).__next__()
dict(zip('abc', x))
[*x]
(lambda a, b, c: a + b * c)(*x)
np.sum([v * v for v in x])
sum(x)
max(x)
sorted(x)
any(x > 2)
list(reversed(x))
list(enumerate(x))
x.shape == (3,) and x.ndim == 1 and (len(x) == 3)
np.prod(x.shape)
~x.shape[0]
abs(-x.shape[0])
x.shape[0] / 0
float(x.shape[0])
f'{x.shape[0]:3d}'
'%d' % x.shape[0]
str(x.shape)
type(x.shape[0]) is int
isinstance(x.shape[0], int)
{3: 1, 4: 2}[x.shape[0]]
[5, 6, 7, 8, 9][x.shape[0]]
min(x.shape) * x
x.shape[0].bit_length()
round(x.shape[0] / 7, 2)
np.sqrt(x.shape[0])
np.issubdtype(x.dtype, np.floating)
np.can_cast(x.dtype, 'f4')
np.finfo(x.dtype).eps * x
x.item() if x.size == 1 else x
x.base is None
x.copy().base is None
x[1:].base is x
x.flags.writeable
x.ctypes is None
x.dtype == float and x.dtype.kind == 'f'
x.dtype is np.dtype('f8')
x.dtype.byteorder
str(x.dtype)
x.astype('>f8')
x.copy()
x[1:]
x
np.zeros_like(x)
np.concatenate([x, x])
np.sort(x)
x.reshape(1, -1).T
np.where(x > 0, x, x)
np.asarray(x)
x.newbyteorder if hasattr(x, 'newbyteorder') else 0
x.shape[0] - np.int8(3)
np.int8(3) - x.shape[0]
(x.shape[0] // np.int8(2), x.shape[0] % np.int8(2), np.int8(2) // x.shape[0])
x.shape[0] < np.int8(3)
x.shape[0] == np.int64(3)
x.shape[0] != np.int64(3)
np.int64(3) == x.shape[0]
np.int64(3) > x.shape[0]
x[x.shape[0] - np.int64(1)]
x[:x.shape[0] - np.int64(1)]
"""
OF_BOTH = """
{k: x, (k, 1): x * 2}
{x.shape[0]: x, x.shape: x * k}
f'{k:.3f} {x.shape}'
{1: x, 2: x * 3}[k]
max(k, 2) * x
np.array([k, k]) * x[:2]
k if k else x
int(k) + x
float(k) * x
np.float32(k) * x
np.int64(k) * x
k < x
x.searchsorted(k)
'%s %d' % (x.shape, k)
np.linalg.norm(x) * k
(x is x, x is not k)
(x == x).all() and k
x[k]
x[:k]
x[::k]
x.sum(axis=k)
x.reshape(k)
x.astype(k)
np.clip(x, k, None)
np.roll(x, k)
np.repeat(x, k)
np.tile(x, k)
np.round(x * 1.2345, k)
np.take(x, k)
np.take(x, [0, 2])
np.take(x, np.array([True, False]))
x == None
x != "a"
[1, 2] * np.int64(k)
k + [1, 2]
np.power(x, k)
np.expand_dims(x, k)
np.concatenate([x, k])
np.stack([x, k], axis=1)
x @ k
operator.add(x, k)
functools.reduce(lambda a, b: a + b, [x, k, x])
list(map(lambda a: a * k, [x, x]))
{n: x * n for n in range(k)}
x.size / k
x.shape + (k,)
np.array(x.shape) * k
divmod(x.shape[0], k)
x.shape[0] ** k
-x.shape[0] // k
x.shape[0] << k
x.shape[0] & k | 1 ^ k
max(x.shape[0], k)
np.maximum(k, x.shape[0])
np.where(x > 0, k, 0)
np.mean([k, 1, x.shape[0]])
np.result_type(x, k).name
np.array_equal(x, k)
np.allclose(x, k)
x.shape[0] * k
k * x.shape[0]
x.shape[0] >= k
k ** x.shape[0]
"""


@pytest.fixture(autouse=True)
def _verify() -> Iterator[None]:
    with config.override(verify=1):
        yield


def program(expression: str) -> Any:
    """A function of `x` and `k` that gives the value of an expression."""
    return eval(
        f"lambda x, k: {expression}", {"np": np, "operator": operator, "functools": functools}
    )


def asked(text: str) -> list[str]:
    return text.strip().splitlines()


def check(expression: str, calls: list[tuple[Any, Any]]) -> None:
    """One jitted function for all calls."""
    function = program(expression)
    jitted = jit(function)
    for x, k in calls:
        try:
            agrees(function, x, k, jitted=jitted, ulp=4)
        except AssertionError as error:
            raise AssertionError(f"{expression} for x={x!r}, k={k!r}: {error}") from None


@pytest.mark.parametrize("expression", asked(OF_NUMBERS))
def test_numbers_answer_as_numbers_do(expression):
    check(expression, [(X, k) for k in NUMBERS])


@pytest.mark.parametrize("expression", ["k + k", "k * k * k", "-k", "~k", "abs(k)", "k // 7 % 5"])
def test_large_numbers_do_not_wrap(expression):
    check(expression, [(X, k) for k in (2, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63), 2**70)])


@pytest.mark.parametrize("expression", asked(OF_ARRAYS))
def test_arrays_answer_as_arrays_do(expression):
    check(expression, [(x, 1) for x in (X, np.ones((4, 3)), np.float64(2), SWAPPED, X)])


@pytest.mark.parametrize("expression", asked(OF_BOTH))
def test_arrays_and_numbers_together_answer_as_in_numpy(expression):
    check(
        expression, [(X, k) for k in (2, -1, 2.5, True, np.int8(3), X, None, (1, 2), [0, 1], "a")]
    )
    check(expression, [(SWAPPED, 1), (X, 1)])


@pytest.mark.parametrize("expression", ["k == 2", "type(k)", "k is None", "x[k]", "k", "x * k"])
def test_objects_answer_as_objects_do(expression):
    check(expression, [(X, k) for k in OBJECTS])


class Body:
    """An object whose attributes have the names that a stand-in might use, and that compares equal
    to anything.
    """

    SCALE = 2

    def __init__(self) -> None:
        self._name, self._object, self._follower = 3.0, 2.0, 5
        self.weights = np.arange(3.0)

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 5

    def __len__(self) -> int:
        return 4

    def __call__(self, x: Any) -> Any:
        return x + self.weights

    def __getitem__(self, index: int) -> Any:
        return self.weights[index]


BODY = Body()
CACHE = {BODY: 5}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * BODY._name + BODY._object * BODY._follower,
        lambda x: x * type(BODY).SCALE,
        lambda x: x * BODY.__class__.SCALE,
        lambda x: (x, str(BODY)[:5], f"{BODY!r:.5}"),
        lambda x: x * CACHE[BODY],
        lambda x: (x, isinstance(BODY, Body), type(BODY) is Body, BODY in CACHE),
        lambda x: x + (BODY == BODY),
        lambda x: x * len(BODY),
        lambda x: BODY(x) * BODY[1],
        lambda x: x * getattr(BODY, "_name") * hasattr(BODY, "other"),  # noqa: B009
    ],
)
def test_an_object_answers_for_itself(function):
    jitted = agrees(function, X)
    agrees(function, np.ones((4, 3)), jitted=jitted)


@functools.singledispatch
def kind_of(x: Any) -> str:
    return "object"


@kind_of.register
def _(x: float) -> str:
    return "float"


@kind_of.register
def _(x: np.ndarray) -> str:
    return "array"


def matched(k: Any) -> Any:
    match k:
        case int():
            return X * 1
        case float():
            return X * 2
        case [a, b]:
            return X * a + b
        case {"z": z}:
            return X * z
        case _:
            return X * 3


def made_class(k: Any) -> Any:
    class Meta(type):
        pass

    class Made(metaclass=Meta):
        value = 2

    return k * Made.value * type("Other", (), {"a": 2}).a


@pytest.mark.parametrize(
    "function",
    [
        kind_of,
        matched,
        made_class,
        lambda k: (copy.deepcopy(k), copy.copy(k)),
        lambda k: (isinstance(k, type), isinstance(float, type), type(float) is type),
        lambda k: issubclass(type(k), float),
        lambda k: {k: 1, (k, 1): 2} if not isinstance(k, (list, dict, np.ndarray)) else k,
    ],
)
def test_types_decide_as_in_python(function):
    for argument in (2.0, X, 2, True, np.float64(2), None, [1.0, 2.0], {"z": 3}):
        agrees(lambda k: function(k), argument)


BUFFER = bytearray(b"abc")
CHANGING = {
    "buffer": (BUFFER, lambda each: each[0]),
    "memory": (memoryview(BUFFER), lambda each: each[0]),
    "objects": (np.array([1, 2], object), lambda each: each[0]),
    "masked": (np.ma.masked_array([1.0, 2.0]), lambda each: each[0]),
    "polynomial": (np.poly1d([1, 2]), lambda each: each.coeffs[0]),
    "series": (np.polynomial.Polynomial([1.0, 2.0]), lambda each: each.coef[0]),
}


@pytest.mark.parametrize("name", CHANGING)
def test_what_changes_between_calls_is_seen(name):
    holder, first = CHANGING[name]
    function = lambda x: x * first(holder)  # noqa: E731
    jitted = agrees(function, X)
    items = holder.coeffs if name == "polynomial" else getattr(holder, "coef", holder)
    items[0] = 7
    agrees(function, X, jitted=jitted)
    assert jitted(X)[0] == 7


def test_an_iterator_is_consumed_once_at_each_call():
    items = iter(range(1, 10))
    jitted = jit(lambda x: x * next(items))
    assert [jitted(np.ones(1))[0] for _ in range(3)] == [1, 2, 3]
    given = iter(range(1, 10))
    jitted = jit(lambda x, each: x * next(each))
    assert [jitted(np.ones(1), given)[0] for _ in range(3)] == [1, 2, 3]
