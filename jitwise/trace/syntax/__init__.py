"""Rewriting the syntax tree of a user's function, so that its control flow on values becomes calls
of functions that can answer otherwise than Python: operations.

    rewritten(f, operations)   f with its control flow as calls, or None
    reason_of(f)               why that is None: "its source is not available"
    partly(f)                  what in it stayed as it is, and why
    shown(f)                   the new text of f, for people
    is_part(code)              whether code was made here, or is a function of the user's

The new function has the globals, the closure cells, the name and the positions of the old one. What
operations it calls are attributes of `operations` (`PROVIDED`). They are in closure cells, under
names that no user can write, as are the names of all that is added.

    def f(xs, limit):                  def f(xs, limit):
        total = 0                          "returned()" = False
        for x in xs:                       total = 0
            if x > limit:                  def "body()"("item()", "returned()", "result()", total):
                return x                       x = "item()"
            total += x                         def "then()"("returned()", "result()", total):
        return total                               "result()" = x
                                                   "returned()" = True
                                                   return ("returned()", "result()", total)
                                               def "else()"("returned()", "result()", total):
                                                   total += x
                                                   return ("returned()", "result()", total)
                                               ("returned()", "result()", total) = "if()"(
                                                   x > limit, "then()", "else()",
                                                   ("returned()", "result()", "total"),
                                                   ("returned()", "result()", total), 4)
                                               return ("returned()", "result()", total)
                                           def "test()"("returned()", "result()", total):
                                               return "negate()"("returned()")
                                           ("returned()", "result()", total) = "for()"(
                                               xs, "body()",
                                               ("returned()", "result()", "total"),
                                               ("returned()", UNBOUND, total), "test()", 3)
                                           ...
                                           return "result()"

The operations, and what Python does in their place:

    if_(test, then, other, names, values, line)   (then if test else other)(*values)
    while_(test, body, names, values, line)       while test(*values): values = body(*values)
    for_(items, body, names, values, test, line)  the same with body(item, *values); `test` is asked
                                                  before each item is fetched, None: always true
    select(test, first, second, line)             first() if test else second()
    both(first, second), either(first, second)    first and second(), first or second()
    negate(value)                                 not value
    call(function)                                function
    itself(function, depth, name, line)           False: whether `function` is the one that is
                                                  running, whose name and line these are

`names` are the variables that the parts take and return, as strings in the order of `values`:
those which are assigned in the statement and needed after it or in the next round, and those which
the statement needs and may be unbound. `UNBOUND` stands for one that is unbound; afterwards it is
deleted again, so that Python raises what it would. Flags (`"left()1"`) are variables like others.
Where nothing is to be passed on, a part gives UNBOUND. Variables that are only read are read
through closures; those that an inner function of the user captures and a part assigns are assigned
by `nonlocal`: `shared_by(code)` names them. Those, and what a `try` around sees of variables when a
part raises, are the ways in which a part is not a function of its arguments.

`x is y`, `x in y`, `match` and class bodies stay as they are. `with` and `try` stay, with their
blocks rewritten. Generators, coroutines, and functions that use `locals()`, its like or `super()`
are not rewritten; nor is any function of a library. A context is taken to swallow exceptions,
unless its name is one that does not (`np.errstate` and a few more).

The steps: `locate` (text to tree, and proof that it is the function's), `scopes` (whose variable a
name is), `recursion` (a call of itself at the end is a turn of a loop), `exits` (no jumps), `flow`
(liveness), `parts` and `expressions`.
"""

from __future__ import annotations

import ast
import weakref
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

from ..code import is_users
from .locate import Function, compiled, tree_of
from .names import (
    CONSTANTS,
    KINDS,
    OPERAND,
    PROVIDED,
    UNBOUND,
    Part,
    Unsupported,
    is_part,
    part_of,
    shared_by,
)
from .nodes import at
from .parts import Function as Rewriting
from .recursion import as_loop
from .scopes import Scope, scope_of


class _Result(NamedTuple):
    code: CodeType | None
    reason: str | None
    notes: tuple[str, ...]


_known: dict[int, tuple[weakref.ref[CodeType], _Result]] = {}  # by the identity of code
_constant_cells = {name: CellType(value) for name, value in CONSTANTS.items()}


def rewritten(function: FunctionType, operations: Any) -> FunctionType | None:
    """The function with its control flow as calls of `operations`; None where nothing is to be
    rewritten, or cannot be (`reason_of`).
    """
    code = _result_of(function).code
    if code is None:
        return None
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    closure = tuple([_cell(name, cells, operations) for name in code.co_freevars])
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    made.__doc__ = function.__doc__
    made.__annotations__ = function.__annotations__
    made.__dict__.update(function.__dict__)
    return made


