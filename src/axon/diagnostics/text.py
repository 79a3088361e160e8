"""A diagnostic as text.

error[AX101]: matmul: the inner sizes differ, 3 and 4
  --> net.axon:2:10
 2 |   matmul(x, y)
   |          ^  ^ second-last size 4, from `y : f32 [4,m]` (line 1)
   |          last size 3, from `x : f32 [n,3]` (line 1)

Labels on one line share its carets; the text of the last stands beside them, the others below,
each under its own caret. A line too long to show is cut around its labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from axon.diagnostics.cells import cells, shown
from axon.diagnostics.value import Diagnostic, Label, Severity
from axon.source import Source

MAX_LINE = 160
BEFORE, AFTER = 50, 70
"""How many characters of a long line are shown before a label and from its start on."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A label on its line: characters `start` up to `end`, counted from zero."""

    start: int
    end: int
    text: str
    primary: bool


@dataclass(frozen=True, slots=True)
class _Ink:
    """Writes in colour, or not."""

    on: bool

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.on and text.strip() else text


_STYLE = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.NOTE: "1;36"}
_FRAME, _OTHER, _BOLD = "34", "1;34", "1"


def render(diagnostic: Diagnostic, colour: bool = False) -> str:
    """The text of a diagnostic, without a newline at its end."""
    ink = _Ink(colour)
    style = _STYLE[diagnostic.severity]
    head = ink(f"{diagnostic.severity}[{diagnostic.code}]", style)
    lines = [f"{head}{ink(f': {shown(diagnostic.message)}', _BOLD)}"]
    files = _by_file(diagnostic)
    last = max((label.span.line for label in diagnostic.labels), default=0)
    gutter = max(2, len(str(last)) + 1)
    for number, (source, labels) in enumerate(files):
        place = next((label for label in labels if label.primary), labels[0])
        line, column = source.position(place.span.start)
        arrow = "-->" if number == 0 else ":::"
        lines.append(f"{' ' * gutter}{ink(arrow, _FRAME)} {shown(source.name)}:{line}:{column}")
        lines += _excerpt(source, labels, gutter, style, ink)
    for kind, texts in (("note", diagnostic.notes), ("help", diagnostic.help)):
        for text in texts:
            first, *more = text.split("\n")
            lines.append(f"{' ' * gutter} {ink('=', _FRAME)} {ink(kind, _BOLD)}: {shown(first)}")
            lines += [" " * (gutter + 9) + shown(line) for line in more]
    return "\n".join(lines)


def render_all(diagnostics: Iterable[Diagnostic], colour: bool = False) -> str:
    """Several diagnostics, an empty line between them."""
    return "\n\n".join(render(diagnostic, colour) for diagnostic in diagnostics)


def _by_file(diagnostic: Diagnostic) -> list[tuple[Source, list[Label]]]:
    """The labels of each file, the file of the diagnostic itself first."""
    files: dict[int, tuple[Source, list[Label]]] = {}
    if diagnostic.span is not None:
        files[id(diagnostic.span.source)] = (diagnostic.span.source, [])
    for label in diagnostic.labels:
        source = label.span.source
        files.setdefault(id(source), (source, []))[1].append(label)
    return list(files.values())


# --- the lines of one file -----------------------------------------------------------------------


def _excerpt(source: Source, labels: list[Label], gutter: int, style: str, ink: _Ink) -> list[str]:
    by_line: dict[int, list[_Mark]] = {}
    for label in labels:
        line, mark = _mark(source, label)
        by_line.setdefault(line, []).append(mark)
    lines: list[str] = []
    previous = None
    bar = ink("|", _FRAME)
    for line in sorted(by_line):
        if previous is not None and line > previous + 1:
            lines.append(ink("...".rjust(gutter + 2), _FRAME))
        previous = line
        text = source.line(line)
        for marks in _windows(text, by_line[line]):
            row, *below = _rows(text, marks, style, ink)
            lines.append(f"{ink(str(line).rjust(gutter), _FRAME)} {bar} {row}".rstrip())
            lines += [f"{' ' * gutter} {bar} {each}" for each in below]
    return lines


def _mark(source: Source, label: Label) -> tuple[int, _Mark]:
    """A label on the line where it begins; one of several lines goes on to the end of the first."""
    line, column = source.position(label.span.start)
    length = len(source.line(line))
    start = min(column - 1, length)
    end = min(start + max(label.span.end - label.span.start, 0), length)
    return line, _Mark(start, max(end, start + 1), shown(label.text), label.primary)


def _windows(text: str, marks: list[_Mark]) -> list[list[_Mark]]:
    """The marks that are shown together: all of a line, or those near each other on a long one."""
    marks = sorted(marks, key=lambda mark: (mark.start, -mark.end))
    if len(text) <= MAX_LINE:
        return [marks]
    windows: list[list[_Mark]] = []
    for mark in marks:
        if windows and mark.start < windows[-1][0].start + AFTER:
            windows[-1].append(mark)
        else:
            windows.append([mark])
    return windows


def _rows(text: str, marks: list[_Mark], style: str, ink: _Ink) -> list[str]:
    """The line, its carets, and a row for each text that does not fit beside them."""
    first, last = 0, len(text)
    if last > MAX_LINE:
        first = max(0, marks[0].start - BEFORE)
        last = min(last, marks[0].start + 2 * AFTER)
    shown_line, columns = _draw(text, first, last)

    def column(at: int) -> int:
        at = max(at - first, 0)
        return columns[at] if at < len(columns) else columns[-1] + at - len(columns) + 1

    canvas: dict[int, str] = {}
    for mark in sorted(marks, key=lambda mark: (mark.primary, mark.start - mark.end)):
        begin = column(mark.start)
        end = max(column(min(mark.end, max(last, mark.start + 1))), begin + 1)
        for at in range(begin, end):
            canvas[at] = style if mark.primary else _OTHER
    carets = _paint(canvas, ink)
    texts = [(column(mark.start), mark) for mark in marks if mark.text]
    rows = [shown_line, carets]
    if texts and column(texts[-1][1].start) == _start_of_last_run(canvas, texts[-1][0]):
        place, mark = texts.pop()
        rows[1] = f"{carets} {ink(mark.text, style if mark.primary else _OTHER)}"
    while texts:
        place, mark = texts.pop()
        pipes = {at: each.primary for at, each in texts if at < place}
        row = "".join(
            ink("|", style if pipes[at] else _OTHER) if at in pipes else " " for at in range(place)
        )
        rows.append(row + ink(mark.text, style if mark.primary else _OTHER))
    return rows


def _start_of_last_run(canvas: dict[int, str], start: int) -> int:
    """`start`, if nothing but one run of carets lies from there on: text can stand beside it."""
    end = max(canvas) + 1
    return start if all(at in canvas for at in range(start, end)) else -1


def _paint(canvas: dict[int, str], ink: _Ink) -> str:
    return "".join(
        ink("^", canvas[at]) if at in canvas else " " for at in range(max(canvas, default=-1) + 1)
    )


def _draw(text: str, first: int, last: int) -> tuple[str, list[int]]:
    """The characters `first` up to `last` as shown, and the columns of each and of the end."""
    pieces: list[str] = ["…"] if first else []
    column = len(pieces)
    columns: list[int] = []
    for character in text[first:last]:
        columns.append(column)
        piece, width = cells(character, column)
        pieces.append(piece)
        column += width
    columns.append(column)
    if last < len(text):
        pieces.append("…")
    return "".join(pieces), columns
