"""Run-time sizes are existentials: a value of such a size brings the size with it.

A call makes the size, with a name of its own. Where the call ends, its result is seen from outside.
What is in the result of a function and is decided by no argument cannot be chosen by the caller: if
it depends on a run-time size, it is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations

from axon.inference.state import State
from axon.solver.constraints import Guard
from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    DimValue,
    Fn,
    Relation,
    Renaming,
    ShapeEq,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    leaves,
    relation_variables,
    type_variables,
)
from axon.types.variables import DimVar, ShapeVar, Var, made_at, owner


def opened_by_call(state: State, type_: Fn) -> Fn:
    """The type of a function value where it is called: each call makes new run-time sizes."""
    result = state.resolve(type_.result)
    here = made_at(state.depth)
    outside = {v for p in type_.params for v in type_variables(state.resolve(p))}
    renaming = Renaming({}, {}, {}, {})
    for var in type_variables(result):
        if not isinstance(var, DimVar | ShapeVar) or not var.runtime:
            continue
        if var.scope <= here or var in outside:
            continue
        scope = max(here, var.scope - 2)
        if isinstance(var, DimVar):
            made = DimVar(var.name, state.level, scope=scope, runtime=True, over=var.over)
            renaming.dims.setdefault(var, made)
        elif var not in renaming.shapes:
            shape = ShapeVar(var.name, state.level, scope=scope, runtime=True)
            renaming.shapes[var] = (shape,)
    if not renaming.dims and not renaming.shapes:
        return type_
    return Fn(type_.params, renaming.type(result))


def seal(type_: Type, relations: Iterable[Relation], scope: int) -> bool:
    """Make run-time sizes of the variables that depend on them and that no argument decides. False
    if the relations have no run-time sizes.

    `scope` is that of the sizes the function makes: sizes of outer scopes exist before it is
    called. The relations are those that hold of its sizes.
    """
    known = list(relations)
    ties = [*known, *_mixed(type_)]
    if not any(v.runtime for relation in ties for v in relation_variables(relation)):
        return False
    chosen = _determined(set(chosen_by_caller(type_)), known)
    changed = True
    while changed:
        changed = False
        for relation in ties:
            made = [v for v in relation_variables(relation) if v.runtime and v.scope >= scope]
            if not made:
                continue
            for var in _decided(relation):
                if not var.runtime and var not in chosen and var.scope >= scope - 1:
                    var.runtime, changed = True, True
                    var.scope = max(scope, var.scope)
                    if isinstance(var, DimVar):
                        var.derived = True
                        over = max((v.over for v in made if isinstance(v, DimVar)), default=0)
                        var.over = min(over, _dimensions_before(relation, var, over))
    return True


def _dimensions_before(relation: Relation, var: DimVar, most: int) -> int:
    """Over how many dimensions a size may vary: those before it in the result of the broadcast."""
    if isinstance(relation, Broadcast) and var in relation.result:
        before = relation.result[: relation.result.index(var)]
        if not any(isinstance(item, ShapeVar) for item in before):
            return len(before)
    return most


def chosen_by_caller(type_: Type, provided: bool = False) -> Iterator[Var]:
    """The variables that the caller of a function decides: those of its arguments, and of the
    results of functions among these. `provided` is whether the caller provides the value of this
    type.
    """
    if isinstance(type_, Fn):
        for param in type_.params:
            yield from chosen_by_caller(param, not provided)
        yield from chosen_by_caller(type_.result, provided)
    elif provided:
        yield from type_variables(type_)


def _determined(known: set[Var], relations: list[Relation]) -> set[Var]:
    """The variables, and those that the relations compute from them."""
    changed = True
    while changed:
        changed = False
        for relation in relations:
            unknown = set(relation_variables(relation)) - known
            if len(unknown) != 1:
                continue
            decided = [v for v in _decided(relation) if v in unknown and not v.runtime]
            if any(_is_plain(relation, v) for v in decided):
                known |= unknown
                changed = True
    return known


def _is_plain(relation: Relation, var: DimVar | ShapeVar) -> bool:
    """Whether a relation computes a variable from the others, unlike `a` in `size(a) = 6`, or in
    `a = broadcast(a, 2)`.
    """
    match relation:
        case DimEq(left, right):
            terms = dims.terms_of(dims.sub(left, right))
            once = isinstance(var, DimVar) and not dims.occurs_elsewhere(var, (var,), terms)
            return once and (var,) in terms
        case Broadcast() | DimBroadcast():
            return relation_variables(relation).count(var) == 1
        case _:
            return True


def _decided(relation: Relation) -> list[DimVar | ShapeVar]:
    """The variables that a relation decides: of a broadcast its result, not its parts."""
    match relation:
        case Broadcast(result, _):
            return [item for item in result if isinstance(item, DimVar | ShapeVar)]
        case DimBroadcast(dim, _):
            return [dim] if isinstance(dim, DimVar) else []
        case DimEq() | ShapeEq():
            return [var for var in relation_variables(relation) if owner(var) is var]
        case _:
            return []


def _mixed(type_: Type) -> Iterator[DimEq]:
    """Sums and products of run-time sizes and other sizes in a type: each is a run-time size."""
    for leaf in leaves(type_):
        match leaf:
            case Tensor(_, shape) | ShapeValue(shape):
                for item in shape:
                    if isinstance(item, Poly):
                        yield DimEq(item, 0)
            case DimValue(Poly() as dim):
                yield DimEq(dim, 0)
            case _:
                pass


def named_sizes(made: Type, declared: Type, scope: int) -> Iterator[DimEq | ShapeEq]:
    """Equations between run-time sizes and the names that a declaration has for them inside
    expressions: `?b` of `[max(?b-1,0)]` is the corresponding size, if the rest is the same. `scope`
    is that of the sizes the function makes.
    """
    match made, declared:
        case (Tensor(_, have), Tensor(_, want)) | (ShapeValue(have), ShapeValue(want)):
            if len(have) == len(want):
                for size, wanted in zip(have, want, strict=True):
                    if isinstance(size, Poly) and isinstance(wanted, Poly):
                        yield from _named(size, wanted, scope)
        case DimValue(Poly() as size), DimValue(Poly() as wanted):
            yield from _named(size, wanted, scope)
        case Tuple(parts), Tuple(others):
            for part, other in zip(parts, others, strict=False):
                yield from named_sizes(part, other, scope)
        case Fn(_, part), Fn(_, other):
            yield from named_sizes(part, other, scope)
        case _:
            return


MOST_NAMED = 4


def _named(size: Poly, wanted: Poly, scope: int) -> Iterator[DimEq | ShapeEq]:
    there = [v for v in dict.fromkeys(dims.variables(size)) if v not in dims.variables(wanted)]
    names = [v for v in dict.fromkeys(dims.variables(wanted)) if v not in dims.variables(size)]
    if len(there) != len(names) or len(names) > MOST_NAMED:
        return
    if any(v.user for v in there) or not all(v.user and v.scope >= scope for v in names):
        return
    if not all(v.runtime or (v.scope >= scope and len(there) == 1) for v in there):
        return
    for order in permutations(there):
        renaming = Renaming({}, {}, {}, {})
        for name, var in zip(names, order, strict=True):
            if isinstance(name, DimVar) and isinstance(var, DimVar):
                renaming.dims[name] = var
            elif isinstance(name, ShapeVar) and isinstance(var, ShapeVar):
                renaming.shapes[name] = (var,)
        if renaming.dim(wanted) == size:
            yield from (DimEq(name, var) for name, var in renaming.dims.items())
            yield from (ShapeEq((name,), word) for name, word in renaming.shapes.items())
            return


# --- checks ------------------------------------------------------------------------------------


def conditions(guards: Iterable[Guard], since: int = 0, running: bool = False) -> Iterator[Guard]:
    """The checks as conditions on what is known when they are made. `?k = 2*?a`, where `?a` is
    nothing but half of `?k`, states that `?k` is even; `?k = ?a` only defines `?a`. Sizes made
    before `since` are known. If `running`, everything that can be compared is compared.
    """
    defined: set[DimVar] = set()
    for guard in guards:
        if not isinstance(guard.relation, DimEq):
            yield guard
            continue
        gap = dims.sub(guard.relation.left, guard.relation.right)
        follower = _follower(gap, since)
        if follower is None:
            yield guard
            continue
        var, factor = follower
        if var in defined:  # by what this is compared with, unless it is made in another call
            if all(v.scope <= var.scope for v in relation_variables(guard.relation)):
                yield guard
            continue
        defined.add(var)
        rest = dims.combine(gap, -factor, var)
        if running and factor in (1, -1):
            yield guard
        if factor not in (1, -1):
            divides = DimEq(dims.mod(rest, abs(factor)), 0)
            yield Guard(divides, guard.origin, guard.depth)
        size = dims.scale(-1 if factor > 0 else 1, rest)
        if not dims.is_nonnegative(size):
            yield Guard(AtLeast(size, silent=True), guard.origin, guard.depth)


def _follower(gap: Dim, since: int) -> tuple[DimVar, int] | None:
    """The one size that follows from the others of an equation, and its coefficient."""
    terms = dims.terms_of(gap)
    found = [
        (mono, mono[0])
        for mono in terms
        if len(mono) == 1 and isinstance(mono[0], DimVar) and mono[0].derived and mono[0].id > since
    ]
    if len(found) != 1:
        return None
    ((mono, var),) = found
    return None if dims.occurs_elsewhere(var, mono, terms) else (var, terms[mono])
