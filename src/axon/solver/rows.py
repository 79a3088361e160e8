"""Rows: the arguments and results of a function that is called for each row of a tensor.

A size that varies is, in one call, the size of that row. In the other direction, a size that each
call makes for itself varies over all results. A size from outside is the same in each call. While
it is not known which of these a size is, the relation waits.
"""

from __future__ import annotations

from axon.solver.constraints import Constraint
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.rows import RowCall
from axon.types.type import DimEq, RowOf, Shape, ShapeEq, shape_variables
from axon.types.variables import DimVar, ShapeVar

RULE = "raggedness"

# Each part of unknown rank in a row is one in all rows, and conversely. Shapes that contain
# each other would have ever more of them: after so many in one call the relation waits.
MOST_PARTS = 64


def solve_row_of(store: Store, constraint: Constraint, relation: RowOf) -> None:
    row, rest = store.word(relation.row), store.word(relation.rest)
    call = relation.call
    if row == rest == ():
        store.drop(RULE, constraint)
    elif len(row) == len(rest) == 1 and not isinstance(row[0], ShapeVar):
        if isinstance(rest[0], ShapeVar):
            _spell_out(store, constraint, rest, row, call, inside=False)
        else:
            _solve_size(store, constraint, row[0], rest[0], call)
    elif not _is_lone(rest):
        _spell_out(store, constraint, row, rest, call, inside=True)
    elif not _is_lone(row):
        _spell_out(store, constraint, rest, row, call, inside=False)
    else:
        _solve_unknown(store, constraint, row, rest, call)


def _is_lone(word: Shape) -> bool:
    return len(word) == 1 and isinstance(word[0], ShapeVar)


def _solve_unknown(
    store: Store, constraint: Constraint, row: Shape, rest: Shape, call: RowCall
) -> None:
    """Nothing is known of either shape but that their ranks are equal: posted once the rank of
    either is needed.
    """
    inner, outer = row[0], rest[0]
    assert isinstance(inner, ShapeVar) and isinstance(outer, ShapeVar)
    if inner is outer:
        store.drop(RULE, constraint)
    elif outer.runtime or not call.is_inside(inner):
        store.derive(RULE, constraint, ShapeEq(row, rest))
    else:
        if not constraint.counted and (store.watches_rank(inner) or store.watches_rank(outer)):
            constraint.counted = True
            store.imply(RULE, (constraint,), DimEq(inner.rank, outer.rank))
            store.watch_rank(inner)
            store.watch_rank(outer)
        store.wait(constraint, (inner, outer))


def _spell_out(
    store: Store, constraint: Constraint, unknown: Shape, known: Shape, call: RowCall, inside: bool
) -> None:
    """One of the shapes is known in part: the other has the same parts."""
    lone = unknown[0] if _is_lone(unknown) else None
    if lone in known:  # both have one rank: nothing stands beside it
        beside = [item for item in known if item is not lone]
        if any(not isinstance(item, ShapeVar) for item in beside):
            store.conflict(RULE, constraint, "infinite", unknown, known)
        else:
            store.derive(RULE, constraint, *(ShapeEq((item,), ()) for item in beside))
        return
    if call.parts > MOST_PARTS:
        store.wait(constraint, shape_variables(unknown + known))
        return
    word: list[Dim | ShapeVar] = []
    pairs: list[RowOf] = []
    for item in known:
        if not isinstance(item, ShapeVar) and _is_same(item, call):
            word.append(item)
            continue
        other: DimVar | ShapeVar
        if isinstance(item, ShapeVar):
            other = call.shape(item, inside)
        else:
            level = max(v.level for v in dims.variables(item))
            other = call.dim(item, level, inside)
        word.append(other)
        pairs.append(RowOf((other,), (item,), call) if inside else RowOf((item,), (other,), call))
    store.derive(RULE, constraint, ShapeEq(unknown, tuple(word)), *pairs)


def _solve_size(store: Store, constraint: Constraint, row: Dim, rest: Dim, call: RowCall) -> None:
    if _is_same(rest, call) or _is_same(row, call):
        store.derive(RULE, constraint, DimEq(row, rest))
        return
    known = _of_one_row(rest, call)
    if known is not None:
        store.derive(RULE, constraint, DimEq(row, known))
        return
    known = _of_all_rows(row, call)
    if known is not None:
        store.derive(RULE, constraint, DimEq(rest, known))
        return
    store.wait(constraint, shape_variables((row, rest)))


def _is_same(size: Dim, call: RowCall) -> bool:
    """Whether a size is known to be the same in each call: a number, or a user's name from outside
    the function, which does not vary.
    """
    return isinstance(size, int) or all(
        var.user and not var.runtime and not call.is_inside(var) for var in dims.variables(size)
    )


def _of_one_row(rest: Dim, call: RowCall) -> Dim | None:
    """The size of one row, where it is known what varies; else None."""
    if not all(var.runtime for var in dims.variables(rest)):
        return None
    return dims.substitute(rest, lambda v: call.member(v) if v.over else v, dims.of_size)


def _of_all_rows(row: Dim, call: RowCall) -> Dim | None:
    """The size behind the rows, where it is known what differs between calls; else None."""
    inside = [var for var in dims.variables(row) if call.is_inside(var)]
    if not all(isinstance(var, DimVar) and var.runtime for var in inside):
        return None
    sizes = [v for v in dims.variables(row) if isinstance(v, DimVar)]
    if isinstance(row, Poly) and any(
        call.is_made(v) or (v.over and not call.is_inside(v)) for v in sizes
    ):
        return call.all_of(row)
    return dims.substitute(
        row, lambda v: call.all_rows(v) if v.over or call.is_inside(v) else v, dims.of_size
    )
