"""Functions that a program leaves to NumPy: `LIBRARY`, one row each.

    row(np.sort, "a", same)           the arrays among its parameters, and the shapes it gives

A row says which parameters are arrays (they become operands) and which shapes come out, from the
arrays' shapes and the other parameters, which are part of the op. dtypes, and whether a result is a
scalar, are found by calling the function once on a few elements of the same dtypes; that also
checks the row. Where dtypes or shapes depend on the elements (`by_value`) it is called on those of
this call (`values.actual`). A program checks what comes out; where it is something else the
function is traced again, for these elements.

Parameters that are no arrays must be Python's: numbers, strings, tuples, dtypes, None. The rows
stand in `library_arrays`, `library_linear`, `library_changes`, `sets` and `fourier`. A size that
follows from values is `unknown`: see `measured`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...ir import dims
from ...ir.dims import Size
from ...ir.primitive import exact_attrs
from ...ir.types import DTYPE_NAMES, ArrayType
from ...ops.call import (
    Template,
    call,
    called,
    measured_call,
    measured_raising_call,
    named,
    outside_call,
    raising_call,
    read_only,
    results_of,
)
from ..conversions import python_int, python_number
from ..filters import unheard
from ..memory import perhaps_shared, write
from ..size import SizeTracer
from ..tracer import FUNCTIONS, Tracer, concrete
from ..values import actual
from .arguments import NO_VALUE
from .measured import has_unknown, with_symbols

if TYPE_CHECKING:
    from ..tracing import Trace

Shape = tuple[Size, ...]
# (trace, shapes of the arrays by parameter (a list of them for a list), the other parameters)
# -> the shape of each result; or several for one, of which this call shows the right one
Shapes = Callable[["Trace", dict[str, Any], dict[str, Any]], "Sequence[Shape | Either] | None"]
_PLAIN = (int, float, complex, bool, str, type(None))
_PYTHON = (bool, float, complex)
_MOST_SAMPLED = 64  # elements of a sample
_SAMPLE_SIZE = 4  # of axes of longer arrays, in a sample


class Either(NamedTuple):
    """Shapes of one result, of which elements decide."""

    shapes: tuple[Shape, ...]


class Row(NamedTuple):
    """How one function is left to NumPy. `changes` names the parameter that is changed in place,
    and is the result then.
    """

    function: Callable[..., Any]
    arrays: tuple[str, ...]
    shapes: Shapes
    raising: bool = False
    by_value: bool = False
    changes: str | None = None
    arrays_only: tuple[str, ...] = ()  # parameters that no list and no number may be given for
    nested: bool = False  # lists of arrays are lists to it, and no arrays
    outside: bool = False  # nothing is known of it but its shapes, if these
    like: Any = None  # a function with the same parameters, where NumPy does not tell them
    name: str | None = None

    @property
    def accepts_list(self) -> bool:
        """Whether the first array may be a list."""
        return self.changes is None and self.arrays[0] not in self.arrays_only


LIBRARY: dict[Any, Row] = {}


def row(function: Any, arrays: str, shapes: Shapes, *, only: bool = True, **facts: Any) -> None:
    """Enter a function; `raising`: it refuses some values of its arrays. Unless `only`, it has
    another handler, which leaves some calls to NumPy.
    """
    LIBRARY[function] = Row(function, tuple(arrays.split()), shapes, **facts)
    if only:
        FUNCTIONS[function] = lambda trace, *args, **options: left_to_numpy(
            trace, function, args, options
        )


@lru_cache(maxsize=256)
def signature(function: Any) -> inspect.Signature:
    """The parameters of a function."""
    return inspect.signature(function)


@lru_cache(maxsize=256)
def _defaults(function: Any) -> dict[str, Any]:
    """The defaults of parameters that have one."""
    parameters = signature(function).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}


def name_of(function: Any) -> str:
    """Where the function is found: `numpy.sort`, `numpy.linalg.inv`."""
    for place in ("numpy", "numpy.linalg", "numpy.fft"):
        module = sys.modules.get(place)
        if getattr(module, function.__name__, None) is function:
            return f"{place}.{function.__name__}"
    raise ValueError(f"{function} is not a public function of NumPy")


def left_to_numpy(trace: Trace, function: Any, args: tuple, options: dict[str, Any]) -> Any:
    """The results of a call of NumPy's function inside the program."""
    return left_by_row(trace, LIBRARY[function], args, options)


