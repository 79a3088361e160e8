"""An error as a value: what is wrong, where, why, and what might help."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from axon.source import Span


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Label:
    """A span and a text about it; the primary label is where the error is shown."""

    span: Span
    text: str
    primary: bool = False


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that might help: the sentence that proposes it, and the text that stands at a place
    then. It is shown only if the changed program was checked.
    """

    text: str
    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message. The first primary label (else the first label) decides line and column.
    `subject` is what it is about, an operator say; the message begins with it. `fixes` were not
    tried yet: the first that works is the help, and the `fix`. `elements` are the element types
    that differ, where it is about that.
    """

    code: str
    severity: Severity
    message: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: tuple[str, ...] = ()
    subject: str = ""
    fixes: tuple[Fix, ...] = ()
    fix: Fix | None = None
    elements: frozenset[str] = frozenset()

    @property
    def span(self) -> Span | None:
        primary = next((label for label in self.labels if label.primary), None)
        if primary is not None:
            return primary.span
        return self.labels[0].span if self.labels else None

    def with_label(self, span: Span, text: str) -> Diagnostic:
        """The same with one more place."""
        return replace(self, labels=(*self.labels, Label(span, text)))

    def about(self, subject: str) -> Diagnostic:
        """The same about another subject."""
        text = self.message.removeprefix(f"{self.subject}: ") if self.subject else self.message
        return replace(self, message=f"{subject}: {text}", subject=subject)


def error(
    code: str,
    message: str,
    span: Span,
    label: str = "",
    help: str | None = None,
    subject: str = "",
    fixes: tuple[Fix, ...] = (),
) -> Diagnostic:
    """The common case: one error at one place."""
    return Diagnostic(
        code,
        Severity.ERROR,
        f"{subject}: {message}" if subject else message,
        (Label(span, label, primary=True),),
        (),
        (help,) if help else (),
        subject,
        fixes,
    )
