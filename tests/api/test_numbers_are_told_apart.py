"""Equal is not the same: 0.0 and -0.0, 1, 1.0 and True, and nans of other bits are other constants,
attributes and keys wherever a graph or a kernel looks for what it already has.
"""

from __future__ import annotations

import itertools
import struct

import numpy as np
import pytest
from oracle import agrees

from jitwise.ir.builder import Builder
from jitwise.ir.primitive import Primitive, exact, exact_attrs
from jitwise.ir.types import ArrayType
from jitwise.kernel.nest import KernelBuilder, Operand

F8 = np.dtype(np.float64)


def nan_of(payload):
    return struct.unpack("d", struct.pack("Q", 0x7FF8000000000000 | payload))[0]


ALIKE = [
    0.0,
    -0.0,
    0,
    False,
    1,
    1.0,
    True,
    1 + 0j,
    complex(1, -0.0),
    complex(-0.0, 0.0),
    np.float64(1.0),
    np.float32(1.0),
    np.int64(1),
    np.bool_(True),
    nan_of(1),
    nan_of(2),
    np.float64(nan_of(3)),
    (0.0, 1),
    (-0.0, 1),
    (0.0, True),
    ((1,), 0),
    ((True,), 0),
]
ATTRIBUTED = Primitive(
    name="test_attributed",
    category="elementwise",
    infer=lambda types, attrs: types[0],
    evaluate=lambda x, value: x,
)


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(range(len(ALIKE)), 2)))
def test_attributes_that_differ_are_told_apart(first, second):
    left, right = {"value": ALIKE[first]}, {"value": ALIKE[second]}
    assert exact_attrs(left) != exact_attrs(right)
    builder = Builder()
    value = builder.input(ArrayType(F8, (3,)))
    assert builder.emit(ATTRIBUTED, (value,), left) is not builder.emit(ATTRIBUTED, (value,), right)


@pytest.mark.parametrize("index", range(len(ALIKE)))
def test_attributes_that_are_the_same_are_one(index):
    item = ALIKE[index]
    again = struct.unpack("d", struct.pack("d", item))[0] if type(item) is float else item
    assert exact(item) == exact(again)
    builder = Builder()
    value = builder.input(ArrayType(F8, (3,)))
    ops = [builder.emit(ATTRIBUTED, (value,), {"value": each}) for each in (item, again)]
    assert ops[0] is ops[1]


def test_kernels_tell_attributes_apart():
    for first, second in ((0.0, -0.0), (1, True), (1, 1.0), (nan_of(1), nan_of(2))):
        builder = KernelBuilder("map", (Operand(F8, "vector", False), Operand(F8, "vector", True)))
        loaded = builder.load(0)
        left = builder.compute(ATTRIBUTED, loaded, value=first)
        assert builder.compute(ATTRIBUTED, loaded, value=second) != left
        assert builder.compute(ATTRIBUTED, loaded, value=first) == left


CONSTANTS = [
    (0.0, -0.0),
    (1.0, 1),
    (1, True),
    (complex(1, 0.0), complex(1, -0.0)),
    (complex(0.0, 1), complex(-0.0, 1)),
    (np.complex64(complex(1, 0.0)), np.complex64(complex(1, -0.0))),
    (nan_of(1), nan_of(2)),
    (np.float64(-0.0), np.float64(0.0)),
]


@pytest.mark.parametrize("pair", range(len(CONSTANTS)))
@pytest.mark.parametrize("order", [1, -1])
def test_constants_of_one_graph_are_told_apart(pair, order):
    first, second = CONSTANTS[pair][::order]
    for dtype in ("f8", "f4", "c16", "i8"):
        if dtype != "c16" and isinstance(first, (complex, np.complexfloating)):
            continue
        if dtype == "i8" and (type(first) is float or first != first):
            continue
        scalar = np.dtype(dtype)
        builder = Builder()
        values = [builder.constant(each, scalar) for each in (first, second)]
        wanted = [np.asarray(each).astype(scalar).tobytes() for each in (first, second)]
        assert [each.constant.tobytes() for each in values] == wanted
        assert (values[0] is values[1]) == (wanted[0] == wanted[1])


@pytest.mark.parametrize("pair", range(len(CONSTANTS)))
def test_programs_keep_constants_that_are_equal_apart(pair):
    first, second = CONSTANTS[pair]
    zeros = np.zeros(3)
    agrees(lambda x: (np.copysign(2.0, first.real) * x, x + first, x + second), zeros)
    agrees(lambda x: (x * first, x * second), zeros - 1.0)
    agrees(lambda x: (np.full(2, first), np.full(2, second), x), zeros)
