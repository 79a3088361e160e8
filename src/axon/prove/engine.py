"""The client of the worker: started on demand, ended when it is late, and free to fail."""

from __future__ import annotations

from axon.processes import Ended, Late, NotStarted, Worker
from axon.prove.question import Question

LOADING = 30.0
"""How many seconds it may take to load a solver, on whatever machine."""


class Engine:
    """Asks one question after the other; any failure makes the answer "not known"."""

    def __init__(self) -> None:
        self.worker = Worker("axon.prove.worker", quiet=True)
        self._broken = False
        self._loaded: set[str] = set()

    def ask(self, question: Question, engine: str, seconds: float) -> dict[int, int] | bool:
        """Values that satisfy the question, False if there are none, True if it is not known."""
        if seconds <= 0 or self._broken:
            return True
        asked = {
            "engine": engine,
            "atoms": question.atoms,
            "clauses": question.clauses,
            "seconds": seconds,
        }
        try:
            answer = self.worker.ask(asked, seconds)
        except (Late, Ended):
            self._loaded.clear()
            return True
        except NotStarted:
            self._broken = True
            return True
        return answer if isinstance(answer, bool) else dict(answer)

    def start(self, engine: str) -> None:
        """Start the process and load the solver before the time is counted."""
        if engine in self._loaded or self._broken:
            return
        try:
            self.worker.ask({"engine": engine, "loads": True}, LOADING)
            self._loaded.add(engine)
        except (Late, Ended):
            self._loaded.clear()
        except NotStarted:
            self._broken = True

    def close(self) -> None:
        self.worker.end()
