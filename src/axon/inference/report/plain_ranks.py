"""The rules of plain readings that choose ranks."""

from __future__ import annotations

from collections.abc import Iterator

from axon.inference.report.plain_sizes import smallest, waiting
from axon.inference.report.ranks import Ranks, ranks
from axon.inference.report.signature import shapes_of
from axon.solver.constraints import NOWHERE
from axon.solver.store import Store
from axon.types.type import Broadcast, Fn, Record, Relation, Shape, ShapeEq, Tuple, Type
from axon.types.variables import DimVar, ShapeVar


def ranks_chosen(store: Store, type_: Type, checks: list[Relation]) -> bool:
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
            equate(store, left, right)
            return True
    for shape, rank in _rows(relations):
        if possible.assume(shape, rank):
            equate(store, (shape,), _new_dimensions(shape, rank))
            return True
    batches = {item for word in words for item in _before_dimensions(word)}
    for relation in (*relations, *(_resolved(store, check) for check in checks)):
        if isinstance(relation, Broadcast):
            _let_vectors(store, relation, possible, batches)
    for shape in dict.fromkeys(item for word in words for item in _beside_dimensions(word)):
        shortest = possible.shortest(shape) if is_open(store.word((shape,))) else None
        if shortest is not None:
            equate(store, (shape,), _new_dimensions(shape, shortest))
    return len(store.posted) > before


def _tails(relations: list[Relation]) -> Iterator[tuple[Shape, Shape]]:
    """In `broadcast([b,s]@f, [n]@g)`, what is behind the dimensions is one shape: two tables whose
    rows are added have rows of one shape.
    """
    for relation in relations:
        if isinstance(relation, Broadcast):
            ends = [part[-1:] for part in relation.parts if len(part) > 1 and is_open(part[-1:])]
            yield from ((ends[0], end) for end in ends[1:] if end != ends[0])


def _rows(relations: list[Relation]) -> Iterator[tuple[ShapeVar, int]]:
    """In `broadcast([b,n,d], [min(n,k)]@f)`, `f` has one dimension: what is `n` at most stands
    below `n`.
    """
    for relation in relations:
        parts = relation.parts if isinstance(relation, Broadcast) else ()
        wholes = [part for part in parts if not any(isinstance(item, ShapeVar) for item in part)]
        for part in parts:
            end, before = part[-1:], part[-2:-1]
            if before and is_open(end) and not isinstance(before[0], ShapeVar):
                ranks_ = {
                    len(whole) - at - 1
                    for whole in wholes
                    for at, size in enumerate(whole)
                    if not isinstance(size, ShapeVar) and size in smallest(before[0])
                }
                if len(ranks_) == 1:
                    assert isinstance(end[0], ShapeVar)
                    yield end[0], ranks_.pop()


def _new_dimensions(shape: ShapeVar, rank: int) -> Shape:
    return tuple(DimVar("", 1, scope=shape.scope) for _ in range(rank))


def _words(type_: Type, relations: list[Relation]) -> list[Shape]:
    """The shapes of records, of the parameters from the last to the first, of the result, and those
    that only conditions have.
    """
    assert isinstance(type_, Fn)
    words = [word for each in records_of(type_) for word in shapes_of(each)]
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
    last = next((end for end in known if end != (1,) and not _is_runtime(end)), None)
    if last is None:
        return
    for part in filter(is_open, relation.parts):
        shape = part[0]
        assert isinstance(shape, ShapeVar)
        if shape not in batches and is_open(store.word(part)) and possible.assume(shape, 1):
            equate(store, part, last)


def one_shape(store: Store) -> bool:
    """In `broadcast(f, g)`, `g` reads `f`."""
    changed = False
    for relation in waiting(store):
        if isinstance(relation, Broadcast):
            parts = [word for part in relation.parts if (word := store.word(part))]
            if all(map(is_open, parts)):
                for part in parts[1:]:
                    if store.word(part) != store.word(parts[0]):
                        equate(store, parts[0], part)
                        changed = True
    return changed


def equate(store: Store, word: Shape, other: Shape) -> None:
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


def _is_runtime(word: Shape) -> bool:
    return any(isinstance(size, DimVar) and size.runtime for size in word)


def is_open(word: Shape) -> bool:
    return len(word) == 1 and isinstance(word[0], ShapeVar) and not word[0].runtime


def records_of(type_: Type) -> Iterator[Record]:
    match type_:
        case Tuple(items):
            if isinstance(type_, Record):
                yield type_
            for item in items:
                yield from records_of(item)
        case Fn(params, result):
            for part in (*params, result):
                yield from records_of(part)
        case _:
            return
