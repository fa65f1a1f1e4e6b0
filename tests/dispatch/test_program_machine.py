"""The program machine: sizes, views, memory, library instructions, host calls, refusals."""

import gc
import importlib.util
import resource
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitwise import jit

native = pytest.importorskip("jitwise.runtime._native")
_spec = importlib.util.spec_from_file_location(
    "handwritten_kernels", Path(__file__).with_name("handwritten_kernels.py")
)
kernels = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(kernels)

DTYPES = [
    "bool",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "f32",
    "f64",
    "c64",
    "c128",
]
NAMES = {
    np.dtype(kind): name
    for kind, name in zip(
        ["?", "b", "h", "i", "l", "B", "H", "I", "L", "e", "f", "d", "F", "D"], DTYPES
    )
}


def name_of(array):
    return NAMES[np.asarray(array).dtype]


def program(arrays, instructions, outputs, dims=(), guards=(), symbols=None, slots=32):
    """A program over inputs like `arrays`; unless given, every size is a symbol, in order."""
    arrays = [np.asarray(array) for array in arrays]
    if symbols is None:
        symbols = [
            ("size", i, axis) for i, array in enumerate(arrays) for axis in range(array.ndim)
        ]
    inputs = [(name_of(array), array.ndim) for array in arrays]
    return native.Program("test", symbols, dims, guards, inputs, slots, instructions, outputs)


def scalar(slot, value):
    value = np.asarray(value)
    return ("scalar", slot, name_of(value), value.tobytes())


# ---- sizes and guards


def test_sizes_are_computed_when_the_program_runs():
    x = np.zeros((7, 3))
    dims = [
        ("const", 2),
        ("mul", 0, 2),
        ("sub", 3, 1),
        ("floordiv", 4, 2),
        ("mod", 4, 2),
        ("min", 0, 1),
        ("max", 0, 1),
    ]
    instructions = [("dimension", 10 + i, i) for i in range(9)]
    run = program([x], instructions, list(range(10, 19)), dims).run
    assert [int(value) for value in run([x])] == [7, 3, 2, 14, 11, 5, 1, 3, 7]
    assert [int(value) for value in run([np.zeros((2, 9))])] == [2, 9, 2, 4, -5, -3, 1, 2, 9]


@pytest.mark.parametrize(
    "dims",
    [
        [("const", 2**62), ("const", 4), ("mul", 1, 2)],
        [("const", 2**63 - 1), ("add", 0, 1)],
        [("const", 0), ("floordiv", 0, 1)],
        [("const", 0), ("mod", 0, 1)],
    ],
)
def test_sizes_that_do_not_fit_give_up_the_call(dims):
    run = program([np.ones(3)], [("dimension", 1, 0)], [1], dims).run
    with pytest.raises(native.Deoptimize):
        run([np.ones(3)])


def test_a_guard_is_tested_before_anything_runs():
    called = []
    host = ("host", lambda x: called.append(1) or x, [0], [(1, "f64", 1)])
    for guard, good, bad in ((("eq", 2), 4, 5), (("ne", 2), 5, 4), (("ge", 2), 6, 3)):
        run = program([np.ones(3)], [host], [1], [("const", 4), ("sub", 0, 1)], [guard]).run
        run([np.ones(good)])
        before = len(called)
        with pytest.raises(native.GuardFailure):
            run([np.ones(bad)])
        assert len(called) == before


def test_the_value_of_an_integer_argument_is_a_size():
    made = program(
        [np.int64(0)],
        [("alloc", 1, "f64", [0]), ("host", np.zeros_like, [1], [(2, "f64", 1)])],
        [2],
        symbols=[("value", 0)],
    )
    assert made.run([np.int64(5)])[0].shape == (5,)
    with pytest.raises(native.Deoptimize):
        made.run([np.int64(-1)])


# ---- kernels, memory


