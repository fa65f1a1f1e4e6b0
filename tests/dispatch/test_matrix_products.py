"""Matrix products: which library serves them, by which routine, and that bits do not depend on
threads.
"""

import ctypes
import os
import shutil

import numpy as np
import pytest

import jitwise
from jitwise.record import recorder
from jitwise.runtime import blas

native = pytest.importorskip("jitwise.runtime._native")
NAMES = {"f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128"}


@pytest.fixture(autouse=True)
def settings_as_they_were():
    """The library of the process and the number of threads."""
    found = blas.library()
    yield
    native.set_threads(0)
    if found is not None:
        native.set_blas(found.addresses, wide=found.wide)


@pytest.fixture(params=["numpy", "public"])
def library(request):
    """Libraries of 64-bit and of 32-bit integers."""
    if request.param == "public":
        pytest.importorskip("scipy.linalg.cython_blas")
        found = blas._public()
        assert not found.wide
    else:
        found = blas.library()
        if found is None or not found.wide:
            pytest.skip("NumPy's library is not one of a wheel")
    native.set_blas(found.addresses, wide=found.wide)
    return found


def product(a, b):
    name = NAMES[a.dtype.str[1:]]
    last = a.ndim
    symbols = [("size", i, axis) for i in range(2) for axis in range(last)]
    work = [
        ("alloc", 2, name, [*range(last - 1), 2 * last - 1]),
        ("library", "matmul", [0, 1], [2], [], []),
    ]
    inputs = [(name, a.ndim), (name, b.ndim)]
    return native.Program("test", symbols, [], [], inputs, 3, work, [2]).run([a, b])[0]


