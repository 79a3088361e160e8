"""Attributes: compile-time arguments of operators, read from expressions into plain values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from axon.diagnostics import Diagnostic, Fix, error
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


_COMPUTED = {
    "bool": "an attribute is a constant: write `true` or `false`, and choose with `if`",
    **dict.fromkeys(("int", "float"), "an attribute is a constant: write the number itself"),
    **dict.fromkeys(("Ints", "Floats"), "an attribute is a constant: write the numbers themselves"),
    "str": "an attribute is a constant: write the string itself",
}
"""What to do where a value is given that is computed."""

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
            case "Ints":
                return tuple([self.literal("int", each) for each in self.items(item)])
            case "Floats":
                return tuple([self.literal("float", each) for each in self.items(item)])
            case "Extent":
                return self._extent(name, item)
            case "Extents":
                parts = enumerate(self.items(item))
                return tuple([self._extent(f"{name}{i}", each) for i, each in parts])
            case _ if kind in _WANTED:
                return self.literal(kind, item)
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

    def literal(self, kind: str, item: Any) -> Any:
        """A single item as a value of a kind."""
        if isinstance(item, ast.Negate) and kind in ("int", "float"):
            return -self.literal(kind, item.operand)
        value = self.plain(kind, item)
        match kind:
            case "int" if type(value) is int:
                return _bounded(value, item)
            case "bool" if type(value) is bool:
                return value
            case "float" if type(value) in (int, float):
                try:
                    return float(value)
                except OverflowError:
                    raise _Wrong(item) from None
            case "str" if isinstance(value, str):
                return value
            case "Element" if isinstance(value, str) and value in BIT:
                return str(value)
            case _:
                raise _Wrong(item)

    def items(self, item: Any) -> list[Any]:
        """The items of a list, nested or not; anything else is a single item."""
        return [part for each in self.parts(item) for part in self.parts(each)]

    @abstractmethod
    def parts(self, item: Any) -> Sequence[Any]: ...

    @abstractmethod
    def plain(self, kind: str, item: Any) -> Any:
        """The Python value of an item; None if it has none that may be of this kind."""

    @abstractmethod
    def size(self, item: Any) -> Dim: ...


class Values(Attributes):
    """Attributes that are Python values, as importers have them."""

    def read(self, operator: Operator, attributes: dict[str, Any]) -> dict[str, object] | None:
        """The values by name; None if one is not plain, or the operator does not have it."""
        kinds = operator.attributes
        if not attributes.keys() <= kinds.keys():
            return None
        try:
            return {
                name: self.value(name, kinds[name].removesuffix(" | None"), item)
                for name, item in attributes.items()
            }
        except _Wrong:
            return None

    def parts(self, item: Any) -> Sequence[Any]:
        return item if isinstance(item, list | tuple) else (item,)

    def plain(self, kind: str, item: Any) -> Any:
        return item

    def size(self, item: Any) -> Dim:
        if type(item) is int or isinstance(item, DimVar | Poly):
            return item
        raise _Wrong(item)


def _renamed(operator: Operator, attribute: ast.Attribute) -> tuple[Fix, ...]:
    """The attribute as Axon calls it."""
    from axon.inference.habits.foreign_names import ATTRIBUTES, shown  # only for a message

    ours = ATTRIBUTES.get(attribute.name, "")
    if ours not in operator.attributes:
        return ()
    text = attribute.value.span.text
    new = f"{ours}={ {'True': 'true', 'False': 'false'}.get(text, text) }"
    return (Fix(f"write `{new}`", attribute.span, new),) if shown(new) else ()


def _as_elsewhere(operator: Operator, call: ast.Call) -> tuple[Fix, ...]:
    """The call as one of another library, all of it: `mean(x, -1, keepdim=True)`."""
    from axon.inference.habits.foreign_calls import rewritten  # only for a message
    from axon.inference.habits.foreign_names import shown

    new = rewritten(operator.name, None, call)
    return (Fix(f"write `{new}`", call.span, new),) if new is not None and shown(new) else ()


def _advice(kind: str, item: Any) -> str | None:
    """Our name for an element type that is written as elsewhere, or in quotes."""
    if kind == "bool" and isinstance(item, ast.Name) and item.name in ("True", "False"):
        return f"write `{item.name.lower()}`"
    name = item.name if isinstance(item, ast.Name) else getattr(item, "value", None)
    if "Element" not in kind or not isinstance(name, str):
        is_value = isinstance(item, ast.Name | ast.Field | ast.Call | ast.Infix | ast.Subscript)
        return _COMPUTED.get(kind.removesuffix(" | None")) if is_value else None
    ours = name if name in BIT else called_elsewhere(name)
    return f"write {ours}" if ours else None


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
        found, subject = self.diagnostics, operator.name
        for attribute in attributes:
            name = attribute.name
            kind = operator.attributes.get(name)
            if kind is None:
                names = (
                    ", ".join(f"`{n}`" for n in (*operator.named, *operator.attributes)) or "none"
                )
                text, known = f"{subject} has no attribute `{name}`", f"its attributes: {names}"
                fixes = (*_renamed(operator, attribute), *_as_elsewhere(operator, call))
                found.append(error("AX209", text, attribute.span, "not known", known, fixes=fixes))
            elif name in values:
                found.append(
                    error("AX209", f"`{name}` is given twice", attribute.span, subject=subject)
                )
            else:
                try:
                    values[name] = self.value(name, kind.removesuffix(" | None"), attribute.value)
                except _TooLarge as large:
                    text = f"this number is too large for `{name}`"
                    found.append(
                        error("AX006", text, large.item.span, "too large", subject=subject)
                    )
                except _Wrong as wrong:
                    text, help = f"`{name}` must be {_wanted(kind)}", _advice(kind, wrong.item)
                    found.append(error("AX210", text, wrong.item.span, "not that", help, subject))
        missing = sorted(operator.required.difference(values))
        if missing and not found:
            from axon.inference.recording.by_place import required

            text, example = f"{subject} needs `{missing[0]}=…`", f"`{subject}(…, {missing[0]}=…)`"
            fixes = required(operator, call.args, missing[0], call.span)
            help = f"for example {example}"
            found.append(error("AX210", text, call.span, help=help, fixes=fixes))
        return None if found else values

    def parts(self, item: Any) -> Sequence[Any]:
        return item.items if isinstance(item, ast.ListExpr) else (item,)

    def plain(self, kind: str, item: Any) -> Any:
        match item:
            case ast.Number(value, _, _, _):
                return value
            case ast.String(text, _) if kind == "str":
                return text
            case ast.Name(name, _) if kind == "Element":
                return name
            case _:
                return None

    def size(self, item: Any) -> Dim:
        if isinstance(item, ast.Number | ast.Negate):
            return int(self.literal("int", item))
        found = self._read_dim(item)
        if found is None:
            raise _Wrong(item)
        return found


def _bounded(value: int, item: Any) -> int:
    if abs(value) > LARGEST:
        raise _TooLarge(item)
    return value


def _wanted(kind: str) -> str:
    options = [_WANTED[o] for o in kind.split(" | ") if o in _WANTED]
    return " or ".join(options) or "something else"