def left_by_row(trace: Trace, known: Row, args: tuple, options: dict[str, Any]) -> Any:
    """The results of a call as a row says."""
    like = known.like or known.function
    try:
        bound = signature(like).bind(*args, **options)
    except TypeError:
        trace.refuse("error", "TypeError")
    given = {name: item for name, item in bound.arguments.items() if item is not NO_VALUE}
    out = given.pop("out", None)
    made = Arguments(trace, known, like)
    made.add_all(given)
    if not made.operands:
        trace.refuse("argument", f"{made.name} of numbers")
    defaults = _defaults(like)
    for name in known.arrays:
        if name in made.parameters and name not in made.shapes and name not in defaults:
            trace.refuse("error", f"TypeError: {name} is no array")
    try:
        shapes = known.shapes(trace, made.shapes, defaults | made.plain)
    except LookupError:  # fewer axes than the row counts with
        trace.refuse("argument", f"{made.name} of arrays of these ranks")
    if out is not None:
        out = made.add_out(out)
        shapes = [out._value.type.shape]
    result = _emitted(trace, known, made, shapes)
    if known.changes:
        write(given[known.changes], result._value)
        return None
    if out is not None:
        write(out, result._value)
    return result if out is None else out


def stored(trace: Trace, out: Any, result: Any) -> Tracer:
    """`out=`: what is given gets the result, whose dtype and shape it must have."""
    if type(out) is tuple and len(out) == 1:
        out = out[0]
    if not isinstance(out, Tracer) or not isinstance(result, Tracer) or out._kind != "array":
        trace.refuse("argument", "out=")
    own, other = out._value.type, result._value.type
    if own.dtype != other.dtype or len(own.shape) != len(other.shape):
        trace.refuse("argument", "out= of another dtype or rank")
    if not all(map(trace.same_size, own.shape, other.shape)):
        trace.refuse("error", "ValueError: out has another shape")
    write(out, trace.broadcast(result, own.shape)._value)
    return out


class Arguments:
    """The arguments of a call: operands, and templates that make arguments of them."""

    def __init__(self, trace: Trace, known: Row, like: Any) -> None:
        self.trace = trace
        self.known = known
        self.name = known.name or name_of(known.function)
        self.parameters = signature(like).parameters
        self.operands: list[Tracer] = []
        self.arguments: list[tuple[str, Template]] = []
        self.shapes: dict[str, Any] = {}
        self.plain: dict[str, Any] = {}
        self.changed = -1
        self.shares = False  # a result may lie in the memory of an operand

    def add_all(self, given: dict[str, Any]) -> None:
        """Arguments by parameter: by place, and by name after one that is left out."""
        gap = False
        for name, parameter in self.parameters.items():
            kind = parameter.kind.name
            if name not in given:
                gap |= kind.startswith("POSITIONAL")
            elif kind == "VAR_POSITIONAL":
                every = []
                for each in given[name]:
                    self._add(name, "", each)
                    every.append(self.shapes.get(name))
                self.shapes[name] = every
            elif kind == "VAR_KEYWORD" or (gap and kind == "POSITIONAL_ONLY"):
                self.trace.refuse("argument", self.name)
            else:
                by_name = gap or kind == "KEYWORD_ONLY"
                self._add(name, name if by_name else "", given[name])

    def add_out(self, out: Any) -> Tracer:
        """`out=`: an array that is changed."""
        out = out[0] if type(out) is tuple and len(out) == 1 else out
        if not isinstance(out, Tracer) or out._kind != "array":
            self.trace.refuse("argument", "out=")
        self.changed = len(self.operands)
        self.arguments.append(("out", self._array(out)[0]))
        return out

    def _add(self, name: str, keyword: str, item: Any) -> None:
        if name in self.known.arrays and item is not None:
            if name == self.known.changes:
                if not isinstance(item, Tracer) or item._kind != "array":
                    self.trace.refuse("error", "TypeError: no array to change")
                self.changed = len(self.operands)
            elif name in self.known.arrays_only and not isinstance(item, (Tracer, np.ndarray)):
                self.trace.refuse("error", f"AttributeError: {name} is no array")
            template, shape = self._array(item)
            self.shapes[name] = shape
        else:
            self.plain[name] = item = self._plain(name, item)
            template = _template(item)
        self.arguments.append((keyword, template))

    def _array(self, item: Any) -> tuple[Template, Any]:
        """The template of an array, a number, or a nest of these."""
        trace = self.trace
        if type(item) in _PLAIN:
            return ("plain", item), ()
        if type(item) in (list, tuple):
            if not trace.holds_tracer(item) and _is_small(item):
                return _template(item), np.shape(item)  # NumPy knows a list from an array
            if self.known.nested and trace.holds_tracer(item):
                parts = [self._array(each) for each in item]
                kind = "list" if type(item) is list else "tuple"
                return (kind, *[part for part, _ in parts]), [shape for _, shape in parts]
        operand = trace.lift(item)
        trace.refuse_swapped(operand._value)
        kind = {"array": "array", "scalar": "number", "python": "python"}[operand._kind]
        self.operands.append(operand)
        return (kind, len(self.operands) - 1), operand._value.type.shape

    def _plain(self, name: str, item: Any) -> Any:
        """A parameter that becomes part of the op. A traced number's value is guarded."""
        if isinstance(item, Tracer):
            return concrete(item, f"the parameter {name}")
        if isinstance(item, SizeTracer):
            return int(item)
        if type(item) in (tuple, list):
            return type(item)([self._plain(name, each) for each in item])
        if isinstance(item, type) and issubclass(item, (np.generic, bool, int, float, complex)):
            item = np.dtype(item)
        if isinstance(item, np.dtype) and item in DTYPE_NAMES and item.isnative:
            return item
        if type(item) in _PLAIN or (self.known.outside and callable(item)):
            return item
        self.trace.refuse("argument", f"the parameter {name}")

    def sample(self, arrays: list[np.ndarray]) -> Any:
        """What the function gives for other elements."""
        given = [np.array(each) for each in arrays]
        if self.known.outside:
            given = list(map(read_only, given))
        with np.errstate(all="ignore"), unheard():
            result = called(self.known.function, tuple(self.arguments), given)
        if self.changed >= 0:
            return given[self.changed]
        arrays = [each for each in results_of(result) if isinstance(each, np.ndarray)]
        self.shares |= any(np.may_share_memory(one, other) for one in arrays for other in given)
        return result

    def rebuilt(self, sample: Any, values: list[Any]) -> Any:
        """Tracers like `sample`. What may lie in the memory of an operand is not written to."""
        found = rebuilt(self.trace, sample, values)
        for each in results_of(found) if self.shares else ():
            for operand in self.operands:
                if isinstance(each, Tracer):
                    perhaps_shared(operand, each)
        return found


