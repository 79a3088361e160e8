"""The solver process: one question after the other.

Only this process loads the solvers. Its memory is limited, and the operating system ends it when a
question takes too long, whatever the solver is doing then.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from axon.processes import serve
from axon.prove import by_isl, by_z3

BYTES = 2 << 30
ENGINES = {"isl": by_isl.solve, "z3": by_z3.solve}
LIBRARIES = {"isl": "islpy", "z3": "z3"}


def answer(question: dict[str, Any]) -> list[list[int]] | bool:
    solve = ENGINES[question["engine"]]
    if question.get("loads"):
        import_module(LIBRARIES[question["engine"]])
        return True
    try:
        found = solve(question["atoms"], question["clauses"], question["seconds"])
    except (ArithmeticError, MemoryError, RecursionError, RuntimeError, ValueError):
        return True
    return found if isinstance(found, bool) else [list(pair) for pair in found.items()]


if __name__ == "__main__":
    serve(answer, BYTES)
