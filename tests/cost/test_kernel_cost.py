"""What compiling a kernel costs, in counts."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

import jitwise.ops  # noqa: F401  (fills the registry of primitives)
from jitwise.ir.builder import primitive_named
from jitwise.kernel.nest import Kernel, KernelBuilder, Operand, identity
from jitwise.kernel.schedule import MAXIMUM_LANES, MINIMUM_LANES, choose_lanes, schedule
from jitwise.llvm import compile as compiling
from jitwise.llvm.compile import compile_kernel, compile_kernels
from jitwise.llvm.emit import emit_kernels

SINGLE = np.dtype(np.float32)


def chain(length: int, factor: float = 2.0) -> Kernel:
    """x * factor + x, again and again."""
    builder = KernelBuilder(
        "map", (Operand(SINGLE, "vector", False), Operand(SINGLE, "vector", True))
    )
    value = first = builder.load(0)
    for _ in range(length):
        value = builder.compute(
            primitive_named("multiply"), value, builder.constant(factor, SINGLE)
        )
        value = builder.compute(primitive_named("add"), value, first)
    builder.store(1, value)
    return schedule(builder.finish(16), 64)


def instructions(text: str) -> int:
    return sum(line.startswith("  ") for line in text.splitlines())


def test_an_operation_is_one_instruction():
    short, long = (instructions(emit_kernels([chain(length)]).text) for length in (20, 70))
    assert long - short == 2 * 50


def test_a_phase_has_one_loop_and_no_tail():
    text = emit_kernels([chain(20)]).text
    assert text.count("\nloop:") == 1
    assert len(re.findall(r"load <128 x float>", text)) == 1
    assert len(re.findall(r"store <128 x float>", text)) == 1


def test_a_phase_with_little_arithmetic_takes_a_chunk_in_two_parts():
    text = emit_kernels([chain(3)]).text
    assert text.count("\nloop:") == 1
    assert text.count("\nstream:") == 1
    assert len(re.findall(r"load <64 x float>", text)) == 2 * 2
    assert len(re.findall(r"store <64 x float>.*, align 1\n", text)) == 2
    assert len(re.findall(r"store <64 x float>.*, align 64, !nontemporal", text)) == 2


def test_a_long_phase_has_no_second_loop():
    assert "stream:" not in emit_kernels([chain(7)]).text


def test_a_kernel_around_no_operation_has_few_instructions():
    assert instructions(emit_kernels([chain(0)]).text) <= 50


def test_equal_kernels_are_compiled_once():
    before = compiling.counters.modules
    first, second = compile_kernel(chain(3, 7.5)), compile_kernel(chain(3, 7.5))
    assert first is second
    assert compiling.counters.modules == before + 1


def test_different_kernels_share_one_module():
    before = compiling.counters.modules, compiling.counters.kernels
    kernels = [chain(2, factor) for factor in (3.25, 3.5, 3.75)]
    compiled = compile_kernels(kernels)
    assert len({each.phases for each in compiled}) == 3
    assert compiling.counters.modules == before[0] + 1
    assert compiling.counters.kernels == before[1] + 3


def test_a_kernels_identity_is_its_text():
    assert identity(chain(3)) == identity(chain(3))
    assert identity(chain(3)) != identity(chain(3, 2.5))
    assert identity(chain(3)) != identity(chain(3).with_lanes(64))


def test_equal_statements_become_one():
    builder = KernelBuilder(
        "map", (Operand(SINGLE, "vector", False), Operand(SINGLE, "vector", True))
    )
    multiply = primitive_named("multiply")
    left, right = (
        builder.compute(multiply, builder.load(0), builder.constant(2, SINGLE)) for _ in range(2)
    )
    builder.store(1, builder.compute(primitive_named("add"), left, right))
    assert len(list(builder.finish(16).statements())) == 5


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize("dtype", ["?", "f4", "f8", "c16"])
def test_lanes_suit_the_math_library_and_the_tail_test(dtype, vector_bytes):
    lanes = choose_lanes([np.dtype(dtype)], vector_bytes)
    assert lanes % 16 == 0
    assert MINIMUM_LANES <= lanes <= MAXIMUM_LANES


def test_llvmlite_is_imported_by_the_first_compile_and_not_before():
    program = (
        "import sys, jitwise.ops, jitwise.kernel.schedule, jitwise.kernel.nest as n\n"
        "import jitwise.llvm.compile as c\n"
        "b = n.KernelBuilder('map', ()); k = b.finish(16); n.identity(k)\n"
        "from jitwise.llvm.emit import emit_kernels; emit_kernels([k])\n"
        "assert 'llvmlite' not in sys.modules\n"
        "c.compile_kernel(k)\n"
        "assert 'llvmlite.binding' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True)


def test_the_first_kernel_of_a_process_may_call_the_c_library():
    program = (
        "import numpy as np, jitwise.ops, jitwise.llvm.compile as c\n"
        "from jitwise.ir.builder import primitive_named\n"
        "from jitwise.kernel.nest import KernelBuilder, Operand\n"
        "d = np.dtype('f8')\n"
        "b = KernelBuilder('map', (Operand(d, 'vector', False), Operand(d, 'vector', True)))\n"
        "b.store(1, b.compute(primitive_named('fmod'), b.load(0), b.load(0)))\n"
        "c.compile_kernel(b.finish(16))\n"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True)
