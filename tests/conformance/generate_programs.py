"""Small NumPy programs as Python source text, written by hypothesis.

A program is a function of a few arrays and numbers, with a captured array, a captured number and a
helper function. It grows by one statement at a time: templates below with names of earlier values
filled in. Each new statement runs at once on NumPy, on two sets of arguments; one that raises is
dropped (or, now and then, kept as the last one), so programs are valid and their exceptions are
meant.

Where NumPy's answer is not the only right one (a sum in another order, a sine one unit off, the
sign of zero where zeros of both signs meet), the statement has a *shadow*: the same with noise of
that size. Running the shadow program a few times gives, for each element of the result, how far a
right answer may be from NumPy's.

    v1 = np.sin(v0)        shadow    v1 = _ulps(np.sin(v0), 4)
    v2 = v1.sum(axis=0)    shadow    v2 = _sum(v1.sum(axis=0), np.abs(v1).sum(axis=0), v1)
"""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

DTYPES = ["f8", "f8", "f8", "f4", "f4", "i8", "i8", "i4", "u1", "?", "c16", "f2", "i2"]
SHAPES = [("n",), ("n", "m"), ("m",), ("m", "n"), ("n", "n"), (1, "m"), ("n", 1), (), ("n", "m", 2)]
CASTS = [
    "np.float64",
    "np.float32",
    "np.int64",
    "bool",
    "np.complex128",
    "float",
    "'i4'",
    "np.int8",
]
CONSTANTS = [
    "2",
    "0.5",
    "-1",
    "3",
    "1.5",
    "0",
    "True",
    "np.float32(0.25)",
    "7",
    "np.int8(3)",
    "-2.0",
]
ULPS = {"f2": 4, "f4": 4, "f8": 4}
LARGEST = 400

