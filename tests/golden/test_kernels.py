"""Kernels as text: what the verifier says of them, and the LLVM text that they become."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jitwise.kernel.nest import Kernel
from jitwise.kernel.parser import parse_kernel
from jitwise.kernel.printer import print_kernel
from jitwise.kernel.verify import KernelVerifyError, verify_kernel
from jitwise.llvm.emit import emit_kernels


@pytest.fixture
def kernel_golden(
    request: pytest.FixtureRequest,
) -> Callable[[Path, Callable[[Kernel], str]], None]:
    """`kernel_golden(path, make)`: what `make(kernel)` gives is what the file expects."""

    def check(path: Path, make: Callable[[Kernel], str]) -> None:
        before, _, expected = path.read_text().partition("\n---\n")
        found = make(parse_kernel(before)).strip()
        if request.config.getoption("--update-golden"):
            path.write_text(f"{before}\n---\n{found}\n")
        else:
            assert found == expected.strip(), f"{path.name}; see --update-golden"

    return check


def judge(kernel: Kernel) -> str:
    try:
        verify_kernel(kernel)
    except KernelVerifyError as error:
        return str(error).splitlines()[0]
    return "well formed"


@pytest.mark.golden("kernel")
def test_the_verifier_names_the_broken_invariant(golden_path, kernel_golden):
    kernel_golden(golden_path, judge)


@pytest.mark.golden("kernel")
def test_kernel_text_is_read_back_as_it_was_printed(golden_path):
    kernel = parse_kernel(golden_path.read_text().partition("\n---\n")[0])
    text = print_kernel(kernel)
    assert print_kernel(parse_kernel(text)) == text


@pytest.mark.golden("llvm")
def test_a_kernel_becomes_this_llvm_text(golden_path, kernel_golden):
    def make(kernel: Kernel) -> str:
        verify_kernel(kernel)
        return emit_kernels([kernel]).text

    kernel_golden(golden_path, make)
