"""NumPy's functions on traced arrays give NumPy's value, dtype, shape and kind."""

from __future__ import annotations

import numpy as np
import pytest
from traced import Program, agrees, reason

DTYPES = ["bool", "i1", "i4", "i8", "u1", "u8", "f2", "f4", "f8", "c8", "c16"]
TOLERANCE = {"f2": 2e-2, "f4": 1e-5, "c8": 1e-5, "f8": 1e-13, "c16": 1e-13}  # sums: any order
SHAPES = [(4, 6), (3, 6), (8, 10)]
SMALL = [(0, 3), (1, 3), (3, 1), (1, 1), (2, 5)]
random = np.random.default_rng(7)


def sample(shape, dtype="f8"):
    values = random.normal(size=shape) * 3
    if np.dtype(dtype).kind in "iu":
        values = np.floor(np.abs(values) if np.dtype(dtype).kind == "u" else values)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * random.normal(size=shape)
    if np.dtype(dtype).kind == "b":
        values = values > 0
    return values.astype(dtype)


def calls(shapes=SHAPES, dtype="f8"):
    return [[sample(shape, dtype)] for shape in shapes]


# Reductions

REDUCTIONS = ["sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "argmax", "argmin"]
AXES = [None, 0, 1, -1, (0, 1), (-1, 0), ()]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*REDUCTIONS, "ptp", "count_nonzero"])
def test_one_trace_of_a_reduction_serves_every_length(name, dtype):
    if (name, dtype) == ("ptp", "bool"):
        pytest.skip("NumPy refuses to subtract booleans")
    function = getattr(np, name)
    tolerance = TOLERANCE.get(dtype, 1e-13)
    for axis in AXES:
        if name.startswith("arg") and isinstance(axis, tuple):
            continue
        for keepdims in (False, True):
            traces = agrees(
                lambda x, axis=axis, keepdims=keepdims: function(x, axis=axis, keepdims=keepdims),
                *calls(dtype=dtype),
                tolerance=tolerance,
            )
            assert traces == 1, f"axis={axis}"


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "count_nonzero"])
@pytest.mark.parametrize("axis", AXES)
def test_a_reduction_of_nothing_has_numpys_identity(name, axis):
    function = getattr(np, name)
    agrees(lambda x: function(x, axis=axis), *calls(SMALL), tolerance=1e-13)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "ptp"])
def test_an_extremum_of_nothing_is_left_to_numpy_which_raises(name):
    function = getattr(np, name)
    assert reason(lambda x: function(x, axis=0), np.zeros((0, 3))) == "error"
    assert reason(lambda x: function(x), np.zeros(0)) == "error"


def test_an_extremum_traced_for_some_elements_is_not_used_for_none():
    program = Program(lambda x: x.max(), [np.arange(5.0)])
    assert program.holds([np.arange(9.0)])
    assert not program.holds([np.zeros(0)])


@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_a_mean_of_nothing_of_which_numpy_warns_is_not_traced(name):
    function = getattr(np, name)
    assert reason(lambda x: function(x), np.zeros(0)) == "size"
    assert not Program(lambda x: function(x), [np.arange(5.0)]).holds([np.zeros(0)])


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "sum", "mean"])
def test_nan_and_signed_zeros_reduce_as_in_numpy(name):
    function = getattr(np, name)
    data = [[1, np.nan, 3, np.nan], [0.0, -0.0, 0.0], [np.inf, -np.inf, 1], [-0.0, -0.0]]
    for items in data:
        agrees(lambda x: function(x), [np.array(items)])