# {a}, {b}, {c}: earlier values; {k}: a constant; {d}: a dtype; {x}: an axis; {q}: ", keepdims=True"
EXACT = """
{a} + {b} | {a} - {b} | {a} * {b} | {a} / {b} | {a} // {b} | {a} % {b} | {a} + {k} | {k} - {a}
{a} * {k} | {a} / {k} | {k} / {a} | {a} // {k} | {a} % {k} | {a} ** 2 | -{a} | +{a} | ~{a}
divmod({a}, {k})[1] | {a} < {b} | {a} == {b} | {a} >= {k} | {a} != {b} | {k} < {a} | {a} & {b}
({a}|{b}) | {a} ^ {b} | {a} << 2 | ({a} > {k}) & ({b} < {k}) | ({a} > 0) * {b} | ({a} > {b}) + 1
({a} < {k}) - {b} | np.where({a} > {k}, {b}, {c}) | np.where({a} < {b}, {a}, {k})
np.where({a}, {k}, {b}) | np.where({a} > 0, 1, 0) | np.sqrt({a}) | np.floor({a}) | np.sign({a})
np.square({a}) | np.isfinite({a}) | np.rint({a}) | np.trunc({a}) | np.reciprocal({a})
np.copysign({a}, {b}) | np.logical_not({a}) | np.isnan({a}) | np.round({a}, 1) | {a}.round()
np.nan_to_num({a}) | np.real({a}) | {a}.imag | np.conj({a}) | {a}.real | {a}.argmax(axis={x})
np.argmin({a}, {x}{q}) | ({a} > {k}).any(axis={x}) | np.all({a}, axis={x}{q})
np.count_nonzero({a}) | {a}.reshape(-1) | {a}.reshape({a}.shape[0], -1) | {a}.reshape(-1, 1)
{a}[None] | {a}[:, None] | {a}.T | np.transpose({a}) | np.swapaxes({a}, 0, -1) | {a}.ravel()
np.expand_dims({a}, {x}) | {a}.squeeze() | {a}.flatten() | {a}.reshape({a}.shape[::-1])
{a}.reshape({a}.size) | np.moveaxis({a}, 0, -1) | np.atleast_2d({a}) | {a}.T.reshape(-1) | {a}[1:]
{a}[:-1] | {a}[::2] | {a}[::-1] | {a}[:, ::-1] | {a}[..., 0] | {a}[0] | {a}[-1] | {a}[1:, :-1]
{a}[:2] | {a}[{a}.shape[0] // 2:] | {a}[-2:] | {a}[1::2, ::2] | {a}[::-2] | {a}[1:] - {a}[:-1]
{a}[:, 1:] * {a}[:, :-1] | {a}[[0, -1]] | {a}[np.array([0, 1, 0])] | {a}[{a} > {k}] | {a}[:, 0]
{a}[0, ...] | {a}[()] | {a}[..., None] | np.concatenate([{a}, {b}])
np.concatenate([{a}, {b}], axis=-1) | np.stack([{a}, {b}]) | np.stack([{a}, {b}], axis=-1)
np.hstack([{a}, {b}]) | np.vstack([{a}, {b}]) | np.array([{a}, {k}]) | np.array([{a}, {b}])
np.column_stack([{a}, {b}]) | np.roll({a}, 1) | np.roll({a}, 1, axis={x}) | np.flip({a}, {x})
np.repeat({a}, 2) | np.tile({a}, 2) | np.diff({a}) | np.zeros_like({a}) | np.ones({a}.shape)
np.arange({a}.shape[0]) | np.full_like({a}, 2) | np.arange({a}.shape[-1]) * {a}
np.eye({a}.shape[0]) | np.zeros({a}.shape[0]) + {a} | np.full({a}.shape, {k})
np.linspace(0, 1, {a}.shape[0]) | {a}.astype({d}) | {a}.copy() | np.asarray({a})
np.broadcast_to({a}, {b}.shape) + {k} | np.array({a}, dtype={d}) | np.tril({a})
np.take({a}, [0, -1], axis={x}) | np.pad({a}, 1) | np.broadcast_arrays({a}, {b})[0]
np.split({a}, 2)[0] | np.isclose({a}, {b}) | np.outer({a}, {b}) | {a}.shape[0] * {b}
len({a}) + {b} | {a}.size | {a}.ndim * {b} | float({a}.shape[0]) | {a}.shape | helper({a}, {b})
helper({a}, {k}) | (lambda t: t * 2 + {b})({a}) | captured * {a} | number * {a} | {a} - captured
[{a}, {b}][1] | {{"p": {a}}}["p"] * 2 | sum([{a}, {b}]) | max({a}.shape) * {b}
[t * 2 for t in ({a}, {b})][0] | np.add({a}, {b}, dtype={d})
np.result_type({a}, {b}).itemsize * {a} | {a}.dtype.type(2) * {a} | np.ones((), {a}.dtype) + {a}
"""
EXTREMA = """
np.minimum({a}, {b}) | np.maximum({a}, {k}) | np.clip({a}, -1, 1) | {a}.clip(0, None)
np.clip({a}, {k}, {b}) | np.fmax({a}, {b}) | {a}.max(axis={x}{q}) | np.min({a}, axis={x}{q})
np.max({a}) | np.ptp({a}, axis={x}) | {a}.min() | np.sort({a}, axis=-1)
np.argsort({a}, axis=-1, kind="stable") | np.unique({a}) | np.maximum.accumulate({a})
"""
TRANSCENDENTAL = """
abs({a}) | np.abs({a}) | np.sin({a}) | np.cos({a}) | np.exp(np.clip({a}, -5, 5)) | np.log({a})
np.tanh({a}) | np.arctan2({a}, {b}) | np.hypot({a}, {b}) | np.log1p(abs({a})) | np.cbrt({a})
np.arcsinh({a}) | {a} ** 1.5 | np.exp2({a}) | abs({a}) ** {k} | np.logaddexp({a}, {b})
np.power(abs({a}) + 1, {b}) | np.tan({a}) | np.arctan({a}) | np.expm1(-abs({a})) | {a} ** 3
np.power({a}, 3)
"""
SUMS = """
{a}.sum() | {a}.sum(axis={x}{q}) | np.sum({a}, axis={x}) | np.cumsum({a})
np.cumsum({a}, axis={x}) | np.add.reduce({a}) | np.trace({a}) | np.sum({a}, dtype=np.float64)
np.sum({a}, axis=-1, keepdims=True) | np.nansum({a}, axis={x})
"""
MEANS = """
{a}.mean() | {a}.mean(axis={x}{q}) | np.mean({a}, axis={x}) | {a}.std(axis={x}) | np.var({a})
np.average({a}) | np.linalg.norm({a}) | {a}.prod() | np.prod({a}, axis={x}) | np.cumprod({a})
np.std({a}, axis={x}{q}) | np.median({a})
"""
PRODUCTS = """
{a} @ {b} | {a} @ {b}.T | np.dot({a}, {b}) | {a}.T @ {b} | np.einsum("i,i->", {a}, {b})
np.vdot({a}, {b}) | np.inner({a}, {b}) | np.einsum("ij,ij->i", {a}, {b})
np.tensordot({a}, {b}, 1) | np.matmul({a}, {b}) | np.einsum("ij->ji", {a})
"""
BLOCKS = """
{v} = {a} + 0; {v} += {b}|{v} = {a} * 1.0; {v} *= {k}|{v} = {a} + {b}; {v} -= {v}[::-1]
{v} = np.zeros_like({a}); {v} += {b}|{v} = {a}.copy(); {v}[0] = {k}
{v} = {a}.copy(); {v}[1:] = {a}[:-1]|{v} = {a}.copy(); {v}[::2] *= 2
{v} = np.empty_like({a}); {v}[...] = {b}|{v} = {a} + 0; {v}[{v} > {k}] = 0
{v} = {a}; {v} = {v} * 2|{v} = 0; for step in range(3):  {v} = {v} * 2 + {a}
{v} = {a} * 1; {v} //= 2|{v} = {a}; for row in {b}:  {v} = {v} + row
{v} = [t + 1 for t in {a}]; {v} = np.stack({v})|{v} = {a}; if {a}.shape[0] > 4:  {v} = {v} - 1
{v} = {a}; if {b}.max() > 1:  {v} = {v} + 2
{v} = {a}; if {a}.ndim == 2 and {a}.shape[1] > 3:  {v} = {v}.T
{v} = {a} * 1; np.add({v}, {b}, out={v})|{v} = {a} + 0; w = {v}[1:]; w += 1
{v} = {a} + 0; w = {v}; w *= 2|{v} = {a}.T.copy(); {v} += {v}.T
{v} = 1.0; for index in range({a}.shape[0]):  {v} = {v} + {a}[index]
{v} = {a}.shape[0]; {v} = {v} * {v} - 1|{v} = {a}; while {v}.ndim < 3:  {v} = {v}[None]
{v} = {a} * 0.5; {v}[..., 0] = 1|{v} = {a} + 0; {v}.sort()|{v} = {a} * 1; {v} **= 2
{v} = ({a}, {b}); {v} = {v}[0] + {v}[-1]|{v} = {a} > 0; {v} &= {b} > 0|{v} = {a} > 0; {v} |= {v}
"""


