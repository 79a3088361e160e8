"""One step of the solver: which rules apply to which relation."""

from __future__ import annotations

from axon.solver.arithmetic import solve_dim_eq
from axon.solver.broadcasting import solve_broadcast, solve_dim_broadcast
from axon.solver.constraints import Constraint
from axon.solver.elimination import eliminate
from axon.solver.inequalities import solve_at_least
from axon.solver.rows import solve_row_of
from axon.solver.store import Step, Store, Trace
from axon.solver.words import solve_has_rank, solve_shape_eq, solve_uniform
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    HasRank,
    RowOf,
    ShapeEq,
    Uniform,
)

# All rules, by the name that derivations show; the paper's first.
RULES = (
    "basic",
    "reordering",
    "unpacking",
    "empty shapes",
    "append unpacking",
    "append dimensionality",
    "simplification",
    "arithmetic simplification",
    "partial expression simplification",
    "rank",
    "multiset",
    "elimination",
    "broadcasting",
    "non-negativity",
    "raggedness",
)


def step(store: Store, constraint: Constraint) -> None:
    """Process one constraint under the bindings.

    One whose arithmetic becomes too large is set aside.
    """
    match constraint.relation:
        case ShapeEq():
            solve_shape_eq(store, constraint, constraint.relation)
        case DimEq():
            solve_dim_eq(store, constraint, constraint.relation)
        case Broadcast():
            solve_broadcast(store, constraint, constraint.relation)
        case RowOf():
            solve_row_of(store, constraint, constraint.relation)
        case DimBroadcast():
            solve_dim_broadcast(store, constraint, constraint.relation)
        case AtLeast():
            solve_at_least(store, constraint, constraint.relation)
        case HasRank():
            solve_has_rank(store, constraint, constraint.relation)
        case Uniform():
            solve_uniform(store, constraint, constraint.relation)


def new_store(
    trace: Trace | None = None, levels: bool = True, most: int | None = None, first: bool = False
) -> Store:
    """A store; `most` bounds the steps, after which it keeps what it has found."""
    return Store(step if most is None else bounded(most), eliminate, trace, levels, first)


def bounded(most: int) -> Step:
    """A step that counts, and ends the work of its store after `most` steps."""

    def counted(store: Store, constraint: Constraint) -> None:
        if store.work >= most:
            store.end()
        else:
            store.work += 1
            step(store, constraint)

    return counted