@pytest.mark.parametrize("name", ["sum", "mean", "max", "var", "cumsum", "any", "argmax", "norm"])
def test_reductions_of_zero_dimensional_arrays_and_scalars_give_scalars(name):
    function = np.linalg.norm if name == "norm" else getattr(np, name)
    agrees(lambda x: function(x), [np.array(2.5)], [np.array(-1.0)])
    agrees(lambda x: function(x), [np.float32(2.5)], [np.float32(-1.0)])
    agrees(lambda x: function(x), [2.5], [-1.0])
    agrees(lambda x: function(x), [3], [4])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sum(axis=-1, keepdims=True),
        lambda x: x.mean(0),
        lambda x: x.var(ddof=1),
        lambda x: x.std(axis=0, ddof=1),
        lambda x: np.var(x, correction=1),
        lambda x: np.var(x, axis=1, ddof=2.0),
        lambda x: np.sum(x, dtype=np.float32),
        lambda x: np.sum(x, 0, np.complex128),
        lambda x: np.sum(x, axis=0, initial=2.0),
        lambda x: np.max(x, initial=100.0),
        lambda x: np.min(x, axis=1, initial=0),
        lambda x: np.mean(x, dtype="f4"),
        lambda x: np.average(x),
        lambda x: np.average(x, axis=0, weights=np.arange(1.0, x.shape[0] + 1)),
        lambda x: np.average(x, weights=abs(x)),
        lambda x: np.average(x, axis=1, weights=abs(x), keepdims=True),
        lambda x: np.linalg.norm(x),
        lambda x: np.linalg.norm(x, keepdims=True),
        lambda x: np.linalg.norm(x, axis=1),
        lambda x: np.linalg.norm(x, ord=1, axis=0),
        lambda x: np.linalg.norm(x, ord=0, axis=0),
        lambda x: np.linalg.norm(x, np.inf, axis=0),
        lambda x: np.linalg.norm(x, -np.inf, axis=1, keepdims=True),
        lambda x: np.linalg.norm(x, "fro"),
        lambda x: np.linalg.vector_norm(x, axis=1),
        lambda x: np.linalg.norm(x, 1),
        lambda x: np.linalg.norm(x, -np.inf),
        lambda x: np.linalg.norm(x, np.inf, keepdims=True),
        lambda x: np.linalg.norm(x[None] * 2, 1, axis=(2, 1)),
        lambda x: np.linalg.norm(x[None] * 2, -1, axis=(0, 2), keepdims=True),
        lambda x: np.cumulative_sum(x, axis=1),
        lambda x: np.cumulative_prod(x[0]),
        lambda x: np.add.reduce(x),
        lambda x: np.add.reduce(x, axis=1, keepdims=True),
        lambda x: np.maximum.reduce(x, axis=1),
        lambda x: np.logical_and.reduce(x, axis=None),
        lambda x: np.nansum(np.where(x > 1, np.nan, x), axis=0),
        lambda x: np.nanprod(np.where(x > 1, np.nan, x)),
        lambda x: np.cumsum(x),
        lambda x: np.cumsum(x, axis=0),
        lambda x: x.cumprod(axis=1),
        lambda x: np.add.accumulate(x, axis=1),
        lambda x: np.maximum.accumulate(x),
        lambda x: x.argmax(axis=1, keepdims=True),
    ],
)
def test_options_of_reductions_mean_what_they_mean_in_numpy(function):
    assert agrees(function, *calls(), tolerance=1e-6) == 1


def test_an_unsupported_option_runs_as_python():
    x = np.arange(6.0)
    assert reason(lambda x: np.sum(x, initial=np.float32(1)), x) == "argument"
    assert reason(lambda x: np.add(x, 1, where=x > 1), x) == "argument"
    assert reason(lambda x: x.sum(axis=3), x) == "error"
    assert reason(lambda x: np.var(x, ddof="1"), x) == "argument"


def test_weights_of_another_shape_are_left_to_numpy_which_raises():
    x = np.ones((3, 4))
    assert reason(lambda x: np.average(x, weights=np.ones((3, 1))), x) == "error"
    assert reason(lambda x: np.average(x, axis=1, weights=np.ones(3)), x) == "error"


