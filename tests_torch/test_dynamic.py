"""What could be dynamic in modules: the lines that fix sizes, and the argument that PyTorch takes.

Needs torch, and is run by `make torch`.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional
from torch.utils._pytree import tree_map

import axon
from axon.importers.torch.archive import open_archive
from axon.importers.torch.dynamic.answers import dynamic_of
from axon.importers.torch.dynamic.table import Dynamic
from axon.importers.torch.read import model_of
from axon.run.errors import ProgramError


class Masked(nn.Module):
    """A mask for a fixed length."""

    def __init__(self) -> None:
        super().__init__()
        self.qk = nn.Linear(8, 8)
        self.register_buffer("mask", torch.full((9, 9), -1e9).triu(1))

    def forward(self, x: Any) -> Any:
        b, t, d = x.shape
        q = self.qk(x).view(b, t, 2, 4).transpose(1, 2)
        a = q @ q.transpose(-1, -2)
        a = (a + self.mask).softmax(-1)  # fixes x[1]
        return (a @ q).transpose(1, 2).reshape(b, t, d)


class Halves(nn.Module):
    """Halves whose lengths are written down."""

    def forward(self, x: Any) -> Any:
        x = torch.relu(x)
        a, b = torch.split(x, [5, 7], dim=1)  # fixes x[1]
        return a.mean(1) + b.mean(1)


class Rounds(nn.Module):
    """A loop of Python over a size."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.Linear(6, 6)

    def forward(self, x: Any) -> Any:
        h = torch.zeros_like(x[:, 0])
        for t in range(x.shape[1]):  # fixes x[1]
            h = torch.tanh(self.cell(x[:, t] + h))
        return h


class Rooted(nn.Module):
    """A size that Python computes with in floating point."""

    def forward(self, x: Any) -> Any:
        b, t, d = x.shape
        side = int(t**0.5)  # fixes x[1]
        return torch.relu(x).reshape(b, side, side, d)


class Helper(nn.Module):
    """A number in a method that `forward` calls."""

    def rows(self) -> Any:
        n = 10
        return torch.arange(n)  # fixes x[1]

    def forward(self, x: Any) -> Any:
        return (x * self.rows()[None, :, None]) @ x.transpose(1, 2)


class Sliced(nn.Module):
    """Positions that are sliced as they should be: nothing is fixed but the features."""

    def __init__(self) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(1, 32, 8))

    def forward(self, x: Any) -> Any:
        return x + self.positions[:, : x.shape[1]]


class Paired(nn.Module):
    """Two inputs with sizes that are the same, and one that is a multiple."""

    def __init__(self) -> None:
        super().__init__()
        self.l = nn.Linear(8, 8)

    def forward(self, x: Any, pair: Any) -> Any:
        first, second = pair["first"], pair["second"]
        a = self.l(x) @ first.transpose(1, 2)
        return a @ second, functional.relu(x)


class Pooled(nn.Module):
    """Sizes that are halved twice, and must not become 1: PyTorch decides that they are not."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, 2, 1), nn.Conv2d(4, 4, 3, 2, 1)

    def forward(self, x: Any) -> Any:
        return functional.max_pool2d(self.second(self.first(x)), 2)


class Skipping(nn.Module):
    """What was halved is joined with what was not: an even size."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 4, 3, 2, 1), nn.ConvTranspose2d(4, 4, 2, 2)

    def forward(self, x: Any) -> Any:
        return torch.cat([self.up(self.down(x)), x], 1)


class Repeated(nn.Module):
    """A number of repetitions for each row."""

    def forward(self, x: Any, times: Any) -> Any:
        return x * times[:, None] + x


MODULES = [
    (Masked(), (torch.randn(2, 9, 8),)),
    (Halves(), (torch.randn(2, 12, 8),)),
    (Rounds(), (torch.randn(2, 5, 6),)),
    (Rooted(), (torch.randn(2, 25, 4),)),
    (Helper(), (torch.randn(2, 10, 4),)),
    (Sliced(), (torch.randn(2, 12, 8),)),
    (
        Paired(),
        (torch.randn(2, 5, 8), {"first": torch.randn(2, 7, 8), "second": torch.randn(2, 7, 3)}),
    ),
    (Pooled(), (torch.randn(2, 3, 32, 40),)),
    (Skipping(), (torch.randn(2, 3, 12, 18),)),
    (Repeated(), (torch.randn(5, 4), torch.ones(5))),
]
FIXING = MODULES[:5]


def named(module: Any) -> str:
    return type(module).__name__


def line(module: Any) -> str:
    """The place of the line that says that it fixes a size."""
    lines, first = inspect.getsourcelines(type(module))
    at = next(i for i, text in enumerate(lines) if "# fixes" in text)
    return f"{Path(__file__).name}:{first + at}"


def succeeds(module: Any, inputs: Sequence[Any], found: Dynamic) -> None:
    """PyTorch exports the module with the argument that was printed."""
    names: dict[str, Any] = {"Dim": Dim}
    exec("\n".join(found.argument.lines), names)
    shapes = eval(found.argument.text, names)
    torch.export.export(module.eval(), tuple(inputs), dynamic_shapes=shapes, strict=False)


