"""An op that is run by its NumPy meaning: a function for the program's `host` instruction.

Sizes in attributes are values of a call; they come as further operands:

    iota{sizes=(n,), dtype=f16}()    ->    host iota(array(n))

A function that gives another type than was seen when it was traced makes the machine give up: the
call is traced again, or runs as Python. What an op that may refuse its operands raises is marked as
NumPy's: it is no fault, even where the user's function catches it. Floating-point errors become
flags of the program: they are NumPy's to tell where the user's function calls it. `np.errstate`
takes a microsecond to enter, as long as a small call of NumPy; the state itself is the value of a
context variable, and is made once, where this NumPy has that variable.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from ..ir.dims import Dim, symbols_of
from ..ir.graph import Op
from ..ir.measured import symbols_defined
from ..ops.call import Unexpected, callback, named
from ..ops.control import warn
from ..ops.draw import draw
from ._native import report_float_error, set_reporting
from .shortcuts import shortened


def _state() -> tuple[Any, Any]:
    """NumPy's variable, and the value for the state in which errors are reported to the program."""
    try:
        from numpy._core import umath

        module: Any = umath
        state = module._make_extobj(all="call", call=report_float_error)
        return module._extobj_contextvar, state
    except (ImportError, AttributeError, TypeError):
        return None, None


_variable, _reporting_state = _state()
IS_DIRECT = _variable is not None  # whether the machine itself can have NumPy report
if IS_DIRECT:
    set_reporting(_variable, _reporting_state)


class _Reporting:
    """Enters the state that was made before."""

    __slots__ = ("token",)

    def __enter__(self) -> None:
        self.token = _variable.set(_reporting_state)

    def __exit__(self, *error: object) -> None:
        _variable.reset(self.token)


def _errstate() -> AbstractContextManager[Any]:
    return np.errstate(all="call", call=report_float_error)


reporting: Callable[[], AbstractContextManager[Any]] = (
    _errstate if _variable is None else _Reporting
)


class HostCall:
    """A primitive's NumPy meaning as a function of arrays and the sizes in its attributes."""

    def __init__(self, op: Op, sizes: list[Dim]) -> None:
        self.evaluate = op.primitive.evaluate
        function = op.attrs.get("function")
        if op.primitive is warn:
            from .warned import give_op

            self.evaluate = give_op
        elif function is not None:
            known = named(function) if type(function) is str else function
            self.evaluate = _speaking(op, known, self.evaluate)
        self.fixed = {name: each for name, each in op.attrs.items() if not dims_in(each)}
        self.attrs = {name: each for name, each in op.attrs.items() if name not in self.fixed}
        self.sizes = sizes
        self.count = len(op.operands)
        self.types = tuple([result.type for result in op.results])
        self.multiple = op.primitive.multiple
        self.may_raise = op.primitive.effect  # for operands that NumPy refuses
        self.__name__ = op.primitive.name

    def __call__(self, *arrays: Any) -> Any:
        values = dict(zip(self.sizes, map(int, arrays[self.count :]), strict=True))
        attrs = {name: _resolve(value, values) for name, value in self.attrs.items()}
        try:
            with reporting():
                result = self.evaluate(*arrays[: self.count], **self.fixed, **attrs)
        except Unexpected:  # no array has None in it: the machine gives up, and the call is traced
            return (None,) * len(self.types) if len(self.types) > 1 else None
        except Exception as error:
            if self.may_raise:
                error.__dict__["raised_by_numpy"] = True
            raise
        return result if self.multiple else np.asarray(result)


def dims_in(attribute: Any) -> list[Dim]:
    """The sizes in an attribute that are known at run time."""
    if isinstance(attribute, Dim):
        return [attribute]
    if isinstance(attribute, tuple):
        return [size for item in attribute for size in dims_in(item)]
    return []


def sizes_needed(op: Op) -> list[Dim]:
    """The sizes in the attributes of `op`, each once; without those that it measures itself."""
    own = set(symbols_defined(op))
    found = dict.fromkeys(dims_in(tuple(op.attrs.values())))
    return [size for size in found if not own or own.isdisjoint(symbols_of(size))]


def _resolve(attribute: Any, values: dict[Dim, int]) -> Any:
    if isinstance(attribute, Dim):
        return values.get(attribute, attribute)  # what the op measures itself stays
    if isinstance(attribute, tuple):
        return tuple([_resolve(item, values) for item in attribute])
    return attribute


class Called(NamedTuple):
    """What the machine calls for an op. `sizes` are wanted as further operands. `direct`: what more
    a library's own function is called with, the names of it, and whether it reports no
    floating-point errors; the machine checks what it gives.
    """

    function: Callable[..., Any]
    sizes: list[Dim]
    direct: tuple[tuple[Any, ...], tuple[str, ...], bool] | None = None


def _speaking(op: Op, function: Any, called: Callable[..., Any]) -> Callable[..., Any]:
    """`called`, which calls `function`; what that may warn of is said of the line of `op`."""
    from .warned import Saying, may_warn, place_of

    place = place_of(op) if may_warn(function) else None
    return called if place is None else Saying(called, place)


def called_for(op: Op) -> Called:
    """What the machine calls for `op`."""
    rule = op.primitive.direct
    direct = rule(op.attrs) if rule is not None and IS_DIRECT else None
    if direct is not None:
        function, more, names, is_quiet = shortened(
            direct,
            [operand.type for operand in op.operands],
            lambda each: _speaking(op, each, each),
        )
        return Called(function, [], (more, names, is_quiet))
    sizes = sizes_needed(op)
    if op.primitive is draw:
        from .draws import DrawCall

        found = DrawCall(op, sizes)
        return Called(found if found.number_drawn is None else found.number_drawn, sizes)
    if op.primitive is callback:
        from .callbacks import CallbackCall

        return Called(CallbackCall(op, sizes), sizes)
    return Called(HostCall(op, sizes), sizes)
