"""Functions that a program leaves to NumPy give inside a jitted function what they give outside."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from surface_table import calls
from traced import agrees, reason

from jitwise import jit
from jitwise.trace.numpy import fourier  # noqa: F401 - fills LIBRARY
from jitwise.trace.numpy.library import LIBRARY, name_of

random = np.random.default_rng(0)
MATRIX = random.random((4, 4))
LINE = random.random(7)
SYMMETRIC = MATRIX @ MATRIX.T + np.eye(4)

# Each function with arguments it takes: x a matrix, y a line, s a positive definite matrix.
CALLS = {
    np.sort: [lambda x, y, s: np.sort(x), lambda x, y, s: np.sort(x, axis=0, kind="stable")],
    np.argsort: [lambda x, y, s: np.argsort(y), lambda x, y, s: np.argsort(x, axis=None)],
    np.partition: [lambda x, y, s: np.partition(y, 2), lambda x, y, s: np.partition(x, (0, 2))],
    np.argpartition: [lambda x, y, s: np.argpartition(y, 3)],
    np.lexsort: [lambda x, y, s: np.lexsort((y, y > 0.5)), lambda x, y, s: np.lexsort(x)],
    np.searchsorted: [
        lambda x, y, s: np.searchsorted(np.sort(y), x),
        lambda x, y, s: np.searchsorted(np.sort(y), x[0, 0], side="right"),
    ],
    np.digitize: [lambda x, y, s: np.digitize(y, np.array([0.2, 0.6]))],
    np.interp: [lambda x, y, s: np.interp(x, np.sort(y), y, left=-1.0)],
    np.isin: [lambda x, y, s: np.isin(y, y[:2], invert=True)],
    np.take_along_axis: [lambda x, y, s: np.take_along_axis(x, np.argsort(x, axis=0), 0)],
    np.convolve: [
        lambda x, y, s: np.convolve(y, x[0]),
        lambda x, y, s: np.convolve(x[0], y, "same"),
        lambda x, y, s: np.convolve(y, [1.0, 2.0], mode="valid"),
    ],
    np.correlate: [lambda x, y, s: np.correlate(y, x[0])],
    np.unwrap: [lambda x, y, s: np.unwrap(y * 9)],
    np.cov: [lambda x, y, s: np.cov(x), lambda x, y, s: np.cov(x[:3], rowvar=False, ddof=0)],
    np.corrcoef: [lambda x, y, s: np.corrcoef(x)],
    np.polyfit: [lambda x, y, s: np.polyfit(y, y**2, 2)],
    np.vander: [lambda x, y, s: np.vander(y, 3), lambda x, y, s: np.vander(y)],
    np.median: [lambda x, y, s: np.median(x, axis=0), lambda x, y, s: np.median(y)],
    np.nanmean: [lambda x, y, s: np.nanmean(x), lambda x, y, s: np.nanmean(x, 1, keepdims=True)],
    np.nanmedian: [lambda x, y, s: np.nanmedian(x, axis=(0, 1))],
    np.nanstd: [lambda x, y, s: np.nanstd(x, axis=-1)],
    np.nanvar: [lambda x, y, s: np.nanvar(x, 0, ddof=1)],
    np.nanmax: [lambda x, y, s: np.nanmax(x, axis=1)],
    np.nanmin: [lambda x, y, s: np.nanmin(x)],
    np.percentile: [
        lambda x, y, s: np.percentile(y, 30),
        lambda x, y, s: np.percentile(x, [10, 50], axis=1),
        lambda x, y, s: np.percentile(x, y * 100, axis=0),
    ],
    np.quantile: [lambda x, y, s: np.quantile(x, 0.25, axis=(0, 1), keepdims=True)],
    np.nanpercentile: [lambda x, y, s: np.nanpercentile(x, 70, axis=0)],
    np.nanquantile: [lambda x, y, s: np.nanquantile(x, 0.7, method="lower")],
    np.nanargmax: [lambda x, y, s: np.nanargmax(x, axis=1)],
    np.nanargmin: [lambda x, y, s: np.nanargmin(x)],
    np.linalg.inv: [lambda x, y, s: np.linalg.inv(s) @ x],
    np.linalg.cholesky: [lambda x, y, s: np.linalg.cholesky(s, upper=True)],
    np.linalg.matrix_power: [lambda x, y, s: np.linalg.matrix_power(x, 3)],
    np.linalg.det: [lambda x, y, s: np.linalg.det(s) * 2, lambda x, y, s: np.linalg.det(s[None])],
    np.linalg.slogdet: [lambda x, y, s: np.linalg.slogdet(s).logabsdet],
    np.linalg.eigh: [lambda x, y, s: np.linalg.eigh(s), lambda x, y, s: np.linalg.eigh(s)[0]],
    np.linalg.eigvalsh: [lambda x, y, s: np.linalg.eigvalsh(s, UPLO="U")],
    np.linalg.solve: [
        lambda x, y, s: np.linalg.solve(s, x),
        lambda x, y, s: np.linalg.solve(s, x[0]),
        lambda x, y, s: np.linalg.solve(s[None], x[:, :2]),
    ],
    np.linalg.svd: [
        lambda x, y, s: np.linalg.svd(x[:3]),
        lambda x, y, s: np.linalg.svd(x[:, :2], full_matrices=False)[0],
        lambda x, y, s: np.linalg.svd(x, compute_uv=False),
    ],
    np.linalg.qr: [lambda x, y, s: np.linalg.qr(x), lambda x, y, s: np.linalg.qr(x[:2], "r")],
    np.linalg.pinv: [lambda x, y, s: np.linalg.pinv(x[:2])],
    np.unique: [lambda x, y, s: np.unique(y), lambda x, y, s: np.unique(x > 0.5, axis=0)],
    np.unique_values: [lambda x, y, s: np.unique_values(y > 0.5)],
    np.unique_counts: [lambda x, y, s: np.unique_counts(y > 0.5)],
    np.unique_inverse: [lambda x, y, s: np.unique_inverse(x)],
    np.unique_all: [lambda x, y, s: np.unique_all(x > 0.5)],
    np.intersect1d: [lambda x, y, s: np.intersect1d(y, y[1:])],
    np.union1d: [lambda x, y, s: np.union1d(y, x)],
    np.setdiff1d: [lambda x, y, s: np.setdiff1d(y, y[:3])],
    np.setxor1d: [lambda x, y, s: np.setxor1d(y, y[:3], assume_unique=True)],
    np.bincount: [lambda x, y, s: np.bincount((y * 9).astype(int), y)],
    np.histogram: [lambda x, y, s: np.histogram(y), lambda x, y, s: np.histogram(x, y[:3] * 0)],
    np.repeat: [lambda x, y, s: np.repeat(y, (y * 4).astype(int))],
    np.trim_zeros: [lambda x, y, s: np.trim_zeros(np.where(y > 0.5, y, 0), "b")],
    np.delete: [lambda x, y, s: np.delete(y, -1), lambda x, y, s: np.delete(x, 1, axis=1)],
    np.fft.fft: [lambda x, y, s: np.fft.fft(y), lambda x, y, s: np.fft.fft(x, 6, axis=0)],
    np.fft.ifft: [lambda x, y, s: np.fft.ifft(np.fft.fft(y)).real],
    np.fft.rfft: [lambda x, y, s: np.fft.rfft(x, axis=0), lambda x, y, s: np.fft.rfft(y, 4)],
    np.fft.irfft: [
        lambda x, y, s: np.fft.irfft(np.fft.rfft(y)),
        lambda x, y, s: np.fft.irfft(np.fft.rfft(y), y.shape[0]),
    ],
    np.fft.fft2: [lambda x, y, s: np.fft.fft2(x)],
    np.fft.ifft2: [lambda x, y, s: np.fft.ifft2(x, norm="ortho")],
    np.fft.fftn: [lambda x, y, s: np.fft.fftn(x, axes=(0,))],
    np.fft.ifftn: [lambda x, y, s: np.fft.ifftn(x)],
    np.fft.fftshift: [lambda x, y, s: np.fft.fftshift(np.fft.fft(y))],
    np.fft.ifftshift: [lambda x, y, s: np.fft.ifftshift(x, axes=1)],
}


def flat(item) -> list:
    return [each for part in item for each in flat(part)] if isinstance(item, tuple) else [item]


def compare(function, *calls) -> int:
    """Results of a jitted function and of NumPy, for each call; the number of traces. Nothing may
    run as Python.
    """
    compiled = jit(function)
    for args in calls:
        expected = function(*args)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = compiled(*args)
        assert type(found) is type(expected)
        for one, other in zip(flat(found), flat(expected), strict=True):
            assert type(one) is type(other) and one.dtype == other.dtype
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    return compiled.state.traces


def test_every_function_left_to_numpy_is_called_by_a_test():
    tried = {call.function for call in calls()}
    assert {name_of(function) for function in LIBRARY} <= tried


@pytest.mark.parametrize("function", CALLS, ids=name_of)
def test_a_function_left_to_numpy_gives_what_it_gives_outside(function):
    for call in CALLS[function]:
        assert compare(call, (MATRIX, LINE, SYMMETRIC)) == 1


@pytest.mark.parametrize("function", CALLS, ids=name_of)
def test_one_trace_of_it_serves_other_sizes(function):
    larger = random.random((6, 6))
    other = (larger, random.random(12), larger @ larger.T + np.eye(6))
    for call in CALLS[function]:
        assert compare(call, (MATRIX, LINE, SYMMETRIC), other) <= 2


@pytest.mark.parametrize("dtype", ["f4", "i8", "u1"])
def test_other_dtypes_give_numpys_dtypes(dtype):
    x = (random.random((3, 5)) * 9).astype(dtype)
    for function in (np.sort, np.argsort, np.median, np.fft.fft):
        agrees(lambda x, function=function: function(x), [x])
    agrees(lambda x: np.percentile(x, 40, axis=0), [x])


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda s: np.linalg.inv(s), [np.zeros((3, 3))]),
        (lambda s: np.linalg.inv(s), [np.zeros((3, 2))]),
        (lambda s: np.linalg.cholesky(s), [-np.eye(3)]),
        (lambda s, b: np.linalg.solve(s, b), [np.eye(3), np.ones(2)]),
        (lambda x: np.nanargmax(x), [np.full(3, np.nan)]),
        (lambda x: np.percentile(x, 200), [np.ones(3)]),
        (lambda x: np.sort(x, axis=3), [np.ones(3)]),
        (lambda x: np.partition(x, 7), [np.ones(3)]),
        (lambda x: np.fft.fft(x), [np.ones(0)]),
        (lambda x: np.sort(x, kind="none such"), [np.ones(3)]),
    ],
)
def test_what_the_function_refuses_raises_its_error(function, args):
    with pytest.raises(Exception) as expected:
        function(*args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(type(expected.value)) as found:
            jit(function)(*args)
    assert str(found.value) == str(expected.value)


def test_an_error_is_raised_even_when_the_result_is_not_used():
    def function(x):
        np.linalg.inv(x)
        return x + 1

    compiled = jit(function)
    np.testing.assert_array_equal(compiled(np.eye(2)), np.eye(2) + 1)
    with pytest.raises(np.linalg.LinAlgError):
        compiled(np.zeros((2, 2)))


def test_arrays_are_sorted_in_place():
    def function(x, y):
        y.sort()
        z = x.copy()
        z[::2].sort()
        z.T.sort(axis=0)
        return z, y.argsort()

    x, y = LINE.copy().reshape(7, 1), LINE.copy()
    expected = function(x.copy(), np.sort(y))
    found = jit(function)(x, y)
    np.testing.assert_array_equal(y, np.sort(LINE))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_parameters_that_cannot_be_part_of_an_op_run_as_python():
    assert reason(lambda x: np.sort(x, order=x), LINE) in ("value", "argument")
    assert reason(lambda x: np.convolve(x, x, mode=x), LINE) == "value"
