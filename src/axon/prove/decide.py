"""Does a condition follow from others, does it contradict them, or does it depend on the sizes?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from types import TracebackType

from axon.prove.engine import Engine
from axon.prove.extra import missing
from axon.prove.formula import satisfied
from axon.prove.question import Condition, Question, TooHard, can_fail, can_hold
from axon.types.type import Relation
from axon.types.variables import DimVar

SECONDS = 1.0
ISL_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Proved:
    """It holds for all sizes that satisfy the assumptions."""


@dataclass(frozen=True, slots=True)
class Refuted:
    """It holds for no sizes that satisfy the assumptions."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """It fails for these sizes, which satisfy the assumptions; for others it may hold."""

    sizes: dict[DimVar, int]


@dataclass(frozen=True, slots=True)
class Unknown:
    """There was not enough time, or the prover cannot tell."""


Answer = Proved | Refuted | Counterexample | Unknown


class Prover:
    """Answers questions, with a limit of `seconds` for all of them until `rewind` is called.

    The time to start the solvers' process and to load them, once, is not counted.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._engine = Engine()
        self._left = seconds
        self._can = not missing()

    def __enter__(self) -> Prover:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._engine.close()

    def rewind(self) -> None:
        """The next definition: reset the time."""
        self._left = self._seconds

    def decide(self, condition: Condition, assumptions: Sequence[Relation] = ()) -> Answer:
        possible = self.satisfiable([*assumptions, condition])
        if possible is False:
            return Refuted()
        return self.follows(condition, assumptions)

    def follows(
        self, condition: Condition, assumptions: Sequence[Relation] = ()
    ) -> Proved | Counterexample | Unknown:
        """Whether the condition holds wherever the assumptions do."""
        try:
            question = can_fail(condition, assumptions)
        except TooHard:
            return Unknown()
        found = self._solve(question)
        if found is False:
            return Proved()
        # the numbers may satisfy the question only where an assumption divides by zero
        if isinstance(found, dict) and question.exact:
            sizes = {question.variables[at]: value for at, value in found.items()}
            return Counterexample({v: n for v, n in sizes.items() if isinstance(v, DimVar)})
        return Unknown()

    def satisfiable(self, relations: Sequence[Relation]) -> bool | None:
        """Whether some sizes satisfy all of these; conditions on shapes are left out."""
        try:
            question = can_hold(relations)
        except TooHard:
            return None
        found = self._solve(question)
        if found is False:
            return False
        return True if isinstance(found, dict) else None

    def _solve(self, question: Question) -> dict[int, int] | bool:
        if not self._can:
            return True
        found: dict[int, int] | bool = True
        for engine, share in (("isl", ISL_SHARE), ("z3", 1.0)):
            if self._left <= 0:
                break
            self._engine.start(engine)
            begun = monotonic()
            found = self._engine.ask(question, engine, self._left * share)
            self._left -= monotonic() - begun
            if found is not True:
                break
        if isinstance(found, dict) and not satisfied(question.atoms, question.clauses, found):
            return True
        return found
