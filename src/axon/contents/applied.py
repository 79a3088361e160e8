"""An operator applied, as far as the contents of its arguments are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from axon.contents.values import Contents
from axon.ops import OPERATORS
from axon.types.dim import Dim
from axon.types.type import Shape


class SizeFacts(Protocol):
    """What an operator's contents may rest on beside its arguments: what is known of sizes."""

    @property
    def limits(self) -> list[Dim]:
        """What must not be negative, since sizes were computed in floating point."""

    def is_size(self, dim: Dim) -> bool:
        """Whether it is known not to be negative."""

    def guard(self, dim: Dim) -> None:
        """From here on it is taken for granted that this is not negative; a run checks it."""


class Argument(Protocol):
    """What an operator is applied to."""

    def contents(self, scope: Any) -> Contents | None: ...

    def shape(self, scope: Any) -> Shape | None: ...


class Applied:
    """An operator with its arguments and attributes, in a scope."""

    __slots__ = ("args", "attributes", "operator", "scope")

    def __init__(
        self,
        operator: str,
        args: Sequence[Argument],
        attributes: Mapping[str, Any],
        scope: SizeFacts,
    ) -> None:
        self.operator = operator
        self.args = args
        self.attributes = attributes
        self.scope = scope

    def contents(self, index: int) -> Contents | None:
        return self.args[index].contents(self.scope)

    def every(self) -> list[Contents] | None:
        """The contents of all arguments. Those behind one that is not known are not asked for."""
        found: list[Contents] = []
        for arg in self.args:
            known = arg.contents(self.scope)
            if known is None:
                return None
            found.append(known)
        return found

    def shape(self, index: int) -> Shape | None:
        """The shape of an argument, if its rank is known."""
        return self.args[index].shape(self.scope)

    def sizes(self, index: int) -> tuple[int, ...] | None:
        """The elements of an argument that is a shape, if all are numbers."""
        found = self.contents(index)
        if found is None or not all(type(item) is int and item >= 0 for item in found.items):
            return None
        return found.items if len(found.shape) == 1 else None

    def attribute(self, name: str) -> Any:
        if name in self.attributes:
            return self.attributes[name]
        return OPERATORS[self.operator].defaults.get(name)

    def number(self, name: str) -> int | None:
        """An attribute that is an integer."""
        found = self.attribute(name)
        return found if type(found) is int else None

    def numbers(self, name: str) -> list[int] | None:
        """An attribute that is an integer, or a list of them."""
        found = self.attribute(name)
        listed = found if isinstance(found, list | tuple) else [found]
        return list(listed) if all(type(item) is int for item in listed) else None
