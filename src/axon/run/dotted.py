"""Names of tensors in a file as paths: `layers.0.attn.q` is the tensor `q` in a record in a record.

Records are dicts, and parts numbered from 0 on are tuples. Where a record is expected and there are
numbered parts instead, the tensors are rows: `layers.0.w`, `layers.1.w`, … are the rows of
`layers.w`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from axon.backends.ragged import Ragged
from axon.run.structures import fields_of

DEEPEST = 100
"""How many parts a name may have."""


class NoName(Exception):
    """Names that do not go together, with the reason as a sentence."""


@dataclass(slots=True)
class Tree:
    """The names that begin alike: the one that ends here, and the others by their next part."""

    name: str | None = None
    parts: dict[str, Tree] = field(default_factory=dict)

    def names(self) -> Iterator[str]:
        """All names in it."""
        if self.name is not None:
            yield self.name
        for part in self.parts.values():
            yield from part.names()

    def under(self, prefix: str) -> Tree | None:
        """The names that begin with a prefix, which is a path itself."""
        found: Tree | None = self
        for part in prefix.removesuffix(".").split(".") if prefix else ():
            found = found.parts.get(part) if found is not None else None
        return found

    @property
    def numbered(self) -> int:
        """How many parts there are, if their names are the numbers from 0 on; else 0."""
        return len(self.parts) if all(str(i) in self.parts for i in range(len(self.parts))) else 0


def tree(names: Iterable[str]) -> Tree:
    found = Tree()
    for name in names:
        if name.count(".") >= DEEPEST:
            raise NoName(f"`{name[:40]}…` has more than {DEEPEST} parts")
        at = found
        for part in name.split("."):
            at = at.parts.setdefault(part, Tree())
        at.name = name
    return found


def nested(found: Tree, value: Callable[[str], Any]) -> Any:
    """The values of the names: dicts of dicts, and tuples where all parts are numbered."""
    if found.name is not None:
        if found.parts:
            other = next(iter(found.parts.values()))
            detail = f"and `{next(other.names())}` is in it"
            raise NoName(f"`{found.name}` is a tensor, {detail}")
        return value(found.name)
    if found.numbered:
        rows = [found.parts[str(i)] for i in range(found.numbered)]
        return tuple(nested(row, value) for row in rows)
    return {name: nested(part, value) for name, part in found.parts.items()}


def flattened(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The tensors in a structure by their dotted names."""
    fields = None if isinstance(value, Ragged) else fields_of(value, None)
    parts: Mapping[str, Any] | None = fields
    if fields is None and isinstance(value, tuple | list) and _holds_tensors(value):
        parts = {str(i): part for i, part in enumerate(value)}
    if parts is None:
        yield name, value
        return
    if depth == DEEPEST:
        raise NoName(f"`{name[:40]}…` has more than {DEEPEST} parts")
    for part, inner in parts.items():
        yield from flattened(inner, f"{name}.{part}" if depth else part, depth + 1)


def _holds_tensors(items: Sequence[Any]) -> bool:
    """Whether a tuple or a list is a structure, and not the numbers of one tensor."""
    return isinstance(items, tuple) or any(
        hasattr(item, "dtype") or fields_of(item, None) is not None for item in items
    )


# --- rows ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Absent:
    """A name that there should be."""

    name: str


Rows = str | Absent | list[Any]
"""A name; or rows, each of which is a name or rows again."""


def rows(found: Tree, path: Sequence[str], before: str = "") -> Rows:
    """The name of a path, or the rows of it: the path with numbers between its parts."""
    if path and path[0] in found.parts:
        return rows(found.parts[path[0]], path[1:], _joined(before, path[0]))
    if not path and found.name is not None:
        return found.name
    if "0" not in found.parts:
        return Absent(_joined(before, *path))
    count = sum(part.isdecimal() and part.isascii() for part in found.parts)
    gap = next((str(i) for i in range(count) if str(i) not in found.parts), None)
    if gap is not None:
        return Absent(_joined(before, gap, *path))
    return [rows(found.parts[str(i)], path, _joined(before, str(i))) for i in range(count)]


def _joined(*parts: str) -> str:
    return ".".join(part for part in parts if part)
