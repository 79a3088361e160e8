"""The sides of an error, marked in the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from axon.diagnostics import Diagnostic
from axon.diagnostics.text import render
from axon.pages.drawing import Box, Picture, Problem
from axon.pages.labels import clip
from axon.source import Span

MOST_PROBLEMS = 50


def mark_problems(picture: Picture, errors: Sequence[Diagnostic], within: Span) -> None:
    """Mark the boxes at the places of each error that is in this part of the program."""
    for error in errors:
        if len(picture.problems) >= MOST_PROBLEMS:
            picture.notes.append("More errors are not marked.")
            return
        if error.span is None or not _inside(error.span, within):
            continue
        number = len(picture.problems)
        picture.problems.append(Problem(f"{error.code}: {error.message}", render(error)))
        for label in error.labels:
            box = _box_at(picture, label.span)
            if box is not None and (box.problem is None or label.primary):
                box.problem = number
                box.says = clip(label.text, 60)
    for drawing in picture.drawings:
        for at, edge in enumerate(drawing.edges):
            problem = drawing.boxes[edge.source].problem
            if problem is not None and drawing.boxes[edge.target].problem == problem:
                drawing.edges[at] = replace(edge, problem=problem)


def _box_at(picture: Picture, span: Span) -> Box | None:
    """The smallest box around a place."""
    found: Box | None = None
    for drawing in picture.drawings:
        for box in drawing.boxes:
            if box.place is not None and _inside(span, box.place):
                known = None if found is None else found.place
                if known is None or box.place.end - box.place.start < known.end - known.start:
                    found = box
    return found


def _inside(span: Span, whole: Span) -> bool:
    return span.source is whole.source and whole.start <= span.start and span.end <= whole.end