def _is_small(items: Any) -> bool:
    """Whether a nest of lists and tuples holds few numbers, and nothing else."""
    pending, count = [items], 0
    while pending:
        item = pending.pop()
        count += 1
        if type(item) in (list, tuple):
            pending.extend(item)
        elif type(item) not in _PLAIN[:4]:
            return False
        if count > _MOST_SAMPLED:
            return False
    return True


def _template(item: Any) -> Template:
    if type(item) in (tuple, list):
        return (type(item).__name__, *[_template(each) for each in item])
    return ("plain", item)


def _emitted(trace: Trace, known: Row, made: Arguments, shapes: Sequence[Any] | None) -> Any:
    if has_unknown(shapes):
        return _measured(trace, known, made, shapes or [])
    result, shapes = _sample(trace, known, made, shapes)
    samples = results_of(result)
    if known.outside and not all(isinstance(each, (np.ndarray, np.generic)) for each in samples):
        trace.refuse("function", made.name)
    if shapes is None:
        shapes = [np.shape(each) for each in samples]
        for operand in made.operands:
            list(map(trace.number, operand._value.type.shape))
    types = []
    for sample, shape in zip(samples, shapes, strict=True):
        dtype = np.asarray(sample).dtype
        if dtype not in DTYPE_NAMES:
            trace.refuse("function", made.name)
        if type(shape) is Either:
            shape = _matching(trace, shape, np.shape(sample))
        types.append(ArrayType(dtype, shape))
    attrs = {
        "function": _reference(known.function, made.name),
        "arguments": tuple(made.arguments),
        "changed": made.changed,
        "types": tuple(types),
    }
    values = tuple([each._value for each in made.operands])
    op = raising_call if _may_raise(known, made) else call
    op = outside_call if known.outside else op
    return made.rebuilt(result, list(trace.builder.emit(op, values, attrs)))


def _may_raise(known: Row, made: Arguments) -> bool:
    """Whether a call takes place though nothing needs its results: they may be refused, as several
    arrays of later calls may be that do not fit; or show that another trace is due.
    """
    return known.raising or known.by_value or made.changed >= 0 or len(made.operands) > 1


