"""A definition as text: its signature, its conditions, its run-time checks and its element
classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from axon.inference.program import Definition
from axon.inference.schemes import visible
from axon.types.elements import ANY, class_name
from axon.types.show import Names, Show
from axon.types.type import relation_variables, type_variables
from axon.types.variables import ElemVar, Var


@dataclass(frozen=True, slots=True)
class Signature:
    """`signature` holds no `where`: each residual condition is a string in `where`, each run-time
    check one in `guards`. `variables` are those that have a name in any of these.
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
    names.reserve(type_variables(scheme.type))
    for relation in (*scheme.relations, *(g.relation for g in definition.guards)):
        names.reserve(relation_variables(relation))
    show = Show(names, paper)
    signature = show.type(scheme.type)
    shown = set(type_variables(scheme.type))
    conditions = visible(scheme.relations)
    uses: dict[Var, int] = {}
    for relation in conditions:
        for var in set(relation_variables(relation)):
            uses[var] = uses.get(var, 0) + 1
    hidden = frozenset(v for v, n in uses.items() if n == 1 and v not in shown)
    where = [show.relation(relation, hidden) for relation in conditions]
    guards = dict.fromkeys(
        Show(names, paper, max(1, guard.depth)).check(guard.relation) for guard in definition.guards
    )
    classes = [
        f"{names(var)} : {class_name(var.allowed)}"
        for var in dict.fromkeys(type_variables(scheme.type))
        if isinstance(var, ElemVar) and var.allowed & ANY != ANY
    ]
    stated = [
        f"{names(var)} : {class_name(var.allowed)}"
        for var in dict.fromkeys(type_variables(scheme.type))
        if isinstance(var, ElemVar) and var.stated
    ]
    implied = tuple(text for text in classes if text not in stated)
    variables = {name: var for var, name in names.given.items()}
    return Signature(
        definition.name, signature, (*where, *stated), tuple(guards), implied, variables
    )
