"""Whether what is expected of a program is so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axon.diagnostics import Diagnostic
from axon.driver import Checked, check
from axon.expect.expectations import (
    DiagnosticExpected,
    Expected,
    TypeExpected,
    ValueExpected,
    expectations,
)
from axon.expect.same_types import has_classes, same_types
from axon.expect.values import Appended, append, holds
from axon.files import find_import
from axon.source import Source


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was expected on a line, and what was found; `change` is the text that belongs there,
    with the offsets of the one that stands there.
    """

    line: int
    expected: str
    found: str
    ok: bool
    change: tuple[int, int, str] | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts about a program, and its errors that nobody expected."""

    verdicts: tuple[Verdict, ...]
    unexpected: tuple[Diagnostic, ...]

    @property
    def failed(self) -> int:
        return sum(not v.ok for v in self.verdicts) + len(self.unexpected)


def judge(source: Source) -> Judged:
    """Compare a program with what its comments expect."""
    expected = expectations(source)
    checked = check(source, find_import)
    left = list(checked.diagnostics)
    verdicts: list[Verdict] = []
    for each in expected:
        if isinstance(each, DiagnosticExpected):
            verdicts.append(_about_diagnostic(each, left))
    errors = tuple(d for d in left if d.severity == "error")
    appended = append(source, _expressions(checked, expected)) if checked.ok else {}
    for each in expected:
        match each:
            case TypeExpected():
                verdicts.append(_about_type(each, checked, appended))
            case ValueExpected():
                verdicts.append(_about_value(each, appended))
            case DiagnosticExpected():
                pass
    return Judged(tuple(sorted(verdicts, key=lambda v: v.line)), errors)


def _expressions(checked: Checked, expected: Sequence[Expected]) -> list[tuple[int, str]]:
    """The expressions to evaluate, by their lines."""
    found: list[tuple[int, str]] = []
    for each in expected:
        match each:
            case TypeExpected() if checked.find(each.subject) is None:
                found.append((each.line, each.subject))
            case ValueExpected():
                found.append((each.line, each.text))
            case _:
                pass
    return found


def _about_diagnostic(expected: DiagnosticExpected, left: list[Diagnostic]) -> Verdict:
    """Look for the message, and take it from those that are left."""
    words = f" {expected.words}" if expected.words else ""
    text = f"{expected.severity} {expected.code}{words}"
    here = [d for d in left if d.span is not None and d.span.line == expected.about]
    for diagnostic in here:
        same = (diagnostic.severity, diagnostic.code) == (expected.severity, expected.code)
        if same and expected.words in diagnostic.message:
            left.remove(diagnostic)
            return Verdict(expected.line, text, text, True)
    if not here:
        return Verdict(expected.line, text, f"no message on line {expected.about}", False)
    found = "; ".join(f"{d.severity} {d.code} {d.message}" for d in here)
    return Verdict(expected.line, text, found, False)


def _about_type(expected: TypeExpected, checked: Checked, appended: dict[int, Appended]) -> Verdict:
    text = f"{expected.subject} : {expected.type}"
    signatures = [s for s in checked.signatures if s.name == expected.subject]
    change = None
    if signatures:
        signature = signatures[-1]
        _, _, found = signature.line(has_classes(expected.type)).partition(" : ")
        change = (expected.start, expected.end, found)
    elif expected.line in appended:
        there = appended[expected.line]
        if there.problem:
            return Verdict(expected.line, text, there.problem, False)
        found = there.type
        change = (expected.start, expected.end, found)
    else:
        return Verdict(expected.line, text, f"`{expected.subject}` has no type", False)
    ok = same_types(found, expected.type)
    return Verdict(expected.line, text, f"{expected.subject} : {found}", ok, None if ok else change)


def _about_value(expected: ValueExpected, appended: dict[int, Appended]) -> Verdict:
    there = appended.get(expected.line)
    if there is None:
        return Verdict(expected.line, expected.text, "not run: the program has errors", False)
    if there.problem:
        return Verdict(expected.line, expected.text, there.problem, False)
    ok, found = holds(there)
    return Verdict(expected.line, expected.text, found, ok)