def chain():
    """(a * b + 2) + b, through a temporary."""
    return [
        scalar(2, 2.0),
        ("alloc", 3, "f64", [0]),
        ("kernel", kernels.multiply_add(), [0, 1, 2], [3], [0], 0),
        ("alloc", 4, "f64", [0]),
        ("kernel", kernels.add(), [3, 1], [4], [0], 0),
        ("free", 3),
    ]


@pytest.mark.parametrize("length", [0, 1, 8, 100, 5000, 200_000])
def test_kernels_share_a_temporary(length):
    a, b = np.arange(float(length)), np.arange(float(length))[::-1]
    (out,) = program([a, b], chain(), [4]).run([a, b])
    assert np.array_equal(out, a * b + 2 + b)
    assert out.flags.owndata
    assert out.flags.writeable


def test_a_program_runs_in_several_threads_at_once():
    a, b = np.arange(50_000.0), np.ones(50_000)
    made = program([a, b], chain(), [4])
    expected, wrong = a * b + 2 + b, []

    def work():
        for _ in range(50):
            if not np.array_equal(made.run([a, b])[0], expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_input_returned_is_a_copy_and_one_result_twice_is_one_array():
    x = np.arange(4.0)
    out, again = program([x], [], [0, 0]).run([x])
    assert np.array_equal(out, x)
    assert not np.shares_memory(out, x)
    assert out is again


def test_a_large_result_is_recycled_and_owns_its_memory():
    native.release_memory()
    x = np.ones(1 << 20)
    made = program([x], [("alloc", 1, "f64", [0]), ("copy", 1, 0)], [1])
    (out,) = made.run([x])
    assert out.flags.owndata
    assert np.array_equal(out, x)
    assert native.memory_stats()["live"] >= x.nbytes
    address = out.ctypes.data
    del out
    assert native.memory_stats()["kept"] >= x.nbytes
    (out,) = made.run([x])
    assert out.ctypes.data == address
    out.resize(3 << 20, refcheck=False)
    assert np.array_equal(out[: 1 << 20], x)
    del out
    native.release_memory()
    assert native.memory_stats()["kept"] == 0


@pytest.mark.parametrize("size", [20_000, 100_000, 300_000])
@pytest.mark.parametrize(
    "function",
    [lambda x: np.sort(x) * 2 + 1, lambda x: np.sort(x), lambda x: (np.sort(x) + 1, x * 3, x - 2)],
    ids=["kernel after a call", "call", "several"],
)
def test_later_calls_wait_for_no_new_pages(function, size):
    f, x = jit(function), np.linspace(1, 0, size)
    for _ in range(5):
        f(x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        f(x)
    pages = 50 * size * 8 / 4096
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < pages / 4


def test_kept_memory_is_bounded():
    limit = native.memory_stats()["limit"]
    try:
        native.set_memory_limit(20 << 20)
        x = np.ones(1 << 20)
        made = program([x], [("alloc", 1, "f64", [0]), ("copy", 1, 0)], [1])
        results = [made.run([x])[0] for _ in range(8)]
        del results
        assert native.memory_stats()["kept"] <= 20 << 20
    finally:
        native.set_memory_limit(limit)


def test_arrays_of_numpy_use_numpys_memory():
    before = np._core.multiarray.get_handler_name()
    x = np.ones(1 << 18)
    (out,) = program([x], [("alloc", 1, "f64", [0]), ("copy", 1, 0)], [1]).run([x])
    assert np._core.multiarray.get_handler_name() == before
    assert np._core.multiarray.get_handler_name(out) == "jitwise_recycling"
    assert np._core.multiarray.get_handler_name(np.ones(1 << 18)) == before


@pytest.mark.parametrize("outputs", [[1], [0]])
def test_no_memory_is_a_memory_error_that_leaks_nothing(outputs):
    x = np.ones(4)
    live = native.memory_stats()["live"]
    huge = program([x], [("alloc", 1, "f64", [1])], outputs, [("const", 1 << 46)])
    for _ in range(3):
        with pytest.raises(MemoryError):
            huge.run([x])
    assert native.memory_stats()["live"] == live


def test_references_are_neither_lost_nor_kept():
    x = np.ones(100)
    made = program(
        [x],
        [("alloc", 1, "f64", [0]), ("copy", 1, 0), ("host", lambda a: a + 1, [1], [(2, "f64", 1)])],
        [1, 2],
    )
    count = sys.getrefcount(x)
    for _ in range(1000):
        made.run([x])
    assert sys.getrefcount(x) == count
    out = made.run([x])
    fresh = [np.ones(1), np.ones(1)]
    assert [sys.getrefcount(array) for array in out] == [sys.getrefcount(array) for array in fresh]


def test_a_program_in_a_cycle_with_its_callable_is_collected():
    class Holder:
        pass

    holder = Holder()
    holder.program = program(
        [np.ones(1)], [("host", lambda x, kept=holder: x, [0], [(1, "f64", 1)])], [1]
    )
    gone = weakref.ref(holder)
    del holder
    gc.collect()
    assert gone() is None


# ---- views


def views(x, instructions, dims=()):
    """The array that view instructions on slot 0 leave in slot 1."""
    return program([x], instructions, [1], dims).run([x])[0]


def test_views_are_numpys():
    x = np.arange(60.0).reshape(3, 4, 5)
    assert np.array_equal(views(x, [("transpose", 1, 0, [2, 0, 1])]), x.transpose(2, 0, 1))
    assert np.array_equal(views(x, [("reverse", 1, 0, [0, 2])]), x[::-1, :, ::-1])
    dims = [("const", value) for value in (0, 1, 2, 3, 4)]  # dims 3..7
    cut = ("slice", 1, 0, [3, 6, 4], [2, -1, 1], [5, 6, 5])
    assert np.array_equal(views(x, [cut], dims), x[::2, 3:0:-1, 1:3])
    spread = ("broadcast", 1, 0, [-1, 0, 1, 2], [5, 0, 1, 2])
    assert np.array_equal(views(x, [spread], dims), np.broadcast_to(x, (2, 3, 4, 5)))
    one = np.arange(3.0).reshape(3, 1)
    assert np.array_equal(
        views(one, [("broadcast", 1, 0, [0, 1], [0, 2])], [("const", 6)]),
        np.broadcast_to(one, (3, 6)),
    )


def test_a_view_of_a_view_leads_into_a_kernel():
    x = np.arange(12.0).reshape(3, 4)
    work = [
        ("transpose", 1, 0, [1, 0]),
        ("reverse", 2, 1, [0]),
        ("alloc", 3, "f64", [1, 0]),
        ("kernel", kernels.add(), [2, 1], [3], [1, 0], 0),
    ]
    (out,) = program([x], work, [3]).run([x])
    assert np.array_equal(out, x.T[::-1] + x.T)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_reshape_is_numpys_whatever_the_strides(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=0, max_size=4)))
    order = data.draw(st.permutations(range(len(shape))))
    x = (
        np.arange(np.prod(shape, dtype=int) * 1.0)
        .reshape([shape[axis] for axis in order])
        .transpose(np.argsort(order))
    )
    x = (
        x[tuple(slice(None, None, data.draw(st.sampled_from([1, -1]))) for _ in shape)]
        if shape
        else x
    )
    sizes, left = [], x.size
    while left > 1:
        factor = data.draw(st.sampled_from([d for d in range(2, left + 1) if left % d == 0]))
        sizes.append(factor)
        left //= factor
    for _ in range(data.draw(st.integers(0, 2))):
        sizes.insert(data.draw(st.integers(0, len(sizes))), 1)
    first = x.ndim
    dims = [("const", size) for size in sizes]
    run = program([x], [("reshape", 1, 0, list(range(first, first + len(sizes))))], [1], dims).run
    assert np.array_equal(run([x])[0], x.reshape(sizes))


