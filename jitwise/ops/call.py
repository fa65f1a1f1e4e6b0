"""Calls of NumPy's own functions as ops, for what is neither a primitive nor made of primitives.

    np.sort(x)   ->   call{function='numpy.sort', options=(('axis', -1),), numbers=(),
                           types=(f64[n],)}(x)

`types` is what the function gives, found when the call is traced; a call that gives anything else
is run as Python. Operands named by `numbers` are passed as NumPy scalars. `raising_call` is the
same for functions that may refuse their operands: it takes place even when nothing needs its
results.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..ir.primitive import Attrs, Primitive, register
from ..ir.types import ArrayType


class Unexpected(Exception):
    """A function of NumPy gave another dtype or shape than was found when it was traced."""


@lru_cache(maxsize=256)
def named(function: str) -> Any:
    """The function of this name: `numpy.linalg.inv`."""
    found: Any = np
    for word in function.split(".")[1:]:
        found = getattr(found, word)
    return found


def results_of(result: Any) -> tuple[Any, ...]:
    """The results of a function that gives one array or a tuple of arrays."""
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def _evaluate(
    *operands: Any,
    function: str,
    options: tuple[tuple[str, Any], ...],
    numbers: tuple[int, ...],
    types: tuple[ArrayType, ...],
) -> tuple[Any, ...]:
    given = list(operands)
    for place in numbers:
        given[place] = np.asarray(given[place])[()]
    results = results_of(named(function)(*given, **dict(options)))
    found = tuple([ArrayType(np.asarray(each).dtype, np.shape(each)) for each in results])
    if found != types:
        raise Unexpected(f"{function} gave {found}, not {types}")
    return tuple([np.asarray(each) for each in results])


def _infer(types: tuple[ArrayType, ...], attrs: Attrs) -> tuple[ArrayType, ...]:
    return attrs["types"]


def _call(name: str, raising: bool) -> Primitive:
    return register(
        Primitive(
            name=name,
            category="call",
            infer=_infer,
            evaluate=_evaluate,
            multiple=True,
            effect=raising,
            hlo="stablehlo.custom_call",
            flops=10,
        )
    )


call = _call("call", False)
raising_call = _call("raising_call", True)
