"""Running a user's function so that everything it reads from outside is seen: followed functions.

A followed function has the same code, but its globals are a `Scope` (a dict that asks for each name
once) and its closure cells hold followed values. What comes out of a global, a cell, an attribute
or a container is `follow`ed:

    array                 -> tracer of a hidden input, fetched again at each call
    number, string, None  -> itself, and a guard that it is equal
    user's function       -> followed in turn, and a guard that it is the same object
    jitted function       -> its function, followed (the trace inlines it)
    list, dict, set       -> a copy with followed items; a change ends the trace
    object                -> `ObjectProxy`: its attributes are followed
    module                -> `Namespace`: its names are followed
    part of an argument   -> the same by a path from the argument, which is not held
    anything else         -> itself, and a guard that it is the same object

Functions that write globals or nonlocals, generators, and what asks or changes the world (`world`)
end the trace. Code of installed packages is not followed: it sees tracers through NumPy's protocols
only.
"""

from __future__ import annotations

import array
import builtins
import enum
import functools
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CannotTrace
from ..ir.types import DTYPE_NAMES
from .captures import Path, is_rooted, keys_from_leaf
from .code import fault_of_code, has_loops, identity_uses, is_users, undecorated
from .conversions import BEHIND, CONVERTING, followed_scalar_type, names_in, with_conversions
from .draws import drawing, is_generator, is_random
from .filled import CONTAINERS, Fillings
from .followed_builtins import followed_builtins
from .namespace import is_numpy
from .objects import ClassProxy, ObjectProxy, is_plain_class
from .source import MODULES, ScopeGlobals
from .tracer import Tracer
from .world import reason_of

if TYPE_CHECKING:
    from .tracing import Trace

_PLAIN = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis), slice, range, np.dtype)
_METHODS = (types.BuiltinMethodType, types.MethodWrapperType, types.MethodType)
_UNCHANGING = (
    types.ModuleType,
    types.NoneType,
    type,
    str,
    bytes,
    int,
    float,
    complex,
    tuple,
    frozenset,
    range,
    np.ufunc,
    np.dtype,
    np.generic,
)
_FIXED = (*_PLAIN, object, types.NotImplementedType, types.UnionType, property)
_BUILTINS = dict(vars(builtins))
_MOST_ITEMS = 256


class Scope(ScopeGlobals):
    """Globals of followed functions: a name is looked up in the real globals once and followed."""

    def __init__(self, follower: Follower, real: dict[str, Any]) -> None:
        super().__init__()
        self.follower = follower
        self.real = real
        for name in ("__name__", "__file__", "__package__"):
            if name in real:
                dict.__setitem__(self, name, real[name])
        dict.__setitem__(self, "__builtins__", follower.builtins)

    def __missing__(self, name: str) -> Any:
        behind = BEHIND.get(name)
        if behind is not None:
            found = self[behind]
            value = self.follower.conversion(name) if found is CONVERTING[name] else found
            dict.__setitem__(self, name, value)
            return value
        if name not in self.real:
            self.follower.trace.captures.guard(Path("dict", self.real, name), None, "absent")
            value = self.follower.builtin(name)
            dict.__setitem__(self, name, value)
            return value
        value = self.follower.follow(self.real[name], Path("dict", self.real, name), name)
        dict.__setitem__(self, name, value)
        return value


