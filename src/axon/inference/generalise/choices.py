"""Sizes that one of two branches decides: `?k = either(p, q)`.

Where the two are known to be equal, so is the size of the result; until then it is known at run
time. A scheme keeps the condition, so that a use that knows more of the sizes knows more of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from axon.inference.state import Choice, State
from axon.solver.constraints import Origin
from axon.types import dim as dims
from axon.types.type import (
    DimEq,
    DimValue,
    Either,
    Fn,
    Renaming,
    Scheme,
    Tensor,
    Tuple,
    Type,
    type_variables,
)
from axon.types.variables import DimVar, ShapeVar


def add(state: State, result: Type, then: Type, otherwise: Type, origin: Origin) -> None:
    """The run-time sizes of a result that one of two tensors of its rank is."""
    found = [state.prune(type_) for type_ in (result, then, otherwise)]
    words = [state.store.word(t.shape) for t in found if isinstance(t, Tensor)]
    if len(words) != 3 or len({len(word) for word in words}) != 1:
        return
    triples = list(zip(*words, strict=True))
    triples.reverse()  # as `taken` reads them
    for size, left, right in triples:
        if isinstance(size, DimVar) and size.runtime and left != right:
            assert not isinstance(left, ShapeVar) and not isinstance(right, ShapeVar)
            state.choices.append(Choice(size, left, right, origin, state.depth))


def post(state: State, scheme: Scheme, renaming: Renaming, origin: Origin, depth: int) -> None:
    """The choices of a scheme, for one use of it."""
    for each in scheme.choices:
        size = renaming.dim(each.size)
        assert isinstance(size, DimVar)
        left, right = renaming.dim(each.left), renaming.dim(each.right)
        state.choices.append(Choice(size, left, right, origin, depth))


def solve(state: State) -> None:
    """Sizes that turn out equal decide the result; ones that differ leave it to the run."""
    kept: list[Choice] = []
    for each in state.choices:
        left, right = state.store.dim(each.left), state.store.dim(each.right)
        gap = dims.sub(left, right)
        if gap == 0:
            each.size.derived = True  # it follows from the two: nothing is to be checked
            state.store.post(DimEq(each.size, left), each.origin, each.depth)
        elif not isinstance(gap, int):
            kept.append(each)
    state.choices[:] = kept


def taken(state: State, type_: Type, level: int) -> tuple[Either, ...]:
    """Take out the choices of a definition that its type shows."""
    if not state.choices:
        return ()
    solve(state)
    found: list[Either] = []
    shown = set(type_variables(state.resolve(type_)))
    mine = [each for each in state.choices if each.size.level > level]
    state.choices[:] = [each for each in state.choices if each.size.level <= level]
    for each in reversed(mine):  # an outer choice is made after those that it is between
        size = state.store.dim(each.size)
        if isinstance(size, DimVar) and size.runtime and size in shown:
            either = Either(size, state.store.dim(each.left), state.store.dim(each.right))
            shown.update((*dims.variables(either.left), *dims.variables(either.right)))
            found.append(either)
    return tuple(found)


def with_choices(type_: Type, choices: Sequence[Either]) -> Type:
    """The type with its choices beside the result, so that all are renamed alike."""
    if not choices or not isinstance(type_, Fn):
        return type_
    more = [Tuple((DimValue(c.size), DimValue(c.left), DimValue(c.right))) for c in choices]
    return Fn(type_.params, Tuple((type_.result, *more)))


def without_choices(type_: Type, choices: Sequence[Either]) -> tuple[Type, tuple[Either, ...]]:
    """The type and its choices again."""
    if not choices or not isinstance(type_, Fn):
        return type_, ()
    assert isinstance(type_.result, Tuple)
    result, *more = type_.result.items
    found: list[Either] = []
    for each in more:
        assert isinstance(each, Tuple)
        size, left, right = (part.dim for part in each.items if isinstance(part, DimValue))
        if isinstance(size, DimVar) and size.runtime and left != right:
            found.append(Either(size, left, right))
    return Fn(type_.params, result), tuple(found)
