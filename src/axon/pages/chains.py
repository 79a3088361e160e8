"""Drawings made simpler: layers that repeat as one box, records as their fields."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from axon.pages.drawing import Box, Drawing, Edge, Kind, Output


def split_inputs(drawing: Drawing) -> None:
    """Put a box for each field that is used in the place of an input that is a record."""
    boxes: list[Box] = []
    place: dict[tuple[int, int], int] = {}
    for at, box in enumerate(drawing.boxes):
        if box.kind != Kind.INPUT or not any(output.name for output in box.outputs):
            place.update({(at, output): len(boxes) for output in range(max(1, len(box.outputs)))})
            boxes.append(box)
            continue
        for number, output in enumerate(box.outputs):
            place[at, number] = len(boxes)
            title = f"{box.title}.{output.name}" if output.name else box.title
            boxes.append(replace(box, title=title, outputs=[replace(output, name="")]))
    drawing.edges = [
        replace(
            edge,
            source=place[edge.source, edge.output],
            output=0 if boxes[place[edge.source, edge.output]].kind == Kind.INPUT else edge.output,
            target=place[edge.target, 0],
        )
        for edge in drawing.edges
    ]
    drawing.boxes = boxes


def merge_chains(drawing: Drawing) -> None:
    """Put a box with a count in the place of each chain of boxes that are alike inside."""
    boxes = drawing.boxes
    users: dict[int, set[int]] = defaultdict(set)
    for edge in drawing.edges:
        users[edge.source].add(edge.target)
    first = list(range(len(boxes)))
    for at, box in enumerate(boxes):
        if box.kind != Kind.FUNCTION or box.inside is None or len(users[at]) != 1:
            continue
        (after,) = users[at]
        if after > at and _is_copy(box, boxes[after]):
            first[after] = first[at]
    if all(each == at for at, each in enumerate(first)):
        return
    last = {first[at]: at for at in range(len(boxes))}
    count: dict[int, int] = defaultdict(int)
    for at in range(len(boxes)):
        count[first[at]] += 1
    kept = [at for at in range(len(boxes)) if first[at] == at]
    place = {at: new for new, at in enumerate(kept)}
    merged: list[Box] = []
    for at in kept:
        merged.append(replace(boxes[at], outputs=boxes[last[at]].outputs, count=count[at]))
    edges: dict[tuple[int, int, int], Edge] = {}
    for edge in drawing.edges:
        source, target = first[edge.source], first[edge.target]
        if source == target:
            continue
        key = place[source], edge.output, place[target]
        edges.setdefault(key, Edge(*key, edge.port, edge.problem))
    drawing.boxes, drawing.edges = merged, list(edges.values())


def _is_copy(one: Box, other: Box) -> bool:
    return (
        other.kind == Kind.FUNCTION
        and (one.inside, one.title, one.lines) == (other.inside, other.title, other.lines)
        and one.problem is other.problem is None
        and [_type(o) for o in one.outputs] == [_type(o) for o in other.outputs]
    )


def _type(output: Output) -> str:
    return output.type
