"""From a function to the syntax tree of its text, and back from a tree to a function's code.

The text may be missing, or no longer be what the function was compiled from. So it is compiled
again at the same place, and trusted only when that gives the function's very code, constants, names
and positions. Positions also tell several lambdas on a line apart.

    def "place()"(OPERATIONS, FREE VARIABLES):     never run: only the code inside is taken
        class _________C:                          mangles `__x` as the class C did, and hides the
            def f(x): ...                          function's own name from its body

A block is cut from the text without tokenizing it: from the first line of the function to the
first line after its last instruction that is indented no further. Where that does not parse (a
string may hold such a line) or is not the code, and for lambdas that are no statement of one line,
the whole file is parsed.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Sequence
from types import CodeType, ModuleType
from typing import Any

from .names import Unsupported
from .nodes import at, children, walk

Function = ast.FunctionDef | ast.Lambda
_FUTURE = 0x1FE0000  # the flags of `from __future__ import` in co_flags
_NESTED = 0x10
_GENERATORS = 0x20 | 0x80 | 0x200
_UNUSED_CLASS = "_" * 9  # names that are only underscores mangle nothing


def tree_of(code: CodeType, globals: dict[str, Any]) -> Function:
    """A tree which compiles to this code. Raises Unsupported."""
    if code.co_flags & _GENERATORS:
        raise Unsupported("it is a generator or coroutine")
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, globals)
    if not lines:
        raise Unsupported("its source is not available")
    for text, is_file in _texts(lines, code):
        try:
            tree = ast.parse(text, code.co_filename)
        except (SyntaxError, ValueError):
            continue
        imported = _imported(tree) if is_file else _modules(code, globals)
        found = [node for node in _candidates(tree, code) if _makes(node, code, imported)]
        if len(found) == 1:
            return found[0]
        if found:
            raise Unsupported("its source has several functions like it on one line")
    raise Unsupported("its source is not what it was compiled from")


def _texts(lines: list[str], code: CodeType) -> Iterable[tuple[str, bool]]:
    """Texts in which the function stands at its line: its block, and the whole file (True)."""
    first = code.co_firstlineno
    if 0 < first <= len(lines):
        head = lines[first - 1]
        indent = len(head) - len(head.lstrip())
        last = min(max(_last_line(code), first), len(lines))
        while last < len(lines):
            line = lines[last]
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                break
            last += 1
        block = "".join(lines[first - 1 : last])
        if not indent:
            yield "\n" * (first - 1) + block, False
        elif first > 1:
            yield "\n" * (first - 2) + "if 1:\n" + block, False
    yield "".join(lines), True


def _last_line(code: CodeType) -> int:
    last = max((line or 0 for _, _, line in code.co_lines()), default=0)
    return max([last, *[_last_line(each) for each in code.co_consts if type(each) is CodeType]])


def _candidates(tree: ast.Module, code: CodeType) -> list[Function]:
    """The functions of a tree that start at the code's line and have its name."""
    first = code.co_firstlineno
    if code.co_name == "<lambda>":
        return [
            node for node in walk(tree) if isinstance(node, ast.Lambda) and node.lineno == first
        ]
    return [
        node
        for node in walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.name == code.co_name
        and min([node.lineno, *[each.lineno for each in node.decorator_list]]) == first
    ]


def _modules(code: CodeType, globals: dict[str, Any]) -> set[str]:
    """The names in code that are modules: these were imported, most likely."""
    found = {name for name in code.co_names if type(globals.get(name)) is ModuleType}
    inner = [each for each in code.co_consts if type(each) is CodeType]
    return found.union(*[_modules(each, globals) for each in inner])


def _imported(tree: ast.Module) -> set[str]:
    """The names that the statements of a file import, those in functions and classes apart."""
    found: set[str] = set()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update([each.asname or each.name.split(".")[0] for each in node.names])
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            pending += children(node)
    return found - {"*"}


def _makes(node: Function, code: CodeType, imported: set[str]) -> bool:
    if getattr(node, "type_params", None):
        raise Unsupported("it has type parameters")
    try:
        made = compiled(node, code, (), imported)
    except (SyntaxError, ValueError):
        return False
    return _same(made, code, (made.co_qualname, code.co_qualname))


def compiled(
    node: Function, code: CodeType, provided: Sequence[str], imported: Iterable[str] = ()
) -> CodeType:
    """The code of a function's tree in the surroundings of `code`, with more free variables.

    Of names that the file imports CPython knows that `np.sin(x)` is no call of a method.
    """
    statement = node if isinstance(node, ast.FunctionDef) else ast.Expr(node)
    holder = ast.ClassDef(_UNUSED_CLASS + _class_of(code), [], [], [statement], [])
    free = [*provided, *[name for name in code.co_freevars if name != "__class__"]]
    place = ast.FunctionDef(
        "place()", _parameters(free), [holder], [], None, lineno=1, col_offset=0
    )
    if hasattr(node, "type_params") or "type_params" in ast.ClassDef._fields:
        holder.type_params = []  # type: ignore[attr-defined]
        place.type_params = []  # type: ignore[attr-defined]
    imports = ast.Import([ast.alias(name) for name in sorted(imported)])
    module = ast.Module([imports, place] if imports.names else [place], [])
    first = statement if isinstance(statement, ast.FunctionDef) else node
    for new in (holder, place, statement):
        if not hasattr(new, "lineno") or new is place:
            at(new, first)
    for new in (*place.args.args, imports, *imports.names):
        at(new, first)
    flags = code.co_flags & _FUTURE
    made = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    for _ in range(3):  # the place, the class, the function: each is the last code in the other
        made = [each for each in made.co_consts if type(each) is CodeType][-1]
    return made


def _parameters(names: Sequence[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _class_of(code: CodeType) -> str:
    """The class whose name mangles private names in the code, or nothing."""
    parts = code.co_qualname.split(".")[:-1]
    while parts and parts[-1] == "<locals>":
        del parts[-2:]
    return parts[-1] if parts else ""


_COMPARED = [
    "co_name",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_code",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_firstlineno",
    "co_linetable",
    "co_exceptiontable",
]


def _same(made: Any, code: Any, names: tuple[str, str]) -> bool:
    """Whether constants are the same; for code, all that decides what it does, and where. `names`
    are the qualified names of the two functions, which classes in them hold.
    """
    if type(made) is not type(code):
        return False
    if type(made) is CodeType:
        return (
            all(getattr(made, name) == getattr(code, name) for name in _COMPARED)
            and (made.co_flags ^ code.co_flags) | _NESTED == _NESTED
            and _same(made.co_consts, code.co_consts, names)
        )
    if type(made) is tuple:
        pairs = zip(made, code)
        return len(made) == len(code) and all(_same(*pair, names) for pair in pairs)
    if type(made) is frozenset:
        return made == code and sorted(map(repr, made)) == sorted(map(repr, code))
    if type(made) is str and made.startswith(names[0] + ".") and made != code:
        return made.removeprefix(names[0]) == code.removeprefix(names[1])
    return made is code or repr(made) == repr(code)
