"""What methods of random generators give, and the draw that a call of one becomes.

    rng.normal(mean, 2.0, (n, 3))     f64[n, 3]; `mean` is an operand, the rest part of the op

The shape follows by a rule, one a method: the size, or what the parameters broadcast to; or what
the array has that is shuffled or chosen from. dtype and kind are found by drawing once from a
generator of our own, with parameters made up, and small ones where sizes are not known: this checks
the rule, too.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import dims
from ..ir.dims import Dim, Size
from ..ir.types import DTYPE_NAMES, ArrayType
from ..ops.call import Template, called, results_of
from ..ops.draw import draw
from .filters import unheard
from .memory import write
from .size import SizeTracer
from .tracer import Tracer

if TYPE_CHECKING:
    from .tracing import Trace

Shape = tuple[Size, ...]
_PLAIN = (int, float, complex, bool, str, type(None))
_LEAST_SIZE = 4  # of axes of a sample
_STARTS = ((0.3, 0.1, 6), (1.5, 0.5, 1))  # of made-up parameters: float, step, int
_SOME_FLOAT = 0.6180339887498949  # stands for a Python float that will be drawn


class _Call:
    """The arguments of one call: operands, and templates that make arguments of them."""

    def __init__(self, trace: Trace, name: str) -> None:
        self.trace = trace
        self.name = name
        self.operands: list[Tracer] = []
        self.named: list[str] = []  # the parameter of each operand
        self.arguments: list[tuple[str, Template]] = []
        self.shapes: dict[str, Shape] = {}
        self.given: dict[str, Any] = {}
        self.changed = -1

    def add(self, name: str, item: Any, by_name: bool) -> None:
        trace = self.trace
        self.given[name] = item
        self.shapes[name] = ()
        if isinstance(item, SizeTracer):
            template: Template = ("plain", item.size)
        elif name in ("size", "args"):
            template = ("plain", _sizes(trace, item))
        elif isinstance(item, np.dtype):
            template = ("plain", item)
        elif isinstance(item, type) and issubclass(item, (np.generic, bool, int, float)):
            template = ("plain", np.dtype(item))
        elif type(item) in _PLAIN:
            template = ("plain", item)
        else:
            template = self._operand(name, item)
        self.arguments.append((name if by_name else "", template))

    def _operand(self, name: str, item: Any) -> Template:
        operand = self.trace.lift(item)
        self.trace.refuse_swapped(operand._value)
        kind = {"array": "array", "scalar": "number", "python": "python"}[operand._kind]
        self.shapes[name] = operand._value.type.shape
        self.operands.append(operand)
        self.named.append(name)
        return (kind, len(self.operands) - 1)


def _sizes(trace: Trace, item: Any) -> Any:
    """A size: an int, a tuple of these, or None. An axis whose length is traced stays open."""
    if isinstance(item, SizeTracer):
        return item.size
    if type(item) in (tuple, list):
        return tuple([_sizes(trace, each) for each in item])
    if item is None or type(item) is int:
        return item
    if isinstance(item, np.integer):
        return int(item)
    return trace.refuse("argument", "the parameter size")


# Rules of shapes: (trace, call) -> the shape of the result; None: there is none


def _size(call: _Call) -> Shape | None:
    size = call.given.get("size")
    if size is None:
        return None
    found = _sizes(call.trace, size)
    return found if type(found) is tuple else (found,)


def _by_size(trace: Trace, call: _Call) -> Shape:
    size = _size(call)
    return () if size is None else size


def _broadcast(trace: Trace, call: _Call) -> Shape:
    """The size, to which the parameters must broadcast; without one what they broadcast to."""
    shapes = [each for name, each in call.shapes.items() if name not in ("size", "out")]
    common = trace.broadcast_shapes(shapes) if shapes else ()
    size = _size(call)
    if size is None:
        return call.shapes.get("out", common)
    if not trace.fits(common, size):
        trace.refuse("error", "ValueError: parameters do not broadcast to the size")
    return size


def _lengths(trace: Trace, call: _Call) -> Shape:
    return _sizes(trace, call.given.get("args", ()))


def _of_array(trace: Trace, call: _Call) -> Shape:
    """The array's own shape; of a number n, n elements."""
    item = call.given["x"]
    if not isinstance(item, (SizeTracer, int)):
        return call.shapes["x"]
    return (_sizes(trace, item),)


