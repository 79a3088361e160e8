"""A picture as JSON for a page: every drawing laid out with its boxes closed.

`graph.js` opens boxes: it moves what is beside and below an open box aside, in the order that was
found here, and draws edges between where the boxes then are.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from axon.pages.drawing import Box, Drawing, Picture
from axon.pages.embedding import Json, embedded
from axon.pages.layout import arranged
from axon.pages.measure import tag_width
from axon.source import Span

Place = Callable[[Span | None], int | None]


def graph_data(picture: Picture, place: Place, room: int) -> Json | None:
    """The picture with as many of its drawings as fit; None if not even the first does."""
    texts = _Texts()
    drawings: list[Json] = []
    left = room
    for drawing in picture.drawings:
        before = texts.size
        made = _drawing(drawing, texts, place)
        left -= len(embedded(made)) + texts.size - before
        if left < 0:
            break
        drawings.append(made)
    if not drawings:
        return None
    notes = list(picture.notes)
    if len(drawings) < len(picture.drawings):
        notes.append("Some boxes do not open: the page would be too large.")
    return {
        "title": picture.title,
        "signature": picture.signature,
        "symbols": list(picture.symbols),
        "problems": [[p.message, p.text] for p in picture.problems],
        "notes": notes,
        "texts": texts.table,
        "drawings": drawings,
    }


class _Texts:
    """Texts, each written once."""

    def __init__(self) -> None:
        self.table: list[str] = []
        self.size = 0
        self._index: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        at = self._index.setdefault(text, len(self.table))
        if at == len(self.table):
            self.table.append(text)
            self.size += len(embedded(text)) + 1
        return at


def _drawing(drawing: Drawing, texts: _Texts, place: Place) -> Json:
    layout = arranged(drawing, {})
    boxes = [
        _box(box, at.x + at.width / 2, at.width, at.height, at.layer, texts, place)
        for box, at in zip(drawing.boxes, layout.boxes, strict=True)
    ]
    far = {route.edge for route in layout.routes if route.far}
    edges = [
        [e.source, e.output, e.target, e.port, _or_none(e.problem), int(at in far)]
        for at, e in enumerate(drawing.edges)
    ]
    trunks = [
        [drawing.edges[edge].source, drawing.edges[edge].output]
        + [round(x) for x, _ in points[2::2]]
        for edge, points in layout.trunks
    ]
    gaps = [round(below[0] - above[1]) for above, below in pairwise(layout.rows)]
    return {"name": texts(drawing.name), "boxes": boxes, "edges": edges, "trunks": trunks,
            "gaps": gaps, "layers": len(layout.rows)}  # fmt: skip


def _box(
    box: Box, x: float, width: float, height: float, layer: int, texts: _Texts, place: Place
) -> list[object]:
    outputs = [
        [texts(o.label), texts(o.type), texts(o.name), round(tag_width(o))] for o in box.outputs
    ]
    return [
        box.kind.value,
        texts(box.title),
        [texts(line) for line in box.lines],
        round(x),
        round(width),
        round(height),
        layer,
        _or_none(box.inside),
        box.count,
        _or_none(box.problem),
        texts(box.says),
        outputs,
        _or_none(place(box.place)),
    ]


def _or_none(number: int | None) -> int:
    return -1 if number is None else number
