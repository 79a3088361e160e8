"""What buckets did in the calls of functions so far."""

from __future__ import annotations

from collections.abc import Iterator
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
        return f"{self.name}: {self.told}"

    @property
    def told(self) -> str:
        """What became of it."""
        if self.bucketed:
            return f"padded {self.policy}, {self.waste:.0%} padding"
        if not self.reason:
            return "no buckets asked for"
        where = f" in line {self.line}" if self.line is not None else ""
        if not self.operator:
            return f"exact, because {self.reason}{where}"
        return f"exact, because of `{self.operator}`{where}: {self.reason}"


@dataclass(frozen=True, slots=True, repr=False)
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

    @property
    def told(self) -> str:
        """What became of the calls."""
        first = (
            f"{_count(self.calls, 'call')}, {_count(self.compilations, 'compilation')}, "
            f"{_count(self.hits, 'hit')}, {self.waste:.0%} padding"
        )
        if self.exact:
            first += f"; {self.exact} at exact sizes"
        return f"{first}: {self.reason}" if self.reason else first

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The dimensions, and what became of them; those of which the same is told, together."""
        alike: dict[str, list[str]] = {}
        for each in self.dimensions:
            alike.setdefault(each.told, []).append(each.name)
        return [(", ".join(names), told) for told, names in alike.items()]

    def __repr__(self) -> str:
        loops = [f"  row by row: {each}" for each in self.row_loops]
        rows = [f"  {names}: {told}" for names, told in self.rows]
        return "\n".join([f"{self.name}: {self.told}", *rows, *loops])

    def _repr_html_(self) -> str:
        return _html((self,))


@dataclass(frozen=True, slots=True, repr=False)
class Reports:
    """The reports of the functions of a program that were called. It prints as they do, and can be
    iterated over.
    """

    reports: tuple[Report, ...]

    def __iter__(self) -> Iterator[Report]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.reports)) or "no function was called in buckets"

    def _repr_html_(self) -> str:
        return _html(self.reports)


def _html(reports: tuple[Report, ...]) -> str:
    from axon.run.html import framed, rows_html, text_html

    if not reports:
        return framed(text_html(repr(Reports(reports))))
    rows = []
    for report in reports:
        rows.append((report.name, report.told))
        rows += [(f"  {names}", told) for names, told in report.rows]
        rows += [("", f"row by row: {each}") for each in report.row_loops]
    return framed(rows_html(rows))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
