"""Programs written for the array API standard: its names, its namespaces and devices, in jitted
functions and outside, give what NumPy gives. `tools/array_api.py` runs the standard's own suite.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitwise
import jitwise.numpy as jnp
from jitwise import config, jit

DTYPES = ["bool", "i1", "i8", "u2", "f2", "f4", "f8", "c8", "c16"]
random = np.random.default_rng(11)


def sample(shape: tuple[int, ...], dtype: str = "f8") -> np.ndarray:
    values = random.normal(size=shape) * 3
    if np.dtype(dtype).kind == "c":
        values = values + 1j * random.normal(size=shape)
    return np.abs(values).astype(dtype) if np.dtype(dtype).kind in "ub" else values.astype(dtype)


def same(got: Any, expected: Any, tolerance: float = 0) -> None:
    """The same kind, dtype, shape and value; sums within a relative tolerance."""
    assert type(got) is type(expected)
    if isinstance(expected, (tuple, list)):
        assert len(got) == len(expected)
        for ours, theirs in zip(got, expected, strict=True):
            same(ours, theirs, tolerance)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
    else:
        assert got == expected


def compiled(function: Callable[..., Any], *calls: tuple, tolerance: float = 0) -> int:
    """Compare with NumPy for each list of arguments, all of it compiled: the number of traces."""
    jitted = jit(function)
    with config.override(verify=1), warnings.catch_warnings():
        warnings.simplefilter("error", jitwise.JitwiseWarning)
        for args in calls:
            same(jitted(*args), function(*args), tolerance)
    return jitted.state.traces


def refused(function: Callable[..., Any], *args: Any) -> None:
    """The jitted function raises the exception that NumPy raises."""
    with pytest.raises(Exception) as expected:
        function(*args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jitwise.JitwiseWarning)
        with pytest.raises(type(expected.value)):
            jit(function)(*args)


# Namespaces


def standardised(x: Any) -> Any:
    xp = x.__array_namespace__()
    centred = x - xp.mean(x, axis=0, keepdims=True)
    return xp.concat([centred / xp.std(x, axis=0, correction=1), xp.zeros((2, x.shape[1]))])


def test_a_function_that_asks_arrays_for_their_namespace_is_compiled_once_for_all_lengths():
    calls = [(sample((n, 3)),) for n in (4, 9, 30)]
    assert compiled(standardised, *calls, tolerance=1e-12) == 1


def test_the_namespace_of_an_array_is_numpy():
    compiled(lambda x: x.__array_namespace__() is np, (sample((3,)),))
    compiled(lambda x: x.__array_namespace__() is np, (np.float32(2),))
    compiled(lambda x: x.__array_namespace__(api_version="2022.12").negative(x), (sample((3,)),))


def test_a_version_of_the_standard_that_numpy_does_not_know_is_refused():
    refused(lambda x: x.__array_namespace__(api_version="1999.1"), sample((3,)))


def test_a_patched_function_is_seen_through_the_namespace_of_an_array(monkeypatch):
    jitted = jit(lambda x: x.__array_namespace__().sin(x))
    x = sample((3,))
    same(jitted(x), np.sin(x), 1e-15)
    monkeypatch.setattr(np, "sin", np.cos)
    same(jitted(x), np.cos(x), 1e-15)


def test_a_python_number_has_no_namespace_and_no_device():
    for name in ("__array_namespace__", "device", "to_device"):
        compiled(lambda x, name=name: hasattr(x, name), (2.0,), (3,))


def test_jitwise_numpy_says_which_standard_it_keeps():
    assert jnp.__array_api_version__ == np.__array_api_version__
    assert jnp.__array_namespace_info__().default_device() == "cpu"
    assert jnp.__array_namespace_info__().dtypes() == np.__array_namespace_info__().dtypes()


def test_jitwise_numpy_has_every_name_of_numpys():
    for name in np.__all__:
        assert getattr(jnp, name) is getattr(np, name)
    with pytest.raises(AttributeError):
        jnp.__path__  # it is no package


def test_what_the_namespace_says_of_itself_can_be_asked_in_a_jitted_function():
    info = np.__array_namespace_info__
    compiled(lambda x: info().default_dtypes(), (sample((3,)),))
    compiled(lambda x: x.astype(info().default_dtypes()["complex floating"]), (sample((3,)),))


# Devices


MAKERS: dict[str, Callable[..., Any]] = {
    "arange": lambda x, device: np.arange(x.shape[0], device=device),
    "asarray": lambda x, device: np.asarray(x, dtype=np.float32, copy=True, device=device),
    "astype": lambda x, device: np.astype(x, np.float32, device=device),
    "empty": lambda x, device: np.empty(x.shape, device=device) * 0,
    "empty_like": lambda x, device: np.empty_like(x, device=device) * 0,
    "eye": lambda x, device: np.eye(x.shape[0], device=device),
    "full": lambda x, device: np.full(x.shape, 2.5, device=device),
    "full_like": lambda x, device: np.full_like(x, 2, device=device),
    "linspace": lambda x, device: np.linspace(x[0], 1, x.shape[0], device=device),
    "ones": lambda x, device: np.ones(x.shape, device=device),
    "ones_like": lambda x, device: np.ones_like(x, device=device),
    "zeros": lambda x, device: np.zeros(x.shape, device=device),
    "zeros_like": lambda x, device: np.zeros_like(x, dtype=np.int8, device=device),
    "to_device": lambda x, device: x if device is None else x.to_device(device),
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_only_device_is_the_cpu(name):
    make = MAKERS[name]
    for device in (None, "cpu"):
        calls = [(sample((n,)),) for n in (3, 5)]
        compiled(lambda x, device=device: make(x, device) + x, *calls, tolerance=1e-15)
    for device in ("gpu", 1):
        refused(lambda x, device=device: make(x, device), sample((3,)))


def test_an_array_made_on_the_cpu_can_be_written_to():
    def function(x):
        y = np.zeros(3, device="cpu")
        y[1] = x[0]
        return y

    compiled(function, (sample((4,)),))


def test_an_array_says_its_device_and_goes_there():
    compiled(lambda x: (x.device, x.to_device(x.device) is x), (sample((3,)),))
    compiled(lambda x: x.device, (np.float64(2),))
    refused(lambda x: x.to_device("cpu", stream=1), sample((3,)))


# dtypes


def test_dtypes_are_results_like_numbers():
    compiled(lambda x, y: (x.dtype, np.result_type(x, y)), (sample((3,), "f4"), sample((3,), "i8")))
    compiled(lambda x: {"of": np.result_type(x.dtype, np.int8)}["of"], (sample((3,), "u1"),))
    compiled(lambda x: np.finfo(x.dtype).dtype, (sample((3,), "c8"),))


def test_questions_about_dtypes_are_answered_when_tracing():
    compiled(
        lambda x: (
            np.isdtype(x.dtype, "real floating"),
            np.isdtype(x.dtype, ("integral", np.complex64)),
            np.can_cast(x.dtype, np.float32),
            float(np.finfo(x.dtype).eps),
        ),
        (sample((3,)),),
        (sample((3,), "c8"),),
    )


# Numbers beside arrays

OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "le", "eq", "ne", "gt", "ge"]


@pytest.mark.parametrize("name", OPERATORS)
def test_numbers_stand_on_either_side_of_an_operator(name):
    """One trace serves all numbers of a type, arguments and sizes alike."""
    operate = getattr(operator, name)
    for numbers in ((3, 5, 4), (2.5, -1.5, 0.5), (True, True), (np.float32(2), np.float32(3))):
        for dtype in ("i4", "f4", "c8") if name in ("add", "sub", "mul", "truediv") else ("i4",):
            x = sample((2, 3), dtype) + 7
            calls = [(x, number) for number in numbers]
            assert compiled(lambda x, n: operate(x, n), *calls, tolerance=1e-6) == 1
            assert compiled(lambda x, n: operate(n, x), *calls, tolerance=1e-6) == 1
    calls = [(sample((n, 3)) + 9,) for n in (2, 4)]
    assert compiled(lambda x: operate(x.shape[0], x), *calls) == 1
    assert compiled(lambda x: operate(x, x.shape[0]), *calls) == 1


def test_ints_and_floats_are_compared_and_added_without_a_trace_for_each():
    calls = [(3, 2.5), (4, 1.25), (2, 1.5)]
    compiled_once = compiled(lambda n, t: (n * t, n - t, n / t, n < t, n == t, t - n), *calls)
    assert compiled_once == 1


# Masks


@pytest.mark.parametrize("shape", [(5,), (0,), (3, 4), (0, 2), (2, 3, 2)])
def test_a_mask_from_elsewhere_chooses_what_is_assigned(shape):
    def function(x, mask, item):
        x[mask] = item
        return x

    for axes in range(1, len(shape) + 1):
        mask = sample(shape[:axes]) > 0
        for item in (7.5, np.float32(2), np.array(3)):
            compiled(lambda x, m, item: function(x * 1, m, item), (sample(shape), mask, item))


# Running totals that begin with nothing


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_running_totals_may_begin_with_that_of_nothing(name, dtype):
    function = getattr(np, name)
    for axis in (0, 1, -1):
        calls = [(sample(shape, dtype),) for shape in ((3, 4), (5, 2), (0, 3), (2, 0))]
        compiled(
            lambda x, axis=axis: function(x, axis=axis, include_initial=True),
            *calls,
            tolerance=2e-2 if dtype == "f2" else 1e-5,
        )
    compiled(lambda x: function(x, include_initial=True), (sample((5,), dtype),), tolerance=2e-2)


def test_running_totals_of_one_number_are_an_array():
    compiled(lambda x: np.cumulative_sum(x), (np.array(2.5),))
    compiled(lambda x: np.cumulative_sum(x, include_initial=True), (np.float32(2.5),))


def test_running_totals_of_several_axes_need_an_axis():
    refused(lambda x: np.cumulative_sum(x), sample((2, 3)))


# linalg


@pytest.mark.parametrize("dtype", DTYPES)
def test_vecdot_is_a_sum_of_products_over_one_axis(dtype):
    shapes = [((4,), (4,)), ((3, 4), (4,)), ((3, 1, 4), (5, 4)), ((3, 0), (3, 0))]
    tolerance = {"f2": 5e-2, "f4": 1e-5, "c8": 1e-5}.get(dtype, 1e-13)
    for first, second in shapes:
        arrays = (sample(first, dtype), sample(second, dtype))
        compiled(lambda x, y: np.vecdot(x, y), arrays, tolerance=tolerance)
        compiled(lambda x, y: np.linalg.vecdot(x, y), arrays, tolerance=tolerance)
    arrays = (sample((4, 3), dtype), sample((4, 3), dtype))
    compiled(lambda x, y: np.vecdot(x, y, axis=0), arrays, tolerance=tolerance)
    compiled(lambda x, y: np.linalg.vecdot(x, y, axis=-2), arrays, tolerance=tolerance)


def test_vecdot_conjugates_its_first_argument_and_promotes():
    x, y = sample((4,), "c8"), sample((4,), "f8")
    compiled(lambda x, y: (np.vecdot(x, y), np.vecdot(y, x)), (x, y), tolerance=1e-13)


def test_vecdot_refuses_what_numpy_refuses():
    refused(lambda x, y: np.vecdot(x, y), sample((3,)), sample((4,)))
    refused(lambda x, y: np.vecdot(x, y), sample((3,)), sample((1,)))
    refused(lambda x: np.vecdot(x, 2.0), sample((3,)))
    refused(lambda x: np.vecdot(x, x, axis=1), sample((3,)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_matrices_work_on_the_last_two_axes(dtype):
    for shape in ((3, 3), (2, 3, 4), (4, 2, 1, 3)):
        x = sample(shape, dtype)
        compiled(lambda x: np.linalg.diagonal(x), (x,))
        compiled(lambda x: np.linalg.trace(x), (x,), tolerance=1e-2)
        compiled(lambda x: np.linalg.trace(x, dtype=np.complex64), (x,), tolerance=1e-2)
        compiled(lambda x: np.matrix_transpose(x), (x,))
        compiled(lambda x: x.mT, (x,))
    for offset in (-1, 1, 2):
        compiled(lambda x, o=offset: np.linalg.diagonal(x, offset=o), (sample((2, 3, 4), dtype),))


def test_cross_products_have_three_components():
    arrays = (sample((2, 3)), sample((1, 3)))
    compiled(lambda x, y: np.linalg.cross(x, y), arrays, tolerance=1e-14)
    compiled(lambda x, y: np.linalg.cross(x, y, axis=0), (sample((3, 2)), sample((3, 2))))
    refused(lambda x: np.linalg.cross(x, x), sample((4, 2)))


NORMS = [
    {},
    {"axis": 0},
    {"axis": (1, 0)},
    {"axis": (0, 2)},
    {"axis": (-1,)},
    {"axis": (0, 1, 2), "keepdims": True},
    {"axis": (2, 0), "keepdims": True},
    {"keepdims": True},
]


@pytest.mark.parametrize("order", [0, 1, 2, np.inf, -np.inf])
@pytest.mark.parametrize("options", NORMS, ids=str)
def test_the_norm_of_several_axes_is_that_of_all_they_hold(options, order):
    for dtype in ("f4", "f8", "c16", "i8"):
        calls = [(sample(shape, dtype),) for shape in ((2, 3, 4), (5, 2, 2))]
        compiled(lambda x: np.linalg.vector_norm(x, ord=order, **options), *calls, tolerance=1e-5)


@pytest.mark.parametrize("order", ["fro", 1, -1, np.inf])
def test_norms_of_matrices_are_of_the_last_two_axes(order):
    for keepdims in (False, True):
        calls = [(sample(shape),) for shape in ((2, 3), (4, 2, 3))]
        compiled(
            lambda x, keepdims=keepdims: np.linalg.matrix_norm(x, keepdims=keepdims, ord=order),
            *calls,
            tolerance=1e-13,
        )