@pytest.mark.parametrize(
    "instruction",
    [
        ("slice", 1, 0, [1], [1], [0]),
        ("slice", 1, 0, [0], [1], [1]),
        ("slice", 1, 0, [2], [-1], [1]),
        ("reshape", 1, 0, [1]),
        ("broadcast", 1, 0, [0], [1]),
    ],
)
def test_a_view_outside_its_array_is_refused(instruction):
    x = np.ones(4)
    with pytest.raises(RuntimeError):
        program([x], [instruction], [1], [("const", 2), ("const", 0)]).run([x])


def test_copies_into_parts_of_an_array():
    x, y = np.arange(5.0), np.arange(3.0)
    dims = [("add", 0, 1), ("const", 0)]  # 2: n + m, 3: 0
    work = [
        ("alloc", 2, "f64", [2]),
        ("slice", 3, 2, [3], [1], [0]),
        ("copy", 3, 0),
        ("slice", 4, 2, [0], [1], [1]),
        ("copy", 4, 1),
    ]
    (out,) = program([x, y], work, [2], dims).run([x, y])
    assert np.array_equal(out, np.concatenate([x, y]))


def test_a_copy_onto_itself_moved_reads_before_it_writes():
    x = np.arange(10.0)
    dims = [("const", 0), ("const", 1), ("sub", 0, 2)]
    work = [
        ("alloc", 1, "f64", [0]),
        ("copy", 1, 0),
        ("slice", 2, 1, [1], [1], [3]),
        ("slice", 3, 1, [2], [1], [3]),
        ("copy", 3, 2),
    ]
    (out,) = program([x], work, [1], dims).run([x])
    assert np.array_equal(out, [0, *range(9)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_copies_of_every_dtype_and_stride(dtype):
    kind = {name: kind for kind, name in NAMES.items()}[dtype]
    x = np.arange(3 * 40 * 50).reshape(3, 40, 50).astype(kind)
    for array in (x, x.transpose(2, 1, 0), x[::-1, ::3, ::2]):
        (out,) = program([array], [("alloc", 1, dtype, [0, 1, 2]), ("copy", 1, 0)], [1]).run(
            [array]
        )
        assert out.dtype == kind
        assert np.array_equal(out, array)


# ---- host calls and checks


def test_a_host_call_gets_arrays_and_its_exception_comes_through():
    x = np.arange(6.0)
    seen = []

    def host(a, b):
        seen.append((type(a), a.shape, b.ndim))
        return a[::-1], b * 2

    work = [scalar(1, 3.0), ("host", host, [0, 1], [(2, "f64", 1), (3, "f64", 0)])]
    out, doubled = program([x], work, [2, 3]).run([x])
    assert np.array_equal(out, x[::-1])
    assert not np.shares_memory(out, x)
    assert doubled == 6
    assert seen == [(np.ndarray, (6,), 0)]

    class Odd(Exception):
        pass

    error = Odd("mine")

    def fail(a):
        raise error

    with pytest.raises(Odd) as caught:
        program([x], [("host", fail, [0], [(1, "f64", 1)])], [1]).run([x])
    assert caught.value is error


@pytest.mark.parametrize(
    "result", [np.ones(3, "f4"), np.ones((3, 1)), np.ones(3, ">f8"), np.array(["a"])]
)
def test_a_host_result_of_another_type_gives_up_the_call(result):
    with pytest.raises(native.Deoptimize):
        program([np.ones(3)], [("host", lambda a: result, [0], [(1, "f64", 1)])], [1]).run(
            [np.ones(3)]
        )


def test_what_a_host_function_keeps_stays_valid():
    kept = []
    x = np.arange(1000.0)
    work = [
        ("alloc", 1, "f64", [0]),
        ("copy", 1, 0),
        ("host", lambda a: kept.append(a) or 0.0, [1], [(2, "f64", 0)]),
        ("free", 1),
    ]
    made = program([x], work, [2])
    for shift in range(5):
        made.run([x + shift])
    for shift, array in enumerate(kept):
        assert np.array_equal(array, x + shift)


def test_a_result_that_python_keeps_is_not_handed_out_as_fresh():
    stored = np.arange(3.0)
    (out,) = program([np.ones(1)], [("host", lambda a: stored, [0], [(1, "f64", 1)])], [1]).run(
        [np.ones(1)]
    )
    assert np.array_equal(out, stored)
    assert not np.shares_memory(out, stored)


def test_a_failed_check_gives_up_the_call():
    made = program([np.True_], [("check", 0), scalar(1, 1.0)], [1])
    assert made.run([np.True_])[0] == 1
    with pytest.raises(native.Deoptimize):
        made.run([np.False_])


# ---- library instructions


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1])
def test_iota_counts_along_an_axis(dtype, axis):
    kind = {name: kind for kind, name in NAMES.items()}[dtype]
    x = np.zeros((4, 5), kind)
    work = [("alloc", 1, dtype, [0, 1]), ("library", "iota", [], [1], [axis], [])]
    (out,) = program([x], work, [1]).run([x])
    expected = np.broadcast_to(
        np.arange(x.shape[axis]).astype(kind).reshape((-1, 1) if axis == 0 else (1, -1)), x.shape
    )
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("shape", [(30,), (7, 9), (3, 4, 5), (0, 3), (3, 0)])
def test_running_sums_and_products_are_numpys_bit_for_bit(dtype, name, shape):
    kind = np.dtype({name: kind for kind, name in NAMES.items()}[dtype])
    generator = np.random.default_rng(1)
    x = (
        generator.normal(size=shape).astype(kind)
        if kind.kind in "fc"
        else generator.integers(0, 100, shape).astype(kind)
    )
    for axis in range(len(shape)):
        for reverse in (0, 1):
            for array in (x, np.asfortranarray(x)):
                work = [
                    ("alloc", 1, dtype, list(range(len(shape)))),
                    ("library", name, [0], [1], [axis, reverse], []),
                ]
                (out,) = program([array], work, [1]).run([array])
                flip = (slice(None),) * axis + (slice(None, None, -1),)
                source = array[flip] if reverse else array
                with np.errstate(all="ignore"):
                    expected = getattr(np, name)(source, axis=axis, dtype=kind)
                assert (expected[flip] if reverse else expected).tobytes() == out.tobytes()


