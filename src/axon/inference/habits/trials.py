"""Suggestions are tried before they are shown: the definition is changed as they say and inferred
again. One that leaves an error at the changed place is not made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from axon.diagnostics import Diagnostic, Fix, Severity
from axon.inference.environment import Entry
from axon.inference.state import State
from axon.source import Source, Span
from axon.syntax import ast, parse_program
from axon.types.type import UNKNOWN, Scheme, type_variables

MOST_TRIALS = 6
LONGEST = 20_000
"""The most trials for a definition, and the longest one, in characters, that is tried."""


def settled(found: list[Diagnostic], works: Callable[[Fix], bool]) -> list[Diagnostic]:
    """The messages with the first fix of each that works as the help; an error that is at the same
    place as one before it, and of the same kind, says nothing new; nor does one about a name that
    is not bound, after the first, or one about what a fix before it mends as well.
    """
    kept: dict[object, Diagnostic] = {}
    mended: list[Span] = []
    for at, each in enumerate(found):
        key: object = at
        if each.severity == Severity.ERROR and each.span is not None:
            key = each.code, each.message if each.code == "AX201" else each.span
        if key in kept or (key != at and _is_within(each.span, mended)):
            continue
        fix = next((fix for fix in each.fixes if works(fix)), None)
        if fix is not None:
            mended.append(fix.span)
        help = (fix.text,) if fix is not None else each.help
        kept[key] = replace(each, help=help, fixes=(), fix=fix) if each.fixes else each
    return list(kept.values())


def _is_within(span: Span | None, others: list[Span]) -> bool:
    return span is not None and any(
        span.source is other.source and other.start <= span.start and span.end <= other.end
        for other in others
    )


def changed(item: Span, fix: Fix) -> tuple[ast.Program, Span] | None:
    """A definition with a fix, read anew, and the place that changed; None if it cannot be read."""
    start, end = fix.span.start - item.start, fix.span.end - item.start
    text = item.text
    if fix.span.source is not item.source or start < 0 or end > len(text) or len(text) > LONGEST:
        return None
    source = Source(item.source.name, text[:start] + fix.replacement + text[end:])
    program, problems = parse_program(source)
    return None if problems else (program, Span(source, start, start + len(fix.replacement)))


def is_clear(diagnostics: list[Diagnostic], place: Span) -> bool:
    """Whether no error touches a place; a member that is taken of what stands there, as in
    `x.view(n, m).T`, is another mistake.
    """
    return not any(
        label.span.start < place.end
        and place.start < label.span.end
        and not (each.code == "AX218" and label.span.end > place.end)
        for each in diagnostics
        if each.severity == Severity.ERROR
        for label in each.labels
        if label.span.source is place.source
    )


def closed(state: State, entry: Entry) -> Entry:
    """An entry as another state can have it: without variables of this one."""
    if isinstance(entry.type, Scheme):
        return entry
    type_ = state.resolve(entry.type)
    return replace(entry, type=UNKNOWN if type_variables(type_) else type_)
