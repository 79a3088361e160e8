"""Integers with products and symbolic divisors: undecidable, so the answer may be "not known"."""

from __future__ import annotations

from itertools import product
from typing import Any

from axon.prove.formula import Clause, Poly, is_constant, satisfied

MEGABYTES = 512
MOST_GUESSES = 3000


def solve(atoms: list[list[Any]], clauses: list[Clause], seconds: float) -> dict[int, int] | bool:
    """Values that satisfy the clauses, False if there are none, True if it is not known."""
    return guess(atoms, clauses) or _solve(atoms, clauses, seconds)


def guess(atoms: list[list[Any]], clauses: list[Clause]) -> dict[int, int] | None:
    """Try small sizes, which often suffice, before a solver."""
    places = [at for at, atom in enumerate(atoms) if atom[0] == "var"]
    width = 1
    while len(places) and (width + 1) ** len(places) <= MOST_GUESSES and width < 40:
        width += 1
    if width == 1:
        return None
    for numbers in product(range(width), repeat=len(places)):
        values = dict(zip(places, numbers, strict=True))
        if satisfied(atoms, clauses, values):
            return values
    return None


def _solve(atoms: list[list[Any]], clauses: list[Clause], seconds: float) -> dict[int, int] | bool:
    import z3

    z3.set_param("memory_max_size", MEGABYTES)
    solver = z3.Solver()
    solver.set("timeout", max(1, int(seconds * 1000)))
    try:
        known = _atoms(z3, solver, atoms)
        for clause in clauses:
            solver.add(z3.Or([_literal(op, _term(poly, known)) for op, poly in clause]))
        outcome = solver.check()
        if outcome == z3.unsat:
            return False
        if outcome == z3.sat:
            model = solver.model()
            values = {
                at: model.eval(known[at], model_completion=True).as_long()
                for at, atom in enumerate(atoms)
                if atom[0] == "var"
            }
            if satisfied(atoms, clauses, values):
                return values
    except z3.Z3Exception:
        pass
    return True


def _atoms(z3: Any, solver: Any, atoms: list[list[Any]]) -> list[Any]:
    known: list[Any] = []
    for at, atom in enumerate(atoms):
        x = z3.Int(f"x{at}")
        match atom[0]:
            case "var":
                solver.add(x >= 0)
            case "div":
                top, bottom = _term(atom[1], known), _term(atom[2], known)
                rest = top - bottom * x
                fits = z3.And(rest >= 0, rest < bottom)
                if is_constant(atom[2]):
                    solver.add(fits)
                else:
                    # a quotient of sizes is no larger, and not below zero
                    solver.add(z3.Implies(bottom >= 1, fits))
                    solver.add(z3.Implies(z3.And(bottom >= 1, top >= 0), z3.And(x >= 0, x <= top)))
            case word:
                parts = [_term(poly, known) for poly in atom[1]]
                solver.add(z3.Or([x == part for part in parts]))
                solver.add(*((x <= part if word == "min" else x >= part) for part in parts))
        known.append(x)
    return known


def _term(poly: Poly, known: list[Any]) -> Any:
    total: Any = 0
    for coefficient, mono in poly:
        product_: Any = coefficient
        for atom in mono:
            product_ = product_ * known[atom]
        total = total + product_
    return total


def _literal(op: str, term: Any) -> Any:
    return term >= 0 if op == ">=" else term == 0