@pytest.fixture(scope="module")
def blas():
    """The functions that the runtime sets."""
    from jitwise.runtime.blas import library

    found = library()
    if found is None:
        pytest.skip("there is no BLAS")
    native.set_blas(found.addresses, wide=found.wide)
    return found


def matmul(a, b):
    """The product of matrices with equal leading axes, by the instruction."""
    last = a.ndim
    sizes = [*range(last - 1), 2 * last - 1]
    work = [("alloc", 2, name_of(a), sizes), ("library", "matmul", [0, 1], [2], [], [])]
    return program([a, b], work, [2]).run([a, b])[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "m, k, n",
    [
        (1, 1, 1),
        (3, 4, 5),
        (16, 16, 16),
        (17, 3, 16),
        (20, 30, 1),
        (1, 30, 20),
        (1, 40, 1),
        (33, 40, 35),
        (5, 0, 4),
        (0, 3, 4),
        (70, 3, 600),
        (64, 16, 16),
    ],
)
def test_matrix_products_of_every_dtype_and_layout(blas, dtype, m, k, n):
    kind = {name: kind for kind, name in NAMES.items()}[dtype]
    generator = np.random.default_rng(2)

    def make(rows, columns):
        plain = generator.integers(0, 2 if dtype == "bool" else 5, (2 * rows, 2 * columns)).astype(
            kind
        )
        dense = np.ascontiguousarray(plain[:rows, :columns])
        return [
            dense,
            np.asfortranarray(dense),
            plain[::2, ::2],
            plain[:rows, columns:],
            dense[::-1, ::-1],
            plain.T[:columns, :rows].T,
        ]

    for a in make(m, k):
        for b in make(k, n):
            assert np.array_equal(matmul(a, b), a @ b)


