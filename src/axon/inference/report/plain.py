"""The plain reading of a signature: what a person would write down for a type with open ranks, open
rows or conditions.

The rules, in order; each is a choice among the instances of the type:

    a@[b,c]                        a shape beside known dimensions is empty
    r = broadcast([b,c], f)        an operand that is wholly open, beside one of known rank, is the
                                   vector of its last dimension: f = [c]
    r = broadcast(f, g)            two operands that are both wholly open have one shape: f = g
    d = broadcast(b, c)            dimensions that broadcast with each other are equal: b = c
    d mod k = 0                    a multiple is a product: d = j*k
    (h/2)*(w/2) = (j/2)*(k/2)      what has one form has one size: h = j, w = k
    { r | w : t [c] }              open rows are closed: { w : t [c] }

They are in `plain_ranks` and `plain_sizes`. A reading is a guess. `axon.plain` confirms it by
inferring the definition with it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import count

from axon.inference.generalise.schemes import is_silent, visible
from axon.inference.program import Definition
from axon.inference.report.plain_ranks import equate, is_open, one_shape, ranks_chosen, records_of
from axon.inference.report.plain_sizes import (
    Said,
    after,
    as_sums,
    equal_products,
    multiples,
    one_size,
    settled,
    waiting,
)
from axon.inference.report.signature import describe_definition, shapes_of, type_text
from axon.inference.state import State
from axon.solver.constraints import NOWHERE
from axon.solver.rules import new_store
from axon.solver.store import Store
from axon.types.dim import Dim
from axon.types.show import Names
from axon.types.type import (
    AtLeast,
    DimValue,
    Fn,
    Relation,
    Renaming,
    Scheme,
    Type,
    record,
    type_variables,
)
from axon.types.variables import DimVar, ShapeVar, Var

MOST_STEPS = 20_000
"""Of the solver, for one reading."""
MOST_ROUNDS = 100
EMPTY = record({})


@dataclass(frozen=True, slots=True)
class Reading:
    """A type without broadcasts, the names of its variables, and its text."""

    type: Fn
    names: Names
    text: str
    bounds: tuple[AtLeast, ...]
    """What sizes must be at least, `n >= s` of a table of `n` positions."""
    meanings: dict[str, Dim]
    """What a user's names stand for that are not in it."""


def has_reading(scheme: Scheme) -> bool:
    """Whether a type has open ranks, open rows, or conditions that are no bounds: another one is
    read as it is.
    """
    return isinstance(scheme.type, Fn) and (
        any(not isinstance(r, AtLeast) for r in visible(scheme.relations))
        or any(isinstance(v, ShapeVar) for v in type_variables(scheme.type))
        or any(each.rest is not None for each in records_of(scheme.type))
    )


def read_plainly(
    definition: Definition, taken: Collection[str] = (), scalars: Collection[int] = ()
) -> Reading | None:
    """The reading of a definition, not confirmed yet; None if there is none. Its variables have the
    names that they have in the signature, unless these are `taken`. `scalars` are parameters that
    are numbers by default.
    """
    scheme = definition.scheme
    closed = _closed(scheme)
    if not has_reading(scheme) or closed is None:
        return None
    state = State(new_store(levels=False, most=MOST_STEPS))
    store = state.store
    for relation in scheme.relations:
        store.post(relation, NOWHERE, 1)
    assert isinstance(closed, Fn)
    for at in scalars:
        for shape in shapes_of(closed.params[at]):
            if is_open(store.word(shape)):
                equate(store, shape, ())
    said, checks = Said(), [guard.relation for guard in definition.guards]
    for _ in range(MOST_ROUNDS):
        if store.conflicts or store.work >= MOST_STEPS:
            return None
        if not _chosen(state, closed, said, checks):
            break
    if store.guards:
        return None
    left = [each for each in waiting(store) if not is_silent(each)]
    type_ = state.resolve(closed)
    found = settled(left, store.unrewritten)
    if found is None:
        return None
    putting, bounds = found
    type_ = putting.type(type_)
    assert isinstance(type_, Fn)
    sums = as_sums([dim for part in type_.params for dim in _dims(part)])
    putting = after(sums, putting)
    type_ = putting.type(type_)
    assert isinstance(type_, Fn)
    names = _names(definition, store, type_, taken)
    meanings = {
        var.name: putting.dim(store.dim(var))
        for var in type_variables(scheme.type)
        if isinstance(var, DimVar) and var.user and var not in names.given
    }
    stated = [AtLeast(putting.dim(bound.dim), False) for bound in bounds]
    return Reading(type_, names, type_text(type_, names), tuple(stated), meanings)


def _dims(type_: Type) -> list[Dim]:
    return [dim for word in shapes_of(type_) for dim in word if not isinstance(dim, ShapeVar)]


def _closed(scheme: Scheme) -> Type | None:
    """The type with its open rows closed; None if a condition on structures is left."""
    rows = {each.rest for each in records_of(scheme.type) if each.rest is not None}
    left = scheme.stacked
    while left:
        known = [each for each in left if each.whole in rows or each.row in rows]
        if not known:
            return None
        rows.update(row for each in known for row in (each.whole, each.row))
        left = tuple(each for each in left if each not in known)
    return Renaming({}, {}, {}, dict.fromkeys(rows, EMPTY)).type(scheme.type)


# --- the rules ---------------------------------------------------------------------------------


def _chosen(state: State, type_: Type, said: Said, checks: list[Relation]) -> bool:
    """Whether one of the rules has chosen something; the first that can comes first."""
    store = state.store
    return (
        ranks_chosen(store, state.resolve(type_), checks)
        or one_shape(store)
        or one_size(store, said)
        or multiples(store, said)
        or equal_products(store, said)
    )


# --- names -------------------------------------------------------------------------------------


def _names(definition: Definition, store: Store, type_: Fn, taken: Collection[str]) -> Names:
    """A user's names, a size that is a parameter has its name; then the first name that the
    signature has for a size. Where one of these would be more than a letter, all are named anew, in
    order of appearance. A shape is called `s`.
    """
    left = dict.fromkeys(type_variables(type_))
    names = Names()
    names.reserve(left)
    names.taken.update(taken)
    for param, name in zip(type_.params, definition.params, strict=False):
        if isinstance(param, DimValue) and isinstance(param.dim, DimVar):
            _give(names, param.dim, name)
    for var in left:
        if isinstance(var, ShapeVar) and var not in names.given:
            _give(names, var, _free("s", names))
    shown = {var: name for name, var in describe_definition(definition).variables.items()}
    found: dict[Var, str] = {}
    for var in dict.fromkeys((*type_variables(definition.scheme.type), *shown)):
        stands_for = _image(store, var)
        if stands_for in left and stands_for not in names.given and var in shown:
            found.setdefault(stands_for, shown[var])
    if all(len(name) == 1 for name in found.values()):
        for var, name in found.items():
            _give(names, var, _free(name, names))
    return names


def _give(names: Names, var: Var, name: str) -> None:
    if var not in names.given and name not in names.taken:
        names.given[var] = name
        names.taken.add(name)


def _free(name: str, names: Names) -> str:
    if name not in names.taken:
        return name
    return next(n for i in count(1) if (n := f"{name}{i}") not in names.taken)


def _image(store: Store, var: Var) -> Var | None:
    """The variable that a variable of the type stands for, if it stands for one."""
    if isinstance(var, DimVar):
        size = store.dim(var)
        return size if isinstance(size, DimVar) else None
    if isinstance(var, ShapeVar):
        word = store.word((var,))
        return word[0] if len(word) == 1 and isinstance(word[0], ShapeVar) else None
    return var
