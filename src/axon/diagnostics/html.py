"""A diagnostic as a piece of HTML: the lines of the program with what is wrong underlined.

Everything that comes from a program is escaped. Classes begin with `axon-`; `STYLE` has their
rules, which take the colours of the page around.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from axon.diagnostics.cells import cells, shown
from axon.diagnostics.value import Diagnostic, Label

LONGEST = 160
"""A line that has more characters is cut around its labels."""

MOST_LABELS = 12

STYLE = """\
.axon-said{font:13px/1.45 var(--jp-code-font-family,ui-monospace,SFMono-Regular,Menlo,Consolas,\
monospace);color:inherit;--axon-line:color-mix(in srgb,currentColor 22%,transparent);\
--axon-error:#dc4a46;--axon-warning:#b58105;--axon-note:#3f8fd0}
.axon-said *{box-sizing:border-box}
.axon-diagnostic{border-left:3px solid var(--axon-accent);padding:.15em 0 .15em .9em;margin:.5em 0;\
overflow-x:auto}
.axon-error{--axon-accent:var(--axon-error)}
.axon-warning{--axon-accent:var(--axon-warning)}
.axon-note{--axon-accent:var(--axon-note)}
.axon-head{font-weight:600}
.axon-head b{color:var(--axon-accent)}
.axon-place{opacity:.7}
.axon-code{white-space:pre;margin:.2em 0}
.axon-row{display:block}
.axon-number{display:inline-block;min-width:2.5em;text-align:right;padding-right:1em;opacity:.55;\
user-select:none}
.axon-marked{text-decoration:underline wavy var(--axon-note) 1px;text-underline-offset:3px;\
text-decoration-skip-ink:none}
.axon-primary{text-decoration-color:var(--axon-accent)}
.axon-label{color:var(--axon-note)}
.axon-label.axon-main{color:var(--axon-accent)}
.axon-help{margin-top:.2em;white-space:pre-wrap}
.axon-help b{font-weight:600;opacity:.75}
"""

_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"},
)


def escape(text: str) -> str:
    """Text as HTML may have it; characters that show in no way are named."""
    return "\n".join(shown(line) for line in text.split("\n")).translate(_ESCAPES)


def diagnostics_html(diagnostics: Iterable[Diagnostic]) -> str:
    return "".join(map(diagnostic_html, diagnostics))


def diagnostic_html(diagnostic: Diagnostic) -> str:
    """One message; the page around it has `STYLE`."""
    severity = str(diagnostic.severity)
    parts = [
        f'<div class="axon-diagnostic axon-{severity}">',
        f'<div class="axon-head"><b>{severity}[{escape(diagnostic.code)}]</b>: ',
        f"{escape(diagnostic.message)}</div>",
        *_files(diagnostic),
    ]
    for kind, texts in (("note", diagnostic.notes), ("help", diagnostic.help)):
        parts += [f'<div class="axon-help"><b>{kind}:</b> {escape(text)}</div>' for text in texts]
    return "".join([*parts, "</div>"])


def _files(diagnostic: Diagnostic) -> Iterator[str]:
    """The lines of each file that a label is in, the file of the diagnostic first."""
    span = diagnostic.span
    files: dict[str, list[Label]] = {span.source.name: []} if span is not None else {}
    for label in diagnostic.labels:
        files.setdefault(label.span.source.name, []).append(label)
    for labels in files.values():
        first = next((label for label in labels if label.primary), labels[0])
        place = first.span.source.place(first.span.start)
        yield f'<div class="axon-place">{escape(place)}</div>'
        yield f'<div class="axon-code">{"".join(_lines(labels[:MOST_LABELS]))}</div>'


def _lines(labels: list[Label]) -> Iterator[str]:
    by_line: dict[int, list[Label]] = {}
    for label in labels:
        by_line.setdefault(label.span.line, []).append(label)
    for number in sorted(by_line):
        found = by_line[number]
        yield from _line(number, found[0].span.source.line(number), found)


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    label: Label


def _line(number: int, text: str, labels: list[Label]) -> Iterator[str]:
    marks = sorted((_mark(text, label) for label in labels), key=lambda m: (m.start, -m.end))
    text = text.ljust(marks[-1].end)  # a mark behind the end, where something is missing
    first = max(0, marks[0].start - LONGEST // 3) if len(text) > LONGEST else 0
    last = min(len(text), first + LONGEST)
    columns, drawn = _drawn(text, first, last)
    cuts = {first, last}
    for mark in marks:
        cuts.update(min(max(at, first), last) for at in (mark.start, mark.end))
    places = sorted(cuts)
    code = "…" if first else ""
    for start, end in pairwise(places):
        piece = "".join(drawn[start - first : end - first]).translate(_ESCAPES)
        code += _underlined(piece, [m for m in marks if m.start <= start and end <= m.end])
    code += "…" if last < len(text) else ""
    yield f'<span class="axon-row"><span class="axon-number">{number}</span>{code}</span>'
    for mark in reversed(marks):
        if mark.label.text:
            at = columns[min(max(mark.start, first), last) - first] + bool(first)
            main = " axon-main" if mark.label.primary else ""
            said = f'<span class="axon-label{main}">{" " * at}↑ {escape(mark.label.text)}</span>'
            yield f'<span class="axon-row"><span class="axon-number"></span>{said}</span>'


def _mark(text: str, label: Label) -> _Mark:
    """A label on the line where it begins."""
    start = min(label.span.column - 1, len(text))
    end = min(start + label.span.end - label.span.start, len(text))
    return _Mark(start, max(end, start + 1), label)


def _underlined(piece: str, marks: list[_Mark]) -> str:
    if not marks or not piece:
        return piece
    primary = " axon-primary" if any(mark.label.primary for mark in marks) else ""
    return f'<span class="axon-marked{primary}">{piece}</span>'


def _drawn(text: str, first: int, last: int) -> tuple[list[int], list[str]]:
    """Characters as they are shown, and the column of each and of the end."""
    column = 0
    columns: list[int] = []
    pieces: list[str] = []
    for character in text[first:last]:
        columns.append(column)
        piece, width = cells(character, column)
        pieces.append(piece)
        column += width
    return [*columns, column], pieces
