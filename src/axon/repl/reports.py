"""What the session says: values, without any terminal."""

from __future__ import annotations

from dataclasses import dataclass

from axon.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Said:
    """An answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Complaint:
    """What cannot be done, in a sentence or more."""

    text: str


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """Errors and warnings about what was read."""

    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Quit:
    """The end of the session."""


Report = Said | Complaint | Diagnosed | Quit


class Refusal(Exception):
    """A line that cannot be done; nothing of it is kept. `interpreter` turns it into reports."""

    def __init__(self, *reports: Report) -> None:
        self.reports = reports
        super().__init__(reports)


def refusal(text: str) -> Refusal:
    return Refusal(Complaint(text))
