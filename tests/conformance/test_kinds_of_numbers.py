"""What an operator or a built-in function of Python gives for a Python number, a NumPy scalar or a
0-d array: each kind of number on either side of each operator, followed by an operation that tells
Python's numbers from NumPy's; and each built-in function of numbers of each dtype.

`z` is a 0-d array and `x` an array of three, both of the dtype; `k` is a Python number.
"""

from __future__ import annotations

import itertools
import zlib

import numpy as np
import pytest
from oracle_of_reports import faults_of

DTYPES = ["?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
OPERATORS = [
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "<",
    "<=",
    "==",
    "!=",
    ">",
    ">=",
    "&",
    "|",
    "^",
    "<<",
    ">>",
]
STRONG = """
z; z[()]; x[1]; x.sum(); np.array(x[0]); np.asarray(z); np.array(2); np.array(1)[()]; np.array(0)
np.array(True); np.float64(2.5); np.True_; np.int8(2); np.uint8(1); np.float32(2); np.complex64(2)
"""
SECOND = """
{}; ~{}; {} * 2**62; {} / 0; {}.dtype; -{}; type({}).__name__; {} // 1; {} ** 2; abs({}); {} << 1
round({}); +{}; {} % 3; 1 - {}; np.array([{}, 1]); 1j * {}; {} * 1j; {} == 1j
"""
NUMBERS = ([2, -3, 0, 2**40], [True, False], [2.5, 0.0, -1.5], [1j, 2 - 3j])


def items(text):
    return [item.strip() for line in text.strip().splitlines() for item in line.split(";")]


def calls_of(dtype, numbers):
    arrays = [np.array(1).astype(dtype), np.array([1, 2, 1]).astype(dtype)]
    return [[*arrays, number] for number in numbers]


@pytest.mark.parametrize("strong", items(STRONG))
@pytest.mark.parametrize("operator", OPERATORS)
def test_the_kind_of_a_result_is_numpys(operator, strong):
    faults, second = [], items(SECOND)
    for place, numbers in enumerate(NUMBERS):
        for left, right in ((strong, "k"), ("k", strong)):
            number = zlib.crc32(f"{left} {operator} {right} {place}".encode())
            texts = (second[number % len(second)], second[number // 7 % len(second)])
            dtype = DTYPES[number % len(DTYPES)]
            for text in texts:
                text = text.format(f"({left} {operator} {right})")
                # Of warnings see the tests of those; a result that nothing needs warns of nothing.
                faults += faults_of(text, ("z", "x", "k"), calls_of(dtype, numbers), False)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("exponent", ["2", "2.0", "k", "1", "0.5", "-1", "True", "np.int64(2)"])
@pytest.mark.parametrize("base", ["x", "z", "z[()]", "x[1]", "x[:0]"])
def test_a_power_has_the_dtype_and_the_kind_of_numpys(base, exponent):
    faults = []
    for dtype in DTYPES:
        for numbers in NUMBERS:
            if exponent == "k" or numbers is NUMBERS[0]:
                calls = calls_of(dtype, [*numbers, *([1, 2] if numbers is NUMBERS[0] else [])])
                faults += faults_of(f"{base} ** {exponent}", ("z", "x", "k"), calls, False)
    assert not faults, "\n".join(faults)


BUILTINS = """
round({}); round({}, 2); round({}, -1); round({}, k); round({}, None); abs({}); int({}); float({})
complex({}); divmod({}, 3); divmod(7, {}); divmod({}, {}); divmod({}, k); pow({}, 2); pow({}, 2, 5)
pow(2, {}); pow(3, {}, 5); pow({}, -1); pow({}, k); bool({}); int({}) + 1; float({}) * 2
round({}) * 2; round({}, 1) + 1; abs({}) * 2**62; range(int({})); complex({}) + 1; complex({}, 1)
complex(1, {}); max({}, 1); min({}, k); sum([{}, 1]); [1, 2, 3][{}]; str({}); int({} * 3)
{}.__round__(); {}.item(); {}.real; {}.imag; {}.conjugate(); {}.is_integer(); {}.bit_length()
{}.as_integer_ratio(); math.floor({}); math.sqrt({}); math.isnan({}); round({} + k)
"""
OPERANDS = ["x.sum()", "x[1]", "z", "z[()]", "np.array(x[0])", "x[:1]", "(x * 2)[1]"]


def edges(dtype):
    """Pairs of a 0-d array and an array."""
    dtype = np.dtype(dtype)
    rows = [[2, 1, 2, 0]]
    if dtype.kind in "fc":
        rows += [[2.55, 1.25, 2.5, 0.3], [np.nan, 1.25, np.nan, 0.3], [1e5, -np.inf, -2.5, 0.3]]
    if dtype.kind == "c":
        rows += [[2j, 1j, 2.5j, 0]]
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        rows += [[limits.min, 0, limits.min, 0], [limits.max, 0, limits.max, 0]]
    with np.errstate(all="ignore"):
        return [(np.array(z).astype(dtype), np.array(x).astype(dtype)) for z, *x in rows]


@pytest.mark.parametrize("text", items(BUILTINS))
def test_a_builtin_gives_of_a_number_what_it_gives_of_numpys(text):
    faults = []
    for dtype, operand in itertools.product(DTYPES, OPERANDS):
        if (zlib.crc32(f"{text} {dtype} {operand}".encode()) >> 8) % 3:
            continue  # a third of them
        calls = [[z, x, k] for z, x in edges(dtype) for k in (1, 2)]
        # What a whole program is made of has to be computed for it to warn.
        faults += faults_of(text.replace("{}", operand), ("z", "x", "k"), calls)
    assert not faults, "\n".join(faults)
