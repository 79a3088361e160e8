"""Equal broadcasts: broadcasts of the same parts have the same result."""

from __future__ import annotations

from axon.solver.constraints import Constraint
from axon.solver.store import IndexVar, Store
from axon.types.type import Broadcast, DimBroadcast, DimEq, Shape, ShapeEq
from axon.types.variables import DimVar, ShapeVar

MOST_PARTS = 8


def distinct(parts: list[Shape]) -> list[Shape]:
    """Broadcasting is idempotent, and a scalar changes nothing."""
    return [part for part in dict.fromkeys(parts) if part]


def share(
    store: Store, constraint: Constraint, result: IndexVar | None, parts: tuple[object, ...]
) -> None:
    """Broadcasts of the same parts have the same result; a part that is itself such a result stands
    for its parts.
    """
    if result is None:
        _share_word(store, constraint, parts)
        return
    _share_one(store, constraint, result, parts)
    store.broadcasts.setdefault(result, constraint)
    for user in store.watching(result):
        name = _result(store, user)
        if user is not constraint and name is not None:
            _share_one(store, user, name, _parts(store, user))


def _share_word(store: Store, constraint: Constraint, parts: tuple[object, ...]) -> None:
    """The same where the result is more than a lone variable."""
    mine = constraint.relation
    if not isinstance(mine, Broadcast):
        return
    result = store.word(mine.result)
    key = _leaves(store, parts, result)
    if key is None:
        return
    store.broadcasts.setdefault(result, constraint)
    known = store.broadcasts.setdefault(key, constraint)
    its = known.relation
    if known is constraint or not isinstance(its, Broadcast):
        return
    other = store.word(its.result)
    if not known.waiting or _leaves(store, _parts(store, known), other) != key:
        store.broadcasts[key] = constraint
        return
    if result != other:
        store.imply("broadcasting", (constraint, known), ShapeEq(result, other))
    store.unwait(constraint)


def _share_one(
    store: Store, constraint: Constraint, result: IndexVar, parts: tuple[object, ...]
) -> None:
    key = _leaves(store, parts, result)
    if key is None:
        return
    known = store.broadcasts.get(key)
    other = _result(store, known) if known is not None and known.waiting else None
    if known is None or known is constraint or not known.waiting:
        store.broadcasts[key] = constraint
    elif other is None and isinstance(known.relation, Broadcast) and isinstance(result, ShapeVar):
        whole = store.word(known.relation.result)
        store.imply("broadcasting", (constraint, known), ShapeEq((result,), whole))
        store.unwait(constraint)
    elif other is None:
        store.broadcasts[key] = constraint
    elif other is result:
        store.unwait(constraint)
    elif isinstance(result, ShapeVar) and isinstance(other, ShapeVar):
        store.imply("broadcasting", (constraint, known), ShapeEq((result,), (other,)))
        store.unwait(constraint)  # the two of them say it
    elif isinstance(result, DimVar) and isinstance(other, DimVar):
        store.imply("broadcasting", (constraint, known), DimEq(result, other))
        store.unwait(constraint)


def is_redundant(store: Store, constraint: Constraint) -> bool:
    """Whether a waiting `r = broadcast(r, a, …)` is implied by the broadcast that makes `r`."""
    result = _result(store, constraint)
    if result is None:
        return False
    parts = {_lone(part) for part in _parts(store, constraint)}
    if result not in parts:
        return False
    for maker in store.waiting:
        if maker is not constraint and _result(store, maker) is result:
            made_of = {_lone(part) for part in _parts(store, maker)}
            if result not in made_of and parts - {result} <= made_of:
                return True
    return False


def _lone(part: object) -> object:
    return part[0] if isinstance(part, tuple) and len(part) == 1 else part


def _leaves(store: Store, parts: tuple[object, ...], *path: object) -> frozenset[object] | None:
    """The parts, waiting broadcasts among them replaced by theirs; None if circular or too many.
    One that is part of itself, `a = broadcast(a, b)`, tells nothing of what it is made of.
    """
    leaves: set[object] = set()
    for part in parts:
        lone = _lone(part)
        if lone in path or len(path) > MOST_PARTS:
            return None
        named = isinstance(lone, DimVar | ShapeVar)
        inner = store.broadcasts.get(lone) if named or isinstance(lone, tuple) else None
        made_of = _parts(store, inner) if inner is not None and inner.waiting else ()
        itself = lone in map(_lone, made_of)
        if inner is None or not made_of or itself or not _is_result(store, inner, lone):
            leaves.add(part)
        else:
            below = _leaves(store, made_of, lone, *path)
            if below is None:
                return None
            leaves |= below
        if len(leaves) > MOST_PARTS:
            return None
    return frozenset(leaves)


def _is_result(store: Store, constraint: Constraint, part: object) -> bool:
    """Whether a part is the result of a broadcast: by its name, or by its word."""
    if not isinstance(part, tuple):
        return _result(store, constraint) is part
    relation = constraint.relation
    return isinstance(relation, Broadcast) and store.word(relation.result) == part


def _result(store: Store, constraint: Constraint) -> IndexVar | None:
    match constraint.relation:
        case Broadcast(result, _):
            word = store.shape(result)
            return word[0] if len(word) == 1 and isinstance(word[0], ShapeVar) else None
        case DimBroadcast(dim, _):
            value = store.dim(dim)
            return value if isinstance(value, DimVar) else None
        case _:
            return None


def _parts(store: Store, constraint: Constraint) -> tuple[object, ...]:
    match constraint.relation:
        case Broadcast(_, parts):
            return tuple(distinct([store.word(part) for part in parts]))
        case DimBroadcast(_, dim_parts):
            return tuple(p for p in dict.fromkeys(store.dim(p) for p in dim_parts) if p != 1)
        case _:
            return ()