@pytest.mark.parametrize("dtype", ["i4", "u1", "f2", "f4", "f8", "c8", "bool"])
def test_statistics_of_every_dtype_keep_numpys_dtype(dtype):
    functions = [
        lambda x: np.average(x, axis=0),
        lambda x: np.average(x, axis=0, weights=np.arange(1.0, 5.0, dtype="f4")[: x.shape[0]]),
        lambda x: np.linalg.norm(x),
        lambda x: np.linalg.norm(x, axis=0),
        lambda x: np.cumsum(x, axis=0),
        lambda x: np.cumprod(x[:, :2], axis=0),
        lambda x: np.trace(x),
        lambda x: np.ptp(x, axis=0) if x.dtype.kind != "b" else x,
        lambda x: np.sum(x, axis=0, dtype="c16" if x.dtype.kind == "c" else "i4"),
        lambda x: np.max(x, axis=1) - np.min(x, axis=1) if x.dtype.kind != "b" else x,
    ]
    for function in functions:
        agrees(function, [sample((4, 6), dtype)], tolerance=max(TOLERANCE.get(dtype, 0), 1e-6))


def test_weights_that_sum_to_zero_are_noticed_at_run_time():
    program = Program(lambda x, w: np.average(x, weights=w), [np.arange(3.0), np.ones(3)])
    from jitwise.ops.control import CheckFailed

    with pytest.raises(CheckFailed):
        program([np.arange(3.0), np.array([1.0, -1.0, 0.0])])


# Shapes

