"""A picture as a value: a notebook shows it, `save` writes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from axon.driver import FindFile
from axon.pages.drawing import Picture
from axon.pages.formats import in_format
from axon.pages.outline import outline_of
from axon.pages.program import picture_of
from axon.pages.recorded import Files
from axon.pages.svg import svg_of
from axon.source import Source


@dataclass(frozen=True, slots=True)
class Figure:
    """A definition drawn: boxes, and edges with their shapes. The boxes of the first `depth` levels
    are open.
    """

    picture: Picture
    depth: int = 0

    @property
    def svg(self) -> str:
        return svg_of(self.picture, self.depth)

    def save(self, path: str | Path) -> None:
        """Write a .svg, .png, .html or .dot file; a .png needs the extra `png`."""
        made = in_format(self.picture, Path(path).suffix.lower(), self.depth)
        Path(path).write_bytes(made if isinstance(made, bytes) else made.encode())

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return outline_of(self.picture, self.depth)


def figure_of(
    source: Source, name: str | None = None, find_file: FindFile | None = None, depth: int = 0
) -> Figure:
    """The figure of a definition of a program, right or wrong; of the last one if none is named."""
    recorded = Files(find_file).recorded(source)
    names = recorded.names()
    picture = picture_of(recorded, name or names[-1]) if name or names else None
    if picture is None:
        known = ", ".join(names) or "none"
        raise KeyError(f"the program has no definition `{name}`; it has {known}")
    return Figure(picture, depth)
