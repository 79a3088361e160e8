"""Attributes: compile-time arguments of operators, read from expressions into plain values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from axon.diagnostics import Diagnostic, error
from axon.ops import Operator
from axon.syntax import ast
from axon.types.dim import Dim, Poly
from axon.types.elements import BIT, called_elsewhere
from axon.types.variables import DimVar

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

    def __init__(self, item: Any) -> None:
        self.item = item


class _TooLarge(_Wrong):
    """An integer beyond the range of attributes, whose values are written into signatures."""


class Attributes:
    """Plain values for the attributes of one operator, whatever they are read from. Sizes that are
    not constants are kept in `given`, under generated names.
    """

    def __init__(self) -> None:
        self.given: dict[str, Dim] = {}

    def value(self, name: str, kind: str, item: Any) -> object:
        """An item as an attribute of a kind; raises `_Wrong` if it is not of that kind."""
        match kind:
            case "int":
                return self.integer(item)
            case "bool":
                return self.truth(item)
            case "float":
                return self.number(item)
            case "str":
                return self.text(item)
            case "Element":
                return self.element(item)
            case "Ints":
                return tuple([self.integer(each) for each in self.items(item)])
            case "Floats":
                return tuple([self.number(each) for each in self.items(item)])
            case "Extent":
                return self._extent(name, item)
            case "Extents":
                parts = enumerate(self.items(item))
                return tuple([self._extent(f"{name}{i}", each) for i, each in parts])
            case _:
                return self._either(name, kind, item)

    def _either(self, name: str, kind: str, item: Any) -> object:
        """`Ints | str` and similar: the first alternative that fits."""
        for option in kind.split(" | "):
            if option in _WANTED:
                try:
                    return self.value(name, option, item)
                except _Wrong:
                    continue
        raise _Wrong(item)

    def _extent(self, name: str, item: Any) -> int | str:
        size = self.size(item)
        if isinstance(size, int):
            return _bounded(size, item)
        key = f"{name}_given"
        self.given[key] = size
        return key

    def items(self, item: Any) -> list[Any]:
        """The items of a list, nested or not; anything else is a single item."""
        found: list[Any] = []
        for each in self.parts(item):
            found.extend(self.parts(each))
        return found

    @abstractmethod
    def parts(self, item: Any) -> Sequence[Any]: ...

    @abstractmethod
    def integer(self, item: Any) -> int: ...

    @abstractmethod
    def truth(self, item: Any) -> bool: ...

    @abstractmethod
    def number(self, item: Any) -> float: ...

    @abstractmethod
    def text(self, item: Any) -> str: ...

    @abstractmethod
    def element(self, item: Any) -> str: ...

    @abstractmethod
    def size(self, item: Any) -> Dim: ...


class Values(Attributes):
    """Attributes that are Python values, as importers have them."""

    def read(self, operator: Operator, attributes: dict[str, Any]) -> dict[str, object] | None:
        """The values by name; None if one of them is not plain."""
        try:
            return {
                name: self.value(name, operator.attributes[name].removesuffix(" | None"), item)
                for name, item in attributes.items()
            }
        except (_Wrong, KeyError):
            return None

    def parts(self, item: Any) -> Sequence[Any]:
        return item if isinstance(item, list | tuple) else (item,)

    def integer(self, item: Any) -> int:
        return _bounded(item, item) if type(item) is int else _no(item)

    def truth(self, item: Any) -> bool:
        return item if type(item) is bool else _no(item)

    def number(self, item: Any) -> float:
        return float(item) if type(item) in (int, float) else _no(item)

    def text(self, item: Any) -> str:
        return item if isinstance(item, str) else _no(item)

    def element(self, item: Any) -> str:
        return str(item) if isinstance(item, str) and item in BIT else _no(item)

    def size(self, item: Any) -> Dim:
        return item if type(item) is int or isinstance(item, DimVar | Poly) else _no(item)


def _advice(kind: str, item: Any) -> str | None:
    """Our name for an element type that is written as elsewhere, or in quotes."""
    name = item.name if isinstance(item, ast.Name) else getattr(item, "value", None)
    if "Element" not in kind or not isinstance(name, str):
        return None
    ours = name if name in BIT else called_elsewhere(name)
    return f"write {ours}" if ours else None


def _no(item: Any) -> Any:
    raise _Wrong(item)


class AttributeReader(Attributes):
    """Attributes that a program writes as expressions."""

    def __init__(self, read_dim: ReadDim) -> None:
        super().__init__()
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
                    error(
                        "AX209",
                        f"`{name}` is given twice",
                        attribute.span,
                        subject=operator.name,
                    )
                )
            else:
                try:
                    values[name] = self.value(name, kind.removesuffix(" | None"), attribute.value)
                except _TooLarge as large:
                    text, span = f"this number is too large for `{name}`", large.item.span
                    self.diagnostics.append(
                        error("AX006", text, span, "too large", subject=operator.name)
                    )
                except _Wrong as wrong:
                    self.diagnostics.append(
                        error(
                            "AX210",
                            f"`{name}` wants {_wanted(kind)}",
                            wrong.item.span,
                            "not that",
                            _advice(kind, wrong.item),
                            operator.name,
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

    def parts(self, item: Any) -> Sequence[Any]:
        return item.items if isinstance(item, ast.ListExpr) else (item,)

    def truth(self, item: Any) -> bool:
        if isinstance(item, ast.Number) and item.kind == "bool":
            return bool(item.value)
        raise _Wrong(item)

    def text(self, item: Any) -> str:
        if isinstance(item, ast.String):
            return item.value
        raise _Wrong(item)

    def element(self, item: Any) -> str:
        if isinstance(item, ast.Name) and item.name in BIT:
            return item.name
        raise _Wrong(item)

    def size(self, item: Any) -> Dim:
        if isinstance(item, ast.Number | ast.Negate):
            return self.integer(item)
        found = self._read_dim(item)
        if found is None:
            raise _Wrong(item)
        return found

    def integer(self, item: Any) -> int:
        if isinstance(item, ast.Negate):
            return -self.integer(item.operand)
        if isinstance(item, ast.Number) and item.kind == "int":
            return _bounded(int(item.value), item)
        raise _Wrong(item)

    def number(self, item: Any) -> float:
        if isinstance(item, ast.Negate):
            return -self.number(item.operand)
        if isinstance(item, ast.Number) and item.kind != "bool":
            try:
                return float(item.value)
            except OverflowError:
                raise _Wrong(item) from None
        raise _Wrong(item)


def _bounded(value: int, item: Any) -> int:
    if abs(value) > LARGEST:
        raise _TooLarge(item)
    return value


def _wanted(kind: str) -> str:
    options = [_WANTED[o] for o in kind.split(" | ") if o in _WANTED]
    return " or ".join(options) or "something else"
