"""Callbacks in traced code: the user's function, what it is given, and what it has promised.

    io_callback(read, [struct, None], {"a": x}, 2, unit="m")

        function    the user's `read`, which the program calls itself: nothing of it is traced
        operands    x; it stands in the recipe of the arguments, beside 2 and "m"
        results     a list of one array and None

Arguments come as they are in Python: arrays, NumPy scalars, Python's numbers, and whatever else as
it is. Arrays are the function's own: it may keep them, and nobody sees it write to them.

A function that reads variables of the traced function is made anew with what they are. Where they
are traced, or were made by this call (a list that is filled, and looked at later), the trace ends:
the program has only the arrays.
"""

from __future__ import annotations

import enum
import functools
import sys
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from ..errors import CallbackError
from ..ir.dims import Size
from ..ir.types import DTYPE_NAMES, ArrayType
from ..ops.call import callback
from .carried import kind_of
from .code import is_own_file
from .containers import children
from .conversions import without_conversions
from .either import CODES, Either
from .forms import Form, flatten
from .namespace import Namespace
from .objects import ObjectProxy
from .size import SizeTracer
from .source import ScopeGlobals, Source, locate
from .tracer import Tracer

if TYPE_CHECKING:
    from .tracing import Trace

_NUMBERS = (bool, int, float, complex, np.generic)
_UNCHANGING = (*_NUMBERS, str, bytes, type(None), slice, range, np.dtype, enum.Enum, type)


