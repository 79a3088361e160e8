"""A picture as text: one box a line, what it takes by name or number, and what it makes."""

from __future__ import annotations

from collections.abc import Iterator

from axon.pages.drawing import Drawing, Kind, Picture
from axon.pages.measure import title_of

WIDTH = 56
MOST_LINES = 5_000


def outline_of(picture: Picture, depth: int = 0) -> str:
    head = picture.title if not picture.signature else f"{picture.title} : {picture.signature}"
    lines = [head]
    for line in _drawing(picture, picture.top, depth, "  "):
        if len(lines) >= MOST_LINES:
            lines.append("…")
            break
        lines.append(line)
    return "\n".join(lines)


def _drawing(picture: Picture, drawing: Drawing, depth: int, indent: str) -> Iterator[str]:
    taken: dict[int, list[tuple[int, str]]] = {}
    names = _names(drawing)
    for edge in drawing.edges:
        taken.setdefault(edge.target, []).append((edge.port, names[edge.source, edge.output]))
    for at in _order(drawing):
        box = drawing.boxes[at]
        made = ", ".join(names[at, i] for i in range(len(box.outputs)))
        types = ", ".join(output.label for output in box.outputs)
        given = [name for _, name in sorted(taken.get(at, []), key=lambda each: each[0])]
        inside = ", ".join([*given, *box.lines])
        match box.kind:
            case Kind.INPUT:
                text = f"{made} (input)"
            case Kind.RESULT:
                text = f"{title_of(box)}: {inside}"
            case _:
                text = f"{made} = {title_of(box)}({inside})"
        line = f"{indent}{text}"
        if types:
            line = f"{line}{' ' * max(1, WIDTH - len(line))}{types}"
        yield f"{line}   ✗ {box.says}" if box.problem is not None else line
        if box.inside is not None and depth > 0:
            yield from _drawing(picture, picture.drawings[box.inside], depth - 1, indent + "    ")


def _names(drawing: Drawing) -> dict[tuple[int, int], str]:
    """What each output is called: as in the program, or by a number."""
    found: dict[tuple[int, int], str] = {}
    number = 0
    for at, box in enumerate(drawing.boxes):
        for i, output in enumerate(box.outputs):
            name = box.title if box.kind == Kind.INPUT else output.name
            if not name:
                number += 1
                name = f"%{number}"
            found[at, i] = name
    return found


def _order(drawing: Drawing) -> list[int]:
    """Inputs first, the results last, and otherwise as in the program."""
    rank = {Kind.INPUT: 0, Kind.RESULT: 2}
    return sorted(
        range(len(drawing.boxes)), key=lambda at: (rank.get(drawing.boxes[at].kind, 1), at)
    )