def reason_of(function: FunctionType) -> str | None:
    """Why a function is not rewritten; None where it is, or has nothing to be rewritten."""
    return _result_of(function).reason


def partly(function: FunctionType) -> tuple[str, ...]:
    """What of a rewritten function stayed as it is, and why, as "line 3: an operand assigns
    variables".
    """
    return _result_of(function).notes


def shown(function: FunctionType) -> str:
    """The text of the rewritten function, which no parser reads: its names have parentheses."""
    tree, _ = _rewrite(function)
    return ast.unparse(tree)


def _cell(name: str, cells: dict[str, CellType], operations: Any) -> CellType:
    if name in PROVIDED:
        return CellType(getattr(operations, PROVIDED[name]))
    constant = _constant_cells.get(name)
    return cells[name] if constant is None else constant


def _result_of(function: FunctionType) -> _Result:
    code = function.__code__
    known = _known.get(id(code))
    if known is not None and known[0]() is code:
        return known[1]
    if not is_users(code):
        return _Result(None, "it is not the user's", ())
    result = _result(function)
    key = id(code)
    _known[key] = (weakref.ref(code, lambda _: _known.pop(key, None)), result)
    return result


def _result(function: FunctionType) -> _Result:
    code = function.__code__
    if is_part(code):
        return _Result(None, "it is rewritten", ())
    try:
        tree, rewriting = _rewrite(function)
        if not rewriting.changes:
            return _Result(None, None, ())
        made = compiled(tree, code, [*PROVIDED, *CONSTANTS])
    except Unsupported as error:
        return _Result(None, str(error), ())
    except RecursionError:
        return _Result(None, "it is nested too deep", ())
    allowed = {*PROVIDED, *CONSTANTS, *code.co_freevars}
    if not allowed.issuperset(made.co_freevars):
        return _Result(None, "its names are not those of its source", ())
    made = _named(made, code.co_name, code.co_qualname)
    made = made.replace(co_flags=code.co_flags & ~0x10 | made.co_flags & 0x10)
    return _Result(made, None, tuple(rewriting.notes))


def _rewrite(function: FunctionType) -> tuple[Function, Rewriting]:
    """The new tree of a function, and what made it."""
    node = tree_of(function.__code__, function.__globals__)
    if isinstance(node, ast.FunctionDef):
        for index, each in enumerate(node.decorator_list):
            node.decorator_list[index] = at(ast.Constant(None), each)
        node.returns = None
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        for each in every:
            each.annotation = None
    node.args.defaults = []
    node.args.kw_defaults = [None for _ in node.args.kw_defaults]
    scopes: dict[int, Scope] = {}
    scopes[0] = scope_of(node, scopes)
    code = function.__code__
    if isinstance(node, ast.FunctionDef) and code.co_freevars in ((), (node.name,)):
        if as_loop(node, scopes[0], code.co_qualname, code.co_firstlineno):
            scopes.clear()
            scopes[0] = scope_of(node, scopes)
    rewriting = Rewriting(node, scopes, [])
    tree = rewriting.rewritten()
    return tree, rewriting


def _named(code: CodeType, name: str, qualname: str) -> CodeType:
    """Code of the user's function `qualname`, whose parts have its name and a mark."""
    constants = []
    is_class = not code.co_flags & 0x2
    for each in code.co_consts:
        if isinstance(each, CodeType):
            each = _inner(each, name, qualname, is_class)
        elif is_class and type(each) is str and each == code.co_qualname:
            each = qualname
        constants.append(each)
    return code.replace(co_name=name, co_qualname=qualname, co_consts=tuple(constants))


def _inner(code: CodeType, name: str, qualname: str, is_class: bool) -> CodeType:
    kind = code.co_name if code.co_name in KINDS else None
    if OPERAND in code.co_varnames:
        kind = OPERAND
    if kind is not None:
        made = _named(code, name, qualname)
        mark = Part(kind.removesuffix("()"), qualname, code.co_firstlineno)
        return made.replace(co_consts=(*made.co_consts, mark))
    if "." not in code.co_qualname:  # declared global
        return _named(code, code.co_name, code.co_name)
    inner = "." if is_class else ".<locals>."
    return _named(code, code.co_name, f"{qualname}{inner}{code.co_name}")


__all__ = [
    "PROVIDED",
    "UNBOUND",
    "Part",
    "is_part",
    "part_of",
    "partly",
    "reason_of",
    "rewritten",
    "shared_by",
    "shown",
]