def test_integer_products_wrap(blas):
    a = np.full((3, 5), 100, "i1")
    with np.errstate(over="ignore"):
        assert np.array_equal(matmul(a, a.T), a @ a.T)


@pytest.mark.parametrize("size", [3, 8, 40])
def test_stacks_of_matrix_products(blas, size):
    a = np.random.default_rng(0).integers(-5, 5, (6, 7, size, size)).astype("f8")
    b = a.swapaxes(2, 3)[::-1]
    assert np.array_equal(matmul(a, b), a @ b)
    many = np.random.default_rng(0).integers(-5, 5, (3000, size, size)).astype("f4")
    assert np.array_equal(matmul(many, many), many @ many)


def test_without_blas_a_float_product_is_refused_when_the_program_is_made(blas):
    native.set_blas({"dgemm": 0})
    try:
        assert not native.has_blas("f64")
        assert native.has_blas("i64")
        with pytest.raises(ValueError, match="BLAS"):
            matmul(np.ones((2, 2)), np.ones((2, 2)))
    finally:
        native.set_blas(blas.addresses, wide=blas.wide)
    with pytest.raises(ValueError):
        native.set_blas({"dger": 1})


# ---- programs that make no sense


@pytest.mark.parametrize(
    "instructions, outputs",
    [
        ([("copy", 1, 0)], [0]),
        ([("alloc", 99, "f64", [0])], [0]),
        ([("alloc", 1, "f64", [7])], [0]),
        ([("alloc", 1, "f80", [0])], [0]),
        ([("alloc", 0, "f64", [0])], [0]),
        ([("alloc", 1, "f64", [0]), ("free", 1), ("copy", 1, 0)], [0]),
        ([("alloc", 1, "f64", [0]), ("free", 1)], [1]),
        ([("transpose", 1, 0, [1])], [0]),
        ([("transpose", 0, 0, [0])], [0]),
        ([("slice", 1, 0, [], [], [])], [0]),
        ([("scalar", 1, "f64", b"abc")], [0]),
        ([("alloc", 1, "f32", [0]), ("copy", 1, 0)], [1]),
        ([("library", "sort", [0], [0], [], [])], [0]),
        ([("library", "cumsum", [0], [0], [1, 0], [])], [0]),
        ([("library", "matmul", [0, 0], [0], [], [])], [0]),
        ([("host", 3, [0], [])], [0]),
        ([("check", 0)], [0]),
        ([("leap", 0)], [0]),
        ([("jump", 2)], [0]),
        ([("jump", -1)], [0]),
        ([("jump_unless", 0, 0)], [0]),
        ([("jump_unless", 0, 0, 1)], [0]),
        ([("move", 0, 0)], [0]),
        ([("move", 1, 2)], [0]),
        ([], [5]),
    ],
)
def test_a_program_that_makes_no_sense_is_refused_when_it_is_made(instructions, outputs):
    with pytest.raises(ValueError):
        program([np.ones(3)], instructions, outputs)


def test_a_kernel_gets_the_operands_it_was_made_for():
    kernel = kernels.add()
    for ins, outs in (([0], [1]), ([0, 0, 0], [1]), ([0, 0], [2])):
        with pytest.raises(ValueError):
            program(
                [np.ones(3)],
                [
                    ("alloc", 1, "f64", [0]),
                    ("alloc", 2, "f32", [0]),
                    ("kernel", kernel, ins, outs, [0], 0),
                ],
                [1],
            )
