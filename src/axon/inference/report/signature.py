"""A definition as text: its signature, conditions, run-time checks and element classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from axon.inference.generalise.schemes import visible
from axon.inference.program import Definition
from axon.inference.report.naming import factor_sizes, name_sizes
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
    Type,
    leaves,
    relation_variables,
    type_variables,
)
from axon.types.variables import DimVar, ElemVar, Var


@dataclass(frozen=True, slots=True)
class Signature:
    """`signature` holds no `where`: each residual condition is a string in `where`, each run-time
    check one in `guards`. `variables` are those named in any of these. `params` are the parameters
    with their types, where the definition names them.
    """

    name: str
    signature: str
    where: tuple[str, ...]
    guards: tuple[str, ...]
    classes: tuple[str, ...]
    variables: dict[str, Var] = field(default_factory=dict, compare=False, repr=False)
    params: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    result: str = field(default="", compare=False, repr=False)

    def line(self, classes: bool = False, names: bool = False) -> str:
        """`name : signature where …`, as `axon infer` prints it; `names` are those of the
        parameters.
        """
        conditions = [*self.where, *(self.classes if classes else ())]
        where = f" where {', '.join(conditions)}" if conditions else ""
        return f"{self.name} : {self.named if names else self.signature}{where}"

    @property
    def named(self) -> str:
        """The signature with the names of the parameters: `(x : f32 [b,n]) -> f32 [b]`."""
        if not self.params:
            return self.signature
        listed = ", ".join(f"{name} : {type_}" for name, type_ in self.params)
        return f"({listed}) -> {self.result}"


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
    naming = name_sizes(shapes_of(scheme.type), show)
    if naming.named:
        signature = show.type(naming.type(scheme.type))
        conditions = [naming.relation(relation) for relation in conditions]
    params, result = _parts(definition, naming.type(scheme.type), show)
    uses = Counter(var for r in conditions for var in set(relation_variables(r)))
    hidden = frozenset(v for v, n in uses.items() if n == 1 and v not in variables)
    where = naming.definitions(show)
    where += [show.relation(relation, hidden) for relation in conditions]
    where += [show.stacked(stacked) for stacked in scheme.stacked]
    where += [show.either(either) for either in scheme.choices]
    guards = dict.fromkeys(
        Show(names, paper, named=True).check(guard.relation) for guard in definition.guards
    )
    elems = [var for var in variables if isinstance(var, ElemVar)]
    classes = {var: f"{names(var)} : {class_name(var.allowed)}" for var in elems}
    stated = [text for var, text in classes.items() if var.stated]
    narrowed = [text for var, text in classes.items() if var.allowed & ANY != ANY]
    implied = tuple(text for text in narrowed if text not in stated)
    named = {name: var for var, name in names.given.items() if var not in naming.named}
    stated_too = (*where, *stated)
    return Signature(
        definition.name, signature, stated_too, tuple(guards), implied, named, params, result
    )


def _parts(
    definition: Definition, type_: Type, show: Show
) -> tuple[tuple[tuple[str, str], ...], str]:
    """The parameters with their types, and the type of the result."""
    if not isinstance(type_, Fn) or len(definition.params) != len(type_.params):
        return (), ""
    types = zip(definition.params, show.params(type_), strict=True)
    return tuple(types), show.type(type_.result, nested=True)


def type_text(type_: Type, names: Names, paper: bool = False) -> str:
    """A type without conditions, as `describe_definition` writes it, but for names of sizes."""
    show = Show(names, paper, shared=_shared(type_, []))
    text = show.type(type_)
    factored = factor_sizes(shapes_of(type_), show)
    return show.type(factored.type(type_)) if factored.sizes else text


def shapes_of(type_: Type) -> list[Shape]:
    """The shapes of a type, of tensors and of values that are shapes."""
    return [leaf.shape for leaf in leaves(type_) if isinstance(leaf, Tensor | ShapeValue)]


def _shared(type_: Type, relations: list[Relation]) -> frozenset[Var]:
    """The sizes that vary and occur in more than one place."""
    shapes = [*shapes_of(type_), *(word for r in relations for word in _words(r))]
    places = Counter(v for shape in shapes for v in shape if isinstance(v, DimVar) and v.over)
    return frozenset(var for var, count in places.items() if count > 1)


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
