"""A picture as SVG: one file, in the colours that the reader prefers, text as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap
from typing import NamedTuple

from axon.pages.drawing import Box, Drawing, Kind, Picture
from axon.pages.labels import clip
from axon.pages.layout import Layout, Placed, Point, lay_out
from axon.pages.measure import LINE, STUB, TAG, TITLE, sans, tag_width, title_of
from axon.pages.palette import STYLE
from axon.pages.symbols import colour, split_label

MOST_FOOT = 8
_BAD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


class Drawn(NamedTuple):
    text: str
    width: float
    height: float


def svg_of(picture: Picture, depth: int = 0, theme: str = "") -> str:
    """The picture, the boxes of the first levels open. The `theme` is `light` or `dark`, or what
    the reader prefers.
    """
    return drawn(picture, depth, theme).text


def drawn(picture: Picture, depth: int = 0, theme: str = "") -> Drawn:
    """The same, and its size."""
    writer = _Writer(picture)
    text = "".join(writer.document(lay_out(picture, depth), theme))
    return Drawn(text, writer.width, writer.height)


def escaped(text: str) -> str:
    """Text as XML may have it."""
    return _BAD.sub("\ufffd", text).translate(_ESCAPES)


class _Writer:
    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.width = self.height = 0.0

    def document(self, layout: Layout, theme: str) -> Iterator[str]:
        title, said = self.picture.title, self.picture.signature
        foot = self._foot(max(layout.width, 320.0))
        width = max(layout.width, 160.0, *(sans(line) * 0.9 + 32 for line in foot))
        height = layout.height + (18.0 * len(foot) + 8 if foot else 0)
        self.width, self.height = width, height
        box = f'viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}" height="{_n(height)}"'
        yield f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" '
        yield 'aria-labelledby="axon-title axon-desc" class="axon-graph">\n'
        yield f'<title id="axon-title">{escaped(title)}</title>\n'
        yield f'<desc id="axon-desc">{escaped(self._said(said, layout.drawing))}</desc>\n'
        yield f"<style>{STYLE[theme]}</style>\n"
        yield f'<rect class="paper" width="{_n(width)}" height="{_n(height)}"/>\n'
        yield from self.layout(layout)
        for i, text in enumerate(foot):
            y = layout.height + 14 + 18 * i
            yield f'<text class="says" x="16" y="{_n(y)}">{escaped(text)}</text>\n'
        yield "</svg>\n"

    def _foot(self, room: float) -> list[str]:
        """The errors and notes, in lines."""
        lines: list[str] = []
        texts = [problem.message for problem in self.picture.problems[:MOST_FOOT]]
        for text in (*texts, *self.picture.notes):
            lines += wrap(clip(text, 400), max(30, int(room / 8)))
        return lines

    def _said(self, signature: str, drawing: Drawing) -> str:
        count = len(drawing.boxes)
        return f"{signature or 'A graph'}. {count} boxes, {len(drawing.edges)} edges."

    def layout(self, layout: Layout) -> Iterator[str]:
        edges = layout.drawing.edges
        for edge, points in layout.trunks:
            yield f'<path class="{_edge_class(edges[edge].problem)}" d="{path(points)}"/>\n'
        for route in layout.routes:
            name = _edge_class(edges[route.edge].problem) + (" far" if route.far else "")
            yield f'<path class="{name}" d="{path(route.points)}"/>'
            yield f'<path class="{name} tip" d="{_tip(route.points[-1])}"/>\n'
        for box, placed in zip(layout.drawing.boxes, layout.boxes, strict=True):
            yield from self.box(box, placed)

    def box(self, box: Box, placed: Placed) -> Iterator[str]:
        x, y, width = placed.x, placed.y, placed.width
        wrong = " wrong" if box.problem is not None else ""
        yield f'<g class="box {box.kind}{wrong}">'
        yield f"<title>{escaped(tooltip(box))}</title>"
        if box.count > 1 and placed.opened is None:
            yield _rect(x + 5, y + 5, width, placed.height, 5, "behind")
        radius = placed.height / 2 if box.kind in (Kind.INPUT, Kind.RESULT) else 5
        yield _rect(x, y, width, placed.height, min(radius, 14), "body")
        middle = x + width / 2
        at = y + 5 + TITLE - 5
        mark = "" if box.inside is None else "▾ " if placed.opened is not None else "▸ "
        yield f'<text class="title" x="{_n(middle)}" y="{_n(at)}">'
        yield f"{mark}{escaped(title_of(box))}</text>"
        for line in box.lines:
            at += LINE
            yield f'<text class="line" x="{_n(middle)}" y="{_n(at)}">{self.coloured(line)}</text>'
        if box.says:
            at += LINE
            yield f'<text class="says mid" x="{_n(middle)}" y="{_n(at)}">{escaped(box.says)}</text>'
        if placed.opened is not None:
            inner = placed.opened
            left = x + (width - inner.width) / 2
            yield f'\n<g transform="translate({_n(left)} {_n(at + 6)})">\n'
            yield _rect(5, 2, inner.width - 10, inner.height - 8, 4, "paper")
            yield from self.layout(inner)
            yield "</g>\n"
        yield from self.tags(box, placed)
        yield "</g>\n"

    def tags(self, box: Box, placed: Placed) -> Iterator[str]:
        """The labels of what a box makes, each on the line that leaves it."""
        y = placed.y + placed.height
        for output, x in zip(box.outputs, placed.tags, strict=True):
            inside = max(placed.x + 6, min(x, placed.x + placed.width - 6))
            yield f'<path class="edge" d="M{_n(inside)} {_n(y)}L{_n(x)} {_n(y + STUB)}"/>'
            name = f'<tspan class="name">{escaped(output.name)} </tspan>' if output.name else ""
            wide = tag_width(output)
            yield _rect(x - wide / 2, y + STUB + 3, wide, TAG - 4, 3, "halo")
            yield f'<text class="tag" x="{_n(x)}" y="{_n(y + STUB + TAG - 5)}">{name}'
            yield f"{self.coloured(output.label)}</text>"

    def coloured(self, label: str) -> str:
        found = []
        for text, symbol in split_label(label, self.picture.symbols):
            name = colour(symbol)
            found.append(
                f'<tspan class="{name}">{escaped(text)}</tspan>' if name else escaped(text)
            )
        return "".join(found)


def tooltip(box: Box) -> str:
    lines = [title_of(box)]
    lines += [f"{o.name} : {o.type}" if o.name else o.type for o in box.outputs]
    return "\n".join(filter(None, (*lines, box.says)))


def path(points: tuple[Point, ...]) -> str:
    """Straight down to every second point, else a curve that begins and ends going down."""
    x, y = points[0]
    out = [f"M{_n(x)} {_n(y)}"]
    for to_x, to_y in points[1:]:
        if abs(to_x - x) < 0.05:
            out.append(f"V{_n(to_y)}")
        else:
            bend = y + (to_y - y) / 2
            out.append(f"C{_n(x)} {_n(bend)} {_n(to_x)} {_n(bend)} {_n(to_x)} {_n(to_y)}")
        x, y = to_x, to_y
    return "".join(out)


def _tip(point: Point) -> str:
    x, y = point
    return f"M{_n(x - 3.5)} {_n(y - 6)}L{_n(x)} {_n(y)}L{_n(x + 3.5)} {_n(y - 6)}"


def _rect(x: float, y: float, width: float, height: float, radius: float, name: str) -> str:
    size = f'width="{_n(width)}" height="{_n(height)}" rx="{_n(radius)}"'
    return f'<rect class="{name}" x="{_n(x)}" y="{_n(y)}" {size}/>'


def _edge_class(problem: int | None) -> str:
    return "edge" if problem is None else "edge wrong"


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
