"""What is left of the constraints, written in one way: the order of a program's lines, and of the
solver's steps, does not show in a signature.

Equal words are written as the first of them, conditions are told in the order of their form.
"""

from __future__ import annotations

from dataclasses import dataclass

from axon.types.dim import Dim
from axon.types.show import Names, Show
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    HasRank,
    Relation,
    Renaming,
    RowOf,
    Shape,
    ShapeEq,
    Type,
    Uniform,
    relation_variables,
    shape_variables,
    type_variables,
)
from axon.types.variables import ShapeVar, Var

MOST_RELATIONS = 60


def canonical(type_: Type, relations: list[Relation]) -> tuple[Type, list[Relation]]:
    """The same type under the same relations."""
    if not relations:
        return type_, relations
    words = _words(relations)
    if words:
        writing = _Writing({}, {}, {}, {}, words)
        type_ = writing.type(type_)
        relations = [_turned(writing, r) for r in relations]
        relations = [r for r in dict.fromkeys(relations) if not _says_nothing(r)]
    return type_, in_order(type_, relations)


# --- words -------------------------------------------------------------------------------------


def _words(relations: list[Relation]) -> dict[Shape, Shape]:
    """For each word that equations say is another one, the one of them that is written."""
    first: dict[Shape, Shape] = {}
    for relation in relations[:MOST_RELATIONS]:
        if isinstance(relation, ShapeEq):
            a, b = (_root(first, word) for word in (relation.left, relation.right))
            if a != b:
                a, b = sorted((a, b), key=_rank)
                first[b] = a
    return {word: _root(first, word) for word in first if not _is_users(word)}


def _root(first: dict[Shape, Shape], word: Shape) -> Shape:
    while word in first:
        word = first[word]
    return word


def _rank(word: Shape) -> tuple[bool, int, str]:
    """A user's word before ours, a short one before a long one, a shape's front before its end."""
    form = "".join("b" if isinstance(item, ShapeVar) else "a" for item in reversed(word))
    return not _is_users(word), len(word), form


def _is_users(word: Shape) -> bool:
    """Whether a word has a name that the user has given: it stays as it is (D2)."""
    return any(v.user for v in shape_variables(word))


@dataclass(slots=True)
class _Writing(Renaming):
    """Writes words as others that they are equal to."""

    words: dict[Shape, Shape]

    def shape(self, shape: Shape) -> Shape:
        for word, written in self.words.items():
            at = _find(shape, word)
            if at is not None:
                return self.shape((*shape[:at], *written, *shape[at + len(word) :]))
        return shape

    def dim(self, dim: Dim) -> Dim:
        return dim


def _find(shape: Shape, word: Shape) -> int | None:
    for at in range(len(shape) - len(word) + 1):
        if shape[at : at + len(word)] == word:
            return at
    return None


def _turned(writing: _Writing, relation: Relation) -> Relation:
    """An equation between words stays one, the word that is written on the right."""
    match relation:
        case ShapeEq(left, right):
            a, b = sorted((left, right), key=_rank)
            written = writing.words.get(b)
            if written is None:
                return ShapeEq(left, right) if _is_users(b) else ShapeEq(b, a)
            return ShapeEq(b, written)
        case Broadcast():
            return writing.relation(relation)
        case _:
            return relation


def _says_nothing(relation: Relation) -> bool:
    return isinstance(relation, ShapeEq) and relation.left == relation.right


# --- order -------------------------------------------------------------------------------------


def in_order(type_: Type, relations: list[Relation]) -> list[Relation]:
    """By what they say of the type's variables, in the order in which the type names them; those of
    other variables follow what ties them to it.
    """
    if len(relations) < 2 or len(relations) > MOST_RELATIONS:
        return relations
    names = Names()
    names.reserve(type_variables(type_))
    for relation in relations:
        names.reserve(relation_variables(relation))
    for var in type_variables(type_):
        names(var)
    left, found = list(relations), list[Relation]()
    while left:
        known = set(names.given)
        best = min(left, key=lambda r: _key(r, names, known))
        left.remove(best)
        found.append(best)
        for var in relation_variables(best):
            names(var)
    return found


def _key(relation: Relation, names: Names, known: set[Var]) -> tuple[int, int, str]:
    """How many of its variables have no name yet, what kind it is, and how it reads."""
    new = sum(var not in known for var in set(relation_variables(relation)))
    trial = Names(given=dict(names.given), taken=set(names.taken))
    return new, _kind(relation), Show(trial).relation(relation)


def _kind(relation: Relation) -> int:
    match relation:
        case ShapeEq():
            return 0
        case Broadcast():
            return 1
        case DimEq():
            return 2
        case DimBroadcast():
            return 3
        case AtLeast():
            return 4
        case Uniform() | RowOf() | HasRank():
            return 5
