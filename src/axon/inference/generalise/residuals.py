"""Residuals: the constraints left at the end of a definition, without trivial and implied ones."""

from __future__ import annotations

from collections.abc import Callable

from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.quotient import exact_quotient
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    Relation,
    Renaming,
    Shape,
    ShapeEq,
    relation_variables,
    shape_variables,
)
from axon.types.variables import DimVar, ShapeVar, Var, owner


def merge_broadcasts(relations: list[Relation], shown: set[Var]) -> list[Relation]:
    """`c = broadcast(a, b), d = broadcast(c, e)` is `d = broadcast(a, b, e)`, `c` not shown."""
    changed = True
    while changed and len(relations) < 200:
        changed = False
        broadcasts = [r for r in relations if isinstance(r, Broadcast | DimBroadcast)]
        for inner in broadcasts if len(broadcasts) > 1 else ():
            result = lone(inner.result)
            if result is None or result in shown:
                continue
            users = [r for r in relations if r is not inner and result in relation_variables(r)]
            if users and all(type(r) is type(inner) and _only_part(r, result) for r in users):
                rest = (r for r in relations if r is not inner)
                merged = (_substituted(r, result, inner) if r in users else r for r in rest)
                relations, changed = list(dict.fromkeys(merged)), True
                break
    return relations


def lone(result: object) -> Var | None:
    if isinstance(result, tuple):
        result = result[0] if len(result) == 1 else None
    return result if isinstance(result, DimVar | ShapeVar) else None


def _only_part(relation: Relation, var: Var) -> bool:
    """Whether the variable occurs in the broadcast only as an entire part."""
    assert isinstance(relation, Broadcast | DimBroadcast)
    rest = [part for part in relation.parts if lone(part) is not var]
    sides = [side if isinstance(side, tuple) else (side,) for side in (relation.result, *rest)]
    return not any(var in set(shape_variables(side)) for side in sides)


def _substituted(relation: Relation, var: Var, inner: Broadcast | DimBroadcast) -> Relation:
    assert isinstance(relation, Broadcast | DimBroadcast)
    parts: dict[object, None] = {}
    for part in relation.parts:
        parts.update(dict.fromkeys(inner.parts if lone(part) is var else (part,)))
    return type(relation)(relation.result, tuple(parts))  # type: ignore[arg-type]


def connected(
    relations: list[Relation], shown: set[Var], level: int
) -> tuple[list[Relation], list[Relation]]:
    """The relations that share variables, directly or not, with the type, and those that do not."""
    users: dict[Var, list[int]] = {}
    todo: list[Var] = list(shown)
    for i, relation in enumerate(relations):
        for var in map(owner, relation_variables(relation)):
            users.setdefault(var, []).append(i)
            if var.level <= level:
                todo.append(var)
    kept: set[int] = set()
    while todo:
        for i in users.pop(todo.pop(), ()):
            if i not in kept:
                kept.add(i)
                todo.extend(map(owner, relation_variables(relations[i])))
    return (
        [r for i, r in enumerate(relations) if i in kept],
        [r for i, r in enumerate(relations) if i not in kept],
    )


def without_trivial(relations: list[Relation], shown: set[Var], level: int) -> list[Relation]:
    """Leave out an equation that some value of a variable which occurs nowhere else satisfies, and
    one that differs from another only in the name of such a variable.
    """
    uses: dict[Var, int] = {}
    for relation in relations:
        for var in set(relation_variables(relation)):
            uses[var] = uses.get(var, 0) + 1
    kept: dict[Relation, Relation] = {}
    for relation in relations:
        own = _own_sizes(relation, shown, uses, level)
        if not any(_has_solution(relation, var) for var in own):
            # what the variables are called does not matter, only that nothing else mentions them
            placeholders: dict[DimVar, Dim] = dict(zip(own, _ANY_SIZE, strict=False))
            kept.setdefault(Renaming(placeholders, {}, {}, {}).relation(relation), relation)
    return list(kept.values())


_ANY_SIZE = tuple(DimVar(f"own{i}", 0) for i in range(2))


def _own_sizes(
    relation: Relation, shown: set[Var], uses: dict[Var, int], level: int
) -> list[DimVar]:
    """The variables of an equation of sizes that occur nowhere else."""
    if not isinstance(relation, DimEq):
        return []
    variables = dict.fromkeys(relation_variables(relation))
    own = (v for v in variables if isinstance(v, DimVar) and uses[v] == 1 and v not in shown)
    return [var for var in own if var.level > level and not var.runtime]