def _chosen(trace: Trace, call: _Call) -> Shape:
    shape, axis = call.shapes["a"], call.given.get("axis", 0)
    if not shape:
        return _by_size(trace, call)
    if type(axis) is not int or not -len(shape) <= axis < len(shape):
        trace.refuse("argument", "the parameter axis")
    axis %= len(shape)
    return (*shape[:axis], *_by_size(trace, call), *shape[axis + 1 :])


def _vectors(name: str) -> Callable[[Trace, _Call], Shape]:
    def rule(trace: Trace, call: _Call) -> Shape:
        shape = call.shapes[name]
        if not shape:
            trace.refuse("argument", f"the parameter {name}")
        return (*_by_size(trace, call), shape[-1])

    return rule


def _counted(trace: Trace, call: _Call) -> Shape:
    """`multinomial`: a vector for each number of trials and each vector of probabilities."""
    shape = call.shapes["pvals"]
    if not shape:
        trace.refuse("argument", "the parameter pvals")
    size = _size(call)
    outer = trace.broadcast_shapes([call.shapes["n"], shape[:-1]]) if size is None else size
    return (*outer, shape[-1])


def _nothing(trace: Trace, call: _Call) -> None:
    """The call gives nothing."""


_OF_PARAMETERS = """beta binomial chisquare exponential f gamma geometric gumbel hypergeometric
integers laplace logistic lognormal logseries negative_binomial noncentral_chisquare noncentral_f
normal pareto poisson power randint random_integers rayleigh standard_gamma standard_t triangular
uniform vonmises wald weibull zipf random random_sample standard_cauchy standard_exponential
standard_normal"""
SHAPES: dict[str, Callable[..., Any]] = dict.fromkeys(_OF_PARAMETERS.split(), _broadcast) | {
    "rand": _lengths,
    "randn": _lengths,
    "permutation": _of_array,
    "permuted": _of_array,
    "shuffle": _of_array,
    "choice": _chosen,
    "dirichlet": _vectors("alpha"),
    "multivariate_normal": _vectors("mean"),
    "multivariate_hypergeometric": _vectors("colors"),
    "multinomial": _counted,
    "seed": _nothing,
}


@lru_cache(maxsize=256)
def _parameters(method: Any) -> dict[str, Any] | None:
    try:
        found = inspect.signature(method).parameters
    except ValueError:  # a NumPy that does not tell
        return None
    return dict(list(found.items())[1:])


def _bound(trace: Trace, name: str, method: Any, args: tuple, options: dict[str, Any]) -> _Call:
    parameters = _parameters(method)
    if parameters is None:
        trace.refuse("function", name)
    call = _Call(trace, name)
    if name in ("rand", "randn"):
        if options:
            trace.refuse("error", "TypeError")
        for each in args:
            call.arguments.append(("", ("plain", _sizes(trace, each))))
        call.given["args"] = args
        return call
    try:
        bound = inspect.Signature(list(parameters.values())).bind(*args, **options).arguments
    except TypeError:
        trace.refuse("error", "TypeError")
    gap = False
    for key, parameter in parameters.items():
        if key not in bound:
            gap = True
            continue
        call.add(key, bound[key], gap or parameter.kind is parameter.KEYWORD_ONLY)
    return call