class Follower:
    """Follows values for one trace."""

    def __init__(self, trace: Trace, rewrites: bool = False) -> None:
        self.trace = trace
        self.scopes: dict[int, Scope] = {}
        self.functions: dict[int, tuple[Any, Any]] = {}
        self.seen: dict[tuple[int, Path | None], tuple[Any, Any]] = {}
        self.parts: list[tuple[Path, Any, str]] = []  # objects and containers of arguments
        self.fillings = Fillings(self)
        self.identity: set[str] = set()  # how the code may ask whether objects are the same
        self.builtins = followed_builtins(self)
        self.statements: Any = None  # what rewritten functions call
        if rewrites:
            from .statements import Statements

            conversions = {int: self.builtins["int()"], float: self.builtins["float()"]}
            self.statements = Statements(trace, conversions)
        trace.follower = self

    def function(
        self, function: types.FunctionType, path: Path | None = None
    ) -> types.FunctionType:
        """The followed twin of a user's function, which belongs to an argument if there is a
        `path`.
        """
        found = self.functions.get(id(function))
        if found is not None:
            return found[1]
        fault = fault_of_code(function.__code__)
        if fault is not None:
            self._faulty(function, fault)()
        scope = self.scopes.get(id(function.__globals__))
        if scope is None:
            scope = self.scopes[id(function.__globals__)] = Scope(self, function.__globals__)
        cells = tuple([types.CellType() for _ in function.__closure__ or ()])
        base = function if path is None else path
        self.identity |= identity_uses(function.__code__)
        self.fillings.note(function)
        self.trace.has_loops |= has_loops(function.__code__)
        self.trace.captures.guard(Path("attr", base, "__code__"), function.__code__, "is")
        code, closure = self._code(function, cells)
        twin = types.FunctionType(code, scope, function.__name__, None, closure)
        self.trace.originals[id(twin)] = (twin, function)
        MODULES[code.co_filename] = function.__globals__.get("__name__", "<string>")
        self.functions[id(function)] = (function, twin)  # before its cells: it may hold itself
        self._fill_cells(function, cells, path)
        twin.__defaults__ = self._defaults(function, base)
        named = function.__kwdefaults__ if path is None else Path("attr", path, "__kwdefaults__")
        twin.__kwdefaults__ = function.__kwdefaults__ and {
            name: self.follow(value, Path("item", named, name), name)
            for name, value in function.__kwdefaults__.items()
        }
        twin.__qualname__ = function.__qualname__
        self._attributes(function, twin, path)
        return twin

    def _faulty(self, function: types.FunctionType, fault: tuple[str, str]) -> Any:
        """What stands for a function that cannot be followed: it may be held, and be a callback."""
        source = (function.__code__.co_filename, function.__code__.co_firstlineno)

        def refused(*args: Any, **options: Any) -> Any:
            raise self._fail(CannotTrace(*fault, source))

        refused.stands_for = function  # type: ignore[attr-defined]
        return refused

    def method(self, held: Any) -> Callable[..., Any]:
        """The followed twin of a function that a class holds, jitted or not."""
        function = undecorated(held)
        twin = self.function(function)
        return twin if function is held else self._inner(twin, function)

    def _inner(self, twin: Any, function: Any) -> Callable[..., Any]:
        """What stands for a jitted function."""
        from .inner import inner_call

        return inner_call(self.trace, twin, function)

    def _code(
        self, function: types.FunctionType, cells: tuple[types.CellType, ...]
    ) -> tuple[types.CodeType, tuple[types.CellType, ...]]:
        """The code of a followed function, and its closure."""
        found = None
        if self.statements is not None:
            from .syntax import rewritten

            found = rewritten(function, self.statements)
        named = names_in(function.__code__).intersection(function.__globals__)
        numpys = frozenset([name for name in named if is_numpy(function.__globals__[name])])
        if found is None:
            return with_conversions(function.__code__, numpys), cells
        own = dict(zip(map(id, function.__closure__ or ()), cells, strict=True))
        closure = tuple([own.get(id(cell), cell) for cell in found.__closure__ or ()])
        return with_conversions(found.__code__, numpys), closure

    def _attributes(
        self, function: types.FunctionType, twin: types.FunctionType, path: Path | None
    ) -> None:
        """The attributes that a function was given, each followed."""
        own = vars(function)
        base = own if path is None else Path("attr", path, "__dict__")
        self.trace.captures.guard(Path("keys", base, None), tuple(own), "equal")
        for name, value in own.items():
            if not name.startswith("__"):
                where = f"{function.__name__}.{name}"
                setattr(twin, name, self.follow(value, Path("dict", base, name), where))
        self.trace.captures.shadow(function, vars(twin), f"an attribute of {function.__name__}")

    def builtin(self, name: str) -> Any:
        """What followed code sees of a builtin. KeyError: the interpreter raises NameError."""
        real = vars(builtins)
        path = Path("dict", real, name)
        if name in real and real[name] is not _BUILTINS.get(name):  # patched
            return self.follow(real[name], path, name)
        value = self.builtins[name]
        self.trace.captures.guard(path, real[name], "is", name)
        return value

    def conversion(self, name: str) -> Any:
        """What followed code calls as `int()`, `int8()`."""
        if name not in self.builtins:
            self.builtins[name] = followed_scalar_type(self.trace, CONVERTING[name])
        return self.builtins[name]

    def callee(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function under trace as it is called: followed when it is the user's."""
        if isinstance(function, types.FunctionType):
            return self.function(function) if is_users(function.__code__) else function
        return self.followed_object(
            function, getattr(function, "__name__", type(function).__name__)
        )

    def _fail(self, failure: CannotTrace) -> CannotTrace:
        if self.trace.failure is None:
            self.trace.failure = failure
        return failure

    def _defaults(self, function: types.FunctionType, base: Any) -> tuple | None:
        defaults = function.__defaults__
        if defaults is None:
            return None
        path = Path("attr", base, "__defaults__")
        self.trace.captures.container(path, defaults)
        held = path if is_rooted(path) else defaults
        return tuple(
            self.follow(value, Path("item", held, index), f"a default of {function.__name__}")
            for index, value in enumerate(defaults)
        )

    def _fill_cells(
        self,
        function: types.FunctionType,
        cells: tuple[types.CellType, ...],
        path: Path | None,
    ) -> None:
        names, closure = function.__code__.co_freevars, function.__closure__ or ()
        for index, (name, cell, twin) in enumerate(zip(names, closure, cells, strict=True)):
            try:
                content = cell.cell_contents
            except ValueError:
                continue  # still unbound: so is the twin's
            held = path and Path("item", Path("attr", path, "__closure__"), index)
            twin.cell_contents = self.follow(content, Path("cell", held or cell, None), name)

    def follow(self, value: Any, path: Path, name: str) -> Any:
        """What traced code sees in place of `value`, which it fetched by `path`."""
        captures = self.trace.captures
        kind = type(value)
        if kind is np.ndarray and value.dtype.newbyteorder("=") in DTYPE_NAMES:
            return captures.array(path, value)
        if kind in _PLAIN or isinstance(value, (np.generic, enum.Enum, np.dtype)):
            by_value = kind in (int, float, complex, str, bytes, bool)
            if isinstance(value, np.generic):
                if value.dtype not in DTYPE_NAMES:
                    self.trace.refuse("dtype", str(value.dtype))
                by_value = by_value or is_rooted(path)
            captures.guard(path, value, "equal" if by_value else "is", name)
            return value
        if issubclass(kind, Tracer):
            return value
        if kind is tuple or (isinstance(value, tuple) and hasattr(kind, "_fields")):
            captures.container(path, value, name)
            base = path if is_rooted(path) else value
            items = [
                self.follow(item, Path("item", base, index), name)
                for index, item in enumerate(value)
            ]
            return kind(items) if kind is tuple else kind(*items)
        if is_generator(value):
            return self.trace.draws.stand_in(value, path, name)
        if name in self.fillings.names and kind in CONTAINERS and not is_rooted(path):
            return self.fillings.stand_in(value, path, name)
        if kind in (list, dict, set):
            return self._container(value, path, name)
        if not is_rooted(path):
            captures.guard(path, value, "is", name)
        if isinstance(value, tuple) and hasattr(kind, "n_fields") and _holds_plain(value):
            captures.identity(path, value, name)
            return value  # sys.float_info and the like
        if not is_rooted(path):
            return self.followed_object(value, name)
        found = self.followed_object(value, name, path)
        if type(found) is not ObjectProxy:
            captures.identity(path, value, name)
        elif path.how != "leaf":  # the type of a leaf is in the signature
            captures.guard(path, kind, "type", name)
        return found

    def _container(self, value: Any, path: Path, name: str) -> Any:
        captures = self.trace.captures
        root = path if is_rooted(path) else None
        known = self.seen.get((id(value), root))
        captures.container(path, value, name)
        if known is not None:
            return known[1]
        if len(value) > _MOST_ITEMS:
            self.trace.refuse("source", f"{name}, a {type(value).__name__} of {len(value)} items,")
        if type(value) is set:
            self.trace.refuse("source", f"the set {name}")
        base = value if root is None else root
        copy: Any = type(value)()
        self._remember(value, name, root, copy)
        if root is None:
            captures.behind[id(copy)] = "const", value
        elif keys_from_leaf(root) is not None:
            captures.behind[id(copy)] = "reached", root
        if type(value) is list:
            captures.guard(Path("length", base, None), len(value), "equal", f"len({name})")
            copy.extend(
                self.follow(item, Path("item", base, i), name) for i, item in enumerate(value)
            )
        else:
            captures.guard(Path("keys", base, None), tuple(value), "equal", f"list({name})")
            copy.update(
                {
                    key: self.follow(item, Path("item", base, key), name)
                    for key, item in value.items()
                }
            )
        return captures.shadow(value, copy, name)

    def _remember(self, value: Any, name: str, root: Path | None, stand_in: Any) -> None:
        self.seen[id(value), root] = (value, stand_in)
        if root is not None:
            self.parts.append((root, value, name))

    def followed_object(self, value: Any, name: str, path: Path | None = None) -> Any:
        """What stands for an object; for what belongs to an argument, if there is a `path`."""
        known = self.seen.get((id(value), path))
        if known is None and path is not None:
            # Of what stands for itself the identity is guarded: it may be reached in any way.
            known = self.seen.get((id(value), None))
            if known is not None and type(known[1]) is ObjectProxy:
                known = None
        if known is None:
            stand_in = self._follow_object(value, name, path)
            is_part = path if type(stand_in) is ObjectProxy else None
            self._remember(value, name, is_part, stand_in)
            return stand_in
        return known[1]

    def _follow_object(self, value: Any, name: str, path: Path | None) -> Any:
        from .namespace import namespace_of, replacement

        replaced = replacement(self.trace, value) or drawing(self.trace, value)
        if replaced is not None:
            return replaced
        if self._is_builtin(value):
            return self.builtins[value.__name__]
        inner = undecorated(value)
        if inner is not value:
            self._refuse_attributes(value, name, path)
            wrapped = path and Path("attr", path, "__wrapped__")
            return self._inner(self.followed_object(inner, name, wrapped), inner)
        if isinstance(value, types.FunctionType):
            if not is_users(value.__code__):
                return self._pure(value, name)
            fault = fault_of_code(value.__code__)
            return self.function(value, path) if fault is None else self._faulty(value, fault)
        if isinstance(value, types.MethodType):
            function = undecorated(value.__func__)
            if isinstance(function, types.FunctionType) and is_users(function.__code__):
                holder = path and Path("attr", path, "__self__")
                instance = self.followed_object(value.__self__, name, holder)
                return functools.partial(self.method(value.__func__), instance)
        if isinstance(value, functools.partial):
            return self._partial(value, name, path)
        if isinstance(value, types.ModuleType):
            return namespace_of(self, value)
        if isinstance(value, type):
            if issubclass(value, BaseException) or not reason_of(value) and is_plain_class(value):
                return value
            return ClassProxy(self, value, name)
        if callable(value) and not hasattr(value, "__dict__"):
            return self._pure(value, name)
        if is_random(value):
            self.trace.refuse("random", name)
        if type(value) is np.ndarray:
            self.trace.refuse("dtype", str(np.asarray(value).dtype))
        if isinstance(value, np.ndarray) or _changes(value):
            self.trace.refuse("type", str(type(value).__name__))
        if isinstance(value, np.ufunc) or type(value).__module__.split(".")[0] in (
            "numpy",
            "builtins",
        ):
            return self._pure(value, name)
        return ObjectProxy(self, value, name, path)

    def _partial(self, value: functools.partial, name: str, path: Path | None) -> Any:
        args = value.args if path is None else Path("attr", path, "args")
        keywords = value.keywords if path is None else Path("attr", path, "keywords")
        func = self.followed_object(value.func, name, path and Path("attr", path, "func"))
        given = [self.follow(a, Path("item", args, i), name) for i, a in enumerate(value.args)]
        options = {
            k: self.follow(v, Path("item", keywords, k), name) for k, v in value.keywords.items()
        }
        return functools.partial(func, *given, **options)

    def _refuse_attributes(self, jitted: Any, name: str, path: Path | None) -> None:
        """A jitted function that carries attributes of the user's is no plain function."""
        own = vars(jitted)
        base = own if path is None else Path("attr", path, "__dict__")
        self.trace.captures.guard(Path("keys", base, None), tuple(own), "equal")
        extra = [key for key in own if not key.startswith("__") and key != "state"]
        if extra:
            self.trace.refuse("source", f"{name}.{extra[0]}")

    def _is_builtin(self, value: Any) -> bool:
        """Whether followed code has another function in place of this builtin."""
        if getattr(value, "__module__", None) not in ("builtins", "io", "_io"):
            return False
        own = getattr(value, "__name__", None)
        return isinstance(own, str) and vars(builtins).get(own) is value

    def _pure(self, value: Any, name: str) -> Any:
        """A function of a library: its call is refused when it asks or changes the world."""
        world = reason_of(value)
        if world is not None:
            return self.trace.refusing(*world)
        if getattr(value, "__module__", None) == "_operator":
            self.identity |= {"is", "items"}
        holder = getattr(value, "__self__", None)
        if isinstance(value, _METHODS) and not isinstance(holder, _UNCHANGING):
            return self.trace.refusing("effect", f"{name}, or asks it")
        return value


def _holds_plain(value: Any) -> bool:
    return all(type(item) in _PLAIN for item in value)


def _changes(value: Any) -> bool:
    """Whether an object of a library may answer otherwise at the next call: buffers, views of
    dicts, polynomials, and what is consumed.
    """
    kind = type(value)
    module = kind.__module__
    if kind is frozenset:
        return not _holds_plain(value)
    if module == "builtins" and not callable(value):
        return kind not in _FIXED
    if kind in (array.array, deque, np.poly1d):
        return True
    if isinstance(value, Iterator):
        return module in ("builtins", "itertools")
    return module.startswith("numpy.polynomial") and not isinstance(value, type)


__all__ = ["Follower", "Scope"]