def _has_solution(relation: Relation, var: DimVar) -> bool:
    """Whether some value of a variable satisfies an equation, whatever the others are."""
    assert isinstance(relation, DimEq)
    gap = dims.sub(relation.left, relation.right)
    rest = Renaming({var: 0}, {}, {}, {}).dim(gap)
    factor = dims.sub(Renaming({var: 1}, {}, {}, {}).dim(gap), rest)
    if rest == 0 or dims.add(rest, factor) == 0:
        return True
    linear = dims.add(rest, dims.mul(factor, var)) == gap
    value = exact_quotient(dims.scale(-1, rest), factor) if linear and factor != 0 else None
    return value is not None and dims.is_nonnegative(value)


def without_implied(relations: list[Relation]) -> list[Relation]:
    """Leave out a condition that another one implies."""

    def follows(relation: Relation, others: list[Relation]) -> bool:
        kind = type(relation)
        return any(type(other) is kind and _implies(other, relation) for other in others)

    return _without(relations, follows)


def without_ranks(relations: list[Relation], shown: set[Var], level: int) -> list[Relation]:
    """Leave out an equation that only states a lower bound of a rank, if the others imply it."""
    return _without(relations, lambda r, others: _fits_anyway(r, others, shown, level))


def _without(
    relations: list[Relation], follows: Callable[[Relation, list[Relation]], bool]
) -> list[Relation]:
    """Leave out the relations that follow from those that are kept and those after them."""
    if len(relations) > 60:
        return relations
    kept: list[Relation] = []
    for i, relation in enumerate(relations):
        if not follows(relation, [*kept, *relations[i + 1 :]]):
            kept.append(relation)
    return kept


def _fits_anyway(relation: Relation, others: list[Relation], shown: set[Var], level: int) -> bool:
    """Whether the relation is one like `s = [a,b]@u`, with `a`, `b` and `u` nowhere else, and the
    others imply that `s` has at least two dimensions.
    """
    if not isinstance(relation, ShapeEq):
        return False
    for pattern, word in ((relation.left, relation.right), (relation.right, relation.left)):
        variables = {item for item in pattern if isinstance(item, DimVar | ShapeVar)}
        shapes = sum(isinstance(item, ShapeVar) for item in pattern)
        if len(variables) != len(pattern) or shapes != 1:
            continue
        used = {*shown, *shape_variables(word), *(v for r in others for v in relation_variables(r))}
        if any(v in used or v.level <= level for v in variables):
            continue
        if _least_rank(word, _least_ranks(others)) >= len(pattern) - 1:
            return True
    return False


def _least_ranks(relations: list[Relation]) -> dict[ShapeVar, int]:
    """The lower bound of each shape's rank that the equations state."""
    found: dict[ShapeVar, int] = {}
    equations = [r for r in relations if isinstance(r, ShapeEq)]
    for _ in range(2):
        for equation in equations:
            left, right = equation.left, equation.right
            for word, other in ((left, right), (right, left)):
                shapes = [item for item in word if isinstance(item, ShapeVar)]
                if len(set(shapes)) != 1:
                    continue
                missing = _least_rank(other, found) - (len(word) - len(shapes))
                least = -(-missing // len(shapes))
                found[shapes[0]] = max(found.get(shapes[0], 0), least)
    return found


def _least_rank(word: Shape, ranks: dict[ShapeVar, int]) -> int:
    return sum(ranks.get(item, 0) if isinstance(item, ShapeVar) else 1 for item in word)


def _implies(known: Relation, relation: Relation) -> bool:
    match known, relation:
        case AtLeast(a, _), AtLeast(b, _):
            if a == b or set(dims.variables(a)).isdisjoint(dims.variables(b)):
                return False
            return dims.is_nonnegative(dims.sub(b, a))
        case DimEq(a, 0), DimEq(b, 0):
            return _is_multiple(b, a)
        case Broadcast(_, parts), Broadcast(result, fewer):
            return set(fewer) < set(parts) and _is_unused(result, known)
        case DimBroadcast(_, sizes), DimBroadcast(size, fewer_sizes):
            return set(fewer_sizes) < set(sizes) and _is_unused(size, known)
        case _:
            return False


def _is_unused(result: object, known: Relation) -> bool:
    """Whether the result is a lone variable that the other relation does not mention."""
    var = lone(result)
    return var is not None and var not in relation_variables(known)


def _is_multiple(dim: Dim, factor: Dim) -> bool:
    """Whether `dim` is `factor` times a product of sizes, so that it is zero where `factor` is."""
    terms, unit = dims.terms_of(dim), dims.terms_of(factor)
    if dim == factor or len(terms) != len(unit) or not unit:
        return False
    lead = max(unit, key=len)
    for mono in terms:
        rest = dims.divide(mono, lead)
        if rest and dims.mul(factor, dims.from_terms({rest: 1})) in (dim, dims.scale(-1, dim)):
            return True
    return False
