"""Environments: what names stand for, innermost first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from axon.source import Span
from axon.syntax import ast
from axon.types.scope import Alias
from axon.types.type import UNKNOWN, Scheme, Type


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a function with a name. `defaults` has a scheme for each that has a
    default, of a function without parameters that gives it; a number is in `literals`. `as_value`
    is the scheme of the function without those. Another name for an `operator` has its attributes.
    """

    names: tuple[str, ...]
    defaults: dict[str, Scheme] = field(default_factory=dict)
    literals: dict[str, ast.Number | ast.Negate] = field(default_factory=dict)
    as_value: Scheme | None = None
    operator: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """The type or scheme of a name, where it was bound, its declaration if it has one, and the
    parameters of a function.
    """

    type: Type | Scheme
    span: Span | None = None
    declared: Span | None = None
    function: Parameters | None = None


@dataclass(slots=True)
class Environment:
    """`types` are the type aliases of the file, which only the outermost environment has."""

    outer: Environment | None = None
    names: dict[str, Entry] = field(default_factory=dict)
    types: dict[str, Alias] = field(default_factory=dict)

    def find(self, name: str) -> Entry | None:
        frame: Environment | None = self
        while frame is not None:
            entry = frame.names.get(name)
            if entry is not None:
                return entry
            frame = frame.outer
        return None

    def forget(self, name: str) -> None:
        """Take nothing for known of a name whose use was reported: no further report follows."""
        frame: Environment | None = self
        while frame is not None:
            if name in frame.names:
                frame.names[name] = replace(frame.names[name], type=UNKNOWN)
                return
            frame = frame.outer

    def find_type(self, name: str) -> Alias | None:
        frame = self
        while frame.outer is not None:
            frame = frame.outer
        return frame.types.get(name)

    def is_global(self, name: str) -> bool:
        """Whether the name is bound only at the top level of the file."""
        if self.outer is None:
            return True
        return name not in self.names and self.outer.is_global(name)

    def all_names(self) -> set[str]:
        return self.names.keys() | (self.outer.all_names() if self.outer is not None else set())


def bound_names(pattern: ast.Pattern) -> list[tuple[str, Span]]:
    if isinstance(pattern, ast.NamePattern):
        return [] if pattern.name == "_" else [(pattern.name, pattern.span)]
    return [found for item in pattern.items for found in bound_names(item)]
