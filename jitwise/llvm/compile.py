"""LLVM text to machine code in this process: one target machine, one linker, one table of compiled
kernels.

No LLVM passes run, and code generation is at level 0: with explicit vectors that costs no speed and
a third of the time. Only accumulators want a register allocator that keeps values across blocks,
which begins at level 1 (see Note). llvmlite is imported at the first compile. A kernel is compiled
once for its text; it stays loaded while the table or anyone else holds its `CompiledKernel`.

Note: [Levels]
    six times y -> y*2 + sin(y), then y/3 + cos(y), f32, 128 lanes; parse + code generation + link,
    and ns per element
    level 0     0.13 + 1.88 + 0.21 ms     1.11
    level 1     0.16 + 5.19 + 0.40 ms     1.08
    level 2     0.17 + 5.79 + 0.43 ms     1.06
    row sum of 2048 f32, 128 lanes; ms in all, and ns per element
    level 0     1.5 ms     0.071
    level 1     2.9 ms     0.029
    level 2     3.0 ms     0.027
    Asking for 512-bit vectors by function attributes changes nothing: the target of this processor
    prefers them already.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..kernel.nest import Kernel, identity
from ..kernel.schedule import LIGHT_STATEMENTS
from . import mathlib
from .emit import ModuleText, emit_kernels

TABLE_SIZE = 4096
LINKER_SIZE = 256  # libraries; a linker keeps 10 KB of each for as long as it lives itself


class CompiledKernel(NamedTuple):
    """Machine code of one kernel: the address of each phase. `owner` unloads the code when it is
    collected.
    """

    kernel: Kernel
    identity: str
    phases: tuple[int, ...]
    owner: Library


class _Engine:
    """The parts of LLVM that are set up once."""

    def __init__(self) -> None:
        import llvmlite.binding as binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        binding.initialize_native_asmparser()  # regions have a few instructions by name
        self.binding = binding
        self.cpu = binding.get_host_cpu_name()
        self.features = binding.get_host_cpu_features()
        self.machines: dict[int, Any] = {}
        self.linked = 0
        self.linker: Any = None
        self.lock = threading.Lock()

    def place(self) -> tuple[Any, str]:
        """The linker for the next library, and the library's name there."""
        with self.lock:
            if self.linked % LINKER_SIZE == 0:
                self.linker = self.binding.create_lljit_compiler(self.create_machine(0))
            self.linked += 1
            return self.linker, f"jitwise{self.linked}"

    def machine(self, level: int) -> Any:
        """The target machine that generates code at this level."""
        with self.lock:
            if level not in self.machines:
                self.machines[level] = self.create_machine(level)
            return self.machines[level]

    def create_machine(self, level: int) -> Any:
        """A target machine for this processor."""
        return self.binding.Target.from_default_triple().create_target_machine(
            cpu=self.cpu,
            features=self.features.flatten(),
            opt=level,
            reloc="default",
            codemodel="jitdefault",
            jit=True,
        )


class Library:
    """Loaded object code: function name to address. Unloads when it is collected, and then lets its
    linker go.
    """

    __slots__ = ("_linker", "_tracker")

    def __init__(self, tracker: Any, linker: Any) -> None:
        self._tracker = tracker
        self._linker = linker

    def __getitem__(self, function: str) -> int:
        return self._tracker[function]

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():
            self._tracker.close()  # before the linker, whose memory it is


class _Counters:
    """What the cost tests count."""

    def __init__(self) -> None:
        self.modules = 0
        self.kernels = 0


counters = _Counters()
_lock = threading.RLock()
_table: OrderedDict[str, CompiledKernel] = OrderedDict()
_engine_cell: list[_Engine] = []


def _engine() -> _Engine:
    with _lock:
        if not _engine_cell:
            _engine_cell.append(_Engine())
        return _engine_cell[0]


def vector_bytes() -> int:
    """The width of this processor's vectors."""
    features = _engine().features
    if features.get("avx512f") and features.get("avx512dq") and features.get("avx512bw"):
        return 64
    return 32 if features.get("avx2") else 16


def has_avx() -> bool:
    """Whether this processor compares floats in any of 32 ways."""
    return bool(_engine().features.get("avx"))


def has_avx512() -> bool:
    """Whether an instruction on floats can be told to raise no flag."""
    return bool(_engine().features.get("avx512f"))


