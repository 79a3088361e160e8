"""A picture for Graphviz: open boxes are clusters, labels are on the edges."""

from __future__ import annotations

from collections.abc import Iterator

from axon.pages.drawing import Box, Drawing, Kind, Picture
from axon.pages.measure import title_of
from axon.pages.palette import LIGHT

MOST_BOXES = 40_000
_SHAPES = {Kind.INPUT: "oval", Kind.RESULT: "oval", Kind.WEIGHT: "note", Kind.CONSTANT: "note"}


def dot_of(picture: Picture, depth: int = 0) -> str:
    return "\n".join(_Writer(picture).document(depth)) + "\n"


class _Writer:
    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.count = 0

    def document(self, depth: int) -> Iterator[str]:
        yield f"digraph {_quoted(self.picture.title)} {{"
        yield '  graph [rankdir=TB, fontname="sans-serif", compound=true];'
        yield '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];'
        yield '  edge [fontname="monospace", fontsize=10];'
        yield from self.drawing(self.picture.top, depth, "  ")
        yield "}"

    def drawing(self, drawing: Drawing, depth: int, indent: str) -> Iterator[str]:
        names: list[tuple[str, str]] = []
        for box in drawing.boxes:
            self.count += 1
            name = f"n{self.count}"
            if box.inside is None or depth <= 0 or self.count > MOST_BOXES:
                names.append((name, ""))
                yield f"{indent}{name} [{self.box(box)}];"
                continue
            names.append((name, f"cluster_{name}"))
            yield f"{indent}subgraph cluster_{name} {{"
            yield f"{indent}  label={_quoted(title_of(box))};"
            yield f'{indent}  {name} [shape=point, style=invis, label=""];'
            yield from self.drawing(self.picture.drawings[box.inside], depth - 1, indent + "  ")
            yield f"{indent}}}"
        for edge in drawing.edges:
            (source, out), (target, into) = names[edge.source], names[edge.target]
            output = drawing.boxes[edge.source].outputs[edge.output]
            text = f"{output.name} {output.label}" if output.name else output.label
            more = [f"label={_quoted(text)}"]
            if out:
                more.append(f"ltail={out}")
            if into:
                more.append(f"lhead={into}")
            if edge.problem is not None:
                more.append(f'color="{LIGHT["wrong"]}", penwidth=2')
            yield f"{indent}{source} -> {target} [{', '.join(more)}];"

    def box(self, box: Box) -> str:
        lines = [title_of(box), *box.lines, *filter(None, [box.says])]
        parts = [f"label={_quoted(chr(10).join(lines))}"]
        if box.kind in _SHAPES:
            parts.append(f"shape={_SHAPES[box.kind]}")
        if box.problem is not None or box.kind == Kind.UNKNOWN:
            parts.append(f'color="{LIGHT["wrong"]}", fillcolor="{LIGHT["wrong-wash"]}"')
        elif box.kind == Kind.FUNCTION:
            parts.append(f'color="{LIGHT["function-line"]}", fillcolor="{LIGHT["function"]}"')
        return ", ".join(parts)


def _quoted(text: str) -> str:
    clean = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
    return '"' + clean.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
