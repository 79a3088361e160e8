"""Broadcasting as in NumPy: align on the right; at each position every part is 1 or the result.

There is no principal substitution, so only what is forced is bound and the rest waits. Zero is a
size like any other (`broadcast(0, 1)` is 0), so broadcasting is not `max`.
"""

from __future__ import annotations

from collections.abc import Container

from axon.solver.constraints import Constraint
from axon.solver.sharing import distinct, share
from axon.solver.store import IndexVar, Store
from axon.types import dim as dims
from axon.types.dim import Dim, Max, Min
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    Shape,
    ShapeEq,
    shape_rank,
    shape_variables,
)
from axon.types.variables import DimVar, ShapeVar, is_ragged

# When its ends are known a broadcast becomes one of the parts in front of them, with a variable
# for its result. After so many times it waits until it needs no variable.
MOST_FRONTS = 16


def solve_broadcast(store: Store, constraint: Constraint, relation: Broadcast) -> None:
    result = store.word(relation.result)
    parts = distinct([store.word(part) for part in relation.parts])
    longer = [part for part in parts if len(part) > len(result)]
    if longer and _inside_itself(store, constraint, result, longer):
        return
    whole = parts
    tail: list[Dim | ShapeVar] = []
    dim_relations: list[DimBroadcast] = []
    while len(parts) > 1 and (item := _aligned(constraint, parts, dim_relations)) is not None:
        tail.append(item)
        parts = distinct([part[:-1] for part in parts])
    tail.reverse()
    if len(parts) < 2:
        front = parts[0] if parts else ()
        store.derive("broadcasting", constraint, ShapeEq(result, (*front, *tail)), *dim_relations)
    elif tail and constraint.fronts < MOST_FRONTS:
        front_var = ShapeVar("", _level(parts), scope=_scope(parts))
        store.derive(
            "broadcasting",
            constraint,
            ShapeEq(result, (front_var, *tail)),
            *dim_relations,
            Broadcast((front_var,), tuple(parts)),
        )
    elif store.equal.any and (found := _with_equal_words(store, whole)) is not None:
        others, because = found
        relation = Broadcast(result, tuple(others))
        store.imply("broadcasting", (constraint, *because), relation)
    else:
        _stuck(store, constraint, result, whole)


def _with_equal_words(
    store: Store, parts: list[Shape]
) -> tuple[list[Shape], tuple[Constraint, ...]] | None:
    """Parts whose ends do not correspond, but do if one of them is replaced by a word that a
    waiting equation says is equal.
    """
    ends = [part[-1] for part in parts]
    known = next((end for end in ends if not isinstance(end, ShapeVar)), None)
    for i, part in enumerate(parts):
        for other, because in store.equal.alternatives(part).items():
            if not other or isinstance(part[-1], ShapeVar) == isinstance(other[-1], ShapeVar):
                continue
            faces = known is not None and not isinstance(other[-1], ShapeVar)
            if faces or ends.count(other[-1]) == len(ends) - 1:
                return [*parts[:i], other, *parts[i + 1 :]], because
    return None


def _inside_itself(store: Store, constraint: Constraint, result: Shape, parts: list[Shape]) -> bool:
    """empty shapes: a part that contains the result has nothing else in it, since no part is longer
    than the result. True if there is such a part.
    """
    shapes = [item for item in result if isinstance(item, ShapeVar)]
    for part in parts if shapes else ():
        rest = list(part)
        for item in shapes:
            if item not in rest:
                break
            rest.remove(item)
        else:
            empty = [item for item in rest if isinstance(item, ShapeVar)]
            if len(rest) - len(empty) > len(result) - len(shapes):
                store.conflict("empty shapes", constraint, "infinite", result, part)
                return True
            if empty and len(rest) - len(empty) == len(result) - len(shapes):
                nothing = [ShapeEq((item,), ()) for item in dict.fromkeys(empty)]
                store.derive("empty shapes", constraint, *nothing, constraint.relation)
                return True
    return False


