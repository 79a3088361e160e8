"""Schemes: free variables and the constraints on them, quantified, and copied at each use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import gcd

from axon.inference.constructs import structures
from axon.inference.generalise import choices
from axon.inference.generalise.canonical import canonical
from axon.inference.generalise.existentials import chosen_by_caller, seal
from axon.inference.generalise.residuals import (
    connected,
    merge_broadcasts,
    without_implied,
    without_ranks,
    without_trivial,
)
from axon.inference.generalise.rows import first_sizes, same_rows
from axon.inference.generalise.simplest import simplest
from axon.inference.generalise.summed_sizes import added_up
from axon.inference.state import Asked, State
from axon.solver.constraints import Constraint, Guard, Origin
from axon.solver.sharing import is_redundant
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Dim, Poly, Size
from axon.types.rows import RowCall
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    Fn,
    HasRank,
    Relation,
    Renaming,
    RowOf,
    Scheme,
    Shape,
    ShapeEq,
    Type,
    Uniform,
    make_scheme,
    relation_variables,
    shape_variables,
    type_variables,
)
from axon.types.variables import (
    DimVar,
    ElemVar,
    ShapeVar,
    TypeVar,
    Var,
    given_at,
    is_ragged,
    made_at,
    owner,
)


def instantiate(state: State, scheme: Scheme, origin: Origin, called: bool) -> Type:
    """A copy of the type with fresh variables, its relations posted.

    `called` states that the function is called here; one passed on as a value is called further in.
    """
    if state.sealed:
        raise Asked
    outer = state.depth if called else state.depth + 1
    fresh = Fresh(state, scheme, outer)
    renaming = Renaming({}, {}, {}, {})
    fresh.enter(renaming)
    for relation in (*scheme.relations, *scheme.made):
        inner = scheme.inner and not scheme.inner.isdisjoint(relation_variables(relation))
        renamed = (fresh.inside if inner else renaming).relation(relation)
        state.store.post(renamed, origin, outer)
    for relation in fresh.rows:
        state.store.post(relation, origin, outer)
    if scheme.stacked:
        structures.post(state, scheme, renaming, origin, outer)
    if scheme.choices:
        choices.post(state, scheme, renaming, origin, outer)
    if not scheme.inner:
        return renaming.type(scheme.type)
    assert isinstance(scheme.type, Fn)
    params = [(fresh.inside if isinstance(p, Fn) else renaming).type(p) for p in scheme.type.params]
    return Fn(tuple(params), renaming.type(scheme.type.result))


class Fresh:
    """Fresh variables for those of a scheme. `inside` replaces them in the functions that it takes,
    if these are called for each row.
    """

    def __init__(self, state: State, scheme: Scheme, outer: int) -> None:
        self.state = state
        self.scheme = scheme
        self.shift = made_at(outer) - made_at(scheme.depth + 1)
        self.given = given_at(scheme.depth + 1)
        self.outer = outer
        self.here, self.further_in = made_at(outer), made_at(outer + 1)
        self.rows: list[RowOf] = []
        self.derived = {v for relation in scheme.made for v in decided_shapes(relation)}

    def enter(self, found: Renaming, variables: Sequence[Var] = ()) -> None:
        """Add fresh variables for those that have no replacement yet."""
        self.inside = found
        level = self.state.level
        made: list[DimVar] = []
        for var in variables or self.scheme.variables:
            match var:
                case DimVar():
                    if var not in found.dims:
                        if var.runtime:
                            made.append(var)
                        found.dims[var] = self._dim(var)
                case ShapeVar():
                    if var not in found.shapes:
                        scope = var.scope + self.shift if var.runtime else self._scope(var)
                        derived = var in self.derived
                        shape = ShapeVar(var.name, level, False, scope, var.runtime, derived)
                        found.shapes[var] = (shape,)
                case ElemVar():
                    if var not in found.elems:
                        found.elems[var] = ElemVar(
                            var.name, level, allowed=var.allowed, literal=var.literal
                        )
                case TypeVar():
                    if var not in found.types:
                        scope = self._scope(var)
                        wide, row = var.wide, var.row
                        found.types[var] = TypeVar(var.name, level, False, scope, wide, row)
        if len(made) > 1:
            found.dims.update(dict.fromkeys(added_up(self.scheme, made), 0))
        if self.scheme.rows:
            self._split(found)

    def _dim(self, var: DimVar) -> DimVar:
        level = self.state.level
        if not var.runtime:
            return DimVar(var.name, level, scope=self._scope(var))
        return DimVar(
            var.name,
            level,
            scope=var.scope + self.shift,
            runtime=True,
            over=var.over,
            derived=var.derived or var.scope <= self.given,
        )

    def _scope(self, var: Var) -> int:
        return self.further_in if var in self.scheme.inner else self.here

    def _split(self, found: Renaming) -> None:
        """A variable that is behind the first dimension of a tensor, and in a function called for
        its rows, stands for a row there.
        """
        self.inside = Renaming(dict(found.dims), dict(found.shapes), found.elems, found.types)
        call = RowCall(self.outer)
        level, scope = self.state.level, self.further_in
        for var in self.scheme.rows:
            row: Shape
            rest: Shape
            if isinstance(var, DimVar):
                size = self.inside.dims[var] = DimVar(var.name, level, scope=scope)
                row, rest = (size,), (found.dims[var],)
            else:
                row = self.inside.shapes[var] = (ShapeVar(var.name, level, scope=scope),)
                rest = found.shapes[var]
            for whole in shape_variables(rest):
                whole.scope = self.here
            self.rows.append(RowOf(row, rest, call))


@dataclass(frozen=True, slots=True)
class Generalised:
    """A scheme, the run-time checks inside its definition, and the type before generalisation."""

    scheme: Scheme
    guards: tuple[Relation, ...]
    type: Type


def generalise(state: State, type_: Type, mark: int) -> Generalised:
    """Quantify the variables deeper than the current level, with the waiting constraints on them.
    The checks since `mark` belong to this definition.
    """
    state.store.review()
    waiting = structures.waiting_here(state, state.level) if state.stacked else []
    stacked = structures.as_conditions(state, waiting)
    if len(stacked) > 1:
        stacked = structures.without_repeats(stacked, type_variables(state.resolve(type_)))
    raw = type_
    eithers = choices.taken(state, type_, state.level)
    type_ = choices.with_choices(structures.with_conditions(type_, stacked), eithers)
    first_sizes(state, type_)
    same_rows(state, state.level)
    level = state.level
    type_ = state.resolve(type_)
    mine = [
        constraint
        for constraint in state.store.waiting
        if any(var.level > level for var in state.store.relation_variables(constraint))
    ]
    relations = _resolved(state, [c for c in mine if not is_redundant(state.store, c)])
    for constraint in mine:  # they are posted again at each use, and bind nothing if there is none
        state.store.unwait(constraint)
    type_, relations = _keep_names(state, type_, relations)
    checked = [as_run_finds_it(state.store, g).relation for g in state.store.guards[mark:]]
    open_variables = {v for v in type_variables(type_) if v.level > level}
    relations = merge_broadcasts(relations, open_variables)
    has_runtime = seal(type_, (*relations, *checked), made_at(state.depth + 1))
    type_, relations = _computed(type_, relations, level)
    relations = without_implied(without_trivial(relations, open_variables, level))
    kept, local = connected(relations, open_variables, level)
    guards: list[Relation] = []
    if has_runtime:
        given = given_at(state.depth + 1) if isinstance(type_, Fn) else -1
        guards = [r for r in (*kept, *local) if _is_check(r, given) and not isinstance(r, Uniform)]
        kept = [r for r in kept if not _is_check(r, given)]
    type_, kept = canonical(*simplest(type_, kept))
    kept = without_ranks(kept, set(type_variables(type_)), level)
    made = _shapes_made(guards, type_.result) if isinstance(type_, Fn) else []
    variables = type_variables(type_)
    for relation in (*kept, *made):
        variables.extend(relation_variables(relation))
    owners = [owner(var) if isinstance(var, DimVar) else var for var in variables]
    quantified = tuple(dict.fromkeys([var for var in owners if var.level > level]))
    type_, eithers = choices.without_choices(type_, eithers)
    type_, stacked = structures.without_conditions(type_, stacked)
    kept_, made_ = tuple(kept), tuple(made)
    scheme = make_scheme(quantified, type_, kept_, state.depth, made_, stacked, eithers)
    return Generalised(scheme, tuple(guards), raw)


def _computed(type_: Type, relations: list[Relation], level: int) -> tuple[Type, list[Relation]]:
    """Substitute sizes that no argument has: `[b]` with `size(a) = b` is `[size(a)]`."""
    for relation in relations:
        found = _unknown(relation, level) if isinstance(relation, DimEq) else None
        if found is None:
            continue
        var, size = found
        if var in set(chosen_by_caller(type_)):
            continue
        putting = Renaming({var: size}, {}, {}, {})
        others = [putting.relation(r) for r in relations if r is not relation]
        return _computed(putting.type(type_), others, level)
    return type_, relations


def _unknown(relation: DimEq, level: int) -> tuple[DimVar, Dim] | None:
    """A size that an equation computes from a shape of any rank, and its value."""
    gap = dims.sub(relation.left, relation.right)
    terms = dims.terms_of(gap)
    if not any(isinstance(atom, Size) for mono in terms for atom in mono):
        return None
    for mono, factor in terms.items():
        var = mono[0] if len(mono) == 1 else None
        if not isinstance(var, DimVar) or factor not in (1, -1) or var.rank_of is not None:
            continue
        if var.user or var.runtime or var.level <= level or dims.occurs_elsewhere(var, mono, terms):
            continue
        size = dims.scale(-factor, dims.combine(gap, -factor, var))
        if dims.is_nonnegative(size):
            return var, size
    return None


def _resolved(state: State, constraints: list[Constraint]) -> list[Relation]:
    """The relations under the bindings, without duplicates and those that only state ranks."""
    found: dict[Relation, None] = {}
    for constraint in constraints:
        if isinstance(constraint.relation, HasRank):
            continue
        relation = resolved(state, constraint.relation)
        variables = set(relation_variables(relation))
        ranks_only = all(isinstance(v, DimVar) and v.rank_of is not None for v in variables)
        if not variables or (ranks_only and constraint.parents):
            continue
        found[relation] = None
    return list(found)


def resolved(state: State, relation: Relation) -> Relation:
    """The relation under the bindings."""
    store = state.store
    match relation:
        case ShapeEq(left, right):
            return ShapeEq(store.word(left), store.word(right))
        case DimEq(left, right):
            return DimEq(_positive(store.unrewritten(dims.sub(left, right))), 0)
        case Broadcast(result, parts):
            words = dict.fromkeys(store.word(p) for p in parts)
            return Broadcast(store.word(result), tuple(w for w in words if w))
        case DimBroadcast(dim, dim_parts):
            sizes = dict.fromkeys(store.dim(p) for p in dim_parts)
            return DimBroadcast(store.dim(dim), tuple(s for s in sizes if s != 1))
        case AtLeast(dim, silent, why):
            return AtLeast(store.dim(dim), silent, why)
        case Uniform(shape):
            return Uniform(store.word(shape))
        case RowOf(row, rest, call):
            return RowOf(store.word(row), store.word(rest), call)
        case HasRank():
            return relation


def _positive(dim: Dim) -> Dim:
    """An equation `dim = 0` in lowest terms and with a canonical sign."""
    terms = dims.terms_of(dim)
    common = gcd(*terms.values()) or 1
    first = max(terms, key=lambda m: [a.id for a in m], default=())
    unit = -common if terms.get(first, 0) < 0 else common
    return dims.from_terms({m: c // unit for m, c in terms.items()})


def _keep_names(
    state: State, type_: Type, relations: list[Relation]
) -> tuple[Type, list[Relation]]:
    """A user's name is not replaced by an expression in generated names; the equation becomes a
    condition, as it does where the user has written it.
    """
    for named in state.names.index.values():
        _hand_on_name(state, named)
    kept: dict[Dim, DimVar] = {}
    for var in state.names.index.values():
        if not isinstance(var, DimVar) or var not in state.store.bindings:
            continue
        value = state.store.dim(var)
        if isinstance(value, Poly):
            ours = [v for v in dims.variables(value) if not v.user and not v.runtime]
            if any(v.level > state.level for v in ours) or _is_stated(state, var):
                kept.setdefault(value, var)
    if not kept:
        return type_, relations
    renaming = _Replacing({}, {}, {}, {}, kept)
    type_ = renaming.type(type_)
    relations = [renaming.relation(r) for r in relations]
    return type_, [*relations, *(DimEq(var, value) for value, var in kept.items())]


def _is_stated(state: State, var: DimVar) -> bool:
    """Whether the user has written an equation for a name."""
    constraint = state.store.bindings[var].by
    while constraint.parents:
        constraint = constraint.parents[0]
    return constraint.origin.kind == "condition"


def _hand_on_name(state: State, named: DimVar | ShapeVar) -> None:
    """A variable of ours that a user's name stands for takes over the name."""
    word = state.store.word((named,))
    var = word[0] if len(word) == 1 else None
    if isinstance(var, DimVar | ShapeVar) and type(var) is type(named) and not var.user:
        var.name, var.user = named.name, True


