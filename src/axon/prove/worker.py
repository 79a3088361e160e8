"""The solver process: one question a line in, one answer a line out.

Only this process loads the solvers. Its memory is limited, and the operating system ends it when a
question takes too long, whatever the solver is doing then.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any, TextIO

from axon.prove import by_isl, by_z3

BYTES = 2 << 30
GRACE = 0.1
ENGINES = {"isl": by_isl.solve, "z3": by_z3.solve}


def main() -> None:
    _bound_memory()
    with _private_output() as out:
        print("ready", file=out, flush=True)
        for line in sys.stdin:
            print(json.dumps(_answer(json.loads(line))), file=out, flush=True)


def _private_output() -> TextIO:
    """The stream for answers; the solvers' own output does not go there."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return out


def _answer(question: dict[str, Any]) -> list[list[int]] | bool:
    seconds = question["seconds"]
    _alarm(seconds + GRACE)
    try:
        found = ENGINES[question["engine"]](question["atoms"], question["clauses"], seconds)
    except (ArithmeticError, MemoryError, RecursionError, RuntimeError, ValueError):
        found = True
    finally:
        _alarm(0)
    return found if isinstance(found, bool) else [list(pair) for pair in found.items()]


def _bound_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _alarm(seconds: float) -> None:
    """Nothing catches this signal, so it ends the process even inside a solver."""
    import signal

    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


if __name__ == "__main__":
    main()