def _aligned(
    constraint: Constraint, parts: list[Shape], relations: list[DimBroadcast]
) -> Dim | ShapeVar | None:
    """The last item of the result, where the last items of all parts correspond."""
    last = [part[-1] for part in parts]
    first = last[0]
    if all(item == first for item in last):
        return first
    if any(isinstance(item, ShapeVar) for item in last):
        return None
    sizes = tuple(item for item in dict.fromkeys(last) if not isinstance(item, ShapeVar))
    known = next((size for size in sizes if dims.is_not_one(size)), None)
    if known is not None and all(size in (1, known) for size in sizes):
        return known
    result = DimVar("", _level(parts), scope=_scope(parts))
    relations.append(DimBroadcast(result, sizes))
    return result


def _level(parts: list[Shape]) -> int:
    return max((v.level for part in parts for v in shape_variables(part)), default=0)


def _scope(parts: list[Shape]) -> int:
    return max((v.scope for part in parts for v in shape_variables(part)), default=0)


def _stuck(store: Store, constraint: Constraint, result: Shape, parts: list[Shape]) -> None:
    if not result:
        store.derive("broadcasting", constraint, *(ShapeEq(part, ()) for part in parts))
        return
    if store.equal.pieces:
        known = [store.equal.known(word, whole=True) for word in (result, *parts)]
        because = [by for _, equations in known for by in equations]
        if because:
            (whole, _), *rest = known
            relation = Broadcast(whole, tuple(part for part, _ in rest))
            store.imply("broadcasting", (constraint, *because), relation)
            store.note("broadcasting", constraint)
            return
    if _is_plain(result):
        plain = [part for part in parts if _is_plain(part)]
        if any(
            len([i for i in part if not isinstance(i, ShapeVar)]) > len(result) for part in parts
        ):
            store.conflict("broadcasting", constraint, "broadcast", result, ())
            return
        if len(plain) == len(parts) - 1 and _needs_another(result, plain):
            # only this part can be as long as the result
            (part,) = (part for part in parts if not _is_plain(part))
            if not constraint.counted:
                constraint.counted = True
                store.imply("rank", (constraint,), DimEq(shape_rank(part), len(result)))
                for item in part:
                    if isinstance(item, ShapeVar):
                        store.watch_rank(item)
    lone = result[0] if len(result) == 1 and isinstance(result[0], ShapeVar) else None
    shapes: list[ShapeVar] = []
    sizes: list[IndexVar] = []
    for word in (result, *parts):
        for item in word:
            if isinstance(item, ShapeVar):
                shapes.append(item)
            elif not isinstance(item, int):
                sizes.extend(dims.variables(item))
    store.wait(constraint, [*shapes, *sizes])
    if not isinstance(result[-1], ShapeVar):
        for part in parts:
            _ends_meet(store, constraint, result, part)
    counted = store.in_words and not store.in_words.isdisjoint(shapes)
    if not constraint.summed and (counted or (lone is None and _is_plain(result))):
        constraint.summed = True
        _at_least_as_long(store, constraint, result, parts)
    share(store, constraint, lone, tuple(parts))


def _at_least_as_long(
    store: Store, constraint: Constraint, result: Shape, parts: list[Shape]
) -> None:
    """rank: no part has more dimensions than the result. Also posted where the rank of a shape is
    needed elsewhere.
    """
    for part in parts:
        gap = dims.sub(shape_rank(result), shape_rank(part))
        if not dims.is_nonnegative(gap):
            store.imply("rank", (constraint,), AtLeast(gap, silent=True))
    for item in (i for word in (result, *parts) for i in word):
        if isinstance(item, ShapeVar):
            store.watch_rank(item)


