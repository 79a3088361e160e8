"""Expressions that rules make of operations.

Most of them are never written as syntax: where the types of the arguments are known, the type of an
expression follows from them. The syntax is needed for programs and for reasons.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from axon.contents.applied import Applied, SizeFacts
from axon.contents.arithmetic import settled
from axon.contents.operators import CONTENTS, CONTENTS_OF_PARTS
from axon.contents.values import Contents, scalar, vector
from axon.driver import prelude
from axon.importers.options import Options, chosen, constant, functions, specialised
from axon.inference.apply import Site, matched
from axon.inference.operators import apply_to_values
from axon.inference.state import State
from axon.ops import OPERATORS
from axon.source import Source, Span
from axon.syntax import ast, parse_signature
from axon.types.elements import FLOAT
from axon.types.read import read_signature
from axon.types.type import DimValue, Scheme, Shape, ShapeValue, Tensor, Tuple, Type
from axon.types.variables import ElemVar, ShapeVar


class Scope(SizeFacts, Protocol):
    """Where an expression stands: what tensors are called there, and what is known of them."""

    @property
    def span(self) -> Span: ...

    @property
    def state(self) -> State: ...

    def alias(self, tensor: str) -> str:
        """The name that a tensor has in a program."""

    def tensor_type(self, tensor: str) -> Type: ...

    def shape_of(self, tensor: str) -> Shape | None:
        """The shape of a tensor, if its rank is known."""

    def contents_of(self, tensor: str) -> Contents | None:
        """The elements of a tensor, where they are known."""

    def name_size(self, type_: Type, held: ast.Expr | None) -> str:
        """A name for a size, or a shape, which a run finds as `held`."""

    def name_scheme(self, scheme: Scheme) -> str:
        """A name for an operator of which only the signature is known."""

    def name_function(self, name: str, options: Options) -> str:
        """What a function of the library is called at these options."""


INFIX = frozenset({"+", "-", "*", "/", "//", "@", "==", "!=", "<", "<=", ">", ">="})


@dataclass(slots=True, eq=False)
class Expression:
    """An expression that a rule makes. Its scope is asked when it is written, or typed."""

    written: ast.Expr | None = field(default=None, init=False)

    def expr(self, scope: Scope) -> ast.Expr:
        """The expression, written when it is first asked for."""
        if self.written is None:
            self.written = self.write(scope)
        return self.written

    @abstractmethod
    def write(self, scope: Scope) -> ast.Expr:
        """The expression as syntax."""

    def known(self, scope: Scope) -> Type | None:
        """The type, resolved, if it needs no inference."""
        return None

    def shape(self, scope: Scope) -> Shape | None:
        """The shape, if this is a tensor of the model of known rank."""
        return None

    def contents(self, scope: Scope) -> Contents | None:
        """The elements, where some are known. What they take for granted is asked of a run, so this
        is called once for each tensor that the expression makes.
        """
        return None

    def parts(self, scope: Scope) -> Sequence[Contents | None]:
        """The same of the parts of a tuple; there are none if nothing is known."""
        return ()


@dataclass(slots=True, eq=False)
class Verbatim(Expression):
    """An expression as it is."""

    said: ast.Expr

    def write(self, scope: Scope) -> ast.Expr:
        return self.said


@dataclass(slots=True, eq=False)
class TensorRef(Expression):
    """A tensor of the model."""

    name: str

    def write(self, scope: Scope) -> ast.Expr:
        return ast.Name(scope.alias(self.name), scope.span)

    def known(self, scope: Scope) -> Type | None:
        return scope.tensor_type(self.name)

    def shape(self, scope: Scope) -> Shape | None:
        return scope.shape_of(self.name)

    def contents(self, scope: Scope) -> Contents | None:
        return scope.contents_of(self.name)


@dataclass(slots=True, eq=False)
class SizeRef(Expression):
    """A size, or a shape. `held` is what a run finds it as: it stands in a program that cannot name
    the size.
    """

    type: Type
    held: Expression | None = None

    def write(self, scope: Scope) -> ast.Expr:
        held = None if self.held is None else self.held.expr(scope)
        return ast.Name(scope.name_size(self.type, held), scope.span)

    def known(self, scope: Scope) -> Type | None:
        return scope.state.resolve(self.type)

    def contents(self, scope: Scope) -> Contents | None:
        match self.type:
            case DimValue(size):
                return scalar(size)
            case ShapeValue(sizes) if not any(isinstance(n, ShapeVar) for n in sizes):
                return vector(sizes, "i64")
            case _:
                return None


@dataclass(slots=True, eq=False)
class Literal(Expression):
    """A value: a number, a string, a size, or a list of such."""

    value: Any

    def write(self, scope: Scope) -> ast.Expr:
        return literal(scope, self.value)

    def known(self, scope: Scope) -> Type | None:
        match self.value:
            case bool():
                return Tensor("bool", ())
            case int(found):
                return DimValue(found)
            case float():
                level = scope.state.level
                return Tensor(ElemVar("", level, allowed=FLOAT, literal="float"), ())
            case _:
                return None

    def contents(self, scope: Scope) -> Contents | None:
        found = self.value
        if isinstance(found, int | float):
            return scalar(found, "bool" if isinstance(found, bool) else "")
        return None


@dataclass(slots=True, eq=False)
class Scalar(Expression):
    """A number of an element type."""

    value: Any
    elem: str

    def write(self, scope: Scope) -> ast.Expr:
        return Call("cast", (Literal(self.value),), {"to": self.elem}).write(scope)

    def known(self, scope: Scope) -> Type | None:
        return Tensor(self.elem, ())

    def contents(self, scope: Scope) -> Contents | None:
        return scalar(settled(self.elem, self.value), self.elem)


@dataclass(slots=True, eq=False)
class ListOf(Expression):
    """`[a, b]`."""

    items: Sequence[Expression]

    def write(self, scope: Scope) -> ast.Expr:
        return ast.ListExpr(tuple(item.expr(scope) for item in self.items), scope.span)


@dataclass(slots=True, eq=False)
class TupleOf(Expression):
    """`(a, b)`."""

    items: Sequence[Expression]

    def write(self, scope: Scope) -> ast.Expr:
        return ast.TupleExpr(tuple(item.expr(scope) for item in self.items), scope.span)

    def known(self, scope: Scope) -> Type | None:
        types = known_types(self.items, scope)
        return None if types is None else Tuple(tuple(types))


@dataclass(slots=True, eq=False)
class Call(Expression):
    """An operator, or a function of the standard library, applied; attributes are values, or
    drafts where a run has them.
    """

    operator: str
    args: tuple[Expression, ...]
    attributes: dict[str, Any]

    def write(self, scope: Scope) -> ast.Expr:
        span, args = scope.span, tuple(arg.expr(scope) for arg in self.args)
        if self.operator in INFIX and len(args) == 2:
            return ast.Infix(self.operator, args[0], args[1], span, span)
        if self.operator in functions():
            name = scope.name_function(self.operator, chosen(self.attributes))
            return ast.Call(ast.Name(name, span), args, (), span)
        attributes = tuple(self._attribute(scope, *each) for each in self.attributes.items())
        return ast.Call(ast.Name(self.operator, span), args, attributes, span)

    def _attribute(self, scope: Scope, name: str, value: Any) -> ast.Attribute:
        is_elem = OPERATORS[self.operator].attributes[name].startswith("Element")
        written = ast.Name(value, scope.span) if is_elem else literal(scope, value)
        return ast.Attribute(name, written, scope.span)

    def known(self, scope: Scope) -> Type | None:
        args, name = known_types(self.args, scope), self.operator
        if args is None:
            return None
        if name not in OPERATORS:
            return applied(scope, name, library_scheme(name, chosen(self.attributes)), args)
        if name in INFIX and not any(isinstance(arg, Tensor) for arg in args):
            return None  # arithmetic on sizes
        return apply_to_values(scope.state, name, args, self.attributes, scope.span)

    def contents(self, scope: Scope) -> Contents | None:
        follow = CONTENTS.get(self.operator)
        return None if follow is None else follow(self._applied(scope))

    def parts(self, scope: Scope) -> Sequence[Contents | None]:
        follow = CONTENTS_OF_PARTS.get(self.operator)
        return () if follow is None else follow(self._applied(scope))

    def _applied(self, scope: Scope) -> Applied:
        attributes = self.attributes
        if any(isinstance(value, Expression) for value in attributes.values()):
            attributes = {name: item_of(scope, value) for name, value in attributes.items()}
        return Applied(self.operator, self.args, attributes, scope)


@dataclass(slots=True, eq=False)
class Declared(Expression):
    """An operator that Axon does not have, or cannot choose before a rank is known, applied: all
    that is known of it is its signature, and a program declares it.
    """

    name: str
    signature: str
    args: tuple[Expression, ...]

    def write(self, scope: Scope) -> ast.Expr:
        name = scope.name_scheme(declared_scheme(self.signature))
        args = tuple(arg.expr(scope) for arg in self.args)
        return ast.Call(ast.Name(name, scope.span), args, (), scope.span)

    def known(self, scope: Scope) -> Type | None:
        args = known_types(self.args, scope)
        if args is None:
            return None
        return applied(scope, self.name, declared_scheme(self.signature), args)


@dataclass(slots=True, eq=False)
class TypeOf(Expression):
    """What has the type of an expression, and is something else that Axon has no operator for."""

    like: Expression

    def write(self, scope: Scope) -> ast.Expr:
        return self.like.expr(scope)

    def known(self, scope: Scope) -> Type | None:
        return self.like.known(scope)


def known_types(exprs: Sequence[Expression], scope: Scope) -> list[Type] | None:
    """The types of expressions, if they need no inference."""
    types: list[Type] = []
    learns = False
    for expr in exprs:
        type_ = expr.known(scope)
        if type_ is None:
            return None
        types.append(type_)
        learns = learns or isinstance(expr, Call | Declared)
    return [scope.state.resolve(type_) for type_ in types] if learns else types


def applied(scope: Scope, name: str, scheme: Scheme, args: list[Type]) -> Type | None:
    """The type of an application, if it needs no inference."""
    site = Site(name, scope.span, (scope.span,) * len(args))
    found = matched(scope.state, scheme, args, site)
    return None if found is None else found.result


@cache
def library_scheme(name: str, options: Options = ()) -> Scheme:
    """The type of a function of the standard library."""
    if name in functions():
        return specialised(name, options).scheme
    entry = prelude(name)
    assert entry is not None and isinstance(entry.type, Scheme), name
    return entry.type


@cache
def declared_scheme(signature: str) -> Scheme:
    parsed, problems = parse_signature(Source("a signature", signature))
    assert parsed is not None and not problems, (signature, problems)
    scheme, misread = read_signature(parsed)
    assert not misread, (signature, misread)
    return scheme


def item_of(scope: Scope, value: Any) -> Any:
    """The value of an attribute. Where a run has it, it is the element that is known, or a list of
    them; one that is not known stays an expression, which is no value that an operator takes.
    """
    if isinstance(value, ListOf):
        return [item_of(scope, item) for item in value.items]
    if not isinstance(value, Expression):
        return value
    found = value.contents(scope)
    if found is None or len(found.items) != 1 or found.items[0] is None:
        return value
    return found.items[0]


def literal(scope: Scope, value: object) -> ast.Expr:
    """A value as an expression: numbers, lists, strings, dimensions."""
    span = scope.span
    match value:
        case bool() | int() | float():
            return constant(value, span)
        case str():
            return ast.String(value, span)
        case list() | tuple():
            return ast.ListExpr(tuple(literal(scope, item) for item in value), span)
        case Expression():
            return value.expr(scope)
        case _:
            return SizeRef(DimValue(value)).write(scope)  # type: ignore[arg-type]
