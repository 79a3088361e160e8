"""Ranks of inputs that nothing declares: by cases, from the most that operators take, suggested."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from axon.importers.torch.rules.ranks import BY_LENGTH, MOST
from axon.importers.torch.rules.registry import RULES
from tests.importers.torch_archives import Exported, SymInt, infer


def weight(p: Exported, name: str, *sizes: int) -> Any:
    return p.weight(name, numpy.zeros(sizes, "f4"))


def convolved(p: Exported, x: Any, name: str, out: int, given: int) -> Any:
    return p.call("aten.conv2d.default", input=x, weight=weight(p, name, out, given, 3, 3))


def test_a_convolution_alone_takes_a_batch_or_none() -> None:
    p = Exported()
    x = p.input("x", "f32", ["n", 3, "h", "w"])
    p.output(convolved(p, x, "c.weight", 8, 3))
    found = infer(p, forget=True)
    assert found.tensors["x"].shape is None, "three dimensions make sense too"
    assert found.suggested == {"x": "f32 [a,3,b,c]"}, "inputs usually have a batch"


def test_what_makes_sense_with_one_rank_only_has_that_rank() -> None:
    p = Exported()
    x = p.input("x", "f32", ["n", 3, "h", "w"])
    h = convolved(p, x, "c.weight", 8, 3)
    h = p.call("aten.flatten.using_ints", self=h, start_dim=2)
    h = p.call("aten.transpose.int", self=h, dim0=1, dim1=2)
    table = weight(p, "cls", 1, 1, 8)
    batch = p.call("aten.sym_size.int", self=x, dim=0, kind=SymInt)
    rows = p.call("aten.expand.default", self=table, size=[batch, -1, -1])
    p.output(p.call("aten.cat.default", tensors=[rows, h], dim=1))
    shape = infer(p, forget=True).tensors["x"].shape
    assert shape is not None
    assert (len(shape), shape[1]) == (4, 3)


@pytest.mark.parametrize(
    ("target", "arguments", "rank"),
    [
        ("aten.permute.default", {"dims": [2, 0, 1]}, 3),
        ("aten.mm.default", {"mat2": None}, 2),
        ("aten.upsample_nearest2d.vec", {"output_size": [8, 8]}, 4),
    ],
)
def test_what_takes_one_rank_says_it(target: str, arguments: dict[str, Any], rank: int) -> None:
    p = Exported()
    sizes: list[int | str] = ["a", 4, "c", "d"]
    x = p.input("x", "f32", sizes[:rank])
    given: dict[str, Any] = {
        k: weight(p, "w", 4, 5) if v is None else v for k, v in arguments.items()
    }
    given["input" if "upsample" in target else "self"] = x
    p.output(p.call(target, **given))
    shape = infer(p, forget=True).tensors["x"].shape
    assert shape is not None
    assert len(shape) == rank


def test_a_tensor_that_is_expanded_has_no_more_dimensions() -> None:
    p = Exported()
    mask = p.input("mask", "bool", ["b", "s"])
    rows = p.weight("rows", numpy.zeros((2, 1, 1, 1), "i8"), "buffer")
    at = p.weight("at", numpy.zeros((1, 1, 1, 7), "i8"), "buffer")
    h = p.call("aten.index.Tensor", self=mask, indices=[rows, at])
    p.output(p.call("aten.expand.default", self=h, size=[2, 1, 7, 7]))
    shape = infer(p, forget=True).tensors["mask"].shape
    assert shape is not None
    assert len(shape) == 2


def test_an_embedding_takes_any_rank_and_two_sizes_are_suggested() -> None:
    p = Exported()
    ids = p.input("ids", "i64", ["b", "s"])
    p.output(p.call("aten.embedding.default", weight=weight(p, "e", 50, 8), indices=ids))
    found = infer(p, forget=True)
    assert found.tensors["ids"].shape is None
    assert found.suggested == {"ids": "i64 [a,b]"}


def test_a_rank_that_is_declared_is_kept() -> None:
    p = Exported()
    x = p.input("x", "f32", [3, 8, 8])
    p.output(convolved(p, x, "c.weight", 8, 3))
    assert infer(p).tensors["x"].shape == (3, 8, 8)


def test_limits_are_of_operators_that_have_rules() -> None:
    for name in BY_LENGTH:
        assert ("aten", name) in RULES, name
    assert any(("aten", name) in RULES for name in MOST)
