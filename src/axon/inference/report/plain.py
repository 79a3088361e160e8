"""The plain reading of a signature: what a person would write down for a type with open ranks or
broadcasts.

The rules, in order; each is a choice among the instances of the type:

    a@[b,c]                        a shape beside known dimensions is empty
    r = broadcast([b,c], f)        an operand that is wholly open, beside one of known rank, is the
                                   vector of its last dimension: f = [c]
    r = broadcast(f, g)            two operands that are both wholly open have one shape: f = g
    d = broadcast(b, c)            dimensions that broadcast with each other are equal: b = c
    { r | w : t [c] }              open rows are closed: { w : t [c] }

A reading is a guess. `axon.plain` confirms it by inferring the definition with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import count

from axon.inference.program import Definition
from axon.inference.report.plain_sizes import (
    after,
    as_sums,
    multiples,
    one_size,
    solved,
    waiting,
)
from axon.inference.report.ranks import Ranks, ranks
from axon.inference.report.signature import describe_definition, shapes_of, type_text
from axon.inference.schemes import is_silent, visible
from axon.inference.state import State
from axon.solver.constraints import NOWHERE
from axon.solver.rules import new_store
from axon.solver.store import Store
from axon.types.dim import Dim
from axon.types.show import Names
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimEq,
    DimValue,
    Fn,
    Record,
    Relation,
    Renaming,
    Scheme,
    Shape,
    ShapeEq,
    Tuple,
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
        or any(each.rest is not None for each in _records(scheme.type))
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
            if _is_open(store.word(shape)):
                _equate(store, shape, ())
    for _ in range(MOST_ROUNDS):
        if store.conflicts or store.work >= MOST_STEPS:
            return None
        if not _chosen(state, closed):
            break
    if store.guards:
        return None
    left = [each for each in waiting(store) if not is_silent(each)]
    type_ = state.resolve(closed)
    putting = solved([each for each in left if isinstance(each, DimEq)], store)
    if putting is None:
        return None
    type_ = putting.type(type_)
    assert isinstance(type_, Fn)
    putting = after(as_sums([dim for part in type_.params for dim in _dims(part)]), putting)
    type_ = putting.type(type_)
    assert isinstance(type_, Fn)
    names = _names(definition, store, type_, taken)
    bounds: list[AtLeast] = []
    for each in left:
        if isinstance(each, AtLeast):
            bounds.append(AtLeast(putting.dim(store.dim(each.dim)), False))
        elif not isinstance(each, DimEq):
            return None
    meanings = {
        var.name: putting.dim(store.dim(var))
        for var in type_variables(scheme.type)
        if isinstance(var, DimVar) and var.user and var not in names.given
    }
    return Reading(type_, names, type_text(type_, names), tuple(bounds), meanings)


def _dims(type_: Type) -> list[Dim]:
    return [dim for word in shapes_of(type_) for dim in word if not isinstance(dim, ShapeVar)]


def _closed(scheme: Scheme) -> Type | None:
    """The type with its open rows closed; None if a condition on structures is left."""
    rows = {each.rest for each in _records(scheme.type) if each.rest is not None}
    left = scheme.stacked
    while left:
        known = [each for each in left if each.whole in rows or each.row in rows]
        if not known:
            return None
        rows.update(row for each in known for row in (each.whole, each.row))
        left = tuple(each for each in left if each not in known)
    return Renaming({}, {}, {}, dict.fromkeys(rows, EMPTY)).type(scheme.type)


def _records(type_: Type) -> Iterator[Record]:
    match type_:
        case Tuple(items):
            if isinstance(type_, Record):
                yield type_
            for item in items:
                yield from _records(item)
        case Fn(params, result):
            for part in (*params, result):
                yield from _records(part)
        case _:
            return


# --- the rules ---------------------------------------------------------------------------------


def _chosen(state: State, type_: Type) -> bool:
    """Whether one of the rules has chosen something; the first that can comes first."""
    store = state.store
    return (
        _ranks_chosen(store, state.resolve(type_))
        or _one_shape(store)
        or one_size(store)
        or multiples(store)
    )


def _ranks_chosen(store: Store, type_: Type) -> bool:
    """The rules that choose ranks. Each choice leaves the others possible: a batch that cannot be
    empty is as short as it can be, an operand that cannot be a vector is left open. Biases come
    first, then the batches of records, which are weights, then those of other parameters from the
    last to the first: if there is a batch, the first parameter has it.
    """
    relations = [_resolved(store, relation) for relation in waiting(store)]
    possible = ranks(relations)
    if possible is None:
        return False
    words, before = _words(type_, relations), len(store.posted)
    for left, right in _tails(relations):
        if ranks([*relations, ShapeEq(left, right)]) is not None:
            _equate(store, left, right)
            return True
    batches = {item for word in words for item in _before_dimensions(word)}
    for relation in relations:
        if isinstance(relation, Broadcast):
            _let_vectors(store, relation, possible, batches)
    for shape in dict.fromkeys(item for word in words for item in _beside_dimensions(word)):
        rank = possible.shortest(shape) if _is_open(store.word((shape,))) else None
        if rank is not None:
            _equate(store, (shape,), tuple(DimVar("", 1, scope=shape.scope) for _ in range(rank)))
    return len(store.posted) > before


def _tails(relations: list[Relation]) -> Iterator[tuple[Shape, Shape]]:
    """In `broadcast([b,s]@f, [n]@g)`, what is behind the dimensions is one shape: two tables whose
    rows are added have rows of one shape.
    """
    for relation in relations:
        if isinstance(relation, Broadcast):
            ends = [part[-1:] for part in relation.parts if len(part) > 1 and _is_open(part[-1:])]
            yield from ((ends[0], end) for end in ends[1:] if end != ends[0])


def _words(type_: Type, relations: list[Relation]) -> list[Shape]:
    """The shapes of records, of the parameters from the last to the first, of the result, and those
    that only conditions have.
    """
    assert isinstance(type_, Fn)
    words = [word for each in _records(type_) for word in shapes_of(each)]
    words += [word for part in (*reversed(type_.params), type_.result) for word in shapes_of(part)]
    return words + [word for relation in relations for word in _words_in(relation)]


def _beside_dimensions(word: Shape) -> list[ShapeVar]:
    shapes = [item for item in word if isinstance(item, ShapeVar)]
    return [shape for shape in shapes if not shape.runtime] if len(shapes) < len(word) else []


def _before_dimensions(word: Shape) -> list[ShapeVar]:
    """The shapes of a word in front of its last dimension. One behind it, `f` in `[n]@f`, is the
    entire shape of each of `n` operands.
    """
    ends = max((i for i, item in enumerate(word) if not isinstance(item, ShapeVar)), default=0)
    return [item for item in word[:ends] if isinstance(item, ShapeVar)]


def _let_vectors(
    store: Store, relation: Broadcast, possible: Ranks, batches: set[ShapeVar]
) -> None:
    """In `broadcast(s@[b,c], f)`, `f` reads `[c]`."""
    known = [part[-1:] for part in relation.parts if _ends_in_dimension(part)]
    last = next((end for end in known if end != (1,)), None)
    if last is None:
        return
    for part in filter(_is_open, relation.parts):
        shape = part[0]
        assert isinstance(shape, ShapeVar)
        if shape not in batches and _is_open(store.word(part)) and possible.assume(shape, 1):
            _equate(store, part, last)


def _one_shape(store: Store) -> bool:
    """In `broadcast(f, g)`, `g` reads `f`."""
    changed = False
    for relation in waiting(store):
        if isinstance(relation, Broadcast):
            parts = [word for part in relation.parts if (word := store.word(part))]
            if all(map(_is_open, parts)):
                for part in parts[1:]:
                    if store.word(part) != store.word(parts[0]):
                        _equate(store, parts[0], part)
                        changed = True
    return changed


def _equate(store: Store, word: Shape, other: Shape) -> None:
    store.post(ShapeEq(word, other), NOWHERE, 1)


def _resolved(store: Store, relation: Relation) -> Relation:
    match relation:
        case ShapeEq(left, right):
            return ShapeEq(store.word(left), store.word(right))
        case Broadcast(result, parts):
            return Broadcast(store.word(result), tuple(map(store.word, parts)))
        case _:
            return relation


def _words_in(relation: Relation) -> tuple[Shape, ...]:
    match relation:
        case ShapeEq(left, right):
            return left, right
        case Broadcast(result, parts):
            return result, *parts
        case _:
            return ()


def _ends_in_dimension(word: Shape) -> bool:
    return bool(word) and not isinstance(word[-1], ShapeVar)


def _is_open(word: Shape) -> bool:
    return len(word) == 1 and isinstance(word[0], ShapeVar) and not word[0].runtime


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
