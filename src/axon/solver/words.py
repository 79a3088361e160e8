"""Word equations: two shapes are equal.

Each rule makes the equation shorter, or leaves it waiting; none chooses between several families
of solutions.
"""

from __future__ import annotations

from collections import Counter

from axon.solver.constraints import Constraint
from axon.solver.growth import LONGEST_SHAPE
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import (
    Broadcast,
    DimEq,
    HasRank,
    Shape,
    ShapeEq,
    Uniform,
    shape_rank,
    shape_variables,
)
from axon.types.variables import DimVar, ShapeVar, is_ragged

MOST_TOLD = 24


def solve_shape_eq(store: Store, constraint: Constraint, relation: ShapeEq) -> None:
    left, right = store.shape(relation.left), store.shape(relation.right)
    if len(left) > LONGEST_SHAPE or len(right) > LONGEST_SHAPE:
        if max(len(_dims(left)), len(_dims(right))) > LONGEST_SHAPE:
            store.conflict("append dimensionality", constraint, "long", left, right)
        else:  # most of which may be empty
            store.wait(constraint, shape_variables(left + right))
    elif left == right:
        store.drop("basic", constraint)
    elif _one_variable(store, constraint, left, right):
        return
    elif (found := _known_ranks(left, right)) is not None:
        kind, relations = found
        if relations is None:
            store.conflict(kind, constraint, "rank", left, right)
        else:
            store.derive(kind, constraint, *relations)
    else:
        _stripped(store, constraint, left, right)


def _one_variable(store: Store, constraint: Constraint, left: Shape, right: Shape) -> bool:
    """basic, reordering: bind a lone variable. Where it occurs in its own value the rest is empty,
    or there is a conflict.
    """
    for var_side, value in _lone_sides(left, right):
        var = var_side[0]
        assert isinstance(var, ShapeVar)
        if var in value:
            rest = list(value)
            rest.remove(var)
            if any(not isinstance(item, ShapeVar) for item in rest):
                store.conflict("basic", constraint, "infinite", left, right)
            else:
                store.derive("empty shapes", constraint, *(ShapeEq((v,), ()) for v in rest))
            return True
        if len(value) > 1 and not store.growth.allows(var, value):
            store.wait(constraint, shape_variables(left + right))
            return True
        if _may_bind(store, var, value):
            if value is left and len(right) == 1:
                store.note("reordering", constraint)
            if var.runtime:
                value = _of_the_run(store, constraint, var, value)
            store.bind("basic", var, value, constraint)
            return True
    return False


def _of_the_run(store: Store, constraint: Constraint, var: ShapeVar, value: Shape) -> Shape:
    """The parts of a run-time shape are known only to the run: they are run-time sizes too."""
    word = list(value)
    for i, item in enumerate(value):
        if isinstance(item, ShapeVar) and not item.runtime and item.scope >= var.scope:
            shape = word[i] = ShapeVar("", var.level, scope=var.scope, runtime=True)
            store.imply("basic", (constraint,), ShapeEq((item,), (shape,)))
        elif isinstance(item, DimVar) and not item.runtime and item.scope >= var.scope:
            dim = word[i] = DimVar("", var.level, scope=var.scope, runtime=True)
            store.imply("basic", (constraint,), DimEq(item, dim))
    return tuple(word)


def _lone_sides(left: Shape, right: Shape) -> list[tuple[Shape, Shape]]:
    """The sides that are a lone variable, the one to bind first: flexible before run-time, ours
    before a user's, newer first.
    """
    sides: list[tuple[Shape, Shape]] = []
    if len(left) == 1 and isinstance(left[0], ShapeVar):
        sides.append((left, right))
    if len(right) == 1 and isinstance(right[0], ShapeVar):
        sides.append((right, left))
    if len(sides) == 2 and _reluctance(right) < _reluctance(left):
        sides.reverse()
    return sides


def _reluctance(side: Shape) -> tuple[bool, int, bool, int]:
    var = side[0]
    assert isinstance(var, ShapeVar)
    return var.runtime, -var.level, var.user, -var.id


def _may_bind(store: Store, var: ShapeVar, value: Shape) -> bool:
    """A flexible shape may stand only for run-time sizes of no deeper scope."""
    return var.runtime or not any(
        v.runtime and v.scope > var.scope for v in shape_variables(store.word(value))
    )


