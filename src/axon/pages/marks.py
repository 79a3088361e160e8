"""The sides of an error, marked in the picture."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from axon.diagnostics import Diagnostic
from axon.diagnostics.text import render
from axon.pages.drawing import Box, Drawing, Kind, Picture, Problem
from axon.pages.labels import clip
from axon.source import Span

MOST_PROBLEMS = 50
_FROM = re.compile("from `(.*?)`")


def mark_problems(picture: Picture, errors: Sequence[Diagnostic], within: Span) -> None:
    """Mark the boxes at the places of each error that is in this part of the program."""
    for error in errors:
        if len(picture.problems) >= MOST_PROBLEMS:
            picture.notes.append("More errors are not marked.")
            return
        if error.span is None or not _is_within(error.span, within):
            continue
        number = len(picture.problems)
        picture.problems.append(Problem(f"{error.code}: {error.message}", render(error)))
        for label in error.labels:
            box = _box_at(picture, label.span)
            if box is not None and (box.problem is None or label.primary):
                box.problem = number
                box.says = clip(label.text, 60)
            for declared in _declared(picture, label.text):
                declared.problem = number
    mark_edges(picture)


def _declared(picture: Picture, text: str) -> Iterator[Box]:
    """The inputs whose declarations a text says a size is from."""
    written = _FROM.search(text)
    if written is not None:
        for drawing in picture.drawings:
            for box in drawing.boxes:
                place = box.place if box.kind == Kind.INPUT else None
                if place is not None and place.text == written[1]:
                    yield box


def mark_edges(picture: Picture) -> None:
    """The ways from one side of an error to another are marked too."""
    for drawing in picture.drawings:
        sides: dict[int, set[int]] = {}
        for at, box in enumerate(drawing.boxes):
            if box.problem is not None:
                sides.setdefault(box.problem, set()).add(at)
        if not any(len(boxes) > 1 for boxes in sides.values()):
            continue
        after: dict[int, list[int]] = {}
        for number, edge in enumerate(drawing.edges):
            after.setdefault(edge.source, []).append(number)
        for problem, boxes in sides.items():
            for start in sorted(boxes):
                for number in _way(drawing, after, start, boxes - {start}):
                    drawing.edges[number] = replace(drawing.edges[number], problem=problem)


def _way(drawing: Drawing, after: dict[int, list[int]], start: int, ends: set[int]) -> list[int]:
    """The edges on the shortest way down to one of the ends."""
    came: dict[int, int] = {start: -1}
    todo = deque([start])
    while todo:
        at = todo.popleft()
        if at in ends:
            found: list[int] = []
            while came[at] >= 0:
                found.append(came[at])
                at = drawing.edges[came[at]].source
            return found
        for number in after.get(at, ()):
            if drawing.edges[number].target not in came:
                came[drawing.edges[number].target] = number
                todo.append(drawing.edges[number].target)
    return []


def _box_at(picture: Picture, span: Span) -> Box | None:
    """The smallest box around a place."""
    found: Box | None = None
    for drawing in picture.drawings:
        for box in drawing.boxes:
            if box.place is not None and _is_within(span, box.place):
                known = None if found is None else found.place
                if known is None or box.place.end - box.place.start < known.end - known.start:
                    found = box
    return found


def _is_within(span: Span, whole: Span) -> bool:
    return span.source is whole.source and whole.start <= span.start and span.end <= whole.end