def whole_numbers(dtype, *shape):
    """Small enough that every sum is exact in any order."""
    generator = np.random.default_rng(shape)
    values = generator.integers(-3, 4, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * generator.integers(-3, 4, shape)
    return values.astype(dtype)


def layouts(matrix):
    """The same numbers, stored in the ways that are multiplied where they are or packed."""
    rows, columns = matrix.shape
    large = np.zeros((2 * rows + 1, 3 * columns), matrix.dtype)
    large[1::2, ::3] = matrix
    wide = np.zeros((rows, columns + 1000), matrix.dtype)
    wide[:, :columns] = matrix
    unaligned = np.zeros(matrix.nbytes + 1, np.uint8)[1:].view(matrix.dtype).reshape(matrix.shape)
    unaligned[...] = matrix
    return {
        "C": matrix,
        "F": np.asfortranarray(matrix),
        "strided": large[1::2, ::3],
        "part of a row": wide[:, :columns],
        "backwards": np.ascontiguousarray(matrix[::-1, ::-1])[::-1, ::-1],
        "unaligned": unaligned,
    }


SHAPES = [
    (1, 900, 1),
    (1, 40, 33),
    (33, 40, 1),
    (40, 1, 40),
    (2, 900, 3),
    (23, 40, 49),
    (100, 17, 100),
    (130, 70, 25),
    (97, 900, 130),  # more than one block of k; operands too large to be read where they are
    (200, 513, 97),
]


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_are_exact_in_every_layout(library, dtype, shape):
    m, k, n = shape
    a, b = whole_numbers(dtype, m, k), whole_numbers(dtype, k, n)
    exact = "c16" if np.dtype(dtype).kind == "c" else "f8"
    expected = (a.astype(exact) @ b.astype(exact)).astype(dtype)
    for how_a, left in layouts(a).items():
        for how_b, right in layouts(b).items():
            assert np.array_equal(product(left, right), expected), (how_a, how_b)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("shape", [(5, 3), (40, 2), (70, 90), (150, 700), (513, 64)], ids=str)
def test_a_product_with_its_own_transpose_is_symmetric_and_exact(library, dtype, shape):
    x = whole_numbers(dtype, *shape)
    for matrix in layouts(x).values():
        for left, right in ((matrix, matrix.T), (matrix.T, matrix)):
            found = product(left, right)
            assert np.array_equal(found, product(left, right.copy()))
            assert np.array_equal(found, found.T)


@pytest.mark.parametrize("dtype", NAMES)
def test_what_is_beyond_a_matrix_is_neither_read_nor_written(dtype):
    for m, k, n in [(9, 10, 11), (50, 60, 70), (100, 500, 101)]:
        frame = np.full((m + 2, k + 2), np.nan, dtype)
        frame[1:-1, 1:-1] = a = whole_numbers(dtype, m, k)
        other = np.full((k + 2, n + 2), np.nan, dtype)
        other[1:-1, 1:-1] = b = whole_numbers(dtype, k, n)
        expected = product(a, b)
        assert np.isfinite(expected).all()
        assert np.array_equal(product(frame[1:-1, 1:-1], other[1:-1, 1:-1]), expected)
        turned = np.asfortranarray(frame)[1:-1, 1:-1], np.asfortranarray(other)[1:-1, 1:-1]
        assert np.array_equal(product(*turned), expected)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", [7, 60, 150])
def test_one_element_that_is_not_finite_reaches_its_row_and_its_column_only(dtype, value, size):
    a, b = np.ones((size, size), dtype), np.ones((size, size), dtype)
    a[3, 2] = b[5, size - 1] = value
    found = product(a, b)
    touched = np.zeros((size, size), bool)
    touched[3, :] = touched[:, size - 1] = True
    assert np.array_equal(~np.isfinite(found), touched)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(found, a @ b, equal_nan=True)


# The last three are more rows or columns than are packed at a time, and a product for BLAS.
SIZES = [(60, 70, 80), (300, 1000, 257), (5000, 20, 30), (100, 10, 5000), (9, 300, 5000)]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_the_bits_of_a_product_do_not_depend_on_threads(dtype, shape):
    m, k, n = shape
    generator = np.random.default_rng(4)
    a, b = generator.normal(size=(m, k)).astype(dtype), generator.normal(size=(k, n)).astype(dtype)
    tolerance = 1e-5 if dtype == "f4" else 1e-13
    for left in (a, np.asfortranarray(a)):
        for right in (b, np.asfortranarray(b)):
            native.set_threads(1)
            alone = product(left, right)
            expected = a.astype("f8") @ b.astype("f8")
            assert np.allclose(alone, expected, rtol=0, atol=tolerance * k)
            for threads in (2, 3, 8):
                native.set_threads(threads)
                assert product(left, right).tobytes() == alone.tobytes()


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("shape", [(500, 6, 7, 8), (3, 150, 140, 130), (40, 60, 70, 20)], ids=str)
def test_a_stack_of_products_is_the_products_of_its_matrices(threads, shape):
    batch, m, k, n = shape
    native.set_threads(threads)
    generator = np.random.default_rng(5)
    a, b = generator.normal(size=(batch, m, k)), generator.normal(size=(batch, n, k))
    for left, right in ((a, b.swapaxes(1, 2)), (a[::-1], b.swapaxes(1, 2))):
        found = product(left, right)
        for i in range(batch):
            assert found[i].tobytes() == product(left[i], right[i]).tobytes()
    shared = np.broadcast_to(b.swapaxes(1, 2)[0], (batch, k, n))
    assert np.allclose(product(a, shared), a @ shared, rtol=1e-13, atol=1e-12)


# ---- which library


def numpys():
    """NumPy's own library, when it is the one of its wheels; by what the process has loaded."""
    for path, of_numpy in blas._files():
        if of_numpy and "64_" in os.path.basename(path):
            return ctypes.CDLL(path)
    pytest.skip("NumPy's library is not one of a wheel")


def test_products_use_the_library_that_numpy_has_loaded():
    file, found = numpys(), blas.library()
    assert found is not None and found.wide
    address = ctypes.cast(file.scipy_dgemm_64_, ctypes.c_void_p).value
    assert found.addresses["dgemm"] == address
    assert set(found.addresses) == set(blas.ROUTINES)
    assert all(found.addresses.values())


def test_vectors_are_multiplied_by_the_routines_of_numpy():
    numpys()
    generator = np.random.default_rng(6)
    for dtype in ("f4", "f8"):
        a = generator.normal(size=(70, 90)).astype(dtype)
        row, column = a[:1], np.ascontiguousarray(a[:, :1])
        for left, right in (
            (row, row.T),
            (a, row.T),
            (column.T, a),
            (a.T, column),
            (np.asfortranarray(a), row.T),
        ):
            assert product(left, right).tobytes() == (left @ right).tobytes()


def test_a_library_that_is_not_what_its_name_promises_is_passed_over(tmp_path, monkeypatch):
    text = tmp_path / "libscipy_openblas64_-1.so"
    text.write_text("not a library")
    assert blas._opened(str(text), loaded=False) is None
    assert blas._opened(str(text), loaded=True) is None
    assert blas._opened(str(tmp_path / "absent.so"), loaded=False) is None

    class Liar:
        """Has symbols for 64-bit integers and says that its integers have 32."""

        said = ctypes.create_string_buffer(b"OpenBLAS 0.3 DYNAMIC_ARCH")
        say = ctypes.CFUNCTYPE(ctypes.c_void_p)(lambda: ctypes.addressof(Liar.said))

        def __getattr__(self, name):
            if not name.endswith("64_"):
                raise AttributeError(name)
            return ctypes.cast(self.say, ctypes.CFUNCTYPE(ctypes.c_char_p))

    monkeypatch.setattr(blas.ctypes, "CDLL", lambda *_, **__: Liar())
    assert blas._opened(str(text), loaded=False) is None


def test_a_library_of_numpy_that_is_not_loaded_is_not_loaded_for_products(tmp_path):
    if not hasattr(blas.os, "RTLD_NOLOAD"):
        pytest.skip("the system cannot ask whether a library is loaded")
    for path, of_numpy in blas._files():
        if of_numpy:
            copy = shutil.copy(path, tmp_path)
            assert blas._opened(str(copy), loaded=True) is None
            return
    pytest.skip("NumPy's library is not one of a wheel")


@pytest.mark.parametrize("scipy", [True, False])
def test_without_libraries_in_wheels_the_public_table_serves_if_there_is_one(monkeypatch, scipy):
    if scipy:
        pytest.importorskip("scipy.linalg.cython_blas")
    monkeypatch.setattr(blas, "_files", lambda: iter(()))
    if not scipy:
        monkeypatch.setattr(blas.importlib, "import_module", lambda name: missing(name))
    found = blas.library.__wrapped__()
    if scipy:
        assert found is not None and not found.wide
        assert set(found.addresses) == set(blas.ROUTINES)
    else:
        assert found is None
        monkeypatch.setattr(blas, "library", lambda: None)
        assert not blas._registered.__wrapped__()


def missing(name):
    raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_a_runtime_that_refuses_the_routines_leaves_products_to_numpy(monkeypatch):
    monkeypatch.setattr(blas, "library", lambda: blas.Library({"dger": 1}, wide=False))
    before = recorder.counts["fallback"]
    assert not blas._registered.__wrapped__()
    assert recorder.counts["fallback"] == before + 1
    assert recorder.records("fallback", "blas")[-1].detail["instead"] == "numpy.matmul"


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("length", [0, 1, 1000, 100_000])
def test_the_norm_of_an_argument_is_the_product_that_numpy_takes(dtype, length):
    x = np.random.default_rng(0).normal(size=length).astype(dtype)
    lowered = jitwise.jit(np.linalg.norm).lower(x)
    assert "dot_general" in lowered.as_text()
    got, wanted = lowered.compile()(x), np.linalg.norm(x)
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=8 * np.finfo(dtype).eps)


def test_the_norm_of_an_expression_is_summed_as_it_is_computed():
    x = np.random.default_rng(0).normal(size=1000)
    lowered = jitwise.jit(lambda x: np.linalg.norm(x - 1)).lower(x)
    assert "dot_general" not in lowered.as_text()
    assert np.isclose(lowered.compile()(x), np.linalg.norm(x - 1), rtol=1e-14)
