"""Types that a file declares for its tensors, compared with those inferred, and never believed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import add, floordiv, mod, mul, sub
from typing import Any

from axon.diagnostics import Diagnostic, Label, Severity
from axon.importers.imported import Imported
from axon.importers.importer import known_shape
from axon.importers.operations import Declared, Size
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.show import Show
from axon.types.type import AtLeast, DimBroadcast, DimEq, Relation, Tensor
from axon.types.variables import DimVar, ShapeVar

SAMPLES = (64, 97, 640, 1023), (3, 7, 11, 29)
"""What the first of the named sizes is in the inputs on which annotations are tried: large, and
small for models that take no others.
"""
LONGEST = 2000
"""Characters of a declared size that are read."""


@dataclass(slots=True)
class _Annotations:
    imported: Imported
    show: Show
    bound: dict[str, tuple[str, Dim]] = field(default_factory=dict)
    """What a name that no input has stands for: the first tensor that has it, and its size."""
    compared: dict[tuple[int | str, Dim], bool] = field(default_factory=dict)
    """Whether a declared size differs from an inferred one, for those compared so far."""
    samples: list[dict[str, int]] = field(init=False)
    """Sizes by name, with which the model runs as far as is known."""

    def __post_init__(self) -> None:
        self.samples = self._samples(SAMPLES[0]) or self._samples(SAMPLES[1])

    def _samples(self, firsts: Sequence[int]) -> list[dict[str, int]]:
        store, named = self.imported.importer.state.store, self.imported.named
        tried = ({n: first + 2 * i for i, n in enumerate(named)} for first in firsts)
        relations = [each.relation for each in store.waiting]
        return [
            sizes
            for sizes in tried
            if all(_may_hold(r, {named[n]: size for n, size in sizes.items()}) for r in relations)
        ]

    def problem(self, name: str, declared: Declared) -> str | None:
        """A sentence on a declared type that the graph contradicts."""
        type_ = self.imported.type(name)
        if not isinstance(type_, Tensor) or known_shape(type_) is None:
            return None
        sizes = [_written(size) for size in declared.sizes or ()]
        elem = declared.elem
        if len(sizes) != len(type_.shape) or (
            isinstance(type_.elem, str) and elem is not None and elem != type_.elem
        ):
            return self._sentence(name, elem, sizes, type_)
        for size, dim in zip(sizes, type_.shape, strict=True):
            if size == dim or isinstance(dim, ShapeVar) or not self._known(dim):
                continue
            if self._differs(size, dim):
                return self._sentence(name, elem, sizes, type_)
            other = self._other(name, size, dim)
            if other is not None:
                return f"{self._sentence(name, elem, sizes, type_)}: {other}"
        return None

    def _sentence(self, name: str, elem: str | None, sizes: list[int | str], type_: Tensor) -> str:
        text = f"{elem or '?'} [{','.join(str(s) or '?' for s in sizes)}]"
        return f"`{name}` is declared {text}, but the graph makes it {self.show.type(type_)}"

    def _known(self, dim: Dim) -> bool:
        """Whether a size depends on the named sizes of the inputs alone."""
        return set(dims.variables(dim)) <= set(self.imported.named.values())

    def _differs(self, size: int | str, dim: Dim) -> bool:
        """Whether a size is declared to be another one than it is. Both are tried on some inputs:
        an annotation may take for granted what the inputs are like.
        """
        known = self.compared.get((size, dim))
        if known is None:
            pairs = list(zip(self._evaluated(size), self._inferred(dim), strict=True))
            known = bool(pairs) and all(None not in pair and pair[0] != pair[1] for pair in pairs)
            self.compared[size, dim] = known
        return known

    def _other(self, name: str, size: int | str, dim: Dim) -> str | None:
        """What else a name stands for that only annotations have, if it cannot be both."""
        if not isinstance(size, str) or not size or size in self.imported.named:
            return None
        if not isinstance(_parsed(size), ast.Name | None):
            return None
        first, known = self.bound.setdefault(size, (name, dim))
        pairs = list(zip(self._inferred(known), self._inferred(dim), strict=True))
        if not pairs or any(a == b for a, b in pairs):
            return None
        one, two = self.show.dim(known), self.show.dim(dim)
        where = "" if first == name else f" in `{first}`"
        return f"`{size}` would be {one}{where} and {two}"

    def _inferred(self, dim: Dim) -> Iterator[int | None]:
        named = self.imported.named
        for sizes in self.samples:
            yield dims.evaluate(dim, {named[name]: size for name, size in sizes.items()})

    def _evaluated(self, size: int | str) -> Iterator[int | None]:
        tree = None if isinstance(size, int) else _parsed(size)
        for sizes in self.samples:
            yield size if isinstance(size, int) else _value(tree, sizes)


def _written(size: Size | None) -> int | str:
    """A declared size as a number or a text, which is empty if there is none."""
    if size is None:
        return ""
    return size if isinstance(size, int) else str(size)


def _may_hold(relation: Relation, sizes: dict[DimVar, int]) -> bool:
    """Whether a condition may hold for these sizes: it is not seen to fail."""
    match relation:
        case AtLeast(dim, _):
            value = dims.evaluate(dim, sizes)
            return value is None or value >= 0
        case DimEq(left, right):
            one, other = (dims.evaluate(side, sizes) for side in (left, right))
            return one is None or other is None or one == other
        case DimBroadcast(_, parts):
            found = {dims.evaluate(part, sizes) for part in parts} - {None, 1}
            return len(found) < 2
        case _:
            return True


def contradictions(imported: Imported, show: Show) -> list[Diagnostic]:
    """Declared shapes that the graph contradicts."""
    annotated = [each for each in imported.model.said if each.sizes is not None]
    if not annotated:
        return []
    operations = imported.model.graph.operations
    made = {name: i for i, each in enumerate(operations) for name in each.outputs}
    annotations = _Annotations(imported, show)
    found: list[Diagnostic] = []
    for declared in annotated:
        if declared.name not in made:
            continue
        text = annotations.problem(declared.name, declared)
        if text is not None:
            label = Label(imported.importer.line(made[declared.name]), "made here", primary=True)
            found.append(Diagnostic("AX501", Severity.WARNING, text, (label,)))
    return found


FUNCTIONS: dict[Any, Callable[[int, int], int]] = {
    ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.FloorDiv: floordiv, "floordiv": floordiv,
    ast.Mod: mod, "Max": max, "max": max, "Min": min, "min": min,
}  # fmt: skip


# --- declared sizes --------------------------------------------------------------------------


@lru_cache(4096)
def _parsed(text: str) -> ast.expr | None:
    """A size as exporters write it, in Python's syntax; None if it cannot be read."""
    if len(text) > LONGEST:
        return None
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _value(tree: ast.expr | None, names: dict[str, int]) -> int | None:
    """What an expression is for these sizes; None if it says more than Axon knows."""
    match tree:
        case ast.Constant(int(value)):
            return value
        case ast.Name(name):
            return names.get(name)
        case ast.BinOp(left, operator, right) | ast.Call(operator, [left, right]):
            return _applied(operator, _value(left, names), _value(right, names))
        case _:
            return None


def _applied(operator: ast.AST, a: int | None, b: int | None) -> int | None:
    function = FUNCTIONS.get(operator.id if isinstance(operator, ast.Name) else type(operator))
    if function is None or a is None or b is None:
        return None
    return None if b == 0 and function in (floordiv, mod) else function(a, b)