SHAPE_FUNCTIONS = [
    lambda x: x.T,
    lambda x: x.mT,
    lambda x: x.reshape(-1),
    lambda x: x.reshape((-1, 2)),
    lambda x: x.reshape(x.shape[0], -1, 2),
    lambda x: x.reshape(x.size),
    lambda x: x.reshape(x.shape[1], x.shape[0]),
    lambda x: np.reshape(x, (-1, 2), order="F"),
    lambda x: np.reshape(x, x.shape[::-1], order="F"),
    lambda x: x.ravel(),
    lambda x: x.flatten("F"),
    lambda x: np.transpose(x, (1, 0)),
    lambda x: x.transpose(1, 0),
    lambda x: x.swapaxes(0, -1),
    lambda x: np.moveaxis(x[None], 0, 2),
    lambda x: np.rollaxis(x[None], 2),
    lambda x: np.expand_dims(x, 1),
    lambda x: np.expand_dims(x, (0, -1)),
    lambda x: np.squeeze(x[None, :, :, None]),
    lambda x: np.squeeze(x[None], axis=0),
    lambda x: np.broadcast_to(x, (3, *x.shape)),
    lambda x: np.broadcast_to(1.5, x.shape),
    lambda x: np.broadcast_arrays(x, x[0], x[:, :1]),
    lambda x: np.atleast_1d(x),
    lambda x: np.atleast_3d(x),
    lambda x: np.atleast_2d(x[0], x),
    lambda x: (x.shape, x.ndim, x.size, len(x), np.shape(x), np.size(x, 1)),
    lambda x: x.astype(np.int32),
    lambda x: x.astype("f4").copy(),
    lambda x: np.matrix_transpose(x),
]
MOVE_FUNCTIONS = [
    lambda x: np.flip(x),
    lambda x: np.flip(x, 0),
    lambda x: np.fliplr(x),
    lambda x: np.flipud(x),
    lambda x: np.rot90(x),
    lambda x: np.rot90(x, 2),
    lambda x: np.rot90(x, -1),
    lambda x: np.rot90(x, 1, axes=(1, 0)),
    lambda x: np.roll(x, 1),
    lambda x: np.roll(x, -2, axis=0),
    lambda x: np.roll(x, (1, -2), axis=(0, 1)),
    lambda x: np.roll(x, 1, axis=(0, 1, 0)),
    lambda x: np.roll(x, 50, axis=1),
    lambda x: np.roll(x, -50),
    lambda x: np.roll(x, x.shape[0] // 2),
    lambda x: np.repeat(x, 3),
    lambda x: np.repeat(x, 2, axis=1),
    lambda x: np.repeat(x, 4),
    lambda x: np.repeat(x, 7) + 1,
    lambda x: np.repeat(x[::-1], 19),
    lambda x: x.repeat(0),
    lambda x: np.repeat(x, x.shape[0], axis=0),
    lambda x: np.tile(x, 2),
    lambda x: np.tile(x, (2, 1, 3)),
    lambda x: np.tile(x, x.shape[1]),
    lambda x: np.pad(x, 1),
    lambda x: np.pad(x, 0),
    lambda x: np.pad(x, ((1, 2), (0, 1))),
    lambda x: np.pad(x, (2, 1), constant_values=(3, 4)),
    lambda x: np.pad(x, ((1,), (2,)), constant_values=((1,), (2,))),
    lambda x: np.pad(x, 1, constant_values=x[0, 0]),
]
JOIN_FUNCTIONS = [
    lambda x: np.concatenate([x, x]),
    lambda x: np.concatenate((x, x[:, :1]), axis=1),
    lambda x: np.concatenate((x, x), axis=None),
    lambda x: np.concatenate([x, x.astype("f4")], axis=-1),
    lambda x: np.concatenate([x, x], dtype="f4"),
    lambda x: np.stack([x, x + 1]),
    lambda x: np.stack((x, x), axis=-1),
    lambda x: np.vstack([x, x[0]]),
    lambda x: np.hstack([x, x]),
    lambda x: np.hstack([x[0], 1.0]),
    lambda x: np.dstack([x, x]),
    lambda x: np.column_stack([x, x[:, 0]]),
    lambda x: np.append(x, 1.0),
    lambda x: np.append(x, x, axis=0),
    lambda x: np.block([[x, x], [x, x]]),
    lambda x: np.array([x, x]),
    lambda x: np.array([x[0, 0], 1, 2.5]),
    lambda x: np.array([[x[0, 0], 1], [2, x[-1, -1]]], dtype="f4"),
    lambda x: np.array([[x[0], x[1]], [x[-1], x[0]]]),
    lambda x: np.array([x.shape[0], 2]),
    lambda x: np.array(x, ndmin=3),
    lambda x: np.asarray([x[0], [1.0] * x.shape[1]]),
    lambda x: np.split(x, 2, axis=1),
    lambda x: np.array_split(x, 3, axis=1),
    lambda x: np.split(x, [1, 3], axis=1),
    lambda x: np.split(x, [x.shape[0] // 2]),
    lambda x: np.hsplit(x, 2),
]


@pytest.mark.parametrize("function", SHAPE_FUNCTIONS + MOVE_FUNCTIONS + JOIN_FUNCTIONS)
def test_functions_that_move_data_give_the_same_array(function):
    agrees(function, *calls())


@pytest.mark.parametrize("function", SHAPE_FUNCTIONS[:3] + MOVE_FUNCTIONS + JOIN_FUNCTIONS[:10])
def test_functions_that_move_data_accept_axes_of_one(function):
    agrees(function, *calls([(1, 4), (5, 1), (1, 1), (2, 2)]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_that_move_data_keep_the_dtype(dtype):
    for function in (
        np.ravel,
        np.transpose,
        np.flip,
        lambda x: np.roll(x, 1),
        lambda x: np.pad(x, 2),
    ):
        agrees(lambda x, function=function: function(x), *calls(dtype=dtype))


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("width", [1, 2, (0, 2), ((2, 1), (0, 3))])
def test_every_pad_mode_that_repeats_elements_is_traced(mode, width):
    agrees(lambda x: np.pad(x, width, mode=mode), *calls([(4, 6), (5, 4), (1, 5)]))


def test_padding_by_more_than_the_length_is_no_part_of_other_programs():
    assert not Program(lambda x: np.pad(x, 3, mode="wrap"), [np.arange(8.0)]).holds(
        [np.arange(2.0)]
    )


def test_a_wrong_shape_is_left_to_numpy_which_raises():
    x = np.arange(6.0)
    assert reason(lambda x: x.reshape(4, -1), x) == "error"
    assert reason(lambda x: x.reshape(5), x) == "error"
    assert reason(lambda x: np.concatenate([x, x[None]]), x) == "error"
    assert reason(lambda x: np.stack([x, x[1:]]), x) == "error"
    assert reason(lambda x: np.broadcast_to(x, (2, 5)), x) == "error"
    assert reason(lambda x: np.squeeze(x, axis=0), x) == "error"
    assert reason(lambda x: np.split(x, 4), x) == "error"
    assert reason(lambda x: np.array([x, x[1:]]), x) == "error"
    assert reason(lambda x: np.expand_dims(x, 3), x) == "error"


# Creation

CREATION_FUNCTIONS = [
    lambda x: np.zeros(x.shape),
    lambda x: np.zeros(x.shape[0], dtype=int),
    lambda x: np.zeros((3, 2), "f4") + 1,
    lambda x: np.ones((x.shape[1], 2), np.float32),
    lambda x: np.ones_like(x),
    lambda x: np.zeros_like(x, dtype=bool),
    lambda x: np.zeros_like(x, shape=(x.shape[0],)),
    lambda x: np.full(x.shape, 2),
    lambda x: np.full(x.shape[1], x[0], dtype="f4"),
    lambda x: np.full_like(x, 7),
    lambda x: np.full((2, 3), 1 + 2j),
    lambda x: np.arange(x.shape[0]),
    lambda x: np.arange(1, x.shape[1]),
    lambda x: np.arange(0, x.size, 3),
    lambda x: np.arange(x.shape[0], 0, -1),
    lambda x: np.arange(x.shape[1], 0, -2),
    lambda x: np.arange(x.shape[0], dtype=np.float32),
    lambda x: np.arange(-x.shape[0], x.shape[0], dtype="i2"),
    lambda x: np.linspace(0, 1, x.shape[0]),
    lambda x: np.linspace(0, 5e-324, x.shape[0]),
    lambda x: np.linspace(2, 2, x.shape[0]),
    lambda x: np.linspace(-1e308, 1e308, x.shape[0]),
    lambda x: np.linspace(-1.0, 2.0, x.shape[1], endpoint=False),
    lambda x: np.linspace(x[0, 0], x[0, 1], 5),
    lambda x: np.linspace(0.0, x[0], 4),
    lambda x: np.linspace(0.0, x[0], 4, axis=1),
    lambda x: np.linspace(0, 3, x.shape[0], dtype="f4"),
    lambda x: np.eye(x.shape[0]),
    lambda x: np.eye(x.shape[0], x.shape[1], 1, dtype=int),
    lambda x: np.eye(x.shape[0], k=-1),
    lambda x: np.identity(x.shape[1]),
    lambda x: np.tri(x.shape[0], x.shape[1], -1),
    lambda x: np.tril(x),
    lambda x: np.triu(x, 1),
    lambda x: np.indices(x.shape),
    lambda x: np.indices(x.shape, sparse=True),
    lambda x: np.meshgrid(x[0], x[:, 0]),
    lambda x: np.meshgrid(x[0], x[:, 0], indexing="ij", sparse=True),
    lambda x: np.meshgrid(np.arange(x.shape[0]), np.arange(x.shape[1])),
    lambda x: np.diag(x[0]),
    lambda x: np.diag(x[0], -2),
    lambda x: np.diagonal(x),
    lambda x: np.diagonal(x, 1),
    lambda x: np.diag(x, -1),
    lambda x: np.arange(5) * x[0, 0],
    lambda x: np.linspace(0, 1, 4) + x[0, 0],
]


@pytest.mark.parametrize("function", CREATION_FUNCTIONS)
def test_arrays_are_made_of_sizes_known_at_run_time(function):
    agrees(function, *calls())


@pytest.mark.parametrize(
    "function",
    [
        lambda n: np.zeros(n),
        lambda n: np.arange(n),
        lambda n: np.arange(n, dtype=float) / n,
        lambda n: np.eye(n),
        lambda n: np.full((n, 2), n),
        lambda n: np.ones((2, n)) * n,
    ],
)
def test_a_python_int_argument_is_a_size(function):
    assert agrees(function, [5], [9], [2]) == 1


def test_a_size_repeats_a_list_as_an_int_does():
    agrees(lambda x: [1.5, 2] * x.shape[0], [np.ones(3)], [np.ones(2)])
    agrees(lambda x: x.shape[0] * (x.sum(),), [np.ones(3)])
    assert reason(lambda x: [1] + x.shape[0], np.ones(3)) == "error"


def test_a_linspace_traced_for_a_python_int_serves_other_counts():
    assert agrees(lambda n: np.linspace(0, 1, n), [5], [9], [2]) == 1
    assert agrees(lambda n: np.linspace(0, 1, n), [1], [9]) == 2


def test_a_negative_size_is_left_to_numpy_which_raises():
    assert reason(lambda n: np.zeros(n), -1) == "error"
    assert agrees(lambda x, n: x.reshape(n), [np.ones((2, 2)), -1]) == 1
    assert agrees(lambda n: np.arange(n), [-3], [4]) == 2


def test_accumulating_in_an_array_of_zeros_is_traced():
    def total(x):
        result = np.zeros(3)
        for row in range(2):
            result += x[row]
        return result

    agrees(total, [np.arange(6.0).reshape(2, 3)])


def test_items_of_an_array_without_arguments_in_it_may_be_assigned():
    def kernel(x):
        weights = np.zeros((3, 3), x.dtype)
        weights[1, 1] = 4
        weights[0, :2] = weights_of_edge
        weights[x.shape[0] // 4 :, 2] = [7, 8]
        before = x @ weights
        weights *= 2
        return before, weights

    weights_of_edge = [-1, 2.5]
    agrees(kernel, [np.arange(12.0).reshape(4, 3)], [np.arange(12.0, dtype="f4").reshape(4, 3)])


def test_an_array_that_is_written_to_after_its_use_runs_as_python():
    def write_between_uses(x):
        buffer = np.arange(3.0)
        first = x + buffer
        buffer[:] = 100
        return first + buffer

    def write_before_use(x):
        buffer = np.arange(3.0)
        buffer[0] = 7
        return x + buffer

    assert reason(write_between_uses, np.ones(3)) == "assign"
    agrees(write_before_use, [np.ones(3)], [np.zeros(3)])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.max([x[0, 0], 1.0, x[0, 1]]),
        lambda x: np.sum([x[0], x[1]], axis=0),
        lambda x: np.mean((x[0, 0], 2), keepdims=True),
        lambda x: np.argmin([x[0, 0], x[0, 1]]),
        lambda x: np.sum([1, 2]) + x[0],
        lambda x: np.transpose([x[0], x[1]]),
        lambda x: np.sum(a=x),
        lambda x: np.concatenate([[x[0, 0]], x[0], [1, 2]]),
        lambda x: np.stack([[x[0, 0], 1], [2, x[0, 1]]]),
        lambda x: np.where(x > 0, [x[0, 0]] * 6, 0) if x.shape[1] == 6 else x,
    ],
)
def test_lists_that_hold_tracers_are_arrays(function):
    agrees(function, *calls(), tolerance=1e-13)


# Elementwise

ELEMENTWISE = [
    lambda x: np.where(x > 0, x, 0),
    lambda x: np.where(x > 0, 1, 2.5),
    lambda x: np.where(x, x, x[0]),
    lambda x: np.where(x[0] > 0, x, x[:, :1]),
    lambda x: np.where(True, x, 1),
    lambda x: np.clip(x, -1, 1),
    lambda x: x.clip(0),
    lambda x: np.clip(x, None, 1),
    lambda x: np.clip(x, x[0], 5.0),
    lambda x: np.clip(x, min=-1, max=1),
    lambda x: np.round(x),
    lambda x: np.round(x, 2),
    lambda x: x.round(-1),
    lambda x: np.fix(x),
    lambda x: np.select([x > 1, x < -1], [x, -x]),
    lambda x: np.select([x > 1, x < -1], [x, x[0]], 7),
    lambda x: np.nan_to_num(np.log(x)),
    lambda x: np.nan_to_num(1 / np.floor(x), nan=1.0, posinf=5.0),
    lambda x: np.isclose(x, x + 1e-9),
    lambda x: np.isclose(np.sqrt(x), np.sqrt(x), equal_nan=True),
    lambda x: (np.real(x), np.imag(x), x.real, x.imag, x.conj()),
    lambda x: np.angle(x),
    lambda x: np.angle(x, deg=True),
    lambda x: np.isposinf(1 / np.floor(x)),
    lambda x: (np.iscomplexobj(x), np.isrealobj(x)),
    lambda x: np.zeros(2, np.result_type(x, np.float32)),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", ELEMENTWISE)
def test_elementwise_functions_that_are_no_ufuncs_give_the_same_bits(function):
    agrees(function, *calls())


@pytest.mark.parametrize("dtype", ["i4", "i8", "u1", "f2", "f4", "f8"])
def test_elementwise_functions_of_every_dtype_keep_numpys_dtype(dtype):
    functions = [
        lambda x: np.clip(x, 0, 2),
        lambda x: np.clip(x, -3, 300),
        lambda x: np.clip(x, 0.5, 2.5),
        lambda x: np.clip(x, None, np.float32(2)),
        lambda x: np.round(x, 1),
        lambda x: np.round(x),
        lambda x: np.fix(x),
        lambda x: np.nan_to_num(x),
        lambda x: np.isclose(x, 1),
        lambda x: np.isclose(x, x + 1),
        lambda x: np.angle(x),
        lambda x: np.select([x > 1], [x], 2),
        lambda x: np.diff(x),
        lambda x: np.gradient(x, axis=0),
        lambda x: np.trapezoid(x[0] * 2),
        lambda x: np.polyval([1, 2], x),
        lambda x: np.full_like(x, 2.7),
        lambda x: np.pad(x, 1, constant_values=2.7),
        lambda x: np.tri(x.shape[0], dtype=x.dtype) @ x,
        lambda x: np.diag(x[0]),
        lambda x: np.linspace(x[0, 0], 2, 3),
        lambda x: np.where(x > 1, x, 0),
    ]
    for function in functions:
        agrees(function, [sample((4, 6), dtype)], tolerance=1e-3 if dtype == "f2" else 0)


def test_sinc_is_within_rounding():
    agrees(np.sinc, *calls(), tolerance=1e-15)


@pytest.mark.parametrize("dtype", DTYPES)
def test_where_promotes_as_numpy_does(dtype):
    for other in (2, 2.5, np.float32(1), np.int8(3)):
        agrees(lambda x, other=other: np.where(x > 0, x, other), *calls(dtype=dtype))


def test_complex_parts_and_products_are_numpys():
    functions = [
        np.real,
        np.imag,
        np.conj,
        np.angle,
        np.abs,
        lambda x: x.conj().T,
        lambda x: x.imag,
    ]
    for function in functions:
        agrees(lambda x, function=function: function(x), *calls(dtype="c16"), tolerance=1e-15)


def test_a_number_that_does_not_fit_is_left_to_numpy_which_raises():
    assert reason(lambda x: np.where(x > 0, x, 300), np.arange(3, dtype="u1")) == "error"
    assert reason(lambda x: np.full_like(x, 300), np.arange(3, dtype="u1")) == "error"


# Differences

DIFFERENCES = [
    lambda x: np.diff(x),
    lambda x: np.diff(x, n=2, axis=0),
    lambda x: np.diff(x, prepend=0.0),
    lambda x: np.diff(x, axis=0, append=x[:1]),
    lambda x: np.diff(x > 0),
    lambda x: np.ediff1d(x),
    lambda x: np.ediff1d(x, to_begin=1.0, to_end=[2.0, 3.0]),
    lambda x: np.gradient(x),
    lambda x: np.gradient(x, 0.5, axis=1),
    lambda x: np.gradient(x, 0.5, 2.0),
    lambda x: np.gradient(x.astype("f4"), 0.1, axis=0),
    lambda x: np.gradient(x.astype("i4"), axis=0),
    lambda x: np.polyval([1.0, 2.0, 3.0], x),
    lambda x: np.polyval(x[0], 2.0),
]


@pytest.mark.parametrize("function", DIFFERENCES)
def test_differences_give_the_same_bits(function):
    agrees(function, *calls())


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.trapezoid(x),
        lambda x: np.trapezoid(x, dx=0.1, axis=0),
        lambda x: np.trapezoid(x, x[0]),
        lambda x: np.trapezoid(x, np.arange(x.shape[0]) * 0.5, axis=0),
    ],
)
def test_integrals_are_within_rounding(function):
    agrees(function, *calls(), tolerance=1e-13)


def test_a_gradient_needs_two_points():
    assert reason(lambda x: np.gradient(x), np.ones(1)) == "error"
    assert not Program(lambda x: np.gradient(x), [np.arange(5.0)]).holds([np.zeros(0)])
