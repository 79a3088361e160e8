"""A definition as text: its signature, its conditions, its run-time checks and its element
classes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from axon.inference.program import Definition
from axon.inference.report.naming import factor_sizes, name_sizes
from axon.inference.schemes import visible
from axon.types.elements import ANY, class_name
from axon.types.show import Names, Show
from axon.types.type import (
    Broadcast,
    DimBroadcast,
    DimEq,
    Fn,
    Relation,
    Shape,
    ShapeEq,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    relation_variables,
    type_variables,
)
from axon.types.variables import DimVar, ElemVar, Var


@dataclass(frozen=True, slots=True)
class Signature:
    """`signature` holds no `where`: each residual condition is a string in `where`, each run-time
    check one in `guards`. `variables` are those named in any of these.
    """

    name: str
    signature: str
    where: tuple[str, ...]
    guards: tuple[str, ...]
    classes: tuple[str, ...]
    variables: dict[str, Var] = field(default_factory=dict, compare=False, repr=False)

    def line(self, classes: bool = False) -> str:
        """`name : signature where …`, as `axon infer` prints it."""
        conditions = [*self.where, *(self.classes if classes else ())]
        where = f" where {', '.join(conditions)}" if conditions else ""
        return f"{self.name} : {self.signature}{where}"


def describe_definition(definition: Definition, paper: bool = False) -> Signature:
    scheme = definition.scheme
    names = Names()
    variables = dict.fromkeys(type_variables(scheme.type))
    names.reserve(variables)
    for relation in (*scheme.relations, *(g.relation for g in definition.guards)):
        names.reserve(relation_variables(relation))
    conditions = visible(scheme.relations)
    show = Show(names, paper, shared=_shared(scheme.type, conditions))
    signature = show.type(scheme.type)
    naming = name_sizes(_shapes(scheme.type), show)
    if naming.named:
        signature = show.type(naming.type(scheme.type))
    uses: dict[Var, int] = {}
    for relation in conditions:
        for var in set(relation_variables(relation)):
            uses[var] = uses.get(var, 0) + 1
    hidden = frozenset(v for v, n in uses.items() if n == 1 and v not in variables)
    where = naming.definitions(show)
    where += [show.relation(naming.relation(relation), hidden) for relation in conditions]
    guards = dict.fromkeys(
        Show(names, paper, named=True).check(guard.relation) for guard in definition.guards
    )
    classes = [
        f"{names(var)} : {class_name(var.allowed)}"
        for var in variables
        if isinstance(var, ElemVar) and var.allowed & ANY != ANY
    ]
    stated = [
        f"{names(var)} : {class_name(var.allowed)}"
        for var in variables
        if isinstance(var, ElemVar) and var.stated
    ]
    implied = tuple(text for text in classes if text not in stated)
    named = {name: var for var, name in names.given.items() if var not in naming.named}
    return Signature(definition.name, signature, (*where, *stated), tuple(guards), implied, named)


def type_text(type_: Type, names: Names, paper: bool = False) -> str:
    """A type without conditions, as `describe_definition` writes it, but for names of sizes."""
    show = Show(names, paper, shared=_shared(type_, []))
    text = show.type(type_)
    factored = factor_sizes(_shapes(type_), show)
    return show.type(factored.type(type_)) if factored.sizes else text


def _shared(type_: Type, relations: list[Relation]) -> frozenset[Var]:
    """The sizes that vary and occur in more than one place."""
    shapes = [*_shapes(type_), *(word for r in relations for word in _words(r))]
    places = Counter(v for shape in shapes for v in shape if isinstance(v, DimVar) and v.over)
    return frozenset(var for var, count in places.items() if count > 1)


def _shapes(type_: Type) -> Iterator[Shape]:
    match type_:
        case Tensor(_, shape) | ShapeValue(shape):
            yield shape
        case Tuple(items):
            for item in items:
                yield from _shapes(item)
        case Fn(params, result):
            for part in (*params, result):
                yield from _shapes(part)
        case _:
            return


def _words(relation: Relation) -> Iterator[Shape]:
    match relation:
        case ShapeEq(left, right):
            yield from (left, right)
        case Broadcast(result, parts):
            yield from (result, *parts)
        case DimEq(left, right):
            yield (left, right)
        case DimBroadcast(dim, sizes):
            yield (dim, *sizes)
        case _:
            return
