"""Elimination: the waiting equations that share monomials are solved as one linear system.

Each is a row over its monomials. Rows are combined with integer factors, so no solution is lost;
what a combination decides is posted. A system without any integer solution is a conflict, even
where no single equation shows it.
"""

from __future__ import annotations

from math import gcd

from axon.solver.constraints import Constraint
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Mono
from axon.types.type import DimEq
from axon.types.variables import DimVar

# A larger system is left as it is: its equations wait, which is sound.
MOST_ROWS = 48
MOST_BITS = 256

Row = dict[Mono, int]


def eliminate(store: Store, constraint: Constraint) -> None:
    """Solve the system around one waiting equation; called when nothing simpler is left to do."""
    rows = _component(store, constraint)
    if len(rows) < 2:
        return
    store.work += len(rows) ** 2
    parents = tuple(c for _, c in rows)
    known = [row for row, _ in rows]
    echelon = _echelon(known)
    if echelon is None:
        return
    found = [r for r in _reduced(echelon) if r and r not in known and _decides(r)]
    if found:
        known_rows = {_primitive(row) for row in known}
        found = [row for row in found if _primitive(row) not in known_rows]
    for row in found:
        store.imply("elimination", parents, DimEq(dims.from_terms(dict(row)), 0))
    if found:
        store.note("elimination", constraint)
    elif not _solvable(known):
        clash = Constraint(constraint.relation, constraint.origin, constraint.depth, parents)
        assert isinstance(constraint.relation, DimEq)
        store.unwait(constraint)
        store.conflict(
            "elimination", clash, "division", constraint.relation.left, constraint.relation.right
        )


def _component(store: Store, start: Constraint) -> list[tuple[Row, Constraint]]:
    """The waiting equations connected with this one through monomials, up to a bound."""
    rows: dict[Constraint, Row] = {}
    seen: set[Mono] = {()}
    todo = [start]
    while todo and len(rows) < MOST_ROWS:
        constraint = todo.pop()
        if constraint in rows or not isinstance(constraint.relation, DimEq):
            continue
        relation = constraint.relation
        rows[constraint] = dims.terms_of(store.unrewritten(dims.sub(relation.left, relation.right)))
        for mono in rows[constraint]:
            if mono not in seen:
                seen.add(mono)
                lead = mono[0]
                alone = len(mono) == 1 and isinstance(lead, DimVar)
                todo.extend(store.watching(lead if alone and isinstance(lead, DimVar) else mono))
    return [(row, c) for c, row in rows.items() if row]


def _columns(rows: list[Row]) -> list[Mono]:
    """Products and quotients first, to be eliminated before the variables; then by age."""
    found = {m for row in rows for m in row if m}
    return sorted(found, key=lambda m: (_is_linear(m), [a.id for a in m]))


def _is_linear(mono: Mono) -> bool:
    return len(mono) == 1 and isinstance(mono[0], DimVar)


def _primitive(row: Row) -> frozenset[tuple[Mono, int]]:
    """A key that is the same for every multiple of an equation."""
    common = gcd(*row.values())
    if row[max(row, key=lambda m: [a.id for a in m])] < 0:
        common = -common
    return frozenset((m, c // common) for m, c in row.items())


def _echelon(rows: list[Row]) -> list[Row] | None:
    """Integer row echelon form: multiples of rows are subtracted from others, which keeps
    solutions. None if the numbers become too large.
    """
    todo = [dict(row) for row in rows]
    done: list[Row] = []
    for column in _columns(rows):
        active = [row for row in todo if row.get(column)]
        while len(active) > 1:
            active.sort(key=lambda row: abs(row[column]))
            least = active[0]
            for row in active[1:]:
                _take(row, row[column] // least[column], least)
            active = [row for row in active if row.get(column)]
        if active:
            if max(map(int.bit_length, active[0].values())) > MOST_BITS:
                return None
            done.append(active[0])
            todo = [row for row in todo if row is not active[0]]
    return [_clean(row) for row in done + todo]


def _reduced(rows: list[Row]) -> list[Row]:
    """Each pivot eliminated from the rows above it, as far as that leaves fewer unknowns."""
    columns = _columns(rows)
    pivots = [next((c for c in columns if row.get(c)), ()) for row in rows]
    for i in range(len(rows) - 1, -1, -1):
        pivot = pivots[i]
        if not pivot:
            continue
        for j in range(i):
            if rows[j].get(pivot):
                common = gcd(rows[i][pivot], rows[j][pivot])
                factor = rows[i][pivot] // common
                scaled = {m: factor * c for m, c in rows[j].items()}
                _take(scaled, rows[j][pivot] // common, rows[i])
                scaled = _clean(scaled)
                if len(scaled) <= len(rows[j]):
                    rows[j] = scaled
    return rows


def _take(row: Row, factor: int, other: Row) -> None:
    for mono, coefficient in other.items():
        row[mono] = row.get(mono, 0) - factor * coefficient


def _clean(row: Row) -> Row:
    return {m: c for m, c in row.items() if c}


def _decides(row: Row) -> bool:
    """Whether an equation is a conflict, binds a variable, or determines a monomial.

    One that would wait is not worth posting: it would be combined again.
    """
    terms = {m: c for m, c in row.items() if m}
    constant = row.get((), 0)
    common = gcd(*terms.values())
    if len(terms) < 2 or constant % common:
        return True
    for mono, coefficient in terms.items():
        lead = mono[0]
        alone = abs(coefficient) == common and len(mono) == 1
        if alone and isinstance(lead, DimVar) and not dims.occurs_elsewhere(lead, mono, terms):
            return True
    signs = {
        c > 0 if dims.is_nonnegative(dims.from_terms({m: 1})) else None for m, c in terms.items()
    }
    return (signs == {True} and constant >= 0) or (signs == {False} and constant <= 0)


def _solvable(rows: list[Row]) -> bool:
    """Whether the rows have a common integer solution, their monomials taken as unknowns. True also
    if the numbers become too large.

    Columns are combined instead of rows until the matrix is triangular (Hermite normal form). The
    unknowns of that form are integers exactly if the old ones are, and are read off one by one.
    """
    columns = _columns(rows)
    matrix = [[row.get(c, 0) for c in columns] for row in rows]
    wanted = [-row.get((), 0) for row in rows]
    values: list[int] = []
    rank = 0
    for i, row in enumerate(matrix):
        while True:
            live = [j for j in range(rank, len(columns)) if row[j]]
            if len(live) < 2:
                break
            least = min(live, key=lambda j: abs(row[j]))
            if row[least].bit_length() > MOST_BITS:
                return True
            for j in live:
                if j != least:
                    factor = row[j] // row[least]
                    for other in matrix[i:]:
                        other[j] -= factor * other[least]
        rest = wanted[i] - sum(a * x for a, x in zip(row, values, strict=False))
        if live:
            j = live[0]
            for other in matrix[i:]:
                other[rank], other[j] = other[j], other[rank]
            if rest % row[rank]:
                return False
            values.append(rest // row[rank])
            rank += 1
        elif rest:
            return False
    return True