def drawn(
    trace: Trace, kind: type, source: tuple[str, int], name: str, args: tuple, options: dict
) -> Any:
    """The result of a method of a generator."""
    call = _bound(trace, name, getattr(kind, name), args, options)
    changed = "x" if name == "shuffle" else "out"
    target = call.given.get(changed)
    if target is not None:
        if not isinstance(target, Tracer) or target._kind != "array":
            trace.refuse("argument", f"{name} of this")
        call.changed = call.named.index(changed)
    shape = SHAPES[name](trace, call)
    if shape is None:
        _emit(trace, name, source, call, ())
        return None
    sample = _sample(trace, kind, call, shape)
    dtype = np.asarray(sample).dtype
    if dtype not in DTYPE_NAMES or type(sample) is int or type(sample) is bool:
        trace.refuse("random", f"{name}, which gives {type(sample).__name__}")
    (value,) = _emit(trace, name, source, call, (ArrayType(dtype, shape),))
    if target is not None:
        write(target, value)
        return None if name == "shuffle" else target
    if type(sample) is float:
        return Tracer(trace, value, "python", _SOME_FLOAT)
    return trace.wrap(value, "array" if isinstance(sample, np.ndarray) else "scalar")


def made(trace: Trace, name: str, source: tuple[str, int], args: tuple, options: dict) -> None:
    """A generator that the program makes."""
    call = _Call(trace, name)
    for key, item in [*(("", each) for each in args), *options.items()]:
        call.add(key, item, bool(key))
    _emit(trace, name, source, call, ())


def _emit(
    trace: Trace, name: str, source: tuple[str, int], call: _Call, types: tuple[ArrayType, ...]
) -> list[Any]:
    draws = trace.draws
    attrs = {
        "generator": source,
        "method": name,
        "arguments": tuple(call.arguments),
        "changed": call.changed,
        "types": types,
    }
    operands = (draws.begin(), *[each._value for each in call.operands])
    order, *results = trace.builder.emit(draw, operands, attrs)
    draws.follow(order)
    return results


# Samples


def _sample(trace: Trace, kind: type, call: _Call, shape: Shape) -> Any:
    """What the method gives for made-up parameters. Ends the trace when the rule is wrong."""
    small = dict.fromkeys(trace.values.open, _LEAST_SIZE)
    small |= {name: min(size, _LEAST_SIZE) for name, size in trace.values.items()}
    for values in (small, trace.values):
        for start in _STARTS:
            given = [_made_up(call, k, values, start) for k in range(len(call.operands))]
            arguments = tuple(
                [(name, _resolved(template, values)) for name, template in call.arguments]
            )
            try:
                with np.errstate(all="ignore"), unheard():
                    result = called(getattr(_ours(kind), call.name), arguments, given)
            except Exception:  # parameters that do not fit
                continue
            result = given[call.changed] if call.changed >= 0 else result
            found = tuple([dims.evaluate_size(size, values) for size in shape])
            if len(results_of(result)) == 1 and np.shape(result) == found:
                return result
    return trace.refuse("function", f"{call.name} with these arguments")


def _ours(kind: type) -> Any:
    random = sys.modules["numpy.random"]
    if kind is random.Generator:
        return random.Generator(random.PCG64(0))
    return random.RandomState(0)


def _resolved(template: Template, values: dict[str, int]) -> Template:
    return tuple([_number(each, values) for each in template])


def _number(item: Any, values: dict[str, int]) -> Any:
    if isinstance(item, Dim):
        return dims.evaluate_size(item, values)
    if isinstance(item, tuple):
        return tuple([_number(each, values) for each in item])
    return item


def _made_up(call: _Call, place: int, values: dict[str, int], start: tuple) -> np.ndarray:
    """A parameter that is good for most distributions; later ones are larger."""
    dtype, shape = call.operands[place]._value.type
    sizes = tuple([dims.evaluate_size(size, values) for size in shape])
    name = call.named[place]
    if name == "cov":
        return np.eye(sizes[-2], sizes[-1]).astype(dtype)
    if name in ("pvals", "p") and sizes and dtype.kind == "f" and sizes[-1]:
        if name == "pvals" or call.name == "choice":
            return np.full(sizes, 1 / sizes[-1], dtype)
    first, step, whole = start
    number = first + step * place if dtype.kind == "f" else whole + place
    return np.full(sizes, number).astype(dtype)