def _templates(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split(" | ")]


def _blocks(text: str) -> list[str]:
    parts = [part for line in text.strip().splitlines() for part in line.split("|{v}")]
    return [part if part.startswith("{v}") else "{v}" + part for part in parts]


SHADOWS = {
    "exact": "{value}",
    "transcendental": "_ulps({value}, 6)",
    "extrema": "_zero({value})",
    "sums": "_sum({value}, {a})",
    "means": "_sum({value}, {a}, 8)",
    "products": "_product({value}, {a}, {b})",
}
FAMILIES = {
    "exact": _templates(EXACT),
    "extrema": _templates(EXTREMA),
    "transcendental": _templates(TRANSCENDENTAL),
    "sums": _templates(SUMS),
    "means": _templates(MEANS),
    "products": _templates(PRODUCTS),
    "blocks": _blocks(BLOCKS),
}
WEIGHTS = (
    ["exact"] * 8
    + ["extrema"] * 2
    + ["blocks"] * 4
    + ["sums"] * 2
    + ["transcendental", "means", "products"]
)
HELPERS = ["a * 2 - b", "np.where(a > b, a, b)", "(a + b, a)[0]", "np.maximum(a, b) / 2"]


@dataclass
class Program:
    """A program, and the arguments to try it on. `shadow` is its text with noise."""

    source: str
    shadow: str
    calls: list[tuple]
    captured: tuple = ()
    kinds: set[str] = field(default_factory=set)

    def function(self, number: int, noise: Callable[..., Any] | None = None) -> Any:
        """The function, with its source where tracebacks find it."""
        text = self.source if noise is None else self.shadow
        name = f"program_{number}.py"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        names = {"np": np}
        if noise is not None:
            names |= {"_ulps": noise, "_sum": noise, "_product": noise, "_zero": noise}
        exec(compile(text, name, "exec"), names)
        return names["make"](*self.captured)


def array(generator: np.random.Generator, dtype: str, shape: tuple) -> Any:
    """Small multiples of 1/8, whose sums are exact in any order."""
    kind = np.dtype(dtype).kind
    low = 0 if kind in "u?b" else -16
    values = generator.integers(low, 17, shape)
    if kind in "fc":
        values = values / 8 + (1j * generator.integers(-8, 9, shape) / 8 if kind == "c" else 0)
    if kind == "b":
        values = values > 8
    return np.asarray(values).astype(dtype)


def arguments(kinds: list, sizes: dict[str, int], seed: int) -> tuple:
    """Arrays of these dtypes and shapes; Python numbers and NumPy scalars."""
    generator = np.random.default_rng(seed)
    made: list[Any] = []
    for kind in kinds:
        if isinstance(kind, tuple):
            made.append(array(generator, kind[0], tuple(sizes.get(s, s) for s in kind[1])))
        else:
            number = array(generator, kind.dtype, ()) if kind is np.generic else None
            made.append(kind(int(generator.integers(1, 5))) if number is None else number[()])
    return tuple(made)


SIZES = [(5, 3), (8, 4), (5, 3), (1, 3), (0, 2), (4, 1), (37, 11)]


