"""Operations that do what Python does, for rewritten functions; and such as see that parts are
functional.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from jitwise.trace.syntax import is_part


class Plain:
    """What Python does."""

    @staticmethod
    def if_(test: Any, then: Any, other: Any, names: Any, values: Any, line: int) -> Any:
        return (then if test else other)(*values)

    @staticmethod
    def while_(test: Any, body: Any, names: Any, values: Any, line: int) -> Any:
        while test(*values):
            values = body(*values)
        return values

    @staticmethod
    def for_(items: Any, body: Any, names: Any, values: Any, test: Any, line: int) -> Any:
        fetching = iter(items)
        while test is None or test(*values):
            try:
                item = next(fetching)
            except StopIteration:
                break
            values = body(item, *values)
        return values

    @staticmethod
    def select(test: Any, first: Any, second: Any, line: int) -> Any:
        return first() if test else second()

    @staticmethod
    def both(first: Any, second: Any) -> Any:
        return first and second()

    @staticmethod
    def either(first: Any, second: Any) -> Any:
        return first or second()

    @staticmethod
    def negate(value: Any) -> Any:
        return not value

    @staticmethod
    def call(function: Any) -> Any:
        return function

    @staticmethod
    def itself(function: Any, depth: int, name: str, line: int) -> bool:
        return False


class Functional:
    """The same, but every part runs once more before it counts, and so does the other one of an
    `if`. Between, `save` and `restore` set back what is not a variable. No run may change a
    variable of the function around, and a call takes and gives no others than `names`.
    """

    def __init__(self, save: Callable[[], Any], restore: Callable[[Any], None]) -> None:
        self.save, self.restore = save, restore
        self.checked = 0

    def tried(self, part: Any, *values: Any) -> None:
        saved = self.save()
        with contextlib.suppress(BaseException):
            part(*values)
        self.restore(saved)

    def variables(self) -> dict[str, int]:
        return {
            name: id(value)
            for name, value in sys._getframe(2).f_locals.items()
            if not name.startswith("spill()")
        }

    def if_(self, test: Any, then: Any, other: Any, names: Any, values: Any, line: int) -> Any:
        before = self.variables()
        chosen = then if test else other
        for part in (then, other):
            assert is_part(part.__code__)
            assert part.__code__.co_varnames[: part.__code__.co_argcount] == names
            self.tried(part, *values)
        found = chosen(*values)
        assert len(found) == len(names) and before == self.variables()
        self.checked += 1
        return found

    def while_(self, test: Any, body: Any, names: Any, values: Any, line: int) -> Any:
        before = self.variables()
        self.tried(body, *values)
        self.tried(test, *values)
        while test(*values):
            self.tried(body, *values)
            values = body(*values)
            assert len(values) == len(names)
        assert before == self.variables()
        return values

    def for_(self, items: Any, body: Any, names: Any, values: Any, test: Any, line: int) -> Any:
        before = self.variables()
        fetching = iter(items)
        while test is None or test(*values):
            try:
                item = next(fetching)
            except StopIteration:
                break
            self.tried(body, item, *values)
            values = body(item, *values)
            assert len(values) == len(names)
        assert before == self.variables()
        return values

    def select(self, test: Any, first: Any, second: Any, line: int) -> Any:
        chosen = first if test else second
        self.tried(first)
        self.tried(second)
        return chosen()

    def both(self, first: Any, second: Any) -> Any:
        self.tried(second)
        return first and second()

    def either(self, first: Any, second: Any) -> Any:
        self.tried(second)
        return first or second()

    negate = staticmethod(Plain.negate)
    call = staticmethod(Plain.call)
    itself = staticmethod(Plain.itself)