def _known_ranks(left: Shape, right: Shape) -> tuple[str, list[ShapeEq | DimEq] | None] | None:
    """Rules for a side without shape variables; None in the second place is a conflict."""
    left_dims, right_dims = _dims(left), _dims(right)
    if len(left_dims) == len(left) and len(right_dims) == len(right):
        if len(left) != len(right):
            return "unpacking", None
        return "unpacking", [DimEq(a, b) for a, b in zip(left_dims, right_dims, strict=True)]
    for plain, other, dims_of in ((left, right, right_dims), (right, left, left_dims)):
        if any(isinstance(item, ShapeVar) for item in plain):
            continue
        if len(dims_of) > len(plain):
            return "append dimensionality", None
        if len(dims_of) == len(plain):
            empty: list[ShapeEq | DimEq] = [
                ShapeEq((v,), ()) for v in dict.fromkeys(other) if isinstance(v, ShapeVar)
            ]
            return "empty shapes", [ShapeEq(tuple(dims_of), plain), *empty]
    return None


def _dims(word: Shape) -> list[Dim]:
    return [item for item in word if not isinstance(item, ShapeVar)]


def _shapes(word: Shape) -> list[ShapeVar]:
    return [item for item in word if isinstance(item, ShapeVar)]


def _stripped(store: Store, constraint: Constraint, left: Shape, right: Shape) -> None:
    """append unpacking: remove equal ends, then solve the rest."""
    a, b = list(left), list(right)
    equations: list[DimEq | ShapeEq] = []
    start = 0
    while start < min(len(a), len(b)) and _same_kind(store, a[start], b[start], equations):
        start += 1
    a, b = a[start:], b[start:]
    end = 0
    while end < min(len(a), len(b)) and _same_kind(store, a[-1 - end], b[-1 - end], equations):
        end += 1
    a, b = a[: len(a) - end], b[: len(b) - end]
    if start or end:
        rest = [ShapeEq(tuple(a), tuple(b))] if a or b else []
        store.derive("append unpacking", constraint, *equations, *rest)
    else:
        _stuck(store, constraint, left, right)


def _same_kind(
    store: Store,
    a: Dim | ShapeVar,
    b: Dim | ShapeVar,
    equations: list[DimEq | ShapeEq],
) -> bool:
    """Whether two items correspond: two dimensions, or two shapes of equal rank."""
    if isinstance(a, ShapeVar) and isinstance(b, ShapeVar):
        if a is b:
            return True
        if a.has_rank and b.has_rank and store.dim(a.rank) == store.dim(b.rank):
            equations.append(ShapeEq((a,), (b,)))
            return True
        return False
    if isinstance(a, ShapeVar) or isinstance(b, ShapeVar):
        return False
    if a != b:
        equations.append(DimEq(a, b))
    return True


def _stuck(store: Store, constraint: Constraint, left: Shape, right: Shape) -> None:
    """No end can be removed.

    Count: the ranks are equal, and where the variables balance the dimensions are too.
    """
    if _lone_sides(left, right):
        _shallow(store, constraint, left, right)
        return
    left_vars, right_vars = Counter(_shapes(left)), Counter(_shapes(right))
    if left_vars == right_vars:
        if not _multiset(store, constraint, left, right):
            return
    elif not constraint.counted:
        constraint.counted = True
        store.imply("rank", (constraint,), DimEq(shape_rank(left), shape_rank(right)))
        for var in (*left_vars, *right_vars):
            store.count_in_words(var)
    unknown = left_vars | right_vars
    words = store.word(left), store.word(right)
    if store.equal.contains(constraint, *words):
        store.drop("basic", constraint)
        return
    if store.equal.pieces:
        (a, first), (b, second) = (store.equal.known(word, whole=False) for word in words)
        if first or second:
            store.imply("append unpacking", (constraint, *first, *second), ShapeEq(a, b))
            store.note("append unpacking", constraint)
            return
    ranks = (v.rank for v in unknown)
    store.wait(constraint, [*unknown, *ranks, *shape_variables(words[0] + words[1])])
    _equal_words(store, constraint, *words)
    _substitute_in_others(store, constraint, *words)
    _revisit_broadcasts(store, *words)


