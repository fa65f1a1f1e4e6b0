"""`Builder.emit`: the only door into a graph.

Emitting an op does four things in order: infer its type, try to fold it (constants, then the
primitive's rules), look for an equal op already there, append. So nothing ill-typed can be built,
and simplification and common subexpressions are properties of construction, in time proportional to
the ops emitted.

    emit(multiply, (%0, 1.0))     ->  %0                      (a rule)
    emit(sine, (%0,)) twice       ->  one op, the same value  (numbering)

Constant folding is limited to scalars and leaves alone what would set a floating-point flag, so
that warnings still happen when the program runs. Effects are never folded or numbered.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .dims import Dim, Guard, Size
from .graph import Graph, Op, Source, SymbolOrigin, Value
from .primitive import NO_ATTRS, REGISTRY, Attrs, Primitive, exact_attrs, register
from .types import ArrayType


def _infer_constant(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    return ArrayType(attrs["value"].dtype, ())


def _infer_dimension(types: tuple[ArrayType, ...], attrs: Attrs) -> ArrayType:
    return _INT_SCALAR


_INT_SCALAR = ArrayType(np.dtype(np.int64), ())

CONSTANT = register(
    Primitive(
        name="constant",
        category="source",
        infer=_infer_constant,
        evaluate=lambda value: value,
        execute=lambda program, op: program.instruction(
            "scalar",
            program.define(op.results[0]),
            op.results[0].type.dtype,
            op.attrs["value"].tobytes(),
        ),
        hlo="stablehlo.constant",
        flops=0,
    )
)

DIMENSION = register(
    Primitive(
        name="dimension",
        category="source",
        infer=_infer_dimension,
        evaluate=lambda size: np.int64(size),
        execute=lambda program, op: program.instruction(
            "dimension", program.define(op.results[0]), program.dim(op.attrs["size"])
        ),
        hlo="stablehlo.get_dimension_size",
        flops=0,
    )
)


_type_of = operator.attrgetter("type")
new = object.__new__


class Builder:
    """Builds one graph.

    `fold=False` keeps ops as written; `fastmath=True` allows rules that hold of real numbers only;
    `locate` gives the user's line of each op. `emitted` and `rules` count what happened, for the
    cost tests and for bisecting.
    """

    def __init__(
        self,
        name: str = "graph",
        *,
        fold: bool = True,
        fastmath: bool = False,
        locate: Callable[[], Source | None] | None = None,
    ) -> None:
        self.name = name
        self.fold = fold
        self.fastmath = fastmath
        self.locate = locate
        self.emitted = 0
        self.rules: dict[str, int] = {}
        self.inputs: list[Value] = []
        self.ops: list[Op] = []
        self.symbols: dict[str, SymbolOrigin] = {}
        self.guards: dict[tuple[str, Dim], Guard] = {}
        self._numbers: dict[tuple, Value | tuple[Value, ...]] = {}
        self._types: dict[tuple, Any] = {}  # what `infer` gave: a long program asks it often
        self._plain: dict[tuple, Value] = {}
        self.notes: dict[Any, Any] = {}  # what rules remember of this builder's values

    def input(self, type: ArrayType) -> Value:
        """A new input of the graph."""
        value = Value(type, None)
        self.inputs.append(value)
        return value

    def symbol(self, name: str, origin: SymbolOrigin) -> Dim:
        """Declare a size (or Python int argument) known at run time, and where it is read from."""
        if self.symbols.setdefault(name, origin) != origin:
            raise ValueError(f"the symbol {name} has two origins: {self.symbols[name]}, {origin}")
        return Dim.symbol(name)

    def guard(self, relation: str, size: Size, source: Source | None = None) -> None:
        """Assume `size == 0` ("eq"), `size != 0` ("ne") or `size >= 0` ("ge") of every run of this
        graph.
        """
        if isinstance(size, Dim):
            self.guards.setdefault((relation, size), Guard(relation, size, source))
            return
        if not {"eq": size == 0, "ne": size != 0, "ge": size >= 0}[relation]:
            raise ValueError(f"a guard that never holds: {size} {relation} 0")

    def constant(self, value: Any, dtype: np.dtype, source: Source | None = None) -> Value:
        """A scalar of `dtype`. Raises OverflowError when a Python int does not fit, as NumPy does,
        and FloatingPointError when a number becomes infinite, of which NumPy warns.
        """
        # Zeros differ in sign, also those of a complex number; 1 == True.
        plain = (type(value), value, dtype) if value and dtype.kind != "c" else None
        found = self._plain.get(plain) if plain is not None else None
        if found is not None:
            return found
        scalar = value if isinstance(value, np.generic) else np.asarray(value, dtype)[()]
        if scalar.dtype != dtype:
            scalar = scalar.astype(dtype)
        if dtype.kind in "fc" and type(value) in (int, float, complex) and np.isinf(scalar):
            if type(value) is int or np.isfinite(value):
                raise FloatingPointError(f"{value} is infinite in {dtype}")
        key = (CONSTANT, dtype, scalar.tobytes())
        found = self._numbers.get(key)
        if found is None:
            found = self._append(CONSTANT, (), {"value": scalar}, ArrayType(dtype, ()), source)
            found.constant = scalar
            self._numbers[key] = found
        if plain is not None:
            self._plain[plain] = found  # type: ignore[assignment]
        return found  # type: ignore[return-value]

    def emit(
        self,
        primitive: Primitive,
        operands: tuple[Value, ...],
        attrs: Attrs = NO_ATTRS,
        source: Source | None = None,
    ) -> Any:
        """The result of `primitive` on `operands`: a Value, or a tuple of them when it has several
        results.

        Raises TypeError when the operand types do not fit.
        """
        self.emitted += 1
        if primitive is CONSTANT:
            return self.constant(attrs["value"], attrs["value"].dtype, source)
        if primitive.commutative and operands[0].constant is not None:
            if operands[1].constant is None:
                operands = (operands[1], operands[0])  # constants stand on the right
        if self.fold and operands and not primitive.effect:
            if operands[0].constant is not None and primitive.category == "elementwise":
                folded = self._fold_constants(primitive, operands, attrs, source)
                if folded is not None:
                    return folded
            if primitive.fold is not None:
                folded = primitive.fold(self, operands, attrs)
                if folded is not None:
                    return folded
        exact = exact_attrs(attrs) if attrs else ()
        key = (primitive, operands, exact)
        if not primitive.effect:
            found = self._numbers.get(key)
            if found is not None:
                return found
        given = tuple(map(_type_of, operands))
        types = self._types.get((primitive, given, exact))
        if types is None:
            types = self._types[primitive, given, exact] = primitive.infer(given, attrs)
        if source is None and self.locate is not None:
            source = self.locate()
        result = self._append(primitive, operands, attrs, types, source)
        if not primitive.effect:
            self._numbers[key] = result
        return result

    def adopt(self, op: Op, operands: tuple[Value, ...]) -> Any:
        """Append an op of another builder itself, on `operands` of its operands' types; that
        builder must not finish. Gives its results, or those of an equal op already here.
        """
        result: Any = op.results if op.primitive.multiple else op.results[0]
        if not op.primitive.effect:
            key: tuple = (op.primitive, operands, exact_attrs(op.attrs) if op.attrs else ())
            if op.primitive is CONSTANT:
                key = (CONSTANT, result.type.dtype, result.constant.tobytes())
            found = self._numbers.setdefault(key, result)
            if found is not result:
                return found
        op.operands = operands
        self.ops.append(op)
        return result

    def _append(
        self,
        primitive: Primitive,
        operands: tuple[Value, ...],
        attrs: Attrs,
        types: Any,
        source: Source | None,
    ) -> Any:
        op = new(Op)  # `Op(...)` and `Value(...)` without a call
        op.primitive = primitive
        op.operands = operands
        op.attrs = attrs
        op.source = source
        self.ops.append(op)
        if primitive.multiple:
            op.results = tuple([Value(type, op) for type in types])
            return op.results
        value = new(Value)
        value.type = types
        value.op = op
        value.constant = None
        op.results = (value,)
        return value

    def _fold_constants(
        self, primitive: Primitive, operands: tuple[Value, ...], attrs: Attrs, source: Source | None
    ) -> Value | None:
        values = [operand.constant for operand in operands]
        if primitive.multiple or any(value is None for value in values):
            return None
        if primitive.ulp:
            return None  # the compiled function may round otherwise: one answer, not two
        type = primitive.infer(tuple(operand.type for operand in operands), attrs)
        try:
            with np.errstate(all="raise"):
                result = primitive.evaluate(*values, **attrs)
        except (FloatingPointError, ArithmeticError, ValueError):
            return None
        return self.constant(np.asarray(result)[()], type.dtype, source)  # type: ignore[union-attr]

    def applied(self, name: str) -> None:
        """Count one application of the rule `name`."""
        self.rules[name] = self.rules.get(name, 0) + 1

    def finish(self, outputs: tuple[Value, ...]) -> Graph:
        """The graph built so far, with these outputs. The builder must not be used afterwards."""
        return Graph(
            self.name,
            tuple(self.inputs),
            tuple(self.ops),
            tuple(outputs),
            dict(self.symbols),
            tuple(self.guards.values()),
        )


def primitive_named(name: str) -> Primitive:
    """The primitive whose IR spelling is `name`. Raises KeyError that names the nearest ones."""
    found = REGISTRY.get(name)
    if found is None:
        import difflib

        near = ", ".join(difflib.get_close_matches(name, REGISTRY)) or "none alike"
        raise KeyError(f"there is no primitive {name!r} (near: {near})")
    return found


def copy_declarations(builder: Builder, graph: Graph) -> Mapping[Value, Value]:
    """Declare `graph`'s symbols, guards and inputs in `builder`; gives old input -> new input."""
    for name, origin in graph.symbols.items():
        builder.symbol(name, origin)
    for guard in graph.guards:
        builder.guard(guard.relation, guard.dim, guard.source)
    return {value: builder.input(value.type) for value in graph.inputs}
