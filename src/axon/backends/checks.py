"""Evaluation of conditions on the actual sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from axon.backends.row_sizes import NotAligned, RowSizes, at, embeddings, rows_among
from axon.ops.memory import shown
from axon.solver.constraints import Origin
from axon.types.dim import Atom, Dim, FloorDiv, Max, Min, Size, Vast
from axon.types.show import Names, Show
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    HasRank,
    Relation,
    RowOf,
    Shape,
    ShapeEq,
    Uniform,
    relation_variables,
)
from axon.types.variables import DimVar, ShapeVar

SizeVar = DimVar | ShapeVar
Sizes = dict[SizeVar, Any]
"""An integer for a dimension (`RowSizes` where it varies, arrays of integers while it is tried), a
tuple of integers for a shape."""


class CheckFailed(Exception):
    """A condition on run-time sizes does not hold."""

    def __init__(self, relation: Relation, origin: Origin, sizes: Sizes) -> None:
        self.relation = relation
        self.origin = origin
        self.sizes = sizes

    def __str__(self) -> str:
        return describe_failure(self.relation, self.sizes)


class Untraceable(Exception):
    """JAX traces a program whose sizes depend on values, which are not known yet."""


def describe_failure(relation: Relation, sizes: Sizes, names: Names | None = None) -> str:
    """The condition, with the sizes that it fails for; `names` are shared with other messages."""
    names = Names(hints=True) if names is None else names
    names.reserve(relation_variables(relation))
    text = Show(names, named=True).relation(relation)
    shown = [
        f"{names(v)} = {_shown(sizes[v])}"
        for v in dict.fromkeys(relation_variables(relation))
        if v in sizes
    ]
    return f"{text} does not hold" + (f" for {', '.join(shown)}" if shown else "")


def _shown(size: Any) -> str:
    if isinstance(size, tuple):
        return f"[{','.join(map(str, size))}]"
    return str(size) if isinstance(size, RowSizes) else shown(size)


def check(held: tuple[Relation, Origin, list[SizeVar]], sizes: Sequence[Any]) -> None:
    relation, origin, variables = held
    if any(map(_varies_further_in, variables, sizes)):
        return
    if not any(_holds_in_all(relation, variables, each) for each in embeddings(sizes)):
        raise CheckFailed(relation, origin, dict(zip(variables, sizes, strict=True)))


def _varies_further_in(var: SizeVar, size: Any) -> bool:
    """Whether a size that is uniform in a row by its type varies in it: the rows of a stack of
    ragged tensors do. The operators on them compare them.
    """
    return isinstance(size, RowSizes) and isinstance(var, DimVar) and var.row and not var.over


def _holds_in_all(relation: Relation, variables: Sequence[SizeVar], sizes: Sequence[Any]) -> bool:
    """Whether a relation holds in all rows, and the rows are aligned."""
    try:
        return _holds_in_rows(relation, variables, sizes)
    except NotAligned:
        return False


def _holds_in_rows(relation: Relation, variables: Sequence[SizeVar], sizes: Sequence[Any]) -> bool:
    """Whether a relation is false in no row; rows that are not ragged are checked all at once."""
    count = rows_among(sizes)
    if any(isinstance(size, RowSizes) and isinstance(size.rows, tuple) for size in sizes):
        return all(
            _holds_in_rows(relation, variables, [at(size, i) for size in sizes])
            for i in range(count or 0)
        )
    plain = [size.rows if isinstance(size, RowSizes) else size for size in sizes]
    return holds(relation, dict(zip(variables, plain, strict=True))) is not False


def holds(relation: Relation, sizes: Sizes) -> bool | None:
    """Whether a relation is true; None where it mentions sizes that are not known.

    A broadcast or an equation with one unknown decides it, and is then true.
    """
    match relation:
        case DimEq(left, right):
            return _equal(_both(left, right, sizes), sizes, left, right)
        case ShapeEq(left_word, right_word):
            a, b = word(left_word, sizes), word(right_word, sizes)
            if a is None or b is None:
                return _solve_word(left_word, right_word, a, b, sizes)
            return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
        case Broadcast(result, parts):
            words = [word(part, sizes) for part in parts]
            if any(w is None for w in words):
                return None
            found = broadcast([w for w in words if w is not None])
            if found is None:
                return False
            wanted = word(result, sizes)
            if wanted is None:
                return _solve_word(result, (), None, found, sizes)
            return len(wanted) == len(found) and all(map(_same, wanted, found))
        case DimBroadcast(dim, parts):
            known = [value(part, sizes) for part in parts]
            if any(k is None for k in known):
                return None
            joined = broadcast([(k,) for k in known])
            if joined is None:
                return False
            size = joined[0] if joined else 1
            if isinstance(dim, DimVar) and dim not in sizes:
                sizes[dim] = size
                return True
            given = value(dim, sizes)
            return None if given is None else _same(given, size)
        case AtLeast(dim, _):
            at_least = value(dim, sizes)
            return None if at_least is None else bool(numpy.all(at_least >= 0))
        case Uniform() | RowOf() | HasRank():
            return True


def _both(left: Dim, right: Dim, sizes: Sizes) -> tuple[Any, Any]:
    return value(left, sizes), value(right, sizes)


def _equal(found: tuple[Any, Any], sizes: Sizes, left: Dim, right: Dim) -> bool | None:
    a, b = found
    if a is not None and b is not None:
        return _same(a, b)
    for known, other in ((a, right), (b, left)):
        if known is not None and isinstance(other, DimVar) and other.rank_of is None:
            sizes[other] = known
            return True
    return None


def _solve_word(left: Shape, right: Shape, a: Any, b: Any, sizes: Sizes) -> bool | None:
    """One unknown in one of two shapes is bound to the remaining sizes."""
    for word_, other in ((left, b), (right, a)):
        if other is None:
            continue
        missing = [i for i, item in enumerate(word_) if _item(item, sizes) is None]
        if len(missing) != 1:
            continue
        at = missing[0]
        item = word_[at]
        behind = len(word_) - at - 1
        if isinstance(item, ShapeVar):
            fixed = [part for i, part in enumerate(word_) if i != at]
            if any(isinstance(part, ShapeVar) for part in fixed):
                continue
            if len(other) < len(fixed):
                return False
            sizes[item] = tuple(other[at : len(other) - behind])
        elif isinstance(item, DimVar) and not any(isinstance(p, ShapeVar) for p in word_):
            if len(other) != len(word_):
                return False
            sizes[item] = other[at]
        else:
            continue
        found = word(word_, sizes)
        assert found is not None
        return len(found) == len(other) and all(map(_same, found, other))
    return None


def _item(item: Dim | ShapeVar, sizes: Sizes) -> Any:
    return sizes.get(item) if isinstance(item, ShapeVar) else value(item, sizes)


def _same(a: Any, b: Any) -> bool:
    """Whether sizes are not known to differ: a shape has no number where it varies."""
    return a is None or b is None or bool(numpy.all(a == b))


def broadcast(words: Sequence[Sequence[Any]]) -> tuple[Any, ...] | None:
    """The broadcast of some shapes, as in NumPy; None if they do not fit."""
    rank = max(map(len, words), default=0)
    result: list[Any] = []
    for i in range(-rank, 0):
        size: Any = 1
        for other in [w[i] for w in words if len(w) >= -i]:
            if size is None or other is None:
                size = None
                continue
            if not numpy.all((size == other) | (size == 1) | (other == 1)):
                return None
            rows = isinstance(size, numpy.ndarray) or isinstance(other, numpy.ndarray)
            size = numpy.where(size == 1, other, size) if rows else other if size == 1 else size
        result.append(size)
    return tuple(result)


def word(shape: Shape, sizes: Sizes) -> tuple[Any, ...] | None:
    found: list[Any] = []
    for item in shape:
        known = _item(item, sizes)
        if known is None:
            return None
        if isinstance(item, ShapeVar):
            found.extend(known)
        else:
            found.append(known)
    return tuple(found)


def value(dim: Dim, sizes: Sizes) -> Any:
    """The value of a dimension; None where it is not known, or divides by zero."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, DimVar):
        if dim.rank_of is not None:
            shape = sizes.get(dim.rank_of)
            return None if shape is None else len(shape)
        return sizes.get(dim)
    total: Any = 0
    for mono, coefficient in dim.terms.items():
        term: Any = coefficient
        for atom in mono:
            known = _atom(atom, sizes)
            if known is None:
                return None
            term = term * known
        total = total + term
    return total


def _atom(atom: Atom, sizes: Sizes) -> Any:
    match atom:
        case DimVar():
            return value(atom, sizes)
        case Size(args=(shape,)):
            known = sizes.get(shape)
            if known is None or None in known:
                return None
            product = 1
            for size in known:
                product *= size
            return product
        case Vast():
            return None
        case FloorDiv() | Min() | Max():
            parts = [value(part, sizes) for part in atom.args]
            if any(part is None for part in parts):
                return None
            if isinstance(atom, FloorDiv):
                return None if numpy.any(parts[1] == 0) else parts[0] // parts[1]
            join = numpy.minimum if isinstance(atom, Min) else numpy.maximum
            if all(isinstance(part, int) for part in parts):
                return min(parts) if isinstance(atom, Min) else max(parts)
            result = parts[0]
            for part in parts[1:]:
                result = join(result, part)
            return result
