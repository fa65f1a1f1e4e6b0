"""Numbers beside arrays and in the place of elements: each of NumPy's ways to convert a number,
with numbers in the range of the dtype, at its bounds and beyond, negative ones, nan, infinity, and
of other kinds. NumPy checks some, wraps others, warns or raises; so does the jitted function.

`a` is an array of [0, 1, 2], `k` an argument. `{D}` is the dtype of `a`.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from oracle_of_reports import faults_of

MAKING = """
np.{D}(k)
a + np.{D}(k)
np.{D}(np.int64(k))
np.{D}(np.float64(k))
np.{D}(np.asarray(k))
np.{D}([k, 1])
np.{D}(a[1] + k)
np.dtype("{D}").type(k)
np.array(k, dtype="{D}")
np.asarray(k, dtype="{D}")
np.asanyarray(k, "{D}")
np.array([k, 1], dtype="{D}")
np.array([k, a[0]], dtype="{D}")
np.array([a, a + k], "{D}")
np.asarray([[k], [1]], "{D}")
np.array((k, 1), "{D}")
np.array([k, 1])
np.array([np.int64(k), 1], "{D}")
np.array([np.asarray(k), 1], "{D}")
np.array(k, "{D}", ndmin=1)
np.asarray(k).astype("{D}")
np.astype(np.asarray(k), np.dtype("{D}"))
np.int64(k).astype("{D}")
np.full(3, k, dtype="{D}")
np.full(3, k, "{D}") + a
np.full(3, k)
np.full((2,), [k, 1], "{D}")
np.full_like(a, k)
np.full_like(a, k, dtype="{D}")
np.full_like(a, [k, 1, 1])
np.linspace(0, k, 3, dtype="{D}")
np.stack([k, a[0]])
np.repeat(k, 3).astype("{D}")
np.sum([k, 1], dtype="{D}")
np.cumsum([k, 1], dtype="{D}")
np.ones_like(k, dtype="{D}")
np.ascontiguousarray(k, "{D}")
np.asfortranarray([k, 1], "{D}")
np.asarray_chkfinite([k, 1], "{D}")
"""
WRITING = """
a[0] = k
a[:] = k
a[...] = k
a[[0, 1]] = k
a[a > 0] = k
a[:2] = [k, 1]
a[:2] = (k, 1)
a[[0, 1]] = [k, 1]
a[a > 0] = [k, 1]
a[1:] = np.asarray(k)
a[0] = np.int64(k)
a[0] = np.float64(k)
a[0] = a[1] + k
a[0] = np.uint8(200)
a[:] = np.uint8(200)
a[:2] = [300, 1]
a[0] = np.asarray(k)
a[0] += k
a[:2] += k
a.fill(k); k = 1
np.put(a, [0], k); k = 1
np.put(a, [0, 1], [k, 1]); k = 1
a.put([0], k); k = 1
np.place(a, a > 0, k); k = 1
np.place(a, a > 0, [k]); k = 1
np.putmask(a, a > 0, k); k = 1
np.copyto(a, k); k = 1
np.copyto(a, k, casting="unsafe"); k = 1
np.copyto(a, k, where=a > 0); k = 1
np.copyto(a, [k, 1, 1]); k = 1
np.put_along_axis(a, np.array([1]), k, 0); k = 1
b = np.zeros((2, 2), "{D}"); np.fill_diagonal(b, k); a = b
b = np.zeros(3, "{D}"); b[0] = k; a = b
b = np.zeros(3, "{D}"); b[:] = k; a = b
b = np.zeros(3, "{D}"); b.fill(k); a = b
b = np.zeros(3, "{D}"); b[0] = np.int64(300); a = b
a += k
a -= k
a *= k
a //= k
a **= k
a |= k
np.add(a, k, out=a); k = 1
"""
AMONG_ARRAYS = """
np.where(a > 0, k, a)
np.select([a > 0], [a], k)
np.select([a > 0], [k], a)
np.select([a > 0, a < 5], [a, k])
np.choose([0, 1, 0], [a, k])
np.clip(a, 0, k)
np.clip(a, k, None)
np.clip(a, k, k)
np.clip(k, a, a)
np.piecewise(a, [a > 0], [k, 0])
np.interp(a, [0, 1], [k, 1])
np.insert(a, 1, k)
np.append(a, k)
np.concatenate([a, [k]])
np.pad(a, 1, constant_values=k)
np.nan_to_num(a, nan=k)
np.isin(a, k)
np.searchsorted(a, k)
np.digitize(a, [k])
np.diff(a, prepend=k)
np.ediff1d(a, to_end=k)
np.max(a, initial=k)
np.sum(a, initial=k)
np.sum(a, initial=k, dtype="{D}")
np.prod(a, initial=k)
np.maximum.reduce(a, initial=k)
np.max(a, initial=k, where=a > 0)
np.array_equal(a, k)
np.gradient(a, k)
np.outer(a, k)
np.isclose(a, k)
"""
OPERATING = """
a + k
k - a
a * k
a // k
k % a
a ** k
k ** a
a < k
k == a
a != k
a & k
k | a
a << k
np.add(k, a, dtype="{D}")
np.maximum(a, k)
np.minimum(k, a)
np.power(a, k)
np.floor_divide(a, k)
np.bitwise_and(a, k)
np.gcd(a, k)
np.logical_and(a, k)
np.arctan2(k, a)
np.add.outer(a, k)
"""
UFUNCS_AT = """
add subtract multiply maximum minimum fmax bitwise_or logical_or floor_divide true_divide power
equal left_shift remainder
"""
AT = "\n".join(f"np.{name}.at(a, [0, 0], k); k = 1" for name in UFUNCS_AT.split())
SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
OTHERS = ("bool", "float16", "float32", "float64", "complex64", "complex128")
NUMBERS = (
    [1, 0, -1, 300, 70000, 2**40, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64],
    [2.0, -1.5, 300.7, float("nan"), float("inf"), 1e300, 1e5, 2.0**63],
    [True, False],
    [1j, 2 + 0j],
    [np.int64(300)],
    [np.int64(-1), np.int64(3)],
    [np.float64(300.7), np.float64("nan"), np.float64(1.5)],
    [np.uint8(200)],
    [np.bool_(True)],
    [np.complex64(1j)],
)
# What a call of a library decides in the trace, from numbers that a guard holds, warns there.
QUIET = ("np.dtype(", "np.average", "np.fromiter")


def bounds(dtype):
    if dtype.kind not in "iu":
        return []
    limits = np.iinfo(dtype)
    return [int(limits.max), int(limits.max) + 1, int(limits.min), int(limits.min) - 1]


def dtypes_of(text):
    """One dtype of each group, by the text."""
    number = zlib.crc32(text.encode())
    return [np.dtype(group[number % len(group)]) for group in (SIGNED, UNSIGNED, OTHERS)]


TEXTS = "".join((MAKING, WRITING, AMONG_ARRAYS, OPERATING, AT)).strip().splitlines()


@pytest.mark.parametrize("text", [text for text in TEXTS if text])
def test_a_number_is_converted_or_refused_as_numpy_does(text):
    faults = []
    for dtype in dtypes_of(text):
        for numbers in NUMBERS:
            if type(numbers[0]) is int:
                numbers = [*numbers, *bounds(dtype)]
            calls = [[np.array([0, 1, 2], dtype), number] for number in numbers]
            warned = not any(word in text for word in QUIET)
            faults += faults_of(text.replace("{D}", dtype.name), ("a", "k"), calls, warned)
    assert not faults, "\n".join(faults)
