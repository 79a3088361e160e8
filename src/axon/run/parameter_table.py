"""The parameters of a function as a table: names, types, how many numbers and bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from axon.run.parameters import Settled, leaves
from axon.run.safetensors import BYTES
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.show import Show
from axon.types.type import DimValue, ShapeValue, Tensor, Type, shape_size

Count = int | str | None
"""A number; as long as sizes are open, its formula; None where there is none."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A tensor among the parameters, by its dotted name."""

    name: str
    type: str
    count: Count
    bytes: Count


@dataclass(frozen=True, slots=True, repr=False)
class Parameters:
    """A table of parameters. It prints as one, and can be iterated over."""

    rows: tuple[Parameter, ...]
    count: Count
    bytes: Count

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        lines = [("parameter", "type", "count", "bytes")]
        lines += [(p.name, p.type, _text(p.count), _text(p.bytes)) for p in self.rows]
        lines.append(("total", "", _text(self.count), _text(self.bytes)))
        widths = [max(len(line[i]) for line in lines) for i in range(4)]
        return "\n".join(_line(line, widths) for line in lines)

    def _repr_html_(self) -> str:
        from axon.run.html import framed

        return framed(self.as_html())

    def as_html(self) -> str:
        from axon.run.html import parameters_html

        rows = ((p.name, p.type, p.count, p.bytes) for p in self.rows)
        return parameters_html(rows, ("total", "", self.count, self.bytes))

    def as_json(self) -> dict[str, object]:
        rows = [
            {"name": p.name, "type": p.type, "count": p.count, "bytes": p.bytes} for p in self.rows
        ]
        return {"tensors": rows, "count": self.count, "bytes": self.bytes}


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, type_, count, size = cells
    text = f"{name:<{widths[0]}}  {type_:<{widths[1]}}  {count:>{widths[2]}}  {size:>{widths[3]}}"
    return text.rstrip()


def _text(count: Count) -> str:
    return "" if count is None else f"{count:,}" if isinstance(count, int) else count


def table(found: Settled) -> Parameters:
    rows: list[Parameter] = []
    total: list[Dim | None] = [0, 0]
    for before, type_ in found.parts():
        for path, leaf in leaves(type_):
            counts = _counted(leaf)
            name = ".".join((before, *path) if before else path)
            rows.append(Parameter(name, found.show.type(leaf), *_shown(counts, found.show)))
            total = [_plus(*each) for each in zip(total, counts, strict=True)]
    return Parameters(tuple(rows), *_shown(total, found.show))


def _counted(type_: Type) -> list[Dim | None]:
    """How many numbers a tensor has, and bytes; a size is no tensor and counts nothing."""
    if isinstance(type_, DimValue | ShapeValue):
        return [0, 0]
    if not isinstance(type_, Tensor):
        return [None, None]
    count = shape_size(type_.shape)
    return [count, dims.scale(BYTES[type_.elem], count) if isinstance(type_.elem, str) else None]


def _plus(count: Dim | None, other: Dim | None) -> Dim | None:
    return None if count is None or other is None else dims.add(count, other)


def _shown(counts: Sequence[Dim | None], show: Show) -> list[Count]:
    return [each if each is None or isinstance(each, int) else show.dim(each) for each in counts]
