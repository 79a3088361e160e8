"""A canonical form of residual constraints: the order of a program's lines, and of the solver's
steps, does not show in a signature.

Of equal words the first one is written everywhere; conditions are sorted by their form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from axon.types import dim as dims
from axon.types.dim import Dim, Mono, Poly
from axon.types.show import Names, Show, balanced
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    Relation,
    Renaming,
    Shape,
    ShapeEq,
    Type,
    relation_variables,
    shape_size,
    shape_variables,
    type_variables,
)
from axon.types.variables import DimVar, ShapeVar, Var

MOST_RELATIONS = 60
MOST_WRITTEN = 8
KINDS: Final = (ShapeEq, Broadcast, DimEq, DimBroadcast, AtLeast)
"""The relations that are shown, in this order."""


def canonical(type_: Type, relations: list[Relation]) -> tuple[Type, list[Relation]]:
    """An equivalent type and relations, in canonical form."""
    if not relations:
        return type_, relations
    first = _classes(relations)
    if first:
        roots = {word: _root(first, word) for word in first}
        words = {word: root for word, root in roots.items() if not _is_users(word)}
        type_ = _Rewriting({}, {}, {}, {}, words, _sizes(words)).type(type_)
        rewriting = _Rewriting({}, {}, {}, {}, words, _sizes(roots))
        equations = [_oriented(word, root) for word, root in roots.items()]
        others = [rewriting.relation(r) for r in relations if not isinstance(r, ShapeEq)]
        trivial = [r for r in others if isinstance(r, DimEq) and r.left == r.right]
        relations = [*equations, *dict.fromkeys(r for r in others if r not in trivial)]
    return type_, in_order(type_, relations)


# --- words -------------------------------------------------------------------------------------


def _classes(relations: list[Relation]) -> dict[Shape, Shape]:
    """For each word that an equation replaces, the equal word that precedes it."""
    first: dict[Shape, Shape] = {}
    for relation in relations:
        if isinstance(relation, ShapeEq):
            a, b = (_root(first, word) for word in (relation.left, relation.right))
            if a != b:
                a, b = sorted((a, b), key=_rank)
                first[b] = a
    return first


def _oriented(word: Shape, other: Shape) -> ShapeEq:
    """An equation of words with its sides in an order that does not depend on names."""
    right, left = sorted((word, other), key=_form)
    return ShapeEq(left, right)


def _root(first: dict[Shape, Shape], word: Shape) -> Shape:
    while word in first:
        word = first[word]
    return word


def _rank(word: Shape) -> tuple[bool, bool, int, str]:
    """Dimensions before unknowns, a user's word before ours, a short one before a long one, the
    front of a shape before its end.
    """
    open_, length, form = _form(word)
    return open_, not _is_users(word), length, form


def _form(word: Shape) -> tuple[bool, int, str]:
    form = "".join("b" if isinstance(item, ShapeVar) else "a" for item in reversed(word))
    return "b" in form, len(word), form


def _sizes(words: dict[Shape, Shape]) -> list[tuple[Mono, Dim]]:
    """The number of elements of each word, a product, and that of the word it is written as."""
    plain = [each for each in words.items() if not any(isinstance(i, Poly) for i in sum(each, ()))]
    found = [(dims.terms_of(shape_size(word)), shape_size(root)) for word, root in plain]
    return [(next(iter(terms)), size) for terms, size in found if list(terms.values()) == [1]]


def _is_users(word: Shape) -> bool:
    """Whether a word has a name chosen by the user: it stays as it is."""
    return any(v.user for v in shape_variables(word))


@dataclass(slots=True)
class _Rewriting(Renaming):
    """Replaces words by equal ones, and their numbers of elements too."""

    words: dict[Shape, Shape]
    sizes: list[tuple[Mono, Dim]]

    def shape(self, shape: Shape) -> Shape:
        for _ in range(MOST_WRITTEN):
            for word, written in self.words.items():
                at = _find(shape, word)
                if at is not None:
                    shape = (*shape[:at], *written, *shape[at + len(word) :])
                    break
            else:
                break
        return tuple(item if isinstance(item, ShapeVar) else self.dim(item) for item in shape)

    def dim(self, dim: Dim) -> Dim:
        if not isinstance(dim, Poly):
            return dim
        total: Dim = 0
        for mono, factor in dim.terms.items():
            total = dims.add(total, dims.scale(factor, self._product(mono)))
        return total

    def _product(self, mono: Mono) -> Dim:
        written: Dim = 1
        for _ in range(MOST_WRITTEN):
            for product, size in self.sizes:
                rest = dims.divide(mono, product)
                if rest is not None:
                    written, mono = dims.mul(written, size), rest
                    break
            else:
                break
        return dims.mul(written, dims.from_terms({mono: 1}))


def _find(shape: Shape, word: Shape) -> int | None:
    for at in range(len(shape) - len(word) + 1):
        if shape[at : at + len(word)] == word:
            return at
    return None


# --- order -------------------------------------------------------------------------------------


def in_order(type_: Type, relations: list[Relation]) -> list[Relation]:
    """The relations in the order of the variables they mention, as the type names these; relations
    of other variables follow those that connect them to the type.
    """
    places: dict[Var, str] = {}
    for var in type_variables(type_):
        places.setdefault(var, f"z{len(places):03}")
    relations = list(dict.fromkeys(_sorted(relation, places) for relation in relations))
    if len(relations) < 2 or len(relations) > MOST_RELATIONS:
        return relations
    unseen = [relation for relation in relations if type(relation) not in KINDS]
    unplaced = [
        _Unplaced(r, KINDS.index(type(r)), set(relation_variables(r)) - places.keys())
        for r in relations
        if type(r) in KINDS
    ]
    found: list[Relation] = []
    while unplaced:
        least = min((len(each.unplaced), each.kind) for each in unplaced)
        first = [each for each in unplaced if (len(each.unplaced), each.kind) == least]
        best = first[0] if len(first) == 1 else min(first, key=lambda each: each.text(places))
        unplaced.remove(best)
        found.append(best.relation)
        for var in relation_variables(best.relation):
            if var not in places:
                places[var] = f"z{len(places):03}"
                for each in unplaced:
                    each.place(var)
    return [*found, *unseen]


def _sorted(relation: Relation, places: dict[Var, str]) -> Relation:
    """A broadcast with its parts, an equation with its sides, in the order in which the type names
    them; a lone variable is on the left.
    """

    def place(part: Shape) -> list[str]:
        return [places.get(var, "~") for var in shape_variables(part)]

    match relation:
        case Broadcast(result, parts):
            return Broadcast(result, tuple(sorted(parts, key=place)))
        case DimBroadcast(dim, sizes):
            return DimBroadcast(dim, tuple(sorted(sizes, key=lambda size: place((size,)))))
        case DimEq(left, right):
            sides = balanced(dims.sub(left, right), "=", "=")[::2]
            one, other = [(not isinstance(s, DimVar), sorted(place((s,)))) for s in sides]
            return DimEq(right, left) if other < one else relation
        case _:
            return relation


@dataclass(slots=True, eq=False)
class _Unplaced:
    """A relation that has no place in the order yet, and those of its variables that have none."""

    relation: Relation
    kind: int
    unplaced: set[DimVar | ShapeVar]
    _text: str = ""

    def place(self, var: DimVar | ShapeVar) -> None:
        if var in self.unplaced:
            self.unplaced.remove(var)
            self._text = ""

    def text(self, places: dict[Var, str]) -> str:
        """The relation with places for names."""
        if not self._text:
            names = Names(given=dict(places), taken=set(places.values()))
            self._text = Show(names).relation(self.relation)
        return self._text