def level_for(kernel: Kernel) -> int:
    """The code generation level that pays for a kernel's own speed."""
    if not kernel.reductions:
        return 0
    light = kernel.mode == "row" or len(kernel.phases[0].body) <= LIGHT_STATEMENTS
    return 1 if light else 0


def compile_kernel(kernel: Kernel) -> CompiledKernel:
    """Machine code of `kernel`, from the table if it was compiled before."""
    return compile_kernels([kernel])[0]


def compile_kernels(kernels: Sequence[Kernel]) -> list[CompiledKernel]:
    """Machine code of each kernel; those not yet compiled together, a module per level."""
    names = [identity(kernel) for kernel in kernels]
    found: dict[str, CompiledKernel] = {}
    missing: dict[str, Kernel] = {}
    with _lock:
        for name, kernel in zip(names, kernels, strict=True):
            known = _table.get(name)
            if known is None:
                missing[name] = kernel
            else:
                _table.move_to_end(name)
                found[name] = known
    for level in sorted({level_for(kernel) for kernel in missing.values()}):
        group = {name: kernel for name, kernel in missing.items() if level_for(kernel) == level}
        for name, new in _compile(group, level).items():
            with _lock:
                found[name] = _table.setdefault(name, new)  # another thread may have been first
                while len(_table) > TABLE_SIZE:
                    _table.popitem(last=False)
    return [found[name] for name in names]


def _compile(kernels: dict[str, Kernel], level: int) -> dict[str, CompiledKernel]:
    module = emit_kernels(list(kernels.values()))
    counters.modules += 1
    counters.kernels += len(kernels)
    library = load_object(generate_object(module, level), module)
    return {
        name: CompiledKernel(
            kernel, name, tuple(library[function] for function in functions), library
        )
        for (name, kernel), functions in zip(kernels.items(), module.functions, strict=True)
    }


def compile_region(text: ModuleText) -> Library:
    """Machine code of a region, after LLVM's own passes."""
    engine = _engine()
    context = engine.binding.create_context()
    machine = engine.machine(2)
    with engine.binding.parse_assembly(text.text, context) as parsed:
        parsed.verify()
        options = engine.binding.create_pipeline_tuning_options(speed_level=2)
        options.loop_unrolling = False  # beyond vectors: a third of the time, and no faster
        builder = engine.binding.create_pass_builder(machine, options)
        if text.is_plain:  # passes over the module, and for vectors: two fifths of the time
            ((function,),) = text.functions
            builder.getFunctionPassManager().run(parsed.get_function(function), builder)
        else:
            builder.getModulePassManager().run(parsed, builder)
        image = machine.emit_object(parsed)
    counters.modules += 1
    return load_object(image, text)


def generate_object(module: ModuleText, level: int = 0) -> bytes:
    """Object code of `module` for this processor."""
    engine = _engine()
    context = engine.binding.create_context()
    with engine.binding.parse_assembly(module.text, context) as parsed:
        parsed.verify()  # a hundredth of the time; what is wrong would end the process
        return engine.machine(level).emit_object(parsed)


def load_object(image: bytes, module: ModuleText) -> Library:
    """Link object code into this process; indexing the result by function name gives addresses."""
    engine = _engine()
    linker, name = engine.place()  # first: creating a linker opens this process's symbols
    builder = engine.binding.JITLibraryBuilder().add_object_img(image)
    for symbol in module.symbols:
        builder.import_symbol(symbol, _address(engine, symbol))
    for functions in module.functions:
        for function in functions:
            builder.export_symbol(function)
    return Library(builder.link(linker, name), linker)


def _address(engine: _Engine, symbol: str) -> int:
    if symbol.startswith("jitwise_"):
        return mathlib.address(symbol)
    found = engine.binding.address_of_symbol(symbol)
    if found is None:
        raise KeyError(f"this process has no function {symbol}")
    return found


def assembly(kernel: Kernel) -> str:
    """The assembler text of `kernel`, for dumps."""
    engine = _engine()
    with engine.binding.parse_assembly(emit_kernels([kernel]).text) as parsed:
        return engine.machine(level_for(kernel)).emit_assembly(parsed)


def clear() -> None:
    """Forget every compiled kernel; those still held elsewhere stay loaded."""
    with _lock:
        _table.clear()
