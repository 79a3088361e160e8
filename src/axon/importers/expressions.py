"""Expressions in the making: what the rules say of a node.

Most of them are never written. Who wants the types of a model's tensors asks a draft for the type
that it has, and where the arguments tell all there is to know the answer needs no syntax. Who wants
the program, or reasons, has the expression.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from axon.importers.elem import Elem
from axon.importers.naming import hint
from axon.inference.direct import applied, infixed
from axon.inference.environment import Entry
from axon.syntax import ast
from axon.types.elements import FLOAT
from axon.types.type import DimValue, Tensor, Type
from axon.types.variables import ElemVar

if TYPE_CHECKING:
    from axon.importers.node import Node

INFIX = frozenset({"+", "-", "*", "/", "@", "==", "!=", "<", "<=", ">", ">="})


class Expression:
    """An expression that a node says. The node is asked again when it is written, or typed."""

    __slots__ = ("written",)

    def __init__(self) -> None:
        self.written: ast.Expr | None = None

    def expr(self, node: Node) -> ast.Expr:
        """The expression, written when it is first asked for."""
        if self.written is None:
            self.written = self.write(node)
        return self.written

    @abstractmethod
    def write(self, node: Node) -> ast.Expr:
        """The expression as the node says it."""

    def known(self, node: Node) -> Type | None:
        """The type, all that is known put in, if no inference is needed to tell it."""
        return None


class Verbatim(Expression):
    """An expression as it is."""

    __slots__ = ("said",)

    def __init__(self, expr: ast.Expr) -> None:
        self.written = self.said = expr

    def write(self, node: Node) -> ast.Expr:
        return self.said


class TensorRef(Expression):
    """A tensor of the model."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.written = None
        self.name = name

    def write(self, node: Node) -> ast.Expr:
        better = hint(node.operation) if self.name.startswith("onnx::") else ""
        return ast.Name(node.importer.alias(self.name, better), node.span)

    def known(self, node: Node) -> Type | None:
        return node.importer.type(self.name)


class SizeRef(Expression):
    """Something of a type, which has a name of its own."""

    __slots__ = ("type",)

    def __init__(self, type_: Type) -> None:
        self.written = None
        self.type = type_

    def write(self, node: Node) -> ast.Expr:
        names = node.importer.env.names
        name = f"size {len(names)}"
        names[name] = Entry(self.type)
        return ast.Name(name, node.span)

    def known(self, node: Node) -> Type | None:
        return node.importer.state.resolve(self.type)


class Literal(Expression):
    """A value: a number, a string, an element type, a size, or a list of such."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.written = None
        self.value = value

    def write(self, node: Node) -> ast.Expr:
        return literal(node, self.value)

    def known(self, node: Node) -> Type | None:
        match self.value:
            case bool():
                return Tensor("bool", ())
            case int(found):
                return DimValue(found)
            case float():
                level = node.importer.state.level
                return Tensor(ElemVar("", level, allowed=FLOAT, literal="float"), ())
            case _:
                return None


class Scalar(Expression):
    """A number of an element type."""

    __slots__ = ("elem", "value")

    def __init__(self, value: float, elem: str) -> None:
        self.written = None
        self.value = value
        self.elem = elem

    def write(self, node: Node) -> ast.Expr:
        return Call("cast", (Literal(self.value),), {"to": Elem(self.elem)}).write(node)

    def known(self, node: Node) -> Type | None:
        return Tensor(self.elem, ())


class ListOf(Expression):
    """`[a, b]`."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Expression]) -> None:
        self.written = None
        self.items = items

    def write(self, node: Node) -> ast.Expr:
        return ast.ListExpr(tuple(item.expr(node) for item in self.items), node.span)


class TupleOf(Expression):
    """`(a, b)`."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Expression]) -> None:
        self.written = None
        self.items = items

    def write(self, node: Node) -> ast.Expr:
        return ast.TupleExpr(tuple(item.expr(node) for item in self.items), node.span)


class Call(Expression):
    """An operator applied; attributes are values, or drafts where a run has them."""

    __slots__ = ("args", "attributes", "operator")

    def __init__(
        self, operator: str, args: tuple[Expression, ...], attributes: dict[str, Any]
    ) -> None:
        self.written = None
        self.operator = operator
        self.args = args
        self.attributes = attributes

    def write(self, node: Node) -> ast.Expr:
        span, args = node.span, tuple(arg.expr(node) for arg in self.args)
        if self.operator in INFIX and len(args) == 2:
            return ast.Infix(self.operator, args[0], args[1], span, span)
        attributes = tuple(
            ast.Attribute(name, literal(node, value), span)
            for name, value in self.attributes.items()
        )
        return ast.Call(ast.Name(self.operator, span), args, attributes, span)

    def known(self, node: Node) -> Type | None:
        args: list[Type] = []
        for arg in self.args:
            type_ = arg.known(node)
            if type_ is None:
                return None
            args.append(type_)
        state = node.importer.state
        if self.operator in INFIX:
            return infixed(state, self.operator, args, node.span)
        return applied(state, self.operator, args, self.attributes, node.span)


def literal(node: Node, value: object) -> ast.Expr:
    """A value as an expression: numbers, lists, strings, dimensions."""
    span = node.span
    match value:
        case bool():
            return ast.Number(value, "bool", str(value).lower(), span)
        case int() if value < 0:
            return ast.Negate(ast.Number(-value, "int", str(-value), span), span)
        case int():
            return ast.Number(value, "int", str(value), span)
        case float() if math.isnan(value):
            endless = ast.Number(math.inf, "float", "inf", span)
            return ast.Infix("-", endless, endless, span, span)
        case float() if math.copysign(1, value) < 0:
            return ast.Negate(ast.Number(-value, "float", str(-value), span), span)
        case float():
            return ast.Number(value, "float", str(value), span)
        case Elem():
            return ast.Name(str(value), span)
        case str():
            return ast.String(value, span)
        case list() | tuple():
            return ast.ListExpr(tuple(literal(node, item) for item in value), span)
        case Expression():
            return value.expr(node)
        case _:
            return SizeRef(DimValue(value)).write(node)  # type: ignore[arg-type]
