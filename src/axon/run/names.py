"""Names for the sizes of a call's arguments: messages use the names of the signature that `infer`
shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from axon.graph.graph import Bundle, Graph, Operand, Value
from axon.inference.program import Definition
from axon.inference.report.signature import describe_definition
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.show import Names
from axon.types.type import (
    DimEq,
    DimValue,
    Fn,
    Record,
    Relation,
    Shape,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    type_variables,
)
from axon.types.variables import DimVar, ShapeVar, Var


def names_at_call(definition: Definition, graph: Graph) -> Names:
    """Names for the sizes in a graph. A size of a shape whose rank the signature leaves open is
    named by its place there: `a[0]`; one of a type that is open, by its place in the argument.
    """
    known = describe_definition(definition).variables
    naming = _Naming({var: name for name, var in known.items()}, definition.scheme.relations)
    naming.names.taken.update(known)
    written = definition.scheme.type
    if isinstance(written, Fn):
        by_name = dict(zip(definition.params, written.params, strict=False))
        for i, param in enumerate(graph.params):
            naming.align(by_name.get(param.name, written.params[i]), param.type)
            naming.by_place(param.name, param.type)
        naming.result(written.result, graph.result)
    for param in graph.params:
        naming.names.reserve(type_variables(param.type))
    return naming.names


class _Naming:
    def __init__(self, shown: dict[Var, str], relations: Sequence[Relation]) -> None:
        self.shown = shown
        self.names = Names()
        self.written = dict(_definitions(relations))

    def result(self, written: Type, result: Operand) -> None:
        match written, result:
            case _, Value():
                self.align(written, result.type)
            case Record(), Bundle(items, names) if names is not None:
                for name, item in zip(names, items, strict=True):
                    if name in written.names:
                        self.result(written.fields[name], item)
            case Tuple(types), Bundle(items):
                for type_, item in zip(types, items, strict=False):
                    self.result(type_, item)
            case _:
                pass

    def align(self, written: Type, found: Type) -> None:
        match written, found:
            case (Tensor(_, word), Tensor(_, sizes)) | (ShapeValue(word), ShapeValue(sizes)):
                self._word(word, sizes)
            case DimValue(dim), DimValue(size):
                self._word((dim,), (size,))
            case Record(), Record():
                for name, part in found.fields.items():
                    if name in written.names:
                        self.align(written.fields[name], part)
            case Tuple(items), Tuple(parts):
                for item, part in zip(items, parts, strict=False):
                    self.align(item, part)
            case _:
                pass

    def by_place(self, name: str, found: Type) -> None:
        match found:
            case Tensor(_, sizes):
                for i, size in enumerate(sizes):
                    if isinstance(size, DimVar) and not size.user:
                        self._name(size, f"{name}[{i}]")
            case Record():
                for field, part in found.fields.items():
                    self.by_place(f"{name}.{field}", part)
            case Tuple(parts):
                for i, part in enumerate(parts):
                    self.by_place(f"{name}[{i}]", part)
            case _:
                pass

    def _word(self, word: Shape, sizes: Shape) -> None:
        """From both ends, as far as the positions correspond; the rest belongs to the open part."""
        opens = [i for i, item in enumerate(word) if isinstance(item, ShapeVar)]
        if any(isinstance(size, ShapeVar) for size in sizes):
            return
        if not opens:
            self._sizes(word, sizes)
            return
        start, end = opens[0], len(sizes) - (len(word) - 1 - opens[-1])
        self._sizes(word[:start], sizes)
        self._sizes(word[opens[-1] + 1 :], sizes[max(end, 0) :])
        if len(opens) == 1:
            name = self.shown.get(word[start])  # type: ignore[arg-type]
            for i, size in enumerate(sizes[start:end]):
                if name is not None and isinstance(size, DimVar):
                    self._name(size, f"{name}[{i}]")

    def _sizes(self, word: Shape, sizes: Shape) -> None:
        for item, size in zip(word, sizes, strict=False):
            if isinstance(item, ShapeVar) or isinstance(size, ShapeVar):
                continue
            if isinstance(item, DimVar) and not isinstance(size, DimVar):
                item = self.written.get(item, item)
            mine, its = set(dims.variables(item)), set(dims.variables(size))
            if len(mine) == 1 and len(its) == 1:
                (named,), (var,) = mine, its
                if named not in self.shown or isinstance(named, ShapeVar):
                    continue
                if isinstance(var, DimVar) and _renamed(size, var, named) == item:
                    self._name(var, self.shown[named])

    def _name(self, var: DimVar, name: str) -> None:
        if var not in self.names.given and name not in self.names.given.values():
            self.names.given[var] = name
            self.names.taken.add(name)


def _definitions(relations: Sequence[Relation]) -> Iterator[tuple[DimVar, Dim]]:
    """The definitions that conditions state for a user's names: `n = 2*d`."""
    for relation in relations:
        if isinstance(relation, DimEq):
            gap = dims.sub(relation.left, relation.right)
            for mono, factor in dims.terms_of(gap).items():
                var = mono[0] if len(mono) == 1 else None
                if isinstance(var, DimVar) and var.user and factor in (1, -1):
                    yield var, dims.scale(-factor, dims.combine(gap, -factor, var))


def _renamed(size: Dim, var: DimVar, to: DimVar) -> Dim:
    """A size of which `var` is the only variable, written with another."""
    return dims.substitute(size, lambda v: to if v is var else v, dims.of_size)
