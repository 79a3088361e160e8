"""The client of the worker: started on demand, ended when it is late, and free to fail."""

from __future__ import annotations

from axon.processes import Ended, Late, NotStarted, Worker
from axon.prove.question import Question


class Engine:
    """Asks one question after the other; any failure makes the answer "not known"."""

    def __init__(self) -> None:
        self.worker = Worker("axon.prove.worker", quiet=True)
        self._broken = False

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
            return True
        except NotStarted:
            self._broken = True
            return True
        return answer if isinstance(answer, bool) else dict(answer)

    def start(self) -> None:
        """Start the process before the time is counted."""
        try:
            self.worker.start()
        except NotStarted:
            self._broken = True

    def close(self) -> None:
        self.worker.end()