def _ends_meet(store: Store, constraint: Constraint, result: Shape, part: Shape) -> None:
    """Decide what follows at one position: a size of a part is 1 or the corresponding size of the
    result. A size that varies is not stretched.
    """
    for size, whole in zip(reversed(part), reversed(result), strict=False):
        if isinstance(size, ShapeVar) or isinstance(whole, ShapeVar):
            return
        if whole == 1 and size != 1:
            store.imply("broadcasting", (constraint,), DimEq(size, 1))
        elif size != whole and (dims.is_not_one(size) or _varies(constraint, size)):
            store.imply("broadcasting", (constraint,), DimEq(whole, size))


def _needs_another(result: Shape, parts: list[Shape]) -> bool:
    """Whether these parts do not explain the first size of the result: none reaches it with
    anything but 1, and some part must.
    """
    reach = [part for part in parts if len(part) == len(result)]
    if not reach:
        return True
    first = result[0]
    return (
        not isinstance(first, ShapeVar)
        and dims.is_not_one(first)
        and all(part[0] == 1 for part in reach)
    )


def _is_plain(word: Shape) -> bool:
    return not any(isinstance(item, ShapeVar) for item in word)


def solve_dim_broadcast(store: Store, constraint: Constraint, relation: DimBroadcast) -> None:
    result = store.dim(relation.result)
    parts = [p for p in dict.fromkeys(store.dim(p) for p in relation.parts) if p != 1]
    if len(parts) < 2:
        store.derive("broadcasting", constraint, DimEq(result, parts[0] if parts else 1))
        return
    if result == 1:
        store.derive("broadcasting", constraint, *(DimEq(part, 1) for part in parts))
        return
    rows = [part for part in parts if _of_a_row(part)]
    if len(rows) > 1:
        # as the tensors that they are rows of: a row of one element is not stretched
        others = tuple(part for part in parts if part not in rows)
        store.derive(
            "broadcasting",
            constraint,
            *(DimEq(other, rows[0]) for other in rows[1:]),
            DimBroadcast(result, (rows[0], *others)),
        )
        return
    decided = [part for part in parts if dims.is_not_one(part)]
    ragged = [part for part in parts if _varies(constraint, part)]
    if not decided and ragged:
        # a ragged size goes with 1 and with ragged ones; what the user has named does not vary
        decided = ragged
    if decided:
        decided += [part for part in ragged if part not in decided]
        first = decided[0]
        equal = [DimEq(other, first) for other in decided[1:]]
        rest = [part for part in parts if part not in decided]
        ones = [part for part in rest if _must_be_one(constraint, part, first)]
        equal += [DimEq(part, 1) for part in ones]
        # a part that is the result is first, and removed: so each step has fewer parts, or
        # finds the result among them
        left = tuple(part for part in rest if part not in ones and part != result)
        if result != first or equal:
            again = [DimBroadcast(first, (first, *left))] if left else []
            store.derive("broadcasting", constraint, DimEq(result, first), *equal, *again)
            return
    whole = _broadcast_sizes(parts)
    if whole is not None:
        required = {part: _required(part, whole) for part in parts if part not in (whole, result)}
        stay = [part for part, relations in required.items() if relations is None]
        if result != whole or len(stay) < len(required):
            again = [DimBroadcast(whole, (whole, *stay))] if stay else []
            bounds = [relation for relations in required.values() for relation in relations or ()]
            store.derive("broadcasting", constraint, DimEq(result, whole), *bounds, *again)
            return
    lone = result if isinstance(result, DimVar) else None
    unknown = {v for d in (result, *parts) for v in dims.variables(d)}
    store.wait(constraint, unknown, [m for d in (result, *parts) for m in dims.terms_of(d) if m])
    share(store, constraint, lone, tuple(parts))


def _broadcast_sizes(parts: list[Dim]) -> Dim | None:
    """The broadcast of different sizes, where it does not depend on which of them is 1."""
    for size in sorted(parts, key=lambda part: not isinstance(part, DimVar)):
        if all(part == size or _is_one_with(part, size) for part in parts):
            return size
    return None


