"""Assignment to items and writes through views leave in every array what NumPy leaves there."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from traced import agrees, reason

from jitwise import jit
from jitwise.api.remade import remade

GRID = np.arange(12.0).reshape(4, 3)


def through_jit(function, *args, calls: int = 2) -> int:
    """Compare results and arguments of a jitted function and NumPy's; gives the number of traces.
    Nothing may run as Python.
    """
    remade.clear()
    compiled = jit(function)
    for _ in range(calls):
        expected_args, found_args = copy.deepcopy(args), copy.deepcopy(args)
        expected = function(*expected_args)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = compiled(*found_args)
        for one, other in zip(flat(found, *found_args), flat(expected, *expected_args)):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
    return compiled.state.traces


def flat(*items) -> list[np.ndarray]:
    found = []
    for item in items:
        found += flat(*item) if isinstance(item, (tuple, list)) else [np.asarray(item)]
    return found


# Items of arrays made inside


@pytest.mark.parametrize(
    "index",
    [
        0,
        -1,
        (1, 2),
        (slice(None), 0),
        slice(1, -1),
        slice(None, None, -1),
        (slice(None, None, 2), slice(None, None, -2)),
        Ellipsis,
        (Ellipsis, 1),
        (None, 2),
        (slice(2, 2), slice(None)),
        (slice(-1, 0, -2), slice(1, None)),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "c16", "?"])
def test_every_basic_index_can_be_assigned_to(index, dtype):
    def assigned(x, item):
        y = x.copy()
        y[index] = item
        z = x.copy()
        z[index] = x[index]
        w = x.copy()
        w[index] = 1
        return y, z, w

    x = np.arange(12).reshape(4, 3).astype(dtype)
    item = (np.ones_like(x[index]) * 2).astype(dtype)
    assert through_jit(assigned, x, item) == 1
    if item.ndim and dtype != "c16":  # a single number of another kind is left to NumPy
        assert through_jit(assigned, x, item.astype("f8") + 0.5) == 1


def test_an_item_is_broadcast_and_leading_axes_of_one_are_dropped():
    def assigned(x, row, column):
        y = np.zeros_like(x)
        y[1:3] = row
        y[:2] += column[:2]
        y[3] = row[None, None]
        return y

    assert through_jit(assigned, GRID, np.array([5.0, 6, 7]), np.arange(4.0)[:, None]) == 1


def test_one_trace_of_a_stencil_serves_every_length():
    def smooth(x):
        y = np.empty_like(x)
        y[1:-1] = (x[:-2] + x[2:]) / 2
        y[0], y[-1] = x[0], x[-1]
        return y

    assert agrees(smooth, *[[np.sin(np.arange(float(n)))] for n in (2, 3, 10, 1000)]) <= 2


def test_a_part_may_be_assigned_from_another_part_of_the_same_array():
    def moved(x):
        y = x.copy()
        y[1:] = y[:-1]
        y[::-1] = y
        y[:2], y[2:] = y[2:].copy(), y[:2].copy()
        return y

    assert through_jit(moved, GRID) == 1


def test_a_recurrence_reads_what_it_wrote():
    def recurrence(x):
        y = np.zeros(20)
        y[0] = x[0]
        for place in range(1, 20):
            y[place] = y[place - 1] * 0.5 + x[place]
        return y

    assert through_jit(recurrence, np.sin(np.arange(20.0))) == 1


def test_a_mask_takes_numbers_and_rows():
    def masked(x, row):
        y = x.copy()
        y[y > 7] = 0
        y[x[:, 0] == 3] = row
        return y

    assert through_jit(masked, GRID, np.array([-1.0, -2, -3])) == 1


@pytest.mark.parametrize(
    "assign",
    [
        lambda y: y.__setitem__(9, 1),
        lambda y: y.__setitem__((0, 0, 0), 1),
        lambda y: y.__setitem__(0, [1.0, 2]),
        lambda y: y.__setitem__(y > 100, np.ones((2, 2))),
        lambda y: y.__setitem__(np.ones(3, bool), 1),
        lambda y: np.broadcast_to(y, (2, 4, 3)).__setitem__(0, 1),
        lambda y: y.astype("u1").__setitem__(0, 256),
        lambda y: y.__setitem__(0, 1j),
        lambda y: y.astype("i8").__setitem__(0, float("nan")),
        lambda y: y.astype("i8").__iadd__(0.5),
        lambda y: y[0, 0].__setitem__(0, 1),
    ],
)
def test_what_numpy_refuses_raises_numpys_error(assign):
    def function(x):
        y = x * 1
        assign(y)
        return y

    with pytest.raises(Exception) as expected:
        function(GRID)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(type(expected.value)) as found:
            jit(function)(GRID)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    ("item", "dtype"), [(1.7, "i8"), (-1.7, "i4"), (True, "f8"), (3, "c16"), (2.5, "f2"), (7, "?")]
)
def test_a_number_becomes_what_numpy_makes_of_it(item, dtype):
    def assigned(x):
        y = x.copy()
        y[1] = item
        return y

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = np.zeros(3, dtype)
        np.testing.assert_array_equal(jit(assigned)(x), assigned(x))


# Views


def test_writes_through_views_and_bases_are_seen_by_both():
    def through_views(x):
        doubled = x * 2
        view = doubled[1:]
        view += 1
        turned = doubled.T
        turned[0] = 7
        doubled[2, 1] = -1
        column = doubled[:, None, 1]
        column[...] = column * 2
        flipped = np.flip(doubled, 0)
        flipped[0] = flipped[1]
        copied = doubled[1:].copy()
        copied += 100
        return doubled, view, turned, column, flipped, copied

    assert through_jit(through_views, GRID) == 1


def test_rows_that_are_iterated_over_are_views():
    def centred(x):
        y = x.copy()
        for row in y:
            row -= row.mean()
        return y

    assert through_jit(centred, GRID) == 1


def test_out_fill_and_copyto_write_through_views():
    def written(x):
        y = x * 1
        np.add(y[0], y[1], out=y[2])
        np.multiply(y, 2, out=y)
        y[:, 1].fill(9)
        np.copyto(y[3], x[0], where=x[0] > 0)
        np.copyto(y[:1], 4)
        return y

    assert through_jit(written, GRID) == 1


def test_what_may_be_a_view_or_a_copy_is_not_written_to():
    def merged(x):
        y = x * 1
        flat = y.reshape(-1)
        flat[0] = 5
        return y

    def behind_einsum(x):
        y = x * 1
        turned = np.einsum("ij->ji", y)
        turned += 1
        return y

    def raveled_view(x):
        y = x[0] * 1
        part = y[::2].ravel()
        part[0] = 3
        return y

    for function in (merged, behind_einsum, raveled_view):
        assert reason(function, GRID) == "assign"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(jit(function)(GRID), function(GRID))


@pytest.mark.parametrize(
    "change",
    [
        lambda x, n: np.add(x, 1, out=n),
        lambda x, n: np.add(x[0, 0], 1, out=x[0, 0]),
        lambda x, n: np.copyto(n, 3),
        lambda x, n: np.add.at(n, [0], 1),
        lambda x, n: x[0, 0].sort(),
    ],
)
def test_numbers_are_not_written_to(change):
    def function(x, n):
        change(x, n)
        return n * 2 + x[0, 0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = []
        for each in (function, jit(function), jit(function)):
            try:
                outcomes.append(each(GRID.copy(), 2.5))
            except (TypeError, ValueError) as error:
                outcomes.append((type(error), str(error)))
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_what_reshape_only_splits_is_a_view():
    def split(x):
        y = x * 1
        wide = y.reshape(*y.shape, 1)
        wide[1] = 3
        halves = y[:, 0].reshape(2, y.shape[0] // 2)
        halves[1] += 1
        return y

    assert through_jit(split, GRID) == 1


# Arguments


def test_arguments_are_changed_in_place_and_may_be_returned():
    def changed(x, y):
        x[0] = y[1]
        x += 1
        y[:, 1] *= x[:, 0]
        return x, x[1:]

    assert through_jit(changed, GRID, GRID + 100) == 1
    x, y = GRID.copy(), GRID.copy()
    result = jit(changed)(x, y)
    assert result[0] is x
    assert not np.shares_memory(result[1], x)


def test_two_arguments_can_be_swapped():
    def swapped(x, y):
        x[:], y[:] = y.copy(), x.copy()

    assert through_jit(swapped, GRID, GRID + 100) == 1


def test_arguments_that_kernels_write_over_are_read_before():
    def shifted(x, y):
        y[:] = x[::-1] * 1
        x += 1
        return x

    def exchanged(x, y):
        z = x[1:]
        x *= 2
        y[1:] = z
        y[0] = 0

    def reversed_product(x, y):
        x *= x[::-1]
        y -= x
        return y.sum()

    def old_and_new(x, y):
        z = x * 1
        x += y
        return z, x[::2]

    for function in (shifted, exchanged, reversed_product, old_and_new):
        assert through_jit(function, GRID, GRID + 100) == 1
        assert through_jit(function, GRID[:, ::-1], np.asfortranarray(GRID + 100)) == 1


@pytest.mark.parametrize("layout", [lambda x: x.T, lambda x: x[::-1, ::2], np.asfortranarray])
def test_arguments_of_every_layout_are_written_to(layout):
    def changed(x):
        x[1:] *= 2
        x[0] = x[-1]

    compiled = jit(changed)
    one, other = GRID.copy(), GRID.copy()
    changed(layout(one))
    compiled(layout(other))
    np.testing.assert_array_equal(one, other)


def test_arguments_that_share_memory_are_left_to_numpy():
    def shifted(x, y):
        x[0] = y[0] * 2
        y[1] = x[0]

    compiled = jit(shifted)
    for parts in (lambda a: (a, a), lambda a: (a[1:], a[:-1]), lambda a: (a[:1], a[2:])):
        one, other = GRID.copy(), GRID.copy()
        for function, array in ((shifted, one), (compiled, other)):
            pair = parts(array)
            try:
                function(*pair)
            except IndexError:
                continue
        np.testing.assert_array_equal(one, other)
    separate = GRID.copy(), GRID.copy()
    compiled(*separate)
    np.testing.assert_array_equal(separate[1][1], GRID[0] * 2)


def test_a_read_only_argument_raises_numpys_error_and_others_stay_compiled():
    def changed(x):
        x[0] = 1
        return x

    compiled = jit(changed)
    locked = GRID.copy()
    locked.flags.writeable = False
    compiled(GRID.copy())
    with pytest.raises(ValueError, match="read-only"):
        compiled(locked)
    assert compiled(GRID.copy())[0, 0] == 1


def test_nothing_is_written_when_the_function_raises():
    def fails(x, n):
        x[0] = 5
        x[n] = 7

    array = GRID.copy()
    with pytest.raises(IndexError):
        fails(array, 10)
    other = GRID.copy()
    with pytest.raises(IndexError):
        jit(fails)(other, 10)
    np.testing.assert_array_equal(array, other)


def test_a_view_of_equal_elements_is_still_a_view():
    def filled(x):
        y = x * 0
        y[...] = 1
        flipped = y[:, ::-1]
        y[0, 0] = 12
        return y, flipped

    assert through_jit(filled, GRID) == 1


# Positions

POSITIONS = [
    lambda x, i, j: x[i],
    lambda x, i, j: x[i, j],
    lambda x, i, j: x[:, i],
    lambda x, i, j: x[1:, j],
    lambda x, i, j: x[i, None, j],
    lambda x, i, j: x[i, ::-1],
    lambda x, i, j: x[i[:, None], j],
    lambda x, i, j: x[[0, 2, -1]],
    lambda x, i, j: x[[0, 2], [1, 1]],
    lambda x, i, j: x[..., j],
    lambda x, i, j: x[i[0]],
    lambda x, i, j: x[i[0], j[1]],
    lambda x, i, j: x[i[0], ...],
    lambda x, i, j: x[0, j],
    lambda x, i, j: x[[]],
    lambda x, i, j: x[(i % 3).astype("u1"), 1],
    lambda x, i, j: x[np.array([[0, 1], [1, 0]])],
    lambda x, i, j: x.take(i, axis=1),
    lambda x, i, j: np.take(x, i),
    lambda x, i, j: x[:, None][i[0], :, j],
]


@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "c8"])
def test_arrays_of_positions_take_what_numpy_takes(dtype):
    x = np.arange(12).reshape(4, 3).astype(dtype)
    i, j = np.array([2, 0, -1, 1, 1]), np.array([0, -1, 2, 0, 1])
    for function in POSITIONS:
        assert through_jit(function, x, i, j) == 1


def test_one_trace_of_positions_serves_every_length():
    counts = [[np.arange(float(n)), np.arange(k) % n] for n, k in ((5, 3), (9, 12), (4, 0))]
    assert agrees(lambda x, i: x[i] * 2 + x[i].sum(), *counts) == 1


def test_a_position_out_of_bounds_raises_numpys_error_and_writes_nothing():
    def read(x, i):
        return x[i]

    def write(x, i):
        x[0] = 100
        x[i] = 5

    for function in (read, write):
        compiled = jit(function)
        compiled(GRID.copy(), np.array([0, 1]))
        for bad in (np.array([0, 4]), np.array([-5, 0])):
            array = GRID.copy()
            with pytest.raises(IndexError) as expected:
                function(GRID.copy(), bad)
            with pytest.raises(IndexError) as found:
                compiled(array, bad)
            assert str(found.value) == str(expected.value)
        compiled(GRID.copy(), np.array([0, 1]))
        assert compiled.state.traces == 1


def test_positions_are_assigned_to_and_the_last_of_equal_ones_counts():
    def assigned(x, i, j, v):
        y = x.copy()
        y[i] = v[:, None]
        y[i, j] = v
        y[:, 1][i[1:3]] = 7
        y[i[0]] += 1
        y[i[0]][j] = 3
        y[1:, j[:2]] = [[5.0, 6]]
        row = y[i[2]]
        row *= 2
        return y, row

    i, j = np.array([2, 0, -1, 1, 1]), np.array([0, -1, 2, 0, 0])
    assert through_jit(assigned, GRID, i, j, np.arange(5.0) * 10) == 1


def test_equal_positions_are_combined_by_at_and_not_by_operators():
    def combined(x, i, v):
        y, z = x.copy(), x.copy()
        np.add.at(y, i, v[:, None])
        np.maximum.at(y, (i, 1), 3)
        z[i] += v[:, None]
        return y, z

    i = np.array([2, 0, 2, 2, 1])
    assert through_jit(combined, GRID, i, np.arange(5.0)) == 1


def test_an_int_beside_positions_is_checked_where_nothing_is_taken():
    def taken(x, i):
        return x[i, 0]

    compiled = jit(taken)
    empty = np.zeros(0, int)
    np.testing.assert_array_equal(compiled(GRID, empty), taken(GRID, empty))
    with pytest.raises(IndexError):
        taken(np.ones((5, 0)), empty)
    with pytest.raises(IndexError):
        compiled(np.ones((5, 0)), empty)


@pytest.mark.parametrize(
    "use",
    [
        lambda x, i: x[i],
        lambda x, i: x.copy().__setitem__(i, 1),
        lambda x, i: np.add.at(x.copy(), i, 1),
        lambda x, i: np.take(x, i, axis=0),
    ],
)
def test_an_index_out_of_bounds_raises_when_nothing_is_made_of_it(use):
    def function(x, i):
        use(x, i)
        return x * 2

    compiled = jit(function)
    compiled(GRID, np.array([0, 1]))
    with pytest.raises(IndexError):
        compiled(GRID, np.array([0, 9]))


def test_an_index_out_of_bounds_that_the_function_catches_is_no_fault():
    def function(x, i):
        try:
            x[i]
        except IndexError:
            return 0
        return 1

    compiled = jit(function)
    bad, good = np.array([0, 9]), np.array([0, 1])
    assert [compiled(GRID, each) for each in (good, bad, good, bad)] == [1, 0, 1, 0]
