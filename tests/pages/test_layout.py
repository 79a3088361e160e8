"""Layout: boxes and labels do not overlap, edges go down, and it is the same each time."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axon.pages.drawing import Box, Drawing, Edge, Kind, Output, Picture
from axon.pages.layout import Layout, arranged, lay_out
from axon.pages.measure import box_size, tag_width
from tests.budget import share


@st.composite
def drawings(draw: st.DrawFn) -> Drawing:
    count = draw(st.integers(1, 14))
    boxes = []
    for at in range(count):
        outputs = [
            Output("[b,n]" * draw(st.integers(1, 3))) for _ in range(draw(st.integers(0, 3)))
        ]
        title = "x" * draw(st.integers(1, 20))
        boxes.append(Box(Kind.OPERATOR, f"{title}{at}", outputs=outputs))
    edges: list[Edge] = []
    for _ in range(draw(st.integers(0, 24))):
        source = draw(st.integers(0, count - 1))
        target = draw(st.integers(0, count - 1))
        if source < target and boxes[source].outputs:
            output = draw(st.integers(0, len(boxes[source].outputs) - 1))
            edges.append(Edge(source, output, target, draw(st.integers(0, 3))))
    order = draw(st.permutations(range(count)))
    return Drawing(
        "drawn",
        [boxes[order.index(at)] for at in range(count)],
        [Edge(order[e.source], e.output, order[e.target], e.port) for e in edges],
    )


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    a, b, c, d = one
    e, f, g, h = other
    return a < g - 0.01 and e < c - 0.01 and b < h - 0.01 and f < d - 0.01


def _areas(layout: Layout) -> list[tuple[float, float, float, float]]:
    """The areas of boxes and labels."""
    found = []
    for box, placed in zip(layout.drawing.boxes, layout.boxes, strict=True):
        found.append((placed.x, placed.y, placed.x + placed.width, placed.y + placed.height))
        for output, x in zip(box.outputs, placed.tags, strict=True):
            half = tag_width(output) / 2
            low = placed.y + placed.height + 0.1
            found.append((x - half, low, x + half, placed.bottom))
    return found


def _check(layout: Layout) -> None:
    drawing = layout.drawing
    assert len(layout.boxes) == len(drawing.boxes)
    areas = _areas(layout)
    for i, one in enumerate(areas):
        assert one[0] >= 0 and one[1] >= 0
        assert one[2] <= layout.width + 0.01 and one[3] <= layout.height + 0.01
        for other in areas[i + 1 :]:
            assert not _overlap(one, other)
    assert sorted(route.edge for route in layout.routes) == list(range(len(drawing.edges)))
    for route in layout.routes:
        edge = drawing.edges[route.edge]
        source, target = layout.boxes[edge.source], layout.boxes[edge.target]
        assert source.layer < target.layer and source.bottom < target.y
        heights = [y for _, y in route.points]
        assert all(a <= b + 1e-6 for a, b in pairwise(heights))
        end_x, end_y = route.points[-1]
        assert end_y == target.y and target.x < end_x < target.x + target.width
    for _, points in layout.trunks:
        assert all(a[1] <= b[1] + 1e-6 for a, b in pairwise(points))


@share(0.15)
@given(drawings())
def test_the_laws_of_a_layout(drawing: Drawing) -> None:
    _check(arranged(drawing, {}))


@share(0.05)
@given(drawings())
def test_a_layout_is_the_same_each_time(drawing: Drawing) -> None:
    one, other = arranged(drawing, {}), arranged(drawing, {})
    assert _areas(one) == _areas(other) and one.routes == other.routes


def test_trunks_do_not_run_through_boxes() -> None:
    """A long edge passes beside the boxes of the layers between."""
    boxes = [Box(Kind.OPERATOR, f"operator {i}", outputs=[Output("[b]")]) for i in range(12)]
    edges = [Edge(i, 0, i + 1) for i in range(11)] + [Edge(0, 0, 11), Edge(2, 0, 9), Edge(3, 0, 8)]
    layout = arranged(Drawing("long", boxes, edges), {})
    _check(layout)
    for _, points in layout.trunks:
        for (x, top), (_, bottom) in zip(points[2::2], points[3::2], strict=True):
            for placed in layout.boxes:
                inside = placed.x < x < placed.x + placed.width
                assert not (inside and placed.y < bottom and top < placed.y + placed.height)


def test_open_boxes_have_room_for_what_is_inside() -> None:
    inner = Drawing("inner", [Box(Kind.OPERATOR, "a" * 30, outputs=[Output("[b]")])] * 5)
    outer = [Box(Kind.FUNCTION, f"f{i}", inside=1, outputs=[Output("[b]")]) for i in range(3)]
    top = Drawing("top", outer, [Edge(0, 0, 1), Edge(1, 0, 2), Edge(0, 0, 2)])
    layout = lay_out(Picture("p", drawings=[top, inner]), depth=1)
    _check(layout)
    for placed in layout.boxes:
        assert placed.opened is not None
        assert placed.opened.width <= placed.width and placed.opened.height <= placed.height


@pytest.mark.parametrize("count", [300, 1_500])
def test_large_graphs(count: int) -> None:
    """All boxes are placed, in layers that do not overlap; the work for long edges is bounded."""
    rng = random.Random(count)
    boxes = [Box(Kind.OPERATOR, "add", outputs=[Output("[b,64]")]) for _ in range(count)]
    edges = [Edge(i, 0, i + 1) for i in range(count - 1)]
    edges += [Edge(rng.randrange(i), 0, i, 1) for i in range(1, count)]
    layout = arranged(Drawing("large", boxes, edges), {})
    rows: dict[int, list[tuple[float, float]]] = {}
    for placed in layout.boxes:
        rows.setdefault(placed.layer, []).append((placed.x, placed.x + placed.width))
    for row in rows.values():
        assert all(one[1] <= other[0] for one, other in pairwise(sorted(row)))
    assert len(layout.routes) == len(edges)
    points = sum(len(p) for _, p in layout.trunks) + sum(len(r.points) for r in layout.routes)
    assert points <= 40 * count + 70_000


def test_a_cycle_is_drawn_too() -> None:
    """A model that is malformed may have one."""
    boxes = [Box(Kind.OPERATOR, str(i), outputs=[Output("?")]) for i in range(3)]
    edges = [Edge(0, 0, 1), Edge(1, 0, 2), Edge(2, 0, 0)]
    layout = arranged(Drawing("cycle", boxes, edges), {})
    assert len(layout.boxes) == 3 and len(layout.routes) == 2


def test_a_box_is_as_wide_as_its_text() -> None:
    narrow, _ = box_size(Box(Kind.OPERATOR, "add"))
    wide, high = box_size(Box(Kind.OPERATOR, "add", lines=["axis = 0, keep = true"] * 3))
    assert wide > narrow and high > 60


def test_a_value_that_all_layers_take_is_one_straight_line() -> None:
    """So a graph is no wider for more layers."""

    def drawn(layers: int) -> Layout:
        boxes = [Box(Kind.INPUT, each, outputs=[Output("[b]")]) for each in ("x", "w")]
        edges: list[Edge] = []
        last = 0
        for _ in range(layers):
            at = len(boxes)
            boxes += [Box(Kind.OPERATOR, each, outputs=[Output("[b]")]) for each in ("@", "f", "+")]
            edges += [Edge(last, 0, at), Edge(1, 0, at, 1), Edge(at, 0, at + 1)]
            edges += [Edge(last, 0, at + 2), Edge(at + 1, 0, at + 2, 1)]
            last = at + 2
        return arranged(Drawing("layers", boxes, edges), {})

    layout = drawn(40)
    assert layout.width <= drawn(4).width + 1
    (trunk,) = [points for edge, points in layout.trunks if layout.drawing.edges[edge].source == 1]
    assert len({round(x) for x, _ in trunk[2:]}) == 1
