"""What a scheme says of concrete shapes, by search: the solver takes no part.

`instances` looks for sizes and shapes of the scheme's variables that make the parameters the given
shapes and all conditions true.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from axon.types.dim import Atom, Dim, FloorDiv, Max, Min, Size, Vast
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    Fn,
    HasRank,
    Record,
    Relation,
    RowOf,
    Scheme,
    Shape,
    ShapeEq,
    Tensor,
    Tuple,
    Type,
    Uniform,
    relation_variables,
)
from axon.types.variables import DimVar, ShapeVar
from tests.properties.systems import broadcast, broadcast_sizes

Sizes = tuple[int, ...]
Env = dict[DimVar | ShapeVar, int | Sizes]
LARGEST = 16


class Unknown(Exception):
    """A variable has no value yet."""


class Unclear(Exception):
    """There is too much to search."""


def size(dim: Dim, env: Env) -> int:
    if isinstance(dim, int):
        return dim
    if isinstance(dim, DimVar):
        return _atom(dim, env)
    return sum(c * prod(_atom(a, env) for a in m) for m, c in dim.terms.items())


def _atom(atom: Atom, env: Env) -> int:
    match atom:
        case DimVar(rank_of=None):
            value = env.get(atom)
        case DimVar():
            assert atom.rank_of is not None
            word = env.get(atom.rank_of)
            value = len(word) if isinstance(word, tuple) else None
        case FloorDiv(args=(top, bottom)):
            divisor = size(bottom, env)
            value = size(top, env) // divisor if divisor else 0
        case Min(args=parts):
            value = min(size(p, env) for p in parts)
        case Max(args=parts):
            value = max(size(p, env) for p in parts)
        case Size(args=(shape,)):
            word = env.get(shape)
            value = prod(word) if isinstance(word, tuple) else None
        case Vast():
            raise Unclear
    if not isinstance(value, int):
        raise Unknown
    return value


def sizes(word: Shape, env: Env) -> Sizes:
    found: list[int] = []
    for item in word:
        if isinstance(item, ShapeVar):
            value = env.get(item)
            if not isinstance(value, tuple):
                raise Unknown
            found.extend(value)
        else:
            found.append(size(item, env))
    return tuple(found)


def fit(word: Shape, target: Sizes, env: Env, later: tuple[Relation, ...]) -> Iterator[Found]:
    """Every way to read the target as the word; what cannot be seen yet is for later."""
    if not word:
        if not target:
            yield env, later
        return
    item, rest = word[0], word[1:]
    if isinstance(item, ShapeVar):
        known = env.get(item)
        for i in range(len(target) + 1):
            if known is None or known == target[:i]:
                yield from fit(rest, target[i:], {**env, item: target[:i]}, later)
    elif target:
        yield from _fit_dim(item, target[0], rest, target[1:], env, later)


def _fit_dim(
    item: Dim, value: int, rest: Shape, target: Sizes, env: Env, later: tuple[Relation, ...]
) -> Iterator[Found]:
    if isinstance(item, DimVar) and item.rank_of is None and item not in env:
        yield from fit(rest, target, {**env, item: value}, later)
        return
    try:
        if size(item, env) == value:
            yield from fit(rest, target, env, later)
    except Unknown:
        yield from fit(rest, target, env, (*later, DimEq(item, value)))


Found = tuple[Env, tuple[Relation, ...]]


def instances(scheme: Scheme, shapes: tuple[Sizes, ...]) -> Iterator[Env]:
    assert isinstance(scheme.type, Fn)
    found: list[Found] = [({}, scheme.relations)]
    for param, shape in zip(scheme.type.params, shapes, strict=True):
        if not isinstance(param, Tensor):
            continue  # of any type: nothing is done with it
        found = [more for env, later in found for more in fit(param.shape, shape, env, later)]
    budget = [20_000]
    for env, relations in found:
        yield from _satisfy(env, relations, budget)


def _satisfy(env: Env, relations: tuple[Relation, ...], budget: list[int]) -> Iterator[Env]:
    budget[0] -= 1
    if budget[0] < 0:
        raise Unclear
    for i, relation in enumerate(relations):
        ways = _ways(relation, env)
        if ways is not None:
            rest = relations[:i] + relations[i + 1 :]
            for wider, later in ways:
                yield from _satisfy(wider, (*rest, *later), budget)
            return
    if not relations:
        yield env
        return
    free = [v for r in relations for v in relation_variables(r) if v not in env]
    dims = [v for v in free if isinstance(v, DimVar) and v.rank_of is None]
    if not dims:
        raise Unclear
    for value in range(LARGEST + 1):
        yield from _satisfy({**env, dims[0]: value}, relations, budget)


def _ways(relation: Relation, env: Env) -> list[Found] | None:
    """The ways in which a relation holds; None if too little is known."""
    match relation:
        case Uniform() | RowOf() | HasRank():
            return [(env, ())]
        case AtLeast(dim, _):
            pairs: list[tuple[Shape, Shape]] = []
            try:
                return [(env, ())] if size(dim, env) >= 0 else []
            except Unknown:
                return None
        case ShapeEq(left, right):
            pairs = [(left, right), (right, left)]
        case DimEq(a, b):
            pairs = [((a,), (b,)), ((b,), (a,))]
        case Broadcast(result, parts):
            try:
                made = broadcast(*(sizes(p, env) for p in parts))
            except Unknown:
                return None
            return [] if made is None else list(fit(result, made, env, ()))
        case DimBroadcast(dim_result, dim_parts):
            try:
                one = broadcast_sizes(*(size(p, env) for p in dim_parts))
            except Unknown:
                return None
            return [] if one is None else list(fit((dim_result,), (one,), env, ()))
    for side, other in pairs:
        try:
            target = sizes(side, env)
        except Unknown:
            continue
        if any(value < 0 for value in target):
            return []
        ways = list(fit(other, target, env, ()))
        # an equation that comes back as it went waits for its variables
        if not any(_is_same(relation, later) for _, later in ways):
            return ways
    return None


def _is_same(relation: Relation, later: tuple[Relation, ...]) -> bool:
    return isinstance(relation, DimEq) and any(
        isinstance(r, DimEq) and r.left in (relation.left, relation.right) for r in later
    )


def show(type_: Type, env: Env) -> str:
    """A type of sizes that are known, as Axon writes it."""
    match type_:
        case Tensor(_, shape):
            found = sizes(shape, env)
            return f"f32 [{','.join(map(str, found))}]" if found else "f32"
        case Record(items, names, None):
            inside = ", ".join(f"{n} : {show(i, env)}" for n, i in zip(names, items, strict=True))
            return f"{{ {inside} }}" if inside else "{}"
        case Record():
            raise Unclear
        case Tuple(items):
            return f"({', '.join(show(i, env) for i in items)})"
        case _:
            raise Unclear
