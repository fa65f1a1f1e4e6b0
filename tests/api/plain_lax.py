"""`cond`, `switch`, `select`, `while_loop`, `fori_loop`, `scan`, `map` and `associative_scan` in plain Python,
by jax's descriptions of them; numbers are Python's and NumPy's.

What is carried has one type in all turns, also where there are none: it is found by calling the
body on copies of what it is given until nothing becomes wider (`settled`). Bodies that change
arrays of their surroundings are therefore run with `Plain(calls=False)`, which calls no function
more often than the loop does, and settles nothing.
"""

# ruff: noqa: E501 - programs are called in the turn that makes them, and stand on a line
from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

NUMBERS = (bool, int, float, complex)


def is_namedtuple(item: Any) -> bool:
    return isinstance(item, tuple) and hasattr(item, "_fields")


def mapped(function: Callable[..., Any], item: Any, *others: Any) -> Any:
    """A nest like `item`, with `function` of each leaf and of those at its place in others."""
    kind = type(item)
    if is_namedtuple(item):
        return kind(*[mapped(function, *each) for each in zip(item, *others, strict=True)])
    if kind in (tuple, list):
        return kind([mapped(function, *each) for each in zip(item, *others, strict=True)])
    if kind is dict:
        return {key: mapped(function, item[key], *[each[key] for each in others]) for key in item}
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        changes = {
            field.name: mapped(function, *[getattr(each, field.name) for each in (item, *others)])
            for field in dataclasses.fields(item)
        }
        return dataclasses.replace(item, **changes)
    return function(item, *others)


def leaves(item: Any) -> list[Any]:
    found: list[Any] = []
    mapped(found.append, item)
    return found


def is_number(item: Any) -> bool:
    return isinstance(item, (*NUMBERS, np.generic, np.ndarray))


def joined(one: Any, other: Any) -> Any:
    """`one`, as wide as `other`."""
    if not is_number(one):
        return one
    if type(one) in NUMBERS and type(other) in NUMBERS:
        return max(type(one), type(other), key=NUMBERS.index)(one)
    weak = [type(each)(0) if type(each) in NUMBERS else each.dtype for each in (one, other)]
    dtype, shape = np.result_type(*weak), max(np.shape(one), np.shape(other), key=len)
    if isinstance(one, np.ndarray) and one.dtype == dtype and one.shape == shape:
        return one
    array = np.broadcast_to(np.asarray(one, dtype), shape).copy()
    is_array = shape or isinstance(one, np.ndarray) or isinstance(other, np.ndarray)
    return array if is_array else array[()]


def settled(turn: Callable[[Any], Any], carry: Any) -> Any:
    """`carry`, as wide as what the turns give."""
    while True:
        before = [(type(leaf), np.asarray(leaf).dtype, np.shape(leaf)) for leaf in leaves(carry)]
        try:
            after = turn(copy.deepcopy(carry))
        except IndexError:  # of a loop that does not turn
            return carry
        carry = mapped(joined, carry, after)
        after = [(type(leaf), np.asarray(leaf).dtype, np.shape(leaf)) for leaf in leaves(carry)]
        if before == after:
            return carry


@dataclasses.dataclass(frozen=True)
class Plain:
    """See the module docstring."""

    calls: bool = True

    def cond(self, pred, true_fun, false_fun, *operands):
        return self.switch(int(bool(pred)), (false_fun, true_fun), *operands)

    def switch(self, index, branches, *operands):
        index = min(max(int(index), 0), len(branches) - 1)
        if not self.calls:
            return branches[index](*operands)
        results = [branch(*copy.deepcopy(operands)) for branch in branches]
        result = branches[index](*operands)
        for other in results[::-1]:
            result = mapped(lambda one, another: joined(another, one), other, result)
        return result

    def select(self, pred, on_true, on_false):
        return np.where(pred, on_true, on_false)

    def while_loop(self, cond_fun, body_fun, init_val):
        val = settled(body_fun, init_val) if self.calls else init_val
        while cond_fun(val):
            new = body_fun(val)
            val = mapped(lambda old, new: joined(new, old), val, new) if self.calls else new
        return val

    def fori_loop(self, lower, upper, body_fun, init_val, *, unroll=None):
        def body(state):
            index, val = state
            return index + 1, body_fun(index, val)

        return self.while_loop(lambda state: state[0] < int(upper), body, (int(lower), init_val))[1]

    def scan(self, f, init, xs=None, length=None, reverse=False, unroll=1):
        lengths = [len(leaf) for leaf in leaves(xs) if leaf is not None]
        count = int(lengths[0] if lengths else length)
        order = range(count)

        def row(place):
            return mapped(lambda leaf: leaf if leaf is None else leaf[place], xs)

        def example():
            return mapped(
                lambda leaf: (
                    leaf if leaf is None else np.zeros_like(leaf, shape=leaf.shape[1:])[()]
                ),
                xs,
            )

        if self.calls:
            example_row = row(0) if count else example()
            init = settled(lambda carry: f(carry, example_row)[0], init)
            columns = f(copy.deepcopy(init), example_row)[1]
        carry, rows = init, {}
        for place in reversed(order) if reverse else order:
            new, y = f(carry, row(place))
            carry = mapped(joined, new, carry) if self.calls else new
            rows[place] = copy.deepcopy(y)
        if not count:
            return carry, mapped(
                lambda leaf: (
                    np.zeros((0, *np.shape(leaf)), np.asarray(leaf).dtype)
                    if is_number(leaf)
                    else leaf
                ),
                columns,
            )
        in_order = [rows[place] for place in order]
        return carry, mapped(
            lambda *column: np.stack(column) if is_number(column[0]) else column[0], *in_order
        )

    def map(self, f, xs, *, batch_size=None):
        return self.scan(lambda carry, x: (carry, f(x)), None, xs)[1]

    def associative_scan(self, fn, elems, reverse=False, axis=0):
        def part(place):
            return mapped(lambda leaf: np.take(leaf, [place], axis), elems)

        count = np.shape(leaves(elems)[0])[axis]
        order = range(count)[::-1] if reverse else range(count)
        parts = {}
        before = None
        for place in order:
            before = part(place) if before is None else fn(before, part(place))
            parts[place] = before
        if not count:
            return mapped(np.copy, elems)
        in_order = [parts[place] for place in range(count)]
        return mapped(lambda *pieces: np.concatenate(pieces, axis), *in_order)
