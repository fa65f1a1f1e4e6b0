"""LLVM assembly as text: types, exact literals, and a function being written.

Writing text is thirty times cheaper than building the same module from objects and printing it, and
the parser reads either at the same cost. Nothing here knows kernels.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

SCALARS: dict[np.dtype, str] = {
    np.dtype(np.bool_): "i1",
    np.dtype(np.int8): "i8",
    np.dtype(np.int16): "i16",
    np.dtype(np.int32): "i32",
    np.dtype(np.int64): "i64",
    np.dtype(np.uint8): "i8",
    np.dtype(np.uint16): "i16",
    np.dtype(np.uint32): "i32",
    np.dtype(np.uint64): "i64",
    np.dtype(np.float16): "half",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
}
PARTS: dict[np.dtype, np.dtype] = {
    np.dtype(np.complex64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.float64),
}
SUFFIXES = {"half": "f16", "float": "f32", "double": "f64"}


def widen(scalar: str, lanes: int) -> str:
    """The type of `lanes` values of LLVM type `scalar`."""
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


def overload(scalar: str, lanes: int) -> str:
    """How an intrinsic's name spells the type of `lanes` values: `v64f32`."""
    name = SUFFIXES.get(scalar, scalar)
    return name if lanes == 1 else f"v{lanes}{name}"


def literal(value: Any, dtype: np.dtype) -> str:
    """The exact literal of one real value: floats by their bits."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind in "iu":
        return str(int(value))
    number = np.asarray(value, dtype)
    if dtype.itemsize == 2:
        return f"0xH{int(number.view(np.uint16)):04X}"
    return f"0x{struct.unpack('<Q', struct.pack('<d', float(number)))[0]:016X}"


def splat(scalar: str, lanes: int, number: str) -> str:
    """A constant in every lane."""
    return number if lanes == 1 else f"splat ({scalar} {number})"


# Instructions that a select could take a part of, see `flags.of_every_lane`.
RAISING = ("fadd", "fsub", "fmul", "fdiv", "fptosi", "fptoui", "fptrunc", "call")


class FunctionText:
    """The lines of one function, with fresh names and one set of stack buffers.

    Buffers are declared in the entry block and shared by every call that needs one of the same
    place and size.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.buffers: dict[str, tuple[str, int]] = {}
        self.count = 0
        self.raising: set[str] = set()  # names of what may raise a floating-point flag

    def line(self, text: str) -> None:
        """Append an instruction without result."""
        self.lines.append("  " + text)

    def define(self, text: str) -> str:
        """Append an instruction; its name."""
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {text}")
        if text.startswith(RAISING):
            self.raising.add(name)
        return name

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")

    def buffer(self, place: int | str, size: int) -> str:
        """The stack buffer called `place`, of at least `size` bytes."""
        name = f"%buffer{place}"
        self.buffers[name] = (name, max(size, self.buffers.get(name, (name, 0))[1]))
        return name

    def allocations(self) -> list[str]:
        """The lines that declare the buffers, for the top of the entry block."""
        return [
            f"  {name} = alloca [{size} x i8], align 64" for name, size in self.buffers.values()
        ]