def _measured(trace: Trace, known: Row, made: Arguments, shapes: Sequence[Any]) -> Any:
    """The results of a call that finds out sizes of them; of an equal one before, if there was
    one.
    """
    attrs = {
        "function": _reference(known.function, made.name),
        "arguments": tuple(made.arguments),
        "changed": made.changed,
    }
    values = tuple([each._value for each in made.operands])
    calls, key = trace.measurements.calls, (known.function, values, exact_attrs(attrs))
    if key not in calls:
        arrays = trace.measurements.values_of(list(values))
        try:
            result = made.sample(arrays)
        except Exception as error:
            trace.refuse("error", type(error).__name__)
        found = [np.asarray(each) for each in results_of(result)]
        if not all(each.dtype in DTYPE_NAMES for each in found):
            trace.refuse("function", made.name)
        named, symbols = with_symbols(trace, shapes, result)
        rows = zip(found, named, strict=True)
        attrs |= {"types": tuple([ArrayType(each.dtype, shape) for each, shape in rows])}
        attrs |= {"symbols": symbols}
        op = measured_raising_call if _may_raise(known, made) else measured_call
        emitted = trace.builder.emit(op, values, attrs)
        trace.actual.update(zip(emitted, found, strict=True))
        calls[key] = (result, emitted)
    result, emitted = calls[key]
    return made.rebuilt(result, list(emitted))


def _reference(function: Any, name: str) -> Any:
    """The name of a function of NumPy's, which a text can hold; any other function itself."""
    try:
        return name if named(name) == function else function
    except (AttributeError, KeyError):
        return function


def rebuilt(trace: Trace, sample: Any, values: list[Any]) -> Any:
    """Tracers for values, nested and of the kinds that the sample has."""
    if isinstance(sample, (tuple, list)):
        items = [rebuilt(trace, each, values) for each in sample]
        return type(sample)(*items) if hasattr(sample, "_fields") else type(sample)(items)
    value = values.pop(0)
    if isinstance(sample, np.generic):
        return trace.wrap(value, "scalar")
    if isinstance(sample, np.ndarray):
        found = trace.wrap(value, "array")
        if sample.size < 2 or not sample.flags.c_contiguous:
            found._c_ordered = False
        return found
    if type(sample) is int:
        return python_int(trace, trace.wrap(value))
    if type(sample) not in _PYTHON:
        trace.refuse("value", type(sample).__name__)
    return python_number(trace, trace.wrap(value))


def _matching(trace: Trace, either: Either, found: tuple[int, ...]) -> Shape:
    for shape in either.shapes:
        if tuple([dims.evaluate_size(size, trace.values) for size in shape]) == found:
            return shape
    trace.refuse("function", "a result of this shape")


def _sample(trace: Trace, known: Row, made: Arguments, shapes: Any) -> tuple[Any, Any]:
    """What the function gives for a few elements, or for those of this call; and the shapes, or
    None where the row is wrong: then this call shows them.
    """
    if not known.by_value:
        values = _small(trace, made.operands)
        try:
            result = made.sample([_elements(operand, values) for operand in made.operands])
        except Exception:  # perhaps these elements are no good
            result = None
        if result is not None and _fits(shapes, result, values):
            return result, shapes
    try:
        arrays = actual(trace, [operand._value for operand in made.operands])
        result = made.sample(arrays)
    except Exception as error:
        trace.refuse("error", type(error).__name__)
    if shapes is not None and not _fits(shapes, result, trace.values):
        shapes = None
    return result, shapes


def _fits(shapes: list[Any], result: Any, values: dict[str, int]) -> bool:
    """Whether results have the shapes that a row says."""
    found = [np.shape(each) for each in results_of(result)]
    if len(found) != len(shapes):
        return False
    return all(
        any(
            tuple([dims.evaluate_size(size, values) for size in each]) == other
            for each in (shape.shapes if type(shape) is Either else (shape,))
        )
        for shape, other in zip(shapes, found, strict=True)
    )


def _small(trace: Trace, operands: list[Tracer]) -> dict[str, int]:
    """Sizes of a sample."""
    total = sum(trace.hint(dims.product(operand._value.type.shape)) for operand in operands)
    if total <= _MOST_SAMPLED:
        return trace.values
    return {name: min(size, _SAMPLE_SIZE) for name, size in trace.values.items()}


def _elements(operand: Tracer, values: dict[str, int]) -> np.ndarray:
    """Elements that functions of matrices accept: the identity."""
    dtype, shape = operand._value.type
    if operand._kind == "python":
        return np.asarray(operand._hint)
    sizes = tuple([dims.evaluate_size(size, values) for size in shape])
    ones = np.eye(sizes[-2], sizes[-1]) if len(sizes) > 1 else np.ones(())
    return np.broadcast_to(ones, sizes).astype(dtype)


def method_of(function: Any) -> Callable[..., Any]:
    """The method of arrays that is this function."""
    return lambda tracer, *args, **options: left_to_numpy(
        tracer._trace, function, (tracer, *args), options
    )
