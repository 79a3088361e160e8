"""Attributes: compile-time arguments of operators, read from expressions into plain values."""

from __future__ import annotations

from collections.abc import Callable

from axon.diagnostics import Diagnostic, error
from axon.ops import Operator
from axon.syntax import ast
from axon.types.dim import Dim
from axon.types.elements import BIT

ReadDim = Callable[[ast.Expr], Dim | None]

_WANTED = {
    "int": "an integer",
    "bool": "true or false",
    "float": "a number",
    "str": "a string",
    "Ints": "an integer or a list of integers",
    "Floats": "a number or a list of numbers",
    "Element": "an element type",
    "Extent": "an integer or a dimension",
    "Extents": "an integer, a dimension or a list of them",
}


LARGEST = 1 << 128
"""The largest integer that an attribute may be; far beyond what an array can have."""


class _Wrong(Exception):
    """Stops the reading of one attribute; never leaves this module."""

    def __init__(self, expr: ast.Expr) -> None:
        self.expr = expr


class _TooLarge(_Wrong):
    """An integer that no attribute takes: signatures are written with the others, and read."""


class AttributeReader:
    """Values for one operator's attributes;

    Symbolic dimensions go to `given` under made-up names.
    """

    def __init__(self, read_dim: ReadDim) -> None:
        self.given: dict[str, Dim] = {}
        self.diagnostics: list[Diagnostic] = []
        self._read_dim = read_dim

    def read(
        self, operator: Operator, attributes: tuple[ast.Attribute, ...], call: ast.Call
    ) -> dict[str, object] | None:
        """The values by name, or None after an error."""
        values: dict[str, object] = {}
        for attribute in attributes:
            name = attribute.name
            kind = operator.attributes.get(name)
            if kind is None:
                self._unknown(operator, attribute)
            elif name in values:
                self.diagnostics.append(
                    error("AX209", f"{operator.name}: `{name}` is given twice", attribute.span)
                )
            else:
                try:
                    values[name] = self._value(name, kind.removesuffix(" | None"), attribute.value)
                except _TooLarge as large:
                    text = f"{operator.name}: this number is too large for `{name}`"
                    self.diagnostics.append(error("AX006", text, large.expr.span, "too large"))
                except _Wrong as wrong:
                    self.diagnostics.append(
                        error(
                            "AX210",
                            f"{operator.name}: `{name}` wants {_wanted(kind)}",
                            wrong.expr.span,
                            "not that",
                        )
                    )
        missing = sorted(operator.required.difference(values))
        if missing and not self.diagnostics:
            self.diagnostics.append(
                error(
                    "AX210",
                    f"{operator.name} needs `{missing[0]}=…`",
                    call.span,
                    help=f"for example `{operator.name}(…, {missing[0]}=…)`",
                )
            )
        return None if self.diagnostics else values

    def _unknown(self, operator: Operator, attribute: ast.Attribute) -> None:
        names = ", ".join(f"`{n}`" for n in operator.attributes) or "none"
        self.diagnostics.append(
            error(
                "AX209",
                f"{operator.name} has no attribute `{attribute.name}`",
                attribute.span,
                "not known",
                help=f"its attributes: {names}",
            )
        )

    def _value(self, name: str, kind: str, expr: ast.Expr) -> object:
        match kind:
            case "int":
                return _integer(expr)
            case "bool":
                if isinstance(expr, ast.Number) and expr.kind == "bool":
                    return bool(expr.value)
                raise _Wrong(expr)
            case "float":
                return _number(expr)
            case "str":
                if isinstance(expr, ast.String):
                    return expr.value
                raise _Wrong(expr)
            case "Element":
                if isinstance(expr, ast.Name) and expr.name in BIT:
                    return expr.name
                raise _Wrong(expr)
            case "Ints":
                return tuple(_integer(item) for item in _items(expr))
            case "Floats":
                return tuple(_number(item) for item in _items(expr))
            case "Extent":
                return self._extent(name, expr)
            case "Extents":
                return tuple(self._extent(f"{name}{i}", e) for i, e in enumerate(_items(expr)))
            case _:
                return self._either(name, kind, expr)

    def _either(self, name: str, kind: str, expr: ast.Expr) -> object:
        """`Ints | str` and the like: the first that fits."""
        for option in kind.split(" | "):
            if option in _WANTED:
                try:
                    return self._value(name, option, expr)
                except _Wrong:
                    continue
        raise _Wrong(expr)

    def _extent(self, name: str, expr: ast.Expr) -> int | str:
        if isinstance(expr, ast.Number | ast.Negate):
            return _integer(expr)
        dim = self._read_dim(expr)
        if dim is None:
            raise _Wrong(expr)
        if isinstance(dim, int):
            return _bounded(dim, expr)
        key = f"{name}_given"
        self.given[key] = dim
        return key


def _items(expr: ast.Expr) -> tuple[ast.Expr, ...]:
    if isinstance(expr, ast.ListExpr):
        items: list[ast.Expr] = []
        for item in expr.items:
            items.extend(item.items if isinstance(item, ast.ListExpr) else (item,))
        return tuple(items)
    return (expr,)


def _integer(expr: ast.Expr) -> int:
    if isinstance(expr, ast.Negate):
        return -_integer(expr.operand)
    if isinstance(expr, ast.Number) and expr.kind == "int":
        return _bounded(int(expr.value), expr)
    raise _Wrong(expr)


def _bounded(value: int, expr: ast.Expr) -> int:
    if abs(value) > LARGEST:
        raise _TooLarge(expr)
    return value


def _number(expr: ast.Expr) -> float:
    if isinstance(expr, ast.Negate):
        return -_number(expr.operand)
    if isinstance(expr, ast.Number) and expr.kind != "bool":
        try:
            return float(expr.value)
        except OverflowError:
            raise _Wrong(expr) from None
    raise _Wrong(expr)


def _wanted(kind: str) -> str:
    options = [_WANTED[o] for o in kind.split(" | ") if o in _WANTED]
    return " or ".join(options) or "something else"
