"""Writes through `ravel` and `reshape` of arrays that are sure to lie in C order reach them,
whatever the order of the arguments is; empty arrays are changed in place like others.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from jitwise import jit

MAKERS = {
    "zeros": lambda x: np.zeros((3, 4)),
    "ones": lambda x: np.ones(x.shape),
    "full": lambda x: np.full(x.shape, 7.0),
    "copy": lambda x: x.copy(),
    "copy of a computed array": lambda x: (x * 2).copy(),
    "copy of a transpose": lambda x: x.T.copy().reshape(x.shape),
}
WRITERS = {
    "ravel": lambda y, x: y.ravel().__setitem__(slice(1, 5), 5.0),
    "reshape": lambda y, x: y.reshape(-1).__setitem__(slice(None), x.ravel() * 3),
    "twice": lambda y, x: y.reshape(2, -1).ravel().__setitem__(3, -1.0),
    "rows": lambda y, x: y.reshape(2, 2, 3)[1].__setitem__((slice(None), 0), 8.0),
    "method": lambda y, x: y.reshape(-1).fill(2.5),
}


def compare(function, x):
    jitted = jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            argument, expected = x.copy(order="K"), x.copy(order="K")
            found = jitted(argument)
            np.testing.assert_array_equal(found, function(expected))
            np.testing.assert_array_equal(argument, expected)
    return jitted


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("maker", MAKERS)
def test_a_reshape_of_what_lies_in_c_order_is_a_view(maker, writer, order):
    make, write = MAKERS[maker], WRITERS[writer]

    def function(x):
        y = make(x)
        write(y, x)
        return y * 1

    compare(function, np.asarray(np.arange(12.0).reshape(3, 4), order=order))


@pytest.mark.parametrize("order", "CF")
@pytest.mark.filterwarnings("ignore")
def test_what_may_lie_in_another_order_is_numpys_affair(order):
    def sliced(x):
        y = x.copy()
        part = y[:, :2].ravel()
        part[0] = 100
        return y, part

    def transposed(x):
        y = np.zeros((3, 4))
        y.T.ravel()[:] = 1
        return y + x

    def computed(x):
        y = x * 2
        y.ravel()[0] = 5
        return y

    x = np.asarray(np.arange(12.0).reshape(3, 4), order=order)
    for function in (sliced, transposed, computed):
        for one, other in zip(jit(function)(x), function(x), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0, 2)])
def test_an_empty_argument_is_changed_in_place_as_others_are(shape):
    def function(x):
        x += 1
        x[...] = 2
        return x

    jitted = compare(function, np.zeros(shape))
    argument = np.zeros(tuple(size + 2 for size in shape))
    assert jitted(argument) is argument and (argument == 2).all()
    assert jitted.state.traces == 1


RAVELS = {
    "written": lambda x: np.ravel(x).__iadd__(10),
    "filled": lambda x: (x.ravel(), x.fill(2))[0],
    "element": lambda x: x.ravel().__setitem__(0, 7),
    "part": lambda x: np.array_split(x.ravel(), 2)[1].__imul__(3),
    "contiguous": lambda x: np.ascontiguousarray(x).__iadd__(1),
}


@pytest.mark.parametrize("name", RAVELS)
@pytest.mark.filterwarnings("ignore")
def test_a_ravel_of_elements_that_lie_apart_is_a_copy(name):
    function = RAVELS[name]
    jitted = jit(function)
    layouts = [
        lambda: np.arange(6.0),
        lambda: np.arange(12.0)[::2],
        lambda: np.arange(6.0)[::-1],
        lambda: np.arange(12.0).reshape(1, 12)[:, ::2],
        lambda: np.arange(12.0).reshape(6, 2)[:, :1],
        lambda: np.arange(6.0).reshape(2, 3),
        lambda: np.arange(6.0).reshape(2, 3).T,
    ]
    for make in layouts + layouts:
        argument, same = make(), make()
        found, expected = jitted(argument), function(same)
        np.testing.assert_array_equal(np.asarray(found, float), np.asarray(expected, float))
        np.testing.assert_array_equal(argument, same)


SEQUENCES = [
    lambda x, i: x.__setitem__(1, x[2:3]),
    lambda x, i: x.__setitem__(-1, np.ones((1, 1))),
    lambda x, i: x.__setitem__(i[0], x[1:2]),
    lambda x, i: x.reshape(2, 2).__setitem__((0, 1), x[:1]),
    lambda x, i: x.__setitem__((1, Ellipsis), x[2:3]),
    lambda x, i: x.__setitem__(slice(1, 2), x[2:3]),
    lambda x, i: x.__setitem__(1, x[2:3].sum()),
    lambda x, i: x.__setitem__(1, np.array(5.0)),
]


@pytest.mark.parametrize("number", range(len(SEQUENCES)))
@pytest.mark.filterwarnings("ignore")
def test_an_array_with_axes_is_no_element(number):
    function, places = SEQUENCES[number], np.array([2, 0])
    jitted, argument, same = jit(function), np.arange(4.0), np.arange(4.0)
    for _ in range(2):
        try:
            function(same, places)
        except ValueError:
            with pytest.raises(ValueError):
                jitted(argument, places)
        else:
            jitted(argument, places)
        np.testing.assert_array_equal(argument, same)
