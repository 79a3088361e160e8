"""Why is this 16? The answer, with the places that it follows from."""

from __future__ import annotations

import re

from axon.editor.edited_file import EditedFile
from axon.editor.names import Binder
from axon.editor.values import Answer, Place
from axon.editor.view import View
from axon.explain import origin_text
from axon.inference.report.questions import Answer as Found
from axon.inference.report.questions import why as ask
from axon.inference.report.questions import why_shape
from axon.solver.constraints import Constraint
from axon.source import Span
from axon.types.type import Tensor
from axon.workspace import workspace

_QUESTION = re.compile(r"\s*([A-Za-z_][\w']*)\s*(?:\[\s*(-?\d{1,6})\s*\])?\s*")


def why(document: EditedFile, offset: int, question: str) -> Answer | None:
    view = document.view_at(offset)
    if view is None:
        return None
    with workspace():
        found = _answer(view, offset - view.start, question)
    if found is None:
        return None
    if isinstance(found, str):
        return Answer(found, ())
    lines = [f"{found.subject} is {found.value}"]
    places = _places(document, found.because)
    for condition in found.conditions:
        lines.append(f"where {condition.text}")
        places += _places(document, condition.because)
    return Answer("\n".join(lines), tuple(dict.fromkeys(places)))


def _answer(view: View, at: int, question: str) -> Found | str | None:
    """Inferred once more, with reasons."""
    noted = view.note(reasons=True)
    definition = next(iter(noted.definitions), None)
    if definition is None:
        return None
    match = _QUESTION.fullmatch(question)
    binder = _local(view, at, match[1]) if match is not None else None
    if binder is not None and match is not None:
        type_ = noted.raw(Span(view.item.span.source, binder.start, binder.end))
        if isinstance(type_, Tensor):
            index = int(match[2]) if match[2] is not None else None
            return why_shape(noted.state, definition, binder.name, type_.shape, index)
    return ask(noted.state, definition, question)


def _local(view: View, at: int, name: str) -> Binder | None:
    """The name inside a definition that is meant at a place: what stands there, or is visible."""
    use = view.names.at(at)
    if use is not None and use.name == name and use.binder is not None:
        return use.binder if use.binder.kind in ("local", "parameter", "definition") else None
    found = [
        b
        for b in view.names.binders
        if b.name == name
        and b.kind in ("local", "parameter")
        and b.visible[0] <= at <= b.visible[1]
    ]
    return max(found, key=lambda b: b.start, default=None)


def _places(document: EditedFile, because: tuple[Constraint, ...]) -> list[tuple[Place, str]]:
    found: list[tuple[Place, str]] = []
    for constraint in because:
        origin = constraint.origin
        if origin.span is not None and origin.span.source.name:
            text = origin_text(origin)
            found.append((document.place_of(origin.span), re.sub(r" \(line \d+\)", "", text)))
    return found
