"""What buckets did in the calls of a function so far."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DimensionReport:
    """A dimension: whether it is bucketed, and if not, why: the reason, and the operator and the
    line of the program that it is about. `waste` is the share of padding along it.
    """

    name: str
    bucketed: bool
    policy: str = ""
    reason: str = ""
    operator: str = ""
    line: int | None = None
    waste: float = 0.0

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}"

    @property
    def outcome(self) -> str:
        """What became of it, as a text."""
        if self.bucketed:
            return f"padded {self.policy}, {self.waste:.0%} padding"
        if not self.reason:
            return "no buckets asked for"
        where = f" in line {self.line}" if self.line is not None else ""
        if not self.operator:
            return f"exact, because {self.reason}{where}"
        return f"exact, because of `{self.operator}`{where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Report:
    """The calls of a function. A hit is a call for whose buckets there was a compiled program; a
    call is `exact` where nothing could be padded, and is compiled for its own sizes. `waste` is the
    share of padding among the elements of the arguments, `row_loops` are the operators that were
    applied row by row to ragged tensors.
    """

    name: str
    calls: int
    compilations: int
    hits: int
    exact: int
    waste: float
    dimensions: tuple[DimensionReport, ...]
    reason: str = ""
    row_loops: tuple[str, ...] = ()

    def __str__(self) -> str:
        first = (
            f"{self.name}: {_count(self.calls, 'call')}, "
            f"{_count(self.compilations, 'compilation')}, {_count(self.hits, 'hit')}, "
            f"{self.waste:.0%} padding"
        )
        if self.exact:
            first += f"; {self.exact} at exact sizes"
        if self.reason:
            first += f": {self.reason}"
        alike: dict[str, list[str]] = {}
        for each in self.dimensions:
            alike.setdefault(each.outcome, []).append(each.name)
        rows = [f"  {', '.join(names)}: {outcome}" for outcome, names in alike.items()]
        loops = [f"  row by row: {each}" for each in self.row_loops]
        return "\n".join([first, *rows, *loops])


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