@pytest.mark.parametrize(("module", "inputs"), FIXING, ids=lambda each: named(each))
def test_the_line_that_fixes_a_size(module: Any, inputs: Sequence[Any]) -> None:
    found = axon.from_torch(module.eval(), *inputs).dynamic.inputs["x"][1]
    assert found.free is False
    assert [place.short for place in found.places][:1] == [line(module)]


@pytest.mark.parametrize(("module", "inputs"), MODULES, ids=lambda each: named(each))
def test_the_argument_of_a_module_is_taken(module: Any, inputs: Sequence[Any]) -> None:
    found = axon.from_torch(module.eval(), *inputs).dynamic
    assert found.argument.text
    succeeds(module, inputs, found)


@pytest.mark.parametrize("sizes", [Dim.AUTO, None], ids=["open", "fixed"])
@pytest.mark.parametrize(
    ("module", "inputs"),
    [each for each in MODULES if not isinstance(each[0], Rounds | Rooted)],
    ids=lambda each: named(each),
)
def test_the_argument_of_an_archive_is_taken(
    module: Any, inputs: Sequence[Any], sizes: Any, tmp_path: Path
) -> None:
    shapes = tree_map(lambda each: [sizes] * each.ndim, tuple(inputs))
    program = torch.export.export(
        module.eval(), tuple(inputs), dynamic_shapes=shapes if sizes else None, strict=False
    )
    torch.export.save(program, tmp_path / "m.pt2")
    archive = open_archive(str(tmp_path / "m.pt2"), "m.pt2")
    found = dynamic_of(model_of(archive), archive)
    if found.argument.text:
        succeeds(module, inputs, found)


def test_bounds_are_those_that_pytorch_needs() -> None:
    module, inputs = next(each for each in MODULES if isinstance(each[0], Pooled))
    found = axon.from_torch(module, *inputs).dynamic
    assert 'x_2 = Dim("x_2", min=13)' in found.argument.lines  # 13, 7, 4, 2
    assert any(line.startswith("x[2] of 5, 6, 7") for line in found.more)
    assert module(torch.randn(2, 3, 5, 40)).shape == (2, 4, 1, 5)


def test_a_multiple_is_stated_as_one() -> None:
    module, inputs = next(each for each in MODULES if isinstance(each[0], Skipping))
    found = axon.from_torch(module, *inputs).dynamic
    assert "2: 2*_x_2, 3: 2*_x_3" in found.argument.text


def test_a_bound_is_a_bound() -> None:
    module, inputs = MODULES[5]
    found = axon.from_torch(module, *inputs).dynamic
    assert found.inputs["x"][1].where == ["x[1] <= 32"]
    with pytest.raises(Exception, match="size"):
        module(torch.randn(2, 33, 8))
    module(torch.randn(2, 32, 8))


def test_equal_sizes_of_nested_inputs_share_a_dim() -> None:
    module, inputs = MODULES[6]
    found = axon.from_torch(module, *inputs).dynamic
    assert found.argument.text.count("x_0") == 3
    assert '"pair": {"first": ' in found.argument.text


def test_sizes_that_pytorch_excludes_do_work() -> None:
    program = torch.export.export(
        Masked().eval(), (torch.randn(2, 9, 8),), dynamic_shapes={"x": {0: Dim.AUTO}}, strict=False
    )
    found = axon.from_torch(program).dynamic
    assert found.more == ["x[0] of 1: PyTorch asks for x[0] >= 2"] or found.more == [
        "x[0] of 0, 1: PyTorch asks for x[0] >= 2"
    ]
    for size in (0, 1) if "0, 1" in found.more[0] else (1,):
        assert Masked().eval()(torch.randn(size, 9, 8)).shape == (size, 9, 8)


def test_an_example_of_one_row_does_not_fix_the_batch() -> None:
    found = axon.from_torch(Masked().eval(), torch.randn(1, 9, 8)).dynamic
    assert [each.free for each in found.inputs["x"]] == [True, False, False]
    succeeds(Masked(), (torch.randn(2, 9, 8),), found)


class OneRow(nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.relu(x).reshape(1, 6) + x  # fixes x[0]


def test_a_module_that_takes_one_row_only() -> None:
    found = axon.from_torch(OneRow().eval(), torch.randn(1, 6)).dynamic.inputs["x"][0]
    assert found.free is not True


class Branching(nn.Module):
    def forward(self, x: Any) -> Any:
        h = torch.relu(x)
        if h.max() > 100.0:  # refuses to be exported
            h = h / 2
        return h


def test_an_export_that_fails_names_the_line() -> None:
    lines, first = inspect.getsourcelines(Branching)
    at = first + next(i for i, text in enumerate(lines) if "# refuses" in text)
    with pytest.raises(ProgramError, match=rf"^test_dynamic\.py:{at}: if h\.max\(\) > 100\.0"):
        axon.from_torch(Branching(), torch.randn(2, 3))
