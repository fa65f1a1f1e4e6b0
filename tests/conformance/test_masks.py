"""`x[mask]` and `x[mask] = v` are NumPy's for every kind, layout and density, and one program
serves every count.
"""

from __future__ import annotations

import numpy as np
import pytest
from compiled import agree, raises

from jitwise import jit

random = np.random.default_rng(0)
DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
DENSITIES = [0.0, 0.02, 0.5, 0.98, 1.0]
SHAPE = (4, 5, 3)


def layouts(array):
    """The same elements, stored in other ways."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return [
        array,
        np.asfortranarray(array),
        wide[..., ::2],
        np.flip(np.flip(array).copy()),
        array.astype(array.dtype.newbyteorder("=")),
    ]


def numbers(shape, dtype):
    return (random.random(shape) * 200 - 50 * (np.dtype(dtype).kind != "u")).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_read_and_replaced_in_every_dtype_density_and_layout(dtype):
    def program(x, mask, item):
        y = x.copy()
        y[mask] = item[mask]
        z = x.copy()
        z[mask] = 1
        return x[mask], x[~mask], y, z

    calls = []
    for size in (0, 1, 7, 64, 67, 300):
        for density in DENSITIES:
            x, item = numbers(size, dtype), numbers(size, dtype)
            mask = random.random(size) < density
            calls += [[each, mask, item] for each in layouts(x)]
            calls.append([x, layouts(mask)[2], item[::-1]])
    assert agree(program, *calls, times=1) == (1, 1)


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "c16"])
def test_rows_and_columns_are_read_and_replaced_in_every_layout(dtype):
    def program(x, rows, columns, item):
        y = x.copy()
        y[rows] = item[rows]
        z = x.copy()
        z[:, columns] = item[:, columns]
        w = x.copy()
        w[rows] = item[0]
        return x[rows], x[:, columns], x[rows][:, columns], y, z, w

    calls = []
    for shape in ((4, 5), (70, 3), (3, 70), (0, 4), (4, 0), (130, 1)):
        for density in DENSITIES:
            x, item = numbers(shape, dtype), numbers(shape, dtype)
            rows, columns = random.random(shape[0]) < density, random.random(shape[1]) < density
            if 0 not in shape:
                calls += [[each, rows, columns, item] for each in layouts(x)]
    assert agree(program, *calls, times=1).traces <= 2  # a size of 1 broadcasts


ALL, CAPTURED = slice(None), np.array([True, False, False, True])
# Indices with masks `a`, `b` and `c` along the axes of an array `x` of three.
INDICES = {
    "first axis": lambda x, a, b, c: a,
    "in a tuple": lambda x, a, b, c: (a,),
    "second axis": lambda x, a, b, c: (ALL, b),
    "last axis": lambda x, a, b, c: (..., c),
    "after an ellipsis": lambda x, a, b, c: (..., b, ALL),
    "before an ellipsis": lambda x, a, b, c: (a, ...),
    "two axes": lambda x, a, b, c: a[:, None] & b,
    "later two axes": lambda x, a, b, c: (ALL, b[:, None] & c),
    "all axes": lambda x, a, b, c: a[:, None, None] & b[:, None] | c,
    "all axes, computed": lambda x, a, b, c: x > 0,
    "beside a slice": lambda x, a, b, c: (a, slice(1, -1)),
    "beside slices": lambda x, a, b, c: (slice(None, None, 2), b, slice(None, None, -1)),
    "after a new axis": lambda x, a, b, c: (None, a),
    "before a new axis": lambda x, a, b, c: (a, None, ALL, slice(None, None, 2)),
    "beside an int": lambda x, a, b, c: (a, 0),
    "after an int": lambda x, a, b, c: (-1, b),
    "apart from an int": lambda x, a, b, c: (0, ALL, c),
    "beside one position": lambda x, a, b, c: (a, np.array([1])),
    "bools": lambda x, a, b, c: [True, False, True, True],
    "bools beside a slice": lambda x, a, b, c: (slice(1, 3), [True, False, True, True, False]),
    "True": lambda x, a, b, c: True,
    "False": lambda x, a, b, c: False,
    "True of numpy": lambda x, a, b, c: np.True_,
    "True along a slice": lambda x, a, b, c: (ALL, True),
    "an answer": lambda x, a, b, c: x.sum() > 0,
    "captured": lambda x, a, b, c: CAPTURED,
}


def masks(density):
    return [random.random(size) < density for size in SHAPE]


def few_compilations(name):
    """One, and another where one position or one row broadcasts."""
    return 2 if "position" in name or "int" in name else 1


@pytest.mark.parametrize("name", INDICES)
def test_a_mask_may_stand_where_numpy_allows_it(name):
    index = INDICES[name]
    calls = [[numbers(SHAPE, "f8"), *masks(density)] for density in DENSITIES]
    counts = agree(lambda x, a, b, c: x[index(x, a, b, c)], *calls)
    assert counts.compiles <= few_compilations(name)


@pytest.mark.parametrize("name", INDICES)
def test_what_a_mask_takes_can_be_assigned_to(name):
    index = INDICES[name]

    def zeroed(x, a, b, c):
        x[index(x, a, b, c)] = 0
        return x.max()

    def doubled(x, a, b, c):
        y = x + 1
        y[index(x, a, b, c)] *= 2
        y[index(x, a, b, c)] += y[index(x, a, b, c)]
        return y

    def through_a_view(x, a, b, c):
        y = np.zeros((6, 5, 3))
        part = y[1:-1]
        part[index(x, a, b, c)] = x[index(x, a, b, c)]
        return y, part

    calls = [[numbers(SHAPE, "f8"), *masks(density)] for density in DENSITIES]
    for program in (zeroed, doubled, through_a_view):
        assert agree(program, *calls).compiles <= few_compilations(name)


VIEWS = {
    "of a transposed array": lambda x, a, b, c: x.T[c],
    "of part of an array": lambda x, a, b, c: x[1:, ::-1][:, b],
    "of masked elements": lambda x, a, b, c: x[a][x[a][:, 0, 0] > 0],
    "one after the other": lambda x, a, b, c: x[a][:, b][..., c],
    "of a scalar": lambda x, a, b, c: x[0, 0, 0][x[0, 0, 0] > 0],
    "of a reshaped array": lambda x, a, b, c: x.reshape(4, -1)[a],
    "made longer": lambda x, a, b, c: np.concatenate([x[a], x[~a]]),
    "stacked": lambda x, a, b, c: np.stack([x[a] + 1, x[a]], axis=1),
    "broadcast": lambda x, a, b, c: x[a] - x[a].sum(axis=0) + x[0],
    "an outer product": lambda x, a, b, c: x[a][:, None, 0] * x[a][None, :, 0],
    "a matrix product": lambda x, a, b, c: x[a, :, 0] @ x[a, :, 0].T,
    "reshaped": lambda x, a, b, c: x[a].reshape(-1, 3)[:, ::-1],
    "flat": lambda x, a, b, c: x[x > 10].cumsum(),
    "rolled": lambda x, a, b, c: np.roll(x[a], 1, axis=0),
    "empty all the same": lambda x, a, b, c: x[a & ~a].sum(axis=0),
}


@pytest.mark.parametrize("name", VIEWS)
def test_masked_elements_go_through_everything_else(name):
    calls = [[numbers(SHAPE, "i8"), *masks(density)] for density in (0.5, 0.4, 0.7, 0.6)]
    assert agree(VIEWS[name], *calls).compiles <= 2


REFUSED = {
    "a mask too short": lambda x: x[np.ones(3, bool)],
    "a mask too long": lambda x: x[np.ones(9, bool)],
    "a list too short": lambda x: x[[True, False]],
    "too many axes": lambda x: x[np.ones((4, 5, 2), bool)],
    "of another shape": lambda x: x[np.ones((5, 4), bool)],
    "after all axes": lambda x: x[:, :, np.ones(4, bool)],
    "too many items": lambda x: x.__setitem__(x > 3, np.arange(50.0)),
    "items of another count": lambda x: x.__setitem__(x > 3, x[x <= 3]),
    "rows of another length": lambda x: x.__setitem__(x[:, 0] > 3, np.arange(4.0)),
    "the largest of nothing": lambda x: x[x > 1000].max(),
    "the place of nothing": lambda x: x[x > 1000].argmin(),
    "masks of two counts": lambda x: x[
        [True, True, False, False], [True, True, True, False, False]
    ],
    "sums of two counts": lambda x: x[x > 3] + x[x <= 3],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_numpy_refuses_raises_numpys_exception(name):
    function = REFUSED[name]
    x = np.arange(20.0).reshape(4, 5)
    assert raises(function, [x], [x + 1])
    assert raises(lambda x: function(x * 1), [x], [x + 1])


def test_a_count_that_fits_in_one_call_and_not_in_the_next_raises_in_the_next():
    def replaced(x, item):
        x[x > 3] = item
        return x

    x = np.arange(8.0)
    calls = [[x, np.ones(4)], [x + 1, np.ones(4)], [x, np.ones(4)], [x - 1, np.ones(3)]]
    assert raises(replaced, *calls) == {ValueError}
    largest = lambda x: x[x > 3].max()  # noqa: E731
    assert raises(largest, [x], [x - 9], [x + 1], [x - 20]) == {ValueError}


def test_nothing_is_written_when_a_later_count_does_not_fit():
    def replaced(x, y, item):
        x[x > 3] = 0
        y[y > 3] = item

    x = np.arange(8.0)
    calls = [[x, x + 0, np.ones(4)], [x, x + 1, np.ones(4)], [x, x + 0, np.ones(4)]]
    assert raises(replaced, *calls) == {ValueError}


def test_a_captured_mask_that_is_written_to_is_seen():
    mask = np.array([True, False, True])
    compiled = jit(lambda x: x[mask])
    x = np.arange(3.0)
    for chosen in ([True, False, True], [False, False, False], [True, True, True]):
        mask[:] = chosen
        np.testing.assert_array_equal(compiled(x), x[chosen])
    assert compiled.state.traces == 1


def test_masks_combine_with_ufuncs_at_their_places():
    def program(x, mask, item):
        y = x.copy()
        np.add.at(y, mask, item)
        z = x.copy()
        np.multiply.at(z, (slice(None), mask[:3]), 2)
        return y, z

    calls = [[numbers((5, 3), "f8"), random.random(5) < 0.5, 3.0] for _ in range(4)]
    assert agree(program, *calls).compiles <= 2