def _substitute_in_others(store: Store, constraint: Constraint, left: Shape, right: Shape) -> None:
    """append unpacking: where a word with known dimensions is a piece of another word, they are
    substituted there.
    """
    for word, other in ((left, right), (right, left)):
        if _shapes(other) or not isinstance(word[0], ShapeVar):
            continue
        store.equal.know(constraint, word)
        for each in store.watching(word[0], MOST_TOLD):
            relation = each.relation
            whole = isinstance(relation, Broadcast)
            if isinstance(relation, Broadcast):
                words = [relation.result, *relation.parts]
            elif isinstance(relation, ShapeEq) and each is not constraint:
                words = [relation.left, relation.right]
            else:
                continue
            if any(store.equal.known(store.word(w), whole)[1] for w in words):
                store.look_again(each)


def _revisit_broadcasts(store: Store, left: Shape, right: Shape) -> None:
    """A broadcast of one word may be solved further with the other."""
    for var in _shapes(left + right):
        for each in store.watching(var, MOST_TOLD):
            if isinstance(each.relation, Broadcast) and any(
                store.word(part) in (left, right) for part in each.relation.parts
            ):
                store.look_again(each)


def _equal_words(store: Store, constraint: Constraint, left: Shape, right: Shape) -> None:
    """append unpacking: words that waiting equations make equal are compared in pairs.

    Only what a rule can shorten is posted; the waiting equations imply the rest.
    """
    for a, b, because in store.equal.join(constraint, left, right):
        if _moves(store, a, b):
            store.imply("append unpacking", because, ShapeEq(a, b))


def _moves(store: Store, left: Shape, right: Shape) -> bool:
    """Whether an equation would be solved or shortened, instead of waiting as it is."""
    if left == right:
        return False
    if _known_ranks(left, right) is not None or _lone_sides(left, right):
        return True
    if any(_same_kind(store, left[i], right[i], []) for i in (0, -1)):
        return True
    balanced = Counter(_shapes(left)) == Counter(_shapes(right))
    return balanced and Counter(_dims(left)) != Counter(_dims(right))


def _shallow(store: Store, constraint: Constraint, left: Shape, right: Shape) -> None:
    """A lone variable that may not be bound to the value: name its sizes, which the run checks."""
    var_side, value = _lone_sides(left, right)[0]
    var = var_side[0]
    assert isinstance(var, ShapeVar)
    fresh = tuple(
        ShapeVar("", var.level, scope=var.scope)
        if isinstance(item, ShapeVar)
        else DimVar("", var.level, scope=var.scope)
        for item in value
    )
    pairs: list[DimEq | ShapeEq] = []
    for new, item in zip(fresh, value, strict=True):
        if isinstance(item, ShapeVar):
            pairs.append(ShapeEq((item,), (new,)))
        else:
            assert isinstance(new, DimVar)
            pairs.append(DimEq(item, new))
    store.derive("raggedness", constraint, ShapeEq((var,), fresh), *pairs)


def _multiset(store: Store, constraint: Constraint, left: Shape, right: Shape) -> bool:
    """The same variables on both sides: the dimensions are a permutation of each other. False if
    they cannot be.
    """
    a = Counter(store.dim(d) for d in _dims(left))
    b = Counter(store.dim(d) for d in _dims(right))
    extra, missing = list((a - b).elements()), list((b - a).elements())
    if len(extra) != len(missing) or (
        extra and all(isinstance(d, int) for d in (*extra, *missing))
    ):
        store.conflict("multiset", constraint, "multiset", left, right)
        return False
    if extra and not constraint.summed:
        constraint.summed = True
        total: Dim = 0
        for d in extra:
            total = dims.add(total, d)
        for d in missing:
            total = dims.sub(total, d)
        store.imply("multiset", (constraint,), DimEq(total, 0))
    return True


def solve_has_rank(store: Store, constraint: Constraint, relation: HasRank) -> None:
    """rank: a shape whose rank is a number is that many dimensions."""
    var = relation.shape
    if var in store.bindings:
        return
    rank = store.dim(var.rank)
    if not isinstance(rank, int):
        store.wait(constraint, (var, *dims.variables(rank)))
    elif 0 <= rank <= LONGEST_SHAPE:
        store.bind("rank", var, var.dims(rank), constraint)


def solve_uniform(store: Store, constraint: Constraint, relation: Uniform) -> None:
    """raggedness: no dimension may be one that varies at this depth. Waits while there is anything
    unknown.
    """
    word = store.word(relation.shape)
    unknown = list(shape_variables(word))
    if any(is_ragged(v) for v in unknown):
        store.conflict("raggedness", constraint, "uniform", word, ())
    elif unknown:
        store.wait(constraint, unknown)
    else:
        store.drop("raggedness", constraint)
