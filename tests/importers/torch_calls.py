"""Programs of one operator of PyTorch: their types, and what they compute."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from axon.importers.formats import read_archive
from axon.run.models import ModelProgram
from tests.importers.torch_archives import Exported, Tensor, infer


class Given(NamedTuple):
    """An argument that is an input of the program, by its type: `Given("f32 [n,4]")`."""

    type: str


def call(target: str, outputs: int = 1, /, **arguments: Any) -> Exported:
    """A program of one node, all of whose outputs are its own."""
    p, count = Exported(), 0

    def entered(value: Any) -> Any:
        nonlocal count
        if isinstance(value, list) and any(isinstance(each, Given) for each in value):
            return [entered(each) for each in value]
        if not isinstance(value, Given):
            return value
        count += 1
        return tensor(p, f"x{count}", value.type)

    named = {name: entered(value) for name, value in arguments.items()}
    made = p.call(target, outputs, **named)
    p.output(*([made] if outputs == 1 else made))
    return p


def tensor(p: Exported, name: str, type_: str) -> Tensor:
    elem, sizes = type_.split(" ")
    found = [int(n) if n.isdigit() else n for n in re.findall(r"\w+", sizes)]
    return p.input(name, elem, found)


def types(p: Exported, forget: bool = False) -> str:
    """The types of the outputs, as the report has them."""
    report = infer(p, forget)
    assert not report.diagnostics, [each.message for each in report.diagnostics]
    assert not report.unsupported, report.unsupported
    names = [spec["user_output"]["arg"]["as_tensor"]["name"] for spec in p.output_specs]
    return ", ".join(shown(report.tensors[name]) for name in names)


def shown(found: Any) -> str:
    if found.shape is None:
        return f"{found.dtype} ?"
    sizes = ",".join(str(size) for size in found.shape).replace(" ", "")
    return f"{found.dtype} [{sizes}]"


def run(p: Exported, *arrays: Any) -> list[Any]:
    """What the program gives on NumPy."""
    made = ModelProgram(read_archive(p.archive(), "model.pt2")).model(*arrays)
    return [numpy.asarray(each) for each in (made if isinstance(made, tuple) else (made,))]


def close(p: Exported, arrays: Sequence[Any], *expected: Any) -> None:
    """The program gives these values."""
    found = run(p, *arrays)
    for mine, theirs in zip(found, expected, strict=True):
        theirs = numpy.asarray(theirs)
        assert mine.shape == theirs.shape
        numpy.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=1e-5)


def floats(*shape: int, seed: int = 0) -> Any:
    return numpy.random.default_rng([seed, *shape]).standard_normal(shape).astype("f4")