class Promised(NamedTuple):
    """What one result is to be."""

    dtype: np.dtype
    shape: tuple[Size, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class Callback:
    """A function that a program calls. `promised` has None where a result is to be None; `given`
    says how each leaf of the arguments is made of operands; it is empty outside of a trace.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        promised: Sequence[Promised | None] | None,
        results: Form | None,
        source: Source | None = None,
    ) -> None:
        self.name = name
        self.__module__, self.__qualname__ = "jitwise", name  # in the text of a graph
        self.function = function
        self.promised = promised
        self.results = results
        self.source = source
        self.arguments = Form(tuple)
        self.given: list[tuple[str, Any]] = []

    @functools.cached_property
    def identity(self) -> Any:
        """What tells callbacks apart that are repeated: the name, and where the function stands."""
        code = getattr(self.function, "__code__", None)
        return self.name, place_of(code) if code is not None else _shown(self.function)

    def made(self, operands: Sequence[Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments, of arrays."""
        leaves = [_leaf(how, what, operands) for how, what in self.given]
        by_place, by_name = self.arguments.items
        if any(item.kind is not None for item in (*by_place.items, *by_name.items)):
            return self.arguments.build(leaves)
        count = len(by_place.items)  # the common case, without a walk
        return tuple(leaves[:count]), dict(zip(by_name.keys, leaves[count:], strict=True))

    def __call__(
        self, args: tuple, kwargs: dict[str, Any], shapes: Sequence[tuple[int, ...]]
    ) -> list[np.ndarray]:
        """What the function gives, checked: arrays that nobody else has."""
        result = self.function(*args, **kwargs)
        if self.results is None or self.promised is None:
            return []
        leaves: list[Any] = []
        if not _matches(self.results, result, leaves):
            given = flatten(result)[1]
            self._broken(f"gives {given}, and {self.results} was promised")
        found, rest = [], iter(shapes)
        for number, (leaf, promised) in enumerate(zip(leaves, self.promised, strict=True)):
            if promised is None:
                if leaf is not None:
                    kind = type(leaf).__name__
                    self._broken(f"gives a {kind} as result {number}, and None was promised")
                continue
            found.append(self._checked(number, leaf, Promised(promised.dtype, next(rest))))
        return found

    def _checked(self, number: int, leaf: Any, promised: Promised) -> np.ndarray:
        dtype = promised.dtype if _is_weak(leaf, promised.dtype) else None
        try:
            array = np.array(leaf, dtype)
        except (ValueError, OverflowError) as error:
            self._broken(
                f"gives no array as result {number} ({error}), and {promised} was promised"
            )
        if array.dtype != promised.dtype or array.shape != promised.shape:
            given = Promised(array.dtype, array.shape)
            self._broken(f"gives {given} as result {number}, and {promised} was promised")
        return array

    def _broken(self, how: str) -> NoReturn:
        source = self.source or _line_outside()
        where = f" (called at {source[0]}:{source[1]})" if source is not None else ""
        raise CallbackError(f"{self.name}: {_shown(self.function)} {how}{where}")

    def build(self, arrays: Sequence[Any]) -> Any:
        """The results, as the caller sees them."""
        if self.results is None or self.promised is None:
            return None
        rest = iter(arrays)
        leaves = [None if each is None else next(rest) for each in self.promised]
        return self.results.build(leaves)


def place_of(code: types.CodeType) -> tuple[str, int, str]:
    """Where code stands: what was made of it for a trace stands there, too."""
    return code.co_filename, code.co_firstlineno, code.co_name


def _shown(function: Any) -> str:
    """What a message calls a function."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return name if code is None else f"{name} ({code.co_filename}:{code.co_firstlineno})"


def _line_outside() -> Source | None:
    """The line of the user's that is being executed, outside of a trace."""
    frame = sys._getframe(1)
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def _leaf(how: str, what: Any, operands: Sequence[Any]) -> Any:
    if how == "plain":
        return what
    array = np.array(operands[what])
    if how == "array":
        return array
    if how == "scalar":
        return array[()]
    if how == "python":
        return array.item()
    code = int(operands[what + 1])  # a number that is Python's or NumPy's
    if code == CODES["int"] and array.dtype != np.bool_:
        return int(array)
    return array[()] if code == CODES["scalar"] else array.item()


def _is_weak(leaf: Any, dtype: np.dtype) -> bool:
    """Whether a Python number takes the promised dtype, as it does beside an array of it."""
    return type(leaf) in (bool, int, float, complex) and np.result_type(dtype, leaf) == dtype


def _matches(form: Form, item: Any, leaves: list[Any]) -> bool:
    """Whether a nest has a form; its leaves, in the order of the form."""
    if form.kind is None:
        leaves.append(item)
        return True
    if type(item) is not form.kind:
        return False
    if form.kind is dict:
        inner = [item[key] for key in form.keys] if set(item) == set(form.keys) else []
    else:
        inner = children(item) or []
    if len(inner) != len(form.items):
        return False
    pairs = zip(form.items, inner, strict=True)
    return all(_matches(each, part, leaves) for each, part in pairs)


# What was promised


def promise(name: str, struct: Any) -> tuple[list[Promised | None], Form]:
    """What `result_shape_dtypes` says: leaves with a shape and a dtype, or None."""
    leaves, form = flatten(struct, _has_type)
    return [_promised(name, leaf) for leaf in leaves], form


def _has_type(item: Any) -> bool:
    return issubclass(type(item), Tracer) or (hasattr(item, "shape") and hasattr(item, "dtype"))


def _promised(name: str, leaf: Any) -> Promised | None:
    if leaf is None:
        return None
    if issubclass(type(leaf), Tracer):
        return Promised(leaf._value.type.dtype, leaf._value.type.shape)
    if not _has_type(leaf):
        raise TypeError(f"{name}: result_shape_dtypes has {leaf!r}, without a shape and a dtype")
    shape = leaf.shape if isinstance(leaf.shape, tuple) else (leaf.shape,)
    sizes = [each.size if type(each) is SizeTracer else int(each) for each in shape]
    return Promised(np.dtype(leaf.dtype), tuple(sizes))


# In a trace


def staged(trace: Trace, called: Callback, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The results of a callback, which takes place when the program runs."""
    promised = [each for each in called.promised or () if each is not None]
    for each in promised:
        if each.dtype not in DTYPE_NAMES:
            trace.refuse("dtype", str(each.dtype))
    own = Callback(called.name, held(trace, called.function), called.promised, called.results)
    own.source = locate()
    if trace.follower is not None:
        trace.follower.fillings.refuse()
    leaves, own.arguments = flatten((args, kwargs))
    operands: list[Any] = []
    for leaf in leaves:
        own.given.append(_given(trace, leaf, operands))
    attrs = {
        "function": own,
        "types": tuple([ArrayType(each.dtype, each.shape) for each in promised]),
    }
    results = trace.builder.emit(callback, tuple(operands), attrs)
    return own.build([trace.wrap(value) for value in results])


def _given(trace: Trace, leaf: Any, operands: list[Any]) -> tuple[str, Any]:
    if isinstance(leaf, _NUMBERS) and type(leaf) is not SizeTracer and not _is_tracer(leaf):
        return "plain", leaf
    kind = kind_of(trace, leaf)
    if kind.type is None:
        return "plain", held(trace, leaf)
    place = len(operands)
    if type(leaf) is Either:
        operands += [leaf._value, leaf._code]
        return "either", place
    value = trace.lift(leaf)._value
    trace.refuse_swapped(value)
    operands.append(value)
    return kind.name if kind.name in ("array", "scalar") else "python", place


def _is_tracer(item: Any) -> bool:
    return issubclass(type(item), Tracer)


def held(trace: Trace, item: Any) -> Any:
    """What the user's program has where traced code has a stand-in."""
    kind = type(item)
    if issubclass(kind, Tracer) or kind is SizeTracer:
        trace.refuse("convert", "what a callback reads")
    if issubclass(kind, Namespace):
        return vars(item)["_Namespace__module"]
    if issubclass(kind, ObjectProxy):
        if object.__getattribute__(item, "_ObjectProxy__path") is None:
            return object.__getattribute__(item, "_ObjectProxy__object")
        trace.refuse("convert", "an object of an argument that a callback reads")
    if isinstance(item, _UNCHANGING):
        return item
    behind = getattr(item, "stands_for", None)
    if behind is not None:
        return behind
    if kind is functools.partial:
        named = {name: held(trace, each) for name, each in item.keywords.items()}
        return functools.partial(held(trace, item.func), *held_items(trace, item.args), **named)
    if kind is types.FunctionType:
        return _function(trace, item)
    if kind is tuple:
        return tuple(held_items(trace, item))
    how, real = trace.captures.behind.get(id(item), ("", None))
    if how == "const":
        return real
    owner = getattr(item, "__self__", None)
    if kind is types.BuiltinMethodType and id(owner) in trace.captures.behind:
        return getattr(held(trace, owner), item.__name__)
    if kind in (types.BuiltinFunctionType, np.ufunc) or kind.__module__ == "numpy":
        if not isinstance(item, np.ndarray) and callable(item):
            return item
    return trace.refuse("convert", f"a {kind.__name__} that a callback reads")


def held_items(trace: Trace, items: Sequence[Any]) -> list[Any]:
    """The same for each."""
    return [held(trace, each) for each in items]


def _function(trace: Trace, function: types.FunctionType) -> Any:
    known = trace.originals.get(id(function))
    if known is not None:
        return known[1]
    if not isinstance(function.__globals__, ScopeGlobals):
        return function
    code = _written(trace, function.__code__)
    content = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    try:
        cells = [held(trace, content[name].cell_contents) for name in code.co_freevars]
    except ValueError:
        trace.refuse("convert", "a variable without a value that a callback reads")
    real = function.__globals__.real  # type: ignore[attr-defined]
    made = types.FunctionType(
        code,
        real,
        function.__name__,
        tuple(held_items(trace, function.__defaults__ or ())) or None,
        tuple([types.CellType(each) for each in cells]),
    )
    named = function.__kwdefaults__ or {}
    made.__kwdefaults__ = {name: held(trace, each) for name, each in named.items()} or None
    made.__qualname__ = function.__qualname__
    return made


def _written(trace: Trace, code: types.CodeType) -> types.CodeType:
    """The code of an inner function as the user wrote it, if its control flow was rewritten."""
    if all(name.isidentifier() for name in code.co_freevars):
        return without_conversions(code)
    pending = [function.__code__ for _, function in trace.originals.values()]
    found: list[types.CodeType] = []
    while pending:
        inner = [each for each in pending.pop().co_consts if isinstance(each, types.CodeType)]
        found += [each for each in inner if place_of(each) == place_of(code)]
        pending += inner
    if not found or any(each != found[0] for each in found):
        trace.refuse("convert", f"{code.co_name}, which is several functions of one line,")
    return found[0]


__all__ = ["Callback", "Promised", "held", "promise", "staged"]
