"""The arguments of `jit`: what they may be, and whether the function has the parameters they name.

jit(f, static_argnames="mod")    ValueError: f has no such parameter (perhaps 'mode'); its ...
jit(f, static_argnums=7)         ValueError: f has 2 parameters by position; its parameters ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

STRATEGIES = ("auto", "whole", "parts", "off")
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Options(NamedTuple):
    """The arguments of `jit`."""

    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    donate_argnums: tuple[int, ...] = ()
    donate_argnames: tuple[str, ...] = ()
    keep_unused: bool = False
    inline: bool = False
    strategy: str = "auto"
    fastmath: bool = False
    wait: bool = True
    control_flow: bool = True

    def check(self, name: str, signature: inspect.Signature | None) -> None:
        """Raises ValueError when the function has not the parameters that are named."""
        if signature is None:
            return
        for option in ("static_argnums", "donate_argnums"):
            _check_numbers(name, signature, option, getattr(self, option))
        for option in ("static_argnames", "donate_argnames"):
            _check_names(name, signature, option, getattr(self, option))


def as_tuple(given: Any, kind: type, name: str) -> tuple:
    """A static_argnums-like option: one item, several, or None."""
    if given is None:
        return ()
    items = (given,) if isinstance(given, kind) else tuple(_iterated(given, kind, name))
    for item in items:
        if not isinstance(item, kind) or isinstance(item, bool):
            raise TypeError(
                f"jit({name}={given!r}): expected {kind.__name__} or several of them, got {item!r}"
            )
    return items


def _iterated(given: Any, kind: type, name: str) -> Iterable[Any]:
    if not isinstance(given, Iterable):
        raise TypeError(f"jit({name}={given!r}): expected {kind.__name__} or several of them")
    return given


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """The parameters of a function, or None when Python does not know them."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def positions(numbers: Iterable[int], signature: inspect.Signature | None, given: int) -> set[int]:
    """Positions counted from the front: a negative one counts back from the last parameter, or from
    the last argument where there may be any number of them.
    """
    count = given
    if signature is not None and not _has(signature, inspect.Parameter.VAR_POSITIONAL):
        count = _positional(signature)
    return {number if number >= 0 else count + number for number in numbers}


def positional_names(signature: inspect.Signature | None, given: int) -> list[str]:
    """The names of the parameters that `given` positional arguments are for, as far as they have
    names of their own.
    """
    parameters = signature.parameters.values() if signature else ()
    return [each.name for each in parameters if each.kind in _BY_POSITION][:given]


def _has(signature: inspect.Signature, kind: Any) -> bool:
    return any(parameter.kind is kind for parameter in signature.parameters.values())


def _positional(signature: inspect.Signature) -> int:
    return sum(parameter.kind in _BY_POSITION for parameter in signature.parameters.values())


def _check_numbers(
    name: str, signature: inspect.Signature, option: str, numbers: tuple[int, ...]
) -> None:
    count = _positional(signature)
    if _has(signature, inspect.Parameter.VAR_POSITIONAL):
        return
    for number in numbers:
        if not -count <= number < count:
            raise ValueError(
                f"jit({option}={number}): {name} has {count} parameters by position"
                f"{_list(signature)}"
            )


def _check_names(
    name: str, signature: inspect.Signature, option: str, names: tuple[str, ...]
) -> None:
    if _has(signature, inspect.Parameter.VAR_KEYWORD):
        return
    for each in names:
        if each not in signature.parameters:
            import difflib

            near = difflib.get_close_matches(each, signature.parameters, 1)
            hint = f" (perhaps {near[0]!r})" if near else ""
            raise ValueError(
                f"jit({option}={each!r}): {name} has no such parameter{hint}{_list(signature)}"
            )


def _list(signature: inspect.Signature) -> str:
    return f"; its parameters are {', '.join(signature.parameters) or 'none'}"
