"""A drawing with positions. Edges leave a box at the bottom, through their label, and enter at the
top; they are lines down beside the boxes of a layer, and curves between two layers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from axon.pages.drawing import Drawing, Picture
from axon.pages.layering import Layered, layered
from axon.pages.measure import (
    STUB,
    TAG,
    TAG_GAP,
    TITLE,
    box_size,
    tag_width,
    tags_width,
)
from axon.pages.ordering import ordered
from axon.pages.placing import placed

GAP = 22.0
DUMMY = 4.0
LEAST_BETWEEN, MOST_BETWEEN = 22.0, 90.0
MARGIN = 16.0
PORTS = 15.0
MOST_LAID_OUT = 12_000
"""Boxes of opened drawings that are laid out at most."""

Point = tuple[float, float]


@dataclass(slots=True, eq=False)
class Placed:
    """A box: its left top corner and size, its layer, where the middles of its labels are, and the
    layout inside it if it is open.
    """

    x: float
    y: float
    width: float
    height: float
    layer: int
    tags: list[float]
    opened: Layout | None = None

    @property
    def bottom(self) -> float:
        """The end of its labels."""
        return self.y + self.height + (STUB + TAG if self.tags else 0.0)


@dataclass(frozen=True, slots=True)
class Route:
    """The way of an edge: points from which it goes straight down to every second one, and in a
    curve to the next. One that comes from a trunk begins there.
    """

    edge: int
    points: tuple[Point, ...]
    far: bool = False


@dataclass(slots=True, eq=False)
class Layout:
    drawing: Drawing
    width: float = 0.0
    height: float = 0.0
    boxes: list[Placed] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    trunks: list[tuple[int, tuple[Point, ...]]] = field(default_factory=list)
    """An edge of each trunk, and its points."""
    rows: list[tuple[float, float]] = field(default_factory=list)
    """The top and the bottom of each layer."""


def lay_out(picture: Picture, depth: int = 0, drawing: int = 0) -> Layout:
    """The layout of a drawing, the boxes of the first levels open."""
    return _LayOut(picture).drawing(drawing, depth)


class _LayOut:
    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.left = MOST_LAID_OUT

    def drawing(self, number: int, depth: int) -> Layout:
        drawing = self.picture.drawings[number]
        self.left -= len(drawing.boxes)
        opened: dict[int, Layout] = {}
        if depth > 0:
            for at, box in enumerate(drawing.boxes):
                if box.inside is not None and self.left > 0:
                    opened[at] = self.drawing(box.inside, depth - 1)
        return arranged(drawing, opened)


def arranged(drawing: Drawing, opened: dict[int, Layout]) -> Layout:
    """The layout of one drawing; the layouts of the boxes that are open are known."""
    boxes = drawing.boxes
    found = layered(len(boxes), [len(box.outputs) for box in boxes], drawing.edges)
    sizes = [_size(drawing, at, opened) for at in range(len(boxes))]
    widths = [max(w, tags_width(box)) for (w, _), box in zip(sizes, boxes, strict=True)]
    widths += [DUMMY] * (len(found.layer) - len(boxes))
    order = ordered(found)
    middle = placed(found, order, widths, GAP)
    between = _between(found, middle)
    layout = Layout(drawing)
    tops: list[float] = []
    bottoms: list[float] = []
    y = MARGIN
    placed_at: dict[int, Placed] = {}
    for level, row in enumerate(order):
        y += between[level - 1] if level else 0.0
        tops.append(y)
        tall = 0.0
        for node in row:
            if node < len(boxes):
                width, height = sizes[node]
                x = middle[node] + MARGIN
                tags = _tags(drawing, node, x)
                made = Placed(x - width / 2, y, width, height, level, tags, opened.get(node))
                placed_at[node] = made
                tall = max(tall, made.bottom - y)
        bottoms.append(y + tall)
        y += tall
    layout.boxes = [placed_at[at] for at in range(len(boxes))]
    layout.rows = list(zip(tops, bottoms, strict=True))
    wide = (m + w / 2 for m, w in zip(middle, widths, strict=True))
    layout.width = max(wide, default=0.0) + 2 * MARGIN
    layout.height = y + MARGIN
    _route(layout, found, [m + MARGIN for m in middle], tops, bottoms)
    return layout


def _size(drawing: Drawing, at: int, opened: dict[int, Layout]) -> tuple[float, float]:
    width, height = box_size(drawing.boxes[at])
    inner = opened.get(at)
    if inner is None:
        return width, height
    return max(width, inner.width), height + inner.height + (TITLE - 18)


def _tags(drawing: Drawing, node: int, middle: float) -> list[float]:
    box = drawing.boxes[node]
    x = middle - tags_width(box) / 2
    found: list[float] = []
    for output in box.outputs:
        width = tag_width(output)
        found.append(x + width / 2)
        x += width + TAG_GAP
    return found


def _between(found: Layered, middle: list[float]) -> list[float]:
    """The room between two layers: more where edges go far to the side."""
    rooms = [LEAST_BETWEEN] * max(0, len(found.layers) - 1)
    for node, below in enumerate(found.below):
        level = found.layer[node]
        for other, _ in below:
            if found.layer[other] == level + 1:
                wanted = LEAST_BETWEEN + abs(middle[node] - middle[other]) * 0.09
                rooms[level] = max(rooms[level], min(MOST_BETWEEN, wanted))
    return rooms


def _route(
    layout: Layout, found: Layered, middle: list[float], tops: list[float], bottoms: list[float]
) -> None:
    """The points of trunks and edges. Edges enter a box in the order in which they come."""
    edges, boxes = layout.drawing.edges, layout.boxes
    starts: dict[int, float] = {}
    for trunk in found.trunks:
        for number, last in zip(trunk.edges, trunk.last, strict=True):
            at_box = last == trunk.source
            starts[number] = boxes[last].tags[trunk.output] if at_box else middle[last]
    into: dict[int, list[int]] = {}
    for number in starts:
        into.setdefault(edges[number].target, []).append(number)
    ends: dict[int, float] = {}
    for target, numbers in into.items():
        numbers.sort(key=lambda n: (starts[n], edges[n].port))
        box = boxes[target]
        step = min(PORTS, (box.width - 16) / max(1, len(numbers)))
        for i, number in enumerate(numbers):
            ends[number] = box.x + box.width / 2 + (i - (len(numbers) - 1) / 2) * step
    for trunk in found.trunks:
        source = boxes[trunk.source]
        x, y = source.tags[trunk.output], source.bottom
        points: list[Point] = [(x, y), (x, max(y, bottoms[source.layer]))]
        if trunk.dummies:
            for dummy in trunk.dummies:
                level = found.layer[dummy]
                points += [(middle[dummy], tops[level]), (middle[dummy], bottoms[level])]
            layout.trunks.append((trunk.edges[0], tuple(points)))
        for number, last in zip(trunk.edges, trunk.last, strict=True):
            end = (ends[number], boxes[edges[number].target].y)
            if last == trunk.source:
                first = ((x, y), (x, max(y, bottoms[source.layer])))
                layout.routes.append(Route(number, (*first, end), trunk.far))
            else:
                level = found.layer[last]
                layout.routes.append(Route(number, ((middle[last], bottoms[level]), end)))
    layout.routes.sort(key=lambda route: route.edge)
