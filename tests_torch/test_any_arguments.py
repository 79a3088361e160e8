"""Whatever a file says that the arguments of an operator are, its rule has an answer. No exception
is caught around rules: another than `Malformed` or `Unsupported` is a bug. The arguments are drawn
from PyTorch's own schemas, and from among others.
"""

from __future__ import annotations

import contextlib
import math
import random
from typing import Any

import pytest
import torch

from axon.importers.formats import read_archive
from axon.importers.operations import NoModel
from axon.importers.torch.rules.registry import RULES
from tests.budget import ALL
from tests.importers.torch_archives import Elem, Exported, Tensor

NAMES = sorted(name for domain, name in RULES if domain == "aten")
PARTS = 8
DRAWS = ALL.max_examples // 100
"""How often each overload is called."""
ELEMENTS = ("f32", "f32", "f32", "f16", "i64", "u8", "bool", "c64")
SIZES = (0, 1, 2, 3, 4, 4, "n", "m")
WHOLE = (-5, -2, -1, 0, 1, 2, 3, 8, 1 << 40)
REAL = (0.0, 1.0, -0.5, 2.5, math.inf, -math.inf, math.nan)
TEXTS = ("mean", "sum", "none", "ij", "x", "ab,bc->ac", "left", "right", "floor", "ortho", "fro")
OTHER = (
    *WHOLE, *REAL, True, "x", "c64", Elem("bool"), Elem("c64"), None, (), (0, 0), (-3, 5), (1.5,),
    ("x",), (True,),
)  # fmt: skip
ABSENT = object()
SCHEMAS = [
    getattr(packet, overload)._schema
    for packet in (getattr(torch.ops.aten, name, None) for name in NAMES)
    if packet is not None
    for overload in packet.overloads()
    if "out" not in overload
]


class Arguments:
    """Arguments for a program of one call; tensors become inputs of the program."""

    def __init__(self, draw: random.Random, program: Exported) -> None:
        self.draw = draw
        self.program = program
        self.count = 0
        self.wrong = draw.choice((0.0, 0.0, 0.15, 0.4))

    def tensor(self) -> Tensor:
        self.count += 1
        rank = self.draw.choice((0, 1, 1, 2, 2, 3, 3, 4, 5))
        sizes = [self.draw.choice(SIZES) for _ in range(rank)]
        return self.program.input(f"x{self.count}", self.draw.choice(ELEMENTS), sizes)

    def listed(self, among: tuple[Any, ...]) -> list[Any]:
        return [self.draw.choice(among) for _ in range(self.draw.randrange(5))]

    def of(self, kind: str) -> Any:
        """A value of a kind that a schema has."""
        match kind:
            case "Tensor":
                return self.tensor()
            case "List[Tensor]" | "List[Optional[Tensor]]":
                return [self.tensor() for _ in range(self.draw.randrange(4))]
            case "int" | "SymInt":
                return self.draw.choice(WHOLE)
            case "List[int]" | "List[SymInt]":
                return self.listed((-2, -1, 0, 1, 2, 3))
            case "float":
                return self.draw.choice(REAL)
            case "List[float]":
                return self.listed((0.0, 1.0, 2.0, -1.5))
            case "number":
                return self.draw.choice((*WHOLE, *REAL, True))
            case "bool":
                return self.draw.choice((True, False))
            case "str":
                return self.draw.choice(TEXTS)
            case _:  # a device, a layout, a generator
                return ABSENT

    def value(self, argument: Any) -> Any:
        """A value of the right kind, of another one, or none."""
        if self.draw.random() < self.wrong:
            return self.tensor() if self.draw.random() < 0.25 else self.draw.choice(OTHER)
        if argument.has_default_value() and self.draw.random() < 0.5:
            return ABSENT
        kind = str(argument.type)
        if kind.startswith("Optional["):
            kind = kind[len("Optional[") : -1]
        return self.of(kind)


def program(schema: Any, seed: int) -> Exported:
    """A program of one call."""
    made = Exported()
    arguments = Arguments(random.Random(f"{schema} {seed}"), made)
    drawn = {each.name: arguments.value(each) for each in schema.arguments}
    given = {
        name: list(value) if isinstance(value, tuple) and type(value) is tuple else value
        for name, value in drawn.items()
        if value is not ABSENT and value is not None
    }
    target = f"{schema.name.replace('::', '.')}.{schema.overload_name or 'default'}"
    outputs = made.call(target, max(1, len(schema.returns)), **given)
    made.output(*(outputs if isinstance(outputs, list) else [outputs]))
    return made


def test_there_are_schemas() -> None:
    assert len(SCHEMAS) > 1000
    assert len({schema.name for schema in SCHEMAS}) > 600


@pytest.mark.parametrize("part", range(PARTS))
def test_any_arguments_have_a_report(part: int) -> None:
    for schema in SCHEMAS[part::PARTS]:
        for seed in range(DRAWS):
            archive = program(schema, seed).archive()
            with contextlib.suppress(NoModel):
                try:
                    read_archive(archive, "m.pt2").report(forget=seed % 3 == 0)
                except Exception as bug:
                    raise AssertionError(f"{schema}, {seed}: {type(bug).__name__} {bug}") from bug
