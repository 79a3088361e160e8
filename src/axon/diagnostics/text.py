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
        arrow = "-->" if number == 0 else ":::"
        where = shown(source.place(place.span.start))
        lines.append(f"{' ' * gutter}{ink(arrow, _FRAME)} {where}")
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
    """The line, then carets and texts; marks that overlap get carets of their own."""
    first, last = 0, len(text)
    if last > MAX_LINE:
        first = max(0, marks[0].start - BEFORE)
        last = min(last, marks[0].start + 2 * AFTER)
    line, columns = _draw(text, first, last)
    layers: list[list[_Mark]] = []
    for mark in marks:
        start = columns[mark.start - first] if mark.start < last else columns[-1]
        end = max(columns[min(mark.end, last) - first], start + 1)
        placed = _Mark(start, end, mark.text, mark.primary)
        layer = next((each for each in layers if each[-1].end <= start), None)
        if layer is None:
            layers.append([placed])
        else:
            layer.append(placed)
    return [line, *(row for layer in layers for row in _layer(layer, style, ink))]


def _layer(marks: list[_Mark], style: str, ink: _Ink) -> list[str]:
    """The carets with the text of the last mark, then the other texts, the last first."""

    def paint(text: str, mark: _Mark) -> str:
        return ink(text, style if mark.primary else _OTHER)

    carets = ""
    column = 0
    for mark in marks:
        carets += " " * (mark.start - column) + paint("^" * (mark.end - mark.start), mark)
        column = mark.end
    beside = marks[-1].text
    rows = [f"{carets} {paint(beside, marks[-1])}" if beside else carets]
    waiting = [mark for mark in marks[:-1] if mark.text]
    while waiting:
        below = waiting.pop()
        row = ""
        column = 0
        for mark in waiting:
            row += " " * (mark.start - column) + paint("|", mark)
            column = mark.start + 1
        rows.append(row + " " * (below.start - column) + paint(below.text, below))
    return rows


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
