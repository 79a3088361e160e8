"""The mistakes found in a file: all are counted, the first are kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from axon.diagnostics.value import Diagnostic, Severity

MAX_SHOWN = 50
NO_END = "this string has no end"
"""What comes of that are the other problems of its line."""


@dataclass(slots=True)
class Problems:
    """Diagnostics in the order they were found; `latest` is where the last one is."""

    kept: list[Diagnostic] = field(default_factory=list)
    count: int = 0
    latest: int = -1

    def add(self, problem: Diagnostic) -> None:
        self.count += 1
        self.latest = problem.labels[0].span.start
        if len(self.kept) <= MAX_SHOWN:
            self.kept.append(problem)


def settle(unreadable: Problems, found: Problems) -> tuple[Diagnostic, ...]:
    """The problems in the order of the text, with a word about those that are too many to show. At
    a token that cannot be read there is no other problem, and what cannot be read behind a problem
    of the same line, as far as it has no help, follows from that.
    """
    known = {problem.labels[0].span.start for problem in unreadable.kept}
    others = [each for each in found.kept if each.labels[0].span.start not in known]
    every = [*unreadable.kept, *others]
    every.sort(key=lambda problem: problem.labels[0].span.start)
    kept: list[Diagnostic] = []
    for each in every:
        if not kept or not _is_on_the_line_of(each, kept[-1]):
            kept.append(each)
        elif each.message == NO_END:
            kept[-1] = each
        elif each.help:
            kept.append(each)
    shown = kept[:MAX_SHOWN]
    repeated = len(found.kept) - len(others) + len(every) - len(kept)
    hidden = unreadable.count + found.count - repeated - len(shown)
    if hidden:
        message = f"{hidden} more problem{'s' if hidden > 1 else ''} in this file not shown"
        shown.append(
            Diagnostic("AX002", Severity.NOTE, message, (kept[MAX_SHOWN:] or every)[0].labels[:1])
        )
    return tuple(shown)


def _is_on_the_line_of(problem: Diagnostic, earlier: Diagnostic) -> bool:
    """What is found wrong at the beginning of a line belongs to the line before."""
    here, there = problem.labels[0].span, earlier.labels[0].span
    text = here.source.text
    line = text.rfind("\n", 0, there.start) + 1
    begins = text[line : there.start].isspace() or line == there.start
    return not begins and text.find("\n", there.start, here.start) < 0