@dataclass(slots=True)
class _Replacing(Renaming):
    """Substitutes names for entire dimensions."""

    kept: dict[Dim, DimVar]

    def dim(self, dim: Dim) -> Dim:
        return self.kept.get(dim, dim)


def _is_check(relation: Relation, given: int) -> bool:
    """Whether only the run can decide it: it mentions run-time sizes that the definition makes, or
    compares sizes that vary.
    """
    variables = relation_variables(relation)
    if isinstance(relation, DimEq | AtLeast) and any(map(is_ragged, variables)):
        return True
    return any(v.runtime and v.scope > given for v in variables)


def _shapes_made(guards: list[Relation], result: Type) -> list[Relation]:
    """The conditions that decide the run-time shapes of the result, and the shapes that those are
    made of: a use that knows the rest knows their ranks.
    """
    wanted = {v for v in type_variables(result) if isinstance(v, ShapeVar) and v.runtime}
    made: dict[Relation, None] = {}
    found = True
    while found:
        more = [r for r in guards if r not in made and not wanted.isdisjoint(decided_shapes(r))]
        made.update(dict.fromkeys(more))
        wanted.update(
            v for r in more for v in relation_variables(r) if isinstance(v, ShapeVar) and v.runtime
        )
        found = bool(more)
    return [r for r in guards if r in made]


def decided_shapes(relation: Relation) -> list[ShapeVar]:
    """The run-time shapes that a relation between shapes decides, given all others."""
    match relation:
        case Broadcast(result, _):
            word = result
        case ShapeEq(left, right):
            word = (*left, *right)
        case _:
            return []
    return [item for item in word if isinstance(item, ShapeVar) and item.runtime]


def as_run_finds_it(store: Store, guard: Guard) -> Guard:
    """The check with bindings substituted on the side that the run compares with."""
    match guard.relation:
        case DimEq(left, right):
            return replace(guard, relation=DimEq(left, store.dim(right)))
        case ShapeEq(left_word, right_word):
            return replace(guard, relation=ShapeEq(left_word, store.word(right_word)))
        case _:
            return guard


def is_silent(relation: Relation) -> bool:
    """Whether a condition is checked but not shown: a size is not negative or does not vary."""
    return (isinstance(relation, AtLeast) and relation.silent) or isinstance(
        relation, Uniform | HasRank
    )


def visible(relations: Iterable[Relation]) -> list[Relation]:
    return [r for r in relations if not is_silent(r)]
