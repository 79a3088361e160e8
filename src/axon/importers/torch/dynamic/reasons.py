"""Answers about the sizes of inputs, as reasons: which lines ask for them."""

from __future__ import annotations

from axon.importers.operations import Model, Place
from axon.importers.reporting.why import ANY, Because, NoSuchSize, Question, Reasons, reason
from axon.importers.torch.dynamic.table import Answer, Dynamic


def reasons_of(dynamic: Dynamic, model: Model, question: Question) -> list[Reasons]:
    """What fixes the sizes of an input."""
    answers = dynamic.inputs.get(question.name)
    if answers is None:
        why = "; ".join(dynamic.notes) or "its sizes are not known"
        raise NoSuchSize(f"`{question.name}`: {why}")
    places: dict[tuple[str, int], list[str]] = {}
    for each in model.graph.operations:
        if each.place is not None:
            places.setdefault((each.place.file, each.place.line), []).append(reason(each))
    return [_reasons(answers[i], places) for i in question.places(len(answers))]


def _reasons(answer: Answer, places: dict[tuple[str, int], list[str]]) -> Reasons:
    value = ANY if answer.value is None else str(answer.value)
    note = answer.why
    if answer.free is None and answer.value is not None:
        note = f"perhaps: {note}" if note else "perhaps"
    because = tuple(_because(place, places) for place in answer.places)
    return Reasons(answer.name, value, because, tuple(answer.where), note)


def _because(place: Place, places: dict[tuple[str, int], list[str]]) -> Because:
    asks = ", ".join(dict.fromkeys(places.get((place.file, place.line), ())))
    return Because(place.file, place.line, place.text, asks)
