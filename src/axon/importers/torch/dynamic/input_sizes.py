"""The sizes of a program's inputs as variables: what the archive says of them is kept beside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from axon.importers.operations import Declared, Model, Size
from axon.importers.torch.archive import Archive
from axon.importers.torch.document import Document
from axon.types.type import Tensor, Type
from axon.types.variables import DimVar, ElemVar, given_at

UNLIKELY = 1009
"""The example of a size that the archive has none of, and those that follow it."""


@dataclass(slots=True, eq=False)
class InputSize:
    """One size of an input: `declared` in the archive, `example` where the exporter ran."""

    input: str
    axis: int
    declared: Size | None
    example: int
    var: DimVar

    @property
    def name(self) -> str:
        """`x[0]`."""
        return f"{self.input}[{self.axis}]"

    @property
    def is_fixed(self) -> bool:
        """Whether it is a number in the archive."""
        return isinstance(self.declared, int)


@dataclass(slots=True)
class InputSizes:
    """The tensors that a program takes, with their sizes forgotten and their ranks kept."""

    sizes: dict[str, list[InputSize]]
    types: dict[str, Type]
    examples: dict[DimVar, int] = field(init=False)

    def __post_init__(self) -> None:
        self.examples = {each.var: each.example for each in self.every()}

    def every(self) -> Iterator[InputSize]:
        for sizes in self.sizes.values():
            yield from sizes


def input_sizes_of(model: Model, archive: Archive) -> InputSizes:
    """The inputs of a program."""
    sizes: dict[str, list[InputSize]] = {}
    types: dict[str, Type] = {}
    tensors = archive.program.find("graph_module", "graph", "tensor_values")
    unlikely = UNLIKELY
    for declared in model.graph.inputs:
        meta = None if tensors is None else tensors.find(declared.name)
        if declared.sizes is None or meta is None:
            continue
        found = []
        for axis, size in enumerate(declared.sizes):
            var = DimVar(f"{declared.name}[{axis}]", 1, user=True, scope=given_at(1))
            example = size if isinstance(size, int) else _hint(meta, axis)
            if example is None:
                example, unlikely = unlikely, unlikely + 2
            found.append(InputSize(declared.name, axis, size, example, var))
        sizes[declared.name] = found
        types[declared.name] = _type(declared, found)
    return InputSizes(sizes, types)


def _type(declared: Declared, sizes: list[InputSize]) -> Type:
    return Tensor(declared.elem or ElemVar("", 1), tuple([each.var for each in sizes]))


def _hint(meta: Document, axis: int) -> int | None:
    """The size of the example that the exporter ran with, if it wrote that down."""
    found = meta.find("sizes", axis, "as_expr", "hint", "as_int")
    return found.value if found is not None and type(found.value) is int else None
