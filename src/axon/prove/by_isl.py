"""Presburger arithmetic: complete where products have a constant factor and divisors are constants.

A product of sizes is treated as an independent number, so that "impossible" is still right; a
solution must then be checked again.
"""

from __future__ import annotations

from typing import Any

from axon.prove.formula import Clause, Poly, is_constant, satisfied

# isl counts its steps and gives up after so many. (Should they take longer, the worker is ended.)
STEPS_A_SECOND = 4_000_000


def solve(atoms: list[list[Any]], clauses: list[Clause], seconds: float) -> dict[int, int] | bool:
    """Values that satisfy the clauses, False if there are none, True if it is not known."""
    import islpy

    context = islpy.Context()
    context.set_max_operations(max(1, int(seconds * STEPS_A_SECOND)))
    try:
        return _Search(islpy, context, atoms, clauses).run()
    except islpy.Error:
        return True


class _Search:
    """Cases one after the other, so that only one of them is in memory at a time."""

    def __init__(
        self, islpy: Any, context: Any, atoms: list[list[Any]], clauses: list[Clause]
    ) -> None:
        self.islpy, self.context = islpy, context
        self.atoms, self.clauses = atoms, clauses
        self.products: dict[tuple[int, ...], int] = {}

    def run(self) -> dict[int, int] | bool:
        facts: list[str] = []
        choices: list[list[str]] = []
        for at, atom in enumerate(self.atoms):
            match atom[0]:
                case "var":
                    facts.append(f"x{at} >= 0")
                case "div" if is_constant(atom[2]):
                    (divisor,) = (c for c, _ in atom[2])
                    top = self._text(atom[1])
                    facts.append(f"0 <= {top} - {divisor}*x{at} <= {divisor - 1}")
                case "div":
                    pass  # any number: weaker, and so right when it says "impossible"
                case word:
                    choices.append(self._extremum(at, word, atom[1]))
        for clause in self.clauses:
            cases = [f"{self._text(poly)} {op} 0" for op, poly in clause]
            if len(cases) == 1:
                facts += cases
            else:
                choices.append(cases)
        for mono, at in list(self.products.items()):
            if all(self.atoms[a][0] == "var" for a in mono):
                facts.append(f"x{at} >= 0")
        start = self._set(facts)
        return self._descend(start, choices)

    def _descend(self, start: Any, choices: list[list[str]]) -> dict[int, int] | bool:
        todo = [(start, 0)]
        doubtful = False
        sets = [[self._set([case]) for case in cases] for cases in choices]
        while todo:
            here, depth = todo.pop()
            if here.is_empty():
                continue
            if depth < len(sets):
                todo.extend((here.intersect(case), depth + 1) for case in reversed(sets[depth]))
                continue
            values = self._values(here.sample_point())
            if satisfied(self.atoms, self.clauses, values):
                return values
            doubtful = True
            break
        return doubtful

    def _extremum(self, at: int, word: str, parts: list[Poly]) -> list[str]:
        compare = "<=" if word == "min" else ">="
        texts = [self._text(part) for part in parts]
        bounds = [f"x{at} {compare} {text}" for text in texts]
        return [" and ".join([f"x{at} = {text}", *bounds]) for text in texts]

    def _text(self, poly: Poly) -> str:
        terms = [str(c) if not mono else f"{c}*{self._name(mono)}" for c, mono in poly]
        return f"({' + '.join(terms) or '0'})"

    def _name(self, mono: list[int]) -> str:
        if len(mono) == 1:
            return f"x{mono[0]}"
        fresh = len(self.atoms) + len(self.products)
        return f"x{self.products.setdefault(tuple(mono), fresh)}"

    def _set(self, facts: list[str]) -> Any:
        names = ",".join(f"x{at}" for at in range(len(self.atoms) + len(self.products)))
        return self.islpy.BasicSet.read_from_str(
            self.context, f"{{ [{names}] : {' and '.join(facts) or 'true'} }}"
        )

    def _values(self, point: Any) -> dict[int, int]:
        kind = self.islpy.dim_type.set
        return {
            at: int(point.get_coordinate_val(kind, at).to_str())
            for at, atom in enumerate(self.atoms)
            if atom[0] == "var"
        }