def _is_one_with(part: Dim, size: Dim) -> bool:
    """Whether a part is 1 wherever a size is, as `min(n, 64)` and `max(n, 1)` are where `n` is.

    Such a part never decides the result: if the size is not 1 it is the result, and if it is, both
    are.
    """
    atom = dims.lone_atom(part)
    if isinstance(atom, Min) and all(p == size or _is_above_zero(p) for p in atom.args):
        return True
    if isinstance(atom, Max) and all(p in (size, 1) for p in atom.args):
        return True
    found = _where_one(size)
    if found is None:
        return False
    var, value = found
    return dims.substitute(part, lambda v: value if v is var else v, dims.of_size) == 1


def _required(part: Dim, size: Dim) -> list[AtLeast] | None:
    """What a part requires of the size that it is 1 with, if that can be stated without the part:
    `min(n,64)` broadcasts with `n` up to 64, while `min(n,1)` and `max(n,1)` always do.
    """
    atom = dims.lone_atom(part)
    if isinstance(atom, Max) and all(p in (size, 1) for p in atom.args):
        return []
    if not isinstance(atom, Min) or size not in atom.args:
        return None
    others = [p for p in atom.args if p != size]
    if not all(isinstance(p, int) and p > 0 for p in others):
        return None
    return [] if 1 in others else [AtLeast(dims.sub(p, size), silent=False) for p in others]


def _is_above_zero(size: Dim) -> bool:
    return isinstance(size, int) and size > 0


def _where_one(size: Dim) -> tuple[DimVar, int] | None:
    """The value of a variable wherever a size is 1, if there is only one."""
    if isinstance(size, DimVar):
        return size, 1
    atom = dims.lone_atom(size)
    if isinstance(atom, Min):  # min(n, 64) is 1 where n is
        parts = [part for part in atom.args if not isinstance(part, int)]
        above = all(part > 1 for part in atom.args if isinstance(part, int))
        return _where_one(parts[0]) if len(parts) == 1 and above else None
    terms = dict(dims.terms_of(size))
    constant = terms.pop((), 0)
    if len(terms) != 1:
        return None
    ((mono, factor),) = terms.items()
    var = mono[0] if len(mono) == 1 else None
    if not isinstance(var, DimVar) or (1 - constant) % factor or (1 - constant) // factor < 0:
        return None
    return var, (1 - constant) // factor


def _must_be_one(constraint: Constraint, part: Dim, size: Dim) -> bool:
    """Whether a part can only be 1 beside this size, which is a different expression."""
    if _varies(constraint, size) and isinstance(part, DimVar) and part.user:
        return True
    return isinstance(dims.sub(part, size), int)


def is_of_the_run(store: Store, constraint: Constraint, among: Container[object]) -> bool:
    """Make the result of a waiting broadcast a run-time size, if it is `among` some sizes, depends
    on run-time sizes and is not known before them. True if so.
    """
    relation = constraint.relation
    if not isinstance(relation, DimBroadcast):
        return False
    result = store.dim(relation.result)
    if result not in among:
        return False
    parts = [store.dim(part) for part in relation.parts]
    made = [v for part in parts for v in dims.variables(part) if v.runtime]
    sizes = [v for v in made if isinstance(v, DimVar)]
    if not isinstance(result, DimVar) or result.runtime or result.rank_of is not None or not sizes:
        return False
    since = min(result.scope, max(v.scope for v in made))
    over = max(v.over for v in sizes)
    size = DimVar(result.name, result.level, scope=since, runtime=True, over=over, derived=True)
    store.bind("raggedness", result, size, constraint)
    return True


def _of_a_row(part: Dim) -> bool:
    """Whether a size is that of one row of a tensor in which it varies."""
    return isinstance(part, DimVar) and part.row


def _varies(constraint: Constraint, part: Dim) -> bool:
    return any(is_ragged(v) for v in dims.variables(part))