class _Writer:
    """The program so far, with its values on two sets of arguments."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.draw = draw
        count = draw(st.integers(1, 3))
        arrays = st.tuples(st.sampled_from(DTYPES), st.sampled_from(SHAPES))
        numbers = st.sampled_from([float, int, bool, np.float32])
        self.kinds = [draw(arrays) for _ in range(count)]
        self.kinds += [draw(numbers) for _ in range(draw(st.integers(0, 2)))]
        self.names = [f"x{index}" for index in range(len(self.kinds))]
        self.parameters = list(self.names)
        dtype = draw(st.sampled_from(DTYPES))
        seed = draw(st.integers(0, 1000))
        self.captured = (array(np.random.default_rng(seed), dtype, (3,)), draw(numbers)(2))
        self.helper = draw(st.sampled_from(HELPERS))
        self.calls = [
            arguments(self.kinds, {"n": n, "m": m}, seed + index)
            for index, (n, m) in enumerate(SIZES)
        ]
        self.lines: list[str] = []
        self.shadows: list[str] = []
        self.families: set[str] = set()
        scope = {"np": np, "captured": self.captured[0], "number": self.captured[1]}
        exec(f"def helper(a, b):\n    return {self.helper}", scope)
        self.scopes = [
            {**scope, **dict(zip(self.names, call, strict=True))} for call in self.calls[:2]
        ]

    def statement(self) -> bool:
        """Add one statement; False when it raises and the program ends with it."""
        draw = self.draw
        family = draw(st.sampled_from(WEIGHTS))
        template = draw(st.sampled_from(FAMILIES[family]))
        recent = self.names[-4:] + self.parameters
        name = f"v{len(self.lines)}"
        filled = {
            letter: draw(st.sampled_from(recent)) for letter in "abc" if f"{{{letter}}}" in template
        }
        filled |= {
            "v": name,
            "k": draw(st.sampled_from(CONSTANTS)) if "{k}" in template else "",
            "d": draw(st.sampled_from(CASTS)) if "{d}" in template else "",
            "x": draw(st.sampled_from(["0", "-1", "1", "None"])) if "{x}" in template else "",
            "q": draw(st.sampled_from(["", ", keepdims=True"])) if "{q}" in template else "",
        }
        text = template.format(**filled)
        if family == "blocks":
            line = shadow = _laid_out(text)
        else:
            line = f"{name} = {text}"
            shadow = f"{name} = " + SHADOWS[family].format(**{"b": "0"} | filled, value=text)
        worked = self._runs(line, name)
        if worked or draw(st.integers(0, 40)) == 0:
            self.lines.append(line)
            self.shadows.append(shadow)
            self.families.add(family)
            self.names.append(name)
        return worked or not self.lines or self.lines[-1] != line

    def _runs(self, line: str, name: str) -> bool:
        scopes = [dict(scope) for scope in self.scopes]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                for scope in scopes:
                    exec(line, scope)
                    if np.size(scope[name]) > LARGEST or not _tame(scope[name]):
                        return False
            except Exception:
                return False
        self.scopes = scopes
        return True

    def program(self) -> Program:
        made = [name for name in self.names if name.startswith("v")] or self.names
        shown = made[-3:] if self.draw(st.booleans()) else made[-1:]
        forms = ["({},)", "[{}]", "{{'a': [{}]}}"] + ["{}"] * 3
        result = self.draw(st.sampled_from(forms)).format(", ".join(shown))
        return Program(
            self._text(self.lines, result),
            self._text(self.shadows, result),
            self.calls,
            self.captured,
            self.families,
        )

    def _text(self, lines: list[str], result: str) -> str:
        body = [inner for line in lines for inner in line.splitlines()]
        head = [
            "def make(captured, number):",
            "    def helper(a, b):",
            f"        return {self.helper}",
        ]
        head += ["", f"    def program({', '.join(self.parameters)}):"]
        tail = [f"        return {result}", "", "    return program", ""]
        return "\n".join([*head, *[f"        {line}" for line in body], *tail])


def _tame(value: Any) -> bool:
    """Whether a value is of a kind that programs go on with."""
    if isinstance(value, (tuple, list)):
        return all(type(each) in (int, float, bool) for each in value)
    return isinstance(value, (int, float, bool, complex, np.ndarray, np.generic)) and (
        not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind in "biufc"
    )


def _laid_out(text: str) -> str:
    """`a; if b:  c` on lines of their own."""
    lines = []
    for part in text.split("; "):
        head, _, body = part.partition(":  ")
        lines += [f"{head}:", f"    {body}"] if body else [part]
    return "\n".join(lines)


@st.composite
def programs(draw: Callable[..., Any], most: int = 8) -> Program:
    """Programs of up to `2 * most` statements."""
    writer = _Writer(draw)
    for _ in range(draw(st.sampled_from([most, most // 2, 2 * most, 1]))):
        if not writer.statement():
            break
    return writer.program()
